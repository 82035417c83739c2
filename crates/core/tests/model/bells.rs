//! Servers that sleep: no call is left lying, whoever goes to sleep when.

use core::sync::atomic::Ordering::Relaxed;

use loom::sync::Arc;
use loom::thread;

use crate::bell::{ASLEEP, fall_asleep, has_sleeper, open_gate, ring, ring_gate, take_lanes};
use crate::sync::{AtomicU32, AtomicU64};
use crate::tally::{Tallied, note};
use crate::turn::{Mode, Phase, Poll, Sequence, TurnWord, demote, doze, poll, post};
use crate::world::{AStack, Futex, call, explore};

struct Server {
    gate: AtomicU32,
    lanes: [AtomicU64; 1],
    tally: AtomicU64,
    parked: Futex,
    astacks: [Arc<AStack>; 2],
}

impl Server {
    fn new(phase: Phase) -> Arc<Server> {
        Arc::new(Server {
            gate: AtomicU32::new(0),
            lanes: [AtomicU64::new(0)],
            tally: AtomicU64::new(0),
            parked: Futex::new(),
            astacks: [AStack::new(phase), AStack::new(phase)],
        })
    }

    /// A client's whole call, less the wait for the reply.
    fn call(&self, lane: u32) {
        let astack = &self.astacks[lane as usize];
        astack.put_arguments(call(1));
        match post(&astack.turn, call(1)).unwrap() {
            Mode::Hot => {}
            Mode::Tally => note(&self.tally, 1 << lane, call(1)),
            Mode::Bell => {
                if ring(&self.gate, &self.lanes[0], lane) {
                    self.parked.wake_all();
                }
            }
        }
    }

    /// Looks at the tally, and serves what it names. How many calls there were.
    fn poll_tally(&self, tallied: &mut Tallied) -> u32 {
        let posted = tallied.posted(&self.tally);
        let mut served = 0;
        for (lane, astack) in self.astacks.iter().enumerate() {
            if posted & 1 << lane != 0
                && let Some((call, _)) = astack.serve(Mode::Tally)
            {
                tallied.watch(1 << lane, call);
                served += 1;
            }
        }
        served
    }

    /// Opens the gate and serves the lanes that rang, and no other. How many calls there were.
    fn answer_bell(&self) -> u32 {
        let opened = open_gate(&self.gate);
        let lanes = take_lanes(&self.lanes[0]);
        let is_lost = opened.wants_lane() && lanes == 0;
        let rang = |lane: &usize| is_lost || lanes & 1 << lane != 0;
        let served = (0..2).filter(rang).map(|lane| self.astacks[lane].serve(Mode::Bell));
        served.filter(Option::is_some).count() as u32
    }

    fn sleep(&self) {
        if fall_asleep(&self.gate, &self.lanes) {
            self.parked.wait(&self.gate, ASLEEP);
        }
    }

    /// One processor, until it has served `wanted` calls.
    fn serve(&self, wanted: u32) {
        let mut served = 0;
        while served < wanted {
            served += self.answer_bell();
            if served < wanted {
                self.sleep();
            }
        }
    }
}

/// A server with a resident on the client's processor.
struct Inhabited {
    server: Arc<Server>,
    gate: AtomicU32,
    parked: Futex,
    is_over: AtomicU32,
}

impl Inhabited {
    /// A client's whole call. If watcher and resident sleep, the resident is rung for.
    fn call(&self) {
        let (server, astack) = (&self.server, &self.server.astacks[0]);
        astack.put_arguments(call(1));
        let posted = post(&astack.turn, call(1)).unwrap();
        if posted == Mode::Bell && ring(&server.gate, &server.lanes[0], 0) {
            if has_sleeper(&self.gate) && ring_gate(&self.gate) {
                self.parked.wake_all();
            } else {
                server.parked.wake_all();
            }
        }
        if doze(&astack.turn, call(1)).is_ok() {
            let asleep = TurnWord::new(call(1), Phase::PostedAsleep);
            astack.futex.wait(&astack.turn, asleep.0);
        }
        assert_eq!(poll(&astack.turn, call(1)), Poll::Replied { mode: Mode::Bell });
        astack.expect_results(call(1));
    }

    /// Both processors have nothing left to do.
    fn end(&self) {
        self.is_over.store(1, Relaxed);
        for (gate, parked) in [(&self.gate, &self.parked), (&self.server.gate, &self.server.parked)]
        {
            ring_gate(gate);
            parked.wake_all();
        }
    }

    fn watch(&self) {
        loop {
            self.server.answer_bell();
            if self.is_over.load(Relaxed) == 1 {
                return;
            }
            self.server.sleep();
        }
    }

    /// What a resident does: it opens its own gate, and takes the lanes of the watcher's.
    fn reside(&self) {
        loop {
            let is_rung = open_gate(&self.gate).is_rung;
            let lanes = if is_rung { take_lanes(&self.server.lanes[0]) } else { 0 };
            if lanes != 0 {
                // It can be relied on before its caller knows that it is done.
                fall_asleep(&self.gate, &[]);
                self.server.astacks[0].serve(Mode::Bell);
            }
            if self.is_over.load(Relaxed) == 1 {
                return;
            }
            if fall_asleep(&self.gate, &[]) {
                self.parked.wait(&self.gate, ASLEEP);
            }
        }
    }
}

