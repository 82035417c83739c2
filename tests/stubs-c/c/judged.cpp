/* A server of judging.idl in C++: exports it until its standard input ends. Makes items that their
 * types refuse, among others. */
#include <thread>

#include "check.h"
#include "judging.hpp"
#include "serve.h"

namespace judging = nearcall::idl::judging;

namespace {

using judging::Color;
using judging::Digit;
using judging::Pair;
using judging::Row;
using judging::Tree;

const Color no_color = static_cast<Color>(3);

/* What came, as letters. */
std::string letters(const Row &row) { return row.name; }
std::string letters(const Color &color) { return color == Color::RED ? "r" : "g"; }
std::string letters(const Digit &digit) { return std::to_string(digit); }
std::string letters(const Pair &pair) { return letters(pair[0]) + letters(pair[1]); }
std::string letters(const std::string &word) { return word; }
std::string letters(const Tree &tree) { return letters(tree.digit); }

template <class T> struct Taker : nearcall::taker<T, std::string> {
    std::string heard;

    void take(const T &item) override { heard += letters(item); }
    std::string end() override { return heard; }
};

/* Two, and one that is refused. */
template <class T> struct Items : nearcall::items<T> {
    T good, bad;
    unsigned count = 0;

    Items(T good, T bad) : good(std::move(good)), bad(std::move(bad)) {}

    bool next(T &item) override {
        CHECK(count < 3);
        item = count++ == 2 ? bad : good;
        if constexpr (std::is_same_v<T, Row>) {
            item.key = count - 1;
        }
        return true;
    }
};

Row row_of(Color color, const char *name) {
    Row row;
    row.color = color;
    row.name = name;
    return row;
}

/* Before each that came one that is refused, on a thread. */
template <class T>
void turn(nearcall::inlet<T> inlet, nearcall::outlet<T> outlet, const T &bad, const char *said) {
    std::thread([in = std::move(inlet), out = std::move(outlet), bad, said]() mutable {
        for (auto &item : in) {
            std::string why;
            try {
                out.put(bad);
            } catch (const nearcall::call_error &error) {
                CHECK(error.outcome == NEARCALL_USAGE);
                why = error.what();
            }
            CHECK(why.find(said) != std::string::npos);
            out.put(item);
        }
        out.end();
    }).detach();
}

struct Judged : judging::JudgingServer {
    void row(const Row &) override {}
    void color(Color) override {}
    void digit(Digit) override {}
    void pair(const Pair &) override {}
    void word(const std::string &) override {}
    void tree(const Tree &) override {}

    template <class T> using taking = std::unique_ptr<nearcall::taker<T, std::string>>;
    template <class T> using coming = std::unique_ptr<nearcall::items<T>>;

    taking<Row> rows_go() override { return std::make_unique<Taker<Row>>(); }
    taking<Color> colors_go() override { return std::make_unique<Taker<Color>>(); }
    taking<Digit> digits_go() override { return std::make_unique<Taker<Digit>>(); }
    taking<Pair> pairs_go() override { return std::make_unique<Taker<Pair>>(); }
    taking<std::string> words_go() override { return std::make_unique<Taker<std::string>>(); }
    taking<Tree> trees_go() override { return std::make_unique<Taker<Tree>>(); }

    coming<Row> rows_come() override {
        return std::make_unique<Items<Row>>(row_of(Color::RED, "row"), row_of(no_color, "bad"));
    }
    coming<Color> colors_come() override {
        return std::make_unique<Items<Color>>(Color::GREEN, no_color);
    }
    coming<Digit> digits_come() override { return std::make_unique<Items<Digit>>(7, 10); }
    coming<std::string> words_come() override {
        return std::make_unique<Items<std::string>>("word", "too long");
    }

    void rows_turn(nearcall::inlet<Row> inlet, nearcall::outlet<Row> outlet) override {
        turn(std::move(inlet), std::move(outlet), row_of(no_color, "bad"),
             "color is 3, allowed is RED (0) to BLUE (2)");
    }
    void colors_turn(nearcall::inlet<Color> inlet, nearcall::outlet<Color> outlet) override {
        turn(std::move(inlet), std::move(outlet), no_color,
             "item is 3, allowed is RED (0) to BLUE (2)");
    }
    void words_turn(nearcall::inlet<std::string> inlet,
                    nearcall::outlet<std::string> outlet) override {
        turn(std::move(inlet), std::move(outlet), std::string("w\xff"),
             "item is not UTF-8 at byte 1");
    }
};

} // namespace

int main(int argc, char **argv) {
    CHECK(argc == 2);
    nearcall::domain domain;
    Judged judged;
    judging::JudgingClerk clerk(domain, argv[1], judged);
    nearcall::orderly_end end(domain);
    until_input_ends();
    return 0;
}
