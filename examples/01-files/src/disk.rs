//! The server: the files below one directory.
//!
//! Data goes from the file straight into the memory that the client reads, and back: [`Opaque`]
//! and [`OpaqueOut`] do not pass through this domain's own memory.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nearcall::{Opaque, OpaqueOut};
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

use super::file_server::{
    Entries, FileId, FilesCloseException, FilesListException, FilesMakeDirectoryException,
    FilesOpenException, FilesReadException, FilesServer, FilesStatException, FilesWriteException,
    NotOpen, OpenMode, Status,
};
use super::open_files::{Client, OpenFiles};
use super::root::{Root, kind};
use super::trouble::{Trouble, failed};

/// Serves the files below one directory, and none outside.
#[derive(Debug)]
pub struct Disk {
    root: Root,
    open_files: Mutex<OpenFiles>,
}

impl Disk {
    /// Of this directory, which may be reached by symbolic links.
    ///
    /// # Errors: there is no such directory, or no permission to look for it.
    pub fn new(directory: impl AsRef<Path>) -> io::Result<Disk> {
        let root = Root::new(directory.as_ref())?;
        Ok(Disk { root, open_files: Mutex::default() })
    }

    fn open_files(&self) -> MutexGuard<'_, OpenFiles> {
        self.open_files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open_file(&self, id: FileId, mode: OpenMode) -> Result<Arc<File>, NotOpen> {
        let found = self.open_files().find(id, mode, &Client::current());
        found.ok_or(NotOpen { file: id })
    }

    fn try_open(&self, path: &str, mode: OpenMode) -> Result<FileId, Trouble> {
        let opened = match mode {
            OpenMode::Read => self.root.open(path, OFlags::RDONLY, Mode::empty())?,
            OpenMode::Write => {
                let flags = OFlags::WRONLY | OFlags::CREATE;
                self.root.open(path, flags, Mode::from_raw_mode(0o666))?
            }
        };
        let status = rustix::fs::fstat(&opened)?;
        if FileType::from_raw_mode(status.st_mode) != FileType::RegularFile {
            return Err(Trouble::Denied("it is not a regular file"));
        }
        if mode == OpenMode::Write {
            rustix::fs::ftruncate(&opened, 0)?;
        }
        let id = self.open_files().insert(opened.into(), mode, Client::current());
        id.ok_or(Errno::MFILE.into())
    }

    fn try_stat(&self, path: &str) -> Result<Status, Trouble> {
        let found = self.root.status(path)?;
        Ok(Status {
            kind: kind(FileType::from_raw_mode(found.mode())),
            permissions: found.mode() & 0o7777,
            bytes: found.size(),
            modified_ns: found.mtime().saturating_mul(1_000_000_000) + found.mtime_nsec(),
        })
    }
}

impl FilesServer for Disk {
    fn list(&self, path: &str) -> Result<Entries, FilesListException> {
        self.root.entries(path).map_err(|trouble| trouble.raise(path))
    }

    fn stat(&self, path: &str) -> Result<Status, FilesStatException> {
        self.try_stat(path).map_err(|trouble| trouble.raise(path))
    }

    fn open(&self, path: &str, mode: OpenMode) -> Result<FileId, FilesOpenException> {
        self.try_open(path, mode).map_err(|trouble| trouble.raise(path))
    }

    fn read(
        &self,
        file: FileId,
        offset: u64,
        bytes_max: u32,
        mut data: OpaqueOut<'_>,
    ) -> Result<(), FilesReadException> {
        let file = self.open_file(file, OpenMode::Read)?;
        let bytes = data.capacity().min(bytes_max as usize);
        data.read_at(&*file, offset, bytes).map_err(|error| failed(&error))?;
        Ok(())
    }

    fn write(
        &self,
        file: FileId,
        offset: u64,
        data: Opaque<'_>,
    ) -> Result<(), FilesWriteException> {
        let file = self.open_file(file, OpenMode::Write)?;
        data.write_at(&*file, offset).map_err(|error| failed(&error))?;
        Ok(())
    }

    fn close(&self, file: FileId) -> Result<(), FilesCloseException> {
        match self.open_files().remove(file, &Client::current()) {
            true => Ok(()),
            false => Err(NotOpen { file }.into()),
        }
    }

    fn make_directory(&self, path: &str) -> Result<(), FilesMakeDirectoryException> {
        self.root.make_directory(path).map_err(|trouble| trouble.raise(path))
    }
}
