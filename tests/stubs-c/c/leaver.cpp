/* A client of deferring.idl in C++ that ends while its calls are set aside, but for those that nobody
 * waits for, which it has over: `leaver NAME`. */
#include <csignal>

#include "check.h"
#include "deferring.hpp"

using namespace std::chrono_literals;

int main(int argc, char **argv) {
    CHECK(argc == 2);
    const nearcall::domain domain;
    nearcall::idl::deferring::Later later(domain, argv[1]);
    const auto first = posting(later).keep(1), second = posting(later).keep(2);
    std::uint32_t cancelled;
    while (later.kept(cancelled) < 2) {
    }
    for (int number = 0; number < 3; number++) {
        later.tell("left");
    }
    CHECK(binding(later).flush(30s) == 0);
    std::raise(SIGKILL);
    return 1;
}
