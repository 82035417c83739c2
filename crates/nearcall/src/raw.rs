//! What generated code calls. Nothing here is unsafe to call, and everything is checked where a
//! peer could lie; but it is the stubs' business to call it in the order of the plan, so write
//! against the generated clients and server traits instead.

mod ahead;
mod area;
mod arguments;
mod attended;
mod awaiting;
mod behind;
mod brief;
mod brief_call;
mod call;
mod claiming;
mod client;
mod descriptors;
mod element;
mod exchanges;
mod feeds;
mod inbox;
mod incoming;
mod kept;
mod malformed;
mod marshal;
mod opaque;
mod pending;
pub mod plain;
mod reply;
mod scratch;
mod served;
mod times;
mod twice;
mod variable;

pub use nearcall_abi::MESSAGE_BYTES_MAX;
pub use nearcall_core::lookout::Lookout;
pub use nearcall_os::DescriptorKind;

pub use crate::batch::{Batch, Batches, Keeping};
pub use crate::client::awaited_batch::{BatchCall, FeedClient};
pub use crate::client::awaited_feed::{FeedNumbers, Opening};
pub use crate::client::cancellation::{enter as enter_cancellation, leave as leave_cancellation};
pub use crate::client::feed_room::FeedRoom;
pub use crate::client::hasty::in_haste;
pub use crate::client::interrupt::Interruptible;
pub use crate::client::lead::Lead;
pub use crate::client::rebind::is_worth_another_try;
pub use ahead::{AHEAD_LAYOUT, Ahead};
pub use arguments::{
    Arguments, Entries, Finish, OfKernelThread, Outcome, Refusal, Replied, Results,
};
pub use attended::Attended;
pub use awaiting::Awaiting;
pub use brief::{
    BRIEF_BATCH_CALLS, BRIEF_LAYOUT, BRIEF_LENGTHS, BRIEF_LOOKS, Brief, brief_thread,
    processor_offset,
};
pub use brief_call::{BriefCall, BriefResults};
pub use call::{Call, Claimed};
pub use claiming::Claiming;
pub use client::Client;
pub use descriptors::Passed;
pub use element::{Element, counted_bytes, element_bytes};
pub use exchanges::{Ends, InletEnd, OutletEnd, exchange, inlet, outlet};
pub use inbox::{Inbox, NumberedWaker};
pub use incoming::{Incoming, Payload};
pub use kept::Kept;
pub use malformed::Malformed;
pub use marshal::{DEFAULT_BYTES_MAX, DEPTH_MAX, Marshal, Reader, Writer};
pub use opaque::{Opaque, OpaqueOut};
pub use pending::Pending;
pub use reply::Reply;
pub use scratch::{Bytes, Elements, Marshalled, Room, Text};
pub use times::{duration, signed_duration, system_time, timestamp};
pub use twice::{PendingTwice, Tries};
pub use variable::Variable;

pub(crate) use served::ServedCall;

use crate::error::{CallError, OverBound, UsageError};
pub use crate::error::{Failure, Reason};
pub use crate::server::deferred::Deferred;

/// The bound of a type that has none.
pub const UNBOUNDED: u32 = u32::MAX;

/// Refuses an argument over its bound before anything is posted.
///
/// # Errors: [`CallError::Usage`] naming parameter, value and limit.
#[inline]
pub fn check_bound(parameter: &'static str, count: usize, bound: u32) -> Result<(), CallError> {
    if count > bound as usize { Err(over_bound(parameter, count, bound)) } else { Ok(()) }
}

/// Refuses a result of a procedure that is over its bound.
#[inline]
pub fn check_result(parameter: &'static str, count: usize, bound: u32) -> Result<(), Box<Refusal>> {
    if count <= bound as usize {
        return Ok(());
    }
    let (value, limit) = (count as u64, bound.into());
    Err(Box::new(Refusal::over_bound(parameter, value, limit)))
}

/// Judges a count inside what was unmarshalled.
#[inline]
pub fn check_received(count: usize, bound: u32) -> Result<(), Malformed> {
    if count > bound as usize {
        return Err(Malformed::Bound { claimed: count as u64, limit: bound.into() });
    }
    Ok(())
}

/// Judges a byte that is to be a boolean.
#[inline]
pub fn boolean(word: u8) -> Result<bool, Malformed> {
    match word {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(Malformed::range(other)),
    }
}

/// Judges a word that is to be a character.
#[inline]
pub fn character(word: u32) -> Result<char, Malformed> {
    char::from_u32(word).ok_or_else(|| Malformed::range(word))
}

#[cold]
fn over_bound(parameter: &'static str, count: usize, bound: u32) -> CallError {
    let (value, limit) = (count as u64, bound.into());
    CallError::Usage(UsageError::OverBound(OverBound { parameter, value, limit }))
}
