//! Sealed segments: memory that two domains share and that neither can take away from the other.
//!
//! The creator allocates every page, so that it is charged for them, and seals the size, so that
//! the receiver never meets SIGBUS. A single-writer segment is sealed against future writes too:
//! its receiver can only read it, and nobody can punch a hole into it. The receiver believes none
//! of this. It checks, in this order, and refuses with the claim and the limit:
//!
//! | check | stops |
//! |---|---|
//! | the seals, a superset of what `sealing` demands | shrinking, hole punching, forged replies |
//! | the file system is tmpfs | hugetlb pages that a sealed file can still lack |
//! | a regular file | anything else that knows seals one day |
//! | exactly the size that both computed | SIGBUS past a short file |
//! | every page allocated | pages charged to whoever touches them first |
//!
//! What sealing leaves open: in a segment that both write, the peer can punch holes, which read as
//! zero and are charged to whoever touches them next. Such segments are small.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{FallocateFlags, FileType, MemfdFlags, SealFlags};
use rustix::io::Errno;

use crate::mapping::{HUGE, Mapping};
use crate::span::{Span, SpanMut};

/// `f_type` of tmpfs, which a memory file lies on unless it was made of hugetlb pages.
const TMPFS_MAGIC: u64 = 0x0102_1994;

/// The unit of `st_blocks`.
const STAT_BLOCK_BYTES: u64 = 512;

/// Who may write a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sealing {
    /// Its creator alone; the receiver maps it read-only.
    SingleWriter,
    /// Creator and receiver.
    BothWrite,
}

/// A segment, mapped between two guard pages until it is dropped.
#[derive(Debug)]
pub struct Segment {
    mapping: Mapping,
}

impl Segment {
    /// Makes, allocates and seals a segment, and maps it for writing. The descriptor is for the
    /// receiver; when it and every mapping are gone nothing is left.
    ///
    /// `name` is what `/proc` shows. `bytes` is a whole number of pages, not 0.
    ///
    /// # Errors: see [`SegmentError`]; nothing is left behind.
    ///
    /// # Cost: a dozen system calls, and 0.3 to 3 us a page. From 2 MiB on huge pages are asked
    /// for.
    pub fn create(
        name: &str,
        bytes: usize,
        sealing: Sealing,
    ) -> Result<(Segment, OwnedFd), SegmentError> {
        let page = nearcall_abi::PAGE_BYTES as usize;
        if bytes == 0 || !bytes.is_multiple_of(page) || bytes > isize::MAX as usize {
            return Err(SegmentError::Size { bytes });
        }
        let file = memory_file(name).map_err(failed("make a memory file"))?;
        rustix::fs::ftruncate(&file, bytes as u64).map_err(failed("set the size"))?;
        let mapping =
            Mapping::new(file.as_fd(), bytes, true).map_err(failed("map a new segment"))?;
        if bytes >= HUGE {
            mapping.make_huge();
        }
        rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, bytes as u64)
            .map_err(failed("allocate"))?;
        rustix::fs::fcntl_add_seals(&file, sealing.seals()).map_err(failed("seal"))?;
        mapping.populate();
        Ok((Segment { mapping }, file))
    }

    /// Judges a descriptor that a peer sent, maps it and closes it.
    ///
    /// A single-writer segment is mapped read-only, the other kind for writing. Afterwards no
    /// access to the segment can fault, whatever the peer does.
    ///
    /// # Errors: see [`SegmentFault`]; the descriptor is closed and nothing is mapped.
    pub fn receive(
        file: OwnedFd,
        exact_bytes: usize,
        sealing: Sealing,
    ) -> Result<Segment, SegmentFault> {
        check_seals(file.as_fd(), sealing)?;
        check_file(file.as_fd(), exact_bytes)?;
        let is_writable = sealing == Sealing::BothWrite;
        let mapping = match Mapping::new(file.as_fd(), exact_bytes, is_writable) {
            Ok(mapping) => mapping,
            Err(Errno::ACCESS | Errno::PERM) => return Err(SegmentFault::Access { is_writable }),
            Err(errno) => {
                return Err(SegmentFault::Map {
                    source: errno.into(),
                });
            }
        };
        mapping.populate();
        Ok(Segment { mapping })
    }

    /// Two ends of one zeroed block of the heap, for tests inside one domain: the creator's, and
    /// the receiver's, which cannot write if `sealing` says so.
    ///
    /// Panics if `bytes` is 0.
    pub fn heap(bytes: usize, sealing: Sealing) -> (Segment, Segment) {
        let (first, second) = Mapping::heap(bytes, sealing == Sealing::BothWrite);
        (Segment { mapping: first }, Segment { mapping: second })
    }

    /// Bytes of the segment.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.mapping.bytes()
    }

    /// Whether this end may write.
    #[inline]
    pub fn is_writable(&self) -> bool {
        self.mapping.is_writable()
    }

    /// All of it, to read.
    #[inline]
    pub fn span(&self) -> Span<'_> {
        // SAFETY: S1 live, S2 aligned: the mapping's invariant, and it lives as long as `self`.
        unsafe { Span::new(self.mapping.base(), self.mapping.bytes()) }
    }

    /// All of it, to read and write; `None` if this end may only read.
    #[inline]
    pub fn span_mut(&self) -> Option<SpanMut<'_>> {
        if !self.mapping.is_writable() {
            return None;
        }
        // SAFETY: S1 writable: the mapping's invariant, just asked.
        Some(unsafe { SpanMut::new(self.span()) })
    }
}

