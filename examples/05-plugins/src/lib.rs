//! A host whose plug-ins are processes of their own. `README.md` says what it is an example of.

#![forbid(unsafe_code)]

include!(concat!(env!("OUT_DIR"), "/filter.rs"));

mod plug_in;

pub use plug_in::{NAME, PlugIn};
