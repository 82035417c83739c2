//! A piece of a segment: a pointer and a length that stay inside it.
//!
//! A span never yields `&[u8]`: a peer may write the bytes at any time. It yields copies, single
//! words, and references to structs that are atomics throughout. What is read is a claim; the
//! caller judges its private copy.
//!
//! An offset past the end is this domain's own mistake and panics; a length that a peer sent is
//! judged first, by [`Span::slice`]. A span begins at a multiple of 8, so that with a constant
//! offset the only check left at run time is one comparison.

use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::{Deref, Range};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;
use std::slice;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use nearcall_abi::counted;

pub use self::line::{ReadLine, SharedLine};
use crate::copy;
pub use crate::copy::Way;

mod line;

/// Every span begins at a multiple of this.
const ALIGN: usize = 8;

/// A piece of a segment, to read.
#[derive(Clone, Copy)]
pub struct Span<'a> {
    base: NonNull<u8>,
    bytes: usize,
    segment: PhantomData<&'a AtomicU8>,
}

/// A piece of a segment, to read and write.
///
/// Copies of it may be used from several threads at once: what is stored then is anybody's guess,
/// as it is with a hostile peer, but nothing else comes to harm.
#[derive(Clone, Copy)]
pub struct SpanMut<'a> {
    span: Span<'a>,
}

// SAFETY: the bytes are valid from every thread, and every access to them is atomic or assembly
// that stands for atomics.
unsafe impl Send for Span<'_> {}
// SAFETY: as above.
unsafe impl Sync for Span<'_> {}

macro_rules! loads {
    ($($name:ident: $int:ty, $atomic:ty;)*) => {$(
        /// Loads one integer, once. Panics if it does not lie at a multiple of its size inside.
        #[inline]
        pub fn $name(self, offset: usize) -> $int {
            let at = self.at::<$int>(offset);
            // SAFETY: `at` has checked range and alignment; the segment is mapped while `'a`
            // lasts; only atomics access it.
            let word = unsafe { <$atomic>::from_ptr(at) };
            // Relaxed: the turn word, taken before, is what makes the bytes visible.
            word.load(Ordering::Relaxed)
        }
    )*};
}

macro_rules! stores {
    ($($name:ident: $int:ty, $atomic:ty;)*) => {$(
        /// Stores one integer, once. Panics if it does not lie at a multiple of its size inside.
        #[inline]
        pub fn $name(self, offset: usize, value: $int) {
            let at = self.span.at::<$int>(offset);
            // SAFETY: `at` has checked range and alignment; the segment is mapped writable while
            // `'a` lasts; only atomics access it.
            let word = unsafe { <$atomic>::from_ptr(at) };
            // Relaxed: the turn word, stepped afterwards, is what makes the bytes visible.
            word.store(value, Ordering::Relaxed);
        }
    )*};
}

