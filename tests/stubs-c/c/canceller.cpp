/* A client of witness.idl in C++, whose calls are cancelled by another thread. */
#include <thread>

#include "check.h"
#include "witness.hpp"

namespace witness = nearcall::idl::witness;
using namespace std::chrono_literals;

namespace {

/* Cancels it soon, on another thread. */
std::thread cancel_soon(const nearcall::cancellation &cancelled) {
    return std::thread([&] {
        std::this_thread::sleep_for(50ms);
        cancelled.cancel();
    });
}

/* Whether a call that takes until it is given up ends so. */
bool is_given_up(witness::Witness &client) {
    try {
        client.linger();
    } catch (const nearcall::call_error &error) {
        return error.outcome == NEARCALL_CALL_ABORTED && error.ran == NEARCALL_RAN_MAYBE &&
               error.reason() == nearcall::reason::cancelled;
    }
    return false;
}

/* How many calls the server has seen to be given up, of which none is under way any more. */
std::uint32_t seen(const witness::Witness &client) {
    while (binding(client).captured_count() > 0) {
    }
    return client.seen();
}

/* Calls in two cancellations, each of which ends one; whether the server has seen both to be given
 * up: beside other work one may be before it was taken. */
bool are_seen(witness::Witness &client) {
    const nearcall::cancellation outer, inner;
    const auto before = outer.run([&] { return seen(client); });
    auto between = before;
    {
        const nearcall::cancellation::scope inside(outer);
        std::thread other = cancel_soon(inner);
        CHECK(inner.run([&] { return is_given_up(client); }));
        other.join();
        CHECK(inner.is_cancelled() && !outer.is_cancelled());
        between = seen(client);
        other = cancel_soon(outer);
        CHECK(is_given_up(client));
        other.join();
    }
    /* It is for good; and what is thrown leaves it. */
    try {
        outer.run([&] { client.linger(); });
        CHECK(false);
    } catch (const nearcall::call_error &error) {
        CHECK(error.outcome == NEARCALL_CALL_ABORTED);
    }
    return between > before && seen(client) > between;
}

} // namespace

int main(int argc, char **argv) {
    CHECK(argc == 2);
    nearcall::domain domain;
    witness::Witness client(domain, argv[1]);
    for (unsigned tries = 0; !are_seen(client); tries++) {
        CHECK(tries < TRIES_MAX);
    }
    puts("done");
    return 0;
}
