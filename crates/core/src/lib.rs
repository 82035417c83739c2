//! The protocol: who may do what next.
//!
//! Knows no system call, reads no clock, never blocks and never allocates on the call path. Every
//! decision here is a plain function of words and numbers; the runtime does what is decided. Words
//! in shared memory are taken as `&AtomicU32`, so that nothing here knows where they lie.

#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

extern crate alloc;

pub mod sync;

pub mod turn;

pub mod claim;

pub mod progress;

pub mod tally;

pub mod bell;

pub mod fault;

pub mod length;

pub mod index;

pub mod astack_list;

pub mod bias;

pub mod captured;

pub mod lookout;

pub mod overdue;

pub mod termination;

pub mod waiting;

pub mod reallocation;

pub mod linger;

pub mod handing;

pub mod domain_cache;

pub mod fairness;

pub mod admission;

pub mod quota;

pub mod room;

pub mod hearing;

// Apart from the modules, which the model test compiles a second time against loom.
#[cfg(test)]
mod tests;

pub use admission::{BindingState, RevokeReason};
pub use astack_list::AStackLists;
pub use captured::Captured;
pub use fairness::Priority;
pub use fault::PeerFault;
pub use index::{AStackIndex, ClaimedIndex, Incarnation, ProcedureIndex};
pub use turn::{Mode, Phase, Sequence, TurnWord};
pub use waiting::{Step, WaitPolicy, Waiter, YieldBan};
