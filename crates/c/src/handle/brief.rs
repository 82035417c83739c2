//! Where brief calls are taken over: what `include/nearcall_brief.h` does not do by itself.

use std::ffi::c_void;

use nearcall::raw::{Ahead, brief_thread};

use super::ahead::taken;
use super::bytes;
use super::client::failed;
use super::client::{Posted, called_twice, told};
use super::domain::ClientRecord;
use super::records::{self, Environment, Message, PostedRecord, ReplyRecord};

/// How a claim ended: `NEARCALL_REVOKED` in C.
pub const REVOKED: u32 = 2;

/// That a stub has posted what it goes on with: `NEARCALL_POSTED` in C, and there alone.
#[cfg(test)]
pub const POSTED: u32 = 3;

/// By so much is shifted which of the class's A-stacks it was: `NEARCALL_NTH_SHIFT` in C.
pub const NTH_SHIFT: u32 = 8;

/// A claim has ended so: 1, nothing has happened; 2, the bias was revoked meanwhile; 3, what was
/// claimed is posted.
///
/// # Safety
///
/// - H1 live: `client`. B1 held, after 2, the bit that it says; from here on it is not.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_slow_begin(client: *const ClientRecord, class: u32, claim: u32) {
    let (ended, nth) = (claim & ((1 << NTH_SHIFT) - 1), claim >> NTH_SHIFT);
    if ended == REVOKED {
        // SAFETY: H1.
        let client = &unsafe { &*client }.client;
        // SAFETY: B1.
        unsafe { client.unclaim_brief(class as usize, nth) };
    }
}

/// Copies a payload, or a long block, into the A-stack that is being filled: to byte `at` of the
/// message.
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

/// Copies a long block out of the A-stack whose reply is there: from byte `at` of the message.
///
/// # Safety
///
/// - H1 live: `client`. H2 bytes: `target`, which may be none yet. B1 held, and replied.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_slow_copy_out(
    client: *const ClientRecord,
    class: u32,
    at: u32,
    target: *mut c_void,
    byte_count: usize,
) {
    // SAFETY: H1.
    let client = &unsafe { &*client }.client;
    // SAFETY: H2; a block is never empty.
    let target = unsafe { std::slice::from_raw_parts_mut(target.cast(), byte_count) };
    // SAFETY: B1.
    unsafe { client.copy_out_brief(class as usize, at as usize, target) };
}

/// The call was posted, and `seen` in the turn word; there is no reply yet, or none as most are.
/// Its fixed part has `request_bytes`. Goes on as `nearcall_call` does. False after an error.
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
    request_bytes: u32,
    reply: *mut ReplyRecord,
    environment: *mut Environment,
) -> bool {
    // SAFETY: H1.
    let client = &unsafe { &*client }.client;
    // SAFETY: B1.
    let replied = unsafe { client.finish_brief(class as usize, procedure, seen, request_bytes) };
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

/// The number that this thread notes in what it posts by itself; 0: it is to post nothing so.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub extern "C" fn nearcall_slow_number() -> u32 {
    brief_thread()
}

/// The call was posted, and `seen` in the turn word, which is not as most are, or there is
/// something else to do. Goes on as `nearcall_post` does. False after an error: then it is not
/// posted.
///
/// # Safety
///
/// - H1 live: both, and the client of the post. B2 posted: the record is of a call that was.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_slow_posted(
    posted: *mut PostedRecord,
    seen: u32,
    environment: *mut Environment,
) -> bool {
    // SAFETY: H1, and it is posted.
    let ahead = unsafe { taken(posted) };
    // SAFETY: B2.
    match unsafe { ahead.finish_post(seen) } {
        Ok(ahead) => {
            // SAFETY: H1.
            unsafe { &mut *posted }.hold(ahead, records::posted::ONCE);
            true
        }
        // SAFETY: H1.
        Err(error) => unsafe { failed(environment, &error) },
    }
}

/// The half that collects has given the bit back of a call that is not posted any more, and the
/// bias was revoked. Returns `returned`.
///
/// # Safety
///
/// - H1 live: the record, and the client of the post. B2 posted: the record is of a call that was,
///   and whose reply was there.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_slow_give_back(posted: *mut PostedRecord, returned: u64) -> u64 {
    // SAFETY: H1, and it was posted: C has only said that it is not any more.
    let ahead: Ahead<'_> = unsafe { taken(posted) };
    // SAFETY: B2.
    unsafe { ahead.give_back_brief() };
    returned
}
