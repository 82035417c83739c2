//! What call stubs in C call.

use nearcall::raw::{Call, Client, Malformed, Reply};
use nearcall::{CallError, Ran};
use nearcall_abi::counted;

use super::breach::{BreachRecord, breach};
use super::descriptors::{hand_over, kinds, put_arguments};
use super::domain::ClientRecord;
use super::lacking::client_of;
use super::lent::{put_some_lent, with_lent};
use super::records::{
    DescriptorRecord, Environment, Kept, MalformedRecord, Message, Outcome, ReplyRecord, Take,
};
use super::scratch::Scratch;
use super::takes::{NotTaken, check_texts, take_all};
use super::{Outgoing, bytes_mut};

/// Calls a procedure, waits, and copies the fixed part of the reply out. False after an error.
///
/// # Safety
///
/// - H1 live: all of them, `client` or null. H2 bytes: the message's and the reply's. D1 open: its
///   descriptors.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_call(
    client: *const ClientRecord,
    procedure: u32,
    request: *const Message,
    reply: *mut ReplyRecord,
    environment: *mut Environment,
) -> bool {
    // SAFETY: H1, or null.
    let Some(client) = (unsafe { client_of(client, environment) }) else { return false };
    // SAFETY: passed on.
    let Some(request) = (unsafe { with_lent(client, request, environment) }) else { return false };
    // SAFETY: H1.
    let has_descriptors = unsafe { &*reply }.has_descriptors;
    // SAFETY: passed on.
    let posted = unsafe { filled(client, procedure, &request, has_descriptors) };
    let replied = posted.and_then(|call| call.post(request.fixed.len() as u32));
    // SAFETY: passed on.
    unsafe { told(replied, reply, environment) }
}

/// The same of a call that may run twice: once more, in the server's next life, if need be.
///
/// # Safety
///
/// - H1 live: all of them, `client` or null. H2 bytes: the message's and the reply's. D1 open: its
///   descriptors.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_call_twice(
    client: *const ClientRecord,
    procedure: u32,
    request: *const Message,
    reply: *mut ReplyRecord,
    environment: *mut Environment,
) -> bool {
    // SAFETY: passed on.
    unsafe { called_twice(client, procedure, request, reply, environment, None) }
}

/// A first try that a stub has posted by itself.
pub(super) struct Posted {
    pub class: usize,
    /// What the post found in the turn word.
    pub seen: u32,
}

/// Makes a call that may run twice, whose first try may be posted.
///
/// # Safety
///
/// - H1 live: all of them, `client` or null. H2 bytes: the message's and the reply's. D1 open: its
///   descriptors. B1 held, if it is posted.
pub(super) unsafe fn called_twice(
    client: *const ClientRecord,
    procedure: u32,
    request: *const Message,
    reply: *mut ReplyRecord,
    environment: *mut Environment,
    mut posted: Option<Posted>,
) -> bool {
    // SAFETY: H1, or null.
    let Some(client) = (unsafe { client_of(client, environment) }) else { return false };
    // What is posted already is brief, and has nothing that could be lent.
    // SAFETY: passed on.
    let Some(request) = (unsafe { with_lent(client, request, environment) }) else { return false };
    // SAFETY: H1.
    let has_descriptors = unsafe { &*reply }.has_descriptors;
    let mut next = None;
    let replied = client.twice_if_need_be_over(&mut next, |client| match posted.take() {
        Some(Posted { class, seen }) => {
            let fixed_bytes = request.fixed.len() as u32;
            // SAFETY: B1, of the first try, whose client is the stub's.
            unsafe { client.finish_brief(class, procedure, seen, fixed_bytes) }
        }
        None => {
            // SAFETY: passed on.
            let call = unsafe { filled(client, procedure, &request, has_descriptors) }?;
            call.post(request.fixed.len() as u32)
        }
    });
    // SAFETY: passed on.
    let has_replied = unsafe { told(replied, reply, environment) };
    // SAFETY: H1, and it was told.
    unsafe { keep_next(has_replied, next, reply) };
    has_replied
}

