/* A client of feeding.idl in C++: as eater.c, of which it has less. */
#include <numeric>

#include <unistd.h>

#include "check.h"
#include "feeding.hpp"

namespace feeding = nearcall::idl::feeding;

namespace {

constexpr std::uint32_t never = 0xffffffffu;

/* The outcome of a call that fails. */
template <class F> nearcall_outcome outcome_of(F call) {
    try {
        call();
    } catch (const nearcall::call_error &error) {
        return error.outcome;
    }
    return NEARCALL_RETURNED;
}

/* The code that is refused with, or 0. */
template <class F> int code_of(F call) {
    try {
        call();
    } catch (const feeding::Refused &refused) {
        return refused.code;
    }
    return 0;
}

void come(const feeding::Feeding &client) {
    for (std::uint32_t count : {0u, 1u, 495u, 496u, 497u, 992u, 20000u}) {
        std::vector<std::uint32_t> wanted(count), came;
        std::iota(wanted.begin(), wanted.end(), 0);
        for (auto number : client.numbers(count, 0, never)) {
            came.push_back(number);
        }
        CHECK(came == wanted);
    }
    CHECK(code_of([&] { client.rows("", 1, never); }) == -1);
    auto rows = client.rows("row", 100, 40);
    feeding::Row row;
    unsigned came = 0;
    CHECK(code_of([&] {
              for (; rows.next(row); came++) {
                  CHECK(row.key == came && row.name == "row " + std::to_string(came));
              }
          }) == 40);
    CHECK(came == 40 && !rows.next(row));
    std::vector<std::string> lines;
    for (auto &line : client.lines(100000)) {
        lines.push_back(std::move(line));
    }
    CHECK(lines == std::vector<std::string>{std::string(100000, 'x')});
    auto begun = client.rows("row", 1000, never);
    CHECK(begun.next(row) && begun.next(row));
    auto moved = std::move(begun);
    CHECK(moved.next(row) && row.key == 2);
}

void go(const feeding::Feeding &client) {
    for (std::uint32_t count : {0u, 1u, 496u, 497u, 20000u}) {
        auto sum = client.sum();
        std::uint64_t wanted = 0;
        for (std::uint32_t number = 0; number < count; number++) {
            sum.put(number);
            wanted += number;
        }
        CHECK(sum.end() == wanted);
        CHECK(outcome_of([&] { sum.put(1); }) == NEARCALL_NOT_EXECUTED);
    }
    feeding::Row row;
    row.name = "a row";
    auto load = client.load("x", never);
    for (row.key = 0; row.key < 300; row.key++) {
        load.put(row);
    }
    CHECK(load.end() == 300);
    auto refused = client.load("x", 3);
    for (row.key = 0; row.key < 5; row.key++) {
        refused.put(row);
    }
    refused.flush();
    CHECK(code_of([&] { refused.flush(); }) == 3);
    CHECK(outcome_of([&] { refused.end(); }) == NEARCALL_NOT_EXECUTED);
    auto joined = client.joined();
    joined.put("ab");
    joined.put("");
    joined.put("c");
    CHECK(joined.end() == "abc");
    auto dropped = client.dropped();
    for (int i = 0; i < 5000; i++) {
        dropped.put(static_cast<std::uint8_t>(i));
    }
    dropped.end();
    client.load("x", never).put(row);
}

/* As many as one client may have open; one more is refused here. */
void too_many(const feeding::Feeding &client) {
    std::vector<decltype(client.sum())> open;
    for (int i = 0; i < 64; i++) {
        open.push_back(client.sum());
    }
    try {
        client.numbers(1, 0, never);
        CHECK(false);
    } catch (const nearcall::call_error &error) {
        CHECK(error.outcome == NEARCALL_USAGE && error.reason() == nearcall::reason::too_many_feeds);
    }
}

void none_alive(const feeding::Feeding &client) {
    for (int round = 0; client.alive() > 0 && round < 5000; round++) {
        usleep(1000);
    }
    CHECK(client.alive() == 0);
}

void dies(const feeding::Feeding &client) {
    unsigned came = 0;
    auto outcome = outcome_of([&] {
        for (auto number : client.numbers(10000, 0, 3000)) {
            came += number == came;
        }
    });
    // Made for a batch that had been late, the last words are in no call.
    CHECK(outcome == NEARCALL_CALL_FAILED || outcome == NEARCALL_NOT_EXECUTED);
    CHECK(came > 2000 && came <= 3000);
}

void lies(const feeding::Feeding &client) {
    auto numbers = client.numbers(1, 0, never);
    CHECK(outcome_of([&] { numbers.begin(); }) == NEARCALL_PEER);
}

} // namespace

int main(int argc, char **argv) {
    CHECK(argc >= 2);
    nearcall::domain domain;
    {
        const feeding::Feeding client(domain, argv[1]);
        if (argc == 2) {
            come(client);
            go(client);
            none_alive(client);
            too_many(client);
            none_alive(client);
        } else if (std::string(argv[2]) == "dies") {
            dies(client);
        } else {
            lies(client);
        }
    }
    domain.shut_down();
    std::printf("%u checks\n", checks);
    return 0;
}
