//! A thread that never yields: others move, that is counted, and a warning says so.

mod hearing;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

use nearcall_threads::{Setup, fork, report};

use crate::hearing::{heard, listen};

/// How often the first thread's processor is found stuck, at least.
const TIMES: u64 = 5;

#[test]
fn a_thread_that_never_yields_is_told_of_each_time_that_it_was_late_twice_as_often() {
    listen();
    let late = Setup::default().processors(2).run(|| {
        let mut late = 0;
        while late < TIMES {
            // Long enough for the other processor to fall asleep.
            thread::sleep(Duration::from_millis(5));
            let begun = Arc::new(AtomicBool::new(false));
            let theirs = Arc::clone(&begun);
            let other = fork(move || {
                theirs.store(true, SeqCst);
                report().late()
            });
            while !begun.load(SeqCst) {
                std::hint::spin_loop();
            }
            late = other.unwrap().join().unwrap();
        }
        late
    });
    let warnings = heard("has not yielded");
    assert_eq!(warnings.len() as u32, late.unwrap().ilog2() + 1, "{warnings:#?}");
    let first = "a FastThread on processor 1 of run 1 has not yielded for 10 ms or more: \
                 processor 2 begins what waits there (time 1); what has begun waits on";
    assert_eq!(warnings[0], first);
}
