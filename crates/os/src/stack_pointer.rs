//! The stack pointer: how far a thread has come on its stack.

/// Where the caller's stack ends just now. It grows down from there.
#[inline(always)]
pub fn stack_pointer() -> usize {
    own::pointer()
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod own {
    #[inline(always)]
    pub(super) fn pointer() -> usize {
        let pointer: usize;
        // SAFETY: copies a register, and touches nothing else.
        unsafe {
            core::arch::asm!(
                "mov {pointer}, rsp",
                pointer = out(reg) pointer,
                options(nomem, nostack, preserves_flags),
            );
        }
        pointer
    }
}

#[cfg(all(target_arch = "aarch64", not(miri)))]
mod own {
    #[inline(always)]
    pub(super) fn pointer() -> usize {
        let pointer: usize;
        // SAFETY: as above.
        unsafe {
            core::arch::asm!(
                "mov {pointer}, sp",
                pointer = out(reg) pointer,
                options(nomem, nostack, preserves_flags),
            );
        }
        pointer
    }
}

/// Some address of the caller's frame, which is as good; but for Miri, whose frames lie anywhere.
#[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod own {
    #[inline(always)]
    pub(super) fn pointer() -> usize {
        let here = 0u8;
        if cfg!(miri) { usize::MAX } else { core::ptr::from_ref(&here).addr() }
    }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    #[inline(never)]
    fn deeper(levels: u32) -> usize {
        let frame = std::hint::black_box([levels; 16]);
        if levels == 0 { stack_pointer() } else { deeper(frame[0] - 1) }
    }

    #[test]
    fn it_is_lower_in_who_is_called() {
        let here = stack_pointer();
        let used = [1, 100].map(|levels| here.checked_sub(deeper(levels)).expect("lower"));
        assert!(0 < used[0] && used[0] + 99 * 64 <= used[1] && used[1] < 1 << 16, "{used:?}");
    }
}
