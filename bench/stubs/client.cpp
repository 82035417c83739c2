/* The client in C++ of the table `stubs`: `client PROCESSOR`. */
#include <poll.h>
#include <sched.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#include "calls.hpp"
#include "orders.h"

namespace calls = nearcall::idl::calls;

static void must(bool is_right) {
    if (!is_right) {
        std::fprintf(stderr, "a call came back wrong\n");
        std::exit(1);
    }
}

/* Always so many calls under way, the oldest collected first. */
static void posted(const calls::Calls &client, const order &order) {
    std::vector<nearcall::pending<void>> under_way;
    unsigned oldest = 0;
    for (unsigned i = 0; i < UNDER_WAY; i++) {
        under_way.push_back(posting(client).null());
    }
    TIME(order, (under_way[oldest].collect(), under_way[oldest] = posting(client).null(),
                 oldest = (oldest + 1) % UNDER_WAY));
}

/* So many calls under way at most, of which an event loop is told. */
static void looped(const calls::Calls &client, const order &order, unsigned under_way) {
    nearcall::completions completions;
    unsigned due = 0, told = 0;
    const auto add = [&] {
        completions.add(posting(client).null(), [&](auto replied) {
            replied.collect();
            told++;
        });
    };
    /* One turn may tell of several. */
    const auto turn_until = [&](unsigned count) {
        while (told < count) {
            pollfd watched = {completions.fd(), POLLIN, 0};
            must(poll(&watched, 1, -1) == 1);
            completions.run();
        }
    };
    for (unsigned i = 1; i < under_way; i++) {
        add();
    }
    TIME(order, (add(), turn_until(++due)));
    turn_until(due + under_way - 1);
}

static void obey(const calls::Calls &client, const order &order) {
    calls::Big big{};
    volatile std::int32_t two = 2;
    if (std::strcmp(order.name, "null") == 0) {
        TIME(order, client.null());
    } else if (std::strcmp(order.name, "add") == 0) {
        TIME(order, must(client.add(two, 3) == 5));
    } else if (std::strcmp(order.name, "biginout") == 0) {
        std::uint8_t first = 0;
        TIME(order, (client.big_in_out(big), must(big[0] == ++first)));
    } else if (std::strcmp(order.name, "posted-4") == 0) {
        posted(client, order);
    } else if (std::strcmp(order.name, "loop") == 0) {
        looped(client, order, 1);
    } else if (std::strcmp(order.name, "loop-4") == 0) {
        looped(client, order, UNDER_WAY);
    } else {
        std::fprintf(stderr, "there is no case %s\n", order.name);
        std::exit(1);
    }
}

int main(int argc, char **argv) {
    if (argc != 2) {
        std::fprintf(stderr, "which processor?\n");
        return 1;
    }
    pin(argv[1]);
    nearcall::domain domain;
    calls::Calls client(domain, CALLS_NAME);
    std::printf("ready g++ %s\n", __VERSION__);
    std::fflush(stdout);
    order order;
    while (next_order(&order)) {
        obey(client, order);
    }
    return 0;
}
