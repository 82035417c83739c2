//! Items that lie in a server because their iterator waits (design note 0020): they are sent when
//! they are late. Who makes items sets a timer, and wakes nobody.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nearcall_os::poll::Timer;

use super::Housekeeping;
use crate::domain::DomainCore;

/// Token of the timer: no number of a domain's.
pub(super) const TIMER: u64 = 1 << 62;

/// How long items that are made lie in the server, about; and how often it is looked at most.
const LATE: Duration = Duration::from_millis(1);

/// The timer of a domain.
#[derive(Debug, Default)]
pub(super) struct LateItems {
    /// Made when it is set first.
    timer: OnceLock<Timer>,
    is_set: AtomicBool,
    /// It was said that there is none.
    is_missed: AtomicBool,
}

impl Housekeeping {
    /// Somebody makes items: they are looked after a little later.
    ///
    /// # Cost: a locked operation; once in a millisecond a system call.
    pub fn look_after_items(&self) {
        // Relaxed: what is to be found was noted under a lock that who looks takes, too.
        if self.late.is_set.swap(true, Ordering::Relaxed) {
            return;
        }
        if let Err(error) = self.set_timer() {
            // Relaxed: as above.
            self.late.is_set.store(false, Ordering::Relaxed);
            // Once, and not for each batch. Relaxed: as above.
            if !self.late.is_missed.swap(true, Ordering::Relaxed) {
                tracing::warn!(%error, "no timer: items of feeds whose iterators wait may be late");
            }
        }
    }

    fn set_timer(&self) -> std::io::Result<()> {
        let timer = match self.late.timer.get() {
            Some(timer) => timer,
            None => {
                let timer = Timer::new()?;
                self.poller.add(&timer, TIMER)?;
                // Who sets it is the only one that may make it: `is_set` is true.
                self.late.timer.get_or_init(|| timer)
            }
        };
        timer.set(LATE)
    }

    /// The timer says that it is time.
    pub(super) fn send_late_items(&self, core: &DomainCore) {
        if let Some(timer) = self.late.timer.get() {
            timer.drain();
        }
        // Relaxed: who comes from here on sets it again; what came before is looked at.
        self.late.is_set.store(false, Ordering::Relaxed);
        if core.processors.makers.relieve() {
            self.look_after_items();
        }
    }
}
