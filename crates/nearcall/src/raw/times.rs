//! Times of Protocol Buffers as those of the standard library: what is one, and what it is then.
//!
//! | message   | seconds             | nanos                                                   |
//! |-----------|---------------------|---------------------------------------------------------|
//! | Timestamp | years 0001 to 9999  | 0 to 999,999,999, forwards, also before 1970            |
//! | Duration  | 315,576,000,000     | up to 999,999,999 either way, and of the sign of the    |
//! |           | either way          | seconds, if those are not 0                             |
//!
//! A peer may have sent any others: those are refused here, and never made fit.

use std::ops::RangeInclusive;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::error::OutOfRange;

const NANOS_PER_SECOND: i32 = 1_000_000_000;

/// 0001-01-01T00:00:00Z to 9999-12-31T23:59:59Z.
const TIMESTAMP_SECONDS: RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;

/// 10,000 years of 365.25 days.
const DURATION_SECONDS_MAX: i64 = 315_576_000_000;

const NANOS: RangeInclusive<i32> = 0..=NANOS_PER_SECOND - 1;

/// Seconds and nanos of a `google.protobuf.Timestamp` of this time.
///
/// # Errors: the year is not 0001 to 9999.
pub fn timestamp(time: SystemTime) -> Result<(i64, i32), OutOfRange> {
    let (seconds, nanos) = match time.duration_since(UNIX_EPOCH) {
        Ok(since) => (i128::from(since.as_secs()), since.subsec_nanos()),
        Err(before) => {
            let before = before.duration();
            // Nanos go forwards, from the second that begins before it.
            match before.subsec_nanos() {
                0 => (-i128::from(before.as_secs()), 0),
                nanos => (-i128::from(before.as_secs()) - 1, NANOS_PER_SECOND as u32 - nanos),
            }
        }
    };
    // A second has fewer of them than an `i32` counts.
    within("google.protobuf.Timestamp.seconds", seconds, &TIMESTAMP_SECONDS)
        .map(|seconds| (seconds, nanos as i32))
}

/// The time that a `google.protobuf.Timestamp` is.
///
/// # Errors: seconds or nanos are none of a Timestamp.
pub fn system_time(seconds: i64, nanos: i32) -> Result<SystemTime, OutOfRange> {
    within("google.protobuf.Timestamp.seconds", seconds, &TIMESTAMP_SECONDS)?;
    within("google.protobuf.Timestamp.nanos", nanos, &NANOS)?;
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let begun = if seconds < 0 { UNIX_EPOCH - whole } else { UNIX_EPOCH + whole };
    Ok(begun + Duration::from_nanos(nanos.unsigned_abs().into()))
}

/// Seconds and nanos of a `google.protobuf.Duration` of this length.
///
/// # Errors: it is over 315,576,000,000 seconds.
pub fn signed_duration(length: Duration) -> Result<(i64, i32), OutOfRange> {
    let allowed = -DURATION_SECONDS_MAX..=DURATION_SECONDS_MAX;
    // A second has fewer of them than an `i32` counts.
    within("google.protobuf.Duration.seconds", length.as_secs(), &allowed)
        .map(|seconds| (seconds, length.subsec_nanos() as i32))
}

/// The length that a `google.protobuf.Duration` is.
///
/// # Errors: seconds or nanos are none of a Duration, or negative.
pub fn duration(seconds: i64, nanos: i32) -> Result<Duration, OutOfRange> {
    let seconds = within("google.protobuf.Duration.seconds", seconds, &(0..=DURATION_SECONDS_MAX))?;
    let nanos = within("google.protobuf.Duration.nanos", nanos, &NANOS)?;
    Ok(Duration::new(seconds.unsigned_abs(), nanos.unsigned_abs()))
}

