//! The processor that a thread runs on: which one it is, which ones it may have, and how to wait a
//! little without giving it up.

use std::io;
use std::num::NonZeroIsize;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::thread::CpuSet;

use crate::return_stack;
use crate::span::SharedLine;

/// Number of the processor that the caller runs on. It may have moved when this returns: a hint.
///
/// # Cost: two loads (0.5 ns) with glibc 2.35 or newer; else the vDSO (2 ns).
#[inline]
pub fn current() -> u32 {
    rseq::processor().unwrap_or_else(|| rustix::thread::sched_getcpu() as u32)
}

/// How far from the thread pointer the kernel keeps the number of the processor that a thread runs
/// on, in every thread of this process: for who has asked once and calls often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberOffset {
    bytes: NonZeroIsize,
}

impl NumberOffset {
    /// `None` where the kernel keeps no numbers.
    pub fn find() -> Option<NumberOffset> {
        rseq::processor()?;
        rseq::offset().and_then(NonZeroIsize::new).map(|bytes| NumberOffset { bytes })
    }

    /// For the call path in C, which loads the number itself.
    pub fn bytes(self) -> isize {
        self.bytes.get()
    }

    /// The number of the processor that the caller runs on; of a thread that the kernel keeps none
    /// for, which has taken its area back, a number that no processor has. Cost: one load.
    #[inline(always)]
    pub fn current(self) -> u32 {
        rseq::kept(self.bytes.get())
    }
}

/// Where the kernel keeps the number of the processor that one thread runs on: for a loop that asks
/// often. Only that thread has it.
#[derive(Clone, Copy, Debug)]
pub struct KeptNumber {
    word: NonNull<AtomicU32>,
}

impl KeptNumber {
    /// The calling thread's; `None` where the kernel keeps none.
    #[inline]
    pub fn of_this_thread() -> Option<KeptNumber> {
        rseq::processor()?;
        rseq::word().map(|word| KeptNumber { word })
    }

    /// The same as [`current`]. Cost: one load.
    #[inline(always)]
    pub fn current(self) -> u32 {
        // SAFETY: S1 registered: `of_this_thread` saw a live word there, which stays as long as the
        // thread runs, and this is not sent to another; the kernel alone writes it, at once.
        let word = unsafe { self.word.as_ref() };
        // Relaxed: a hint, which stands for itself.
        word.load(Ordering::Relaxed)
    }
}

/// Numbers of the processors that the calling thread may run on, in order. Never empty.
pub fn allowed() -> Vec<u32> {
    let Ok(set) = rustix::thread::sched_getaffinity(None) else {
        return vec![current()];
    };
    let allowed: Vec<u32> =
        (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).map(|cpu| cpu as u32).collect();
    if allowed.is_empty() { vec![current()] } else { allowed }
}

/// How many processors the calling thread may run on; at least 1.
pub fn count_allowed() -> usize {
    allowed().len()
}

/// Binds the calling thread to one processor.
///
/// # Errors: a number that the machine or the domain's cpuset does not have.
pub fn pin(processor: u32) -> io::Result<()> {
    allow(&[processor])
}

/// Lets the calling thread run on these processors and on no other.
///
/// # Errors: a number over what the system knows, or none that the machine or the domain's cpuset
/// has.
///
/// # Cost: a system call, 1.5 us, up to 8 us if the thread has not made it lately; and a migration
/// if the thread runs on none of them.
pub fn allow(processors: &[u32]) -> io::Result<()> {
    let mut set = CpuSet::new();
    for processor in processors {
        if *processor as usize >= CpuSet::MAX_CPU {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        set.set(*processor as usize);
    }
    Ok(rustix::thread::sched_setaffinity(None, &set)?)
}

/// Lets another thread that is ready on this processor run first. Comes back after microseconds if
/// that thread does the same, after milliseconds if not.
#[inline]
pub fn yield_now() {
    rustix::thread::sched_yield();
    return_stack::refill();
}

/// One pause between two polls of a word: lets the line travel and the sibling run.
#[inline]
pub fn relax() {
    std::hint::spin_loop();
}

/// The shortest pause between two polls, 20 ns, in which nothing is executed ahead.
///
/// A load that was executed ahead of a poll's branch is thrown away when the line is taken by its
/// writer, and all that came after it: some 25 ns at each end of a call. The fences see to it that
/// there is none. Measured between two near processors, with 10 ns of work on either side of a line
/// passed to and fro: 130 ns with [`relax`], 75 to 85 with this.
#[inline(always)]
pub fn relax_briefly() {
    brief::pause();
}

/// How long to leave a line alone that was just given to another processor, in cycles: a loop of so
/// many turns, one a cycle, so that it is exact to a nanosecond and costs nothing to begin.
///
/// Not in nanoseconds: what a loop takes of those, measured when a process starts, is off by half
/// as often as not, because the processor is slow then, or shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linger {
    cycles: u32,
}

