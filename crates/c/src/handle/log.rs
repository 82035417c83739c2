//! What the runtime tells: to a function of the program's.

use std::ffi::{CString, c_char, c_void};

use nearcall_log::Level;

/// Gets a line of JSON and how grave it is.
type Log = unsafe extern "C" fn(*mut c_void, u32, *const c_char);

/// A function of the program's, and what it has asked to be given.
struct Listener {
    log: Log,
    context: *mut c_void,
}

// SAFETY: the header asks for a function and a context that any thread may use.
unsafe impl Send for Listener {}

// SAFETY: as above.
unsafe impl Sync for Listener {}

impl Listener {
    fn told(&self, level: Level, line: &str) {
        // JSON writes a NUL as an escape, so that no line is left out.
        let Ok(line) = CString::new(line) else { return };
        // SAFETY: the header asks for a function of this type; the line lives until it returns.
        unsafe { (self.log)(self.context, number(level), line.as_ptr()) };
    }
}

/// `nearcall_level` of C.
fn number(level: Level) -> u32 {
    match level {
        Level::ERROR => 1,
        Level::WARN => 2,
        _ => 3,
    }
}

/// Has a function get what the runtime tells from here on. False, and nothing is changed, if one
/// does already.
///
/// # Safety
///
/// - H1 live: the context is what the function takes, on any thread, until the process ends.
// SAFETY: the name is ours: no other library begins its names so.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_set_log(log: Option<Log>, context: *mut c_void) -> bool {
    let Some(log) = log else { return false };
    let listener = Listener { log, context };
    nearcall_log::write_lines(move |level, line| listener.told(level, line)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_as_the_header_has_them() {
        let header = include_str!("../../include/nearcall.h");
        for (level, name) in
            [(Level::ERROR, "ERROR"), (Level::WARN, "WARNING"), (Level::INFO, "INFO")]
        {
            let line = format!("NEARCALL_LOG_{name} = {}", number(level));
            assert!(header.contains(&line), "{line}");
        }
    }
}
