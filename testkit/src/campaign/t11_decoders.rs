//! T11: what decodes a peer's bytes, fed with what a fuzzer makes up that sees which branches it
//! reaches (libFuzzer), under AddressSanitizer. Beside them a decoder with a planted bug, which
//! must be found in the same time.

use std::path::Path;
use std::process::{Command, Output};

use super::Setup;
use super::decoders::{DECODERS, Decoder, PLANTED, VARIABLE};
use super::nightly;
use super::report::{Report, Stopped};

/// How long each is fed.
const SECONDS: u32 = 15;
const SECONDS_AT_NIGHT: u32 = 7_200;

/// How long one input may take, seconds.
const INPUT_S_MAX: u32 = 5;

/// Largest piece of memory that one input may have allocated: several times the largest segment of
/// the interface that is called.
const PIECE_MIB_MAX: u32 = 16;

/// Longest input: what is longer reaches no other branch.
const INPUT_BYTES_MAX: u32 = 4_096;

/// Inputs that each must have been fed.
const INPUTS_MIN: u64 = 500;

/// What the compiler puts in, for libFuzzer to see: which edges are taken, and what is compared.
const INSTRUMENTS: &str = "-Zsanitizer=address -Cpasses=sancov-module --cfg=fuzzing \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Cdebug-assertions";

/// Lines of a complaint that are shown.
const COMPLAINTS: usize = 4;

/// Builds, and feeds one after the other.
pub fn run(setup: &Setup) -> Result<Report, Stopped> {
    let mut report = Report::of("inputs");
    let mut command = nightly::cargo(setup, "fuzz", "cargo")?;
    command.args(["build", "--quiet", "--manifest-path", "testkit/fuzz/Cargo.toml"]);
    command.args(["--target", nightly::TARGET]).env("RUSTFLAGS", INSTRUMENTS);
    let output = command.output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let target = nightly::target(setup, "fuzz");
    let program = target.join(nightly::TARGET).join("debug/testkit-fuzz");
    for decoder in DECODERS {
        let fed = fed(setup, &program, decoder)?;
        let complaints = String::from_utf8_lossy(&fed.stderr);
        let inputs = complaints.lines().find_map(inputs).unwrap_or(0);
        report.at_least(decoder.name, inputs as f64, INPUTS_MIN as f64, " inputs");
        report.count += inputs;
        if !fed.status.success() {
            let said = complaints.lines().filter(|line| is_complaint(line)).take(COMPLAINTS);
            let said = said.collect::<Vec<_>>().join("; ");
            report.violation(format!("{} ended with {}: {said}", decoder.name, fed.status));
        }
    }
    let found = fed(setup, &program, &PLANTED)?;
    if !String::from_utf8_lossy(&found.stderr).contains("the planted bug") {
        report.violation("the planted bug was not found");
    }
    report.figure("generated decoders but of Effects, clients: not fed; lines: not counted");
    report.figure("the packet exchange does not exist yet");
    Ok(report)
}

/// Feeds one decoder until its time is over or it fails.
fn fed(setup: &Setup, program: &Path, decoder: &Decoder) -> Result<Output, Stopped> {
    let directory = tempfile::tempdir()?;
    let seconds = if setup.is_nightly { SECONDS_AT_NIGHT } else { SECONDS };
    let mut command = Command::new(program);
    // What a server keeps to its end is no leak.
    command.env("ASAN_OPTIONS", "detect_leaks=0").env(VARIABLE, decoder.name);
    command.arg(format!("-max_total_time={seconds}")).arg(format!("-timeout={INPUT_S_MAX}"));
    command.arg(format!("-malloc_limit_mb={PIECE_MIB_MAX}"));
    command.arg(format!("-max_len={INPUT_BYTES_MAX}")).arg("-print_final_stats=1");
    // How near a comparison came counts as reached, too: the planted bug is not found without.
    command.arg("-use_value_profile=1");
    // 0 would be a seed of its own choice.
    command.arg(format!("-seed={}", setup.seed as u32 | 1));
    command.arg(format!("-artifact_prefix={}/", directory.path().display()));
    let found = directory.path().join("found");
    std::fs::create_dir(&found)?;
    for (number, seed) in (0..).zip((decoder.seeds)()) {
        std::fs::write(found.join(format!("seed-{number}")), seed)?;
    }
    command.arg(found);
    Ok(command.output()?)
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
