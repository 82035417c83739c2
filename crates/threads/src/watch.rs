//! A thread that never yields, in a run with one processor: no other processor is there to notice
//! it, so a kernel thread does that all such runs of the process share.
//!
//! ```text
//!                a run begins                  all of them sleep, or none is left
//!   not there ───────────────▶ looks … looks ─────────────────────────────────────▶ parked
//!       ▲                        ▲     a run begins, or goes on that it has left      │ │
//!       │                        └────────────────────────────────────────────────────┘ │
//!       └───────────────────────────── that has lasted for PARKED ──────────────────────┘
//! ```
//!
//! It looks at three words of a processor's own (`peek`), which costs that one nothing. Nobody has
//! switched and somebody was ready for all of `LATE`: that is told and counted, once until the
//! processor switches again.
//!
//! A run that sleeps is left. Who leaves it and who goes on agree on that by one word:
//!
//! ```text
//!            W1 sleeps                  W2 is left
//!   AWAKE ──────────────▶ ASLEEP ────────────────────▶ LEFT
//!     ▲                      │ W3 goes on                │ W3 goes on, and calls the watch back
//!     └──────────────────────┴───────────────────────────┘
//! ```
//!
//! | row | edge | by | order | makes visible | pairs with |
//! |---|---|---|---|---|---|
//! | W1 | AWAKE to ASLEEP | the processor | Relaxed | nothing | - |
//! | W2 | ASLEEP to LEFT | the watch | Relaxed | nothing | - |
//! | W3 | anything to AWAKE | the processor | Relaxed | nothing: LEFT has it take the lock | - |
//! | W4 | load | the watch | Relaxed | nothing | - |
//! | W5 | late: add 1 | the watch | Relaxed | nothing: it tells itself | - |
//! | W6 | late: load | the processor | Relaxed | nothing: as above | - |

use std::mem;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::kernel::{Builder, now};
use crate::sync::{AtomicU32, AtomicU64, ord};
use crate::thief::{LATE, warn_of_late};
use crate::whole::or_abort;

/// While nobody is ready anywhere who has not been told of, it looks so often.
const SELDOM: Duration = Duration::from_millis(100);

/// It ends when it has had nothing to look at for so long.
const PARKED: Duration = Duration::from_secs(5);

const AWAKE: u32 = 0;
const ASLEEP: u32 = 1;
const LEFT: u32 = 2;

/// What the processor and the watch both touch.
#[derive(Debug)]
pub struct Watched {
    state: AtomicU32,
    late: AtomicU64,
}

impl Watched {
    pub fn new() -> Watched {
        Watched { state: AtomicU32::new(AWAKE), late: AtomicU64::new(0) }
    }

    /// The processor sleeps, as `sleep` does.
    pub fn sleep(&self, sleep: impl FnOnce()) {
        self.state.store(ASLEEP, ord!("W1", Relaxed));
        sleep();
        if self.state.swap(AWAKE, ord!("W3", Relaxed)) == LEFT {
            watch().call();
        }
    }

    /// Whether the processor sleeps, so that there is nothing to look at before it says so.
    fn leave(&self) -> bool {
        let (order, failure) = (ord!("W2", Relaxed), ord!("W4", Relaxed));
        match self.state.compare_exchange(ASLEEP, LEFT, order, failure) {
            Ok(_) => true,
            Err(state) => state == LEFT,
        }
    }

    /// How often its processor was found stuck.
    pub fn late(&self) -> u64 {
        self.late.load(ord!("W6", Relaxed))
    }
}

/// Words of a processor that only its kernel thread reads and writes, all others by `peek`.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    /// Changes with each switch, and is what it was before only if `looks` has changed.
    pub until_look: *const usize,
    pub looks: *const usize,
    /// One of them is not 0: a thread is ready.
    pub ready: [*const usize; 2],
}

// SAFETY: addresses of a processor's words; it is freed only when it is watched no more.
unsafe impl Send for Words {}

/// A moment of a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sight {
    until_look: usize,
    looks: usize,
}

impl Words {
    /// Who is where, if somebody is ready. `None` also while the processor looks.
    fn sight(&self) -> Option<Sight> {
        let looks = peek(self.looks);
        let sight = Sight { until_look: peek(self.until_look), looks };
        let has_ready = self.ready.iter().any(|word| peek(*word) != 0);
        (has_ready && peek(self.looks) == looks).then_some(sight)
    }
}

