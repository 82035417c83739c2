//! Where payloads go: what lies in memory of the call in a server is never given back by a stub.

use crate::back::c::stub::{Printer, Side, payload_counts};
use crate::layout::{Form, Place, Root};
use crate::model::Direction;
use crate::plan::Step;

impl Printer<'_, '_> {
    /// Whether a value is a procedure's only to read: its memory is the call's then. Items of an
    /// exchange are taken.
    pub fn is_only_read(&self, root: Root) -> bool {
        let Root::Parameter(index) = root else { return false };
        let operation = self.procedure.operation;
        let is_in = operation.parameters[index as usize].direction == Direction::In;
        self.side == Side::Server && is_in && !operation.waits_for_exchange()
    }

    /// Whether a payload goes with the call: what a value is read from is used up at once.
    pub fn is_scratch(&self, place: &Place, form: Form) -> bool {
        match form {
            Form::Lent => false,
            Form::Marshalled => self.side == Side::Server,
            _ => self.is_only_read(place.root),
        }
    }

    /// Whose memory a payload goes to, if not the allocator's.
    pub fn memory_form(&self, place: &Place, form: Form) -> &'static str {
        if self.is_scratch(place, form) {
            " | NEARCALL_FORM_SCRATCH"
        } else if self.is_prealloc(place.root) {
            " | NEARCALL_FORM_PREALLOC"
        } else {
            ""
        }
    }

    /// How many payloads may have to be given back that these steps take.
    pub fn allocated_takes(&self, steps: &[Step]) -> usize {
        let is_allocated = |step: &Step| match step {
            Step::Take { form: Form::Lent, .. } => false,
            Step::Take { place, form, .. } => !self.is_scratch(place, *form),
            _ => false,
        };
        if steps.iter().any(is_allocated) { payload_counts(steps).1 } else { 0 }
    }
}
