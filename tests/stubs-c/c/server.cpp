/* A server of cross.idl in C++: `server NAME` exports it until its standard input ends. */
#include <algorithm>
#include <atomic>


#include "check.h"
#include "serve.h"
#include "cross.hpp"

namespace cross = nearcall::idl::cross;

namespace {

class Tester : public cross::CrossServer {
    std::atomic<std::uint64_t> posted_{0};

    void null() override {}

    std::int32_t add(std::int32_t a, std::int32_t b) override {
        return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) +
                                         static_cast<std::uint32_t>(b));
    }

    cross::Color words(cross::Color color, bool yes, char letter, std::uint32_t wide, float ratio,
                       std::uint8_t &small, cross::Rights &rights, std::uint64_t &big) override {
        small = static_cast<std::uint8_t>(small + (yes ? 1 : 0));
        rights = static_cast<cross::Rights>(rights | cross_Rights_OWN);
        big = (static_cast<std::uint64_t>(wide) << 32) + static_cast<unsigned char>(letter);
        big += ratio >= 0 && ratio < 100 ? static_cast<std::uint64_t>(ratio * 2) : 0;
        return color == cross::Color::RED ? cross::Color::BLUE : cross::Color::RED;
    }

    std::string greet(const std::string &who) override {
        if (who == "nobody") {
            cross::Refused refused;
            refused.why = "not him";
            refused.code = 7;
            throw refused;
        }
        if (who == "gone") {
            throw cross::Gone();
        }
        return "hello, " + who;
    }

    cross::Numbers doubled(const cross::Numbers &numbers, cross::Octets &bytes,
                           std::string &text) override {
        cross::Numbers all;
        for (auto number : numbers) {
            all.push_back(static_cast<std::int32_t>(static_cast<std::uint32_t>(number) * 2u));
        }
        for (auto &byte : bytes) {
            byte ^= 0xff;
        }
        text += "!";
        return all;
    }

    cross::Point move(const cross::Point &point, const cross::Grid &grid,
                      cross::Grid &turned) override {
        for (std::size_t row = 0; row < 2; row++) {
            for (std::size_t column = 0; column < 3; column++) {
                turned[1 - row][2 - column] = grid[row][column];
            }
        }
        cross::Point moved;
        moved.x = point.x + 1;
        moved.y = point.y / 2;
        return moved;
    }

    cross::Person meet(const cross::Person &person, cross::Choice &choice) override {
        cross::Person met = person;
        for (auto &age : met.ages) {
            age.second++;
        }
        if (met.shoe) {
            ++*met.shoe;
        }
        met.choice = choice;
        choice._d = 2;
        choice._u.emplace<1>(22);
        return met;
    }

    cross::Tree grow(const cross::Tree &tree) override {
        cross::Tree grown;
        grown.value = tree.value + 1;
        grown.below.emplace_back();
        grown.below[0].value = static_cast<std::int32_t>(tree.below.size());
        return grown;
    }

    cross::Percent share(cross::Percent part, const std::vector<cross::Percent> &parts) override {
        for (auto one : parts) {
            part += one;
        }
        return part; /* over 100 is refused */
    }

    std::string change(const nearcall::opaque &data, nearcall::room &written) override {
        auto bytes = data.copy();
        std::reverse(bytes.begin(), bytes.end());
        CHECK(written.put(bytes.data(), bytes.size()));
        return "turned";
    }

    std::uint64_t weigh(const cross::Octets &data) override {
        std::uint64_t sum = 0;
        for (auto byte : data) {
            sum += byte;
        }
        return sum;
    }

    void post(std::uint32_t number) override { posted_ += number; }

    std::uint64_t posted() override { return posted_; }
};

} // namespace

int main(int argc, char **argv) {
    CHECK(argc == 2);
    nearcall::domain domain;
    Tester tester;
    {
        cross::CrossClerk clerk(domain, argv[1], tester);
        until_input_ends();
        domain.shut_down();
    }
    return 0;
}
