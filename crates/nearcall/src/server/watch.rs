//! Watching: the loop of the server processor that polls the hottest A-stacks and the bells, and
//! runs what is posted in place (L30, L35, L36; design note 0003).

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use nearcall_core::bell;
use nearcall_core::domain_cache::{DomainCache, Rings};
use nearcall_core::fairness::{Passes, Rounds};
use nearcall_core::handing::HandingSearch;
use nearcall_core::linger::LingerSearch;
use nearcall_core::quota::User;
use nearcall_core::turn::Look;
use nearcall_core::waiting::yield_share_ns;
use nearcall_core::{Mode, Priority, Step, Waiter, YieldBan};
use nearcall_os::clock;
use nearcall_os::futex::Woken;
use nearcall_os::processor::{self, Linger};

use self::gathering::Gathering;
use self::hot::Hot;
use self::shared::{Found, Owed};
use self::tallies::Tally;
use super::asked::{Asking, Next};
use super::awake::Awake;
use super::binding::ServerBinding;
use super::current;
use super::estacks;
use super::processors::{CROWD_SLICE, Processors};
use super::role::{self, Role};
use super::table::Snapshot;
use crate::domain::DomainCore;
use crate::housekeeping::lives;
use crate::spinning;

mod gathering;
mod handing;
pub(super) mod hot;
mod shared;
mod tallies;

/// Polls before the waiting policy is asked: where it stays between them, about 2 us.
const FIRST_POLLS: u32 = 4;

/// Not a processor number.
const NO_PROCESSOR: u32 = u32::MAX;

/// Who has polled for so long for a call may find that housekeeping looks after lives no more.
const LONG_NS: u64 = lives::SLICE.as_nanos() as u64 / 2;

/// What ends a wait in which nobody sleeps.
enum Ended {
    /// Something came.
    Found,
    /// Bindings have come or gone, or another one is to watch.
    Changed,
    /// Nothing has come, and it is time to sleep.
    Idle,
}

/// One processor's watch.
pub(crate) struct Watch<'c> {
    core: &'c Arc<DomainCore>,
    /// Those of `core`, found at once.
    processors: &'c Processors,
    number: u64,
    /// What looks at it holds it by a count of this processor's own, without a locked operation.
    #[expect(clippy::redundant_allocation, reason = "the count that threads share is locked")]
    snapshot: Rc<Arc<Snapshot>>,
    cache: DomainCache,
    /// What the cache's keys stand for, in no order.
    hot: Vec<Hot>,
    /// What is watched without being polled: its clients note in these what they post.
    tallies: Vec<Tally>,
    /// Something is watched by a tally that was hot, or no longer.
    has_moved: bool,
    /// Which tally the last call came by, and on which A-stack.
    latest_tallied: (usize, u32),
    /// All of it is not one binding's.
    is_shared: bool,
    /// Which group of them the next look begins with.
    group: usize,
    /// Bindings that rang and have calls posted which no pass has served yet.
    owed: Vec<Owed>,
    /// What a pass finds; kept for its memory.
    found: Vec<Found>,
    /// What this pass finds is handed over, and the keys of what was.
    hands_over: bool,
    handed: Vec<u64>,
    /// Looks, of which one in so many is timed.
    looks: u32,
    /// Looks that have found calls left since one was handed over last.
    left_looks: u32,
    /// Calls have taken long lately, and are handed over if several are found; or a trial is under
    /// way, of either way.
    is_slow: bool,
    /// Which way serves more.
    handing: HandingSearch,
    /// How many bindings each user has among them; kept likewise.
    users: Vec<(User, u32)>,
    /// Which of the A-stacks that the next pass finds comes first.
    turn: usize,
    /// Whose turn it is, of each priority, and of those that wait for more urgent ones.
    rounds: [Rounds; Priority::ALL.len()],
    passes: Passes,
    /// Calls come on several A-stacks in turn for this many looks to come: do not stay on one.
    spread: u32,
    /// Who has rung.
    rings: Rings,
    ban: YieldBan,
    /// How long to spin for the next call: adapted to how far apart they have been.
    spin_ns: u32,
    /// Since when nothing has come, in ticks.
    idle: u64,
    /// Processor that the last caller posted from.
    client_processor: u32,
    /// A caller on this processor was served, and has not had it since: however many others call,
    /// it learns of its reply, and calls again, only once it is let go.
    is_called_here: bool,
    /// Since when not everything was looked at, in ticks.
    looked: u64,
    /// It was woken, and nothing has come since: for whom?
    was_woken: bool,
    /// No client calls again sooner than this.
    until_next_call: Linger,
    /// How long that is.
    search: LingerSearch,
    /// The same between two looks at several A-stacks.
    gathering: Gathering,
    awake: Awake,
}

