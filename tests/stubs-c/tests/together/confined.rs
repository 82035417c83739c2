//! Programs under the documented list of system calls: that a call which is not listed is found,
//! and the example of the documentation. All other programs of these tests run so, but those that
//! have a sanitizer.

use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

use confined::judge;
use rustix::process::Signal;

use crate::support::{RECORD, Workshop, compilers, domain, lacking};

#[test]
fn a_call_that_is_not_listed_ends_its_program_and_is_named() {
    let Some(compiler) = compilers().first().copied() else {
        return lacking("a compiler of C");
    };
    let workshop = Workshop::new();
    for program in ["stray", "stray_child"] {
        stray(&workshop.program(compiler, program, &["-O2"]));
    }
}

/// Runs one that makes such a call, or whose child does, which it does not wait for.
fn stray(program: &Path) {
    let runtime = tempfile::tempdir().expect("a directory");
    let ended = domain(program, runtime.path()).output().expect("it runs");
    let said = String::from_utf8_lossy(&ended.stderr);
    let named = "the system call chdir is not on the list of system calls";
    assert_eq!(said, format!("{named}\n"));
    let judged = judge(&runtime.path().join(RECORD)).expect_err("one has strayed");
    assert!(judged.ends_with(&format!(":\nstrayed: {named}")), "{judged}");
}

#[test]
fn the_example_of_the_documentation_confines_a_client_and_a_server() {
    let Some(compiler) = compilers().first().copied() else {
        return lacking("a compiler of C");
    };
    let workshop = Workshop::new();
    let [confine, client, server, stray] =
        ["confine", "client", "server", "stray"].map(|name| workshop.program(compiler, name, &[]));
    let under = |program: &Path| {
        let mut command = Command::new(&confine);
        command.arg(program).arg("example").env("XDG_RUNTIME_DIR", workshop.path());
        command
    };
    let mut served = under(&server);
    let mut served = served.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it runs");
    let mut line = String::new();
    let said = served.stdout.take().expect("a pipe");
    BufReader::new(said).read_line(&mut line).expect("it can be read");
    assert_eq!(line, "ready\n");
    let called = under(&client).status().expect("it runs");
    drop(served.stdin.take());
    assert!(called.success() && served.wait().expect("it ends").success(), "{called}");
    let strayed = under(&stray).status().expect("it runs");
    assert_eq!(strayed.signal(), Some(Signal::SYS.as_raw()));
}
