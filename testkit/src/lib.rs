//! Two-domain tests: written once, run over a heap twin as threads and over sealed segments as
//! processes.
//!
//! ```text
//! tests/*.rs ── each_world(|world| …) ─┬─ Threads    Binding::import_twin in this process
//!                                      └─ Processes  the program testkit-server, over a socket
//! ```

#![forbid(unsafe_code)]

pub mod contract;
pub mod random_interface;
pub mod server;
pub mod signal;
pub mod world;

/// Stubs of `faults.idl`.
pub mod faults {
    include!(concat!(env!("OUT_DIR"), "/faults.rs"));
}

/// Stubs of `contract.idl`.
pub mod stubs {
    include!(concat!(env!("OUT_DIR"), "/contract.rs"));
}