impl Sealing {
    fn seals(self) -> SealFlags {
        let size = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
        match self {
            Sealing::SingleWriter => size | SealFlags::FUTURE_WRITE,
            Sealing::BothWrite => size,
        }
    }
}

/// A memory file that cannot be executed, on kernels that know how to promise it (6.3).
fn memory_file(name: &str) -> Result<OwnedFd, Errno> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    match rustix::fs::memfd_create(name, flags | MemfdFlags::NOEXEC_SEAL) {
        Err(Errno::INVAL) => rustix::fs::memfd_create(name, flags),
        made => made,
    }
}

fn check_seals(file: BorrowedFd<'_>, sealing: Sealing) -> Result<(), SegmentFault> {
    let required = sealing.seals();
    let claimed = rustix::fs::fcntl_get_seals(file).map_err(|_| SegmentFault::Unsealable)?;
    if !claimed.contains(required) {
        let (claimed, required) = (claimed.bits(), required.bits());
        return Err(SegmentFault::Seals { claimed, required });
    }
    Ok(())
}

/// The checks after the seals: from here on the size can no longer change.
fn check_file(file: BorrowedFd<'_>, exact_bytes: usize) -> Result<(), SegmentFault> {
    let unknown = |errno: Errno| SegmentFault::Map {
        source: errno.into(),
    };
    let system = rustix::fs::fstatfs(file).map_err(unknown)?;
    if system.f_type as u64 != TMPFS_MAGIC {
        return Err(SegmentFault::FileSystem {
            claimed: system.f_type as u64,
        });
    }
    let status = rustix::fs::fstat(file).map_err(unknown)?;
    if FileType::from_raw_mode(status.st_mode) != FileType::RegularFile {
        return Err(SegmentFault::FileKind {
            claimed: status.st_mode,
        });
    }
    let claimed = status.st_size as u64;
    if claimed != exact_bytes as u64 || claimed == 0 {
        return Err(SegmentFault::Size {
            claimed,
            required: exact_bytes as u64,
        });
    }
    let allocated = (status.st_blocks as u64).saturating_mul(STAT_BLOCK_BYTES);
    if allocated < claimed {
        return Err(SegmentFault::Sparse {
            claimed: allocated,
            required: claimed,
        });
    }
    Ok(())
}

