//! Two values of one type that change places, as parameters or as members: no message tells such
//! versions apart, so that the bind has to. It is refused in every language, and names the
//! procedure.

use std::path::Path;

use nearcall::name::Scope;
use nearcall::{Binding, Clerk, Domain, ExportError, ImportOptions, InterfaceDescriptor};
use stubs_c_tests::{mirrored, straight, turned};

use crate::support::{RustServer, expect_success, in_both, serve_here};

/// A server of any version.
struct Mover;

/// What a version's server does, with the arguments of `carry` in the order that they have there.
macro_rules! serves {
    ($version:ident, |$first:ident, $second:ident| $carried:expr) => {
        impl $version::moving::MoverServer for Mover {
            fn carry(&self, $first: i32, $second: i32) -> i32 {
                $carried
            }

            fn reach(&self, place: &$version::moving::Place) -> i32 {
                10 * place.x + place.y
            }
        }
    };
}

serves!(straight, |from, to| 10 * from + to);
serves!(turned, |to, from| 10 * from + to);
serves!(mirrored, |from, to| 10 * from + to);

fn export(domain: &Domain, name: &str) -> Result<Clerk, ExportError> {
    match name {
        "straight" => Clerk::export(domain, name, straight::moving::MoverEntries::new(Mover)),
        "turned" => Clerk::export(domain, name, turned::moving::MoverEntries::new(Mover)),
        "mirrored" => Clerk::export(domain, name, mirrored::moving::MoverEntries::new(Mover)),
        unknown => panic!("{unknown}"),
    }
}

/// Exports a server in Rust until standard input ends: this test program as another process.
#[test]
fn serve() {
    serve_here(export);
}

/// The versions, and the procedure in which each differs from the first.
const VERSIONS: [(&str, &InterfaceDescriptor, &str); 3] = [
    ("straight", &straight::moving::MOVER, ""),
    ("turned", &turned::moving::MOVER, "procedure 0, `carry`, "),
    ("mirrored", &mirrored::moving::MOVER, "procedure 1, `reach`, "),
];

/// Why a client cannot bind to what is exported by a name; empty: it can.
fn refusal(
    domain: &Domain,
    runtime: &Path,
    name: &str,
    interface: &'static InterfaceDescriptor,
) -> String {
    let mut options = ImportOptions::default();
    options.scopes = Some(vec![Scope::Directory(runtime.join("nearcall"))]);
    let import = Binding::import_with(domain, name, interface, options);
    import.err().map(|error| error.to_string()).unwrap_or_default()
}

#[test]
fn what_changes_places_is_refused_in_rust_both_ways() {
    let runtime = tempfile::TempDir::new().expect("a directory");
    let domain = Domain::new().expect("a domain");
    let (first, straight, _) = VERSIONS[0];
    let served = RustServer::start(module_path!(), first, runtime.path());
    for (version, interface, names) in VERSIONS {
        let old_here = refusal(&domain, runtime.path(), first, interface);
        assert_eq!(old_here.is_empty(), version == first, "{version}: {old_here}");
        assert!(old_here.contains(names), "{version}: {old_here}");
        if version != first {
            let other = RustServer::start(module_path!(), version, runtime.path());
            let new_here = refusal(&domain, runtime.path(), version, straight);
            assert!(!new_here.is_empty() && new_here.contains(names), "{version}: {new_here}");
            drop(other);
        }
    }
    domain.shut_down();
    drop(served);
}

#[test]
fn what_changes_places_is_refused_in_c_and_cpp() {
    in_both("versions/straight.idl", ["mover", "mover_cpp"], |program, runtime| {
        for (version, _, names) in VERSIONS {
            let served = RustServer::start(module_path!(), version, runtime);
            expect_success(program, &[version, names], runtime);
            drop(served);
        }
    });
}
