//! Who is at the other end of a socket, and whether it still lives.
//!
//! The kernel tells; the peer is never asked. What the kernel cannot tell in this namespace (a user
//! that is not mapped here, a process of another pid namespace) is `None`, which no policy can
//! mistake for somebody. On the importing side the identity is that of whoever called `listen`:
//! under socket activation that is the activator.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, WaitId, WaitIdOptions, WaitIdStatus, pidfd_open, waitid};

use crate::clock;
use crate::identity::Identity;
use crate::socket::Stream;

/// What the kernel shows for a user or group that this namespace has no number for.
const OVERFLOW_ID: u32 = 65534;

/// `SO_PEERPIDFD`, since 6.5.
const SO_PEERPIDFD: libc::c_int = 77;
/// `SO_PEERGROUPS`, since 4.13.
const SO_PEERGROUPS: libc::c_int = 59;

/// What `fstatfs` says of a pidfd whose inode is its process's own, since 6.9.
const PID_FS_MAGIC: i64 = 0x5049_4446;

/// Groups that are asked for at first; the kernel says if there are more.
const GROUPS_USUAL: usize = 64;

/// Bytes of a security label that are asked for at first, and at most.
const LABEL_BYTES_USUAL: usize = 256;
const LABEL_BYTES_MAX: usize = 1 << 16;

/// The domain at the other end of a socket, as it was when it connected or listened.
#[derive(Debug)]
pub struct Peer {
    /// Its user; `None` if this namespace has no number for it.
    pub uid: Option<u32>,
    /// Its group; `None` likewise.
    pub gid: Option<u32>,
    /// Its supplementary groups, those that have a number here.
    pub groups: Vec<u32>,
    /// Whether those are all: none is without a number here, and the kernel has told them.
    pub are_groups_all: bool,
    /// Its process number, for messages only: the number may be another's by now. `None` if it is
    /// in another pid namespace.
    pub pid: Option<u32>,
    /// What a security module of the system calls it (SELinux: its context); `None` without one, or
    /// if it is no text.
    pub label: Option<String>,
}

/// A process, held so that its number cannot come to mean another.
#[derive(Debug)]
pub struct Process {
    pidfd: OwnedFd,
    identity: Identity,
    /// The kernel has told the number only.
    is_by_number: bool,
}

/// What the kernel says of a process that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// It has not ended, as far as is known.
    Lasts,
    /// It has ended.
    Over,
    /// Nothing any more: the descriptor was closed, by who closes all that a program has open, and
    /// its number may be another's.
    Untold,
}

impl Peer {
    /// Asks the kernel.
    ///
    /// # Errors: the kernel's word. Of a socket that is not connected it tells nobody.
    pub fn of(stream: &Stream) -> io::Result<Peer> {
        let socket = stream.as_fd();
        let Credentials { pid, uid, gid } = credentials(socket)?;
        let (groups, are_groups_all) = groups(socket)?;
        Ok(Peer { uid, gid, groups, are_groups_all, pid, label: label(socket)? })
    }
}

/// Makes this process one that no other of its user can look into: its descriptors and its memory
/// are out of reach of `ptrace` and `pidfd_getfd`.
pub fn forbid_dumps() -> io::Result<()> {
    let none = rustix::process::DumpableBehavior::NotDumpable;
    Ok(rustix::process::set_dumpable_behavior(none)?)
}

/// The user at the other end of a socket, as [`Peer::uid`], and nothing else.
pub fn uid_of(stream: &Stream) -> io::Result<Option<u32>> {
    Ok(credentials(stream.as_fd())?.uid)
}

/// Whether [`Process::of`] has failed by this because the peer ended so long ago that the kernel
/// has nothing more to tell of it: those before 6.16, once somebody has waited for it.
pub fn tells_of_an_end(error: &io::Error) -> bool {
    let ends = [Errno::SRCH, Errno::INVAL, Errno::NODATA];
    Errno::from_io_error(error).is_some_and(|errno| ends.contains(&errno))
}

/// The user that this process acts for: what a peer sees as [`Peer::uid`] when it connects.
pub fn effective_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

impl Process {
    /// The one at the other end of a socket.
    ///
    /// # Errors: it has been gone for so long that there is nothing to hold, or this domain is out
    /// of descriptors ([`limits::is_no_room`](crate::limits::is_no_room)).
    pub fn of(stream: &Stream) -> io::Result<Process> {
        process(stream.as_fd(), || Ok(credentials(stream.as_fd())?.pid))
    }

