//! Procedures that wait to be told of what concerns their calls: that they are cancelled (design
//! note 0022), and that their server ends (0015). A client that gives a call up tells nobody: it is
//! looked at for as long as anybody wants to know. Who ends a server tells.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

use super::{Housekeeping, Rounds, take_from};
use crate::server::current::CurrentCall;
use crate::server::told::Concern;

/// Between two looks at the calls. A look is a copy of what is known of each, and two loads.
const SLICE: Duration = Duration::from_millis(10);

/// Who is to be told of what.
#[derive(Default)]
pub(super) struct Concerned {
    with_cancelled: Waiting,
    with_ending: Waiting,
}

/// Who is to be woken for which call, by a number of its own.
#[derive(Default)]
struct Waiting(Mutex<HashMap<u64, (CurrentCall, Waker)>>);

impl Concerned {
    fn with(&self, concern: Concern) -> &Waiting {
        match concern {
            Concern::Cancelled => &self.with_cancelled,
            Concern::Ending => &self.with_ending,
        }
    }
}

impl Waiting {
    fn all(&self) -> MutexGuard<'_, HashMap<u64, (CurrentCall, Waker)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True: some are left.
    fn wake(&self, is_due: impl Fn(&CurrentCall) -> bool) -> bool {
        // They are judged outside of the lock: who asks a clerk may be the last that holds it, and
        // lets go of a policy, which is anybody's, and may come here.
        let known: Vec<_> =
            self.all().iter().map(|(number, (call, _))| (*number, call.clone())).collect();
        let due = known.into_iter().filter(|(_, call)| is_due(call));
        let due: Vec<u64> = due.map(|(number, _)| number).collect();
        let mut waiting = self.all();
        let due = due.into_iter().filter_map(|number| take_from(&mut waiting, number));
        let due: Vec<_> = due.collect();
        let is_left = !waiting.is_empty();
        drop(waiting);
        for (_, waker) in due {
            // An executor that panics has broken its own state; the thread that tells lives.
            let _ = catch_unwind(AssertUnwindSafe(|| waker.wake()));
        }
        is_left
    }
}

impl Housekeeping {
    /// `waker` is woken when `concern` has come to `call`: within two looks once it is cancelled,
    /// by whoever ends its server. In place of what was said under this number before.
    pub fn tell_when(&self, concern: Concern, number: u64, call: &CurrentCall, waker: &Waker) {
        let told = (call.clone(), waker.clone());
        let mut waiting = self.concerned.with(concern).all();
        let is_first = waiting.is_empty();
        let before = waiting.insert(number, told);
        // What is dropped may be a task, whose drop may come here: not within the lock.
        drop(waiting);
        drop(before);
        if is_first && concern == Concern::Cancelled {
            self.waker.wake();
        }
    }

    /// Nobody wants to be told under this number any more.
    pub fn forget_concern(&self, concern: Concern, number: u64) {
        let forgotten = take_from(&mut self.concerned.with(concern).all(), number);
        // Not within the lock, as above.
        drop(forgotten);
    }

    /// Wakes whoever is to be woken of calls that are cancelled, if it is time. How long until it
    /// is time again.
    pub(super) fn look_for_cancelled(&self, rounds: &mut Rounds) -> Option<Duration> {
        let waiting = &self.concerned.with_cancelled;
        let has_some = || !waiting.all().is_empty();
        rounds.look_after(SLICE, has_some, || waiting.wake(CurrentCall::is_cancelled))
    }

    /// A clerk has gone, or the domain is about to end, and their bindings say so: whoever waits
    /// for that goes on.
    pub fn tell_of_ending(&self) {
        self.concerned.with_ending.wake(CurrentCall::is_ending);
    }

    /// The domain ends: whoever waits looks for itself.
    pub(super) fn wake_all_concerned(&self) {
        for waiting in [&self.concerned.with_cancelled, &self.concerned.with_ending] {
            waiting.wake(|_| true);
        }
    }
}
