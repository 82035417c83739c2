/*
 * Times of Protocol Buffers as those of C++, whose nanoseconds are 64 bits: 292 years either way, and
 * of time points the years 1677 to 2262. Included by headers that are generated of what has a
 * google.protobuf.Timestamp or Duration; which values are one, nearcall_time.h says.
 */
#ifndef NEARCALL_TIME_HPP
#define NEARCALL_TIME_HPP

#include "nearcall.hpp"
#include "nearcall_time.h"

namespace nearcall {

/* The system's clock, which counts from 1970, by nanoseconds. */
using system_time = std::chrono::time_point<std::chrono::system_clock, std::chrono::nanoseconds>;

namespace detail {

constexpr std::int64_t nanos_per_second = NEARCALL_NANOS_PER_SECOND;

/* Both members in one, where they are what they have to be. */
inline std::chrono::nanoseconds nanoseconds_of(const char *name, std::int64_t seconds,
                                               std::int32_t nanos, const nearcall_breach &breach) {
    if (breach.name != nullptr) {
        const auto value = std::to_string(static_cast<std::int64_t>(breach.value));
        throw call_error(NEARCALL_USAGE,
                         breach.name + (" is " + value) + ", allowed is " + breach.allowed,
                         reason::out_of_range);
    }
    /* Of one sign, so that there is room for the product wherever there is for the sum. */
    const bool is_mixed = seconds < 0 && nanos > 0;
    const std::int64_t whole = is_mixed ? seconds + 1 : seconds;
    const std::int64_t rest = is_mixed ? nanos - nanos_per_second : nanos;
    std::int64_t count = 0;
    if (__builtin_mul_overflow(whole, nanos_per_second, &count) ||
        __builtin_add_overflow(count, rest, &count)) {
        const auto value = std::to_string(seconds) + " s and " + std::to_string(nanos) + " ns";
        throw call_error(NEARCALL_USAGE,
                         name + (" is " + value) +
                             ", allowed is -9223372036854775808 to 9223372036854775807 ns",
                         reason::out_of_range);
    }
    return std::chrono::nanoseconds(count);
}

inline system_time time_of_timestamp(std::int64_t seconds, std::int32_t nanos) {
    return system_time(nanoseconds_of("google.protobuf.Timestamp", seconds, nanos,
                                      nearcall_timestamp_breach(seconds, nanos)));
}

inline std::chrono::nanoseconds length_of_duration(std::int64_t seconds, std::int32_t nanos) {
    return nanoseconds_of("google.protobuf.Duration", seconds, nanos,
                          nearcall_duration_breach(seconds, nanos));
}

/* A Timestamp's, which each of these times is: nanos go forwards. */
template <class T> T timestamp_of(system_time time) noexcept {
    const std::int64_t count = time.time_since_epoch().count();
    const std::int64_t rest = count % nanos_per_second, back = rest < 0 ? 1 : 0;
    return T{count / nanos_per_second - back,
             static_cast<std::int32_t>(rest + back * nanos_per_second)};
}

/* A Duration's, which each of these lengths is: seconds and nanos have one sign. */
template <class T> T duration_of(std::chrono::nanoseconds length) noexcept {
    const std::int64_t count = length.count();
    return T{count / nanos_per_second, static_cast<std::int32_t>(count % nanos_per_second)};
}

} // namespace detail

} // namespace nearcall

#endif
