//! What the demo copies.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::failure::Failure;

/// Left out if nobody named a directory: what is built, and what is kept of the past.
const LEFT_OUT: &[&str] = &["target", ".git"];

/// Most bytes that are copied if nobody named a directory: it could be a home.
const BYTES_MAX: u64 = 1 << 30;

/// How far the clock of a file system may be behind.
const CLOCK_BEHIND_MAX: Duration = Duration::from_secs(2);

/// A directory that is copied.
#[derive(Debug)]
pub struct Source {
    path: PathBuf,
    is_chosen: bool,
    /// When it was chosen.
    since: SystemTime,
}

impl Source {
    /// The directory that was named, or the workspace, or the current directory.
    pub fn choose(named: Option<&Path>) -> Result<Source, Failure> {
        let path = match named {
            Some(path) => path.to_owned(),
            None => {
                let current = std::env::current_dir();
                let current = current.map_err(|e| format!("there is no current directory: {e}"))?;
                workspace_of(&current).unwrap_or(&current).to_owned()
            }
        };
        std::fs::read_dir(&path).map_err(Failure::doing("read directory", &path))?;
        Ok(Source { path, is_chosen: named.is_some(), since: SystemTime::now() })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether an entry of this name is left out, with all below it.
    pub fn leaves_out(&self, name: &str) -> bool {
        !self.is_chosen && LEFT_OUT.contains(&name)
    }

    /// Whether a file was there, as it is, before the demo began.
    pub fn is_older(&self, file: &Metadata) -> bool {
        let began = self.since.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let changed = Duration::from_secs(file.ctime().try_into().unwrap_or(0));
        changed + CLOCK_BEHIND_MAX < began
    }

    /// A tree of so many bytes is not copied unasked.
    pub fn check_size(&self, bytes: u64) -> Result<(), Failure> {
        if self.is_chosen || bytes <= BYTES_MAX {
            return Ok(());
        }
        let reason = format!("it has over {BYTES_MAX} bytes; name the directory if you want that");
        Err(Failure::at("copy", &self.path, reason))
    }
}

/// The nearest directory upwards whose `Cargo.toml` makes a workspace.
fn workspace_of(directory: &Path) -> Option<&Path> {
    directory.ancestors().find(|ancestor| {
        let manifest = std::fs::read_to_string(ancestor.join("Cargo.toml"));
        manifest.is_ok_and(|text| text.lines().any(|line| line.trim() == "[workspace]"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_package_is_in_a_workspace() {
        let package = Path::new(env!("CARGO_MANIFEST_DIR"));
        let workspace = workspace_of(package).unwrap();
        assert!(package.starts_with(workspace) && package != workspace);
        assert_eq!(workspace_of(Path::new("/")), None);
    }

    #[test]
    fn a_directory_that_was_named_is_copied_whole() {
        let path = PathBuf::from(".");
        let since = SystemTime::now();
        let named = Source { path: path.clone(), is_chosen: true, since };
        assert!(!named.leaves_out("target"));
        assert!(named.check_size(u64::MAX).is_ok());
        let found = Source { path, is_chosen: false, since };
        assert!(found.leaves_out("target"));
        assert!(found.leaves_out(".git"));
        assert!(!found.leaves_out("src"));
        assert!(found.check_size(BYTES_MAX).is_ok());
        assert!(found.check_size(BYTES_MAX + 1).is_err());
    }
}
