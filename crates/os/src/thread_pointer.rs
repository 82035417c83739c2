//! The thread pointer: what tells the threads of a process apart in one instruction, in any
//! language.

/// The calling thread's thread pointer, an even number that no other thread has while this one
/// lives. A thread that comes after it may have the same. `None` where it is not known how to ask.
#[inline]
pub fn thread_pointer() -> Option<u64> {
    own::pointer()
}

#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
mod own {
    #[inline]
    pub(super) fn pointer() -> Option<u64> {
        let pointer: u64;
        // SAFETY: the first word of a thread's control block is its own address: the ABI of
        // thread-local storage on x86_64 has it so, and every program here has that block.
        unsafe {
            core::arch::asm!(
                "mov {pointer}, qword ptr fs:[0]",
                pointer = out(reg) pointer,
                options(nostack, preserves_flags, pure, readonly),
            );
        }
        Some(pointer)
    }
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux", not(miri))))]
mod own {
    #[inline]
    pub(super) fn pointer() -> Option<u64> {
        None
    }
}

#[cfg(all(test, target_arch = "x86_64", target_os = "linux", not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn threads_that_live_at_once_differ() {
        let ours = thread_pointer().unwrap();
        let theirs = std::thread::scope(|scope| scope.spawn(thread_pointer).join().unwrap());
        assert_eq!(thread_pointer(), Some(ours));
        assert!(ours.is_multiple_of(2) && ours != 0);
        assert!(theirs.is_some_and(|theirs| theirs != ours && theirs.is_multiple_of(2)));
    }
}
