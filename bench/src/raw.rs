//! The lower bounds. What two processes that alternate on one word of shared memory need for it:
//! nothing is called, nothing is checked, nothing lies beside the word. And what the kernel's own
//! ways need to bring bytes over and others back.

pub mod array;
pub mod bind;
pub mod exchange;
pub mod heads;
pub mod line;
pub mod rung;
pub mod streamed;
pub mod yielding;

mod pair;
pub mod peer;
mod shared;
mod stream;

pub use peer::{Peer, ROLE, play};
