//! The processor that a thread runs on. As in Nearcall's own crates, which this does not know, so
//! that a change of theirs changes nothing here.

use rustix::thread::CpuSet;

use crate::call::Failure;

/// Binds the calling thread, and those that it starts, to one processor.
pub fn pin(processor: u32) -> Result<(), Failure> {
    let processor = processor as usize;
    if processor >= CpuSet::MAX_CPU {
        return Err(format!("there is no processor {processor}").into());
    }
    let mut set = CpuSet::new();
    set.set(processor);
    Ok(rustix::thread::sched_setaffinity(None, &set)?)
}

/// Gives the processor to whoever else wants it.
pub fn yield_now() {
    rustix::thread::sched_yield();
}

/// What stands between two polls of a word that another processor writes.
pub fn relax() {
    std::hint::spin_loop();
}
