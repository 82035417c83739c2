//! The functions that C calls, and the records that it shares with us.
//!
//! Every function here trusts its caller as a C library does, for pointers that are what the header
//! says: the caller is the program itself, in its own domain. What a peer sent is judged before it
//! comes here, or by the generated stub on a private copy.
//!
//! The conditions that the functions set, by name:
//!
//! - H1 live: a pointer to a record or handle is not null and points to one that this library or
//!   the caller made, and that nobody has released or writes to during the call.
//! - H2 bytes: a pointer with a length points to as many readable bytes, or the length is 0.
//! - H3 text: a pointer to text points to bytes that end with a NUL.
//! - H4 static: descriptions of interfaces and names of parameters live as long as the stubs that
//!   they are of, and nothing else of those stubs is in use after them.
//! - B1 held: as `nearcall::raw` has it, of a class of the client that C calls by itself.
//! - D1 open: the number of a descriptor is below 0, or that of one that is open during the call.

mod ahead;
mod breach;
mod brief;
mod cancellation;
mod client;
mod completions;
mod current;
mod deferred;
mod described;
mod descriptors;
mod domain;
mod exchanges;
mod feeds;
mod knobs;
mod lacking;
#[cfg(test)]
mod layout;
mod lent;
mod log;
mod memory;
mod options;
mod records;
mod retrying;
mod scratch;
mod server;
// What is written down is of this architecture.
#[cfg(all(test, target_arch = "x86_64"))]
mod system_calls;
mod takes;
mod telling;
mod twice;
mod values;

use std::ffi::{CStr, c_char};
use std::fmt::Display;
use std::sync::Arc;

use nearcall::raw::Reason;
use nearcall::{CallError, Lent, Ran};

use records::{
    DescriptorRecord, Environment, Message, NO_REASON, Outcome, Put, RanWord, outcome_of,
};

/// Text of the caller.
///
/// # Safety
///
/// - H3 text, for as long as `'t`.
unsafe fn text<'t>(pointer: *const c_char) -> std::borrow::Cow<'t, str> {
    if pointer.is_null() {
        return "".into();
    }
    // SAFETY: not null, and the rest is H3.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy()
}

/// A name that generated code has as a literal.
///
/// # Safety
///
/// - H4 static, or null.
unsafe fn literal(pointer: *const c_char) -> &'static str {
    if pointer.is_null() {
        return "value";
    }
    // SAFETY: not null, and the rest is H4.
    unsafe { CStr::from_ptr(pointer) }.to_str().unwrap_or("value")
}

/// Bytes of the caller.
///
/// # Safety
///
/// - H2 bytes, for as long as `'b`.
unsafe fn bytes<'b>(pointer: *const u8, count: usize) -> &'b [u8] {
    if count == 0 {
        return &[];
    }
    // SAFETY: H2; nobody writes to them meanwhile, as the header demands.
    unsafe { std::slice::from_raw_parts(pointer, count) }
}

/// Bytes of the caller, to be written.
///
/// # Safety
///
/// - H2 bytes, writable, and used by nobody else for as long as `'b`.
unsafe fn bytes_mut<'b>(pointer: *mut u8, count: usize) -> &'b mut [u8] {
    if count == 0 {
        return &mut [];
    }
    // SAFETY: H2, and nobody else uses them.
    unsafe { std::slice::from_raw_parts_mut(pointer, count) }
}

/// A message of the caller's, as slices.
struct Outgoing<'m> {
    fixed: &'m [u8],
    at: usize,
    payloads: &'m [Put],
    descriptors: &'m [DescriptorRecord],
    /// Of each payload, where it is lent; empty if none is.
    lent: Vec<Option<Arc<Lent>>>,
}

impl<'m> Outgoing<'m> {
    /// # Safety
    ///
    /// - H1 live, the record and the payloads it names, for as long as `'m`.
    unsafe fn new(message: *const Message) -> Outgoing<'m> {
        // SAFETY: H1.
        let message = unsafe { &*message };
        // SAFETY: generated code names as many bytes as it has (H1).
        let fixed = unsafe { bytes(message.fixed, message.fixed_bytes as usize) };
        let payloads = match message.payload_count {
            0 => &[][..],
            // SAFETY: generated code names as many payloads as it has (H1).
            count => unsafe { std::slice::from_raw_parts(message.payloads, count as usize) },
        };
        let descriptors = match message.descriptor_count {
            0 => &[][..],
            // SAFETY: generated code names as many descriptors as it has (H1).
            count => unsafe { std::slice::from_raw_parts(message.descriptors, count as usize) },
        };
        let (at, lent) = (message.variable_at as usize, Vec::new());
        Outgoing { fixed, at, payloads, descriptors, lent }
    }

    /// Bytes of all payloads, each rounded up to 8.
    fn payload_bytes(&self) -> u64 {
        let padded = self.payloads.iter().map(|put| put.byte_count.next_multiple_of(8));
        padded.sum()
    }
}

impl Put {
    /// # Safety
    ///
    /// - H2 bytes, for as long as `'b`.
    unsafe fn bytes<'b>(&self) -> &'b [u8] {
        // SAFETY: H2.
        unsafe { bytes(self.bytes.cast(), self.byte_count as usize) }
    }
}

impl Environment {
    /// # Safety
    ///
    /// - H1 live, for as long as `'e`.
    unsafe fn at<'e>(pointer: *mut Environment) -> &'e mut Environment {
        // SAFETY: H1.
        unsafe { &mut *pointer }
    }

    /// As `nearcall_begin` in C: it need not have been written to before.
    fn begin(&mut self) {
        (self.outcome, self.exception) = (Outcome::RETURNED, std::ptr::null_mut());
    }

    /// Of what has no reason but its words.
    fn fail(&mut self, outcome: Outcome, ran: Ran, words: &dyn Display) {
        self.outcome = outcome as u32;
        self.ran = RanWord::from(ran) as u32;
        (self.reason, self.incarnation) = (NO_REASON, 0);
        self.set_message(&words.to_string());
    }

    /// Of what nothing ran for.
    fn fail_for(&mut self, outcome: Outcome, reason: Reason, words: &dyn Display) {
        self.fail(outcome, Ran::No, words);
        self.reason = reason as u32;
    }

    fn fail_call(&mut self, error: &CallError) {
        self.fail(outcome_of(error), error.ran(), error);
        self.reason = Reason::of_call(error).map_or(NO_REASON, |reason| reason as u32);
        self.incarnation = error.incarnation().unwrap_or(0);
    }
}
