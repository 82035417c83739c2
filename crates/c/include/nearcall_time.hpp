/*
 * Times of Protocol Buffers as those of C++, whose nanoseconds are 64 bits: 292 years either way, and
 * of time points the years 1677 to 2262. Coarser lengths and time points go beyond that, and are
 * taken as they are. Included by headers that are generated of what has a
 * google.protobuf.Timestamp or Duration; which values are one, nearcall_time.h says.
 */
#ifndef NEARCALL_TIME_HPP
#define NEARCALL_TIME_HPP

#include <chrono>
#include <cstdint>
#include <limits>
#include <ratio>
#include <string>
#include <type_traits>

#include "nearcall.hpp"
#include "nearcall_time.h"

namespace nearcall {

/* The system's clock, which counts from 1970, by nanoseconds. */
using system_time = std::chrono::time_point<std::chrono::system_clock, std::chrono::nanoseconds>;

namespace detail {

constexpr std::int64_t nanos_per_second = NEARCALL_NANOS_PER_SECOND;

/* What 64 bits of nanoseconds, or of hours, do not hold. */
__extension__ typedef __int128 wide;

[[noreturn]] inline void throw_breach(const nearcall_breach &breach, const std::string &value) {
    throw call_error(NEARCALL_USAGE, breach.name + (" is " + value) + ", allowed is " + breach.allowed,
                     reason::out_of_range);
}

/* Both members in one, where they are what they have to be. */
inline std::chrono::nanoseconds nanoseconds_of(const char *name, std::int64_t seconds,
                                               std::int32_t nanos, const nearcall_breach &breach) {
    if (breach.name != nullptr) {
        throw_breach(breach, std::to_string(static_cast<std::int64_t>(breach.value)));
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

/* Nanoseconds of a length, of which no unit may be a part of one. */
template <class R, class P> constexpr wide nanos_of(std::chrono::duration<R, P> length) noexcept {
    using unit = std::ratio_divide<P, std::nano>;
    static_assert(std::is_integral<R>::value && unit::den == 1,
                  "a length by whole nanoseconds: std::chrono::round or floor makes one");
    return static_cast<wide>(length.count()) * unit::num;
}

/* A message of these members, if they are what they have to be. */
template <class T>
T message_of(wide seconds, wide nanos, nearcall_breach (*judge)(std::int64_t, std::int32_t)) {
    using limits = std::numeric_limits<std::int64_t>;
    const bool has_room = seconds >= limits::min() && seconds <= limits::max();
    const std::int64_t nearest = seconds < 0 ? limits::min() : limits::max();
    const T message{has_room ? static_cast<std::int64_t>(seconds) : nearest,
                    static_cast<std::int32_t>(nanos)};
    const nearcall_breach breach = judge(message.seconds, message.nanos);
    if (breach.name != nullptr) {
        throw_breach(breach, has_room ? std::to_string(message.seconds) : "beyond 64 bits");
    }
    return message;
}

/* A Timestamp: nanos go forwards. */
template <class T, class R, class P> T timestamp_of(std::chrono::duration<R, P> since) {
    const wide count = nanos_of(since);
    const wide rest = count % nanos_per_second, back = rest < 0 ? 1 : 0;
    return message_of<T>(count / nanos_per_second - back, rest + back * nanos_per_second,
                         nearcall_timestamp_breach);
}

/* A Duration: seconds and nanos have one sign. */
template <class T, class R, class P> T duration_of(std::chrono::duration<R, P> length) {
    const wide count = nanos_of(length);
    return message_of<T>(count / nanos_per_second, count % nanos_per_second,
                         nearcall_duration_breach);
}

} // namespace detail

} // namespace nearcall

#endif
