//! Memory for E-stacks: mapped many at a time, grown by being touched, never given to anybody else.
//!
//! ```text
//!   guard │ E-stack 0 ◀── grows │ guard │ E-stack 1 ◀── grows │ guard │ …      one slab
//! ```
//!
//! A guard is installed in the page table where the kernel can (6.13), so that neighbouring slabs
//! stay one mapping and 100,000 stacks do not need as many; else it is a mapping of its own.
//! Slabs stay mapped for good: a record of a thread is never freed, so that a stale reference finds
//! an ended thread and not somebody else's memory. What was touched goes back to the system.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::Errno;
use rustix::mm::{MapFlags, MprotectFlags, ProtFlags};

/// Bytes below each stack that nobody can touch. More than any frame that is not probed page by
/// page; and an odd number of pages, as stacks are an even one. Were the stacks a power of two
/// apart, all of them would compete for the same few entries of the processor's page tables, and a
/// fork would take twice as long.
const GUARD_BYTES: usize = 17 * PAGE_BYTES;

const PAGE_BYTES: usize = 4096;

/// A stack is a multiple of this.
pub const STACK_BYTES_STEP: usize = 2 * PAGE_BYTES;

/// Smallest stack: what a panic's message and a backtrace need.
pub const STACK_BYTES_MIN: usize = 64 << 10;

/// Largest.
pub const STACK_BYTES_MAX: usize = 1 << 40;

/// Bytes of a slab, about.
const SLAB_BYTES: usize = 8 << 20;

/// Whether a guard was a mapping of its own.
static GUARD_IS_MAPPED: AtomicBool = AtomicBool::new(false);

/// What a kernel means, too, that says that there is no memory for a stack.
pub fn when_no_memory() -> &'static str {
    // Relaxed: words alone depend on it, and who says them has met the error itself.
    match GUARD_IS_MAPPED.load(Ordering::Relaxed) {
        true => ", or no more mappings (vm.max_map_count): before Linux 6.13 each stack takes two",
        false => "",
    }
}

/// One stack with its guard below.
#[derive(Clone, Copy, Debug)]
pub struct Stack {
    guard: *mut u8,
    bytes: usize,
}

impl Stack {
    /// Maps a slab of stacks of so many bytes each.
    ///
    /// # Errors: what the kernel says when memory or mappings are short.
    pub fn map_slab(bytes: usize) -> Result<Vec<Stack>, Errno> {
        let spacing = GUARD_BYTES + bytes;
        let count = (SLAB_BYTES / spacing).max(1);
        let total = spacing.checked_mul(count).ok_or(Errno::NOMEM)?;
        let access = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::STACK;
        // SAFETY: a new mapping, at an address that the kernel chooses; nothing else is there.
        let slab = unsafe { rustix::mm::mmap_anonymous(ptr::null_mut(), total, access, flags) }?;
        // A huge page under a stack would be touched whole by one word. Only advice: where it is
        // not understood there are no huge pages.
        // SAFETY: it changes how the pages of the new mapping are backed, not what they hold.
        let _ = unsafe { libc::madvise(slab, total, libc::MADV_NOHUGEPAGE) };
        let mut stacks = Vec::with_capacity(count);
        for index in 0..count {
            // SAFETY: `index < count`, so it is within the mapping.
            let guard = unsafe { slab.byte_add(index * spacing) };
            if let Err(error) = install_guard(guard) {
                // SAFETY: the whole new mapping, of which nobody knows yet.
                unsafe { rustix::mm::munmap(slab, total) }?;
                return Err(error);
            }
            stacks.push(Stack { guard: guard.cast(), bytes });
        }
        Ok(stacks)
    }

    /// No stack: a kernel thread has its own.
    pub const NONE: Stack = Stack { guard: ptr::null_mut(), bytes: 0 };

    /// Bytes that can be used.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The address after the last byte. It grows down from here.
    pub fn top(&self) -> *mut u8 {
        self.guard.wrapping_add(if self.bytes == 0 { 0 } else { GUARD_BYTES + self.bytes })
    }

    /// The address of the lowest byte that can be used.
    pub fn end(&self) -> usize {
        self.top() as usize - self.bytes
    }

    /// Whether a fault at this address is this stack's overflow.
    pub fn is_guarded(&self, address: usize) -> bool {
        self.bytes > 0 && address.wrapping_sub(self.guard as usize) < GUARD_BYTES
    }

    /// Gives all that was touched back to the system.
    ///
    /// # Safety
    ///
    /// - S1 unused: nothing on the stack is used any more, and nobody runs on it.
    pub unsafe fn give_back(&self) {
        let low = self.guard.wrapping_add(GUARD_BYTES).cast::<c_void>();
        // It fails for locked memory only, which then stays.
        // SAFETY: a private mapping of ours, whose bytes nobody needs (S1).
        let _ = unsafe { libc::madvise(low, self.bytes, libc::MADV_DONTNEED) };
    }
}

/// Makes [`GUARD_BYTES`] at `guard` fault when they are touched.
fn install_guard(guard: *mut c_void) -> Result<(), Errno> {
    /// Linux 6.13.
    const MADV_GUARD_INSTALL: libc::c_int = 102;
    // SAFETY: bytes of a mapping that was just made and holds nothing.
    if unsafe { libc::madvise(guard, GUARD_BYTES, MADV_GUARD_INSTALL) } == 0 {
        return Ok(());
    }
    // Relaxed: as where it is read.
    GUARD_IS_MAPPED.store(true, Ordering::Relaxed);
    // SAFETY: as above.
    unsafe { rustix::mm::mprotect(guard, GUARD_BYTES, MprotectFlags::empty()) }
}
