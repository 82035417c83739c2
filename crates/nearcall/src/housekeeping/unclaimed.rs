//! Calls that no server processor takes, and that nobody waits for who would ring again: captured
//! ones, and those that were posted to be collected later (design note 0003).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::{Housekeeping, Rounds, Watched};
use crate::client::binding::ClientBinding;

/// First time after which captured calls that nobody has claimed are looked after; doubled up to
/// [`CAPTURED_SLICE_MAX`] while there are any.
const CAPTURED_SLICE_MIN: Duration = Duration::from_millis(1);

/// Longest such time.
const CAPTURED_SLICE_MAX: Duration = Duration::from_millis(128);

/// Between two looks at calls that are to be collected later. A procedure that takes long delays
/// one behind it by two of them at most, if a processor is idle.
const POSTED_SLICE: Duration = Duration::from_millis(4);

/// What threads that call have told of.
#[derive(Debug, Default)]
pub(super) struct Unclaimed {
    /// A call was captured since the bindings were last looked through for such.
    has_captured: AtomicBool,
    /// Bindings that have calls to be collected later, or had some lately.
    posting: Mutex<Vec<Weak<ClientBinding>>>,
}

impl Unclaimed {
    fn posting(&self) -> MutexGuard<'_, Vec<Weak<ClientBinding>>> {
        self.posting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Housekeeping {
    /// A call was captured: nobody waits for it who would ring again if its bell was lost.
    ///
    /// # Cost: one swap, and once a millisecond at most a wake-up of this thread.
    pub fn look_after_captured(&self) {
        // AcqRel: pairs with the swap in `look_through_captured`: either that finds the call, or
        // this finds that it is to be begun again.
        if !self.unclaimed.has_captured.swap(true, Ordering::AcqRel) {
            self.waker.wake();
        }
    }

    /// Looks through the bindings for captured calls that nobody has claimed, and rings for them,
    /// for the n-th time. False: there is none.
    fn look_through_captured(&self, times: u32) -> bool {
        // AcqRel: as above.
        self.unclaimed.has_captured.swap(false, Ordering::AcqRel);
        let bindings: Vec<_> = self.watched().values().filter_map(Watched::exporter).collect();
        let mut has_unclaimed = false;
        for binding in bindings {
            has_unclaimed |= binding.look_after_captured(times);
        }
        has_unclaimed
    }

    /// A binding has calls that were posted to be collected later.
    #[cold]
    pub fn look_after_posted(&self, binding: &Weak<ClientBinding>) {
        let mut posting = self.unclaimed.posting();
        if !posting.iter().any(|listed| listed.ptr_eq(binding)) {
            posting.push(Weak::clone(binding));
        }
        drop(posting);
        self.waker.wake();
    }

    /// Has each of these bindings looked at. False: there is none any more.
    fn look_through_posted(&self) -> bool {
        // None is dropped while the list is locked.
        let bindings: Vec<Arc<_>> =
            self.unclaimed.posting().iter().filter_map(Weak::upgrade).collect();
        for binding in &bindings {
            binding.look_after_unattended();
        }
        let is_posting = |listed: &Weak<ClientBinding>| {
            let mut looked_at = bindings.iter();
            match looked_at.find(|binding| Arc::as_ptr(binding) == listed.as_ptr()) {
                Some(binding) => binding.is_looked_after(),
                // It came meanwhile, or it has gone.
                None => listed.strong_count() > 0,
            }
        };
        let mut posting = self.unclaimed.posting();
        posting.retain(is_posting);
        !posting.is_empty()
    }

    /// Looks after calls that are to be collected later, if it is time. How long until it is time
    /// again.
    pub(super) fn look_for_posted(&self, rounds: &mut Rounds) -> Option<Duration> {
        let has_some = || !self.unclaimed.posting().is_empty();
        rounds.look_after(POSTED_SLICE, has_some, || self.look_through_posted())
    }
}

/// When captured calls are to be looked after.
#[derive(Default)]
pub(super) struct Captures {
    /// `None`: there are none that anybody would have to ring for.
    due: Option<Instant>,
    times: u32,
}

impl Captures {
    /// Looks after them if it is time. How long until it is time again.
    pub fn look_after(&mut self, house: &Housekeeping) -> Option<Duration> {
        let now = Instant::now();
        match self.due {
            // Relaxed: the waker was written after it.
            None if house.unclaimed.has_captured.load(Ordering::Relaxed) => {
                self.due = Some(now + CAPTURED_SLICE_MIN);
            }
            Some(due) if due <= now => {
                self.times += 1;
                let slice = CAPTURED_SLICE_MIN * (1 << self.times.min(16));
                let slice = slice.min(CAPTURED_SLICE_MAX);
                self.due = house.look_through_captured(self.times).then(|| now + slice);
                if self.due.is_none() {
                    self.times = 0;
                }
            }
            _ => {}
        }
        self.due.map(|due| due.saturating_duration_since(now))
    }
}
