//! One mapping of a memory file with a guard page behind it, or its twin on the heap. Knows nothing
//! of seals or sizes: `segment.rs` has judged the descriptor before it comes here.
//!
//! ```text
//!  one mapping of the file              with huge pages: in a reservation (PROT_NONE)
//!  ┌──────────────────┬───────┐         ┌───────┬───────┬──────────────────┬───────┬───────┐
//!  │ the file's bytes │ guard │         │ slack │ guard │ the file's bytes │ guard │ slack │
//!  └──────────────────┴───────┘         └───────┴───────┴──────────────────┴───────┴───────┘
//!  ▲ base: page aligned                                 ▲ base: 2 MiB aligned
//! ```
//!
//! A page of a mapping past the end of its file cannot be touched, and a file that is sealed never
//! grows: that makes a guard for the price of none. A reservation costs a second system call and
//! two mappings more, of which a process may have 65,530.
//!
//! A child of fork(2) has none of it: what it writes must not be what its parent's peer reads.
//! Before anybody runs there who may call, memory of the child's own takes the place of the
//! file's, all zero. The kernel could leave the range out instead (`MADV_DONTFORK`): then whatever
//! the child maps first may come to lie there, where it still has addresses of ours.

use std::alloc::Layout;
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;
use std::sync::{Arc, Weak};

use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags};

use crate::forks::{self, InChild, Listed};

const PAGE: usize = nearcall_abi::PAGE_BYTES as usize;
const LINE: usize = nearcall_abi::LINE_BYTES as usize;

/// A huge page of x86_64, and of aarch64 with 4 KiB pages.
pub(crate) const HUGE: usize = 2 << 20;

/// Owned memory that two sides share, and its place in this domain.
///
/// Invariant: the `bytes` bytes at `base` stay mapped readable, and writable if `is_writable`,
/// until the drop; `base` is aligned to a cache line.
#[derive(Debug)]
pub(crate) struct Mapping {
    base: NonNull<u8>,
    bytes: usize,
    is_writable: bool,
    memory: Memory,
}

#[derive(Debug)]
enum Memory {
    Reserved { range: Arc<Range>, listed: Option<Listed> },
    Heap { _block: Arc<HeapBlock> },
}

/// Addresses that are a mapping's alone, until it is dropped.
#[derive(Debug)]
struct Range {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the mapping is plain memory, valid from every thread; all access to it goes through
// `span.rs`, whose accesses are atomic or assembly that stands for atomics.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `bytes` bytes of `file`, a whole number of pages; fills in the page tables if all of
    /// them are allocated already (`is_allocated`), as `populate` does.
    ///
    /// The caller has made sure that the file has and keeps that many bytes; otherwise an access
    /// would end the domain by SIGBUS.
    pub(crate) fn new(
        file: BorrowedFd<'_>,
        bytes: usize,
        is_writable: bool,
        is_allocated: bool,
    ) -> Result<Mapping, Errno> {
        assert!(bytes > 0 && bytes.is_multiple_of(PAGE), "{bytes} bytes are no whole pages");
        let write = if is_writable { ProtFlags::WRITE } else { ProtFlags::empty() };
        let populate = if is_allocated { MapFlags::POPULATE } else { MapFlags::empty() };
        let (protection, flags) = (ProtFlags::READ | write, MapFlags::SHARED | populate);
        if bytes >= HUGE {
            return Mapping::reserved(file, bytes, protection, flags);
        }
        let reserved_bytes = bytes + PAGE;
        let null = std::ptr::null_mut();
        // SAFETY: a null hint lets the kernel choose unused addresses, so nothing is replaced.
        let start = unsafe { rustix::mm::mmap(null, reserved_bytes, protection, flags, file, 0) }?;
        let base = NonNull::new(start.cast::<u8>()).ok_or(Errno::NOMEM)?;
        let memory = Memory::reserved(base, reserved_bytes);
        Ok(Mapping { base, bytes, is_writable, memory })
    }

    /// The same at a multiple of a huge page.
    fn reserved(
        file: BorrowedFd<'_>,
        bytes: usize,
        protection: ProtFlags,
        flags: MapFlags,
    ) -> Result<Mapping, Errno> {
        let slack = HUGE - PAGE;
        let reserved_bytes = bytes.checked_add(2 * PAGE + slack).ok_or(Errno::NOMEM)?;
        // SAFETY: a null hint lets the kernel choose unused addresses, so nothing is replaced.
        let start = unsafe {
            rustix::mm::mmap_anonymous(
                std::ptr::null_mut(),
                reserved_bytes,
                ProtFlags::empty(),
                MapFlags::PRIVATE | MapFlags::NORESERVE,
            )
        }?;
        let start = NonNull::new(start.cast::<u8>()).ok_or(Errno::NOMEM)?;
        let offset = PAGE + (start.as_ptr() as usize + PAGE).wrapping_neg() % HUGE;
        // SAFETY: `offset + bytes` is at most `PAGE + slack + bytes`, inside the reservation.
        let base = unsafe { start.add(offset) };
        let memory = Memory::reserved(start, reserved_bytes);
        let is_writable = protection.contains(ProtFlags::WRITE);
        let mapping = Mapping { base, bytes, is_writable, memory };
        let (at, flags) = (base.as_ptr().cast(), flags | MapFlags::FIXED);
        // SAFETY: replaces only a part of the reservation above, which nobody else knows yet.
        unsafe { rustix::mm::mmap(at, bytes, protection, flags, file, 0) }?;
        Ok(mapping)
    }

