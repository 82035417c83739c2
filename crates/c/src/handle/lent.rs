//! Memory that a program lends to its server, and arguments that lie in it
//! (docs/design/0008-large-arguments.md).
//!
//! C says by its address that an argument is lent: an `@opaque` one that begins where lent memory
//! does is not copied. So stubs are the same for both, and what is not lent pays for a look at its
//! address.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Arc, PoisonError, RwLock};

use nearcall::raw::{Call, Client};
use nearcall::{CallError, Lent, OpaqueIn, Ran};
use nearcall_abi::counted;

use super::client::failed;
use super::domain::ClientRecord;
use super::lacking::client_of;
use super::records::{Environment, Message, Outcome, Put};
use super::{Outgoing, literal};

/// Lent memory begins a page: whatever begins elsewhere is not looked for. No page is smaller.
const ALIGNMENT: usize = 4096;

/// All lent memory of this program, by where it begins. A call that has some keeps it, so that to
/// release it takes it from nobody.
static LENT: RwLock<BTreeMap<usize, Arc<Lent>>> = RwLock::new(BTreeMap::new());

/// Memory that a server reads in place, all 0, or null.
///
/// # Safety
///
/// - H1 live: `client`, or null; `environment`.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_lend(
    client: *const ClientRecord,
    byte_count: usize,
    environment: *mut Environment,
) -> *mut c_void {
    // SAFETY: H1, or null.
    let Some(client) = (unsafe { client_of(client, environment) }) else {
        return std::ptr::null_mut();
    };
    match client.binding().lend(byte_count) {
        Ok(mut lent) => {
            // The one reference to these bytes that Rust ever makes; from here on they are C's.
            let start = lent.as_mut_ptr();
            let mut all = LENT.write().unwrap_or_else(PoisonError::into_inner);
            all.insert(start.addr(), Arc::new(lent));
            start.cast()
        }
        Err(error) => {
            // SAFETY: H1.
            unsafe { failed(environment, &error) };
            std::ptr::null_mut()
        }
    }
}

/// Gives lent memory back, once no call has it; null is nothing.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub extern "C" fn nearcall_lent_release(start: *mut c_void) {
    let lent = LENT.write().unwrap_or_else(PoisonError::into_inner).remove(&start.addr());
    // Outside of the lock: it may wait for room in a socket.
    drop(lent);
}

/// A message of the caller's, which keeps what is lent of it. `None` after an error.
///
/// # Safety
///
/// - H1 live: all of them, the message for as long as `'m`. H4 static: names of its payloads.
pub(super) unsafe fn with_lent<'m>(
    client: &Client,
    message: *const Message,
    environment: *mut Environment,
) -> Option<Outgoing<'m>> {
    // SAFETY: H1.
    let mut request = unsafe { Outgoing::new(message) };
    if !request.payloads.iter().any(Put::may_be_lent) {
        return Some(request);
    }
    // SAFETY: H4.
    let found = request.payloads.iter().map(|put| unsafe { put.lent_to(client) });
    match found.collect::<Result<Vec<_>, String>>() {
        Ok(found) => {
            if found.iter().any(Option::is_some) {
                request.lent = found;
            }
            Some(request)
        }
        Err(reason) => {
            // SAFETY: H1.
            unsafe { Environment::at(environment) }.fail(Outcome::Usage, Ran::No, &reason);
            None
        }
    }
}

/// Puts the payloads of a message, of which some are lent.
///
/// # Safety
///
/// - H2 bytes: the message's.
#[cold]
pub(super) unsafe fn put_some_lent<'m>(
    call: &mut Call<'_, 'm>,
    client: &Client,
    request: &'m Outgoing<'m>,
) -> Result<(), Box<CallError>> {
    let arguments = request.payloads.iter().zip(&request.lent).map(|(put, lent)| {
        // The second try of a call goes to another server than it was lent to: as a copy.
        let lent = lent.as_ref().and_then(|lent| client.opaque(put.first_of(lent)).ok());
        // SAFETY: H2.
        lent.unwrap_or_else(|| OpaqueIn::from(unsafe { put.bytes() }))
    });
    let arguments = arguments.collect::<Vec<OpaqueIn<'m>>>();
    for (put, argument) in request.payloads.iter().zip(&arguments).filter(|(put, _)| put.is_opaque)
    {
        call.put_u32_at(put.length_at as usize, argument.length_word());
    }
    let bytes = arguments.iter().map(OpaqueIn::payload_bytes).sum();
    let mut variable = call.variable_at(request.at, bytes)?;
    arguments.into_iter().for_each(|argument| variable.put_opaque(argument));
    Ok(())
}

impl Put {
    fn may_be_lent(&self) -> bool {
        self.is_opaque && self.byte_count > 0 && self.bytes.addr().is_multiple_of(ALIGNMENT)
    }

    /// What it lies in, if that is lent, and then to the server of `client`.
    ///
    /// # Safety
    ///
    /// - H4 static: its name.
    unsafe fn lent_to(&self, client: &Client) -> Result<Option<Arc<Lent>>, String> {
        if !self.may_be_lent() {
            return Ok(None);
        }
        let all = LENT.read().unwrap_or_else(PoisonError::into_inner);
        let Some(lent) = all.get(&self.bytes.addr()) else { return Ok(None) };
        // SAFETY: H4.
        let name = unsafe { literal(self.name) };
        let (bytes, limit) = (self.byte_count, OpaqueIn::from(&**lent).len());
        if bytes > limit as u64 {
            let bytes = counted(bytes, "byte");
            return Err(format!("{name} has {bytes}, and {limit} are lent where it begins"));
        }
        match client.opaque(self.first_of(lent)) {
            Ok(_) => Ok(Some(lent.clone())),
            Err(_) => Err(format!(
                "{name} is lent over another binding: lend it over the one that is called"
            )),
        }
    }

    fn first_of<'l>(&self, lent: &'l Lent) -> OpaqueIn<'l> {
        lent.first(self.byte_count as usize)
    }
}
