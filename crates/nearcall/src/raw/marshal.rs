//! The conventional way: values that the stubs cannot lay out at compile time (nested, recursive,
//! optional) are written one after another into private memory and copied as one payload (L32).
//!
//! Little endian, unaligned. Lengths and counts are `u32`; a boolean is one byte, 0 or 1; an
//! optional value is a boolean and then the value. Reading never trusts a count: memory is set
//! aside for no more elements than the bytes that are left could hold, and nothing is read deeper
//! than the stack allows.

mod items;

use std::collections::BTreeMap;
use std::fmt;

use nearcall_os::stack_pointer::stack_pointer;

use super::malformed::Malformed;
use super::scratch::{Marshalled, text_of};
use super::{MESSAGE_BYTES_MAX, Refusal};
use crate::client::switching;
use crate::error::{CallError, OutOfRange, OverBound, UsageError};
use crate::types::{Char, LongDouble};

/// Deepest nesting of recursive values that is written and read.
pub const DEPTH_MAX: usize = 64;

/// Most bytes that are read of defaults, in place of members of appendable structs that did not
/// come, for one payload: four bytes of it may stand for a whole struct of them.
pub const DEFAULT_BYTES_MAX: usize = 16 << 20;

/// What a kernel thread is taken to have of its stack, which has 2 MiB or more, when a value is
/// read; a FastThread knows.
const KERNEL_STACK_BYTES: usize = 3 << 19;

/// How often a value may be on the stack while it is read: once in each function that hands it on.
/// Code that is not optimised copies it once more at each step.
const COPIES: usize = if cfg!(debug_assertions) { 16 } else { 8 };

/// Bytes of stack that reading needs besides.
const SPARE_BYTES: usize = 8 << 10;

/// A type that is marshalled the conventional way.
pub trait Marshal: Sized {
    /// Fewest bytes that a value takes; 1 for a recursive type. Never 0, so that a count can be
    /// judged by the bytes that are left: a struct without members is marshalled as one 0.
    const BYTES_MIN: usize;

    /// Appends the value.
    fn marshal(&self, writer: &mut Writer);

    /// Takes one value off.
    fn unmarshal(reader: &mut Reader<'_>) -> Result<Self, Malformed>;

    /// Appends values, one after another.
    #[inline]
    fn marshal_all(values: &[Self], writer: &mut Writer) {
        for value in values {
            value.marshal(writer);
        }
    }

    /// Takes `count` values off, of which [`Marshal::BYTES_MIN`] bytes each are there.
    #[inline]
    fn unmarshal_all(reader: &mut Reader<'_>, count: usize) -> Result<Vec<Self>, Malformed> {
        // Room for what the bytes can hold if each value takes as many as in memory; those that
        // take fewer make it grow as they come.
        let room = count.min(reader.rest.len() / size_of::<Self>().max(1));
        let mut values = Vec::with_capacity(room);
        for _ in 0..count {
            values.push(Self::unmarshal(reader)?);
        }
        Ok(values)
    }

    /// Takes one value off over an earlier one, whose memory serves again. If it is refused that
    /// is any value.
    #[inline]
    fn unmarshal_over(&mut self, reader: &mut Reader<'_>) -> Result<(), Malformed> {
        *self = Self::unmarshal(reader)?;
        Ok(())
    }

    /// The same of as many values as there are.
    #[inline]
    fn unmarshal_each_over(values: &mut [Self], reader: &mut Reader<'_>) -> Result<(), Malformed> {
        values.iter_mut().try_for_each(|value| value.unmarshal_over(reader))
    }

    /// The same of `count` values, which are as many as [`Marshal::unmarshal_all`] is told.
    #[inline]
    fn unmarshal_all_over(
        values: &mut Vec<Self>,
        reader: &mut Reader<'_>,
        count: usize,
    ) -> Result<(), Malformed> {
        values.truncate(count);
        Self::unmarshal_each_over(values, reader)?;
        let room = (count - values.len()).min(reader.rest.len() / size_of::<Self>().max(1));
        values.reserve(room);
        for _ in values.len()..count {
            values.push(Self::unmarshal(reader)?);
        }
        Ok(())
    }
}

/// What a piece of memory counts for at least that a value holds, however short it is: the
/// allocator's own part, and the time that it takes to free it.
const PIECE_BYTES_MIN: usize = 64;

/// Collects the bytes of one payload.
#[derive(Debug, Default)]
pub struct Writer {
    bytes: Marshalled,
    depth: usize,
    breach: Option<UsageError>,
}

impl Writer {
    /// An empty one, in memory that its thread has kept of an earlier one.
    pub fn new() -> Writer {
        Writer { bytes: Marshalled::new(), ..Writer::default() }
    }

