//! `raw-futex`: bytes in shared memory, and a word that the client makes odd and the server even.
//! Whoever waits for it sleeps at once.

use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;
use std::time::Duration;

use nearcall_abi::{AStackHead, PAGE_BYTES};
use nearcall_os::futex;
use nearcall_os::{Sealing, Segment, SpanMut};

use crate::child::{Failure, Link};
use crate::raw::exchange::{BYTES_MAX, Carrier};

/// Where the arguments begin; the words have the page before.
const ARGUMENTS: usize = PAGE_BYTES as usize;

/// Where the results begin.
const RESULTS: usize = ARGUMENTS + BYTES_MAX;

/// Bytes of the segment.
const SEGMENT_BYTES: usize = RESULTS + BYTES_MAX;

/// What the client writes for a length when it leaves.
const LEAVING: u32 = u32::MAX;

/// A client that does not come back for so long is taken for gone, in case it could not say so.
const SLICE: Duration = Duration::from_secs(600);

/// The client's side.
pub struct Futex {
    segment: Segment,
    even: u32,
}

impl Futex {
    /// The client's side, and what the other side is to get.
    pub fn client() -> Result<(Box<dyn Carrier>, Vec<OwnedFd>), Failure> {
        let (segment, file) = Segment::create("bench-futex", SEGMENT_BYTES, Sealing::BothWrite)?;
        Ok((Box::new(Futex { segment, even: 0 }), vec![file]))
    }
}

impl Drop for Futex {
    fn drop(&mut self) {
        if let Ok((head, _)) = parts(&self.segment) {
            // Relaxed: made visible by the turn.
            head.message_bytes.store(LEAVING, Ordering::Relaxed);
            pass(head, self.even + 1);
        }
    }
}

impl Carrier for Futex {
    fn exchange(&mut self, arguments: &[u8], results: &mut [u8]) -> Result<(), Failure> {
        let (head, span) = parts(&self.segment)?;
        span.copy_in(ARGUMENTS, arguments);
        // Relaxed, both: made visible by the turn.
        head.message_bytes.store(arguments.len() as u32, Ordering::Relaxed);
        head.selector.store(results.len() as u32, Ordering::Relaxed);
        pass(head, self.even + 1);
        self.even += 2;
        wait_until(head, self.even)?;
        span.as_span().copy_out(RESULTS, results);
        Ok(())
    }
}

/// What the child does. It copies the arguments, as a server that looked at them would.
pub fn serve(link: &Link) -> Result<(), Failure> {
    let [file] = link.descriptors()?;
    let segment = Segment::receive(file, SEGMENT_BYTES, Sealing::BothWrite)?;
    let (head, span) = parts(&segment)?;
    let mut bytes = vec![0; BYTES_MAX];
    link.answer(0)?;
    for odd in (1..).step_by(2) {
        wait_until(head, odd)?;
        // Relaxed, both: made visible by the turn.
        let length = head.message_bytes.load(Ordering::Relaxed);
        let back = head.selector.load(Ordering::Relaxed) as usize;
        if length == LEAVING {
            break;
        }
        span.as_span().copy_out(ARGUMENTS, &mut bytes[..length as usize]);
        span.copy_in(RESULTS, &bytes[..back]);
        pass(head, odd + 1);
    }
    Ok(())
}

fn parts(segment: &Segment) -> Result<(&AStackHead, SpanMut<'_>), Failure> {
    let span = segment.span_mut().ok_or("the segment is not writable")?;
    Ok((span.line(0).ok_or("the segment has no line")?, span))
}

/// Gives the turn to the other side, and wakes it.
#[inline]
fn pass(head: &AStackHead, turn: u32) {
    // Release: what was written before is for whoever sees the turn.
    head.turn.store(turn, Ordering::Release);
    futex::wake_all(&head.turn);
}

#[inline]
fn wait_until(head: &AStackHead, turn: u32) -> Result<(), Failure> {
    loop {
        // Acquire: what the other side wrote before it passed the turn is there.
        let seen = head.turn.load(Ordering::Acquire);
        if seen == turn {
            return Ok(());
        }
        if futex::wait(&head.turn, seen, SLICE) == futex::Woken::TimedOut {
            return Err("the other process does not answer".into());
        }
    }
}
