//! Runs the program under test.

use std::process::{Command, Output};

/// The program with these arguments.
pub fn nearcall(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nearcall"));
    command.args(arguments).env("NO_COLOR", "1");
    command
}

/// What it came to: end code, standard output, standard error.
///
/// Comes back when everybody who inherited the two outputs has ended: no process is left behind.
pub fn outcome(command: &mut Command) -> (i32, String, String) {
    told(command.output().unwrap())
}

/// The same of a process that has ended. The code is -1 if a signal ended it.
pub fn told(output: Output) -> (i32, String, String) {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}
