//! Hostile peers that do something as fast as they can for a while.

use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

use nearcall_abi::message::Message;
use nearcall_os::futex;
use rustix::thread::futex as system;

use super::super::hand::{self, HandClient};
use super::{BURNING, Found, Script, Target};

/// Floods that go past the bell.
pub const ELSEWHERE: &[&Script] = &[
    &Script { name: "a flood of messages", run: |t| burn(t, |client, _| message(client)) },
    &Script { name: "binds without end", run: binds },
    &Script { name: "calls without end", run: calls },
];

/// Floods at the bell, which all clients of one user share.
pub const AT_THE_BELL: &[&Script] = &[
    &Script { name: "a flood of bells", run: |t| burn(t, |client, _| client.ring()) },
    &Script { name: "a flood of wakes", run: |t| burn(t, |client, _| wake(client)) },
    &Script { name: "waiters moved away", run: |t| burn(t, |client, _| requeue(client)) },
    &Script { name: "waiters before the server", run: wait_first },
    &Script { name: "a gate that always sleeps", run: |t| burn(t, |client, _| gate(client, 1)) },
    &Script { name: "a gate of noise", run: |t| burn(t, |client, any| gate(client, any.u32(..))) },
    &Script { name: "a forged owner of the gate", run: |t| burn(t, |client, _| forge(client)) },
    &Script { name: "bells of others", run: |t| burn(t, lanes) },
    &Script { name: "noise in heads and bell", run: |t| burn(t, scribble) },
];

/// Binds, and does it over and over again.
fn burn(target: &Target, act: impl Fn(&HandClient, &mut fastrand::Rng)) -> Found {
    let client = HandClient::bind(&target.path()).map_err(|error| error.to_string())?;
    let mut chances = fastrand::Rng::with_seed(11);
    let begin = Instant::now();
    let mut times = 0u64;
    while begin.elapsed() < BURNING {
        for _ in 0..16 {
            act(&client, &mut chances);
            times += 1;
        }
    }
    if times < 100 { Err(format!("only {times} times")) } else { Ok(None) }
}

fn wake(client: &HandClient) {
    futex::wake_all(&client.bell_line().gate);
}

/// Moves whoever waits at the gate to a word that nobody wakes.
fn requeue(client: &HandClient) {
    let line = client.bell_line();
    // Refused if nobody waits.
    let _ = system::requeue(&line.gate, system::Flags::empty(), 0, u32::MAX >> 1, &line.reserved);
}

/// Waits at the gate as the server does, from two threads and time after time, so that a wake of
/// one alone would reach one of these.
fn wait_first(target: &Target) -> Found {
    let client = HandClient::bind(&target.path()).map_err(|error| error.to_string())?;
    let gate = &client.bell_line().gate;
    let begin = Instant::now();
    let wait = || {
        let mut times = 0u32;
        while begin.elapsed() < BURNING {
            // SeqCst: by hand, nothing is to depend on a row of the table.
            futex::wait(gate, gate.load(SeqCst), Duration::from_millis(1));
            times += 1;
        }
        times
    };
    let times: u32 = std::thread::scope(|threads| {
        let waiters: Vec<_> = (0..2).map(|_| threads.spawn(wait)).collect();
        waiters.into_iter().map(|waiter| waiter.join().expect("a waiter")).sum()
    });
    if times < 100 { Err(format!("only {times} times")) } else { Ok(None) }
}

fn gate(client: &HandClient, word: u32) {
    // SeqCst: by hand, nothing is to depend on a row of the table.
    client.bell_line().gate.store(word, SeqCst);
}

/// Says that process 1 owns the gate and waits for it to let go.
fn forge(client: &HandClient) {
    let gate = &client.bell_line().gate;
    // SeqCst: as above.
    gate.store(1, SeqCst);
    let at_once = system::Timespec { tv_sec: 0, tv_nsec: 0 };
    // It is refused, or the time is over.
    let _ = system::lock_pi(gate, system::Flags::empty(), Some(&at_once));
    client.ring();
}

fn lanes(client: &HandClient, chances: &mut fastrand::Rng) {
    let line = client.bell_line();
    // SeqCst: as above.
    line.lanes[chances.usize(..line.lanes.len())].store(chances.u64(..), SeqCst);
    line.gate.fetch_or(2, SeqCst);
}

/// Any word of what the client can write, but the words that would end its binding at once.
fn scribble(client: &HandClient, chances: &mut fastrand::Rng) {
    let spans = [&client.heads, &client.requests, &client.bell];
    let span = spans[chances.usize(..3)].span_mut().expect("the client's to write");
    span.store_u32(chances.usize(..span.as_span().bytes() / 4) * 4, chances.u32(..));
}

fn message(client: &HandClient) {
    // A full socket is not the server's fault.
    let _ = hand::send(&client.stream, &hand::packet(&Message::Look), &[]);
}

fn binds(target: &Target) -> Found {
    let begin = Instant::now();
    let mut bound = 0;
    while begin.elapsed() < BURNING {
        bound += u32::from(HandClient::bind(&target.path()).is_ok());
    }
    if bound == 0 { Err("not one bind".to_owned()) } else { Ok(None) }
}

/// Keeps every A-stack of one class posted.
fn calls(target: &Target) -> Found {
    let client = HandClient::bind(&target.path()).map_err(|error| error.to_string())?;
    let first = hand::astack_of("null");
    let mut sequences = [0u32; 4];
    let begin = Instant::now();
    while begin.elapsed() < BURNING {
        for (astack, sequence) in (first..).zip(&mut sequences) {
            if *sequence == 0 || client.await_reply(astack, *sequence, Duration::ZERO) {
                *sequence += 1;
                let words = hand::words_of("null", *sequence, 0);
                client.post(astack, words);
            }
        }
    }
    if sequences[0] < 10 { Err(format!("{sequences:?} calls only")) } else { Ok(None) }
}
