/* A client of again.idl in C++ whose servers end under it: `survivor NAME`. Another one takes the
 * name each time but the last. Its standard input is the pidfd of a process that has ended. */
#include <unistd.h>

#include <memory>
#include <optional>
#include <thread>

#include "again.hpp"
#include "check.h"

namespace again = nearcall::idl::again;
using namespace std::chrono_literals;

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

template <class F> bool fails(F act, nearcall_outcome outcome, const std::string &words = "") {
    const auto error = error_of(act);
    return error && error->outcome == outcome &&
           std::string(error->what()).find(words) != std::string::npos;
}

/* What there is in place of a binding whose server has ended. */
again::Again renewed(const again::Again &client) {
    while (!binding(client).is_revoked()) {
    }
    CHECK(fails([&] { client.end(0); }, NEARCALL_NOT_EXECUTED));
    auto next = rebind(client);
    CHECK(!binding(next).is_revoked());
    CHECK(binding(next).incarnation() > binding(client).incarnation());
    CHECK(binding(next).astack_count() >= 5 && binding(next).captured_count() == 0);
    return next;
}

again::Again outlived(const again::Again &client) {
    const auto before = client.pid();
    const auto after = client.outlive(before);
    CHECK(after != before);
    auto next = renewed(client);
    CHECK(next.pid() == after);
    return next;
}

again::Again carried(const again::Again &client) {
    again::Octets octets(100000, 7);
    CHECK(client.carry(client.pid(), "text", octets) == "text");
    CHECK(octets == again::Octets(100000, 7));
    return renewed(client);
}

again::Again raised(const again::Again &client) {
    const auto before = client.pid();
    std::int32_t which = before;
    again::Octets octets;
    try {
        client.carry(before, "", octets);
    } catch (const again::Gone &gone) {
        which = gone.which;
    }
    CHECK(which != before);
    return renewed(client);
}

again::Again failed(const again::Again &client) {
    const auto pid = client.pid();
    const auto error = error_of([&] { client.end(pid); });
    CHECK(error && error->outcome == NEARCALL_CALL_FAILED && error->ran == NEARCALL_RAN_MAYBE);
    return rebind(client);
}

again::Again posted(const again::Again &client) {
    const auto before = client.pid();
    again::Octets octets(100000, 7);
    auto carried = posting(client).carry(before, "text", octets);
    octets.assign(octets.size(), 0);
    auto outlived = posting(client).outlive(before);
    const auto [text, came] = carried.collect();
    CHECK(text == "text" && came == again::Octets(100000, 7));
    auto moved = std::move(outlived);
    const auto after = moved.collect();
    CHECK(after != before);
    CHECK(fails([&] { moved.collect(); }, NEARCALL_USAGE));
    auto next = renewed(client);
    CHECK(next.pid() == after);
    auto given_up = posting(next).outlive(0);
    given_up.cancel();
    CHECK(given_up.is_replied());
    { const auto dropped = posting(next).outlive(0); }
    return next;
}

again::Again posted_once(const again::Again &client) {
    const auto pid = client.pid();
    auto ended = posting(client).end(pid);
    const auto error = error_of([&] { ended.collect(); });
    CHECK(error && error->outcome == NEARCALL_CALL_FAILED && error->ran == NEARCALL_RAN_MAYBE);
    CHECK(fails([&] { posting(client).end(0); }, NEARCALL_NOT_EXECUTED));
    return rebind(client);
}

void in_vain(const nearcall::domain &domain, const std::string &name) {
    const again::Again plain(domain, name), waits(domain, name, {0s, 50ms});
    const auto pid = plain.pid();
    CHECK(fails([&] { waits.outlive(pid); }, NEARCALL_CALL_FAILED));
    CHECK(fails([&] { rebind(waits); }, NEARCALL_NOT_BOUND, name + "\" was not ready within 50ms"));
    CHECK(fails([&] { renewed(plain); }, NEARCALL_NOT_BOUND, "no domain exports"));
    CHECK(fails([&] { again::Again(domain, name, {20ms}); }, NEARCALL_NOT_BOUND,
                name + "\" was not ready within 20ms"));
    nearcall::import_options beside{60s};
    beside.ready_pidfd = STDIN_FILENO;
    const auto error = error_of([&] { again::Again(domain, name, beside); });
    CHECK(error && error->outcome == NEARCALL_NOT_BOUND && !error->may_retry());
    CHECK(error->reason() == nearcall::reason::process_ended);
    beside.ready_pidfd = -1;
    CHECK(fails([&] { again::Again(domain, name, beside); }, NEARCALL_NOT_BOUND, "is no pidfd"));
}

/* Threads share a client that one of them replaces: the number of the server's process, as another
 * thread is told it meanwhile. */
std::int32_t replaced(again::Again client) {
    auto shared = std::make_shared<const again::Again>(std::move(client));
    std::int32_t pid = 0;
    std::thread caller([&] {
        const auto own = std::atomic_load(&shared);
        pid = own->pid();
    });
    const auto last = std::atomic_load(&shared);
    std::atomic_store(&shared, std::make_shared<const again::Again>(rebind(*last)));
    caller.join();
    CHECK(shared != last && shared->pid() == pid);
    return pid;
}

} // namespace

int main(int argc, char **argv) {
    CHECK(argc == 2);
    nearcall::domain domain;
    {
        const again::Again first(domain, argv[1], {60s, 60s});
        const auto second = outlived(first);
        const auto third = carried(second);
        const auto fourth = raised(third);
        const auto fifth = failed(fourth);
        const auto sixth = posted(fifth);
        auto seventh = posted_once(sixth);
        const auto pid = seventh.pid();
        CHECK(replaced(std::move(seventh)) == pid);
        in_vain(domain, argv[1]);
    }
    domain.shut_down();
    printf("%u checks\n", checks);
    return 0;
}
