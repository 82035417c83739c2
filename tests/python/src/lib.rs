//! What the servers share: the stubs.

#![forbid(unsafe_code)]

include!(concat!(env!("OUT_DIR"), "/shapes.rs"));
include!(concat!(env!("OUT_DIR"), "/passing.rs"));
