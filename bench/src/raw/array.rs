//! `raw-array`: several cache lines that two processors write in turn, so that their transfers
//! overlap. As many calls under way from one thread cannot be faster: nothing is called, nothing is
//! checked, no line is shared by two of them, no operation is locked, and both sides know which
//! line is next.

use nearcall_abi::{AStackHead, LINE_BYTES, PAGE_BYTES};
use nearcall_os::Segment;

use crate::child::{Failure, Link};
use crate::raw::line::{Load, Prefetch};
use crate::raw::pair::{self, Pair};
use crate::raw::peer::{Wait, store, wait_until};
use crate::statistics::{Plan, Samples};

/// The child's role.
pub const ROLE: &str = "raw-array";

/// The bound's name.
pub const NAME: &str = "raw-array";

/// The other process, asleep until [`Array::measure`].
pub struct Array(Pair);

impl Array {
    /// Starts one on processor `processor`.
    pub fn start(processor: u32) -> Result<Array, Failure> {
        Ok(Array(Pair::start(ROLE, processor, PAGE_BYTES as usize)?))
    }

    /// What one line there and back takes while `count` are under way, polled in the way that is
    /// faster.
    pub fn measure(&self, count: usize, plan: Plan) -> Result<Samples, Failure> {
        let loads = self.measure_by::<Load>(count, plan);
        pair::fastest([loads, self.measure_by::<Prefetch>(count, plan)])
    }

    fn measure_by<W: Wait>(&self, count: usize, plan: Plan) -> Result<Samples, Failure> {
        let heads = heads(&self.0.segment, count)?;
        heads.iter().for_each(|head| store(&head.turn, 0));
        self.0.tell(&[W::NUMBER, count as u64, plan.calls().into()])?;
        let mut made = 0;
        let samples = plan.time(|| {
            let head = heads[made % count];
            let odd = 2 * (made / count) as u32 + 1;
            // The one that was posted on this line before is collected first.
            wait_until::<W>(head, odd - 1)?;
            store(&head.turn, odd);
            made += 1;
            Ok::<(), Failure>(())
        })?;
        for at in made.saturating_sub(count)..made {
            wait_until::<W>(heads[at % count], 2 * (at / count) as u32 + 2)?;
        }
        Ok(samples)
    }
}

/// What the child does.
pub fn play(link: &Link, arguments: &[String]) -> Result<(), Failure> {
    let segment = pair::join(link, arguments)?;
    while let Some([way, count, calls, ..]) = link.next()? {
        let heads = heads(&segment, usize::try_from(count)?)?;
        match way {
            Load::NUMBER => follow::<Load>(&heads, calls)?,
            Prefetch::NUMBER => follow::<Prefetch>(&heads, calls)?,
            _ => return Err(format!("there is no way {way} to wait").into()),
        }
    }
    Ok(())
}

/// The child's half of `calls` round trips.
fn follow<W: Wait>(heads: &[&AStackHead], calls: u64) -> Result<(), Failure> {
    for at in 0..usize::try_from(calls)? {
        let head = heads[at % heads.len()];
        let odd = 2 * (at / heads.len()) as u32 + 1;
        wait_until::<W>(head, odd)?;
        store(&head.turn, odd + 1);
    }
    Ok(())
}

fn heads(segment: &Segment, count: usize) -> Result<Vec<&AStackHead>, Failure> {
    pair::lines(segment, count, LINE_BYTES as usize)
}
