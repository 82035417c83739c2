/* A server of lasting.idl: `laster_cpp NAME` exports it until its standard input ends. */
#include <atomic>
#include <thread>

#include "check.h"
#include "lasting.hpp"
#include "serve.h"

namespace lasting = nearcall::idl::lasting;

namespace {

class Laster : public lasting::LastingServer {
  public:
    std::uint32_t last() override {
        const auto call = nearcall::current_call();
        CHECK(call && !call->is_ending());
        begun_++;
        std::uint32_t looks = 1;
        /* Another thread may ask as well. */
        std::thread([&] {
            while (!call->is_ending() && !call->is_cancelled()) {
                looks += looks < UINT32_MAX;
                std::this_thread::yield();
            }
        }).join();
        return call->is_ending() ? looks : 0;
    }

    std::uint32_t begun() override { return begun_; }

  private:
    std::atomic<std::uint32_t> begun_{0};
};

} // namespace

int main(int argc, char **argv) {
    CHECK(argc == 2);
    nearcall::domain domain;
    Laster laster;
    lasting::LastingClerk clerk(domain, argv[1], laster);
    nearcall::orderly_end end(domain);
    until_input_ends();
    return 0;
}