    /// Whether it has to be held to be known: asked once more, the socket would tell a number that
    /// may be another's by then. Where the kernel tells which process it is, it does so at any
    /// time.
    pub fn is_by_number(&self) -> bool {
        self.is_by_number
    }

    /// Whether [`Process::is_by_number`] holds of every peer: the kernel is one before 6.5.
    pub fn are_by_number() -> bool {
        // Where there is no descriptor for a pair, there is none for an importer either.
        let pair = Stream::pair().ok();
        let asked = pair.and_then(|(own, _other)| Process::of(&own).ok());
        asked.is_some_and(|process| process.is_by_number())
    }

    /// Its control group, as a path of the unified hierarchy; `None` if it has ended, is of another
    /// pid namespace, or has none.
    pub fn cgroup(&self) -> Option<String> {
        let number = self.number_in_proc()?;
        let text = std::fs::read_to_string(format!("/proc/{number}/cgroup")).ok()?;
        // It was that process's: it has not ended, so that no other had its number meanwhile.
        let is_its_own = !self.has_exited();
        let path = text.lines().find_map(|line| line.strip_prefix("0::"));
        path.filter(|_| is_its_own).map(str::to_owned)
    }

    /// The inode of its pidfds, which no other process has until the system ends; `None` before
    /// Linux 6.9, where all have the same.
    ///
    /// # Cost: two system calls.
    pub fn inode(&self) -> Option<u64> {
        let system = rustix::fs::fstatfs(&self.pidfd).ok()?;
        let is_its_own = system.f_type == PID_FS_MAGIC;
        let status = rustix::fs::fstat(&self.pidfd).ok().filter(|_| is_its_own)?;
        Some(status.st_ino)
    }

    /// The process with this number, now. The caller knows that it still is the one it means: a
    /// child that has not been waited for, or itself.
    pub fn open(pid: u32) -> io::Result<Process> {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or(Errno::SRCH)?;
        Ok(Process::new(pidfd_open(pid, PidfdFlags::empty())?, true))
    }

    fn new(pidfd: OwnedFd, is_by_number: bool) -> Process {
        Process { identity: Identity::of(&pidfd), pidfd, is_by_number }
    }

    /// This process.
    pub fn current() -> io::Result<Process> {
        Process::open(std::process::id())
    }

    /// The one that a pidfd of the caller's is of; `None` if it is no pidfd.
    ///
    /// # Cost: two system calls.
    pub fn of_pidfd(pidfd: BorrowedFd<'_>) -> io::Result<Option<Process>> {
        let process = Process::new(pidfd.try_clone_to_owned()?, false);
        match process.look() {
            Ok(_) | Err(Errno::CHILD) => Ok(Some(process)),
            Err(Errno::BADF) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// How it has ended, if the system tells: it does of a child of ours that nobody has waited
    /// for yet, and somebody can still wait for it afterwards.
    pub fn end(&self) -> Option<ExitStatus> {
        const CORE_DUMPED: i32 = 0x80;
        let end = self.look().ok()??;
        let raw = match (end.exit_status(), end.terminating_signal()) {
            (Some(code), _) => (code & 0xff) << 8,
            (None, Some(signal)) if end.dumped() => signal | CORE_DUMPED,
            (None, Some(signal)) => signal,
            (None, None) => return None,
        };
        Some(ExitStatus::from_raw(raw))
    }

    /// What the system tells its parent, as which it does not count to have waited.
    fn look(&self) -> Result<Option<WaitIdStatus>, Errno> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        waitid(WaitId::PidFd(self.as_fd()), options)
    }

    /// What `/proc` calls it, as long as it has not ended: that may have been mounted for another
    /// pid namespace than ours, and then calls another process by the number that we know.
    fn number_in_proc(&self) -> Option<u32> {
        let own = self.pidfd.as_raw_fd();
        let text = std::fs::read_to_string(format!("/proc/thread-self/fdinfo/{own}")).ok()?;
        let number = text.lines().find_map(|line| line.strip_prefix("Pid:"))?.trim().parse();
        number.ok().filter(|number| *number != 0)
    }

    /// Whether it has ended: from then on it can store nothing into any segment.
    ///
    /// # Cost: a system call, and another one if it has.
    pub fn has_exited(&self) -> bool {
        self.wait_exit(Duration::ZERO)
    }

    /// Waits for its end, at most `timeout`; whether it has ended.
    pub fn wait_exit(&self, timeout: Duration) -> bool {
        let mut polled = [PollFd::new(&self.pidfd, PollFlags::IN)];
        let timeout = clock::timespec(timeout);
        // A signal, or no memory to poll with, proves nothing: not ended as far as is known.
        let count = rustix::event::poll(&mut polled, Some(&timeout)).unwrap_or(0);
        let has_ended = PollFlags::IN | PollFlags::HUP;
        // What another file says that has the number by now is no proof either.
        count > 0 && polled[0].revents().intersects(has_ended) && self.identity.is_of(&self.pidfd)
    }

    /// How it is. From [`Life::Over`] on it can store nothing into any segment.
    ///
    /// # Cost: two system calls.
    pub fn life(&self) -> Life {
        match self.has_exited() {
            true => Life::Over,
            false if self.identity.is_of(&self.pidfd) => Life::Lasts,
            false => Life::Untold,
        }
    }
}

impl AsFd for Process {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }
}

