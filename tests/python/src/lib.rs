//! What the servers share: the stubs, and what some of them do.

#![forbid(unsafe_code)]

pub mod feeding;
pub mod vault;

include!(concat!(env!("OUT_DIR"), "/shapes.rs"));
include!(concat!(env!("OUT_DIR"), "/passing.rs"));
