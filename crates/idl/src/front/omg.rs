//! OMG IDL 4.2.

mod findings;
mod lexer;
pub mod preprocessor;
pub mod rules;
pub mod token;
