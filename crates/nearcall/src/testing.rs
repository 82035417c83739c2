//! A server for the tests beside the code, in a directory of its own, and a domain to call it from.

use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

use nearcall_abi::{AStackClass, InterfaceDescriptor, ProcedureDescriptor};
use nearcall_os::poll::Poller;

use crate::name::Scope;
use crate::raw::{Arguments, Entries, Outcome};
use crate::{BindError, Binding, Clerk, Domain, DomainOptions, ExportOptions, ImportOptions};

/// A server, and a domain to call from.
pub(crate) struct TestServer {
    clerk: Clerk,
    client: Domain,
    interface: &'static InterfaceDescriptor,
    directory: PathBuf,
}

/// Who binds to one by its name.
pub(crate) struct TestImporter {
    client: Domain,
    name: String,
    scope: Scope,
    interface: &'static InterfaceDescriptor,
}

impl TestServer {
    /// Exports `entries`; no other test has this name.
    pub fn new(name: &str, entries: impl Entries) -> TestServer {
        TestServer::with(name, entries, DomainOptions::default(), ExportOptions::default())
    }

    /// The same, with these options, of which the scope is its own.
    pub fn with(
        name: &str,
        entries: impl Entries,
        domain: DomainOptions,
        export: ExportOptions,
    ) -> TestServer {
        TestServer::of(name, entries, Domain::with_options(domain).unwrap(), export)
    }

    /// The same of this domain.
    pub fn of(
        name: &str,
        entries: impl Entries,
        server: Domain,
        export: ExportOptions,
    ) -> TestServer {
        let directory = std::env::temp_dir().join(format!("test-{name}-{}", std::process::id()));
        std::fs::DirBuilder::new().mode(0o700).create(&directory).unwrap();
        let options = ExportOptions { scope: Some(Scope::Directory(directory.clone())), ..export };
        let interface = entries.interface();
        let clerk = Clerk::export_with(&server, name, entries, options).unwrap();
        TestServer { clerk, client: Domain::new().unwrap(), interface, directory }
    }

    /// What it exports by.
    pub fn clerk(&self) -> &Clerk {
        &self.clerk
    }

    /// The domain that serves.
    pub fn domain(&self) -> &Domain {
        self.clerk.domain()
    }

    /// A binding whose two sides are in this process.
    pub fn import(&self) -> Binding {
        self.import_to(&self.client)
    }

    /// The same of this domain.
    pub fn import_to(&self, client: &Domain) -> Binding {
        let options = ImportOptions::default();
        Binding::import_twin(client, &self.clerk, self.interface, options).unwrap()
    }

    /// Who binds by the name.
    pub fn importer(&self) -> TestImporter {
        self.importer_of(self.client.clone())
    }

    /// The same of this domain.
    pub fn importer_of(&self, client: Domain) -> TestImporter {
        let (name, scope) =
            (self.clerk.name().to_owned(), Scope::Directory(self.directory.clone()));
        TestImporter { client, name, scope, interface: self.interface }
    }

    /// Waits until somebody has connected whom nobody has let in yet.
    pub fn wait_for_importer(&self) {
        let (poller, mut ready) = (Poller::new().unwrap(), Vec::new());
        poller.add(self.clerk.core().listener(), 1).unwrap();
        while ready.is_empty() {
            poller.wait(&mut ready, None).unwrap();
        }
    }
}

impl TestImporter {
    pub fn import(&self) -> Result<Binding, BindError> {
        let scopes = Some(vec![self.scope.clone()]);
        let options = ImportOptions { scopes, ..ImportOptions::default() };
        Binding::import_with(&self.client, &self.name, self.interface, options)
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        // It may hold the socket until the clerk is gone; a temporary directory is nobody's harm.
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// An interface of one procedure, `null`, whose A-stacks are of the first of these classes.
pub(crate) const fn null_interface(classes: &'static [AStackClass]) -> InterfaceDescriptor {
    InterfaceDescriptor {
        name: "Null",
        hash: [1; 16],
        procedures: &[ProcedureDescriptor {
            name: "null",
            hash: [2; 16],
            class: 0,
            is_oneway: false,
            is_idempotent: false,
            is_leaf: false,
        }],
        classes,
        appendables: &[],
    }
}

/// A server of such an interface, which does nothing.
pub(crate) struct Null(pub &'static InterfaceDescriptor);

impl Entries for Null {
    fn interface(&self) -> &'static InterfaceDescriptor {
        self.0
    }

    fn enter(&self, _procedure: usize, arguments: Arguments<'_>) -> Outcome {
        arguments.results().reply(0)
    }
}
