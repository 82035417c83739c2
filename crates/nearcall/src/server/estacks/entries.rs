//! An interface whose procedures run on E-stacks, but for its leaves.

use std::cell::Cell;

use nearcall_abi::InterfaceDescriptor;

use crate::raw::{Arguments, Entries, OfKernelThread, Outcome};

/// Entries whose procedures do.
pub(crate) struct OnEStacks<E>(pub E);

impl<E: Entries> Entries for OnEStacks<E> {
    fn interface(&self) -> &'static InterfaceDescriptor {
        self.0.interface()
    }

    fn enter(&self, procedure: usize, arguments: Arguments<'_>) -> Outcome {
        self.0.enter(procedure, arguments)
    }

    fn is_awaited(&self) -> bool {
        self.0.is_awaited()
    }

    fn runs_on_estacks(&self) -> bool {
        true
    }

    fn estack_bytes_min(&self) -> usize {
        self.0.estack_bytes_min()
    }

    fn change_places(&self, kept: &Cell<OfKernelThread>) {
        self.0.change_places(kept);
    }
}
