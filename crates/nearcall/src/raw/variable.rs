//! Writing the variable part of a message, payload by payload.

use std::ops::Range;
use std::sync::Arc;

use nearcall_abi::RequestLine;
use nearcall_core::progress;
use nearcall_os::segment::Segment;
use nearcall_os::span::{SpanMut, Way};

use super::area::Outgoing;
use super::element::{COUNT_BYTES, Element, counted_bytes, element_bytes};
use crate::client::lent::OpaqueIn;

/// Bytes that are copied between two looks at how far the other side is: at most, what one
/// processor's second-level cache hands to another's without having to make room.
pub(super) const PIECE_BYTES: usize = 64 << 10;

/// Where payloads are put, in parameter order. Each is copied once and padded to 8.
#[derive(Debug)]
pub struct Variable<'a, 'd> {
    place: Place<'a, 'd>,
    /// Where the next payload begins.
    at: usize,
    /// Where the part ends.
    end: usize,
}

#[derive(Debug)]
enum Place<'a, 'd> {
    AStack(Outgoing<'a>),
    OutOfLine(SpanMut<'a>),
    Partial(SpanMut<'a>, &'a mut Option<Rest<'d>>),
}

/// What of a payload is copied after the post, while the server copies what is there (MECHANISMS
/// 7). Payloads behind it are there before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rest<'d> {
    bytes: &'d [u8],
    /// Where in the segment it goes.
    at: usize,
    /// Where the variable part ends.
    end: usize,
}

impl<'a, 'd> Variable<'a, 'd> {
    /// Bytes `at..end` of the message, in its A-stack.
    #[inline]
    pub(super) fn in_place(outgoing: Outgoing<'a>, at: usize, end: usize) -> Variable<'a, 'd> {
        Variable { place: Place::AStack(outgoing), at, end }
    }

    /// Bytes `at..end` of an out-of-line segment.
    #[inline]
    pub(super) fn out_of_line(segment: SpanMut<'a>, at: usize, end: usize) -> Variable<'a, 'd> {
        Variable { place: Place::OutOfLine(segment), at, end }
    }

    /// The same from byte 0 on, but most of the first long payload is left in `rest`, to be copied
    /// after the post.
    pub(super) fn partial(
        segment: SpanMut<'a>,
        end: usize,
        rest: &'a mut Option<Rest<'d>>,
    ) -> Variable<'a, 'd> {
        Variable { place: Place::Partial(segment, rest), at: 0, end }
    }

    /// One payload.
    ///
    /// # Panics
    ///
    /// Past the bytes that the part was opened for.
    #[inline(always)]
    pub fn put(&mut self, bytes: &'d [u8]) {
        assert!(bytes.len() <= self.end - self.at, "payloads are longer than was said");
        // Values alone go to functions: what a pointer leads to lies in memory.
        match &mut self.place {
            Place::AStack(outgoing) => outgoing.put_bytes(self.at, bytes),
            Place::OutOfLine(segment) => segment.copy_in(self.at, bytes),
            Place::Partial(segment, rest) => put_first(*segment, rest, self.at..self.end, bytes),
        }
        self.at = (self.at + bytes.len().next_multiple_of(8)).min(self.end);
    }

    /// An `@opaque` argument: a copy of it, or what says where it is lent.
    ///
    /// # Panics
    ///
    /// As [`Variable::put`].
    #[inline]
    pub fn put_opaque(&mut self, argument: OpaqueIn<'d>) {
        match argument.ours() {
            Ok(bytes) => self.put(bytes),
            Err(number) => self.put_number(number.into()),
        }
    }

    /// A list as it is marshalled: its count, then its elements, which are copied once.
    ///
    /// # Panics
    ///
    /// As [`Variable::put`].
    #[inline]
    pub fn put_counted<T: Element>(&mut self, elements: &'d [T]) {
        assert!(counted_bytes(elements) <= self.end - self.at, "payloads are longer than was said");
        let begin = self.at;
        self.at += COUNT_BYTES;
        self.put(element_bytes(elements));
        // Behind the elements: it may lie in the line that the peer polls.
        self.put_at(begin, &(elements.len() as u32).to_le_bytes());
        let bytes = counted_bytes(elements).next_multiple_of(8);
        self.at = (begin + bytes).min(self.end);
    }

    fn put_number(&mut self, number: u64) {
        let bytes = number.to_le_bytes();
        assert!(bytes.len() <= self.end - self.at, "payloads are longer than was said");
        self.put_at(self.at, &bytes);
        self.at += bytes.len();
    }

    fn put_at(&self, at: usize, bytes: &[u8]) {
        match &self.place {
            Place::AStack(outgoing) => outgoing.put_bytes(at, bytes),
            Place::OutOfLine(segment) | Place::Partial(segment, _) => segment.copy_in(at, bytes),
        }
    }
}

/// The segment that a part was moved to.
#[cold]
#[inline(never)]
pub(super) fn span_of(segment: &Option<Arc<Segment>>) -> SpanMut<'_> {
    let segment = segment.as_deref().expect("the part was moved there");
    segment.span_mut().expect("our own segment is mapped writable")
}

/// Copies what of a payload goes before the post to the beginning of `range`, where the part ends;
/// what goes later is left in `rest`.
#[cold]
#[inline(never)]
fn put_first<'d>(
    segment: SpanMut<'_>,
    rest: &mut Option<Rest<'d>>,
    Range { start, end }: Range<usize>,
    bytes: &'d [u8],
) {
    let is_long = rest.is_none() && bytes.len() >= 2 * PIECE_BYTES;
    let (now, later) = bytes.split_at(if is_long { PIECE_BYTES } else { bytes.len() });
    segment.copy_in(start, now);
    if !later.is_empty() {
        *rest = Some(Rest { bytes: later, at: start + now.len(), end });
    }
}

impl Rest<'_> {
    /// Tells how much is there, before the post.
    pub fn begin(&self, line: &RequestLine) {
        progress::advance(&line.progress, self.at as u32);
    }

    /// Copies it, piece by piece, and tells the server of each.
    #[cold]
    #[inline(never)]
    pub fn finish(self, segment: &Segment, line: &RequestLine) {
        let target = segment.span_mut().expect("our own segment is mapped writable");
        let mut at = self.at;
        let mut pieces = self.bytes.chunks(PIECE_BYTES).peekable();
        let mut way = Way::default();
        while let Some(piece) = pieces.next() {
            way = target.copy_piece_in(at, piece, way);
            at += piece.len();
            // What comes behind the last piece was copied before.
            let there = if pieces.peek().is_some() { at } else { self.end };
            progress::advance(&line.progress, there as u32);
        }
    }
}
