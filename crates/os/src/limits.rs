//! What the system lets this process have, of what importers could use up: descriptors and
//! mappings. Reads limits and raises one; decides nothing.

use std::io;

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, setrlimit};

/// Mappings that a process may have where the system does not tell: what Linux begins with.
const MAPPINGS: u64 = 65_530;

/// Descriptors that a process may have where the system does not tell, as a filter of system calls
/// may forbid it: what Linux begins with.
const DESCRIPTORS: u64 = 1_024;

/// Where it tells.
const MAPPINGS_FILE: &str = "/proc/sys/vm/max_map_count";

/// Raises how many descriptors this process may have (the soft limit, `ulimit -Sn`) to what the
/// system lets it (the hard one). Never lowers it.
///
/// # Errors: the system's word; the limit is what it was.
pub fn raise_descriptors() -> io::Result<()> {
    let Rlimit { current, maximum } = descriptors_told()?;
    if current == maximum {
        return Ok(());
    }
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })?;
    Ok(())
}

/// Whether the system has refused something because this process, or all of them together, have as
/// much as they may.
pub fn is_no_room(error: &io::Error) -> bool {
    let no_room = [Errno::MFILE, Errno::NFILE, Errno::NOMEM];
    Errno::from_io_error(error).is_some_and(|errno| no_room.contains(&errno))
}

/// How many descriptors this process may have now.
pub fn descriptors() -> u64 {
    // `None`: without limit.
    descriptors_told().map_or(DESCRIPTORS, |told| told.current.unwrap_or(u64::MAX))
}

/// By hand, because `rustix` panics where the system does not tell.
fn descriptors_told() -> io::Result<Rlimit> {
    let mut told = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: it writes one `rlimit`, and `told` is one that nobody else uses meanwhile.
    let outcome = unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut told) };
    if outcome != 0 {
        return Err(io::Error::last_os_error());
    }
    let limit = |limit| (limit != libc::RLIM_INFINITY).then_some(limit);
    Ok(Rlimit { current: limit(told.rlim_cur), maximum: limit(told.rlim_max) })
}

/// How many mappings this process may have.
pub fn mappings() -> u64 {
    mappings_told().unwrap_or(MAPPINGS)
}

/// `None`: the system does not tell. By hand, because the standard library seeks.
fn mappings_told() -> Option<u64> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = rustix::fs::openat(CWD, MAPPINGS_FILE, flags, Mode::empty()).ok()?;
    let mut digits = [0; 32];
    let count = rustix::io::read(&file, &mut digits).ok()?;
    str::from_utf8(&digits[..count]).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use rustix::process::getrlimit;

    use super::*;

    #[test]
    fn the_limit_of_descriptors_is_raised_to_the_hard_one_and_not_beyond() {
        let before = getrlimit(Resource::Nofile);
        raise_descriptors().unwrap();
        let after = getrlimit(Resource::Nofile);
        assert_eq!(after, Rlimit { current: before.maximum, ..before });
        raise_descriptors().unwrap();
        assert_eq!(getrlimit(Resource::Nofile), after);
        assert_eq!(descriptors(), after.current.unwrap_or(u64::MAX));
    }

    #[test]
    fn the_system_tells_how_many_mappings_there_may_be() {
        let told = std::fs::read_to_string(MAPPINGS_FILE).unwrap();
        assert_eq!(mappings().to_string(), told.trim());
    }
}
