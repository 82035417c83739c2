//! What a server processor sleeps for, and the gates that it sleeps on (design note 0003).

use std::sync::atomic::{AtomicU32, AtomicU64};

use nearcall_os::futex;

use super::awake::Awake;
use super::table::Snapshot;
use super::trust::TrustClass;

/// Most gates that one sleep waits for, beside the two words that no peer reaches, and two of what
/// procedures on E-stacks wait for.
const GATES_MAX: usize = futex::WORDS_MAX - 4;

/// What a processor sleeps for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// For a call on an A-stack that is not polled.
    Watch,
    /// For the watcher to be stuck.
    Relief,
    /// For a caller on this processor who finds the watcher asleep.
    Resident(u32),
}

impl Role {
    /// The gates that one sleep waits for: of classes that are heard, all unless they are too many.
    pub fn gates<'s>(
        self,
        snapshot: &'s Snapshot,
        awake: &Awake,
    ) -> impl Iterator<Item = (&'s TrustClass, &'s AtomicU32)> {
        let classes = snapshot.classes.iter().take(GATES_MAX);
        let heard = classes.filter(|class| awake.has_heard(class));
        heard.map(move |class| (&**class, self.gate(class)))
    }

    fn gate(self, class: &TrustClass) -> &AtomicU32 {
        match self {
            Role::Watch => &class.watch().gate,
            Role::Relief => &class.relief().gate,
            Role::Resident(processor) => class.resident(processor),
        }
    }

    /// The lanes that whoever rings for it sets.
    pub fn lanes(self, class: &TrustClass) -> &[AtomicU64] {
        match self {
            Role::Watch => &class.watch().lanes,
            Role::Relief | Role::Resident(_) => &[],
        }
    }
}

/// Whether there are more trust classes than one sleep waits for.
pub(crate) fn is_crowd(snapshot: &Snapshot) -> bool {
    snapshot.classes.len() > GATES_MAX
}
