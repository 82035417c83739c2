/*
 * Times of Protocol Buffers and those of C: what is one, and what it is then. Included by headers
 * that are generated of what has a google.protobuf.Timestamp or Duration.
 *
 *            seconds                      nanos
 * Timestamp  years 0001 to 9999           0 to 999,999,999, forwards, also before 1970
 * Duration   up to 315,576,000,000        up to 999,999,999 either way, and of the sign of the
 *            either way                   seconds, if those are not 0
 *
 * In a struct timespec tv_nsec is 0 to 999,999,999 of either, as clock_gettime has it: half a second
 * back is -1 and 500,000,000 there, and 0 and -500,000,000 in a Duration. Both are 64 bits of seconds
 * and whole nanoseconds, so that nothing is rounded.
 */
#ifndef NEARCALL_TIME_H
#define NEARCALL_TIME_H

#include <time.h>

#include "nearcall.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NEARCALL_NANOS_PER_SECOND 1000000000
/* 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z. */
#define NEARCALL_TIMESTAMP_SECONDS_MIN INT64_C(-62135596800)
#define NEARCALL_TIMESTAMP_SECONDS_MAX INT64_C(253402300799)
/* 10,000 years of 365.25 days. */
#define NEARCALL_DURATION_SECONDS_MAX INT64_C(315576000000)

NEARCALL_ASSERT(sizeof(time_t) == sizeof(int64_t));

/* A number that is not what it has to be, and what that is. */
NEARCALL_INLINE nearcall_breach nearcall_outside_of(const char *name, int64_t value,
                                                    const char *allowed) {
    return nearcall_outside(name, NEARCALL_BREACH_SIGNED, NEARCALL_CAST(uint64_t, value), allowed);
}

/* Nothing that is not what it has to be. */
NEARCALL_INLINE nearcall_breach nearcall_no_breach(void) {
    return nearcall_outside_of(NEARCALL_NULL, 0, NEARCALL_NULL);
}

/* What of a Timestamp is none of one's; without a name: nothing. */
NEARCALL_INLINE nearcall_breach nearcall_timestamp_breach(int64_t seconds, int32_t nanos) {
    if (seconds < NEARCALL_TIMESTAMP_SECONDS_MIN || seconds > NEARCALL_TIMESTAMP_SECONDS_MAX) {
        return nearcall_outside_of("google.protobuf.Timestamp.seconds", seconds,
                                   "-62135596800 to 253402300799");
    }
    if (nanos < 0 || nanos >= NEARCALL_NANOS_PER_SECOND) {
        return nearcall_outside_of("google.protobuf.Timestamp.nanos", nanos, "0 to 999999999");
    }
    return nearcall_no_breach();
}

/* The same of a Duration. */
NEARCALL_INLINE nearcall_breach nearcall_duration_breach(int64_t seconds, int32_t nanos) {
    const char *const name = "google.protobuf.Duration.nanos";
    if (seconds < -NEARCALL_DURATION_SECONDS_MAX || seconds > NEARCALL_DURATION_SECONDS_MAX) {
        return nearcall_outside_of("google.protobuf.Duration.seconds", seconds,
                                   "-315576000000 to 315576000000");
    }
    if (seconds > 0 && (nanos < 0 || nanos >= NEARCALL_NANOS_PER_SECOND)) {
        return nearcall_outside_of(name, nanos, "0 to 999999999");
    }
    if (seconds < 0 && (nanos > 0 || nanos <= -NEARCALL_NANOS_PER_SECOND)) {
        return nearcall_outside_of(name, nanos, "-999999999 to 0");
    }
    if (nanos <= -NEARCALL_NANOS_PER_SECOND || nanos >= NEARCALL_NANOS_PER_SECOND) {
        return nearcall_outside_of(name, nanos, "-999999999 to 999999999");
    }
    return nearcall_no_breach();
}

/* Says what is no time, if anything is. */
NEARCALL_INLINE bool nearcall_is_time(nearcall_breach breach, nearcall_environment *environment) {
    nearcall_begin(environment);
    return breach.name == NEARCALL_NULL || nearcall_refuse_argument(environment, breach);
}

/* Of a message that is not there. */
NEARCALL_COLD struct timespec nearcall_no_timespec(const char *null,
                                                   nearcall_environment *environment) {
    const struct timespec none = {0, 0};
    nearcall_begin(environment);
    nearcall_say(environment, null);
    environment->outcome = NEARCALL_USAGE;
    environment->ran = NEARCALL_RAN_NO;
    return none;
}

NEARCALL_INLINE struct timespec nearcall_timespec_of_timestamp(int64_t seconds, int32_t nanos,
                                                               nearcall_environment *environment) {
    struct timespec time = {0, 0};
    if (nearcall_is_time(nearcall_timestamp_breach(seconds, nanos), environment)) {
        time.tv_sec = seconds;
        time.tv_nsec = nanos;
    }
    return time;
}

NEARCALL_INLINE struct timespec nearcall_timespec_of_duration(int64_t seconds, int32_t nanos,
                                                              nearcall_environment *environment) {
    struct timespec time = {0, 0};
    if (nearcall_is_time(nearcall_duration_breach(seconds, nanos), environment)) {
        time.tv_sec = nanos < 0 ? seconds - 1 : seconds;
        time.tv_nsec = nanos < 0 ? nanos + NEARCALL_NANOS_PER_SECOND : nanos;
    }
    return time;
}

/* False if the nanoseconds are none of a time that is kept as clock_gettime keeps it. */
NEARCALL_INLINE bool nearcall_is_kept(struct timespec time, nearcall_environment *environment) {
    const bool is_kept = time.tv_nsec >= 0 && time.tv_nsec < NEARCALL_NANOS_PER_SECOND;
    return nearcall_is_time(is_kept ? nearcall_no_breach()
                                    : nearcall_outside_of("timespec.tv_nsec", time.tv_nsec,
                                                          "0 to 999999999"),
                            environment);
}

NEARCALL_INLINE void nearcall_timestamp_of_timespec(struct timespec time, int64_t *seconds,
                                                    int32_t *nanos,
                                                    nearcall_environment *environment) {
    if (nearcall_is_kept(time, environment) &&
        nearcall_is_time(nearcall_timestamp_breach(time.tv_sec, 0), environment)) {
        *seconds = time.tv_sec;
        *nanos = NEARCALL_CAST(int32_t, time.tv_nsec);
    }
}

NEARCALL_INLINE void nearcall_duration_of_timespec(struct timespec time, int64_t *seconds,
                                                   int32_t *nanos,
                                                   nearcall_environment *environment) {
    if (!nearcall_is_kept(time, environment)) {
        return;
    }
    const bool is_back = time.tv_sec < 0 && time.tv_nsec > 0;
    const int64_t whole = is_back ? time.tv_sec + 1 : time.tv_sec;
    if (nearcall_is_time(nearcall_duration_breach(whole, 0), environment)) {
        const long rest = is_back ? time.tv_nsec - NEARCALL_NANOS_PER_SECOND : time.tv_nsec;
        *seconds = whole;
        *nanos = NEARCALL_CAST(int32_t, rest);
    }
}

#ifdef __cplusplus
}
#endif

#endif
