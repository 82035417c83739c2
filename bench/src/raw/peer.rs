//! Two processes that alternate on one word: the parent makes it odd, the child makes it even. How
//! they wait for each other is what the bounds differ in.

use std::sync::atomic::{AtomicU32, Ordering};

use nearcall_abi::{AStackHead, PAGE_BYTES};
use nearcall_os::Segment;

use crate::child::{Failure, Link};
use crate::raw::pair::{self, Pair};
use crate::raw::{line, yielding};
use crate::statistics::{Plan, Samples};

/// The child's role.
pub const ROLE: &str = "raw";

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
        Ok(Peer(Pair::start(ROLE, processor, PAGE_BYTES as usize)?))
    }

    /// Times round trips. The child is asleep again soon after.
    pub fn alternate<W: Wait>(&self, plan: Plan) -> Result<Samples, Failure> {
        let head = head(&self.0.segment)?;
        store(&head.turn, 0);
        self.0.tell(&[W::NUMBER, plan.calls().into()])?;
        let mut even = 0;
        plan.time(|| {
            store(&head.turn, even + 1);
            even += 2;
            wait_until::<W>(head, even)
        })
    }
}

/// What the child does.
pub fn play(link: &Link, arguments: &[String]) -> Result<(), Failure> {
    let segment = pair::join(link, arguments)?;
    let head = head(&segment)?;
    while let Some([way, count, ..]) = link.next()? {
        match way {
            line::Load::NUMBER => follow::<line::Load>(head, count)?,
            line::Prefetch::NUMBER => follow::<line::Prefetch>(head, count)?,
            yielding::Yield::NUMBER => follow::<yielding::Yield>(head, count)?,
            _ => return Err(format!("there is no way {way} to wait").into()),
        }
    }
    Ok(())
}

/// The child's half of `count` round trips.
fn follow<W: Wait>(head: &AStackHead, count: u64) -> Result<(), Failure> {
    for odd in (1..).step_by(2).take(usize::try_from(count)?) {
        wait_until::<W>(head, odd)?;
        store(&head.turn, odd + 1);
    }
    Ok(())
}

fn head(segment: &Segment) -> Result<&AStackHead, Failure> {
    let line = pair::lines(segment, 1, PAGE_BYTES as usize)?;
    Ok(line[0])
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