impl Linger {
    /// So many cycles.
    pub const fn of_cycles(cycles: u32) -> Linger {
        Linger { cycles }
    }

    /// Lets the time pass. No load that comes after it is executed before it has.
    #[inline(always)]
    pub fn pass(self) {
        if self.cycles > 0 {
            linger::turn(self.cycles);
            brief::fence();
        }
    }
}

/// Asks for the line in a state to be written, before a poll that will be followed by a write: on
/// processors of two clusters that saves a second transfer. A hint; stores nothing.
#[inline]
pub fn prefetch_write<T: SharedLine>(line: &T) {
    prefetch::write(std::ptr::from_ref(line).cast());
}

/// Asks for the line that begins there, to be read. A hint.
#[inline(always)]
pub(crate) fn prefetch_read_at(line: *const u8) {
    prefetch::read(line);
}

/// Asks for the line that begins there, in a state to be written. A hint; stores nothing.
#[inline(always)]
pub(crate) fn prefetch_write_at(line: *const u8) {
    prefetch::write(line);
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod prefetch {
    #[inline]
    pub(super) fn read(line: *const u8) {
        // SAFETY: a prefetch is a hint and faults at no address.
        unsafe {
            core::arch::asm!(
                "prefetcht0 byte ptr [{line}]",
                line = in(reg) line,
                options(nostack, preserves_flags, readonly),
            );
        }
    }

    /// `prefetchw`, by name: `_mm_prefetch` with `_MM_HINT_ET0` comes out as `prefetcht0` unless
    /// the target has the feature. Processors without the instruction take it for a `nop`.
    #[inline]
    pub(super) fn write(line: *const u8) {
        // SAFETY: a prefetch is a hint and faults at no address.
        unsafe {
            core::arch::asm!(
                "prefetchw byte ptr [{line}]",
                line = in(reg) line,
                options(nostack, preserves_flags, readonly),
            );
        }
    }
}

#[cfg(all(target_arch = "aarch64", not(miri)))]
mod prefetch {
    #[inline]
    pub(super) fn read(line: *const u8) {
        // SAFETY: a prefetch is a hint and faults at no address.
        unsafe {
            core::arch::asm!(
                "prfm pldl1keep, [{line}]",
                line = in(reg) line,
                options(nostack, preserves_flags, readonly),
            );
        }
    }

    #[inline]
    pub(super) fn write(line: *const u8) {
        // SAFETY: a prefetch is a hint and faults at no address.
        unsafe {
            core::arch::asm!(
                "prfm pstl1keep, [{line}]",
                line = in(reg) line,
                options(nostack, preserves_flags, readonly),
            );
        }
    }
}

#[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod prefetch {
    #[inline]
    pub(super) fn read(_line: *const u8) {}

    #[inline]
    pub(super) fn write(_line: *const u8) {}
}

/// The `cpu_id` word that the kernel keeps up to date in each thread's rseq area, which glibc
/// registers at a fixed distance from the thread pointer.
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_env = "gnu", not(miri)))]
mod rseq {
    use std::ptr::NonNull;
    use std::sync::atomic::{AtomicIsize, AtomicU32, Ordering};

    /// Where `cpu_id` lies in `struct rseq`.
    const CPU_ID_OFFSET: isize = 4;

    /// glibc has not been asked yet. (No offset is odd.)
    const UNKNOWN: isize = 1;
    /// glibc registers no rseq area.
    const ABSENT: isize = 3;

    /// Where `cpu_id` lies from the thread pointer, once known.
    static OFFSET: AtomicIsize = AtomicIsize::new(UNKNOWN);

