//! Stubs in Rust that are lied to: for every good interface file valid messages, mutations of them,
//! and each lie at each place, to servers and to clients, whose calls block, are posted, or are
//! awaited. Both sides are domains of this process.

#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use lies::{Form, Hunted, Side, Tally, Verdict, hunted};
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

/// Exports the interface of this index under a name; what says how many procedures have run.
type Export = fn(&Domain, usize, &str, ExportOptions) -> (Clerk, Ran);

/// Calls an operation of the file over a binding of an interface.
type Call = fn(Binding, usize, usize);

/// A file's self-test, by parts.
struct Prey {
    stem: &'static str,
    blocking: Stubs,
    /// Servers do not learn that a call was posted.
    posted: Call,
    awaited: Stubs,
}

/// Of one manner of calls.
#[derive(Clone, Copy)]
struct Stubs {
    export: Export,
    call: Call,
}

include!(concat!(env!("OUT_DIR"), "/all_prey.rs"));

thread_local! {
    /// How the last call of this thread ended.
    static ENDED: RefCell<Verdict> = const { RefCell::new(Verdict::Accepted) };
}

/// How many procedures that are awaited have waited.
static WAITED: AtomicUsize = AtomicUsize::new(0);

/// What one that is awaited says when it waits, as it does before it looks at its arguments.
fn procedure_waits() {
    // Relaxed: nothing depends on its order.
    WAITED.fetch_add(1, Ordering::Relaxed);
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
    hunt(Tally::new("Rust"), |prey| (Some(prey.blocking.export), prey.blocking.call));
}

#[test]
fn stubs_that_are_awaited_refuse_every_lie() {
    hunt(Tally::new("Rust, awaited"), |prey| (Some(prey.awaited.export), prey.awaited.call));
    // Relaxed: all that waited has ended.
    let waited = WAITED.load(Ordering::Relaxed);
    println!("{waited} procedures have waited\n");
    assert!(waited > 1000, "{waited}");
}

#[test]
fn stubs_that_post_refuse_every_lie() {
    let tally = Tally::new("Rust, posted").of(&[Side::Client], &[Form::Call, Form::Descriptors]);
    hunt(tally, |prey| (None, prey.posted));
}

/// Has the stubs of every file that `chosen` names lied to.
fn hunt(mut tally: Tally, chosen: impl Fn(&Prey) -> (Option<Export>, Call)) {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let names = tempfile::tempdir().expect("a directory");
    let scope = Scope::Directory(names.path().join("nearcall"));
    let mut files = 0;
    for hunted in hunted(&tests, HUNTED) {
        let prey = PREY.iter().find(|prey| prey.stem == hunted.stem);
        let prey = prey.unwrap_or_else(|| panic!("{} has no prey", hunted.stem));
        files += 1;
        let domain = Domain::new().expect("a domain");
        let (export, call) = chosen(prey);
        if let Some(export) = export {
            attack(&hunted, (&domain, names.path(), &scope), export, &mut tally);
        }
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
            call(binding.clone(), interface, operation);
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

/// Exports the interfaces of a file, and lies to them.
fn attack(
    hunted: &Hunted,
    (domain, names, scope): (&Domain, &Path, &Scope),
    export: Export,
    tally: &mut Tally,
) {
    let interfaces = hunted.cases.iter().zip(0..);
    let clerks = interfaces.map(|(_, index)| {
        let mut options = ExportOptions::default();
        options.scope = Some(scope.clone());
        export(domain, index, &hunted.name(index), options)
    });
    let clerks: Vec<(Clerk, Ran)> = clerks.collect();
    let runs = hunted.attack(names, tally);
    let ran: usize = clerks.iter().map(|(_, count)| count()).sum();
    if ran != runs {
        tally.fail(format!("{} should have run {runs} procedures, not {ran}", hunted.stem));
    }
}
