// A client of posting.idl with an event loop: `completer NAME` posts calls, and is told of those
// that it can collect; where coroutines are to be had, they await them.
#include <functional>
#include <iostream>
#include <memory>

#include <poll.h>

#include "check.h"
#include "posting.hpp"

using nearcall::call_error;
using nearcall::completions;
using nearcall::pending;
using nearcall::idl::posting::Few;
using nearcall::idl::posting::Posting;
using nearcall::idl::posting::Refused;

using namespace std::chrono_literals;

/* Calls of `add` at once, as the interface file says. */
static constexpr std::int32_t astack_count = 8;

/* Nothing is left that the loop would be woken for. */
static void is_quiet(completions &calls) {
    CHECK(calls.run() == 0 && calls.size() == 0);
    pollfd watched = {calls.fd(), POLLIN, 0};
    CHECK(poll(&watched, 1, 0) == 0);
}

/* An event loop that has nothing else to do: until so few calls are left. */
static void run_until(completions &calls, std::size_t left) {
    while (calls.size() > left) {
        pollfd watched = {calls.fd(), POLLIN, 0};
        CHECK(poll(&watched, 1, -1) == 1);
        calls.run();
    }
    if (left == 0) {
        is_quiet(calls);
    }
}

static void many(const Posting &client, completions &calls) {
    std::int32_t sum = 0;
    for (std::int32_t i = 0; i < astack_count; i++) {
        /* What is told may be moved and not copied. */
        calls.add(posting(client).add(i, 1), [&sum, i, own = std::make_unique<int>(i)](
                                                 pending<std::int32_t> replied) {
            CHECK(replied.is_replied() && *own == i);
            sum += replied.collect();
        });
    }
    CHECK(calls.size() == astack_count);
    run_until(calls, 0);
    CHECK(sum == astack_count * (astack_count + 1) / 2);
}

/* One call after the other, each posted by what is told of the one before. */
static void chain(const Posting &client, completions &calls, std::int32_t left) {
    calls.add(posting(client).add(left, -1), [&, left](pending<std::int32_t> replied) {
        const auto next = replied.collect();
        CHECK(next == left - 1);
        if (next > 0) {
            chain(client, calls, next);
        }
    });
}

/* A chain without an end leaves the loop its turns. */
static void endless(const Posting &client, completions &calls) {
    std::uint64_t told = 0;
    std::function<void()> post = [&] {
        calls.add(posting(client).add(1, 2), [&](pending<std::int32_t> replied) {
            CHECK(replied.collect() == 3);
            told++;
            post();
        });
    };
    post();
    while (told < 100) {
        const auto before = told;
        CHECK(calls.run() == told - before && told <= before + 1);
    }
    post = [] {};
    run_until(calls, 0);
}

/* What is told of a call goes with it, and cancels the next one: the first goes with all of them. */
static void chained_ends(const Posting &client) {
    struct chain {
        unsigned &count;
        /* Behind the last there is none. */
        completions::number numbers[4];
        completions calls;
    };
    struct ended {
        chain &own;
        int next;
        ~ended() {
            own.count++;
            CHECK(own.calls.cancel(own.numbers[next]) == (next < 3));
        }
    };
    for (const bool by_cancel : {true, false}) {
        unsigned count = 0;
        {
            chain own = {count, {}, {}};
            for (int i = 0; i < 3; i++) {
                std::unique_ptr<ended> next(new ended{own, i + 1});
                own.numbers[i] = own.calls.add(posting(client).linger(),
                                               [next = std::move(next)](pending<void>) {});
            }
            if (by_cancel) {
                CHECK(own.calls.cancel(own.numbers[0]) && count == 3);
                is_quiet(own.calls);
            }
        }
        CHECK(count == 3);
    }
    while (binding(client).captured_count() > 0) {
    }
}

/* Who has all of them told, and not collected, is not made to wait for one that comes back. */
static void too_many(const Posting &client, completions &calls) {
    std::vector<pending<std::int32_t>> replies;
    for (std::int32_t i = 0; i < astack_count; i++) {
        calls.add(posting(client).add(i, 1),
                  [&](pending<std::int32_t> replied) { replies.push_back(std::move(replied)); });
    }
    run_until(calls, 0);
    try {
        posting(client).add(0, 0);
        CHECK(false);
    } catch (const call_error &error) {
        CHECK(error.outcome == NEARCALL_USAGE);
    }
    for (auto &reply : replies) {
        CHECK(reply.collect() > 0);
    }
}