impl<'a> Span<'a> {
    /// # Safety
    ///
    /// - S1 live: the `bytes` bytes at `base` stay mapped and readable while `'a` lasts, and only
    ///   this crate accesses them.
    /// - S2 aligned: `base` is a multiple of 8.
    #[inline]
    pub(crate) unsafe fn new(base: NonNull<u8>, bytes: usize) -> Span<'a> {
        debug_assert!((base.as_ptr() as usize).is_multiple_of(ALIGN));
        Span { base, bytes, segment: PhantomData }
    }

    /// Where the piece begins.
    pub(crate) fn base(self) -> NonNull<u8> {
        self.base
    }

    /// Bytes of the piece.
    #[inline]
    pub fn bytes(self) -> usize {
        self.bytes
    }

    /// A piece of the piece; `None` if it does not lie inside or begins at no multiple of 8.
    #[inline]
    pub fn slice(self, offset: usize, bytes: usize) -> Option<Span<'a>> {
        if !offset.is_multiple_of(ALIGN) || !self.holds(offset, bytes) {
            return None;
        }
        // SAFETY: `offset` is at most `self.bytes`.
        let base = unsafe { self.base.add(offset) };
        // SAFETY: S1: inside `self`, just checked. S2: a multiple of 8 past a multiple of 8.
        Some(unsafe { Span::new(base, bytes) })
    }

    /// A line, to read; `None` if it does not lie inside, aligned.
    #[inline]
    pub fn line<T: SharedLine>(self, offset: usize) -> Option<ReadLine<'a, T>> {
        self.line_ref(offset).map(ReadLine::new)
    }

    loads! {
        load_u8: u8, AtomicU8;
        load_u16: u16, AtomicU16;
        load_u32: u32, AtomicU32;
        load_u64: u64, AtomicU64;
    }

    /// Copies as many bytes out as a constant of the caller's says: moves alone up to 256. Panics
    /// past the end.
    #[inline(always)]
    pub fn copy_out_fixed(self, offset: usize, target: &mut [MaybeUninit<u8>]) {
        let source = self.range(offset, target.len());
        // SAFETY: S1 live: checked by `range`. S2 apart: private memory is never in a segment.
        unsafe { copy::fixed_out(source, target.as_mut_ptr().cast(), target.len()) };
    }

    /// Copies bytes out. Panics past the end.
    #[inline]
    pub fn copy_out(self, offset: usize, target: &mut [u8]) {
        let source = self.range(offset, target.len());
        // SAFETY: S1 live: checked by `range`. S2 apart: private memory is never in a segment.
        unsafe { copy::copy_out(source, target.as_mut_ptr(), target.len()) };
    }

    /// Copies bytes out, over what may be no bytes yet. Panics past the end.
    #[inline]
    pub fn copy_to(self, offset: usize, target: &mut [MaybeUninit<u8>]) {
        let source = self.range(offset, target.len());
        // SAFETY: S1 live: checked by `range`. S2 apart: as in `copy_out`.
        unsafe { copy::copy_out(source, target.as_mut_ptr().cast(), target.len()) };
    }

    /// Appends bytes to `target`, into its spare capacity if it suffices, without clearing it
    /// first. Panics past the end.
    #[inline]
    pub fn append_to(self, offset: usize, bytes: usize, target: &mut Vec<u8>) {
        let source = self.range(offset, bytes);
        target.reserve(bytes);
        let spare = target.spare_capacity_mut().as_mut_ptr().cast();
        // SAFETY: S1 live: checked by `range`, and reserved. S2 apart: as in `copy_out`.
        unsafe { copy::copy_out(source, spare, bytes) };
        let length = target.len() + bytes;
        // SAFETY: the bytes up to `length` were reserved and written just now.
        unsafe { target.set_len(length) };
    }

    /// Writes the bytes of `range` to a file at `file_offset`, straight from the segment; returns
    /// how many the file took, which can be fewer. Panics past the end. May block as `pwrite`
    /// does.
    pub fn write_at(
        self,
        range: Range<usize>,
        file: BorrowedFd<'_>,
        file_offset: u64,
    ) -> io::Result<usize> {
        let source = self.range(range.start, range.len());
        let file_offset = file_offset_of(file_offset)?;
        // SAFETY: checked by `range`; the kernel reads the bytes whoever writes them meanwhile.
        let written = unsafe {
            libc::pwrite(file.as_raw_fd(), source.cast_const().cast(), range.len(), file_offset)
        };
        usize::try_from(written).map_err(|_| io::Error::last_os_error())
    }

    #[inline]
    fn holds(self, offset: usize, bytes: usize) -> bool {
        offset <= self.bytes && bytes <= self.bytes - offset
    }

    /// Where `bytes` bytes at `offset` lie.
    #[inline]
    #[track_caller]
    fn range(self, offset: usize, bytes: usize) -> *mut u8 {
        if !self.holds(offset, bytes) {
            past_end(offset, bytes, self.bytes);
        }
        // SAFETY: `offset` is at most `self.bytes`.
        unsafe { self.base.add(offset) }.as_ptr()
    }

    /// Where an integer at `offset` lies, aligned to its size.
    #[inline]
    #[track_caller]
    fn at<I>(self, offset: usize) -> *mut I {
        const { assert!(size_of::<I>() <= ALIGN) };
        if !offset.is_multiple_of(size_of::<I>()) {
            misaligned(offset, size_of::<I>());
        }
        self.range(offset, size_of::<I>()).cast()
    }

    #[inline]
    fn line_ref<T: SharedLine>(self, offset: usize) -> Option<&'a T> {
        if !self.holds(offset, size_of::<T>()) {
            return None;
        }
        // SAFETY: `offset` is at most `self.bytes`.
        let line = unsafe { self.base.add(offset) }.cast::<T>();
        if !line.is_aligned() {
            return None;
        }
        // SAFETY: inside the span and aligned, just checked; mapped while `'a` lasts; all atomics
        // and valid for any bytes by `SharedLine`'s S1 and S2.
        Some(unsafe { line.as_ref() })
    }
}

impl<'a> SpanMut<'a> {
    /// # Safety
    ///
    /// - S1 writable: the bytes of `span` are mapped writable while `'a` lasts.
    #[inline]
    pub(crate) unsafe fn new(span: Span<'a>) -> SpanMut<'a> {
        SpanMut { span }
    }

    /// The same piece, to read.
    #[inline]
    pub fn as_span(self) -> Span<'a> {
        self.span
    }

