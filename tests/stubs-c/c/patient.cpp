/* A server of estacks.idl on E-stacks: `patient_cpp NAME [ESTACKS [BYTES]]` exports it until its
 * standard input ends, with one thread that runs calls, and calls the server `slow`. */
#include <atomic>
#include <exception>
#include <iostream>
#include <thread>

#include "check.h"
#include "estacks.hpp"
#include "serve.h"

namespace estacks = nearcall::idl::estacks;

namespace {

thread_local std::uint32_t of_this_thread;

struct Patient : estacks::HostServer {
    explicit Patient(const nearcall::domain &domain) : slow_(domain, "slow") {}

    std::uint32_t ask(estacks::Manner how, std::uint32_t number) override {
        switch (how) {
        case estacks::Manner::BRIEF:
            return slow_.hold(number);
        case estacks::Manner::POSTED_BRIEF:
            return posting(slow_).hold(number).collect();
        case estacks::Manner::TEXT:
            return as_number(slow_.hold_text(std::to_string(number)));
        default:
            return as_number(posting(slow_).hold_text(std::to_string(number)).collect());
        }
    }

    std::uint32_t keep(std::uint32_t number, std::uint32_t &of_thread) override {
        of_this_thread = number;
        const std::uint32_t kept = number % 2 == 0 ? in_handler(number) : in_destructor(number);
        of_thread = of_this_thread;
        return kept;
    }

    void fail(std::uint32_t number, bool is_declared) override {
        estacks::Refused refused;
        refused.number = slow_.hold(number);
        if (is_declared) {
            throw refused;
        }
        throw std::runtime_error("held for too long");
    }

    void outlive(std::uint32_t number) override {
        const auto call = nearcall::current_call();
        try {
            slow_.hold(number);
        } catch (const nearcall::call_error &) {
            /* It has no more time than this call. */
        }
        while (!call->is_cancelled()) {
            std::this_thread::yield();
        }
        outlived_++;
    }

    std::uint32_t outlived() override { return outlived_; }

    std::uint32_t dive(std::uint32_t depth) override {
        volatile char frame[4096];
        frame[depth % sizeof frame] = 1;
        return depth == 0 ? 0 : dive(depth - 1) + frame[depth % sizeof frame];
    }

    std::uint32_t add(std::uint32_t a, std::uint32_t b) override { return a + b; }

  private:
    /* Waits in the handler of what it has thrown, and throws that again. */
    std::uint32_t in_handler(std::uint32_t number) {
        try {
            try {
                throw number;
            } catch (const std::uint32_t &) {
                CHECK(slow_.hold(number) == number && std::uncaught_exceptions() == 0);
                throw;
            }
        } catch (const std::uint32_t &again) {
            CHECK(std::current_exception() != nullptr);
            return again;
        }
    }

    /* Waits in a destructor, while what it has thrown flies past. */
    std::uint32_t in_destructor(std::uint32_t number) {
        struct Waits {
            Patient &own;
            std::uint32_t number;

            ~Waits() {
                CHECK(std::uncaught_exceptions() == 1);
                CHECK(own.slow_.hold(number) == number);
                CHECK(std::uncaught_exceptions() == 1 && std::current_exception() == nullptr);
            }
        };
        try {
            Waits waits{*this, number};
            throw number;
        } catch (const std::uint32_t &thrown) {
            return thrown;
        }
    }

    static std::uint32_t as_number(const std::string &text) {
        return static_cast<std::uint32_t>(std::stoul(text));
    }

    estacks::Slow slow_;
    std::atomic<std::uint32_t> outlived_{0};
};

} // namespace

int main(int argc, char **argv) {
    CHECK(argc >= 2);
    nearcall::domain_options knobs;
    knobs.processors_max = 1;
    knobs.estacks_max =
        argc > 2 ? static_cast<std::uint32_t>(std::stoul(argv[2])) : knobs.estacks_max;
    knobs.estack_bytes = argc > 3 ? std::stoul(argv[3]) : knobs.estack_bytes;
    nearcall::domain domain(knobs);
    nearcall::export_options to;
    to.runs_on_estacks = true;
    Patient patient(domain);
    try {
        estacks::HostClerk clerk(domain, argv[1], patient, to);
        nearcall::orderly_end end(domain);
        until_input_ends();
    } catch (const nearcall::call_error &error) {
        std::cout << error.what() << std::endl;
    }
    return 0;
}
