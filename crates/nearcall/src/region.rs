//! The A-stacks of a binding as one of its two domains sees them: three segments, and where in
//! them each A-stack lies.
//!
//! Both sides use this one type. What differs is which of the two block segments is one's own to
//! write; the other is mapped read-only.

use nearcall_abi::head::flag;
use nearcall_abi::{AStackClass, AStackHead, Extent, INLINE_BYTES, LINE_BYTES, SegmentLayout};
use nearcall_core::PeerFault;
use nearcall_os::segment::Segment;
use nearcall_os::span::{ReadLine, SharedLine, Span, SpanMut};

/// Offset of the inline bytes in a head.
const INLINE_OFFSET_BYTES: usize = 16;

const INSIDE: &str = "an extent lies in its segment";

/// A contiguous set of A-stacks.
#[derive(Debug)]
pub(crate) struct Region {
    heads: Segment,
    own: Segment,
    peer: Segment,
    extents: Vec<Extent>,
}

/// One A-stack, seen from one side.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AStack<'r> {
    /// The line that both sides write in turn.
    pub head: &'r AStackHead,
    /// Its inline bytes.
    pub inline: SpanMut<'r>,
    /// The block that this side writes.
    pub own: SpanMut<'r>,
    /// The block that the peer writes.
    pub peer: Span<'r>,
    region: &'r Region,
    line_offset: usize,
}

/// The three sizes of a region.
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
}

impl Region {
    /// Puts three segments of the sizes of [`RegionBytes::of`] together.
    ///
    /// # Panics
    ///
    /// If the classes have no layout, or a segment has not the size for them.
    pub fn new(classes: &[AStackClass], heads: Segment, own: Segment, peer: Segment) -> Region {
        let layout = SegmentLayout::new(classes).expect("the class list was judged before");
        assert_eq!(heads.bytes(), layout.heads_bytes() as usize, "size of the heads segment");
        assert_eq!(own.bytes(), layout.blocks_bytes() as usize, "size of our own segment");
        assert_eq!(peer.bytes(), layout.blocks_bytes() as usize, "size of the peer's segment");
        let extent = |index| layout.extent(index).expect("below the count");
        let extents = (0..layout.astack_count()).map(extent).collect();
        Region { heads, own, peer, extents }
    }

    /// How many A-stacks there are.
    #[inline]
    pub fn count(&self) -> u32 {
        self.extents.len() as u32
    }

    /// The head of A-stack `index`.
    ///
    /// # Panics
    ///
    /// If there is none.
    #[inline]
    pub fn head(&self, index: u32) -> &AStackHead {
        line(&self.heads, self.extents[index as usize].head_offset_bytes as usize)
    }

    /// A-stack `index`.
    ///
    /// # Panics
    ///
    /// If there is none.
    #[inline]
    pub fn astack(&self, index: u32) -> AStack<'_> {
        let extent = self.extents[index as usize];
        let head_offset = extent.head_offset_bytes as usize;
        let line_offset = extent.line_offset_bytes as usize;
        let block_offset = line_offset + LINE_BYTES as usize;
        let block_bytes = extent.block_bytes as usize;
        let inline_offset = head_offset + INLINE_OFFSET_BYTES;
        AStack {
            head: line(&self.heads, head_offset),
            inline: slice_mut(&self.heads, inline_offset, INLINE_BYTES as usize),
            own: slice_mut(&self.own, block_offset, block_bytes),
            peer: self.peer.span().slice(block_offset, block_bytes).expect(INSIDE),
            region: self,
            line_offset,
        }
    }

    /// The line in front of A-stack `index`'s block in the segment that this side writes.
    #[inline]
    pub fn own_line<T: SharedLine>(&self, index: u32) -> &T {
        line(&self.own, self.extents[index as usize].line_offset_bytes as usize)
    }
}

impl<'r> AStack<'r> {
    /// The line in front of the block that this side writes.
    #[inline]
    pub fn own_line<T: SharedLine>(&self) -> &'r T {
        line(&self.region.own, self.line_offset)
    }

    /// The line in front of the block that the peer writes.
    #[inline]
    pub fn peer_line<T: SharedLine>(&self) -> ReadLine<'r, T> {
        self.region.peer.span().line(self.line_offset).expect(INSIDE)
    }

    /// Bytes of message that fit in place.
    #[inline]
    pub fn capacity_bytes(&self) -> usize {
        INLINE_BYTES as usize + self.own.bytes()
    }
}

#[inline]
fn writable(segment: &Segment) -> SpanMut<'_> {
    segment.span_mut().expect("our own segments and the heads are mapped writable")
}

#[inline]
fn line<T: SharedLine>(segment: &Segment, offset: usize) -> &T {
    writable(segment).line(offset).expect(INSIDE)
}

#[inline]
fn slice_mut(segment: &Segment, offset: usize, bytes: usize) -> SpanMut<'_> {
    writable(segment).slice(offset, bytes).expect(INSIDE)
}

/// The word that goes into `AStackHead::origin`.
#[inline]
pub(crate) fn origin_word(flags: u32) -> u32 {
    (nearcall_os::processor::current() & flag::PROCESSOR) | flags
}
