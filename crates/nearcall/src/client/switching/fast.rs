//! The same for programs that have FastThreads.
//!
//! ```text
//!   post ─▶ wait_for ─▶ another FastThread: post ─▶ wait_for ─▶ … none is ready: idle
//!                                                                    │ poll the oldest reply
//!    reply is read ◀─ it is there ◀── look ◀──────────────────────────┤ same processor: yield
//!                                                                    └ asleep: all replies' words
//! ```

use std::cell::Cell;
use std::num::NonZeroUsize;
use std::ptr;
use std::sync::atomic::AtomicU32;
use std::time::{Duration, Instant};

use nearcall_core::astack_list::Claimer;
use nearcall_core::turn::{self, Poll};
use nearcall_core::{BindingState, Phase, Sequence, Step, TurnWord, WaitPolicy, Waiter};
use nearcall_os::clock;
use nearcall_os::futex::{self, Watched, Woken};
use nearcall_os::peer::Process;
use nearcall_os::processor;
use nearcall_threads::{Awaited, Enders, Idle, Unwind, WaitEnd, Word, shield};

use crate::client::binding::{ClientBinding, thread_number};
use crate::client::cancellation;
use crate::client::deadline::left_ns;
use crate::client::switching::reallocating;
use crate::client::wait::{NoReply, Wait, YIELD_BAN, end_spinning};
use crate::server::current;
use crate::spinning;

/// Polls before the waiting policy is asked, as long as those of a call that is alone.
const FIRST_POLLS: u32 = 96;

/// Polls with the shortest pause, and by plain loads, before the others.
const BRIEF_POLLS: u32 = 5;

/// A time that has passed, and is not 0.
const DUE: u64 = 1;

/// Between two looks whether a process that has hung up has ended.
const PROOF_SLICE: Duration = Duration::from_millis(1);

/// What is left until a time that is so far away never passes.
const NO_DEADLINE: Duration = Duration::from_secs(1 << 32);

/// In the number of a caller that is a FastThread, so that it is no kernel thread's.
const IS_FASTTHREAD: u32 = 1 << 31;

/// Whether the caller is a FastThread, and may let others run.
#[inline(always)]
pub(crate) fn is_here() -> bool {
    nearcall_threads::is_fastthread()
}

/// Waits so long, at least; other FastThreads run meanwhile, and a server processor takes calls.
pub(crate) fn nap(time: Duration) {
    match is_here() && !is_unwinding() {
        true => nearcall_threads::sleep(time),
        false => std::thread::sleep(time),
    }
}

/// Whether the caller is a FastThread that unwinds: no other runs before it is done.
pub(crate) fn is_unwinding() -> bool {
    nearcall_threads::identity().is_some() && !is_here()
}

/// The number that an A-stack has which the caller has outstanding: of a FastThread, the part of
/// its record's address that tells those of one process apart.
#[inline]
pub(crate) fn caller_number() -> u32 {
    match nearcall_threads::identity() {
        Some(address) => (address >> 6) as u32 | IS_FASTTHREAD,
        None => thread_number() as u32,
    }
}

/// Waits for a reply, if the caller is a FastThread.
#[inline]
pub(crate) fn finish(wait: &Wait<'_>) -> Option<Result<(), NoReply>> {
    is_here().then(|| finish_apart(wait))
}

#[inline(never)]
fn finish_apart(wait: &Wait<'_>) -> Result<(), NoReply> {
    finish_here(wait)
}

/// The same where the caller is one, and keeps no frame of its own meanwhile.
#[inline(always)]
pub(crate) fn finish_here(wait: &Wait<'_>) -> Result<(), NoReply> {
    wait.grip.linkage().allow_tally();
    let reply = Reply {
        wait,
        turn: &wait.grip.astack.head().turn,
        sequence: wait.sequence,
        state: &wait.grip.binding.state,
        slices: Cell::new(0),
        look_ns: Cell::new(0),
    };
    let until = (wait.deadline.ns != 0).then(|| {
        let left_ns = left_ns(wait.grip.until_ns(wait.sequence, wait.deadline));
        Instant::now() + Duration::from_nanos(left_ns)
    });
    if cancellation::is_inside() {
        return finish_unless_cancelled(&reply, until);
    }
    loop {
        let end = nearcall_threads::wait_for(&reply, until);
        processor::prefetch_write(wait.grip.astack.head());
        if let Poll::Replied { .. } = reply.poll() {
            return Ok(());
        }
        if let WaitEnd::Cancelled(cancelled) = end {
            return reply.cancel(cancelled);
        }
        if let Some(outcome) = reply.outcome(end != WaitEnd::Late) {
            return outcome;
        }
    }
}

