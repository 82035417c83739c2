//! Calls whose procedures are awaited (design note 0022): one that has to wait is suspended, and
//! its processor takes other calls meanwhile.
//!
//! ```text
//!   take ─▶ entry stub: arguments ─▶ first poll ─▶ ready: results, reply, as ever
//!                                        │ pending
//!                                        ▼
//!                   SUSPENDED, known to its binding ◀────────── pending ──┐
//!                        │ Waker::wake, from any thread                   │
//!                        ▼                                                │
//!                   list of the domain ─▶ the watcher polls it ───────────┴─▶ ready: reply
//! ```
//!
//! To its client such a call is one that was claimed and takes long; the A-stack is the server's
//! until the reply. When the binding ends, what its client would have waited for is dropped.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};
use std::task::{Context, Poll, Wake, Waker};

use nearcall_core::Sequence;

use super::binding::ServerBinding;
use super::current;
use super::run;
use crate::domain::DomainCore;
use crate::raw::{Arguments, Finish, Outcome, Refusal, Replied, ServedCall};

/// What is left of a procedure. Evaluates to what puts its results in place.
pub(crate) type Procedure = Pin<Box<dyn Future<Output = Finish> + Send>>;

/// A call whose procedure awaits something.
pub(crate) struct Suspended {
    domain: Weak<DomainCore>,
    binding: Arc<ServerBinding>,
    /// Of its A-stack.
    index: u32,
    sequence: Sequence,
    message_bytes: u32,
    until_ns: Option<u64>,
    /// `None` once it has returned, and while it is polled.
    procedure: Mutex<Option<Procedure>>,
    /// It is in its domain's list, or about to be.
    is_woken: AtomicBool,
}

/// The suspended calls of a binding, by their A-stacks.
#[derive(Default)]
pub(crate) struct SuspendedCalls {
    calls: Mutex<Calls>,
}

#[derive(Default)]
struct Calls {
    by_astack: HashMap<u32, Arc<Suspended>>,
    /// The binding has ended.
    are_over: bool,
}

/// Polls the procedure of a call for the first time, on the processor that has taken it. If it has
/// to wait, the call is suspended: [`Replied::LATER`].
pub(crate) fn begin(call: &ServedCall<'_>, procedure: Procedure) -> Outcome {
    let Some((domain, binding)) = current::domain().zip(current::served_binding()) else {
        return Err(Box::new(Refusal::Ended));
    };
    let index = call.astack.record().index;
    let suspended = Arc::new(Suspended {
        domain: Arc::downgrade(&domain),
        sequence: binding.claimed(index),
        binding,
        index,
        message_bytes: call.message_bytes,
        until_ns: current::until_ns(),
        procedure: Mutex::new(None),
        is_woken: AtomicBool::new(false),
    });
    let finish = suspended.poll_once(&mut suspended.procedure(), procedure);
    if let Some(finish) = finish {
        return finish(Arguments::new(call));
    }
    call.binding.suspended.drop_if_over(&suspended);
    Ok(Replied::LATER)
}

impl Suspended {
    fn procedure(&self) -> MutexGuard<'_, Option<Procedure>> {
        self.procedure.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Polls it, and keeps it if it has to wait. A procedure that panics is dropped.
    fn poll_once(
        self: &Arc<Self>,
        kept: &mut Option<Procedure>,
        procedure: Procedure,
    ) -> Option<Finish> {
        let waker = Waker::from(Arc::clone(self));
        let (mut given, mut pending, mut finish) = (Some(procedure), None, None);
        self.binding.entries.surroundings.around(&mut || {
            let Some(mut procedure) = given.take() else { return };
            match procedure.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(ready) => finish = Some(ready),
                Poll::Pending => pending = Some(procedure),
            }
        });
        assert!(given.is_none(), "the surroundings of a procedure have not polled it");
        // Not before: surroundings that panic behind the poll end the call.
        if let Some(procedure) = pending {
            self.binding.suspended.insert(self);
            *kept = Some(procedure);
        }
        finish
    }

    /// It was woken: polls it, and replies if it has returned.
    pub fn resume(self: &Arc<Self>) {
        // AcqRel: a wake from here on is another one; what was done before the one that brought us
        // here is seen by the poll.
        self.is_woken.swap(false, Ordering::AcqRel);
        let mut kept = self.procedure();
        let Some(procedure) = kept.take() else {
            return;
        };
        current::enter_call(self.binding.key, self.index);
        current::set_until(self.until_ns);
        let polled = catch_unwind(AssertUnwindSafe(|| self.poll_once(&mut kept, procedure)));
        current::leave_call();
        drop(kept);
        let finish = match polled {
            Ok(None) => return self.binding.suspended.drop_if_over(self),
            Ok(Some(finish)) => Some(finish),
            Err(_) => None,
        };
        // Before the reply: the next call on the A-stack may be suspended at once.
        self.binding.suspended.remove(self.index);
        let astack = self.binding.astack(self.index);
        let call = ServedCall::new(&self.binding, astack, self.message_bytes);
        run::reply_later(call, self.sequence, finish);
    }

    /// Nobody will see what it returns. One that is being polled is dropped after that.
    fn end(&self) {
        let mut kept = match self.procedure.try_lock() {
            Ok(mut kept) => kept.take(),
            Err(TryLockError::Poisoned(kept)) => kept.into_inner().take(),
            Err(TryLockError::WouldBlock) => None,
        };
        // A drop that panics is its author's; it must not end the thread that keeps house.
        let _ = catch_unwind(AssertUnwindSafe(move || {
            if kept.is_some() {
                self.binding.entries.surroundings.around(&mut || drop(kept.take()));
            }
        }));
    }
}

impl Wake for Suspended {
    fn wake(self: Arc<Self>) {
        // AcqRel: pairs with the swap in `resume`.
        if !self.is_woken.swap(true, Ordering::AcqRel)
            && let Some(domain) = self.domain.upgrade()
        {
            domain.processors.have_resumed(self);
        }
    }
}

impl fmt::Debug for Suspended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Suspended");
        out.field("index", &self.index).field("sequence", &self.sequence).finish_non_exhaustive()
    }
}

impl SuspendedCalls {
    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn insert(&self, suspended: &Arc<Suspended>) {
        let mut calls = self.calls();
        if !calls.are_over {
            calls.by_astack.insert(suspended.index, Arc::clone(suspended));
        }
    }

    fn remove(&self, index: u32) {
        self.calls().by_astack.remove(&index);
    }

    fn drop_if_over(&self, suspended: &Suspended) {
        let are_over = self.calls().are_over;
        if are_over {
            suspended.end();
        }
    }

    /// The binding has ended: drops all of them.
    pub fn clear(&self) {
        let all = {
            let mut calls = self.calls();
            calls.are_over = true;
            std::mem::take(&mut calls.by_astack)
        };
        all.values().for_each(|suspended| suspended.end());
    }
}
