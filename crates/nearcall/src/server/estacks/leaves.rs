//! An interface whose procedures run on E-stacks, but for its leaves.

use std::ptr;
use std::sync::{Mutex, PoisonError};

use nearcall_abi::{InterfaceDescriptor, ProcedureDescriptor};

use crate::raw::{Arguments, Entries, Outcome};

/// A class that no A-stack has: a call of a procedure that says so is looked at more closely.
const NO_CLASS: u8 = u8::MAX;

/// Entries whose procedures wait on E-stacks.
pub(crate) struct OnEStacks<E> {
    entries: E,
    leaves: &'static [ProcedureDescriptor],
}

/// An interface's procedures, and the same with those alone in their places that are leaves.
type Known = (&'static [ProcedureDescriptor], &'static [ProcedureDescriptor]);

/// Of every interface that was exported so: they are as many as the program has, and stay.
static LEAVES: Mutex<Vec<Known>> = Mutex::new(Vec::new());

impl<E: Entries> OnEStacks<E> {
    pub fn new(entries: E) -> OnEStacks<E> {
        let leaves = leaves_of(entries.interface());
        OnEStacks { entries, leaves }
    }
}

fn leaves_of(interface: &InterfaceDescriptor) -> &'static [ProcedureDescriptor] {
    let mut known = LEAVES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, leaves)) = known.iter().find(|(all, _)| ptr::eq(*all, interface.procedures)) {
        return leaves;
    }
    let in_place = |procedure: &ProcedureDescriptor| match procedure.is_leaf {
        true => *procedure,
        false => ProcedureDescriptor { class: NO_CLASS, ..*procedure },
    };
    let leaves = interface.procedures.iter().map(in_place).collect::<Box<[_]>>();
    let leaves: &'static [ProcedureDescriptor] = Box::leak(leaves);
    known.push((interface.procedures, leaves));
    leaves
}

impl<E: Entries> Entries for OnEStacks<E> {
    fn interface(&self) -> &'static InterfaceDescriptor {
        self.entries.interface()
    }

    fn enter(&self, procedure: usize, arguments: Arguments<'_>) -> Outcome {
        self.entries.enter(procedure, arguments)
    }

    fn is_awaited(&self) -> bool {
        self.entries.is_awaited()
    }

    fn leaves(&self) -> Option<&'static [ProcedureDescriptor]> {
        Some(self.leaves)
    }
}