/// What `SO_PEERCRED` tells; `None` where that means nothing here.
struct Credentials {
    pid: Option<u32>,
    uid: Option<u32>,
    gid: Option<u32>,
}

fn credentials(socket: BorrowedFd<'_>) -> io::Result<Credentials> {
    let none = libc::ucred { pid: 0, uid: OVERFLOW_ID, gid: OVERFLOW_ID };
    let mut credentials = [none];
    socket_option(socket, libc::SO_PEERCRED, &mut credentials)?;
    let [libc::ucred { pid, uid, gid }] = credentials;
    let pid = u32::try_from(pid).ok().filter(|pid| *pid != 0);
    Ok(Credentials { pid, uid: known(uid), gid: known(gid) })
}

fn known(id: u32) -> Option<u32> {
    (id != OVERFLOW_ID && id != u32::MAX).then_some(id)
}

/// The peer's supplementary groups, none where the kernel cannot tell, and whether they are all.
fn groups(socket: BorrowedFd<'_>) -> io::Result<(Vec<u32>, bool)> {
    let mut groups = vec![OVERFLOW_ID; GROUPS_USUAL];
    loop {
        match socket_option(socket, SO_PEERGROUPS, &mut groups) {
            Ok(bytes) => {
                groups.truncate(bytes / size_of::<u32>());
                let count = groups.len();
                groups.retain(|group| known(*group).is_some());
                let are_all = groups.len() == count;
                return Ok((groups, are_all));
            }
            Err(Errno::RANGE) if groups.len() < 1 << 16 => groups.resize(1 << 16, OVERFLOW_ID),
            Err(Errno::NOPROTOOPT | Errno::NODATA) => return Ok((Vec::new(), false)),
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// The peer's security label; none where no module of the kernel gives labels.
fn label(socket: BorrowedFd<'_>) -> io::Result<Option<String>> {
    let mut label = vec![0; LABEL_BYTES_USUAL];
    loop {
        match socket_option(socket, libc::SO_PEERSEC, &mut label) {
            Ok(bytes) => {
                label.truncate(bytes);
                return Ok(text_of(label));
            }
            Err(Errno::RANGE) if label.len() < LABEL_BYTES_MAX => label.resize(LABEL_BYTES_MAX, 0),
            Err(Errno::NOPROTOOPT | Errno::NODATA) => return Ok(None),
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// A label as the kernel gives it: some modules end it with a zero.
fn text_of(mut label: Vec<u8>) -> Option<String> {
    if label.last() == Some(&0) {
        label.pop();
    }
    String::from_utf8(label).ok().filter(|label| !label.is_empty())
}

/// The peer's pidfd. Kernels before 6.5 cannot tell it, and the number has to do: there, a number
/// that was given away since the connection would name the wrong process.
fn process(
    socket: BorrowedFd<'_>,
    pid: impl FnOnce() -> io::Result<Option<u32>>,
) -> io::Result<Process> {
    let mut number = [-1];
    match socket_option::<libc::c_int>(socket, SO_PEERPIDFD, &mut number) {
        Ok(_) if number[0] >= 0 => {
            // SAFETY: the kernel made this descriptor for us just now.
            let pidfd = unsafe { OwnedFd::from_raw_fd(number[0]) };
            Ok(Process::new(pidfd, false))
        }
        Ok(_) => Err(Errno::SRCH.into()),
        Err(Errno::NOPROTOOPT) => Process::open(pid()?.ok_or(Errno::SRCH)?),
        Err(errno) => Err(errno.into()),
    }
}

/// A type of which every bit pattern is a value.
///
/// # Safety
///
/// - S1 any bytes: every bit pattern is a value of the type.
unsafe trait AnyBytes: Copy {}

// SAFETY: S1: an integer.
unsafe impl AnyBytes for libc::c_int {}
// SAFETY: S1: an integer.
unsafe impl AnyBytes for u32 {}
// SAFETY: S1: an integer.
unsafe impl AnyBytes for u8 {}
// SAFETY: S1: three integers.
unsafe impl AnyBytes for libc::ucred {}

/// Reads an option of the socket level into `values`; returns the bytes it took.
fn socket_option<T: AnyBytes>(
    socket: BorrowedFd<'_>,
    option: libc::c_int,
    values: &mut [T],
) -> Result<usize, Errno> {
    let mut bytes = size_of_val(values) as libc::socklen_t;
    // SAFETY: the kernel writes at most `bytes` bytes, which `values` has, and any bytes are values
    // by `AnyBytes`'s S1.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            option,
            values.as_mut_ptr().cast(),
            &mut bytes,
        )
    };
    if result == 0 { Ok(bytes as usize) } else { Err(last_error()) }
}

fn last_error() -> Errno {
    Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};

    use super::*;

    const FOREVER: Duration = Duration::from_secs(600);

    /// A process that ends when its standard input does.
    fn child() -> Child {
        Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap()
    }

    #[test]
    fn a_pair_s_other_end_is_this_process() {
        let (here, _there) = Stream::pair().unwrap();
        let peer = Peer::of(&here).unwrap();
        assert_eq!(peer.uid, Some(effective_uid()));
        assert_eq!(peer.gid, Some(rustix::process::getgid().as_raw()));
        assert_eq!(peer.pid, Some(std::process::id()));
        assert!(!Process::of(&here).unwrap().has_exited());
    }

    #[test]
    fn a_label_may_end_with_a_zero_and_is_text_or_unknown() {
        let label = |bytes: &[u8]| text_of(bytes.to_vec());
        assert_eq!(label(b"system_u:r:init_t:s0\0").as_deref(), Some("system_u:r:init_t:s0"));
        assert_eq!(label(b"unconfined").as_deref(), Some("unconfined"));
        assert_eq!(label(b"\0"), None);
        assert_eq!(label(b""), None);
        assert_eq!(label(b"\xff\xfe"), None);
    }

    /// A child that connects to `path` and ends.
    fn importer_that_ends(path: &std::path::Path) -> Pid {
        // SAFETY: the child does system calls only, without an allocation, and ends without
        // running what its parent had set up.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            let connected = Stream::connect(path);
            // SAFETY: ends the child.
            unsafe { libc::_exit(i32::from(connected.is_err())) };
        }
        Pid::from_raw(pid).unwrap()
    }

    #[test]
    fn a_peer_that_has_ended_is_still_known_and_known_to_have_ended() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("clerk");
        let clerk = crate::Listener::bind(&path).unwrap();
        let child = importer_that_ends(&path);
        let poller = crate::Poller::new().unwrap();
        poller.add(&clerk, 0).unwrap();
        poller.wait(&mut Vec::new(), Some(FOREVER)).unwrap();
        let stream = clerk.accept().unwrap().unwrap();
        assert_eq!(Peer::of(&stream).unwrap().pid, Some(child.as_raw_pid() as u32));
        let process = Process::of(&stream).unwrap();
        assert!(process.wait_exit(FOREVER));
        rustix::process::waitpid(Some(child), rustix::process::WaitOptions::empty()).unwrap();
        assert!(process.has_exited());
        // Older kernels have nothing more to tell of it, and ours says that it has ended.
        if let Ok(again) = Process::of(&stream) {
            assert!(again.has_exited() && !again.is_by_number());
        }
    }

    #[test]
    fn the_groups_are_those_of_the_peer() {
        let (here, _there) = Stream::pair().unwrap();
        let mut groups = Peer::of(&here).unwrap().groups;
        let mut own: Vec<u32> =
            rustix::process::getgroups().unwrap().into_iter().map(|gid| gid.as_raw()).collect();
        own.retain(|group| known(*group).is_some());
        groups.sort_unstable();
        own.sort_unstable();
        assert_eq!(groups, own);
    }

    #[test]
    fn a_socket_that_is_not_connected_has_no_peer() {
        use rustix::net::{AddressFamily, SocketType, socket};
        let socket = socket(AddressFamily::UNIX, SocketType::SEQPACKET, None).unwrap();
        let stream = Stream::from_descriptor(socket).unwrap();
        let peer = Peer::of(&stream).unwrap();
        assert_eq!((peer.uid, peer.gid, peer.pid), (None, None, None));
        assert!(Process::of(&stream).is_err());
    }

    #[test]
    fn a_process_has_exited_once_it_has_and_stays_so_after_it_is_reaped() {
        let mut child = child();
        let process = Process::open(child.id()).unwrap();
        assert!(!process.has_exited());
        drop(child.stdin.take());
        assert!(process.wait_exit(FOREVER));
        assert!(process.has_exited());
        child.wait().unwrap();
        assert!(process.has_exited());
    }

    #[test]
    fn a_killed_process_has_exited() {
        let mut child = child();
        let process = Process::open(child.id()).unwrap();
        child.kill().unwrap();
        assert!(process.wait_exit(FOREVER));
        child.wait().unwrap();
    }

    #[test]
    fn the_end_of_a_child_is_told_without_waiting_for_it() {
        for (script, wanted) in [("exit 3", Some(3)), ("kill -KILL $$", None)] {
            let mut child = Command::new("sh").args(["-c", script]).spawn().unwrap();
            let pidfd = Process::open(child.id()).unwrap().pidfd;
            let process = Process::of_pidfd(pidfd.as_fd()).unwrap().unwrap();
            assert!(process.wait_exit(FOREVER));
            let end = process.end().unwrap();
            assert_eq!(end.code(), wanted);
            assert_eq!(end, child.wait().unwrap());
            // Somebody has waited for it: the system does not know any more.
            assert_eq!(process.end(), None);
            assert!(process.has_exited());
        }
    }

    #[test]
    fn of_a_process_that_lives_or_is_no_child_no_end_is_told() {
        let mut child = child();
        let process = Process::open(child.id()).unwrap();
        assert_eq!(process.end(), None);
        child.kill().unwrap();
        child.wait().unwrap();
        let own = Process::current().unwrap();
        assert_eq!(Process::of_pidfd(own.as_fd()).unwrap().unwrap().end(), None);
    }

    #[test]
    fn what_is_no_pidfd_is_no_process() {
        let (here, _there) = Stream::pair().unwrap();
        assert!(Process::of_pidfd(here.as_fd()).unwrap().is_none());
    }

    #[test]
    fn a_poller_reports_the_end_of_a_process() {
        let mut child = child();
        let process = Process::open(child.id()).unwrap();
        let poller = crate::Poller::new().unwrap();
        poller.add(&process, 5).unwrap();
        child.kill().unwrap();
        let mut ready = Vec::new();
        poller.wait(&mut ready, Some(FOREVER)).unwrap();
        assert_eq!((ready.len(), ready[0].token, ready[0].is_readable), (1, 5, true));
        child.wait().unwrap();
    }

    #[test]
    fn this_process_lives() {
        assert!(!Process::current().unwrap().has_exited());
    }

    #[test]
    fn proc_has_a_number_for_a_process_until_it_has_ended() {
        let mut child = child();
        let process = Process::open(child.id()).unwrap();
        assert_eq!(process.number_in_proc(), Some(child.id()));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(process.number_in_proc(), None);
    }

    #[test]
    fn an_inode_is_one_process_s_or_unknown() {
        let (here, _there) = Stream::pair().unwrap();
        let own = Process::current().unwrap().inode();
        assert_eq!(Process::of(&here).unwrap().inode(), own);
        let mut child = child();
        let inode = Process::open(child.id()).unwrap().inode();
        assert_eq!(inode.is_some(), own.is_some());
        assert!(inode.is_none() || inode != own);
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_number_that_is_no_process_is_refused() {
        assert!(Process::open(0).is_err());
        assert!(Process::open(u32::MAX).is_err());
        assert!(Process::open(i32::MAX as u32).is_err());
    }

    #[test]
    fn the_overflow_number_is_nobody_and_root_is_root() {
        assert_eq!(known(OVERFLOW_ID), None);
        assert_eq!(known(u32::MAX), None);
        assert_eq!(known(0), Some(0));
    }
}
