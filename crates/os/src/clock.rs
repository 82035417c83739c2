//! Time: the system's monotonic clock, and the processor's own counter, which costs half as much
//! and has no system call behind it on any machine.

use std::sync::OnceLock;
use std::time::Duration;

use rustix::time::{ClockId, Timespec, clock_gettime};

/// How long [`ticks_ns`] watches both clocks the first time.
const CALIBRATION_NS: u64 = 20_000;

/// Longest that the two clocks may be read apart, unless they are so often.
const APART_NS_MAX: u64 = 1_000;

/// Nanoseconds of `CLOCK_MONOTONIC`. 20 ns.
#[inline]
pub fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    (now.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(now.tv_nsec as u64)
}

/// Nanoseconds that the calling thread has run, in the kernel and outside. A system call, 0.2 us.
pub fn thread_ns() -> u64 {
    let run = clock_gettime(ClockId::ThreadCPUTime);
    (run.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(run.tv_nsec as u64)
}

/// The processor's counter: `rdtsc` or `cntvct_el0`, not ordered against other instructions. 10 ns.
///
/// Says how long something took, roughly; the counters of two processors may differ.
#[inline]
pub fn ticks() -> u64 {
    counter::read()
}

/// Nanoseconds that so many ticks take, within a hundredth. 2 ns; the first call watches both
/// clocks for 20 us.
#[inline]
pub fn ticks_ns(ticks: u64) -> u64 {
    static NS_PER_TICK: OnceLock<f64> = OnceLock::new();
    (ticks as f64 * NS_PER_TICK.get_or_init(calibrate)) as u64
}

/// Nanoseconds since [`ticks`] gave `start`; 0 if it was on a processor whose counter is ahead.
#[inline]
pub fn ns_since(start: u64) -> u64 {
    ticks_ns(ticks().saturating_sub(start))
}

fn calibrate() -> f64 {
    let (start_ns, start_ticks) = both();
    loop {
        let (end_ns, end_ticks) = both();
        let (elapsed_ns, elapsed_ticks) = (end_ns - start_ns, end_ticks.wrapping_sub(start_ticks));
        if elapsed_ns >= CALIBRATION_NS {
            return elapsed_ns as f64 / elapsed_ticks.max(1) as f64;
        }
        std::hint::spin_loop();
    }
}

/// Both clocks at one moment, unless this thread loses its processor in between every time.
fn both() -> (u64, u64) {
    let mut read = || (now_ns(), ticks(), now_ns());
    let mut tries = std::iter::repeat_with(&mut read).take(10);
    let close = tries.find(|(before_ns, _, after_ns)| after_ns - before_ns <= APART_NS_MAX);
    let (before_ns, ticks, _) = close.unwrap_or_else(read);
    (before_ns, ticks)
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
    fn a_thread_that_sleeps_does_not_run() {
        let before_ns = thread_ns();
        std::thread::sleep(Duration::from_millis(200));
        let slept_ns = thread_ns() - before_ns;
        let begin = thread_ns();
        while thread_ns() == begin {
            std::hint::spin_loop();
        }
        assert!(slept_ns < 150_000_000, "{slept_ns}");
    }

    #[test]
    fn ticks_are_told_in_nanoseconds() {
        let (start_ns, start) = (now_ns(), ticks());
        std::thread::sleep(Duration::from_millis(20));
        let (told_ns, elapsed_ns) = (ns_since(start), now_ns() - start_ns);
        assert!(told_ns >= 19_000_000 && told_ns <= elapsed_ns * 2, "{told_ns} of {elapsed_ns}");
        assert_eq!(ns_since(u64::MAX), 0);
    }

    #[test]
    fn a_time_past_the_kernel_s_range_is_cut() {
        assert_eq!(timespec(Duration::MAX).tv_sec, i64::MAX);
        assert_eq!(timespec_after(Duration::MAX).tv_sec, i64::MAX);
        assert_eq!(timespec(Duration::from_nanos(1_500_000_000)).tv_nsec, 500_000_000);
    }
}
