//! Where brief calls are taken over: what `include/nearcall_brief.h` does not do by itself.

use std::ffi::c_void;

use super::bytes;
use super::client::{Posted, called_twice, told};
use super::domain::ClientRecord;
use super::records::{Environment, Message, ReplyRecord};

/// How a claim ended: `NEARCALL_REVOKED` in C.
pub const REVOKED: u32 = 2;

/// That a stub has posted what it goes on with: `NEARCALL_POSTED` in C, and there alone.
#[cfg(test)]
pub const POSTED: u32 = 3;

/// A claim has ended so: 1, nothing has happened; 2, the bias was revoked meanwhile; 3, what was
/// claimed is posted.
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

/// Copies a payload into the A-stack that is being filled: to byte `at` of the message.
///
/// # Safety
///
/// - H1 live: `client`. H2 bytes: `source`. B1 held, and nothing posted.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_slow_put(
    client: *const ClientRecord,
    class: u32,
    at: u32,
    source: *const c_void,
    byte_count: usize,
) {
    // SAFETY: H1.
    let client = &unsafe { &*client }.client;
    // SAFETY: H2.
    let source = unsafe { bytes(source.cast(), byte_count) };
    // SAFETY: B1.
    unsafe { client.put_brief(class as usize, at as usize, source) };
}

/// The call was posted, and `seen` in the turn word; there is no reply yet, or none as most are.
/// Goes on as `nearcall_call` does. False after an error.
///
/// # Safety
///
/// - H1 live: all of them. H2 bytes: the reply's. B1 held; from here on the reply holds it, if it
///   is kept.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_slow_reply(
    client: *const ClientRecord,
    class: u32,
    procedure: u32,
    seen: u32,
    reply: *mut ReplyRecord,
    environment: *mut Environment,
) -> bool {
    // SAFETY: H1.
    let client = &unsafe { &*client }.client;
    // SAFETY: B1.
    let replied = unsafe { client.finish_brief(class as usize, procedure, seen) };
    // SAFETY: passed on.
    unsafe { told(replied, reply, environment) }
}

/// The same of a call that may run twice: it is made once more, by this message, if need be.
///
/// # Safety
///
/// - H1 live: all of them. H2 bytes: the message's and the reply's. D1 open: its descriptors. B1
///   held; from here on the reply holds it, if it is kept.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_slow_reply_twice(
    client: *const ClientRecord,
    class: u32,
    procedure: u32,
    seen: u32,
    request: *const Message,
    reply: *mut ReplyRecord,
    environment: *mut Environment,
) -> bool {
    let posted = Some(Posted { class: class as usize, seen });
    // SAFETY: passed on.
    unsafe { called_twice(client, procedure, request, reply, environment, posted) }
}

/// The bias was revoked while the stub had the A-stack. Returns `returned`: a stub that ends so has
/// nothing to keep.
///
/// # Safety
///
/// - H1 live: `client`. B1 held, but for the bit; from here on it is not.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_slow_release(
    client: *const ClientRecord,
    class: u32,
    returned: u64,
) -> u64 {
    // SAFETY: H1.
    let client = &unsafe { &*client }.client;
    // SAFETY: B1.
    unsafe { client.release_brief(class as usize) };
    returned
}
