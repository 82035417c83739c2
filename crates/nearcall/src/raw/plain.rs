//! Values that lie in memory as they are marshalled: numbers, arrays of plain values, and structs
//! of plain members without a gap between or behind them. Any bytes are a value, so that there is
//! nothing to judge, and many of them are one copy.

pub use bytemuck::{Pod, Zeroable};

use super::malformed::Malformed;
use super::marshal::{Reader, Writer};

/// Appends values as they lie in memory.
#[inline]
pub fn put<T: Pod>(values: &[T], writer: &mut Writer) {
    writer.put(bytemuck::cast_slice(values));
}

/// Takes one value off.
#[inline]
pub fn take<T: Pod>(reader: &mut Reader<'_>) -> Result<T, Malformed> {
    reader.bytes(size_of::<T>()).map(bytemuck::pod_read_unaligned)
}

/// Takes `count` values off.
#[inline]
pub fn take_all<T: Pod>(reader: &mut Reader<'_>, count: usize) -> Result<Vec<T>, Malformed> {
    let bytes = count.saturating_mul(size_of::<T>());
    let bytes = reader.bytes(bytes)?;
    // As they mostly lie: a payload is aligned, and its counts have four bytes.
    if let Ok(values) = bytemuck::try_cast_slice(bytes) {
        return Ok(values.to_vec());
    }
    Ok(bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect())
}

/// Takes values off, in place of those that are there.
#[inline]
pub fn take_each_over<T: Pod>(values: &mut [T], reader: &mut Reader<'_>) -> Result<(), Malformed> {
    let bytes = reader.bytes(size_of_val(values))?;
    bytemuck::cast_slice_mut(values).copy_from_slice(bytes);
    Ok(())
}

/// Takes `count` values off, in place of those that are there.
#[inline]
pub fn take_all_over<T: Pod>(
    values: &mut Vec<T>,
    reader: &mut Reader<'_>,
    count: usize,
) -> Result<(), Malformed> {
    let bytes = reader.bytes(count.saturating_mul(size_of::<T>()))?;
    values.resize(count, T::zeroed());
    bytemuck::cast_slice_mut(values).copy_from_slice(bytes);
    Ok(())
}

/// `Marshal` for a struct that is plain; `struct` has to be `repr(C)`. Does not compile if a member
/// is not plain or left out, or there is a gap.
#[doc(hidden)]
#[macro_export]
macro_rules! plain {
    ($name:ident { $($field:ident: $member:ty),* $(,)? }) => {
        const _: () = {
            const fn is_plain<T: $crate::raw::plain::Pod>() {}
            let mut end = 0;
            $(
                is_plain::<$member>();
                ::core::assert!(::core::mem::offset_of!($name, $field) == end);
                end += ::core::mem::size_of::<$member>();
            )*
            ::core::assert!(end == ::core::mem::size_of::<$name>());
        };
        // SAFETY: all bytes are members, as was asserted, and those may be zero.
        unsafe impl $crate::raw::plain::Zeroable for $name {}
        // SAFETY: all bytes are members, as was asserted, one behind the other, and of those any
        // bytes are a value.
        unsafe impl $crate::raw::plain::Pod for $name {}
        impl $crate::raw::Marshal for $name {
            const BYTES_MIN: usize = ::core::mem::size_of::<$name>();
            $crate::plain_marshal!();
        }
    };
}

/// The functions of `Marshal` for a type that is plain.
#[doc(hidden)]
#[macro_export]
macro_rules! plain_marshal {
    () => {
        #[inline]
        fn marshal(&self, writer: &mut $crate::raw::Writer) {
            $crate::raw::plain::put(::core::slice::from_ref(self), writer);
        }

        #[inline]
        fn unmarshal(
            reader: &mut $crate::raw::Reader<'_>,
        ) -> ::core::result::Result<Self, $crate::raw::Malformed> {
            $crate::raw::plain::take(reader)
        }

        #[inline]
        fn marshal_all(values: &[Self], writer: &mut $crate::raw::Writer) {
            $crate::raw::plain::put(values, writer);
        }

        #[inline]
        fn unmarshal_all(
            reader: &mut $crate::raw::Reader<'_>,
            count: usize,
        ) -> ::core::result::Result<::std::vec::Vec<Self>, $crate::raw::Malformed> {
            $crate::raw::plain::take_all(reader, count)
        }

        #[inline]
        fn unmarshal_each_over(
            values: &mut [Self],
            reader: &mut $crate::raw::Reader<'_>,
        ) -> ::core::result::Result<(), $crate::raw::Malformed> {
            $crate::raw::plain::take_each_over(values, reader)
        }

        #[inline]
        fn unmarshal_all_over(
            values: &mut ::std::vec::Vec<Self>,
            reader: &mut $crate::raw::Reader<'_>,
            count: usize,
        ) -> ::core::result::Result<(), $crate::raw::Malformed> {
            $crate::raw::plain::take_all_over(values, reader, count)
        }
    };
}

#[cfg(test)]
mod tests {
    use super::super::{Malformed, Marshal, Reader, Writer};

    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(C)]
    struct Point {
        x: f32,
        at: [u16; 2],
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(C)]
    struct Edge {
        from: Point,
        to: Point,
        weight: u64,
    }

    plain!(Point { x: f32, at: [u16; 2] });
    plain!(Edge { from: Point, to: Point, weight: u64 });

    fn edge(seed: u16) -> Edge {
        let point = |by| Point { x: f32::from(seed) + 0.5, at: [seed, by] };
        Edge { from: point(1), to: point(2), weight: u64::from(seed) << 40 }
    }

    /// Marshalled member by member.
    fn by_members(edge: &Edge, writer: &mut Writer) {
        for point in [&edge.from, &edge.to] {
            point.x.marshal(writer);
            point.at.iter().for_each(|number| number.marshal(writer));
        }
        edge.weight.marshal(writer);
    }

    #[test]
    fn a_plain_struct_is_marshalled_as_its_members_are() {
        let edges: Vec<Edge> = (0..100).map(edge).collect();
        let (mut whole, mut parts) = (Writer::new(), Writer::new());
        edges.marshal(&mut whole);
        edges.first().expect("some").marshal(&mut whole);
        parts.count(edges.len());
        edges.iter().chain(edges.first()).for_each(|edge| by_members(edge, &mut parts));
        assert_eq!(whole.as_bytes(), parts.as_bytes());
        let mut reader = Reader::new(whole.as_bytes());
        assert_eq!(Vec::<Edge>::unmarshal(&mut reader), Ok(edges.clone()));
        assert_eq!(Edge::unmarshal(&mut reader), Ok(edges[0]));
        assert_eq!(reader.finish(), Ok(()));
    }

    #[test]
    fn values_that_are_not_there_are_malformed() {
        let mut writer = Writer::new();
        vec![edge(1); 3].marshal(&mut writer);
        let cut = &writer.as_bytes()[..writer.as_bytes().len() - 1];
        let refused = Vec::<Edge>::unmarshal(&mut Reader::new(cut));
        assert_eq!(refused, Err(Malformed::Length { claimed: 72, limit: 71 }));
        let refused = Edge::unmarshal_all(&mut Reader::new(cut), usize::MAX);
        assert!(matches!(refused, Err(Malformed::Length { .. })), "{refused:?}");
    }
}
