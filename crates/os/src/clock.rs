//! Time: the system's monotonic clock, and the processor's own counter, which costs half as much
//! and has no system call behind it on any machine.

use std::sync::OnceLock;
use std::time::Duration;

use rustix::time::{ClockId, Timespec, clock_gettime};

/// How long [`ticks_per_us`] watches both clocks the first time.
const CALIBRATION_NS: u64 = 200_000;

/// Nanoseconds of `CLOCK_MONOTONIC`. 20 ns.
#[inline]
pub fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    (now.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(now.tv_nsec as u64)
}

/// The processor's counter: `rdtsc` or `cntvct_el0`, not ordered against other instructions. 10 ns.
///
/// Says how long something took, roughly; the counters of two processors may differ.
#[inline]
pub fn ticks() -> u64 {
    counter::read()
}

/// Ticks in a microsecond, at least 1. The first call measures it and takes 0.2 ms.
pub fn ticks_per_us() -> u64 {
    static TICKS_PER_US: OnceLock<u64> = OnceLock::new();
    *TICKS_PER_US.get_or_init(calibrate)
}

fn calibrate() -> u64 {
    let (start_ns, start_ticks) = (now_ns(), ticks());
    loop {
        let (elapsed_ns, elapsed_ticks) = (now_ns() - start_ns, ticks().wrapping_sub(start_ticks));
        if elapsed_ns >= CALIBRATION_NS {
            return per_us(elapsed_ticks, elapsed_ns);
        }
        std::hint::spin_loop();
    }
}

fn per_us(elapsed_ticks: u64, elapsed_ns: u64) -> u64 {
    (u128::from(elapsed_ticks) * 1000 / u128::from(elapsed_ns)).clamp(1, u64::MAX.into()) as u64
}

/// A relative time as the kernel takes it; what is too long for it is cut.
pub(crate) fn timespec(time: Duration) -> Timespec {
    Timespec::try_from(time).unwrap_or(Timespec { tv_sec: i64::MAX, tv_nsec: 0 })
}

/// The time that far from now on `CLOCK_MONOTONIC`; what is too far is cut.
pub(crate) fn timespec_after(time: Duration) -> Timespec {
    timespec(Duration::from_nanos(now_ns()).saturating_add(time))
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod counter {
    #[inline]
    pub(super) fn read() -> u64 {
        // SAFETY: every x86_64 processor has `rdtsc`, and Linux permits it unless a domain forbids
        // it to itself.
        unsafe { core::arch::x86_64::_rdtsc() }
    }
}

#[cfg(all(target_arch = "aarch64", not(miri)))]
mod counter {
    #[inline]
    pub(super) fn read() -> u64 {
        let ticks: u64;
        // SAFETY: Linux lets user space read the virtual counter; reading it changes nothing.
        unsafe {
            core::arch::asm!(
                "mrs {ticks}, cntvct_el0",
                ticks = out(reg) ticks,
                options(nomem, nostack, preserves_flags),
            );
        }
        ticks
    }
}

#[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod counter {
    #[inline]
    pub(super) fn read() -> u64 {
        super::now_ns()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_never_goes_back() {
        let earlier = now_ns();
        assert!(now_ns() >= earlier);
    }

    #[test]
    fn a_rate_is_ticks_over_time() {
        assert_eq!(per_us(2_596_000, 1_000_000), 2596);
    }

    #[test]
    fn a_rate_is_never_zero() {
        assert_eq!(per_us(0, 200_000), 1);
        assert!(ticks_per_us() >= 1);
    }

    #[test]
    fn a_time_past_the_kernel_s_range_is_cut() {
        assert_eq!(timespec(Duration::MAX).tv_sec, i64::MAX);
        assert_eq!(timespec_after(Duration::MAX).tv_sec, i64::MAX);
        assert_eq!(timespec(Duration::from_nanos(1_500_000_000)).tv_nsec, 500_000_000);
    }
}
