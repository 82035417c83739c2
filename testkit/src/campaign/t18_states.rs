//! T18: the protocol, state by state. Two clients make two calls each; a server with two processors
//! looks, claims, runs and replies; anybody may give up, fall asleep, end and begin again, at any
//! step. Every state that can be reached is visited, and judged.
//!
//! The steps are those of `nearcall-core` itself, on words that a state holds: what is modelled is
//! who takes them, and when. Orders of memory are T14's.

mod step;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use nearcall_core::Sequence;

use super::Setup;
use super::report::{Report, Stopped};

/// Clients, each with one A-stack, and calls that each makes.
pub const CLIENTS: usize = 2;
pub const CALLS: usize = 2;

/// Everything there is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    clients: [Client; CLIENTS],
    processors: [Processor; 2],
    is_alive: bool,
    /// Which life of the server it is.
    life: u8,
    /// Ends that may still come, of the server and of a client.
    server_ends: u8,
    client_ends: u8,
}

/// A client, its binding, and what it was told.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Client {
    turn: u32,
    claim: u32,
    /// What the A-stack holds: the call whose arguments or results they are.
    message: u8,
    doing: Doing,
    /// Of this binding.
    sequence: u8,
    life: u8,
    /// Which call is next or under way.
    call: u8,
    told: [Told; CALLS],
    effects: [u8; CALLS],
}

/// What a client does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Doing {
    /// It has no binding.
    Unbound,
    /// Its A-stack is free.
    Idle,
    /// It waits, awake.
    Waits,
    /// It sleeps on the turn word.
    Sleeps {
        /// It was woken, and does not know yet.
        is_woken: bool,
    },
    /// The server holds its A-stack, and it waits no more.
    Captured,
    /// It has ended.
    Gone,
}

/// What a client was told of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Told {
    Nothing,
    Returned,
    DidNotRun,
    MayHaveRun,
}

/// What a processor of the server is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Processor {
    Idle,
    /// It has seen a call, given up or not, and is to claim it.
    Looked {
        client: u8,
        sequence: u8,
        is_given_up: bool,
    },
    /// It has claimed it, and is to run it.
    Claimed {
        client: u8,
        sequence: u8,
    },
    /// It is to reply.
    Ran {
        client: u8,
        sequence: u8,
    },
    /// It has replied, and is to wake the client.
    Wakes {
        client: u8,
    },
}

/// What is wrong with the server, so that the model has something to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    None,
    /// It runs what it has seen before it claims it.
    RunsUnclaimed,
    /// It wakes nobody.
    WakesNobody,
    /// It forgets what was given up before it was claimed.
    KeepsGivenUp,
}

/// What was visited.
#[derive(Debug, Default)]
pub struct Space {
    pub states: usize,
    pub finished: usize,
    /// The first wrong state, and how it is wrong.
    pub wrong: Option<String>,
}

/// Fewer are not all.
const STATES_MIN: u64 = 1_000_000;

/// Visits all.
pub fn run(_: &Setup) -> Result<Report, Stopped> {
    let mut report = Report::of("states");
    let space = explore(Flaw::None);
    report.count = space.states as u64;
    report.figure(format!("{} of them finished", space.finished));
    report.figure("from each the end can be reached");
    report.violations.extend(space.wrong);
    report.at_least("states", space.states as f64, STATES_MIN as f64, "");
    Ok(report)
}

/// Visits every state that can be reached, judges it, and looks whether the end can be reached from
/// it: what is captured comes back, and who sleeps wakes.
pub fn explore(flaw: Flaw) -> Space {
    let mut known = HashMap::new();
    let mut states = vec![State::first()];
    known.insert(states[0].clone(), 0u32);
    // For each state those that lead to it.
    let mut edges: Vec<(u32, u32)> = Vec::new();
    let (mut finished, mut at) = (Vec::new(), 0);
    while at < states.len() {
        let state = states[at].clone();
        if let Err(fault) = state.judge() {
            return Space { states: at, wrong: Some(fault), ..Space::default() };
        }
        if state.is_finished() {
            finished.push(at as u32);
        }
        for next in state.steps(flaw) {
            let next = match next {
                Ok(next) => next,
                Err(fault) => {
                    return Space { states: at, wrong: Some(fault), ..Space::default() };
                }
            };
            let number = match known.entry(next) {
                Entry::Occupied(entry) => *entry.get(),
                Entry::Vacant(entry) => {
                    states.push(entry.key().clone());
                    *entry.insert(states.len() as u32 - 1)
                }
            };
            edges.push((number, at as u32));
        }
        at += 1;
    }
    let wrong = stuck(&states, edges, &finished);
    Space { states: states.len(), finished: finished.len(), wrong }
}

/// A state that no end can be reached from.
fn stuck(states: &[State], mut edges: Vec<(u32, u32)>, finished: &[u32]) -> Option<String> {
    edges.sort_unstable();
    let mut reaches_end = vec![false; states.len()];
    let mut to_visit = finished.to_vec();
    while let Some(state) = to_visit.pop() {
        if std::mem::replace(&mut reaches_end[state as usize], true) {
            continue;
        }
        let from = edges.partition_point(|edge| edge.0 < state);
        let into = edges[from..].iter().take_while(|edge| edge.0 == state);
        to_visit.extend(into.map(|edge| edge.1));
    }
    let stuck = reaches_end.iter().position(|reaches| !reaches)?;
    Some(format!("no end can be reached from {:?}", states[stuck]))
}

impl State {
    fn first() -> State {
        let client = Client {
            turn: 0,
            claim: 0,
            message: 0,
            doing: Doing::Idle,
            sequence: 0,
            life: 0,
            call: 0,
            told: [Told::Nothing; CALLS],
            effects: [0; CALLS],
        };
        State {
            clients: [client.clone(), client],
            processors: [Processor::Idle; 2],
            is_alive: true,
            life: 0,
            server_ends: 1,
            client_ends: 1,
        }
    }

    /// Every client has made all its calls, or has ended, and no A-stack is held.
    fn is_finished(&self) -> bool {
        let is_done = |client: &Client| match client.doing {
            Doing::Gone => true,
            Doing::Idle | Doing::Unbound => client.call as usize == CALLS,
            _ => false,
        };
        self.clients.iter().all(is_done)
            && self.processors.iter().all(|each| *each == Processor::Idle)
    }

    /// What must hold in every state.
    fn judge(&self) -> Result<(), String> {
        for (number, client) in self.clients.iter().enumerate() {
            for call in 0..CALLS {
                let wrong = match (client.told[call], client.effects[call]) {
                    (_, 2..) => "ran more than once",
                    (Told::Returned, 0) => "returned and has not run",
                    (Told::DidNotRun, 1) => "is said not to have run, and has",
                    _ => continue,
                };
                return Err(format!("call {call} of client {number} {wrong}: {self:?}"));
            }
            if client.sleeps_on_reply() && !self.is_about_to_wake(number) {
                return Err(format!("client {number} sleeps on its reply: {self:?}"));
            }
        }
        Ok(())
    }

    fn is_about_to_wake(&self, number: usize) -> bool {
        let wakes = Processor::Wakes { client: number as u8 };
        // A server that ended in between wakes nobody: its client's housekeeping does.
        self.processors.contains(&wakes) || !self.is_served(number)
    }

    /// The client's binding is to the life that there is.
    fn is_served(&self, number: usize) -> bool {
        self.is_alive && self.clients[number].life == self.life
    }
}

impl Client {
    fn sequence(&self) -> Sequence {
        Sequence::from_u32(self.sequence.into())
    }
}
