//! The A-stacks that a watching processor polls: which of them it looks at when, and what it does
//! when one that it does not poll has rung (L35, L36; design notes 0003 and 0007).

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use nearcall_abi::{AStackHead, ReplyLine};
use nearcall_core::bell;
use nearcall_core::linger::BATCH_CALLS;
use nearcall_core::turn::{self, Look};
use nearcall_core::{Mode, Sequence, TurnWord};
use nearcall_os::astack::AStack;
use nearcall_os::processor::{self, KeptNumber, Linger};
use nearcall_os::{HeadWords, HeldHead, clock, futex};

use super::{NO_PROCESSOR, Watch};
use crate::server::binding::{Looked, ServerAStack, ServerBinding};
use crate::server::bits::{bits_of, lanes_of};
use crate::server::deferred::Deferred;
use crate::server::estacks;
use crate::server::run::{self, Served};
use crate::server::suspended::Suspended;
use crate::server::trust::TrustClass;

/// Polls of the A-stack that was called last before the others are looked at: about 0.3 us.
const STAY_POLLS: u32 = 24;

/// Calls in a row on one A-stack before the others are looked at: what is weighed together.
const STAY_CALLS: u32 = BATCH_CALLS;

/// Hot A-stacks whose heads are asked for at once.
pub(super) const TOGETHER: usize = 8;

/// After this time, nanoseconds, a pass over what one binding has posted ends, and whoever else has
/// rung has a turn.
pub(super) const PASS_NS_MAX: u64 = 10_000;

/// Calls that such a pass runs before it reads the clock again: as many as are found together.
const UNTIMED_MAX: u32 = TOGETHER as u32;

/// Looks at all hot A-stacks that find no call but on the one called last, before the watcher stays
/// on that one again.
pub(super) const SPREAD_POLLS: u32 = 64;

/// Looks of which one is timed, to learn how long calls take.
const TIMED_EACH: u32 = 64;

/// Bits of a hot key that are the A-stack's index.
const INDEX_BITS: u32 = 20;

/// How a head is loaded: a loop finds out once how this processor does it.
trait Load: Fn(&AStackHead) -> HeadWords + Copy {}

impl<F: Fn(&AStackHead) -> HeadWords + Copy> Load for F {}

/// What came of staying on an A-stack.
struct Stayed {
    calls: u32,
    /// Where the last caller runs, if there was one.
    client_processor: u32,
}

/// An A-stack that is polled.
pub(super) struct Hot {
    /// Looked at all the time; so through nothing else.
    head: HeldHead<ServerBinding>,
    pub key: u64,
    pub index: u32,
}

impl Hot {
    fn new(key: u64, binding: &Arc<ServerBinding>, index: u32) -> Hot {
        let head = HeldHead::new(Arc::clone(binding), |binding| Some(binding.astack(index).head()));
        Hot { head: head.expect("an A-stack has a head"), key, index }
    }

    #[inline(always)]
    pub fn binding(&self) -> &Arc<ServerBinding> {
        self.head.owner()
    }

    /// The same as [`ServerBinding::look`].
    #[inline(always)]
    pub fn look(&self) -> Looked {
        self.look_by(HeadWords::load)
    }

    /// The same, of a head that is loaded so.
    #[inline(always)]
    fn look_by(&self, load: impl Load) -> Looked {
        let words = load(self.head.head());
        let claim = || &self.binding().astack(self.index).own_line::<ReplyLine>().claim;
        (turn::look_word(TurnWord(words.turn()), claim), words)
    }

    /// It was looked at, and its reply will be written.
    #[inline(always)]
    pub fn ask_to_write(&self) {
        processor::prefetch_write(self.head.head());
    }
}

