//! What a procedure in C learns of the call that it serves: who calls, whether that one still
//! waits (L54, L55), and whether its server ends.

use nearcall::{CurrentCall, Importer, current_call};

/// Who calls, as the system told when it bound. `nearcall_importer` in C. Below 0: the system does
/// not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct ImporterRecord {
    pub pid: i64,
    pub uid: i64,
    pub gid: i64,
}

impl From<&Importer> for ImporterRecord {
    fn from(importer: &Importer) -> ImporterRecord {
        let [pid, uid, gid] = [importer.pid(), importer.uid(), importer.gid()]
            .map(|number| number.map_or(-1, i64::from));
        ImporterRecord { pid, uid, gid }
    }
}

/// The call that this thread serves, or null outside of a procedure.
///
/// # Cost: one look-up in a table of bindings, and an allocation.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub extern "C" fn nearcall_current_call() -> *mut CurrentCall {
    current_call().map_or(std::ptr::null_mut(), |call| Box::into_raw(Box::new(call)))
}

/// Gives it up; null is nothing.
///
/// # Safety
///
/// - H1 live: `call`, or null.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_current_release(call: *mut CurrentCall) {
    if !call.is_null() {
        // SAFETY: H1, from `nearcall_current_call`.
        drop(unsafe { Box::from_raw(call) });
    }
}

/// Whether nobody will see its results.
///
/// # Safety
///
/// - H1 live: `call`.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_current_is_cancelled(call: *const CurrentCall) -> bool {
    // SAFETY: H1.
    unsafe { &*call }.is_cancelled()
}

/// Whether its server ends.
///
/// # Safety
///
/// - H1 live: `call`.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_current_is_ending(call: *const CurrentCall) -> bool {
    // SAFETY: H1.
    unsafe { &*call }.is_ending()
}

/// How long its client still waits, nanoseconds; `u64::MAX`: as long as it takes.
///
/// # Safety
///
/// - H1 live: `call`.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_current_time_left_ns(call: *const CurrentCall) -> u64 {
    // SAFETY: H1.
    let left = unsafe { &*call }.time_left();
    left.map_or(u64::MAX, |left| u64::try_from(left.as_nanos()).unwrap_or(u64::MAX))
}

/// Who made it.
///
/// # Safety
///
/// - H1 live: `call`.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_current_importer(call: *const CurrentCall) -> ImporterRecord {
    // SAFETY: H1.
    unsafe { &*call }.importer().as_ref().into()
}

/// Who has introduced that one. False: nobody, it came by the name.
///
/// # Safety
///
/// - H1 live: both.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_current_giver(
    call: *const CurrentCall,
    giver: *mut ImporterRecord,
) -> bool {
    // SAFETY: H1.
    let known = unsafe { &*call }.giver();
    if let Some(known) = known {
        // SAFETY: H1.
        unsafe { giver.write(known.as_ref().into()) };
    }
    known.is_some()
}
