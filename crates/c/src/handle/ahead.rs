//! Calls that are posted now and collected later: a program's own (docs/design/0007), and those for
//! batches, posted ahead of whoever will ask for what they bring (docs/design/0020).

use nearcall::raw::{Ahead, Lead, in_haste};
use nearcall::{CallError, Ran};

use super::Outgoing;
use super::client::{failed, filled, told};
use super::domain::ClientRecord;
use super::lacking::client_of;
use super::records::{
    Environment, Message, Outcome, PostedRecord, ReplyRecord, posted as state, when,
};
use super::twice::PostedTwice;

/// What is under way.
pub(super) enum PostedCall<'b> {
    Once(Ahead<'b>),
    Twice(Box<PostedTwice<'b>>),
    /// Without a reply.
    Ended(Box<CallError>),
}

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
    unsafe { &mut *posted }.hold(ahead, if is_ahead { state::AHEAD } else { state::ONCE });
    true
}

impl PostedRecord {
    /// It holds nothing: it is posted once at a time.
    pub(super) fn hold(&mut self, ahead: Ahead<'_>, state: u8) {
        // SAFETY: the record is large enough, which is asserted beside it.
        unsafe { self.held.as_mut_ptr().cast::<Ahead<'_>>().write(ahead) };
        self.state = state;
    }

    /// The same, whatever it is.
    pub(super) fn put(&mut self, call: PostedCall<'_>) {
        let (held, state) = match call {
            PostedCall::Once(ahead) => return self.hold(ahead, state::ONCE),
            PostedCall::Twice(twice) => (Box::into_raw(twice).expose_provenance(), state::TWICE),
            PostedCall::Ended(error) => (Box::into_raw(error).expose_provenance(), state::ENDED),
        };
        (self.held[0], self.state) = (held as u64, state);
    }

    /// Where the box lies that it holds.
    fn boxed<T>(&self) -> *mut T {
        std::ptr::with_exposed_provenance_mut(self.held[0] as usize)
    }
}

/// What a record holds, which does not hold it any more.
///
/// # Safety
///
/// - H1 live: the record.
pub(super) unsafe fn call_of<'b>(posted: *mut PostedRecord) -> Option<PostedCall<'b>> {
    // SAFETY: H1.
    let record = unsafe { &mut *posted };
    Some(match record.state {
        state::NOT => return None,
        state::TWICE => {
            record.state = state::NOT;
            // SAFETY: H1: that is what `put` has written there; it is taken once.
            PostedCall::Twice(unsafe { Box::from_raw(record.boxed()) })
        }
        state::ENDED => {
            record.state = state::NOT;
            // SAFETY: as above.
            PostedCall::Ended(unsafe { Box::from_raw(record.boxed()) })
        }
        // SAFETY: H1, and it is posted.
        _ => PostedCall::Once(unsafe { taken(posted) }),
    })
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
    if unsafe { &*posted }.state == state::TWICE {
        // SAFETY: H1.
        return unsafe { anothers(environment) };
    }
    // SAFETY: passed on.
    match unsafe { call_of(posted) } {
        // SAFETY: passed on.
        Some(PostedCall::Once(ahead)) => unsafe { told(ahead.collect(), reply, environment) },
        // SAFETY: H1.
        Some(PostedCall::Ended(error)) => unsafe { failed(environment, &error) },
        // SAFETY: H1. One that may run twice has gone the other way.
        Some(PostedCall::Twice(_)) | None => unsafe { not_posted(environment) },
    }
}

/// What is posted is of another operation than its collection, and is left alone. False, always.
///
/// # Safety
///
/// - H1 live: `environment`.
pub(super) unsafe fn anothers(environment: *mut Environment) -> bool {
    // SAFETY: H1.
    let environment = unsafe { Environment::at(environment) };
    let reason = "the call is one of another operation, whose collection is to be used";
    environment.fail(Outcome::Usage, Ran::No, &reason);
    false
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
    match record.state {
        state::NOT | state::ENDED => true,
        // SAFETY: H1: that is what `put` has written there, which nobody has taken.
        state::TWICE => unsafe { &*record.boxed::<PostedTwice<'_>>() }.is_replied(),
        // SAFETY: it is posted, so that one was written there.
        _ => unsafe { &*record.held.as_ptr().cast::<Ahead<'_>>() }.is_replied(),
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
    // SAFETY: passed on.
    match unsafe { call_of(posted) } {
        Some(PostedCall::Once(ahead)) => ahead.cancel(),
        Some(PostedCall::Twice(twice)) => twice.cancel(),
        Some(PostedCall::Ended(_)) | None => {}
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
    // SAFETY: passed on.
    drop(unsafe { call_of(posted) });
}

/// The call of a record, which does not hold it any more.
///
/// # Safety
///
/// - H1 live: the record, and an [`Ahead`] was written there.
pub(super) unsafe fn taken<'b>(posted: *mut PostedRecord) -> Ahead<'b> {
    // SAFETY: H1.
    let record = unsafe { &mut *posted };
    record.state = state::NOT;
    // SAFETY: H1; it is read once.
    unsafe { record.held.as_ptr().cast::<Ahead<'_>>().read() }
}