    /// Appends bytes as they are.
    #[inline]
    pub fn put(&mut self, bytes: &[u8]) {
        self.bytes.vec_mut().extend_from_slice(bytes);
    }

    /// Appends a length or count. One over `u32::MAX` is remembered as a breach.
    #[inline]
    pub fn count(&mut self, count: usize) {
        match u32::try_from(count) {
            Ok(count) => self.put(&count.to_le_bytes()),
            Err(_) => self.bound("value", count, u32::MAX),
        }
    }

    /// Remembers the first count that is over its type's bound.
    pub fn bound(&mut self, member: &'static str, count: usize, bound: u32) {
        if count > bound as usize && self.breach.is_none() {
            let value = count as u64;
            let over = OverBound { parameter: member, value, limit: bound.into() };
            self.breach = Some(UsageError::OverBound(over));
        }
    }

    /// Remembers a value outside the range of its place, or a union's discriminator that selects
    /// another case than its value; `allowed` says in words what it may be.
    #[cold]
    pub fn range(&mut self, member: &'static str, value: &dyn fmt::Debug, allowed: &str) {
        if self.breach.is_none() {
            let (value, allowed) = (format!("{value:?}"), allowed.to_owned());
            let beyond = OutOfRange { parameter: member, value, allowed };
            self.breach = Some(UsageError::OutOfRange(Box::new(beyond)));
        }
    }

    /// Remembers what somebody else has found.
    #[cold]
    pub fn breach(&mut self, breach: UsageError) {
        self.breach.get_or_insert(breach);
    }

    /// Writes one level deeper, wherever [`Reader::nested`] reads so. Past [`DEPTH_MAX`] nothing is
    /// written, and that is remembered: whoever reads it would take it for a lie.
    pub fn nested(&mut self, inner: impl FnOnce(&mut Self)) {
        if self.depth == DEPTH_MAX {
            // Of the value as a whole, which whoever finishes it names.
            let levels = format_args!("{} levels deep", DEPTH_MAX + 1);
            return self.range("", &levels, &format!("0 to {DEPTH_MAX}"));
        }
        self.depth += 1;
        inner(self);
        self.depth -= 1;
    }

    /// Appends a value of an appendable type: its length in bytes, then what `inner` appends.
    pub fn appendable(&mut self, inner: impl FnOnce(&mut Self)) {
        let begin = self.bytes.len();
        self.put(&[0; 4]);
        inner(self);
        let members = begin + 4;
        // A payload past `u32::MAX` is over the limit of a message, and refused at its end.
        let bytes = (self.bytes.len() - members) as u32;
        self.bytes.vec_mut()[begin..members].copy_from_slice(&bytes.to_le_bytes());
    }

