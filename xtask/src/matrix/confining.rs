//! That the programs of the matrix in Rust, C and C++ have run under the documented list of system
//! calls, and that a call which is not on it would have been found.

use std::path::Path;
use std::process::Command;

use super::language::built;
use crate::step::Failed;

/// The record of the programs that were started, in the directory of their names.
pub const RECORD: &str = "confined";

/// A program that every machine has, and the call that it is for, which is on no list.
const STRAY: &str = "uname";

/// How many processes have confined themselves.
///
/// Fails if one that was started has not, if one has made a call that is not listed, if there were
/// none, and if one is not found that makes such a call.
pub fn judge(root: &Path, names: &Path) -> Result<usize, Failed> {
    stray(&built(root), names)?;
    confined::judge(&names.join(RECORD)).map_err(Failed)
}

/// Has one stray, which has to be found by the name of its call.
fn stray(built: &Path, names: &Path) -> Result<(), Failed> {
    let record = names.join("strayed");
    let mut command = Command::new(STRAY);
    let started = confined::confine(&mut command, built, &record);
    let ended = started.and_then(|()| command.output());
    let ended = ended.map_err(|error| Failed(format!("{STRAY} cannot be run: {error}")))?;
    let said = String::from_utf8_lossy(&ended.stderr);
    let judged = confined::judge(&record);
    let is_found = |said: &str| said.contains(&format!("the system call {STRAY} is not on"));
    match &judged {
        Err(wrong) if is_found(wrong) && is_found(&said) && !ended.status.success() => Ok(()),
        _ => Err(Failed(format!(
            "{STRAY} makes a call that is not listed, and is not found: {}, {said}{judged:?}",
            ended.status
        ))),
    }
}
