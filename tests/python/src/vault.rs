//! Descriptors, which come back or are closed.

use std::fs::{self, File};
use std::io::Write;
use std::os::fd::OwnedFd;

use nearcall::{Binding, Domain};

use crate::passing::{Busy, VAULT, VaultClient, VaultServer, VaultSwapException};

/// Does what the interface says.
pub struct Keeper {
    /// Its process's.
    pub domain: Domain,
}

fn pipe_with(text: &str) -> OwnedFd {
    let (read, mut write) = std::io::pipe().expect("there is room for a pipe");
    write.write_all(text.as_bytes()).expect("it is short");
    read.into()
}

impl VaultServer for Keeper {
    fn swap(
        &self,
        file: OwnedFd,
        text: &str,
        link: OwnedFd,
    ) -> Result<(OwnedFd, OwnedFd), VaultSwapException> {
        match text {
            "busy" => Err(Busy { holder: 7 }.into()),
            _ => Ok((link, file)),
        }
    }

    fn measure(&self, segment: OwnedFd) -> u64 {
        File::from(segment).metadata().expect("it is open").len()
    }

    fn piped(&self, text: &str) -> OwnedFd {
        pipe_with(text)
    }

    fn torn(&self) -> (OwnedFd, String) {
        (pipe_with(""), "123456789".to_owned())
    }

    fn wrong(&self) -> OwnedFd {
        pipe_with("")
    }

    fn ask(&self, introduction: OwnedFd) -> i32 {
        let met = Binding::import_introduced(&self.domain, introduction, &VAULT);
        met.map_or(0, |met| VaultClient::new(met).open_count().expect("it returns"))
    }

    fn close(&self, given: OwnedFd) {
        drop(given);
    }

    fn open_count(&self) -> i32 {
        fs::read_dir("/proc/self/fd").expect("this process has descriptors").count() as i32
    }

    fn either(&self, link: Option<OwnedFd>, file: OwnedFd) -> (Option<OwnedFd>, Option<OwnedFd>) {
        match link {
            Some(link) => (Some(link), None),
            None => (None, Some(file)),
        }
    }
}
