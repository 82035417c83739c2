//! Who the client of a binding is, by whose leave it is there, and what it may call.

use std::sync::Arc;

use nearcall_core::admission::Permitted;

use super::ServerBinding;
use crate::audit::Subject;
use crate::server::importer::{Importer, Introducer};
use crate::server::rules::Decision;

impl ServerBinding {
    /// Whether the client may call this procedure.
    pub fn permits(&self, procedure: u32) -> bool {
        self.permitted.as_ref().is_none_or(|permitted| permitted.allows(procedure))
    }

    /// Procedures that the client may call; `None`: all.
    pub fn permitted(&self) -> &Option<Permitted> {
        &self.permitted
    }

    /// Whom the policy has admitted: the importer, or who stands for it.
    pub fn admitted(&self) -> &Arc<Importer> {
        self.introducer.as_ref().map_or(&self.importer, |introducer| &introducer.admitted)
    }

    /// What a binding is made by that its client introduces somebody to: what this one was.
    pub fn passed_on(&self) -> Decision {
        let (priority, limits) = (self.priority, self.account.limits());
        let verdict = Ok(self.permitted.clone());
        let trust_class = self.class.name.split.clone();
        Decision { rule: "introduced".to_owned(), verdict, priority, limits, trust_class }
    }

    /// As what it stands for whom its client introduces.
    pub fn introduces(&self) -> Introducer {
        Introducer::of(&self.importer, self.admitted())
    }

    /// What audit records are about.
    pub fn subject(&self) -> Subject<'_> {
        let giver = self.introducer.as_ref().map(|introducer| &*introducer.giver);
        let interface = self.entries.interface().name;
        Subject { name: &self.name, interface, importer: &self.importer, giver }
    }
}
