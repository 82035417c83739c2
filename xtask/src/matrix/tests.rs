//! What a program says is counted, and too little is a failure.

use std::process::Command;

use super::{Ran, Row, Sides, call, counts, judge};

fn row(calls: usize, values: usize, interfaces: usize) -> Row {
    Row { client: "c", server: "rust", files: 1, interfaces, operations: 9, calls, values }
}

#[test]
fn only_the_line_that_counts_is_counted() {
    assert_eq!(counts("client: 12 of 12 calls, 30 values, 0 differ\n"), Some((12, 30)));
    assert_eq!(counts("Segmentation fault\n"), None);
    assert_eq!(counts(""), None);
}

#[test]
fn a_cell_that_checks_too_little_fails() {
    assert!(judge(&[row(9, 9, 40)], true).is_ok());
    assert!(judge(&[row(9, 9, 1)], false).is_ok());
    for bad in [row(0, 9, 40), row(9, 0, 40), row(9, 9, 39)] {
        assert!(judge(&[row(9, 9, 40), bad], true).is_err());
    }
    assert!(judge(&[], false).is_err());
}

/// What stands for the two programs, in shell.
fn ran(client: &str, server: &str) -> Ran {
    let shell = |text: &str| {
        let mut command = Command::new("sh");
        command.args(["-c", text]);
        command
    };
    call(shell(client), shell(server), ("cell", &std::env::temp_dir()))
}

const SERVER: &str = "echo ready; cat; echo server: 2 of 2 calls, 5 values, 0 differ";
const CLIENT: &str = "echo client: 2 of 2 calls, 3 values, 0 differ; cat";

#[test]
fn both_programs_are_counted_when_both_end_well() {
    let ran = ran(CLIENT, SERVER);
    assert_eq!((ran.calls, ran.values, &*ran.wrong), (2, 8, ""));
    assert_eq!(ran.has_failed, Sides { client: false, server: false });
}

#[test]
fn a_program_that_ends_badly_is_wrong_and_says_why() {
    let server = ran(CLIENT, &format!("{SERVER}; echo a is b >&2; exit 1"));
    assert!(server.calls == 0 && server.wrong.contains("a is b"), "{server:?}");
    assert_eq!(server.has_failed, Sides { client: false, server: true });
    let client = ran(&format!("{CLIENT}; echo b is a >&2; exit 1"), SERVER);
    assert!(client.calls == 0 && client.wrong.contains("b is a"), "{client:?}");
    assert_eq!(client.has_failed, Sides { client: true, server: false });
    assert!(ran("exit 0", SERVER).wrong.contains("cell"), "a client that says nothing");
    assert!(ran(CLIENT, "echo no").wrong.contains("not ready"), "a server that is not ready");
}
