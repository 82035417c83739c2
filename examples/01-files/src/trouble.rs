//! What the system refuses, and which exception a client gets for it.

use std::io;

use rustix::io::Errno;

use super::file_server::{Denied, Failed, NotFound};

/// Most bytes of an exception's `reason`.
const REASON_BYTES_MAX: usize = 255;

/// Why something is not done.
#[derive(Debug)]
pub enum Trouble {
    /// It is not there.
    NotFound,
    /// It may not be done, for this reason.
    Denied(&'static str),
    /// The system could not do it.
    Failed(io::Error),
}

impl Trouble {
    /// The exception to raise about `path`.
    pub fn raise<E>(self, path: &str) -> E
    where
        E: From<NotFound> + From<Denied> + From<Failed>,
    {
        let path = path.to_owned();
        match self {
            Trouble::NotFound => NotFound { path }.into(),
            Trouble::Denied(reason) => Denied { path, reason: reason.to_owned() }.into(),
            Trouble::Failed(error) => failed(&error).into(),
        }
    }
}

impl From<Errno> for Trouble {
    fn from(errno: Errno) -> Trouble {
        match errno {
            Errno::NOENT | Errno::NOTDIR => Trouble::NotFound,
            Errno::ACCESS | Errno::PERM => Trouble::Denied("the server has no permission"),
            Errno::XDEV => Trouble::Denied("the path leads out of the exported directory"),
            Errno::LOOP => Trouble::Denied("the path's symbolic links lead nowhere"),
            other => Trouble::Failed(other.into()),
        }
    }
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Trouble {
        match Errno::from_io_error(&error) {
            Some(errno) => errno.into(),
            None => Trouble::Failed(error),
        }
    }
}

/// The system's number and word.
pub fn failed(error: &io::Error) -> Failed {
    let error_number = error.raw_os_error().unwrap_or(Errno::INVAL.raw_os_error());
    let text = error.to_string();
    // The number stands beside it.
    let reason = text.split(" (os error").next().unwrap_or_default();
    Failed { error_number, reason: cut(reason, REASON_BYTES_MAX) }
}

/// As much of `text` as is no longer than `bytes_max`.
pub fn cut(text: &str, bytes_max: usize) -> String {
    let fits = |at: &usize| text.is_char_boundary(*at);
    let end = (0..=bytes_max.min(text.len())).rev().find(fits).unwrap_or(0);
    text[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_has_the_systems_number_and_word() {
        let full = failed(&Errno::NOSPC.into());
        assert_eq!((full.error_number, full.reason.as_str()), (28, "No space left on device"));
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(cut("aé", 2), "a");
        assert_eq!(cut("aé", 3), "aé");
        assert_eq!(cut("", 3), "");
    }
}
