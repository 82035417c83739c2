//! What a process holds, has run and has in memory, as `/proc` tells. Where it does not tell, that
//! is an error: a figure of nothing is below every limit.

use std::fmt;
use std::fs;
use std::io;
use std::time::{Duration, Instant};

use nix::time::clock_getcpuclockid;
use nix::unistd::Pid;

/// What a process holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// Open descriptors.
    pub descriptors: usize,
    /// Mappings of our segments.
    pub segments: usize,
}

/// What a process holds that it is not to hold any more, or why nobody can tell.
#[derive(Debug)]
pub enum Still {
    /// This, and less before.
    Held {
        /// At last.
        now: Held,
        /// What it was to hold again.
        before: Held,
    },
    /// It cannot be looked at, as if it has ended.
    Unknown(io::Error),
}

/// For how long a process has run.
#[derive(Debug)]
pub struct Run(Duration);

impl Held {
    /// By a process.
    ///
    /// # Errors: it has ended, or is another user's.
    pub fn by(pid: u32) -> io::Result<Held> {
        let maps = maps_of(pid)?;
        let segments = maps.lines().filter(|line| line.contains("memfd:nearcall")).count();
        let descriptors = fs::read_dir(format!("/proc/{pid}/fd"))?;
        let descriptors = descriptors.collect::<io::Result<Vec<_>>>()?.len();
        Ok(Held { descriptors, segments })
    }

    /// Waits until a process holds no more than this again, and a segment that a bind may leave
    /// ready for the next.
    pub fn again(self, pid: u32, longest: Duration) -> Result<(), Still> {
        let begin = Instant::now();
        loop {
            let now = Held::by(pid).map_err(Still::Unknown)?;
            if now.descriptors <= self.descriptors + 1 && now.segments <= self.segments + 1 {
                return Ok(());
            }
            if begin.elapsed() > longest {
                return Err(Still::Held { now, before: self });
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl fmt::Display for Still {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Still::Held { now, before } => write!(f, "{now:?} is held, {before:?} before"),
            Still::Unknown(error) => write!(f, "nobody can tell what is held: {error}"),
        }
    }
}

impl Run {
    /// By all threads that a process has and had.
    ///
    /// # Errors: it has ended.
    pub fn of(pid: u32) -> io::Result<Run> {
        let clock = clock_getcpuclockid(Pid::from_raw(pid as i32))?;
        Ok(Run(clock.now()?.into()))
    }

    /// Nanoseconds that it has run since `before`.
    pub fn ns_since(&self, before: &Run) -> u64 {
        (self.0 - before.0).as_nanos() as u64
    }
}

/// The mappings of a process, a line each.
///
/// # Errors: it has ended: the kernel shows none then.
pub fn maps_of(pid: u32) -> io::Result<String> {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps"))?;
    match maps.is_empty() {
        true => Err(io::Error::other(format!("process {pid} has ended"))),
        false => Ok(maps),
    }
}

/// Memory of a process that is its own, KiB.
pub fn resident_kb(pid: u32) -> io::Result<u64> {
    status_kb(pid, "RssAnon:")
}

/// Memory of a process that it shares with others, KiB.
pub fn shared_kb(pid: u32) -> io::Result<u64> {
    status_kb(pid, "RssShmem:")
}

fn status_kb(pid: u32, key: &str) -> io::Result<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix(key));
    let kb = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    kb.ok_or_else(|| io::Error::other(format!("process {pid} has no {key}")))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn of_this_process_all_is_known() {
        let own = std::process::id();
        assert!(Held::by(own).unwrap().descriptors > 2);
        assert!(resident_kb(own).unwrap() > 0);
        shared_kb(own).unwrap();
        let before = Run::of(own).unwrap();
        let begin = Instant::now();
        while Run::of(own).unwrap().ns_since(&before) == 0 {
            assert!(begin.elapsed() < Duration::from_secs(10), "this thread has not run");
        }
    }

    #[test]
    fn of_a_process_that_has_ended_nothing_is_known() {
        let mut ended = Command::new("true").spawn().unwrap();
        let pid = ended.id();
        // Not waited for: its number is its own.
        let begin = Instant::now();
        while Held::by(pid).is_ok() {
            assert!(begin.elapsed() < Duration::from_secs(10), "it has not ended");
        }
        assert!(resident_kb(pid).is_err());
        assert!(shared_kb(pid).is_err());
        let held = Held { descriptors: 3, segments: 0 };
        assert!(matches!(held.again(pid, Duration::ZERO), Err(Still::Unknown(_))));
        ended.wait().unwrap();
        assert!(Run::of(pid).is_err());
    }

    #[test]
    fn what_a_thread_has_run_that_has_ended_is_known() {
        let before = Run::of(std::process::id()).unwrap();
        let spends = || {
            let begin = nearcall_os::clock::thread_ns();
            while nearcall_os::clock::thread_ns() - begin < 20_000_000 {}
        };
        std::thread::spawn(spends).join().unwrap();
        let ns = Run::of(std::process::id()).unwrap().ns_since(&before);
        assert!(ns >= 20_000_000, "{ns}");
    }
}
