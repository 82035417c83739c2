// A client of posting.idl: `poster NAME` posts calls, and collects them later.
#include <iostream>
#include <thread>

#include <unistd.h>

#include "check.h"
#include "posting.hpp"

using nearcall::call_error;
using nearcall::idl::posting::Few;
using nearcall::idl::posting::Posting;
using nearcall::idl::posting::Refused;

/* Whether calls of such a client can be posted. */
template <class C, class = void> struct has_posting : std::false_type {};
template <class C>
struct has_posting<C, std::void_t<decltype(posting(std::declval<C>()))>> : std::true_type {};

/* One that goes at once would leave its calls without a client. */
static_assert(has_posting<const Posting &>::value && !has_posting<Posting>::value,
              "a client stays as long as its calls");

/* Calls of `add` at once, as the interface file says. */
static constexpr std::int32_t astack_count = 8;

/* How what must not return has ended. */
template <class F> static nearcall_outcome outcome_of(F call) {
    try {
        call();
    } catch (const call_error &error) {
        return error.outcome;
    }
    return NEARCALL_RETURNED;
}

static void in_any_order(const Posting &client) {
    std::vector<nearcall::pending<std::int32_t>> calls;
    for (std::int32_t i = 0; i < astack_count; i++) {
        calls.push_back(posting(client).add(i, 100));
    }
    CHECK(outcome_of([&] { posting(client).add(0, 0); }) == NEARCALL_USAGE);
    for (std::int32_t i = astack_count - 1; i >= 0; i--) {
        CHECK(calls[i].collect() == i + 100);
    }
    CHECK(outcome_of([&] { calls[0].collect(); }) == NEARCALL_USAGE);
}

/* None of two returns before both are there. */
static void at_once(const Posting &client) {
    auto one = posting(client).meet(2);
    auto other = posting(client).meet(2);
    other.collect();
    one.collect();
    CHECK(one.is_replied());
}

static void values(const Posting &client) {
    std::string text = "abc";
    Few numbers = {1, -2, 3};
    auto call = posting(client).turned(text, numbers);
    text = "z";
    numbers.clear();
    const auto [count, came, doubled] = call.collect();
    CHECK(count == 3 && came == "cba" && doubled == Few({2, -4, 6}));
    call = posting(client).turned("", {});
    try {
        call.collect();
        CHECK(false);
    } catch (const Refused &refused) {
        CHECK(refused.code == 7);
    }
    CHECK(outcome_of([&] { posting(client).turned("a", Few(9)); }) == NEARCALL_USAGE);
    auto results = posting(client).counted(5);
    const auto [again, last] = posting(client).count_again(4).collect();
    CHECK(again == Few({0, 1, 2, 3}) && last == 3);
    auto made = posting(client).made("a file");
    CHECK(results.collect() == Few({0, 1, 2, 3, 4}));
    char file[8];
    CHECK(pread(made.collect().get(), file, sizeof file, 0) == 6);
}

static void given_up(const Posting &client) {
    auto call = posting(client).linger();
    std::uint32_t ended = 0;
    while (client.begun(ended) < 1) {
    }
    CHECK(!call.is_replied());
    call.cancel();
    CHECK(call.is_replied());
    while (ended < 1) {
        client.begun(ended);
    }
}

static void elsewhere(const Posting &client) {
    for (std::int32_t i = 0; i < 3 * astack_count; i++) {
        auto call = posting(client).add(i, 1);
        std::int32_t sum = 0;
        std::thread([&, own = std::move(call)]() mutable { sum = own.collect(); }).join();
        CHECK(sum == i + 1);
    }
    for (std::int32_t i = 0; i < 10 * astack_count; i++) {
        const auto is_posted = [&] { posting(client).add(i, i); };
        while (outcome_of(is_posted) != NEARCALL_RETURNED) {
        }
    }
}

/* Over a binding that grows a thread has more calls under way than there were A-stacks. */
static void grown(const nearcall::domain &domain, const char *name) {
    nearcall::import_options growing;
    growing.grows = true;
    Posting client(domain, name, growing);
    std::vector<nearcall::pending<std::int32_t>> calls;
    for (std::int32_t i = 0; i < 3 * astack_count; i++) {
        calls.push_back(posting(client).add(i, i));
    }
    for (std::int32_t i = 0; i < 3 * astack_count; i++) {
        CHECK(calls[i].collect() == 2 * i);
    }
}

/* Who listens and does not answer keeps nobody for longer than they said. */
static void silent(const nearcall::domain &domain) {
    nearcall::import_options hasty;
    hasty.timeout = std::chrono::milliseconds(20);
    try {
        Posting(domain, "silent", hasty);
        CHECK(false);
    } catch (const call_error &error) {
        CHECK(error.outcome == NEARCALL_NOT_BOUND);
        /* Milliseconds, and not the 5 s of who says nothing. */
        const std::string said = error.what();
        CHECK(said.find("\"silent\" did not answer within ") == 0);
        CHECK(said.find("ms") != std::string::npos);
    }
}

int main(int argc, char **argv) try {
    nearcall::domain domain;
    {
        Posting client(domain, argv[argc - 1]);
        in_any_order(client);
        at_once(client);
        values(client);
        given_up(client);
        elsewhere(client);
        in_any_order(client);
    }
    grown(domain, argv[argc - 1]);
    silent(domain);
    domain.shut_down();
    std::cout << checks << '\n';
    return 0;
} catch (const std::exception &error) {
    std::cerr << error.what() << '\n';
    return 1;
}
