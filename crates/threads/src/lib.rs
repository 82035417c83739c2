//! FastThreads: threads that a program switches itself, at the cost of a few procedure calls.
//!
//! ```text
//!  fork join named scope sleep block
//!         └── run                        what programs call
//!  host                                  processors that have a loop of their own
//!  Mutex Condition Semaphore RwLock Once Local
//!         └── monitor                    one primitive under all of them
//!  processor ── ready thread join        who runs next; a thread's record; its end
//!     ├── team ── place thief            several processors; who takes what from whom
//!     │     └── inbox unbegun latch      the words that they share
//!     ├── watch                          who notices a lone processor that is stuck
//!     ├── awaited                        what comes from outside, such as replies
//!     └── cancel ── home                 who is to end where it waits
//!  switch                                from one stack to another
//!  kernel                                threads, sleep and the clock: the kernel's, or a test's
//!  circle ── warning                     who waits for whom in a circle; who is told of it
//!  whole                                 what a panic must not leave in the middle
//!  stacks ── stack overflow              where stacks come from, and what ends them
//! ```
//!
//! A [run](run()) turns the kernel thread that calls it into a processor of FastThreads, until all
//! of them have ended. In it threads [`fork`] others, wait for each other, and join:
//!
//! ```
//! use std::sync::Arc;
//!
//! use nearcall_threads::{Mutex, fork, run, yield_now};
//!
//! let sum = run(|| {
//!     let sum = Arc::new(Mutex::new(0));
//!     let add = |number| {
//!         let sum = Arc::clone(&sum);
//!         move || {
//!             yield_now(); // Here the others go on.
//!             *sum.lock().unwrap() += number;
//!         }
//!     };
//!     let forked: Vec<_> = (1..=10).map(|number| fork(add(number)).unwrap()).collect();
//!     forked.into_iter().for_each(|thread| thread.join().unwrap());
//!     *sum.lock().unwrap()
//! });
//! assert_eq!(sum.unwrap(), 55);
//! ```
//!
//! Threads of a [`scope()`] may borrow from the stack of the one that forks them.
//!
//! A thread that unwinds, by a panic or a cancel, runs alone on its processor until it has: if its
//! destructors would have to wait (for a lock that another thread has, a join, a time), the process
//! ends, with a message that names the thread and what it would wait for. `yield_now` returns at
//! once then. The standard library counts panics by kernel thread: others that ran meanwhile would
//! be told that they panic ([`std::thread::panicking`]), and poison whatever they have locked. A
//! destructor that needs a lock tries it ([`Mutex::try_lock`]), or forks a thread that waits for
//! it, which begins when this one has unwound:
//!
//! ```
//! use std::sync::Arc;
//!
//! use nearcall_threads::{Mutex, fork, run, yield_now};
//!
//! struct Member(Arc<Mutex<u32>>);
//!
//! impl Drop for Member {
//!     fn drop(&mut self) {
//!         let count = Arc::clone(&self.0);
//!         let leaves = fork(move || *count.lock().unwrap() -= 1);
//!         drop(leaves); // Nobody joins it: it goes on alone.
//!     }
//! }
//!
//! let count = run(|| {
//!     let count = Arc::new(Mutex::new(1));
//!     let member = Member(Arc::clone(&count));
//!     let locked = count.lock().unwrap();
//!     let panics = fork(move || {
//!         let _member = member;
//!         panic!("while another thread has the lock");
//!     });
//!     yield_now();
//!     drop(locked);
//!     assert!(panics.unwrap().join().is_err());
//!     yield_now();
//!     *count.lock().unwrap()
//! });
//! assert_eq!(count.unwrap(), 0);
//! ```
//!
//! Nothing here knows of calls between processes; see `docs/design/0011-fastthreads.md`.

#![warn(missing_docs)]
#![deny(unsafe_op_in_unsafe_fn)]

#[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_os = "linux")))]
compile_error!("FastThreads are written for Linux on x86-64 and aarch64 only: see `switch.rs`");

mod fork;
mod host;
mod run;
mod scope;

mod condition;
mod monitor;
mod mutex;
mod once;
mod rwlock;
mod semaphore;

mod block;
mod local;
mod sleep;

mod awaited;
mod cancel;
mod circle;
mod home;
mod inbox;
mod join;
mod kernel;
mod latch;
mod owned;
mod place;
mod processor;
mod ready;
mod switch;
mod sync;
mod team;
mod thief;
mod thread;
mod unbegun;
mod watch;
mod whole;

mod fork_process;
mod overflow;
mod runs;
mod stack;
mod stacks;

mod error;
mod report;
mod warning;

pub use awaited::{
    Awaited, Enders, Idle, WaitEnd, Word, at_each_switch, identity, is_fastthread, is_hosted,
    stack_end, wait_for,
};
pub use block::block;
pub use cancel::{Unwind, is_cancelled, shield, test_cancel};
pub use condition::{Condition, WaitTimeoutResult};
pub use error::{ForkError, JoinError, LocalError, Outside, Payload, RunError, Title};
pub use fork::{Forked, Named, fork, name, named, number};
pub use host::{Guest, Host, Hosts};
pub use local::Local;
pub use mutex::{Mutex, MutexGuard};
pub use once::Once;
pub use ready::{Policy, Ready};
pub use report::{Report, Waiting};
pub use run::{PROCESSORS_MAX, Setup, run};
pub use rwlock::{ReadGuard, RwLock, WriteGuard};
pub use scope::{Scope, ScopedForked, scope};
pub use semaphore::{Permit, Semaphore};
pub use sleep::{sleep, sleep_until};
pub use stack::{STACK_BYTES_MAX, STACK_BYTES_MIN};

/// Lets every FastThread that is ready on this processor run before the caller goes on.
///
/// # Panics
///
/// If the caller is no FastThread.
///
/// # Cost: no system call; one switch, if a thread is ready.
#[inline]
#[track_caller]
pub fn yield_now() {
    processor::here_for("yield_now").yield_now();
}

/// Every FastThread of this run that has not ended, and what it waits for; in a run with several
/// processors, of those that began on the caller's.
///
/// # Panics
///
/// If the caller is no FastThread.
#[track_caller]
pub fn report() -> Report {
    let processor = processor::here_for("report");
    processor.report(processor.late())
}
