/* A client of talking.idl in C++: as speaker.c, of which it has less. */
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include "check.h"
#include "talking.hpp"

namespace talking = nearcall::idl::talking;

namespace {

constexpr std::uint32_t never = 0xffffffffu;

/* The outcome of a call that fails. */
template <class F> nearcall_outcome outcome_of(F call) {
    try {
        call();
    } catch (const nearcall::call_error &error) {
        return error.outcome;
    }
    return NEARCALL_RETURNED;
}

/* The code that is refused with, or 0. */
template <class F> int code_of(F call) {
    try {
        call();
    } catch (const talking::Refused &refused) {
        return refused.code;
    }
    return 0;
}

talking::Line line_of(std::uint32_t number, std::string text) {
    talking::Line line;
    line.number = number;
    line.text = std::move(text);
    return line;
}

void none_alive(const talking::Talking &client) {
    for (int i = 0; i < 5000 && client.alive() != 0; i++) {
        usleep(1000);
    }
    CHECK(client.alive() == 0);
}

void in_turn(const talking::Talking &client) {
    auto [sink, feed] = client.talk("hall: ", never);
    talking::Line line;
    for (std::uint32_t i = 0; i < 100; i++) {
        sink.put(line_of(i, std::string(i, 'x')));
        sink.flush();
        CHECK(feed.next(line));
        CHECK(line.number == i && line.text == "hall: " + std::string(i, 'x'));
    }
    sink.put(line_of(100, ""));
    sink.end();
    CHECK(feed.next(line) && line.number == 100 && line.text == "hall: ");
    CHECK(!feed.next(line));
}

void at_once(const talking::Talking &client) {
    auto [sink, feed] = client.sums();
    auto put = [sink = std::move(sink)]() mutable {
        for (std::uint32_t number = 0; number < 20000; number++) {
            sink.put(number);
        }
        sink.end();
    };
    std::thread other(std::move(put));
    std::uint64_t sum = 0, came = 0;
    for (auto one : feed) {
        sum += came++;
        CHECK(one == sum);
    }
    CHECK(came == 20000);
    other.join();
}

void stops(const talking::Talking &client) {
    CHECK(code_of([&] { client.talk("", never); }) == -1);
    {
        auto [sink, feed] = client.talk("a", 2);
        for (std::uint32_t i = 0; i < 5; i++) {
            sink.put(line_of(i, "x"));
        }
        sink.flush();
        talking::Line line;
        CHECK(feed.next(line) && feed.next(line) && line.number == 1 && line.text == "ax");
        CHECK(code_of([&, &ends = feed] { ends.next(line); }) == 2);
        CHECK(!feed.next(line));
    }
    const auto before = client.given_up();
    {
        auto sides = client.echo();
        {
            auto given_up = std::move(sides.second);
        }
        CHECK(outcome_of([&] {
                  for (int i = 0; i < 100000; i++) {
                      sides.first.put("word");
                  }
              }) == NEARCALL_NOT_EXECUTED);
    }
    none_alive(client);
    CHECK(client.given_up() == before + 1);
    auto [sink, feed] = client.deaf(5000);
    sink.put(1);
    CHECK(outcome_of([&, &one = sink] { one.end(); }) == NEARCALL_NOT_EXECUTED);
    std::uint32_t came = 0;
    for (auto number : feed) {
        CHECK(number == came++);
    }
    CHECK(came == 5000);
    /* Items that are no text are not put; the exchange goes on. */
    auto sides = client.echo();
    CHECK(outcome_of([&] { sides.first.put(std::string("a\0b", 3)); }) == NEARCALL_USAGE);
    sides.first.put("word");
    sides.first.end();
    std::string word;
    CHECK(sides.second.next(word) && word == "word" && !sides.second.next(word));
}

void say(const talking::Talking &client) {
    auto [sink, feed] = client.echo();
    sink.put("word");
    sink.flush();
    std::string word;
    CHECK(feed.next(word) && word == "word");
    _exit(0);
}

void dies(const talking::Talking &client) {
    auto sides = client.talk("last words", 50);
    talking::Line line;
    std::uint32_t answered = 0;
    auto outcome = outcome_of([&] {
        for (std::uint32_t i = 0;; i++) {
            sides.first.put(line_of(i, "x"));
            sides.first.flush();
            answered += sides.second.next(line);
        }
    });
    CHECK(outcome == NEARCALL_CALL_FAILED || outcome == NEARCALL_NOT_EXECUTED);
    CHECK(answered == 50);
}

void lies(const talking::Talking &client) {
    auto sides = client.echo();
    CHECK(outcome_of([&] { sides.second.begin(); }) == NEARCALL_PEER);
}

/* What an outlet of numbers was told. */
struct Told {
    unsigned puts = 0;
    unsigned ends = 0;
    unsigned drops = 0;
    std::vector<std::string> raised;
};

nearcall::outlet<int> outlet_of(Told &told) {
    return nearcall::outlet<int>(
        &told, [](void *own, const int &) { static_cast<Told *>(own)->puts++; },
        [](void *own, bool is_whole) {
            auto &told = *static_cast<Told *>(own);
            ++(is_whole ? told.ends : told.drops);
        },
        [](void *own, std::exception_ptr exception) {
            try {
                std::rethrow_exception(exception);
            } catch (const std::exception &raised) {
                static_cast<Told *>(own)->raised.push_back(raised.what());
            }
        });
}

bool is_over(nearcall::outlet<int> &outlet) {
    try {
        outlet.put(1);
    } catch (const nearcall::given_up &) {
        return true;
    }
    return false;
}

/* How an outlet ends: once, and not as if it were whole unless that was said. */
void outlets() {
    Told whole, raised, left;
    {
        auto outlet = outlet_of(whole);
        outlet.put(1);
        outlet.end();
        outlet.raise(std::runtime_error("full"));
        CHECK(is_over(outlet));
    }
    CHECK(whole.puts == 1 && whole.ends == 1 && whole.drops == 0 && whole.raised.empty());
    {
        auto outlet = outlet_of(raised);
        outlet.raise(std::runtime_error("full"));
        outlet.raise(std::runtime_error("full again"));
        outlet.end();
        CHECK(is_over(outlet));
    }
    CHECK(raised.puts == 0 && raised.ends == 0 && raised.drops == 0);
    CHECK(raised.raised == std::vector<std::string>{"full"});
    {
        auto outlet = outlet_of(left);
        auto moved = std::move(outlet);
    }
    CHECK(left.ends == 0 && left.drops == 1 && left.raised.empty());
}

} // namespace

int main(int argc, char **argv) {
    CHECK(argc >= 2);
    nearcall::domain domain;
    {
        const talking::Talking client(domain, argv[1]);
        const std::string way = argc == 2 ? "" : argv[2];
        if (way == "dies") {
            dies(client);
        } else if (way == "goes") {
            say(client);
        } else if (way == "lies") {
            lies(client);
        } else {
            outlets();
            in_turn(client);
            at_once(client);
            stops(client);
            none_alive(client);
        }
    }
    domain.shut_down();
    std::printf("%u checks\n", checks);
    return 0;
}
