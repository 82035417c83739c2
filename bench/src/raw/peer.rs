//! Two processes that alternate on one word: the parent makes it odd, the child makes it even. How
//! they wait for each other is what the bounds differ in.
//!
//! What a line takes depends on where in the machine its address is kept: 117 to 167 ns were seen
//! of lines of one segment, each the same time again. So they change to another line after some
//! round trips, and the bound is what lines of that segment take in the middle.

use std::sync::atomic::{AtomicU32, Ordering};

use nearcall_abi::{AStackHead, PAGE_BYTES};
use nearcall_os::Segment;

use crate::child::{Failure, Link};
use crate::raw::pair::{self, Pair};
use crate::raw::{line, yielding};
use crate::statistics::{Plan, Samples};

/// The child's role.
pub const ROLE: &str = "raw";

/// Lines that take turns, a page apart.
const LINES: u32 = 16;

/// Round trips by one line, until the next one's turn.
const LINE_TRIPS: u32 = 64;

/// One way of waiting, on both sides.
pub trait Wait {
    /// What names it to the child.
    const NUMBER: u64;

    /// Most polls before the other side is taken for gone: many seconds.
    const POLLS_MAX: u32;

    /// Looks at the word once, as this way has it.
    fn look(head: &AStackHead) -> u32;

    /// What stands between two looks.
    fn between();
}

/// The other process, asleep until [`Peer::alternate`].
pub struct Peer(Pair);

impl Peer {
    /// Starts one on processor `processor`.
    pub fn start(processor: u32) -> Result<Peer, Failure> {
        Ok(Peer(Pair::start(ROLE, processor, (LINES * PAGE_BYTES) as usize)?))
    }

    /// Times round trips. The child is asleep again soon after.
    pub fn alternate<W: Wait>(&self, plan: Plan) -> Result<Samples, Failure> {
        let heads = heads(&self.0.segment)?;
        heads.iter().for_each(|head| store(&head.turn, 0));
        self.0.tell(&[W::NUMBER, plan.calls().into()])?;
        let mut trip = 0;
        plan.time(|| {
            let (line, odd) = turn(trip);
            trip += 1;
            store(&heads[line].turn, odd);
            wait_until::<W>(heads[line], odd + 1)
        })
    }
}

/// What the child does.
pub fn play(link: &Link, arguments: &[String]) -> Result<(), Failure> {
    let segment = pair::join(link, arguments)?;
    let heads = heads(&segment)?;
    while let Some([way, count, ..]) = link.next()? {
        match way {
            line::Load::NUMBER => follow::<line::Load>(&heads, count)?,
            line::Prefetch::NUMBER => follow::<line::Prefetch>(&heads, count)?,
            yielding::Yield::NUMBER => follow::<yielding::Yield>(&heads, count)?,
            _ => return Err(format!("there is no way {way} to wait").into()),
        }
    }
    Ok(())
}

/// The child's half of `count` round trips.
fn follow<W: Wait>(heads: &[&AStackHead], count: u64) -> Result<(), Failure> {
    for trip in 0..u32::try_from(count)? {
        let (line, odd) = turn(trip);
        wait_until::<W>(heads[line], odd)?;
        store(&heads[line].turn, odd + 1);
    }
    Ok(())
}

fn heads(segment: &Segment) -> Result<Vec<&AStackHead>, Failure> {
    pair::lines(segment, LINES as usize, PAGE_BYTES as usize)
}

/// By which line a round trip goes, and what the parent stores there.
#[inline]
fn turn(trip: u32) -> (usize, u32) {
    let (turn, of_turn) = (trip / LINE_TRIPS, trip % LINE_TRIPS);
    let trips_of_line = turn / LINES * LINE_TRIPS + of_turn;
    ((turn % LINES) as usize, 2 * trips_of_line + 1)
}

/// Gives the line to the other side.
#[inline]
pub fn store(word: &AtomicU32, value: u32) {
    // Relaxed: the word stands for itself; a bound makes nothing else visible.
    word.store(value, Ordering::Relaxed);
}

/// Polls until the word is `value`.
#[inline]
pub fn wait_until<W: Wait>(head: &AStackHead, value: u32) -> Result<(), Failure> {
    for _ in 0..W::POLLS_MAX {
        if W::look(head) == value {
            return Ok(());
        }
        W::between();
    }
    Err("the other process does not alternate".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_has_its_turn_and_goes_on_where_it_was() {
        let mut expected = [1; LINES as usize];
        for trip in 0..3 * LINES * LINE_TRIPS {
            let (line, odd) = turn(trip);
            assert_eq!(line as u32, trip / LINE_TRIPS % LINES);
            assert_eq!(odd, expected[line], "trip {trip}");
            expected[line] += 2;
        }
    }
}
