//! The host and its plug-ins, each in a process of its own.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Longer than any plug-in takes that answers.
const LONG_SECONDS: u32 = 600;

/// How long a plug-in is waited for that does not answer; longer where another one was late.
const SECONDS: [u32; 3] = [3, 10, 60];

fn host(seconds: u32, kinds: &[&str], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_plugins-host"));
    command.args(["--within", &seconds.to_string()]);
    command.args(kinds).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

/// What comes out, line by line, of a host that ends well.
fn filtered(kinds: &[&str], input: &str) -> Vec<String> {
    filtered_within(LONG_SECONDS, kinds, input)
}

fn filtered_within(seconds: u32, kinds: &[&str], input: &str) -> Vec<String> {
    let Output { status, stdout, stderr } = host(seconds, kinds, input);
    assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn texts_go_through_all_plug_ins() {
    assert_eq!(filtered(&["upper", "reverse"], "abc\ndef\n"), ["CBA", "FED"]);
}

#[test]
fn a_plug_in_that_makes_too_long_a_text_goes_on() {
    let long = "x".repeat(65_536);
    let lines = filtered(&["fragile"], &format!("{long}\na\n"));
    assert_eq!(lines.len(), 3, "{}", lines[0]);
    let said = &lines[0];
    assert!(said.starts_with("  fragile failed: ") && said.contains("beyond a limit"), "{said}");
    assert_eq!(lines[1..], [long, "a.".to_owned()]);
}

#[test]
fn what_a_plug_in_refuses_goes_on_as_it_was() {
    let lines = filtered(&["upper", "reverse"], "äb\n");
    assert_eq!(lines, ["  upper refused it: not ASCII", "bä"]);
}

#[test]
fn a_plug_in_that_crashes_is_started_again_and_at_last_switched_off() {
    let lines = filtered(&["fragile", "upper"], "a\n!\nb\n!\nc\n!\nd\n");
    let again = "  fragile has ended: started again";
    let off = "  fragile has ended: switched off, it was started 3 times";
    let left_out = "  fragile is switched off";
    assert_eq!(lines, ["A.", again, "!", "B.", again, "!", "C.", off, "!", left_out, "D"]);
}

#[test]
fn a_plug_in_that_panics_goes_on() {
    let lines = filtered(&["fragile"], "#\na\n");
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(
        lines[0].starts_with("  fragile failed: ") && lines[0].contains("panicked"),
        "{lines:?}"
    );
    assert_eq!(lines[1..], ["#", "a."]);
}

#[test]
fn a_plug_in_that_hangs_is_left_alone_and_then_started_again() {
    check_late(&["stuck", "upper"], "a?\nb\nc?\nd\n", |seconds| {
        let late = format!("  stuck did not answer within {seconds}s");
        let again = "  stuck did not answer 2 times: started again";
        [&late, "A?", "B", again, "C?", "D"].map(str::to_owned).into()
    });
}

/// What comes out where a plug-in is late, by how long it is waited for.
#[track_caller]
fn check_late(kinds: &[&str], input: &str, wanted: impl Fn(u32) -> Vec<String>) {
    let mut tried = Vec::new();
    for seconds in SECONDS {
        tried.push((filtered_within(seconds, kinds, input), wanted(seconds)));
        if tried.last().is_some_and(|(lines, wanted)| lines == wanted) {
            return;
        }
    }
    panic!("{tried:?}");
}

#[test]
fn a_plug_in_that_ends_before_it_can_be_called_is_told() {
    let Output { status, stderr, .. } = host(LONG_SECONDS, &["nonsense"], "");
    let said = String::from_utf8(stderr).unwrap();
    assert!(!status.success());
    assert!(said.contains("no plug-in is called nonsense"), "{said}");
    assert!(said.contains("when the process that it waited for ended (exit status: 1)"), "{said}");
}

#[test]
fn the_readme_shows_what_comes_out() {
    const COMMAND: &str = "| target/debug/plugins-host upper fragile stuck\n";
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md"));
    let readme = readme.unwrap();
    let (_, shown) = readme.split_once(COMMAND).unwrap();
    let (shown, _) = shown.split_once("\n```").unwrap();
    check_late(&["upper", "fragile", "stuck"], "hello\nstop!\nwhy?\nend\n", |seconds| {
        let within = format!("within {seconds}s");
        shown.lines().map(|line| line.replace("within 3s", &within)).collect()
    });
}
