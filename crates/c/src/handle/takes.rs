//! Payloads of a peer, copied to memory of the allocator's, of the call where the procedure only
//! reads them, or of the caller where a result is for that.

use std::ffi::c_void;

use nearcall::raw::{Incoming, Malformed, Payload};
use nearcall::{Opaque, UsageError};

use super::memory::{nearcall_allocate, nearcall_free};
use super::records::{FillingRecord, OpaqueRecord, PreallocRecord, Put, Take, form};
use super::scratch::Scratch;
use super::{bytes_mut, literal};

/// Why a payload was not taken.
pub enum NotTaken {
    Malformed(Malformed),
    NoMemory {
        bytes: u64,
    },
    /// More came than the caller has room for.
    NoRoom {
        name: &'static str,
        count: u64,
        room: u32,
    },
}

impl From<Malformed> for NotTaken {
    fn from(malformed: Malformed) -> NotTaken {
        NotTaken::Malformed(malformed)
    }
}

/// Takes every payload; after an error none is kept. What goes to the call's memory lies in
/// `scratch`.
///
/// # Safety
///
/// - H1 live, what `LENT` and `PREALLOC` payloads name.
/// - H2 bytes and H4 static, of `PREALLOC` payloads.
pub unsafe fn take_all(
    incoming: &mut Incoming<'_>,
    takes: &mut [Take],
    scratch: &mut Scratch,
) -> Result<(), NotTaken> {
    for index in 0..takes.len() {
        // SAFETY: passed on.
        if let Err(reason) = unsafe { take(incoming, &mut takes[index], scratch) } {
            let is_allocated = |taken: &&mut Take| matches!(taken.form, form::BYTES | form::TEXT);
            for taken in takes[..index].iter_mut().filter(is_allocated) {
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
/// - H1 live, what a `LENT` or `PREALLOC` payload names.
/// - H2 bytes and H4 static, of a `PREALLOC` payload.
unsafe fn take(
    incoming: &mut Incoming<'_>,
    take: &mut Take,
    scratch: &mut Scratch,
) -> Result<(), NotTaken> {
    if take.form == form::LENT {
        let lent = incoming.lend(take.count, take.limit)?;
        let target = take.bytes.cast::<OpaqueRecord>().cast::<Opaque<'_>>();
        // SAFETY: H1; the record is large enough, which is asserted beside it.
        unsafe { target.write(lent) };
        return Ok(());
    }
    if take.form == form::ITEMS | form::PREALLOC {
        // SAFETY: passed on.
        return unsafe { fill_items(incoming.payload(take.count, u32::MAX)?, take) };
    }
    check_bound(take.count, take.limit)?;
    let bytes = u64::from(take.count) * u64::from(take.width);
    let too_long = Malformed::Length { claimed: bytes, limit: u32::MAX.into() };
    let bytes = u32::try_from(bytes).map_err(|_| too_long)?;
    let is_text = match take.form & !(form::SCRATCH | form::PREALLOC) {
        form::TEXT => true,
        form::BYTES => false,
        other => panic!("a payload has no form {other}"),
    };
    let payload = incoming.payload(bytes, u32::MAX)?;
    if take.form & form::PREALLOC != 0 {
        // SAFETY: passed on.
        return unsafe { fill(payload, take, is_text) };
    }
    let scratch = (take.form & form::SCRATCH != 0).then_some(scratch);
    let memory = Memory::new(payload.len(), is_text.into(), scratch)?;
    // SAFETY: `new` wrote as many bytes, and nobody else has them.
    let copy = unsafe { bytes_mut(memory.at.cast(), bytes as usize) };
    payload.copy_out(copy)?;
    if is_text {
        text_end(copy).map_or(Ok(()), |at| Err(Malformed::Text { at }))?;
    }
    take.bytes = memory.keep();
    Ok(())
}

/// Copies a payload, which is there as a whole, to memory of the caller's, which holds anything
/// after an error.
///
/// # Safety
///
/// - H1 live: what the payload names. H2 bytes: its memory, of `maximum` elements. H4 static: its
///   name.
unsafe fn fill(payload: Payload<'_>, take: &Take, is_text: bool) -> Result<(), NotTaken> {
    // SAFETY: H1.
    let (filling, target) = unsafe { filling(take.bytes) };
    // SAFETY: H4.
    unsafe { make_room(filling, target, (take.count, is_text)) }?;
    let bytes = payload.len();
    // SAFETY: H2: there is room for as many elements of the width that the length was made with.
    let copy = unsafe { bytes_mut(target.buffer.cast(), bytes + usize::from(is_text)) };
    payload.copy_out(&mut copy[..bytes])?;
    if is_text {
        copy[bytes] = 0;
        text_end(&copy[..bytes]).map_or(Ok(()), |at| Err(Malformed::Text { at }))?;
    }
    target.length = take.count;
    Ok(())
}

/// Copies elements to the end of what they take in memory of the caller's, from where their stub
/// may have to spread them. Their count is read once, and all of them are there.
///
/// # Safety
///
/// As [`fill`]; the memory is of elements of `item_bytes`.
unsafe fn fill_items(payload: Payload<'_>, take: &Take) -> Result<(), NotTaken> {
    let mut count = [0; size_of::<u32>()];
    payload.copy_part(0, &mut count)?;
    let (begin, items_bytes) = (count.len(), payload.len() - count.len());
    let count = u32::from_le_bytes(count);
    check_bound(count, take.limit)?;
    let (claimed, there) = (u64::from(count) * u64::from(take.width), items_bytes as u64);
    if claimed > there {
        return Err(Malformed::Length { claimed, limit: there }.into());
    } else if claimed < there {
        return Err(Malformed::Left { bytes: there - claimed }.into());
    }
    // SAFETY: H1.
    let (filling, target) = unsafe { filling(take.bytes) };
    // SAFETY: H4.
    unsafe { make_room(filling, target, (count, false)) }?;
    let FillingRecord { item_bytes, .. } = *filling;
    assert!(item_bytes >= take.width as usize, "an element is longer in a message than in memory");
    let bytes = count as usize * item_bytes;
    // SAFETY: H2: there is room for `count` elements of `item_bytes`.
    let room = unsafe { bytes_mut(target.buffer.cast(), bytes) };
    payload.copy_part(begin, &mut room[bytes - items_bytes..])?;
    target.length = count;
    Ok(())
}

/// What a payload names, and memory of the caller's.
///
/// # Safety
///
/// - H1 live: both.
unsafe fn filling<'t>(bytes: *mut c_void) -> (&'t FillingRecord, &'t mut PreallocRecord) {
    // SAFETY: H1.
    let filling = unsafe { &*bytes.cast::<FillingRecord>() };
    // SAFETY: H1; the stub's caller passed it for this result alone.
    (filling, unsafe { &mut *filling.target })
}

/// Has the caller make room for so many, and for the NUL of text, if there is too little.
///
/// # Safety
///
/// - H4 static: the name.
unsafe fn make_room(
    filling: &FillingRecord,
    target: &mut PreallocRecord,
    (came, is_text): (u32, bool),
) -> Result<(), NotTaken> {
    let count = u64::from(came) + u64::from(is_text);
    if count <= target.maximum.into() {
        return Ok(());
    }
    let Some(grow) = target.grow else {
        // SAFETY: H4.
        let name = unsafe { literal(filling.name) };
        return Err(NotTaken::NoRoom { name, count, room: target.maximum });
    };
    // SAFETY: the caller's own, for what it says is its own.
    target.buffer = unsafe { grow(target.own, came) };
    if target.buffer.is_null() {
        // What was there may have been given back for it.
        target.maximum = 0;
        return Err(NotTaken::NoMemory { bytes: u64::from(came) * filling.item_bytes as u64 });
    }
    target.maximum = u32::try_from(count).unwrap_or(u32::MAX);
    Ok(())
}

fn check_bound(count: u32, limit: u32) -> Result<(), Malformed> {
    let (claimed, limit) = (count.into(), limit.into());
    if claimed > limit { Err(Malformed::Bound { claimed, limit }) } else { Ok(()) }
}

/// Memory of the allocator's until it is given away, or of the call.
struct Memory {
    at: *mut c_void,
    is_allocated: bool,
}

impl Memory {
    /// Room for `count` bytes, all of which were written, and `end` zeroes behind them; none at all
    /// is null.
    fn new(count: usize, end: usize, scratch: Option<&mut Scratch>) -> Result<Memory, NotTaken> {
        let bytes = count + end;
        if bytes == 0 {
            return Ok(Memory { at: std::ptr::null_mut(), is_allocated: false });
        }
        let is_allocated = scratch.is_none();
        let at = scratch.map_or_else(|| nearcall_allocate(bytes), |scratch| scratch.room(bytes));
        if at.is_null() {
            return Err(NotTaken::NoMemory { bytes: bytes as u64 });
        }
        // All of the call's memory was written once.
        let written = if is_allocated { 0 } else { count };
        // In range: `written` is at most `count`.
        let rest = at.cast::<u8>().wrapping_add(written);
        // SAFETY: there is memory for `bytes` bytes, and nobody else has it.
        unsafe { rest.write_bytes(0, bytes - written) };
        Ok(Memory { at, is_allocated })
    }

    fn keep(mut self) -> *mut c_void {
        std::mem::replace(&mut self.at, std::ptr::null_mut())
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.is_allocated {
            // SAFETY: ours, and given to nobody; null is nothing.
            unsafe { nearcall_free(self.at) };
        }
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
