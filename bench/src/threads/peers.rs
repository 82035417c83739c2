//! Other people's threads, each in a program of its own that runs on the same processor: the same
//! cases, each beside ours in the same round. The peer is the subject: its ratio says how many
//! times longer it takes.
//!
//! | peer | what it is | what it needs |
//! |---|---|---|
//! | `may` | coroutines of the crate | |
//! | `tokio` | tasks of the runtime for one thread | |
//! | `go` | goroutines | the `go` command |
//! | `boost-fiber` | fibers of Boost | a compiler for C++, and Boost.Fiber |
//!
//! tokio has no conditions, so that its ping-pong is a pair of `Notify` without a lock. A yield of
//! `may` comes back before coroutines that have not begun, so that 64 of them are waited for.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::{FORK, FORK_JOIN, OURS, PINGPONG, Way, YIELD};
use crate::child::Failure;
use crate::rival::{self, Rival};
use crate::rounds::{Statistic, Tally};
use crate::stage::Stage;
use crate::table::{Case, Named, Table};

/// What they are all measured at.
const CASES: [(&str, Way); 4] =
    [("fork", FORK), ("fork-join", FORK_JOIN), ("yield", YIELD), ("pingpong", PINGPONG)];

/// A program, and whose threads it has.
struct Source {
    name: &'static str,
    /// What it is compiled to.
    program: &'static str,
    /// Compiles it to that, in a directory.
    build: fn(&Path) -> Result<PathBuf, Failure>,
}

const SOURCES: [Source; 4] = [
    Source { name: "may", program: "bench-threads", build: build_crate },
    Source { name: "tokio", program: "bench-threads", build: build_crate },
    Source { name: "go", program: "goroutines", build: build_go },
    Source { name: "boost-fiber", program: "fibers", build: build_fibers },
];

/// Where the sources stand.
const PLACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/threads");

/// Programs that are there, or cannot be.
pub struct Programs {
    programs: Vec<(&'static str, Result<PathBuf, Failure>)>,
    /// Where some of them are.
    _directory: TempDir,
}

/// A peer that is measured, or why it is not.
pub struct Bout<'s> {
    stage: &'s Stage,
    name: &'static str,
    rival: Result<Rival, String>,
    tallies: Vec<Tally>,
}

impl Programs {
    /// Those in this directory; or compiles all of them now.
    pub fn find(compiled: Option<&Path>) -> Result<Programs, Failure> {
        let directory = tempfile::tempdir()?;
        let find = |source: &Source| match compiled {
            Some(compiled) => Ok(compiled.join(source.program)),
            None => (source.build)(&directory.path().join(source.program)),
        };
        let programs = SOURCES.iter().map(|source| (source.name, find(source))).collect();
        Ok(Programs { programs, _directory: directory })
    }

    /// Starts all of them, on the processor of the calling thread.
    pub fn start<'s>(&self, stage: &'s Stage) -> Vec<Bout<'s>> {
        let start = |(name, program): &(&'static str, Result<PathBuf, Failure>)| {
            let rival = match program {
                Ok(program) => start(program, name),
                Err(error) => Err(error.to_string()),
            };
            Bout { stage, name, rival, tallies: vec![Tally::default(); CASES.len()] }
        };
        self.programs.iter().map(start).collect()
    }
}

fn start(program: &Path, name: &str) -> Result<Rival, String> {
    let mut command = Command::new(program);
    command.arg(name);
    Rival::begin(command).map_err(|error| format!("{}: {error}", program.display()))
}

fn build_crate(_target: &Path) -> Result<PathBuf, Failure> {
    rival::build("bench-threads")
}

fn build_go(target: &Path) -> Result<PathBuf, Failure> {
    let mut command = Command::new("go");
    command.current_dir(format!("{PLACE}/go")).arg("build");
    rival::compile(&mut command, target)
}

fn build_fibers(target: &Path) -> Result<PathBuf, Failure> {
    let mut command = Command::new("c++");
    command.args(["-O2", "-std=c++17"]).arg(format!("{PLACE}/fibers/main.cpp"));
    command.args(["-lboost_fiber", "-lboost_context"]);
    rival::compile(&mut command, target)
}

impl Bout<'_> {
    /// Measures every case once. A peer that fails is not asked again; ours is not to fail.
    pub fn round(&mut self) -> Result<(), Failure> {
        for ((case, ours), tally) in CASES.iter().zip(&mut self.tallies) {
            let (stage, plan) = (self.stage, ours.plan(self.stage));
            let Ok(rival) = &mut self.rival else { return Ok(()) };
            let mut failed = None;
            let round = stage.beside(
                || {
                    let measured = rival.measure(case, plan);
                    measured.inspect_err(|error| failed = Some(error.to_string()))
                },
                || ours.measure(stage),
            );
            match failed {
                Some(why) => self.rival = Err(why),
                None => tally.add(round?),
            }
        }
        Ok(())
    }

    /// What came of it.
    pub fn tell(&self, table: &mut Table) {
        for ((case, ours), tally) in CASES.iter().zip(&self.tallies) {
            match &self.rival {
                Err(why) => table.skip(case, self.name, why),
                Ok(rival) => {
                    let version = rival.version().to_owned();
                    let subject = Named { name: self.name.to_owned(), version };
                    let case = Case::new(*case, self.stage, ours.plan(self.stage));
                    table.tell(&case, &subject, &Named::bound(OURS), tally, Statistic::P50);
                }
            }
        }
    }
}
