//! Memory that arguments lie in while a procedure reads them: from the allocator, and kept for
//! later calls, so that none allocates once there is enough of it.
//!
//! ```text
//!  call begins   nothing
//!  first payload a block that is kept: the one that the thread kept last, or another; or a new one
//!  it is full    one twice as long beside it
//!  call ends     the longest block is kept, the others are given back
//!  shut down     what is kept is given back
//! ```
//!
//! A call that waits keeps its block; what its thread serves meanwhile has another. Blocks are the
//! program's and no thread's: threads come and go with calls that wait.

use std::cell::Cell;
use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, Ordering};

use super::memory::{nearcall_allocate, nearcall_free};

/// What every piece is aligned to: as malloc aligns, whatever the allocator does.
const ALIGNMENT_BYTES: usize = 16;

/// No block is shorter.
const BLOCK_BYTES_MIN: usize = 4 << 10;

/// No longer block is kept; the header tells it.
const KEPT_BYTES_MAX: usize = 8 << 20;

/// How many are kept: one for each of so many calls at once. The header tells it.
const KEPT_COUNT_MAX: usize = 16;

/// What is kept, or null. Whoever takes a block out has it alone.
static KEPT: [Slot; KEPT_COUNT_MAX] =
    [const { Slot(AtomicPtr::new(std::ptr::null_mut())) }; KEPT_COUNT_MAX];

/// On a line of its own: a thread comes back to the same one.
#[repr(align(128))]
struct Slot(AtomicPtr<Block>);

thread_local! {
    /// Where this thread kept a block last.
    static LAST: Cell<usize> = const { Cell::new(0) };
}

/// Memory of one call, which is kept for others when this is dropped.
#[derive(Default)]
pub struct Scratch {
    /// What pieces are taken from.
    current: Option<Box<Block>>,
    /// How much of it is taken.
    used_bytes: usize,
    /// Blocks without room for what came next.
    full: Vec<Block>,
}

/// Memory of the allocator's, which is given back when this is dropped.
struct Block {
    memory: *mut c_void,
    /// How far into it the first piece is.
    begin: usize,
    /// Bytes from there on, all of which were written once.
    bytes: usize,
}

impl Scratch {
    /// Memory for `bytes` bytes, which hold what an earlier call has left there; null if there is
    /// none. It stays where it is until this is dropped.
    pub fn room(&mut self, bytes: usize) -> *mut c_void {
        let Some(padded) = bytes.max(1).checked_next_multiple_of(ALIGNMENT_BYTES) else {
            return std::ptr::null_mut();
        };
        if self.current.is_none() {
            self.current = taken();
        }
        let left = self.current.as_ref().map_or(0, |block| block.bytes - self.used_bytes);
        if left < padded && !self.grow(padded) {
            return std::ptr::null_mut();
        }
        let Some(block) = &self.current else { return std::ptr::null_mut() };
        // In range: there is room from `begin` on for all that is taken.
        let piece = block.memory.wrapping_byte_add(block.begin + self.used_bytes);
        self.used_bytes += padded;
        piece
    }

    /// Goes on in a block with room for `bytes` bytes. False, and nothing has changed, without
    /// memory.
    #[cold]
    fn grow(&mut self, bytes: usize) -> bool {
        let before = self.current.as_ref().map_or(0, |block| block.bytes);
        let wanted = (2 * before).clamp(BLOCK_BYTES_MIN, KEPT_BYTES_MAX).max(bytes);
        let Some(block) = Block::new(wanted) else {
            return false;
        };
        match &mut self.current {
            Some(current) => self.full.push(std::mem::replace(current, block)),
            None => self.current = Some(Box::new(block)),
        }
        self.used_bytes = 0;
        true
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let Some(mut longest) = self.current.take() else { return };
        let fits = |block: &Block| block.bytes <= KEPT_BYTES_MAX;
        if !fits(&longest) {
            let others = self.full.drain(..).filter(fits);
            let Some(other) = others.max_by_key(|block| block.bytes) else { return };
            *longest = other;
        }
        keep(longest);
    }
}

impl Block {
    fn new(bytes: usize) -> Option<Block> {
        let whole = bytes.checked_add(ALIGNMENT_BYTES)?;
        let memory = nearcall_allocate(whole);
        if memory.is_null() {
            return None;
        }
        // Once: what is copied to it later is copied to bytes.
        // SAFETY: just allocated, with as many bytes.
        unsafe { memory.cast::<u8>().write_bytes(0, whole) };
        let begin = memory.addr().next_multiple_of(ALIGNMENT_BYTES) - memory.addr();
        Some(Block { memory, begin, bytes })
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: allocated by `new`, and given back here alone.
        unsafe { nearcall_free(self.memory) };
    }
}

/// A block that is kept. Never inlined: whoever asks may have begun on another thread.
#[inline(never)]
fn taken() -> Option<Box<Block>> {
    from_last().find_map(|index| {
        let Slot(slot) = &KEPT[index];
        // Relaxed: a hint.
        let seen = slot.load(Ordering::Relaxed);
        if seen.is_null() { None } else { take_out(slot) }
    })
}

/// What is in a slot.
fn take_out(slot: &AtomicPtr<Block>) -> Option<Box<Block>> {
    // Acquire: what the call before has written to the block comes before what this one does.
    let block = slot.swap(std::ptr::null_mut(), Ordering::Acquire);
    // SAFETY: `keep` alone puts blocks there, made of boxes, and each is taken out once.
    (!block.is_null()).then(|| unsafe { Box::from_raw(block) })
}

