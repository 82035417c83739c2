//! What the machine can do at best: two processes that alternate on one word of shared memory, and
//! nothing called, checked or copied.
//!
//! `raw-1line` is one cache line that two processors write in turn while each polls it, by loads or
//! by `prefetchw`, whichever is faster here. `raw-yield` is two processes that give one processor
//! to each other.

use std::os::fd::AsFd;
use std::os::unix::process::parent_id;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use nearcall_abi::{AStackHead, PAGE_BYTES};
use nearcall_os::{Sealing, Segment, processor};

use super::child::THIS_PROGRAM;
use super::timing::Repetition;
use crate::failure::Failure;

/// The parent stores odd numbers, the child the even ones after them, until this.
const END: u32 = u32::MAX;

/// Whoever waits so long waits for nobody. A child whose parent is gone waits no longer.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Polls between two looks at the clock.
const POLLS: u32 = 1 << 14;

/// The other process of a bound
#[derive(Args)]
pub struct DemoBound {
    /// How it waits
    way: Way,
    /// Where it runs
    processor: u32,
}

/// How the two wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Way {
    /// Load, pause.
    Load,
    /// Prefetch to write, load, pause.
    Prefetch,
    /// Load, yield.
    Yield,
}

/// Ends with the round that needs it, however that ends.
struct Other(Child);

impl Drop for Other {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What alternating costs, there and back; the other process runs on `processor`.
pub fn p50_ns(way: Way, processor: u32, repetition: Repetition) -> Result<f64, Failure> {
    let made = Segment::create("nearcall-demo", PAGE_BYTES as usize, Sealing::BothWrite);
    let (segment, file) = made.map_err(|error| format!("cannot make a segment: {error}"))?;
    let name = way.to_possible_value().expect("no way is hidden");
    let mut command = Command::new(THIS_PROGRAM);
    command.args(["demo-bound", name.get_name(), &processor.to_string()]);
    command.stdin(file).stdout(Stdio::null());
    let child = command.spawn().map_err(|error| format!("cannot start a process: {error}"))?;
    let _other = Other(child);
    let head = head(&segment)?;
    let mut odd = 1;
    // The first time it may still be starting.
    store(head, odd);
    wait_until(head, Way::Yield, odd + 1)?;
    let timed = repetition.p50_ns(|| {
        odd += 2;
        store(head, odd);
        wait_until(head, way, odd + 1).map(drop)
    });
    store(head, END);
    timed
}

impl DemoBound {
    /// Alternates with whoever shares standard input, a segment.
    pub fn run(&self) -> Result<(), Failure> {
        let pinned = processor::pin(self.processor);
        pinned.map_err(|error| format!("cannot use processor {}: {error}", self.processor))?;
        let file = std::io::stdin().as_fd().try_clone_to_owned();
        let file = file.map_err(|error| format!("cannot use standard input: {error}"))?;
        let received = Segment::receive(file, PAGE_BYTES as usize, Sealing::BothWrite);
        let segment = received.map_err(|fault| format!("standard input: {fault}"))?;
        let head = head(&segment)?;
        let mut odd = 1;
        while wait_until(head, self.way, odd)? != END {
            store(head, odd + 1);
            odd += 2;
        }
        Ok(())
    }
}

fn head(segment: &Segment) -> Result<&AStackHead, Failure> {
    let line = segment.span_mut().and_then(|span| span.line(0));
    line.ok_or("the segment is not writable".into())
}

#[inline]
fn store(head: &AStackHead, value: u32) {
    // Relaxed: the word stands for itself.
    head.turn.store(value, Ordering::Relaxed);
}

/// Waits for a value, or for the end; returns which.
#[inline]
fn wait_until(head: &AStackHead, way: Way, value: u32) -> Result<u32, Failure> {
    let mut since = None;
    loop {
        for _ in 0..POLLS {
            if way == Way::Prefetch {
                processor::prefetch_write(head);
            }
            // Relaxed: as in `store`.
            let seen = head.turn.load(Ordering::Relaxed);
            if seen == value || seen == END {
                return Ok(seen);
            }
            match way {
                Way::Yield => processor::yield_now(),
                _ => processor::relax(),
            }
        }
        let (started, parent) = *since.get_or_insert_with(|| (Instant::now(), parent_id()));
        if started.elapsed() > TIMEOUT || parent_id() != parent {
            return Err("the other process does not alternate".into());
        }
    }
}
