//! Binds a client to entry stubs, in this process: over a heap twin, or over the socket and sealed
//! segments that processes use.

use nearcall::name::Scope;
use nearcall::raw::Entries;
use nearcall::{Binding, Clerk, Domain, ExportOptions, ImportOptions, InterfaceDescriptor};

/// How the two domains are bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Over a heap twin of the segments.
    Twin,
    /// Over sealed segments.
    Segments,
}

/// Both ways.
pub const KINDS: [Kind; 2] = [Kind::Twin, Kind::Segments];

/// A binding, and what must live as long.
#[derive(Debug)]
pub struct Bound {
    /// The binding.
    pub binding: Binding,
    _clerk: Clerk,
    _domains: [Domain; 2],
    _directory: tempfile::TempDir,
}

/// Exports `entries` in one domain and imports them in another.
pub fn bind(kind: Kind, entries: impl Entries, interface: &'static InterfaceDescriptor) -> Bound {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let scope = Scope::Directory(directory.path().to_owned());
    let [client, server] = [(); 2].map(|()| Domain::new().expect("a domain"));
    let mut options = ExportOptions::default();
    options.scope = Some(scope.clone());
    let clerk = Clerk::export_with(&server, "stubs", entries, options).expect("it is exported");
    let mut options = ImportOptions::default();
    options.scopes = Some(vec![scope]);
    let binding = match kind {
        Kind::Twin => Binding::import_twin(&client, &clerk, interface, options),
        Kind::Segments => Binding::import_with(&client, "stubs", interface, options),
    };
    Bound {
        binding: binding.expect("it is imported"),
        _clerk: clerk,
        _domains: [client, server],
        _directory: directory,
    }
}
