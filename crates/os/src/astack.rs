//! The A-stacks of three segments, looked up once: a call finds the lines and blocks of its
//! A-stack by one comparison and a few loads, not by checking offsets again.
//!
//! ```text
//!  heads           own (this side writes)      peer (the other side writes)
//!  │ head of i │   │ line of i │ block of i │  │ line of i │ block of i │
//!        ▲               ▲                           ▲
//!        └─── Place i ───┴───────────────────────────┘
//! ```
//!
//! Beside its addresses an A-stack has a record of its owner's, private: whoever has the A-stack
//! has both by one pointer, so that a call that is quick has it in a register.

use std::mem::offset_of;
use std::ptr::NonNull;

use nearcall_abi::{AStackHead, Extent, INLINE_BYTES, LINE_BYTES};

use crate::processor;
use crate::segment::Segment;
use crate::span::{ReadLine, SharedLine, Span, SpanMut};

/// Bytes of a block that are asked for before anybody gets to them; those behind are asked for by
/// the copy.
const AHEAD_BYTES_MAX: u32 = 512;

/// Offset of the inline bytes in a head.
const INLINE_OFFSET_BYTES: usize = offset_of!(AStackHead, inline);

/// Bytes of a record that lie in one cache line with the A-stack's addresses: what a call needs of
/// a record goes there.
pub const NEAR_RECORD_BYTES: usize = LINE_BYTES as usize - size_of::<Place>();

/// Where the address of this side's line lies in what [`AStack::address`] points to.
pub const OWN_LINE_OFFSET_BYTES: usize = offset_of!(Place, own_line);

/// Where that of the peer's line does.
pub const PEER_LINE_OFFSET_BYTES: usize = offset_of!(Place, peer_line);

/// Where what is noted of an A-stack lies in what [`AStack::address`] points to: the addresses of
/// its head, of this side's line and of the peer's, how much fits, and then its record.
pub const RECORD_OFFSET_BYTES: usize = size_of::<Place>();

/// Three segments, where in them each A-stack lies, and what this side notes of each.
#[derive(Debug)]
#[repr(C)]
pub struct AStackTable<R> {
    entries: Box<[Entry<R>]>,
    heads: Segment,
    own: Segment,
    peer: Segment,
}

/// What there is of one A-stack. Begins a cache line, so that what a call needs of it is in one.
#[derive(Debug)]
#[repr(C, align(64))]
struct Entry<R> {
    place: Place,
    record: R,
}

/// One A-stack's addresses.
///
/// Invariant: `head` is a line of the table's `heads`; `own_line` and `peer_line` are lines of
/// `own` and `peer`, each with `block_bytes` bytes of its segment behind it; `heads` and `own` are
/// mapped writable.
#[derive(Debug)]
#[repr(C)]
struct Place {
    head: NonNull<u8>,
    own_line: NonNull<u8>,
    peer_line: NonNull<u8>,
    /// Of the line and of a block together: each call's message is compared with it.
    capacity_bytes: u32,
    block_bytes: u32,
}

const _: () = assert!(size_of::<Place>() == 32);
const _: () = assert!(offset_of!(Place, head) == 0);
const _: () = assert!(offset_of!(Place, own_line) == 8);
const _: () = assert!(offset_of!(Place, peer_line) == 16);
const _: () = assert!(offset_of!(Place, capacity_bytes) == 24);
const _: () = assert!(offset_of!(Place, block_bytes) == 28);
const _: () = assert!(offset_of!(Entry<u64>, place) == 0);
const _: () = assert!(offset_of!(Entry<u64>, record) == size_of::<Place>());
const _: () = assert!(align_of::<Entry<u64>>() == LINE_BYTES as usize);
// A binding has them in the line of what else a call needs of it.
const _: () = assert!(offset_of!(AStackTable<u64>, entries) == 0);

// SAFETY: the addresses are those of segments, which are valid from every thread; all access goes
// through `Span`, whose accesses are atomic or stand for atomics.
unsafe impl Send for Place {}
// SAFETY: as above.
unsafe impl Sync for Place {}

