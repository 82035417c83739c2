//! The herald: the one thread of a process that sleeps for the replies of calls that are awaited,
//! and wakes their tasks (design note 0022). It starts when a call is first awaited for longer than
//! anybody spins; from then on it sleeps while there is nothing to wait for.
//!
//! ```text
//!   a future that has dozed ──ticket──▶ tickets ──look──▶ one futex_waitv: the oldest turn words,
//!        ▲                                                and `changes`: a ticket came or went
//!        └───── Waker::wake ◀── its word has changed, or it is late ◀──┘
//! ```
//!
//! A ticket is told once: then it is gone, and whoever had it looks for itself.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use nearcall_core::turn;
use nearcall_core::{Phase, Sequence, TurnWord};
use nearcall_os::clock;
use nearcall_os::forks::{self, PerProcess};
use nearcall_os::futex::{self, Watched};

use super::binding::{ClientBinding, was_claimed};
use super::deadline::NEVER_NS;

/// Most replies that end a sleep: one word more is our own.
const WORDS_MAX: usize = futex::WORDS_MAX - 1;

/// How late a reply may be seen that is behind so many others.
const CROWD_NS: u64 = 1_000_000;

static HERALD: PerProcess<Option<&'static Herald>> = PerProcess::new();

/// See the module.
#[derive(Debug)]
struct Herald {
    tickets: Mutex<Tickets>,
    /// Counts what the thread is to hear of while it sleeps. No peer reaches it.
    changes: AtomicU32,
    /// Of the process that has the thread.
    generation: u32,
}

#[derive(Debug, Default)]
struct Tickets {
    /// The oldest first, which have the lowest numbers.
    all: Vec<Sleeper>,
    next: u64,
    /// The thread sleeps, or is about to, and does not know of what has changed.
    is_asleep: bool,
}

/// Who is to be woken, and when.
#[derive(Debug)]
struct Sleeper {
    number: u64,
    waker: Waker,
    /// `None`: for the time alone.
    call: Option<AwaitedCall>,
    until_ns: u64,
}

/// A posted call, whose turn word says that its client sleeps.
#[derive(Debug)]
pub(crate) struct AwaitedCall {
    pub binding: Arc<ClientBinding>,
    /// Of its A-stack.
    pub index: u32,
    pub sequence: Sequence,
    /// When somebody looks whether its server has noticed it, and is alive.
    look_ns: u64,
    looks: u32,
}

/// The right to be woken once. Dropping it gives it up.
#[derive(Debug)]
#[must_use]
pub(crate) struct Ticket {
    herald: &'static Herald,
    number: u64,
}

/// What a look at all tickets found.
#[derive(Default)]
struct Found {
    /// To be woken now.
    wakers: Vec<Waker>,
    /// Of bindings with calls that have waited for a slice: how often such a call has, and whether
    /// one of them was not claimed.
    closer: Vec<(Arc<ClientBinding>, u32, bool)>,
    /// Those that a sleep waits for.
    oldest: Vec<(Arc<ClientBinding>, u32, Sequence)>,
    /// When to look again, whatever happens.
    until_ns: u64,
    /// What `changes` was.
    changes: u32,
}

impl AwaitedCall {
    /// Call `sequence` on A-stack `index`, which is about to be waited for.
    pub fn new(binding: Arc<ClientBinding>, index: u32, sequence: Sequence) -> AwaitedCall {
        let look_ns = clock::now_ns().saturating_add(binding.policy.slice_ns(0));
        AwaitedCall { binding, index, sequence, look_ns, looks: 0 }
    }

    /// Its word is not what the client has left there, or its binding is gone.
    fn is_over(&self) -> bool {
        let turn = &self.binding.astack(self.index).head().turn;
        let asleep = TurnWord::new(self.sequence, Phase::PostedAsleep);
        turn::read(turn) != asleep || !self.binding.state.is_open()
    }
}

/// Wakes `waker` once: when `call` has a reply or ends, or at `until_ns`. `None`: there is no
/// thread to do so.
pub(crate) fn wake(waker: &Waker, call: Option<AwaitedCall>, until_ns: u64) -> Option<Ticket> {
    let herald = (*HERALD.own(Herald::start))?;
    let mut tickets = herald.tickets();
    let number = tickets.next;
    tickets.next += 1;
    tickets.all.push(Sleeper { number, waker: waker.clone(), call, until_ns });
    herald.tell(tickets);
    Some(Ticket { herald, number })
}

/// Lets other tasks run for so long.
pub(crate) async fn pause(pause: Duration) {
    let pause_ns = u64::try_from(pause.as_nanos()).unwrap_or(NEVER_NS);
    let until_ns = clock::now_ns().saturating_add(pause_ns);
    let mut ticket = None;
    poll_fn(|context| {
        if until_ns <= clock::now_ns() {
            return Poll::Ready(());
        }
        ticket = wake(context.waker(), None, until_ns);
        if ticket.is_none() {
            context.waker().wake_by_ref();
        }
        Poll::Pending
    })
    .await;
}

impl Ticket {
    /// From now on it is this one that is woken. False: it has been told.
    pub fn is_valid_for(&self, waker: &Waker) -> bool {
        let mut tickets = self.herald.tickets();
        let Some(at) = tickets.find(self.number) else {
            return false;
        };
        let sleeper = &mut tickets.all[at];
        if !sleeper.waker.will_wake(waker) {
            let before = std::mem::replace(&mut sleeper.waker, waker.clone());
            drop(tickets);
            // After the lock: its drop is anybody's code.
            drop(before);
        }
        true
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if self.herald.generation != forks::generation() {
            // The thread is a parent's, and may have been in the middle of the tickets.
            return;
        }
        let mut tickets = self.herald.tickets();
        if let Some(at) = tickets.find(self.number) {
            let given_up = tickets.all.remove(at);
            // The thread holds its binding while it sleeps.
            self.herald.tell(tickets);
            // After the lock: a waker's drop is anybody's code.
            drop(given_up);
        }
    }
}

