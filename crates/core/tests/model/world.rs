//! What the models stand on: a message in shared memory, a wait queue for futexes, a server.

use core::sync::atomic::Ordering::Relaxed;

use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;

use crate::claim::claim;
use crate::sync::AtomicU32;
use crate::turn::{Look, Mode, Phase, Reply, Sequence, TurnWord, look, reply};

/// Runs `body` under every interleaving with at most `preemptions` switches that nobody asked for,
/// or as many as LOOM_MAX_PREEMPTIONS says.
pub fn explore(preemptions: usize, body: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(preemptions));
    builder.check(body);
}

/// The kernel's side of a futex word.
pub struct Futex {
    queue: Mutex<()>,
    woken: Condvar,
}

impl Futex {
    pub fn new() -> Futex {
        Futex { queue: Mutex::new(()), woken: Condvar::new() }
    }

    /// FUTEX_WAIT: sleeps if the word is still `expected`.
    pub fn wait(&self, word: &AtomicU32, expected: u32) {
        let queue = self.queue.lock().unwrap();
        if word.load(Relaxed) == expected {
            drop(self.woken.wait(queue).unwrap());
        }
    }

    /// FUTEX_WAKE of one.
    pub fn wake_first(&self) {
        let queue = self.queue.lock().unwrap();
        self.woken.notify_one();
        drop(queue);
    }

    /// FUTEX_WAKE of all.
    pub fn wake_all(&self) {
        let queue = self.queue.lock().unwrap();
        self.woken.notify_all();
        drop(queue);
    }
}

/// One A-stack: its two words, and a message of one word. Nothing but the turn word orders the
/// message, so that a missing order is seen as an old message.
pub struct AStack {
    pub turn: AtomicU32,
    pub claim: AtomicU32,
    pub message: AtomicU32,
    pub runs: AtomicU32,
    pub futex: Futex,
}

/// The `n`-th call.
pub fn call(n: u32) -> Sequence {
    Sequence::from_u32(n)
}

/// The arguments of a call.
pub fn arguments(call: Sequence) -> u32 {
    10 + call.as_u32()
}

/// The results of a call.
pub fn results(call: Sequence) -> u32 {
    20 + call.as_u32()
}

impl AStack {
    pub fn new(phase: Phase) -> Arc<AStack> {
        Arc::new(AStack {
            turn: AtomicU32::new(TurnWord::new(Sequence::ZERO, phase).0),
            claim: AtomicU32::new(0),
            message: AtomicU32::new(0),
            runs: AtomicU32::new(0),
            futex: Futex::new(),
        })
    }

    pub fn put_arguments(&self, call: Sequence) {
        self.message.store(arguments(call), Relaxed);
    }

    pub fn expect_results(&self, call: Sequence) {
        assert_eq!(self.message.load(Relaxed), results(call));
    }

    /// Runs a claimed call and replies.
    pub fn run(&self, call: Sequence, mode: Mode) -> Reply {
        assert_eq!(self.message.load(Relaxed), arguments(call));
        self.runs.fetch_add(1, Relaxed);
        self.message.store(results(call), Relaxed);
        self.answer(call, mode)
    }

    fn answer(&self, call: Sequence, mode: Mode) -> Reply {
        let replied = reply(&self.turn, call, mode);
        match replied {
            Reply::WakeClient => self.futex.wake_all(),
            Reply::Wrong(seen) => panic!("a reply to {seen}"),
            _ => {}
        }
        replied
    }

    /// Looks once, and does what there is to do. The call that this processor ended, if any.
    pub fn serve(&self, mode: Mode) -> Option<(Sequence, Reply)> {
        match look(&self.turn, &self.claim) {
            Look::Posted(call) if claim(&self.claim, call) => Some((call, self.run(call, mode))),
            Look::Aborted(call) if claim(&self.claim, call) => {
                Some((call, self.answer(call, mode)))
            }
            Look::Wrong(seen) => panic!("a look at {seen}"),
            _ => None,
        }
    }

    /// Looks until a call has been served.
    pub fn serve_one(&self, mode: Mode) -> (Sequence, Reply) {
        loop {
            if let Some(served) = self.serve(mode) {
                return served;
            }
            thread::yield_now();
        }
    }
}
