//! Two-domain tests: written once, run over a heap twin as threads and over sealed segments as
//! processes. And the campaign: what the table of `docs/RELIABILITY.md` demands, row by row.
//!
//! ```text
//! tests/*.rs ── each_world(|world| …) ─┬─ Threads    Binding::import_twin in this process
//!                                      └─ Processes  the program testkit-server, over a socket
//! bin/campaign ── campaign::run ── a row each ── the program itself, as a player that is killed
//! ```

#![forbid(unsafe_code)]

pub mod activity;
pub mod campaign;
pub mod confined;
pub mod contract;
pub mod exchanging;
pub mod feeding;
pub mod freezer;
pub mod hosting;
pub mod introducing;
pub mod judging;
pub mod longer;
pub mod passing;
pub mod records;
pub mod server;
pub mod signal;
pub mod staying;
pub mod users;
pub mod world;

/// Stubs of `faults.idl`.
pub mod faults {
    include!(concat!(env!("OUT_DIR"), "/faults.rs"));
}

/// Stubs of `contract.idl`.
pub mod stubs {
    include!(concat!(env!("OUT_DIR"), "/contract.rs"));
}

/// Stubs of `effects.idl`.
pub mod effects {
    include!(concat!(env!("OUT_DIR"), "/effects.rs"));
}

/// Stubs of `awaited.idl`.
pub mod awaited {
    include!(concat!(env!("OUT_DIR"), "/awaited.rs"));
}

/// Stubs of `turns.idl`.
pub mod turns {
    include!(concat!(env!("OUT_DIR"), "/turns.rs"));
}

/// Stubs of `estacks.idl`.
pub mod estacks {
    include!(concat!(env!("OUT_DIR"), "/estacks.rs"));
}

/// Stubs of `stays.idl`.
pub mod stays {
    include!(concat!(env!("OUT_DIR"), "/stays.rs"));
}

/// Stubs of `introducing.idl`.
pub mod introducing_stubs {
    include!(concat!(env!("OUT_DIR"), "/introducing.rs"));
}

/// Stubs of `forms.idl`.
pub mod forms {
    include!(concat!(env!("OUT_DIR"), "/forms.rs"));
}

/// Stubs of `pieces.proto`.
pub mod pieces {
    include!(concat!(env!("OUT_DIR"), "/pieces.rs"));
}

/// Stubs of `orders.proto`.
pub mod orders {
    include!(concat!(env!("OUT_DIR"), "/orders.rs"));
}

/// Stubs of `times.proto`.
pub mod times {
    include!(concat!(env!("OUT_DIR"), "/times.rs"));
}

/// Stubs of `judging.idl`.
pub mod judging_stubs {
    include!(concat!(env!("OUT_DIR"), "/judging.rs"));
}

/// Stubs of `exchanges.idl`.
pub mod exchanges {
    include!(concat!(env!("OUT_DIR"), "/exchanges.rs"));
}

/// Stubs of `flowing.idl`.
pub mod flowing {
    include!(concat!(env!("OUT_DIR"), "/flowing.rs"));
}

/// Stubs of `surrounded.idl`.
pub mod surrounded {
    include!(concat!(env!("OUT_DIR"), "/surrounded.rs"));
}
