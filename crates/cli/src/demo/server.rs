//! The server of the demo, in a process of its own.
//!
//! Owns the workplace, a temporary directory: whatever becomes of the client, its end of the pipe
//! closes, and the server removes the workplace and ends. It is in a process group of its own, so
//! that Ctrl-C reaches the client only.
//!
//! ```text
//! workplace/names   sockets
//! workplace/copy    what the client has read
//! workplace/back    what the client has written
//! ```

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::files::Disk;
use super::files::file_server::FilesEntries;
use clap::Args;
use nearcall::name::Scope;
use nearcall::raw::Entries;
use nearcall::{Clerk, Domain, ExportOptions};
use nearcall_os::processor;
use tempfile::TempDir;

use super::four_calls;
use crate::failure::Failure;

/// The name of the tree.
pub const SOURCE: &str = "source";
/// The name of what is written back.
pub const BACK: &str = "back";
/// The name of the four calls.
pub const CALLS: &str = "calls";

/// Said before the workplace's path, once everything is exported.
pub const READY: &[u8] = b"ready ";
/// Said before the reason, if nothing is.
pub const FAILED: &[u8] = b"failed ";
/// Told at the end if the workplace is to stay.
pub const KEEP: &[u8] = b"keep";

/// Serves the demo
#[derive(Args)]
pub struct DemoServer {
    /// Directory to export
    directory: PathBuf,
    /// Processor to serve the four calls on
    processor: u32,
}

impl DemoServer {
    /// Serves until standard input ends.
    pub fn run(&self) -> Result<(), Failure> {
        match self.export() {
            Ok((workplace, exported)) => {
                say(READY, workplace.path().as_os_str())?;
                let mut told = Vec::new();
                // A pipe that fails has ended.
                let _ = std::io::stdin().read_to_end(&mut told);
                drop(exported);
                remove(workplace, told == KEEP)
            }
            Err(failure) => {
                say(FAILED, OsStr::new(&failure.to_string()))?;
                Err(Failure::Shown)
            }
        }
    }

    fn export(&self) -> Result<(TempDir, Vec<Clerk>), Failure> {
        let above = std::env::temp_dir();
        let made = tempfile::Builder::new().prefix("nearcall-demo-").tempdir_in(&above);
        let workplace = made.map_err(Failure::doing("make a directory in", &above))?;
        let back = workplace.path().join("back");
        std::fs::create_dir(&back).map_err(Failure::doing("make directory", &back))?;
        let names = names_in(workplace.path());
        let domain = new_domain()?;
        let source = FilesEntries::new(disk(&self.directory)?);
        let exported = vec![
            export_one(&domain, SOURCE, source, &names)?,
            export_one(&domain, BACK, FilesEntries::new(disk(&back)?), &names)?,
            export_calls(self.processor, names)?,
        ];
        Ok((workplace, exported))
    }
}

/// Where the sockets are.
pub fn names_in(workplace: &Path) -> PathBuf {
    workplace.join("names")
}

fn disk(directory: &Path) -> Result<Disk, Failure> {
    Disk::new(directory).map_err(Failure::doing("serve", directory))
}

fn new_domain() -> Result<Domain, Failure> {
    Domain::new().map_err(|error| format!("cannot make a domain: {error}").into())
}

fn export_one(
    domain: &Domain,
    name: &str,
    entries: impl Entries,
    names: &Path,
) -> Result<Clerk, Failure> {
    let mut options = ExportOptions::default();
    options.scope = Some(Scope::Directory(names.to_owned()));
    let exported = Clerk::export_with(domain, name, entries, options);
    exported.map_err(|error| format!("cannot export {name}: {error}").into())
}

/// From a domain of its own, all of whose threads run on one processor.
fn export_calls(processor: u32, names: PathBuf) -> Result<Clerk, Failure> {
    let exporting = std::thread::spawn(move || {
        processor::pin(processor).map_err(|e| format!("cannot use processor {processor}: {e}"))?;
        // Its threads inherit the processor.
        export_one(&new_domain()?, CALLS, four_calls::entries(), &names)
    });
    exporting.join().expect("exporting does not panic")
}

fn say(what: &[u8], about: &OsStr) -> Result<(), Failure> {
    let line = [what, about.as_bytes(), b"\n"].concat();
    let mut output = std::io::stdout();
    let said = output.write_all(&line).and_then(|()| output.flush());
    said.map_err(|error| format!("the client is gone: {error}").into())
}

fn remove(workplace: TempDir, is_kept: bool) -> Result<(), Failure> {
    let path = workplace.path().to_owned();
    if !is_kept {
        return workplace.close().map_err(Failure::doing("remove", &path));
    }
    let path = workplace.keep();
    let names = names_in(&path);
    std::fs::remove_dir_all(&names).map_err(Failure::doing("remove", &names))
}
