//! The tables of the papers, measured beside the lower bounds of this machine.
//!
//! ```text
//! main ── paper ─┬─ rounds ── statistics     what counts, and what is made of it
//!                ├─ calls                    the subject: a server in a child, and a client
//!                ├─ raw                      the bounds
//!                └─ report ── machine        a table, or JSON
//! child                                      this program once more, as the other side
//! ```
//!
//! How a round is built and how to read it: `docs/design/0004-measuring.md`.

#![forbid(unsafe_code)]

pub mod calls;
pub mod child;
pub mod machine;
pub mod paper;
pub mod raw;
pub mod report;
pub mod rounds;
pub mod statistics;
