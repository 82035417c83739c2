//! What an idle processor of several does before it sleeps, and how often it looks up from that.

use std::hint::spin_loop;
use std::time::Duration;

use super::Processor;
use crate::thief::LATE;

/// An idle processor looks so often what others have before it sleeps.
const SEEKS: u32 = 10;

/// It polls so often before each look, together about what it costs to wake it: a few others. Of
/// many it looks at so many in all.
const SEEK_POLLS: usize = 40;
const SEEK_LOOKS: usize = 320;

/// Of up to so many processors, each that sleeps looks whether another one is stuck with a thread
/// that could begin here whenever that would be late; of more as much more seldom, so that all of
/// them together look at each one no more often than so many would.
const WATCHERS: usize = 16;

/// How often it polls so many others before each look.
fn polls_of(others: usize) -> usize {
    (SEEK_LOOKS / others).clamp(1, SEEK_POLLS)
}

/// How long one of so many processors sleeps before it looks at the others.
pub(super) fn watch_of(processors: usize) -> Duration {
    LATE * processors.div_ceil(WATCHERS) as u32
}

impl Processor {
    /// Polls for a while what other processors do, if it has not so often yet. False: it has, or
    /// there are none.
    pub(super) fn seek(&self, seeks: &mut u32) -> bool {
        if self.is_alone() || *seeks >= SEEKS {
            return false;
        }
        *seeks += 1;
        for _ in 0..polls_of(self.place.team.members().len() - 1) {
            if self.is_wanted() {
                break;
            }
            spin_loop();
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_idle_processors_look_at_each_other_no_more_often_than_some() {
        for processors in 2..=crate::run::PROCESSORS_MAX {
            let others = processors - 1;
            let looks = others * polls_of(others);
            assert!(looks <= SEEK_LOOKS.max(others), "{looks} looks of {processors} processors");
            let looked_at = LATE.as_secs_f64() / watch_of(processors).as_secs_f64();
            assert!(looked_at * others as f64 <= WATCHERS as f64, "of {processors} processors");
        }
        assert_eq!((polls_of(1), watch_of(2)), (SEEK_POLLS, LATE));
    }
}