static void raised(const Posting &client, completions &calls) {
    bool is_told = false;
    calls.add(posting(client).turned("", {}), [&](auto replied) {
        is_told = true;
        replied.collect();
    });
    calls.add(posting(client).counted(1), [](pending<Few> replied) { CHECK(replied.collect() == Few({0})); });
    std::size_t caught = 0;
    while (calls.size() > 0) {
        try {
            run_until(calls, 0);
        } catch (const Refused &refused) {
            CHECK(refused.code == 7);
            caught++;
        }
    }
    CHECK(is_told && caught == 1);
    is_quiet(calls);
    auto call = posting(client).add(1, 2);
    CHECK(call.collect() == 3);
    try {
        calls.add(std::move(call), [](pending<std::int32_t>) { CHECK(false); });
        CHECK(false);
    } catch (const call_error &error) {
        CHECK(error.outcome == NEARCALL_USAGE);
    }
    CHECK(calls.size() == 0);
}

/* Until as many calls have ended as have begun. */
static void wait_for_ends(const Posting &client) {
    std::uint32_t begun, ended;
    do {
        begun = client.begun(ended);
    } while (begun != ended || binding(client).captured_count() > 0);
}

static void given_up(const Posting &client, completions &calls) {
    {
        completions own;
        own.add(posting(client).linger(), [](pending<void>) { CHECK(false); });
        own.run();
    }
    const auto number = calls.add(posting(client).linger(), [](pending<void>) { CHECK(false); });
    CHECK(calls.run() == 0 && calls.size() == 1);
    CHECK(calls.cancel(number) && !calls.cancel(number) && calls.size() == 0);
    is_quiet(calls);
    wait_for_ends(client);
}

/* Told once its deadline has passed; beside other work that may be before its post. */
static void late(const Posting &client, completions &calls) {
    const auto hasty = with_deadline(client, 50ms);
    bool is_told = false;
    for (int tries = 0; !is_told; tries++) {
        CHECK(tries < TRIES_MAX);
        try {
            calls.add(posting(hasty).linger(), [&](pending<void> replied) {
                is_told = true;
                replied.collect();
            });
            run_until(calls, 0);
        } catch (const call_error &error) {
            CHECK(is_told == (error.outcome == NEARCALL_CALL_ABORTED));
        }
    }
    wait_for_ends(client);
}

#if __cplusplus >= 202002L && !defined(__cpp_impl_coroutine)
#error "C++20 has coroutines"
#endif

#if defined(__cpp_impl_coroutine)

/* A coroutine that runs by itself, and ends with its last reply. */
struct task {
    struct promise_type {
        task get_return_object() {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { CHECK(false); }
    };
    std::coroutine_handle<promise_type> own;
};

static task summed(const Posting &client, completions &calls, std::int32_t *sum) {
    for (std::int32_t i = 1; i <= 10; i++) {
        *sum = co_await calls.reply(posting(client).add(*sum, i));
    }
    try {
        co_await calls.reply(posting(client).turned("", {}));
        CHECK(false);
    } catch (const Refused &refused) {
        CHECK(refused.code == 7);
    }
    co_await calls.reply(posting(client).meet(2));
}

static task stuck(const Posting &client, completions &calls) {
    co_await calls.reply(posting(client).linger());
    CHECK(false);
}

static void awaited(const Posting &client, completions &calls) {
    std::int32_t sums[2] = {0, 0};
    const task both[2] = {summed(client, calls, &sums[0]), summed(client, calls, &sums[1])};
    run_until(calls, 0);
    for (int i = 0; i < 2; i++) {
        CHECK(both[i].own.done() && sums[i] == 55);
        both[i].own.destroy();
    }
    const task given_up = stuck(client, calls);
    CHECK(calls.size() == 1 && !given_up.own.done());
    given_up.own.destroy();
    CHECK(calls.size() == 0);
    wait_for_ends(client);
}

#else

static void awaited(const Posting &, completions &) {}

#endif

int main(int argc, char **argv) try {
    nearcall::domain domain;
    {
        Posting client(domain, argv[argc - 1]);
        completions calls;
        many(client, calls);
        chain(client, calls, 100);
        run_until(calls, 0);
        raised(client, calls);
        endless(client, calls);
        chained_ends(client);
        too_many(client, calls);
        given_up(client, calls);
        late(client, calls);
        awaited(client, calls);
        many(client, calls);
    }
    domain.shut_down();
    std::cout << checks << '\n';
    return 0;
} catch (const std::exception &error) {
    std::cerr << error.what() << '\n';
    return 1;
}
