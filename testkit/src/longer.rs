//! How long is enough where a thread may stand still anywhere: what is to happen while a call takes
//! long, and what its deadline ends, are tried until they are met.

use nearcall::{CallError, NotExecuted};

/// How often the time is doubled.
const DOUBLINGS: u32 = 6;

/// How often what nearly always meets what it is to is tried.
const TRIES: usize = 10;

/// Whether that is so beside a call that takes so many milliseconds, or beside one that takes twice
/// as many, and so on.
pub fn is_so_beside(milliseconds: u32, is_so: impl Fn(u32) -> bool) -> bool {
    (0..DOUBLINGS).any(|doubling| is_so(milliseconds << doubling))
}

/// Whether a call's deadline has ended it, before its post or after.
pub fn is_late(error: &CallError) -> bool {
    matches!(
        error,
        CallError::CallAborted { was_cancelled: false, .. }
            | CallError::NoAStack { .. }
            | CallError::NotExecuted { reason: NotExecuted::DeadlinePassed, .. }
    )
}

/// What a call is told that its deadline ends after its post. It may pass before, and the call may
/// have returned before anybody looks.
///
/// # Panics: that is never so, or another error ends it.
#[track_caller]
pub fn aborted<T>(mut call: impl FnMut() -> Result<T, CallError>) -> CallError {
    for _ in 0..TRIES {
        match call().err() {
            Some(error @ CallError::CallAborted { .. }) => return error,
            Some(error) => assert!(is_late(&error), "{error}"),
            None => {}
        }
    }
    panic!("none of {TRIES} calls was aborted");
}

/// What comes of a call that its deadline hardly ever ends.
///
/// # Panics: it always does, or another error ends it.
#[track_caller]
pub fn in_time<T>(mut call: impl FnMut() -> Result<T, CallError>) -> T {
    for _ in 0..TRIES {
        match call() {
            Ok(value) => return value,
            Err(error) => assert!(is_late(&error), "{error}"),
        }
    }
    panic!("all of {TRIES} calls were late");
}
