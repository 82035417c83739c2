//! Kernel threads that let whoever has an A-stack get on with it.

use std::sync::Arc;

use nearcall_abi::{AStackClass, InterfaceDescriptor, ProcedureDescriptor};

use super::*;
use crate::raw::{Arguments, Entries, Outcome};
use crate::testing::TestServer;

/// A-stacks of the class.
const ASTACKS: u32 = 2;

static INTERFACE: InterfaceDescriptor = InterfaceDescriptor {
    name: "Claimed",
    hash: [1; 16],
    procedures: &[ProcedureDescriptor {
        name: "null",
        hash: [2; 16],
        class: 0,
        is_oneway: false,
        is_idempotent: false,
        is_leaf: false,
    }],
    classes: &[AStackClass { block_bytes: 0, count: ASTACKS }],
    appendables: &[],
};

/// Nobody calls it.
struct Idle;

impl Entries for Idle {
    fn interface(&self) -> &'static InterfaceDescriptor {
        &INTERFACE
    }

    fn enter(&self, _procedure: usize, arguments: Arguments<'_>) -> Outcome {
        arguments.results().reply(0)
    }
}

/// Has `use_it` use a binding whose server has replied last from the processor of this thread, or
/// from another one.
fn with_server(name: &str, is_here: bool, use_it: impl FnOnce(&Arc<ClientBinding>)) {
    let server = TestServer::new(&format!("claimed-{name}"), Idle);
    let binding = server.import();
    processor::pin(processor::current()).expect("a thread may stay where it is");
    let at = processor::current() + u32::from(!is_here);
    binding.inner().linkage(0).set_server_processor(at);
    use_it(binding.shared());
}

#[test]
fn a_yield_finds_what_came_back_meanwhile() {
    with_server("yields", true, |binding| {
        binding.claiming.store(ASTACKS, Relaxed);
        let found = binding.yield_for_another(0).expect("all are free");
        assert!(found < ASTACKS);
        binding.release(found);
    });
}

#[test]
fn nobody_yields_for_a_server_elsewhere() {
    with_server("elsewhere", false, |binding| {
        binding.claiming.store(1, Relaxed);
        assert_eq!(binding.yield_for_another(0), None);
    });
}

#[test]
fn nobody_yields_in_a_crowd() {
    with_server("crowd", true, |binding| {
        binding.claiming.store(ASTACKS + 1, Relaxed);
        assert_eq!(binding.yield_for_another(0), None);
    });
}

#[test]
fn who_has_waited_is_no_crowd_any_more() {
    with_server("over", true, |binding| {
        let none = Deadline { ns: 1, ..Deadline::default() };
        let held: Vec<_> = (0..ASTACKS).map(|_| binding.lists.pop(0).expect("free")).collect();
        assert!(binding.claim_another(0, 0, none).is_err(), "all are taken");
        held.into_iter().for_each(|index| binding.release(index));
        assert!(binding.claim_another(0, 0, none).is_ok(), "one has come back");
        assert_eq!(binding.claiming.load(Relaxed), 0);
    });
}
