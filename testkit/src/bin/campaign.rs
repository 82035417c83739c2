//! `campaign [--only T7] [--seed N] [--nightly] [--untimed]`: the rows of the acceptance table, a
//! line each.

#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use peak_alloc::PeakAlloc;
use testkit::campaign::{self, ROWS, Setup, player};

/// Counts, for row T21: its count is the same in every value of this type.
#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

#[derive(Parser)]
#[command(name = "campaign", about = "Domains die, stall and lie")]
struct Arguments {
    /// Only these rows: T7, or T1,T2
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Decides whatever is chosen at random
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Take the time that the longer version takes
    #[arg(long)]
    nightly: bool,
    /// Other work runs beside: T7 fails by no figure of a time
    #[arg(long)]
    untimed: bool,
    /// The root of the workspace
    #[arg(long, default_value = ".")]
    root: PathBuf,
}

fn main() -> ExitCode {
    if let Some(code) = player::play_if_told() {
        return code;
    }
    let Arguments { only, seed, nightly, untimed, root } = Arguments::parse();
    let unknown = only.iter().find(|id| !ROWS.iter().any(|row| row.id == id.as_str()));
    if let Some(unknown) = unknown {
        let known: Vec<_> = ROWS.iter().map(|row| row.id).collect();
        eprintln!("error: row {unknown} is none of {}", known.join(" "));
        return ExitCode::from(2);
    }
    let setup = Setup { seed, is_nightly: nightly, is_untimed: untimed, root };
    let wanted = ROWS.iter().filter(|row| only.is_empty() || only.iter().any(|id| id == row.id));
    let failed = wanted.filter(|row| !campaign::run(row, &setup)).count();
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
