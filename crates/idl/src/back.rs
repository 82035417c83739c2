//! Back ends: plan to text. A back end prints steps and decides nothing about layout or checks.

pub mod python;
pub mod rust;
