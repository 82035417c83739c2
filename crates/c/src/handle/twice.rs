//! Posted calls that may run twice: what a second try needs is kept until somebody collects
//! (docs/design/0015-failure.md).

use nearcall::CallError;
use nearcall::raw::{Ahead, Client, is_worth_another_try};

use super::Outgoing;
use super::ahead::{PostedCall, anothers, call_of, not_posted};
use super::client::{failed, filled, keep_next, told};
use super::domain::ClientRecord;
use super::lacking::client_of;
use super::records::{Environment, Message, PostedRecord, Put, ReplyRecord, posted as state};

/// A call that is posted, and may run twice.
pub(super) struct PostedTwice<'b> {
    /// An error: nobody was there to post it to, or it was lost, and the next life may have it.
    pub first: Result<Ahead<'b>, Box<CallError>>,
    pub again: Again<'b>,
}

/// What its second try needs.
pub(super) struct Again<'b> {
    client: &'b Client,
    /// When both tries are over.
    until_ns: u64,
    procedure: u32,
    expects_descriptors: bool,
    request: Copied,
}

/// A message whose bytes are ours.
struct Copied {
    fixed: Vec<u8>,
    at: usize,
    /// Those of `bytes`.
    payloads: Vec<Put>,
    _bytes: Vec<Vec<u8>>,
}

impl Copied {
    /// # Safety
    ///
    /// - H2 bytes: the message's.
    unsafe fn new(request: &Outgoing<'_>) -> Copied {
        // SAFETY: H2.
        let bytes = request.payloads.iter().map(|put| unsafe { put.bytes() }.to_vec());
        let bytes: Vec<Vec<u8>> = bytes.collect();
        let pairs = request.payloads.iter().zip(&bytes);
        let payloads = pairs.map(|(put, own)| Put { bytes: own.as_ptr().cast(), ..*put });
        let (fixed, payloads) = (request.fixed.to_vec(), payloads.collect());
        Copied { fixed, at: request.at, payloads, _bytes: bytes }
    }

    /// As what a stub has is.
    fn outgoing(&self) -> Outgoing<'_> {
        let Copied { fixed, at, payloads, .. } = self;
        Outgoing { fixed, at: *at, payloads, descriptors: &[], lent: Vec::new() }
    }
}

impl PostedTwice<'_> {
    /// Whether the first try is over.
    pub fn is_replied(&self) -> bool {
        self.first.as_ref().map_or(true, Ahead::is_replied)
    }

    pub fn cancel(self) {
        if let Ok(ahead) = self.first {
            ahead.cancel();
        }
    }
}

/// Posts a call that may run twice, which has no descriptors. False after an error.
///
/// # Safety
///
/// - H1 live: all of them, `client` or null, it also until it is collected or dropped. H2 bytes:
///   the message's.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_post_twice(
    client: *const ClientRecord,
    procedure: u32,
    request: *const Message,
    expects_descriptors: bool,
    posted: *mut PostedRecord,
    environment: *mut Environment,
) -> bool {
    // SAFETY: H1, or null.
    let Some(client) = (unsafe { client_of(client, environment) }) else { return false };
    let until_ns = client.until_ns();
    // SAFETY: H1.
    let request = unsafe { Outgoing::new(request) };
    // SAFETY: passed on.
    let call = unsafe { filled(client, procedure, &request, expects_descriptors) };
    let first = call.and_then(|call| call.post_ahead(request.fixed.len() as u32, None));
    if let Err(error) = &first
        && !is_worth_another_try(error)
    {
        // SAFETY: H1.
        return unsafe { failed(environment, error) };
    }
    // SAFETY: H2.
    let request = unsafe { Copied::new(&request) };
    let again = Again { client, until_ns, procedure, expects_descriptors, request };
    // SAFETY: H1.
    let record = unsafe { &mut *posted };
    record.put(PostedCall::Twice(Box::new(PostedTwice { first, again })));
    true
}

/// Waits for the reply, as `nearcall_collect` does, and makes the call once more, in the server's
/// next life, if need be.
///
/// # Safety
///
/// - H1 live: all of them, the client of the post, too. H2 bytes: the reply's.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_collect_twice(
    posted: *mut PostedRecord,
    reply: *mut ReplyRecord,
    environment: *mut Environment,
) -> bool {
    // SAFETY: H1.
    if !matches!(unsafe { &*posted }.state, state::NOT | state::TWICE) {
        // SAFETY: H1.
        return unsafe { anothers(environment) };
    }
    // SAFETY: passed on.
    let Some(PostedCall::Twice(call)) = (unsafe { call_of(posted) }) else {
        // SAFETY: H1.
        return unsafe { not_posted(environment) };
    };
    let PostedTwice { first, again } = *call;
    let Again { client, until_ns, procedure, expects_descriptors, request } = again;
    let request = request.outgoing();
    let (mut first, mut next) = (Some(first), None);
    let replied = client.twice_if_need_be_until(until_ns, &mut next, |client| match first.take() {
        Some(posted) => posted?.collect(),
        None => {
            // SAFETY: its bytes are ours.
            let call = unsafe { filled(client, procedure, &request, expects_descriptors) }?;
            call.post(request.fixed.len() as u32)
        }
    });
    // SAFETY: passed on.
    let has_replied = unsafe { told(replied, reply, environment) };
    // SAFETY: H1, and it was told.
    unsafe { keep_next(has_replied, next, reply) };
    has_replied
}
