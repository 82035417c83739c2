//! How many feeds a client has open over a binding (design note 0020), so that it hears of one too
//! many from its own library, before anything is posted. The server counts for itself.

use std::sync::atomic::AtomicU32;
// Relaxed: a count; nothing is read through it.
use std::sync::atomic::Ordering::Relaxed;

use nearcall_abi::message::FEEDS_MAX;

use super::binding::ClientBinding;
use crate::error::{CallError, UsageError};

/// The feeds that are open, and those that calls under way are about to open.
#[derive(Debug, Default)]
pub(crate) struct OpenFeeds(AtomicU32);

/// Room for what a call opens. Dropped, it is others' again.
#[derive(Debug)]
#[must_use]
pub struct FeedRoom<'b> {
    binding: &'b ClientBinding,
    count: u32,
}

impl OpenFeeds {
    /// So many are over, or were not opened.
    pub fn end(&self, count: u32) {
        let fewer = |open: u32| Some(open.saturating_sub(count));
        self.0.fetch_update(Relaxed, Relaxed, fewer).expect("there is always a number");
    }
}

impl<'b> FeedRoom<'b> {
    /// For the `count` feeds that `procedure` opens.
    pub(crate) fn take(
        binding: &'b ClientBinding,
        procedure: u32,
        count: u32,
    ) -> Result<FeedRoom<'b>, CallError> {
        let more = |open: u32| open.checked_add(count).filter(|open| *open <= FEEDS_MAX);
        match binding.feeds.0.fetch_update(Relaxed, Relaxed, more) {
            Ok(_) => Ok(FeedRoom { binding, count }),
            Err(open) => Err(none(binding, procedure, open)),
        }
    }

    /// They are open: each gives its room back when it is over.
    pub fn keep(self) {
        std::mem::forget(self);
    }
}

/// Why there is none: whose binding is not open, or is their parent's, opens nothing whatever they
/// read or end first.
#[cold]
fn none(binding: &ClientBinding, procedure: u32, open: u32) -> CallError {
    if !binding.state.is_open() {
        return binding.closed(procedure);
    }
    let procedure = binding.procedure_name(procedure);
    CallError::Usage(UsageError::TooManyFeeds { procedure, open, limit: FEEDS_MAX })
}

impl Drop for FeedRoom<'_> {
    fn drop(&mut self) {
        self.binding.feeds.end(self.count);
    }
}
