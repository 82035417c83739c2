/* A client of again.idl in C++ that is told why not, and whether to try again. Its servers are those
 * of retrying.rs, and their names say what becomes of it there. */
#include <optional>

#include "again.hpp"
#include "check.h"

namespace again = nearcall::idl::again;
using nearcall::reason;

namespace {

/* The error of what fails. */
template <class F> std::optional<nearcall::call_error> error_of(F act) {
    try {
        act();
    } catch (const nearcall::call_error &error) {
        return error;
    }
    return std::nullopt;
}

template <class F> bool is_not_bound(F act, reason why, bool may_retry) {
    const auto error = error_of(act);
    return error && error->outcome == NEARCALL_NOT_BOUND && error->reason() == why &&
           error->incarnation() == 0 && error->may_retry() == may_retry;
}

void binds(const nearcall::domain &domain) {
    CHECK(is_not_bound([&] { again::Again(domain, "absent"); }, reason::no_such_name, true));
    CHECK(is_not_bound([&] { again::Again(domain, "closed"); }, reason::not_admitted, false));
    const again::Again bound(domain, "narrow");
    CHECK(is_not_bound([&] { again::Again(domain, "narrow"); }, reason::overloaded, true));
}

/* The server ends while it has the call. */
void death(const nearcall::domain &domain) {
    const again::Again client(domain, "mortal");
    const auto pid = client.pid();
    const auto error = error_of([&] { client.end(pid); });
    CHECK(error && error->outcome == NEARCALL_CALL_FAILED && error->ran == NEARCALL_RAN_MAYBE);
    CHECK(error->reason() == reason::none && !error->may_retry());
    CHECK(error->incarnation() != 0 && error->incarnation() == binding(client).incarnation());
}

/* The server ends in an orderly way, between two of these calls or before it has taken one. */
void shut_down(const nearcall::domain &domain) {
    const again::Again client(domain, "ending");
    puts("calls");
    fflush(stdout);
    std::optional<nearcall::call_error> error;
    while (!error) {
        if (const auto failed = error_of([&] { client.end(0); })) {
            error.emplace(*failed);
        }
    }
    CHECK(error->outcome == NEARCALL_NOT_EXECUTED && error->ran == NEARCALL_RAN_NO);
    CHECK(error->reason() == reason::revoked || error->reason() == reason::refused);
    CHECK(error->incarnation() == 0 && error->may_retry());
}

/* What C++ refuses by itself has the reason that C has. */
void refused(const nearcall::domain &domain) {
    const again::Again client(domain, "mortal");
    again::Octets octets;
    const auto error = error_of([&] { client.carry(0, std::string(1, '\0'), octets); });
    CHECK(error && error->outcome == NEARCALL_USAGE && error->reason() == reason::text);
    CHECK(error->incarnation() == 0 && !error->may_retry());
}

} // namespace

int main() {
    nearcall::domain domain;
    binds(domain);
    refused(domain);
    death(domain);
    shut_down(domain);
    domain.shut_down();
    return 0;
}
