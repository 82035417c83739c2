//! What clients have left behind, found beside what the others post: its bindings have the shares
//! that they had (design notes 0015 and 0024).

use std::sync::Arc;

use super::Watch;
use super::shared::{Found, Place};
use crate::server::binding::ServerBinding;

impl Watch<'_> {
    /// Finds calls that were left behind, for the next pass, and is to look again after that, as
    /// long as there are some.
    #[cold]
    #[inline(never)]
    pub(super) fn find_left(&mut self) {
        // Of the last time, if no pass came since.
        self.found.clear();
        self.left.clear();
        let processors = self.processors;
        let turns = processors.left.turns(|user| processors.holding.holds(user));
        for (binding, calls) in turns {
            let (place, key) = (Place::Left(self.left.len()), binding.key);
            let found = (0..).zip(calls).map(|(at, (index, call))| Found {
                place,
                index,
                call,
                key,
                is_first: at == 0,
            });
            self.found.extend(found);
            self.left.push(binding);
        }
        if self.left.is_empty() {
            self.note_sharing();
            return;
        }
        // A pass is to come, whoever is polled.
        self.is_shared = true;
        processors.asked.look_for_left();
    }

    /// Begins a call that was left behind, unless another watcher has, or its user is held back.
    #[cold]
    #[inline(never)]
    pub(super) fn serve_left_behind(&mut self, binding: &Arc<ServerBinding>, index: u32) -> bool {
        if self.holds(binding) {
            return false;
        }
        let Some((index, call)) = self.processors.left.take(binding.key, index) else {
            return false;
        };
        self.awake.told_found();
        // It keeps a processor of its user's, whose binding is in no table.
        self.processors.holding.note_gone(binding);
        let served = self.run_left(binding, index, call);
        self.note(served)
    }
}