/// The same where it can be cancelled: it looks now and then, and lets others run meanwhile.
#[cold]
fn finish_unless_cancelled(reply: &Reply<'_, '_>, until: Option<Instant>) -> Result<(), NoReply> {
    let begun = Instant::now();
    loop {
        if cancellation::is_cancelled() {
            return reply.wait.give_up_cancelled(begun.elapsed().as_nanos() as u64);
        }
        let slice = Instant::now() + cancellation::SLICE;
        let end =
            nearcall_threads::wait_for(reply, Some(until.map_or(slice, |until| until.min(slice))));
        if let Poll::Replied { .. } = reply.poll() {
            return Ok(());
        }
        let is_in_time = until.is_none_or(|until| Instant::now() < until);
        match end {
            WaitEnd::Cancelled(cancelled) => return reply.cancel(cancelled),
            // It waits on for what its deadline leaves.
            WaitEnd::Late if is_in_time => {}
            end => {
                if let Some(outcome) = reply.outcome(end != WaitEnd::Late) {
                    return outcome;
                }
            }
        }
    }
}

/// Waits for an A-stack of a class, for so long at most, if the caller is a FastThread. Whoever is
/// first in the queue is looked for often enough, so that nobody needs an alarm of its own.
pub(crate) fn wait_for_astack(binding: &ClientBinding, class: u32, left: Duration) -> Option<u32> {
    let another = AnotherAStack { binding, class, found: Cell::new(None) };
    let until = (left < NO_DEADLINE).then(|| Instant::now() + left);
    let end = nearcall_threads::wait_for(&another, until);
    if let WaitEnd::Cancelled(cancelled) = end {
        // Nothing was posted, and nothing found.
        cancelled.unwind();
    }
    another.found.get()
}

/// Waits for the proof that a process has ended. Many FastThreads may wait for one.
pub(crate) fn wait_exit(process: &Process, timeout: Duration) -> bool {
    if !is_here() {
        return process.wait_exit(timeout);
    }
    let until = Instant::now() + timeout;
    while !process.has_exited() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return false;
        }
        // It is soon over, and tells what became of a call.
        shield(|| nearcall_threads::sleep(PROOF_SLICE.min(left)));
    }
    true
}

/// A reply that a FastThread waits for.
struct Reply<'w, 'b> {
    wait: &'w Wait<'b>,
    /// The wait's, at hand: whoever looks for replies looks at many.
    turn: &'b AtomicU32,
    sequence: Sequence,
    state: &'b BindingState,
    /// Slices since it was posted: sleeps of its processor that have ended without any reply; where
    /// that is a host's, which may never sleep, as much time as those would have taken.
    slices: Cell<u32>,
    /// When a host looks closer; 0: none has asked yet.
    look_ns: Cell<u64>,
}

impl Reply<'_, '_> {
    fn poll(&self) -> Poll {
        turn::poll(self.turn, self.sequence)
    }

    /// The FastThread was cancelled: it gives the call up (0015), and unwinds, unless there is
    /// something to tell of the call.
    #[cold]
    #[inline(never)]
    fn cancel(&self, cancelled: Unwind) -> Result<(), NoReply> {
        // Nobody reads for how long: the thread unwinds.
        let outcome = self.wait.give_up_cancelled(0);
        if let Err(NoReply::Captured(_)) = outcome {
            self.wait.grip.capture(self.wait.sequence);
            cancelled.unwind();
        }
        outcome
    }

