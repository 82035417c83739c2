/* A client of judging.idl in C++: as judge.c, of which it has less. */
#include "check.h"
#include "judging.hpp"

namespace judging = nearcall::idl::judging;

namespace {

/* More than one batch, of items of any type. */
constexpr int many = 600;

const judging::Color no_color = static_cast<judging::Color>(3);

/* What a call that its arguments forbid says of that. */
template <class F> std::string usage_of(F call) {
    try {
        call();
    } catch (const nearcall::call_error &error) {
        CHECK(error.outcome == NEARCALL_USAGE && error.ran == NEARCALL_RAN_NO);
        return error.what();
    }
    return "nothing";
}

template <class F> nearcall_outcome outcome_of(F call) {
    try {
        call();
    } catch (const nearcall::call_error &error) {
        return error.outcome;
    }
    return NEARCALL_RETURNED;
}

judging::Row row_of(judging::Color color, const char *name) {
    judging::Row row;
    row.key = 3;
    row.color = color;
    row.name = name;
    return row;
}

/* Puts an item between others, of which all come. `plainly` says of it what a call does. */
template <class S, class T>
void go(S sink, const T &good, const T &bad, const std::string &plainly, const std::string &told) {
    std::string wanted;
    CHECK(plainly != "nothing");
    for (int i = 0; i < many; i++) {
        CHECK(usage_of([&] { sink.put(bad); }) == plainly);
        sink.put(good);
        wanted += told;
    }
    CHECK(!sink.is_over() && sink.end() == wanted && sink.is_over());
}

void go(const judging::Judging &client) {
    const auto green = row_of(judging::Color::GREEN, "ab");
    for (const auto &bad : {row_of(no_color, "x"), row_of(judging::Color::RED, "xxxxx"),
                            row_of(judging::Color::RED, "x\xff")}) {
        go(client.rows_go(), green, bad, usage_of([&] { client.row(bad); }), "ab");
    }
    go(client.colors_go(), judging::Color::GREEN, no_color,
       usage_of([&] { client.color(no_color); }), "g");
    go(client.digits_go(), judging::Digit{9}, judging::Digit{10},
       usage_of([&] { client.digit(10); }), "9");
    const judging::Pair pair{1, 2}, bad_pair{1, -2};
    go(client.pairs_go(), pair, bad_pair, usage_of([&] { client.pair(bad_pair); }), "12");
    for (const std::string bad : {"wwwww", "w\xff"}) {
        go(client.words_go(), std::string("w"), bad, usage_of([&] { client.word(bad); }), "w");
    }
    judging::Tree good, bad;
    good.digit = 5;
    bad.digit = 0;
    bad.branches.push_back(good);
    go(client.trees_go(), good, bad, usage_of([&] { client.tree(bad); }), "5");
}

/* Two items, an error, and no more. */
template <class F> void come(F feed) {
    typename F::item item{};
    CHECK(feed.next(item) && feed.next(item));
    CHECK(outcome_of([&] { feed.next(item); }) == NEARCALL_RESULTS_REFUSED);
    CHECK(!feed.next(item));
}

bool is_same(const judging::Row &one, const judging::Row &other) {
    return one.key == other.key && one.color == other.color && one.name == other.name;
}
bool is_same(judging::Color one, judging::Color other) { return one == other; }
bool is_same(const std::string &one, const std::string &other) { return one == other; }

/* Puts an item beside one that comes back. */
template <class P, class T> void turn(P sides, const T &good, const T &bad, const char *said) {
    auto &sink = sides.first;
    auto &feed = sides.second;
    T item{};
    CHECK(usage_of([&] { sink.put(bad); }).find(said) != std::string::npos);
    sink.put(good);
    CHECK(usage_of([&] { sink.put(bad); }).find(said) != std::string::npos);
    sink.put(good);
    sink.end();
    CHECK(feed.next(item) && is_same(item, good));
    CHECK(feed.next(item) && is_same(item, good));
    CHECK(!feed.next(item));
}

} // namespace

int main(int argc, char **argv) {
    CHECK(argc == 2);
    nearcall::domain domain;
    {
        const judging::Judging client(domain, argv[1]);
        go(client);
        come(client.rows_come());
        come(client.colors_come());
        come(client.digits_come());
        come(client.words_come());
        turn(client.rows_turn(), row_of(judging::Color::RED, "turn"),
             row_of(judging::Color::RED, "xxxxx"), "name has 5 bytes or elements, its limit is 4");
        turn(client.colors_turn(), judging::Color::GREEN, no_color,
             "item is 3, allowed is RED (0) to BLUE (2)");
        turn(client.words_turn(), std::string("in"), std::string("w\xff"),
             "item is not UTF-8 at byte 1");
    }
    domain.shut_down();
    std::printf("%u checks\n", checks);
    return 0;
}
