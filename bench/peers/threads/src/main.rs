//! Other people's threads, for the table `threads`: coroutines of `may` and tasks of tokio, each on
//! one kernel thread. `go` and `fibers` beside this do the same in Go and in C++.
//!
//! ```text
//! standard output: ready VERSION
//! standard input:  CASE WARM_UP BATCHES BATCH     and so on, until it ends
//! standard output: ns ns ns …                     one number for each batch
//! ```
//!
//! | case | an operation is |
//! |---|---|
//! | `fork` | one that nobody joins is forked; after each 64th all of them run to their end |
//! | `fork-join` | one is forked and joined |
//! | `yield` | one of two lets the other one go on |
//! | `pingpong` | half of a round trip between two: a signal and a wait |

#![forbid(unsafe_code)]

mod coroutines;
mod tasks;

use std::error::Error;
use std::io::{self, BufRead};
use std::process::ExitCode;

/// Why something could not be measured, for people.
type Failure = Box<dyn Error>;

/// Threads that are forked before they run.
const TOGETHER: u32 = 64;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Case {
    Fork,
    ForkJoin,
    Yield,
    Pingpong,
}

/// What is asked for in one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Order {
    case: Case,
    warm_up: u32,
    batches: u32,
    batch: u32,
}

fn main() -> ExitCode {
    let subject = std::env::args().nth(1).unwrap_or_default();
    let played = match subject.as_str() {
        "may" => answer(env!("MAY_VERSION"), coroutines::time),
        "tokio" => tasks::runtime().map_err(Failure::from).and_then(|runtime| {
            answer(env!("TOKIO_VERSION"), |order| tasks::time(&runtime, order))
        }),
        _ => Err(format!("there is no subject {subject}").into()),
    };
    match played {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench-threads: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Answers order after order.
fn answer(version: &str, time: impl Fn(Order) -> Result<Vec<u64>, Failure>) -> Result<(), Failure> {
    println!("ready {version}");
    for line in io::stdin().lock().lines() {
        let times: Vec<String> = time(Order::read(&line?)?)?.iter().map(u64::to_string).collect();
        println!("{}", times.join(" "));
    }
    Ok(())
}

impl Order {
    fn read(line: &str) -> Result<Order, Failure> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [case, warm_up, batches, batch] = words[..] else {
            return Err(format!("`{line}` is not CASE WARM_UP BATCHES BATCH").into());
        };
        let case = match case {
            "fork" => Case::Fork,
            "fork-join" => Case::ForkJoin,
            "yield" => Case::Yield,
            "pingpong" => Case::Pingpong,
            _ => return Err(format!("there is no case {case}").into()),
        };
        let (warm_up, batches, batch) = (warm_up.parse()?, batches.parse()?, batch.parse()?);
        Ok(Order { case, warm_up, batches, batch })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_a_case_and_three_numbers() {
        let want = Order { case: Case::ForkJoin, warm_up: 16, batches: 200, batch: 64 };
        assert_eq!(Order::read("fork-join 16 200 64").unwrap(), want);
        for line in ["", "fork 1 2", "fork 1 2 3 4", "spoon 1 2 3", "fork 1 2 x"] {
            assert!(Order::read(line).is_err(), "{line}");
        }
    }

    #[test]
    fn every_case_has_a_time_for_each_batch() {
        let runtime = tasks::runtime().unwrap();
        for case in [Case::Fork, Case::ForkJoin, Case::Yield, Case::Pingpong] {
            let order = Order { case, warm_up: 64, batches: 3, batch: 64 };
            assert_eq!(tasks::time(&runtime, order).unwrap().len(), 3, "{case:?}");
            assert_eq!(coroutines::time(order).unwrap().len(), 3, "{case:?}");
        }
    }
}
