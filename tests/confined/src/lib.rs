//! Programs of tests that run under the documented list of system calls: how they are started, and
//! what is known of them afterwards. `tests/confining` is what confines them.
//!
//! ```text
//! whoever starts one                     the process
//!   record: started
//!   LD_PRELOAD=libconfining.so  ──────▶  before `main`   record: confined
//!                                        a call that is not listed   record: strayed, and an end
//!   judge: as many confined as started, and none strayed
//! ```

#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;

/// The variable that says where its record is; whoever has it confines itself.
pub const RECORD: &str = "NEARCALL_CONFINED_RECORD";

/// The variable that says what it is, as [`Kind::name`] has it.
pub const KIND: &str = "NEARCALL_CONFINED_KIND";

/// What confines a process before its `main`, among what cargo has built.
pub const LIBRARY: &str = "libconfining.so";

/// What a record says of one that was started, that has confined itself, that has not because there
/// is a sanitizer in it, and that was caught.
const STARTED: &str = "started";
pub const CONFINED: &str = "confined";
pub const SANITIZED: &str = "sanitized";
pub const STRAYED: &str = "strayed";

/// What is confined: each kind does other things itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A program in Rust, C or C++.
    Compiled,
    /// One in Python, and so the interpreter.
    Python,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 2] = [Kind::Compiled, Kind::Python];

    /// What it is called where processes tell each other.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::Compiled => "compiled",
            Kind::Python => "python",
        }
    }

    /// The one that is called so.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Has a command start a program that is confined before its `main`, by [`LIBRARY`], which is in
/// this directory; it is to be started, once.
///
/// # Errors: the library is not there, or the record cannot be written.
pub fn confine(command: &mut Command, kind: Kind, built: &Path, record: &Path) -> io::Result<()> {
    let library = built.join(LIBRARY);
    // Of one that it does not find the loader complains, and goes on.
    fs::metadata(&library)?;
    append(record, &format!("{STARTED}\n"))?;
    command.env("LD_PRELOAD", library).env(RECORD, record).env(KIND, kind.name());
    // A trace of a panic is read from files, by calls that no procedure makes.
    command.env("RUST_BACKTRACE", "0");
    // Or gcc's, which is a library itself, wants to be the first.
    let mut options = std::env::var_os("ASAN_OPTIONS").unwrap_or_default();
    options.push(OsString::from(":verify_asan_link_order=0"));
    command.env("ASAN_OPTIONS", options);
    Ok(())
}

/// Adds a line to a record, at once.
///
/// # Errors: it cannot be written.
pub fn append(record: &Path, line: &str) -> io::Result<()> {
    File::options().create(true).append(true).open(record)?.write_all(line.as_bytes())
}

/// How many processes have confined themselves, of those that were started by this record and have
/// begun by now.
///
/// # Errors: one has not confined itself, one has made a call that is not listed, which it says, or
/// there were none.
pub fn judge(record: &Path) -> Result<usize, String> {
    let said = fs::read_to_string(record);
    let said = said.map_err(|error| format!("{}: {error}", record.display()))?;
    let count = |what: &str| said.lines().filter(|line| line.starts_with(what)).count();
    if count(STRAYED) > 0 {
        let strayed = said.lines().filter(|line| line.starts_with(STRAYED));
        let strayed = strayed.collect::<Vec<_>>().join("\n");
        return Err(format!("{}:\n{strayed}", record.display()));
    }
    match (count(STARTED), count(CONFINED)) {
        (0, _) => Err(format!("{}: nobody was started", record.display())),
        (started, confined) if started == confined + count(SANITIZED) => Ok(confined),
        (started, confined) => {
            let said = format!("{started} were started, and {confined} have confined themselves");
            Err(format!("{}: {said}", record.display()))
        }
    }
}

/// The same of all records of a directory together.
///
/// # Errors: as above, and there is no record.
pub fn judge_all(directory: &Path) -> Result<usize, String> {
    let failed = |error| format!("{}: {error}", directory.display());
    let records = fs::read_dir(directory).map_err(failed)?;
    let (mut confined, mut records_count) = (0, 0);
    for record in records {
        confined += judge(&record.map_err(failed)?.path())?;
        records_count += 1;
    }
    match records_count {
        0 => Err(format!("{}: nobody was started", directory.display())),
        _ => Ok(confined),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(said: &str) -> Result<usize, String> {
        let record =
            std::env::temp_dir().join(format!("confined-{}-{}", std::process::id(), said.len()));
        append(&record, said).unwrap();
        let judged = judge(&record);
        fs::remove_file(record).unwrap();
        judged
    }

    #[test]
    fn who_is_started_has_to_confine_itself() {
        assert_eq!(check("started\nconfined 7\nstarted\nconfined 8\n"), Ok(2));
        assert!(check("started\n").unwrap_err().contains(": 1 were started, and 0 have"));
        assert!(check("started\nstarted\nconfined 7\n").is_err());
    }

    #[test]
    fn who_has_a_sanitizer_is_not_counted() {
        assert_eq!(check("started\nconfined 7\nstarted\nsanitized 8\n"), Ok(1));
        assert_eq!(check("started\nsanitized 81\n"), Ok(0));
    }

    #[test]
    fn nobody_is_too_few() {
        assert!(check("").unwrap_err().ends_with("nobody was started"));
        assert!(judge(Path::new("/nowhere")).is_err());
    }

    #[test]
    fn records_of_a_directory_are_judged_each_and_added_up() {
        let directory = std::env::temp_dir().join(format!("confined-all-{}", std::process::id()));
        fs::create_dir(&directory).unwrap();
        let none = judge_all(&directory);
        append(&directory.join("one"), "started\nconfined 7\n").unwrap();
        append(&directory.join("two"), "started\nconfined 8\nstarted\nconfined 9\n").unwrap();
        let both = judge_all(&directory);
        append(&directory.join("two"), "started\n").unwrap();
        let one_less = judge_all(&directory);
        fs::remove_dir_all(&directory).unwrap();
        assert!(none.unwrap_err().ends_with("nobody was started"));
        assert_eq!(both, Ok(3));
        let told = one_less.unwrap_err();
        assert!(told.contains("/two: 3 were started, and 2 have"), "{told}");
        judge_all(Path::new("/nowhere")).unwrap_err();
    }

    #[test]
    fn who_strays_is_named() {
        let said = check("started\nconfined 7\nstrayed: the system call chdir\n");
        assert!(said.unwrap_err().contains("the system call chdir"));
    }

    #[test]
    fn without_what_confines_nobody_is_started() {
        let record = Path::new("/nowhere/record");
        let mut command = Command::new("true");
        confine(&mut command, Kind::Compiled, Path::new("/nowhere"), record).unwrap_err();
    }

    #[test]
    fn a_kind_is_found_by_its_name() {
        for kind in Kind::ALL {
            assert_eq!(Kind::of_name(kind.name()), Some(kind));
        }
        assert_eq!(Kind::of_name("ruby"), None);
    }
}
