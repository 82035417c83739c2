//! Bindings whose clients have gone and have left calls behind for which nobody waits: they stay,
//! charged to their users, until these have ended (design note 0015).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::Housekeeping;
use crate::domain::DomainCore;
use crate::server::binding::parting::Parting;

/// Those that part now.
#[derive(Debug, Default)]
pub(super) struct Parted {
    list: Mutex<Vec<Parting>>,
}

impl Parted {
    fn list(&self) -> MutexGuard<'_, Vec<Parting>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// None is looked after any more.
    pub fn clear(&self) {
        let list = std::mem::take(&mut *self.list());
        drop(list);
    }
}

impl Housekeeping {
    /// The client of a binding has gone, and what it has left behind is to be begun. Nothing is
    /// read of its socket but descriptors of those calls.
    pub(super) fn part(&self, core: &Arc<DomainCore>, parting: Parting) {
        let binding = Arc::clone(&parting.binding);
        binding.house.set_parting();
        self.forget_life(binding.token);
        // It has hung up, and would be ready for good.
        self.forget_socket(&binding.socket);
        self.parted.list().push(parting);
        core.processors.have_looked_at(&binding);
    }

    /// Forgets those that are over, if it is time to look, and has the others looked at once more:
    /// their users may have been held back. How long until it is time again.
    pub(super) fn look_after_parted(&self, core: &Arc<DomainCore>) -> Option<Duration> {
        let now = Instant::now();
        let mut list = self.parted.list();
        let is_over = |parting: &mut Parting| parting.due <= now && parting.is_over();
        let over: Vec<Parting> = list.extract_if(.., is_over).collect();
        for parting in list.iter_mut().filter(|parting| parting.due <= now) {
            parting.put_off(now);
            if parting.has_left() {
                core.processors.have_looked_at(&parting.binding);
            }
        }
        let next = list.iter().map(|parting| parting.due.saturating_duration_since(now)).min();
        drop(list);
        for Parting { binding, .. } in &over {
            binding.socket.hang_up();
            self.forget_importer(core, binding);
        }
        next
    }
}
