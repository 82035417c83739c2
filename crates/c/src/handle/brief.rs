//! Where brief calls are taken over: what `include/nearcall_brief.h` does not do by itself.

use super::client::failed;
use super::domain::ClientRecord;
use super::records::{Environment, MalformedRecord};

/// How a claim ended: `NEARCALL_REVOKED` in C.
pub const REVOKED: u32 = 2;

/// A claim has ended so: 1, nothing has happened; 2, the bias was revoked meanwhile.
///
/// # Safety
///
/// - H1 live: `client`. B1 held, after 2; from here on it is not.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_slow_begin(client: *const ClientRecord, class: u32, claim: u32) {
    if claim == REVOKED {
        // SAFETY: H1.
        let client = &unsafe { &*client }.client;
        // SAFETY: B1.
        unsafe { client.unclaim_brief(class as usize) };
    }
}

/// The call was posted, and `seen` in the turn word; there is no reply yet, or none as most are.
/// False after an error.
///
/// # Safety
///
/// - H1 live: all of them. B1 held; after an error it is not.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_slow_wait(
    client: *const ClientRecord,
    class: u32,
    procedure: u32,
    seen: u32,
    environment: *mut Environment,
) -> bool {
    // SAFETY: H1.
    let client = &unsafe { &*client }.client;
    // SAFETY: B1.
    match unsafe { client.finish_brief(class as usize, procedure, seen) } {
        Ok(()) => true,
        // SAFETY: H1.
        Err(error) => unsafe { failed(environment, &error) },
    }
}

/// The results are not what the interface promises: revokes the binding.
///
/// # Safety
///
/// - H1 live: all of them. B1 held; from here on it is not.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_slow_malformed(
    client: *const ClientRecord,
    class: u32,
    procedure: u32,
    malformed: MalformedRecord,
    environment: *mut Environment,
) {
    // SAFETY: H1.
    let client = &unsafe { &*client }.client;
    // SAFETY: B1.
    let error = unsafe { client.malformed_brief(class as usize, procedure, malformed.into()) };
    // SAFETY: H1.
    unsafe { failed(environment, &error) };
}

/// The bias was revoked while the stub had the A-stack.
///
/// # Safety
///
/// - H1 live: `client`. B1 held, but for the bit; from here on it is not.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_slow_release(client: *const ClientRecord, class: u32) {
    // SAFETY: H1.
    let client = &unsafe { &*client }.client;
    // SAFETY: B1.
    unsafe { client.release_brief(class as usize) };
}
