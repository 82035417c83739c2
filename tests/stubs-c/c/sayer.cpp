// What exceptions of interfaces say of themselves to a handler that knows none of them.
#include <string>
#include <thread>

#include "check.h"
#include "saying.hpp"

namespace saying = nearcall::idl::saying;

namespace {

struct Sayer : saying::SayerServer {
    void corrupt(const std::string &why) override { throw saying::Corrupt(why, 17); }
    void strange() override { throw saying::Corrupt("not declared", 3); }
};

// What a call says that fails.
template <class F> std::string said(F call) {
    try {
        call();
    } catch (const std::exception &error) {
        return error.what();
    }
    return "nothing";
}

std::string said_of(const saying::Sayer &client, const std::string &why) {
    const std::string all = said([&] { client.corrupt(why); });
    const std::string before = "saying::Corrupt: why = ", behind = ", at = 17";
    CHECK(all.compare(0, before.size(), before) == 0);
    CHECK(all.size() > before.size() + behind.size());
    CHECK(all.compare(all.size() - behind.size(), behind.size(), behind) == 0);
    return all.substr(before.size(), all.size() - before.size() - behind.size());
}

void raised(const saying::Sayer &client) {
    CHECK(said([&] { client.corrupt("bad header"); }) ==
          "saying::Corrupt: why = \"bad header\", at = 17");
    CHECK(said_of(client, "two\nlines\x7f") == "\"two\\x0alines\\x7f\"");
    /* Nor ends what is said of it, a line of another alphabet, or what a terminal heeds. */
    CHECK(said_of(client, "\", at = 7\\") == "\"\\x22, at = 7\\x5c\"");
    CHECK(said_of(client, "a\xc2\x85z\xe2\x80\xa8\xc2\xa0") ==
          "\"a\\xc2\\x85z\\xe2\\x80\\xa8\xc2\xa0\"");
    CHECK(said_of(client, std::string(200, 'a')) == '"' + std::string(200, 'a') + '"');
    CHECK(said_of(client, std::string(1 << 20, 'a')) == '"' + std::string(200, 'a') + "\"...");
    // A character of three bytes would be cut in its middle.
    const std::string euro = "\u20ac";
    CHECK(said_of(client, std::string(199, 'a') + euro) == '"' + std::string(199, 'a') + "\"...");
    CHECK(said_of(client, std::string(197, 'a') + euro) ==
          '"' + std::string(197, 'a') + euro + '"');
}

void members() {
    saying::All all;
    all.kind = saying::Kind::LARGE;
    all.is_known = true;
    all.small = 200;
    all.letter = 'x';
    all.far = INT64_MIN;
    all.ratio = 0.1f;
    all.exact = 0.1;
    all.place.line = 5;
    all.rest = {1, 2};
    const std::string known = "saying::All: kind = LARGE, is_known = true, small = 200, "
                              "letter = 'x', far = -9223372036854775808, ratio = 0.1, exact = 0.1";
    CHECK(all.what() == known);
    // Asked anew where a copy has other members.
    saying::All other = all;
    other.more = "more";
    other.other = static_cast<saying::Kind>(5);
    CHECK(other.what() == known + ", more = \"more\", other = 5");
    CHECK(all.what() == known);
    all = other;
    CHECK(all.what() == known + ", more = \"more\", other = 5");
    // As they were when it was asked first: what it has returned is still there.
    const char *first = all.what();
    all.more = "changed";
    CHECK(all.what() == first);
    CHECK(saying::Placed().what() == std::string("saying::Placed"));
    CHECK(saying::Bare().what() == std::string("saying::Bare"));
}

// Threads may hold one exception, and ask it at once.
void threads() {
    const auto shared = std::make_exception_ptr(saying::Corrupt("shared", 1));
    const char *asked[4] = {};
    {
        std::vector<std::thread> all;
        for (const char *&one : asked) {
            all.emplace_back([&one, shared] {
                try {
                    std::rethrow_exception(shared);
                } catch (const std::exception &error) {
                    one = error.what();
                }
            });
        }
        for (std::thread &one : all) {
            one.join();
        }
    }
    for (const char *one : asked) {
        CHECK(one == std::string("saying::Corrupt: why = \"shared\", at = 1"));
    }
}

// To make one more of an exception without text allocates nothing, as ever.
static_assert(std::is_nothrow_copy_constructible<saying::Numbers>::value, "");
static_assert(std::is_nothrow_move_constructible<saying::Corrupt>::value, "");
static_assert(std::is_nothrow_copy_assignable<saying::Numbers>::value, "");

} // namespace

int main() {
    nearcall::domain domain;
    Sayer sayer;
    saying::SayerClerk clerk(domain, "sayer", sayer);
    nearcall::orderly_end end(domain);
    const saying::Sayer client(domain, "sayer");
    raised(client);
    members();
    threads();
    CHECK(said([&] { client.strange(); }).find("panicked") != std::string::npos);
    std::puts("done");
}
