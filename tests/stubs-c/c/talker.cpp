/* A server of talking.idl in C++: exports it until its standard input ends. Each exchange is a
 * thread's. */
#include <atomic>
#include <mutex>
#include <thread>

#include <unistd.h>

#include "check.h"
#include "serve.h"
#include "talking.hpp"

namespace talking = nearcall::idl::talking;

namespace {

using words_in = nearcall::inlet<std::string>;
using words_out = nearcall::outlet<std::string>;

std::atomic<std::int32_t> alive_count{0};
std::atomic<std::uint32_t> given_up_count{0}, moved_count{0};

talking::Refused refused(std::int32_t code) {
    talking::Refused refused;
    refused.code = code;
    refused.why = "not that";
    return refused;
}

/* Works on a thread of its own, and counts how that ends; both ends go with the work. */
template <class F> void begin(F work) {
    alive_count += 2;
    std::thread([work = std::make_unique<F>(std::move(work))]() mutable {
        try {
            (*work)();
        } catch (const nearcall::given_up &) {
            given_up_count++;
        }
        work.reset();
        alive_count -= 2;
    }).detach();
}

struct Talker : talking::TalkingServer {
    std::mutex lock;
    std::vector<std::pair<words_in, words_out>> both_kept;

    void talk(const std::string &room, std::uint32_t number, nearcall::inlet<talking::Line> inlet,
              nearcall::outlet<talking::Line> outlet) override {
        if (room.empty()) {
            throw refused(-1);
        }
        if (room == "thrown") {
            outlet.raise(std::runtime_error("it was told to"));
            return;
        }
        begin([room, number, in = std::move(inlet), out = std::move(outlet)]() mutable {
            for (auto &line : in) {
                if (line.number == number) {
                    if (room == "last words") {
                        _exit(0);
                    }
                    out.raise(refused(static_cast<std::int32_t>(number)));
                    return;
                }
                line.text = room + line.text;
                out.put(line);
            }
            out.end();
        });
    }

    void echo(words_in inlet, words_out outlet) override {
        begin([in = std::move(inlet), out = std::move(outlet)]() mutable {
            for (const auto &word : in) {
                out.put(word);
            }
            out.end();
        });
    }

    void kept(words_in inlet, words_out outlet) override {
        const std::lock_guard<std::mutex> held(lock);
        both_kept.emplace_back(std::move(inlet), std::move(outlet));
        alive_count += 2;
    }

    void sums(nearcall::inlet<std::uint32_t> inlet,
              nearcall::outlet<std::uint64_t> outlet) override {
        begin([in = std::move(inlet), out = std::move(outlet)]() mutable {
            std::uint64_t sum = 0;
            for (auto number : in) {
                sum += number;
                out.put(sum);
            }
            out.end();
        });
    }

    void deaf(std::uint32_t count, nearcall::inlet<std::uint8_t>,
              nearcall::outlet<std::uint32_t> outlet) override {
        begin([count, out = std::move(outlet)]() mutable {
            for (std::uint32_t number = 0; number < count; number++) {
                out.put(number);
                moved_count++;
            }
            out.end();
        });
    }

    void mute(std::uint32_t count, nearcall::inlet<std::uint32_t> inlet,
              nearcall::outlet<std::uint8_t> outlet) override {
        begin([count, in = std::move(inlet), out = std::move(outlet)]() mutable {
            std::uint32_t number = 0;
            for (std::uint32_t i = 0; i < count && in.next(number); i++) {
                CHECK(number == i);
                moved_count++;
            }
            out.end();
        });
    }

    std::uint32_t let_go() override {
        const std::lock_guard<std::mutex> held(lock);
        const auto count = static_cast<std::uint32_t>(both_kept.size());
        for (auto &kept : both_kept) {
            kept.second.end();
        }
        both_kept.clear();
        alive_count -= 2 * static_cast<std::int32_t>(count);
        return count;
    }

    std::int32_t alive() override { return alive_count; }
    std::uint32_t given_up() override { return given_up_count; }
    std::uint32_t moved() override { return moved_count; }
};

} // namespace

int main(int argc, char **argv) {
    CHECK(argc == 2);
    nearcall::domain domain;
    Talker talker;
    talking::TalkingClerk clerk(domain, argv[1], talker);
    until_input_ends();
    domain.shut_down();
    talker.let_go();
    /* Its threads learn that their clients have ended. */
    while (alive_count > 0) {
        usleep(1000);
    }
    return 0;
}
