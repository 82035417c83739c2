//! The steps of the model: what each of those who take part may do next.

use std::sync::atomic::AtomicU32;

use nearcall_core::termination::{Outcome, Proof, classify};
use nearcall_core::turn::{self, Bury, Look, Poll, Reply};
use nearcall_core::{Mode, Sequence, claim};

use super::{CALLS, CLIENTS, Client, Doing, Flaw, Processor, State, Told};

/// A step leads to a state, or finds something wrong.
type Next = Result<State, String>;

impl State {
    /// Every state that one step leads to.
    pub fn steps(&self, flaw: Flaw) -> Vec<Next> {
        let mut next = Vec::new();
        for number in 0..CLIENTS {
            self.client_steps(number, &mut next);
            self.binding_steps(number, &mut next);
        }
        if self.is_alive {
            for processor in 0..self.processors.len() {
                self.processor_steps(processor, flaw, &mut next);
            }
        }
        self.life_steps(&mut next);
        next
    }

    fn with_client(&self, number: usize, change: impl FnOnce(&mut Client)) -> State {
        let mut next = self.clone();
        change(&mut next.clients[number]);
        next
    }

    fn wrong(&self, what: &str) -> Next {
        Err(format!("{what}: {self:?}"))
    }

    /// What a client does about its call.
    fn client_steps(&self, number: usize, next: &mut Vec<Next>) {
        let client = &self.clients[number];
        match client.doing {
            Doing::Idle if (client.call as usize) < CALLS => next.push(self.post(number)),
            Doing::Waits => {
                next.extend([self.doze(number), self.abort(number)].into_iter().flatten());
                next.extend(self.collect(number));
            }
            // Woken, or a slice of its sleep is over.
            Doing::Sleeps { .. } => next.push(self.rouse(number)),
            Doing::Captured => {
                let (turn, sequence) = (AtomicU32::new(client.turn), client.sequence());
                if turn::is_idle(&turn, sequence) {
                    next.push(Ok(self.with_client(number, |client| client.doing = Doing::Idle)));
                }
            }
            _ => {}
        }
    }

    fn post(&self, number: usize) -> Next {
        let client = &self.clients[number];
        let turn = AtomicU32::new(client.turn);
        let sequence = client.sequence().next();
        if turn::post(&turn, sequence).is_err() {
            return self.wrong("a free A-stack is not idle");
        }
        Ok(self.with_client(number, |client| {
            client.turn = turn.into_inner();
            client.sequence += 1;
            client.message = client.call;
            client.doing = Doing::Waits;
        }))
    }

    /// `None`: the reply is there.
    fn doze(&self, number: usize) -> Option<Next> {
        let turn = AtomicU32::new(self.clients[number].turn);
        match turn::doze(&turn, self.clients[number].sequence()) {
            Ok(()) => Some(Ok(self.with_client(number, |client| {
                client.turn = turn.into_inner();
                client.doing = Doing::Sleeps { is_woken: false };
            }))),
            Err(Poll::Replied { .. } | Poll::Dead) => None,
            Err(other) => Some(self.wrong(&format!("a client that dozes found {other:?}"))),
        }
    }

    fn rouse(&self, number: usize) -> Next {
        let turn = AtomicU32::new(self.clients[number].turn);
        match turn::rouse(&turn, self.clients[number].sequence()) {
            Ok(()) | Err(Poll::Replied { .. } | Poll::Dead) => {
                Ok(self.with_client(number, |client| {
                    client.turn = turn.into_inner();
                    client.doing = Doing::Waits;
                }))
            }
            Err(other) => self.wrong(&format!("a client that wakes up found {other:?}")),
        }
    }

    /// `None`: the reply is there.
    fn abort(&self, number: usize) -> Option<Next> {
        let turn = AtomicU32::new(self.clients[number].turn);
        match turn::abort(&turn, self.clients[number].sequence()) {
            Ok(()) => Some(Ok(self.with_client(number, |client| {
                client.turn = turn.into_inner();
                client.tell(Told::MayHaveRun);
                client.doing = Doing::Captured;
            }))),
            Err(Poll::Replied { .. } | Poll::Dead) => None,
            Err(other) => Some(self.wrong(&format!("a client that gives up found {other:?}"))),
        }
    }

