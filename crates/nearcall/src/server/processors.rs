//! The processors of a domain: who watches, who is ready to take over (design note 0003).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use std::sync::{Arc, Condvar, MutexGuard, PoisonError};
use std::time::Duration;

use arrayvec::ArrayVec;
use nearcall_core::{WaitPolicy, bell};
use nearcall_os::forks::{self, OwnLock};
use nearcall_os::futex::{self, WORDS_MAX, Watched, Woken};

use super::asked::{Asked, Asking};
use super::awake::Awake;
use super::backlog::{self, Backlog};
use super::binding::ServerBinding;
use super::current;
use super::deferred::Deferred;
use super::estacks;
use super::feeds::makers::Makers;
use super::feeds::source::Asker;
use super::holding::{self, Holding};
use super::residents::{self, Residents};
use super::role::{Role, is_crowd};
use super::suspended::Suspended;
use super::table::Snapshot;
use super::watch::Watch;
use crate::domain::DomainCore;
use crate::housekeeping::lives::Progress;

/// More reliefs than this end instead of parking.
const RELIEFS_PARKED_MAX: u32 = 2;

/// Longest sleep while there are more trust classes than one sleep can wait for. Otherwise nothing
/// in an idle domain wakes up by itself.
pub(crate) const CROWD_SLICE: Duration = Duration::from_secs(1);

/// How long a watcher that was found in a procedure stays there until it counts as stuck: several
/// times what a short procedure takes.
const STUCK_TIME: Duration = Duration::from_micros(50);

/// Longest between two looks whether it is, while something else is left that it was asked for.
const LOOK_TIME_MAX: Duration = Duration::from_millis(1);

/// Why a relief does not wait any more.
enum Need {
    /// The watcher is stuck.
    Watch,
    /// The domain stops.
    End,
    /// A procedure of its own does not wait any more.
    GoOn,
    /// Calls wait that the watcher hands over.
    Take,
}

/// What a processor that is about to sleep has heard of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counts {
    changes: u32,
    hails: u32,
    /// How often a relief was called to take calls.
    called: u32,
}

/// Counts and words that the processors of one domain share.
#[derive(Debug)]
pub(crate) struct Processors {
    pub residents: Residents,
    crew: OwnLock<Crew>,
    gone: Condvar,
    /// Number of the processor that watches; 0: none yet.
    watcher: AtomicU64,
    /// Counts the watcher's ways into procedures and out of them: odd while it is in one. A hint
    /// for a relief that was rung.
    progress: AtomicU64,
    /// Counts what processors are to hear of besides bells. Every sleep waits for it, too, or for
    /// the watcher's: no peer reaches these words, and so none can lose the processor that sleeps.
    changes: AtomicU32,
    /// The watcher's own such word, which counts what it alone is to hear of as well: a sleep costs
    /// less for each word that it does not wait for.
    hails: AtomicU32,
    /// What the watcher is asked for.
    pub asked: Asked,
    /// The iterators that calls are in.
    pub makers: Makers,
    /// Whose calls are held back.
    pub holding: Holding,
    /// Calls that the watcher has found and hands over.
    pub backlog: Backlog,
    /// What E-stacks need.
    #[cfg(feature = "threads")]
    pub estacks: estacks::Common,
}

#[derive(Debug, Default)]
struct Crew {
    count: u32,
    /// Those among them, which never take the watch over: no call of others may lack a relief for
    /// them.
    residents: u32,
    reliefs_parked: u32,
    numbers: u64,
    /// The domain was shut down by whoever did not wait for them: the last ends housekeeping.
    ends_house: bool,
}

impl Processors {
    /// None yet, and so many at most.
    pub fn new(processors_max: u32) -> Processors {
        Processors {
            residents: Residents::new(),
            crew: OwnLock::new(),
            gone: Condvar::new(),
            watcher: AtomicU64::new(0),
            progress: AtomicU64::new(0),
            changes: AtomicU32::new(0),
            hails: AtomicU32::new(0),
            asked: Asked::default(),
            makers: Makers::default(),
            holding: Holding::default(),
            backlog: Backlog::new(processors_max),
            #[cfg(feature = "threads")]
            estacks: estacks::Common::default(),
        }
    }

