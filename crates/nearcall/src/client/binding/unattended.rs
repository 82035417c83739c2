//! Calls that were posted and that nobody waits for yet. Who waits rings again for a call that no
//! server processor takes; for these, housekeeping does (design note 0003).

use std::sync::{Mutex, PoisonError};

use nearcall_core::lookout::Lookout;
use nearcall_core::overdue::Overdue;
use nearcall_core::turn;
use nearcall_os::fence;

use super::{ClientBinding, was_claimed};
use crate::client::linkage::NOBODY;

/// Looks in a row that find no call which anybody would have to take, after which housekeeping
/// looks once more, and no more.
const IDLE_LOOKS: u32 = 25;

/// What a binding knows of them.
#[derive(Debug, Default)]
pub(super) struct Unattended {
    lookout: Lookout,
    /// Housekeeping's own.
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    overdue: Overdue,
    idle_looks: u32,
}

/// What a look found.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    /// A call that somebody would have to take.
    is_any: bool,
    /// How often somebody has to ring for one of them; 0: for none.
    times: u32,
}

impl ClientBinding {
    /// A call was posted that nobody waits for yet.
    ///
    /// # Cost: one load; if there was none for a tenth of a second, a wake-up of housekeeping.
    #[inline(always)]
    pub fn leave_unattended(&self) {
        if self.unattended.lookout.is_wanted() {
            self.have_looked_after();
        }
    }

    /// The word that this looks at.
    pub fn lookout(&self) -> &Lookout {
        &self.unattended.lookout
    }

    #[cold]
    #[inline(never)]
    fn have_looked_after(&self) {
        if self.unattended.lookout.begin() {
            self.domain.core().housekeeping.look_after_posted(&self.me);
        }
    }

    /// Whether housekeeping is to look again.
    pub fn is_looked_after(&self) -> bool {
        self.unattended.lookout.is_kept()
    }

    /// Looks at the calls that nobody waits for, and rings for those that no server processor has
    /// taken since the last look, the second last, the fourth last and so on.
    pub fn look_after_unattended(&self) {
        let mut seen = self.unattended.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let found = self.look(&mut seen.overdue);
        seen.idle_looks = if found.is_any { 0 } else { seen.idle_looks + 1 };
        if seen.idle_looks > IDLE_LOOKS {
            seen.idle_looks = 0;
            // Where there is no fence, a call that is posted just now may be left to itself.
            let fence = || {
                if fence::is_available() {
                    fence::heavy()
                }
            };
            self.unattended.lookout.end(fence);
            if self.look(&mut seen.overdue).is_any {
                self.unattended.lookout.begin();
            }
        }
        drop(seen);
        if found.times > 0 && self.state.is_open() {
            self.ring_again(found.times);
        }
    }

    fn look(&self, overdue: &mut Overdue) -> Found {
        let mut found = Found::default();
        for astack in self.regions().flat_map(|region| region.region.astacks()) {
            let record = astack.record();
            let call = (record.outstanding() != NOBODY).then(|| record.sequence());
            let Some(looks) = overdue.look(record.index, call) else { continue };
            found.is_any = true;
            // Seldom: both sides may have these lines in their hands just now.
            if !looks.is_power_of_two() {
                continue;
            }
            let is_posted = turn::is_pending(&astack.head().turn);
            match is_posted && !was_claimed(astack, record.sequence()) {
                true => found.times = found.times.max(looks.ilog2() + 1),
                false => overdue.take(record.index),
            }
        }
        found
    }
}
