//! Reading the variable part of a message, payload by payload.

use std::any::Any;
use std::cmp::Ordering;
use std::mem::MaybeUninit;
use std::ops::Range;

use nearcall_abi::LENGTH_LENT;
use nearcall_os::huge;
use nearcall_os::span::Span;

use super::area::Inbound;
use super::behind::Behind;
use super::element::{COUNT_BYTES, Element};
use super::kept::Kept;
use super::malformed::Malformed;
use super::marshal::{Marshal, Reader};
use super::opaque::Opaque;
use super::scratch::{Bytes, Elements, Room, Text, string_of};
use super::served::ServedCall;
use crate::client::lent::LENT_PAYLOAD_BYTES;

const INLINE: usize = nearcall_abi::INLINE_BYTES as usize;

/// The variable part of a message that a peer wrote. Payloads come in parameter order; each take
/// advances by the payload's length rounded up to 8.
///
/// Every take copies first and judges the copy, but for [`Incoming::lend`].
#[derive(Debug)]
pub struct Incoming<'a> {
    place: Place<'a>,
    /// Where the next payload begins.
    at: usize,
    /// Where the message ends.
    end: usize,
    /// The call, where it is served.
    call: Option<&'a ServedCall<'a>>,
}

#[derive(Clone, Copy, Debug)]
enum Place<'a> {
    InPlace(Inbound<'a>),
    OutOfLine(Span<'a>),
}

/// One payload: contiguous, or in two pieces where it begins in the head line.
#[derive(Clone, Copy, Debug)]
pub struct Payload<'a> {
    first: Span<'a>,
    second: Span<'a>,
    /// Bytes at its beginning that were taken off already, of the first piece.
    taken: usize,
    /// The call whose client may still be copying it, how far it was, and where in the part this
    /// begins.
    behind: Option<(&'a ServedCall<'a>, &'a Behind, usize)>,
}

impl<'a> Incoming<'a> {
    /// The variable part from byte `at` to byte `end` of a message that lies in its A-stack.
    #[inline]
    pub(super) fn in_place(inbound: Inbound<'a>, at: usize, end: usize) -> Incoming<'a> {
        Incoming { place: Place::InPlace(inbound), at, end, call: None }
    }

    /// A variable part of `bytes` bytes in an out-of-line segment.
    ///
    /// # Errors: [`Malformed::Length`] if the segment is shorter.
    pub(super) fn out_of_line(segment: Span<'a>, bytes: usize) -> Result<Incoming<'a>, Malformed> {
        check_length(bytes, segment.bytes())?;
        Ok(Incoming { place: Place::OutOfLine(segment), at: 0, end: bytes, call: None })
    }

    /// The same, of a call that is served here.
    #[inline]
    pub(super) fn of_call(self, call: &'a ServedCall<'a>) -> Incoming<'a> {
        Incoming { call: Some(call), ..self }
    }

    /// Text, copied and checked to be UTF-8. If it is small the copy lies in `room`.
    #[inline]
    pub fn text<'r>(
        &mut self,
        bytes: u32,
        bound: u32,
        room: &'r mut Room,
    ) -> Result<Text<'r>, Malformed> {
        Text::of(self.bytes(bytes, bound, room)?)
    }

    /// Bytes, copied. If there are few the copy lies in `room`.
    #[inline(always)]
    pub fn bytes<'r>(
        &mut self,
        bytes: u32,
        bound: u32,
        room: &'r mut Room,
    ) -> Result<Bytes<'r>, Malformed> {
        match self.take_in_place(bytes, bound) {
            Some((message, at)) => Ok(Bytes::of(message, at, bytes as usize, room)),
            None => self.other_bytes(bytes, bound, room),
        }
    }

    #[cold]
    #[inline(never)]
    fn other_bytes<'r>(
        &mut self,
        bytes: u32,
        bound: u32,
        room: &'r mut Room,
    ) -> Result<Bytes<'r>, Malformed> {
        Bytes::copy_of(self.take(bytes, bound)?, room)
    }

    /// Text for keeps: copied once, to where it stays.
    pub fn string(&mut self, bytes: u32, bound: u32) -> Result<String, Malformed> {
        string_of(self.vec(bytes, bound)?)
    }

    /// Bytes for keeps: copied once, to where they stay (L42).
    pub fn vec(&mut self, bytes: u32, bound: u32) -> Result<Vec<u8>, Malformed> {
        let mut target = Vec::new();
        self.vec_into(bytes, bound, &mut target).map(|()| target)
    }

    /// Replaces the contents of `target`, whose memory serves again.
    pub fn vec_into(
        &mut self,
        bytes: u32,
        bound: u32,
        target: &mut Vec<u8>,
    ) -> Result<(), Malformed> {
        if let Some((message, at)) = self.take_in_place(bytes, bound) {
            target.clear();
            message.append_to(at, bytes as usize, target);
            return Ok(());
        }
        let payload = self.take(bytes, bound)?;
        target.clear();
        payload.append_to(target)
    }

    /// Bytes that the stub copies itself, once, to where they stay: their length is judged before
    /// it makes room for them.
    pub fn payload(&mut self, bytes: u32, bound: u32) -> Result<Payload<'a>, Malformed> {
        self.take(bytes, bound)
    }

    /// `count` elements, copied. If there are few the copy lies in `room`.
    #[inline]
    pub fn elements<'r, T: Element>(
        &mut self,
        count: u32,
        bound: u32,
        room: &'r mut Room,
    ) -> Result<Elements<'r, T>, Malformed> {
        let bytes = self.bytes_of::<T>(count, bound)?;
        self.bytes(bytes, u32::MAX, room).map(Elements::of)
    }

    /// `count` elements for keeps: copied once, to where they stay.
    pub fn vec_of<T: Element>(&mut self, count: u32, bound: u32) -> Result<Vec<T>, Malformed> {
        let bytes = self.bytes_of::<T>(count, bound)?;
        match self.take_in_place(bytes, u32::MAX) {
            Some((message, at)) => {
                elements(bytes as usize, |target| Ok(message.copy_to(at, target)))
            }
            None => self.take(bytes, u32::MAX)?.into_elements(),
        }
    }

    /// A list of elements as it is marshalled, its count and then they, of `bytes` bytes in all:
    /// as [`Incoming::elements`], once its count has been judged by what is there.
    #[inline]
    pub fn counted<'r, T: Element>(
        &mut self,
        bytes: u32,
        room: &'r mut Room,
    ) -> Result<Elements<'r, T>, Malformed> {
        Bytes::copy_of(self.take_counted::<T>(bytes)?, room).map(Elements::of)
    }

    /// The same for keeps: copied once, to where they stay.
    pub fn vec_of_counted<T: Element>(&mut self, bytes: u32) -> Result<Vec<T>, Malformed> {
        self.take_counted::<T>(bytes)?.into_elements()
    }

    /// The elements behind a count, which is loaded once.
    fn take_counted<T>(&mut self, bytes: u32) -> Result<Payload<'a>, Malformed> {
        let mut elements = self.take(bytes, u32::MAX)?;
        let claimed = u64::from(elements.take_count()?) * size_of::<T>() as u64;
        let limit = elements.len() as u64;
        match claimed.cmp(&limit) {
            Ordering::Less => Err(Malformed::Left { bytes: limit - claimed }),
            Ordering::Equal => Ok(elements),
            Ordering::Greater => Err(Malformed::Length { claimed, limit }),
        }
    }

    /// How many bytes so many elements are.
    #[inline]
    fn bytes_of<T>(&self, count: u32, bound: u32) -> Result<u32, Malformed> {
        check_bound(count, bound)?;
        let claimed = u64::from(count) * size_of::<T>() as u64;
        let limit = (self.end - self.at) as u64;
        u32::try_from(claimed).map_err(|_| Malformed::Length { claimed, limit })
    }

    /// Bytes where they lie, for whoever does not interpret them (L43): in the message, or in a
    /// segment that the client has lent.
    ///
    /// # Panics
    ///
    /// If the payload begins in the head line: the plan never lets a lent one do so.
    #[inline]
    pub fn lend(&mut self, bytes: u32, bound: u32) -> Result<Opaque<'a>, Malformed> {
        if bytes & LENGTH_LENT != 0 {
            return self.lent(bytes & !LENGTH_LENT, bound);
        }
        let payload = self.take(bytes, bound)?;
        assert!(payload.second.bytes() == 0, "a lent payload lies in one piece");
        payload.pieces(|_| {})?;
        Ok(Opaque::new(payload.first))
    }

    /// The first `bytes` bytes of a lent segment, whose number is the payload.
    #[cold]
    fn lent(&mut self, bytes: u32, bound: u32) -> Result<Opaque<'a>, Malformed> {
        check_bound(bytes, bound)?;
        let mut word = [0; LENT_PAYLOAD_BYTES as usize];
        self.take(LENT_PAYLOAD_BYTES as u32, u32::MAX)?.copy_out(&mut word)?;
        let claimed = u64::from_le_bytes(word);
        let number = u32::try_from(claimed).map_err(|_| Malformed::Range { claimed })?;
        let segment = self.call.and_then(|call| call.lent(number));
        let segment = segment.ok_or(Malformed::Range { claimed })?;
        check_length(bytes as usize, segment.bytes())?;
        Ok(Opaque::new(slice(segment.span(), 0, bytes as usize)))
    }

    /// A value that was marshalled the conventional way; it must use all its bytes.
    pub fn unmarshal<T: Marshal>(&mut self, bytes: u32) -> Result<T, Malformed> {
        let mut room = Room::new();
        let copy = self.bytes(bytes, u32::MAX, &mut room)?;
        let mut reader = Reader::new(&copy);
        let value = T::unmarshal(&mut reader)?;
        reader.finish().map(|()| value)
    }

    /// The same for a procedure that only reads it, over a value of an earlier call.
    pub fn unmarshal_kept<T: Marshal + Any>(&mut self, bytes: u32) -> Result<Kept<T>, Malformed> {
        let mut room = Room::new();
        let copy = self.bytes(bytes, u32::MAX, &mut room)?;
        let mut reader = Reader::new(&copy);
        let value = Kept::read(&mut reader)?;
        reader.finish().map(|()| value)
    }

    /// Whether the client may copy it still, so that to take what is in it may take as long as that
    /// does, or until the client counts as stopped (design note 0008).
    pub fn is_behind(&self) -> bool {
        self.call.is_some_and(|call| call.behind().is_some())
    }

    /// Waits until the client has copied all of it.
    ///
    /// # Errors: the client has stopped.
    pub fn wait_for_all(&self) -> Result<(), Malformed> {
        match self.call.and_then(|call| Some((call, call.behind()?))) {
            Some((call, behind)) if self.end > self.at => {
                call.wait_behind(behind, self.end - 1).map(drop)
            }
            _ => Ok(()),
        }
    }

    /// Takes the next payload where it is as most are: in the A-stack, and nothing wrong with it.
    /// `None`, and nothing taken: another, which is [`Incoming::take`]'s.
    #[inline]
    fn take_in_place(&mut self, bytes: u32, bound: u32) -> Option<(Inbound<'a>, usize)> {
        let Place::InPlace(message) = self.place else { return None };
        let is_right = bytes <= bound && bytes as usize <= self.end - self.at;
        is_right.then(|| (message, self.step(bytes as usize)))
    }

    /// Where the next payload begins; the one behind it comes next.
    #[inline]
    fn step(&mut self, bytes: usize) -> usize {
        let behind = (self.at + bytes.next_multiple_of(8)).min(self.end);
        std::mem::replace(&mut self.at, behind)
    }

    #[inline(never)]
    fn take(&mut self, bytes: u32, bound: u32) -> Result<Payload<'a>, Malformed> {
        check_bound(bytes, bound)?;
        let bytes = bytes as usize;
        check_length(bytes, self.end - self.at)?;
        let at = self.step(bytes);
        Ok(match self.place {
            Place::OutOfLine(segment) => {
                let behind = self.call.and_then(|call| Some((call, call.behind()?, at)));
                Payload { behind, ..Payload::whole(slice(segment, at, bytes)) }
            }
            Place::InPlace(inbound) if at >= INLINE => {
                Payload::whole(slice(inbound.block, at - INLINE, bytes))
            }
            Place::InPlace(inbound) => {
                let first = bytes.min(INLINE - at);
                Payload {
                    first: slice(inbound.inline, at, first),
                    second: slice(inbound.block, 0, bytes - first),
                    taken: 0,
                    behind: None,
                }
            }
        })
    }
}

