//! How the thread ends: because its domain does, or by a panic, which ends the domain. Then nobody
//! is to wait for what it would have done (design note 0015).

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use nearcall_core::RevokeReason;

use super::{Housekeeping, Watched, keep};
use crate::domain::{DomainCore, system};

/// One of the things to do at an end.
type Part = fn(&Arc<DomainCore>);

/// What is done when the thread has panicked, before the domain ends as ever.
const BREAKS_OFF: [Part; 3] = [wake, turn_away, stop_processors];

impl Housekeeping {
    /// Starts the thread.
    pub fn start(core: &Arc<DomainCore>) -> io::Result<()> {
        Housekeeping::start_as(core, keep)
    }

    /// The same with a life of its own.
    pub fn start_as(
        core: &Arc<DomainCore>,
        life: impl FnOnce(&Arc<DomainCore>) + Send + 'static,
    ) -> io::Result<()> {
        let core = Arc::clone(core);
        let thread = std::thread::Builder::new().name("nearcall-house".to_owned());
        let lives = move || {
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| life(&core))) {
                // What has broken it may break one of these, and the others are to be done.
                let broken_off = || core.break_off("housekeeping", &*panic);
                let _ = catch_unwind(AssertUnwindSafe(broken_off));
                for part in BREAKS_OFF {
                    let _ = catch_unwind(AssertUnwindSafe(|| part(&core)));
                }
            }
            end(&core);
        };
        let started = thread.spawn(lives).map(drop);
        started.map_err(system("start the thread that keeps house"))
    }
}

/// Procedures that wait for the end of their call are told: processors end when those do.
fn wake(core: &Arc<DomainCore>) {
    core.housekeeping.wake_all_concerned();
}

/// Whoever has come, or comes, is hung up on, and so is whoever serves this domain.
fn turn_away(core: &Arc<DomainCore>) {
    let house = &core.housekeeping;
    house.handshakes().clear();
    core.introductions.clear();
    let watched: Vec<Watched> = house.watched().values().cloned().collect();
    for entry in &watched {
        let turned_away = || {
            if let Watched::Importers(clerk) = entry {
                clerk.turn_away();
            } else if let Some(binding) = entry.exporter() {
                binding.revoke(RevokeReason::ShutDown);
            }
        };
        let _ = catch_unwind(AssertUnwindSafe(turned_away));
    }
}

/// What runs is finished, and nobody has its results; suspended calls are dropped behind it.
fn stop_processors(core: &Arc<DomainCore>) {
    // This thread waits for them, as it is none of them.
    core.processors.stop(core);
}

/// Nothing is watched any more.
fn end(core: &Arc<DomainCore>) {
    let house = &core.housekeeping;
    house.handshakes().clear();
    core.introductions.clear();
    house.paused().clear();
    house.forget_all();
    // They know their bindings, and these know them.
    core.table.load().bindings().for_each(|binding| binding.suspended.clear());
    core.table.clear();
    house.wake_all_concerned();
}

#[cfg(test)]
mod tests;
