//! A server whose procedures say where and when they ran.

use std::path::Path;

use nearcall::name::Scope;
use nearcall::{Clerk, Domain, ExportError, ExportOptions};
use nearcall_os::{clock, processor};

use crate::stays::stays::{Stay, StaysEntries, StaysServer};

struct Keeper;

/// Exports one under `name`, in the scope of `directory`.
pub fn export(domain: &Domain, directory: &Path, name: &str) -> Result<Clerk, ExportError> {
    let mut options = ExportOptions::default();
    options.scope = Some(Scope::Directory(directory.to_owned()));
    Clerk::export_with(domain, name, StaysEntries::new(Keeper), options)
}

impl StaysServer for Keeper {
    fn work(&self, nanoseconds: u32) -> Stay {
        let begin_ns = clock::now_ns();
        let call = nearcall::current_call().expect("it is called");
        let client_processor = call.client_processor();
        let processor = processor::current();
        while clock::now_ns() - begin_ns < u64::from(nanoseconds) {
            processor::relax();
        }
        Stay { client_processor, processor, begin_ns, end_ns: clock::now_ns() }
    }
}
