//! The benchmark program: `cargo run --release -p bench -- paper`.

#![forbid(unsafe_code)]

use std::io::{self, Write};
use std::process::ExitCode;

use bench::child::{self, Failure};
use bench::machine::Machine;
use bench::paper;
use clap::{Parser, Subcommand};

/// Measures the tables of the papers beside the lower bounds of this machine.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    table: Table,
}

#[derive(Debug, Subcommand)]
enum Table {
    /// LRPC's Table IV, and longer arguments.
    Paper(Paper),
}

#[derive(Debug, clap::Args)]
struct Paper {
    /// Print one JSON object a line and nothing else.
    #[arg(long)]
    json: bool,
    /// Rounds of each case.
    #[arg(long, value_name = "N", default_value_t = 21,
          value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Measure on so many processors only.
    #[arg(long, value_name = "1|2", value_parser = clap::value_parser!(u32).range(1..=2))]
    processors: Option<u32>,
    /// Make at most so many calls in a measurement: to see that it works, not how fast.
    #[arg(long, value_name = "N", hide = true,
          value_parser = clap::value_parser!(u32).range(1..))]
    calls: Option<u32>,
}

fn main() -> ExitCode {
    if let Some(ended) = child::run_if_child(paper::ROLES) {
        return ended;
    }
    let Arguments { table: Table::Paper(arguments) } = Arguments::parse();
    match paper(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn paper(arguments: &Paper) -> Result<(), Failure> {
    let table = paper::measure(paper::Options {
        rounds: arguments.rounds,
        processors: arguments.processors,
        calls_max: arguments.calls,
    })?;
    let mut out = io::stdout().lock();
    if arguments.json {
        table.write_json(&mut out)?;
    } else {
        table.write_text(&mut out, &Machine::here())?;
    }
    out.flush()?;
    if table.rows.is_empty() { Err("nothing was measured".into()) } else { Ok(()) }
}
