//! Front ends: text to model.

pub mod omg;
