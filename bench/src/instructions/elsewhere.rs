//! Where no process can be walked: where a thread is, is known of x86_64 alone.

use crate::counts::Unstepped;

/// There is none.
pub enum Walk {}

impl Walk {
    /// Says why.
    pub fn stop(_: u32) -> Result<Walk, Unstepped> {
        Err(Unstepped::Impossible("instructions are counted on x86_64 only".to_owned()))
    }

    pub fn between(&mut self, _: u64, _: usize) -> Result<Vec<u64>, Unstepped> {
        match *self {}
    }
}
