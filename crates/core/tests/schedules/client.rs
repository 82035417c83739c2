//! A client: calls, dozes, gives up, and is hung up on. As `crates/nearcall/src/client` does.

use std::sync::atomic::Ordering::Relaxed;

use shuttle::rand::{Rng, thread_rng};

use crate::bell::{has_sleeper, ring, ring_gate};
use crate::claim::was_claimed;
use crate::termination::{Outcome, Proof, classify};
use crate::turn::{
    Bury, Mode, Phase, Poll, Sequence, TurnWord, abort, bury, doze, is_idle, poll, post, rouse,
};
use crate::world::{ASTACKS, AStack, Binding, Told, World};

/// Stands in an A-stack's message where a call was refused.
pub const REFUSED: u32 = 1_000;

/// The arguments of a call.
pub fn arguments(sequence: Sequence) -> u32 {
    10 + sequence.as_u32()
}

/// Its results.
pub fn results(sequence: Sequence) -> u32 {
    20 + sequence.as_u32()
}

/// Makes so many calls, on whatever A-stack is free.
pub fn call_all(world: &World, number: usize, calls: u32) -> Vec<(usize, Sequence, Told)> {
    let binding = &world.bindings[number];
    let mut made = Vec::new();
    for _ in 0..calls {
        let first = thread_rng().gen_range(0..ASTACKS);
        let mut indices = (0..ASTACKS).map(|more| (first + more) % ASTACKS);
        let is_free = |index: &usize| {
            let astack = &binding.astacks[*index];
            is_idle(&astack.turn, Sequence::from_u32(astack.sequence.load(Relaxed)))
        };
        // All captured: a caller would wait.
        let Some(index) = indices.find(is_free) else {
            continue;
        };
        let astack = &binding.astacks[index];
        let sequence = Sequence::from_u32(astack.sequence.load(Relaxed)).next();
        let call = Call { world, binding, astack, sequence };
        let Some(told) = call.make(thread_rng().gen_range(0..4) == 0) else {
            break;
        };
        made.push((index, sequence, told));
    }
    made
}

/// Waits for the server to hang up, and buries what is outstanding then.
pub fn keep_house(world: &World, number: usize) {
    let binding = &world.bindings[number];
    let mut socket = binding.socket.lock().unwrap();
    while !socket.has_server_hung_up {
        socket = binding.hung_up.wait(socket).unwrap();
    }
    drop(socket);
    binding.is_open_at_client.store(0, Relaxed);
    hang_up(binding);
    for astack in &binding.astacks {
        let sequence = Sequence::from_u32(astack.sequence.load(Relaxed));
        if bury(&astack.turn, sequence) == Bury::WakeClient {
            astack.futex.wake_all();
        }
    }
}

/// From here on nothing that the server sends arrives.
fn hang_up(binding: &Binding) {
    binding.socket.lock().unwrap().has_client_hung_up = true;
}

struct Call<'w> {
    world: &'w World,
    binding: &'w Binding,
    astack: &'w AStack,
    sequence: Sequence,
}

impl Call<'_> {
    /// What the caller is told; `None`: the binding is known to be revoked, nothing was posted.
    fn make(&self, gives_up: bool) -> Option<Told> {
        let Call { binding, astack, sequence, .. } = *self;
        if binding.is_open_at_client.load(Relaxed) == 0 {
            return None;
        }
        astack.message.store(arguments(sequence), Relaxed);
        astack.sequence.store(sequence.as_u32(), Relaxed);
        if post(&astack.turn, sequence).expect("the A-stack is free") == Mode::Bell {
            self.ring();
        }
        Some(if gives_up { self.give_up() } else { self.wait() })
    }

    fn ring(&self) {
        let World { lanes, watcher, resident, .. } = self.world;
        if ring(&watcher.word, &lanes[0], self.binding.lane) {
            if has_sleeper(&resident.word) && ring_gate(&resident.word) {
                resident.parked.wake_all();
            } else {
                watcher.parked.wake_all();
            }
        }
    }

    fn wait(&self) -> Told {
        let Call { astack, sequence, .. } = *self;
        loop {
            match poll(&astack.turn, sequence) {
                Poll::Pending => {}
                Poll::Replied { .. } => return self.collect(),
                Poll::Dead => return self.classify(),
                Poll::Wrong(seen) => panic!("{seen} while a call is waited for"),
            }
            if self.binding.is_open_at_client.load(Relaxed) == 0 {
                hang_up(self.binding);
                bury(&astack.turn, sequence);
            } else if doze(&astack.turn, sequence).is_ok() {
                // Whoever buries after this look finds a sleeper.
                if self.binding.is_open_at_client.load(Relaxed) == 1 {
                    let asleep = TurnWord::new(sequence, Phase::PostedAsleep);
                    astack.futex.wait(&astack.turn, asleep.0);
                }
                let _ = rouse(&astack.turn, sequence);
            }
        }
    }

    fn give_up(&self) -> Told {
        match abort(&self.astack.turn, self.sequence) {
            Ok(()) => {
                self.ring();
                Told::GivenUp
            }
            Err(Poll::Replied { .. }) => self.collect(),
            Err(Poll::Dead) => self.classify(),
            Err(other) => panic!("{other:?} instead of a call to give up"),
        }
    }

    fn collect(&self) -> Told {
        match self.astack.message.load(Relaxed) {
            REFUSED => Told::DidNotRun,
            found => {
                assert_eq!(found, results(self.sequence));
                Told::Returned
            }
        }
    }

    /// It was buried, because the server has hung up: which it does when it has said that it takes
    /// no more calls.
    fn classify(&self) -> Told {
        let Call { binding, astack, sequence, .. } = *self;
        assert!(binding.socket.lock().unwrap().is_told, "a hang-up without a word");
        let dead = TurnWord::new(sequence, Phase::Dead);
        let was_claimed = was_claimed(&astack.claim, sequence);
        let outcome = classify(dead, sequence, was_claimed, Proof::Revoked);
        assert_eq!(outcome, Outcome::NotExecuted);
        Told::DidNotRun
    }
}
