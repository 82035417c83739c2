//! Stubs in Rust that are lied to: for every good interface file valid messages, mutations of them,
//! and each lie at each place, to servers and to clients. Both sides are domains of this process.

#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::path::Path;

use lies::{Tally, Verdict, hunted};
use nearcall::name::Scope;
use nearcall::{Binding, CallError, Clerk, Domain, ExportOptions, ImportOptions};

/// Whose stubs are lied to: folders and files.
const HUNTED: &[&str] = &[
    "idl/good",
    "idl/rust",
    "matrix/idl/fed.idl",
    "matrix/idl/opened.idl",
    "matrix/idl/talked.idl",
];

/// Says how many procedures have run.
type Ran = Box<dyn Fn() -> usize>;

/// A file's self-test, by parts.
struct Prey {
    stem: &'static str,
    /// Exports the interface of this index under a name; what says how many procedures have run.
    export: fn(&Domain, usize, &str, ExportOptions) -> (Clerk, Ran),
    /// Calls an operation of the file over a binding of an interface.
    call: fn(Binding, usize, usize),
}

include!(concat!(env!("OUT_DIR"), "/all_prey.rs"));

thread_local! {
    /// How the last call of this thread ended.
    static ENDED: RefCell<Verdict> = const { RefCell::new(Verdict::Accepted) };
}

/// What a self-test says of a call that did not end as it should: that it has no results.
fn told(_: (&str, usize, &str), error: CallError, _: &str) {
    let verdict = match error {
        CallError::Peer { .. } => Verdict::Refused,
        error => Verdict::Other(error.to_string()),
    };
    ENDED.set(verdict);
}

#[test]
fn stubs_in_rust_refuse_every_lie() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let names = tempfile::tempdir().expect("a directory");
    let scope = Scope::Directory(names.path().join("nearcall"));
    let (mut tally, mut files) = (Tally::new("Rust"), 0);
    for hunted in hunted(&tests, HUNTED) {
        let prey = PREY.iter().find(|prey| prey.stem == hunted.stem);
        let prey = prey.unwrap_or_else(|| panic!("{} has no prey", hunted.stem));
        files += 1;
        let domain = Domain::new().expect("a domain");
        let interfaces = hunted.cases.iter().zip(0..);
        let clerks = interfaces.map(|(_, index)| {
            let mut options = ExportOptions::default();
            options.scope = Some(scope.clone());
            (prey.export)(&domain, index, &hunted.name(index), options)
        });
        let clerks: Vec<(Clerk, Ran)> = clerks.collect();
        let runs = hunted.attack(names.path(), &mut tally);
        let ran: usize = clerks.iter().map(|(_, count)| count()).sum();
        if ran != runs {
            tally.fail(format!("{} should have run {runs} procedures, not {ran}", hunted.stem));
        }
        drop(clerks);
        let mut bound: Option<(usize, Binding)> = None;
        let call = |interface: usize, operation| {
            let usable =
                bound.take_if(|(index, binding)| *index == interface && !binding.is_revoked());
            let binding = usable.map(|(_, binding)| binding).unwrap_or_else(|| {
                let mut options = ImportOptions::default();
                options.scopes = Some(vec![scope.clone()]);
                let descriptor = hunted.descriptor(interface);
                let name = hunted.name(interface);
                Binding::import_with(&domain, &name, descriptor, options).expect("it is there")
            });
            ENDED.set(Verdict::Accepted);
            (prey.call)(binding.clone(), interface, operation);
            bound = Some((interface, binding));
            ENDED.replace(Verdict::Accepted)
        };
        hunted.answer(call, names.path(), &mut tally);
        domain.shut_down();
    }
    println!("{files} interface files\n{}", tally.report());
    assert!(files > 10, "{files}");
    tally.judge();
}
