//! What is left of a binding whose client has gone: calls that were posted oneway, for which nobody
//! waits anyway (design note 0015).
//!
//! ```text
//!  each A-stack, once: a oneway call that is
//!    posted     ─▶ claimed, and begun at a turn of the watcher's (`server/left.rs`) ─┐
//!    claimed    ─▶ the processor that has it goes on ────────────────────────────────┼─▶ ended
//!    suspended  ─▶ goes on when it is woken ─────────────────────────────────────────┘
//!
//!  the binding is revoked, and leaves the table; with the last of them it gives back what it has
//! ```
//!
//! Which calls those are is found out once; what the client writes after that is for nobody.
//! That a processor has a call is said by the client's own word, too. One that lies is believed for
//! as long as any processor knows the binding: nobody tells of an end that was before, and what a
//! binding holds goes with it at last.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, Weak};

use nearcall_abi::{ProcedureDescriptor, ReplyLine};
use nearcall_core::turn::{self, Look, Phase};
use nearcall_core::{Sequence, TurnWord, claim};
use nearcall_os::fence;
use nearcall_os::forks::OwnLock;

use super::ServerBinding;
use crate::domain::DomainCore;
use crate::server::left::LeftCall;

/// Of one binding.
#[derive(Default)]
pub(crate) struct Leaving {
    known: OwnLock<Known>,
}

#[derive(Default)]
struct Known {
    /// Those that have not ended: one an A-stack at most.
    calls: BTreeMap<u32, Sequence>,
    /// The client was found to have broken the protocol: no more of them is begun.
    is_broken: bool,
    domain: Weak<DomainCore>,
}

impl Leaving {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock()
    }

    /// Whether call `sequence` on an A-stack is one of them.
    pub fn has(&self, index: u32, sequence: Sequence) -> bool {
        let known = self.known();
        !known.is_broken && known.calls.get(&index) == Some(&sequence)
    }

    /// Whether there are any.
    pub fn has_some(&self) -> bool {
        !self.known().calls.is_empty()
    }

    /// None of them is begun any more.
    pub fn break_off(&self) {
        self.known().is_broken = true;
    }
}

impl Drop for Leaving {
    fn drop(&mut self) {
        // A client has lied, and its trust class may have gone only now.
        if self.has_some()
            && let Some(domain) = self.known().domain.upgrade()
        {
            domain.housekeeping.look_after_classes();
        }
    }
}

impl ServerBinding {
    /// Whether nobody waits for calls of the procedure that `selector` claims to be.
    fn is_oneway(&self, selector: u32) -> bool {
        let is_oneway = |procedure: &ProcedureDescriptor| procedure.is_oneway;
        self.all_procedures().get(selector as usize).is_some_and(is_oneway)
    }

    /// The client has gone, and the binding is open still: finds what was posted oneway and has no
    /// reply. What nobody had claimed is claimed, and to be begun; those that are said to run are
    /// the others.
    pub fn find_left(&self, core: &Arc<DomainCore>) -> (VecDeque<LeftCall>, Vec<(u32, Sequence)>) {
        let suspended = self.suspended.all().into_iter().filter(|(index, _)| {
            let procedure = &self.astack(*index).record().awaited_procedure;
            // Relaxed: stored before the call was suspended.
            self.is_oneway(procedure.load(Ordering::Relaxed))
        });
        let mut known = self.leaving.known();
        known.domain = Arc::downgrade(core);
        known.calls.extend(suspended);
        let (mut due, mut running) = (VecDeque::new(), Vec::new());
        for index in 0..self.astack_count() {
            let (look, words) = self.look(index);
            let word = TurnWord(words.turn());
            let is_posted = matches!(word.phase(), Some(Phase::Posted | Phase::PostedAsleep));
            if !is_posted || !self.is_oneway(words.selector()) || known.calls.contains_key(&index) {
                continue;
            }
            let sequence = word.sequence();
            let claim_word = &self.astack(index).own_line::<ReplyLine>().claim;
            if look == Look::Posted(sequence) && claim::claim(claim_word, sequence) {
                due.push_back((index, (sequence, words)));
            } else if claim::claimed(claim_word) == sequence {
                running.push((index, sequence));
            } else {
                continue;
            }
            known.calls.insert(index, sequence);
        }
        (due, running)
    }

    /// The binding is not open any more, so that who ends a call tells: forgets those of `running`
    /// that had ended, or have since.
    pub fn forget_ended(&self, running: &[(u32, Sequence)]) {
        if running.is_empty() {
            return;
        }
        // Who replied before this fence has its reply seen here; who does behind it looks whether
        // the binding is open behind it, too.
        if fence::is_available() {
            fence::heavy();
        }
        for (index, sequence) in running {
            if turn::is_given_up(&self.astack(*index).head().turn, *sequence) {
                self.end_left(*index, *sequence);
            }
        }
    }

    /// A call has ended, or is not to be begun. If it was the last of those that the client has
    /// left behind, the binding gives back what it holds.
    #[cold]
    pub fn end_left(&self, index: u32, sequence: Sequence) {
        let mut known = self.leaving.known();
        if known.calls.get(&index) != Some(&sequence) {
            return;
        }
        known.calls.remove(&index);
        if !known.calls.is_empty() {
            return;
        }
        let domain = known.domain.upgrade();
        drop(known);
        self.give_back();
        if let Some(domain) = domain {
            domain.processors.left.forget(self.key);
            domain.housekeeping.look_after_classes();
        }
    }

    /// The binding was revoked for another reason: nothing is left behind.
    pub fn forget_left(&self) {
        self.leaving.known().calls.clear();
    }
}

impl fmt::Debug for Leaving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Leaving").field("calls", &self.known().calls).finish_non_exhaustive()
    }
}
