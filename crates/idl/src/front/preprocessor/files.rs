//! Where files come from: the disk, or memory so that tests and fuzzers need no disk.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

/// Gives the preprocessor its files.
pub trait Files {
    /// One name for a file, however it is reached. Fails with `NotFound` if there is none.
    fn canonical(&self, path: &Path) -> io::Result<PathBuf>;

    /// The bytes of a file, but no more than `bytes_max` of them.
    fn read(&self, path: &Path, bytes_max: u64) -> io::Result<Vec<u8>>;
}

/// Files on disk.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl Files for Disk {
    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        path.canonicalize()
    }

    fn read(&self, path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        File::open(path)?.take(bytes_max).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

/// Files in memory, by their paths.
#[derive(Clone, Debug, Default)]
pub struct InMemory {
    files: BTreeMap<PathBuf, Vec<u8>>,
}

impl InMemory {
    /// Those, by path and text.
    pub fn of(files: &[(&str, &str)]) -> InMemory {
        let mut memory = InMemory::default();
        files.iter().for_each(|(path, text)| memory.insert(path, *text));
        memory
    }

    /// Adds a file, or replaces it.
    pub fn insert(&mut self, path: impl AsRef<Path>, bytes: impl Into<Vec<u8>>) {
        self.files.insert(normal(path.as_ref()), bytes.into());
    }
}

impl Files for InMemory {
    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        let path = normal(path);
        match self.files.contains_key(&path) {
            true => Ok(path),
            false => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn read(&self, path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
        let bytes = self.files.get(&normal(path)).ok_or(io::ErrorKind::NotFound)?;
        let count = usize::try_from(bytes_max).map_or(bytes.len(), |max| bytes.len().min(max));
        Ok(bytes[..count].to_vec())
    }
}

/// `path` without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}
