//! The processors of a domain: who watches, who is ready to take over (design note 0003).

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use nearcall_core::bell;
use nearcall_os::futex;

use super::current;
use super::table::Snapshot;
use super::watch::Watch;
use crate::domain::DomainCore;

/// More reliefs than this end instead of parking.
const RELIEFS_PARKED_MAX: u32 = 2;

/// Longest sleep of a relief before it looks whether its domain is stopping.
const RELIEF_SLICE: Duration = Duration::from_secs(1);

/// Counts and words that the processors of one domain share.
#[derive(Debug, Default)]
pub(crate) struct Processors {
    crew: Mutex<Crew>,
    gone: Condvar,
    /// Number of the processor that watches; 0: none yet.
    watcher: AtomicU64,
    /// The watcher is in a procedure. A hint for a relief that was rung.
    is_watcher_running: AtomicU32,
    /// What processors wait on while no importer's bell is there.
    idle_gate: AtomicU32,
}

#[derive(Debug, Default)]
struct Crew {
    count: u32,
    reliefs_parked: u32,
    numbers: u64,
}

impl Processors {
    /// Starts the first two, when something is exported for the first time.
    pub fn start(&self, core: &Arc<DomainCore>) -> std::io::Result<()> {
        if self.crew().count > 0 {
            return Ok(());
        }
        self.spawn(core, true)?;
        self.spawn(core, false)
    }

    /// Refuses what was not taken, lets what runs finish, and waits for the processors to end.
    /// A processor that ends its own domain is not waited for.
    pub fn stop(&self, core: &DomainCore) {
        let snapshot = core.table.load();
        for binding in snapshot.bindings() {
            binding.revoke(nearcall_core::RevokeReason::ShutDown);
        }
        self.ring_all(&snapshot);
        if current::is_processor() {
            return;
        }
        let mut crew = self.crew();
        while crew.count > 0 {
            crew = self.gone.wait(crew).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Wakes every processor: something other than a call has changed.
    pub fn ring_all(&self, snapshot: &Snapshot) {
        if bell::ring_gate(&self.idle_gate) {
            futex::wake_all(&self.idle_gate);
        }
        for class in &snapshot.classes {
            class.ring_watch();
            class.ring_relief();
        }
    }

    /// This processor, in a procedure, is about to sleep: somebody else is to watch.
    pub fn call_for_relief(&self, core: &DomainCore) {
        if let Some(class) = core.table.load().classes.first() {
            class.ring_relief();
        }
    }

    /// The watcher enters or leaves a procedure.
    #[inline]
    pub fn set_watcher_running(&self, is_running: bool) {
        // Relaxed: a hint; a relief that is misled looks at everything once, or parks once more.
        self.is_watcher_running
            .store(is_running.into(), Ordering::Relaxed);
    }

    /// Whether processor `number` still has the watch.
    #[inline]
    pub fn has_watch(&self, number: u64) -> bool {
        // Relaxed: seen late, the watch is left late.
        self.watcher.load(Ordering::Relaxed) == number
    }

    /// The words to wait on for the watch, or for a relief.
    pub fn gates<'s>(&'s self, snapshot: &'s Snapshot, is_relief: bool) -> Vec<&'s AtomicU32> {
        if snapshot.classes.is_empty() {
            return vec![&self.idle_gate];
        }
        let gate = |class: &'s Arc<super::trust::TrustClass>| {
            if is_relief {
                &class.relief().gate
            } else {
                &class.watch().gate
            }
        };
        snapshot
            .classes
            .iter()
            .take(futex::WORDS_MAX)
            .map(gate)
            .collect()
    }

    fn crew(&self) -> std::sync::MutexGuard<'_, Crew> {
        self.crew.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spawn(&self, core: &Arc<DomainCore>, has_watch: bool) -> std::io::Result<()> {
        let mut crew = self.crew();
        crew.numbers += 1;
        let number = crew.numbers;
        if has_watch {
            // Relaxed: see `has_watch`.
            self.watcher.store(number, Ordering::Relaxed);
        }
        let on_thread = Arc::clone(core);
        let thread = std::thread::Builder::new().name(format!("nearcall-{number}"));
        thread.spawn(move || processor(&on_thread, number))?;
        crew.count += 1;
        Ok(())
    }

    /// Parks until the watch is to be taken over. False: the processor is to end.
    fn park(&self, core: &Arc<DomainCore>) -> bool {
        {
            let mut crew = self.crew();
            if crew.reliefs_parked >= RELIEFS_PARKED_MAX {
                return false;
            }
            crew.reliefs_parked += 1;
        }
        let is_needed = self.wait_for_need(core);
        self.crew().reliefs_parked -= 1;
        is_needed
    }

    fn wait_for_need(&self, core: &Arc<DomainCore>) -> bool {
        while !core.is_stopping() {
            let snapshot = core.table.load();
            let gates = self.gates(&snapshot, true);
            if gates.iter().all(|gate| bell::fall_asleep(gate)) {
                let words: Vec<_> = gates.iter().map(|gate| (*gate, bell::ASLEEP)).collect();
                futex::wait_any(&words, RELIEF_SLICE);
            }
            let mut is_rung = false;
            for gate in gates {
                is_rung |= bell::open_gate(gate).is_rung;
            }
            // Relaxed: a hint, see `set_watcher_running`.
            if is_rung && self.is_watcher_running.load(Ordering::Relaxed) != 0 {
                return true;
            }
        }
        false
    }

    /// Takes the watch over, and sees to it that somebody can do the same after.
    fn take_over(&self, core: &Arc<DomainCore>, number: u64) {
        // Relaxed: see `has_watch`.
        self.watcher.store(number, Ordering::Relaxed);
        self.set_watcher_running(false);
        let is_short = {
            let crew = self.crew();
            crew.reliefs_parked == 0 && crew.count < core.options.processors_max
        };
        if is_short && let Err(error) = self.spawn(core, false) {
            tracing::warn!(%error, "no thread for another server processor");
        }
    }
}

/// The life of one processor.
fn processor(core: &Arc<DomainCore>, number: u64) {
    current::enter_domain(Arc::downgrade(core));
    let processors = &core.processors;
    loop {
        if processors.has_watch(number) {
            Watch::new(core, number).run();
        }
        if core.is_stopping() || !processors.park(core) {
            break;
        }
        processors.take_over(core, number);
    }
    processors.crew().count -= 1;
    processors.gone.notify_all();
}
