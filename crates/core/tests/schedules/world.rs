//! What clients and server share, what the kernel does, and what must be true in the end.

use std::sync::Arc;
use std::sync::atomic::AtomicU32 as Count;
use std::sync::atomic::Ordering::Relaxed;

use shuttle::sync::{Condvar, Mutex};
use shuttle::thread;

use crate::sync::{AtomicU32, AtomicU64};
use crate::turn::{Phase, Sequence, TurnWord, is_idle};
use crate::{client, server};

/// A client each.
pub const BINDINGS: usize = 2;

pub const ASTACKS: usize = 2;

/// Calls that a client makes.
const CALLS: u32 = 3;

/// What a caller was told of its call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    Returned,
    DidNotRun,
    GivenUp,
}

/// The kernel's side of a futex word.
pub struct Futex {
    queue: Mutex<()>,
    woken: Condvar,
}

/// One A-stack. Its message is one word: arguments in, results out.
pub struct AStack {
    pub turn: AtomicU32,
    pub claim: AtomicU32,
    pub message: AtomicU32,
    pub futex: Futex,
    /// In the client's private memory: the number of the call that it makes.
    pub sequence: AtomicU32,
    /// How often each call ran: what is written down outside of all domains, and no step.
    pub runs: [Count; CALLS as usize + 1],
}

/// What a binding's socket has brought.
#[derive(Default)]
pub struct Socket {
    pub has_client_hung_up: bool,
    pub has_server_hung_up: bool,
    /// `Revoked` lies in the client's queue.
    pub is_told: bool,
}

/// A binding: what both share of it, and what each notes for itself.
pub struct Binding {
    pub lane: u32,
    pub astacks: [AStack; ASTACKS],
    pub socket: Mutex<Socket>,
    pub hung_up: Condvar,
    pub is_open_at_client: AtomicU32,
    pub is_open_at_server: AtomicU32,
}

/// A gate, and who sleeps on it.
pub struct Gate {
    pub word: AtomicU32,
    pub parked: Futex,
}

/// All there is.
pub struct World {
    pub bindings: [Binding; BINDINGS],
    pub lanes: [AtomicU64; 1],
    pub watcher: Gate,
    pub resident: Gate,
    pub is_over: AtomicU32,
}

impl Futex {
    fn new() -> Futex {
        Futex { queue: Mutex::new(()), woken: Condvar::new() }
    }

    /// FUTEX_WAIT: sleeps if the word is still `expected`.
    pub fn wait(&self, word: &AtomicU32, expected: u32) {
        let queue = self.queue.lock().unwrap();
        if word.load(Relaxed) == expected {
            drop(self.woken.wait(queue).unwrap());
        }
    }

    /// FUTEX_WAKE of all.
    pub fn wake_all(&self) {
        let queue = self.queue.lock().unwrap();
        self.woken.notify_all();
        drop(queue);
    }
}

impl AStack {
    fn new() -> AStack {
        AStack {
            turn: AtomicU32::new(TurnWord::new(Sequence::ZERO, Phase::IdleBell).0),
            claim: AtomicU32::new(0),
            message: AtomicU32::new(0),
            futex: Futex::new(),
            sequence: AtomicU32::new(0),
            runs: Default::default(),
        }
    }

    /// How often a call has run.
    pub fn ran(&self, sequence: Sequence) -> u32 {
        self.runs[sequence.as_u32() as usize].load(Relaxed)
    }
}

impl Gate {
    fn new() -> Gate {
        Gate { word: AtomicU32::new(0), parked: Futex::new() }
    }
}

impl Binding {
    fn new(lane: u32) -> Binding {
        Binding {
            lane,
            astacks: [AStack::new(), AStack::new()],
            socket: Mutex::default(),
            hung_up: Condvar::new(),
            is_open_at_client: AtomicU32::new(1),
            is_open_at_server: AtomicU32::new(1),
        }
    }
}

impl World {
    fn new() -> World {
        World {
            bindings: [Binding::new(0), Binding::new(1)],
            lanes: [AtomicU64::new(0)],
            watcher: Gate::new(),
            resident: Gate::new(),
            is_over: AtomicU32::new(0),
        }
    }

    /// One run, of which chance chooses the schedule. What the callers were told.
    pub fn play() -> Vec<Told> {
        let world = Arc::new(World::new());
        let spawn = |body: fn(&World)| {
            let world = Arc::clone(&world);
            thread::spawn(move || body(&world))
        };
        let processors = [spawn(server::watch), spawn(server::reside)];
        let others = [
            spawn(|world| server::withdraw(world, 0)),
            spawn(|world| client::keep_house(world, 0)),
        ];
        let callers = [0, 1].map(|number| {
            let world = Arc::clone(&world);
            thread::spawn(move || client::call_all(&world, number, CALLS))
        });
        let told = callers.map(|caller| caller.join().unwrap());
        others.into_iter().for_each(|other| other.join().unwrap());
        server::end(&world);
        processors.into_iter().for_each(|processor| processor.join().unwrap());
        told.iter().enumerate().for_each(|(number, told)| world.judge(number, told));
        told.concat().iter().map(|(_, _, told)| *told).collect()
    }

    /// What was told is what was.
    fn judge(&self, number: usize, told: &[(usize, Sequence, Told)]) {
        let binding = &self.bindings[number];
        for (index, sequence, told) in told {
            let astack = &binding.astacks[*index];
            let ran = astack.ran(*sequence);
            match told {
                Told::Returned => assert_eq!(ran, 1, "call {sequence} returned"),
                Told::DidNotRun => assert_eq!(ran, 0, "call {sequence} is said not to have run"),
                Told::GivenUp => assert!(ran <= 1, "call {sequence} ran {ran} times"),
            }
        }
        // What was captured has come back (L55), unless the binding has gone.
        let is_back = |astack: &AStack| {
            is_idle(&astack.turn, Sequence::from_u32(astack.sequence.load(Relaxed)))
        };
        assert!(number == 0 || binding.astacks.iter().all(is_back), "an A-stack is kept");
    }
}
