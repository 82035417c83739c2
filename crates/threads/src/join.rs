//! One thread's end: whether it has come, and who waits for it.
//!
//! ```text
//!             end                    take
//!  RUNNING ─────────▶ ENDED ─────────────────▶ (pool)
//!   │   │ join                                   ▲ ▲
//!   │   └──▶ the joiner ──end──▶ ENDED ──take────┘ │
//!   │ detach                                       │
//!   └──────▶ DETACHED ──────────end────────────────┘
//! ```

use std::cell::Cell;

use crate::thread::Thread;

/// The word.
#[derive(Debug)]
pub struct JoinWord(Cell<Joined>);

#[derive(Clone, Copy, Debug)]
enum Joined {
    Running,
    Ended,
    Detached,
    By(&'static Thread),
}

/// What the end of a thread has to do.
#[derive(Debug)]
pub enum End {
    /// Leave the result where it is.
    Keep,
    /// Drop it: nobody wants it.
    Drop,
    /// The same as `Keep`, and make this thread ready.
    Wake(&'static Thread),
}

impl JoinWord {
    pub fn new() -> JoinWord {
        JoinWord(Cell::new(Joined::Running))
    }

    /// A thread begins.
    #[inline(always)]
    pub fn begin(&self) {
        self.0.set(Joined::Running);
    }

    /// The thread has ended; its result is in place.
    #[inline(always)]
    pub fn end(&self) -> End {
        match self.0.replace(Joined::Ended) {
            Joined::Running => End::Keep,
            Joined::By(joiner) => End::Wake(joiner),
            Joined::Detached => End::Drop,
            Joined::Ended => unreachable!("a thread ends once"),
        }
    }

    /// Whether it has ended; if not, `joiner` is made ready when it does.
    #[inline(always)]
    pub fn join(&self, joiner: &'static Thread) -> bool {
        if let Joined::Ended = self.0.get() {
            return true;
        }
        self.0.set(Joined::By(joiner));
        false
    }

    /// Whether it has ended; if not, its result is dropped when it does.
    #[inline(always)]
    pub fn detach(&self) -> bool {
        if let Joined::Ended = self.0.get() {
            return true;
        }
        self.0.set(Joined::Detached);
        false
    }
}