    /// The processor's number; `None` if the kernel does not keep it for this thread.
    #[inline]
    pub(super) fn processor() -> Option<u32> {
        // Relaxed: the word stands for itself, and whoever finds it unknown asks again.
        let mut offset = OFFSET.load(Ordering::Relaxed);
        if offset & 1 != 0 {
            if offset == ABSENT {
                return None;
            }
            offset = find()?;
        }
        // SAFETY: S1 registered: `find` saw a live area at this offset, in every thread.
        let cpu_id = unsafe { load(offset) };
        // Negative where the kernel has not registered this thread.
        u32::try_from(cpu_id).ok()
    }

    /// The word at an offset that was found.
    #[inline(always)]
    pub(super) fn kept(offset: isize) -> u32 {
        // SAFETY: S1 registered: `find` saw a live area at this offset, in every thread.
        unsafe { load(offset) as u32 }
    }

    /// Where `cpu_id` lies from the thread pointer.
    pub(super) fn offset() -> Option<isize> {
        // Relaxed: as in `processor`.
        match OFFSET.load(Ordering::Relaxed) {
            ABSENT | UNKNOWN => find(),
            offset => Some(offset),
        }
    }

    /// That word of the calling thread, once `processor` has found one.
    pub(super) fn word() -> Option<NonNull<AtomicU32>> {
        let thread = crate::thread_pointer::thread_pointer()? as usize;
        NonNull::new(std::ptr::with_exposed_provenance_mut(thread.wrapping_add_signed(offset()?)))
    }

    #[cold]
    fn find() -> Option<isize> {
        let offset = ask();
        // Relaxed: as in `processor`.
        OFFSET.store(offset.unwrap_or(ABSENT), Ordering::Relaxed);
        offset
    }

    /// From glibc's `__rseq_offset`, if it has one and registers areas of at least 8 bytes.
    fn ask() -> Option<isize> {
        let size = symbol(c"__rseq_size").cast::<libc::c_uint>();
        let offset = symbol(c"__rseq_offset").cast::<libc::ptrdiff_t>();
        if size.is_null() || offset.is_null() {
            return None;
        }
        // SAFETY: glibc's symbol of that name is a constant `unsigned int`.
        let size = unsafe { size.read() };
        // SAFETY: glibc's symbol of that name is a constant `ptrdiff_t`.
        let offset = unsafe { offset.read() };
        (size >= 8 && offset & 1 == 0).then_some(offset + CPU_ID_OFFSET)
    }

    fn symbol(name: &std::ffi::CStr) -> *mut libc::c_void {
        // SAFETY: `name` is a C string; looking a symbol up changes nothing.
        unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }
    }

    /// Loads the word that far from the thread pointer, with one instruction, so that a move to
    /// another processor in between is a number that was right a moment ago.
    ///
    /// # Safety
    ///
    /// - S1 registered: a live `i32` lies at that offset from the thread pointer.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    unsafe fn load(offset: isize) -> i32 {
        let word: i32;
        // SAFETY: S1; `fs` is the thread pointer on x86_64.
        unsafe {
            core::arch::asm!(
                "mov {word:e}, dword ptr fs:[{offset}]",
                word = out(reg) word,
                offset = in(reg) offset,
                options(nostack, preserves_flags, readonly),
            );
        }
        word
    }

    /// Loads the word that far from the thread pointer.
    ///
    /// # Safety
    ///
    /// - S1 registered: a live `i32` lies at that offset from the thread pointer.
    #[cfg(target_arch = "aarch64")]
    #[inline]
    unsafe fn load(offset: isize) -> i32 {
        let word: i32;
        // SAFETY: S1; `tpidr_el0` is the thread pointer on aarch64.
        unsafe {
            core::arch::asm!(
                "mrs {thread}, tpidr_el0",
                "ldr {word:w}, [{thread}, {offset}]",
                thread = out(reg) _,
                word = lateout(reg) word,
                offset = in(reg) offset,
                options(nostack, preserves_flags, readonly),
            );
        }
        word
    }
}

#[cfg(not(all(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    target_env = "gnu",
    not(miri)
)))]
mod rseq {
    #[inline]
    pub(super) fn processor() -> Option<u32> {
        None
    }

