//! That the programs of the matrix have run under the documented list of system calls, and that a
//! call which is not on it would have been found.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use confined::Kind;

use super::language::{Language, Programs, built};
use crate::python;
use crate::step::Failed;

/// The record of the programs that were started, in the directory of their names.
pub const RECORD: &str = "confined";

/// How many processes have confined themselves.
///
/// Fails if one that was started has not, if one has made a call that is not listed, if there were
/// none, and if one of a kind of theirs is not found that makes such a call.
pub fn judge(
    root: &Path,
    names: &Path,
    programs: &BTreeMap<Language, Programs>,
) -> Result<usize, Failed> {
    for kind in Kind::ALL {
        if programs.keys().any(|language| language.kind() == kind) {
            stray(kind, root, names)?;
        }
    }
    confined::judge(&names.join(RECORD)).map_err(Failed)
}

/// A program of a kind, and a call that it makes, which is not on its list.
fn straying(kind: Kind, root: &Path) -> (Command, &'static str) {
    match kind {
        // Every machine has it, and it is for that.
        Kind::Compiled => (Command::new("uname"), "uname"),
        Kind::Python => {
            let mut command = Command::new(python::interpreter(root));
            command.args(["-c", "import os; os.chdir('/')"]);
            (command, "chdir")
        }
    }
}

/// Has one stray, which has to be found by the name of its call.
fn stray(kind: Kind, root: &Path, names: &Path) -> Result<(), Failed> {
    let record = names.join(format!("strayed-{}", kind.name()));
    let (mut command, call) = straying(kind, root);
    let started = confined::confine(&mut command, kind, &built(root), &record);
    let ended = started.and_then(|()| command.output());
    let ended = ended.map_err(|error| Failed(format!("{command:?} cannot be run: {error}")))?;
    let said = String::from_utf8_lossy(&ended.stderr);
    let judged = confined::judge(&record);
    let is_found = |said: &str| said.contains(&format!("the system call {call} is not on"));
    match &judged {
        Err(wrong) if is_found(wrong) && is_found(&said) && !ended.status.success() => Ok(()),
        _ => Err(Failed(format!(
            "one strays by {call}, which is not listed, and is not found: {}, {said}{judged:?}",
            ended.status
        ))),
    }
}
