//! Which procedures of an interface reply before their processor goes on, so that a call of theirs
//! is not looked at more closely than by its class: all but those that may wait on an E-stack, and
//! those whose batch another processor may send (design note 0020).

use std::sync::{Mutex, PoisonError};

use nearcall_abi::{InterfaceDescriptor, ProcedureDescriptor};

/// A class that no A-stack has: a call of a procedure that says so is looked at more closely.
const NO_CLASS: u8 = u8::MAX;

/// Of one interface, by where its procedures run.
struct Known {
    all: &'static [ProcedureDescriptor],
    run_on_estacks: bool,
    prompt: &'static [ProcedureDescriptor],
}

/// Of every interface that was bound to: they are as many as the program has, and stay.
static KNOWN: Mutex<Vec<Known>> = Mutex::new(Vec::new());

/// The procedures that are prompt, each in its place.
pub(super) fn prompt_procedures(
    interface: &InterfaceDescriptor,
    run_on_estacks: bool,
) -> &'static [ProcedureDescriptor] {
    let all = interface.procedures;
    let is_prompt = |procedure: &ProcedureDescriptor| {
        !procedure.told().brings_items() && (procedure.is_leaf || !run_on_estacks)
    };
    if all.iter().all(is_prompt) {
        return all;
    }
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let is_it =
        |each: &&Known| std::ptr::eq(each.all, all) && each.run_on_estacks == run_on_estacks;
    if let Some(each) = known.iter().find(is_it) {
        return each.prompt;
    }
    let in_place = |procedure: &ProcedureDescriptor| match is_prompt(procedure) {
        true => *procedure,
        false => ProcedureDescriptor { class: NO_CLASS, ..*procedure },
    };
    let prompt = all.iter().map(in_place).collect::<Box<[_]>>();
    let prompt: &'static [ProcedureDescriptor] = Box::leak(prompt);
    known.push(Known { all, run_on_estacks, prompt });
    prompt
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn procedure(name: &'static str, is_leaf: bool) -> ProcedureDescriptor {
        let (is_oneway, is_idempotent) = (false, false);
        ProcedureDescriptor { name, hash: [0; 16], class: 1, is_oneway, is_idempotent, is_leaf }
    }

    static PROCEDURES: [ProcedureDescriptor; 4] = [
        procedure("add", true),
        procedure("rows", false),
        procedure("_next_rows", false),
        procedure("_next_samples", true),
    ];

    /// Which of them are, and where the list lies.
    fn prompt(run_on_estacks: bool) -> (Vec<bool>, usize) {
        let interface = InterfaceDescriptor { procedures: &PROCEDURES, ..interface() };
        let found = prompt_procedures(&interface, run_on_estacks);
        (found.iter().map(|procedure| procedure.class == 1).collect(), found.as_ptr().addr())
    }

    fn interface() -> InterfaceDescriptor {
        let (procedures, classes, appendables) = (&[], &[], &[]);
        InterfaceDescriptor { name: "Ledger", hash: [0; 16], procedures, classes, appendables }
    }

    #[test]
    fn what_may_wait_or_brings_items_is_not_prompt() {
        let (on_processors, there) = prompt(false);
        assert_eq!(on_processors, [true, true, false, false]);
        assert_eq!(prompt(false).1, there, "it is made once");
        assert_eq!(prompt(true).0, [true, false, false, false]);
        let plain = InterfaceDescriptor { procedures: &PROCEDURES[..2], ..interface() };
        assert_eq!(prompt_procedures(&plain, false).as_ptr().addr(), PROCEDURES.as_ptr().addr());
    }
}