    /// Appends a list, as `Vec<T>` is marshalled.
    pub fn slice<T: Marshal>(&mut self, items: &[T]) {
        self.count(items.len());
        self.nested(|writer| T::marshal_all(items, writer));
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Forgets what was written; of its memory, at most so much stays.
    pub(crate) fn clear(&mut self, kept_bytes_max: usize) {
        let bytes = self.bytes.vec_mut();
        bytes.clear();
        bytes.shrink_to(kept_bytes_max);
    }

    /// The payload, unless a bound was breached or it is over [`MESSAGE_BYTES_MAX`].
    pub fn finish(self, parameter: &'static str) -> Result<Marshalled, CallError> {
        self.check(parameter).map_err(CallError::Usage)
    }

    /// The same in a server, whose breach of a bound the client learns as refused results.
    pub fn finish_results(self) -> Result<Marshalled, Refusal> {
        self.check("results").map_err(Refusal::results)
    }

    fn check(mut self, parameter: &'static str) -> Result<Marshalled, UsageError> {
        self.judge(parameter).map(|()| self.bytes)
    }

    /// Why what was written is refused, once.
    pub(crate) fn judge(&mut self, parameter: &'static str) -> Result<(), UsageError> {
        let value = self.bytes.len() as u64;
        match self.breach.take() {
            Some(UsageError::OutOfRange(mut beyond)) if beyond.parameter.is_empty() => {
                beyond.parameter = parameter;
                Err(UsageError::OutOfRange(beyond))
            }
            Some(breach) => Err(breach),
            None if value > MESSAGE_BYTES_MAX.into() => {
                let limit = MESSAGE_BYTES_MAX.into();
                Err(UsageError::OverBound(OverBound { parameter, value, limit }))
            }
            None => Ok(()),
        }
    }
}

/// Reads one payload, a private copy.
#[derive(Debug)]
pub struct Reader<'p> {
    rest: &'p [u8],
    depth: usize,
    /// Bytes of defaults that were read, of [`DEFAULT_BYTES_MAX`].
    defaulted: usize,
    /// What the values hold that were read.
    held_bytes: usize,
    /// Lowest address of the stack that reading may use.
    stack_end: usize,
}

impl<'p> Reader<'p> {
    /// Reads from the beginning of `payload`.
    pub fn new(payload: &'p [u8]) -> Reader<'p> {
        let of_kernel_thread = || stack_pointer().saturating_sub(KERNEL_STACK_BYTES);
        let stack_end = switching::stack_end().unwrap_or_else(of_kernel_thread);
        Reader { rest: payload, depth: 0, defaulted: 0, held_bytes: 0, stack_end }
    }

    /// The next `count` bytes.
    #[inline(always)]
    pub fn bytes(&mut self, count: usize) -> Result<&'p [u8], Malformed> {
        let limit = self.rest.len() as u64;
        let (taken, rest) = self
            .rest
            .split_at_checked(count)
            .ok_or(Malformed::Length { claimed: count as u64, limit })?;
        self.rest = rest;
        Ok(taken)
    }

    /// The next length or count.
    #[inline(always)]
    pub fn count(&mut self) -> Result<usize, Malformed> {
        u32::unmarshal(self).map(|count| count as usize)
    }

    /// Judges a count by its type's bound.
    pub fn bound(&self, count: usize, bound: u32) -> Result<(), Malformed> {
        if count > bound as usize {
            return Err(Malformed::Bound { claimed: count as u64, limit: bound.into() });
        }
        Ok(())
    }

    /// Reads one level deeper, where values of type `E` are; refused past [`DEPTH_MAX`], and where
    /// the stack may not be enough: how deep is the peer's choice.
    pub fn nested<E, T>(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<T, Malformed>,
    ) -> Result<T, Malformed> {
        if self.depth == DEPTH_MAX {
            return Err(Malformed::Depth);
        }
        let bytes = const { SPARE_BYTES + COPIES * size_of::<E>() };
        let left = stack_pointer().saturating_sub(self.stack_end);
        if left < bytes {
            return Err(Malformed::Stack { bytes: bytes as u64, left: left as u64 });
        }
        self.depth += 1;
        let value = match const { size_of::<E>() > SPARE_BYTES / COPIES } {
            true => apart(|| inner(self)),
            false => inner(self),
        };
        self.depth -= 1;
        value
    }

    /// Reads a value of an appendable type: as far as its length says. What `inner` leaves of that
    /// is of members that a newer version has.
    pub fn appendable<T>(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<T, Malformed>,
    ) -> Result<T, Malformed> {
        let count = self.count()?;
        let members = self.bytes(count)?;
        let behind = std::mem::replace(&mut self.rest, members);
        let value = inner(self);
        self.rest = behind;
        value
    }

