//! The campaign: domains die, stall and lie, and nothing is lost, nobody harmed, nobody let in.
//!
//! One module a row of the acceptance table in `docs/RELIABILITY.md`. A row prints how many things
//! it checked, its figures and its verdict; one that checked too few has failed, and one whose tool
//! or part is not there says so and has not passed.
//!
//! ```text
//! T7    hostile peers    52 scripts    p99 beside them 1.1 (limit 2)    passed    9.1 s
//! ```

pub mod breakpoint;
pub mod code;
pub mod deaths;
pub mod decoders;
pub mod effects;
pub mod hand;
pub mod held;
pub mod honest;
pub mod latency;
pub mod looked_at;
pub mod maps;
pub mod memory;
pub mod nightly;
pub mod oracle;
pub mod player;
pub mod report;
pub mod t01_named_steps;
pub mod t02_every_instruction;
pub mod t03_system_calls;
pub mod t04_stopped;
pub mod t05_rebind;
pub mod t06_clerks;
pub mod t07_hostile;
pub mod t08_scribbler;
pub mod t09_single_loads;
pub mod t10_flips;
pub mod t11_decoders;
pub mod t12_proofs;
pub mod t13_canaries;
pub mod t14_models;
pub mod t15_schedules;
pub mod t16_interpreted;
pub mod t17_races;
pub mod t18_states;
pub mod t21_many_clients;
pub mod t22_descriptors;
pub mod t23_charged;
pub mod t24_fairness;
pub mod t25_unread;
pub mod t26_posted;
pub mod t27_idle;
pub mod t28_soak;
pub mod t29_policy;
pub mod t30_forged;
pub mod t31_reused;
pub mod told;
pub mod watchpoints;

use std::path::PathBuf;
use std::time::Instant;

use self::report::{Report, Stopped, Verdict};

/// One row of the acceptance table.
pub struct Row {
    /// `T7`.
    pub id: &'static str,
    /// In two words.
    pub what: &'static str,
    /// How it is run, if it can be.
    pub plan: Plan,
}

/// How a row is run.
pub enum Plan {
    /// By this function, which is to check at least so many things.
    Runs {
        /// Fewer are a failure.
        at_least: u64,
        /// Checks them.
        run: fn(&Setup) -> Result<Report, Stopped>,
    },
    /// Not at all, because what it tests does not exist yet.
    Absent(&'static str),
}

/// What a run of the campaign is given.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Decides whatever is chosen at random.
    pub seed: u64,
    /// Take the time that the longer version takes.
    pub is_nightly: bool,
    /// Other work runs beside: no figure of a time fails a row that says so.
    pub is_untimed: bool,
    /// The root of the workspace.
    pub root: PathBuf,
}

impl Setup {
    /// Most that a figure of a time may be.
    pub fn most(&self, limit: f64) -> f64 {
        if self.is_untimed { f64::INFINITY } else { limit }
    }

    /// Chances for one row, the same for the same seed.
    pub fn chances(&self, row: &str) -> fastrand::Rng {
        let name = row.bytes().fold(0u64, |sum, byte| sum * 31 + u64::from(byte));
        fastrand::Rng::with_seed(self.seed ^ name)
    }
}

const fn runs(
    id: &'static str,
    what: &'static str,
    at_least: u64,
    run: fn(&Setup) -> Result<Report, Stopped>,
) -> Row {
    Row { id, what, plan: Plan::Runs { at_least, run } }
}

const fn absent(id: &'static str, what: &'static str, reason: &'static str) -> Row {
    Row { id, what, plan: Plan::Absent(reason) }
}

const NO_PACKETS: &str = "the packet exchange does not exist yet";

/// The table, in its order.
pub const ROWS: &[Row] = &[
    runs("T1", "killed at named steps", 6_000, t01_named_steps::run),
    runs("T2", "killed at every instruction", 1000, t02_every_instruction::run),
    runs("T3", "system calls that fail and kill", 1_000, t03_system_calls::run),
    runs("T4", "stopped, and going on", 500, t04_stopped::run),
    runs("T5", "killed under eight clients", 1_000, t05_rebind::run),
    runs("T6", "clerks that come and go", 200, t06_clerks::run),
    runs("T7", "hostile peers", 100, t07_hostile::run),
    runs("T8", "scribblers under a sanitizer", 1_000_000, t08_scribbler::run),
    runs("T9", "loads of decisions, watched", 100, t09_single_loads::run),
    runs("T10", "words that change between two loads", 200, t10_flips::run),
    runs("T11", "decoders, fuzzed by coverage", 10_000, t11_decoders::run),
    runs("T12", "arithmetic, proven", 30, t12_proofs::run),
    runs("T13", "bytes that are another's", 100_000, t13_canaries::run),
    runs("T14", "models of shared words", 10, t14_models::run),
    runs("T15", "schedules of client and server", 100_000, t15_schedules::run),
    runs("T16", "undefined behaviour, interpreted", 64, t16_interpreted::run),
    runs("T17", "data races, detected", 1_000_000, t17_races::run),
    runs("T18", "the protocol, state by state", 1_000_000, t18_states::run),
    absent("T19", "packets lost in a simulated network", NO_PACKETS),
    absent("T20", "packets lost by the kernel", NO_PACKETS),
    runs("T21", "many clients killed at once", 2_000, t21_many_clients::run),
    runs("T22", "no descriptor left", 20, t22_descriptors::run),
    runs("T23", "segments nobody has paid for", 100, t23_charged::run),
    runs("T24", "one flooder among nine", 1_000, t24_fairness::run),
    runs("T25", "results nobody reads", 1_000, t25_unread::run),
    runs("T26", "posted until it is full", 1_000_000, t26_posted::run),
    runs("T27", "idle bindings and wakes", 1_000, t27_idle::run),
    runs("T28", "binds that leave nothing", 100_000, t28_soak::run),
    runs("T29", "who may bind", 200, t29_policy::run),
    runs("T30", "forged numbers", 1_000_000, t30_forged::run),
    runs("T31", "process numbers used again", 1_000, t31_reused::run),
    absent("T32", "planted bugs", "they are run by --mutants"),
];

/// Runs one row and says how it went. False: it failed.
pub fn run(row: &Row, setup: &Setup) -> bool {
    let begin = Instant::now();
    let verdict = match row.plan {
        Plan::Absent(reason) => Verdict::Skipped(format!("skipped: {reason}")),
        Plan::Runs { at_least, run } => Verdict::of(run(setup), at_least, lacking::is_ci()),
    };
    println!("{}", report::line(row, &verdict, begin.elapsed()));
    if let Verdict::Failed { violations, .. } = &verdict {
        report::explain(violations);
        let nightly = if setup.is_nightly { " --nightly" } else { "" };
        let (id, seed) = (row.id, setup.seed);
        println!("      again: cargo xtask campaign --only {id} --seed {seed}{nightly}");
    }
    !matches!(verdict, Verdict::Failed { .. })
}
