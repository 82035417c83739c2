//! The wait until somebody exports a name: an import tries again after pauses, each twice as long
//! as the one before.

use std::time::Duration;

use nearcall_os::clock;

use super::deadline::left_ns;
use super::import::Unbound;
use super::interrupt::is_interrupted;
use crate::error::BindError;

/// First pause between two tries.
const PAUSE_MIN: Duration = Duration::from_millis(1);

/// Longest such pause.
const PAUSE_MAX: Duration = Duration::from_millis(20);

/// A wait that is under way.
pub(super) struct Readiness {
    wait: Duration,
    begun_ns: u64,
    ready_ns: u64,
    pause: Duration,
}

impl Readiness {
    /// For so long, and until `until_ns` at the latest.
    pub fn begin(wait: Duration, until_ns: u64) -> Readiness {
        let begun_ns = clock::now_ns();
        let wait_ns = u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX);
        let ready_ns = begun_ns.saturating_add(wait_ns).min(until_ns);
        Readiness { wait, begun_ns, ready_ns, pause: PAUSE_MIN }
    }

    /// When it began, and when it is over.
    pub fn bounds_ns(&self) -> (u64, u64) {
        (self.begun_ns, self.ready_ns)
    }

    /// The pause before the next try, when an import of `name` has failed so; or what is told.
    pub fn pause_after(&mut self, name: &str, failed: Unbound) -> Result<Duration, BindError> {
        let Unbound { error, may_pass } = failed;
        if !may_pass || self.wait.is_zero() {
            return Err(error);
        }
        let left_ns = left_ns(self.ready_ns);
        if left_ns == 0 || is_interrupted() {
            let limit = Duration::from_nanos(self.ready_ns.saturating_sub(self.begun_ns));
            return Err(BindError::NotReady {
                name: name.to_owned(),
                limit,
                last: Box::new(error),
            });
        }
        Ok(self.pause_within(left_ns))
    }

    /// The next pause, of which so much is left.
    pub fn pause_within(&mut self, left_ns: u64) -> Duration {
        let pause = self.pause.min(Duration::from_nanos(left_ns));
        self.pause = (self.pause * 2).min(PAUSE_MAX);
        pause
    }
}