    /// Reads a oneof, of which `inner` may leave nothing: it grows by cases, not behind them.
    pub fn oneof<T>(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<T, Malformed>,
    ) -> Result<T, Malformed> {
        self.appendable(|reader| {
            let value = inner(reader)?;
            reader.finish().map(|()| value)
        })
    }

    /// Leaves out the rest of a oneof, whose case only a newer version has.
    pub fn leave_case_out(&mut self) {
        self.rest = &[];
    }

    /// Before a member of an appendable struct: where nothing is left of the struct, reading goes
    /// on in `missing`, which is the member's default as it is marshalled. Refused past
    /// [`DEFAULT_BYTES_MAX`] of the payload.
    pub fn or_missing(&mut self, missing: &'static [u8]) -> Result<&mut Self, Malformed> {
        if self.rest.is_empty() {
            let defaulted = self.defaulted + missing.len();
            if defaulted > DEFAULT_BYTES_MAX {
                let (claimed, limit) = (defaulted as u64, DEFAULT_BYTES_MAX as u64);
                return Err(Malformed::Length { claimed, limit });
            }
            (self.defaulted, self.rest) = (defaulted, missing);
        }
        Ok(self)
    }

    /// Every byte was used.
    pub fn finish(&self) -> Result<(), Malformed> {
        match self.rest.len() {
            0 => Ok(()),
            bytes => Err(Malformed::Left { bytes: bytes as u64 }),
        }
    }

    /// Bytes of memory that the values hold which were read, in strings, lists, maps and boxes.
    pub(super) fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    /// A value was read that holds room for so many of `T`.
    #[inline(always)]
    fn note_held<T>(&mut self, count: usize) {
        if count > 0 {
            self.held_bytes += (count * size_of::<T>()).max(PIECE_BYTES_MIN);
        }
    }

    /// Judges a count by the bytes that so many elements need at the least.
    fn plausible(&self, count: usize, bytes_min: usize) -> Result<(), Malformed> {
        let (claimed, limit) = (count as u64 * bytes_min as u64, self.rest.len() as u64);
        if claimed > limit { Err(Malformed::Length { claimed, limit }) } else { Ok(()) }
    }
}

/// Takes the stack for what is large once it is known that there is enough, not in the frame that
/// asks: what holds it in a box, list or map may be small, and no level above has counted it.
#[inline(never)]
fn apart<T>(inner: impl FnOnce() -> T) -> T {
    inner()
}

macro_rules! plain_numbers {
    ($($number:ty),*) => {$(
        impl Marshal for $number {
            const BYTES_MIN: usize = size_of::<$number>();
            crate::plain_marshal!();
        }
    )*};
}

plain_numbers!(u8, i8, u16, i16, u32, i32, u64, i64, f32, f64, Char, LongDouble);

impl Marshal for bool {
    const BYTES_MIN: usize = 1;

    #[inline]
    fn marshal(&self, writer: &mut Writer) {
        u8::from(*self).marshal(writer);
    }

    #[inline]
    fn unmarshal(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        super::boolean(u8::unmarshal(reader)?)
    }
}

impl Marshal for char {
    const BYTES_MIN: usize = 4;

    #[inline]
    fn marshal(&self, writer: &mut Writer) {
        u32::from(*self).marshal(writer);
    }

    #[inline]
    fn unmarshal(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        super::character(u32::unmarshal(reader)?)
    }
}

impl Marshal for String {
    const BYTES_MIN: usize = 4;

    #[inline]
    fn marshal(&self, writer: &mut Writer) {
        writer.count(self.len());
        writer.put(self.as_bytes());
    }

    // Always: a function of its own hands each text on through memory, and takes where it reads
    // from there, too.
    #[inline(always)]
    fn unmarshal(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let count = reader.count()?;
        let text = text_of(reader.bytes(count)?)?.to_owned();
        reader.note_held::<u8>(count);
        Ok(text)
    }

    #[inline]
    fn unmarshal_over(&mut self, reader: &mut Reader<'_>) -> Result<(), Malformed> {
        let count = reader.count()?;
        let text = text_of(reader.bytes(count)?)?;
        self.clear();
        self.push_str(text);
        reader.note_held::<u8>(self.capacity());
        Ok(())
    }
}

impl<T: Marshal> Marshal for Vec<T> {
    const BYTES_MIN: usize = 4;