    /// A piece of the piece; `None` if it does not lie inside or begins at no multiple of 8.
    #[inline]
    pub fn slice(self, offset: usize, bytes: usize) -> Option<SpanMut<'a>> {
        self.span.slice(offset, bytes).map(|span| SpanMut { span })
    }

    /// A line; `None` if it does not lie inside, aligned.
    #[inline]
    pub fn line<T: SharedLine>(self, offset: usize) -> Option<&'a T> {
        self.span.line_ref(offset)
    }

    /// So many lines from the beginning on; `None` if they do not lie inside, aligned.
    #[inline]
    pub fn lines<T: SharedLine>(self, count: usize) -> Option<&'a [T]> {
        let first = self.span.base.cast::<T>();
        let bytes = count.checked_mul(size_of::<T>())?;
        let are_there = first.is_aligned() && self.span.holds(0, bytes);
        // SAFETY: all of them are inside the span, from its base on, and aligned, just checked;
        // mapped while `'a` lasts; all atomics and valid for any bytes by `SharedLine`'s S1 and S2.
        are_there.then(|| unsafe { slice::from_raw_parts(first.as_ptr(), count) })
    }

    stores! {
        store_u8: u8, AtomicU8;
        store_u16: u16, AtomicU16;
        store_u32: u32, AtomicU32;
        store_u64: u64, AtomicU64;
    }

    /// Copies as many bytes in as a constant of the caller's says: moves alone up to 256. Panics
    /// past the end.
    #[inline(always)]
    pub fn copy_in_fixed(self, offset: usize, source: &[u8]) {
        let target = self.range(offset, source.len());
        // SAFETY: S1 live: checked by `range`. S2 apart: private memory is never in a segment.
        unsafe { copy::fixed_in(source.as_ptr(), target, source.len()) };
    }

    /// Copies bytes in. Panics past the end.
    #[inline]
    pub fn copy_in(self, offset: usize, source: &[u8]) {
        let target = self.range(offset, source.len());
        // SAFETY: S1 live: checked by `range`. S2 apart: private memory is never in a segment.
        unsafe { copy::copy_in(source.as_ptr(), target, source.len()) };
    }

    /// Copies a piece of something longer in, the way that the piece before it went; says which way
    /// this one did. Panics past the end.
    pub fn copy_piece_in(self, offset: usize, source: &[u8], way: Way) -> Way {
        let target = self.range(offset, source.len());
        // SAFETY: S1 live: checked by `range`. S2 apart: private memory is never in a segment.
        unsafe { copy::piece_in(source.as_ptr(), target, source.len(), way) }
    }

    /// Writes zeros to the bytes of `range`. Panics past the end.
    pub fn clear(self, range: Range<usize>) {
        let zeros = [0; 512];
        let mut offset = range.start;
        while offset < range.end {
            let bytes = zeros.len().min(range.end - offset);
            self.copy_in(offset, &zeros[..bytes]);
            offset += bytes;
        }
    }

    /// Reads the bytes of `range` from a file at `file_offset`, straight into the segment; returns
    /// how many there were, which can be fewer. Panics past the end. May block as `pread` does.
    pub fn read_at(
        self,
        range: Range<usize>,
        file: BorrowedFd<'_>,
        file_offset: u64,
    ) -> io::Result<usize> {
        let target = self.range(range.start, range.len());
        let file_offset = file_offset_of(file_offset)?;
        // SAFETY: checked by `range`, and writable by the invariant; the kernel writes the bytes
        // whoever else does.
        let read =
            unsafe { libc::pread(file.as_raw_fd(), target.cast(), range.len(), file_offset) };
        usize::try_from(read).map_err(|_| io::Error::last_os_error())
    }
}

impl<'a> Deref for SpanMut<'a> {
    type Target = Span<'a>;

    #[inline]
    fn deref(&self) -> &Span<'a> {
        &self.span
    }
}

impl fmt::Debug for Span<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Span").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl fmt::Debug for SpanMut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpanMut").field("bytes", &self.span.bytes).finish_non_exhaustive()
    }
}

fn file_offset_of(offset: u64) -> io::Result<libc::off_t> {
    libc::off_t::try_from(offset).map_err(|_| io::ErrorKind::InvalidInput.into())
}

#[cold]
#[inline(never)]
#[track_caller]
fn past_end(offset: usize, bytes: usize, limit: usize) -> ! {
    let [bytes, limit] = [bytes, limit].map(|count| counted(count, "byte"));
    panic!("not inside a span of {limit}: {bytes} at offset {offset}")
}