    /// `None`: there is no reply.
    fn collect(&self, number: usize) -> Option<Next> {
        let client = &self.clients[number];
        let turn = AtomicU32::new(client.turn);
        match turn::poll(&turn, client.sequence()) {
            Poll::Pending => None,
            Poll::Replied { .. } if client.message != client.call => {
                Some(self.wrong("a client has the results of another call"))
            }
            Poll::Replied { .. } => Some(Ok(self.with_client(number, |client| {
                client.tell(Told::Returned);
                client.doing = Doing::Idle;
            }))),
            Poll::Dead => Some(Ok(self.with_client(number, Client::classify))),
            other => Some(self.wrong(&format!("a client that waits found {other:?}"))),
        }
    }

    /// What a client's housekeeping does once the server's life is over.
    fn binding_steps(&self, number: usize, next: &mut Vec<Next>) {
        let client = &self.clients[number];
        match client.doing {
            Doing::Gone => {}
            Doing::Unbound if self.is_alive && (client.call as usize) < CALLS => {
                let life = self.life;
                next.push(Ok(self.with_client(number, |client| client.bind(life))));
            }
            _ if self.is_served(number) => {}
            // No call is outstanding that anybody waits for.
            Doing::Idle | Doing::Captured => {
                next.push(Ok(self.with_client(number, |client| client.doing = Doing::Unbound)));
            }
            Doing::Waits | Doing::Sleeps { .. } => {
                let turn = AtomicU32::new(client.turn);
                let buried = turn::bury(&turn, client.sequence());
                next.push(Ok(self.with_client(number, |client| {
                    client.turn = turn.into_inner();
                    if buried == Bury::WakeClient {
                        client.doing = Doing::Sleeps { is_woken: true };
                    }
                })));
            }
            Doing::Unbound => {}
        }
    }

    fn processor_steps(&self, at: usize, flaw: Flaw, next: &mut Vec<Next>) {
        match self.processors[at] {
            Processor::Idle => {
                for number in (0..CLIENTS).filter(|number| self.is_looked_at(*number)) {
                    next.extend(self.look(at, number, flaw));
                    next.extend(self.demote(number));
                }
            }
            Processor::Looked { client, sequence, is_given_up } => {
                next.push(self.claim(at, (client, sequence), is_given_up, flaw));
            }
            Processor::Claimed { client, sequence } => {
                next.push(self.enter(at, client, sequence));
            }
            Processor::Ran { client, sequence } => next.push(self.reply(at, client, sequence)),
            Processor::Wakes { client } => {
                let mut woken = self.with_client(client.into(), |client| {
                    if matches!(client.doing, Doing::Sleeps { .. }) && flaw != Flaw::WakesNobody {
                        client.doing = Doing::Sleeps { is_woken: true };
                    }
                });
                woken.processors[at] = Processor::Idle;
                next.push(Ok(woken));
            }
        }
    }

    fn is_looked_at(&self, number: usize) -> bool {
        let has_binding = !matches!(self.clients[number].doing, Doing::Unbound | Doing::Gone);
        has_binding && self.is_served(number)
    }

    /// `None`: there is nothing to see.
    fn look(&self, at: usize, number: usize, flaw: Flaw) -> Option<Next> {
        let client = &self.clients[number];
        let (turn, claim) = (AtomicU32::new(client.turn), AtomicU32::new(client.claim));
        let (sequence, is_given_up) = match turn::look(&turn, &claim) {
            Look::Nothing => return None,
            Look::Aborted(_) if flaw == Flaw::KeepsGivenUp => return None,
            Look::Posted(sequence) => (sequence, false),
            Look::Aborted(sequence) => (sequence, true),
            Look::Wrong(seen) => {
                return Some(self.wrong(&format!("a server that looks saw {seen}")));
            }
        };
        let sequence = sequence.as_u32() as u8;
        let mut next = self.clone();
        next.processors[at] = Processor::Looked { client: number as u8, sequence, is_given_up };
        Some(Ok(next))
    }

    /// From here on the client is to ring. `None`: nothing changes.
    fn demote(&self, number: usize) -> Option<Next> {
        let client = &self.clients[number];
        let turn = AtomicU32::new(client.turn);
        let claimed = claim::claimed(&AtomicU32::new(client.claim));
        let is_demoted = turn::demote(&turn, claimed, Mode::Hot);
        is_demoted.then(|| Ok(self.with_client(number, |client| client.turn = turn.into_inner())))
    }

