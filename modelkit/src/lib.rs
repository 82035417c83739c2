//! What the models of shared words have in common, whichever crate the words are of.
//!
//! ```text
//!  atomics      loom's, with which a model compiles the library's own sources again
//!  weakening    one order of one row made weaker, which some model has to miss
//!  schedules    whole runs under schedules that chance chooses (shuttle)
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod atomics;
pub mod schedules;
pub mod weakening;
