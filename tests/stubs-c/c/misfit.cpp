// Results and items that do not fit C, of servers that reply at once and later, are refused by name.
#include <cstdio>
#include <memory>
#include <string>

#include "check.h"
#include "misfit.hpp"
#include "refused.hpp"

namespace {

namespace misfit = nearcall::idl::misfit;
using nearcall::answer;

const std::string cut("a\0b", 3);

misfit::Either other() {
    misfit::Either either;
    either._d = true;
    either._u.emplace<2>(std::uint8_t{'b'});
    return either;
}

struct Lines : nearcall::items<std::string> {
    bool next(std::string &item) override {
        item = cut;
        return true;
    }
};

struct Joined : nearcall::taker<std::string, std::string> {
    void take(const std::string &) override {}
    std::string end() override { return cut; }
};

// Why an item that a procedure puts is refused.
std::string put_by_server;

void put(nearcall::outlet<std::string> &outlet) {
    try {
        outlet.put(cut);
    } catch (const nearcall::call_error &error) {
        CHECK(error.outcome == NEARCALL_USAGE);
        put_by_server = error.what();
    }
}

// Of either kind of server.
template <class Server> struct Feeds : Server {
    std::unique_ptr<nearcall::items<std::string>> lines() override {
        return std::make_unique<Lines>();
    }
    std::unique_ptr<nearcall::taker<std::string, std::string>> joined() override {
        return std::make_unique<Joined>();
    }
    void echo(nearcall::inlet<std::string>, nearcall::outlet<std::string> outlet) override {
        put(outlet);
    }
};

struct AtOnce : Feeds<misfit::MisfitServer> {
    std::string returned() override { return cut; }
    void beside(std::string &kept, std::string &text) override {
        kept = "kept";
        text = cut;
    }
    void changed(std::string &text) override { text = cut; }
    misfit::Either chosen() override { return other(); }
    void raised() override { throw misfit::Refused(cut); }
};

struct Later : Feeds<misfit::MisfitAsyncServer> {
    void returned(answer<std::string> &&reply) override { reply(cut); }
    void beside(answer<std::string, std::string> &&reply) override { reply("kept", cut); }
    void changed(std::string, answer<std::string> &&reply) override { reply(cut); }
    void chosen(answer<misfit::Either> &&reply) override { reply(other()); }
    void raised(answer<> &&reply) override { reply.raise(misfit::Refused(cut)); }
};

template <class F> void is_refused(F call) {
    try {
        call();
        CHECK(false);
    } catch (const nearcall::call_error &error) {
        CHECK(error.outcome == NEARCALL_RESULTS_REFUSED);
    }
}

void call(const misfit::Misfit &client) {
    std::string text, other_text;
    is_refused([&] { client.returned(); });
    is_refused([&] { client.beside(text, other_text); });
    is_refused([&] { client.changed(text); });
    is_refused([&] { client.chosen(); });
    is_refused([&] { client.raised(); });
    is_refused([&] { client.lines().next(text); });
    auto sink = client.joined();
    CHECK(why_refused([&] { sink.put(cut); }) == "item: text has a NUL at byte 1");
    sink.put("fits");
    is_refused([&] { sink.end(); });
    auto sides = client.echo();
    CHECK(put_by_server == "item: text has a NUL at byte 1");
    put_by_server.clear();
    CHECK(why_refused([&] { sides.first.put(cut); }) == "item: text has a NUL at byte 1");
}

} // namespace

int main() {
    nearcall::domain domain;
    AtOnce at_once;
    Later later;
    misfit::MisfitClerk clerk(domain, "at-once", at_once);
    misfit::MisfitAsyncClerk async_clerk(domain, "later", later);
    nearcall::orderly_end end(domain);
    call(misfit::Misfit(domain, "at-once"));
    call(misfit::Misfit(domain, "later"));
    std::puts("done");
}
