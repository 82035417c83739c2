//! How long calls take beside something else.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Times of calls, sorted when asked.
#[derive(Clone, Debug, Default)]
pub struct Times {
    ns: Vec<u64>,
}

impl Times {
    /// Adds one.
    pub fn push(&mut self, time: Duration) {
        self.ns.push(time.as_nanos().min(u128::from(u64::MAX)) as u64);
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.ns.len()
    }

    /// The time that this share of them does not exceed, microseconds; 0 of none.
    pub fn quantile_us(&mut self, share: f64) -> f64 {
        self.ns.sort_unstable();
        let at = (self.ns.len() as f64 * share) as usize;
        let at = at.min(self.ns.len().saturating_sub(1));
        self.ns.get(at).map_or(0.0, |ns| *ns as f64 / 1000.0)
    }
}

impl Extend<Times> for Times {
    fn extend<T: IntoIterator<Item = Times>>(&mut self, others: T) {
        for other in others {
            self.ns.extend(other.ns);
        }
    }
}

/// Calls until `is_over`, and times each call. How often it failed, too.
pub fn call_until(is_over: &AtomicBool, call: impl Fn() -> bool) -> (Times, u64) {
    let mut times = Times::default();
    let mut failures = 0;
    // Relaxed: a flag that orders nothing.
    while !is_over.load(Ordering::Relaxed) {
        let begin = Instant::now();
        failures += u64::from(!call());
        times.push(begin.elapsed());
    }
    (times, failures)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_one_of_the_times() {
        let mut times = Times::default();
        assert_eq!(times.quantile_us(0.99), 0.0);
        for us in [3, 1, 2] {
            times.push(Duration::from_micros(us));
        }
        assert_eq!(times.quantile_us(0.5), 2.0);
        assert_eq!(times.quantile_us(0.99), 3.0);
        assert_eq!(times.quantile_us(1.0), 3.0);
    }
}
