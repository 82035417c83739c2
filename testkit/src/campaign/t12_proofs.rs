//! T12: what `testkit/proofs` claims of the arithmetic on peers' words, of layouts, shares and
//! times is proven for all values, by angr and Z3 over the code as it is compiled; claims that are
//! not true are refuted.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde::Deserialize;

use super::Setup;
use super::nightly;
use super::report::{Report, Stopped};

/// What proves, and what it needs in versions that it works with.
const TOOLS: [&str; 3] = ["angr==9.2.213", "bitstring==4.3.*", "pycparser==3.0"];

/// Whose code is followed. Another processor's has other flags to be wrong about.
const ARCHITECTURE: &str = "x86_64";

/// Longest that all of it may take (RELIABILITY 6).
const LIMIT: Duration = Duration::from_secs(20 * 60);

/// What is said of one claim.
#[derive(Debug, Deserialize)]
struct Said {
    claim: String,
    /// Ways through it, if all were followed.
    ways: Option<u64>,
    /// Values for which it is not true.
    refuted_by: Option<String>,
    /// Why nothing is proven.
    unknown: Option<String>,
    seconds: f64,
}

/// A claim, and whether it is true.
type Claimed = (String, bool);

/// Proves all claims.
pub fn run(setup: &Setup) -> Result<Report, Stopped> {
    if std::env::consts::ARCH != ARCHITECTURE {
        return Err(Stopped::Lacking(format!("an {ARCHITECTURE} processor")));
    }
    let target = nightly::target(setup, "proofs");
    let python = environment(&target)?;
    let program = build(setup, &target)?;
    let claimed = claims(&program)?;
    let begin = Instant::now();
    let mut command = Command::new(python);
    command.arg(setup.root.join("testkit/proofs/prove.py")).arg(&program);
    let output = command.output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        return Err(format!("{said}{}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let said: Result<Vec<Said>, _> = said.lines().map(serde_json::from_str).collect();
    let said = said.map_err(|error| format!("prove.py does not speak JSON: {error}"))?;
    let mut report = Report::of("claims");
    judge(&claimed, &said, &mut report);
    if let Some(longest) = said.iter().max_by(|one, other| one.seconds.total_cmp(&other.seconds)) {
        report.figure(format!("the longest took {:.0} s", longest.seconds));
    }
    report.at_most("all took", begin.elapsed().as_secs_f64(), LIMIT.as_secs_f64(), "s");
    Ok(report)
}

/// Holds what was said against what is claimed: each claim counts, if it was decided rightly.
fn judge(claimed: &[Claimed], said: &[Said], report: &mut Report) {
    let mut ways = 0;
    for (name, is_true) in claimed {
        let Some(found) = said.iter().find(|said| said.claim == *name) else {
            report.violation(format!("nothing is said of {name}"));
            continue;
        };
        match (is_true, found) {
            (true, Said { refuted_by: None, unknown: None, ways: Some(these), .. }) => {
                ways += these;
                report.count += 1;
            }
            (false, Said { refuted_by: Some(_), .. }) => report.count += 1,
            (true, Said { refuted_by: Some(values), .. }) => report.violation(format!(
                "{name} is not true: play it by `cargo run -p proofs {name} {values}`"
            )),
            (_, Said { unknown: Some(why), .. }) => {
                report.violation(format!("{name} was not decided: {why}"));
            }
            _ => report.violation(format!("{name} is not true, and was not refuted")),
        }
    }
    let untrue = claimed.iter().filter(|(_, is_true)| !is_true).count();
    report.figure(format!("{untrue} of them untrue, and {ways} ways through the others"));
}

/// The claims of the program.
fn claims(program: &Path) -> Result<Vec<Claimed>, Stopped> {
    let output = Command::new(program).output()?;
    let listed = String::from_utf8_lossy(&output.stdout).into_owned();
    let claim = |line: &str| {
        let (name, is_true) = line.split_once(' ')?;
        Some((name.to_owned(), is_true.parse().ok()?))
    };
    let claims: Option<Vec<Claimed>> = listed.lines().map(claim).collect();
    claims.ok_or_else(|| format!("claims are listed otherwise: {listed}").into())
}

/// The program as the campaign is compiled: an overflow panics, and what proves it knows its names.
fn build(setup: &Setup, target: &Path) -> Result<PathBuf, Stopped> {
    let mut command = Command::new("cargo");
    command.args(["build", "--quiet", "--profile", nightly::PROFILE, "--package", "proofs"]);
    command.current_dir(&setup.root).env("CARGO_TARGET_DIR", target);
    let output = command.output()?;
    match output.status.success() {
        true => Ok(target.join(nightly::PROFILE).join("proofs")),
        false => Err(format!("not built: {}", String::from_utf8_lossy(&output.stderr)).into()),
    }
}

/// Python with what proves, below `target`. What is there already needs no PyPI.
fn environment(target: &Path) -> Result<PathBuf, Stopped> {
    if let Some(lack) = lacking::lack_of_python("python3") {
        return Err(Stopped::Lacking(lack));
    }
    let place = target.join("environment");
    let python = place.join("bin/python");
    if !python.exists() {
        let made = Command::new("python3").args(["-m", "venv"]).arg(&place).status()?;
        if !made.success() {
            return Err(format!("no environment of Python's in {}", place.display()).into());
        }
    }
    let mut install = Command::new(&python);
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(TOOLS);
    match install.output()?.status.success() {
        true => Ok(python),
        false => Err(Stopped::Lacking(format!("{} of PyPI", TOOLS.join(", ")))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn violations(is_true: bool, said: &str) -> Vec<String> {
        let claimed = [("one".to_owned(), is_true)];
        let said: Vec<Said> =
            said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let mut report = Report::of("claims");
        judge(&claimed, &said, &mut report);
        assert_eq!(report.count, u64::from(report.violations.is_empty()));
        report.violations
    }

    #[test]
    fn a_true_claim_is_proven_and_one_that_is_not_is_refuted() {
        let proven = r#"{"claim": "one", "ways": 3, "said": 1, "played": 27, "seconds": 1.5}"#;
        let refuted = r#"{"claim": "one", "refuted_by": "07", "seconds": 1.5}"#;
        let unknown = r#"{"claim": "one", "unknown": "it calls abort", "seconds": 1.5}"#;
        assert_eq!(violations(true, proven), [""; 0]);
        assert_eq!(violations(false, refuted), [""; 0]);
        assert_eq!(
            violations(true, refuted),
            ["one is not true: play it by `cargo run -p proofs one 07`"]
        );
        assert_eq!(violations(false, proven), ["one is not true, and was not refuted"]);
        for is_true in [true, false] {
            assert_eq!(violations(is_true, unknown), ["one was not decided: it calls abort"]);
            assert_eq!(violations(is_true, ""), ["nothing is said of one"]);
        }
    }
}