#[cold]
#[inline(never)]
#[track_caller]
fn misaligned(offset: usize, width: usize) -> ! {
    panic!("offset {offset} is not a multiple of {width}")
}

#[cfg(test)]
mod tests {
    use nearcall_abi::{AStackHead, BellLine, ReplyLine, RequestLine};

    use super::*;
    use crate::segment::{Sealing, Segment};

    fn segment(bytes: usize) -> Segment {
        Segment::heap(bytes, Sealing::BothWrite).0
    }

    /// What a panic of `run` says.
    fn panic_of(run: impl FnOnce()) -> String {
        let payload = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).unwrap_err();
        *payload.downcast::<String>().unwrap()
    }

    fn fixed<const N: usize>(span: SpanMut<'_>, offset: usize) -> [u8; N] {
        let mut target = [MaybeUninit::new(0xee); N];
        span.copy_out_fixed(offset, &mut target);
        // SAFETY: all of them are initialized from the beginning.
        target.map(|byte| unsafe { byte.assume_init() })
    }

    #[test]
    fn every_width_comes_back_as_it_was_stored() {
        let segment = segment(64);
        let span = segment.span_mut().unwrap();
        span.store_u8(1, 0x11);
        span.store_u16(2, 0x2222);
        span.store_u32(4, 0x4444_4444);
        span.store_u64(56, u64::MAX);
        assert_eq!((span.load_u8(1), span.load_u16(2)), (0x11, 0x2222));
        assert_eq!((span.load_u32(4), span.load_u64(56)), (0x4444_4444, u64::MAX));
        assert_eq!(span.load_u64(0), u64::from_ne_bytes([0, 0x11, 0x22, 0x22, 68, 68, 68, 68]));
    }

    #[test]
    fn an_access_past_the_end_panics_and_names_the_limit() {
        let segment = segment(64);
        let span = segment.span_mut().unwrap();
        let message = panic_of(|| _ = span.load_u64(64));
        assert_eq!(message, "not inside a span of 64 bytes: 8 bytes at offset 64");
        panic_of(|| _ = span.load_u8(usize::MAX));
        panic_of(|| span.store_u8(64, 0));
        panic_of(|| span.copy_in(1, &[0; 64]));
        panic_of(|| span.copy_out(65, &mut []));
        panic_of(|| span.append_to(60, usize::MAX, &mut Vec::new()));
        panic_of(|| span.copy_out_fixed(60, &mut [MaybeUninit::uninit(); 8]));
        panic_of(|| span.copy_in_fixed(57, &[0; 8]));
        panic_of(|| span.clear(0..65));
    }

    #[test]
    fn a_misaligned_integer_panics() {
        let segment = segment(64);
        let span = segment.span_mut().unwrap();
        assert_eq!(panic_of(|| _ = span.load_u32(2)), "offset 2 is not a multiple of 4");
        panic_of(|| span.store_u16(1, 0));
    }

    #[test]
    fn a_slice_lies_inside_or_is_none() {
        let segment = segment(64);
        let span = segment.span_mut().unwrap();
        span.store_u8(16, 5);
        let inline = span.slice(16, 48).unwrap();
        assert_eq!((inline.bytes(), inline.load_u8(0)), (48, 5));
        assert_eq!(span.slice(64, 0).map(|slice| slice.bytes()), Some(0));
        assert!(span.slice(16, 49).is_none());
        assert!(span.slice(72, 0).is_none());
        assert!(span.slice(8, usize::MAX).is_none());
        assert!(span.slice(usize::MAX - 7, 8).is_none());
    }

    #[test]
    fn a_slice_begins_at_a_multiple_of_8_or_is_none() {
        let segment = segment(64);
        assert!((1..8).all(|offset| segment.span().slice(offset, 8).is_none()));
        assert!(segment.span().slice(8, 7).is_some());
    }

    #[test]
    fn bytes_copied_in_come_out_by_every_way() {
        let segment = segment(256);
        let span = segment.span_mut().unwrap();
        let bytes: Vec<u8> = (0..200).collect();
        span.copy_in(3, &bytes);
        let mut out = [0; 200];
        span.copy_out(3, &mut out);
        assert_eq!(out[..], bytes[..]);
        let mut appended = vec![255];
        span.append_to(3, 200, &mut appended);
        assert_eq!((appended[0], &appended[1..]), (255, &bytes[..]));
        assert_eq!(fixed::<5>(span, 103), [100, 101, 102, 103, 104]);
        span.copy_in_fixed(0, &[7; 33]);
        assert_eq!((span.load_u8(32), span.load_u8(33)), (7, 30));
    }

    #[test]
    fn appending_within_the_capacity_allocates_nothing() {
        let segment = segment(64);
        let mut target = Vec::with_capacity(64);
        let before = target.as_ptr();
        segment.span().append_to(0, 64, &mut target);
        assert_eq!((target.as_ptr(), target.len()), (before, 64));
    }

    #[test]
    fn clearing_writes_zeros_to_the_range_and_nothing_beside_it() {
        let segment = segment(2048);
        let span = segment.span_mut().unwrap();
        span.copy_in(0, &[1; 2048]);
        span.clear(3..1500);
        let mut out = [0; 2048];
        span.copy_out(0, &mut out);
        assert_eq!(out.iter().position(|byte| *byte == 0), Some(3));
        assert_eq!(out.iter().rposition(|byte| *byte == 0), Some(1499));
        assert_eq!(out.iter().filter(|byte| **byte == 0).count(), 1497);
    }

    #[test]
    fn a_line_lies_inside_aligned_or_is_none() {
        let segment = segment(256);
        let span = segment.span_mut().unwrap();
        assert!(span.line::<AStackHead>(192).is_some());
        assert!(span.line::<AStackHead>(32).is_none());
        assert!(span.line::<AStackHead>(256).is_none());
        assert!(span.line::<BellLine>(usize::MAX - 63).is_none());
        assert!(span.slice(8, 64).unwrap().line::<RequestLine>(0).is_none());
        assert!(span.slice(64, 63).unwrap().line::<ReplyLine>(0).is_none());
    }

    #[test]
    fn the_inline_bytes_of_a_head_are_those_of_its_span() {
        let segment = segment(64);
        let span = segment.span_mut().unwrap();
        let head = span.line::<AStackHead>(0).unwrap();
        span.slice(16, 48).unwrap().store_u64(40, 99);
        assert_eq!(head.inline[5].load(Ordering::Relaxed), 99);
    }

    #[test]
    fn a_line_to_read_shows_what_the_writer_stores() {
        let (creator, receiver) = Segment::heap(128, Sealing::SingleWriter);
        let requests = creator.span_mut().unwrap().line::<RequestLine>(0).unwrap();
        requests.progress.store(9, Ordering::Relaxed);
        requests.generation.store(2, Ordering::Relaxed);
        let replies = creator.span_mut().unwrap().line::<ReplyLine>(64).unwrap();
        replies.claim.store(4, Ordering::Relaxed);
        replies.generation.store(3, Ordering::Relaxed);
        let seen = receiver.span().line::<RequestLine>(0).unwrap();
        assert_eq!((seen.progress(), seen.generation()), (9, 2));
        let seen = receiver.span().line::<ReplyLine>(64).unwrap();
        assert_eq!((seen.claim(), seen.generation()), (4, 3));
    }

    #[test]
    fn a_file_is_written_and_read_without_a_copy() {
        use std::os::fd::AsFd;
        let flags = rustix::fs::MemfdFlags::CLOEXEC;
        let file = rustix::fs::memfd_create("file", flags).unwrap();
        let segment = segment(64);
        let span = segment.span_mut().unwrap();
        span.copy_in(0, b"hello, world");
        assert_eq!(span.write_at(7..12, file.as_fd(), 1000).unwrap(), 5);
        assert_eq!(span.read_at(33..40, file.as_fd(), 1000).unwrap(), 5);
        assert_eq!(fixed::<6>(span, 32), *b"\0world");
        assert_eq!(span.read_at(0..8, file.as_fd(), 2000).unwrap(), 0);
    }

    #[test]
    fn a_refusal_of_the_file_is_an_error_and_a_range_past_the_end_a_panic() {
        use std::os::fd::AsFd;
        let (pipe, _other) = rustix::pipe::pipe().unwrap();
        let segment = segment(64);
        let span = segment.span_mut().unwrap();
        assert!(span.write_at(0..8, pipe.as_fd(), 0).is_err());
        assert!(span.read_at(0..8, pipe.as_fd(), 0).is_err());
        assert!(span.write_at(0..8, pipe.as_fd(), u64::MAX).is_err());
        panic_of(|| _ = span.read_at(60..65, pipe.as_fd(), 0));
    }

    #[test]
    fn two_threads_may_write_one_span() {
        let segment = segment(64);
        let span = segment.span_mut().unwrap();
        std::thread::scope(|scope| {
            for value in [1, 2] {
                scope.spawn(move || (0..1000).for_each(|_| span.store_u64(8, value)));
            }
        });
        assert!([1, 2].contains(&span.load_u64(8)));
    }
}