    /// Starts the first two, or the one that there may be, when something is exported for the first
    /// time.
    pub fn start(&self, core: &Arc<DomainCore>) -> std::io::Result<()> {
        if self.crew().count > 0 {
            return Ok(());
        }
        self.spawn(core, true)?;
        if core.options.processors_max < 2 {
            return Ok(());
        }
        self.spawn(core, false)
    }

    /// Refuses what was not taken, lets what runs finish, and waits for the processors to end.
    /// A processor does not wait. False: some have not ended, and the last of them is to end
    /// housekeeping, which drops what procedures that are awaited wait for.
    pub fn stop(&self, core: &DomainCore) -> bool {
        core.revoke_served();
        self.announce();
        let mut crew = self.crew();
        if crew.count > 0 && current::is_processor() {
            crew.ends_house = true;
            return false;
        }
        while crew.count > 0 {
            crew = self.gone.wait(crew).unwrap_or_else(PoisonError::into_inner);
        }
        drop(crew);
        end_bindings(core);
        true
    }

    /// Wakes every processor that sleeps: something other than a bell is there to be looked at.
    ///
    /// # Cost: two system calls.
    pub fn announce(&self) {
        // Release: what has changed is seen by whoever sees the count.
        self.changes.fetch_add(1, Ordering::Release);
        futex::wake_own(&self.changes);
        self.hail_watcher();
    }

    /// How often that has happened, and how often the watcher was hailed. To be asked for before a
    /// processor looks for the last time whether it may sleep.
    pub fn counts(&self) -> Counts {
        // Acquire, both: as above.
        let hails = self.hails.load(Ordering::Acquire);
        let called = self.backlog.call_word().1;
        // Acquire: as above.
        Counts { changes: self.changes.load(Ordering::Acquire), hails, called }
    }

    /// Calls come in a row that a resident serves: the watcher is to look at the binding, on
    /// another processor.
    pub fn hail(&self, binding: &Arc<ServerBinding>) {
        self.asked.look(Asking { binding: Arc::clone(binding), is_clients: false });
        self.hail_watcher();
    }

    /// Wakes the watcher, if it sleeps: there is something that it alone is to look at.
    fn hail_watcher(&self) {
        // Release: as in `announce`.
        self.hails.fetch_add(1, Ordering::Release);
        futex::wake_own(&self.hails);
    }

    /// The watcher was woken for a call from this processor.
    pub fn need(&self, core: &Arc<DomainCore>, processor: u32) {
        let has_room = || self.crew().count < core.options.processors_max;
        if self.residents.need(processor, has_room)
            && let Err(error) = self.spawn_resident(core, processor)
        {
            tracing::warn!(%error, processor, "no thread for a resident");
        }
    }

    /// A client says that its bells do not arrive: the watcher is to look at its A-stacks. If it
    /// enters a procedure before it does, the client says so again.
    ///
    /// # Cost: a system call.
    pub fn ask_to_look(&self, binding: &Arc<ServerBinding>) {
        self.asked.look(Asking { binding: Arc::clone(binding), is_clients: true });
        self.hail_watcher();
        // Relaxed: a hint, as in `take_over`. Then a relief is to look.
        if self.progress.load(Ordering::Relaxed) & 1 != 0 {
            self.announce();
        }
    }

    /// A suspended call was woken: the watcher is to go on with it.
    ///
    /// # Cost: a system call, unless it is the watcher that has woken it; another one, if the
    /// watcher is in a procedure and no relief looks after it.
    pub fn have_resumed(&self, suspended: Arc<Suspended>) {
        self.asked.resume(suspended);
        self.tell_of_asked();
    }

