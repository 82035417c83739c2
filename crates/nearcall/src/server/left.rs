//! Calls that clients have posted oneway just before they went, and that nobody has begun: who has
//! gone waits for nothing, and they are begun all the same (design note 0015).
//!
//! ```text
//!  housekeeping          watcher, at its turns            a processor
//!    claims them ─▶ DUE ──▶ found beside other calls ──▶ takes it, begins it, once
//!                   │ ▲
//!                   ▼ │ its user is held back, is let go
//!                  HELD
//!      clerk or domain ends, another policy: dropped, not begun
//! ```
//!
//! All that is known of them is private: once a call is here, its client can write what it likes.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::{Arc, MutexGuard, Weak};

use nearcall_core::quota::User;
use nearcall_core::{RevokeReason, Sequence};
use nearcall_os::HeadWords;
use nearcall_os::forks::OwnLock;

use super::binding::ServerBinding;
use super::clerk::ClerkCore;
use super::current;
use super::processors::Processors;
use crate::domain::DomainCore;

/// Bindings whose calls a pass finds, each in its turn: of thousands that have gone at once, others
/// are not to wait while all are looked through.
const BINDINGS_MAX: usize = 256;

/// Calls that it finds of all of them together, and of each.
const FOUND_MAX: usize = 1024;
const EACH_MIN: usize = 2;
const EACH_MAX: usize = 64;

/// Bindings of which some calls had not ended, of which it is looked then whether they are there.
const LEAVING_MIN: usize = 64;

/// One: its A-stack, and what the client has said.
pub(crate) type LeftCall = (u32, (Sequence, HeadWords));

/// What has been left behind in a domain.
#[derive(Debug, Default)]
pub(crate) struct LeftBehind {
    known: OwnLock<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// Bindings that have left the table, and of whose calls some have not ended, by key.
    leaving: BTreeMap<u64, Weak<ServerBinding>>,
    /// How many of them there may be before those are forgotten that are not there any more.
    leaving_max: usize,
    /// Those with calls to begin, by key.
    due: BTreeMap<u64, Due>,
    /// The key of whoever had its turn last.
    last: u64,
    /// The same of users who are held back.
    held: BTreeMap<u64, Due>,
    /// The domain begins nothing any more.
    has_ended: bool,
}

/// Calls of one binding that are to be begun. What is dropped of them has ended.
#[derive(Debug)]
struct Due {
    binding: Arc<ServerBinding>,
    calls: VecDeque<LeftCall>,
}

impl Drop for Due {
    fn drop(&mut self) {
        for (index, (sequence, _)) in self.calls.drain(..) {
            self.binding.end_left(index, sequence);
        }
    }
}

/// The client of a binding has gone: revokes it, and has begun what was posted oneway.
pub(crate) fn revoke(core: &Arc<DomainCore>, binding: &Arc<ServerBinding>, reason: RevokeReason) {
    if !binding.state.is_open() {
        binding.revoke(reason);
        return;
    }
    let (due, running) = binding.find_left(core);
    if !binding.leaving.has_some() {
        binding.revoke(reason);
        return;
    }
    let has_due = !due.is_empty();
    if !core.processors.left.add(binding, due, || binding.state.revoke(reason)) {
        // Somebody else was faster, and nothing is left of it.
        binding.forget_left();
        binding.revoke(reason);
        return;
    }
    binding.told_revoked(reason);
    binding.forget_ended(&running);
    if has_due {
        core.processors.have_left();
    }
}

/// The binding with this key, one of whose calls this thread serves although it has left the table.
#[cold]
pub(crate) fn served_binding(key: u64) -> Option<Arc<ServerBinding>> {
    current::domain()?.processors.left.binding(key)
}

impl Processors {
    /// Calls are there that were left behind: the watcher is to look for them at its turns.
    ///
    /// # Cost: as [`Processors::have_resumed`].
    fn have_left(&self) {
        self.asked.look_for_left();
        self.tell_of_asked();
    }

    /// Somebody is held back no more, and the watcher is told of that.
    pub fn let_go_left(&self) {
        if self.left.let_go(|user| self.holding.holds(user)) {
            self.asked.look_for_left();
        }
    }
}

impl LeftBehind {
    /// Calls of a binding are to be begun, and it leaves the table, if `revoke` says that it was
    /// open. Who revokes it before, or looks for what is left here behind that, finds it.
    fn add(
        &self,
        binding: &Arc<ServerBinding>,
        calls: VecDeque<LeftCall>,
        revoke: impl FnOnce() -> bool,
    ) -> bool {
        let mut due = Some(Due { binding: Arc::clone(binding), calls });
        let mut known = self.known();
        let was_open = revoke();
        if was_open {
            known.note_leaving(binding);
        }
        if was_open
            && !known.has_ended
            && let Some(due) = due.take_if(|due| !due.calls.is_empty())
        {
            known.due.insert(binding.key, due);
        }
        // What was not kept ends outside of the lock.
        drop(known);
        drop(due);
        was_open
    }

