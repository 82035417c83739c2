//! What is made of measured times: batches, their percentiles, medians over rounds.

use nearcall_os::clock;

/// How a subject is measured in one round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Calls before the first that is timed: they wake the other side and fill the caches.
    pub warm_up: u32,
    /// Batches that are timed.
    pub batches: u32,
    /// Calls of a batch. A call that takes less than a microsecond is below what reading the clock
    /// twice can resolve, so that it is timed as a part of a batch; longer ones one by one.
    pub batch: u32,
    /// After so long no further batch is begun, once there are a few.
    pub ns_max: u64,
}

/// So many batches are measured however long they take.
const BATCHES_MIN: usize = 10;

/// Times of batches of calls.
///
/// With batches of more than one call, each is an average, and percentiles are those of averages:
/// the p99 says that in 99 of 100 batches a call took no longer *on average*. One late call of 64
/// shows by a 64th of its lateness. It does not say how late one call in a hundred is.
#[derive(Clone, Debug)]
pub struct Samples {
    batch: u32,
    batches_ns: Vec<u64>,
}

/// Times of one call, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Calls that were timed.
    pub n: u64,
    /// The fastest batch's.
    pub min_ns: f64,
    /// Half of the batches were as fast.
    pub p50_ns: f64,
    /// 99 of 100 batches were as fast.
    pub p99_ns: f64,
    /// Over all calls.
    pub mean_ns: f64,
}

impl Plan {
    /// About `calls` calls in batches of `batch`, an eighth as many before; at least one batch, at
    /// least 16 before.
    pub fn new(calls: u32, batch: u32) -> Plan {
        let batches = (calls / batch).max(1);
        Plan { warm_up: (calls / 8).max(16), batches, batch, ns_max: u64::MAX }
    }

    /// Calls altogether, those of the warm-up among them.
    pub fn calls(&self) -> u32 {
        self.warm_up + self.batches * self.batch
    }

    /// Makes the calls and times them. Stops at the first that fails.
    #[inline]
    pub fn time<E>(&self, call: impl FnMut() -> Result<(), E>) -> Result<Samples, E> {
        self.time_apart(|| (), call)
    }

    /// The same, with something done before each batch that is not timed.
    #[inline]
    pub fn time_apart<E>(
        &self,
        mut think: impl FnMut(),
        mut call: impl FnMut() -> Result<(), E>,
    ) -> Result<Samples, E> {
        let mut batches_ns = Vec::with_capacity(self.batches as usize);
        for _ in 0..self.warm_up {
            call()?;
        }
        let begin_ns = clock::now_ns();
        for _ in 0..self.batches {
            think();
            let start_ns = clock::now_ns();
            for _ in 0..self.batch {
                call()?;
            }
            let end_ns = clock::now_ns();
            batches_ns.push(end_ns - start_ns);
            if end_ns - begin_ns > self.ns_max && batches_ns.len() >= BATCHES_MIN {
                break;
            }
        }
        Ok(Samples { batch: self.batch, batches_ns })
    }
}

impl Samples {
    /// Of these times, one of each batch. Panics if there is none, or a batch of no call.
    pub fn new(batch: u32, batches_ns: Vec<u64>) -> Samples {
        assert!(batch > 0 && !batches_ns.is_empty(), "no samples");
        Samples { batch, batches_ns }
    }

    /// All of `parts`, which have batches of one size. Panics if there is none.
    pub fn together<'s>(parts: impl IntoIterator<Item = &'s Samples>) -> Samples {
        let mut parts = parts.into_iter();
        let mut all = parts.next().expect("no samples").clone();
        for part in parts {
            assert_eq!(all.batch, part.batch, "batches of two sizes");
            all.batches_ns.extend(&part.batches_ns);
        }
        all
    }

    /// Half of the batches took no longer, per call.
    pub fn p50_ns(&self) -> f64 {
        self.summary().p50_ns
    }

    /// All that is said about them.
    pub fn summary(&self) -> Summary {
        let mut sorted = self.batches_ns.clone();
        sorted.sort_unstable();
        let per_call = |batch_ns: u64| batch_ns as f64 / f64::from(self.batch);
        let n = sorted.len() as u64 * u64::from(self.batch);
        Summary {
            n,
            min_ns: per_call(sorted[0]),
            p50_ns: per_call(percentile(&sorted, 50)),
            p99_ns: per_call(percentile(&sorted, 99)),
            mean_ns: sorted.iter().sum::<u64>() as f64 / n as f64,
        }
    }
}

