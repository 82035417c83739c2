/* A server of known.idl: `knower_cpp NAME` exports it until its standard input ends. */
#include "check.h"
#include "known.hpp"
#include "serve.h"

namespace known = nearcall::idl::known;

namespace {

/* Whom a question is about; it holds the call by itself. */
nearcall::importer asked_of(bool is_giver) {
    const auto call = nearcall::current_call().value();
    return is_giver ? call.giver().value() : call.importer();
}

class Knower : public known::KnownServer {
  public:
    bool is_in_group(bool is_giver, std::uint32_t group, bool &are_all) override {
        const auto importer = asked_of(is_giver);
        are_all = importer.are_groups_all();
        return importer.is_in_group(group);
    }

    std::string cgroup(bool is_giver) override {
        return asked_of(is_giver).cgroup().value_or(std::string());
    }

    std::string label(bool is_giver) override {
        return asked_of(is_giver).label().value_or(std::string());
    }

    nearcall::descriptor pidfd(bool is_giver) override { return asked_of(is_giver).pidfd(); }
};

} // namespace

int main(int argc, char **argv) {
    CHECK(argc == 2);
    nearcall::domain domain;
    Knower knower;
    known::KnownClerk clerk(domain, argv[1], knower);
    nearcall::orderly_end end(domain);
    until_input_ends();
    return 0;
}
