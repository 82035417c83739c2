/* A server of witness.idl: `onlooker_cpp NAME [POLICY]` exports it until its standard input ends, each
 * word of which is the policy file that counts from then on. */
#include <atomic>
#include <iostream>
#include <memory>
#include <thread>

#include "check.h"
#include "witness.hpp"

namespace witness = nearcall::idl::witness;

namespace {

class Seeing : public witness::WitnessServer {
  public:
    std::int64_t who(std::int64_t &gid, std::int64_t &pid) override {
        auto importer = nearcall::current_call().value().importer();
        gid = importer.gid;
        pid = importer.pid;
        return importer.uid;
    }

    std::int64_t giver() override {
        auto giver = nearcall::current_call().value().giver();
        return giver ? giver->pid : -1;
    }

    std::uint64_t left() override {
        auto call = nearcall::current_call();
        CHECK(call && !call->is_cancelled());
        auto left = call->time_left();
        return left ? static_cast<std::uint64_t>(left->count()) : ~std::uint64_t{0};
    }

    void linger() override {
        auto call = nearcall::current_call();
        /* Another thread may ask as well. */
        std::thread([call] {
            while (!call->is_cancelled()) {
                std::this_thread::yield();
            }
        }).join();
        seen_++;
    }

    std::uint32_t seen() override { return seen_; }

  private:
    std::atomic<std::uint32_t> seen_{0};
};

} // namespace

int main(int argc, char **argv) {
    CHECK(argc >= 2 && !nearcall::current_call());
    nearcall::domain domain;
    nearcall::export_options options;
    options.policy = argc > 2 ? argv[2] : "";
    try {
        /* On the heap, where a call that still runs when it goes is noticed. */
        const auto seeing = std::make_unique<Seeing>();
        witness::WitnessClerk clerk(domain, argv[1], *seeing, options);
        nearcall::orderly_end end(domain);
        std::cout << "ready" << std::endl;
        for (std::string path; std::cin >> path;) {
            try {
                std::cout << clerk.set_policy(path) << " " << std::endl;
            } catch (const nearcall::call_error &error) {
                std::cout << "-1 " << error.what() << std::endl;
            }
        }
    } catch (const nearcall::call_error &error) {
        std::cout << error.what() << std::endl;
    }
    return 0;
}
