//! Calls that end well: arguments go, results come, once.

use core::sync::atomic::Ordering::Relaxed;

use loom::sync::Arc;
use loom::thread;

use crate::turn::{Mode, Phase, Poll, TurnWord, doze, poll, post, rouse};
use crate::world::{AStack, call, explore};

/// One A-stack, twice: results overwrite arguments in place, and new arguments the results.
pub fn two_calls_in_a_row() {
    explore(3, || {
        let astack = AStack::new(Phase::IdleHot);
        let server = {
            let astack = Arc::clone(&astack);
            thread::spawn(move || {
                for n in 1..=2 {
                    assert_eq!(astack.serve_one(Mode::Hot).0, call(n));
                }
            })
        };
        for n in 1..=2 {
            astack.put_arguments(call(n));
            assert_eq!(post(&astack.turn, call(n)), Ok(Mode::Hot));
            spin(&astack, n);
            astack.expect_results(call(n));
        }
        server.join().unwrap();
    });
}

fn spin(astack: &AStack, n: u32) {
    loop {
        match poll(&astack.turn, call(n)) {
            Poll::Pending => thread::yield_now(),
            Poll::Replied { .. } => return,
            other => panic!("{other:?}"),
        }
    }
}

/// The client goes to sleep while the server replies: it is woken, or stays awake.
pub fn doze_against_reply() {
    explore(4, || {
        let astack = AStack::new(Phase::IdleHot);
        let server = {
            let astack = Arc::clone(&astack);
            thread::spawn(move || astack.serve_one(Mode::Bell))
        };
        astack.put_arguments(call(1));
        post(&astack.turn, call(1)).unwrap();
        match doze(&astack.turn, call(1)) {
            Ok(()) => {
                let asleep = TurnWord::new(call(1), Phase::PostedAsleep);
                astack.futex.wait(&astack.turn, asleep.0);
                assert_eq!(poll(&astack.turn, call(1)), Poll::Replied { mode: Mode::Bell });
            }
            Err(other) => assert_eq!(other, Poll::Replied { mode: Mode::Bell }),
        }
        astack.expect_results(call(1));
        server.join().unwrap();
    });
}

/// The client's slice of sleep is over, and it polls again.
pub fn rouse_against_reply() {
    explore(4, || {
        let astack = AStack::new(Phase::IdleHot);
        let server = {
            let astack = Arc::clone(&astack);
            thread::spawn(move || astack.serve_one(Mode::Hot))
        };
        astack.put_arguments(call(1));
        post(&astack.turn, call(1)).unwrap();
        if doze(&astack.turn, call(1)).is_ok() && rouse(&astack.turn, call(1)).is_ok() {
            spin(&astack, 1);
        }
        astack.expect_results(call(1));
        server.join().unwrap();
    });
}

/// Two processors of the server look at one call: one of them runs it.
pub fn two_processors_one_call() {
    explore(6, || {
        let astack = AStack::new(Phase::IdleHot);
        astack.put_arguments(call(1));
        post(&astack.turn, call(1)).unwrap();
        let server = {
            let astack = Arc::clone(&astack);
            thread::spawn(move || astack.serve(Mode::Hot).is_some())
        };
        let here = astack.serve(Mode::Hot).is_some();
        let there = server.join().unwrap();
        assert!(here != there);
        assert_eq!(astack.runs.load(Relaxed), 1);
    });
}

/// Two processors, and a client that posts again at once: a processor that comes late finds a call
/// or nothing, never a fault, and never runs a call that was run.
pub fn two_processors_two_calls() {
    explore(2, || {
        let astack = AStack::new(Phase::IdleHot);
        let server = |astack: &Arc<AStack>| {
            let astack = Arc::clone(astack);
            thread::spawn(move || astack.serve(Mode::Hot).is_some())
        };
        astack.put_arguments(call(1));
        post(&astack.turn, call(1)).unwrap();
        let servers = [server(&astack), server(&astack)];
        spin(&astack, 1);
        astack.expect_results(call(1));
        astack.put_arguments(call(2));
        post(&astack.turn, call(2)).unwrap();
        let served = servers.map(|server| u32::from(server.join().unwrap()));
        let served = served[0] + served[1];
        assert!(served >= 1);
        assert_eq!(astack.runs.load(Relaxed), served);
    });
}
