//! OMG IDL 4.2.

pub mod token;