    pub(super) fn kept(_offset: isize) -> u32 {
        unreachable!("no offset is found here")
    }

    pub(super) fn offset() -> Option<isize> {
        None
    }

    pub(super) fn word() -> Option<std::ptr::NonNull<std::sync::atomic::AtomicU32>> {
        None
    }
}

#[cfg(test)]
mod tests {
    use nearcall_abi::AStackHead;

    use super::*;
    use crate::thread_pointer::thread_pointer;

    /// Runs on a thread of its own, so that the test runner's threads stay free.
    fn elsewhere<R: Send + 'static>(run: impl FnOnce() -> R + Send + 'static) -> R {
        std::thread::spawn(run).join().unwrap()
    }

    #[test]
    fn a_pinned_thread_runs_where_it_is_pinned() {
        for processor in allowed() {
            let seen = elsewhere(move || {
                pin(processor).unwrap();
                (current(), allowed(), count_allowed())
            });
            assert_eq!(seen, (processor, vec![processor], 1));
        }
    }

    #[cfg(target_env = "gnu")]
    #[test]
    fn the_rseq_word_and_the_system_call_agree() {
        for processor in allowed() {
            let seen = elsewhere(move || {
                pin(processor).unwrap();
                let kept = KeptNumber::of_this_thread().map(KeptNumber::current);
                // Where it lies is known where the thread pointer is.
                assert_eq!(kept, thread_pointer().and_then(|_| rseq::processor()));
                assert_eq!(NumberOffset::find().map(NumberOffset::current), rseq::processor());
                (rseq::processor(), rustix::thread::sched_getcpu() as u32)
            });
            assert_eq!(seen.1, processor);
            assert!(seen.0.is_none_or(|rseq| rseq == processor), "{seen:?}");
        }
    }

    #[test]
    fn a_processor_that_is_not_there_is_refused() {
        assert!(elsewhere(|| pin(CpuSet::MAX_CPU as u32 - 1)).is_err());
        assert!(elsewhere(|| pin(u32::MAX)).is_err());
    }

    #[test]
    fn prefetching_a_line_changes_nothing() {
        let head = AStackHead::default();
        prefetch_write(&head);
        assert_eq!(head.turn.into_inner(), 0);
    }
}

mod linger {
    /// One turn a cycle.
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    #[inline(always)]
    pub(super) fn turn(turns: u32) {
        // SAFETY: counts a register down to zero from a number that is not zero.
        unsafe {
            core::arch::asm!(
                "2:",
                "dec {turns:e}",
                "jnz 2b",
                turns = inout(reg) turns => _,
                options(nomem, nostack),
            );
        }
    }

    /// One turn a cycle.
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    #[inline(always)]
    pub(super) fn turn(turns: u32) {
        // SAFETY: counts a register down to zero from a number that is not zero.
        unsafe {
            core::arch::asm!(
                "2:",
                "subs {turns:w}, {turns:w}, #1",
                "b.ne 2b",
                turns = inout(reg) turns => _,
                options(nomem, nostack),
            );
        }
    }

    #[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
    pub(super) fn turn(turns: u32) {
        for turn in 0..turns {
            std::hint::black_box(turn);
        }
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod brief {
    #[inline(always)]
    pub fn fence() {
        // SAFETY: touches no memory; part of every x86_64. That memory may be read and written here
        // is what keeps what follows behind it.
        unsafe { core::arch::asm!("lfence", options(nostack, preserves_flags)) };
    }

    #[inline(always)]
    pub fn pause() {
        // SAFETY: three instructions that touch no memory; part of every x86_64. That memory may be
        // read and written here is what keeps the polls on their sides of it.
        unsafe {
            core::arch::asm!(
                "lfence",
                "rdtsc",
                "lfence",
                out("eax") _,
                out("edx") _,
                options(nostack, preserves_flags),
            );
        }
    }
}

#[cfg(any(miri, not(target_arch = "x86_64")))]
mod brief {
    #[inline(always)]
    pub fn fence() {
        // Acquire: keeps the loads that follow from what came before, which is all that is wanted.
        std::sync::atomic::fence(std::sync::atomic::Ordering::Acquire);
    }

    #[inline(always)]
    pub fn pause() {
        std::hint::spin_loop();
    }
}