/// What a reply came over that was told stays as long as that is kept.
///
/// # Safety
///
/// - H1 live: the reply, which is kept if it says so and has replied.
pub(super) unsafe fn keep_next(has_replied: bool, next: Option<Client>, reply: *mut ReplyRecord) {
    // SAFETY: H1.
    let record = unsafe { &mut *reply };
    if has_replied && record.is_kept {
        // SAFETY: it is kept, so that one was written there.
        let kept = unsafe { &mut *record.held.as_mut_ptr().cast::<Kept<'_>>() };
        // The binding that the reply is of does not move with its client.
        kept.next = next.map(Box::new);
    }
}

/// Tells what came of a call that was posted. False after an error.
///
/// # Safety
///
/// - H1 live: both records. H2 bytes: the reply's.
#[inline(always)]
pub(super) unsafe fn told(
    replied: Result<Reply<'_>, Box<CallError>>,
    reply: *mut ReplyRecord,
    environment: *mut Environment,
) -> bool {
    // SAFETY: H1.
    let record = unsafe { &mut *reply };
    let replied = match replied {
        Ok(replied) => replied,
        // SAFETY: H1.
        Err(error) => return unsafe { failed(environment, &error) },
    };
    record.raised = replied.raised();
    if record.raised > record.exception_count {
        // SAFETY: H1.
        return unsafe { failed(environment, &replied.unknown_exception()) };
    }
    // SAFETY: H2; it is the stub's own.
    let target = unsafe { bytes_mut(record.fixed, record.fixed_bytes as usize) };
    replied.copy_fixed(target);
    if record.is_kept {
        let kept = record.held.as_mut_ptr().cast::<Kept<'_>>();
        // SAFETY: the record is large enough, which is asserted beside it, and ours by H1.
        unsafe { kept.write(Kept { reply: replied, next: None }) };
    }
    true
}

/// Calls a procedure that has no reply. False after an error.
///
/// # Safety
///
/// - H1 live: all of them, `client` or null. H2 bytes: the message's. D1 open: its descriptors.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_post_oneway(
    client: *const ClientRecord,
    procedure: u32,
    request: *const Message,
    environment: *mut Environment,
) -> bool {
    // SAFETY: H1, or null.
    let Some(client) = (unsafe { client_of(client, environment) }) else { return false };
    // SAFETY: passed on.
    let Some(request) = (unsafe { with_lent(client, request, environment) }) else { return false };
    // SAFETY: passed on.
    let posted = unsafe { filled(client, procedure, &request, false) };
    match posted.and_then(|call| call.post_oneway(request.fixed.len() as u32)) {
        Ok(()) => true,
        // SAFETY: H1.
        Err(error) => unsafe { failed(environment, &error) },
    }
}

/// Claims an A-stack for a procedure, whose class is a number here.
#[inline]
fn claimed<'b, 'm>(client: &'b Client, procedure: u32) -> Result<Call<'b, 'm>, Box<CallError>> {
    let class = client.binding().interface().procedures[procedure as usize].class;
    client.claim_of_class(class.into(), procedure)
}

/// Claims an A-stack, fills it, and sends the descriptors that go with it.
///
/// # Safety
///
/// - H2 bytes: the message's. D1 open: its descriptors.
#[inline(always)]
pub(super) unsafe fn filled<'b, 'm>(
    client: &'b Client,
    procedure: u32,
    request: &'m Outgoing<'m>,
    expects_descriptors: bool,
) -> Result<Call<'b, 'm>, Box<CallError>> {
    // SAFETY: passed on.
    let mut call = unsafe { with_arguments(client, procedure, request) }?;
    if expects_descriptors {
        call.expect_descriptors();
    }
    if !request.descriptors.is_empty() {
        // SAFETY: D1, and names are literals of generated code.
        unsafe { put_arguments(&mut call, request.descriptors) }?;
    }
    Ok(call)
}