    /// Two mappings of one zeroed block of the heap, for tests inside one domain.
    pub(crate) fn heap(bytes: usize, second_is_writable: bool) -> (Mapping, Mapping) {
        let block = Arc::new(HeapBlock::new(bytes));
        let mapping = |is_writable| Mapping {
            base: block.base,
            bytes,
            is_writable,
            memory: Memory::Heap { _block: Arc::clone(&block) },
        };
        (mapping(true), mapping(second_is_writable))
    }

    pub(crate) fn base(&self) -> NonNull<u8> {
        self.base
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn is_writable(&self) -> bool {
        self.is_writable
    }

    /// Fills in the page tables of a writable mapping now, so that no call pays for a first touch
    /// (2.8 us a page). Nothing depends on it: a kernel that refuses leaves it to the first touch.
    pub(crate) fn populate(&self) {
        let _ = self.advise(0, self.bytes, Advice::LinuxPopulateWrite);
    }

    /// Asks for huge pages under a fresh mapping, best effort. Call before anything is allocated.
    ///
    /// `MADV_HUGEPAGE` serves systems whose `shmem_enabled` is `advise`. Elsewhere
    /// `MADV_COLLAPSE` makes a huge page of a range of which at least one page exists, so one page
    /// of each is touched first.
    pub(crate) fn make_huge(&self) {
        let _ = self.advise(0, self.bytes, Advice::LinuxHugepage);
        for offset in (0..self.bytes / HUGE).map(|index| index * HUGE) {
            let touched = self.advise(offset, PAGE, Advice::LinuxPopulateWrite);
            if touched.is_err() || !self.collapse(offset) {
                return;
            }
        }
    }

    /// Makes a huge page of the `HUGE` bytes at `offset`; whether the kernel could.
    fn collapse(&self, offset: usize) -> bool {
        assert!(offset.checked_add(HUGE).is_some_and(|end| end <= self.bytes));
        // SAFETY: the range is in the mapping, by the assertion.
        let start = unsafe { self.base.add(offset) };
        // SAFETY: `start` and the next `HUGE` bytes are ours by the invariant; collapsing changes
        // neither contents nor protection.
        let result = unsafe { libc::madvise(start.as_ptr().cast(), HUGE, libc::MADV_COLLAPSE) };
        result == 0
    }

    fn advise(&self, offset: usize, bytes: usize, advice: Advice) -> Result<(), Errno> {
        assert!(offset.checked_add(bytes).is_some_and(|end| end <= self.bytes));
        // SAFETY: the range is in the mapping, by the assertion.
        let start = unsafe { self.base.add(offset) };
        // SAFETY: the range is ours by the invariant; the advice used here changes neither contents
        // nor protection.
        unsafe { rustix::mm::madvise(start.as_ptr().cast(), bytes, advice) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        if let Memory::Reserved { range, listed } = &mut self.memory {
            // First: from the next line on the addresses may be anybody's, in a child as well.
            drop(listed.take());
            // SAFETY: the addresses are ours alone, and spans borrow the segment, so none is left.
            let result = unsafe { rustix::mm::munmap(range.start.as_ptr().cast(), range.bytes) };
            debug_assert!(result.is_ok(), "a mapping cannot be unmapped: {result:?}");
        }
    }
}

impl Memory {
    fn reserved(start: NonNull<u8>, bytes: usize) -> Memory {
        let range = Arc::new(Range { start, bytes });
        let whom: Weak<Range> = Arc::downgrade(&range);
        Memory::Reserved { range, listed: Some(forks::tell(whom)) }
    }
}

// SAFETY: addresses; whoever has the mapping sees to it what is there.
unsafe impl Send for Range {}
// SAFETY: as above.
unsafe impl Sync for Range {}

impl InChild for Range {
    /// Puts memory in place of what is mapped there. Without memory it is a place that cannot be
    /// touched.
    fn in_child(&self) {
        let map = |protection| {
            let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::FIXED;
            let start = self.start.as_ptr().cast();
            // SAFETY: the range is ours: it leaves the list before it is unmapped. Whoever has an
            // address in it accesses it as what anybody may write.
            unsafe { rustix::mm::mmap_anonymous(start, self.bytes, protection, flags) }
        };
        let mapped = map(ProtFlags::READ | ProtFlags::WRITE).or_else(|_| map(ProtFlags::empty()));
        if mapped.is_err() {
            std::process::abort();
        }
    }
}

/// Zeroed memory of the heap, aligned to a cache line.
#[derive(Debug)]
struct HeapBlock {
    base: NonNull<u8>,
    layout: Layout,
}

// SAFETY: plain memory, valid from every thread; accessed as `Mapping` says.
unsafe impl Send for HeapBlock {}
// SAFETY: as above.
unsafe impl Sync for HeapBlock {}

impl HeapBlock {
    fn new(bytes: usize) -> HeapBlock {
        assert!(bytes > 0, "a segment has at least one byte");
        let layout = Layout::from_size_align(bytes, LINE).expect("a segment fits into memory");
        // SAFETY: the size is not 0, by the assertion.
        let base = unsafe { std::alloc::alloc_zeroed(layout) };
        let Some(base) = NonNull::new(base) else { std::alloc::handle_alloc_error(layout) };
        HeapBlock { base, layout }
    }
}

impl Drop for HeapBlock {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout; the last `Mapping` of it is gone.
        unsafe { std::alloc::dealloc(self.base.as_ptr(), self.layout) };
    }
}
