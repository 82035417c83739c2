//! Whether what was copied is what is there.
//!
//! A source may be worked on meanwhile. A file that has changed since it was opened is no
//! difference; one that has not, and is not the same, is.

use std::collections::HashSet;
use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::files::file_server::Status;
use walkdir::WalkDir;

use super::copying::Copied;
use super::source::Source;
use crate::failure::Failure;

/// How many differences are told.
const TOLD_MAX: usize = 10;

/// What the comparison says.
#[derive(Debug, Default)]
pub struct Comparison {
    matched: usize,
    changed: usize,
    /// Each as a line.
    differences: Vec<String>,
}

impl Comparison {
    /// Compares every file that was copied with its source and with what was written back; looks
    /// for files of the source that were not listed.
    pub fn of(
        source: &Source,
        copied: &Copied,
        copy: &Path,
        back: &Path,
    ) -> Result<Comparison, Failure> {
        let mut comparison = Comparison::default();
        for (path, status) in &copied.files {
            let copy = hash(&copy.join(path))?;
            if hash(&back.join(path))? != copy {
                comparison.differences.push(format!("{path}: what was written back"));
                continue;
            }
            match is_same(&source.path().join(path), status, copy)? {
                Some(true) => comparison.matched += 1,
                Some(false) => comparison.differences.push(format!("{path}: what was read")),
                None => comparison.changed += 1,
            }
        }
        comparison.look_for_unlisted(source, copied);
        Ok(comparison)
    }

    /// Fails if anything differs.
    pub fn judge(&self) -> Result<(), Failure> {
        match self.differences.len() {
            0 => Ok(()),
            count => Err(format!("{count} of {} files differ", self.files()).into()),
        }
    }

    fn files(&self) -> usize {
        self.matched + self.changed + self.differences.len()
    }

    fn look_for_unlisted(&mut self, source: &Source, copied: &Copied) {
        let listed: HashSet<&str> = copied.files.iter().map(|(path, _)| path.as_str()).collect();
        let walk = WalkDir::new(source.path()).min_depth(1).into_iter();
        let walk = walk.filter_entry(|entry| {
            let name = entry.file_name().to_str();
            !name.is_some_and(|name| source.leaves_out(name))
        });
        for entry in walk.filter_map(Result::ok).filter(|entry| entry.file_type().is_file()) {
            let below = entry.path().strip_prefix(source.path()).ok();
            let Some(path) = below.and_then(Path::to_str) else {
                continue;
            };
            let is_old = entry.metadata().is_ok_and(|metadata| source.is_older(&metadata));
            if !listed.contains(path) && is_old && File::open(entry.path()).is_ok() {
                self.differences.push(format!("{path}: it was not listed"));
            }
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (matched, files) = (self.matched, self.files());
        write!(f, "compared by BLAKE3: {matched} of {files} files matched their source")?;
        write!(f, ", as copied and as written back")?;
        if self.changed > 0 {
            write!(f, "; {} changed meanwhile", self.changed)?;
        }
        for difference in self.differences.iter().take(TOLD_MAX) {
            write!(f, "\ndiffers: {difference}")?;
        }
        Ok(())
    }
}

/// Whether a source still has this hash; `None` if it has changed since it was opened.
fn is_same(path: &Path, status: &Status, expected: blake3::Hash) -> Result<Option<bool>, Failure> {
    let failed = |reason| Failure::at("read", path, reason);
    let found = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(failed)?,
    };
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(&found).map_err(failed)?;
    if hasher.finalize() == expected {
        return Ok(Some(true));
    }
    let metadata = found.metadata().map_err(failed)?;
    let modified_ns = metadata.mtime().saturating_mul(1_000_000_000) + metadata.mtime_nsec();
    let is_changed = modified_ns != status.modified_ns || metadata.size() != status.bytes;
    Ok((!is_changed).then_some(false))
}

fn hash(path: &Path) -> Result<blake3::Hash, Failure> {
    let mut hasher = blake3::Hasher::new();
    let hashed = File::open(path).and_then(|file| hasher.update_reader(file).map(drop));
    hashed.map_err(Failure::doing("read", path))?;
    Ok(hasher.finalize())
}
