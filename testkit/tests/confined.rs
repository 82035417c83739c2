//! Clients and servers under seccomp: the system calls that `nearcall::system_calls` lists are all
//! that they make. Any other one fails the test, by name. And whoever plays in other tests confines
//! itself, too.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use confining::lists::OF_INTERPRETER;
use nearcall::system_calls::{BINDING, CALLING};
use nix::sys::signal::Signal;
use testkit::campaign::held::Held;
use testkit::confined::{CAUGHT, is_confined};
use testkit::signal;

const PROGRAM: &str = env!("CARGO_BIN_EXE_testkit-confined");

/// Longest until a server holds nothing more of a client that has gone.
const LET_GO: Duration = Duration::from_secs(60);

/// A process that confines itself when it is told to go on.
struct Confined {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Confined {
    fn start(directory: &Path, role: &str, list: &str) -> Confined {
        let mut command = Command::new(PROGRAM);
        command.arg(directory).args(["confined", role, list]);
        Confined::of(command, "ready")
    }

    /// What a command starts, which says this first.
    fn of(mut command: Command, first: &str) -> Confined {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut started = Confined { child, input, output };
        started.expect(first);
        started
    }

    /// Demands that it says this next.
    fn expect(&mut self, what: &str) {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        if line.trim_end() != what {
            let (status, said) = self.ended();
            panic!("it said {line:?}, not {what}, and ended by {status}: {said}");
        }
    }

    fn go_on(&mut self) {
        self.input.as_mut().unwrap().write_all(b"go on\n").unwrap();
    }

    /// Waits until it has ended, its input first. How, and what it said about errors.
    fn ended(&mut self) -> (ExitStatus, String) {
        self.input = None;
        let status = self.child.wait().unwrap();
        let mut said = String::new();
        self.child.stderr.as_mut().unwrap().read_to_string(&mut said).unwrap();
        (status, said)
    }

    /// Demands that it ends in an orderly way.
    fn end(&mut self) {
        let (status, said) = self.ended();
        assert!(status.success(), "it ended by {status}: {said}");
    }

    /// Kills it, which nothing else has ended.
    fn kill(&mut self) {
        self.child.kill().unwrap();
        let (status, said) = self.ended();
        assert_eq!(status.signal(), Some(Signal::SIGKILL as i32), "{said}");
    }

    fn held(&self) -> Held {
        Held::by(self.child.id()).unwrap()
    }
}

impl Drop for Confined {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A server and two clients, all confined once they are bound.
fn bound(directory: &Path, list: &str) -> [Confined; 3] {
    let mut server = Confined::start(directory, "serve", list);
    server.go_on();
    server.expect("exported");
    let clients = ["first", "second"].map(|_| {
        let mut client = Confined::start(directory, "call", list);
        client.go_on();
        client.expect("bound");
        client
    });
    server.go_on();
    server.expect("confined");
    let [first, second] = clients;
    [server, first, second]
}

fn check(list: &str, end_of_the_server: impl Fn(&mut Confined)) {
    let directory = tempfile::tempdir().unwrap();
    let [mut server, mut first, mut second] = bound(directory.path(), list);
    let with_both = server.held();
    first.go_on();
    first.expect("called");
    // It calls all the time, and is killed in the middle of it.
    first.kill();
    let begin = Instant::now();
    while server.held().segments >= with_both.segments {
        assert!(begin.elapsed() < LET_GO, "the server holds what it held");
        std::thread::sleep(Duration::from_millis(1));
    }
    second.go_on();
    second.expect("called");
    // Whoever is stopped in a sleep and goes on begins it again, by a system call for that.
    for stopped in [&server, &second, &server, &second] {
        signal::stop(stopped.child.id());
        signal::resume(stopped.child.id());
    }
    end_of_the_server(&mut server);
    second.expect("told");
    second.end();
}

#[test]
fn calls_of_every_kind_and_an_orderly_end_take_what_is_listed() {
    check("calling", Confined::end);
}

#[test]
fn calls_of_every_kind_and_a_death_take_what_is_listed() {
    check("calling", Confined::kill);
}

#[test]
fn binds_take_what_is_listed() {
    check("binding", Confined::end);
}

/// What comes of a process that confines itself by a list, and makes a call that no list has.
fn strayed(list: &str) {
    let directory = tempfile::tempdir().unwrap();
    let mut stray = Confined::start(directory.path(), "stray", list);
    stray.go_on();
    let (status, said) = stray.ended();
    assert_eq!(status.code(), Some(CAUGHT), "it ended by {status}: {said}");
    assert_eq!(said, "the system call chdir is not on the list of system calls\n");
}

#[test]
fn a_call_that_is_not_listed_is_named() {
    strayed("calling");
    strayed("playing");
}

#[test]
fn every_program_that_plays_confines_itself_with_all_its_threads() {
    let (directory, processor) = (tempfile::tempdir().unwrap(), nearcall_os::processor::allowed());
    let path = directory.path().to_str().unwrap();
    let processor = processor[0].to_string();
    let players: &[(&str, &str, &[&str])] = &[
        (env!("CARGO_BIN_EXE_testkit-server"), "exported", &[path, "server"]),
        (env!("CARGO_BIN_EXE_testkit-server"), "exported", &[path, "any", "anybody"]),
        (env!("CARGO_BIN_EXE_testkit-estacks"), "exported", &[path, "estacks", "4"]),
        (env!("CARGO_BIN_EXE_testkit-keeper"), "exported", &[path, "keeper"]),
        (env!("CARGO_BIN_EXE_testkit-stays"), "exported", &[path, "stays", "2000", &processor]),
        (env!("CARGO_BIN_EXE_campaign"), "ready", &["--play", "serve", path, "played", ""]),
        (env!("CARGO_BIN_EXE_campaign"), "ready", &["--play", "hold", path, "played", ""]),
    ];
    let mut playing = Vec::new();
    for (program, first, arguments) in players {
        let mut command = Command::new(program);
        command.args(*arguments);
        let player = Confined::of(command, first);
        assert!(is_confined(player.child.id()), "{program} {arguments:?}");
        playing.push(player);
    }
    // Who is bound before whom it is bound to.
    playing.iter_mut().rev().for_each(Confined::end);
}

/// The calls that a section of the document has in the first column of its table.
fn documented(section: &str) -> BTreeSet<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/system-calls.md");
    let text = std::fs::read_to_string(path).unwrap();
    let (_, rest) = text.split_once(&format!("\n## {section}\n")).unwrap();
    let section = rest.split("\n## ").next().unwrap();
    let cells = section.lines().filter_map(|line| line.strip_prefix("| `")?.split('|').next());
    let names = cells.flat_map(|cell| cell.split(','));
    names.map(|name| name.trim().trim_matches('`').to_owned()).collect()
}

/// The document has the names of this architecture.
#[cfg(target_arch = "x86_64")]
#[test]
fn what_is_listed_is_documented() {
    let listed = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(documented("Calling"), listed(CALLING));
    assert_eq!(documented("Binding"), listed(BINDING));
    let of_interpreter: Vec<_> = OF_INTERPRETER.iter().map(|call| call.0).collect();
    assert_eq!(documented("Python"), listed(&of_interpreter));
}

#[test]
fn the_example_lets_through_what_python_takes() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/stubs-c/c/confine.c");
    let text = std::fs::read_to_string(path).unwrap();
    let let_through = text.split("DO(").skip(1).filter_map(|rest| rest.split(')').next());
    let let_through: BTreeSet<_> = let_through.collect();
    for (call, _) in OF_INTERPRETER {
        assert!(let_through.contains(call), "{call}");
    }
}
