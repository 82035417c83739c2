//! Where the A-stacks of a binding lie in its three segments. Both sides compute it from the class
//! list of their interface, which must be the same; neither sends an offset.
//!
//! ```text
//! heads     │ head 0 │ head 1 │ … │ pad to a page
//! requests  │ line 0, block 0 │ line 1, block 1 │ … │ pad to a page
//! replies   │ the same shape as requests                    │
//! ```
//!
//! A-stacks are numbered class by class and lie contiguously, so that a claimed index is checked
//! by one comparison (L49).

use crate::{AStackClass, LINE_BYTES, PAGE_BYTES};

/// Most A-stacks that one extent may hold.
pub const ASTACKS_MAX: u32 = 4096;

/// Largest block of a class, bytes; what is longer goes out of line.
pub const BLOCK_BYTES_MAX: u32 = 1 << 20;

/// Where one A-stack lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Byte offset of the head in the heads segment.
    pub head_offset_bytes: u32,
    /// Byte offset of the request line in the requests segment, and of the reply line in the
    /// replies segment.
    pub line_offset_bytes: u32,
    /// Bytes of the block behind that line.
    pub block_bytes: u32,
}

/// Sizes of the segments, and the place of each A-stack in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentLayout<'c> {
    classes: &'c [AStackClass],
    astack_count: u32,
    blocks_bytes: u32,
}

/// Why a class list has no layout: what was claimed, and the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayoutRefused {
    /// No class, or none with an A-stack.
    Empty,
    /// More A-stacks than [`ASTACKS_MAX`].
    TooMany {
        /// A-stacks of all classes.
        claimed: u64,
    },
    /// A block size that is over [`BLOCK_BYTES_MAX`], not a power of two, or less than a line.
    BlockBytes {
        /// The block size.
        claimed: u32,
    },
    /// The blocks together do not fit into 2 GiB.
    TooLarge {
        /// Bytes of all lines and blocks.
        claimed: u64,
    },
}

impl<'c> SegmentLayout<'c> {
    /// Judges a class list, which may come from a peer.
    pub fn new(classes: &'c [AStackClass]) -> Result<SegmentLayout<'c>, LayoutRefused> {
        let mut count = 0u64;
        let mut bytes = 0u64;
        for class in classes {
            let block = class.block_bytes;
            let is_whole = block == 0 || (block >= LINE_BYTES && block.is_power_of_two());
            if block > BLOCK_BYTES_MAX || !is_whole {
                return Err(LayoutRefused::BlockBytes { claimed: block });
            }
            count += u64::from(class.count);
            bytes += u64::from(class.count) * u64::from(LINE_BYTES + block);
        }
        if count == 0 {
            return Err(LayoutRefused::Empty);
        }
        if count > u64::from(ASTACKS_MAX) {
            return Err(LayoutRefused::TooMany { claimed: count });
        }
        if bytes > 1 << 31 {
            return Err(LayoutRefused::TooLarge { claimed: bytes });
        }
        Ok(SegmentLayout { classes, astack_count: count as u32, blocks_bytes: bytes as u32 })
    }

    /// A-stacks of all classes.
    pub fn astack_count(&self) -> u32 {
        self.astack_count
    }

    /// Size of the heads segment.
    pub fn heads_bytes(&self) -> u32 {
        whole_pages(self.astack_count * LINE_BYTES)
    }

    /// Size of the requests segment, and of the replies segment.
    pub fn blocks_bytes(&self) -> u32 {
        whole_pages(self.blocks_bytes)
    }

    /// Indices of the A-stacks of class `class`.
    pub fn class_range(&self, class: usize) -> core::ops::Range<u32> {
        let base: u32 = self.classes[..class].iter().map(|class| class.count).sum();
        base..base + self.classes[class].count
    }

    /// Where the A-stack with this index lies; `None` if there is none.
    pub fn extent(&self, index: u32) -> Option<Extent> {
        let mut base = 0u32;
        let mut line_offset_bytes = 0u32;
        for class in self.classes {
            let stride = LINE_BYTES + class.block_bytes;
            if index - base < class.count {
                line_offset_bytes += (index - base) * stride;
                let head_offset_bytes = index * LINE_BYTES;
                let block_bytes = class.block_bytes;
                return Some(Extent { head_offset_bytes, line_offset_bytes, block_bytes });
            }
            base += class.count;
            line_offset_bytes += class.count * stride;
        }
        None
    }
}

const fn whole_pages(bytes: u32) -> u32 {
    bytes.div_ceil(PAGE_BYTES) * PAGE_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLASSES: [AStackClass; 2] =
        [AStackClass { block_bytes: 0, count: 5 }, AStackClass { block_bytes: 2048, count: 5 }];

    #[test]
    fn astacks_lie_class_by_class_without_a_gap() {
        let layout = SegmentLayout::new(&CLASSES).unwrap();
        assert_eq!(layout.astack_count(), 10);
        let last_small = layout.extent(4).unwrap();
        assert_eq!((last_small.line_offset_bytes, last_small.block_bytes), (4 * 64, 0));
        let first_large = layout.extent(5).unwrap();
        assert_eq!((first_large.head_offset_bytes, first_large.line_offset_bytes), (320, 320));
        assert_eq!(layout.class_range(1), 5..10);
    }

    #[test]
    fn an_index_past_the_end_has_no_extent() {
        assert_eq!(SegmentLayout::new(&CLASSES).unwrap().extent(10), None);
    }

    #[test]
    fn every_extent_ends_inside_its_segment() {
        let layout = SegmentLayout::new(&CLASSES).unwrap();
        for index in 0..layout.astack_count() {
            let extent = layout.extent(index).unwrap();
            assert!(extent.head_offset_bytes + LINE_BYTES <= layout.heads_bytes());
            let end = extent.line_offset_bytes + LINE_BYTES + extent.block_bytes;
            assert!(end <= layout.blocks_bytes());
        }
    }

    #[test]
    fn a_class_list_past_a_limit_is_refused_with_the_claim() {
        let claim = |block_bytes, count| {
            let classes = [AStackClass { block_bytes, count }];
            SegmentLayout::new(&classes).map(|_| ()).unwrap_err()
        };
        assert_eq!(claim(0, 0), LayoutRefused::Empty);
        assert_eq!(claim(0, 4097), LayoutRefused::TooMany { claimed: 4097 });
        assert_eq!(claim(3, 1), LayoutRefused::BlockBytes { claimed: 3 });
        assert_eq!(claim(32, 1), LayoutRefused::BlockBytes { claimed: 32 });
        assert_eq!(claim(1 << 21, 1), LayoutRefused::BlockBytes { claimed: 1 << 21 });
        assert!(matches!(claim(1 << 20, 4096), LayoutRefused::TooLarge { .. }));
    }
}
