//! Kernel threads that let whoever has an A-stack get on with it.

use std::sync::Arc;

use nearcall_abi::{AStackClass, InterfaceDescriptor};

use super::*;
use crate::client::deadline::NEVER_NS;
use crate::testing::{Null, TestServer, null_interface};

/// A-stacks of the class.
const ASTACKS: u32 = 2;

static INTERFACE: InterfaceDescriptor =
    null_interface(&[AStackClass { block_bytes: 0, count: ASTACKS }]);

/// Has `use_it` use a binding whose server has replied last from the processor of this thread, or
/// from another one, while so many other threads wait. On a thread of its own, which is pinned.
fn beside<T: Send>(
    (name, is_here, others): (&str, bool, u32),
    use_it: impl FnOnce(&Arc<ClientBinding>) -> T + Send,
) -> T {
    let server = TestServer::new(&format!("claimed-{name}"), Null(&INTERFACE));
    let binding = server.import();
    let binding = binding.shared();
    binding.claiming.store(others, Relaxed);
    std::thread::scope(|scope| {
        let used = scope.spawn(|| {
            processor::pin(processor::current()).expect("a thread may stay where it is");
            let at = processor::current() + u32::from(!is_here);
            binding.linkage(0).set_server_processor(at);
            let used = use_it(binding);
            assert_eq!(binding.claiming.load(Relaxed), others, "it waits no more");
            used
        });
        used.join().expect("it does not panic")
    })
}

/// Waits while A-stacks are free: only a yield finds one.
fn waits(binding: &Arc<ClientBinding>) -> Option<u32> {
    binding.wait_in_turn(0, NEVER_NS, &mut false)
}

#[test]
fn a_yield_finds_what_came_back_meanwhile() {
    let found = beside(("yields", true, ASTACKS - 1), waits);
    assert!(found.is_some_and(|index| index < ASTACKS), "{found:?}");
}

#[test]
fn nobody_yields_for_a_server_elsewhere() {
    assert_eq!(beside(("elsewhere", false, 0), waits), None);
}

#[test]
fn nobody_yields_in_a_crowd() {
    assert_eq!(beside(("crowd", true, ASTACKS), waits), None);
}

#[test]
fn who_finds_none_in_time_is_told_so() {
    beside(("late", true, 0), |binding| {
        let soon = Deadline { ns: 1, ..Deadline::default() };
        let held: Vec<_> = (0..ASTACKS).map(|_| binding.lists.pop(0).expect("free")).collect();
        assert!(binding.claim_another(0, 0, soon).is_err(), "all are taken");
        held.into_iter().for_each(|index| binding.release(index));
        assert!(binding.claim_another(0, 0, soon).is_ok(), "one has come back");
    });
}
