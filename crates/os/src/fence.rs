//! The dear half of an asymmetric fence: a full memory fence on every processor that runs a thread
//! of this process, made by the kernel (membarrier). The cheap half is a fence for the compiler.

use std::sync::OnceLock;

const REGISTER_PRIVATE_EXPEDITED: libc::c_long = 16;
const PRIVATE_EXPEDITED: libc::c_long = 8;

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
/// 10 us (MECHANISMS 0).
pub fn heavy() {
    assert!(is_available() && membarrier(PRIVATE_EXPEDITED), "membarrier is not available");
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
}
