//! The project's own commands, as a library so that `cargo test` runs the gates too.
//!
//! A gate prints how many things it checked and fails if that is none.

#![forbid(unsafe_code)]

pub mod tidy;

pub mod bless;
pub mod campaign;
pub mod check;
pub mod cost;
pub mod doctor;
pub mod install;
pub mod kernel;
pub mod matrix;
pub mod model;
pub mod peers;
pub mod prepare;
pub mod python;
pub mod step;
pub mod test;
