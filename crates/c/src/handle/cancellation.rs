//! Ending the calls of one thread from another (docs/design/0015-failure.md).

use nearcall::Cancellation;
use nearcall::raw::{enter_cancellation, leave_cancellation};

/// One that is not cancelled.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub extern "C" fn nearcall_cancellation_new() -> *mut Cancellation {
    Box::into_raw(Box::default())
}

/// Gives it up, once no thread is in it; null is nothing.
///
/// # Safety
///
/// - H1 live: `cancellation`, or null.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_cancellation_release(cancellation: *mut Cancellation) {
    if !cancellation.is_null() {
        // SAFETY: H1, from `nearcall_cancellation_new`.
        drop(unsafe { Box::from_raw(cancellation) });
    }
}

/// The calls that this thread makes from here on end when it is cancelled.
///
/// # Safety
///
/// - H1 live: `cancellation`.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_cancellation_enter(cancellation: *const Cancellation) {
    // SAFETY: H1.
    enter_cancellation(unsafe { &*cancellation });
}

/// The end of the last of that. False: this thread is not in it.
///
/// # Safety
///
/// - H1 live: `cancellation`.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_cancellation_leave(cancellation: *const Cancellation) -> bool {
    // SAFETY: H1.
    leave_cancellation(unsafe { &*cancellation })
}

/// Calls that are made in it do not wait any more.
///
/// # Safety
///
/// - H1 live: `cancellation`.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_cancellation_cancel(cancellation: *const Cancellation) {
    // SAFETY: H1.
    unsafe { &*cancellation }.cancel();
}

/// Whether it was cancelled.
///
/// # Safety
///
/// - H1 live: `cancellation`.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_cancellation_is_cancelled(
    cancellation: *const Cancellation,
) -> bool {
    // SAFETY: H1.
    unsafe { &*cancellation }.is_cancelled()
}
