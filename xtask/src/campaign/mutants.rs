//! `cargo xtask campaign --mutants`: bugs that a reviewer would fear, planted one at a time. Each
//! must be caught by the row or the test that it names, and for the reason that it names: a suite
//! that no bug fails proves nothing (T32).
//!
//! A mutant is a file of `testkit/mutants`: three lines, and the change that plants the bug.
//!
//! ```text
//! bug: the client that sleeps for a reply is not woken
//! caught by: row T7                  or  test -p testkit --test waits
//! says: p99
//! --- a/crates/…
//! ```
//!
//! Bugs are planted in a copy of the tree, below `target`, which has a target directory of its own:
//! only what a bug touches is compiled again.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use super::PROFILE;
use crate::step::{self, Failed};

/// Seconds that a row or a test may take over a bug.
const CHECK_S_MAX: u32 = 60;

/// Rows that take long, and how long they may take over a bug.
const LONG: &[&str] = &["T1"];
const LONG_S_MAX: u32 = 180;

/// Rows that build what they run by themselves, and how long they may take.
const BUILDING: &[&str] = &["T12", "T16", "T17"];
const BUILDING_S_MAX: u32 = 1_800;

/// What `timeout` says of a program that did not end.
const TIMED_OUT: i32 = 124;

/// A planted bug.
#[derive(Debug, PartialEq, Eq)]
struct Mutant {
    /// Its number, which its file's name begins with.
    number: String,
    bug: String,
    check: Check,
    /// What the failure says.
    says: String,
}

/// What must catch a bug.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Check {
    /// A row of the campaign.
    Row(String),
    /// `cargo test` with these arguments.
    Test(Vec<String>),
}

/// How a check ended.
struct Ran {
    has_passed: bool,
    /// What it printed on standard output, and on standard error.
    output: String,
    errors: String,
}

/// A copy of the tree that bugs are planted in.
struct Copy {
    tree: PathBuf,
    target: PathBuf,
}

/// Plants the chosen bugs, or all, and counts those that are caught.
pub fn run(root: &Path, only: &[String]) -> Result<(), Failed> {
    let chosen = choose(read(root)?, only)?;
    let copy = Copy::of(root).map_err(|error| Failed(format!("no copy of the tree: {error}")))?;
    let checks: BTreeSet<_> = chosen.iter().map(|mutant| mutant.check.clone()).collect();
    for check in &checks {
        let ran = copy.run(check)?;
        if !ran.has_passed {
            let said = last_lines(&ran.said());
            return Err(Failed(format!("{check} fails without a bug:\n{said}")));
        }
        eprintln!("    {check} passes without a bug");
    }
    let mut survivors = Vec::new();
    for mutant in &chosen {
        if !copy.catches(root, mutant)? {
            survivors.push(mutant.number.as_str());
        }
    }
    println!("{} of {} caught", chosen.len() - survivors.len(), chosen.len());
    match survivors.is_empty() {
        true => Ok(()),
        false => Err(Failed(format!("not caught: {}", survivors.join(" ")))),
    }
}

fn choose(all: Vec<Mutant>, only: &[String]) -> Result<Vec<Mutant>, Failed> {
    if let Some(unknown) = only.iter().find(|id| !all.iter().any(|each| each.number == **id)) {
        let known: Vec<_> = all.iter().map(|each| each.number.as_str()).collect();
        return Err(Failed(format!("mutant {unknown} is none of {}", known.join(" "))));
    }
    let is_chosen = |each: &Mutant| only.is_empty() || only.contains(&each.number);
    let chosen: Vec<_> = all.into_iter().filter(is_chosen).collect();
    match chosen.is_empty() {
        true => Err(Failed("there is no mutant".to_owned())),
        false => Ok(chosen),
    }
}

