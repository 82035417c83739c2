//! Whole runs, under many schedules that chance chooses (shuttle, PCT): those first that a few
//! unlucky preemptions make. The same seed makes the same schedules, and one that fails is printed,
//! so that it can be played again.

use std::env;
use std::fmt::Debug;
use std::str::FromStr;

use shuttle::scheduler::{PctScheduler, ReplayScheduler};
use shuttle::{Config, Runner};

/// Says how many schedules to run: more than a test does.
const COUNT: &str = "NEARCALL_SCHEDULES";

/// One schedule, as the failure that it made has printed it: played instead of all others.
const REPLAYED: &str = "NEARCALL_SCHEDULE";

/// Preemptions that PCT places: bugs of so many are found with a chance that can be computed.
const DEPTH: usize = 4;

/// The seed, if shuttle's own variable, `SHUTTLE_RANDOM_SEED`, says no other.
const SEED: u64 = 1;

/// Plays it under so many schedules, or as many as the environment says. How many those were.
///
/// # Panics
///
/// If one of them fails, or they were not so many; and if one alone was played again, whatever it
/// did: a test that counts has counted nothing then.
pub fn play(schedules: usize, run: impl Fn() + Send + Sync + 'static) -> usize {
    let wanted = said(COUNT).unwrap_or(schedules);
    let mut config = Config::new();
    config.stack_size = 1 << 16;
    config.silence_warnings = true;
    if let Some(schedule) = said::<String>(REPLAYED) {
        Runner::new(ReplayScheduler::new_from_encoded(&schedule), config).run(run);
        panic!("the schedule of {REPLAYED} was played, and did not fail");
    }
    let scheduler = PctScheduler::new_from_seed(SEED, DEPTH, wanted);
    let ran = Runner::new(scheduler, config).run(run);
    assert_eq!(ran, wanted);
    ran
}

/// What a variable says, if it is there.
fn said<T: FromStr<Err: Debug>>(variable: &str) -> Option<T> {
    let text = env::var(variable).ok()?;
    let value = text.parse();
    Some(value.unwrap_or_else(|error| panic!("{variable}={text:?}: {error:?}")))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::panic::{self, AssertUnwindSafe};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use shuttle::scheduler::Scheduler;
    use shuttle::sync::atomic::AtomicU32 as Word;
    use shuttle::{FailurePersistence, thread};

    use super::*;

    /// Two threads add to a number in two steps each, until one of them is lost: how often that
    /// was played.
    fn lose(scheduler: impl Scheduler + 'static, config: Config) -> u32 {
        let played = Arc::new(AtomicU32::new(0));
        let noted = Arc::clone(&played);
        let race = move || {
            // Relaxed: a count, of runs that come one after the other.
            noted.fetch_add(1, Ordering::Relaxed);
            let word = Arc::new(Word::new(0));
            let add = |word: Arc<Word>| {
                thread::spawn(move || word.store(word.load(Ordering::SeqCst) + 1, Ordering::SeqCst))
            };
            let threads = [add(Arc::clone(&word)), add(Arc::clone(&word))];
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            assert_eq!(word.load(Ordering::SeqCst), 2);
        };
        let ended = panic::catch_unwind(AssertUnwindSafe(|| {
            Runner::new(scheduler, config).run(race);
        }));
        assert!(ended.is_err(), "nothing was lost");
        // Relaxed: as above.
        played.load(Ordering::Relaxed)
    }

    #[test]
    fn a_schedule_that_failed_fails_again_at_once_and_its_seed_makes_it_again() {
        let directory = env::temp_dir().join(format!("nearcall-schedules-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let mut config = Config::new();
        config.failure_persistence = FailurePersistence::File(Some(directory.clone()));
        let by_seed = || PctScheduler::new_from_seed(SEED, DEPTH, 1_000);
        let played = lose(by_seed(), config.clone());
        let file = fs::read_dir(&directory).unwrap().next().unwrap().unwrap();
        let schedule = fs::read_to_string(file.path()).unwrap();
        assert_eq!(lose(ReplayScheduler::new_from_encoded(&schedule), Config::new()), 1);
        assert_eq!(lose(by_seed(), config), played);
        fs::remove_dir_all(directory).unwrap();
    }
}
