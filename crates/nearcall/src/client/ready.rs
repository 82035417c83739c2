//! The wait until somebody exports a name: an import tries again after pauses, each twice as long
//! as the one before.

use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use nearcall_os::clock;
use nearcall_os::peer::Process;

use super::deadline::left_ns;
use super::import::Unbound;
use super::interrupt::is_interrupted;
use super::switching;
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
    /// The process that is to export had ended when the last try began.
    has_ended: bool,
}

/// The process that `ready_pidfd` names.
pub(super) fn process(pidfd: &OwnedFd) -> Result<Process, BindError> {
    let unknown = |reason| BindError::System { doing: "look at the process to wait for", reason };
    let process = Process::of_pidfd(pidfd.as_fd()).map_err(unknown)?;
    process.ok_or(BindError::WrongDescriptor { option: "ready_pidfd", wanted: "pidfd" })
}

impl Readiness {
    /// For so long, and until `until_ns` at the latest.
    pub fn begin(wait: Duration, until_ns: u64) -> Readiness {
        let begun_ns = clock::now_ns();
        let wait_ns = u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX);
        let ready_ns = begun_ns.saturating_add(wait_ns).min(until_ns);
        Readiness { wait, begun_ns, ready_ns, pause: PAUSE_MIN, has_ended: false }
    }

    /// When it began, and when it is over.
    pub fn bounds_ns(&self) -> (u64, u64) {
        (self.begun_ns, self.ready_ns)
    }

    /// Waits for the next try, when an import of `name` has failed so, or for the end of the
    /// process that is to export it; or what is told. Whatever that process has exported, or had
    /// others export, is there when it has ended, so it is tried once more then; and if somebody
    /// does, it is waited for as ever.
    pub fn wait_beside(
        &mut self,
        process: Option<&Process>,
        name: &str,
        failed: Unbound,
    ) -> Result<(), BindError> {
        let Some(process) = process else {
            switching::nap(self.pause_after(name, failed)?);
            return Ok(());
        };
        if self.has_ended {
            if let BindError::NoSuchName { .. } = failed.error {
                let (name, status, last) = (name.to_owned(), process.end(), Box::new(failed.error));
                return Err(BindError::ProcessEnded { name, status, last });
            }
            switching::nap(self.pause_after(name, failed)?);
        } else {
            // Also where the wait is over by now, however short it was.
            let waits = failed.may_pass && !self.wait.is_zero();
            self.has_ended = waits && process.has_exited()
                || switching::nap_beside(process, self.pause_after(name, failed)?);
        }
        Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn none() -> Unbound {
        Unbound::from(BindError::NoSuchName { name: "late".to_owned(), tried: Vec::new() })
    }

    /// A process that has ended, and is its parent's to wait for.
    fn ended() -> (std::process::Child, Process) {
        let child = std::process::Command::new("true").spawn().unwrap();
        let process = Process::open(child.id()).unwrap();
        assert!(process.wait_exit(LONG));
        (child, process)
    }

    #[test]
    fn an_end_is_told_however_short_the_wait_is() {
        let (mut child, process) = ended();
        let mut readiness = Readiness::begin(Duration::from_nanos(1), u64::MAX);
        readiness.wait_beside(Some(&process), "late", none()).expect("another try");
        let error = readiness.wait_beside(Some(&process), "late", none()).unwrap_err();
        assert!(matches!(error, BindError::ProcessEnded { .. }), "{error}");
        child.wait().unwrap();
    }

    #[test]
    fn who_exports_and_has_no_time_is_waited_for_after_the_end_as_well() {
        let (mut child, process) = ended();
        let busy = || {
            let (name, reason) = (String::from("late"), String::from("it is starting"));
            Unbound { error: BindError::Peer { name, reason }, may_pass: true }
        };
        let mut readiness = Readiness::begin(Duration::from_millis(50), u64::MAX);
        let error = loop {
            if let Err(error) = readiness.wait_beside(Some(&process), "late", busy()) {
                break error;
            }
        };
        assert!(matches!(error, BindError::NotReady { .. }), "{error}");
        child.wait().unwrap();
    }

    #[test]
    fn an_end_is_told_after_one_more_try() {
        let (mut child, process) = ended();
        let mut readiness = Readiness::begin(LONG, u64::MAX);
        // It may have exported between the try that failed and its end.
        readiness.wait_beside(Some(&process), "late", none()).expect("another try");
        let refused = Unbound::from(BindError::NoIntroduction(String::new()));
        let error = readiness.wait_beside(Some(&process), "late", refused).unwrap_err();
        assert!(matches!(error, BindError::NoIntroduction(_)), "{error}");
        let error = readiness.wait_beside(Some(&process), "late", none()).unwrap_err();
        assert!(matches!(error, BindError::ProcessEnded { .. }), "{error}");
        child.wait().unwrap();
    }
}
