/* A client of vault.idl in C++: as keeper_client.c, of which it has less. */
#include "open.h"
#include "vault.hpp"

namespace vault = nearcall::idl::vault;
using nearcall::descriptor;

namespace {

/* The outcome of a call that fails. */
template <class F> nearcall_outcome outcome_of(F call) {
    try {
        call();
    } catch (const nearcall::call_error &error) {
        return error.outcome;
    }
    return NEARCALL_RETURNED;
}

void passes(const vault::Vault &client, const descriptor &file, const descriptor &link,
            const descriptor &segment) {
    descriptor same;
    descriptor back = client.swap(file.get(), "swap", link.get(), same);
    CHECK(back && same && same_file(back.get(), link.get()) && same_file(same.get(), file.get()));
    back = std::move(same);
    CHECK(!same && same_file(back.get(), file.get()));
    bool is_busy = false;
    try {
        client.swap(file.get(), "busy", link.get(), same);
    } catch (const vault::Busy &busy) {
        is_busy = busy.holder == 7;
    }
    CHECK(is_busy && !same);
    CHECK(outcome_of([&] { client.swap(link.get(), "swap", link.get(), same); }) ==
          NEARCALL_USAGE);
    std::optional<descriptor> file_or_none;
    std::optional<descriptor> link_or_none = client.either(link.get(), file.get(), file_or_none);
    CHECK(link_or_none && !file_or_none && same_file(link_or_none->get(), link.get()));
    link_or_none = client.either(std::nullopt, file.get(), file_or_none);
    CHECK(!link_or_none && file_or_none && same_file(file_or_none->get(), file.get()));
    CHECK(outcome_of([&] { client.either(file.get(), file.get(), file_or_none); }) ==
          NEARCALL_USAGE);
    CHECK(outcome_of([&] { client.wrong(); }) == NEARCALL_RESULTS_REFUSED);
    CHECK(client.measure(segment.get()) == 4096);
    const descriptor introduction = introduce(client);
    CHECK(client.ask(introduction.get()) > 0);
    CHECK(client.ask(introduction.get()) == 0);
    char text[16] = {0};
    CHECK(pread(client.made("five!").get(), text, sizeof text, 0) == 5);
    CHECK(std::string(text) == "five!");
    client.close(file.get());
}

void all_pass(const vault::Vault &client) {
    int ends[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    const descriptor link(ends[0]), other(ends[1]), file(memory_file("x", 1));
    const descriptor segment(sealed_segment());
    unsigned before = 0, there = 0;
    for (int round = 0; round < 40; round++) {
        if (round == 10) {
            before = open_count();
            there = client.open_count();
        }
        passes(client, file, link, segment);
    }
    CHECK(open_count() <= before);
    there += HELD_READY;
    for (int round = 0; client.open_count() > there && round < 2000; round++) {
        usleep(1000);
    }
    CHECK(client.open_count() <= there);
}

/* Each lie revokes its binding, which is why there is one for each. */
void lies(const nearcall::domain &domain, const char *name) {
    int ends[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    const descriptor link(ends[0]), other(ends[1]), file(memory_file("x", 1));
    for (int lie = 0; lie < 4; lie++) {
        const vault::Vault client(domain, name);
        descriptor same;
        CHECK(outcome_of([&] { client.swap(file.get(), "swap", link.get(), same); }) ==
              NEARCALL_PEER);
        CHECK(!same);
    }
}

} // namespace

int main(int argc, char **argv) {
    CHECK(argc >= 2);
    nearcall::domain domain;
    if (argc == 3) {
        lies(domain, argv[1]);
    } else {
        all_pass(vault::Vault(domain, argv[1]));
    }
    domain.shut_down();
    std::printf("%u checks\n", checks);
    return 0;
}
