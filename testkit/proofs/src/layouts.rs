//! Where A-stacks lie in their segments, bits in bell lines and gates in lines of them.

use nearcall_abi::bell::{LANES, ResidentGate, SEGMENT_BYTES};
use nearcall_abi::layout::{ASTACKS_MAX, BLOCK_BYTES_MAX, Extent};
use nearcall_abi::{AStackClass, LINE_BYTES, SegmentLayout};
use nearcall_core::bell::Lane;

use crate::any::Any;

/// Block sizes that are taken, of which there may be any number: so the factors of sizes are known,
/// and what is proven of several classes is how they are summed up.
const SIZES: [u32; 2] = [0, BLOCK_BYTES_MAX];

fn classes(any: &mut Any) -> [AStackClass; 2] {
    SIZES.map(|block_bytes| AStackClass { block_bytes, count: any.u32() })
}

/// Bytes of the block segments that an A-stack has.
fn block_range(extent: Extent) -> (u32, u32) {
    let begin = extent.line_offset_bytes;
    (begin, begin + LINE_BYTES + extent.block_bytes)
}

fn assert_within(layout: &SegmentLayout<'_>, index: u32) -> bool {
    assert!((1..=ASTACKS_MAX).contains(&layout.astack_count()));
    let extent = layout.extent(index);
    assert_eq!(extent.is_some(), index < layout.astack_count());
    let Some(extent) = extent else { return false };
    assert!(extent.head_offset_bytes + LINE_BYTES <= layout.heads_bytes());
    assert!(block_range(extent).1 <= layout.blocks_bytes());
    assert_eq!(extent.line_offset_bytes % LINE_BYTES, 0);
    true
}

/// L49: whatever the class is that a peer claims, and the index.
#[inline(never)]
pub fn an_astack_of_any_size_lies_within_its_segments(any: &mut Any) -> bool {
    let classes = [AStackClass { block_bytes: any.u32(), count: any.u32() }];
    let Ok(layout) = SegmentLayout::new(&classes) else { return false };
    assert_within(&layout, any.u32())
}

#[inline(never)]
pub fn an_astack_of_any_class_lies_within_its_segments(any: &mut Any) -> bool {
    let classes = classes(any);
    let Ok(layout) = SegmentLayout::new(&classes) else { return false };
    assert_within(&layout, any.u32())
}

#[inline(never)]
pub fn two_astacks_share_no_byte(any: &mut Any) -> bool {
    let (classes, one, other) = (classes(any), any.u32(), any.u32());
    let Ok(layout) = SegmentLayout::new(&classes) else { return false };
    let (Some(first), Some(second)) = (layout.extent(one), layout.extent(other)) else {
        return false;
    };
    if one >= other {
        return false;
    }
    assert!(block_range(first).1 <= block_range(second).0);
    assert!(first.head_offset_bytes + LINE_BYTES <= second.head_offset_bytes);
    true
}

#[inline(never)]
pub fn an_astack_is_of_the_class_whose_range_has_it(any: &mut Any) -> bool {
    let (classes, index) = (classes(any), any.u32());
    let Ok(layout) = SegmentLayout::new(&classes) else { return false };
    let Some(extent) = layout.extent(index) else { return false };
    for (class, size) in SIZES.into_iter().enumerate() {
        assert_eq!(layout.class_range(class).contains(&index), extent.block_bytes == size);
    }
    true
}

#[inline(never)]
pub fn a_lane_is_one_of_its_line(any: &mut Any) -> bool {
    let Lane { word, bit } = Lane::of(any.u32(), LANES);
    assert!(word < LANES / u64::BITS && bit < u64::BITS);
    true
}

#[inline(never)]
pub fn a_gate_lies_in_its_segment(any: &mut Any) -> bool {
    let ResidentGate { line_offset, index } = ResidentGate::of(any.u32());
    let line_bytes = LINE_BYTES as usize;
    assert_eq!(line_offset % line_bytes, 0);
    assert!(line_offset + line_bytes <= SEGMENT_BYTES);
    assert!(index < line_bytes / size_of::<u32>());
    true
}
