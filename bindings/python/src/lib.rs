//! The native half of the Python package `nearcall`: it interprets the plans that generated modules
//! carry as tables.
//!
//! ```text
//! CallsClient.add(2, 3)            generated: which procedure, which arguments
//!  └ Binding.call                  call.rs
//!     ├ write                      arguments to bytes, each checked by its type in the table
//!     ├ nearcall::raw              claim, put, post, without the interpreter's lock
//!     └ read                       bytes to results, each judged: a server may lie
//! ```
//!
//! Knows no interface: `table.rs` has what a generated module says, once it was checked. What
//! crosses is read from a private copy, and what is not of its type is a typed exception: a hostile
//! peer cannot crash the interpreter.

#![deny(unsafe_code)]

mod awaited;
mod call;
mod cancellation;
mod current;
#[allow(unsafe_code)]
mod descriptor;
mod domain;
mod errors;
mod feed;
mod feed_tables;
mod knobs;
mod log;
mod masked;
mod messages;
mod methods;
mod pending;
mod read;
mod release;
mod serve;
mod serve_awaited;
mod served_exchange;
mod served_feed;
mod served_one_way;
mod shown;
mod table;
mod tables;
#[allow(unsafe_code)]
mod thread_state;
#[allow(unsafe_code)]
mod view;
mod wakes;
mod words;
mod write;
mod wrong;

use pyo3::prelude::*;

/// `nearcall._native`
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::awaited::{AwaitedCall, begin};
    #[pymodule_export]
    use super::call::Binding;
    #[pymodule_export]
    use super::cancellation::Cancellation;
    #[pymodule_export]
    use super::current::{CurrentCall, Ending, Importer, current_call};
    #[pymodule_export]
    use super::descriptor::Descriptor;
    #[pymodule_export]
    use super::domain::{configure, note_fork, shut_down};
    #[pymodule_export]
    use super::feed::{Coming, Going, open_exchange, open_feed};
    #[pymodule_export]
    use super::knobs::{DomainOptions, WaitPolicy};
    #[pymodule_export]
    use super::pending::{Pending, post_in_haste};
    #[pymodule_export]
    use super::serve::Clerk;
    #[pymodule_export]
    use super::serve_awaited::ServedCall;
    #[pymodule_export]
    use super::served_exchange::{Inlet, Outlet};
    #[pymodule_export]
    use super::tables::{Interface, Types};
    #[pymodule_export]
    use super::view::Lent;
    #[pymodule_export]
    use super::wakes::{Wakes, wake_number};
}
