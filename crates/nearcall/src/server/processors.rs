//! The processors of a domain: who watches, who is ready to take over (design note 0003).

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use nearcall_abi::BellLine;
use nearcall_core::bell;
use nearcall_os::futex::{self, Woken};

use super::current;
use super::table::Snapshot;
use super::trust::TrustClass;
use super::watch::Watch;
use crate::domain::DomainCore;

/// More reliefs than this end instead of parking.
const RELIEFS_PARKED_MAX: u32 = 2;

/// Longest sleep of a relief before it looks whether its domain is stopping.
const RELIEF_SLICE: Duration = Duration::from_secs(1);

/// How long a watcher that was found in a procedure stays there until it counts as stuck: several
/// times what a short procedure takes.
const STUCK_TIME: Duration = Duration::from_micros(50);

/// What a processor sleeps for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// For a call on an A-stack that is not polled.
    Watch,
    /// For the watcher to be stuck.
    Relief,
}

/// Counts and words that the processors of one domain share.
#[derive(Debug, Default)]
pub(crate) struct Processors {
    crew: Mutex<Crew>,
    gone: Condvar,
    /// Number of the processor that watches; 0: none yet.
    watcher: AtomicU64,
    /// Counts the watcher's ways into procedures and out of them: odd while it is in one. A hint
    /// for a relief that was rung.
    progress: AtomicU64,
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
        drop(crew);
        for binding in core.table.load().bindings() {
            binding.end();
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

    /// The watcher enters a procedure. To be given back to [`Processors::leave`].
    #[inline]
    pub fn enter(&self) -> u64 {
        // Relaxed: a hint; a relief that is misled looks at everything once, or parks once more.
        let progress = self.progress.load(Ordering::Relaxed) | 1;
        self.progress.store(progress, Ordering::Relaxed);
        progress
    }

    /// It leaves the procedure.
    #[inline]
    pub fn leave(&self, entered: u64) {
        // Relaxed: as above.
        self.progress.store(entered.wrapping_add(1), Ordering::Relaxed);
    }

    /// Whether processor `number` still has the watch.
    #[inline]
    pub fn has_watch(&self, number: u64) -> bool {
        // Relaxed: seen late, the watch is left late.
        self.watcher.load(Ordering::Relaxed) == number
    }

    /// Sleeps until a gate rings, at most for `slice`. `None`: one had rung already.
    pub fn sleep(&self, snapshot: &Snapshot, role: Role, slice: Duration) -> Option<Woken> {
        match &snapshot.classes[..] {
            [] => sleep_on(&self.idle_gate, slice),
            [class] => sleep_on(&role.line(class).gate, slice),
            classes => {
                let gates = classes.iter().take(futex::WORDS_MAX).map(|class| {
                    let gate = &role.line(class).gate;
                    bell::fall_asleep(gate).then_some((gate, bell::ASLEEP))
                });
                let words = gates.collect::<Option<Vec<_>>>()?;
                Some(futex::wait_any(&words, slice))
            }
        }
    }

    /// Opens the gates of a role that has no lanes to answer for. True if one was rung.
    pub fn open(&self, snapshot: &Snapshot, role: Role) -> bool {
        let mut is_rung = bell::open_gate(&self.idle_gate).is_rung;
        for class in &snapshot.classes {
            is_rung |= bell::open_gate(&role.line(class).gate).is_rung;
        }
        is_rung
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
    fn park(&self, core: &Arc<DomainCore>, number: u64) -> bool {
        {
            let mut crew = self.crew();
            if crew.reliefs_parked >= RELIEFS_PARKED_MAX {
                return false;
            }
            crew.reliefs_parked += 1;
        }
        let is_needed = self.wait_for_need(core, number);
        self.crew().reliefs_parked -= 1;
        is_needed
    }

    fn wait_for_need(&self, core: &Arc<DomainCore>, number: u64) -> bool {
        while !core.is_stopping() {
            let snapshot = core.table.load();
            let woken = self.sleep(&snapshot, Role::Relief, RELIEF_SLICE);
            // Also unrung after a slice: who posts a oneway call does not wait for it, and so does
            // not ring.
            let is_due = self.open(&snapshot, Role::Relief) || woken == Some(Woken::TimedOut);
            if is_due && self.take_over(number) {
                return true;
            }
        }
        false
    }

    /// Takes the watch over if the watcher stays in one procedure. False: it does not, or another
    /// relief was faster.
    fn take_over(&self, number: u64) -> bool {
        // Relaxed, all of them: hints. What a call needs is ordered by its own words, and two
        // watchers at once are one too many but do no harm.
        let watcher = self.watcher.load(Ordering::Relaxed);
        let before = self.progress.load(Ordering::Relaxed);
        if before & 1 == 0 {
            return false;
        }
        std::thread::sleep(STUCK_TIME);
        // Relaxed: as above.
        let is_stuck = self.progress.load(Ordering::Relaxed) == before;
        // Relaxed: as above.
        let order = Ordering::Relaxed;
        if !is_stuck || self.watcher.compare_exchange(watcher, number, order, order).is_err() {
            return false;
        }
        self.leave(before);
        true
    }

    /// Sees to it that there is a relief for the processor that has just taken the watch over.
    fn replenish(&self, core: &Arc<DomainCore>) {
        let is_short = {
            let crew = self.crew();
            crew.reliefs_parked == 0 && crew.count < core.options.processors_max
        };
        if is_short && let Err(error) = self.spawn(core, false) {
            tracing::warn!(%error, "no thread for another server processor");
        }
    }
}

impl Role {
    fn line(self, class: &TrustClass) -> &BellLine {
        match self {
            Role::Watch => class.watch(),
            Role::Relief => class.relief(),
        }
    }
}

/// Sleeps on one gate; `None` if it has rung.
fn sleep_on(gate: &AtomicU32, slice: Duration) -> Option<Woken> {
    bell::fall_asleep(gate).then(|| futex::wait(gate, bell::ASLEEP, slice))
}

/// The life of one processor.
fn processor(core: &Arc<DomainCore>, number: u64) {
    current::enter_domain(Arc::downgrade(core));
    let processors = &core.processors;
    loop {
        if processors.has_watch(number) {
            Watch::new(core, number).watch();
        }
        if core.is_stopping() || !processors.park(core, number) {
            break;
        }
        processors.replenish(core);
    }
    processors.crew().count -= 1;
    processors.gone.notify_all();
}
