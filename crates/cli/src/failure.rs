//! Why a command did not do what it was asked for, for whoever asked.

use std::fmt;
use std::path::Path;

/// Why not.
#[derive(Debug)]
pub enum Failure {
    /// Everything there is to say has been printed.
    Shown,
    /// The same, and it was what was given that is wrong.
    BadInput,
    /// This.
    Because(String),
}

impl Failure {
    /// `cannot make /x: Read-only file system`.
    pub fn at(doing: &str, path: &Path, reason: impl fmt::Display) -> Failure {
        Failure::Because(format!("cannot {doing} {}: {reason}", path.display()))
    }

    /// The same, for the error of a `Result`.
    pub fn doing<E: fmt::Display>(doing: &str, path: &Path) -> impl FnOnce(E) -> Failure {
        move |reason| Failure::at(doing, path, reason)
    }
}

impl From<String> for Failure {
    fn from(reason: String) -> Failure {
        Failure::Because(reason)
    }
}

impl From<&str> for Failure {
    fn from(reason: &str) -> Failure {
        Failure::Because(reason.to_owned())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Shown | Failure::BadInput => Ok(()),
            Failure::Because(reason) => f.write_str(reason),
        }
    }
}