/// What is in a word about now that another kernel thread writes without a thought of this one.
/// Only what is told to people may rest on it.
fn peek(word: *const usize) -> usize {
    let found;
    // SAFETY: the word is of a processor, so mapped and aligned. As far as Rust is to know, the
    // block makes a number up: that it comes from there is the machine's doing, to which a load of
    // an aligned word beside a store is nothing bad. So it races with nothing.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        core::arch::asm!(
            "mov {found}, qword ptr [{word}]",
            word = in(reg) word,
            found = out(reg) found,
            options(nostack, preserves_flags, readonly),
        );
        #[cfg(target_arch = "aarch64")]
        core::arch::asm!(
            "ldr {found}, [{word}]",
            word = in(reg) word,
            found = out(reg) found,
            options(nostack, preserves_flags, readonly),
        );
    }
    found
}

/// A run that is watched.
#[derive(Debug)]
struct Run {
    number: u32,
    words: Words,
    watched: &'static Watched,
    /// What was seen last if somebody was ready, and since when it is so.
    seen: Option<(Sight, Instant)>,
    /// That is too long, and was told.
    is_told: bool,
}

impl Run {
    /// Looks at it. True: a thread has been ready for so long, and nobody has switched.
    fn look(&mut self) -> bool {
        let seen = match self.watched.leave() {
            true => None,
            false => self.words.sight(),
        };
        let Some(sight) = seen else {
            (self.seen, self.is_told) = (None, false);
            return false;
        };
        match self.seen {
            Some((before, since)) if before == sight => {
                let is_late = now().saturating_duration_since(since) >= LATE;
                is_late && !mem::replace(&mut self.is_told, true)
            }
            _ => {
                (self.seen, self.is_told) = (Some((sight, now())), false);
                false
            }
        }
    }

    fn count_late(&self) -> Late {
        let times = self.watched.late.fetch_add(1, ord!("W5", Relaxed)) + 1;
        Late { run: self.number, times }
    }

    /// In how long there will be something to look at, if that can be told.
    fn look_again_in(&self) -> Option<Duration> {
        let is_left = self.watched.state.load(ord!("W4", Relaxed)) == LEFT;
        let is_suspect = self.seen.is_some() && !self.is_told;
        (!is_left).then_some(if is_suspect { LATE } else { SELDOM })
    }
}

/// A run whose processor was found stuck, so many times now.
struct Late {
    run: u32,
    times: u64,
}

/// The runs, and what their kernel thread does.
pub struct Watch {
    runs: Vec<Run>,
    is_there: bool,
    is_parked: bool,
}

static WATCH: Mutex<Watch> = Mutex::new(Watch::new());

static CALLED: Condvar = Condvar::new();

pub(crate) fn watch() -> MutexGuard<'static, Watch> {
    WATCH.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Watch {
    const fn new() -> Watch {
        Watch { runs: Vec::new(), is_there: false, is_parked: false }
    }

    /// In the child of a fork(2), which has neither those runs nor the kernel thread.
    pub fn forget(&mut self) {
        mem::forget(mem::replace(self, Watch::new()));
    }

    /// There is something to look at. Where no kernel thread can be made for it, nobody does before
    /// the next call.
    fn call(&mut self) {
        if mem::take(&mut self.is_parked) {
            CALLED.notify_one();
        } else if !self.is_there {
            let named = Builder::new().name("fastthreads-watch".to_owned());
            self.is_there = named.spawn(|| or_abort(stand)).is_ok();
        }
    }

    /// Looks at all runs. Those that have come to be late.
    fn look(&mut self) -> Vec<Late> {
        let late = self.runs.iter_mut().filter_map(|run| run.look().then(|| run.count_late()));
        late.collect()
    }
}

/// What the kernel thread does.
fn stand() {
    let mut watch = watch();
    loop {
        let late = watch.look();
        if !late.is_empty() {
            drop(watch);
            late.iter().for_each(|late| warn_of_late(late.run, 0, "nobody", late.times));
            watch = self::watch();
            continue;
        }
        let again_in = watch.runs.iter().filter_map(Run::look_again_in).min();
        watch.is_parked = again_in.is_none();
        let waited = CALLED.wait_timeout(watch, again_in.unwrap_or(PARKED));
        watch = waited.unwrap_or_else(PoisonError::into_inner).0;
        // Nobody has called for all that time.
        if mem::take(&mut watch.is_parked) {
            watch.is_there = false;
            return;
        }
    }
}

/// A run is watched until this is dropped.
#[derive(Debug)]
pub struct Watching(u32);

/// A run with one processor begins.
pub fn begin(number: u32, words: Words, watched: &'static Watched) -> Watching {
    let mut watch = watch();
    watch.runs.push(Run { number, words, watched, seen: None, is_told: false });
    watch.call();
    Watching(number)
}

impl Drop for Watching {
    fn drop(&mut self) {
        watch().runs.retain(|run| run.number != self.0);
    }
}
