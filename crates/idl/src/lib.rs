//! The Nearcall interface compiler as a library: text -> model -> layout -> plan -> text.
//!
//! ```text
//! front       lexer, preprocessor, parsers, resolver     text  -> model
//! model       what the file means                        -
//! need        what is declared before what needs it      -
//! layout      sizes, offsets, which class of A-stack     model -> layout
//! plan        the steps of every stub, as data           layout -> plan
//! back        prints steps; decides nothing              plan  -> text
//! selftest    which values show that two programs are understood   model -> values
//! evolution   what becomes of programs by a change       model -> findings
//! build       for build scripts                          file  -> file
//! ```
//!
//! Never imports the runtime, and the runtime never parses text.

#![forbid(unsafe_code)]

pub mod back;
pub mod build;
pub mod diagnostic;
pub mod evolution;
pub mod front;
pub mod hash;
pub mod layout;
pub mod model;
mod need;
pub mod plan;
pub mod selftest;
pub mod source;

pub use build::build;
