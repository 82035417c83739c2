//! Sockets that were there before this process: whoever started it listens on them, and hands them
//! down (systemd's socket activation, `sd_listen_fds(3)`).
//!
//! ```text
//! LISTEN_PID   the process that they are for
//! LISTEN_FDS   how many there are, from descriptor 3 on
//! ```

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::net::SocketAddrUnix;

/// The first descriptor that is handed down (`SD_LISTEN_FDS_START`).
const FIRST: RawFd = 3;

/// A socket that was handed down for a path. As long as it lives nobody else gets another one.
#[derive(Debug)]
pub struct Activated {
    socket: OwnedFd,
    path: PathBuf,
}

/// The paths of those that live.
static TAKEN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

impl Activated {
    /// The socket for this path; `None` if none was handed down.
    ///
    /// # Errors: `AlreadyExists` if it is taken; else what the kernel says.
    pub fn take(path: &Path) -> io::Result<Option<Activated>> {
        let Some(socket) = handed_down().find_map(|number| duplicate_if_at(number, path)) else {
            return Ok(None);
        };
        let (socket, path) = (socket?, path.to_owned());
        let mut taken = taken();
        if taken.contains(&path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        taken.push(path.clone());
        Ok(Some(Activated { socket, path }))
    }

    /// Another descriptor of it.
    pub fn socket(&self) -> io::Result<OwnedFd> {
        self.socket.try_clone()
    }
}

impl Drop for Activated {
    fn drop(&mut self) {
        taken().retain(|path| *path != self.path);
    }
}

fn taken() -> MutexGuard<'static, Vec<PathBuf>> {
    TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Descriptors that were handed down to this process.
fn handed_down() -> impl Iterator<Item = RawFd> {
    let count = count().unwrap_or(0);
    FIRST..FIRST.saturating_add_unsigned(count)
}

/// Why nothing is taken of what was handed down to somebody, in words; `None`: it is, or nothing
/// was.
pub fn why_nothing_is_taken() -> Option<String> {
    count().err()
}

fn count() -> Result<u32, String> {
    let [pid, count] = ["LISTEN_PID", "LISTEN_FDS"].map(std::env::var_os);
    count_by(pid.as_deref(), count.as_deref(), std::process::id())
}

/// How many were handed down to the process `own`, or what says that none were.
fn count_by(pid: Option<&OsStr>, count: Option<&OsStr>, own: u32) -> Result<u32, String> {
    let number = |text: &OsStr| text.to_str()?.parse::<u32>().ok();
    match (pid, count) {
        (None, _) => Ok(0),
        (Some(pid), _) if number(pid) != Some(own) => {
            Err(format!("LISTEN_PID is {pid:?}, and this is process {own}"))
        }
        (Some(_), None) => Err("LISTEN_FDS is not set".to_owned()),
        (Some(_), Some(count)) => {
            number(count).ok_or_else(|| format!("LISTEN_FDS is {count:?}, which is no count"))
        }
    }
}

/// A descriptor of ours for the socket that this number stands for, if that is bound to the path.
/// The number itself stays open, for whoever else looks at what was handed down, but not for the
/// programs that this one starts.
fn duplicate_if_at(number: RawFd, path: &Path) -> Option<io::Result<OwnedFd>> {
    // SAFETY: it is asked about a number, which need not be open, and touches no memory.
    let duplicate = unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, FIRST) };
    if duplicate < 0 {
        let error = io::Error::last_os_error();
        let is_closed = error.raw_os_error() == Some(libc::EBADF);
        return (!is_closed).then_some(Err(error));
    }
    // SAFETY: the kernel has opened it just now, so that nobody else has it.
    let duplicate = unsafe { OwnedFd::from_raw_fd(duplicate) };
    if !is_at(&duplicate, path) {
        return None;
    }
    // SAFETY: as above.
    unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) };
    Some(Ok(duplicate))
}

/// Whether a socket is bound to the file at the path, by whatever name.
fn is_at(socket: impl AsFd, path: &Path) -> bool {
    let address = rustix::net::getsockname(socket).ok();
    let address = address.and_then(|address| SocketAddrUnix::try_from(address).ok());
    let Some(bound) = address.as_ref().and_then(SocketAddrUnix::path_bytes) else {
        return false;
    };
    let file = |path: &Path| {
        let file = std::fs::symlink_metadata(path).ok()?;
        Some((file.dev(), file.ino()))
    };
    let bound = Path::new(OsStr::from_bytes(bound));
    file(bound).is_some_and(|bound| Some(bound) == file(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_takes_nothing_is_told_by_which_variable() {
        let count = |pid: Option<&'static str>, count: Option<&'static str>| {
            count_by(pid.map(OsStr::new), count.map(OsStr::new), 12)
        };
        assert_eq!(count(None, Some("2")), Ok(0));
        assert_eq!(count(Some("12"), Some("2")), Ok(2));
        for (pid, fds, why) in [
            (Some("7"), Some("2"), r#"LISTEN_PID is "7", and this is process 12"#),
            (Some("none"), Some("2"), r#"LISTEN_PID is "none", and this is process 12"#),
            (Some("12"), Some("two"), r#"LISTEN_FDS is "two", which is no count"#),
            (Some("12"), None, "LISTEN_FDS is not set"),
        ] {
            assert_eq!(count(pid, fds), Err(why.to_owned()));
        }
    }
}
