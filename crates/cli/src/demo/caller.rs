//! The client's half of `Files`: counts calls, and puts every exception into words.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::files::file_server as idl;
use nearcall::name::Scope;
use nearcall::{Binding, CallError, Domain, Error, ImportOptions};

use crate::failure::Failure;

/// Longer than any disk takes; a server that is stuck is not waited for.
const DEADLINE: Duration = Duration::from_secs(60);

/// Calls one export.
pub struct Caller {
    files: idl::FilesClient,
    /// Where the exported directory is, for people.
    root: PathBuf,
    /// How many calls were made.
    pub calls: u64,
}

/// Why a call did not do what it was asked for.
#[derive(Debug)]
pub enum Refused {
    /// There is no such file.
    NotFound,
    /// The server may not.
    Denied(String),
    /// The system could not.
    Failed(String),
    /// There are no results.
    Call(CallError),
}

impl Caller {
    /// Binds to what a server exports under `name`.
    pub fn import(
        domain: &Domain,
        name: &str,
        names: &Path,
        root: &Path,
    ) -> Result<Caller, Failure> {
        let mut options = ImportOptions::default();
        options.scopes = Some(vec![Scope::Directory(names.to_owned())]);
        let binding = Binding::import_with(domain, name, &idl::FILES, options);
        let binding = binding.map_err(|error| format!("cannot bind to {name}: {error}"))?;
        let files = idl::FilesClient::new(binding).with_deadline(DEADLINE);
        Ok(Caller { files, root: root.to_owned(), calls: 0 })
    }

    /// What to tell people if a call about `path` is refused.
    pub fn failure(&self, doing: &str, path: &str, refused: Refused) -> Failure {
        Failure::at(doing, &self.root.join(path), refused)
    }

    pub fn list(&mut self, path: &str) -> Result<idl::Entries, Refused> {
        self.calls += 1;
        Ok(self.files.list(path)?)
    }

    pub fn stat(&mut self, path: &str) -> Result<idl::Status, Refused> {
        self.calls += 1;
        Ok(self.files.stat(path)?)
    }

    pub fn open(&mut self, path: &str, mode: idl::OpenMode) -> Result<idl::FileId, Refused> {
        self.calls += 1;
        Ok(self.files.open(path, mode)?)
    }

    /// Reads the longest piece that there may be.
    pub fn read(&mut self, file: u32, offset: u64, piece: &mut Vec<u8>) -> Result<(), Refused> {
        self.calls += 1;
        Ok(self.files.read(file, offset, idl::PIECE_BYTES_MAX, piece)?)
    }

    pub fn write(&mut self, file: u32, offset: u64, piece: &[u8]) -> Result<(), Refused> {
        self.calls += 1;
        Ok(self.files.write(file, offset, piece)?)
    }

    pub fn close(&mut self, file: idl::FileId) -> Result<(), Refused> {
        self.calls += 1;
        Ok(self.files.close(file)?)
    }

    pub fn make_directory(&mut self, path: &str) -> Result<(), Refused> {
        self.calls += 1;
        Ok(self.files.make_directory(path)?)
    }
}

impl From<idl::NotFound> for Refused {
    fn from(_: idl::NotFound) -> Refused {
        Refused::NotFound
    }
}

impl From<idl::Denied> for Refused {
    fn from(denied: idl::Denied) -> Refused {
        Refused::Denied(denied.reason)
    }
}

impl From<idl::Failed> for Refused {
    fn from(failed: idl::Failed) -> Refused {
        Refused::Failed(failed.reason)
    }
}

impl From<idl::NotOpen> for Refused {
    fn from(not_open: idl::NotOpen) -> Refused {
        Refused::Failed(format!("file {} is not open", not_open.file))
    }
}

/// Every operation has an exception type of its own.
macro_rules! refused {
    ($($exception:ident: $($variant:ident)*;)*) => {
        $(impl From<Error<idl::$exception>> for Refused {
            fn from(error: Error<idl::$exception>) -> Refused {
                match error {
                    $(Error::Exception(idl::$exception::$variant(raised)) => raised.into(),)*
                    Error::Call(error) => Refused::Call(error),
                }
            }
        })*
    };
}

refused! {
    FilesListException: NotFound Denied Failed;
    FilesStatException: NotFound Denied Failed;
    FilesOpenException: NotFound Denied Failed;
    FilesReadException: NotOpen Failed;
    FilesWriteException: NotOpen Failed;
    FilesCloseException: NotOpen;
    FilesMakeDirectoryException: NotFound Denied Failed;
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::NotFound => f.write_str("no such file or directory"),
            Refused::Denied(reason) | Refused::Failed(reason) => f.write_str(reason),
            Refused::Call(error) => error.fmt(f),
        }
    }
}