    /// Some of what is due, each binding in its turn; what is of users that `holds` says are held
    /// back is put aside until they are let go.
    pub fn turns(&self, holds: impl Fn(User) -> bool) -> Vec<(Arc<ServerBinding>, Vec<LeftCall>)> {
        let mut known = self.known();
        let behind = (Bound::Excluded(known.last), Bound::Unbounded);
        let keys = known.due.range(behind).chain(known.due.range(..=known.last));
        let keys: Vec<u64> = keys.map(|(key, _)| *key).take(BINDINGS_MAX).collect();
        let each_max = (FOUND_MAX / keys.len().max(1)).clamp(EACH_MIN, EACH_MAX);
        known.last = keys.last().copied().unwrap_or_default();
        let mut turns = Vec::new();
        for key in keys {
            let Some(due) = known.due.get(&key) else { continue };
            if !holds(due.binding.class.user()) {
                let calls = due.calls.iter().take(each_max).copied().collect();
                turns.push((Arc::clone(&due.binding), calls));
            } else if let Some(due) = known.due.remove(&key) {
                known.held.insert(key, due);
            }
        }
        turns
    }

    /// A call that is due, for who begins it. `None`: somebody has, or it is not to be begun.
    pub fn take(&self, key: u64, index: u32) -> Option<LeftCall> {
        let mut known = self.known();
        let due = known.due.get_mut(&key)?;
        let at = due.calls.iter().position(|call| call.0 == index)?;
        let taken = due.calls.remove(at);
        let gone = if due.calls.is_empty() { known.due.remove(&key) } else { None };
        drop(known);
        drop(gone);
        taken
    }

    /// Whoever `holds` says is not held back has its turns again. Whether anything is due.
    fn let_go(&self, holds: impl Fn(User) -> bool) -> bool {
        let mut known = self.known();
        let held = std::mem::take(&mut known.held);
        let (held, due) = held.into_iter().partition(|(_, due)| holds(due.binding.class.user()));
        known.held = held;
        let mut due: BTreeMap<u64, Due> = due;
        known.due.append(&mut due);
        !known.due.is_empty()
    }

    /// Bindings that have calls which nobody has begun.
    pub fn unbegun(&self) -> Vec<Arc<ServerBinding>> {
        let known = self.known();
        known.due.values().chain(known.held.values()).map(|due| Arc::clone(&due.binding)).collect()
    }

    /// Calls of these bindings are not begun any more.
    pub fn end_those(&self, are_over: impl Fn(&ServerBinding) -> bool) {
        let mut known = self.known();
        let Known { due, held, .. } = &mut *known;
        let over = [due, held].map(|list| take_those(list, &are_over));
        // Outside of the lock: who ends comes back to it.
        drop(known);
        drop(over);
    }

    /// The domain ends, and begins nothing more.
    pub fn end(&self) {
        self.known().has_ended = true;
        self.end_those(|_| true);
    }

    /// Nothing is left of a binding.
    pub fn forget(&self, key: u64) {
        self.known().leaving.remove(&key);
    }

    /// A binding of whose calls some have not ended.
    fn binding(&self, key: u64) -> Option<Arc<ServerBinding>> {
        self.known().leaving.get(&key)?.upgrade()
    }

    /// Drops the suspended calls of all of them.
    pub fn clear_suspended(&self) {
        let leaving: Vec<_> = self.known().leaving.values().filter_map(Weak::upgrade).collect();
        leaving.iter().for_each(|binding| binding.suspended.clear());
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock()
    }
}

impl Known {
    fn note_leaving(&mut self, binding: &Arc<ServerBinding>) {
        self.leaving.insert(binding.key, Arc::downgrade(binding));
        if self.leaving.len() > self.leaving_max {
            self.leaving.retain(|_, binding| binding.strong_count() > 0);
            self.leaving_max = LEAVING_MIN.max(2 * self.leaving.len());
        }
    }
}

fn take_those(
    list: &mut BTreeMap<u64, Due>,
    are_over: impl Fn(&ServerBinding) -> bool,
) -> BTreeMap<u64, Due> {
    let all = std::mem::take(list);
    let (over, left) = all.into_iter().partition(|(_, due)| are_over(&due.binding));
    *list = left;
    over
}

impl ClerkCore {
    /// Another policy is in force: begins nothing of bindings that it would not make, or not so.
    pub fn judge_left(&self, left: &LeftBehind, is_of: impl Fn(&ServerBinding) -> bool) {
        let unbegun = left.unbegun();
        let of_clerk = unbegun.iter().filter(|binding| is_of(binding));
        // The policy may be anybody's code: it is asked without the lock.
        let over: Vec<u64> =
            of_clerk.filter(|binding| !self.would_make(binding)).map(|each| each.key).collect();
        left.end_those(|binding| over.contains(&binding.key));
    }
}

#[cfg(test)]
mod tests;
