//! A watch that several bindings share: what a pass finds of theirs, and whom it serves (L35, L36;
//! design note 0024).

use std::sync::Arc;

use nearcall_core::fairness::QUANTUM_NS;
use nearcall_core::turn::Look;
use nearcall_core::{Priority, Sequence};
use nearcall_os::{clock, processor};

use super::Watch;
use super::hot::{PASS_NS_MAX, act_otherwise};
use crate::server::binding::ServerBinding;

/// A call that a pass has found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    place: Place,
    index: u32,
    sequence: Sequence,
    /// Of its binding.
    key: u64,
    /// None before it is of the same binding.
    is_first: bool,
}

/// Where its binding is known from.
#[derive(Clone, Copy, Debug)]
enum Place {
    Hot(usize),
    Owed(usize),
}

impl Watch<'_> {
    /// The binding has more posted than the call that it rang for, or is not the only one that
    /// rang: passes serve it.
    #[cold]
    #[inline(never)]
    pub(super) fn owe(&mut self, binding: &Arc<ServerBinding>) {
        if !self.owed.iter().any(|owed| Arc::ptr_eq(owed, binding)) {
            self.owed.push(Arc::clone(binding));
        }
    }

    /// Serves what is owed, all of it: the watch is over, and nobody rings for it again.
    pub(super) fn serve_owed(&mut self) {
        for binding in std::mem::take(&mut self.owed) {
            for index in 0..binding.astack_count() {
                self.look_at_one(&binding, index);
            }
        }
    }

    /// Whether calls of several bindings may be found at once, or some are owed.
    #[inline]
    pub(super) fn has_to_share(&self) -> bool {
        self.is_shared || !self.owed.is_empty()
    }

    /// What is polled has changed.
    pub(super) fn note_sharing(&mut self) {
        let [first, others @ ..] = self.hot.as_slice() else {
            self.is_shared = false;
            return;
        };
        self.is_shared = others.iter().any(|hot| !Arc::ptr_eq(&hot.binding, &first.binding));
    }

    /// One look at what is hot and at what is owed. True if a call was run.
    #[inline(never)]
    pub(super) fn pass(&mut self) -> bool {
        let mut found = std::mem::take(&mut self.found);
        self.find_hot(&mut found);
        self.find_owed(&mut found);
        let first = self.turn % found.len().max(1);
        found.rotate_left(first);
        let is_contended = found.iter().any(|each| each.key != found[0].key);
        let has_served = if is_contended {
            // Of one binding's calls none is always the last.
            self.turn = self.turn.wrapping_add(1);
            self.serve_fairly(&found)
        } else {
            self.serve_alone(&found)
        };
        found.clear();
        self.found = found;
        has_served
    }

    /// Serves calls of one binding for a while; what that leaves is found again.
    fn serve_alone(&mut self, found: &[Found]) -> bool {
        if !found.is_empty() {
            self.rounds.iter_mut().for_each(|rounds| rounds.forgive(clock::ticks));
        }
        let begin = if found.len() > 1 { clock::ticks() } else { 0 };
        let first = std::mem::take(&mut self.turn);
        let mut has_served = false;
        for (count, each) in (1..).zip(found) {
            has_served |= self.serve(each);
            if found.len() > 1 && clock::ns_since(begin) > PASS_NS_MAX {
                // The next one goes on behind it.
                self.turn = first.wrapping_add(count);
                break;
            }
        }
        has_served
    }

    fn find_hot(&mut self, found: &mut Vec<Found>) {
        for (at, hot) in self.hot.iter().enumerate() {
            match hot.binding.look(hot.index) {
                Look::Nothing => {}
                Look::Posted(sequence) => {
                    // Its line has to come again for the reply, with those of the others.
                    processor::prefetch_write(hot.binding.astack(hot.index).head());
                    find(found, Place::Hot(at), &hot.binding, (hot.index, sequence));
                }
                look => act_otherwise(&hot.binding, hot.index, look),
            }
        }
    }

    fn find_owed(&mut self, found: &mut Vec<Found>) {
        let mut at = 0;
        while at < self.owed.len() {
            let (binding, before) = (&self.owed[at], found.len());
            for index in 0..binding.astack_count() {
                match binding.look(index) {
                    Look::Nothing => {}
                    Look::Posted(sequence) => {
                        find(found, Place::Owed(at), binding, (index, sequence));
                    }
                    look => act_otherwise(binding, index, look),
                }
            }
            if found.len() > before {
                at += 1;
            } else {
                self.owed.swap_remove(at);
            }
        }
    }

    /// The more urgent first, and of equals none more than its share of this round.
    fn serve_fairly(&mut self, found: &[Found]) -> bool {
        let is_for_all = self.passes.is_for_all();
        let mut has_served = false;
        for priority in Priority::ALL {
            let quanta = found.iter().filter_map(|each| {
                let binding = self.binding(each).filter(|binding| binding.priority == priority)?;
                each.is_first.then(|| (&binding.deficit, self.quantum_ns(found, binding)))
            });
            let mut rounds = self.rounds[priority as usize];
            rounds.begin(quanta);
            self.rounds[priority as usize] = rounds;
            for each in found {
                has_served |= self.serve_share(each, priority, found);
            }
            if has_served && !is_for_all {
                break;
            }
        }
        has_served
    }

    /// Serves a call of this priority if its binding has something left.
    fn serve_share(&mut self, each: &Found, priority: Priority, found: &[Found]) -> bool {
        let Some(binding) = self.binding(each).filter(|binding| binding.priority == priority)
        else {
            return false;
        };
        let quantum_ns = self.quantum_ns(found, binding);
        if !self.rounds[priority as usize].admit(&binding.deficit, quantum_ns) {
            return false;
        }
        let begin = clock::ticks();
        let has_served = self.serve(each);
        if let Some(binding) = self.binding(each) {
            binding.deficit.charge(clock::ns_since(begin));
        }
        has_served
    }

    /// What a binding has a round, where all that were found want something.
    fn quantum_ns(&self, found: &[Found], binding: &ServerBinding) -> u32 {
        let firsts = found.iter().filter(|each| each.is_first);
        let of_user = firsts.filter(|each| {
            self.binding(each).is_some_and(|other| other.class.uid == binding.class.uid)
        });
        (QUANTUM_NS / of_user.count().max(1) as u32).max(1)
    }

    #[inline]
    fn binding(&self, found: &Found) -> Option<&Arc<ServerBinding>> {
        match found.place {
            // What is hot changes while calls are served, and whoever lets one go looks at it.
            Place::Hot(at) => {
                let hot = self.hot.get(at)?;
                (hot.binding.key == found.key && hot.index == found.index).then_some(&hot.binding)
            }
            Place::Owed(at) => self.owed.get(at),
        }
    }

    #[inline]
    fn serve(&mut self, found: &Found) -> bool {
        match (found.place, self.binding(found)) {
            (_, None) => false,
            (Place::Hot(at), Some(_)) => self.serve_hot(at, found.sequence),
            (Place::Owed(_), Some(binding)) => {
                let binding = Arc::clone(binding);
                self.act(&binding, found.index, Look::Posted(found.sequence))
            }
        }
    }
}

fn find(
    found: &mut Vec<Found>,
    place: Place,
    binding: &ServerBinding,
    (index, sequence): (u32, Sequence),
) {
    let key = binding.key;
    let mut before = found.iter().filter(|before| before.key == key).peekable();
    let is_first = before.peek().is_none();
    // What is owed may be hot by now.
    if before.any(|before| before.index == index) {
        return;
    }
    found.push(Found { place, index, sequence, key, is_first });
}
