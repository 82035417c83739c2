//! The processor's stack of return addresses, after the kernel has had another thread run.
//!
//! A processor guesses where a `ret` goes by a stack of its own, which every `call` pushes to.
//! Linux fills it with addresses of its own when it switches threads, so that nobody steers what
//! the next thread executes ahead ("RSB filling" in `/sys/devices/system/cpu/vulnerabilities`).
//! The first `ret` of a thread that has waited in the kernel is then guessed to go to an address
//! that it cannot even translate: 300 ns on an AMD EPYC guest, a tenth of a Null on one processor,
//! on each side. A guess that is merely wrong costs some 15 cycles. So whoever comes back from a
//! wait pushes a few addresses of the program's own first.
//!
//! Measured on that guest, two processes that yield to each other, a round trip: 2,250 ns where the
//! yields stand in the loop itself, 2,860 where they are one call below it, 2,270 so with four
//! addresses, which are enough there.

/// How many addresses: between a wait and the code that made a call stand three returns in Rust and
/// five to six in C and C++. The rest is for what stands above that, an interpreter for one.
const COUNT: usize = 16;

/// Pushes addresses for as many returns as there are between a wait and the code that made a call.
///
/// # Cost: some 10 ns.
#[inline(always)]
pub(crate) fn refill() {
    own::refill();
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod own {
    #[inline(always)]
    pub(super) fn refill() {
        // SAFETY: each call goes to what stands behind it and pushes eight bytes that are taken off
        // again at the end. No call is to the very next instruction, which processors do not count.
        // A thread with a shadow stack, on which they could not be taken off, is left alone:
        // `rdsspq` leaves the zero where there is none.
        unsafe {
            core::arch::asm!(
                "xor {shadow:e}, {shadow:e}",
                "rdsspq {shadow}",
                "test {shadow}, {shadow}",
                "jnz 9f",
                ".rept {count}",
                "call 2f",
                "int3",
                "2:",
                ".endr",
                "add rsp, 8 * {count}",
                "9:",
                shadow = out(reg) _,
                count = const super::COUNT,
            );
        }
    }
}

#[cfg(any(miri, not(target_arch = "x86_64")))]
mod own {
    #[inline(always)]
    pub(super) fn refill() {}
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many calls deep, and a refill on the way back from each.
    #[inline(never)]
    fn deep(levels: u64) -> u64 {
        let below = if levels == 0 { 0 } else { deep(levels - 1) };
        refill();
        std::hint::black_box(below) + levels
    }

    #[test]
    fn every_return_goes_where_it_went_without_it() {
        assert_eq!(deep(200), 200 * 201 / 2);
    }
}
