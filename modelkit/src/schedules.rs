//! Whole runs, under many schedules that chance chooses (shuttle, PCT): those first that a few
//! unlucky preemptions make. The same seed makes the same schedules, and one that fails is printed.

use shuttle::scheduler::PctScheduler;
use shuttle::{Config, Runner};

/// Says how many schedules to run: more than a test does.
const VARIABLE: &str = "NEARCALL_SCHEDULES";

/// Preemptions that PCT places: bugs of so many are found with a chance that can be computed.
const DEPTH: usize = 4;

const SEED: u64 = 1;

/// Plays it under so many schedules, or as many as the environment says. How many those were.
///
/// # Panics
///
/// If one of them fails, or they were not so many.
pub fn play(schedules: usize, run: impl Fn() + Send + Sync + 'static) -> usize {
    let wanted = std::env::var(VARIABLE).map_or(schedules, |text| text.parse().expect("a number"));
    let mut config = Config::new();
    config.stack_size = 1 << 16;
    config.silence_warnings = true;
    let scheduler = PctScheduler::new_from_seed(SEED, DEPTH, wanted);
    let ran = Runner::new(scheduler, config).run(run);
    assert_eq!(ran, wanted);
    ran
}
