//! Payloads of a peer, copied to memory of the allocator's.

use std::ffi::c_void;

use nearcall::raw::{Incoming, Malformed};
use nearcall::{Opaque, UsageError};

use super::memory::{nearcall_allocate, nearcall_free};
use super::records::{OpaqueRecord, Put, Take, form};
use super::{bytes_mut, literal};

/// Why a payload was not taken.
pub enum NotTaken {
    Malformed(Malformed),
    NoMemory { bytes: u64 },
}

impl From<Malformed> for NotTaken {
    fn from(malformed: Malformed) -> NotTaken {
        NotTaken::Malformed(malformed)
    }
}

/// Takes every payload; after an error none is kept.
///
/// # Safety
///
/// - H1 live, what `LENT` payloads name.
pub unsafe fn take_all(incoming: &mut Incoming<'_>, takes: &mut [Take]) -> Result<(), NotTaken> {
    for index in 0..takes.len() {
        // SAFETY: passed on.
        if let Err(reason) = unsafe { take(incoming, &mut takes[index]) } {
            for taken in takes[..index].iter_mut().filter(|taken| taken.form != form::LENT) {
                // SAFETY: allocated just now, and given to nobody.
                unsafe { nearcall_free(taken.bytes) };
                taken.bytes = std::ptr::null_mut();
            }
            return Err(reason);
        }
    }
    Ok(())
}

/// # Safety
///
/// - H1 live, what a `LENT` payload names.
unsafe fn take(incoming: &mut Incoming<'_>, take: &mut Take) -> Result<(), NotTaken> {
    if take.form == form::LENT {
        let lent = incoming.lend(take.count, take.limit)?;
        let target = take.bytes.cast::<OpaqueRecord>().cast::<Opaque<'_>>();
        // SAFETY: H1; the record is large enough, which is asserted beside it.
        unsafe { target.write(lent) };
        return Ok(());
    }
    if take.count > take.limit {
        let (claimed, limit) = (take.count.into(), take.limit.into());
        return Err(Malformed::Bound { claimed, limit }.into());
    }
    let bytes = u64::from(take.count) * u64::from(take.width);
    let too_long = Malformed::Length { claimed: bytes, limit: u32::MAX.into() };
    let bytes = u32::try_from(bytes).map_err(|_| too_long)?;
    let is_text = match take.form {
        form::TEXT => true,
        form::BYTES => false,
        other => panic!("a payload has no form {other}"),
    };
    let mut memory = Memory(std::ptr::null_mut());
    let payload = incoming.payload(bytes, u32::MAX)?;
    payload.copy_out(memory.room(payload.len(), is_text.into())?)?;
    if is_text {
        // SAFETY: `room` made it, with as many bytes, and nobody else has it.
        let text = unsafe { bytes_mut(memory.0.cast(), bytes as usize) };
        text_end(text).map_or(Ok(()), |at| Err(Malformed::Text { at }))?;
    }
    take.bytes = memory.keep();
    Ok(())
}

/// Memory of the allocator's until it is given away.
struct Memory(*mut c_void);

impl Memory {
    /// Room for `count` bytes, zeroed, and so many more behind them; none at all is null.
    fn room<'m>(&mut self, count: usize, end: usize) -> Result<&'m mut [u8], NotTaken> {
        if count + end == 0 {
            return Ok(&mut []);
        }
        self.0 = nearcall_allocate(count + end);
        if self.0.is_null() {
            return Err(NotTaken::NoMemory { bytes: (count + end) as u64 });
        }
        // SAFETY: just allocated, with as many bytes.
        unsafe { self.0.cast::<u8>().write_bytes(0, count + end) };
        // SAFETY: written just now, and nobody else has it.
        Ok(unsafe { bytes_mut(self.0.cast(), count) })
    }

    fn keep(mut self) -> *mut c_void {
        std::mem::replace(&mut self.0, std::ptr::null_mut())
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: ours, and given to nobody; null is nothing.
        unsafe { nearcall_free(self.0) };
    }
}

/// Where bytes stop being text that C can hold, if they do.
fn text_end(bytes: &[u8]) -> Option<usize> {
    match std::str::from_utf8(bytes) {
        Err(bad) => Some(bad.valid_up_to()),
        Ok(_) => bytes.iter().position(|byte| *byte == 0),
    }
}

/// Refuses text of our own that is no text.
///
/// # Safety
///
/// - H2 bytes and H4 static, of the payloads.
pub unsafe fn check_texts(payloads: &[Put]) -> Result<(), UsageError> {
    for put in payloads.iter().filter(|put| put.is_text) {
        // SAFETY: H2.
        let bytes = unsafe { put.bytes() };
        if let Some(at) = text_end(bytes) {
            // SAFETY: H4.
            let parameter = unsafe { literal(put.name) };
            return Err(UsageError::Text { parameter, at });
        }
    }
    Ok(())
}

/// Byte at which bytes stop being text that C can hold; all of them if they do not.
///
/// # Safety
///
/// - H2 bytes: `source`.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_text_end(source: *const c_void, byte_count: usize) -> usize {
    // SAFETY: H2.
    text_end(unsafe { super::bytes(source.cast(), byte_count) }).unwrap_or(byte_count)
}
