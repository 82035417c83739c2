/* A server of feeding.idl in C++: exports it until its standard input ends. */
#include <atomic>

#include <unistd.h>

#include "check.h"
#include "serve.h"
#include "feeding.hpp"

namespace feeding = nearcall::idl::feeding;

namespace {

std::atomic<std::int32_t> alive_count{0};

/* Counts itself for as long as it is there. */
struct counted {
    counted() { alive_count++; }
    counted(const counted &) = delete;
    ~counted() { alive_count--; }
};

feeding::Refused refused(std::int32_t code) {
    feeding::Refused refused;
    refused.code = code;
    refused.why = "not that";
    return refused;
}

struct Rows : nearcall::items<feeding::Row>, counted {
    std::string name;
    std::uint32_t at = 0, count = 0, refused_key = 0;

    bool next(feeding::Row &item) override {
        if (at == refused_key) {
            throw refused(static_cast<std::int32_t>(at));
        }
        item.key = at;
        item.name = name + " " + std::to_string(at);
        return at++ < count;
    }
};

struct Numbers : nearcall::items<std::uint32_t>, counted {
    std::uint32_t at = 0, count = 0, pause_ms = 0, last_words = 0;

    bool next(std::uint32_t &item) override {
        if (pause_ms > 0) {
            usleep(pause_ms * 1000);
        }
        if (at == last_words) {
            _exit(0);
        }
        item = at;
        return at++ < count;
    }
};

struct Unended : nearcall::items<feeding::Page>, counted {
    std::uint32_t at = 0, count = 0;

    bool next(feeding::Page &item) override {
        item.fill(7);
        if (at++ < count) {
            return true;
        }
        auto call = nearcall::current_call();
        while (!call->is_cancelled()) {
            usleep(1000);
        }
        return false;
    }
};

struct Lines : nearcall::items<std::string>, counted {
    std::string line;
    bool is_over = false;

    bool next(std::string &item) override {
        item = line;
        return !std::exchange(is_over, true);
    }
};

struct Load : nearcall::taker<feeding::Row, std::uint32_t>, counted {
    std::uint32_t count = 0, refused_key = 0;

    void take(const feeding::Row &item) override {
        if (item.key == refused_key) {
            throw refused(static_cast<std::int32_t>(item.key));
        }
        count++;
    }

    std::uint32_t end() override { return count; }
};

struct Sum : nearcall::taker<std::uint32_t, std::uint64_t>, counted {
    std::uint64_t sum = 0;

    void take(const std::uint32_t &item) override { sum += item; }
    std::uint64_t end() override { return sum; }
};

struct Joined : nearcall::taker<std::string, std::string>, counted {
    std::string all;

    void take(const std::string &item) override { all += item; }
    std::string end() override { return all; }
};

struct Dropped : nearcall::taker<std::uint8_t, void>, counted {
    std::uint32_t count = 0;

    void take(const std::uint8_t &item) override {
        CHECK(item == static_cast<std::uint8_t>(count++));
    }
    void end() override { CHECK(count == 5000); }
};

class Feeder : public feeding::FeedingServer {
    std::unique_ptr<nearcall::items<feeding::Row>> rows(const std::string &name,
                                                        std::uint32_t count,
                                                        std::uint32_t refused_key) override {
        if (name.empty()) {
            throw refused(-1);
        }
        auto made = std::make_unique<Rows>();
        made->name = name;
        made->count = count;
        made->refused_key = refused_key;
        return made;
    }

    std::unique_ptr<nearcall::items<std::uint32_t>> numbers(std::uint32_t count,
                                                            std::uint32_t pause_ms,
                                                            std::uint32_t last_words) override {
        auto made = std::make_unique<Numbers>();
        made->count = count;
        made->pause_ms = pause_ms;
        made->last_words = last_words;
        return made;
    }

    std::unique_ptr<nearcall::items<feeding::Page>> unended(std::uint32_t count) override {
        auto made = std::make_unique<Unended>();
        made->count = count;
        return made;
    }

    std::unique_ptr<nearcall::items<std::string>> lines(std::uint32_t letters) override {
        auto made = std::make_unique<Lines>();
        made->line = std::string(letters, 'x');
        return made;
    }

    std::unique_ptr<nearcall::taker<feeding::Row, std::uint32_t>>
    load(const std::string &name, std::uint32_t refused_key) override {
        if (name.empty()) {
            throw refused(-1);
        }
        auto made = std::make_unique<Load>();
        made->refused_key = refused_key;
        return made;
    }

    std::unique_ptr<nearcall::taker<std::uint32_t, std::uint64_t>> sum() override {
        return std::make_unique<Sum>();
    }

    std::unique_ptr<nearcall::taker<std::string, std::string>> joined() override {
        return std::make_unique<Joined>();
    }

    std::unique_ptr<nearcall::taker<std::uint8_t, void>> dropped() override {
        return std::make_unique<Dropped>();
    }

    std::int32_t alive() override { return alive_count; }
};

} // namespace

int main(int argc, char **argv) {
    CHECK(argc == 2);
    nearcall::domain domain;
    Feeder feeder;
    feeding::FeedingClerk clerk(domain, argv[1], feeder);
    until_input_ends();
    domain.shut_down();
    return 0;
}