/// Claims an A-stack and fills it.
///
/// # Safety
///
/// - H2 bytes: the message's.
#[inline(always)]
unsafe fn with_arguments<'b, 'm>(
    client: &'b Client,
    procedure: u32,
    request: &'m Outgoing<'m>,
) -> Result<Call<'b, 'm>, Box<CallError>> {
    if request.payloads.is_empty() {
        let mut call = claimed(client, procedure)?;
        call.put_bytes::<0>(request.fixed);
        return Ok(call);
    }
    // SAFETY: H2, and names are literals of generated code.
    let checked = unsafe { check_texts(request.payloads) };
    checked.map_err(|error| Box::new(CallError::Usage(error)))?;
    let mut call = claimed(client, procedure)?;
    call.put_bytes::<0>(request.fixed);
    if !request.lent.is_empty() {
        // SAFETY: H2.
        unsafe { put_some_lent(&mut call, client, request) }?;
        return Ok(call);
    }
    let mut variable = call.variable_at(request.at, request.payload_bytes())?;
    for put in request.payloads {
        // SAFETY: H2.
        variable.put(unsafe { put.bytes() });
    }
    Ok(call)
}

/// Copies the payloads of a kept reply out. False after an error; then it is not kept any more.
///
/// # Safety
///
/// - H1 live: all of them, and the reply is kept. H2 bytes and H4 static: of memory of the caller's
///   that they go to.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_reply_take(
    reply: *mut ReplyRecord,
    variable_at: u32,
    takes: *mut Take,
    take_count: u32,
    environment: *mut Environment,
) -> bool {
    // SAFETY: H1.
    let record = unsafe { &*reply };
    // SAFETY: H1: it is kept, so that one was written there.
    let held = &unsafe { &*record.held.as_ptr().cast::<Kept<'_>>() }.reply;
    // SAFETY: H1.
    let takes = unsafe { std::slice::from_raw_parts_mut(takes, take_count as usize) };
    // Results are the caller's: nothing goes there.
    let mut scratch = Scratch::default();
    let taken = match held.variable_at(variable_at as usize) {
        Err(error) => Err(error),
        // SAFETY: H1.
        Ok(mut incoming) => match unsafe { take_all(&mut incoming, takes, &mut scratch) } {
            Ok(()) => return true,
            Err(NotTaken::Malformed(malformed)) => Err(Box::new(held.malformed(malformed))),
            Err(NotTaken::NoMemory { bytes }) => {
                // SAFETY: H1.
                let environment = unsafe { Environment::at(environment) };
                let reason = format!("no memory for {} of results", counted(bytes, "byte"));
                environment.fail(Outcome::NoMemory, Ran::Yes, &reason);
                Ok(())
            }
            Err(NotTaken::NoRoom { name, count, room }) => {
                // SAFETY: H1.
                let environment = unsafe { Environment::at(environment) };
                let count = counted(count, "byte or element");
                let reason = format!("{name} has {count}, its caller room for {room}");
                environment.fail(Outcome::ResultsRefused, Ran::Yes, &reason);
                Ok(())
            }
        },
    };
    if let Err(error) = taken {
        // SAFETY: H1.
        unsafe { failed(environment, &error) };
    }
    // SAFETY: H1, and it is kept.
    unsafe { nearcall_reply_release(reply) };
    false
}

/// Takes the descriptors that came with a kept reply: exactly these, of these kinds, and -1 for one
/// that is absent. False after an error; then it is not kept any more, and all that came are
/// closed.
///
/// # Safety
///
/// - H1 live: all of them, and the reply is kept.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_reply_descriptors(
    reply: *mut ReplyRecord,
    descriptors: *mut DescriptorRecord,
    descriptor_count: u32,
    environment: *mut Environment,
) -> bool {
    // SAFETY: H1.
    let record = unsafe { &*reply };
    // SAFETY: H1: it is kept, so that one was written there.
    let held = &unsafe { &*record.held.as_ptr().cast::<Kept<'_>>() }.reply;
    // SAFETY: H1.
    let records = unsafe { std::slice::from_raw_parts_mut(descriptors, descriptor_count as usize) };
    let (kinds, optional) = kinds(records);
    match held.each_descriptor(&kinds, &optional) {
        Ok(came) => {
            hand_over(came, records);
            true
        }
        Err(error) => {
            // SAFETY: H1, and it is kept.
            unsafe { nearcall_reply_release(reply) };
            // SAFETY: H1.
            unsafe { failed(environment, &error) }
        }
    }
}

/// Gives the A-stack of a kept reply back.
///
/// # Safety
///
/// - H1 live: the reply, and it is kept.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_reply_release(reply: *mut ReplyRecord) {
    // SAFETY: passed on.
    drop(unsafe { kept(reply) });
}

