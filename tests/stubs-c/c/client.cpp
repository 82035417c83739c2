/* A client of cross.idl in C++: `client NAME` calls everything and looks at what comes back. */
#include "check.h"
#include "cross.hpp"
#include "refused.hpp"

namespace cross = nearcall::idl::cross;

namespace {

/* The outcome of a call that fails. */
template <class F> nearcall_outcome outcome_of(F call) {
    try {
        call();
    } catch (const nearcall::call_error &error) {
        return error.outcome;
    }
    return NEARCALL_RETURNED;
}

void words(const cross::Cross &client) {
    std::uint8_t small = 41;
    cross::Rights rights = cross_Rights_READ;
    std::uint64_t big = 0;
    auto color = client.words(cross::Color::RED, true, 'a', 0x20ac, 1.5f, small, rights, big);
    CHECK(color == cross::Color::BLUE);
    CHECK(small == 42 && rights == (cross_Rights_READ | cross_Rights_OWN));
    CHECK(big == (0x20acull << 32) + 'a' + 3);
    CHECK(outcome_of([&] {
              client.words(static_cast<cross::Color>(3), true, 'a', 65, 1, small, rights, big);
          }) == NEARCALL_USAGE);
}

/* What an error was assigned that came behind another one says why it came, as one of C's does. */
void reasons(const cross::Cross &client, const std::string &cut, const cross::Person &person) {
    std::optional<nearcall::call_error> last;
    const auto keep = [&](auto &&call) {
        try {
            call();
            CHECK(false);
        } catch (const nearcall::call_error &error) {
            last = error;
        }
    };
    keep([&] { client.greet("longer than sixteen"); });
    CHECK(last->outcome == NEARCALL_USAGE && last->reason() == nearcall::reason::over_bound);
    keep([&] { client.greet(cut); });
    CHECK(last->outcome == NEARCALL_USAGE && last->reason() == nearcall::reason::text);
    cross::Choice choice;
    keep([&] { client.greet("longer than sixteen"); });
    keep([&] { client.meet(person, choice); });
    CHECK(last->reason() == nearcall::reason::text && last->ran == NEARCALL_RAN_NO);
}

void texts(const cross::Cross &client) {
    CHECK(client.greet("world") == "hello, world");
    bool is_refused = false;
    try {
        client.greet("nobody");
    } catch (const cross::Refused &refused) {
        is_refused = refused.why == "not him" && refused.code == 7;
    }
    CHECK(is_refused);
    bool is_gone = false;
    try {
        client.greet("gone");
    } catch (const nearcall::exception &gone) {
        is_gone = std::string(gone.what()) == "cross::Gone";
    }
    CHECK(is_gone);
    CHECK(outcome_of([&] { client.greet("longer than sixteen"); }) == NEARCALL_USAGE);
    const std::string cut("a\0b", 3);
    CHECK(why_refused([&] { client.greet(cut); }) == "who: text has a NUL at byte 1");
    cross::Octets bytes;
    std::string text = cut;
    CHECK(why_refused([&] { client.doubled({}, bytes, text); }) ==
          "text: text has a NUL at byte 1");
    cross::Person person;
    person.others = {"b", cut};
    cross::Choice choice;
    CHECK(why_refused([&] { client.meet(person, choice); }) ==
          "person: text has a NUL at byte 1");
    reasons(client, cut, person);
}

void sequences(const cross::Cross &client) {
    cross::Octets bytes{0, 0xf0};
    std::string text = "what";
    auto all = client.doubled({1, -2, 1 << 30}, bytes, text);
    CHECK((all == cross::Numbers{2, -4, INT32_MIN}));
    CHECK((bytes == cross::Octets{0xff, 0x0f}) && text == "what!");
    CHECK(outcome_of([&] { client.doubled(cross::Numbers(1001), bytes, text); }) ==
          NEARCALL_USAGE);
}

void values(const cross::Cross &client) {
    cross::Point point;
    point.x = 1;
    point.y = 5;
    cross::Grid grid{{{{1, 2, 3}}, {{4, 5, 6}}}};
    cross::Grid turned{};
    point = client.move(point, grid, turned);
    CHECK(point.x == 2 && point.y > 2.4 && point.y < 2.6);
    CHECK(turned[0][0] == 6 && turned[1][2] == 1);
    cross::Person person;
    person.name = "a";
    person.others = {"b", "\xc3\xa9"};
    person.ages["b"] = 41;
    person.shoe = 44;
    person.choice._d = -1;
    person.choice._u.emplace<3>(0.5);
    person.color = cross::Color::BLUE;
    cross::Choice choice;
    choice._d = 3;
    choice._u.emplace<2>("three");
    auto met = client.meet(person, choice);
    CHECK(met.name == "a" && met.others == person.others && met.ages["b"] == 42);
    CHECK(met.shoe == 45 && met.color == cross::Color::BLUE);
    CHECK(met.choice._d == 3 && std::get<2>(met.choice._u) == "three");
    CHECK(choice._d == 2 && std::get<1>(choice._u) == 22);
    choice._d = 3;
    CHECK(outcome_of([&] { client.meet(person, choice); }) == NEARCALL_USAGE);
    cross::Tree tree;
    tree.value = 7;
    tree.below.resize(2);
    auto grown = client.grow(tree);
    CHECK(grown.value == 8 && grown.below.size() == 1 && grown.below[0].value == 2);
}

void limits(const cross::Cross &client) {
    CHECK(client.share(50, {20, 30}) == 100);
    CHECK(outcome_of([&] { client.share(101, {}); }) == NEARCALL_USAGE);
    CHECK(outcome_of([&] { client.share(50, {31, 30}); }) == NEARCALL_RESULTS_REFUSED);
    cross::Octets data(3u << 20, 1);
    CHECK(client.weigh(data) == data.size());
    cross::Octets written;
    CHECK(client.change({'a', 'b', 'c'}, written) == "turned");
    CHECK((written == cross::Octets{'c', 'b', 'a'}));
    const auto before = client.posted();
    client.post(5);
    while (client.posted() != before + 5) {
    }
}

} // namespace

int main(int argc, char **argv) {
    CHECK(argc == 2);
    nearcall::domain domain;
    CHECK(outcome_of([&] { cross::Cross(domain, "no/such/name"); }) == NEARCALL_NOT_BOUND);
    {
        cross::Cross client(domain, argv[1]);
        client.null();
        CHECK(client.add(2, -3) == -1);
        words(client);
        texts(client);
        sequences(client);
        values(client);
        limits(client);
    }
    domain.shut_down();
    printf("%u checks\n", checks);
    return 0;
}