impl<'c> Watch<'c> {
    pub fn new(core: &'c Arc<DomainCore>, number: u64) -> Watch<'c> {
        let search = LingerSearch::of_server(core.options.wait.linger_cycles_max);
        Watch {
            core,
            processors: &core.processors,
            number,
            snapshot: Rc::new(core.table.load()),
            cache: DomainCache::new(),
            hot: Vec::new(),
            tallies: Vec::new(),
            has_moved: false,
            latest_tallied: (0, 0),
            is_shared: false,
            group: 0,
            owed: Vec::new(),
            found: Vec::new(),
            hands_over: false,
            handed: Vec::new(),
            looks: 0,
            left_looks: 0,
            is_slow: false,
            handing: HandingSearch::new(),
            users: Vec::new(),
            turn: 0,
            rounds: [Rounds::new(clock::ticks()); Priority::ALL.len()],
            passes: Passes::default(),
            spread: 0,
            rings: Rings::new(),
            ban: YieldBan::NONE,
            spin_ns: core.options.wait.spin_ns_max,
            idle: 0,
            client_processor: NO_PROCESSOR,
            is_called_here: false,
            looked: clock::ticks(),
            was_woken: false,
            until_next_call: Linger::of_cycles(search.cycles()),
            search,
            gathering: Gathering::new(core.options.wait.linger_cycles_max),
            awake: Awake::new(),
        }
    }

    /// Watches until the watch was taken over or the domain stops.
    pub fn watch(&mut self) {
        current::serve_from(&self.snapshot);
        self.core.housekeeping.note_awake();
        self.look_at_all();
        while !self.is_over() {
            self.refresh();
            if self.poll_for_a_while() {
                continue;
            }
            estacks::note_guests();
            if !self.yield_to_caller() {
                self.wait();
            }
        }
        self.serve_owed();
        if self.core.is_stopping() {
            self.go_on_once_more();
            self.refuse_backlog();
        }
        while !self.cool_down() {}
    }

    /// The domain ends, and has told procedures that are awaited: those that wait for nothing else
    /// return. Nothing is begun, and nobody is looked at.
    fn go_on_once_more(&mut self) {
        // Acquire: what was woken before the end was noted is seen.
        fence(Ordering::Acquire);
        // In the child of a fork(2) they are the parent's, and whoever has broken off ends at once.
        if self.core.is_forked() || self.core.has_broken_off() {
            return;
        }
        self.refresh();
        let asked = &self.processors.asked;
        let mut woken = asked.woken();
        while self.has_watch()
            && let Some(Next::Resume(suspended)) = asked.next(&mut woken)
        {
            self.awake.told_found();
            self.resume(&suspended);
        }
    }

    /// The watch was taken over, or the domain stops.
    #[inline]
    fn is_over(&self) -> bool {
        self.core.is_stopping() || !self.has_watch()
    }

    #[inline]
    fn has_watch(&self) -> bool {
        self.processors.has_watch(self.number)
    }

    /// Polls until nothing has come for the first short while. True if something came.
    fn poll_for_a_while(&mut self) -> bool {
        let mut has_served = false;
        let mut polls = 0;
        // A client on this processor calls again only once it has it.
        while polls < FIRST_POLLS && !self.is_called_here {
            // Staying comes second, but it comes: a client that is alone again after many calls at
            // once would else be found by each look at all of them, and wait for its end.
            if self.poll() | (self.spread == 0 && !self.is_called_here && self.stay()) {
                has_served = true;
                polls = 0;
                self.note_need();
                if self.is_over() || self.core.table.epoch() != self.snapshot.epoch {
                    return true;
                }
            } else {
                processor::relax();
            }
            // Looks that do not stay are short, and after them it stays again.
            polls += u32::from(self.spread == 0);
        }
        has_served && !self.is_called_here
    }

    /// A call came; if this processor had to be woken for it, one on the caller's would have been
    /// better (L36).
    #[inline]
    fn note_need(&mut self) {
        if std::mem::take(&mut self.was_woken) {
            self.core.housekeeping.note_awake();
            // Nobody spins for who calls here.
            if !self.is_called_here {
                let waited_ns = clock::ns_since(self.idle);
                self.spin_ns = self.core.options.wait.adapt(self.spin_ns, waited_ns);
            }
            self.processors.need(self.core, self.client_processor);
        }
    }

    #[inline]
    fn poll_bells(&mut self) -> bool {
        let mut has_served = self.processors.asked.is_some() && self.answer_asking();
        if self.processors.backlog.is_some() {
            self.serve_left();
            has_served = true;
        }
        has_served |= estacks::has_guests() && self.go_on();
        let mut at = 0;
        // Not a range: whoever answers may learn of classes that have gone.
        while let Some(class) = self.snapshot.classes.get(at) {
            let line = class.watch();
            if self.awake.hears(class) && bell::is_rung(&line.gate, &line.lanes) {
                has_served |= self.answer(at);
            }
            at += 1;
        }
        has_served
    }

    /// Goes on with the suspended calls that were woken, and looks at the bindings that it is asked
    /// to look at, until another one has the watch: the rest is that one's. A client that asks
    /// where nothing is has rung in vain.
    #[cold]
    #[inline(never)]
    fn answer_asking(&mut self) -> bool {
        self.refresh();
        let mut has_served = false;
        let processors = self.processors;
        let mut batch = processors.asked.batch();
        while self.has_watch()
            && let Some(next) = processors.asked.next(&mut batch)
        {
            match next {
                Next::Resume(suspended) => {
                    has_served = true;
                    self.awake.told_found();
                    self.resume(&suspended);
                }
                Next::Again(call) => {
                    has_served = true;
                    self.awake.told_found();
                    self.run_again(call);
                }
                Next::Look(asking) => has_served |= self.look_as_asked(&asking),
            }
        }
        has_served
    }

    fn look_as_asked(&mut self, Asking { binding, is_clients }: &Asking) -> bool {
        let found_before = self.awake.found_count();
        let is_held = self.holds(binding);
        let has_served = !is_held && self.look_at(binding);
        if *is_clients && !is_held && self.awake.found_count() == found_before {
            binding.class.charge_vain_look(clock::now_ns());
            self.awake.told_ring(&binding.class);
        } else {
            self.awake.told_found();
        }
        has_served
    }

    /// Calls of its user are not begun now.
    pub(super) fn holds(&self, binding: &ServerBinding) -> bool {
        self.processors.holding.holds(binding.class.user())
    }

    /// Goes on with its procedures on E-stacks that wait no more.
    #[cold]
    #[inline(never)]
    fn go_on(&mut self) -> bool {
        let has_run = estacks::can_go_on() && self.resume_guests();
        if has_run {
            self.awake.told_found();
        }
        has_run
    }

    /// Looks at everything: bells may have been lost.
    fn look_at_all(&mut self) -> bool {
        self.looked = clock::ticks();
        let snapshot = Rc::clone(&self.snapshot);
        let mut has_served = false;
        for binding in snapshot.bindings() {
            has_served |= !self.holds(binding) && self.look_at(binding);
        }
        has_served
    }

    /// Has everything that is hot ring from now on. False if a call has just come.
    fn cool_down(&mut self) -> bool {
        self.part_tallied();
        while let Some(hot) = self.hot.pop() {
            self.cache.remove(hot.key);
            self.note_sharing();
            let is_demoted =
                !hot.binding().state.is_open() || hot.binding().demote(hot.index, Mode::Hot);
            if !is_demoted && !self.holds(hot.binding()) {
                let looked = hot.look();
                if looked.0 != Look::Nothing && self.act(hot.binding(), hot.index, looked) {
                    return false;
                }
            }
        }
        self.cool_tallies_down()
    }

    /// A caller on this processor gets it, for one yield that is not timed. True if a call came.
    #[inline]
    fn yield_to_caller(&mut self) -> bool {
        if !self.is_called_here || !self.ban.may_yield_untimed(&self.core.options.wait) {
            return false;
        }
        self.is_called_here = false;
        self.gathering.interrupt();
        processor::yield_now();
        self.poll()
    }

    /// Nothing came for a while: spin, yield or sleep, as the policy says.
    #[cold]
    #[inline(never)]
    fn wait(&mut self) {
        let start = clock::ticks();
        if clock::ticks_ns(start.saturating_sub(self.idle)) >= LONG_NS {
            // One that was not timed may have taken so long.
            self.core.housekeeping.note_awake();
        }
        if !self.was_woken {
            self.idle = start;
        }
        // Who wakes us for nothing is not spun for.
        let is_in_vain = self.was_woken && !self.has_served() && self.awake.is_in_vain();
        let is_elsewhere = !is_in_vain && self.client_processor != processor::current();
        let spinner = is_elsewhere.then(spinning::begin).flatten();
        let has_spun = spinner.is_some();
        let core = self.core;
        let may_spin_ns = if has_spun { self.spin_ns } else { 0 };
        let mut waiter = Waiter::new(&core.options.wait, &mut self.ban, may_spin_ns);
        let ended = self.wait_awake(start, &mut waiter);
        if !has_spun && matches!(ended, Ended::Idle) {
            return self.sleep();
        }
        let waited_ns = clock::ns_since(start);
        if let Some(spinner) = spinner {
            spinner.end(waited_ns.saturating_sub(waiter.shared_ns()));
        }
        match ended {
            Ended::Idle => return self.sleep(),
            Ended::Found if has_spun && waited_ns > u64::from(self.spin_ns) / 2 => {
                self.spin_ns = core.options.wait.adapt(self.spin_ns, waited_ns);
            }
            Ended::Found | Ended::Changed => {}
        }
        if waited_ns >= LONG_NS {
            core.housekeeping.note_awake();
        }
    }

    /// Spins and yields as `waiter` says, from `now` on, in ticks.
    fn wait_awake(&mut self, mut now: u64, waiter: &mut Waiter<'_>) -> Ended {
        loop {
            let was_called_here = std::mem::take(&mut self.is_called_here);
            if was_called_here {
                self.gathering.interrupt();
            }
            let same_processor = was_called_here || self.client_processor == processor::current();
            match waiter.next(clock::now_ns, same_processor) {
                Step::Spin { polls } => {
                    for _ in 0..spinning::share(polls, waiter, &mut self.ban) {
                        if self.poll() {
                            return Ended::Found;
                        }
                        processor::relax();
                    }
                }
                Step::Yield => {
                    processor::yield_now();
                    let after = clock::ticks();
                    let took_ns = clock::ticks_ns(after.saturating_sub(now));
                    let callers = self.hot.len() as u32;
                    waiter.told_yield(&mut self.ban, yield_share_ns(took_ns, callers));
                    now = after;
                    if self.poll() {
                        return Ended::Found;
                    }
                }
                // Others, on other processors, have not been looked at since.
                Step::Sleep { .. } if was_called_here && self.poll() => return Ended::Found,
                Step::Sleep { .. } | Step::GiveUp => return Ended::Idle,
            }
            if self.is_over() || self.core.table.epoch() != self.snapshot.epoch {
                return Ended::Changed;
            }
        }
    }

    /// Parks until a bell rings.
    fn sleep(&mut self) {
        self.handing.rest();
        if self.has_served() {
            self.core.housekeeping.note_awake();
        }
        if !self.owed.is_empty() || self.processors.backlog.is_some() {
            // Nobody rings for it again.
            self.poll();
            return;
        }
        let processors = self.processors;
        let counts = processors.counts();
        if !self.cool_down() || processors.asked.is_some() {
            return;
        }
        if self.is_over() || self.core.table.epoch() != self.snapshot.epoch {
            return;
        }
        if self.has_served() {
            self.awake.told_found();
            self.client_processor = NO_PROCESSOR;
        }
        // `None`: rung. The poll that follows answers, then as after a sleep.
        let policy = &self.core.options.wait;
        let slept = processors.sleep(policy, &self.snapshot, Role::Watch, counts, &mut self.awake);
        if let Some(woken) = slept {
            self.was_woken = true;
            // What procedures wait for may have ended the sleep, and often.
            let is_late = || clock::ns_since(self.looked) >= CROWD_SLICE.as_nanos() as u64;
            if woken == Woken::TimedOut && role::is_crowd(&self.snapshot) && is_late() {
                self.look_at_all();
            }
        }
    }

    /// A call was run since it slept last.
    fn has_served(&self) -> bool {
        self.client_processor != NO_PROCESSOR
    }

    /// Takes note of bindings that came or went.
    #[inline]
    fn refresh(&mut self) {
        if self.core.table.epoch() != self.snapshot.epoch {
            self.refresh_now();
        }
    }

    #[cold]
    #[inline(never)]
    fn refresh_now(&mut self) {
        self.snapshot = Rc::new(self.core.table.load());
        current::serve_from(&self.snapshot);
        let mut at = 0;
        while at < self.hot.len() {
            if self.hot[at].binding().state.is_open() {
                at += 1;
            } else {
                let gone = self.hot.swap_remove(at);
                self.cache.remove(gone.key);
            }
        }
        self.tallies.retain(|tally| tally.binding().state.is_open());
        self.note_sharing();
    }
}
