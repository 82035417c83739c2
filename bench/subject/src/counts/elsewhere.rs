//! Where no thread can be stepped: what an instruction looks at is known of x86_64 alone.

use std::ops::Range;

use super::{Round, Stub, Unstepped};

/// There is none.
pub enum Stepper {}

impl Stepper {
    /// Says why.
    pub fn stop(_: u64) -> Result<Stepper, Unstepped> {
        Err(Unstepped::Impossible("instructions are counted on x86_64 only".to_owned()))
    }

    pub fn function(&self, _: &str) -> Result<Range<u64>, Unstepped> {
        match *self {}
    }

    pub fn step_to(&mut self, _: u64) -> Result<(), Unstepped> {
        match *self {}
    }

    pub fn steps_of_stub(&mut self, _: u64) -> Result<Stub, Unstepped> {
        match *self {}
    }

    pub fn steps_of_round(&mut self, _: &Range<u64>) -> Result<Round, Unstepped> {
        match *self {}
    }
}
