//! Uninterpreted bytes, lent in place (L43): the server moves them and does not look at them, so
//! that no copy protects it from a client that changes them meanwhile.
//!
//! Neither type yields `&[u8]`: a reference to memory that a peer may write is not a promise that
//! Rust can keep.

use std::io;
use std::os::fd::AsFd;

use nearcall_os::huge;
use nearcall_os::span::{Span, SpanMut};

use super::area::Outgoing;
use super::arguments::Refusal;
use super::served::ServedCall;

/// Bytes that the client lent for the time of the call.
#[derive(Clone, Copy, Debug)]
pub struct Opaque<'a> {
    span: Span<'a>,
}

/// Room for bytes that the client gets back.
#[derive(Debug)]
pub struct OpaqueOut<'a> {
    /// In place, while it suffices.
    room: SpanMut<'a>,
    /// Where in the message it begins.
    at: usize,
    bound: u32,
    call: &'a ServedCall<'a>,
}

impl<'a> Opaque<'a> {
    pub(super) fn new(span: Span<'a>) -> Opaque<'a> {
        Opaque { span }
    }

    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.span.bytes()
    }

    /// There are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Copies bytes `at..at + target.len()`.
    ///
    /// # Panics
    ///
    /// Past the end.
    #[inline]
    pub fn copy_to(&self, at: usize, target: &mut [u8]) {
        self.span.copy_out(at, target);
    }

    /// A copy of all of them.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut target = huge::with_capacity(self.len());
        self.span.append_to(0, self.len(), &mut target);
        target
    }

    /// Writes all of them to `file` at `offset`, without a copy in this domain.
    pub fn write_at(&self, file: impl AsFd, offset: u64) -> io::Result<()> {
        let mut done = 0;
        while done < self.len() {
            let range = done..self.len();
            match self.span.write_at(range, file.as_fd(), offset + done as u64) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl<'a> OpaqueOut<'a> {
    #[inline]
    pub(super) fn new(
        room: SpanMut<'a>,
        at: usize,
        bound: u32,
        call: &'a ServedCall<'a>,
    ) -> OpaqueOut<'a> {
        OpaqueOut { room, at, bound, call }
    }

    /// Most that the interface lets it hold, bytes.
    pub fn capacity(&self) -> usize {
        self.bound as usize
    }

    /// How many were put.
    pub fn len(&self) -> usize {
        self.call.lent_bytes() as usize
    }

    /// None were put yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends a copy of `bytes`.
    ///
    /// # Errors: over the interface's bound, or without memory; nothing was put then.
    pub fn put(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
        let at = self.len();
        self.with_room(bytes.len(), |room| room.copy_in(at, bytes))?;
        self.call.set_lent(self.at, at + bytes.len());
        Ok(())
    }

    /// Appends at most `bytes` bytes of `file` from `offset` on, without a copy in this domain.
    /// Returns how many there were: fewer only at the end of the file.
    ///
    /// # Errors: the file's; `InvalidInput` over the interface's bound or without memory.
    pub fn read_at(&mut self, file: impl AsFd, offset: u64, bytes: usize) -> io::Result<usize> {
        let at = self.len();
        let read = self.with_room(bytes, |room| read_all(room, at, bytes, &file, offset));
        let count = read.map_err(|refusal| {
            io::Error::new(io::ErrorKind::InvalidInput, refusal.to_string())
        })??;
        self.call.set_lent(self.at, at + count);
        Ok(count)
    }

    /// Runs `fill` over a place with room for `more` bytes behind what is there.
    fn with_room<T>(&self, more: usize, fill: impl FnOnce(SpanMut<'_>) -> T) -> Result<T, Refusal> {
        let total = self.len() as u64 + more as u64;
        if total > self.bound.into() {
            let (value, limit) = (total, self.bound.into());
            return Err(Refusal::over_bound("lent results", value, limit));
        }
        if !self.call.replies_out_of_line() && total <= self.room.bytes() as u64 {
            return Ok(fill(self.room));
        }
        // What was put so far begins where `room` does.
        let outgoing = Outgoing { inline: self.room, block: self.room };
        let at = nearcall_abi::INLINE_BYTES as usize;
        let segment = self.call.move_out_of_line(outgoing, at, total)?;
        Ok(fill(segment.span_mut().expect("our own segment is mapped writable")))
    }
}

fn read_all(
    room: SpanMut<'_>,
    at: usize,
    bytes: usize,
    file: &impl AsFd,
    offset: u64,
) -> io::Result<usize> {
    let mut done = 0;
    while done < bytes {
        let range = at + done..at + bytes;
        match room.read_at(range, file.as_fd(), offset + done as u64) {
            Ok(0) => break,
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}
