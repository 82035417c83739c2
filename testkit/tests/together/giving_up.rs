//! Feeds that clients give up at whatever moment, while their iterators go on and wait.

// Relaxed: nothing depends on when it is seen.
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use nearcall::CallError;
use testkit::longer::is_late;

/// Threads that give feeds up at once.
const THREADS: u32 = 4;

/// Between two items that are let through.
const PAUSE: Duration = Duration::from_micros(700);

/// Has each of some threads open a feed so many times and give it up, by `give_up`: in how long at
/// most each of its calls is to return, how many items its iterator makes at once, and how many are
/// taken. Meanwhile `let_through` lets iterators make more.
pub fn give_up_at_whatever_moment(
    rounds: u32,
    let_through: impl Fn() + Sync,
    give_up: impl Fn(Duration, u32, usize) + Sync,
) {
    let is_over = AtomicBool::new(false);
    thread::scope(|threads| {
        threads.spawn(|| {
            while !is_over.load(Relaxed) {
                let_through();
                thread::sleep(PAUSE);
            }
        });
        let give_up = &give_up;
        let give_all_up = move |seed: u32| {
            for round in 0..rounds {
                let at = |below: u32| (round * 7 + seed * 3) * 31 % below;
                give_up(Duration::from_micros(at(4_000).into()), at(5), at(7) as usize);
            }
        };
        let all: Vec<_> =
            (0..THREADS).map(|seed| threads.spawn(move || give_all_up(seed))).collect();
        let all: Vec<_> = all.into_iter().map(thread::ScopedJoinHandle::join).collect();
        is_over.store(true, Relaxed);
        all.into_iter().for_each(Result::unwrap);
    });
}

/// Takes so many items of a feed whose calls may come to the end of their time.
pub fn take_in_haste(feed: impl Iterator<Item = Result<u32, CallError>>, count: usize) {
    for item in feed.take(count) {
        match item {
            Ok(_) => {}
            Err(error) => assert!(is_late(&error), "{error}"),
        }
    }
}