impl<'a> Payload<'a> {
    #[inline]
    fn whole(span: Span<'a>) -> Payload<'a> {
        Payload { first: span, second: slice(span, 0, 0), taken: 0, behind: None }
    }

    /// Takes its first four bytes off, which are a count: loaded once.
    ///
    /// # Errors: it has not so many; a client that was still copying them has stopped.
    fn take_count(&mut self) -> Result<u32, Malformed> {
        // In one piece: the second begins behind eight bytes or more.
        check_length(COUNT_BYTES, self.first.bytes())?;
        if let Some((call, behind, begin)) = self.behind {
            call.wait_behind(behind, begin + COUNT_BYTES - 1)?;
        }
        let mut count = [0; COUNT_BYTES];
        self.first.copy_out(0, &mut count);
        self.taken = COUNT_BYTES;
        Ok(u32::from_le_bytes(count))
    }

    /// How many bytes there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.first.bytes() + self.second.bytes() - self.taken
    }

    /// There are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Copies what is `at` bytes behind its beginning, as much as `target` is long.
    ///
    /// # Errors: [`Malformed::Length`] if it ends before; a client that was still copying it has
    /// stopped.
    pub fn copy_part(&self, at: usize, target: &mut [u8]) -> Result<(), Malformed> {
        check_length(target.len(), self.len().saturating_sub(at))?;
        self.pieces(|_| {})?;
        let (at, first_bytes) = (at + self.taken, self.first.bytes());
        let of_first = first_bytes.saturating_sub(at).min(target.len());
        let (first, second) = target.split_at_mut(of_first);
        if !first.is_empty() {
            self.first.copy_out(at, first);
        }
        if !second.is_empty() {
            self.second.copy_out(at + of_first - first_bytes, second);
        }
        Ok(())
    }