fn within<N, T>(
    parameter: &'static str,
    value: N,
    allowed: &RangeInclusive<T>,
) -> Result<T, OutOfRange>
where
    N: Copy + std::fmt::Display + TryInto<T>,
    T: Copy + std::fmt::Display + PartialOrd,
{
    match value.try_into() {
        Ok(value) if allowed.contains(&value) => Ok(value),
        _ => {
            let allowed = format!("{} to {}", allowed.start(), allowed.end());
            Err(OutOfRange { parameter, value: value.to_string(), allowed })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIN: i64 = *TIMESTAMP_SECONDS.start();
    const MAX: i64 = *TIMESTAMP_SECONDS.end();

    /// The time, which gives back what it was made of.
    fn time(seconds: i64, nanos: i32) -> SystemTime {
        let time = system_time(seconds, nanos).expect("it is a Timestamp");
        assert_eq!(timestamp(time).expect("it was one"), (seconds, nanos));
        time
    }

    fn told<T: std::fmt::Debug>(result: Result<T, OutOfRange>) -> String {
        result.expect_err("it is none").to_string()
    }

    #[test]
    fn a_timestamp_is_a_time_on_either_side_of_1970() {
        let nano = Duration::from_nanos(1);
        assert_eq!(time(0, 0), UNIX_EPOCH);
        assert_eq!(time(1, 999_999_999), UNIX_EPOCH + Duration::from_secs(2) - nano);
        assert_eq!(time(-1, 999_999_999), UNIX_EPOCH - nano);
        assert_eq!(time(-2, 1), UNIX_EPOCH - Duration::from_secs(2) + nano);
        assert_eq!(time(-2, 0), UNIX_EPOCH - Duration::from_secs(2));
        let years = Duration::from_secs((MAX - MIN) as u64);
        assert_eq!(time(MIN, 0) + years + 999_999_999 * nano, time(MAX, 999_999_999));
    }

    #[test]
    fn what_is_no_timestamp_is_told_with_what_may_be() {
        let seconds = "google.protobuf.Timestamp.seconds is";
        let nanos = "google.protobuf.Timestamp.nanos is";
        let years = format!("allowed is {MIN} to {MAX}");
        for value in [MIN - 1, MAX + 1, i64::MIN, i64::MAX] {
            assert_eq!(told(system_time(value, 0)), format!("{seconds} {value}, {years}"));
        }
        for value in [-1, 1_000_000_000, i32::MIN, i32::MAX] {
            let said = format!("{nanos} {value}, allowed is 0 to 999999999");
            assert_eq!(told(system_time(-1, value)), said);
        }
        let nano = Duration::from_nanos(1);
        let (first, last) = (time(MIN, 0), time(MAX, 999_999_999));
        assert_eq!(told(timestamp(first - nano)), format!("{seconds} {}, {years}", MIN - 1));
        assert_eq!(told(timestamp(last + nano)), format!("{seconds} {}, {years}", MAX + 1));
    }

    #[test]
    fn every_time_of_the_system_is_a_timestamp_or_refused() {
        let ends = [i64::MAX.unsigned_abs(), i64::MIN.unsigned_abs()].map(Duration::from_secs);
        let latest = UNIX_EPOCH.checked_add(ends[0]).expect("the system has it");
        let earliest = UNIX_EPOCH.checked_sub(ends[1]).expect("the system has it");
        assert!(told(timestamp(latest)).contains("seconds is 9223372036854775807,"));
        assert!(told(timestamp(earliest)).contains("seconds is -9223372036854775808,"));
    }

    #[test]
    fn a_duration_is_a_length_if_it_goes_forwards() {
        let check = |seconds: i64, nanos: i32| {
            let length = duration(seconds, nanos).expect("it is a Duration");
            assert_eq!(length, Duration::new(seconds as u64, nanos as u32));
            assert_eq!(signed_duration(length).expect("it was one"), (seconds, nanos));
        };
        check(0, 0);
        check(0, 999_999_999);
        check(DURATION_SECONDS_MAX, 999_999_999);
        let seconds = "google.protobuf.Duration.seconds is";
        let nanos = "google.protobuf.Duration.nanos is";
        for value in [-1, DURATION_SECONDS_MAX + 1, -DURATION_SECONDS_MAX, i64::MIN, i64::MAX] {
            let said = format!("{seconds} {value}, allowed is 0 to 315576000000");
            assert_eq!(told(duration(value, 0)), said);
        }
        for value in [-1, 1_000_000_000, i32::MIN, i32::MAX] {
            let said = format!("{nanos} {value}, allowed is 0 to 999999999");
            assert_eq!(told(duration(0, value)), said);
        }
        let over = Duration::from_secs(315_576_000_001);
        let allowed = "allowed is -315576000000 to 315576000000";
        assert_eq!(told(signed_duration(over)), format!("{seconds} 315576000001, {allowed}"));
        let longest = format!("{seconds} {}, {allowed}", u64::MAX);
        assert_eq!(told(signed_duration(Duration::MAX)), longest);
    }
}
