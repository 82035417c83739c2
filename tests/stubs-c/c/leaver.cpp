// As leaver.c, by wrappers, of calls that are oneway: `leaver NAME HOW`.
#include <csignal>
#include <cstring>
#include <unistd.h>

#include "check.h"
#include "deferring.hpp"

constexpr int TOLD_COUNT = 5;

int main(int argc, char **argv) {
    CHECK(argc == 3);
    nearcall::domain domain;
    const nearcall::idl::deferring::Later later(domain, argv[1]);
    for (int number = 0; number < TOLD_COUNT; number++) {
        later.tell("goodbye");
    }
    if (std::strcmp(argv[2], "exits") == 0) {
        _exit(0);
    } else if (std::strcmp(argv[2], "is killed") == 0) {
        std::raise(SIGKILL);
    }
    return 0;
}