/// The mutants there are, by number.
fn read(root: &Path) -> Result<Vec<Mutant>, Failed> {
    let directory = root.join("testkit/mutants");
    let lost = |error: io::Error| Failed(format!("{}: {error}", directory.display()));
    let mut paths = Vec::new();
    for entry in fs::read_dir(&directory).map_err(lost)? {
        paths.push(entry.map_err(lost)?.path());
    }
    paths.sort();
    let read = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(path).map_err(lost)?;
        parse(&name, &text).map_err(|reason| Failed(format!("{name}: {reason}")))
    };
    paths.iter().map(read).collect()
}

fn parse(name: &str, text: &str) -> Result<Mutant, String> {
    let (number, rest) = name.split_once('-').ok_or("the name is not NN-what.patch")?;
    if number.parse::<u32>().is_err() || !rest.ends_with(".patch") {
        return Err("the name is not NN-what.patch".to_owned());
    }
    let field = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key));
        line.map(str::trim).filter(|value| !value.is_empty()).ok_or(format!("no line `{key}`"))
    };
    let check = field("caught by:")?;
    Ok(Mutant {
        number: number.to_owned(),
        bug: field("bug:")?.to_owned(),
        check: Check::of(check).ok_or(format!("`{check}` is neither a row nor a test"))?,
        says: field("says:")?.to_owned(),
    })
}

impl Check {
    fn of(text: &str) -> Option<Check> {
        let mut words = text.split_whitespace().map(str::to_owned);
        let kind = words.next()?;
        let words: Vec<_> = words.collect();
        match (kind.as_str(), &words[..]) {
            ("row", [row]) => Some(Check::Row(row.clone())),
            ("test", [_, ..]) => Some(Check::Test(words)),
            _ => None,
        }
    }

    fn longest_s(&self) -> u32 {
        match self {
            Check::Row(row) if BUILDING.contains(&row.as_str()) => BUILDING_S_MAX,
            Check::Row(row) if LONG.contains(&row.as_str()) => LONG_S_MAX,
            _ => CHECK_S_MAX,
        }
    }
}

impl std::fmt::Display for Check {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Check::Row(row) => f.write_str(row),
            Check::Test(arguments) => write!(f, "cargo test {}", arguments.join(" ")),
        }
    }
}

