//! The file-cache manager: has the files that are edited in its memory.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use nearcall::{Opaque, OpaqueOut};

use crate::file_cache::{
    FILE_BYTES_MAX, FileCacheCloseException, FileCacheOpenException, FileCacheReadException,
    FileCacheReplaceException, FileCacheSaveException, FileCacheServer, FileId, Refused,
};
use crate::owned::Owned;

/// Serves the files of one directory.
#[derive(Debug)]
pub struct FileCacheManager {
    directory: PathBuf,
    files: Mutex<Owned<Cached>>,
}

/// A file in memory.
#[derive(Debug)]
struct Cached {
    path: PathBuf,
    bytes: Vec<u8>,
}

impl FileCacheManager {
    /// Of the files of this directory.
    pub fn new(directory: &Path) -> FileCacheManager {
        FileCacheManager { directory: directory.to_owned(), files: Mutex::default() }
    }

    fn files(&self) -> MutexGuard<'_, Owned<Cached>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn try_open(&self, name: &str) -> Result<(FileId, u32), String> {
        if name.contains(['/', '\0']) || matches!(name, "" | "." | "..") {
            return Err(format!("{name:?} is no entry of the directory"));
        }
        let path = self.directory.join(name);
        let about = |error: io::Error| format!("{}: {error}", path.display());
        let status = fs::symlink_metadata(&path).map_err(about)?;
        if !status.is_file() {
            return Err(format!("{}: it is not a regular file", path.display()));
        }
        check_length(status.len())?;
        let bytes = fs::read(&path).map_err(about)?;
        let length = check_length(bytes.len() as u64)?;
        Ok((self.files().insert(Cached { path, bytes })?, length))
    }
}

/// A length that a file may have.
fn check_length(bytes: u64) -> Result<u32, String> {
    match u32::try_from(bytes) {
        Ok(length) if length <= FILE_BYTES_MAX => Ok(length),
        _ => Err(format!("a file of {bytes} bytes; {FILE_BYTES_MAX} are the most")),
    }
}

impl Cached {
    fn replace(&mut self, offset: u32, bytes: u32, data: &[u8]) -> Result<(), String> {
        let (offset, bytes, length) = (offset as usize, bytes as usize, self.bytes.len());
        if offset > length || bytes > length - offset {
            return Err(format!("{bytes} bytes at {offset} of a file of {length} bytes"));
        }
        check_length((length - bytes + data.len()) as u64)?;
        self.bytes.splice(offset..offset + bytes, data.iter().copied());
        Ok(())
    }

    /// Writes beside the file first, and then puts that in its place.
    fn save(&self) -> io::Result<()> {
        let name = self.path.file_name().expect("it was opened by a name").to_string_lossy();
        let beside = self.path.with_file_name(format!(".{name}.saving"));
        let mut file = File::create(&beside)?;
        file.set_permissions(fs::metadata(&self.path)?.permissions())?;
        file.write_all(&self.bytes)?;
        file.sync_all()?;
        fs::rename(&beside, &self.path)
    }
}

impl FileCacheServer for FileCacheManager {
    fn open(&self, name: &str) -> Result<(FileId, u32), FileCacheOpenException> {
        Ok(self.try_open(name).map_err(refused)?)
    }

    fn read(
        &self,
        file: FileId,
        offset: u32,
        bytes_max: u32,
        mut data: OpaqueOut<'_>,
    ) -> Result<(), FileCacheReadException> {
        let mut files = self.files();
        let cached = files.find(file).map_err(refused)?;
        let rest = cached.bytes.get(offset as usize..).unwrap_or_default();
        let bytes = rest.len().min(bytes_max as usize).min(data.capacity());
        data.put(&rest[..bytes]).map_err(|refusal| refused(refusal.to_string()))?;
        Ok(())
    }

    fn replace(
        &self,
        file: FileId,
        offset: u32,
        bytes: u32,
        data: Opaque<'_>,
    ) -> Result<(), FileCacheReplaceException> {
        let mut files = self.files();
        let cached = files.find(file).map_err(refused)?;
        Ok(cached.replace(offset, bytes, &data.to_vec()).map_err(refused)?)
    }

    fn save(&self, file: FileId) -> Result<u32, FileCacheSaveException> {
        let mut files = self.files();
        let cached = files.find(file).map_err(refused)?;
        let about = |error| refused(format!("{}: {error}", cached.path.display()));
        cached.save().map_err(about)?;
        Ok(cached.bytes.len() as u32)
    }

    fn close(&self, file: FileId) -> Result<(), FileCacheCloseException> {
        self.files().remove(file).map_err(refused)?;
        Ok(())
    }
}

/// At most what the interface lets a reason have.
fn refused(reason: String) -> Refused {
    let end = (0..=reason.len().min(255)).rev().find(|end| reason.is_char_boundary(*end));
    Refused { reason: reason[..end.unwrap_or(0)].to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cached(text: &str) -> Cached {
        Cached { path: PathBuf::from("a"), bytes: text.into() }
    }

    #[test]
    fn a_piece_takes_the_place_of_another() {
        let mut file = cached("one two");
        file.replace(4, 3, b"three").unwrap();
        file.replace(9, 0, b"!").unwrap();
        assert_eq!(file.bytes, b"one three!");
    }

    #[test]
    fn a_piece_beyond_the_end_is_refused() {
        let mut file = cached("one");
        let refused = file.replace(2, 2, b"").unwrap_err();
        assert_eq!(refused, "2 bytes at 2 of a file of 3 bytes");
        assert!(file.replace(u32::MAX, u32::MAX, b"").is_err());
        assert_eq!(file.bytes, b"one");
    }

    #[test]
    fn a_file_may_not_grow_past_the_most() {
        assert_eq!(check_length(u64::from(FILE_BYTES_MAX)), Ok(FILE_BYTES_MAX));
        assert!(check_length(u64::from(FILE_BYTES_MAX) + 1).is_err());
        assert!(check_length(1 << 32).is_err());
    }
}
