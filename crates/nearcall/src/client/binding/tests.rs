//! Biases that end under their owners' hands.

use std::collections::HashSet;
use std::sync::Weak;
use std::task::Waker;

use nearcall_abi::{AStackClass, InterfaceDescriptor};
use nearcall_core::RevokeReason;

use super::{ClientBinding, identity};
use crate::client::deadline::Deadline;
use crate::server::current::enter_domain;
use crate::testing::{Null, TestServer, null_interface};

/// A-stacks of the class.
const ASTACKS: usize = 4;

static INTERFACE: InterfaceDescriptor =
    null_interface(&[AStackClass { block_bytes: 0, count: ASTACKS as u32 }]);

/// Indices of as many A-stacks as can be claimed at once.
fn all(binding: &ClientBinding) -> Vec<u32> {
    let claim = || binding.claim_at_once(0, 0, Deadline::default()).unwrap();
    let held: Vec<_> = std::iter::from_fn(claim).take(ASTACKS + 1).collect();
    held.iter().map(|(held, _)| held.linkage().index).collect()
}

/// The revoker sees the bit that its owner has just given back, and pushes the A-stack; then the
/// owner sees that it is the owner no more.
#[test]
fn what_is_given_back_under_a_revocation_is_listed_once() {
    let server = TestServer::new("biased", Null(&INTERFACE));
    let binding = server.import();
    let binding = binding.inner();
    let (held, _) = binding.claim_at_once(0, 0, Deadline::default()).unwrap().unwrap();
    let grip = held.let_go();
    let bit = grip.linkage().kept();
    assert_ne!(bit, 0);
    assert!(binding.bias(grip.linkage()).release(identity(), bit));
    binding.revoke_bias(0);
    grip.give_back_otherwise(bit);
    let claimed = all(binding);
    assert_eq!(claimed.len(), ASTACKS, "{claimed:?}");
    assert_eq!(claimed.iter().collect::<HashSet<_>>().len(), ASTACKS, "{claimed:?}");
}

/// A server processor that has inherited the thread pointer of a thread that has ended: who asks by
/// that takes it for that one, who asks for its number does not.
#[test]
fn what_is_kept_for_a_thread_is_not_for_a_processor_after_it() {
    let server = TestServer::new("inherited", Null(&INTERFACE));
    let binding = server.import();
    let binding = binding.inner();
    drop(binding.claim_at_once(0, 0, Deadline::default()).unwrap());
    assert!(binding.biases[0].is_towards(identity()));
    let out = binding.claim_at_once(0, 0, Deadline::default()).unwrap();
    enter_domain(Weak::new(), 0);
    assert!(!binding.biases[0].is_towards(identity()));
    drop(out);
    let claimed = all(binding);
    assert_eq!(claimed.iter().collect::<HashSet<_>>().len(), ASTACKS, "{claimed:?}");
}

/// A task has found no A-stack, and comes to the queue when all who stood there were told already.
#[test]
fn who_comes_to_the_queue_of_a_revoked_binding_looks_again() {
    let server = TestServer::new("revoked-queue", Null(&INTERFACE));
    let binding = server.import();
    let binding = binding.inner();
    let claim = || binding.claim_at_once(0, 0, Deadline::default()).unwrap();
    let held: Vec<_> = std::iter::from_fn(claim).collect();
    assert_eq!(held.len(), ASTACKS);
    let mut place = None;
    assert!(binding.claimants.wait(binding, 0, &mut place, Waker::noop()));
    binding.claimants.leave(binding, place.take().unwrap());
    binding.revoke(RevokeReason::PeerDied);
    assert!(!binding.claimants.wait(binding, 0, &mut place, Waker::noop()));
    binding.claimants.leave(binding, place.unwrap());
}