    /// A call was set aside whose procedure is to be entered again: the watcher is to do so.
    ///
    /// # Cost: as [`Processors::have_resumed`].
    pub fn have_again(&self, call: Deferred) {
        match self.asked.again(call) {
            Ok(()) => self.tell_of_asked(),
            Err(call) => Box::new(call).end(),
        }
    }

    fn tell_of_asked(&self) {
        if !self.has_watch(current::number()) {
            self.hail_watcher();
        }
        // A watcher that is in a procedure may stay there.
        if self.is_in_procedure() {
            self.call_relief_for_asked();
        }
    }

    /// The watcher is in a procedure and may stay there: a relief is to look whether it does, if
    /// something else was asked for.
    pub fn call_relief_for_asked(&self) {
        if self.asked.needs_relief() {
            self.announce();
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

    /// How far the watcher is: another number whenever it has run a call since, and whether it is
    /// in one.
    pub fn progress(&self) -> Progress {
        // Relaxed: a hint, as above.
        let progress = self.progress.load(Ordering::Relaxed);
        (progress, progress & 1 != 0)
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

    /// Sleeps until a gate rings or something happens that is not in `counts`, or a class is to be
    /// heard again, or a procedure on an E-stack can go on. `None`: so it was already.
    pub fn sleep(
        &self,
        policy: &WaitPolicy,
        snapshot: &Snapshot,
        role: Role,
        counts: Counts,
        awake: &mut Awake,
    ) -> Option<Woken> {
        let pause = awake.end(snapshot);
        let mut classes = ArrayVec::<_, WORDS_MAX>::new();
        let mut words = ArrayVec::<_, WORDS_MAX>::new();
        words.extend(self.own_words(role, counts).into_iter().flatten());
        let is_asleep = {
            // Who is held back now may not be when this sleep ends.
            let mut begun =
                role.gates(snapshot, awake).filter(|(class, _)| !self.holding.holds(class.user()));
            begun.all(|(class, gate)| {
                classes.push(class);
                words.push(Watched::shared(gate, bell::ASLEEP));
                bell::fall_asleep(gate, role.lanes(class))
            })
        };
        let crowd = is_crowd(snapshot).then_some(CROWD_SLICE);
        let longest = crowd.into_iter().chain(pause).min();
        let woken = is_asleep.then(|| estacks::sleep(policy, &words, longest)).flatten();
        awake.begin();
        if let Some(Woken::Woken(at)) = woken {
            match at.checked_sub(words.len() - classes.len()).and_then(|at| classes.get(at)) {
                Some(class) => awake.told_ring(class),
                // Who hails the watcher says so when it looks at what is asked for.
                None if role == Role::Watch && self.counts().changes == counts.changes => {}
                None => awake.told_found(),
            }
        }
        woken
    }

    /// What processors of this role sleep on, beside gates.
    fn own_words(&self, role: Role, counts: Counts) -> [Option<Watched<'_>>; 2] {
        let changes = Watched::own(&self.changes, counts.changes);
        let called = Watched::own(self.backlog.call_word().0, counts.called);
        match role {
            Role::Watch => [Some(Watched::own(&self.hails, counts.hails)), None],
            Role::Relief => [Some(changes), Some(called)],
            Role::Resident(_) => [Some(changes), None],
        }
    }

    fn crew(&self) -> MutexGuard<'_, Crew> {
        self.crew.lock()
    }

    fn spawn(&self, core: &Arc<DomainCore>, has_watch: bool) -> std::io::Result<()> {
        let mut crew = self.crew();
        crew.numbers += 1;
        let number = crew.numbers;
        if has_watch {
            // Relaxed: see `has_watch`.
            self.watcher.store(number, Ordering::Relaxed);
        }
        crew.start(core, format!("nearcall-{number}"), false, move |core| {
            current::enter_domain(Arc::downgrade(core), number);
            current::shown(|served| core.processors.holding.add(served), || live(core, number));
        })
    }

    fn spawn_resident(&self, core: &Arc<DomainCore>, processor: u32) -> std::io::Result<()> {
        self.crew().start(core, format!("nearcall-at-{processor}"), true, move |core| {
            current::enter_domain(Arc::downgrade(core), 0);
            let told = |served| core.processors.holding.add(served);
            current::shown(told, || residents::live(core, processor));
        })
    }

    /// A thread of the crew ends. In the child of a fork(2) there is none, and the child ends.
    fn end(&self, core: &DomainCore, is_resident: bool) {
        if core.has_come_back_forked() {
            forks::end_child();
        }
        let mut crew = self.crew();
        crew.count -= 1;
        crew.residents -= u32::from(is_resident);
        // Before whoever waits for the crew goes on, or where nobody does.
        let left = (crew.count == 0).then(|| self.asked.end());
        let ends_house = crew.count == 0 && crew.ends_house;
        drop(crew);
        if ends_house {
            end_bindings(core);
            core.housekeeping.stop();
        }
        self.gone.notify_all();
        // A drop that panics is its author's; this one may run while the thread unwinds.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(left)));
    }

    /// Parks until the watch is to be taken over, and goes on with its own procedures meanwhile.
    /// False: the processor is to end.
    fn park(&self, core: &Arc<DomainCore>, number: u64) -> bool {
        let mut awake = Awake::new();
        let mut heard = None;
        loop {
            {
                let mut crew = self.crew();
                if crew.reliefs_parked >= RELIEFS_PARKED_MAX && !estacks::is_busy() {
                    return false;
                }
                crew.reliefs_parked += 1;
            }
            let need = self.wait_for_need(core, number, &mut awake, &mut heard);
            self.crew().reliefs_parked -= 1;
            match need {
                Need::Watch => return true,
                Need::End => return false,
                Need::GoOn => {
                    // Its procedures may keep it: nobody is to rely on it meanwhile.
                    self.replenish(core);
                    estacks::go_on(u64::MAX);
                }
                Need::Take => {
                    // As above.
                    self.replenish(core);
                    backlog::take_calls(core);
                }
            }
            if core.has_come_back_forked() {
                return false;
            }
        }
    }

    /// `heard`: the last of `changes` that it has looked for; `None`: it is to look in any case.
    /// Kept from sleep to sleep, so that who calls while its own procedures go on is heard, too.
    fn wait_for_need(
        &self,
        core: &Arc<DomainCore>,
        number: u64,
        awake: &mut Awake,
        heard: &mut Option<u32>,
    ) -> Need {
        loop {
            let counts = self.counts();
            if core.is_stopping() {
                return Need::End;
            }
            if estacks::can_go_on() {
                return Need::GoOn;
            }
            if self.backlog.join() {
                return Need::Take;
            }
            // Before each sleep: who called for a relief that was not asleep is heard here.
            if heard.replace(counts.changes) != Some(counts.changes) && self.take_over(number) {
                return Need::Watch;
            }
            let snapshot = core.table.load();
            // Not what it knew when it watched: bindings that have gone since would stay.
            current::serve_from(&snapshot);
            let sleep = || self.sleep(&core.options.wait, &snapshot, Role::Relief, counts, awake);
            self.backlog.parked(sleep);
            // Its own procedures may have ended the sleep, or who has calls for it: a watcher that
            // is in a procedure just then is not stuck.
            if !estacks::is_busy() && self.backlog.call_word().1 == counts.called {
                *heard = None;
            }
            let begun = snapshot.classes.iter().filter(|class| !self.holding.holds(class.user()));
            for class in begun {
                if awake.hears(class) && bell::open_gate(&class.relief().gate).is_rung {
                    awake.told_ring(class);
                    *heard = None;
                }
            }
        }
    }

    /// Takes the watch over if the watcher stays in one procedure. False: it does not, or another
    /// relief was faster.
    fn take_over(&self, number: u64) -> bool {
        loop {
            self.asked.begin_looking();
            let has_taken = self.take_over_if_stuck(number);
            let has_more = self.asked.stop_looking();
            if has_taken || !has_more || !self.is_in_procedure() {
                return has_taken;
            }
        }
    }

    /// The same, while something is left that was asked for.
    fn take_over_if_stuck(&self, number: u64) -> bool {
        let mut slice = STUCK_TIME;
        while self.is_in_procedure() {
            if self.take_over_after(slice, number) {
                return true;
            }
            if !self.asked.is_some() || estacks::can_go_on() {
                return false;
            }
            slice = (2 * slice).min(LOOK_TIME_MAX);
        }
        false
    }

    /// The watcher is in a procedure, as far as is known.
    fn is_in_procedure(&self) -> bool {
        // Relaxed: a hint.
        self.progress.load(Ordering::Relaxed) & 1 != 0
    }

    /// Takes the watch over if the watcher is in one procedure for so long.
    fn take_over_after(&self, slice: Duration, number: u64) -> bool {
        // Relaxed, all of them: hints. What a call needs is ordered by its own words. There may be
        // two watchers until the one before has left; only the new one answers bells.
        let watcher = self.watcher.load(Ordering::Relaxed);
        let before = self.progress.load(Ordering::Relaxed);
        if before & 1 == 0 {
            return false;
        }
        std::thread::sleep(slice);
        // Relaxed: as above.
        let is_stuck = self.progress.load(Ordering::Relaxed) == before;
        // Relaxed: as above.
        let order = Ordering::Relaxed;
        if !is_stuck || self.watcher.compare_exchange(watcher, number, order, order).is_err() {
            return false;
        }
        // Release: who opens a gate on which this processor sleeps sees that it has the watch.
        fence(Ordering::Release);
        self.leave(before);
        true
    }

    /// Sees to it that there is a relief for the processor that has just taken the watch over, or
    /// goes on with its own procedures.
    fn replenish(&self, core: &Arc<DomainCore>) {
        let is_short = {
            let crew = self.crew();
            crew.reliefs_parked == 0 && crew.count - crew.residents < core.options.processors_max
        };
        if is_short && let Err(error) = self.spawn(core, false) {
            tracing::warn!(%error, "no thread for another server processor");
        }
    }
}

/// No processor is left that looks: whoever is bound is told.
fn end_bindings(core: &DomainCore) {
    for binding in core.table.load().bindings() {
        binding.end();
    }
}

impl Crew {
    /// Starts one more thread, which counts until it ends, however that comes.
    fn start(
        &mut self,
        core: &Arc<DomainCore>,
        name: String,
        is_resident: bool,
        life: impl FnOnce(&Arc<DomainCore>) + Send + 'static,
    ) -> std::io::Result<()> {
        let core = Arc::clone(core);
        std::thread::Builder::new().name(name).spawn(move || {
            let Hand { core, .. } = &Hand { core, is_resident };
            // Procedures' panics are caught: one that comes here is the runtime's, and what the
            // thread was at stays undone. Nobody is to wait for it: neither clients nor the
            // domain's end.
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| life(core)))
                && !core.has_come_back_forked()
            {
                core.break_off("a server processor", &*panic);
            }
        })?;
        self.count += 1;
        self.residents += u32::from(is_resident);
        Ok(())
    }
}

/// A thread of the crew, on its own stack.
struct Hand {
    core: Arc<DomainCore>,
    is_resident: bool,
}

impl Drop for Hand {
    fn drop(&mut self) {
        self.core.processors.end(&self.core, self.is_resident);
    }
}

/// The life of one processor.
fn live(core: &Arc<DomainCore>, number: u64) {
    let processors = &core.processors;
    loop {
        if processors.has_watch(number) {
            Watch::new(core, number).watch();
            if core.has_come_back_forked() {
                return;
            }
            holding::judge_again(core);
        }
        if core.is_stopping() || !processors.park(core, number) {
            break;
        }
        processors.replenish(core);
        // A call keeps the processor that had the watch.
        holding::judge(core);
    }
    estacks::finish(&core.options.wait);
}

#[cfg(test)]
mod tests;
