//! Control groups that freeze what is in them: a stop that no signal tells anybody of, neither the
//! process nor its parent.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Where control groups that can freeze are, in either version, and what freezes them.
const PLACES: [(&str, Version); 3] = [
    ("/sys/fs/cgroup/freezer", Version::First),
    ("/sys/fs/cgroup/unified", Version::Second),
    ("/sys/fs/cgroup", Version::Second),
];

/// Longest that a group may take to freeze, or to go on.
const CHANGE_TIMEOUT: Duration = Duration::from_secs(10);

/// Of control groups.
#[derive(Clone, Copy, Debug)]
enum Version {
    First,
    Second,
}

/// A group of its own for one process. Dropping it thaws it, lets the process go, and removes it.
#[derive(Debug)]
pub struct Freezer {
    group: PathBuf,
    version: Version,
}

impl Freezer {
    /// Puts a process that the test started into a group of its own. `None`: this process cannot
    /// make one that freezes.
    pub fn of(pid: u32) -> Option<Freezer> {
        PLACES.into_iter().find_map(|(place, version)| Freezer::make(place, version, pid).ok())
    }

    fn make(place: &str, version: Version, pid: u32) -> io::Result<Freezer> {
        let group = Path::new(place).join(format!("nearcall-{pid}"));
        fs::create_dir(&group)?;
        let freezer = Freezer { group, version };
        freezer.thaw()?;
        freezer.write("cgroup.procs", &pid.to_string())?;
        Ok(freezer)
    }

    /// Freezes it, and waits until it is.
    pub fn freeze(&self) -> io::Result<()> {
        self.set(true)
    }

    /// Has it go on.
    pub fn thaw(&self) -> io::Result<()> {
        self.set(false)
    }

    fn set(&self, freezes: bool) -> io::Result<()> {
        let (file, word) = match (self.version, freezes) {
            (Version::First, true) => ("freezer.state", "FROZEN"),
            (Version::First, false) => ("freezer.state", "THAWED"),
            (Version::Second, true) => ("cgroup.freeze", "1"),
            (Version::Second, false) => ("cgroup.freeze", "0"),
        };
        self.write(file, word)?;
        let (state, wanted) = match self.version {
            Version::First => ("freezer.state", word.to_owned()),
            Version::Second => ("cgroup.events", format!("frozen {word}")),
        };
        let begin = Instant::now();
        while !fs::read_to_string(self.group.join(state))?.lines().any(|line| line == wanted) {
            if begin.elapsed() > CHANGE_TIMEOUT {
                let why = format!("{state} is not {wanted:?} after {CHANGE_TIMEOUT:?}");
                return Err(io::Error::new(io::ErrorKind::TimedOut, why));
            }
            std::thread::yield_now();
        }
        Ok(())
    }

    /// Never makes the file: one that is not there is a group that cannot freeze.
    fn write(&self, file: &str, text: &str) -> io::Result<()> {
        let mut options = fs::OpenOptions::new();
        io::Write::write_all(&mut options.write(true).open(self.group.join(file))?, text.as_bytes())
    }
}

impl Drop for Freezer {
    fn drop(&mut self) {
        // Whatever of this fails, the process goes on or has ended.
        let _ = self.thaw();
        let above = self.group.parent().map(|above| above.join("cgroup.procs"));
        let processes = fs::read_to_string(self.group.join("cgroup.procs")).unwrap_or_default();
        for (process, above) in processes.lines().zip(above.iter().cycle()) {
            let _ = fs::write(above, process);
        }
        let _ = fs::remove_dir(&self.group);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn who_is_frozen_does_nothing_until_it_is_thawed() {
        let mut command = Command::new("cat");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let Some(freezer) = Freezer::of(child.id()) else {
            drop(child.stdin.take());
            assert!(child.wait().unwrap().success());
            return lacking::lacking("a control group that freezes");
        };
        freezer.freeze().unwrap();
        drop(child.stdin.take());
        for _ in 0..1000 {
            std::thread::yield_now();
            assert!(child.try_wait().unwrap().is_none(), "it has ended");
        }
        freezer.thaw().unwrap();
        assert!(child.wait().unwrap().success());
        let group = freezer.group.clone();
        drop(freezer);
        assert!(!group.exists(), "{}", group.display());
    }
}
