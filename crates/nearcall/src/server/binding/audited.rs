//! What is written down of a binding, and warned of.

use std::sync::atomic::{AtomicU64, Ordering};

use nearcall_core::RevokeReason;

use super::ServerBinding;
use crate::audit::{self, Cause, Subject};

/// The calls of a client that the policy did not let it make.
#[derive(Debug, Default)]
pub(crate) struct NotPermitted {
    count: AtomicU64,
    /// A bit for each procedure whose first such call was written down.
    written: Box<[AtomicU64]>,
}

impl NotPermitted {
    /// Of a binding to so many procedures. None of them has a first call if that it was bound was
    /// left out itself: who binds without end would have as many records as it makes calls.
    pub fn of(procedure_count: usize, is_bound_written: bool) -> NotPermitted {
        let words = if is_bound_written { procedure_count.div_ceil(64) } else { 0 };
        let written = (0..words).map(|_| AtomicU64::new(0)).collect();
        NotPermitted { count: AtomicU64::new(0), written }
    }

    fn is_first(&self, procedure: u32) -> bool {
        let bit = 1 << (procedure % 64);
        let word = self.written.get(procedure as usize / 64);
        // Relaxed: the bit alone is decided by.
        word.is_some_and(|word| word.fetch_or(bit, Ordering::Relaxed) & bit == 0)
    }
}

impl ServerBinding {
    /// What audit records are about.
    pub fn subject(&self) -> Subject<'_> {
        let giver = self.introducer.as_ref().map(|introducer| &*introducer.giver);
        let interface = self.entries.interface().name;
        Subject { name: &self.name, interface, importer: &self.importer, giver }
    }

    /// Its client has called a procedure that the policy does not let it call.
    #[cold]
    pub fn note_not_permitted(&self, procedure: u32) {
        // Relaxed: nothing depends on the count.
        self.not_permitted.count.fetch_add(1, Ordering::Relaxed);
        // As in `fault`: a child that was forked says nothing.
        if self.socket.stream().is_ours() && audit::is_heard() {
            let is_first = self.not_permitted.is_first(procedure);
            let operation = self.all_procedures()[procedure as usize].told().operation();
            self.audit.not_permitted(self.subject(), operation, is_first);
        }
    }

    /// It has ended.
    pub fn note_revoked(&self, reason: RevokeReason) {
        // Relaxed: nothing depends on the count.
        let count = self.not_permitted.count.load(Ordering::Relaxed);
        self.audit.revoked(self.subject(), reason, (count > 0).then_some(count));
    }

    /// Whether what its client may cause without end is warned of now, and how often it was not.
    #[cold]
    pub fn may_warn(&self, cause: Cause) -> Option<u64> {
        let is_ours = self.socket.stream().is_ours();
        is_ours.then(|| self.audit.may_warn(cause, self.class.user())).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_procedure_has_one_first_call_where_the_bind_was_written() {
        let calls = NotPermitted::of(65, true);
        for procedure in [0, 63, 64] {
            assert!(calls.is_first(procedure) && !calls.is_first(procedure), "{procedure}");
        }
        assert!(calls.is_first(1));
        let of_another = NotPermitted::of(65, false);
        assert!([0, 63, 64].into_iter().all(|procedure| !of_another.is_first(procedure)));
    }
}
