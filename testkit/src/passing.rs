//! The server that descriptors are passed to and fro.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use nearcall::name::Scope;
use nearcall::{Clerk, Domain, ExportError, ExportOptions};
use rustix::fs::MemfdFlags;

use crate::faults::faults::{PassingChooseException, PassingEntries, PassingServer, Refused};
use crate::server::planned_panic;

/// Serves `Passing`.
#[derive(Clone, Copy, Debug)]
pub struct Passer;

/// The name that a server exports `Passing` under, beside `Faults` under `name`.
pub fn name_of(name: &str) -> String {
    format!("{name}-passing")
}

/// Exports a passer beside what is exported under `name`, in the scope of `directory`.
pub fn export(domain: &Domain, directory: &Path, name: &str) -> Result<Clerk, ExportError> {
    let mut options = ExportOptions::default();
    options.scope = Some(Scope::Directory(directory.to_owned()));
    Clerk::export_with(domain, &name_of(name), PassingEntries::new(Passer), options)
}

/// How many descriptors this process has.
pub fn count() -> usize {
    // One of them is the directory that is read.
    std::fs::read_dir("/proc/self/fd").expect("this process has descriptors").count() - 1
}

impl PassingServer for Passer {
    fn size_of(&self, file: OwnedFd) -> u64 {
        File::from(file).metadata().expect("an open file").len()
    }

    fn made(&self, text: &str) -> OwnedFd {
        let file = rustix::fs::memfd_create("made", MemfdFlags::CLOEXEC).expect("a file");
        // Who reads it begins at its beginning.
        rustix::io::pwrite(&file, text.as_bytes(), 0).expect("room for a name");
        file
    }

    fn back(&self, given: OwnedFd) -> OwnedFd {
        given
    }

    fn swap(&self, first: OwnedFd, second: OwnedFd) -> (OwnedFd, OwnedFd) {
        (second, first)
    }

    fn segment_bytes(&self, segment: OwnedFd) -> u64 {
        nearcall_os::segment::check(segment.as_fd()).expect("it was checked") as u64
    }

    fn wrong(&self) -> OwnedFd {
        rustix::pipe::pipe().expect("a pipe").0
    }

    fn later(&self, given: OwnedFd, milliseconds: u32) -> OwnedFd {
        std::thread::sleep(Duration::from_millis(milliseconds.into()));
        given
    }

    fn choose(&self, given: OwnedFd, code: i32) -> Result<OwnedFd, PassingChooseException> {
        match code {
            0 => Ok(given),
            code => Err(Refused { code, reason: format!("code {code}") }.into()),
        }
    }

    fn panic(&self, given: OwnedFd) -> OwnedFd {
        planned_panic(&format!("with {given:?}"));
    }

    fn die(&self, _given: OwnedFd) {
        std::process::abort();
    }

    fn close(&self, given: OwnedFd) {
        drop(given);
    }

    fn add(&self, a: u32, b: u32) -> u32 {
        a.wrapping_add(b)
    }

    fn count(&self) -> u32 {
        count() as u32
    }

    fn maybe(&self, given: Option<OwnedFd>) -> Option<OwnedFd> {
        given
    }
}
