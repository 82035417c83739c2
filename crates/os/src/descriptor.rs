//! Descriptors that a call carries: what the receiver's interface says they are, asked of the
//! kernel. What a peer says about them counts for nothing.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, FileType, SealFlags, StatxFlags};

use crate::closing::{self, Behind};
use crate::{segment, socket};

/// A descriptor that a peer sent and that nobody has taken into use.
///
/// Dropped, it is closed, and whoever drops it does not wait for that, however long the peer has
/// arranged for it to take.
#[derive(Debug)]
pub struct PeerDescriptor {
    /// `None` once it is taken.
    descriptor: Option<OwnedFd>,
    behind: Behind,
}

impl PeerDescriptor {
    /// One that came from the user that `behind` counts for.
    pub(crate) fn new(descriptor: OwnedFd, behind: &Behind) -> PeerDescriptor {
        PeerDescriptor { descriptor: Some(descriptor), behind: behind.clone() }
    }

    /// Takes it into use.
    pub fn take(mut self) -> OwnedFd {
        self.descriptor.take().expect("it is taken once")
    }
}

impl From<OwnedFd> for PeerDescriptor {
    fn from(descriptor: OwnedFd) -> PeerDescriptor {
        PeerDescriptor::new(descriptor, &Behind::unknown())
    }
}

impl AsFd for PeerDescriptor {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_ref().expect("it is not taken").as_fd()
    }
}

impl Drop for PeerDescriptor {
    fn drop(&mut self) {
        if let Some(descriptor) = self.descriptor.take() {
            closing::close(descriptor, &self.behind);
        }
    }
}

/// What goes in the place of a descriptor that is absent, so that as many go as ever: an empty
/// memory file that is sealed, whose close waits for nobody.
///
/// Its bytes and its length stay as they are; whoever it is sent to can still give it attributes
/// and times, and move its position. So nobody is sent what another peer has.
///
/// # Errors: the kernel makes none, as where no more descriptors may be open.
///
/// # Cost: two system calls.
pub fn stand_in() -> io::Result<OwnedFd> {
    let file = segment::memory_file("nearcall-absent")?;
    let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE | SealFlags::SEAL;
    rustix::fs::fcntl_add_seals(&file, seals)?;
    Ok(file)
}

/// What a descriptor has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DescriptorKind {
    /// Anything.
    Any,
    /// What may be an introduction: one end of a connection for packets on this machine. Whether
    /// it is one, and to whom, shows when it is imported from.
    Binding,
    /// A regular file.
    File,
    /// A single-writer segment: sealed, allocated, whole pages, as [`crate::segment`] demands.
    Segment,
    /// A socket.
    Socket,
}

/// A descriptor that is not what it has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongDescriptor {
    /// What it has to be.
    pub wanted: DescriptorKind,
    /// The mode of what it is, as `statx` gives it; 0 if it does not say.
    pub mode: u32,
}

impl DescriptorKind {
    /// Judges a descriptor.
    ///
    /// # Errors: [`WrongDescriptor`]; the descriptor stays open.
    ///
    /// # Cost: one system call, three for a binding or a segment, none for anything.
    pub fn check(self, descriptor: BorrowedFd<'_>) -> Result<(), WrongDescriptor> {
        let is_right = match self {
            DescriptorKind::Any => true,
            DescriptorKind::Binding => socket::is_end(descriptor) == Ok(true),
            DescriptorKind::File => file_type(descriptor) == FileType::RegularFile,
            DescriptorKind::Socket => file_type(descriptor) == FileType::Socket,
            DescriptorKind::Segment => segment::check(descriptor).is_ok(),
        };
        match is_right {
            true => Ok(()),
            false => Err(WrongDescriptor { wanted: self, mode: mode(descriptor) }),
        }
    }
}

/// As the kernel has it: a file system in user space is not asked, it might not answer.
fn mode(descriptor: BorrowedFd<'_>) -> u32 {
    let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC;
    let status = rustix::fs::statx(descriptor, c"", flags, StatxFlags::TYPE | StatxFlags::MODE);
    status.map_or(0, |status| status.stx_mode.into())
}

