//! The A-stacks that a watching processor knows of through the tallies of their classes: it looks
//! at one word for all that a client's thread has under way, and at no heads but those that were
//! posted (L35, L38; design note 0007).

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use nearcall_abi::RequestLine;
use nearcall_abi::head::flag;
use nearcall_core::tally::Tallied;
use nearcall_core::turn::Look;
use nearcall_core::{Mode, Sequence};
use nearcall_os::{HeadWords, clock, processor};

use super::Watch;
use super::hot::{PASS_NS_MAX, SPREAD_POLLS, TOGETHER, act_otherwise};
use crate::server::binding::ServerBinding;

/// A-stacks that calls come on in turn from which on their tally is looked at in place of their
/// heads.
const TALLIED_MIN: usize = 2;

/// Most tallies that one processor looks at: each costs a line. What more there is is polled.
const TALLIES_MAX: usize = 8;

/// The A-stacks of one class that are watched by its tally.
#[derive(Debug)]
pub(super) struct Tally {
    binding: Arc<ServerBinding>,
    class: u32,
    /// Index of the A-stack that the lowest bit stands for.
    first: u32,
    known: Tallied,
    /// Which bit the next look begins with.
    next: u32,
}

impl Tally {
    fn new(binding: &Arc<ServerBinding>, class: u32) -> Tally {
        let (binding, first) = (Arc::clone(binding), binding.first_of_class(class));
        Tally { binding, class, first, known: Tallied::default(), next: 0 }
    }

    pub fn binding(&self) -> &Arc<ServerBinding> {
        &self.binding
    }

    fn is_of(&self, binding: &Arc<ServerBinding>, class: u32) -> bool {
        self.class == class && Arc::ptr_eq(&self.binding, binding)
    }

    /// The bit of an A-stack of the class, if it has one.
    fn bit(&self, index: u32) -> Option<u64> {
        1u64.checked_shl(index - self.first)
    }

    pub fn watches(&self, index: u32) -> bool {
        self.bit(index).is_some_and(|bit| self.known.watched() & bit != 0)
    }

    /// The A-stacks that calls were posted on, if the client is to be believed.
    #[inline]
    fn posted(&self) -> u64 {
        let line = self.binding.astack(self.first).peer_line::<RequestLine>();
        // A private copy, since it is mapped read-only.
        self.known.posted(&AtomicU64::new(line.tally()))
    }

    /// Their indices, in order.
    pub fn posted_indices(&self) -> impl Iterator<Item = u32> + use<> {
        let first = self.first;
        slots_of(self.posted()).map(move |slot| first + slot)
    }

    /// It will be looked at, and its reply written.
    #[inline]
    pub fn ask_to_write(&self, index: u32) {
        processor::prefetch_write(self.binding.astack(index).head());
    }
}

