//! An interface file's stubs, hunted: every request to a server, every reply to a client, both in
//! processes of their own that say how each call ended.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use nearcall::name::Scope;
use nearcall::{Clerk, Domain, ExportOptions, ImportOptions, InterfaceDescriptor};
use nearcall_idl::diagnostic::render::texts;
use nearcall_idl::front::compile;
use nearcall_idl::front::options::Options;
use nearcall_idl::model::Model;
use nearcall_idl::source::SourceMap;

use crate::answer::{Liar, Spoken};
use crate::attack::{Attacker, descriptor};
use crate::messages::{Case, InterfaceCases, cases};
use crate::tally::{Side, Tally, Verdict};

/// A file whose stubs are hunted.
pub struct Hunted {
    /// Its name without the end; what its interfaces are exported as begins with it.
    pub stem: String,
    pub model: Model,
    /// By interface.
    pub cases: Vec<InterfaceCases>,
    descriptors: Vec<&'static InterfaceDescriptor>,
}

/// Files that have no operations to lie about, and are left out.
const CALLING_NOTHING: [&str; 6] =
    ["constants", "laps", "library_people", "midl_types", "times", "unions"];

/// The files below `tests` that these folders and paths name, as far as they have operations to
/// lie about.
///
/// # Panics: a file has none, and is not listed; or has some, and is.
pub fn hunted(tests: &Path, names: &[&str]) -> Vec<Hunted> {
    let mut files = Vec::new();
    for path in names.iter().map(|name| tests.join(name)) {
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).expect("it can be listed");
            let paths = entries.map(|entry| entry.expect("it can be listed").path());
            let is_interface =
                |path: &PathBuf| path.extension().is_some_and(|end| end == "idl" || end == "proto");
            files.extend(paths.filter(is_interface));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files.into_iter().filter_map(|path| Hunted::of(tests, &path)).collect()
}

impl Hunted {
    fn of(tests: &Path, path: &Path) -> Option<Hunted> {
        let options =
            Options { include_directories: vec![tests.join("idl/good")], ..Options::default() };
        let mut sources = SourceMap::default();
        let compilation = compile(path, &options, &mut sources);
        let said = texts(&compilation.diagnostics, &sources, false);
        let model = compilation.model.unwrap_or_else(|| panic!("{}:\n{said}", path.display()));
        let stem = path.file_stem()?.to_str()?.to_owned();
        let cases = cases(&model);
        let is_called = cases.iter().any(|one| !one.replies.is_empty());
        let descriptors = cases.iter().map(|one| descriptor(&model, one.id)).collect();
        let is_listed = CALLING_NOTHING.contains(&&*stem);
        assert_ne!(is_called, is_listed, "{stem}: has operations: {is_called}");
        is_called.then_some(Hunted { stem, model, cases, descriptors })
    }

    /// What an interface is exported as.
    pub fn name(&self, index: usize) -> String {
        format!("{}-{index}", self.stem)
    }

    /// What stubs of an interface say of it.
    pub fn descriptor(&self, index: usize) -> &'static InterfaceDescriptor {
        self.descriptors[index]
    }

    /// Sends a server every request; how many procedures it must have run for them.
    pub fn attack(&self, runtime: &Path, tally: &mut Tally) -> usize {
        let domain = Domain::new().expect("a domain");
        let mut runs = 0;
        for (interface, index) in self.cases.iter().zip(0..) {
            let mut options = ImportOptions::default();
            options.scopes = Some(vec![Scope::Directory(runtime.join("nearcall"))]);
            let descriptor = self.descriptors[index];
            let attacker = Attacker::new(&domain, &self.name(index), descriptor, options);
            let asked = |case: &&Case| tally.asks_for(Side::Server, case.form);
            let requests: Vec<&Case> = interface.requests.iter().filter(asked).collect();
            for case in requests {
                let verdict = attacker.tell(case);
                let procedure = descriptor.procedures[case.message.procedure as usize].name;
                let place = format!("{}: {}::{procedure}", self.stem, descriptor.name);
                tally.count(Side::Server, &place, case, &verdict);
            }
            if attacker.is_revoked() {
                tally.fail(format!("{} has revoked a binding for its arguments", self.name(index)));
            }
            runs += attacker.runs.get();
        }
        domain.shut_down();
        runs
    }

    /// Answers a client's calls with every reply. `call` has it make one: of an interface, an
    /// operation of the file.
    pub fn answer(
        &self,
        mut call: impl FnMut(usize, usize) -> Verdict,
        runtime: &Path,
        tally: &mut Tally,
    ) {
        let domain = Domain::new().expect("a domain");
        let spoken = Spoken::default();
        let mut clerks = Vec::new();
        for (interface, index) in self.cases.iter().zip(0..) {
            let descriptor = self.descriptors[index];
            let mut options = ExportOptions::default();
            options.scope = Some(Scope::Directory(runtime.join("nearcall")));
            let liar = Liar::new(descriptor, spoken.clone());
            let clerk = Clerk::export_with(&domain, &self.name(index), liar, options);
            clerks.push(clerk.expect("it is free"));
            let asked = |case: &&Case| tally.asks_for(Side::Client, case.form);
            let replies: Vec<&Case> = interface.replies.iter().filter(asked).collect();
            for case in replies {
                spoken.set(case);
                let verdict = call(index, case.number);
                let procedure = descriptor.procedures[case.message.procedure as usize].name;
                let place = format!("{}: {}::{procedure}", self.stem, descriptor.name);
                tally.count(Side::Client, &place, case, &verdict);
            }
        }
        domain.shut_down();
    }
}

/// A program that is hunted; it goes on until its standard input ends.
pub struct Prey {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Prey {
    /// # Panics
    ///
    /// If it does not start.
    pub fn start(command: &mut Command, runtime: &Path) -> Prey {
        command.env("XDG_RUNTIME_DIR", runtime).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let stdin = child.stdin.take().expect("it is a pipe");
        let stdout = BufReader::new(child.stdout.take().expect("it is a pipe"));
        Prey { child, stdin, stdout }
    }

    /// Waits until a server is there.
    pub fn is_ready(&mut self) -> bool {
        self.line() == "ready\n"
    }

    /// What it says next; nothing if it ends.
    ///
    /// # Panics
    ///
    /// If that is no text.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("it can be read");
        line
    }

    /// Has a client make a call.
    pub fn call(&mut self, line: &str) -> Verdict {
        if writeln!(self.stdin, "{line}").is_err() {
            return Verdict::Other(String::from("it has ended"));
        }
        let said = self.line();
        match said.split_once(' ') {
            Some(("accepted", _)) => Verdict::Accepted,
            Some(("refused", _)) => Verdict::Refused,
            _ => Verdict::Other(said),
        }
    }

    /// Ends it in an orderly way; what it said last.
    ///
    /// # Panics
    ///
    /// If it does not end well: a sanitizer had a word to say, about leaks for instance.
    pub fn end(mut self, what: &str) -> String {
        drop(self.stdin);
        let mut said = String::new();
        self.stdout.read_to_string(&mut said).expect("it can be read");
        let status = self.child.wait().expect("it ends");
        assert!(status.success(), "{what} ended with {status}, and said {said:?}");
        said
    }

    /// Ends a server, which has to say that it has run so many procedures: none for a lie.
    ///
    /// # Panics
    ///
    /// As [`Prey::end`].
    pub fn end_after(self, runs: usize, what: &str, tally: &mut Tally) {
        let said = self.end(what);
        if said != format!("ran {runs}\n") {
            tally.fail(format!("{what} should have run {runs} procedures, and says {said:?}"));
        }
    }
}