/// The reply of a record, which does not keep it any more.
///
/// # Safety
///
/// - H1 live: the reply, and it is kept.
unsafe fn kept<'r>(reply: *mut ReplyRecord) -> Kept<'r> {
    // SAFETY: H1.
    let record = unsafe { &*reply };
    // SAFETY: H1: it is kept, so that one was written there; it is read once.
    unsafe { record.held.as_ptr().cast::<Kept<'_>>().read() }
}

/// The results are not what the interface promises: revokes the binding and gives the A-stack of
/// the kept reply back. False, always.
///
/// # Safety
///
/// - H1 live: all of them, and the reply is kept.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_reply_malformed(
    reply: *mut ReplyRecord,
    malformed: MalformedRecord,
    environment: *mut Environment,
) -> bool {
    // SAFETY: passed on.
    let held = unsafe { kept(reply) };
    let error = held.reply.malformed(malformed.into());
    drop(held);
    // SAFETY: H1.
    unsafe { failed(environment, &error) }
}

/// # Safety
///
/// - H1 live: `environment`.
#[cold]
pub(super) unsafe fn failed(environment: *mut Environment, error: &CallError) -> bool {
    // SAFETY: H1.
    let environment = unsafe { Environment::at(environment) };
    environment.fail_call(error);
    false
}

/// Room for the feeds that a procedure opens. False if so many more would be too many: over a
/// binding that is revoked, or a parent's, that is what is said.
///
/// # Safety
///
/// - H1 live: `client` or null; `environment`.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_feed_room(
    client: *const ClientRecord,
    procedure: u32,
    count: u32,
    environment: *mut Environment,
) -> bool {
    // SAFETY: H1, or null.
    let Some(client) = (unsafe { client_of(client, environment) }) else { return false };
    match client.feed_room(procedure, count) {
        Ok(room) => {
            room.keep();
            true
        }
        // SAFETY: H1.
        Err(error) => unsafe { failed(environment, &error) },
    }
}

/// So many feeds are over by what the server has said, or were not opened.
///
/// # Safety
///
/// - H1 live: `client`.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_feeds_ended(client: *const ClientRecord, count: u32) {
    // SAFETY: H1.
    unsafe { &*client }.client.feeds_ended(count);
}

/// Tells the server that a feed is given up. Does not wait.
///
/// # Safety
///
/// - H1 live: `client`.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_give_up_feed(client: *const ClientRecord, feed: u64) {
    // SAFETY: H1.
    unsafe { &*client }.client.give_up_feed(feed);
}

/// A batch has no item and is not the last: revokes the binding. False, always.
///
/// # Safety
///
/// - H1 live: `client`, `environment`.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_empty_batch(
    client: *const ClientRecord,
    procedure: u32,
    environment: *mut Environment,
) -> bool {
    // SAFETY: H1.
    let error = unsafe { &*client }.client.empty_batch(procedure);
    // SAFETY: H1.
    unsafe { failed(environment, &error) }
}

/// An item comes after its feed is over. False, always.
///
/// # Safety
///
/// - H1 live: `client`, `environment`.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_feed_over(
    client: *const ClientRecord,
    procedure: u32,
    environment: *mut Environment,
) -> bool {
    // SAFETY: H1.
    let error = unsafe { &*client }.client.feed_over(procedure);
    // SAFETY: H1.
    unsafe { failed(environment, &error) }
}

impl From<MalformedRecord> for Malformed {
    fn from(record: MalformedRecord) -> Malformed {
        let MalformedRecord { kind, claimed, limit } = record;
        match kind {
            0 => Malformed::Text { at: claimed as usize },
            1 => Malformed::Bound { claimed, limit },
            2 => Malformed::Length { claimed, limit },
            3 => Malformed::Range { claimed },
            4 => Malformed::Depth,
            _ => Malformed::Left { bytes: claimed },
        }
    }
}

/// Says that an argument is beyond a limit of the interface. False, always.
///
/// # Safety
///
/// - H1 live: `environment`. H4 static: what is refused, and what it may be.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_refuse_argument(
    environment: *mut Environment,
    refused: BreachRecord,
) -> bool {
    // SAFETY: H4.
    let error = CallError::Usage(unsafe { breach(refused) });
    // SAFETY: H1.
    unsafe { failed(environment, &error) }
}