impl Copy {
    /// Brings the copy up to date. What has not changed is not touched, so that it is not compiled
    /// again.
    fn of(root: &Path) -> io::Result<Copy> {
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), Into::into);
        let place = target.join("mutants");
        let copy = Copy { tree: place.join("tree"), target: place.join("target") };
        fs::create_dir_all(&copy.tree)?;
        let files = tracked(root)?;
        for file in &files {
            replicate(&root.join(file), &copy.tree.join(file))?;
        }
        for entry in walkdir::WalkDir::new(&copy.tree) {
            let entry = entry?;
            let path = entry.path().strip_prefix(&copy.tree).expect("below where it was found");
            if !entry.file_type().is_dir() && !files.contains(path) {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(copy)
    }

    /// Plants one bug, looks whether it is caught, and takes it out again.
    fn catches(&self, root: &Path, mutant: &Mutant) -> Result<bool, Failed> {
        let begin = Instant::now();
        let patch = patch_of(root, mutant)?;
        self.apply(&patch, &[])?;
        let ran = self.run(&mutant.check);
        self.apply(&patch, &["--reverse"])?;
        let ran = ran?;
        let verdict = match (ran.has_passed, ran.failure(&mutant.check).contains(&mutant.says)) {
            (false, true) => "caught",
            (false, false) => "NOT CAUGHT, fails for another reason",
            (true, _) => "NOT CAUGHT",
        };
        let Mutant { number, bug, check, .. } = mutant;
        println!("M{number}   {bug}: {verdict}: {check} [{:.1} s]", begin.elapsed().as_secs_f64());
        if verdict != "caught" {
            println!("{}", last_lines(&ran.said()));
            println!("      again: cargo xtask campaign --mutants --only {number}");
        }
        Ok(verdict == "caught")
    }

    fn apply(&self, patch: &Path, more: &[&str]) -> Result<(), Failed> {
        let mut command = Command::new("git");
        // The copy lies in a work tree, and is none.
        command.env("GIT_CEILING_DIRECTORIES", self.tree.parent().expect("below target"));
        command.current_dir(&self.tree).arg("apply").args(more).arg(patch);
        match command.status() {
            Ok(status) if status.success() => Ok(()),
            Ok(_) => Err(Failed(format!("{} does not apply any more", patch.display()))),
            Err(error) => Err(Failed(format!("git: {error}"))),
        }
    }

    /// Compiles a check, which must succeed, and runs it.
    fn run(&self, check: &Check) -> Result<Ran, Failed> {
        let built = match check {
            Check::Row(_) => {
                let build = ["build", "--quiet", "--profile", PROFILE, "-p", "testkit"];
                self.cargo(&build).args(["--bin", "campaign"]).output()
            }
            Check::Test(arguments) => {
                self.cargo(&["test", "--quiet", "--no-run"]).args(arguments).output()
            }
        };
        let built = built.map_err(|error| Failed(format!("cargo: {error}")))?;
        if !built.status.success() {
            let said = String::from_utf8_lossy(&built.stderr);
            return Err(Failed(format!("{check} does not compile:\n{}", last_lines(&said))));
        }
        let mut command = Command::new("timeout");
        let longest_s = check.longest_s();
        command.arg("--kill-after=5").arg(longest_s.to_string()).current_dir(&self.tree);
        command.env("CARGO_TARGET_DIR", &self.target).stdin(Stdio::null());
        match check {
            Check::Row(row) => {
                let program = self.target.join(PROFILE).join("campaign");
                command.arg(program).args(["--only", row]);
            }
            Check::Test(arguments) => {
                command.arg(cargo_program()).arg("test").args(arguments);
            }
        }
        let output = command.output().map_err(|error| Failed(format!("timeout: {error}")))?;
        let [said, mut errors] = [&output.stdout, &output.stderr]
            .map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        if output.status.code() == Some(TIMED_OUT) {
            errors.push_str(&format!("\ndid not end in {longest_s} s\n"));
        }
        let ran = Ran { has_passed: output.status.success(), output: said, errors };
        if ran.has_passed && !has_checked(check, &ran.output) {
            return Err(Failed(format!("{check} checked nothing:\n{}", last_lines(&ran.said()))));
        }
        Ok(ran)
    }

    fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = step::cargo(&self.tree, arguments);
        command.env("CARGO_TARGET_DIR", &self.target);
        command
    }
}

impl Ran {
    fn said(&self) -> String {
        format!("{}{}", self.output, self.errors)
    }

    /// What it says of what failed, and nothing of what passed beside that.
    fn failure(&self, check: &Check) -> String {
        let failed = match check {
            Check::Row(_) => of_failed_row(&self.output),
            Check::Test(_) => of_failed_tests(&self.output),
        };
        match failed.is_empty() {
            // It died, or was ended: no test says that it failed.
            true => of_last_program(&self.errors),
            false => failed,
        }
    }
}

/// What a row that failed says was wrong: the line of the row has figures that are not.
fn of_failed_row(output: &str) -> String {
    let lines = output.lines().skip_while(|line| !line.contains(": FAILED: ")).skip(1);
    lines.take_while(|line| !line.starts_with("      again: ")).map(on_a_line).collect()
}

/// Names of tests that failed, and what they printed.
fn of_failed_tests(output: &str) -> String {
    let mut is_failure = false;
    let is_wanted = |line: &&str| {
        is_failure = match *line {
            "failures:" => true,
            line if line.starts_with("test result: ") => false,
            _ => is_failure,
        };
        is_failure || line.starts_with("test ") && line.ends_with(" ... FAILED")
    };
    output.lines().filter(is_wanted).map(on_a_line).collect()
}

