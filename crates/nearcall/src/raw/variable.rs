//! Writing the variable part of a message, payload by payload.

use nearcall_abi::MESSAGE_BYTES_MAX;
use nearcall_abi::layout::BLOCK_BYTES_MAX;
use nearcall_os::span::SpanMut;

use super::area::Outgoing;

/// Most that a message with an out-of-line part may claim to be long: the longest variable part
/// behind the longest fixed part.
pub(crate) const OUT_OF_LINE_END_MAX: u32 =
    MESSAGE_BYTES_MAX + BLOCK_BYTES_MAX + nearcall_abi::INLINE_BYTES;

/// Where payloads are put, in parameter order. Each is copied once and padded to 8.
#[derive(Debug)]
pub struct Variable<'a> {
    place: Place<'a>,
    /// Where the next payload begins.
    at: usize,
    /// Where the part ends.
    end: usize,
}

#[derive(Debug)]
enum Place<'a> {
    InPlace(Outgoing<'a>),
    OutOfLine(SpanMut<'a>),
}

impl<'a> Variable<'a> {
    /// Bytes `at..end` of the message, in its A-stack.
    #[inline]
    pub(super) fn in_place(outgoing: Outgoing<'a>, at: usize, end: usize) -> Variable<'a> {
        Variable { place: Place::InPlace(outgoing), at, end }
    }

    /// Bytes `at..end` of an out-of-line segment.
    #[inline]
    pub(super) fn out_of_line(segment: SpanMut<'a>, at: usize, end: usize) -> Variable<'a> {
        Variable { place: Place::OutOfLine(segment), at, end }
    }

    /// One payload.
    ///
    /// # Panics
    ///
    /// Past the bytes that the part was opened for.
    #[inline]
    pub fn put(&mut self, bytes: &[u8]) {
        assert!(bytes.len() <= self.end - self.at, "payloads are longer than was said");
        match &self.place {
            Place::InPlace(outgoing) => outgoing.put_bytes(self.at, bytes),
            Place::OutOfLine(segment) => segment.copy_in(self.at, bytes),
        }
        self.at = (self.at + bytes.len().next_multiple_of(8)).min(self.end);
    }
}
