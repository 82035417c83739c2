//! `raw-heads`: the heads of A-stacks between bare processes. Posted by a swap, which brings back
//! whether the server polls; loaded whole by a server that does not know which one comes next;
//! claimed before the effect, so that a call runs once; answered by a swap, which brings back
//! whether the client sleeps. Nothing is called, judged, bound or revoked, and nobody sleeps.
//!
//! What `raw-1line` and `raw-array` leave out is what such a call owes to the failure contract.

use std::sync::atomic::{AtomicU32, Ordering};

use nearcall_abi::{AStackHead, LINE_BYTES, PAGE_BYTES};
use nearcall_os::processor::{self, Linger};
use nearcall_os::{HeadWords, Segment};

use crate::child::{Failure, Link};
use crate::raw::pair::{self, POLLS_MAX, Pair};
use crate::statistics::{Plan, Samples};

/// The child's role.
pub const ROLE: &str = "raw-heads";

/// The bound's name.
pub const NAME: &str = "raw-heads";

/// For how long a side leaves a head alone that it has just given away. Which is best depends on
/// where the processors are.
const LINGER_CYCLES: [u32; 4] = [0, 60, 120, 180];

/// Heads that the server asks for at once.
const TOGETHER: usize = 8;

/// Polls of the client before it asks for the line in a state to be written.
const POLLS_TO_LOAD: u32 = 5;

/// The other process, asleep until [`Heads::measure`].
pub struct Heads(Pair);

impl Heads {
    /// Starts one on processor `processor`.
    pub fn start(processor: u32) -> Result<Heads, Failure> {
        Ok(Heads(Pair::start(ROLE, processor, PAGE_BYTES as usize)?))
    }

    /// What one head there and back takes while `count` are under way, the oldest collected first,
    /// with the time to linger that is best.
    pub fn measure(&self, count: usize, plan: Plan) -> Result<Samples, Failure> {
        pair::fastest(LINGER_CYCLES.map(|cycles| self.measure_with(cycles, count, plan)))
    }

    fn measure_with(&self, cycles: u32, count: usize, plan: Plan) -> Result<Samples, Failure> {
        let heads = heads(&self.0.segment, count)?;
        let linger = Linger::of_cycles(cycles);
        // Relaxed: the child is told afterwards.
        heads.iter().for_each(|head| head.turn.store(0, Ordering::Relaxed));
        self.0.tell(&[cycles.into(), count as u64, plan.calls().into()])?;
        let mut made = 0;
        let samples = plan.time(|| {
            let head = heads[made % count];
            let odd = 2 * (made / count) as u32 + 1;
            if count > 1 {
                // The one that was posted on this head before is collected first.
                collect(head, odd - 1)?;
            }
            give(head, odd);
            if count == 1 {
                linger.pass();
                collect(head, odd + 1)?;
            }
            made += 1;
            Ok::<(), Failure>(())
        })?;
        for at in made.saturating_sub(count)..made {
            collect(heads[at % count], 2 * (at / count) as u32 + 2)?;
        }
        Ok(samples)
    }
}

/// What the child does.
pub fn play(link: &Link, arguments: &[String]) -> Result<(), Failure> {
    let segment = pair::join(link, arguments)?;
    while let Some([cycles, count, calls, ..]) = link.next()? {
        let heads = heads(&segment, usize::try_from(count)?)?;
        serve(&heads, Linger::of_cycles(u32::try_from(cycles)?), calls)?;
    }
    Ok(())
}

/// The child's half of `calls` round trips.
fn serve(heads: &[&AStackHead], linger: Linger, calls: u64) -> Result<(), Failure> {
    let claims: Vec<AtomicU32> = heads.iter().map(|_| AtomicU32::new(0)).collect();
    let (mut served, mut polls) = (0, 0);
    while served < calls {
        let before = served;
        for (heads, claims) in heads.chunks(TOGETHER).zip(claims.chunks(TOGETHER)) {
            served += serve_together(heads, claims)?;
        }
        polls = if served > before { 0 } else { polls + 1 };
        if polls == POLLS_MAX {
            return Err("the other process does not post".into());
        }
        if served > before && heads.len() == 1 {
            linger.pass();
        } else {
            processor::relax_briefly();
        }
    }
    Ok(())
}

/// Looks at all before it acts on what one of them says, so that their lines travel together.
#[inline(always)]
fn serve_together(heads: &[&AStackHead], claims: &[AtomicU32]) -> Result<u64, Failure> {
    let mut turns = [0; TOGETHER];
    for (turn, head) in turns.iter_mut().zip(heads) {
        *turn = HeadWords::load(head).turn();
        if heads.len() > 1 && *turn % 2 == 1 {
            processor::prefetch_write(*head);
        }
    }
    let mut served = 0;
    for ((turn, head), claim) in turns.into_iter().zip(heads).zip(claims) {
        if turn % 2 == 1 {
            // Acquire and release: a call runs once, after its claim.
            claim
                .compare_exchange(turn - 1, turn + 1, Ordering::AcqRel, Ordering::Acquire)
                .map_err(|seen| format!("turn {turn} is posted after {seen}"))?;
            give(head, turn + 1);
            served += 1;
        }
    }
    Ok(served)
}

/// Fills the head's words and gives it to the other side.
#[inline(always)]
fn give(head: &AStackHead, turn: u32) {
    // Relaxed, all: made visible by the turn.
    head.selector.store(0, Ordering::Relaxed);
    head.message_bytes.store(0, Ordering::Relaxed);
    head.origin.store(0, Ordering::Relaxed);
    // Acquire and release: what was written before is for whoever sees the turn, and what it
    // brings back is of the other side.
    head.turn.swap(turn, Ordering::AcqRel);
}

#[inline(always)]
fn collect(head: &AStackHead, even: u32) -> Result<(), Failure> {
    for polls in 0..POLLS_MAX {
        if HeadWords::load(head).turn() == even {
            return Ok(());
        }
        if polls > POLLS_TO_LOAD {
            processor::prefetch_write(head);
        }
        processor::relax_briefly();
    }
    Err("the other process does not answer".into())
}

fn heads(segment: &Segment, count: usize) -> Result<Vec<&AStackHead>, Failure> {
    pair::lines(segment, count, LINE_BYTES as usize)
}
