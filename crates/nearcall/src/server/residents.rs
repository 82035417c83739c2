//! Residents: server processors that are bound to one processor of the machine each, and asleep
//! until a caller on that processor rings for a server whose watcher sleeps (L35, L36, U10; design
//! note 0003).
//!
//! Waking a thread of one's own processor costs a fifth to a tenth of waking an idle processor. So
//! a single call to a sleeping server is served where its caller is; at the second call in a row
//! the watcher is hailed, wherever it then runs, and the caller keeps its processor.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::{Arc, MutexGuard};

use nearcall_abi::head::flag;
use nearcall_core::turn::Look;
use nearcall_core::{Mode, bell};
use nearcall_os::forks::OwnLock;
use nearcall_os::{HeadWords, clock, processor};

use super::awake::Awake;
use super::binding::ServerBinding;
use super::bits::lanes_of;
use super::current;
use super::holding;
use super::role::Role;
use super::run;
use super::table::Snapshot;
use super::watch::hot::act_otherwise;
use crate::domain::DomainCore;

/// Calls from one processor that had to wake the watcher before there is a resident for it.
const NEEDS_MIN: u32 = 2;

/// Two calls that are not further apart than this are a burst: several wake-ups of a processor.
const BURST_NS: u64 = 200_000;

/// Whoever has given its processor for several calls waits for all of them. A resident serves them
/// alone for as long as waking another processor takes.
const ALONE_NS_MAX: u64 = 50_000;

/// Which processors have residents, and which were needed but not found (L36).
#[derive(Debug)]
pub(crate) struct Residents {
    /// Processors that this domain may run on, as they were when it was made.
    allowed: Vec<u32>,
    needs: OwnLock<BTreeMap<u32, Need>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    Calls(u32),
    Met,
}

impl Posted<'_> {
    /// Its client says that it was posted from this processor.
    fn is_from(&self, processor: u32) -> bool {
        self.words.origin() & flag::PROCESSOR == processor
    }

    /// Its procedure may wait on the processor that begins it, which is not to be a resident.
    fn is_left_to_watcher(&self) -> bool {
        matches!(self.look, Look::Posted(_)) && self.binding.runs_on_estack(self.words.selector())
    }
}

impl Residents {
    /// None yet, and at most one for each of the processors that the calling thread may run on.
    pub fn new() -> Residents {
        Residents { allowed: processor::allowed(), needs: OwnLock::new() }
    }

    /// The watcher had to be woken for a call from this processor, which is what a client says.
    /// True if there is to be a resident now, for which there has to be room.
    pub fn need(&self, processor: u32, has_room: impl FnOnce() -> bool) -> bool {
        // Where there is one processor only, the watcher is everybody's resident.
        if self.allowed.len() < 2 || !self.allowed.contains(&processor) || !has_room() {
            return false;
        }
        let mut needs = self.needs();
        match needs.entry(processor).or_insert(Need::Calls(0)) {
            Need::Met => false,
            Need::Calls(calls) if *calls + 1 < NEEDS_MIN => {
                *calls += 1;
                false
            }
            need => {
                *need = Need::Met;
                true
            }
        }
    }

    fn needs(&self) -> MutexGuard<'_, BTreeMap<u32, Need>> {
        self.needs.lock()
    }
}

/// One resident.
struct Resident<'c> {
    core: &'c Arc<DomainCore>,
    processor: u32,
    snapshot: Arc<Snapshot>,
    /// When it served last.
    served_ns: u64,
    /// It is bound to its processor.
    is_home: Cell<bool>,
    awake: Awake,
}

/// An A-stack with a call on it.
struct Posted<'s> {
    binding: &'s Arc<ServerBinding>,
    index: u32,
    look: Look,
    /// The head, loaded with the look and never again.
    words: HeadWords,
}

/// The life of the resident of `processor`: until the domain stops, or the processor is taken from
/// the domain.
pub(crate) fn live(core: &Arc<DomainCore>, processor: u32) {
    let snapshot = core.table.load();
    let is_home = Cell::new(processor::pin(processor).is_ok());
    let awake = Awake::new();
    let mut resident = Resident { core, processor, snapshot, served_ns: 0, is_home, awake };
    while !core.is_stopping() && resident.is_home.get() {
        resident.sleep_and_answer();
    }
    if core.has_come_back_forked() {
        return;
    }
    // No client is to rely on a resident that is not there.
    for class in &core.table.load().classes {
        bell::open_gate(class.resident(processor));
    }
}