/// What was complained of since cargo ran the program that was its last: the next one it does not
/// run. Of a row, all of it.
fn of_last_program(errors: &str) -> String {
    let is_begin = |line: &str| line.trim_start().starts_with("Running ");
    let lines: Vec<_> = errors.lines().collect();
    let begin = lines.iter().rposition(|line| is_begin(line)).map_or(0, |at| at + 1);
    lines[begin..].iter().copied().map(on_a_line).collect()
}

fn on_a_line(line: &str) -> String {
    format!("{line}\n")
}

/// Whether something that passed has checked anything.
fn has_checked(check: &Check, said: &str) -> bool {
    match check {
        Check::Row(_) => said.lines().map(super::rows_passed).sum::<usize>() > 0,
        Check::Test(_) => said.lines().map(step::tests_passed).sum::<usize>() > 0,
    }
}

fn cargo_program() -> std::ffi::OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

fn patch_of(root: &Path, mutant: &Mutant) -> Result<PathBuf, Failed> {
    let entries = fs::read_dir(root.join("testkit/mutants")).into_iter().flatten().flatten();
    let prefix = format!("{}-", mutant.number);
    let mut paths =
        entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix));
    let path = paths.next().map(|entry| entry.path());
    path.ok_or_else(|| Failed(format!("mutant {} has gone", mutant.number)))
}

/// The files that belong to the tree, whether they are committed yet or not.
fn tracked(root: &Path) -> io::Result<BTreeSet<PathBuf>> {
    let mut command = Command::new("git");
    command.current_dir(root);
    command.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let listed = command.output()?;
    let names = String::from_utf8_lossy(&listed.stdout).into_owned();
    let names = names.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from);
    let files: BTreeSet<_> =
        names.filter(|name| root.join(name).symlink_metadata().is_ok()).collect();
    match files.is_empty() {
        true => Err(io::Error::other("git lists no file")),
        false => Ok(files),
    }
}

/// Makes one file or link the same as another, if it is not.
fn replicate(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to.parent().expect("a file has a directory"))?;
    if from.is_symlink() {
        let leads_to = fs::read_link(from)?;
        if fs::read_link(to).is_ok_and(|there| there == leads_to) {
            return Ok(());
        }
        // There may have been something else, or nothing.
        let _ = fs::remove_file(to);
        return std::os::unix::fs::symlink(leads_to, to);
    }
    if fs::read(to).is_ok_and(|there| fs::read(from).is_ok_and(|here| here == there)) {
        return Ok(());
    }
    fs::copy(from, to).map(|_| ())
}

