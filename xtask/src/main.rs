//! `cargo xtask COMMAND`: one entry point, the same on a laptop and in CI.

#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use xtask::step::Failed;
use xtask::{
    bless, campaign, check, cost, doctor, install, kernel, matrix, model, peers, prepare, python,
    step, test, tidy,
};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The project's own commands", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Formatting, clippy, tidy and the documentation build. Before each commit
    Check,
    /// Every test of the workspace. Before each push
    Test,
    /// Instructions of a call, counted, and the committed assembly of its path. Release profile
    Cost,
    /// Formatting and clippy of bench/peers, a workspace of its own. When it is touched
    Peers,
    /// check, peers and Python's, beside each other, with all that tests are compiled to. In CI
    Prepare,
    /// The Python package: formatting, clippy, and its tests, in an environment of their own
    Python,
    /// Self-tests of every interface file: each language's client against each language's server
    Matrix {
        /// Only this client
        #[arg(long)]
        client: Option<matrix::Language>,
        /// Only this server
        #[arg(long)]
        server: Option<matrix::Language>,
        /// Only this interface file, named without its end
        #[arg(long)]
        file: Option<String>,
        /// Which values
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// prepare, then test, then python, then matrix, then campaign --quick, then cost
    Ci,
    /// Only the checks of the tree itself: floors, unsafe fence, lengths, names, paths
    Tidy,
    /// The model tests of the protocol under loom. When a shared word is touched
    Model,
    /// Domains die, stall and lie: the acceptance table of docs/RELIABILITY.md
    Campaign {
        /// Only these rows: T7, or T1,T2; with --mutants, only these mutants
        #[arg(long, value_delimiter = ',')]
        only: Vec<String>,
        /// Plant bugs, one at a time, in a copy of the tree, and see each of them caught
        #[arg(long, conflicts_with_all = ["seed", "nightly"])]
        mutants: bool,
        /// Decides whatever is chosen at random
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Take the time that the longer version takes
        #[arg(long)]
        nightly: bool,
        /// The rows that CI runs: those that measure next to nothing, of the programs of the tests
        #[arg(long, conflicts_with_all = ["only", "mutants", "nightly"])]
        quick: bool,
    },
    /// Rewrite the goldens and show what changed. Review the difference
    Bless {
        /// Only goldens of this kind
        kind: Option<bless::Kind>,
    },
    /// libnearcall, its headers, what pkg-config and CMake find it by, and the program `nearcall`.
    /// Release profile
    Install {
        /// Where: its `lib`, `include` and `bin`
        #[arg(long)]
        prefix: PathBuf,
    },
    /// Tests that meet the kernel, under another one, which qemu emulates. Before a release
    Kernel {
        /// What packages of a kernel, its modules and a static busybox were unpacked to
        /// (`dpkg-deb -x`), for x86-64 or aarch64
        directory: PathBuf,
        /// Only these programs of tests: forks, or forks,waits
        #[arg(long, value_delimiter = ',')]
        only: Vec<String>,
    },
    /// Is this machine able to run everything
    Doctor,
}

fn main() -> ExitCode {
    let root = step::root();
    let outcome = match Arguments::parse().command {
        Command::Check => check::run(&root),
        Command::Test => test::run(&root),
        Command::Ci => prepare::run(&root)
            .and_then(|()| test::run(&root))
            .and_then(|()| python::run(&root))
            .and_then(|()| matrix::run(&root, &matrix::Selection::default()))
            .and_then(|()| campaign::run(&root, &campaign::Selection::quick()))
            .and_then(|()| cost::run(&root, false)),
        Command::Cost => cost::run(&root, false),
        Command::Peers => peers::run(&root),
        Command::Prepare => prepare::run(&root),
        Command::Python => python::run(&root),
        Command::Matrix { client, server, file, seed } => {
            matrix::run(&root, &matrix::Selection { seed, client, server, file })
        }
        Command::Tidy => tidy::run(&root),
        Command::Model => model::run(&root),
        Command::Campaign { only, mutants: true, .. } => campaign::mutants::run(&root, &only),
        Command::Campaign { only, seed, nightly: is_nightly, quick: is_quick, .. } => {
            campaign::run(&root, &campaign::Selection { only, seed, is_nightly, is_quick })
        }
        Command::Bless { kind } => bless::run(&root, kind),
        Command::Install { prefix } => install::run(&root, &prefix),
        Command::Kernel { directory, only } => kernel::run(&root, &directory, &only),
        Command::Doctor => doctor::run(),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failed(reason)) => {
            eprintln!("error: {reason}");
            ExitCode::FAILURE
        }
    }
}
