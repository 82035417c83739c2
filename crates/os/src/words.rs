//! The four words of an A-stack's head, by one load where the processor has one.
//!
//! Whoever polls a head needs all four as soon as the turn has changed. A second load of a line
//! that has just come from another processor costs 5 to 15 ns: until the line is in place it waits,
//! and what was executed ahead of it is thrown away if the line is taken back meanwhile.

use nearcall_abi::AStackHead;

/// The words of a head as they were at one moment; where no single load takes all four, the turn
/// is the oldest, so that the others belong to it or to a later moment. Claims of a peer, copied.
///
/// Two machine words, so that they travel in registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeadWords {
    low: u64,
    high: u64,
}

impl HeadWords {
    /// See `nearcall_core::turn`.
    #[inline(always)]
    pub fn turn(self) -> u32 {
        self.low as u32
    }

    /// Procedure index or status.
    #[inline(always)]
    pub fn selector(self) -> u32 {
        (self.low >> 32) as u32
    }

    /// Bytes of the message.
    #[inline(always)]
    pub fn message_bytes(self) -> u32 {
        self.high as u32
    }

    /// Processor of the writer, and flags.
    #[inline(always)]
    pub fn origin(self) -> u32 {
        (self.high >> 32) as u32
    }

    /// Whether the message takes at most so many bytes and none of these `flags` of the origin is
    /// set: one comparison.
    #[inline(always)]
    pub fn is_within(self, bytes_max: u32, flags: u32) -> bool {
        let judged = u64::from(flags) << 32 | u64::from(u32::MAX);
        self.high & judged <= u64::from(bytes_max)
    }

    /// Whether the turn is `first` or the one after it, and the selector 0: one comparison.
    #[inline(always)]
    pub fn is_returned_from(self, first: u32) -> bool {
        self.low.wrapping_sub(first.into()) <= 1
    }

    /// Whether the message takes exactly so many bytes, and the origin says this processor and
    /// nothing else: one comparison.
    #[inline(always)]
    pub fn is_exactly(self, bytes: u32, processor: u32) -> bool {
        self.high == u64::from(processor) << 32 | u64::from(bytes)
    }

    /// Loads the words. What the writer of the turn wrote before it is seen after this: the load of
    /// the turn is an acquire.
    #[inline(always)]
    pub fn load(head: &AStackHead) -> HeadWords {
        load::words(head)
    }

    /// Whether this processor loads the words at once, as far as is known: one load.
    #[inline(always)]
    pub fn is_at_once() -> bool {
        load::is_at_once()
    }

    /// Whether this processor loads the words at once: finds out if nobody knows yet.
    pub fn can_be_at_once() -> bool {
        load::can_be_at_once()
    }