    /// What came of it, if it may be no reply. `None`: nothing yet.
    #[cold]
    #[inline(never)]
    fn outcome(&self, is_in_time: bool) -> Option<Result<(), NoReply>> {
        let wait = self.wait;
        let binding = wait.grip.binding;
        match self.poll() {
            Poll::Replied { .. } => Some(Ok(())),
            Poll::Pending if !is_in_time => Some(wait.give_up_late()),
            Poll::Pending => wait.look_whether_ended(),
            Poll::Dead if binding.state.is_open() => Some(Err(wait.wrong(turn::read(wait.turn())))),
            Poll::Dead => Some(wait.classify()),
            Poll::Wrong(seen) => Some(Err(wait.wrong(seen))),
        }
    }

    /// It has been waited for so long that its server may be stuck, or our bell may be lost.
    fn end_slice(&self) {
        let slices = self.slices.get().saturating_add(1);
        self.slices.set(slices);
        let binding = self.wait.grip.binding;
        if !self.wait.was_claimed() || binding.has_unclaimed() {
            binding.ring_again(slices);
        }
    }

    /// The first polls of an idle processor. True: something is there.
    fn poll_for_a_while(&self, idle: &Idle<'_>) -> bool {
        let head = self.wait.grip.astack.head();
        if idle.count() == 1 {
            self.wait.grip.linkage().until_reply().pass();
        }
        for polls in 0..FIRST_POLLS {
            if idle.poll() {
                return true;
            }
            if polls < BRIEF_POLLS {
                processor::relax_briefly();
            } else {
                processor::relax();
                processor::prefetch_write(head);
            }
        }
        false
    }
}

impl Awaited for Reply<'_, '_> {
    #[inline]
    fn is_over(&self) -> bool {
        self.poll() != Poll::Pending || !self.state.is_open()
    }

    fn idle(&self, idle: &Idle<'_>) {
        let binding = self.wait.grip.binding;
        let is_here = processor::current() == self.wait.grip.linkage().server_processor();
        // A server that was put off has nothing to reply to yet.
        let may_reply = !is_here && !reallocating::is_put_off(binding);
        if may_reply && self.poll_for_a_while(idle) {
            return;
        }
        // Who was given this processor needs it: it is not to be spun on.
        let is_here = reallocating::donate() || is_here;
        if is_here && idle.look() {
            return;
        }
        let spin_ns = binding.spin_ns(self.wait.procedure);
        let waited_ns = idle_by(&binding.policy, spin_ns, is_here, idle, || binding.note_end());
        if !is_here {
            binding.told_wait(self.wait.procedure, spin_ns, waited_ns);
        }
    }

    fn fall_asleep(&self) -> Option<Word<'_>> {
        turn::doze(self.wait.turn(), self.wait.sequence).ok()?;
        let expected = TurnWord::new(self.wait.sequence, Phase::PostedAsleep).0;
        Some(Word { word: self.wait.turn(), expected, is_own: false })
    }

    fn wake_up(&self, is_late: bool) {
        // Whatever is there instead is seen by the look that follows.
        let _ = turn::rouse(self.wait.turn(), self.wait.sequence);
        if !is_late {
            return;
        }
        match self.look_ns.get() {
            0 => self.end_slice(),
            // A host's next look is to be a closer one.
            _ => self.look_ns.set(DUE),
        }
    }

    fn look_closer(&self) {
        let (now_ns, look_ns) = (clock::now_ns(), self.look_ns.get());
        if now_ns < look_ns || self.is_over() {
            return;
        }
        let binding = self.wait.grip.binding;
        if look_ns != 0 {
            binding.note_end();
            if !binding.state.is_open() {
                return;
            }
            self.end_slice();
        }
        self.look_ns.set(now_ns.saturating_add(binding.policy.slice_ns(self.slices.get())));
    }

    fn describe(&self) -> String {
        let binding = self.wait.grip.binding;
        let procedure = binding.procedure_name(self.wait.procedure);
        format!("the reply of `{procedure}` of `{}`", binding.name)
    }
}

/// An A-stack of a binding that has none to spare.
struct AnotherAStack<'b> {
    binding: &'b ClientBinding,
    class: u32,
    /// Taken for whoever waits.
    found: Cell<Option<u32>>,
}

