//! What generated code calls. Nothing here is unsafe to call, and everything is checked where a
//! peer could lie; but it is the stubs' business to call it in the order of the plan, so write
//! against the generated clients and server traits instead.

mod area;
mod arguments;
mod call;
mod client;
mod element;
mod incoming;
mod malformed;
mod marshal;
mod opaque;
mod reply;
mod scratch;
mod variable;

pub use nearcall_abi::MESSAGE_BYTES_MAX;

pub use arguments::{Arguments, Entries, Outcome, Refusal, Replied, Results};
pub use call::Call;
pub use client::Client;
pub use element::{Element, element_bytes};
pub use incoming::Incoming;
pub use malformed::Malformed;
pub use marshal::{DEPTH_MAX, Marshal, Reader, Writer};
pub use opaque::{Opaque, OpaqueOut};
pub use reply::Reply;
pub use scratch::{Bytes, Text};
pub use variable::Variable;

pub(crate) use arguments::ReplyPlace;
pub(crate) use variable::OUT_OF_LINE_END_MAX;

use crate::error::{CallError, OverBound, UsageError};

/// The bound of a type that has none.
pub const UNBOUNDED: u32 = u32::MAX;

/// Refuses an argument over its bound before anything is posted.
///
/// # Errors: [`CallError::Usage`] naming parameter, value and limit.
#[inline]
pub fn check_bound(parameter: &'static str, count: usize, bound: u32) -> Result<(), CallError> {
    if count > bound as usize {
        Err(over_bound(parameter, count, bound))
    } else {
        Ok(())
    }
}

#[cold]
fn over_bound(parameter: &'static str, count: usize, bound: u32) -> CallError {
    let (value, limit) = (count as u64, bound.into());
    CallError::Usage(UsageError::OverBound(OverBound {
        parameter,
        value,
        limit,
    }))
}
