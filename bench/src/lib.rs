//! The tables of the papers and of this project, measured beside the lower bounds of this machine.
//!
//! ```text
//! main ─┬─ paper peers size policy scale cost floor threads crowd urpc stubs python instructions
//!       │    ├─ stage                       who runs where; a round beside its bound
//!       │    │    └─ rounds ── statistics   what counts, and what is made of it
//!       │    ├─ calls workload callers      the subject: a server in a child, and a client
//!       │    ├─ raw                         the bounds
//!       │    ├─ counts                      instructions of a call's parts, by single steps
//!       │    ├─ instructions                of whole calls, both sides, whoever's
//!       │    ├─ rival                       other people's ways to call, each in `bench/peers`
//!       │    └─ table ── machine            text for people, JSON for programs
//!       └─ report ── plot                   the tables as one HTML file
//! child                                     this program once more, as the other side
//! ```
//!
//! `calls`, `child`, `counts` and `statistics` are of `bench-subject`, which has none of the
//! tables' libraries. How a round is built and how to read it: `docs/design/0004-measuring.md`.

#![forbid(unsafe_code)]

pub use bench_subject::{calls, child, counts, statistics};

pub mod callers;
pub mod cost;
pub mod crowd;
pub mod floor;
pub mod hog;
pub mod instructions;
pub mod lent;
pub mod machine;
pub mod outstanding;
pub mod paper;
pub mod peers;
pub mod policy;
pub mod python;
pub mod raw;
pub mod report;
pub mod rival;
pub mod rounds;
pub mod scale;
pub mod side_by_side;
pub mod size;
pub mod stage;
pub mod stubs;
pub mod table;
pub mod threads;
pub mod urpc;
pub mod workload;

/// What a child of the benchmark program can be.
pub const ROLES: &[(&str, child::Role)] = &[
    (callers::ROLE, callers::play),
    (calls::ROLE, calls::play),
    (cost::ROLE, cost::play),
    counts::ROLES[0],
    counts::ROLES[1],
    (crowd::ROLE, crowd::play),
    (hog::ROLE, hog::play),
    instructions::ours::ROLES[0],
    instructions::ours::ROLES[1],
    (lent::ROLE, lent::play),
    (outstanding::ROLE, outstanding::play),
    (python::ROLE, python::play),
    (raw::ROLE, raw::play),
    (raw::array::ROLE, raw::array::play),
    (raw::bind::ROLE, raw::bind::play),
    (raw::exchange::ROLE, raw::exchange::play),
    (raw::heads::ROLE, raw::heads::play),
    (raw::rung::ROLE, raw::rung::play),
    (raw::streamed::ROLE, raw::streamed::play),
    (scale::ROLE, scale::play),
    (side_by_side::ROLE, side_by_side::play),
    (stubs::ROLE, stubs::play),
    (urpc::components::ROLE, urpc::components::play),
    (workload::ROLE, workload::play),
];
