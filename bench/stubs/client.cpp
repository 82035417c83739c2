/* The client in C++ of the table `stubs`: `client PROCESSOR`. */
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