/// Watcher and resident go to sleep while a client calls: whichever it relies on serves it.
pub fn resident_against_watcher() {
    explore(2, || {
        let inhabited = Arc::new(Inhabited {
            server: Server::new(Phase::IdleBell),
            gate: AtomicU32::new(0),
            parked: Futex::new(),
            is_over: AtomicU32::new(0),
        });
        let run = |processor: fn(&Inhabited)| {
            let inhabited = Arc::clone(&inhabited);
            thread::spawn(move || processor(&inhabited))
        };
        let processors = [run(Inhabited::watch), run(Inhabited::reside)];
        inhabited.call();
        inhabited.end();
        for processor in processors {
            processor.join().unwrap();
        }
        assert_eq!(inhabited.server.astacks[0].runs.load(Relaxed), 1);
    });
}

/// One client rings while the processor goes to sleep.
pub fn ring_against_fall_asleep() {
    explore(6, || {
        let server = Server::new(Phase::IdleBell);
        let client = {
            let server = Arc::clone(&server);
            thread::spawn(move || server.call(0))
        };
        server.serve(1);
        client.join().unwrap();
    });
}

/// The processor polls, stops polling, and goes to sleep, while a call comes: the client finds it
/// polling and leaves it alone, or rings.
pub fn post_against_demote() {
    explore(6, || {
        let server = Server::new(Phase::IdleHot);
        let client = {
            let server = Arc::clone(&server);
            thread::spawn(move || server.call(0))
        };
        if demote(&server.astacks[0].turn, Sequence::ZERO, Mode::Hot) {
            server.serve(1);
        } else {
            // The look after a demotion that failed finds the call.
            assert!(server.astacks[0].serve(Mode::Bell).is_some());
        }
        client.join().unwrap();
    });
}

/// A client's thread posts on two A-stacks that are watched by their tally, and the processor looks
/// at that, stops looking, and goes to sleep meanwhile: each call is found by the tally, by the
/// demotion that fails, or rings.
pub fn tally_against_demote() {
    explore(3, || {
        let server = Server::new(Phase::IdleTally);
        let client = {
            let server = Arc::clone(&server);
            thread::spawn(move || (0..2).for_each(|lane| server.call(lane)))
        };
        let mut tallied = Tallied::default();
        (0..2).for_each(|lane| tallied.watch(1 << lane, Sequence::ZERO));
        let mut served = server.poll_tally(&mut tallied);
        for astack in &server.astacks {
            let last = Sequence::from_u32(astack.claim.load(Relaxed));
            if !demote(&astack.turn, last, Mode::Tally) {
                // The look after a demotion that failed finds the call.
                assert!(astack.serve(Mode::Bell).is_some());
                served += 1;
            }
        }
        server.serve(2 - served);
        client.join().unwrap();
        assert!(server.astacks.iter().all(|astack| astack.runs.load(Relaxed) == 1));
    });
}

/// Two clients of one gate.
pub fn two_lanes_one_gate() {
    explore(2, || {
        let server = Server::new(Phase::IdleBell);
        let client = |lane| {
            let server = Arc::clone(&server);
            thread::spawn(move || server.call(lane))
        };
        let clients = [client(0), client(1)];
        server.serve(2);
        for client in clients {
            client.join().unwrap();
        }
    });
}

/// Two processors of one gate, each of which may have taken what the other one was woken for.
pub fn two_sleepers_one_gate() {
    explore(3, || {
        let server = Server::new(Phase::IdleBell);
        let processor = {
            let server = Arc::clone(&server);
            thread::spawn(move || {
                server.sleep();
                server.answer_bell()
            })
        };
        server.call(0);
        let here = server.answer_bell();
        server.call(1);
        let there = processor.join().unwrap();
        let last = server.answer_bell();
        assert_eq!(here + there + last, 2);
        let runs = |lane: usize| server.astacks[lane].runs.load(Relaxed);
        assert_eq!((runs(0), runs(1)), (1, 1));
    });
}

/// A client of the same class puts any words into the bell, at any moment: the other client rings
/// again, once, after that, and is served by a server that never wakes by itself.
///
/// By swaps: loom lets a plain store of one thread come between the two halves of another's swap.
fn served_in_spite_of(forged_gate: u32) {
    explore(2, move || {
        let server = Server::new(Phase::IdleBell);
        let forger = {
            let server = Arc::clone(&server);
            thread::spawn(move || {
                server.lanes[0].swap(0, Relaxed);
                server.gate.swap(forged_gate, Relaxed);
            })
        };
        let client = {
            let server = Arc::clone(&server);
            thread::spawn(move || {
                server.call(0);
                forger.join().unwrap();
                ring(&server.gate, &server.lanes[0], 0);
                ring_gate(&server.gate);
                server.parked.wake_all();
            })
        };
        server.serve(1);
        client.join().unwrap();
    });
}

/// The forged gate says that nobody sleeps.
pub fn forged_open_gate() {
    served_in_spite_of(0);
}

/// The forged gate says that somebody sleeps.
pub fn forged_asleep_gate() {
    served_in_spite_of(ASLEEP);
}

/// The forged gate says what no gate says.
pub fn forged_odd_gate() {
    served_in_spite_of(!0);
}
