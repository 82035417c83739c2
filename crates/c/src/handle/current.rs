//! What a procedure in C learns of the call that it serves: who calls, whether that one still
//! waits (L54, L55), and whether its server ends.

use std::ffi::{c_char, c_int};
use std::os::fd::IntoRawFd;

use nearcall::{CurrentCall, Importer, current_call};

use super::memory::nearcall_allocate;

/// `ENOTCONN`, which the system would say of a socket that has gone.
const NOT_CONNECTED: c_int = 107;

/// Who calls, as the system told when it bound. `nearcall_importer` in C. Below 0: the system does
/// not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct ImporterRecord {
    pub pid: i64,
    pub uid: i64,
    pub gid: i64,
    /// What is asked for the rest: the call's, for as long as that is not released.
    pub known: *const Importer,
}

impl ImporterRecord {
    /// What is asked for the rest.
    ///
    /// # Safety
    ///
    /// - H1 live: `record`, and for as long as `'r` the call that it is of.
    unsafe fn known<'r>(record: *const ImporterRecord) -> &'r Importer {
        // SAFETY: H1.
        let known = unsafe { &*record }.known;
        // SAFETY: H1: the call holds it.
        unsafe { &*known }
    }
}

impl From<&Importer> for ImporterRecord {
    fn from(importer: &Importer) -> ImporterRecord {
        let [pid, uid, gid] = [importer.pid(), importer.uid(), importer.gid()]
            .map(|number| number.map_or(-1, i64::from));
        ImporterRecord { pid, uid, gid, known: importer }
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

/// Whether that one is in this group, beside its own one.
///
/// # Safety
///
/// - H1 live: `importer`, and its call.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_importer_is_in_group(
    importer: *const ImporterRecord,
    group: u32,
) -> bool {
    // SAFETY: H1.
    unsafe { ImporterRecord::known(importer) }.is_in_group(group)
}

/// Whether all its groups have numbers here.
///
/// # Safety
///
/// - H1 live: `importer`, and its call.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_importer_are_groups_all(importer: *const ImporterRecord) -> bool {
    // SAFETY: H1.
    unsafe { ImporterRecord::known(importer) }.are_groups_all()
}

/// Its control group, the caller's; null: nobody tells.
///
/// # Safety
///
/// - H1 live: `importer`, and its call.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_importer_cgroup(importer: *const ImporterRecord) -> *mut c_char {
    // SAFETY: H1.
    text_for_c(unsafe { ImporterRecord::known(importer) }.cgroup().as_deref())
}

/// Its security label, the caller's; null: there is none.
///
/// # Safety
///
/// - H1 live: `importer`, and its call.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_importer_label(importer: *const ImporterRecord) -> *mut c_char {
    // SAFETY: H1.
    text_for_c(unsafe { ImporterRecord::known(importer) }.label())
}

/// A pidfd, the caller's; below 0: the error of the system.
///
/// # Safety
///
/// - H1 live: `importer`, and its call.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_importer_pidfd(importer: *const ImporterRecord) -> c_int {
    // SAFETY: H1.
    match unsafe { ImporterRecord::known(importer) }.pidfd() {
        Ok(pidfd) => pidfd.into_raw_fd(),
        Err(error) => -error.raw_os_error().unwrap_or(NOT_CONNECTED),
    }
}

/// A copy of `text` with a NUL behind it, which C gives back; null: there is none, none that C
/// could read whole, or no memory.
fn text_for_c(text: Option<&str>) -> *mut c_char {
    let Some(text) = text.filter(|text| !text.contains('\0')) else {
        return std::ptr::null_mut();
    };
    let copy = nearcall_allocate(text.len() + 1).cast::<u8>();
    if !copy.is_null() {
        // SAFETY: so many bytes were just allocated, for us alone.
        unsafe { copy.copy_from_nonoverlapping(text.as_ptr(), text.len()) };
        // SAFETY: one more was.
        let end = unsafe { copy.add(text.len()) };
        // SAFETY: as before.
        unsafe { end.write(0) };
    }
    copy.cast()
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;

    use super::super::memory::nearcall_free;
    use super::*;

    #[test]
    fn text_for_c_is_a_copy_that_ends() {
        let copy = text_for_c(Some("backup_t"));
        // SAFETY: it has just been made, and ends.
        assert_eq!(unsafe { CStr::from_ptr(copy) }, c"backup_t");
        // SAFETY: it is ours, and nobody has it any more.
        unsafe { nearcall_free(copy.cast()) };
    }

    #[test]
    fn text_that_c_would_read_in_part_is_none() {
        assert!(text_for_c(None).is_null() && text_for_c(Some("backup\0_t")).is_null());
    }
}
