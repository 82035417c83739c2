//! Which users' calls are held back because theirs keep as many server processors as they may
//! (design note 0016). The rule is `nearcall_core::quota`'s.
//!
//! Asked when a relief has taken the watch over, which is when a call has kept a processor, and
//! when one comes back: nothing of it is on the way of a call.

use std::collections::BTreeMap;
use std::sync::MutexGuard;
use std::sync::atomic::{AtomicBool, Ordering};

use nearcall_core::quota::{self, User};
use nearcall_os::forks::OwnLock;
use nearcall_os::shown::Shown;

use super::binding::ServerBinding;
use super::current;
use super::table::Snapshot;
use crate::domain::DomainCore;

/// Bindings that have gone, of which it is looked then whether their calls run still.
const GONE_MIN: usize = 64;

/// Who is held back, and by what.
#[derive(Debug, Default)]
pub(crate) struct Holding {
    known: OwnLock<Known>,
    has_held: AtomicBool,
}

#[derive(Debug, Default)]
struct Known {
    /// The key of the binding whose call each processor runs.
    served: Vec<Shown>,
    /// Bindings that have gone, whose calls may run still, and their users.
    gone: Vec<(u64, User)>,
    /// How many of them there may be before those are forgotten whose calls do not.
    gone_max: usize,
    held: Vec<User>,
}

impl Holding {
    /// A processor begins.
    pub fn add(&self, served: Shown) {
        let mut known = self.known();
        known.served.retain(|shown| shown.word().is_some());
        known.served.push(served);
    }

    /// A binding has gone; what runs of it goes on.
    pub fn note_gone(&self, binding: &ServerBinding) {
        let mut known = self.known();
        known.gone.push((binding.key, binding.class.user()));
        if known.gone.len() > known.gone_max {
            let keys = known.keys();
            known.gone.retain(|(key, _)| keys.contains(key));
            known.gone_max = GONE_MIN.max(2 * known.gone.len());
        }
    }

    /// Whether this user's calls are held back.
    ///
    /// # Cost: one load, while nobody's are.
    pub fn holds(&self, user: User) -> bool {
        // Relaxed: seen late, a call more or less is begun; whoever is let go is announced.
        self.has_held.load(Ordering::Relaxed) && self.known().held.contains(&user)
    }

    /// The same of anybody's.
    pub fn holds_any(&self) -> bool {
        // Relaxed: as above.
        self.has_held.load(Ordering::Relaxed)
    }

    /// Decides anew. Whether somebody is not held back any more.
    fn judge(&self, snapshot: &Snapshot, processors_max: u32) -> bool {
        let mut known = self.known();
        let mut kept = BTreeMap::<User, u32>::new();
        for key in known.keys() {
            let gone = || known.gone.iter().find(|gone| gone.0 == key).map(|gone| gone.1);
            let user = snapshot.binding(key).map(|binding| binding.class.user()).or_else(gone);
            if let Some(user) = user {
                *kept.entry(user).or_default() += 1;
            }
        }
        let is_alone = is_one(snapshot.classes.iter().map(|class| class.user()));
        let held = quota::over_processors(&kept, processors_max, is_alone);
        let before = std::mem::replace(&mut known.held, held);
        // Relaxed: as above. Under the lock, so that the last to decide has said it.
        self.has_held.store(!known.held.is_empty(), Ordering::Relaxed);
        before.iter().any(|user| !known.held.contains(user))
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock()
    }
}

impl Known {
    /// Of the bindings whose calls run now.
    fn keys(&self) -> Vec<u64> {
        let keys = self.served.iter().filter_map(Shown::word);
        keys.filter(|key| *key != current::NONE).collect()
    }
}

/// A call has kept a processor, or one has come back: decides who is held back.
pub(crate) fn judge(core: &DomainCore) {
    let processors = &core.processors;
    if processors.holding.judge(&core.table.load(), core.options.processors_max) {
        // Its bells are to be heard again, by whoever sleeps.
        processors.announce();
    }
}

/// The same where nobody more can be held back.
pub(crate) fn judge_again(core: &DomainCore) {
    if core.processors.holding.holds_any() {
        judge(core);
    }
}

/// Whether these classes are one user's: it may be in several.
fn is_one(mut users: impl Iterator<Item = User>) -> bool {
    users.next().is_none_or(|first| users.all(|user| user == first))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use nearcall_os::shown;

    use super::*;

    const A: User = Some(1);

    thread_local! {
        static WORD: AtomicU64 = const { AtomicU64::new(7) };
    }

    #[test]
    fn calls_of_a_binding_that_has_gone_are_its_users_until_they_have_ended() {
        let (holding, snapshot) = (Holding::default(), Snapshot::default());
        holding.known().gone.push((7, A));
        let served = |shown| holding.known().served.extend(vec![shown; 14]);
        shown::show(&WORD, served, || {
            assert!(!holding.judge(&snapshot, 17) && !holding.holds(A));
            assert!(!holding.judge(&snapshot, 16) && holding.holds(A));
            // Relaxed: this thread's own.
            WORD.with(|word| word.store(current::NONE, Ordering::Relaxed));
            assert!(holding.judge(&snapshot, 16) && !holding.holds(A));
        });
    }

    #[test]
    fn a_processor_that_has_ended_is_forgotten() {
        let holding = Holding::default();
        for _ in 0..10 {
            shown::show(&WORD, |shown| holding.add(shown), || {});
        }
        assert_eq!(holding.known().served.len(), 1);
    }

    #[test]
    fn who_is_in_several_classes_is_one_user() {
        let are_one = |users: &[User]| is_one(users.iter().copied());
        let (a, b): (User, User) = (Some(1), Some(2));
        assert!(are_one(&[]) && are_one(&[a]) && are_one(&[a, a, a]) && are_one(&[None, None]));
        assert!(!are_one(&[a, b]) && !are_one(&[a, a, b]) && !are_one(&[None, a]));
    }
}
