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
//! | exactly the size that both computed, in whole pages | SIGBUS past a short file |
//! | every page allocated | pages charged to whoever touches them first |
//!
//! What sealing leaves open: in a segment that both write, the peer can punch holes, which read as
//! zero and are charged to whoever touches them next. Such segments are small.

use std::any::Any;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{FallocateFlags, FileType, MemfdFlags, SealFlags};
use rustix::io::Errno;

pub use self::fault::{SegmentError, SegmentFault};
pub use self::sole::SoleSegment;
use crate::descriptor::PeerDescriptor;
use crate::mapping::{HUGE, Mapping};
use crate::span::{Span, SpanMut};

mod fault;
mod length;
mod sole;

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

/// Which file a descriptor stands for. No two files have the same while both are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileId {
    device: u64,
    inode: u64,
}

/// A segment, mapped with a guard page behind it until it is dropped.
#[derive(Debug)]
pub struct Segment {
    mapping: Mapping,
    /// What goes once it is unmapped: fields are dropped in their order.
    kept: Option<Box<dyn Any + Send + Sync>>,
}

impl Segment {
    /// Makes, allocates and seals a segment, and maps it for writing. The descriptor is for the
    /// receiver; when it and every mapping are gone nothing is left.
    ///
    /// `name` is what `/proc` shows. `bytes` is a whole number of pages, not 0.
    ///
    /// # Errors: see [`SegmentError`]; nothing is left behind.
    ///
    /// # Cost: six system calls, more from 2 MiB on for huge pages, and 0.3 to 3 us a page.
    pub fn create(
        name: &str,
        bytes: usize,
        sealing: Sealing,
    ) -> Result<(Segment, OwnedFd), SegmentError> {
        if !is_whole_pages(bytes) {
            return Err(SegmentError::Size { bytes });
        }
        let file = memory_file(name).map_err(failed("make a memory file"))?;
        let allocate = || {
            // Sets the size, too.
            let fallocate =
                || rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, bytes as u64);
            length::without_signal(fallocate).map_err(failed("allocate"))
        };
        let map = |is_allocated| {
            Mapping::new(file.as_fd(), bytes, true, is_allocated)
                .map_err(failed("map a new segment"))
        };
        let mapping = if bytes < HUGE {
            allocate()?;
            map(true)?
        } else {
            // Huge pages are made of what is not allocated yet.
            let truncate = || rustix::fs::ftruncate(&file, bytes as u64);
            length::without_signal(truncate).map_err(failed("set the size"))?;
            let mapping = map(false)?;
            mapping.make_huge();
            allocate()?;
            mapping.populate();
            mapping
        };
        rustix::fs::fcntl_add_seals(&file, sealing.seals()).map_err(failed("seal"))?;
        Ok((Segment { mapping, kept: None }, file))
    }

    /// Judges a descriptor that a peer sent, maps it and closes it.
    ///
    /// A single-writer segment is mapped read-only, the other kind for writing. Afterwards no
    /// access to the segment can fault, whatever the peer does.
    ///
    /// # Errors: see [`SegmentFault`]; the descriptor is closed and nothing is mapped.
    pub fn receive(
        file: impl Into<PeerDescriptor>,
        exact_bytes: usize,
        sealing: Sealing,
    ) -> Result<Segment, SegmentFault> {
        let file = file.into();
        check_seals(file.as_fd(), sealing)?;
        check_file(file.as_fd(), exact_bytes)?;
        let is_writable = sealing == Sealing::BothWrite;
        let mapping = match Mapping::new(file.as_fd(), exact_bytes, is_writable, true) {
            Ok(mapping) => mapping,
            Err(Errno::ACCESS | Errno::PERM) => return Err(SegmentFault::Access { is_writable }),
            Err(errno) => {
                return Err(SegmentFault::Map { source: errno.into() });
            }
        };
        Ok(Segment { mapping, kept: None })
    }

    /// Two ends of one zeroed block of the heap, for tests inside one domain: the creator's, and
    /// the receiver's, which cannot write if `sealing` says so.
    ///
    /// Panics if `bytes` is 0.
    pub fn heap(bytes: usize, sealing: Sealing) -> (Segment, Segment) {
        let (first, second) = Mapping::heap(bytes, sealing == Sealing::BothWrite);
        let end = |mapping| Segment { mapping, kept: None };
        (end(first), end(second))
    }

    /// The same segment, which keeps something until it is unmapped.
    pub fn keep(self, kept: impl Any + Send + Sync) -> Segment {
        // What it keeps already stays, too.
        let kept: Box<dyn Any + Send + Sync> = match self.kept {
            None => Box::new(kept),
            Some(before) => Box::new((before, kept)),
        };
        Segment { mapping: self.mapping, kept: Some(kept) }
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

impl FileId {
    /// Asks the kernel.
    ///
    /// # Errors: [`SegmentFault::Map`] if it does not say.
    pub fn of(file: BorrowedFd<'_>) -> Result<FileId, SegmentFault> {
        let status = rustix::fs::fstat(file);
        let status = status.map_err(|errno| SegmentFault::Map { source: errno.into() })?;
        Ok(FileId { device: status.st_dev, inode: status.st_ino })
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

/// Most mappings that a segment of this size is in the kernel's list.
pub fn mapping_count(bytes: usize) -> u64 {
    // With a piece of its reservation on either side, see `mapping.rs`.
    if bytes < HUGE { 1 } else { 3 }
}

/// Whether a segment may have this size: whole pages, at least one, and addressable.
fn is_whole_pages(bytes: usize) -> bool {
    let page = nearcall_abi::PAGE_BYTES as usize;
    bytes > 0 && bytes.is_multiple_of(page) && bytes <= isize::MAX as usize
}

/// A memory file that cannot be executed, on kernels that know how to promise it (6.3).
pub(crate) fn memory_file(name: &str) -> Result<OwnedFd, Errno> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    match rustix::fs::memfd_create(name, flags | MemfdFlags::NOEXEC_SEAL) {
        Err(Errno::INVAL) => rustix::fs::memfd_create(name, flags),
        made => made,
    }
}

/// Judges a descriptor as [`Segment::receive`] does a single-writer segment of any size, and leaves
/// it open. How long it is.
///
/// # Errors: see [`SegmentFault`].
pub fn check(file: BorrowedFd<'_>) -> Result<usize, SegmentFault> {
    check_seals(file, Sealing::SingleWriter)?;
    let status = rustix::fs::fstat(file);
    let status = status.map_err(|errno| SegmentFault::Map { source: errno.into() })?;
    // One that is too long to be addressed is as far from its size as any other.
    let bytes = usize::try_from(status.st_size).unwrap_or(0);
    check_file(file, bytes).map(|()| bytes)
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
    let unknown = |errno: Errno| SegmentFault::Map { source: errno.into() };
    let system = rustix::fs::fstatfs(file).map_err(unknown)?;
    if system.f_type as u64 != TMPFS_MAGIC {
        return Err(SegmentFault::FileSystem { claimed: system.f_type as u64 });
    }
    let status = rustix::fs::fstat(file).map_err(unknown)?;
    if FileType::from_raw_mode(status.st_mode) != FileType::RegularFile {
        return Err(SegmentFault::FileKind { claimed: status.st_mode });
    }
    let claimed = status.st_size as u64;
    if claimed != exact_bytes as u64 {
        return Err(SegmentFault::Size { claimed, required: exact_bytes as u64 });
    }
    if !is_whole_pages(exact_bytes) {
        return Err(SegmentFault::Pages { claimed });
    }
    let allocated = (status.st_blocks as u64).saturating_mul(STAT_BLOCK_BYTES);
    if allocated < claimed {
        return Err(SegmentFault::Sparse { claimed: allocated, required: claimed });
    }
    Ok(())
}

fn failed(step: &'static str) -> impl FnOnce(Errno) -> SegmentError {
    move |errno| SegmentError::System { step, source: errno.into() }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::AsRawFd;
    use std::sync::Arc;

    use rustix::fs::{Mode, OFlags};

    use super::*;

    const PAGE: usize = nearcall_abi::PAGE_BYTES as usize;
    const SIZE_SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::SEAL);

    /// A memory file as a peer might make it.
    fn made(bytes: usize, allocated: usize, seals: SealFlags) -> OwnedFd {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = rustix::fs::memfd_create("peer", flags).unwrap();
        rustix::fs::ftruncate(&file, bytes as u64).unwrap();
        if allocated > 0 {
            let none = FallocateFlags::empty();
            rustix::fs::fallocate(&file, none, 0, allocated as u64).unwrap();
        }
        rustix::fs::fcntl_add_seals(&file, seals).unwrap();
        file
    }

    /// Why a descriptor is refused that should be one page.
    fn refused(file: impl Into<OwnedFd>, sealing: Sealing) -> SegmentFault {
        let file: OwnedFd = file.into();
        Segment::receive(file, PAGE, sealing).unwrap_err()
    }

    fn pair(bytes: usize, sealing: Sealing) -> (Segment, Segment) {
        let (segment, file) = Segment::create("test", bytes, sealing).unwrap();
        (segment, Segment::receive(file, bytes, sealing).unwrap())
    }

    #[test]
    fn the_receiver_of_a_single_writer_segment_sees_what_is_written_and_cannot_write() {
        let (creator, receiver) = pair(PAGE, Sealing::SingleWriter);
        creator.span_mut().unwrap().store_u64(8, 77);
        assert_eq!(receiver.span().load_u64(8), 77);
        assert!(receiver.span_mut().is_none());
        assert!(!receiver.is_writable());
    }

    #[test]
    fn both_ends_of_the_other_kind_write() {
        let (creator, receiver) = pair(PAGE, Sealing::BothWrite);
        receiver.span_mut().unwrap().store_u32(0, 5);
        assert_eq!(creator.span().load_u32(0), 5);
        assert_eq!(receiver.bytes(), PAGE);
    }

    #[test]
    fn a_heap_segment_has_the_same_rights() {
        let (creator, receiver) = Segment::heap(128, Sealing::SingleWriter);
        creator.span_mut().unwrap().store_u8(127, 9);
        assert_eq!(receiver.span().load_u8(127), 9);
        assert!(receiver.span_mut().is_none());
        let (_, receiver) = Segment::heap(128, Sealing::BothWrite);
        assert!(receiver.span_mut().is_some());
    }

    #[test]
    fn a_heap_segment_lives_as_long_as_its_last_end() {
        let (creator, receiver) = Segment::heap(64, Sealing::BothWrite);
        creator.span_mut().unwrap().store_u8(0, 3);
        drop(creator);
        assert_eq!(receiver.span().load_u8(0), 3);
    }

    #[test]
    fn a_size_that_is_no_whole_number_of_pages_is_refused() {
        for bytes in [0, 1, PAGE - 1, PAGE + 1, usize::MAX - PAGE + 1] {
            let error = Segment::create("test", bytes, Sealing::BothWrite).unwrap_err();
            assert!(matches!(error, SegmentError::Size { bytes: found } if found == bytes));
        }
    }

    #[test]
    fn every_seal_that_is_missing_is_refused() {
        let missing = |seal, sealing: Sealing| {
            let seals = sealing.seals() - seal;
            match refused(made(PAGE, PAGE, seals), sealing) {
                SegmentFault::Seals { claimed, required } => {
                    assert_eq!((claimed, required), (seals.bits(), sealing.seals().bits()));
                }
                other => panic!("{other:?}"),
            }
        };
        for seal in [SealFlags::SHRINK, SealFlags::GROW, SealFlags::SEAL] {
            missing(seal, Sealing::SingleWriter);
            missing(seal, Sealing::BothWrite);
        }
        missing(SealFlags::FUTURE_WRITE, Sealing::SingleWriter);
        missing(SealFlags::all(), Sealing::BothWrite);
    }

    #[test]
    fn a_seal_more_than_needed_is_no_fault() {
        let seals = SIZE_SEALS | SealFlags::FUTURE_WRITE | SealFlags::WRITE;
        let file = made(PAGE, PAGE, seals);
        if lacking::kernel_is_before(6, 7) {
            return lacking::lacking("mappings that are shared of what is sealed so, of Linux 6.7");
        }
        assert!(Segment::receive(file, PAGE, Sealing::SingleWriter).is_ok());
    }

    #[test]
    fn another_size_is_refused() {
        for bytes in [PAGE - 1, 2 * PAGE] {
            let fault = refused(made(bytes, bytes, SIZE_SEALS), Sealing::BothWrite);
            let (found, limit) = (bytes as u64, PAGE as u64);
            assert!(
                matches!(fault, SegmentFault::Size { claimed, required }
                    if (claimed, required) == (found, limit)),
                "{fault:?}"
            );
        }
    }

    #[test]
    fn a_size_of_no_whole_pages_is_refused_even_if_it_was_announced() {
        for bytes in [0, 100, PAGE + 100] {
            let file = made(bytes, bytes, SIZE_SEALS);
            let fault = Segment::receive(file, bytes, Sealing::BothWrite).unwrap_err();
            let found = bytes as u64;
            assert!(
                matches!(fault, SegmentFault::Pages { claimed } if claimed == found),
                "{fault:?}"
            );
        }
    }

    #[test]
    fn a_sparse_segment_is_refused() {
        let file = made(4 * PAGE, 3 * PAGE, SIZE_SEALS);
        let fault = Segment::receive(file, 4 * PAGE, Sealing::BothWrite).unwrap_err();
        let (found, limit) = (3 * PAGE as u64, 4 * PAGE as u64);
        assert!(
            matches!(fault, SegmentFault::Sparse { claimed, required }
                if (claimed, required) == (found, limit)),
            "{fault:?}"
        );
    }

    #[test]
    fn a_descriptor_that_is_no_memory_file_is_refused() {
        let (pipe, _other) = rustix::pipe::pipe().unwrap();
        let (stream, _other) = crate::Stream::pair().unwrap();
        let event = rustix::event::eventfd(0, rustix::event::EventfdFlags::CLOEXEC).unwrap();
        let directory: OwnedFd = File::open("/").unwrap().into();
        let disk: OwnedFd = File::open("/proc/self/status").unwrap().into();
        let path = rustix::fs::open("/", OFlags::PATH, Mode::empty()).unwrap();
        for file in [pipe, stream.into(), event, directory, disk, path] {
            let fault = refused(file, Sealing::SingleWriter);
            assert!(matches!(fault, SegmentFault::Unsealable), "{fault:?}");
        }
    }

    #[test]
    fn a_hugetlb_file_is_refused_for_its_file_system() {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING | MemfdFlags::HUGETLB;
        // A kernel without hugetlb cannot make the file, so that no peer on it can.
        if !std::fs::read_to_string("/proc/filesystems").unwrap().contains("hugetlbfs") {
            return lacking::lacking("hugetlbfs");
        }
        let file = rustix::fs::memfd_create("huge", flags).unwrap();
        rustix::fs::ftruncate(&file, HUGE as u64).unwrap();
        rustix::fs::fcntl_add_seals(&file, SIZE_SEALS).unwrap();
        let fault = Segment::receive(file, HUGE, Sealing::BothWrite).unwrap_err();
        assert!(matches!(fault, SegmentFault::FileSystem { claimed: 0x9584_58f6 }), "{fault:?}");
    }

    #[test]
    fn what_is_no_regular_file_is_refused_even_on_tmpfs() {
        let directory = File::open("/dev/shm").unwrap();
        let fault = check_file(directory.as_fd(), PAGE).unwrap_err();
        assert!(matches!(fault, SegmentFault::FileKind { claimed } if claimed & 0o40000 != 0));
    }

    #[test]
    fn a_descriptor_that_does_not_permit_the_mapping_is_refused() {
        let seals = SIZE_SEALS | SealFlags::WRITE;
        let fault = refused(made(PAGE, PAGE, seals), Sealing::BothWrite);
        assert!(matches!(fault, SegmentFault::Access { is_writable: true }), "{fault:?}");
        let (_segment, file) = Segment::create("test", PAGE, Sealing::BothWrite).unwrap();
        let reopened = |options: &mut std::fs::OpenOptions| {
            let number = std::os::fd::AsRawFd::as_raw_fd(&file);
            options.open(format!("/proc/self/fd/{number}")).unwrap()
        };
        let fault = refused(reopened(File::options().read(true)), Sealing::BothWrite);
        assert!(matches!(fault, SegmentFault::Access { is_writable: true }), "{fault:?}");
        let read_write = OwnedFd::from(reopened(File::options().read(true).write(true)));
        assert!(Segment::receive(read_write, PAGE, Sealing::BothWrite).is_ok());
    }

    #[test]
    fn after_the_hand_over_nobody_can_resize_or_unseal() {
        for sealing in [Sealing::SingleWriter, Sealing::BothWrite] {
            let (_creator, file) = Segment::create("test", PAGE, sealing).unwrap();
            assert_eq!(rustix::fs::ftruncate(&file, 0), Err(Errno::PERM));
            assert_eq!(rustix::fs::ftruncate(&file, 2 * PAGE as u64), Err(Errno::PERM));
            let seal = rustix::fs::fcntl_add_seals(&file, SealFlags::WRITE);
            assert_eq!(seal, Err(Errno::PERM));
        }
    }

    #[test]
    fn nobody_but_its_creator_can_write_a_single_writer_segment_or_drop_its_pages() {
        let (_creator, file) = Segment::create("test", PAGE, Sealing::SingleWriter).unwrap();
        assert_eq!(rustix::io::pwrite(&file, &[1], 0), Err(Errno::PERM));
        assert_eq!(Mapping::new(file.as_fd(), PAGE, true, true).unwrap_err(), Errno::PERM);
        let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        assert_eq!(rustix::fs::fallocate(&file, hole, 0, PAGE as u64), Err(Errno::PERM));
    }

    #[test]
    fn a_hole_in_a_segment_that_both_write_reads_as_zero() {
        let (creator, file) = Segment::create("test", PAGE, Sealing::BothWrite).unwrap();
        let copy = file.try_clone().unwrap();
        let receiver = Segment::receive(file, PAGE, Sealing::BothWrite).unwrap();
        creator.span_mut().unwrap().store_u32(0, 1);
        let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        rustix::fs::fallocate(&copy, hole, 0, PAGE as u64).unwrap();
        assert_eq!(receiver.span().load_u32(0), 0);
    }

    #[test]
    fn the_receiver_keeps_no_descriptor() {
        let name = "closed-segment";
        let (_creator, file) = Segment::create(name, PAGE, Sealing::BothWrite).unwrap();
        let number = std::os::fd::AsRawFd::as_raw_fd(&file);
        let is_open = || {
            let target = std::fs::read_link(format!("/proc/self/fd/{number}"));
            target.is_ok_and(|path| path.to_string_lossy().contains(name))
        };
        assert!(is_open());
        let _receiver = Segment::receive(file, PAGE, Sealing::BothWrite).unwrap();
        assert!(!is_open());
    }

    /// The rights to the mapping of this name, as the memory map has them.
    fn rights(name: &str) -> Option<String> {
        let map = std::fs::read_to_string("/proc/self/maps").unwrap();
        let line = map.lines().find(|line| line.contains(name))?;
        line.split_whitespace().nth(1).map(str::to_owned)
    }

    /// Whether the byte at this address can be read, as the kernel finds when it tries.
    fn can_be_read(address: usize) -> bool {
        let (_reader, writer) = rustix::pipe::pipe().unwrap();
        // SAFETY: the kernel reads the byte for us, or says that it cannot.
        let written = unsafe { libc::write(writer.as_raw_fd(), address as *const _, 1) };
        written == 1
    }

    #[test]
    fn what_lies_behind_a_mapping_cannot_be_touched() {
        for (bytes, align) in [(PAGE, PAGE), (3 * PAGE, PAGE), (HUGE, HUGE), (HUGE + PAGE, HUGE)] {
            let (creator, receiver) = pair(bytes, Sealing::SingleWriter);
            for segment in [&creator, &receiver] {
                let start = segment.mapping.base().as_ptr() as usize;
                assert!(can_be_read(start) && can_be_read(start + bytes - 1), "{bytes}");
                assert!(!can_be_read(start + bytes), "{bytes}");
                assert_eq!(start % align, 0);
            }
        }
    }

    #[test]
    fn a_mapping_is_gone_after_the_drop() {
        let name = "passing-segment";
        for bytes in [PAGE, HUGE + PAGE] {
            let (segment, _file) = Segment::create(name, bytes, Sealing::BothWrite).unwrap();
            assert_eq!(rights(name).as_deref(), Some("rw-s"));
            drop(segment);
            assert_eq!(rights(name), None);
        }
    }

    #[test]
    fn a_received_single_writer_segment_is_mapped_read_only() {
        let name = "read-only-segment";
        let (creator, file) = Segment::create(name, PAGE, Sealing::SingleWriter).unwrap();
        drop(creator);
        let _receiver = Segment::receive(file, PAGE, Sealing::SingleWriter).unwrap();
        assert_eq!(rights(name).as_deref(), Some("r--s"));
    }

    #[test]
    fn a_large_segment_is_zero_and_whole() {
        let bytes = 2 * HUGE + 3 * PAGE;
        let (creator, receiver) = pair(bytes, Sealing::SingleWriter);
        assert!((0..bytes).step_by(PAGE).all(|at| receiver.span().load_u64(at) == 0));
        creator.span_mut().unwrap().store_u8(bytes - 1, 4);
        assert_eq!(receiver.span().load_u8(bytes - 1), 4);
    }

    #[test]
    fn what_a_segment_keeps_goes_with_it() {
        let (first, second) = (Arc::new(()), Arc::new(()));
        let (segment, _file) = Segment::create("test", PAGE, Sealing::BothWrite).unwrap();
        let segment = segment.keep(Arc::clone(&first)).keep(Arc::clone(&second));
        segment.span_mut().unwrap().store_u8(0, 1);
        let counts = || (Arc::strong_count(&first), Arc::strong_count(&second));
        assert_eq!(counts(), (2, 2));
        drop(segment);
        assert_eq!(counts(), (1, 1));
    }

    #[test]
    fn messages_name_the_claim_and_the_limit() {
        let message = refused(made(2 * PAGE, 0, SIZE_SEALS), Sealing::BothWrite).to_string();
        assert_eq!(message, "segment size 8192 is not 4096");
        let message = refused(made(PAGE, 0, SIZE_SEALS), Sealing::SingleWriter).to_string();
        assert_eq!(message, "segment seals 0x7 lack some of 0x17");
        let message = Segment::create("x", 5, Sealing::BothWrite).unwrap_err().to_string();
        assert_eq!(message, "segment size 5 is not a whole number of pages of 4096 bytes");
    }
}