fn file_type(descriptor: BorrowedFd<'_>) -> FileType {
    FileType::from_raw_mode(mode(descriptor))
}

impl fmt::Display for DescriptorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DescriptorKind::Any => "descriptor",
            DescriptorKind::Binding => "introduction to a binding",
            DescriptorKind::File => "regular file",
            DescriptorKind::Segment => "sealed segment",
            DescriptorKind::Socket => "socket",
        })
    }
}

impl fmt::Display for WrongDescriptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mode {
            0 => write!(f, "a descriptor that is not open is no {}", self.wanted),
            mode => write!(f, "a descriptor of mode {mode:o} is no {}", self.wanted),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::{Sealing, Segment};
    use crate::socket::Stream;
    use std::fs::File;

    const KINDS: [DescriptorKind; 5] = [
        DescriptorKind::Any,
        DescriptorKind::Binding,
        DescriptorKind::File,
        DescriptorKind::Segment,
        DescriptorKind::Socket,
    ];

    /// The kinds that a descriptor passes for.
    fn passes(descriptor: impl Into<OwnedFd>) -> Vec<DescriptorKind> {
        let descriptor = descriptor.into();
        KINDS.into_iter().filter(|kind| kind.check(descriptor.as_fd()).is_ok()).collect()
    }

    #[test]
    fn each_descriptor_passes_for_what_it_is() {
        let file = File::open("/proc/self/status").unwrap();
        assert_eq!(passes(file), [DescriptorKind::Any, DescriptorKind::File]);
        let (stream, _other) = Stream::pair().unwrap();
        let packets = [DescriptorKind::Any, DescriptorKind::Binding, DescriptorKind::Socket];
        assert_eq!(passes(stream), packets);
        let (bytes, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        assert_eq!(passes(bytes), [DescriptorKind::Any, DescriptorKind::Socket]);
        let (pipe, _other) = rustix::pipe::pipe().unwrap();
        assert_eq!(passes(pipe), [DescriptorKind::Any]);
        assert_eq!(passes(File::open("/").unwrap()), [DescriptorKind::Any]);
    }

    #[test]
    fn a_sealed_segment_passes_and_an_open_one_is_a_file_only() {
        let (_segment, file) = Segment::create("test", 4096, Sealing::SingleWriter).unwrap();
        let all = [DescriptorKind::Any, DescriptorKind::File, DescriptorKind::Segment];
        assert_eq!(passes(file), all);
        let (_segment, file) = Segment::create("test", 4096, Sealing::BothWrite).unwrap();
        assert_eq!(passes(file), all[..2]);
    }

    #[test]
    fn a_stand_in_is_empty_and_stays_so() {
        let one = stand_in().unwrap();
        assert_eq!(rustix::fs::fstat(&one).unwrap().st_size, 0);
        assert_eq!(rustix::io::write(&one, b"a"), Err(rustix::io::Errno::PERM));
        assert_eq!(rustix::fs::ftruncate(&one, 1), Err(rustix::io::Errno::PERM));
        let more = rustix::fs::fcntl_add_seals(&one, SealFlags::FUTURE_WRITE);
        assert_eq!(more, Err(rustix::io::Errno::PERM));
    }

    #[test]
    fn each_stand_in_is_another_file() {
        let inode = |file: OwnedFd| rustix::fs::fstat(file).unwrap().st_ino;
        let (one, other) = (stand_in().unwrap(), stand_in().unwrap());
        assert_ne!(inode(one), inode(other));
    }

    #[test]
    fn the_fault_names_what_came_and_what_was_wanted() {
        let (pipe, _other) = rustix::pipe::pipe().unwrap();
        let fault = DescriptorKind::Socket.check(pipe.as_fd()).unwrap_err();
        assert_eq!(fault.to_string(), "a descriptor of mode 10600 is no socket");
        let closed = WrongDescriptor { mode: 0, ..fault };
        assert_eq!(closed.to_string(), "a descriptor that is not open is no socket");
    }
}
