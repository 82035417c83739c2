//! What the tables of `bench` measure: a server in a child, a client, and the instructions of their
//! calls.
//!
//! ```text
//! counts              instructions of a call's parts, by single steps
//!   └─ calls          the subject: a server in a child, and a client
//!        ├─ child     this program once more, as the other side
//!        └─ statistics
//! ```
//!
//! A package of its own: what counts is compiled by cargo's release profile for each change of the
//! call path, and the libraries of the tables would be compiled with it.

#![forbid(unsafe_code)]

pub mod calls;
pub mod child;
pub mod counts;
pub mod statistics;
