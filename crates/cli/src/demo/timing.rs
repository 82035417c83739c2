//! How long something takes that takes less than reading a clock does.

use std::time::Instant;

use crate::failure::Failure;

/// How many times, and how many of them between two looks at the clock.
#[derive(Clone, Copy, Debug)]
pub struct Repetition {
    /// In all, at least one batch.
    pub calls: u32,
    /// Between two looks.
    pub batch: u32,
}

impl Repetition {
    /// The median over batches of what one step takes, after some that do not count.
    pub fn p50_ns(self, mut step: impl FnMut() -> Result<(), Failure>) -> Result<f64, Failure> {
        let batches = (self.calls / self.batch).max(1);
        let mut samples = Vec::with_capacity(batches as usize);
        for number in 0..batches + batches / 8 + 1 {
            let started = Instant::now();
            for _ in 0..self.batch {
                step()?;
            }
            let time_ns = started.elapsed().as_nanos() as f64;
            if number > batches / 8 {
                samples.push(time_ns / f64::from(self.batch));
            }
        }
        Ok(median(&mut samples))
    }
}

/// Of at least one.
pub fn median(samples: &mut [f64]) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(&mut [3.0]), 3.0);
        assert_eq!(median(&mut [9.0, 1.0, 5.0]), 5.0);
    }

    #[test]
    fn fewer_calls_than_a_batch_are_a_batch() {
        let mut steps = 0;
        let repetition = Repetition { calls: 1, batch: 4 };
        let timed = repetition.p50_ns(|| {
            steps += 1;
            Ok(())
        });
        assert!(timed.is_ok());
        // One to warm up, one that counts.
        assert_eq!(steps, 8);
    }

    #[test]
    fn a_step_that_fails_is_the_last() {
        let mut left = 3;
        let timed = Repetition { calls: 100, batch: 1 }.p50_ns(|| {
            left -= 1;
            if left > 0 { Ok(()) } else { Err("failed".into()) }
        });
        assert!(timed.is_err());
        assert_eq!(left, 0);
    }
}