/// One A-stack, as one side sees it. One word: its [`AStack::address`].
#[derive(Debug)]
#[repr(transparent)]
pub struct AStack<'t, R> {
    entry: &'t Entry<R>,
}

impl<R> Clone for AStack<'_, R> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for AStack<'_, R> {}

impl<R> AStackTable<R> {
    /// Looks every A-stack up. `None` if an extent does not lie in its segments, the heads are not
    /// one behind the other from the beginning on, or `heads` or `own` is not mapped writable.
    pub fn new(
        heads: Segment,
        own: Segment,
        peer: Segment,
        astacks: impl Iterator<Item = (Extent, R)>,
    ) -> Option<AStackTable<R>> {
        const { assert!(offset_of!(Entry<R>, record) == size_of::<Place>()) };
        let entries = (0..).zip(astacks).map(|(index, (extent, record))| {
            let is_in_order = extent.head_offset_bytes == index * LINE_BYTES;
            let place = is_in_order.then(|| place(&heads, &own, &peer, extent)).flatten()?;
            Some(Entry { place, record })
        });
        let entries = entries.collect::<Option<Box<[Entry<R>]>>>()?;
        Some(AStackTable { entries, heads, own, peer })
    }

    /// How many A-stacks there are.
    #[inline]
    pub fn count(&self) -> u32 {
        self.entries.len() as u32
    }

    /// A-stack `index`; `None` if there is none. One comparison.
    #[inline(always)]
    pub fn astack(&self, index: u32) -> Option<AStack<'_, R>> {
        self.entries.get(index as usize).map(|entry| AStack { entry })
    }

    /// All of them, in order.
    pub fn astacks(&self) -> impl Iterator<Item = AStack<'_, R>> {
        self.entries.iter().map(|entry| AStack { entry })
    }

    /// The heads of all of them, in order, without a look into the table: whoever looks at many
    /// touches a line for each, and not three.
    #[inline]
    pub fn heads(&self) -> &[AStackHead] {
        const { assert!(size_of::<AStackHead>() == LINE_BYTES as usize) };
        let heads = self.heads.span_mut().and_then(|heads| heads.lines(self.entries.len()));
        heads.expect("each of them was found there")
    }

    /// Bytes of the three segments together.
    pub fn bytes(&self) -> usize {
        self.heads.bytes() + self.own.bytes() + self.peer.bytes()
    }
}

fn place(heads: &Segment, own: &Segment, peer: &Segment, extent: Extent) -> Option<Place> {
    let head_offset = extent.head_offset_bytes as usize;
    let line_offset = extent.line_offset_bytes as usize;
    let block_bytes = extent.block_bytes;
    let with_block = LINE_BYTES as usize + block_bytes as usize;
    let head = heads.span_mut()?.slice(head_offset, LINE_BYTES as usize)?;
    head.line::<AStackHead>(0)?;
    let own = own.span_mut()?.slice(line_offset, with_block)?;
    own.line::<nearcall_abi::ReplyLine>(0)?;
    let peer = peer.span().slice(line_offset, with_block)?;
    peer.line::<nearcall_abi::ReplyLine>(0)?;
    Some(Place {
        head: head.as_span().base(),
        own_line: own.as_span().base(),
        peer_line: peer.base(),
        capacity_bytes: INLINE_BYTES.checked_add(block_bytes)?,
        block_bytes,
    })
}

/// How far the address of an A-stack is from that of the one before it in its table.
pub const fn stride_bytes<R>() -> usize {
    size_of::<Entry<R>>()
}