/// Keeps it for a later call, or gives it back if there are enough. Never inlined, as above.
#[inline(never)]
fn keep(block: Box<Block>) {
    let block = Box::into_raw(block);
    let is_kept = from_last().any(|index| {
        let Slot(slot) = &KEPT[index];
        // Relaxed: a hint.
        let is_empty = slot.load(Ordering::Relaxed).is_null();
        // Release: as `take_out` says. Relaxed: what is there stays there.
        let (put, stays) = (Ordering::Release, Ordering::Relaxed);
        let none = std::ptr::null_mut();
        let is_put = is_empty && slot.compare_exchange(none, block, put, stays).is_ok();
        if is_put {
            LAST.set(index);
        }
        is_put
    });
    if !is_kept {
        // SAFETY: a box until just now, and nobody else has it.
        drop(unsafe { Box::from_raw(block) });
    }
}

/// All slots, from that on where this thread kept a block last.
fn from_last() -> impl Iterator<Item = usize> {
    let last = LAST.get();
    (last..KEPT_COUNT_MAX).chain(0..last)
}

/// Gives back what is kept. Calls that run keep what they have, and what comes has new memory.
pub fn give_back() {
    KEPT.iter().for_each(|Slot(slot)| drop(take_out(slot)));
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, MutexGuard, PoisonError};

    use super::*;

    /// Nothing is kept when a test begins, which then has all that is kept alone.
    fn alone() -> MutexGuard<'static, ()> {
        static ALONE: Mutex<()> = Mutex::new(());
        let guard = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        give_back();
        guard
    }

    /// How long the blocks are that are kept, which they are no more.
    fn kept_bytes() -> Vec<usize> {
        KEPT.iter().filter_map(|Slot(slot)| take_out(slot)).map(|block| block.bytes).collect()
    }

    /// A call whose payloads have so many bytes.
    fn call(payloads: &[usize]) {
        let mut scratch = Scratch::default();
        payloads.iter().for_each(|&bytes| assert!(!scratch.room(bytes).is_null()));
    }

    #[test]
    fn the_next_call_has_the_same_memory() {
        let _alone = alone();
        let first = Scratch::default().room(100);
        assert_eq!(Scratch::default().room(BLOCK_BYTES_MIN), first);
    }

    #[test]
    fn pieces_are_apart_and_aligned() {
        let _alone = alone();
        let mut scratch = Scratch::default();
        let pieces = [0, 1, 16, 17, 1].map(|bytes| scratch.room(bytes).addr());
        assert_eq!(pieces.map(|piece| piece - pieces[0]), [0, 16, 32, 48, 80]);
        assert_eq!(pieces[0] % ALIGNMENT_BYTES, 0);
    }

    #[test]
    fn a_call_that_outgrows_its_block_leaves_a_longer_one() {
        let _alone = alone();
        call(&[100; 1_000]);
        call(&[100; 1_000]);
        let mut scratch = Scratch::default();
        (0..1_000).for_each(|_| assert!(!scratch.room(100).is_null()));
        assert!(scratch.full.is_empty());
    }

    #[test]
    fn a_call_within_a_call_has_memory_of_its_own() {
        let _alone = alone();
        let mut waiting = Scratch::default();
        let piece = waiting.room(100);
        let within = Scratch::default().room(100);
        assert_ne!(within, piece);
        drop(waiting);
        assert_eq!(kept_bytes(), [BLOCK_BYTES_MIN; 2]);
    }

    #[test]
    fn what_is_too_long_is_given_back_and_shorter_memory_is_kept() {
        let _alone = alone();
        call(&[100, KEPT_BYTES_MAX + 1]);
        assert_eq!(kept_bytes(), [BLOCK_BYTES_MIN]);
    }

    #[test]
    fn a_block_for_each_of_so_many_calls_is_kept() {
        let _alone = alone();
        let waiting = [(); KEPT_COUNT_MAX + 1].map(|()| {
            let mut scratch = Scratch::default();
            assert!(!scratch.room(1).is_null());
            scratch
        });
        drop(waiting);
        assert_eq!(kept_bytes(), [BLOCK_BYTES_MIN; KEPT_COUNT_MAX]);
    }

    #[test]
    fn another_thread_goes_on_with_the_same_memory() {
        let _alone = alone();
        let first = Scratch::default().room(100).addr();
        let other = std::thread::spawn(|| Scratch::default().room(100).addr());
        assert_eq!(other.join().expect("it has memory"), first);
    }

    #[test]
    fn threads_at_once_have_memory_of_their_own() {
        let _alone = alone();
        let calls = |own: u8| {
            for _ in 0..200 {
                let mut scratch = Scratch::default();
                let piece = scratch.room(64);
                // SAFETY: as many bytes, of this call alone: that is what is tested.
                let piece = unsafe { super::super::bytes_mut(piece.cast(), 64) };
                piece.fill(own);
                std::thread::yield_now();
                assert!(piece.iter().all(|byte| *byte == own));
            }
        };
        std::thread::scope(|threads| {
            (0..KEPT_COUNT_MAX as u8 + 4).for_each(|own| drop(threads.spawn(move || calls(own))));
        });
        assert!(kept_bytes().len() <= KEPT_COUNT_MAX);
    }

    #[test]
    fn more_than_there_is_has_no_room() {
        let _alone = alone();
        let mut scratch = Scratch::default();
        assert!(scratch.room(usize::MAX).is_null());
        assert!(scratch.room(usize::MAX - 64).is_null());
        assert!(!scratch.room(1).is_null());
    }
}
