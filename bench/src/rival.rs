//! Other people's ways to call: a program of its own, in a workspace of its own, so that nobody
//! compiles them who does not measure them.
//!
//! ```text
//! this program ── CASE WARM_UP BATCHES BATCH ──▶ client ◀── what is measured ──▶ server
//!              ◀──── ns ns ns … ────────────────
//!              ── calls CASE CALLS ────────────▶        for who counts them (`instructions`)
//!              ◀──── SERVER MARK MARK ──────────        number of the server's process, marks
//! ```
//!
//! Their client makes the calls, in a process of its own on the processor that ours run on; all
//! that crosses to here is how long they took.

use std::fmt;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use rustix::time::Timespec;
use serde::Deserialize;

use crate::child::{self, Failure};
use crate::instructions::Side;
use crate::statistics::{Plan, Samples};

/// Who can be asked for.
pub const NAMES: [&str; 6] =
    ["iceoryx2-poll", "iceoryx2-event", "tonic-uds", "capnp-uds", "tarpc-uds", "thrift-uds"];

/// Where the program's source stands.
const MANIFEST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/Cargo.toml");

/// One that does not answer for so long is taken for stuck.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(40);

/// A client and a server, or one program. Dropping it ends both.
pub struct Rival {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    version: String,
}

/// What cargo says about something that it has made.
#[derive(Deserialize)]
struct Artifact {
    executable: Option<PathBuf>,
}

/// Compiles a program of `bench/peers`, unless that was done before, and says where it is.
pub fn build(package: &str) -> Result<PathBuf, Failure> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "--release", "--locked", "--manifest-path", MANIFEST]);
    command.args(["--package", package, "--message-format", "json-render-diagnostics"]);
    let output = command.stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(format!("{package} cannot be built: cargo {}", output.status).into());
    }
    let text = String::from_utf8(output.stdout)?;
    let said = text.lines().filter_map(|line| serde_json::from_str::<Artifact>(line).ok());
    let mut programs = said.filter_map(|made| made.executable);
    programs.next_back().ok_or_else(|| format!("{package} has no program").into())
}

/// What is said of a client of ours for want of something that a machine has or has not: why it is
/// skipped. CI has everything.
pub fn excuse(lack: &str) -> Result<String, Failure> {
    Ok(lacking::excuse(lacking::is_ci(), lack)?)
}

/// Runs a compiler that makes `target`. What it says first is why there is none.
pub fn compile(command: &mut Command, target: &Path) -> Result<PathBuf, Failure> {
    let compiler = command.get_program().to_string_lossy().into_owned();
    let output = command.arg("-o").arg(target).output();
    let output = output.map_err(|error| format!("no `{compiler}`: {error}"))?;
    if output.status.success() {
        return Ok(target.to_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.lines().next().unwrap_or("it says nothing");
    Err(format!("`{compiler}` does not compile it: {said}").into())
}

impl Rival {
    /// Starts the client on processor `here` and the server on processor `there`.
    pub fn start(program: &Path, name: &str, here: u32, there: u32) -> Result<Rival, Failure> {
        let mut command = Command::new(program);
        command.args([name, &here.to_string(), &there.to_string()]);
        Rival::begin(command)
    }

    /// Starts a program that answers as clients do.
    pub fn begin(mut command: Command) -> Result<Rival, Failure> {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = process.stdin.take();
        let output = process.stdout.take().ok_or("a child has its output")?;
        let output = BufReader::new(output);
        let mut rival = Rival { process, input, output, version: String::new() };
        let line = rival.line()?;
        let version = line.strip_prefix("ready ").ok_or_else(|| format!("it said `{line}`"))?;
        rival.version = version.to_owned();
        Ok(rival)
    }

    /// Which version of it this is.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Has it do what the case of this name is about.
    pub fn measure(&mut self, case: &str, plan: Plan) -> Result<Samples, Failure> {
        let Plan { warm_up, batches, batch, .. } = plan;
        self.tell(format_args!("{case} {warm_up} {batches} {batch}"))?;
        samples_in(&self.line()?, plan)
    }

    /// The client's and the server's process, and their marks.
    pub fn sides(&mut self) -> Result<[Side; 2], Failure> {
        self.begin_calls("null", 0)?;
        let line = self.line()?;
        let numbers = line.split(' ').map(str::parse).collect::<Result<Vec<u64>, _>>();
        let Ok([server, server_mark, client_mark]) = numbers.as_deref() else {
            return Err(format!("it said `{line}` of where it is").into());
        };
        let client = Side { process: self.process.id(), mark: *client_mark };
        Ok([client, Side { process: u32::try_from(*server)?, mark: *server_mark }])
    }

    /// Has it make so many calls, without waiting for them.
    pub fn begin_calls(&mut self, case: &str, calls: u32) -> Result<(), Failure> {
        self.tell(format_args!("calls {case} {calls}"))
    }

    /// Waits until it has made them.
    pub fn end_calls(&mut self) -> Result<(), Failure> {
        self.line().map(drop)
    }

    fn tell(&mut self, line: fmt::Arguments<'_>) -> Result<(), Failure> {
        let input = self.input.as_mut().ok_or("a rival has its input until it is dropped")?;
        writeln!(input, "{line}")?;
        Ok(input.flush()?)
    }

    /// The next line. Nothing is left over of the one before, which was an answer.
    fn line(&mut self) -> Result<String, Failure> {
        let mut output = [PollFd::new(self.output.get_ref(), PollFlags::IN)];
        let timeout = Timespec::try_from(ANSWER_TIMEOUT)?;
        if rustix::event::poll(&mut output, Some(&timeout))? == 0 {
            return Err(format!("it did not answer for {} s", ANSWER_TIMEOUT.as_secs()).into());
        }
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            return Err("it ended; what it said stands above".into());
        }
        Ok(line.trim_end().to_owned())
    }
}

impl Drop for Rival {
    fn drop(&mut self) {
        // Its client ends with its input, and its server with the client.
        self.input = None;
        child::end(&mut self.process);
    }
}

/// As many times as there were batches.
fn samples_in(line: &str, plan: Plan) -> Result<Samples, Failure> {
    let times: Result<Vec<u64>, _> = line.split_whitespace().map(str::parse).collect();
    let times = times?;
    if times.len() != plan.batches as usize {
        return Err(format!("{} times for {} batches", times.len(), plan.batches).into());
    }
    Ok(Samples::new(plan.batch, times))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_for_each_batch_is_expected() {
        let plan = Plan::new(128, 64);
        let summary = samples_in("640 1280\n", plan).unwrap().summary();
        assert_eq!((summary.n, summary.min_ns), (128, 10.0));
        assert!(samples_in("640", plan).is_err());
        assert!(samples_in("640 x", plan).is_err());
    }

    #[test]
    fn a_compiler_that_is_not_there_or_refuses_is_named() {
        let target = Path::new("/none");
        let missing = compile(&mut Command::new("no-such-compiler"), target).unwrap_err();
        assert!(missing.to_string().starts_with("no `no-such-compiler`: "), "{missing}");
        let refused = compile(&mut Command::new("false"), target).unwrap_err();
        assert_eq!(refused.to_string(), "`false` does not compile it: it says nothing");
    }
}