fn last_lines(said: &str) -> String {
    let lines: Vec<_> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    let from = lines.len().saturating_sub(12);
    lines[from..].iter().map(|line| format!("      {line}\n")).collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "bug: lost\ncaught by: test -p testkit --test waits\nsays: panicked\n--- a\n";

    #[test]
    fn a_mutant_says_what_must_catch_it_and_what_that_says() {
        let mutant = parse("07-lost.patch", TEXT).unwrap();
        assert_eq!(mutant.number, "07");
        assert_eq!(mutant.check.to_string(), "cargo test -p testkit --test waits");
        assert_eq!(mutant.says, "panicked");
    }

    #[test]
    fn a_mutant_that_says_too_little_is_refused() {
        assert!(parse("lost.patch", TEXT).is_err());
        assert!(parse("07-lost", TEXT).is_err());
        assert!(parse("07-lost.patch", &TEXT.replace("says: panicked", "says:")).is_err());
        assert!(parse("07-lost.patch", &TEXT.replace("test -p", "luck -p")).is_err());
    }

    #[test]
    fn a_check_that_ran_nothing_has_not_passed() {
        let test = Check::Test(vec!["-p".to_owned()]);
        assert!(has_checked(&test, "test result: ok. 1 passed; 0 failed"));
        assert!(!has_checked(&test, "test result: ok. 0 passed; 0 failed"));
        let row = Check::Row("T7".to_owned());
        assert!(has_checked(&row, "T7    hostile peers: passed: 52 scripts [9.1 s]"));
        assert!(!has_checked(&row, "T7    hostile peers: skipped: no strace"));
    }

    fn failure(check: &str, output: &str, errors: &str) -> String {
        let (output, errors) = (output.to_owned(), errors.to_owned());
        Ran { has_passed: false, output, errors }.failure(&Check::of(check).unwrap())
    }

    #[test]
    fn of_tests_those_that_failed_are_heard_and_no_others() {
        let output = "running 2 tests\ntest it_is_told ... ok\ntest it_is_lost ... FAILED\n\n\
                      failures:\n\n---- it_is_lost stdout ----\nnobody woke\n\n\
                      failures:\n    it_is_lost\n\ntest result: FAILED. 1 passed; 1 failed\n";
        let errors = "     Running tests/it_is_told.rs\nerror: test failed, it_is_told\n";
        let heard = failure("test -p it", output, errors);
        assert!(heard.contains("it_is_lost ... FAILED") && heard.contains("nobody woke"));
        assert!(!heard.contains("it_is_told"), "{heard}");
        assert!(!heard.contains("1 passed"), "{heard}");
    }

    #[test]
    fn of_tests_that_died_the_last_program_is_heard() {
        let errors = "     Running tests/told.rs\nall is told\n     Running tests/lost.rs\n\
                      memory was lost\n  process didn't exit successfully (signal: 11)\n";
        let heard = failure("test -p it", "test it_is_told ... ok\n", errors);
        assert!(heard.contains("memory was lost") && heard.contains("signal: 11"), "{heard}");
        assert!(!heard.contains("told"), "{heard}");
    }

    #[test]
    fn of_a_row_what_was_wrong_is_heard_and_no_figure() {
        let output = "T7    peers: FAILED: 52 scripts, honest p99 1.1 (limit 2) [9.1 s]\n\
                      \x20     sparse: still bound\n      twice\n\
                      \x20     again: cargo xtask campaign --only T7\n";
        let heard = failure("row T7", output, "    Finished p99\n");
        assert_eq!(heard, "      sparse: still bound\n      twice\n");
        let heard = failure("row T7", "", "thread 'main' panicked at it\n");
        assert_eq!(heard, "thread 'main' panicked at it\n");
    }

    #[test]
    fn a_mutant_that_there_is_not_is_refused() {
        let all = || vec![parse("07-lost.patch", TEXT).unwrap()];
        assert_eq!(choose(all(), &["07".to_owned()]).unwrap(), all());
        let refused = choose(all(), &["08".to_owned()]).unwrap_err();
        assert_eq!(refused.0, "mutant 08 is none of 07");
        assert!(choose(Vec::new(), &[]).is_err());
    }

    #[test]
    fn the_mutants_that_there_are_can_be_read_and_have_numbers_of_their_own() {
        let all = read(&step::root()).unwrap();
        let numbers: BTreeSet<_> = all.iter().map(|mutant| &mutant.number).collect();
        assert_eq!(numbers.len(), all.len());
    }

    #[test]
    fn the_mutants_that_there_are_apply() {
        let root = step::root();
        let all = read(&root).unwrap();
        let is_stale = |mutant: &&Mutant| {
            let mut git = Command::new("git");
            git.current_dir(&root).args(["apply", "--check"]);
            !git.arg(patch_of(&root, mutant).unwrap()).status().unwrap().success()
        };
        let stale: Vec<_> = all.iter().filter(is_stale).map(|mutant| &mutant.number).collect();
        println!("{} patches", all.len());
        assert!(stale.is_empty(), "{stale:?} do not apply any more");
        assert!(!all.is_empty());
    }
}
