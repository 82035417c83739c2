//! Running another program as one step of a command, and counting what it checked.

use std::ffi::OsStr;
use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use cargo_metadata::Message;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Why a command of ours failed.
#[derive(Debug)]
pub struct Failed(pub String);

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The root of the workspace.
pub fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().expect("xtask stands in the workspace").to_path_buf()
}

/// The cargo that runs us, in `root`, with these arguments.
pub fn cargo<A: AsRef<OsStr>>(root: &Path, arguments: &[A]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.current_dir(root).args(arguments).stdin(Stdio::null());
    command
}

/// Runs `command`; `count` reads its standard output and says how many things were checked.
///
/// Fails if the program fails and if nothing was checked.
pub fn counted(
    mut command: Command,
    unit: &str,
    count: impl FnOnce(&mut dyn Read) -> usize,
) -> Result<(), Failed> {
    let line = shown(&command);
    eprintln!("==> {line}");
    let started = Instant::now();
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| Failed(format!("`{line}` did not start: {error}")))?;
    let mut output = child.stdout.take().expect("standard output is piped");
    let checked = count(&mut output);
    let status = child.wait().map_err(|error| Failed(format!("`{line}` was lost: {error}")))?;
    if !status.success() {
        return Err(Failed(format!("`{line}` failed ({status})")));
    }
    if checked == 0 {
        return Err(Failed(format!("`{line}` checked no {unit}")));
    }
    eprintln!("    {checked} {unit}, {:.1} s: {line}", started.elapsed().as_secs_f64());
    Ok(())
}

/// Says that a gate did nothing for want of something. CI has everything: there it fails.
pub fn lacking(what: &str) -> Result<(), Failed> {
    println!("{}", lacking::excuse(lacking::is_ci(), what).map_err(Failed)?);
    Ok(())
}

/// Counts the workspace's own targets in cargo's JSON messages.
pub fn targets_of<'a>(root: &'a Path) -> impl FnOnce(&mut dyn Read) -> usize + 'a {
    move |output| {
        Message::parse_stream(BufReader::new(output))
            .filter_map(Result::ok)
            .filter(|message| match message {
                Message::CompilerArtifact(artifact) => artifact.manifest_path.starts_with(root),
                _ => false,
            })
            .count()
    }
}

/// How many of the programs that wait for another most of their time run at once on a processor.
const WAITING: usize = 2;

/// Threads for what runs such programs.
pub fn waiting() -> Result<ThreadPool, Failed> {
    let threads = WAITING * rayon::current_num_threads();
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| Failed(format!("no threads: {error}")))
}

/// Passes lines on to our standard output and sums what `count` finds in each.
pub fn summed(count: impl Fn(&str) -> usize) -> impl FnOnce(&mut dyn Read) -> usize {
    move |output| {
        let mut sum = 0;
        let mut lines = BufReader::new(output);
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line).is_ok_and(|bytes| bytes > 0) {
            // A closed standard output is no reason to stop counting.
            let _ = std::io::stdout().write_all(&line);
            sum += count(String::from_utf8_lossy(&line).trim_end());
            line.clear();
        }
        sum
    }
}

/// How many tests a line of `cargo test` says have passed.
pub fn tests_passed(line: &str) -> usize {
    let Some(rest) = line.strip_prefix("test result: ok. ") else {
        return 0;
    };
    rest.split(' ').next().and_then(|count| count.parse().ok()).unwrap_or(0)
}

fn shown(command: &Command) -> String {
    let mut words = vec!["cargo".to_owned()];
    words.extend(command.get_args().map(|word| word.to_string_lossy().into_owned()));
    let program = Path::new(command.get_program());
    if program.file_stem() != Some(OsStr::new("cargo")) {
        words[0] = program.to_string_lossy().into_owned();
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_checks_nothing_fails() {
        let failed = counted(Command::new("true"), "files", |_| 0).unwrap_err();
        assert_eq!(failed.0, "`true` checked no files");
    }

    #[test]
    fn a_step_whose_program_fails_fails() {
        let failed = counted(Command::new("false"), "files", |_| 1).unwrap_err();
        assert!(failed.0.starts_with("`false` failed"), "{failed}");
    }

    #[test]
    fn passed_tests_are_counted() {
        let line = "test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured";
        assert_eq!(tests_passed(line), 12);
        assert_eq!(tests_passed("running 12 tests"), 0);
    }
}