    fn claim(&self, at: usize, call: (u8, u8), is_given_up: bool, flaw: Flaw) -> Next {
        let (client, sequence) = call;
        let word = AtomicU32::new(self.clients[usize::from(client)].claim);
        let runs_anyway = flaw == Flaw::RunsUnclaimed && !is_given_up;
        let is_ours = claim::claim(&word, sequence_of(sequence)) || runs_anyway;
        let mut next = self.with_client(client.into(), |client| client.claim = word.into_inner());
        next.processors[at] = match (is_ours, is_given_up) {
            (false, _) => Processor::Idle,
            (true, false) => Processor::Claimed { client, sequence },
            (true, true) => Processor::Ran { client, sequence },
        };
        Ok(next)
    }

    /// The procedure runs: on whatever the A-stack holds now.
    fn enter(&self, at: usize, client: u8, sequence: u8) -> Next {
        let mut next = self.with_client(client.into(), |client| {
            client.effects[usize::from(client.message)] += 1;
        });
        next.processors[at] = Processor::Ran { client, sequence };
        Ok(next)
    }

    fn reply(&self, at: usize, client: u8, sequence: u8) -> Next {
        let turn = AtomicU32::new(self.clients[usize::from(client)].turn);
        let mode = if at == 0 { Mode::Bell } else { Mode::Hot };
        let found = turn::reply(&turn, sequence_of(sequence), mode);
        let is_gone = self.clients[usize::from(client)].doing == Doing::Gone;
        if matches!(found, Reply::Wrong(_) | Reply::Dead) && !is_gone {
            return self.wrong(&format!("a reply found {found:?}"));
        }
        let mut next = self.with_client(client.into(), |client| client.turn = turn.into_inner());
        next.processors[at] = match found {
            Reply::WakeClient => Processor::Wakes { client },
            _ => Processor::Idle,
        };
        Ok(next)
    }

    /// Ends and beginnings.
    fn life_steps(&self, next: &mut Vec<Next>) {
        if self.is_alive && self.server_ends > 0 {
            let mut ended = self.clone();
            ended.server_ends -= 1;
            ended.is_alive = false;
            ended.processors = [Processor::Idle; 2];
            next.push(Ok(ended));
        }
        if !self.is_alive {
            let mut begun = self.clone();
            begun.is_alive = true;
            begun.life += 1;
            next.push(Ok(begun));
        }
        for number in 0..CLIENTS {
            if self.client_ends > 0 && self.clients[number].doing != Doing::Gone {
                let mut ended = self.with_client(number, |client| client.doing = Doing::Gone);
                ended.client_ends -= 1;
                next.push(Ok(ended));
            }
        }
    }
}

impl Client {
    /// What it is told of its call; the next one is due.
    fn tell(&mut self, told: Told) {
        self.told[usize::from(self.call)] = told;
        self.call += 1;
    }

    /// Its call is buried, and its server's end proven.
    fn classify(&mut self) {
        let turn = turn::read(&AtomicU32::new(self.turn));
        let was_claimed = claim::was_claimed(&AtomicU32::new(self.claim), self.sequence());
        self.tell(match classify(turn, self.sequence(), was_claimed, Proof::Died) {
            Outcome::Delivered => Told::Returned,
            Outcome::NotExecuted => Told::DidNotRun,
            Outcome::CallFailed => Told::MayHaveRun,
        });
        self.doing = Doing::Unbound;
    }

    /// A new binding: new segments, to the life that there is.
    fn bind(&mut self, life: u8) {
        (self.turn, self.claim, self.sequence, self.life) = (0, 0, 0, life);
        self.doing = Doing::Idle;
    }

    /// Its reply is there, and nobody has woken it.
    pub fn sleeps_on_reply(&self) -> bool {
        let turn = AtomicU32::new(self.turn);
        self.doing == Doing::Sleeps { is_woken: false } && turn::is_idle(&turn, self.sequence())
    }
}

fn sequence_of(sequence: u8) -> Sequence {
    Sequence::from_u32(sequence.into())
}
