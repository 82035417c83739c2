/* Times of Protocol Buffers as times of C, and the other way round: all that may be is what it says,
 * and all that may not is told with what may. */
#include <limits.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "times.h"

#define YEARS "-62135596800 to 253402300799"
#define YEAR_1 INT64_C(-62135596800)
#define YEAR_9999 INT64_C(253402300799)
#define LENGTH_MAX INT64_C(315576000000)

static nearcall_environment env;

static bool is_told(const char *message) {
    const bool is_so = env.outcome == NEARCALL_USAGE && env.ran == NEARCALL_RAN_NO &&
                       strcmp(env.message, message) == 0;
    if (!is_so) {
        fprintf(stderr, "outcome %u: %s\n", env.outcome, env.message);
    }
    return is_so;
}

static struct timespec told_time(int64_t seconds, int32_t nanos) {
    const google_protobuf_Timestamp value = {seconds, nanos};
    return nearcall_to_timespec_google_protobuf_Timestamp(&value, &env);
}

static struct timespec told_length(int64_t seconds, int32_t nanos) {
    const google_protobuf_Duration value = {seconds, nanos};
    return nearcall_to_timespec_google_protobuf_Duration(&value, &env);
}

/* There and back. */
static void check_time(int64_t seconds, int32_t nanos) {
    const struct timespec at = told_time(seconds, nanos);
    CHECK(env.outcome == NEARCALL_RETURNED && at.tv_sec == seconds && at.tv_nsec == nanos);
    const google_protobuf_Timestamp back =
        nearcall_from_timespec_google_protobuf_Timestamp(at, &env);
    CHECK(env.outcome == NEARCALL_RETURNED && back.seconds == seconds && back.nanos == nanos);
}

static void check_length(int64_t seconds, int32_t nanos, int64_t tv_sec, long tv_nsec) {
    const struct timespec length = told_length(seconds, nanos);
    CHECK(env.outcome == NEARCALL_RETURNED);
    CHECK(length.tv_sec == tv_sec && length.tv_nsec == tv_nsec);
    const google_protobuf_Duration back =
        nearcall_from_timespec_google_protobuf_Duration(length, &env);
    CHECK(env.outcome == NEARCALL_RETURNED && back.seconds == seconds && back.nanos == nanos);
}

static void refuse_time(int64_t seconds, int32_t nanos, const char *message) {
    const struct timespec none = told_time(seconds, nanos);
    CHECK(is_told(message) && env.reason == NEARCALL_REASON_OUT_OF_RANGE);
    CHECK(none.tv_sec == 0 && none.tv_nsec == 0);
}

static void refuse_length(int64_t seconds, int32_t nanos, const char *message) {
    const struct timespec none = told_length(seconds, nanos);
    CHECK(is_told(message) && env.reason == NEARCALL_REASON_OUT_OF_RANGE);
    CHECK(none.tv_sec == 0 && none.tv_nsec == 0);
}

static void refuse_times_of_c(void) {
    const struct timespec bad[] = {
        {YEAR_1 - 1, 999999999}, {YEAR_9999 + 1, 0}, {0, -1}, {0, 1000000000}, {0, LONG_MAX}};
    const char *const said[] = {
        "google.protobuf.Timestamp.seconds is -62135596801, allowed is " YEARS,
        "google.protobuf.Timestamp.seconds is 253402300800, allowed is " YEARS,
        "timespec.tv_nsec is -1, allowed is 0 to 999999999",
        "timespec.tv_nsec is 1000000000, allowed is 0 to 999999999",
        "timespec.tv_nsec is 9223372036854775807, allowed is 0 to 999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const google_protobuf_Timestamp none =
            nearcall_from_timespec_google_protobuf_Timestamp(bad[i], &env);
        CHECK(is_told(said[i]) && none.seconds == 0 && none.nanos == 0);
    }
    const struct timespec long_ones[] = {{LENGTH_MAX + 1, 0}, {-LENGTH_MAX - 1, 0}, {INT64_MIN, 1}};
    const char *const told[] = {
        "google.protobuf.Duration.seconds is 315576000001, "
        "allowed is -315576000000 to 315576000000",
        "google.protobuf.Duration.seconds is -315576000001, "
        "allowed is -315576000000 to 315576000000",
        "google.protobuf.Duration.seconds is -9223372036854775807, "
        "allowed is -315576000000 to 315576000000"};
    for (size_t i = 0; i < sizeof long_ones / sizeof *long_ones; i++) {
        const google_protobuf_Duration none =
            nearcall_from_timespec_google_protobuf_Duration(long_ones[i], &env);
        CHECK(is_told(told[i]) && none.seconds == 0 && none.nanos == 0);
    }
}

int main(void) {
    check_time(0, 0);
    check_time(-1, 999999999);
    check_time(YEAR_1, 0);
    check_time(YEAR_9999, 999999999);
    refuse_time(YEAR_1 - 1, 0,
                "google.protobuf.Timestamp.seconds is -62135596801, allowed is " YEARS);
    refuse_time(INT64_MAX, 0,
                "google.protobuf.Timestamp.seconds is 9223372036854775807, allowed is " YEARS);
    refuse_time(-1, -1, "google.protobuf.Timestamp.nanos is -1, allowed is 0 to 999999999");
    refuse_time(1, 1000000000,
                "google.protobuf.Timestamp.nanos is 1000000000, allowed is 0 to 999999999");
    check_length(0, 0, 0, 0);
    check_length(0, -500000000, -1, 500000000);
    check_length(-1, 0, -1, 0);
    check_length(-1, -1, -2, 999999999);
    check_length(LENGTH_MAX, 999999999, LENGTH_MAX, 999999999);
    check_length(-LENGTH_MAX, -999999999, -LENGTH_MAX - 1, 1);
    refuse_length(LENGTH_MAX + 1, 0,
                  "google.protobuf.Duration.seconds is 315576000001, "
                  "allowed is -315576000000 to 315576000000");
    refuse_length(INT64_MIN, 0,
                  "google.protobuf.Duration.seconds is -9223372036854775808, "
                  "allowed is -315576000000 to 315576000000");
    refuse_length(1, -1, "google.protobuf.Duration.nanos is -1, allowed is 0 to 999999999");
    refuse_length(-1, 1, "google.protobuf.Duration.nanos is 1, allowed is -999999999 to 0");
    refuse_length(0, INT32_MIN,
                  "google.protobuf.Duration.nanos is -2147483648, "
                  "allowed is -999999999 to 999999999");
    refuse_times_of_c();
    nearcall_to_timespec_google_protobuf_Timestamp(NULL, &env);
    CHECK(is_told("google.protobuf.Timestamp is null"));
    nearcall_to_timespec_google_protobuf_Duration(NULL, &env);
    CHECK(is_told("google.protobuf.Duration is null"));
    printf("%u checks\n", checks);
    return 0;
}