    fn marshal(&self, writer: &mut Writer) {
        writer.slice(self);
    }

    fn unmarshal(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let count = reader.count()?;
        reader.plausible(count, T::BYTES_MIN)?;
        let values = reader.nested::<T, _>(|reader| T::unmarshal_all(reader, count))?;
        reader.note_held::<T>(values.capacity());
        Ok(values)
    }

    fn unmarshal_over(&mut self, reader: &mut Reader<'_>) -> Result<(), Malformed> {
        let count = reader.count()?;
        reader.plausible(count, T::BYTES_MIN)?;
        reader.nested::<T, _>(|reader| T::unmarshal_all_over(self, reader, count))?;
        reader.note_held::<T>(self.capacity());
        Ok(())
    }
}

impl<K: Marshal + Ord, V: Marshal> Marshal for BTreeMap<K, V> {
    const BYTES_MIN: usize = 4;

    fn marshal(&self, writer: &mut Writer) {
        writer.count(self.len());
        writer.nested(|writer| {
            for (key, value) in self {
                key.marshal(writer);
                value.marshal(writer);
            }
        });
    }

    fn unmarshal(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let count = reader.count()?;
        reader.plausible(count, K::BYTES_MIN + V::BYTES_MIN)?;
        reader.nested::<(K, V), _>(|reader| {
            let mut map = BTreeMap::new();
            for _ in 0..count {
                map.insert(K::unmarshal(reader)?, V::unmarshal(reader)?);
            }
            // Nodes of 11 pairs, which have five or more, but for the first one.
            reader.note_held::<(K, V)>(11 * (count / 5 + 1));
            let (claimed, distinct) = (count as u64, map.len() as u64);
            if distinct < claimed { Err(Malformed::Keys { claimed, distinct }) } else { Ok(map) }
        })
    }
}

impl<T: Marshal, const N: usize> Marshal for [T; N] {
    const BYTES_MIN: usize = T::BYTES_MIN * N;

    fn marshal(&self, writer: &mut Writer) {
        T::marshal_all(self, writer);
    }

    fn unmarshal(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let elements = T::unmarshal_all(reader, N)?;
        let elements: Result<[T; N], _> = elements.try_into();
        Ok(elements.unwrap_or_else(|_| unreachable!("exactly N elements were read")))
    }

    fn unmarshal_over(&mut self, reader: &mut Reader<'_>) -> Result<(), Malformed> {
        T::unmarshal_each_over(self, reader)
    }
}

impl<T: Marshal> Marshal for Option<T> {
    const BYTES_MIN: usize = 1;

    fn marshal(&self, writer: &mut Writer) {
        self.is_some().marshal(writer);
        if let Some(value) = self {
            writer.nested(|writer| value.marshal(writer));
        }
    }

    fn unmarshal(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        if !bool::unmarshal(reader)? {
            return Ok(None);
        }
        reader.nested::<T, _>(T::unmarshal).map(Some)
    }

    fn unmarshal_over(&mut self, reader: &mut Reader<'_>) -> Result<(), Malformed> {
        match self {
            Some(value) if bool::unmarshal(reader)? => {
                reader.nested::<T, _>(|reader| value.unmarshal_over(reader))?;
            }
            Some(_) => *self = None,
            None => *self = Self::unmarshal(reader)?,
        }
        Ok(())
    }
}

impl<T: Marshal> Marshal for Box<T> {
    const BYTES_MIN: usize = 1;

    fn marshal(&self, writer: &mut Writer) {
        writer.nested(|writer| T::marshal(self, writer));
    }

    fn unmarshal(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        reader.note_held::<T>(1);
        reader.nested::<T, _>(|reader| T::unmarshal(reader).map(Box::new))
    }

    fn unmarshal_over(&mut self, reader: &mut Reader<'_>) -> Result<(), Malformed> {
        reader.note_held::<T>(1);
        reader.nested::<T, _>(|reader| T::unmarshal_over(self, reader))
    }
}

#[cfg(test)]
mod tests;
