//! T24: nine polite clients and one that posts all that it has without pause. The polite ones are
//! compared with themselves beside a process that only burns as much processor time.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::Setup;
use super::hand::{self, HandClient};
use super::honest::{Honest, SELDOM, judge_all};
use super::latency::Times;
use super::player::{Player, Role, bind};
use super::report::{Report, Stopped};

const NAME: &str = "fair";

const POLITE: u64 = 9;

/// How long both are watched, and how long a polite client pauses between two calls.
const WATCHED: Duration = Duration::from_millis(1_500);
const PAUSE: Duration = Duration::from_micros(500);

/// What each polite client is to have of what it has beside a hog, per cent; how even that is to
/// be (Jain); and how much slower the slowest of its calls may be.
const SHARE_MIN: f64 = 80.0;
const JAIN_MIN: f64 = 0.95;
const SLOWED_MAX: f64 = 3.0;

/// Times that it is measured: other work on the machine makes it less even, and nothing more.
const TRIES: u32 = 4;

/// What the polite clients had.
struct Had {
    counts: Vec<f64>,
    times: Times,
    failures: u64,
}

/// What one measurement came to.
struct Tried {
    share: f64,
    even: f64,
    ratio: f64,
}

impl Tried {
    /// How many of the limits it keeps.
    fn kept(&self) -> usize {
        let kept = [self.share >= SHARE_MIN, self.even >= JAIN_MIN, self.ratio <= SLOWED_MAX];
        kept.into_iter().filter(|is_kept| *is_kept).count()
    }
}

/// One that has more than its share would show.
pub fn run(_: &Setup) -> Result<Report, Stopped> {
    let mut report = Report::of("calls");
    let directory = tempfile::tempdir()?;
    let mut server = Player::start(Role::Serve, directory.path(), NAME, "")?;
    let bind = |which| {
        let client = bind(directory.path(), NAME, Duration::from_secs(5))?;
        std::io::Result::Ok(Honest::new(client, which, SELDOM))
    };
    let polite = (0..POLITE).map(bind).collect::<Result<Vec<_>, _>>()?;
    let mut best = Tried { share: 0.0, even: 0.0, ratio: f64::MAX };
    for _ in 0..TRIES {
        let mut beside_hog = beside(&polite, hog)?;
        let mut beside_flood = beside(&polite, || flood(directory.path()))?;
        let failures = beside_hog.failures + beside_flood.failures;
        if failures > 0 {
            report.violation(format!("{failures} polite calls failed"));
        }
        report.count += beside_flood.times.count() as u64;
        let fair = beside_hog.counts.iter().sum::<f64>() / POLITE as f64;
        let least = beside_flood.counts.iter().copied().fold(f64::MAX, f64::min);
        let p99 = |had: &mut Had| had.times.quantile_us(0.99);
        let tried = Tried {
            share: least * 100.0 / fair,
            even: jain(&beside_flood.counts),
            ratio: p99(&mut beside_flood) / p99(&mut beside_hog),
        };
        if tried.kept() >= best.kept() {
            best = tried;
        }
        if best.kept() == 3 {
            break;
        }
    }
    report.at_least("least share", best.share, SHARE_MIN, " %");
    report.at_least("evenness", best.even, JAIN_MIN, "");
    report.at_most("p99", best.ratio, SLOWED_MAX, " of that beside a hog");
    judge_all(&mut report, &polite, directory.path());
    drop(polite);
    report.violations.extend(server.end()?.wrong(None));
    Ok(report)
}

/// What the polite clients have while something else goes on.
fn beside(polite: &[Honest], work: impl FnOnce() -> Result<(), Stopped>) -> Result<Had, Stopped> {
    let is_over = &AtomicBool::new(false);
    std::thread::scope(|threads| {
        let start = |client| threads.spawn(move || call(client, is_over));
        let calls: Vec<_> = polite.iter().map(start).collect();
        let worked = work();
        // Relaxed: a flag that orders nothing.
        is_over.store(true, Ordering::Relaxed);
        let mut had = Had { counts: Vec::new(), times: Times::default(), failures: 0 };
        for call in calls {
            let (times, failures) = call.join().expect("a polite client");
            had.counts.push(times.count() as f64);
            had.times.extend([times]);
            had.failures += failures;
        }
        worked.map(|()| had)
    })
}

fn call(client: &Honest, is_over: &AtomicBool) -> (Times, u64) {
    let (mut times, mut failures) = (Times::default(), 0);
    // Relaxed: as above.
    while !is_over.load(Ordering::Relaxed) {
        let begin = Instant::now();
        failures += u64::from(!client.call());
        times.push(begin.elapsed());
        std::thread::sleep(PAUSE);
    }
    (times, failures)
}

fn hog() -> Result<(), Stopped> {
    let begin = Instant::now();
    while begin.elapsed() < WATCHED {
        std::hint::spin_loop();
    }
    Ok(())
}

/// Keeps every A-stack posted that there is for one procedure.
fn flood(directory: &Path) -> Result<(), Stopped> {
    let client = HandClient::bind(&hand::path_of(directory, NAME))?;
    let first = hand::astack_of("null");
    let mut sequences = [0u32; 5];
    let begin = Instant::now();
    while begin.elapsed() < WATCHED {
        for (astack, sequence) in (first..).zip(&mut sequences) {
            if *sequence == 0 || client.await_reply(astack, *sequence, Duration::ZERO) {
                *sequence += 1;
                client.post(astack, hand::words_of("null", *sequence, 0));
            }
        }
    }
    match sequences.iter().min() {
        Some(least) if *least >= 100 => Ok(()),
        _ => Err(format!("the flood came to {sequences:?} calls only").into()),
    }
}

/// 1: all have the same; 1/n: one has all.
fn jain(counts: &[f64]) -> f64 {
    let sum: f64 = counts.iter().sum();
    let squares: f64 = counts.iter().map(|count| count * count).sum();
    sum * sum / (counts.len() as f64 * squares)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evenness_is_one_of_equals_and_a_share_of_one_that_has_all() {
        assert_eq!(jain(&[3.0, 3.0]), 1.0);
        assert_eq!(jain(&[4.0, 0.0]), 0.5);
    }
}
