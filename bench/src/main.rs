//! The benchmark program: `cargo run --release -p bench -- paper`.

#![forbid(unsafe_code)]

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use bench::child::{self, Failure};
use bench::machine::Machine;
use bench::stage::Options;
use bench::table::Table;
use bench::{cost, crowd, floor, instructions, paper, peers, policy, python};
use bench::{report, scale, size, stubs, threads, urpc};
use clap::{Parser, Subcommand};

/// Measures tables of calls between processes, each beside the lower bounds of this machine or
/// beside other ways to call.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// LRPC's Table IV, and longer arguments, beside what the processors can do at all.
    Paper(Asked),
    /// The same calls over other people's ways to call. Compiles them first: bench/peers.
    Peers {
        #[command(flatten)]
        asked: Asked,
        /// What bench/peers was compiled to: to see what is said where it cannot be.
        #[arg(long, value_name = "FILE", hide = true)]
        program: Option<PathBuf>,
    },
    /// 0 B to 256 MiB in, beside one memcpy of as many bytes.
    Size(Asked),
    /// What waiting costs: beside competitors, after thoughts, after a second of nothing.
    Policy(Asked),
    /// 1 to 1,000 bindings of one server.
    Scale(Asked),
    /// What a Null is made of, in nanoseconds and in instructions.
    Cost(Asked),
    /// What bare processes need for the same lines, copies and switches, and ours beside it.
    Floor(Asked),
    /// URPC's Table I: what FastThreads cost beside a procedure call, and beside kernel threads.
    /// Compiles other people's first: bench/peers/threads.
    Threads {
        #[command(flatten)]
        asked: Asked,
        /// A directory with what they were compiled to: to see what is said where they are not.
        #[arg(long, value_name = "DIRECTORY", hide = true)]
        programs: Option<PathBuf>,
    },
    /// Calls from C and C++ beside those from Rust, and what a parameter costs. Compiles
    /// libnearcall and the clients first: bench/stubs.
    Stubs {
        #[command(flatten)]
        asked: Asked,
        /// A directory with what they were compiled to: to see what is said where they are not.
        #[arg(long, value_name = "DIRECTORY", hide = true)]
        programs: Option<PathBuf>,
    },
    /// Calls from Python beside those from Rust, beside grpcio and beside a copy by NumPy. Makes an
    /// environment and compiles the package first: bench/python.
    Python {
        #[command(flatten)]
        asked: Asked,
        /// An environment that has them all: to see what is said where it does not.
        #[arg(long, value_name = "DIRECTORY", hide = true)]
        programs: Option<PathBuf>,
    },
    /// Instructions of whole calls in user space, both sides, beside other people's ways to call.
    /// Compiles them first: bench/peers.
    Instructions {
        #[command(flatten)]
        asked: Asked,
        /// A directory with what they were compiled to: to see what is said where they are not.
        #[arg(long, value_name = "DIRECTORY", hide = true)]
        programs: Option<PathBuf>,
    },
    /// 1,000 to 100,000 FastThreads that wait for signals or replies: their memory, and how long a
    /// wake of all of them takes.
    Crowd(Asked),
    /// URPC's Figs. 3 and 4: calls from 1 to 64 threads at once, on FastThreads and kernel threads,
    /// and of as many awaited tasks; and calls to a server that sleeps.
    Urpc(Asked),
    /// Tables as one HTML file that opens from disk.
    Report {
        /// What tables printed with --json. Without any, all tables are measured now.
        files: Vec<PathBuf>,
        /// Where the report goes.
        #[arg(long, value_name = "FILE", default_value = "report.html")]
        out: PathBuf,
        /// Rounds of each case, if tables are measured.
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        rounds: Option<u32>,
    },
}

#[derive(Clone, Debug, clap::Args)]
struct Asked {
    /// Print one JSON object a line and nothing else.
    #[arg(long)]
    json: bool,
    /// Rounds of each case. What is usual depends on the table.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    rounds: Option<u32>,
    /// Measure on so many processors only.
    #[arg(long, value_name = "1|2", value_parser = clap::value_parser!(u32).range(1..=2))]
    processors: Option<u32>,
    /// Make at most so many calls in a measurement: to see that it works, not how fast.
    #[arg(long, value_name = "N", hide = true,
          value_parser = clap::value_parser!(u32).range(1..))]
    calls: Option<u32>,
}

fn main() -> ExitCode {
    if let Some(ended) = child::run_if_child(bench::ROLES) {
        return ended;
    }
    match run(&Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Paper(asked) => print(asked, 21, paper::measure),
        Command::Peers { asked, program } => {
            print(asked, 5, |options| peers::measure(options, program.as_deref()))
        }
        Command::Size(asked) => print(asked, 5, size::measure),
        Command::Policy(asked) => print(asked, 5, policy::measure),
        Command::Scale(asked) => print(asked, 5, scale::measure),
        Command::Cost(asked) => print(asked, 21, cost::measure),
        Command::Floor(asked) => print(asked, 5, floor::measure),
        Command::Threads { asked, programs } => {
            print(asked, 15, |options| threads::measure(options, programs.as_deref()))
        }
        Command::Stubs { asked, programs } => {
            print(asked, 5, |options| stubs::measure(options, programs.as_deref()))
        }
        Command::Python { asked, programs } => {
            print(asked, 15, |options| python::measure(options, programs.as_deref()))
        }
        Command::Instructions { asked, programs } => {
            print(asked, 3, |options| instructions::measure(options, programs.as_deref()))
        }
        Command::Crowd(asked) => print(asked, 5, crowd::measure),
        Command::Urpc(asked) => print(asked, 5, urpc::measure),
        Command::Report { files, out, rounds } => {
            report::make(files, *rounds, out)?;
            println!("{}", out.display());
            Ok(())
        }
    }
}

/// Measures a table and prints it.
fn print(
    asked: &Asked,
    rounds: u32,
    measure: impl FnOnce(Options) -> Result<Table, Failure>,
) -> Result<(), Failure> {
    // Before the measurement binds this thread to one processor.
    let machine = Machine::here();
    let table = measure(Options {
        rounds: asked.rounds.unwrap_or(rounds),
        processors: asked.processors,
        calls_max: asked.calls,
    })?;
    let mut out = io::stdout().lock();
    if asked.json {
        table.write_json(&mut out)?;
    } else {
        table.write_text(&mut out, &machine)?;
    }
    out.flush()?;
    if table.is_empty() { Err("nothing was measured".into()) } else { Ok(()) }
}