    /// Copies all of it.
    ///
    /// # Errors: a client that was still copying it has stopped.
    ///
    /// # Panics
    ///
    /// If `target` has not its length.
    #[inline]
    pub fn copy_out(&self, target: &mut [u8]) -> Result<(), Malformed> {
        if self.behind.is_some() {
            return self.pieces(|range| {
                self.first.copy_out(self.taken + range.start, &mut target[range]);
            });
        }
        let (first, second) = target.split_at_mut(self.first.bytes() - self.taken);
        self.first.copy_out(self.taken, first);
        if !second.is_empty() {
            self.second.copy_out(0, second);
        }
        Ok(())
    }

    /// Copies all of it over what may be no bytes yet.
    ///
    /// # Errors, panics: as [`Payload::copy_out`].
    #[inline]
    pub(super) fn copy_to<'t>(
        &self,
        target: &'t mut [MaybeUninit<u8>],
    ) -> Result<&'t mut [u8], Malformed> {
        if self.behind.is_some() {
            self.pieces(|range| {
                self.first.copy_to(self.taken + range.start, &mut target[range]);
            })?;
        } else {
            let (first, second) = target.split_at_mut(self.first.bytes() - self.taken);
            self.first.copy_to(self.taken, first);
            if !second.is_empty() {
                self.second.copy_to(0, second);
            }
        }
        // SAFETY: all of them were written, piece by piece or by two copies; `MaybeUninit<u8>` has
        // the layout of `u8`.
        Ok(unsafe { &mut *(std::ptr::from_mut(target) as *mut [u8]) })
    }

    /// A copy of its elements, of which it is a whole number.
    fn into_elements<T: Element>(self) -> Result<Vec<T>, Malformed> {
        elements(self.len(), |target| self.copy_to(target))
    }

    pub(super) fn append_to(&self, target: &mut Vec<u8>) -> Result<(), Malformed> {
        target.reserve(self.len());
        if self.behind.is_some() {
            return self.pieces(|range| {
                self.first.append_to(self.taken + range.start, range.len(), target);
            });
        }
        self.first.append_to(self.taken, self.first.bytes() - self.taken, target);
        self.second.append_to(0, self.second.bytes(), target);
        Ok(())
    }

    /// Runs `copy` over all of it in order, each piece as soon as the client has copied it.
    ///
    /// # Errors: the client has stopped, or told what cannot be.
    fn pieces(&self, mut copy: impl FnMut(Range<usize>)) -> Result<(), Malformed> {
        let Some((call, behind, begin)) = self.behind else {
            copy(0..self.len());
            return Ok(());
        };
        let (begin, mut done) = (begin + self.taken, 0);
        while done < self.len() {
            let there = call.wait_behind(behind, begin + done)?;
            let end = (there - begin).min(self.len());
            copy(done..end);
            done = end;
        }
        Ok(())
    }
}

