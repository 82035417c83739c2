//! The A-stacks of a binding as one of its two domains sees them: three segments, and where in
//! them each A-stack lies.
//!
//! Both sides use the same table. What differs is which of the two block segments is one's own to
//! write; the other is mapped read-only.

use nearcall_abi::head::flag;
use nearcall_abi::{AStackClass, SegmentLayout};
use nearcall_core::PeerFault;
use nearcall_os::astack::AStackTable;
use nearcall_os::segment::{self, Segment};

/// The sizes of a region's segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RegionBytes {
    pub heads: usize,
    pub blocks: usize,
}

impl RegionBytes {
    /// Sizes for a class list, which may come from a peer.
    pub fn of(classes: &[AStackClass]) -> Result<RegionBytes, PeerFault> {
        let layout = SegmentLayout::new(classes).map_err(PeerFault::Classes)?;
        Ok(RegionBytes {
            heads: layout.heads_bytes() as usize,
            blocks: layout.blocks_bytes() as usize,
        })
    }

    /// What either side maps of them: the heads, and the blocks of both directions.
    pub fn mapped(&self) -> usize {
        self.heads + 2 * self.blocks
    }

    /// In how many mappings, at most.
    pub fn mapping_count(&self) -> u64 {
        segment::mapping_count(self.heads) + 2 * segment::mapping_count(self.blocks)
    }
}

/// The three segments of a region, as one side maps them.
#[derive(Debug)]
pub(crate) struct Segments {
    pub heads: Segment,
    /// Blocks that this side writes.
    pub own: Segment,
    /// Blocks that the peer writes.
    pub peer: Segment,
}

/// Puts three segments of the sizes of [`RegionBytes::of`] together. What this side notes of an
/// A-stack is made from its index in the region and its class.
///
/// # Panics
///
/// If the classes have no layout, or a segment has not the size for them.
pub(crate) fn table<R>(
    classes: &[AStackClass],
    Segments { heads, own, peer }: Segments,
    record: impl Fn(u32, u32) -> R,
) -> AStackTable<R> {
    let layout = SegmentLayout::new(classes).expect("the class list was judged before");
    let extent = |index| layout.extent(index).expect("below the count");
    let of_class =
        |(class, has): (u32, &AStackClass)| std::iter::repeat_n(class, has.count as usize);
    let astacks = (0u32..).zip(classes).flat_map(of_class).zip(0u32..);
    let astacks = astacks.map(|(class, index)| (extent(index), record(index, class)));
    AStackTable::new(heads, own, peer, astacks).expect("segments have the sizes of the layout")
}

/// The word that goes into `AStackHead::origin`.
#[inline(always)]
pub(crate) fn origin_word(flags: u32) -> u32 {
    (nearcall_os::processor::current() & flag::PROCESSOR) | flags
}