impl Watch<'_> {
    /// How an A-stack that is polled is to be watched after the call that its head says.
    #[inline]
    pub(super) fn mode_after(&mut self, at: usize, words: HeadWords) -> Mode {
        match words.origin() & flag::TALLIES {
            0 => Mode::Hot,
            _ => self.mode_of_tallied(at),
        }
    }

    #[inline(never)]
    fn mode_of_tallied(&mut self, at: usize) -> Mode {
        let hot = &self.hot[at];
        let (binding, index) = (hot.binding(), hot.index);
        let class = binding.astack(index).record().class;
        let has_bit = index - binding.first_of_class(class) < u64::BITS;
        if self.spread == 0 || !has_bit || self.hot.len() + self.tallied_count() < TALLIED_MIN {
            return Mode::Hot;
        }
        if !self.tallies.iter().any(|tally| tally.is_of(binding, class)) {
            if self.tallies.len() == TALLIES_MAX {
                return Mode::Hot;
            }
            self.tallies.push(Tally::new(binding, class));
            // Unless its first call was another processor's, and it watches nothing.
            self.has_moved = true;
        }
        Mode::Tally
    }

    fn tallied_count(&self) -> usize {
        self.tallies.iter().map(|tally| tally.known.watched().count_ones() as usize).sum()
    }

    /// Call `sequence` on an A-stack that is polled was served, and the tally says when the next
    /// one comes.
    #[inline(never)]
    pub(super) fn note_tallied(&mut self, at: usize, sequence: Sequence) {
        let hot = &self.hot[at];
        let class = hot.binding().astack(hot.index).record().class;
        let mut of_class =
            self.tallies.iter_mut().filter(|tally| tally.is_of(hot.binding(), class));
        if let Some(tally) = of_class.next()
            && let Some(bit) = tally.bit(hot.index)
        {
            tally.known.watch(bit, sequence);
            // Whoever goes through what is hot just now counts on where it is.
            self.has_moved = true;
        }
    }

    /// What is watched by tallies is not polled beside.
    #[cold]
    #[inline(never)]
    pub(super) fn part_tallied(&mut self) {
        self.has_moved = false;
        self.tallies.retain(|tally| tally.known.watched() != 0);
        let (tallies, cache) = (&self.tallies, &mut self.cache);
        self.hot.retain(|hot| {
            let class = hot.binding().astack(hot.index).record().class;
            let mut of_class = tallies.iter().filter(|tally| tally.is_of(hot.binding(), class));
            let is_tallied = of_class.any(|tally| tally.watches(hot.index));
            if is_tallied {
                cache.remove(hot.key);
            }
            !is_tallied
        });
        self.note_sharing();
    }

    /// An A-stack is watched otherwise from now on.
    #[inline]
    pub(super) fn forget_tallied(&mut self, binding: &Arc<ServerBinding>, index: u32) {
        if !self.tallies.is_empty() {
            self.forget_tallied_of(binding, index);
        }
    }

    #[inline(never)]
    fn forget_tallied_of(&mut self, binding: &Arc<ServerBinding>, index: u32) {
        let class = binding.astack(index).record().class;
        for tally in self.tallies.iter_mut().filter(|tally| tally.is_of(binding, class)) {
            self.has_moved |= tally.bit(index).is_some_and(|bit| tally.known.forget(bit));
        }
    }

    /// One look at what is watched by tallies, where all that is watched is one binding's. True if
    /// a call was run.
    #[inline]
    pub(super) fn poll_tallies(&mut self) -> bool {
        let tallies = 0..self.tallies.len();
        tallies.fold(false, |has_served, at| self.poll_tally(at) | has_served)
    }

    /// Serves what was posted, several at a time: the lines of as many heads travel at once. Calls
    /// that take long end it, for the bells' sake; the next look goes on behind them.
    #[inline]
    fn poll_tally(&mut self, at: usize) -> bool {
        let tally = &self.tallies[at];
        let (first, next) = (tally.first, tally.next);
        let mut left = tally.posted().rotate_right(next);
        let begin = if left.count_ones() > TOGETHER as u32 { clock::ticks() } else { 0 };
        let mut has_served = false;
        while left != 0 {
            let together = lowest(left, TOGETHER);
            let indices = || slots_of(together).map(|slot| first + (slot + next) % u64::BITS);
            indices().for_each(|index| self.tallies[at].ask_to_write(index));
            for index in indices() {
                match self.tallies[at].binding.look(index) {
                    (Look::Posted(sequence), words) => {
                        has_served |= self.serve_tallied(at, index, (sequence, words));
                    }
                    (look, _) => self.act_on_tallied(at, index, look),
                }
            }
            left &= !together;
            if left != 0 && clock::ns_since(begin) > PASS_NS_MAX {
                self.tallies[at].next = (next + left.trailing_zeros()) % u64::BITS;
                break;
            }
        }
        has_served
    }

    /// The `at`-th tally has named A-stack `index`, and a look has found no call to run.
    #[cold]
    #[inline(never)]
    pub(super) fn act_on_tallied(&mut self, at: usize, index: u32, look: Look) {
        let tally = &mut self.tallies[at];
        let bit = 1 << (index - tally.first);
        if look == Look::Nothing {
            // Another processor has served it, or there is none.
            tally.known.watch(bit, tally.binding.claimed(index));
            return;
        }
        let binding = Arc::clone(&tally.binding);
        self.forget_tallied(&binding, index);
        act_otherwise(&binding, index, look);
    }

    /// Runs a call that the `at`-th tally has told of.
    pub(super) fn serve_tallied(
        &mut self,
        at: usize,
        index: u32,
        call: (Sequence, HeadWords),
    ) -> bool {
        let tally = &mut self.tallies[at];
        let bit = 1 << (index - tally.first);
        if self.latest_tallied != (at, index) {
            self.latest_tallied = (at, index);
            self.spread = SPREAD_POLLS;
        }
        if self.spread > 0 && call.1.origin() & flag::TALLIES != 0 {
            tally.known.watch(bit, call.0);
            let binding = &self.tallies[at].binding;
            let served = self.run_apart(binding, index, call, Mode::Tally);
            return self.note(served);
        }
        // It is alone again.
        let binding = Arc::clone(tally.binding());
        self.forget_tallied(&binding, index);
        self.make_hot(&binding, index);
        let served = self.run_apart(&binding, index, call, Mode::Hot);
        self.note(served)
    }

    /// Has all that is watched by tallies ring from now on. False if a call has just come.
    pub(super) fn cool_tallies_down(&mut self) -> bool {
        while let Some(tally) = self.tallies.last_mut() {
            let watched = tally.known.watched();
            if watched == 0 {
                self.tallies.pop();
                continue;
            }
            let slot = watched.trailing_zeros();
            tally.known.forget(1 << slot);
            let (binding, index) = (Arc::clone(&tally.binding), tally.first + slot);
            let is_demoted = !binding.state.is_open() || binding.demote(index, Mode::Tally);
            if !is_demoted && !self.holds(&binding) && self.look_at_one(&binding, index) {
                return false;
            }
        }
        self.note_sharing();
        true
    }
}

/// The lowest `count` bits of those that are set.
fn lowest(mut bits: u64, count: usize) -> u64 {
    let all = bits;
    for _ in 0..count {
        bits &= bits.wrapping_sub(1);
    }
    all & !bits
}

/// The places of the bits that are set, the lowest first.
fn slots_of(mut bits: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let slot = (bits != 0).then(|| bits.trailing_zeros())?;
        bits &= bits - 1;
        Some(slot)
    })
}
