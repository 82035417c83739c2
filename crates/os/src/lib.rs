//! Linux made safe for Nearcall: shared memory that a hostile peer can neither take away nor race
//! with, and the few system calls that a call, a binding and a death need.
//!
//! Decides nothing about the protocol. What a peer hands over (a descriptor, a packet, a word) is
//! judged here as far as the kernel knows it; what it means is judged above. No crate above this
//! one sees a raw pointer into a segment, but C by way of `AStack::address`, and nothing here gives
//! a reference to memory that a peer can write, except to structs that are atomics throughout.

#![warn(missing_docs)]
#![deny(unsafe_op_in_unsafe_fn)]

pub mod astack;
pub mod segment;
pub mod span;
pub mod words;

mod copy;
mod held;
mod identity;
mod mapping;
mod return_stack;

pub mod fence;
pub mod futex;
pub mod processor;
pub mod shown;
pub mod stack_pointer;
pub mod thread_pointer;

pub mod clock;

pub mod activation;
pub mod closing;
pub mod descriptor;
pub mod forks;
pub mod huge;
pub mod limits;
pub mod peer;
pub mod poll;
pub mod socket;

pub use activation::Activated;
pub use descriptor::{DescriptorKind, WrongDescriptor};
pub use held::HeldHead;
pub use peer::{Peer, Process};
pub use poll::{Poller, Ready, Waker};
pub use segment::{Sealing, Segment, SegmentError, SegmentFault};
pub use socket::{Listener, Received, SocketError, Stream};
pub use span::{ReadLine, SharedLine, Span, SpanMut};
pub use words::HeadWords;
