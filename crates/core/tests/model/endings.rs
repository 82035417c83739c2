//! Calls that do not end well: given up, buried, or left behind by a death.

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use loom::sync::Arc;
use loom::thread;

use crate::claim::{Taken, claim, take, was_claimed};
use crate::sync::{AtomicU32, light_fence};
use crate::termination::{Outcome, Proof, classify};
use crate::turn::{
    Bury, Look, Mode, Phase, Poll, Reply, TurnWord, abort, bury, doze, is_idle, look, may_run,
    poll, post, read, reply,
};
use crate::world::{AStack, arguments, call, explore, results};

/// The client gives up while the server replies: the call is aborted or replied to, not both, and
/// the A-stack comes back and serves again.
pub fn abort_against_reply() {
    explore(3, || {
        let astack = AStack::new(Phase::IdleHot);
        let server = {
            let astack = Arc::clone(&astack);
            thread::spawn(move || {
                let first = astack.serve_one(Mode::Hot).1;
                assert_eq!(astack.serve_one(Mode::Hot).0, call(2));
                first
            })
        };
        astack.put_arguments(call(1));
        post(&astack.turn, call(1)).unwrap();
        let aborted = abort(&astack.turn, call(1));
        match aborted {
            Ok(()) => {
                while !is_idle(&astack.turn, call(1)) {
                    thread::yield_now();
                }
                let left = astack.message.load(Relaxed);
                assert!(left == arguments(call(1)) || left == results(call(1)));
                assert_eq!(left == results(call(1)), astack.runs.load(Relaxed) == 1);
            }
            Err(other) => {
                assert_eq!(other, Poll::Replied { mode: Mode::Hot });
                astack.expect_results(call(1));
            }
        }
        astack.put_arguments(call(2));
        post(&astack.turn, call(2)).unwrap();
        let replied = server.join().unwrap();
        assert_eq!(replied == Reply::Aborted, aborted.is_ok());
        astack.expect_results(call(2));
    });
}

/// Housekeeping declares the server dead while it replies and the client sleeps: the client wakes
/// with one of the two, and a reply that came first is not lost.
pub fn bury_against_reply() {
    explore(2, || {
        let astack = AStack::new(Phase::IdleHot);
        astack.put_arguments(call(1));
        post(&astack.turn, call(1)).unwrap();
        let server = {
            let astack = Arc::clone(&astack);
            thread::spawn(move || astack.serve(Mode::Hot))
        };
        let housekeeping = {
            let astack = Arc::clone(&astack);
            thread::spawn(move || {
                let buried = bury(&astack.turn, call(1));
                if buried == Bury::WakeClient {
                    astack.futex.wake_all();
                }
                buried
            })
        };
        let seen = match doze(&astack.turn, call(1)) {
            Ok(()) => {
                let asleep = TurnWord::new(call(1), Phase::PostedAsleep);
                astack.futex.wait(&astack.turn, asleep.0);
                poll(&astack.turn, call(1))
            }
            Err(other) => other,
        };
        let is_replied = seen == Poll::Replied { mode: Mode::Hot };
        if is_replied {
            astack.expect_results(call(1));
        } else {
            assert_eq!(seen, Poll::Dead);
        }
        let replied = server.join().unwrap().map(|served| served.1);
        match housekeeping.join().unwrap() {
            Bury::Ended(idle) => {
                assert!(is_replied && idle == TurnWord::new(call(1), Phase::IdleHot));
                assert!(matches!(replied, Some(Reply::ClientAwake | Reply::WakeClient)));
            }
            _ => assert!(matches!(replied, None | Some(Reply::Dead))),
        }
    });
}

/// The server dies after each of its steps: what the client concludes from the two words is what
/// happened.
pub fn death_at_any_step() {
    for steps in 0..=4 {
        explore(6, move || die_after(steps));
    }
}

fn die_after(steps: u32) {
    let astack = AStack::new(Phase::IdleHot);
    let has_died = Arc::new(AtomicU32::new(0));
    astack.put_arguments(call(1));
    post(&astack.turn, call(1)).unwrap();
    let server = {
        let (astack, has_died) = (Arc::clone(&astack), Arc::clone(&has_died));
        thread::spawn(move || {
            live(&astack, steps);
            // The kernel's notice, which is later than all that the dead domain wrote.
            has_died.store(1, Release);
        })
    };
    while has_died.load(Acquire) == 0 {
        thread::yield_now();
    }
    let was_claimed = was_claimed(&astack.claim, call(1));
    let outcome = classify(read(&astack.turn), call(1), was_claimed, Proof::Died);
    match steps {
        0 | 1 => assert_eq!(outcome, Outcome::NotExecuted),
        2 | 3 => assert_eq!(outcome, Outcome::CallFailed),
        _ => {
            assert_eq!(outcome, Outcome::Delivered);
            astack.expect_results(call(1));
        }
    }
    assert!(outcome != Outcome::NotExecuted || astack.runs.load(Relaxed) == 0);
    server.join().unwrap();
}

/// A server that lives for so many steps.
fn live(astack: &AStack, steps: u32) {
    if steps >= 1 {
        assert_eq!(look(&astack.turn, &astack.claim), Look::Posted(call(1)));
    }
    if steps >= 2 {
        assert!(claim(&astack.claim, call(1)));
    }
    if steps >= 3 {
        astack.runs.fetch_add(1, Relaxed);
        astack.message.store(results(call(1)), Relaxed);
    }
    if steps >= 4 {
        assert_eq!(reply(&astack.turn, call(1), Mode::Hot), Reply::ClientAwake);
    }
}

/// The server revokes the binding while a call is posted: if it says that it takes no more calls,
/// one that is buried after that did not run and will not, whoever claimed it.
pub fn revoke_against_take() {
    explore(3, || {
        let astack = AStack::new(Phase::IdleHot);
        let is_open = Arc::new(AtomicU32::new(1));
        let has_said = Arc::new(AtomicU32::new(0));
        let processor = {
            let (astack, is_open) = (Arc::clone(&astack), Arc::clone(&is_open));
            thread::spawn(move || {
                let Look::Posted(call) = look(&astack.turn, &astack.claim) else {
                    return;
                };
                match take(&astack.claim, call, || is_open.load(Relaxed) == 1) {
                    Taken::Run => assert_eq!(astack.run(call, Mode::Hot), Reply::ClientAwake),
                    Taken::Refuse => _ = reply(&astack.turn, call, Mode::Bell),
                    Taken::Not => unreachable!("there is one processor"),
                }
            })
        };
        let revoker = {
            let (astack, has_said) = (Arc::clone(&astack), Arc::clone(&has_said));
            thread::spawn(move || {
                is_open.store(0, Relaxed);
                // The heavy half of the fence.
                light_fence();
                if !may_run(&astack.turn, &astack.claim) {
                    has_said.store(1, Release);
                }
            })
        };
        astack.put_arguments(call(1));
        post(&astack.turn, call(1)).unwrap();
        let is_told = has_said.load(Acquire) == 1;
        if is_told && bury(&astack.turn, call(1)) == Bury::ClientAwake {
            let dead = TurnWord::new(call(1), Phase::Dead);
            let was_claimed = was_claimed(&astack.claim, call(1));
            let outcome = classify(dead, call(1), was_claimed, Proof::Revoked);
            processor.join().unwrap();
            assert_eq!((outcome, astack.runs.load(Relaxed)), (Outcome::NotExecuted, 0));
        } else {
            processor.join().unwrap();
        }
        revoker.join().unwrap();
    });
}
