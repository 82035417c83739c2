//! What a watcher does where calls take long: it hands those that it finds over to whichever server
//! processor is free, itself among them, while that serves more (L38; design note 0003).

use std::sync::Arc;

use nearcall_abi::head::flag;
use nearcall_core::{Mode, Priority};
use nearcall_os::clock;

use super::Watch;
use super::hot::hot_key;
use super::shared::{Found, Place};
use crate::server::backlog::Waiting;
use crate::server::binding::ServerBinding;

/// Looks for which a watcher leaves a call to a taker that was about to take it: the kernel may
/// have taken the processor from that one.
const LEFT_LOOKS_MAX: u32 = 64;

impl Watch<'_> {
    /// A look that finds out how long calls take.
    #[cold]
    #[inline(never)]
    pub(super) fn poll_timed(&mut self) -> bool {
        let (begin, before) = (clock::ticks(), self.processors.progress().0);
        let has_served = self.poll_once();
        // There and back for each.
        let run_count = self.processors.progress().0.wrapping_sub(before) / 2;
        if has_served && run_count > 0 {
            self.processors.backlog.told_run(clock::ns_since(begin) / run_count);
            self.weigh_handing(run_count > 1);
        }
        has_served
    }

    /// Calls were run: the search for the way that serves more hears of those that watcher and
    /// takers have run, but of short ones that came one at a time and were not handed over. One
    /// that was suspended counts each time that it goes on, by either way.
    pub(super) fn weigh_handing(&mut self, were_several: bool) {
        let backlog = &self.processors.backlog;
        if !backlog.is_worth_it() {
            self.is_slow = false;
            return self.handing.rest();
        }
        let run_ns = backlog.run_ns();
        if self.handing.hears(run_ns, were_several) {
            // There and back for each.
            let own_count = self.processors.progress().0 / 2;
            let run_count = own_count + u64::from(backlog.taken_count());
            self.handing.told(run_count, clock::now_ns(), run_ns);
        }
        self.is_slow = self.handing.is_trying() || self.handing.hands_over(run_ns);
    }

    /// Whether a pass that has found so many calls hands them over: where another processor begins
    /// at once, or more are left than this one can begin.
    pub(super) fn is_to_hand_over(&self, found_count: usize) -> bool {
        let backlog = &self.processors.backlog;
        self.is_slow
            && (found_count > 1 || found_count > 0 && backlog.has_idle_taker())
            && self.handing.hands_over(backlog.run_ns())
    }

    /// Hands a call over. From here on its A-stack is watched by its bell. False: as many wait as
    /// may.
    pub(super) fn hand_over(&mut self, found: &Found) -> bool {
        let Some(binding) = self.binding(found) else {
            return false;
        };
        let (binding, index, words) = (Arc::clone(binding), found.index, found.call.1);
        // What its procedures wait for keeps those at the processor that has begun them.
        if binding.runs_on_estack(words.selector()) {
            return self.serve_here(found);
        }
        let waiting = Waiting { binding: Arc::clone(&binding), index, call: found.call };
        if !self.processors.backlog.put(waiting) {
            return false;
        }
        self.left_looks = 0;
        self.handed.push(hot_key(&binding, index));
        match found.place {
            Place::Hot(_) => {}
            Place::Tallied(_) => self.forget_tallied(&binding, index),
            Place::Owed(at) => self.note_owed_served(at, index),
        }
        binding.set_latest(index);
        self.client_processor = words.origin() & flag::PROCESSOR;
        true
    }

    /// Hands over what has no share of this round left, the more urgent first: nobody waits for it
    /// while processors are free.
    pub(super) fn fill_up(&mut self, found: &[Found]) {
        for priority in Priority::ALL {
            for each in found {
                let is_its = |binding: &Arc<ServerBinding>| binding.priority == priority;
                let is_there = self.binding(each).is_some_and(is_its);
                if is_there && !self.is_handed(each) && !self.hand_over(each) {
                    return;
                }
            }
        }
    }

    fn is_handed(&self, found: &Found) -> bool {
        let key = |binding| hot_key(binding, found.index);
        self.binding(found).is_some_and(|binding| self.handed.contains(&key(binding)))
    }

    /// The pass is over: what was handed over is polled no more, and somebody is called for it.
    pub(super) fn end_handing_over(&mut self) {
        if !std::mem::take(&mut self.hands_over) {
            return;
        }
        if !self.handed.is_empty() {
            let (handed, cache) = (&self.handed, &mut self.cache);
            self.hot.retain(|hot| {
                let is_handed = handed.contains(&hot.key);
                if is_handed {
                    cache.remove(hot.key);
                }
                !is_handed
            });
            self.handed.clear();
            self.note_sharing();
        }
        self.processors.backlog.call_taker();
    }

    /// Runs one of the calls that were handed over and that nobody else begins at once.
    #[cold]
    #[inline(never)]
    pub(super) fn serve_left(&mut self) {
        let backlog = &self.processors.backlog;
        let left = match self.left_looks < LEFT_LOOKS_MAX {
            true => backlog.take_left(),
            false => backlog.take(),
        };
        self.left_looks += 1;
        if let Some(waiting) = left {
            self.run_waiting(waiting);
        }
    }

    /// The domain stops: bindings are closed, and what nobody has claimed is refused.
    pub(super) fn refuse_backlog(&mut self) {
        while let Some(waiting) = self.processors.backlog.take() {
            self.run_waiting(waiting);
        }
    }

    fn run_waiting(&mut self, Waiting { binding, index, call }: Waiting) {
        if self.holds(&binding) {
            // Its client rings again, as for a bell that was lost.
            return;
        }
        let begin = clock::ticks();
        if self.run_apart(&binding, index, call, Mode::Bell).is_some() {
            self.processors.backlog.told_run(clock::ns_since(begin));
            self.weigh_handing(true);
        }
    }
}
