//! Circles: threads each of which waits for what the next one has, while others still run, sleep or
//! wait for a reply. Nobody else would notice: the run goes on, and those threads never do.
//!
//! ```text
//!   thread 1 ──▶ lock that thread 2 has ──▶ thread 2 ──▶ end of thread 1 ──▶ thread 1
//! ```
//!
//! Looked for in debug builds only, where a thread begins to wait: a circle comes into being by its
//! last wait, because what somebody waits for is handed to who waits first, and that one goes on.
//! So each is told once, at once, and no lock is suspected for being held long. What several
//! threads could bring about, such as a signal, a permit, or the end of many readers, is no part
//! of a circle. A scope is while one thread is left in it; if it comes to that by an end, when both
//! wait already, nobody looks, and the circle is not told.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::ptr::NonNull;
use std::sync::{MutexGuard, PoisonError};

use crate::kernel::Mutex;
use crate::processor::Processor;
use crate::report::{Waited, Waiting};
use crate::thread::Thread;
use crate::warning::warn;

/// Threads that wait for what one other thread has, by their addresses.
pub type Waits = BTreeMap<usize, Wait>;

/// One of them.
pub struct Wait {
    number: u64,
    name: Option<String>,
    waited: NonNull<dyn Waited>,
}

// SAFETY: what is waited for is borrowed by the thread until it is taken out of the list, and asked
// for its holder and its description only, which any processor of the run may ask for.
unsafe impl Send for Wait {}

static WAITS: Mutex<Waits> = Mutex::new(Waits::new());

pub fn waits() -> MutexGuard<'static, Waits> {
    WAITS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Wait {
    fn waited(&self) -> &dyn Waited {
        // SAFETY: it is in the list, so the thread still borrows it; the caller has the list.
        unsafe { self.waited.as_ref() }
    }

    /// As a report says it.
    fn line(&self) -> Waiting {
        let waits_for = Some(self.waited().describe());
        Waiting { number: self.number, name: self.name.clone(), waits_for }
    }
}

/// A thread of the caller's processor begins to wait. Tells of the circle that it closes, if any.
pub fn begin(processor: &Processor, thread: &Thread, waited: NonNull<dyn Waited>) {
    let name = thread.rare.borrow().name.as_deref().map(str::to_owned);
    let wait = Wait { number: thread.number.get(), name, waited };
    let told = {
        let mut waits = waits();
        let Some(holder) = wait.waited().holder() else { return };
        let address = thread.address();
        // Where there are other processors, one may have handed it over already.
        if holder == address && !processor.is_alone() {
            return;
        }
        waits.insert(address, wait);
        closed_by(&waits, address, holder).map(|circle| text(&waits, &circle))
    };
    if let Some(text) = told {
        warn(&text);
    }
}

/// It does not wait any more.
pub fn end(thread: &Thread) {
    waits().remove(&thread.address());
}

/// The threads of the circle from `first`, which waits for `holder`, back to it.
fn closed_by(waits: &Waits, first: usize, holder: usize) -> Option<Vec<usize>> {
    let mut circle = vec![first];
    let mut at = holder;
    while at != first {
        let next = waits.get(&at)?.waited().holder()?;
        circle.push(at);
        // What it waits for is its own already; or this is a circle of others, told before.
        if next == at || circle.len() > waits.len() {
            return None;
        }
        at = next;
    }
    Some(circle)
}

fn text(waits: &Waits, circle: &[usize]) -> String {
    let mut text = "FastThreads wait for each other in a circle and will not go on".to_owned();
    for wait in circle.iter().filter_map(|address| waits.get(address)) {
        // A string takes whatever is written.
        let _ = write!(text, "\n{}", wait.line());
    }
    text
}
