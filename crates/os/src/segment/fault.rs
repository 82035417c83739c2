//! What can go wrong with a segment, and whose fault it is.

use std::fmt;
use std::io;

use super::TMPFS_MAGIC;

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
    /// As long as announced, but 0 bytes or not a whole number of pages.
    Pages {
        /// The file's size, bytes.
        claimed: u64,
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

impl SegmentFault {
    /// Not the peer's fault: this domain has no room, and a later try may succeed.
    pub fn is_ours(&self) -> bool {
        matches!(self, SegmentFault::Map { .. })
    }
}

impl fmt::Display for SegmentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SegmentError::Size { bytes } => {
                let page = nearcall_abi::PAGE_BYTES;
                write!(f, "segment size {bytes} is not a whole number of pages of {page} bytes")
            }
            SegmentError::System { step, source } => {
                write!(f, "cannot {step}: {source}")?;
                match source.raw_os_error() {
                    Some(libc::EFBIG) => write!(f, ": over RLIMIT_FSIZE (ulimit -f)"),
                    _ => Ok(()),
                }
            }
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
                write!(f, "segment file system {claimed:#x} is not tmpfs {TMPFS_MAGIC:#x}")
            }
            SegmentFault::FileKind { claimed } => {
                write!(f, "segment file mode {claimed:#o} is not a regular file's")
            }
            SegmentFault::Size { claimed, required } => {
                write!(f, "segment size {claimed} is not {required}")
            }
            SegmentFault::Pages { claimed } => {
                let page = nearcall_abi::PAGE_BYTES;
                write!(f, "segment size {claimed} is not a whole number of pages of {page} bytes")
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