impl Watch<'_> {
    /// Stays for a moment on the A-stack that was called last: a client that calls again does so at
    /// once. True if it did.
    #[inline]
    pub(super) fn stay(&mut self) -> bool {
        let Some(hot) = self.hot.iter().find(|hot| self.cache.is_latest(hot.key)) else {
            return false;
        };
        let begin_ns = clock::now_ns();
        let stayed = self.stay_on(hot.binding(), hot.binding().astack(hot.index));
        if stayed.calls == STAY_CALLS {
            let cycles = self.search.told(clock::now_ns() - begin_ns);
            self.until_next_call = Linger::of_cycles(cycles);
        }
        self.note((stayed.calls > 0).then_some(stayed.client_processor))
    }

    /// The tightest loop there is: a function of its own, so that it has the registers to itself.
    #[inline(never)]
    fn stay_on(&self, binding: &ServerBinding, astack: AStack<'_, ServerAStack>) -> Stayed {
        match KeptNumber::of_this_thread() {
            Some(number) if HeadWords::is_at_once() => {
                self.stay_by(HeadWords::load_at_once, || number.current(), binding, astack)
            }
            None if HeadWords::is_at_once() => self.stay_asking(binding, astack),
            _ => self.stay_otherwise(binding, astack),
        }
    }

    /// Where the kernel keeps no number of the processor.
    #[cold]
    #[inline(never)]
    fn stay_asking(&self, binding: &ServerBinding, astack: AStack<'_, ServerAStack>) -> Stayed {
        self.stay_by(HeadWords::load_at_once, processor::current, binding, astack)
    }

    #[cold]
    #[inline(never)]
    fn stay_otherwise(&self, binding: &ServerBinding, astack: AStack<'_, ServerAStack>) -> Stayed {
        self.stay_by(HeadWords::load, processor::current, binding, astack)
    }

    #[inline(always)]
    fn stay_by(
        &self,
        load: impl Load,
        own_processor: impl Fn() -> u32,
        binding: &ServerBinding,
        astack: AStack<'_, ServerAStack>,
    ) -> Stayed {
        let (head, line) = (astack.head(), astack.own_line::<ReplyLine>());
        let mut client_processor = NO_PROCESSOR;
        let (mut calls, mut polls) = (0, 0);
        while calls < STAY_CALLS && polls < STAY_POLLS {
            let words = load(head);
            let sequence = match turn::look_word(TurnWord(words.turn()), || &line.claim) {
                Look::Nothing => {
                    processor::relax_briefly();
                    polls += 1;
                    continue;
                }
                Look::Posted(sequence) => sequence,
                _ => break,
            };
            let call = (sequence, words);
            let served = self.run(&own_processor, (binding, astack), call, Mode::Hot);
            let Some(served) = served else {
                break;
            };
            client_processor = served.client_processor.into();
            (calls, polls) = (calls + 1, 0);
            if served.client_processor == served.own_processor {
                break;
            }
            self.until_next_call.pass();
        }
        Stayed { calls, client_processor }
    }

    /// Runs a call that did not come while the watcher stayed.
    #[inline(never)]
    pub(super) fn run_apart(
        &self,
        binding: &ServerBinding,
        index: u32,
        call: (Sequence, HeadWords),
        mode: Mode,
    ) -> Option<u32> {
        let astack = (binding, binding.astack(index));
        let served = self.run(&processor::current, astack, call, mode);
        served.map(|served| served.client_processor.into())
    }

    /// Runs a call, and lets a relief know that this processor is in a procedure meanwhile.
    #[inline(always)]
    fn run(
        &self,
        own_processor: &impl Fn() -> u32,
        astack: (&ServerBinding, AStack<'_, ServerAStack>),
        call: (Sequence, HeadWords),
        mode: Mode,
    ) -> Option<Served> {
        let entered = self.processors.enter();
        let served = run::run(own_processor, astack, call, mode, || {});
        // Apart: so that the common case does not carry the other along.
        if served.is_none() {
            self.leave_unserved(entered);
            return None;
        }
        self.leave(entered);
        served
    }

    /// Goes on with a suspended call, as it runs one.
    pub(super) fn resume(&self, suspended: &Arc<Suspended>) {
        let entered = self.processors.enter();
        // Others that were woken are not to wait for as long as this one may take.
        self.processors.call_relief_for_asked();
        suspended.resume();
        self.leave(entered);
    }

    /// Enters the procedure of a call again that was set aside, as it runs one.
    pub(super) fn run_again(&self, call: Deferred) {
        let entered = self.processors.enter();
        self.processors.call_relief_for_asked();
        call.run_again();
        self.leave(entered);
    }

    /// Goes on with procedures on E-stacks that wait no more, as it runs calls.
    pub(super) fn resume_guests(&self) -> bool {
        let entered = self.processors.enter();
        let has_run = estacks::go_on(PASS_NS_MAX);
        self.leave(entered);
        has_run
    }

    #[inline(always)]
    fn leave(&self, entered: u64) {
        if self.has_watch() {
            self.processors.leave(entered);
        }
    }

    #[cold]
    #[inline(never)]
    fn leave_unserved(&self, entered: u64) {
        self.leave(entered);
    }

    /// One look at what is hot and at the bells. True if a call was run, or one is owed.
    #[inline]
    pub(super) fn poll(&mut self) -> bool {
        self.spread = self.spread.saturating_sub(1);
        if self.has_moved {
            self.part_tallied();
        }
        self.looks = self.looks.wrapping_add(1);
        if self.spread > 0 && !self.is_shared && !self.is_called_here {
            self.gathering.pass_before(self.looks);
        }
        let has_served = if self.looks.is_multiple_of(TIMED_EACH) {
            self.poll_timed()
        } else {
            self.poll_once()
        };
        has_served | !self.owed.is_empty()
    }

    #[inline]
    pub(super) fn poll_once(&mut self) -> bool {
        if self.has_to_share() {
            // Who has just rung is to have its turn in this pass.
            self.poll_bells() | self.pass()
        } else {
            self.poll_hot() | self.poll_tallies() | self.poll_bells()
        }
    }

    /// One look at what is hot, where all of it is one binding's. Calls that take long end it, for
    /// the bells' sake; the next one goes on behind them.
    #[inline]
    fn poll_hot(&mut self) -> bool {
        if !HeadWords::is_at_once() {
            return self.poll_hot_by_parts();
        }
        self.poll_hot_by(HeadWords::load_at_once)
    }

    #[cold]
    #[inline(never)]
    fn poll_hot_by_parts(&mut self) -> bool {
        self.poll_hot_by(HeadWords::load)
    }

    #[inline(always)]
    fn poll_hot_by(&mut self, load: impl Load) -> bool {
        match self.hot.len() {
            0 => false,
            1 => self.poll_one(load),
            2..=TOGETHER => self.poll_together(load, 0) > 0,
            _ => self.poll_groups(load),
        }
    }

    /// A client that is alone.
    #[inline(always)]
    fn poll_one(&mut self, load: impl Load) -> bool {
        let hot = &self.hot[0];
        let (look, words) = hot.look_by(load);
        match look {
            Look::Nothing => false,
            Look::Posted(sequence) => {
                hot.ask_to_write();
                self.serve_hot(0, (sequence, words))
            }
            _ => {
                self.act_otherwise(0, 1);
                false
            }
        }
    }

    #[inline(never)]
    fn poll_groups(&mut self, load: impl Load) -> bool {
        let groups = self.hot.len().div_ceil(TOGETHER);
        let begin = clock::ticks();
        let (mut has_served, mut untimed_count) = (false, 0);
        let first = std::mem::take(&mut self.group);
        for group in (0..groups).cycle().skip(first).take(groups) {
            let served_count = self.poll_together(load, group * TOGETHER);
            has_served |= served_count > 0;
            untimed_count += served_count;
            if untimed_count >= UNTIMED_MAX {
                untimed_count = 0;
                if clock::ns_since(begin) > PASS_NS_MAX {
                    self.group = (group + 1) % groups;
                    break;
                }
            }
        }
        has_served
    }

    /// Looks at several heads before it acts on what one of them says: their lines travel at the
    /// same time, and so do those that have to come again for the reply (design note 0007). How
    /// many calls were run.
    #[inline(always)]
    fn poll_together(&mut self, load: impl Load, first: usize) -> u32 {
        let mut seen = [HeadWords::default(); TOGETHER];
        // A bit for each: what they were found to be is not kept beside them.
        let (mut posted, mut other) = (0u64, 0u64);
        for (at, (words, hot)) in seen.iter_mut().zip(&self.hot[first..]).enumerate() {
            let look;
            (look, *words) = hot.look_by(load);
            if look != Look::Nothing {
                hot.ask_to_write();
                let is_posted = matches!(look, Look::Posted(_));
                posted |= u64::from(is_posted) << at;
                other |= u64::from(!is_posted) << at;
            }
        }
        let mut served_count = 0;
        for at in bits_of(posted) {
            let words = seen[at as usize];
            let call = (TurnWord(words.turn()).sequence(), words);
            served_count += u32::from(self.serve_hot(first + at as usize, call));
        }
        if other != 0 {
            self.act_otherwise(first, other);
        }
        served_count
    }

    #[cold]
    #[inline(never)]
    fn act_otherwise(&self, first: usize, other: u64) {
        for at in bits_of(other) {
            let hot = &self.hot[first + at as usize];
            act_otherwise(hot.binding(), hot.index, hot.look().0);
        }
    }

    /// Runs a call that came on an A-stack which is polled: the common case.
    #[inline]
    pub(super) fn serve_hot(&mut self, at: usize, call: (Sequence, HeadWords)) -> bool {
        let hot = &self.hot[at];
        if !self.cache.is_latest(hot.key) {
            self.cache.touch_at(at, hot.key);
            self.spread = SPREAD_POLLS;
        }
        let mode = self.mode_after(at, call.1);
        let hot = &self.hot[at];
        let served = self.run_apart(hot.binding(), hot.index, call, mode);
        if mode == Mode::Tally && served.is_some() {
            self.note_tallied(at, call.0);
        }
        self.note(served)
    }

    /// Looks at the bindings of one class that rang.
    #[cold]
    #[inline(never)]
    pub(super) fn answer(&mut self, at: usize) -> bool {
        if !self.has_watch() {
            // Whoever took the watch over answers, or sleeps on this gate.
            return false;
        }
        if self.processors.holding.holds(self.snapshot.classes[at].user()) {
            // Its lanes stay set until it is heard again.
            return false;
        }
        let found_before = self.awake.found_count();
        let known = Rc::clone(&self.snapshot);
        let class = &known.classes[at];
        // A binding that rings may be newer than what we know: its bell would be lost. The class
        // may have gone meanwhile: then no binding is of it.
        self.refresh();
        let snapshot = Rc::clone(&self.snapshot);
        let line = class.watch();
        // Relaxed: only what is fetched ahead depends on it. The lanes are taken below.
        let ahead = line.lanes.each_ref().map(|lanes| lanes.load(Relaxed));
        for binding in lanes_of(ahead).flat_map(|lane| snapshot.rung(class, lane)) {
            let astack = binding.astack(binding.latest());
            processor::prefetch_write(astack.head());
            processor::prefetch_write(astack.own_line::<ReplyLine>());
        }
        // While they travel.
        let begin = clock::ticks();
        let opened = bell::open_gate(&line.gate);
        if opened.had_sleeper && !self.has_watch() {
            // It was taken over just now, and rings from here on would wake nobody.
            futex::wake_all(&line.gate);
        }
        let rung = line.lanes.each_ref().map(bell::take_lanes);
        let mut has_served = false;
        let mut bindings = lanes_of(rung).flat_map(|lane| snapshot.rung(class, lane));
        match (bindings.next(), bindings.next()) {
            (Some(binding), None) => has_served = self.look_at(binding),
            (first, second) => {
                let rung = first.into_iter().chain(second).chain(bindings);
                for binding in rung.filter(|binding| binding.wants_something()) {
                    self.awake.told_found();
                    binding.class.note_found();
                    self.owe(binding);
                }
            }
        }
        let has_lane = rung.iter().any(|bits| *bits != 0);
        if opened.wants_lane() && !has_lane {
            let of_class = |binding: &&Arc<ServerBinding>| Arc::ptr_eq(&binding.class, class);
            for binding in snapshot.bindings().filter(of_class) {
                has_served |= self.look_at(binding);
            }
        }
        if (opened.is_rung || has_lane) && self.awake.found_count() == found_before {
            self.note_vain(class, begin);
        }
        has_served
    }

    /// A class has rung for nothing, which took the time since `begin`, in ticks. If that is all
    /// that happens until the next sleep, it is charged then, with the sleep.
    fn note_vain(&mut self, class: &Arc<TrustClass>, begin: u64) {
        if self.has_served() || self.awake.has_found() {
            self.awake.bear(class, clock::ns_since(begin));
        } else {
            self.awake.told_ring(class);
        }
    }

    /// Looks at every A-stack of a binding, first at the one that it called last. One call is
    /// served; if there are more, they are owed.
    pub(super) fn look_at(&mut self, binding: &Arc<ServerBinding>) -> bool {
        let latest = binding.latest();
        let mut has_served = self.look_at_one(binding, latest);
        let mut next = binding.next_busy(0);
        while let Some(index) = next {
            next = binding.next_busy(index + 1);
            if index == latest {
                continue;
            }
            let looked = binding.look(index);
            if has_served && matches!(looked.0, Look::Posted(_)) {
                self.owe(binding);
                break;
            }
            has_served |= looked.0 != Look::Nothing && self.act(binding, index, looked);
        }
        has_served
    }

    #[inline]
    pub(super) fn look_at_one(&mut self, binding: &Arc<ServerBinding>, index: u32) -> bool {
        match binding.look(index) {
            (Look::Nothing, _) => false,
            looked => self.act(binding, index, looked),
        }
    }

    /// Acts on what a look at any A-stack found.
    pub(super) fn act(
        &mut self,
        binding: &Arc<ServerBinding>,
        index: u32,
        (look, words): Looked,
    ) -> bool {
        // Whoever rang for a call that it has given up since did not ring for nothing.
        self.awake.told_found();
        binding.class.note_found();
        let Look::Posted(sequence) = look else {
            act_otherwise(binding, index, look);
            return false;
        };
        if !binding.state.is_open() {
            binding.refuse(index, sequence);
            return false;
        }
        binding.set_latest(index);
        self.forget_tallied(binding, index);
        let mode = if self.rings.note(binding.key) {
            self.make_hot(binding, index);
            Mode::Hot
        } else {
            // The next call may ring as well: staying on an A-stack would keep it waiting.
            self.spread = SPREAD_POLLS;
            Mode::Bell
        };
        let served = self.run_apart(binding, index, (sequence, words), mode);
        self.note(served)
    }

    /// Remembers where the last caller runs. True if a call was run.
    #[inline]
    pub(super) fn note(&mut self, served: Option<u32>) -> bool {
        let Some(processor) = served else {
            return false;
        };
        self.client_processor = processor;
        self.gathering.note();
        self.is_called_here |= processor == processor::current();
        true
    }

    /// From now on the A-stack is polled; another one may have to ring instead.
    pub(super) fn make_hot(&mut self, binding: &Arc<ServerBinding>, index: u32) {
        let key = hot_key(binding, index);
        let known = self.cache.contains(key);
        if let Some(evicted) = self.cache.touch(key) {
            self.evict(evicted);
        }
        if !known {
            self.hot.push(Hot::new(key, binding, index));
            self.note_sharing();
        }
    }

    #[cold]
    #[inline(never)]
    fn evict(&mut self, key: u64) {
        let Some(at) = self.hot.iter().position(|hot| hot.key == key) else {
            return;
        };
        let hot = self.hot.swap_remove(at);
        self.note_sharing();
        if hot.binding().demote(hot.index, Mode::Hot) || !hot.binding().state.is_open() {
            return;
        }
        match hot.look() {
            (Look::Posted(sequence), words) => {
                self.run_apart(hot.binding(), hot.index, (sequence, words), Mode::Bell);
            }
            (look, _) => act_otherwise(hot.binding(), hot.index, look),
        }
    }
}

/// What a look found that is no call to run.
#[cold]
pub(in crate::server) fn act_otherwise(binding: &ServerBinding, index: u32, look: Look) {
    match look {
        Look::Nothing | Look::Posted(_) => {}
        Look::Aborted(sequence) => run::let_go(binding, index, sequence),
        Look::Wrong(seen) => {
            if binding.state.is_open() {
                binding.fault(seen.fault(binding.claimed(index).next(), "posted"));
            }
        }
    }
}

pub(super) fn hot_key(binding: &ServerBinding, index: u32) -> u64 {
    binding.key << INDEX_BITS | u64::from(index)
}
