//! A thread that never yields, in a run with one processor: that is counted, and a warning says so;
//! also after the run has slept, and in the child of a fork(2). A run that sleeps is left alone.

mod hearing;

use std::fs;
use std::hint::spin_loop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

use nearcall_threads::{Policy, Ready, Setup, fork, report, run, sleep, yield_now};

use crate::hearing::{heard, listen};

/// How often a thread is found that does not yield.
const TIMES: u64 = 5;

/// Who has not noticed by then never will.
const NEVER: Duration = Duration::from_secs(60);

/// Does not yield, while another thread is ready, until its processor was found stuck so often.
fn be_stuck_until(late: u64) {
    let other = fork(|| ()).unwrap();
    let begun = Instant::now();
    while report().late() < late {
        assert!(begun.elapsed() < NEVER, "nobody notices a thread that does not yield");
        spin_loop();
    }
    other.join().unwrap();
}

/// The thread that became ready last runs first.
#[derive(Default)]
struct Last(Vec<Ready>);

impl Policy for Last {
    fn add(&mut self, thread: Ready) {
        self.0.push(thread);
    }

    fn next(&mut self) -> Option<Ready> {
        self.0.pop()
    }
}

/// A run whose only thread does not yield again until it is told to.
fn be_alone_until(is_told: &AtomicBool) -> u64 {
    yield_now();
    while !is_told.load(SeqCst) {
        spin_loop();
    }
    report().late()
}

/// How often the kernel thread that watches runs has slept.
fn sleeps_of_the_watch() -> u64 {
    let tasks = fs::read_dir("/proc/self/task").unwrap().map(|task| task.unwrap().path());
    let named = |file, path: &PathBuf| fs::read_to_string(path.join(file)).unwrap();
    let watch = tasks.filter(|task| named("comm", task).starts_with("fastthreads-wat"));
    let status = watch.map(|task| named("status", &task)).next().unwrap();
    let line = status.lines().find(|line| line.starts_with("voluntary_ctxt_switches:"));
    line.unwrap().split_whitespace().next_back().unwrap().parse().unwrap()
}

#[test]
fn a_thread_that_never_yields_on_one_processor_is_noticed_and_one_that_sleeps_is_not() {
    listen();
    let late = run(|| {
        let is_told = Arc::new(AtomicBool::new(false));
        let theirs = Arc::clone(&is_told);
        // It does not yield either, but keeps nobody waiting.
        let by_policy = Setup::default().policy(Last::default);
        let alone = thread::spawn(move || by_policy.run(move || be_alone_until(&theirs)));
        (1..=TIMES).for_each(be_stuck_until);
        is_told.store(true, SeqCst);
        assert_eq!(alone.join().unwrap().unwrap(), 0);
        report().late()
    });
    // Or more: it may not run when it has been noticed.
    let late = late.unwrap();
    assert!(late >= TIMES, "{late}");
    let warnings = heard("has not yielded");
    assert_eq!(warnings.len() as u32, late.ilog2() + 1, "{warnings:#?}");
    let first = "a FastThread on processor 1 of run 1 has not yielded for 10 ms or more: \
                 nobody begins what waits there (time 1); what has begun waits on";
    assert_eq!(warnings[0], first);

    let (before, after) = run(|| {
        // Whoever looks has left this run when it goes on.
        sleep(Duration::from_millis(500));
        let before = sleeps_of_the_watch();
        sleep(Duration::from_secs(2));
        let after = sleeps_of_the_watch();
        be_stuck_until(1);
        (before, after)
    })
    .unwrap();
    // It would be 20 if it looked all the time: it looks when the run goes on, and when it sleeps.
    assert!(after - before <= 5, "{} looks at a run that sleeps", after - before);
    Setup::default().policy(Last::default).run(|| be_stuck_until(1)).unwrap();
    assert_eq!(code_of_child(|| run(|| be_stuck_until(1)).unwrap()), Some(0));
}

/// What the child of a fork(2) says that does this, if it ends by itself.
fn code_of_child(main: impl Fn()) -> Option<i32> {
    // SAFETY: the child calls what allocates, which glibc allows after a fork.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let code = if catch_unwind(AssertUnwindSafe(main)).is_ok() { 0 } else { 1 };
        // SAFETY: ends the child without what the parent would do at its end.
        unsafe { libc::_exit(code) };
    }
    let mut status = 0;
    // SAFETY: waits for a child of ours.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status))
}
