//! Clients and servers under seccomp: the system calls that `nearcall::system_calls` lists are all
//! that they make. Any other one fails the test, by name.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use lacking::lacking;
use nearcall::system_calls::{BINDING, CALLING};
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use testkit::campaign::held::Held;
use testkit::confined::{Ended, watch};

const PROGRAM: &str = env!("CARGO_BIN_EXE_testkit-confined");

/// Longest until a server holds nothing more of a client that has gone.
const LET_GO: Duration = Duration::from_secs(10);

/// A process that confines itself, and who watches it.
struct Confined {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    watcher: Option<JoinHandle<std::io::Result<Ended>>>,
}

impl Confined {
    /// Starts one that is watched; `None` if this system lets no process be traced.
    fn start(directory: &Path, role: &str, list: &str) -> Option<Confined> {
        let mut command = Command::new(PROGRAM);
        command.arg(directory).args(["confined", role, list]);
        // A backtrace takes calls that are on no list.
        command.env("RUST_BACKTRACE", "0");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut started = Confined { child, input, output, watcher: None };
        started.expect("ready");
        match watch(started.child.id()) {
            Ok(watcher) => started.watcher = Some(watcher),
            Err(error @ (Errno::EPERM | Errno::ENOSYS)) => {
                // Nobody else ends it.
                started.child.kill().unwrap();
                started.child.wait().unwrap();
                lacking(&format!("the right to trace a process: {error}"));
                return None;
            }
            Err(error) => panic!("nobody watches it: {error}"),
        }
        Some(started)
    }

    /// Demands that it says this next.
    fn expect(&mut self, what: &str) {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        if line.trim_end() != what {
            let ended = self.watcher.take().map(|watcher| watcher.join().unwrap().unwrap());
            panic!("it said {line:?}, not {what}, and ended so: {ended:?}");
        }
    }

    fn go_on(&mut self) {
        self.input.as_mut().unwrap().write_all(b"go on\n").unwrap();
    }

    /// Waits until it has ended, its input first.
    fn ended(&mut self) -> Ended {
        self.input = None;
        self.watcher.take().unwrap().join().unwrap().unwrap()
    }

    fn held(&self) -> Held {
        Held::by(self.child.id()).unwrap()
    }
}

impl Drop for Confined {
    fn drop(&mut self) {
        if let Some(watcher) = self.watcher.take() {
            // Whoever watches it waits for it.
            let _ = self.child.kill();
            let _ = watcher.join();
        }
    }
}

/// A server and two clients, all confined once they are bound; `None` where nobody can be watched.
fn bound(directory: &Path, list: &str) -> Option<[Confined; 3]> {
    let mut server = Confined::start(directory, "serve", list)?;
    server.go_on();
    server.expect("exported");
    let mut clients =
        [Confined::start(directory, "call", list)?, Confined::start(directory, "call", list)?];
    for client in &mut clients {
        client.go_on();
        client.expect("bound");
    }
    server.go_on();
    server.expect("confined");
    let [first, second] = clients;
    Some([server, first, second])
}

fn check(list: &str, end_of_the_server: impl Fn(&mut Confined) -> Ended) {
    let directory = tempfile::tempdir().unwrap();
    let Some([mut server, mut first, mut second]) = bound(directory.path(), list) else {
        return;
    };
    let with_both = server.held();
    first.go_on();
    first.expect("called");
    // It calls all the time, and is killed in the middle of it.
    first.child.kill().unwrap();
    assert_eq!(first.ended(), Ended::Killed(Signal::SIGKILL));
    let begin = Instant::now();
    while server.held().segments >= with_both.segments {
        assert!(begin.elapsed() < LET_GO, "the server holds what it held");
        std::thread::sleep(Duration::from_millis(1));
    }
    second.go_on();
    second.expect("called");
    // Whoever is stopped in a sleep and goes on begins it again, by a system call for that.
    for stopped in [&server, &second, &server, &second] {
        kill(Pid::from_raw(stopped.child.id() as i32), Signal::SIGSTOP).unwrap();
        std::thread::sleep(Duration::from_millis(20));
    }
    let ended = end_of_the_server(&mut server);
    second.expect("told");
    assert_eq!(second.ended(), Ended::Exited(0));
    assert!(matches!(ended, Ended::Exited(0) | Ended::Killed(Signal::SIGKILL)), "{ended:?}");
}

#[test]
fn calls_of_every_kind_and_an_orderly_end_take_what_is_listed() {
    check("calling", Confined::ended);
}

#[test]
fn calls_of_every_kind_and_a_death_take_what_is_listed() {
    check("calling", |server| {
        server.child.kill().unwrap();
        server.ended()
    });
}

#[test]
fn a_call_that_is_not_listed_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let Some(mut stray) = Confined::start(directory.path(), "stray", "calling") else {
        return;
    };
    stray.go_on();
    stray.expect("strayed");
    assert_eq!(stray.ended(), Ended::Called(BTreeSet::from(["chdir".to_owned()])));
}

#[test]
fn binds_take_what_is_listed() {
    check("binding", Confined::ended);
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

#[test]
fn what_is_listed_is_documented() {
    let listed = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(documented("Calling"), listed(CALLING));
    assert_eq!(documented("Binding"), listed(BINDING));
}
