//! The exported directory, and the ways from it down.
//!
//! Decides nothing about a path but what is refused at once. The kernel resolves paths
//! (`openat2` with `RESOLVE_BENEATH`), so that no `..` and no symbolic link leads out, not even one
//! that somebody puts there between a check and its use.

use std::ffi::CStr;
use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::file_server::{Entry, EntryKind};
use super::trouble::{Trouble, cut};

/// Most bytes of an entry's name.
const NAME_BYTES_MAX: usize = 255;

/// How often a path is tried whose directories somebody moves about meanwhile.
const TRIES_MAX: u32 = 16;

/// The exported directory.
#[derive(Debug)]
pub struct Root {
    directory: OwnedFd,
}

impl Root {
    /// Holds on to a directory: it stays the same one if it is renamed.
    pub fn new(directory: &Path) -> io::Result<Root> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = rustix::fs::open(directory, flags, Mode::empty())?;
        Ok(Root { directory })
    }

    /// Opens what is there. Never waits for the other end of a pipe, takes no terminal.
    pub fn open(&self, path: &str, flags: OFlags, mode: Mode) -> Result<OwnedFd, Trouble> {
        if path.starts_with('/') {
            return Err(Trouble::Denied("the path is absolute"));
        }
        if path.contains('\0') {
            return Err(Trouble::Denied("the path has a zero byte"));
        }
        let path = if path.is_empty() { "." } else { path };
        let flags = match flags.contains(OFlags::PATH) {
            true => flags | OFlags::CLOEXEC,
            false => flags | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK,
        };
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        let mut tries = 1;
        loop {
            match rustix::fs::openat2(&self.directory, path, flags, mode, resolve) {
                Err(Errno::AGAIN | Errno::INTR) if tries < TRIES_MAX => tries += 1,
                opened => return Ok(opened?),
            }
        }
    }

    /// What stands at `path`, be it a symbolic link.
    pub fn status(&self, path: &str) -> Result<Metadata, Trouble> {
        let found = self.open(path, OFlags::PATH | OFlags::NOFOLLOW, Mode::empty())?;
        Ok(File::from(found).metadata()?)
    }

    /// The entries of the directory at `path`, sorted by name.
    pub fn entries(&self, path: &str) -> Result<Vec<Entry>, Trouble> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let mut directory = Dir::new(self.open(path, flags, Mode::empty())?)?;
        let mut entries = Vec::new();
        while let Some(entry) = directory.read() {
            let entry = entry?;
            let name = entry.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            match rustix::fs::statat(directory.fd()?, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(status) => entries.push(describe(name, &status)),
                // Gone since it was listed.
                Err(Errno::NOENT) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        entries.sort();
        Ok(entries)
    }

    /// Makes a directory, unless there is one.
    pub fn make_directory(&self, path: &str) -> Result<(), Trouble> {
        let trimmed = path.trim_end_matches('/');
        let (parent, name) = match trimmed.rsplit_once('/') {
            Some(("", _)) => return Err(Trouble::Denied("the path is absolute")),
            Some(parts) => parts,
            None => ("", trimmed),
        };
        if matches!(name, "" | "." | "..") {
            // Nothing to make: it is there, or it is not this client's business.
            return self.open(path, OFlags::PATH | OFlags::DIRECTORY, Mode::empty()).map(drop);
        }
        let parent = self.open(parent, OFlags::PATH | OFlags::DIRECTORY, Mode::empty())?;
        match rustix::fs::mkdirat(&parent, name, Mode::from_raw_mode(0o777)) {
            Err(Errno::EXIST) => {
                let status = rustix::fs::statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
                match FileType::from_raw_mode(status.st_mode) {
                    FileType::Directory => Ok(()),
                    _ => Err(Trouble::Failed(Errno::EXIST.into())),
                }
            }
            made => Ok(made?),
        }
    }
}

fn describe(name: &CStr, status: &rustix::fs::Stat) -> Entry {
    let bytes = u64::try_from(status.st_size).unwrap_or(0);
    match name.to_str() {
        Ok(name) => {
            let kind = kind(FileType::from_raw_mode(status.st_mode));
            Entry { name: name.to_owned(), kind, bytes }
        }
        Err(_) => {
            let name = cut(&name.to_string_lossy(), NAME_BYTES_MAX);
            Entry { name, kind: EntryKind::Other, bytes }
        }
    }
}

/// As the interface has it.
pub fn kind(file_type: FileType) -> EntryKind {
    match file_type {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Directory,
        FileType::Symlink => EntryKind::Symlink,
        _ => EntryKind::Other,
    }
}
