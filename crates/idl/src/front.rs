//! Front ends: text to model.

pub mod omg;
pub mod options;
