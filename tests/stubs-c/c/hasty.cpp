/* A client of witness.idl in C++, whose calls have deadlines. */
#include "check.h"
#include "witness.hpp"

namespace witness = nearcall::idl::witness;
using namespace std::chrono_literals;

namespace {

/* How a call that is given up has ended, and whether it ran. */
template <class F> std::pair<nearcall_outcome, nearcall_ran> end_of(F call) {
    try {
        call();
    } catch (const nearcall::call_error &error) {
        return {error.outcome, error.ran};
    }
    return {NEARCALL_RETURNED, NEARCALL_RAN_YES};
}

/* Whether the deadline of a call has ended it: after its post, or before. */
template <class F> bool is_late(F call) {
    try {
        call();
    } catch (const nearcall::call_error &error) {
        switch (error.outcome) {
        case NEARCALL_CALL_ABORTED:
            return error.ran == NEARCALL_RAN_MAYBE &&
                   error.reason() != nearcall::reason::cancelled;
        case NEARCALL_NO_ASTACK:
            return error.ran == NEARCALL_RAN_NO;
        default:
            return error.outcome == NEARCALL_NOT_EXECUTED && error.ran == NEARCALL_RAN_NO &&
                   error.reason() == nearcall::reason::deadline_passed;
        }
    }
    return false;
}

} // namespace

int main(int argc, char **argv) {
    CHECK(argc == 2);
    nearcall::domain domain;
    witness::Witness patient(domain, argv[1]);
    CHECK(patient.left() == UINT64_MAX);

    auto hasty = with_deadline(patient, 1min);
    const std::chrono::nanoseconds left(hasty.left());
    CHECK(left > 30s && left <= 1min);
    CHECK(posting(hasty).left().collect() <= 60000000000u);
    CHECK(rebind(hasty).left() <= 60000000000u);
    CHECK(patient.left() == UINT64_MAX);

    auto hastier = with_deadline(patient, 50ms);
    /* Until the server has seen it: beside other work one may be given up before it was taken. */
    unsigned tries = 0;
    do {
        CHECK(tries++ < TRIES_MAX);
        CHECK(is_late([&] { hastier.linger(); }));
        while (binding(patient).captured_count() > 0) {
        }
    } while (patient.seen() == 0);

    for (auto none : {0s, -1s}) {
        auto late = with_deadline(patient, none);
        CHECK(end_of([&] { late.linger(); }) ==
              std::make_pair(NEARCALL_NOT_EXECUTED, NEARCALL_RAN_NO));
    }
    CHECK(patient.seen() == 1);
    puts("done");
    return 0;
}