/// The smallest of `sorted` that `percent` percent are not above.
fn percentile(sorted: &[u64], percent: usize) -> u64 {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted[rank.max(1) - 1]
}

/// The middle value, or the mean of the two middle ones. Panics if there is none.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { (sorted[middle - 1] + sorted[middle]) / 2.0 }
}

/// The smallest and the largest value. Panics if there is none.
pub fn extremes(values: &[f64]) -> (f64, f64) {
    let smallest = values.iter().copied().min_by(f64::total_cmp).expect("no values");
    let largest = values.iter().copied().max_by(f64::total_cmp).expect("no values");
    (smallest, largest)
}

/// How far values lie apart: (largest - smallest) / median.
pub fn spread(values: &[f64]) -> f64 {
    let (smallest, largest) = extremes(values);
    (largest - smallest) / median(values)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    #[test]
    fn a_batch_counts_as_its_average_call() {
        let summary = Samples::new(64, vec![6400, 640, 64_000]).summary();
        let want = Summary { n: 192, min_ns: 10.0, p50_ns: 100.0, p99_ns: 1000.0, mean_ns: 370.0 };
        assert_eq!(summary, want);
    }

    #[test]
    fn percentiles_are_values_that_were_measured() {
        let hundred: Vec<u64> = (1..=100).collect();
        assert_eq!(percentile(&hundred, 50), 50);
        assert_eq!(percentile(&hundred, 99), 99);
        assert_eq!(percentile(&[7], 99), 7);
        assert_eq!(percentile(&[7, 8], 50), 7);
        assert_eq!(percentile(&[7, 8], 99), 8);
    }

    #[test]
    fn one_late_call_of_a_batch_shows_by_its_share() {
        let mut batches = vec![640; 99];
        batches.push(64_640);
        let summary = Samples::new(64, batches).summary();
        assert_eq!((summary.p50_ns, summary.p99_ns), (10.0, 10.0));
        assert_eq!(summary.mean_ns, 20.0);
    }

    #[test]
    fn a_median_of_an_even_count_is_the_mean_of_the_middle() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
    }

    #[test]
    fn a_spread_is_relative_to_the_median() {
        assert_eq!(spread(&[50.0, 45.0, 60.0]), 0.3);
        assert_eq!(spread(&[50.0]), 0.0);
    }

    #[test]
    fn samples_taken_together_are_all_there() {
        let (first, second) = (Samples::new(1, vec![1, 2]), Samples::new(1, vec![30]));
        let summary = Samples::together([&first, &second]).summary();
        assert_eq!((summary.n, summary.mean_ns), (3, 11.0));
    }

    #[test]
    #[should_panic(expected = "batches of two sizes")]
    fn samples_of_other_batches_are_not_taken_together() {
        Samples::together([&Samples::new(1, vec![1]), &Samples::new(64, vec![64])]);
    }

    #[test]
    fn a_plan_makes_as_many_calls_as_it_says() {
        for (calls, batch) in [(1, 64), (1000, 64), (100, 1)] {
            let plan = Plan::new(calls, batch);
            let mut made = 0;
            let samples = plan.time(|| {
                made += 1;
                Ok::<(), Infallible>(())
            });
            assert_eq!(made, plan.calls());
            let Ok(samples) = samples;
            assert_eq!(samples.summary().n, u64::from(plan.batches * batch));
        }
    }

    #[test]
    fn a_measurement_whose_time_is_over_ends_after_a_few_batches() {
        let plan = Plan { ns_max: 0, ..Plan::new(1000, 1) };
        let Ok(samples) = plan.time(|| {
            std::thread::yield_now();
            Ok::<(), Infallible>(())
        });
        assert!(samples.summary().n >= BATCHES_MIN as u64);
        assert!(samples.summary().n < 1000);
    }

    #[test]
    fn what_is_thought_between_calls_is_done_before_each() {
        let mut thoughts = 0;
        let Ok(_) = Plan::new(64, 8).time_apart(|| thoughts += 1, || Ok::<(), Infallible>(()));
        assert_eq!(thoughts, 8);
    }

    #[test]
    fn a_call_that_fails_ends_the_measurement() {
        let mut left = 20;
        let failed = Plan::new(100, 1).time(|| {
            left -= 1;
            if left > 0 { Ok(()) } else { Err("failed") }
        });
        assert_eq!(failed.err(), Some("failed"));
    }
}
