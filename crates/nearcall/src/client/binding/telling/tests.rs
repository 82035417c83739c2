//! Calls that a server finds through a tally, and through one that lies.

use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use std::time::{Duration, Instant};

use nearcall_abi::{AStackClass, InterfaceDescriptor, RequestLine};
use nearcall_core::{Mode, Phase, TurnWord};
use nearcall_threads::{fork, run};

use crate::Binding;
use crate::client::binding::identity;
use crate::raw::{Arguments, Client, Entries, Outcome};
use crate::testing::{TestServer, null_interface};

/// A-stacks of the class, all of which one thread may keep.
const ASTACKS: u32 = 16;

/// Calls of each FastThread in a round: an odd number, so that the tally says something after it.
const CALLS: u32 = 201;

/// Between two looks of a FastThread how the server watches, calls.
const LOOK_AFTER: u32 = 10;

/// Longest until a server that has nothing to do sleeps.
const ASLEEP_MAX: Duration = Duration::from_secs(30);

/// Rounds until a server that was let run has found many calls at once.
const ROUNDS_MAX: u32 = 1_000;

static INTERFACE: InterfaceDescriptor =
    null_interface(&[AStackClass { block_bytes: 0, count: ASTACKS }]);

/// Counts calls.
struct Counter(Arc<AtomicU32>);

impl Entries for Counter {
    fn interface(&self) -> &'static InterfaceDescriptor {
        &INTERFACE
    }

    fn enter(&self, _procedure: usize, arguments: Arguments<'_>) -> Outcome {
        // SeqCst: the tests compare what two threads counted.
        self.0.fetch_add(1, SeqCst);
        arguments.results().reply(0)
    }
}

/// A server, and a binding to it.
struct Twin {
    server: TestServer,
    binding: Binding,
    runs: Arc<AtomicU32>,
}

impl Twin {
    fn new(name: &str) -> Twin {
        let runs = Arc::new(AtomicU32::new(0));
        let counter = Counter(Arc::clone(&runs));
        let server = TestServer::new(&format!("tallied-{name}"), counter);
        Twin { binding: server.import(), server, runs }
    }

    fn runs(&self) -> u32 {
        // SeqCst: as in `enter`.
        self.runs.load(SeqCst)
    }

    fn tally(&self) -> &AtomicU64 {
        &self.binding.inner().astack(0).own_line::<RequestLine>().tally
    }

    /// Calls from FastThreads until some of them have seen that an A-stack is watched by the tally,
    /// and something is noted there. How many calls.
    fn call_until_tallied(&self) -> u32 {
        for round in 1..=ROUNDS_MAX {
            let has_tallied = call_from_fastthreads(&self.binding, ASTACKS);
            if has_tallied && self.tally().load(Relaxed) != 0 {
                return round * ASTACKS * CALLS;
            }
        }
        panic!("{ROUNDS_MAX} rounds, and no A-stack was watched by the tally");
    }
}

fn null(binding: &Binding) {
    let client = Client::new(binding.clone(), &INTERFACE);
    client.claim::<0>(0).unwrap().post(0).unwrap();
}

/// Whether an A-stack is idle and watched by the tally.
fn has_tallied(binding: &Binding) -> bool {
    let astacks = (0..ASTACKS).map(|index| binding.inner().astack(index));
    let mut words = astacks.map(|astack| TurnWord(astack.head().turn.load(Relaxed)));
    words.any(|word| word.phase() == Some(Phase::IdleTally))
}

/// Whether one of them has seen that an A-stack is watched by the tally.
fn call_from_fastthreads(binding: &Binding, threads: u32) -> bool {
    let binding = binding.clone();
    let calls = move || {
        let call_and_look = |binding: &Binding, call: u32| {
            null(binding);
            call.is_multiple_of(LOOK_AFTER) && has_tallied(binding)
        };
        let forked = (0..threads).map(|_| {
            let binding = binding.clone();
            let calls = (0..CALLS).map(move |call| call_and_look(&binding, call));
            fork(move || calls.fold(false, |before, seen| before | seen)).unwrap()
        });
        let forked: Vec<_> = forked.collect();
        let seen = forked.into_iter().map(|thread| thread.join().unwrap());
        seen.fold(false, |before, seen| before | seen)
    };
    run(calls).unwrap()
}

