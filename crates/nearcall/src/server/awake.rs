//! What a server processor does between two sleeps, and who bears it if that was nothing. Decided
//! by `nearcall_core::hearing` (design note 0025).

use std::time::Duration;

use nearcall_core::hearing::Hearing;
use nearcall_os::clock;

use super::table::Snapshot;
use super::trust::TrustClass;

/// About what it takes to go to sleep and to be woken, beside the time that the processor is awake:
/// on virtual machines, where a sleep that ends by itself sets a timer. From the second time in a
/// row on it is known: some 10 us on one machine, 30 on another.
const SWITCH_NS: u64 = 10_000;

/// One processor's account.
#[derive(Debug)]
pub(crate) struct Awake {
    hearing: Hearing,
    /// Since when it is awake, in ticks.
    since: u64,
    /// If it slept last after it had been awake for nothing: how long it had run until then.
    run_ns: Option<u64>,
    /// How often it found something to do, or was called by its own domain.
    found_count: u64,
    /// How often when it slept last.
    found_before: u64,
}

impl Awake {
    /// Hears everybody.
    pub fn new() -> Awake {
        Awake {
            hearing: Hearing::default(),
            since: clock::ticks(),
            run_ns: None,
            found_count: 0,
            found_before: 0,
        }
    }

    /// Whether a class is heard.
    ///
    /// # Cost: one load, while no class is left out.
    #[inline]
    pub fn hears(&mut self, class: &TrustClass) -> bool {
        !self.hearing.leaves_out() || self.hears_again(class)
    }

    /// Whether a class was heard when the processor was about to sleep.
    pub fn has_heard(&self, class: &TrustClass) -> bool {
        self.hearing.hears(class.number)
    }

    #[cold]
    #[inline(never)]
    fn hears_again(&mut self, class: &TrustClass) -> bool {
        self.hearing.resume(clock::now_ns());
        self.hearing.hears(class.number)
    }

    /// A class rang, or woke the processor.
    pub fn told_ring(&mut self, class: &TrustClass) {
        self.hearing.told_ring(class.number);
    }

    /// There was something to do.
    #[inline]
    pub fn told_found(&mut self) {
        self.found_count += 1;
    }

    /// How often there was.
    #[inline]
    pub fn found_count(&self) -> u64 {
        self.found_count
    }

    /// Since it slept last, there was.
    #[inline]
    pub fn has_found(&self) -> bool {
        self.found_count != self.found_before
    }

    /// It was called, and nothing was there.
    pub fn is_in_vain(&self) -> bool {
        !self.has_found() && self.hearing.is_called()
    }

    /// A class rang in vain while the processor had other things to do, and it took so long.
    pub fn bear(&mut self, class: &TrustClass, spent_ns: u64) {
        let now_ns = clock::now_ns();
        let pause_ns = class.charge_rings(spent_ns, now_ns);
        self.hearing.leave_out(class.number, pause_ns, now_ns);
    }

    /// The processor is about to sleep: longest that it may, for the sake of who is left out. If it
    /// has found something, and nobody is, no clock is asked.
    pub fn end(&mut self, snapshot: &Snapshot) -> Option<Duration> {
        let spent_ns = self.spent_ns();
        let has_found = self.has_found();
        let is_timeless = has_found && !self.hearing.leaves_out();
        let now_ns = if is_timeless { 0 } else { clock::now_ns() };
        self.found_before = self.found_count;
        self.hearing.end(has_found, spent_ns, now_ns, |number, spent_ns| {
            let class = snapshot.classes.iter().find(|class| class.number == number);
            class.map_or(0, |class| class.charge_rings(spent_ns, now_ns))
        });
        self.hearing.resume(now_ns).map(Duration::from_nanos)
    }

    /// What was spent on nothing since it slept last, with that sleep. Otherwise nobody asks, and
    /// the system call is spared.
    fn spent_ns(&mut self) -> u64 {
        if !self.is_in_vain() {
            self.run_ns = None;
            return 0;
        }
        let run_ns = clock::thread_ns();
        let known = self.run_ns.replace(run_ns).map(|before_ns| run_ns.saturating_sub(before_ns));
        known.unwrap_or_else(|| clock::ns_since(self.since) + SWITCH_NS)
    }

    /// It has slept, or does not sleep after all.
    pub fn begin(&mut self) {
        self.since = clock::ticks();
    }
}