impl<'t, R> AStack<'t, R> {
    /// What this side notes of it.
    #[inline(always)]
    pub fn record(self) -> &'t R {
        &self.entry.record
    }

    /// Where its addresses and its record lie, for the call path in C, which reads them where they
    /// are: the one way that an address into a segment leaves this crate. It holds as long as the
    /// table. Those of a table's A-stacks are [`stride_bytes`] apart.
    #[inline]
    pub fn address(self) -> NonNull<()> {
        NonNull::from(self.entry).cast()
    }

    /// The line that both sides write in turn.
    #[inline(always)]
    pub fn head(self) -> &'t AStackHead {
        // SAFETY: `head` is a line of a segment that is mapped writable as long as the table
        // lives, aligned and inside (`place` asked for it as a line); all atomics.
        unsafe { self.entry.place.head.cast::<AStackHead>().as_ref() }
    }

    /// The head's inline bytes.
    #[inline(always)]
    pub fn inline(self) -> SpanMut<'t> {
        self.writable(self.entry.place.head, INLINE_OFFSET_BYTES, INLINE_BYTES as usize)
    }

    /// The block that this side writes.
    #[inline(always)]
    pub fn own(self) -> SpanMut<'t> {
        self.writable(self.entry.place.own_line, LINE_BYTES as usize, self.block_bytes())
    }

    /// The block that the peer writes.
    #[inline(always)]
    pub fn peer(self) -> Span<'t> {
        self.readable(self.entry.place.peer_line, LINE_BYTES as usize, self.block_bytes())
    }

    /// Asks for the first lines of the peer's block that a message of so many bytes, which may be
    /// a claim, lies in. A hint.
    #[inline(never)]
    pub fn ask_for_peer_block(self, message_bytes: u32) {
        for line in self.ahead(self.entry.place.peer_line, message_bytes) {
            processor::prefetch_read_at(line);
        }
    }

    /// Asks for the first lines of this side's block that a message of so many bytes lies in, in a
    /// state to be written: the peer has read them, and to take them back costs a transfer. A hint.
    #[inline(never)]
    pub fn ask_for_own_block(self, message_bytes: u32) {
        for line in self.ahead(self.entry.place.own_line, message_bytes) {
            processor::prefetch_write_at(line);
        }
    }

    #[inline(always)]
    fn ahead(self, line: NonNull<u8>, message_bytes: u32) -> impl Iterator<Item = *const u8> {
        let in_block = message_bytes.min(self.capacity_bytes()).saturating_sub(INLINE_BYTES);
        let mut next = line.as_ptr().cast_const().wrapping_add(LINE_BYTES as usize);
        let end = next.wrapping_add(in_block.min(AHEAD_BYTES_MAX) as usize);
        std::iter::from_fn(move || {
            let line = next;
            next = next.wrapping_add(LINE_BYTES as usize);
            (line < end).then_some(line)
        })
    }

    /// Bytes of message that fit in place: inline and in a block.
    #[inline(always)]
    pub fn capacity_bytes(self) -> u32 {
        self.entry.place.capacity_bytes
    }

    #[inline(always)]
    fn block_bytes(self) -> usize {
        self.entry.place.block_bytes as usize
    }

    /// The line in front of the block that this side writes.
    #[inline(always)]
    pub fn own_line<T: SharedLine>(self) -> &'t T {
        const { assert!(size_of::<T>() <= LINE_BYTES as usize) };
        const { assert!(align_of::<T>() <= LINE_BYTES as usize) };
        // SAFETY: a line of a segment that is mapped writable as long as the table lives, aligned
        // to and as long as a cache line (`place` asked for it as a line); `T` is all atomics and
        // valid for any bytes by `SharedLine`.
        unsafe { self.entry.place.own_line.cast::<T>().as_ref() }
    }

    /// The line in front of the block that the peer writes.
    #[inline(always)]
    pub fn peer_line<T: SharedLine>(self) -> ReadLine<'t, T> {
        let line = self.readable(self.entry.place.peer_line, 0, LINE_BYTES as usize);
        line.line(0).expect("a place begins with a line")
    }

    #[inline(always)]
    fn readable(self, line: NonNull<u8>, offset: usize, bytes: usize) -> Span<'t> {
        // SAFETY: by the place's invariant the line and its block lie behind `line`, and every
        // caller stays inside them.
        let base = unsafe { line.add(offset) };
        // SAFETY: S1 live: the segment is mapped as long as the table lives. S2 aligned: a line
        // begins at a multiple of 64, and `offset` is 0, 16 or 64.
        unsafe { Span::new(base, bytes) }
    }

    #[inline(always)]
    fn writable(self, line: NonNull<u8>, offset: usize, bytes: usize) -> SpanMut<'t> {
        // SAFETY: S1 writable: `head` and `own_line` are in segments mapped writable.
        unsafe { SpanMut::new(self.readable(line, offset, bytes)) }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;
    use crate::segment::Sealing;

    fn extent(index: u32) -> Extent {
        Extent { head_offset_bytes: index * 64, line_offset_bytes: index * 320, block_bytes: 256 }
    }

    fn tables(count: u32) -> (Option<AStackTable<u32>>, Option<AStackTable<u32>>) {
        let (first_heads, second_heads) = Segment::heap(4096, Sealing::BothWrite);
        let (requests, requests_read) = Segment::heap(4096, Sealing::SingleWriter);
        let (replies, replies_read) = Segment::heap(4096, Sealing::SingleWriter);
        let extents = || (0..count).map(|index| (extent(index), index));
        let client = AStackTable::new(first_heads, requests, replies_read, extents());
        (client, AStackTable::new(second_heads, replies, requests_read, extents()))
    }

    #[test]
    fn heads_lie_in_the_order_of_their_astacks() {
        let (client, server) = tables(12);
        let (client, server) = (client.unwrap(), server.unwrap());
        assert_eq!(server.heads().len(), 12);
        for (index, head) in (0..).zip(server.heads()) {
            assert!(std::ptr::eq(head, server.astack(index).unwrap().head()), "{index}");
            // Relaxed: one thread.
            client.astack(index).unwrap().head().turn.store(index + 1, Relaxed);
            assert_eq!(head.turn.load(Relaxed), index + 1);
        }
    }

    #[test]
    fn heads_in_another_order_are_refused() {
        let (heads, _) = Segment::heap(4096, Sealing::BothWrite);
        let (own, _) = Segment::heap(4096, Sealing::SingleWriter);
        let (_, peer) = Segment::heap(4096, Sealing::SingleWriter);
        let extents = [1, 0].map(|index| (extent(index), index));
        assert!(AStackTable::new(heads, own, peer, extents.into_iter()).is_none());
    }

    #[test]
    fn what_one_side_puts_the_other_finds() {
        let (client, server) = tables(12);
        let (client, server) = (client.unwrap(), server.unwrap());
        let (ours, theirs) = (client.astack(11).unwrap(), server.astack(11).unwrap());
        assert!(client.astack(12).is_none());
        assert_eq!((*ours.record(), *theirs.record()), (11, 11));
        ours.inline().store_u64(40, 7);
        ours.own().copy_in(250, b"block!");
        assert_eq!(theirs.inline().load_u64(40), 7);
        let mut end = [0; 6];
        theirs.peer().copy_out(250, &mut end);
        assert_eq!(&end, b"block!");
        let word = &ours.own_line::<nearcall_abi::RequestLine>().generation;
        word.store(9, std::sync::atomic::Ordering::Relaxed);
        assert_eq!(theirs.peer_line::<nearcall_abi::RequestLine>().generation(), 9);
    }

    #[test]
    fn an_extent_past_a_segment_has_no_table() {
        let (client, server) = tables(13);
        assert!(client.is_none() && server.is_none());
    }

    #[test]
    fn a_table_needs_its_own_segment_writable() {
        let (heads, _) = Segment::heap(4096, Sealing::BothWrite);
        let (peer, own) = Segment::heap(4096, Sealing::SingleWriter);
        assert!(
            AStackTable::new(heads, own, peer, (0..1).map(|index| (extent(index), index)))
                .is_none()
        );
    }
}
