//! A check that does nothing for want of something passes, and nobody sees that it has checked
//! nothing: libtest hides what passing tests print. So every check says by [`lacking`] what it
//! lacks, and CI, which is to have everything, fails there, but for what is named here.

#![forbid(unsafe_code)]

use std::io;
use std::process::{Command, Stdio};

/// What CI may lack, too, as checks call it: what takes rights over the whole machine, which a
/// container does not have, and what is the machine's own: the compiler that committed assembly is
/// of, and what its kernel was built with.
pub const MAY_LACK: [&str; 8] = [
    "gcc 12.2.0",
    "hugetlbfs",
    "a control group",
    "a control group that freezes",
    "a memory control group",
    "a pid namespace",
    "a time namespace",
    "the right to mount a file system",
];

/// Whether this is CI, which is to have everything else.
pub fn is_ci() -> bool {
    std::env::var_os("CI").is_some()
}

/// What a check says that does nothing for want of this; it has failed where that is an error.
pub fn excuse(is_ci: bool, what: &str) -> Result<String, String> {
    match is_ci && !MAY_LACK.contains(&what) {
        true => Err(format!("CI has to have {what}")),
        false => Ok(format!("skipped: this machine lacks {what}")),
    }
}

/// Says that a test does nothing for want of something. What it lacks is to be known, not to be
/// concluded from the failure of what is tested.
///
/// # Panics: this is CI, and has to have it.
#[track_caller]
pub fn lacking(what: &str) {
    match excuse(is_ci(), what) {
        Ok(excuse) => eprintln!("{excuse}"),
        Err(failure) => panic!("{failure}"),
    }
}

/// Whether the kernel is older than this version, and so has not what came with it.
///
/// # Panics: it does not say which it is.
pub fn kernel_is_before(major: u32, minor: u32) -> bool {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").expect("its release");
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map_while(|n| n.parse().ok());
    let found = numbers.next().zip(numbers.next()).expect("a version of two numbers");
    found < (major, minor)
}

/// What an environment of Python's is made with, and says if it cannot be.
const ASKED: &str = r#"
import sys
if sys.version_info < (3, 11):
    sys.exit(print("python3 of 3.11 or later: this one is", sys.version.split()[0]))
try:
    import venv, ensurepip
except ImportError as error:
    print("the module", error.name, "of python3, which is in python3-venv")
"#;

/// What is missing to make an environment of Python's.
pub fn lack_of_python(python: &str) -> Option<String> {
    let mut command = Command::new(python);
    let output = command.args(["-c", ASKED]).stdin(Stdio::null()).stderr(Stdio::null()).output();
    match output {
        Ok(output) if output.status.success() => {
            let said = String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
            Some(said).filter(|said| !said.is_empty())
        }
        _ => Some(format!("{python} of 3.11 or later")),
    }
}

/// The name of a compiler, or of what else says its version, if it is not there.
pub fn lack_of(program: &str) -> Option<String> {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match command.status() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Some(program.to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_fails_in_ci_alone() {
        assert_eq!(excuse(true, "cats").unwrap_err(), "CI has to have cats");
        assert_eq!(excuse(false, "cats").unwrap(), "skipped: this machine lacks cats");
    }

    #[test]
    fn a_program_that_is_not_there_is_what_is_missing() {
        let wanted = "a-python-that-is-not-there of 3.11 or later";
        assert_eq!(lack_of_python("a-python-that-is-not-there").as_deref(), Some(wanted));
        assert_eq!(
            lack_of("a-compiler-that-is-not-there").unwrap(),
            "a-compiler-that-is-not-there"
        );
        assert_eq!(lack_of("rustc"), None);
    }

    #[test]
    fn what_ci_may_lack_is_excused_by_its_whole_name() {
        let name = MAY_LACK[0];
        assert_eq!(excuse(true, name).unwrap(), format!("skipped: this machine lacks {name}"));
        assert!(excuse(true, &name[..name.len() - 1]).is_err());
    }
}
