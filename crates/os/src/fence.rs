//! The dear half of an asymmetric fence: a full memory fence on every processor that runs a thread
//! of this process, made by the kernel (membarrier). The cheap half is a fence for the compiler.

use std::sync::OnceLock;

const REGISTER_PRIVATE_EXPEDITED: libc::c_long = 16;
const PRIVATE_EXPEDITED: libc::c_long = 8;
const GLOBAL: libc::c_long = 1;

/// Whether [`heavy`] works here: since Linux 4.14, unless a filter of system calls forbids it. The
/// first call registers this process.
pub fn is_available() -> bool {
    static IS_AVAILABLE: OnceLock<bool> = OnceLock::new();
    *IS_AVAILABLE.get_or_init(|| membarrier(REGISTER_PRIVATE_EXPEDITED))
}

/// Makes every running thread of this process pass a full fence.
///
/// # Panics
///
/// If it is not available.
///
/// # Cost: a system call and an interrupt of each processor that runs one of our threads, 0.5 to
/// 10 us (MECHANISMS 0). Where the kernel has no memory for that, milliseconds.
pub fn heavy() {
    assert!(is_available() && is_made_by(PRIVATE_EXPEDITED), "membarrier is not available");
}

/// The other command waits for all processors of the machine, and allocates nothing.
fn is_made_by(command: libc::c_long) -> bool {
    membarrier(command) || membarrier(GLOBAL)
}

fn membarrier(command: libc::c_long) -> bool {
    // SAFETY: the call takes numbers only and touches no memory of ours.
    let outcome = unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) };
    outcome == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heavy_fence_can_be_made_where_it_is_available() {
        if is_available() {
            heavy();
        }
        assert!(!membarrier(1 << 20), "no such command");
    }

    #[test]
    fn a_fence_that_cannot_be_made_the_quick_way_is_made_the_slow_way() {
        // Kernels that keep processors from being interrupted (`nohz_full`) refuse that one.
        if membarrier(GLOBAL) {
            assert!(is_made_by(1 << 20));
        }
    }
}