    /// The same as [`HeadWords::load`] where [`HeadWords::is_at_once`], for loops that asked
    /// before. Elsewhere the words may be of several moments.
    #[inline(always)]
    pub fn load_at_once(head: &AStackHead) -> HeadWords {
        load::at_once(head)
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod load {
    use std::sync::atomic::{AtomicU8, Ordering};

    use nearcall_abi::AStackHead;

    use super::HeadWords;

    /// Nobody has looked yet.
    const UNKNOWN: u8 = 0;
    const BY_PARTS: u8 = 1;
    const AT_ONCE: u8 = 2;

    /// How this processor loads 16 bytes. A word of ours, because the library's takes two
    /// comparisons at each look.
    static WAY: AtomicU8 = AtomicU8::new(UNKNOWN);

    /// Processors with AVX load 16 aligned bytes at once (Intel's and AMD's manuals say so of their
    /// own); an older one may split the load, and takes the second way.
    #[inline(always)]
    pub(super) fn words(head: &AStackHead) -> HeadWords {
        if !is_at_once() {
            return otherwise(head);
        }
        at_once(head)
    }

    #[inline(always)]
    pub(super) fn is_at_once() -> bool {
        // Relaxed: stands for itself; whoever finds it unknown finds out.
        WAY.load(Ordering::Relaxed) == AT_ONCE
    }

    pub(super) fn can_be_at_once() -> bool {
        // Relaxed: as above.
        if WAY.load(Ordering::Relaxed) == UNKNOWN {
            let has_avx = std::arch::is_x86_feature_detected!("avx");
            // Relaxed: as above.
            WAY.store(if has_avx { AT_ONCE } else { BY_PARTS }, Ordering::Relaxed);
        }
        is_at_once()
    }

    #[cold]
    #[inline(never)]
    fn otherwise(head: &AStackHead) -> HeadWords {
        can_be_at_once();
        super::one_by_one(head)
    }

    #[inline(always)]
    pub(super) fn at_once(head: &AStackHead) -> HeadWords {
        let (low, high): (u64, u64);
        // SAFETY: the first 16 bytes of a head are four atomic words, mapped as long as the
        // reference lives, and a head is aligned to 64. The load has the order of an acquire, as
        // every load of this architecture, and `options` does not say `readonly`, so that the
        // compiler moves no other access across it.
        unsafe {
            core::arch::asm!(
                "movdqa {words}, xmmword ptr [{head}]",
                "movq {low}, {words}",
                "punpckhqdq {words}, {words}",
                "movq {high}, {words}",
                head = in(reg) head,
                words = out(xmm_reg) _,
                low = lateout(reg) low,
                high = lateout(reg) high,
                options(nostack, preserves_flags),
            );
        }
        HeadWords { low, high }
    }
}

#[cfg(any(miri, not(target_arch = "x86_64")))]
mod load {
    #[inline(always)]
    pub(super) fn words(head: &nearcall_abi::AStackHead) -> super::HeadWords {
        super::one_by_one(head)
    }

    #[inline(always)]
    pub(super) fn is_at_once() -> bool {
        false
    }

    pub(super) fn can_be_at_once() -> bool {
        false
    }

    #[inline(always)]
    pub(super) fn at_once(head: &nearcall_abi::AStackHead) -> super::HeadWords {
        super::one_by_one(head)
    }
}

/// By four loads, the turn's first.
#[cfg_attr(all(target_arch = "x86_64", not(miri)), cold)]
fn one_by_one(head: &AStackHead) -> HeadWords {
    use std::sync::atomic::Ordering::{Acquire, Relaxed};
    // Acquire: pairs with the swaps of rows O1 and O4; it orders the others.
    let turn = head.turn.load(Acquire);
    // Relaxed: ordered by the turn.
    let selector = head.selector.load(Relaxed);
    // Relaxed: as above.
    let message_bytes = head.message_bytes.load(Relaxed);
    // Relaxed: as above.
    let origin = head.origin.load(Relaxed);
    let pair = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
    HeadWords { low: pair(turn, selector), high: pair(message_bytes, origin) }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;

    #[test]
    fn both_ways_find_the_same_words() {
        let head = AStackHead::default();
        for (number, word) in
            (1..).zip([&head.turn, &head.selector, &head.message_bytes, &head.origin])
        {
            word.store(number << 28 | number, Relaxed);
        }
        let words = HeadWords::load(&head);
        assert_eq!(words, one_by_one(&head));
        let want = [0x1000_0001, 0x2000_0002, 0x3000_0003, 0x4000_0004];
        assert_eq!([words.turn(), words.selector(), words.message_bytes(), words.origin()], want);
    }

    #[test]
    fn a_reply_as_most_are_is_told_by_two_comparisons() {
        let words = |turn: u64, selector: u32, bytes: u64, origin: u32| HeadWords {
            low: u64::from(selector) << 32 | turn,
            high: (u64::from(origin)) << 32 | bytes,
        };
        for (turn, selector, is_it) in
            [(7, 0u32, false), (8, 0, true), (9, 0, true), (10, 0, false), (8, 1, false)]
        {
            assert_eq!(words(turn, selector, 0, 0).is_returned_from(8), is_it, "{turn} {selector}");
        }
        // The turn before the first of all is the last one of all, with any selector.
        assert!(!words(u64::from(u32::MAX), 0, 0, 0).is_returned_from(0));
        assert!(!words(0, u32::MAX, 0, 0).is_returned_from(u32::MAX));
        assert!(words(0, 0, 4, 3).is_exactly(4, 3));
        for (bytes, origin) in [(5, 3), (4, 2), (4, 0x1_0003), (4, 0x8000_0003), (1 << 31 | 4, 3)] {
            assert!(!words(0, 0, bytes, origin).is_exactly(4, 3), "{bytes} {origin:x}");
        }
    }

    #[test]
    fn a_message_is_within_its_length_without_the_flags_that_are_asked_for() {
        let words = |message_bytes: u32, origin: u32| HeadWords {
            low: u64::MAX,
            high: u64::from(origin) << 32 | u64::from(message_bytes),
        };
        assert!(words(48, 0xffff).is_within(48, 0x7ffd_0000));
        assert!(words(48, 0x8002_0001).is_within(48, 0x7ffd_0000));
        assert!(!words(49, 0).is_within(48, 0x7ffd_0000));
        assert!(!words(u32::MAX, 0).is_within(u32::MAX - 1, 0));
        for flag in (0..32).map(|bit| 1 << bit).filter(|flag| 0x7ffd_0000 & flag != 0) {
            assert!(!words(0, flag).is_within(u32::MAX, 0x7ffd_0000), "{flag:x}");
        }
    }
}