/// The elements that `copy` brings, of `bytes` bytes in all; it returns those that it has written.
#[inline]
fn elements<T: Element>(
    bytes: usize,
    copy: impl FnOnce(&mut [MaybeUninit<u8>]) -> Result<&mut [u8], Malformed>,
) -> Result<Vec<T>, Malformed> {
    const { assert!(size_of::<T>() > 0) };
    let count = bytes / size_of::<T>();
    let mut elements = huge::with_capacity::<T>(count);
    let base = elements.as_mut_ptr().cast::<MaybeUninit<u8>>();
    // SAFETY: the vector has room for so many elements, which are as many bytes, alive and not
    // looked at by anybody else until the copy has ended; they may be anything.
    let target = unsafe { std::slice::from_raw_parts_mut(base, count * size_of::<T>()) };
    let written = copy(target)?;
    let is_all = written.len() == count * size_of::<T>();
    assert!(is_all && std::ptr::eq(written.as_ptr(), base.cast()), "all elements are copied here");
    // SAFETY: all their bytes were written, as was asserted, and any bytes are an `Element`.
    unsafe { elements.set_len(count) };
    Ok(elements)
}

/// Payloads begin at multiples of 8, and their ends were judged.
#[inline]
fn slice(span: Span<'_>, offset: usize, bytes: usize) -> Span<'_> {
    span.slice(offset, bytes).expect("a payload lies in its message")
}

#[inline]
fn check_bound(count: u32, bound: u32) -> Result<(), Malformed> {
    if count > bound {
        return Err(Malformed::Bound { claimed: count.into(), limit: bound.into() });
    }
    Ok(())
}

#[inline]
fn check_length(bytes: usize, limit: usize) -> Result<(), Malformed> {
    if bytes > limit {
        return Err(Malformed::Length { claimed: bytes as u64, limit: limit as u64 });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use nearcall_os::segment::{Sealing, Segment};

    use super::super::element::counted_bytes;
    use super::super::variable::Variable;
    use super::*;

    /// What comes of a list that says it has `claimed` elements, in a payload of `bytes`.
    fn counted(claimed: u32, bytes: u32) -> Result<Vec<u64>, Malformed> {
        let (ours, theirs) = Segment::heap(64, Sealing::SingleWriter);
        let span = ours.span_mut().expect("our own segment is mapped writable");
        let elements = [7u64, 8, 9];
        let end = counted_bytes(&elements).next_multiple_of(8);
        Variable::out_of_line(span, 0, end).put_counted(&elements);
        span.copy_in(0, &claimed.to_le_bytes());
        let incoming = || Incoming::out_of_line(theirs.span(), bytes as usize);
        let kept = incoming()?.vec_of_counted::<u64>(bytes);
        let mut room = Room::new();
        let lent = incoming()?.counted::<u64>(bytes, &mut room);
        assert_eq!(kept, lent.map(|lent| lent.to_vec()));
        kept
    }

    #[test]
    fn a_count_is_what_came_or_malformed() {
        assert_eq!(counted(3, 28), Ok(vec![7, 8, 9]));
        assert_eq!(counted(2, 20), Ok(vec![7, 8]));
        assert_eq!(counted(0, 4), Ok(Vec::new()));
        assert_eq!(counted(2, 28), Err(Malformed::Left { bytes: 8 }));
        assert_eq!(counted(3, 27), Err(Malformed::Length { claimed: 24, limit: 23 }));
        assert_eq!(counted(4, 28), Err(Malformed::Length { claimed: 32, limit: 24 }));
        assert_eq!(counted(0, 3), Err(Malformed::Length { claimed: 4, limit: 3 }));
        let claimed = u64::from(u32::MAX) * 8;
        assert_eq!(counted(u32::MAX, 28), Err(Malformed::Length { claimed, limit: 24 }));
    }
}
