/* Times of Protocol Buffers as times of C++, and the other way round: all that may be is what it
 * says, and all that may not is told with what may. */
#include <chrono>
#include <string>

#include "check.h"
#include "times.hpp"

using namespace std::chrono_literals;
using nearcall::idl::google::protobuf::Duration;
using nearcall::idl::google::protobuf::Timestamp;
using std::chrono::nanoseconds;
using clock_type = std::chrono::system_clock;

/* What libstdc++ counts by, and libc++ is exact in. */
static_assert(std::is_convertible<clock_type::time_point, nearcall::system_time>::value,
              "a time of the clock is one");

static void check_time(Timestamp value, nanoseconds since) {
    const nearcall::system_time time = value.to_time_point();
    CHECK(time.time_since_epoch() == since);
    const Timestamp back = Timestamp::from_time_point(time);
    CHECK(back.seconds == value.seconds && back.nanos == value.nanos);
}

static void check_length(Duration value, nanoseconds length) {
    CHECK(value.to_nanoseconds() == length);
    const Duration back = Duration::from_duration(length);
    CHECK(back.seconds == value.seconds && back.nanos == value.nanos);
}

template <class F> static void refuse(const std::string &words, F convert) {
    std::string told = "nothing";
    try {
        convert();
    } catch (const nearcall::call_error &error) {
        told = error.what();
        CHECK(error.outcome == NEARCALL_USAGE && error.ran == NEARCALL_RAN_NO);
        CHECK(error.reason() == nearcall::reason::out_of_range);
    }
    if (told != words) {
        std::fprintf(stderr, "told %s\n", told.c_str());
    }
    CHECK(told == words);
}

static void refuse_time(Timestamp value, const std::string &words) {
    refuse("google.protobuf.Timestamp" + words, [&] { value.to_time_point(); });
}

static void refuse_length(Duration value, const std::string &words) {
    refuse("google.protobuf.Duration" + words, [&] { value.to_nanoseconds(); });
}

int main() {
    const std::string years = ", allowed is -62135596800 to 253402300799";
    const std::string counted =
        " ns, allowed is -9223372036854775808 to 9223372036854775807 ns";
    check_time({0, 0}, 0ns);
    check_time({-1, 999999999}, -1ns);
    check_time({-2, 500000000}, -1500ms);
    check_time({9223372036, 854775807}, nanoseconds::max());
    check_time({-9223372037, 145224192}, nanoseconds::min());
    const auto now = clock_type::now();
    CHECK(Timestamp::from_time_point(now).to_time_point() == now);
    refuse_time({9223372036, 854775808}, " is 9223372036 s and 854775808" + counted);
    refuse_time({-9223372037, 145224191}, " is -9223372037 s and 145224191" + counted);
    refuse_time({253402300799, 999999999}, " is 253402300799 s and 999999999" + counted);
    refuse_time({-62135596800, 0}, " is -62135596800 s and 0" + counted);
    refuse_time({253402300800, 0}, ".seconds is 253402300800" + years);
    refuse_time({INT64_MIN, 0}, ".seconds is -9223372036854775808" + years);
    refuse_time({-1, -1}, ".nanos is -1, allowed is 0 to 999999999");
    refuse_time({1, 1000000000}, ".nanos is 1000000000, allowed is 0 to 999999999");
    check_length({0, 0}, 0ns);
    check_length({0, -500000000}, -500ms);
    check_length({-1, -1}, -1000000001ns);
    check_length({90, 0}, 90s);
    check_length({9223372036, 854775807}, nanoseconds::max());
    check_length({-9223372036, -854775808}, nanoseconds::min());
    refuse_length({9223372036, 854775808}, " is 9223372036 s and 854775808" + counted);
    refuse_length({-9223372036, -854775809}, " is -9223372036 s and -854775809" + counted);
    refuse_length({315576000000, 999999999}, " is 315576000000 s and 999999999" + counted);
    refuse_length({-315576000001, 0},
                  ".seconds is -315576000001, allowed is -315576000000 to 315576000000");
    refuse_length({1, -1}, ".nanos is -1, allowed is 0 to 999999999");
    refuse_length({-1, 1}, ".nanos is 1, allowed is -999999999 to 0");
    refuse_length({0, 1000000000},
                  ".nanos is 1000000000, allowed is -999999999 to 999999999");
    using days = std::chrono::duration<std::int64_t, std::ratio<86400>>;
    using seconds_point = std::chrono::time_point<clock_type, std::chrono::seconds>;
    const Duration centuries = Duration::from_duration(days(365 * 300));
    CHECK(centuries.seconds == 9460800000 && centuries.nanos == 0);
    const Duration milliseconds = Duration::from_duration(-1500ms);
    CHECK(milliseconds.seconds == -1 && milliseconds.nanos == -500000000);
    for (const std::int64_t second : {INT64_C(32503680000), INT64_C(-62135596800)}) {
        const seconds_point time{std::chrono::seconds(second)};
        const Timestamp made = Timestamp::from_time_point(time);
        CHECK(made.seconds == second && made.nanos == 0);
    }
    const std::string lengths = ", allowed is -315576000000 to 315576000000";
    refuse("google.protobuf.Duration.seconds is 315576000001" + lengths,
           [] { Duration::from_duration(std::chrono::seconds(315576000001)); });
    refuse("google.protobuf.Duration.seconds is beyond 64 bits" + lengths,
           [] { Duration::from_duration(days::min()); });
    refuse("google.protobuf.Timestamp.seconds is 253402300800" + years,
           [] { Timestamp::from_time_point(seconds_point(253402300800s)); });
    std::printf("%u checks\n", checks);
    return 0;
}