fn failed(step: &'static str) -> impl FnOnce(Errno) -> SegmentError {
    move |errno| SegmentError::System {
        step,
        source: errno.into(),
    }
}

/// Why we could not make a segment. Nobody's fault but ours or the system's.
#[derive(Debug)]
#[non_exhaustive]
pub enum SegmentError {
    /// 0 bytes, or not a whole number of pages.
    Size {
        /// The size asked for.
        bytes: usize,
    },
    /// The system refused, for want of memory or descriptors; a later try may succeed.
    System {
        /// What it was asked to do.
        step: &'static str,
        /// Its answer.
        source: io::Error,
    },
}

/// Why a received descriptor is no segment: what was claimed, and the limit. The peer's fault,
/// except [`SegmentFault::Map`].
#[derive(Debug)]
#[non_exhaustive]
pub enum SegmentFault {
    /// Not a file that could be sealed: a pipe, a socket, a directory, a file on a disk.
    Unsealable,
    /// Seals are missing.
    Seals {
        /// The file's seals, as `F_GET_SEALS` gives them.
        claimed: u32,
        /// The seals it must have, at least.
        required: u32,
    },
    /// Not on tmpfs: huge pages of hugetlb can be missing in spite of the seals.
    FileSystem {
        /// The file system's magic number.
        claimed: u64,
    },
    /// Not a regular file.
    FileKind {
        /// The file's mode.
        claimed: u32,
    },
    /// Longer or shorter than both sides computed.
    Size {
        /// The file's size, bytes.
        claimed: u64,
        /// The size it must have, bytes.
        required: u64,
    },
    /// Pages are missing: we would be charged for them.
    Sparse {
        /// Bytes that are allocated.
        claimed: u64,
        /// Bytes that must be.
        required: u64,
    },
    /// The descriptor, or a seal too many, does not permit the mapping.
    Access {
        /// Whether it had to be mapped for writing.
        is_writable: bool,
    },
    /// This domain could not examine or map it, for want of memory say: not the peer's fault.
    Map {
        /// The system's answer.
        source: io::Error,
    },
}

impl fmt::Display for SegmentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SegmentError::Size { bytes } => {
                let page = nearcall_abi::PAGE_BYTES;
                write!(
                    f,
                    "segment size {bytes} is not a whole number of pages of {page} bytes"
                )
            }
            SegmentError::System { step, source } => write!(f, "cannot {step}: {source}"),
        }
    }
}

impl std::error::Error for SegmentError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            SegmentError::Size { .. } => None,
            SegmentError::System { source, .. } => Some(source),
        }
    }
}

impl fmt::Display for SegmentFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SegmentFault::Unsealable => write!(f, "descriptor is not a memory file"),
            SegmentFault::Seals { claimed, required } => {
                write!(f, "segment seals {claimed:#x} lack some of {required:#x}")
            }
            SegmentFault::FileSystem { claimed } => {
                write!(
                    f,
                    "segment file system {claimed:#x} is not tmpfs {TMPFS_MAGIC:#x}"
                )
            }
            SegmentFault::FileKind { claimed } => {
                write!(f, "segment file mode {claimed:#o} is not a regular file's")
            }
            SegmentFault::Size { claimed, required } => {
                write!(f, "segment size {claimed} is not {required}")
            }
            SegmentFault::Sparse { claimed, required } => {
                write!(f, "segment has {claimed} bytes allocated of {required}")
            }
            SegmentFault::Access { is_writable } => {
                let kind = if *is_writable { "writing" } else { "reading" };
                write!(f, "segment descriptor does not permit mapping for {kind}")
            }
            SegmentFault::Map { source } => write!(f, "cannot map a segment: {source}"),
        }
    }
}

impl std::error::Error for SegmentFault {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            SegmentFault::Map { source } => Some(source),
            _ => None,
        }
    }
}