#[test]
fn calls_from_many_fastthreads_are_found_through_the_tally() {
    let twin = Twin::new("many");
    let calls = twin.call_until_tallied();
    assert_eq!(twin.runs(), calls);
}

#[test]
fn more_fastthreads_than_astacks_wait_for_those_that_are_kept_for_them() {
    let twin = Twin::new("crowd");
    let has_tallied = (0..ROUNDS_MAX).any(|_| call_from_fastthreads(&twin.binding, 3 * ASTACKS));
    assert!(has_tallied, "no A-stack was watched by the tally");
    let (bias, _) = twin.binding.inner().nth_of_class(0, 0);
    assert!(bias.is_towards(identity()));
}

#[test]
fn a_server_that_sleeps_looks_at_no_tally() {
    let twin = Twin::new("asleep");
    // At the end of a round it has not slept yet, or already.
    let is_left = (0..ROUNDS_MAX).any(|_| {
        call_from_fastthreads(&twin.binding, ASTACKS);
        has_tallied(&twin.binding)
    });
    assert!(is_left, "after no round it watched by the tally");
    let until = Instant::now() + ASLEEP_MAX;
    while has_tallied(&twin.binding) {
        assert!(Instant::now() < until, "still watched by the tally");
        std::thread::sleep(Duration::from_millis(1));
    }
    null(&twin.binding);
}

#[test]
fn a_kernel_thread_notes_its_calls_in_a_tally_that_was_fastthreads() {
    let twin = Twin::new("alone");
    let calls = twin.call_until_tallied();
    for _ in 0..CALLS {
        null(&twin.binding);
    }
    assert_eq!(twin.runs(), calls + CALLS);
}

#[test]
fn a_thread_that_an_astack_is_not_kept_for_rings() {
    let twin = Twin::new("others");
    let calls = twin.call_until_tallied();
    twin.binding.inner().revoke_bias(0);
    let held: Vec<_> = (0..ASTACKS)
        .map(|_| twin.binding.inner().claim(0, 0, Default::default()).unwrap().0)
        .collect();
    assert!(held.iter().all(|held| held.linkage().kept() == 0));
    // So it says that it was not noted.
    let tally = twin.tally().load(Relaxed);
    held[0].tell(Mode::Tally, 0);
    assert_eq!(twin.tally().load(Relaxed), tally);
    drop(held);
    std::thread::scope(|scope| {
        for _ in 0..ASTACKS {
            scope.spawn(|| (0..CALLS).for_each(|_| null(&twin.binding)));
        }
    });
    assert_eq!(twin.runs(), calls + ASTACKS * CALLS);
    assert_eq!(twin.tally().load(Relaxed), tally);
}

#[test]
fn a_tally_that_lies_costs_nobody_a_call() {
    let twin = Twin::new("lies");
    let honest = twin.server.import();
    let calls = twin.call_until_tallied();
    let is_over = AtomicBool::new(false);
    let lied = std::thread::scope(|scope| {
        let liar = scope.spawn(|| {
            let mut lie = 1u64;
            for lies in 1.. {
                // xorshift64
                lie ^= lie << 13;
                lie ^= lie >> 7;
                lie ^= lie << 17;
                twin.tally().store(lie, Relaxed);
                if is_over.load(Relaxed) {
                    return lies;
                }
                std::thread::yield_now();
            }
            unreachable!("it is over some time")
        });
        scope.spawn(|| (0..CALLS).for_each(|_| null(&honest))).join().unwrap();
        call_from_fastthreads(&twin.binding, ASTACKS);
        is_over.store(true, Relaxed);
        liar.join().unwrap()
    });
    assert!(lied > 0);
    assert_eq!(twin.runs(), calls + CALLS + ASTACKS * CALLS);
    assert!(!twin.binding.is_revoked() && !honest.is_revoked());
}