impl Tickets {
    fn find(&self, number: u64) -> Option<usize> {
        self.all.binary_search_by_key(&number, |sleeper| sleeper.number).ok()
    }
}

impl Herald {
    fn start() -> Option<&'static Herald> {
        let (tickets, changes) = (Mutex::default(), AtomicU32::new(0));
        let generation = forks::generation();
        let herald = Box::leak(Box::new(Herald { tickets, changes, generation }));
        let on_thread: &'static Herald = herald;
        let thread = std::thread::Builder::new().name(String::from("nearcall-herald"));
        match thread.spawn(move || on_thread.run()) {
            Ok(_) => Some(herald),
            Err(error) => {
                tracing::error!(%error, "no thread that wakes tasks: they poll instead");
                None
            }
        }
    }

    fn tickets(&self) -> MutexGuard<'_, Tickets> {
        self.tickets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something has changed: if the thread sleeps, it is to know.
    ///
    /// # Cost: a system call at most once a sleep.
    fn tell(&self, mut tickets: MutexGuard<'_, Tickets>) {
        if std::mem::take(&mut tickets.is_asleep) {
            // Relaxed: what has changed is ordered by the lock; the word only ends a sleep.
            self.changes.fetch_add(1, Ordering::Relaxed);
            drop(tickets);
            futex::wake_own(&self.changes);
        }
    }

    /// The thread.
    fn run(&self) {
        loop {
            let found = self.look(clock::now_ns());
            let is_done = found.wakers.is_empty() && found.closer.is_empty();
            // Outside of the lock, both: they run anybody's code. One that panics must not end the
            // thread that all others wait for.
            for (binding, looks, has_unclaimed) in &found.closer {
                let look = || look_closer(binding, *looks, *has_unclaimed);
                let _ = catch_unwind(AssertUnwindSafe(look));
            }
            for waker in found.wakers {
                let _ = catch_unwind(AssertUnwindSafe(|| waker.wake()));
            }
            if is_done {
                self.sleep(&found.oldest, found.until_ns, found.changes);
            }
        }
    }

    /// Looks at every ticket, and takes those out that are to be told.
    fn look(&self, now_ns: u64) -> Found {
        let mut found = Found { until_ns: NEVER_NS, ..Found::default() };
        let mut tickets = self.tickets();
        let is_told = |sleeper: &mut Sleeper| {
            sleeper.until_ns <= now_ns || sleeper.call.as_ref().is_some_and(AwaitedCall::is_over)
        };
        let told: Vec<Sleeper> = tickets.all.extract_if(.., is_told).collect();
        for sleeper in &mut tickets.all {
            found.until_ns = found.until_ns.min(sleeper.until_ns);
            if let Some(call) = &mut sleeper.call {
                found.note(call, now_ns);
            }
        }
        if told.is_empty() && found.closer.is_empty() {
            tickets.is_asleep = true;
            // Relaxed: it changes under the lock.
            found.changes = self.changes.load(Ordering::Relaxed);
        }
        drop(tickets);
        found.wakers = told.into_iter().map(|sleeper| sleeper.waker).collect();
        found
    }

    /// Sleeps until something has changed, one of the oldest calls has a reply, or it is time.
    fn sleep(&self, oldest: &[(Arc<ClientBinding>, u32, Sequence)], until_ns: u64, changes: u32) {
        let own = std::iter::once(Watched::own(&self.changes, changes));
        let turns = oldest.iter().map(|(binding, index, sequence)| {
            let asleep = TurnWord::new(*sequence, Phase::PostedAsleep).0;
            Watched::shared(&binding.astack(*index).head().turn, asleep)
        });
        let words: Vec<Watched<'_>> = own.chain(turns).collect();
        let left_ns = until_ns.saturating_sub(clock::now_ns());
        let timeout = (until_ns != NEVER_NS).then(|| Duration::from_nanos(left_ns));
        futex::wait_any(&words, timeout);
        self.tickets().is_asleep = false;
    }
}

impl Found {
    /// A call that still waits.
    fn note(&mut self, call: &mut AwaitedCall, now_ns: u64) {
        if call.look_ns <= now_ns {
            call.looks += 1;
            call.look_ns = now_ns.saturating_add(call.binding.policy.slice_ns(call.looks));
            let is_unclaimed = !was_claimed(call.binding.astack(call.index), call.sequence);
            match self.closer.iter_mut().find(|(known, ..)| Arc::ptr_eq(known, &call.binding)) {
                Some((_, looks, has_unclaimed)) => {
                    *looks = (*looks).max(call.looks);
                    *has_unclaimed |= is_unclaimed;
                }
                None => self.closer.push((Arc::clone(&call.binding), call.looks, is_unclaimed)),
            }
        }
        self.until_ns = self.until_ns.min(call.look_ns);
        if self.oldest.len() < WORDS_MAX {
            self.oldest.push((Arc::clone(&call.binding), call.index, call.sequence));
        } else {
            self.until_ns = self.until_ns.min(now_ns + CROWD_NS);
        }
    }
}

/// A call has waited for a slice. Its server may be stuck, our bell may have been lost, or the
/// server may have ended after housekeeping has looked through what was outstanding.
fn look_closer(binding: &ClientBinding, looks: u32, has_unclaimed: bool) {
    binding.note_end();
    if binding.state.is_open() && has_unclaimed {
        binding.ring_again(looks);
    }
}
