//! Calls that are posted now and collected later: a program's own (docs/design/0007), and those for
//! batches, posted ahead of whoever will ask for what they bring (docs/design/0020).

use nearcall::Ran;
use nearcall::raw::{Ahead, Lead, in_haste};

use super::Outgoing;
use super::client::{failed, filled, told};
use super::domain::ClientRecord;
use super::lacking::client_of;
use super::records::{
    Environment, Message, Outcome, PostedRecord, ReplyRecord, posted as kind, when,
};
use super::twice::{twice, twice_taken};

/// Posts a call. False if it is not posted: after an error, and where it is not wanted at any
/// price.
///
/// # Safety
///
/// - H1 live: all of them, `client` or null, it also until it is collected or dropped. H2 bytes:
///   the message's. D1 open: its descriptors.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_post(
    client: *const ClientRecord,
    procedure: u32,
    request: *const Message,
    when: u32,
    expects_descriptors: bool,
    posted: *mut PostedRecord,
    environment: *mut Environment,
) -> bool {
    // SAFETY: H1, or null.
    let Some(client) = (unsafe { client_of(client, environment) }) else { return false };
    // SAFETY: H1.
    let request = unsafe { Outgoing::new(request) };
    let lead = match when {
        when::NOW => None,
        when::SPARE | when::EITHER => Lead::of_procedure(client, procedure),
        other => unreachable!("generated code says when: {other}"),
    };
    let is_ahead = lead.is_some();
    // SAFETY: passed on.
    let fill = || unsafe { filled(client, procedure, &request, expects_descriptors) };
    let filled = match when {
        when::SPARE if !is_ahead => return false,
        when::SPARE => in_haste(fill),
        _ => fill(),
    };
    let ahead = match filled.and_then(|call| call.post_ahead(request.fixed.len() as u32, lead)) {
        Ok(ahead) => ahead,
        // Whoever asks for it learns of that, or that it is over.
        Err(_) if when == when::SPARE => return false,
        // SAFETY: H1.
        Err(error) => return unsafe { failed(environment, &error) },
    };
    // SAFETY: H1.
    unsafe { &mut *posted }.hold(ahead, if is_ahead { kind::AHEAD } else { kind::ONCE });
    true
}

impl PostedRecord {
    /// It holds nothing: it is posted once at a time.
    pub(super) fn hold(&mut self, ahead: Ahead<'_>, kind: u8) {
        // SAFETY: the record is large enough, which is asserted beside it.
        unsafe { self.held.as_mut_ptr().cast::<Ahead<'_>>().write(ahead) };
        (self.is_posted, self.kind) = (true, kind);
    }
}

/// Waits for the reply of a posted call, and copies its fixed part out. False after an error, as of
/// one that is not posted; in any case it is not posted any more. Any thread may.
///
/// # Safety
///
/// - H1 live: all of them, the client of the post, too. H2 bytes: the reply's.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_collect(
    posted: *mut PostedRecord,
    reply: *mut ReplyRecord,
    environment: *mut Environment,
) -> bool {
    // SAFETY: H1.
    if !unsafe { &*posted }.is_posted {
        // SAFETY: H1.
        return unsafe { not_posted(environment) };
    }
    // SAFETY: passed on, and it is posted.
    let ahead = unsafe { taken(posted) };
    // SAFETY: passed on.
    unsafe { told(ahead.collect(), reply, environment) }
}

/// There is nothing to collect. False, always.
///
/// # Safety
///
/// - H1 live: `environment`.
pub(super) unsafe fn not_posted(environment: *mut Environment) -> bool {
    // SAFETY: H1.
    let environment = unsafe { Environment::at(environment) };
    let reason = "the call is not posted: its post has failed, or it was collected before";
    environment.fail(Outcome::Usage, Ran::No, &reason);
    false
}

/// Whether to collect a posted call will not wait; also of one that is not posted.
///
/// # Safety
///
/// - H1 live: `posted`, and the client of the post.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_posted_is_replied(posted: *const PostedRecord) -> bool {
    // SAFETY: H1.
    let record = unsafe { &*posted };
    match (record.is_posted, record.kind) {
        (false, _) => true,
        // SAFETY: passed on, and it is posted twice.
        (true, kind::TWICE) => unsafe { twice(posted) }.is_replied(),
        // SAFETY: it is posted, so that one was written there.
        (true, _) => unsafe { &*record.held.as_ptr().cast::<Ahead<'_>>() }.is_replied(),
    }
}

/// Gives a posted call up, if there is one, and lets the server see it. Does not wait.
///
/// # Safety
///
/// - H1 live: `posted`, and the client of the post.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_posted_cancel(posted: *mut PostedRecord) {
    // SAFETY: H1.
    let record = unsafe { &*posted };
    match (record.is_posted, record.kind) {
        (false, _) => {}
        // SAFETY: passed on, and it is posted twice.
        (true, kind::TWICE) => unsafe { twice_taken(posted) }.cancel(),
        // SAFETY: H1, and it is posted.
        (true, _) => unsafe { taken(posted) }.cancel(),
    }
}

/// Drops what a posted call will bring, if there is one. Does not wait: its A-stack comes back when
/// the server is done with it.
///
/// # Safety
///
/// - H1 live: `posted`, and the client of the post.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_posted_drop(posted: *mut PostedRecord) {
    // SAFETY: H1.
    let record = unsafe { &*posted };
    match (record.is_posted, record.kind) {
        (false, _) => {}
        // SAFETY: passed on, and it is posted twice.
        (true, kind::TWICE) => drop(unsafe { twice_taken(posted) }),
        // SAFETY: H1, and it is posted.
        (true, _) => drop(unsafe { taken(posted) }),
    }
}

/// The call of a record, which does not hold it any more.
///
/// # Safety
///
/// - H1 live: the record, and it is posted.
pub(super) unsafe fn taken<'b>(posted: *mut PostedRecord) -> Ahead<'b> {
    // SAFETY: H1.
    let record = unsafe { &mut *posted };
    record.is_posted = false;
    // SAFETY: H1: it was posted, so that one was written there; it is read once.
    unsafe { record.held.as_ptr().cast::<Ahead<'_>>().read() }
}
