/* A server of throwing.idl in C++: exports it until its standard input ends. */
#include "check.h"
#include "serve.h"
#include "throwing.hpp"

namespace throwing = nearcall::idl::throwing;

namespace {

struct Numbers : nearcall::items<std::int32_t> {
    bool is_first = true;

    bool next(std::int32_t &item) override {
        if (!is_first) {
            throw std::runtime_error("no more numbers");
        }
        is_first = false;
        item = 1;
        return true;
    }
};

struct Names : nearcall::items<std::string> {
    bool next(std::string &item) override {
        item = "too long";
        return true;
    }
};

struct Thrower : throwing::ThrowerServer {
    void plain() override { throw std::runtime_error("nothing is plain"); }

    std::int32_t declared(bool is_refused) override {
        if (is_refused) {
            throwing::Refused refused;
            refused.code = 7;
            throw refused;
        }
        throw std::out_of_range("beyond 3");
    }

    std::string strange() override { throw 1; }

    throwing::Either unfit() override {
        throwing::Either either;
        either._d = true;
        either._u.emplace<2>("text");
        return either;
    }

    void left(std::int32_t outcome) override {
        throw nearcall::call_error(static_cast<nearcall_outcome>(outcome), "a call of its own");
    }

    std::unique_ptr<nearcall::items<std::int32_t>> numbers() override {
        return std::make_unique<Numbers>();
    }

    std::unique_ptr<nearcall::items<std::string>> names() override {
        return std::make_unique<Names>();
    }
};

/* Whoever listens, where it is one. */
void hear(nearcall_level level, std::string_view line) {
    if (level != NEARCALL_LOG_INFO) {
        std::fprintf(stderr, "%s\n", std::string(line).c_str());
    }
}

} // namespace

int main(int argc, char **argv) {
    CHECK(argc == 2 || (argc == 3 && std::string_view(argv[2]) == "heard"));
    CHECK(argc == 2 || nearcall::set_log(hear));
    nearcall::domain domain;
    Thrower thrower;
    throwing::ThrowerClerk clerk(domain, argv[1], thrower);
    nearcall::orderly_end end(domain);
    until_input_ends();
    return 0;
}
