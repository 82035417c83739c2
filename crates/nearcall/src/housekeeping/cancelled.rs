//! Procedures that wait to be told that their calls are cancelled (design note 0022). A client that
//! gives a call up tells nobody: it is looked at for as long as anybody wants to know.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

use super::{Housekeeping, Rounds, take_from};
use crate::server::current::CurrentCall;

/// Between two looks at the calls. A look is two loads each.
const SLICE: Duration = Duration::from_millis(10);

/// Who is to be woken when which call is cancelled, by a number of its own.
#[derive(Default)]
pub(super) struct Concerned {
    waiting: Mutex<HashMap<u64, (CurrentCall, Waker)>>,
}

impl Concerned {
    fn waiting(&self) -> MutexGuard<'_, HashMap<u64, (CurrentCall, Waker)>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Housekeeping {
    /// `waker` is woken when `call` is cancelled, within two looks; in place of what was said under
    /// this number before.
    pub fn tell_when_cancelled(&self, number: u64, call: &CurrentCall, waker: &Waker) {
        let told = (call.clone(), waker.clone());
        let mut waiting = self.concerned.waiting();
        let is_first = waiting.is_empty();
        let before = waiting.insert(number, told);
        // What is dropped may be a task, whose drop may come here: not within the lock.
        drop(waiting);
        drop(before);
        if is_first {
            self.waker.wake();
        }
    }

    /// Nobody wants to be told under this number any more.
    pub fn forget_cancelled(&self, number: u64) {
        let forgotten = take_from(&mut self.concerned.waiting(), number);
        // Not within the lock, as above.
        drop(forgotten);
    }

    /// Wakes whoever is to be woken, if it is time. How long until it is time again.
    pub(super) fn look_for_cancelled(&self, rounds: &mut Rounds) -> Option<Duration> {
        let has_some = || !self.concerned.waiting().is_empty();
        rounds.look_after(SLICE, has_some, || self.wake_concerned(CurrentCall::is_cancelled))
    }

    /// The domain ends: whoever waits looks for itself.
    pub(super) fn wake_all_concerned(&self) {
        self.wake_concerned(|_| true);
    }

    /// True: some are left.
    fn wake_concerned(&self, is_due: impl Fn(&CurrentCall) -> bool) -> bool {
        let mut waiting = self.concerned.waiting();
        let due: Vec<_> = waiting.extract_if(|_, (call, _)| is_due(call)).collect();
        let is_left = !waiting.is_empty();
        drop(waiting);
        for (_, (_, waker)) in due {
            // An executor that panics has broken its own state; the thread that keeps house lives.
            let _ = catch_unwind(AssertUnwindSafe(|| waker.wake()));
        }
        is_left
    }
}
