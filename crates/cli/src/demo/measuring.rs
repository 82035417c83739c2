//! The table of the four calls, each beside what the machine can do at best.
//!
//! Times of two moments cannot be compared on a machine that has other things to do, so that call
//! and bound are measured by turns, and what counts is the median of the rounds' ratios.

use std::fmt::Write as _;
use std::path::Path;

use nearcall::Domain;
use nearcall_os::processor;

use super::bounds::{self, Way};
use super::four_calls::{Call, FourCalls};
use super::timing::{Repetition, median};
use crate::failure::Failure;

/// Rounds of the table.
const ROUNDS: usize = 5;

/// Which processors client and server run on while they are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places {
    /// The client's.
    pub client: u32,
    /// The server's; the same if there is but one.
    pub server: u32,
}

/// What a call took, in each round, and its bound beside it.
#[derive(Debug, Default)]
struct Row {
    times_ns: Vec<f64>,
    bounds_ns: Vec<f64>,
}

impl Places {
    /// The first two of those allowed, or the only one.
    pub fn choose(allowed: &[u32]) -> Places {
        let client = allowed[0];
        Places { client, server: allowed.get(1).copied().unwrap_or(client) }
    }

    fn is_one(self) -> bool {
        self.client == self.server
    }

    fn repetition(self, calls: Option<u32>) -> Repetition {
        match self.is_one() {
            true => Repetition { calls: calls.unwrap_or(2_000), batch: 8 },
            false => Repetition { calls: calls.unwrap_or(10_000), batch: 64 },
        }
    }

    fn bound_name(self) -> &'static str {
        if self.is_one() { "raw-yield" } else { "raw-1line" }
    }

    /// The best that can be done between the two.
    fn bound_ns(self, repetition: Repetition) -> Result<f64, Failure> {
        let by = |way| bounds::p50_ns(way, self.server, repetition);
        match self.is_one() {
            true => by(Way::Yield),
            false => Ok(by(Way::Load)?.min(by(Way::Prefetch)?)),
        }
    }
}

/// Measures, and sets the table.
pub fn table(
    domain: &Domain,
    names: &Path,
    places: &Places,
    calls: Option<u32>,
) -> Result<String, Failure> {
    // On a thread of its own, because it is bound to a processor.
    let measured = std::thread::scope(|scope| {
        let measuring = scope.spawn(|| {
            let pinned = processor::pin(places.client);
            pinned.map_err(|error| format!("cannot use processor {}: {error}", places.client))?;
            measure(&FourCalls::import(domain, names)?, *places, places.repetition(calls))
        });
        measuring.join().expect("measuring does not panic")
    });
    Ok(set(&measured?, *places, places.repetition(calls).calls))
}

fn measure(calls: &FourCalls, places: Places, repetition: Repetition) -> Result<[Row; 4], Failure> {
    let mut rows: [Row; 4] = Default::default();
    for _ in 0..ROUNDS {
        let bound_ns = places.bound_ns(repetition)?;
        for (call, row) in Call::ALL.into_iter().zip(&mut rows) {
            row.times_ns.push(calls.p50_ns(call, repetition)?);
            row.bounds_ns.push(bound_ns);
        }
    }
    Ok(rows)
}

fn set(rows: &[Row; 4], places: Places, calls: u32) -> String {
    let where_ = match places.is_one() {
        true => format!("client and server on processor {}", places.client),
        false => {
            format!("client on processor {}, server on processor {}", places.client, places.server)
        }
    };
    let mut text = format!("\n{where_}; medians of {ROUNDS} rounds of {calls} calls\n\n");
    let bound = places.bound_name();
    line(&mut text, ["", "p50", bound, "ratio", "best", "worst"].map(str::to_owned));
    for (call, row) in Call::ALL.into_iter().zip(rows) {
        let mut ratios: Vec<_> =
            row.times_ns.iter().zip(&row.bounds_ns).map(|(time, bound)| time / bound).collect();
        let ratio = median(&mut ratios);
        let ns = |samples: &[f64]| format!("{:.0} ns", median(&mut samples.to_vec()));
        let (time, bound) = (ns(&row.times_ns), ns(&row.bounds_ns));
        let [ratio, best, worst] =
            [ratio, ratios[0], ratios[ratios.len() - 1]].map(|ratio| format!("{ratio:.2}"));
        line(&mut text, [call.name().to_owned(), time, bound, ratio, best, worst]);
    }
    if cfg!(debug_assertions) {
        text.push_str("\nbuilt without optimisation: a release build is faster\n");
    }
    text
}

/// Adds a line; writing to a string does not fail.
fn line(text: &mut String, cells: [String; 6]) {
    let [name, rest @ ..] = cells;
    let _ = write!(text, "{name:24}");
    for cell in rest {
        let _ = write!(text, "{cell:>11}");
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_processors_are_used_if_there_are_two() {
        assert_eq!(Places::choose(&[3, 5, 7]), Places { client: 3, server: 5 });
        assert_eq!(Places::choose(&[3]), Places { client: 3, server: 3 });
    }

    #[test]
    fn a_ratio_is_the_median_of_the_rounds_ratios() {
        let row = || Row { times_ns: vec![30.0, 40.0, 10.0], bounds_ns: vec![10.0, 20.0, 10.0] };
        let text = set(&[row(), row(), row(), row()], Places { client: 0, server: 1 }, 7);
        let null = text.lines().find(|line| line.starts_with("null")).unwrap();
        let cells: Vec<_> = null.split_whitespace().collect();
        assert_eq!(cells, ["null", "30", "ns", "10", "ns", "2.00", "1.00", "3.00"]);
        assert_eq!(text.lines().filter(|line| line.contains(" ns")).count(), 4);
    }
}
