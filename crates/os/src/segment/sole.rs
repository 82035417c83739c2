//! A segment that this domain alone can write, as plain memory: `&[u8]` and `&mut [u8]`.
//!
//! Everywhere else a segment is read and written by accesses that stand for atomics, because a
//! peer may write it at any time. Here it cannot. The file is sealed against every later writer
//! before its descriptor leaves, so that the only writable mapping there will ever be is this one,
//! and it is reached through this type alone, under the rules of a borrow. Others read what is
//! written here while it is written, and what they read is their business: they copy by accesses
//! that stand for atomics, and judge the copy.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::os::fd::OwnedFd;

use super::{Sealing, Segment, SegmentError};

/// A segment of which nobody else has a writable mapping.
///
/// Invariant: `segment` was made by [`Segment::create`] with [`Sealing::SingleWriter`], and no
/// span of it is ever given out.
pub struct SoleSegment {
    segment: Segment,
}

impl SoleSegment {
    /// As [`Segment::create`] with [`Sealing::SingleWriter`]. A child of a fork has other memory
    /// there: it could write this one otherwise.
    ///
    /// # Errors: see [`SegmentError`]; nothing is left behind.
    pub fn create(name: &str, bytes: usize) -> Result<(SoleSegment, OwnedFd), SegmentError> {
        let (segment, file) = Segment::create(name, bytes, Sealing::SingleWriter)?;
        Ok((SoleSegment { segment }, file))
    }
}

impl Deref for SoleSegment {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        let mapping = &self.segment.mapping;
        // SAFETY: mapped readable and initialised (a new file is zero) as long as `self`, by the
        // mapping's invariant. Nobody writes while the borrow lasts: the seals keep every other
        // mapping and descriptor from it, and this type gives `&mut` only for `&mut self`.
        unsafe { std::slice::from_raw_parts(mapping.base().as_ptr(), mapping.bytes()) }
    }
}

impl DerefMut for SoleSegment {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        let mapping = &self.segment.mapping;
        // SAFETY: as in `deref`, and mapped writable, since `create` mapped it. It is the only
        // reference of this domain: `&mut self`. Peers read other mappings of these pages, by
        // accesses that stand for atomics.
        unsafe { std::slice::from_raw_parts_mut(mapping.base().as_ptr(), mapping.bytes()) }
    }
}

impl fmt::Debug for SoleSegment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SoleSegment").field("bytes", &self.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: usize = nearcall_abi::PAGE_BYTES as usize;

    #[test]
    fn the_receiver_reads_what_is_written_in_place() {
        let (mut sole, file) = SoleSegment::create("sole", PAGE).unwrap();
        let receiver = Segment::receive(file, PAGE, Sealing::SingleWriter).unwrap();
        assert!(sole.iter().all(|byte| *byte == 0));
        sole[5] = 7;
        assert_eq!((sole[5], receiver.span().load_u8(5)), (7, 7));
        assert_eq!(sole.len(), PAGE);
        assert!(receiver.span_mut().is_none());
    }

    #[test]
    fn the_descriptor_lets_nobody_write() {
        let (_sole, file) = SoleSegment::create("sole", PAGE).unwrap();
        assert_eq!(rustix::io::pwrite(&file, &[1], 0), Err(rustix::io::Errno::PERM));
        assert!(
            crate::mapping::Mapping::new(std::os::fd::AsFd::as_fd(&file), PAGE, true, true)
                .is_err()
        );
    }
}
