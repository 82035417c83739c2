//! Many calls of one procedure, as many at once as there are A-stacks.

use std::collections::VecDeque;

use super::hasty::Haste;
use crate::error::{CallError, UsageError};
use crate::raw::{Failure, Pending, PendingTwice};

/// A call that was posted, and is to be collected: a [`Pending`] or a [`PendingTwice`].
pub trait Outstanding: sealed::Sealed {
    /// What the call evaluates to.
    type Results;
    /// What it may fail with.
    type Error;

    /// Waits for the reply, and returns what the call returns.
    ///
    /// # Errors: those of the plain call.
    fn collect(self) -> Result<Self::Results, Self::Error>;

    /// How many such calls may be under way at once.
    #[doc(hidden)]
    fn astack_count(&self) -> u32;
}

impl<T, E: From<Box<CallError>>> Outstanding for Pending<'_, T, E> {
    type Results = T;
    type Error = E;

    fn collect(self) -> Result<T, E> {
        self.collect()
    }

    fn astack_count(&self) -> u32 {
        self.astack_count()
    }
}

impl<T, E> Outstanding for PendingTwice<'_, T, E>
where
    E: Failure + From<CallError> + From<Box<CallError>>,
{
    type Results = T;
    type Error = E;

    fn collect(self) -> Result<T, E> {
        self.collect()
    }

    fn astack_count(&self) -> u32 {
        self.astack_count()
    }
}

mod sealed {
    pub trait Sealed {}

    impl<T, E> Sealed for super::Pending<'_, T, E> {}

    impl<T, E> Sealed for super::PendingTwice<'_, T, E> {}
}

/// Posts a call for each of `arguments` and collects all results, in the order of the arguments.
/// As many calls are under way at once as there are A-stacks of their class to be had; it waits for
/// an A-stack only when none is.
///
/// ```ignore
/// let sums = nearcall::call_all(pairs, |&(a, b)| posting.add(a, b));
/// ```
///
/// `post` may be asked twice for the same argument, after a post that found no A-stack. Other calls
/// that it makes are refused rather than wait for an A-stack.
pub fn call_all<A, P: Outstanding>(
    arguments: impl IntoIterator<Item = A>,
    mut post: impl FnMut(&A) -> Result<P, CallError>,
) -> Vec<Result<P::Results, P::Error>>
where
    P::Error: From<CallError>,
{
    let arguments = arguments.into_iter();
    let mut outcomes = Vec::with_capacity(arguments.size_hint().0);
    let mut under_way = VecDeque::new();
    let mut under_way_max = None;
    for argument in arguments {
        if under_way_max == Some(under_way.len()) {
            outcomes.extend(under_way.pop_front().map(P::collect));
        }
        loop {
            let haste = Haste::begin(!under_way.is_empty());
            let posted = post(&argument);
            drop(haste);
            match posted {
                Ok(pending) => {
                    under_way_max.get_or_insert_with(|| pending.astack_count() as usize);
                    under_way.push_back(pending);
                }
                Err(error) if is_full(&error) && !under_way.is_empty() => {
                    under_way_max = Some(under_way.len());
                    outcomes.extend(under_way.pop_front().map(P::collect));
                    continue;
                }
                Err(error) => {
                    outcomes.extend(under_way.drain(..).map(P::collect));
                    outcomes.push(Err(error.into()));
                }
            }
            break;
        }
    }
    outcomes.extend(under_way.into_iter().map(P::collect));
    outcomes
}

/// There is no A-stack just now.
pub(crate) fn is_full(error: &CallError) -> bool {
    use CallError::{NoAStack, Usage};
    matches!(error, NoAStack { .. } | Usage(UsageError::Outstanding { .. }))
}
