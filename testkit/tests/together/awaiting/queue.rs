//! Tasks that wait for an A-stack, first come, first woken (design note 0022).

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::Waker;
use std::thread;
use std::time::{Duration, Instant};

use futures::future::join_all;
use nearcall::CallError;
use testkit::longer::is_so_beside;
use testkit::world::{Kind, World, in_world};

use super::{
    ASTACKS, LONG_MS, SERVER, Sleeper, all_under_way, block_on, check, falls_asleep, poll,
    wait_until_none_is_captured,
};

/// Longest until who is to be woken is.
const WOKEN: Duration = Duration::from_secs(30);

#[test]
fn who_is_dropped_in_the_queue_for_an_astack_lets_the_next_one_have_it() {
    check(|world| {
        let server = world.serve("awaiting");
        let client = world.import(&server);
        let calls = client.awaiting();
        let mut all = all_under_way(|number| calls.add(number, 1));
        let (mut first, mut second) = (Box::pin(calls.null()), Box::pin(calls.null()));
        assert!(falls_asleep(first.as_mut()));
        let sleeper = Sleeper::new();
        let waker = Waker::from(Arc::clone(&sleeper));
        assert!(poll(second.as_mut(), &waker).is_pending());
        assert_eq!(sleeper.wakes.load(Relaxed), 0);
        // The first is woken, and does not look.
        block_on(all.remove(0)).unwrap();
        drop(first);
        assert_eq!(sleeper.wakes.load(Relaxed), 1);
        block_on(second).unwrap();
    });
}

#[test]
fn who_is_woken_for_an_astack_and_does_not_look_is_passed_by() {
    check(|world| {
        let server = world.serve("awaiting");
        let client = world.import(&server);
        let calls = client.awaiting();
        let all = all_under_way(|number| calls.add(number, 1));
        let (mut first, mut second) = (Box::pin(calls.null()), Box::pin(calls.null()));
        assert!(falls_asleep(first.as_mut()));
        let sleeper = Sleeper::new();
        let waker = Waker::from(Arc::clone(&sleeper));
        assert!(poll(second.as_mut(), &waker).is_pending());
        // As if the first one's task waited for the second before it looks.
        assert!(block_on(join_all(all)).iter().all(Result::is_ok));
        let end = Instant::now() + WOKEN;
        while sleeper.wakes.load(Relaxed) == 0 {
            assert!(Instant::now() < end, "A-stacks are free, and nobody is woken");
            thread::park_timeout(WOKEN);
        }
        block_on(second).unwrap();
        block_on(first).unwrap();
    });
}

#[test]
fn who_waits_for_an_astack_has_one_that_was_captured_later() {
    check(|world| {
        let server = world.serve("awaiting");
        let client = world.import(&server);
        let calls = client.awaiting();
        let is_captured_later = |milliseconds| {
            let begin = Instant::now();
            let mut all: Vec<_> =
                (0..ASTACKS).map(|_| Box::pin(calls.doze(milliseconds))).collect();
            let all_sleep = all.iter_mut().all(|call| falls_asleep(call.as_mut()));
            let sleeper = Sleeper::new();
            let waker = Waker::from(Arc::clone(&sleeper));
            let mut waiting = pin!(calls.null());
            let waits = poll(waiting.as_mut(), &waker).is_pending();
            drop(all);
            let is_before_the_replies =
                begin.elapsed() < Duration::from_millis(u64::from(milliseconds));
            let end = Instant::now() + WOKEN;
            // It does not look until it is woken: a look would find what was captured.
            while waits && sleeper.wakes.load(Relaxed) == 0 {
                assert!(Instant::now() < end, "A-stacks are free, and nobody is woken");
                thread::park_timeout(WOKEN);
            }
            if waits {
                block_on(waiting).unwrap();
            }
            wait_until_none_is_captured(&client);
            all_sleep && waits && is_before_the_replies
        };
        assert!(is_so_beside(50, is_captured_later));
    });
}

#[test]
fn a_deadline_ends_the_wait_for_an_astack() {
    in_world(Kind::Processes, SERVER, |world: &World| {
        let server = world.serve("awaiting");
        let client = world.import(&server);
        let calls = client.awaiting();
        let mut all: Vec<_> = (0..ASTACKS).map(|_| Box::pin(calls.doze(LONG_MS))).collect();
        all.iter_mut().for_each(|call| assert!(falls_asleep(call.as_mut())));
        let hasty = client.with_deadline(Duration::from_millis(10));
        let begin = Instant::now();
        let error = block_on(hasty.awaiting().null()).unwrap_err();
        assert!(matches!(error, CallError::NoAStack { .. }), "{error}");
        assert!(begin.elapsed() >= Duration::from_millis(10));
    });
}
