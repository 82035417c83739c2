//! Calls that a server's procedures set aside, and that somebody replies to later, on any thread
//! (design note 0014).
//!
//! ```text
//!  entry stub      nearcall_defer_room ─▶ arguments ─▶ nearcall_defer ─▶ the procedure: its record
//!  any thread      nearcall_deferred_reply ─▶ finish: results, reply ─▶ free
//! ```
//!
//! The record and what it holds of the arguments are memory of the call, which goes when it is
//! replied to. They were judged before: nothing is read later that a peer can write.

use std::ffi::c_void;

use nearcall::CurrentCall;
use nearcall::raw::{Deferred, Refusal};

use super::records::{Environment, Outcome};
use super::scratch::Scratch;
use super::server::Served;
use super::telling::Told;

/// The head of the record of a call that is set aside. `nearcall_deferred` in C.
#[repr(C)]
pub struct DeferredRecord {
    /// The procedure's.
    pub own: *mut c_void,
    /// Null before it is set aside.
    pub held: *mut Deferral,
}

/// Writes results, or what was raised if there is an environment.
pub type Finish = unsafe extern "C" fn(*mut Served<'_>, *mut DeferredRecord, *const Environment);

/// Gives back what the record holds.
pub type FreeRecord = unsafe extern "C" fn(*mut DeferredRecord);

/// What the runtime has of a call that is set aside.
pub struct Deferral {
    call: Deferred,
    told: Told,
    finish: Finish,
    free: Option<FreeRecord>,
    /// The record lies there.
    scratch: Scratch,
}

/// Memory that goes with the call, all 0, for the record of one that is to be set aside; null, and
/// the call is refused, if there is none.
///
/// # Safety
///
/// - H1 live: `served`.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_defer_room(
    served: *mut Served<'_>,
    byte_count: usize,
) -> *mut DeferredRecord {
    // SAFETY: H1.
    let served = unsafe { &mut *served };
    let room = served.scratch.room(byte_count);
    if room.is_null() {
        served.refuse(Refusal::NoMemory { bytes: byte_count as u64 });
        return std::ptr::null_mut();
    }
    // SAFETY: as many bytes of the call's, which nobody else has.
    unsafe { room.cast::<u8>().write_bytes(0, byte_count) };
    room.cast()
}

/// Sets the call aside: from here on the record is whose procedure is run, and the stub has nothing
/// more to do with either. False, and the stub goes on, if nobody waits for it any more.
///
/// # Safety
///
/// - H1 live: `served`; `record`, of `nearcall_defer_room`. H4 static: `finish` and `free`, which
///   are generated for it, until it is replied to.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_defer(
    served: *mut Served<'_>,
    record: *mut DeferredRecord,
    finish: Finish,
    free: Option<FreeRecord>,
) -> bool {
    // SAFETY: H1.
    let served = unsafe { &mut *served };
    let mut kept = None;
    // All that came was copied: there is nothing to wait for.
    let outcome = served.arguments.defer(None, |call| kept = Some(call));
    served.conclude(outcome);
    let Some(call) = kept else { return false };
    let scratch = std::mem::take(&mut served.scratch);
    let deferral = Deferral { call, told: served.told, finish, free, scratch };
    // SAFETY: H1.
    unsafe { &mut *record }.held = Box::into_raw(Box::new(deferral));
    true
}

/// Replies with the results that are in the record, or with what was raised if there is an
/// environment. The record is gone then.
///
/// # Safety
///
/// - H1 live: `record`, which was set aside and not replied to, and nobody else uses it;
///   `environment`, or null.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_deferred_reply(
    record: *mut DeferredRecord,
    environment: *const Environment,
) {
    // SAFETY: H1.
    let raised = unsafe { environment.as_ref() };
    let is_nothing = raised.is_some_and(|one| one.outcome == Outcome::RETURNED);
    // SAFETY: H1.
    let Deferral { call, told, finish, free, mut scratch } = unsafe { taken(record) };
    // In the child of a fork(2) nobody replies, but what it has is given back.
    call.reply(|arguments| {
        let mut served = Served::new(arguments, told);
        if is_nothing {
            served.panic("it has raised nothing, and has no results");
            return served.ended();
        }
        served.scratch = std::mem::take(&mut scratch);
        // SAFETY: generated for this record, as H4 of `nearcall_defer` says.
        unsafe { finish(&mut served, record, environment) };
        scratch = std::mem::take(&mut served.scratch);
        let outcome = served.ended();
        if let Err(refusal) = &outcome {
            told.tell(refusal);
        }
        outcome
    });
    // SAFETY: H1.
    unsafe { release(record, free, scratch) };
}

/// There will be no reply: to its client the procedure has panicked. The record is gone then; null
/// is nothing.
///
/// # Safety
///
/// - As [`nearcall_deferred_reply`], or null.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_deferred_drop(record: *mut DeferredRecord) {
    if record.is_null() {
        return;
    }
    // SAFETY: H1.
    let Deferral { call, free, scratch, .. } = unsafe { taken(record) };
    drop(call);
    // SAFETY: H1.
    unsafe { release(record, free, scratch) };
}

/// What there is to know of it; released by itself. Once it was replied to, it is cancelled.
///
/// # Safety
///
/// - H1 live: `record`, which was set aside and not replied to.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_deferred_current(
    record: *const DeferredRecord,
) -> *mut CurrentCall {
    // SAFETY: H1.
    let held = unsafe { &*record }.held;
    // SAFETY: H1: of `nearcall_defer`.
    let current = unsafe { &*held }.call.current().clone();
    Box::into_raw(Box::new(current))
}

/// # Safety
///
/// - H1 live: `record`, which was set aside and not replied to.
unsafe fn taken(record: *mut DeferredRecord) -> Deferral {
    // SAFETY: H1.
    let held = unsafe { &*record }.held;
    // SAFETY: of `nearcall_defer`, and each call is replied to once.
    *unsafe { Box::from_raw(held) }
}

/// Gives back what the record holds, and the memory that it lies in.
///
/// # Safety
///
/// - H1 live: `record`, which lies in `scratch`.
unsafe fn release(record: *mut DeferredRecord, free: Option<FreeRecord>, scratch: Scratch) {
    if let Some(free) = free {
        // SAFETY: generated for this record, and this is its last use.
        unsafe { free(record) };
    }
    drop(scratch);
}