impl Awaited for AnotherAStack<'_> {
    fn is_over(&self) -> bool {
        self.binding.reap();
        self.found.set(self.binding.claim_free(self.class));
        self.found.get().is_some() || !self.binding.state.is_open()
    }

    fn queue(&self) -> Option<NonZeroUsize> {
        NonZeroUsize::new(ptr::from_ref(self.binding.lists.wakes(self.class)).addr())
    }

    fn look_again_in(&self) -> Option<Duration> {
        Some(self.binding.claim_slice())
    }

    fn idle(&self, idle: &Idle<'_>) {
        idle_by(&self.binding.policy, 0, false, idle, || {});
    }

    fn fall_asleep(&self) -> Option<Word<'_>> {
        let expected = self.binding.lists.prepare_wait(self.class, Claimer::Thread)?;
        Some(Word { word: self.binding.lists.wakes(self.class), expected, is_own: true })
    }

    fn wake_up(&self, _is_late: bool) {
        // It may have been woken in place of a kernel thread.
        self.binding.pass_wake_on(self.class);
    }

    fn describe(&self) -> String {
        format!("a free A-stack of `{}`", self.binding.name)
    }
}

/// Waits as the policy says until a look finds something; for how long. `is_here`: the server of
/// the oldest call runs on this processor. `look_closer` follows a sleep that nothing has ended.
fn idle_by(
    policy: &WaitPolicy,
    spin_ns: u32,
    is_here: bool,
    idle: &Idle<'_>,
    look_closer: impl Fn(),
) -> u64 {
    let mut ban = YIELD_BAN.get();
    let start_ns = clock::now_ns();
    let mut spinner = (!is_here).then(spinning::begin).flatten();
    let may_spin_ns = if spinner.is_some() { spin_ns } else { 0 };
    let mut waiter = Waiter::new(policy, &mut ban, may_spin_ns);
    let mut now_ns = start_ns;
    let mut sleeps = 0;
    loop {
        match waiter.next(|| now_ns, is_here) {
            Step::Spin { polls } => {
                spin(idle, spinning::share(polls, &mut waiter, &mut ban));
            }
            Step::Yield => {
                // The server does all that is posted meanwhile.
                let calls = idle.count() as u64;
                processor::yield_now();
                waiter.told_yield(&mut ban, (clock::now_ns() - now_ns) / calls.max(1));
            }
            Step::Sleep { slice_ns } => {
                end_spinning(&mut spinner, || now_ns - start_ns, &waiter);
                if sleeps == 0 {
                    current::call_for_relief();
                }
                // Who brings about the newest reply has most likely brought about all of them.
                let is_first = is_here && sleeps == 0;
                let longest_ns = if is_first { policy.slice_ns(0) } else { slice_ns };
                if sleep(idle, is_first, Duration::from_nanos(slice_ns.min(longest_ns))) {
                    look_closer();
                }
                sleeps += 1;
            }
            Step::GiveUp => unreachable!("a wait without a deadline"),
        }
        now_ns = clock::now_ns();
        if idle.look() {
            break;
        }
    }
    YIELD_BAN.set(ban);
    end_spinning(&mut spinner, || now_ns - start_ns, &waiter);
    now_ns - start_ns
}

fn spin(idle: &Idle<'_>, polls: u32) {
    for _ in 0..polls {
        if idle.poll() {
            return;
        }
        processor::relax();
    }
}

/// Sleeps until a reply comes, or the newest one, or something else that makes a thread ready.
/// True: the slice is over and nothing has come.
///
/// A server on our own processor does all that is posted before it gives the processor back: if
/// the newest reply ends the sleep, the others wake nobody. One elsewhere wakes us by its first.
fn sleep(idle: &Idle<'_>, is_for_newest: bool, slice: Duration) -> bool {
    let enders = match is_for_newest {
        true => Enders::Newest,
        // The inbox is one of the words.
        false => Enders::Oldest(futex::WORDS_MAX - 1),
    };
    idle.sleep(enders, |words, left| {
        let watched: Vec<Watched<'_>> = words
            .iter()
            .map(|word| match word.is_own {
                true => Watched::own(word.word, word.expected),
                false => Watched::shared(word.word, word.expected),
            })
            .collect();
        let woken = futex::wait_any(&watched, Some(slice.min(left)));
        woken == Woken::TimedOut && slice <= left
    })
}
