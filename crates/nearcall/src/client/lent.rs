//! Memory that a client lends to its server: arguments are built where the server reads them, so
//! that a call costs the same for a gibibyte as for a page (docs/design/0008-large-arguments.md).

use std::fmt;
use std::ops::{Deref, DerefMut};

use nearcall_abi::{LENGTH_LENT, MESSAGE_BYTES_MAX};
use nearcall_os::segment::SoleSegment;

use crate::binding::Binding;
use crate::error::{CallError, OverBound, UsageError};

/// Bytes of what stands for lent bytes in a message: their number.
pub(crate) const LENT_PAYLOAD_BYTES: u64 = 8;

/// Memory that the server of one binding can read. Derefs to `[u8]`: fill it in place, then pass
/// a reference to it as an `@opaque` argument, any number of times, from any thread.
///
/// The server sees what is written here while it is written, also after a call that was aborted
/// and while a oneway runs; it never relies on what it has not copied. Dropping it gives the
/// memory back, once the server's last call that has it ends; the drop may wait 100 ms for room in
/// the binding's socket.
pub struct Lent {
    binding: Binding,
    number: u32,
    room: SoleSegment,
    bytes: usize,
}

/// An `@opaque` argument: bytes to be copied, or bytes that are lent already. Made from `&[u8]`,
/// `&Vec<u8>`, `&[u8; N]` and `&Lent`.
#[derive(Clone, Copy, Debug)]
pub struct OpaqueIn<'a> {
    place: Place<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Place<'a> {
    Ours(&'a [u8]),
    Lent { lent: &'a Lent, bytes: u32 },
}

impl Binding {
    /// Memory of `bytes` bytes, all 0, that the server can read in place: at most 1 GiB, and at
    /// most 64 such at a time.
    ///
    /// Waits at most 5 s for the server to map it.
    ///
    /// # Errors: [`CallError::Usage`] over these limits, without memory, if the server has no room,
    /// or reads nothing for 100 ms; [`CallError::NotExecuted`] if the binding is revoked, as it is
    /// when the server has ended, or does not answer in that time.
    ///
    /// # Cost: 0.3 to 3 us a page, on both sides; later calls with it cost what a call costs that
    /// moves 8 bytes.
    pub fn lend(&self, bytes: usize) -> Result<Lent, CallError> {
        let limit = u64::from(MESSAGE_BYTES_MAX);
        if bytes as u64 > limit {
            let over = OverBound { parameter: "lent memory", value: bytes as u64, limit };
            return Err(CallError::Usage(UsageError::OverBound(over)));
        }
        let (number, room) = self.inner().lend(bytes)?;
        Ok(Lent { binding: self.clone(), number, room, bytes })
    }
}

impl Lent {
    /// The first `bytes` bytes, as an argument. Panics if there are fewer.
    pub fn first(&self, bytes: usize) -> OpaqueIn<'_> {
        assert!(bytes <= self.bytes, "{bytes} bytes of {} lent ones", self.bytes);
        OpaqueIn { place: Place::Lent { lent: self, bytes: bytes as u32 } }
    }

    /// The binding whose server can read it.
    pub fn binding(&self) -> &Binding {
        &self.binding
    }
}

impl Deref for Lent {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.room[..self.bytes]
    }
}

impl DerefMut for Lent {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.room[..self.bytes]
    }
}

impl fmt::Debug for Lent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Lent");
        out.field("number", &self.number).field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.binding.inner().end_lend(self.number);
    }
}

impl<'a> OpaqueIn<'a> {
    /// How many bytes there are.
    #[inline]
    pub fn len(&self) -> usize {
        match self.place {
            Place::Ours(bytes) => bytes.len(),
            Place::Lent { bytes, .. } => bytes as usize,
        }
    }

    /// There are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The length as it stands in the fixed part.
    #[doc(hidden)]
    #[inline]
    pub fn length_word(&self) -> u32 {
        match self.place {
            Place::Ours(bytes) => bytes.len() as u32,
            Place::Lent { bytes, .. } => bytes | LENGTH_LENT,
        }
    }

    /// Bytes of it in the variable part, rounded up.
    #[doc(hidden)]
    #[inline]
    pub fn payload_bytes(&self) -> u64 {
        match self.place {
            Place::Ours(bytes) => (bytes.len() as u64).next_multiple_of(8),
            Place::Lent { .. } => LENT_PAYLOAD_BYTES,
        }
    }

    /// What is to be copied, or the number of what is lent.
    #[inline]
    pub(crate) fn ours(self) -> Result<&'a [u8], u32> {
        match self.place {
            Place::Ours(bytes) => Ok(bytes),
            Place::Lent { lent, .. } => Err(lent.number),
        }
    }

    /// Refuses what was lent to the server of another binding.
    #[inline]
    pub(crate) fn check_binding(&self, binding: &Binding) -> Result<(), Box<CallError>> {
        match self.place {
            Place::Lent { lent, .. } if !std::ptr::eq(lent.binding.inner(), binding.inner()) => {
                Err(Box::new(CallError::Usage(UsageError::LentElsewhere)))
            }
            _ => Ok(()),
        }
    }
}

impl<'a> From<&'a [u8]> for OpaqueIn<'a> {
    #[inline]
    fn from(bytes: &'a [u8]) -> OpaqueIn<'a> {
        OpaqueIn { place: Place::Ours(bytes) }
    }
}

impl<'a> From<&'a Vec<u8>> for OpaqueIn<'a> {
    #[inline]
    fn from(bytes: &'a Vec<u8>) -> OpaqueIn<'a> {
        OpaqueIn { place: Place::Ours(bytes) }
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for OpaqueIn<'a> {
    #[inline]
    fn from(bytes: &'a [u8; N]) -> OpaqueIn<'a> {
        OpaqueIn { place: Place::Ours(bytes) }
    }
}

impl<'a> From<&'a Lent> for OpaqueIn<'a> {
    #[inline]
    fn from(lent: &'a Lent) -> OpaqueIn<'a> {
        lent.first(lent.bytes)
    }
}
