//! Peers of programs in C and C++ that send what no stub would: for every interface file valid
//! messages, mutations of them, and each lie at each place. Under the address and undefined
//! behaviour sanitizers the programs accept, answer with errors, and live.

#![forbid(unsafe_code)]

mod support;

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use lies::{Attacker, InterfaceCases, Liar, Message, Side, Spoken, Tally, Verdict, cases};
use nearcall::name::Scope;
use nearcall::{Clerk, Domain, ExportOptions, ImportOptions};
use nearcall_idl::model::Model;
use stubs_c_tests::cross::CROSS;
use support::{SANITIZED_QUICKLY, Server, Workshop, interface_files, model, prey, sanitizing};

/// A file whose stubs are hunted.
struct Hunted {
    stem: String,
    model: Model,
    /// By interface.
    cases: Vec<InterfaceCases>,
}

impl Hunted {
    /// What an interface is exported as.
    fn name(&self, index: usize) -> String {
        format!("{}-{index}", self.stem)
    }
}

/// The files with operations to lie about.
fn hunted() -> Vec<Hunted> {
    let own = support::tests_directory();
    let more = ["stubs-c/cross.idl", "matrix/idl/records.idl"].map(|file| own.join(file));
    let files = interface_files().into_iter().chain(more);
    let all = files.filter_map(|path| {
        let stem = path.file_stem()?.to_str()?.to_owned();
        let model = model(&path);
        let cases = cases(&model);
        let is_called = cases.iter().any(|one| !one.requests.is_empty());
        is_called.then_some(Hunted { stem, model, cases })
    });
    all.collect()
}

/// Sends a server every request.
fn attack(hunted: &Hunted, program: &Path, runtime: &Path, tally: &mut Tally) {
    let server = Server::start_with(program, &["server", &hunted.stem], runtime);
    let domain = Domain::new().expect("a domain");
    for (interface, index) in hunted.cases.iter().zip(0..) {
        let mut options = ImportOptions::default();
        options.scopes = Some(vec![Scope::Directory(runtime.join("nearcall"))]);
        let descriptor = lies::descriptor(&hunted.model, interface.id);
        let attacker = Attacker::new(&domain, &hunted.name(index), descriptor, options);
        for case in &interface.requests {
            let verdict = attacker.send(&case.message);
            let procedure = descriptor.procedures[case.message.procedure as usize].name;
            let place = format!("{}: {}::{procedure}", hunted.stem, descriptor.name);
            tally.count(Side::Server, &place, &case.purpose, &verdict);
        }
    }
    domain.shut_down();
    server.end();
}

/// Answers a client's calls with every reply.
fn answer(hunted: &Hunted, program: &Path, runtime: &Path, tally: &mut Tally) {
    let domain = Domain::new().expect("a domain");
    let spoken = Spoken::default();
    let mut clerks = Vec::new();
    let mut client = Client::start(program, &hunted.stem, runtime);
    for (interface, index) in hunted.cases.iter().zip(0..) {
        let descriptor = lies::descriptor(&hunted.model, interface.id);
        let mut options = ExportOptions::default();
        options.scope = Some(Scope::Directory(runtime.join("nearcall")));
        let liar = Liar::new(descriptor, spoken.clone());
        let clerk = Clerk::export_with(&domain, &hunted.name(index), liar, options);
        clerks.push(clerk.expect("it is free"));
        for case in &interface.replies {
            spoken.set(&case.message);
            let verdict = client.call(index, case.number);
            let procedure = descriptor.procedures[case.message.procedure as usize].name;
            let place = format!("{}: {}::{procedure}", hunted.stem, descriptor.name);
            tally.count(Side::Client, &place, &case.purpose, &verdict);
        }
    }
    client.end();
    domain.shut_down();
}

/// A client in a process of its own that calls what it is told to.
struct Client {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Client {
    fn start(program: &Path, name: &str, runtime: &Path) -> Client {
        let mut command = Command::new(program);
        command.args(["client", name]).env("XDG_RUNTIME_DIR", runtime);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let stdin = child.stdin.take().expect("it is a pipe");
        let stdout = BufReader::new(child.stdout.take().expect("it is a pipe"));
        Client { child, stdin, stdout }
    }

    fn call(&mut self, interface: usize, operation: usize) -> Verdict {
        writeln!(self.stdin, "{interface} {operation}").expect("it reads");
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("it can be read");
        match line.split_once(' ') {
            Some(("accepted", _)) => Verdict::Accepted,
            Some(("refused", _)) => Verdict::Refused,
            _ => Verdict::Other(line),
        }
    }

    /// No sanitizer may have a word to say, about leaks neither.
    fn end(mut self) {
        drop(self.stdin);
        let status = self.child.wait().expect("it ends");
        assert!(status.success(), "the client ended with {status}");
    }
}

#[test]
fn programs_in_c_and_cpp_outlive_hostile_peers() {
    let Some(compiler) = sanitizing() else {
        return support::lacking("a compiler of C with sanitizers");
    };
    let (mut of_c, mut of_cpp) = (Tally::new("C"), Tally::new("C++"));
    let workshop = Workshop::with_cpp();
    for hunted in hunted() {
        let test = lies::trimmed(&hunted.model).expect("it has operations");
        for (language, tally) in [("c", &mut of_c), ("cpp", &mut of_cpp)] {
            let print = if language == "c" { prey::c } else { prey::cpp };
            let Some(program) = print(&hunted.model, &hunted.stem, &test) else {
                println!("{}: {language} has no stubs for it", hunted.stem);
                continue;
            };
            let program = workshop.prey(compiler, (&hunted.stem, language), &program);
            attack(&hunted, &program, workshop.path(), tally);
            answer(&hunted, &program, workshop.path(), tally);
        }
    }
    println!("{compiler}:\n{}{}", of_c.report(), of_cpp.report());
    of_c.judge();
    of_cpp.judge();
}

/// A request of a tree of so many, in four bytes each: eight more are their defaults.
fn flood(procedure: u32, trees: u32) -> Message {
    let below = vec![0; trees as usize * 4];
    let members = [[7; 4], trees.to_le_bytes()].concat();
    let bytes = (members.len() + below.len()) as u32;
    let variable = [&bytes.to_le_bytes(), &members[..], &below].concat();
    let fixed = (variable.len() as u32).to_le_bytes().to_vec();
    Message { procedure, raised: 0, fixed, variable_at: Some(8), variable }
}

#[test]
fn a_server_in_c_makes_only_so_much_of_defaults() {
    let Some(compiler) = sanitizing() else {
        return support::lacking("a compiler of C with sanitizers");
    };
    let workshop = Workshop::new();
    let program = workshop.program(compiler, "server", SANITIZED_QUICKLY);
    let server = Server::start(&program, "flooded", workshop.path());
    let domain = Domain::new().expect("a domain");
    let mut options = ImportOptions::default();
    options.scopes = Some(vec![Scope::Directory(workshop.path().join("nearcall"))]);
    let attacker = Attacker::new(&domain, "flooded", &CROSS, options);
    let grow = CROSS.procedures.iter().position(|one| one.name == "grow").expect("it is there");
    assert_eq!(attacker.send(&flood(grow as u32, 1000)), Verdict::Accepted);
    assert_eq!(attacker.send(&flood(grow as u32, 3 << 20)), Verdict::Refused);
    domain.shut_down();
    server.end();
}
