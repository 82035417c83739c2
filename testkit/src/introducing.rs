//! The server that is introduced, and that others are introduced to.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use nearcall::name::Scope;
use nearcall::{Binding, Clerk, Domain, ExportError, ExportOptions, Policy, current_call};
use rustix::fs::MemfdFlags;

use crate::introducing_stubs::introducing::{HOST, HostClient, HostEntries, HostServer};
use crate::passing;

/// Serves `Host`.
#[derive(Debug)]
pub struct Introduced {
    domain: Domain,
    met: Mutex<Option<Binding>>,
}

/// The name that a server exports `Host` under, beside `Faults` under `name`.
pub fn name_of(name: &str) -> String {
    format!("{name}-introducing")
}

/// Exports a host of `domain` under `name`, in the scope of `directory`.
pub fn export(
    domain: &Domain,
    directory: &Path,
    name: &str,
    policy: Policy,
) -> Result<Clerk, ExportError> {
    let mut options = ExportOptions::default();
    options.scope = Some(Scope::Directory(directory.to_owned()));
    options.policy = policy;
    let host = Introduced { domain: domain.clone(), met: Mutex::default() };
    Clerk::export_with(domain, name, HostEntries::new(host), options)
}

/// What the server of a binding says of who calls, or why it says nothing.
pub fn said_over(binding: &Binding) -> String {
    let said = HostClient::new(binding.clone()).caller();
    said.map_or_else(|error| error.to_string(), |caller| caller.to_string())
}

impl Introduced {
    fn met(&self) -> MutexGuard<'_, Option<Binding>> {
        self.met.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HostServer for Introduced {
    fn caller(&self) -> u32 {
        current_call().and_then(|call| call.importer().pid()).unwrap_or(0)
    }

    fn giver(&self) -> u32 {
        current_call().and_then(|call| call.giver()?.pid()).unwrap_or(0)
    }

    fn meet(&self, introduction: OwnedFd) -> String {
        match Binding::import_introduced(&self.domain, introduction, &HOST) {
            Ok(binding) => {
                let said = said_over(&binding);
                *self.met() = Some(binding);
                said
            }
            Err(error) => error.to_string(),
        }
    }

    fn call_on(&self) -> String {
        let met = self.met().clone();
        met.map_or_else(|| "nobody was met".to_owned(), |binding| said_over(&binding))
    }

    fn introduce(&self) -> OwnedFd {
        let met = self.met().clone().expect("somebody was met");
        met.introduce().expect("the server introduces")
    }

    fn wrong(&self) -> OwnedFd {
        rustix::fs::memfd_create("wrong", MemfdFlags::CLOEXEC).expect("a file")
    }

    fn count(&self) -> u32 {
        passing::count() as u32
    }
}
