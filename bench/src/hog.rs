//! A process that wants a processor and never lets go of it by itself: the competitor of the
//! table `policy`.

use std::hint::black_box;

use nearcall_os::processor;

use crate::child::{Child, Failure, Link};

/// The child's role.
pub const ROLE: &str = "hog";

/// A competitor for one processor. Dropping it ends it.
pub struct Hog {
    _child: Child,
}

impl Hog {
    /// Starts one on processor `processor`; when this returns it runs.
    pub fn start(processor: u32) -> Result<Hog, Failure> {
        Ok(Hog { _child: Child::start(ROLE, &[&processor.to_string()], &[])? })
    }
}

/// What the child does: computes, in a thread of its own, until the link ends.
pub fn play(link: &Link, arguments: &[String]) -> Result<(), Failure> {
    let processor = arguments.first().ok_or("which processor?")?;
    processor::pin(processor.parse()?)?;
    std::thread::spawn(|| {
        for number in 0_u64.. {
            black_box(number);
        }
    });
    link.answer(0)?;
    while link.next()?.is_some() {}
    Ok(())
}
