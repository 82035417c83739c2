//! The lower bounds: what two processes that alternate on one word of shared memory need for it.
//! Nothing is called, nothing is checked, nothing lies beside the word.

pub mod line;
pub mod yielding;

mod peer;

pub use peer::{Peer, ROLE, play};
