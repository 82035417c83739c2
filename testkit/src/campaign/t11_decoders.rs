//! T11: what decodes a peer's bytes, fed with what a fuzzer makes up that sees which branches it
//! reaches (libFuzzer), under AddressSanitizer. Beside them a decoder with a planted bug, which
//! must be found in the same time. The lines that were reached are counted while they are fed.

mod coverage;

use std::io;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::thread::ScopedJoinHandle;

use super::Setup;
use super::decoders::{DECODERS, Decoder, PLANTED, VARIABLE};
use super::nightly;
use super::report::{Report, Stopped};

/// How long each is fed.
const SECONDS: u32 = 45;
const SECONDS_AT_NIGHT: u32 = 7_200;

/// How many are fed at once.
const AT_ONCE: usize = 2;

/// How long one input may take, seconds.
const INPUT_S_MAX: u32 = 5;

/// Largest piece of memory that one input may have allocated: several times the largest segment of
/// the interface that is called.
const PIECE_MIB_MAX: u32 = 16;

/// Longest input: what is longer reaches no other branch.
const INPUT_BYTES_MAX: u32 = 4_096;

/// Inputs that each must have been fed.
const INPUTS_MIN: u64 = 500;

/// Of the decoders' lines, how many must have been reached, per cent. What a generated stub writes
/// counts among them, and is reached by nothing that a peer says.
const LINES_MIN: f64 = 95.0;

/// What the compiler puts in, for libFuzzer to see: which edges are taken, and what is compared;
/// and what counts lines.
const INSTRUMENTS: &str = "-Zsanitizer=address -Cpasses=sancov-module --cfg=fuzzing \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Cdebug-assertions -Cinstrument-coverage";

/// Lines of a complaint that are shown.
const COMPLAINTS: usize = 4;

/// The fuzzer, and where the counts of each run go.
struct Fuzzer<'s> {
    setup: &'s Setup,
    program: PathBuf,
    counts: tempfile::TempDir,
}

/// Builds, and feeds some at a time.
pub fn run(setup: &Setup) -> Result<Report, Stopped> {
    let mut report = Report::of("inputs");
    let program = built(setup)?;
    let fuzzer = Fuzzer { setup, program, counts: tempfile::tempdir()? };
    for (decoder, fed) in fuzzer.all_fed() {
        let fed = fed?;
        let complaints = String::from_utf8_lossy(&fed.stderr);
        if decoder.name == PLANTED.name {
            if !complaints.contains("the planted bug") {
                report.violation("the planted bug was not found");
            }
            continue;
        }
        let inputs = complaints.lines().find_map(inputs).unwrap_or(0);
        report.at_least(decoder.name, inputs as f64, INPUTS_MIN as f64, " inputs");
        report.count += inputs;
        if !fed.status.success() {
            let said = complaints.lines().filter(|line| is_complaint(line)).take(COMPLAINTS);
            let said = said.collect::<Vec<_>>().join("; ");
            report.violation(format!("{} ended with {}: {said}", decoder.name, fed.status));
        }
    }
    count_lines(&mut report, &fuzzer)?;
    report.figure("the packet exchange does not exist yet");
    Ok(report)
}

fn built(setup: &Setup) -> Result<PathBuf, Stopped> {
    let mut command = nightly::cargo(setup, "fuzz", "cargo")?;
    command.args(["build", "--quiet", "--manifest-path", "testkit/fuzz/Cargo.toml"]);
    command.args(["--target", nightly::TARGET]).env("RUSTFLAGS", INSTRUMENTS);
    // What build scripts count is nobody's business.
    command.env("LLVM_PROFILE_FILE", "/dev/null");
    let output = command.output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(nightly::target(setup, "fuzz").join(nightly::TARGET).join("debug/testkit-fuzz"))
}

/// Of the decoders' lines, those that were reached, and by name those that were not.
fn count_lines(report: &mut Report, fuzzer: &Fuzzer<'_>) -> Result<(), Stopped> {
    let tools = match coverage::Tools::find() {
        Ok(tools) => tools,
        Err(what) => {
            report.lacks(&what);
            return Ok(());
        }
    };
    let counted = tools.counted(&fuzzer.program, fuzzer.counts.path())?;
    let (reached, all) = (counted.reached(), counted.all());
    let share = 100.0 * reached as f64 / all as f64;
    report.at_least(&format!("of {all} lines of decoders"), share, LINES_MIN, " %");
    if share < LINES_MIN {
        counted
            .unreached()
            .iter()
            .for_each(|line| report.violation(format!("not reached: {line}")));
    }
    Ok(())
}

impl Fuzzer<'_> {
    /// Feeds all, and the planted one, some at a time.
    fn all_fed(&self) -> Vec<(&'static Decoder, io::Result<Output>)> {
        let waiting = Mutex::new(DECODERS.iter().chain([&PLANTED]));
        let next = || waiting.lock().expect("nobody panics with it").next();
        let feed = || {
            let fed = std::iter::from_fn(next).map(|decoder| (decoder, self.fed(decoder)));
            fed.collect::<Vec<_>>()
        };
        std::thread::scope(|threads| {
            let feeders: Vec<_> = (0..AT_ONCE).map(|_| threads.spawn(feed)).collect();
            let joined = |feeder: ScopedJoinHandle<'_, _>| feeder.join().expect("a feeder");
            feeders.into_iter().flat_map(joined).collect()
        })
    }

    /// Feeds one decoder until its time is over or it fails.
    fn fed(&self, decoder: &Decoder) -> io::Result<Output> {
        let directory = tempfile::tempdir()?;
        let seconds = if self.setup.is_nightly { SECONDS_AT_NIGHT } else { SECONDS };
        let mut command = Command::new(&self.program);
        // What a server keeps to its end is no leak.
        command.env("ASAN_OPTIONS", "detect_leaks=0").env(VARIABLE, decoder.name);
        let counts = self.counts.path().join(decoder.name).with_extension(coverage::EXTENSION);
        command.env("LLVM_PROFILE_FILE", counts);
        command.arg(format!("-max_total_time={seconds}")).arg(format!("-timeout={INPUT_S_MAX}"));
        command.arg(format!("-malloc_limit_mb={PIECE_MIB_MAX}"));
        command.arg(format!("-max_len={INPUT_BYTES_MAX}")).arg("-print_final_stats=1");
        // How near a comparison came counts as reached, too: the planted bug is not found without.
        command.arg("-use_value_profile=1");
        // 0 would be a seed of its own choice.
        command.arg(format!("-seed={}", self.setup.seed as u32 | 1));
        command.arg(format!("-artifact_prefix={}/", directory.path().display()));
        let found = directory.path().join("found");
        std::fs::create_dir(&found)?;
        for (number, seed) in (0..).zip((decoder.seeds)()) {
            std::fs::write(found.join(format!("seed-{number}")), seed)?;
        }
        command.arg(found).stdin(Stdio::null());
        command.output()
    }
}

/// How many inputs a line says there were.
fn inputs(line: &str) -> Option<u64> {
    line.strip_prefix("stat::number_of_executed_units:")?.trim().parse().ok()
}

fn is_complaint(line: &str) -> bool {
    ["panicked", "ERROR", "SUMMARY"].iter().any(|word| line.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_counted_where_they_are_named() {
        assert_eq!(inputs("stat::number_of_executed_units: 4711"), Some(4711));
        assert_eq!(inputs("stat::average_exec_per_sec:     12"), None);
    }
}
