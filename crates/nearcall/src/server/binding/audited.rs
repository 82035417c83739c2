//! What is written down of a binding, and warned of.

use super::ServerBinding;
use crate::audit::{Cause, Subject};

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
        let procedure = self.all_procedures()[procedure as usize].told();
        if self.socket.stream().is_ours() {
            self.audit.not_permitted(self.subject(), &procedure);
        }
    }

    /// Whether what its client may cause without end is warned of now, and how often it was not.
    #[cold]
    pub fn may_warn(&self, cause: Cause) -> Option<u64> {
        // As in `fault`: a child that was forked says nothing.
        let is_ours = self.socket.stream().is_ours();
        is_ours.then(|| self.audit.may_warn(cause, self.class.user())).flatten()
    }
}
