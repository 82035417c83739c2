//! The campaign: domains die, stall and lie, and nothing is lost, nobody harmed, nobody let in.
//!
//! One module a row of the acceptance table in `docs/RELIABILITY.md`. A row prints how many things
//! it checked, its figures and its verdict; one that checked too few has failed, and one whose tool
//! or part is not there says so and has not passed.
//!
//! ```text
//! T7    hostile peers    52 scripts    p99 beside them 1.1 (limit 2)    passed    9.1 s
//! ```

pub mod code;
pub mod deaths;
pub mod effects;
pub mod hand;
pub mod latency;
pub mod oracle;
pub mod player;
pub mod report;
pub mod t01_named_steps;
pub mod t02_every_instruction;
pub mod t03_system_calls;
pub mod t05_rebind;
pub mod t07_hostile;
pub mod t14_models;
pub mod t21_many_clients;
pub mod t28_soak;

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
    /// The root of the workspace.
    pub root: PathBuf,
}

impl Setup {
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
    runs("T1", "killed at named steps", 500, t01_named_steps::run),
    runs("T2", "killed at every instruction", 1000, t02_every_instruction::run),
    runs("T3", "system calls that fail and kill", 100, t03_system_calls::run),
    runs("T5", "killed under eight clients", 50, t05_rebind::run),
    runs("T7", "hostile peers", 100, t07_hostile::run),
    runs("T14", "models of shared words", 10, t14_models::run),
    absent("T19", "packets lost in a simulated network", NO_PACKETS),
    absent("T20", "packets lost by the kernel", NO_PACKETS),
    runs("T21", "many clients killed at once", 500, t21_many_clients::run),
    runs("T28", "binds that leave nothing", 5_000, t28_soak::run),
];

/// Runs one row and says how it went. False: it failed.
pub fn run(row: &Row, setup: &Setup) -> bool {
    let begin = Instant::now();
    let verdict = match row.plan {
        Plan::Absent(reason) => Verdict::Skipped(reason.to_owned()),
        Plan::Runs { at_least, run } => Verdict::of(run(setup), at_least),
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