impl Resident<'_> {
    fn sleep_and_answer(&mut self) {
        let processors = &self.core.processors;
        let counts = processors.counts();
        if self.core.is_stopping() {
            return;
        }
        self.snapshot = self.core.table.load();
        // What it knew when it served last would stay as long as it sleeps.
        current::serve_from(&self.snapshot);
        let role = Role::Resident(self.processor);
        let policy = &self.core.options.wait;
        processors.sleep(policy, &self.snapshot, role, counts, &mut self.awake);
        // A binding that rings may be newer than what we slept with.
        self.snapshot = self.core.table.load();
        current::serve_from(&self.snapshot);
        let snapshot = Arc::clone(&self.snapshot);
        let mut rung = Vec::new();
        for class in &snapshot.classes {
            if processors.holding.holds(class.user()) {
                continue;
            }
            if self.awake.hears(class) && bell::open_gate(class.resident(self.processor)).is_rung {
                self.awake.told_ring(class);
                let taken = class.watch().lanes.each_ref().map(bell::take_lanes);
                rung.extend(lanes_of(taken).flat_map(|lane| snapshot.rung(class, lane)));
            }
        }
        self.answer(&rung);
        holding::judge_again(self.core);
    }

    /// Serves what these bindings have posted.
    fn answer(&mut self, rung: &[&Arc<ServerBinding>]) {
        let posted: Vec<Posted<'_>> = rung.iter().copied().flat_map(posted_on).collect();
        if posted.is_empty() {
            return;
        }
        self.awake.told_found();
        posted.iter().for_each(|posted| posted.binding.class.note_found());
        self.core.housekeeping.note_awake();
        let now_ns = clock::now_ns();
        let is_given = posted.iter().all(|posted| posted.is_from(self.processor));
        let is_burst = !is_given && posted.len() > 1 || now_ns - self.served_ns < BURST_NS;
        self.served_ns = now_ns;
        let hail = || rung.iter().for_each(|binding| self.core.processors.hail(binding));
        let has_left = posted.iter().any(Posted::is_left_to_watcher);
        let mut is_hailed = is_burst || has_left;
        if is_hailed {
            // Before any procedure runs, which may take long.
            hail();
        }
        let last = posted.len() - 1;
        for (at, Posted { binding, index, look, words }) in posted.into_iter().enumerate() {
            if at > 0 && !is_hailed && clock::now_ns() - now_ns > ALONE_NS_MAX {
                is_hailed = true;
                hail();
            }
            match look {
                Look::Posted(_) if binding.runs_on_estack(words.selector()) => {}
                Look::Posted(sequence) => {
                    let astack = binding.astack(index);
                    let procedure = binding.procedures.get(words.selector() as usize);
                    if !procedure.is_some_and(|procedure| procedure.is_leaf) {
                        self.leave_home();
                    }
                    let come_home = || {
                        if at == last {
                            self.come_home()
                        }
                    };
                    let call = (sequence, words);
                    run::run(processor::current, (binding, astack), call, Mode::Bell, come_home);
                }
                look => act_otherwise(binding, index, look),
            }
        }
        if !self.is_home.get() {
            self.come_home();
        }
    }

    /// A procedure, and the threads that it starts, run wherever the domain may; a leaf starts
    /// none.
    fn leave_home(&self) {
        if self.is_home.replace(false)
            && let Err(error) = processor::allow(&self.core.processors.residents.allowed)
        {
            tracing::warn!(%error, processor = self.processor, "a resident cannot leave");
        }
    }

    /// The last procedure has returned: from here on nothing is in the way of the next call from
    /// this processor, and it may rely on us. Who sees the reply may have the processor, and call
    /// again, before we sleep.
    fn come_home(&self) {
        if !self.is_home.get() {
            self.is_home.set(processor::pin(self.processor).is_ok());
        }
        if self.is_home.get() {
            let role = Role::Resident(self.processor);
            for (_, gate) in role.gates(&self.snapshot, &self.awake) {
                bell::fall_asleep(gate, &[]);
            }
        }
    }
}

/// The A-stacks of a binding that want something.
fn posted_on(binding: &Arc<ServerBinding>) -> impl Iterator<Item = Posted<'_>> {
    let looks = (0..binding.astack_count()).map(move |index| (index, binding.look(index)));
    let wanted = looks.filter(|(_, (look, _))| *look != Look::Nothing);
    wanted.map(move |(index, (look, words))| Posted { binding, index, look, words })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn residents(allowed: &[u32]) -> Residents {
        Residents { allowed: allowed.to_vec(), needs: OwnLock::new() }
    }

    /// Where there is room for one.
    fn needs(residents: &Residents, processor: u32) -> bool {
        residents.need(processor, || true)
    }

    #[test]
    fn the_second_call_that_was_needed_but_not_found_makes_a_resident() {
        let residents = residents(&[0, 3]);
        assert!(!needs(&residents, 3));
        assert!(!needs(&residents, 0));
        assert!(needs(&residents, 3));
        assert!(needs(&residents, 0));
    }

    #[test]
    fn there_is_one_resident_a_processor() {
        let residents = residents(&[0, 1]);
        let made = (0..10).filter(|_| needs(&residents, 1)).count();
        assert_eq!(made, 1);
    }

    #[test]
    fn what_is_needed_while_there_is_no_room_is_not_counted() {
        let residents = residents(&[0, 1]);
        assert!((0..10).all(|_| !residents.need(1, || false)));
        assert!(!needs(&residents, 1));
        assert!(needs(&residents, 1));
    }

    #[test]
    fn a_processor_that_the_domain_does_not_have_gets_none() {
        let residents = residents(&[0, 1]);
        assert!((0..10).all(|_| !needs(&residents, 2) && !needs(&residents, u32::MAX)));
        assert!(residents.needs().is_empty());
    }

    #[test]
    fn where_there_is_one_processor_there_are_no_residents() {
        let residents = residents(&[5]);
        assert!((0..10).all(|_| !needs(&residents, 5)));
    }
}
