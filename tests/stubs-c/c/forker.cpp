// A client of brief.idl that forks: `forker NAME` has children use, release and end
// with what it has imported, and goes on with it.
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "brief.hpp"
#include "check.h"

namespace brief = nearcall::idl::brief;
using brief::Brief;
using nearcall::call_error;

/* What a child ends with that has done all that it was to. */
static constexpr int done = 7;

/* Seconds after which a child that is not over waits for ever. */
static constexpr unsigned child_seconds = 20;

/* Calls at once: all A-stacks of a class but one, whose call may be under way. */
static constexpr std::int32_t calls_count = 4;

static void goes_on(const Brief &client) {
    std::vector<nearcall::pending<std::int32_t>> calls;
    for (std::int32_t i = 0; i < 100; i++) {
        CHECK(client.add(i, 1) == i + 1);
    }
    for (std::int32_t i = 0; i < calls_count; i++) {
        calls.push_back(posting(client).add(i, 2));
    }
    for (std::int32_t i = 0; i < calls_count; i++) {
        CHECK(calls[i].collect() == i + 2);
    }
}

/* That a call is refused because its binding is this process's parent's. */
template <class F> static void is_refused(F call) {
    try {
        call();
    } catch (const call_error &error) {
        const std::string said = error.what();
        CHECK(error.outcome == NEARCALL_USAGE && error.ran == NEARCALL_RAN_NO);
        CHECK(said.find("was forked from") != said.npos);
        CHECK(said.find("import again") != said.npos);
        return;
    }
    CHECK(false);
}

/* Has a child do that, and goes on with `client`. */
template <class F> static void child(const Brief &client, F act) {
    int status;
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        alarm(child_seconds);
        act();
        _exit(done);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != done) {
        std::fprintf(stderr, "a child ended with wait status %#x\n", unsigned(status));
        std::exit(1);
    }
    goes_on(client);
}

/* With destructors that run at exit. */
static std::optional<nearcall::domain> domain;
static std::optional<Brief> imported;

static std::int32_t position;

int main(int argc, char **argv) try {
    CHECK(argc == 2);
    const std::string name = argv[1];
    domain.emplace();
    imported.emplace(*domain, name);
    child(*imported, [] {
        for (int i = 0; i < 10; i++) {
            is_refused([] { imported->null(); });
            is_refused([] { imported->add(1, 2); });
            is_refused([] { imported->write(7, position, 0, {}); });
            is_refused([] { posting(*imported).add(1, 2); });
            std::thread([] { is_refused([] { imported->null(); }); }).join();
        }
    });
    child(*imported, [&] {
        nearcall::domain own;
        goes_on(Brief(own, name));
    });
    std::optional<nearcall::pending<std::int32_t>> posted = posting(*imported).add(40, 2);
    child(*imported, [&] { is_refused([&] { posted->collect(); }); });
    child(*imported, [&] { posted.reset(); });
    CHECK(posted->collect() == 42);
    child(*imported, [] {
        imported.reset();
        domain->shut_down();
        domain.reset();
    });
    child(*imported, [] { std::exit(done); });
    std::cout << checks << '\n';
    return 0;
} catch (const std::exception &error) {
    std::cerr << error.what() << '\n';
    return 1;
}
