/* The server of a self-test of talk, seed 1: `talk_selftest_server NAME`, the
 * same name on both sides. To build:
 *
 * cc -std=c11 -c talk.c talk_server.c $(pkg-config --cflags nearcall)
 * c++ -std=c++17 -pthread -o talk_selftest_server talk_selftest_server.cpp talk.o talk_server.o \
 *     $(pkg-config --cflags --libs nearcall)
 */
#include "talk_selftest.hpp"
#include <thread>

static selftest::check nc_check("server");

class nc_server_0 final : public ::nearcall::idl::talk::TalksServer {
  public:
    void lines(const ::std::string &room, ::nearcall::inlet<::std::string> nc_inlet, ::nearcall::outlet<::nearcall::idl::talk::Line> nc_outlet) override {
        switch (nc_check.round(0, 7)) {
        case 0: {
            nc_check.same("talk::Talks::lines", 0, "room", selftest::shown(room), "\"\077\"");
            ::std::vector<::nearcall::idl::talk::Line> items{};
            items.resize(3);
            items[0].text = selftest::repeated("", 0);
            items[0].number = 0;
            items[1].text = selftest::repeated("", 0);
            items[1].number = 35258;
            items[2].text = "\"%";
            items[2].number = 65535;
            std::thread([items = std::move(items), in = std::move(nc_inlet),
                         out = std::move(nc_outlet)]() mutable {
                ::std::vector<::std::string> sent{};
                try {
                    for (auto &item : in) {
                        sent.push_back(std::move(item));
                    }
                    nc_check.same("talk::Talks::lines", 0, "sent", selftest::shown(sent), "[\"Z\\5c\", \"\\5ca\", \"a%\"]");
                    for (const auto &item : items) {
                        out.put(item);
                    }
                    out.end();
                } catch (const nearcall::given_up &) {
                    /* The client has said what differs. */
                }
            }).detach();
            break;
        }
        case 1: {
            nc_check.same("talk::Talks::lines", 1, "room", selftest::shown(room), "\"\"");
            ::std::vector<::nearcall::idl::talk::Line> items{};
            std::thread([items = std::move(items), in = std::move(nc_inlet),
                         out = std::move(nc_outlet)]() mutable {
                ::std::vector<::std::string> sent{};
                try {
                    for (auto &item : in) {
                        sent.push_back(std::move(item));
                    }
                    nc_check.same("talk::Talks::lines", 1, "sent", selftest::shown(sent), "[]");
                    for (const auto &item : items) {
                        out.put(item);
                    }
                    out.end();
                } catch (const nearcall::given_up &) {
                    /* The client has said what differs. */
                }
            }).detach();
            break;
        }
        case 2: {
            nc_check.same("talk::Talks::lines", 2, "room", selftest::shown(room), "\"\\f0\\9f\\98\\80\\e2\\82\\acZ\\0a\\c3\\a9\\c3\\a9\\22\\f0\\9f\\98\\80\\e2\\82\\acZ\\0a\\c3\\a9\\c3\\a9\\22\\f0\\9f\\98\\80\\e2\\82\\... 402 bytes, hash 3a0fe491f54cd709");
            ::std::vector<::nearcall::idl::talk::Line> items{};
            items.resize(31);
            for (std::size_t nc_i5 = 0; nc_i5 < 31; nc_i5++) {
                switch (nc_i5 % 3) {
                case 0:
                    items[nc_i5].text = "\012Z";
                    items[nc_i5].number = 34478;
                    break;
                case 1:
                    items[nc_i5].text = "%";
                    items[nc_i5].number = 15983;
                    break;
                case 2:
                    items[nc_i5].text = selftest::repeated("", 0);
                    items[nc_i5].number = 0;
                    break;
                }
            }
            std::thread([items = std::move(items), in = std::move(nc_inlet),
                         out = std::move(nc_outlet)]() mutable {
                ::std::vector<::std::string> sent{};
                try {
                    for (auto &item : in) {
                        sent.push_back(std::move(item));
                    }
                    nc_check.same("talk::Talks::lines", 2, "sent", selftest::shown(sent), "[\"\\22\", \"\", \"\", \"\\22\", \"\", \"\", \"\\22\", \"\", \"\", \"\\22\", \"\", \"\", \"\\22\", \"\", \"\", \"\\22\", \"\", \"\", \"\\22\", \"\", \"\", \"\\22\", \"\", \"\", \"\\22\", \"\", \"\", \"\\22\", \"\", \"\", \"\\22\"]");
                    for (const auto &item : items) {
                        out.put(item);
                    }
                    out.end();
                } catch (const nearcall::given_up &) {
                    /* The client has said what differs. */
                }
            }).detach();
            break;
        }
        case 3: {
            nc_check.same("talk::Talks::lines", 3, "room", selftest::shown(room), "\"Z\\0a\\5c\\0a\\f0\\9f\\98\\80\\5c\077Z\\0a\\5c\\0a\\f0\\9f\\98\\80\\5c\077Z\\0a\\5c\\0a\\f0\\9f\\98\\80\\5c\077Z\\0a\\5c\\0a\\f0\\9f\\98\\8... 7802 bytes, hash af544bdfede9581d");
            ::std::vector<::nearcall::idl::talk::Line> items{};
            items.resize(63);
            for (std::size_t nc_i5 = 0; nc_i5 < 63; nc_i5++) {
                switch (nc_i5 % 3) {
                case 0:
                    items[nc_i5].text = " a";
                    items[nc_i5].number = 0;
                    break;
                case 1:
                    items[nc_i5].text = selftest::repeated("", 0);
                    items[nc_i5].number = 20918;
                    break;
                case 2:
                    items[nc_i5].text = selftest::repeated("", 0);
                    items[nc_i5].number = 0;
                    break;
                }
            }
            std::thread([items = std::move(items), in = std::move(nc_inlet),
                         out = std::move(nc_outlet)]() mutable {
                ::std::vector<::std::string> sent{};
                try {
                    for (auto &item : in) {
                        sent.push_back(std::move(item));
                    }
                    nc_check.same("talk::Talks::lines", 3, "sent", selftest::shown(sent), "[\"\077\\0a\", \"\\5c\", \"\\5c\", \"\077\\0a\", \"\\5c\", \"\\5c\", \"\077\\0a\", \"\\5c\", \"\\5c\", \"\077\\0a\", \"\\5c\", \"\\5c\", \"\077\\0a\", \"\\5... 462 bytes, hash f978f125d2c17e41");
                    for (const auto &item : items) {
                        out.put(item);
                    }
                    out.end();
                } catch (const nearcall::given_up &) {
                    /* The client has said what differs. */
                }
            }).detach();
            break;
        }
        case 4: {
            nc_check.same("talk::Talks::lines", 4, "room", selftest::shown(room), "\"\\0a\"");
            ::std::vector<::nearcall::idl::talk::Line> items{};
            items.resize(32);
            for (std::size_t nc_i5 = 0; nc_i5 < 32; nc_i5++) {
                switch (nc_i5 % 3) {
                case 0:
                    items[nc_i5].text = selftest::repeated("", 0);
                    items[nc_i5].number = 65535;
                    break;
                case 1:
                    items[nc_i5].text = selftest::repeated("", 0);
                    items[nc_i5].number = 0;
                    break;
                case 2:
                    items[nc_i5].text = selftest::repeated("", 0);
                    items[nc_i5].number = 2988;
                    break;
                }
            }
            std::thread([items = std::move(items), in = std::move(nc_inlet),
                         out = std::move(nc_outlet)]() mutable {
                ::std::vector<::std::string> sent{};
                try {
                    for (auto &item : in) {
                        sent.push_back(std::move(item));
                    }
                    nc_check.same("talk::Talks::lines", 4, "sent", selftest::shown(sent), "[\"\", \"a\077\", \"\077Z\", \"\", \"a\077\", \"\077Z\", \"\", \"a\077\", \"\077Z\", \"\", \"a\077\", \"\077Z\", \"\", \"a\077\", \"\077Z\", \"\", \"a\077\", \"\077Z\", \"\", \"a\077\", \"\077Z\", \"\", \"a\077\", \"\077Z\", \"\", \"a\077\", \"\077Z\", \"\", \"a\077\", \"\077Z\", \"\", \"a\077\"]");
                    for (const auto &item : items) {
                        out.put(item);
                    }
                    out.end();
                } catch (const nearcall::given_up &) {
                    /* The client has said what differs. */
                }
            }).detach();
            break;
        }
        case 5: {
            nc_check.same("talk::Talks::lines", 5, "room", selftest::shown(room), "\"\"");
            ::nearcall::idl::talk::Refused nc_raised;
            nc_raised.code = (-2147483647 - 1);
            throw nc_raised;
            break;
        }
        case 6: {
            nc_check.same("talk::Talks::lines", 6, "room", selftest::shown(room), "\"%\\5c\"");
            ::std::vector<::nearcall::idl::talk::Line> items{};
            items.resize(32);
            for (std::size_t nc_i5 = 0; nc_i5 < 32; nc_i5++) {
                switch (nc_i5 % 3) {
                case 0:
                    items[nc_i5].text = "\012%";
                    items[nc_i5].number = 0;
                    break;
                case 1:
                    items[nc_i5].text = "a";
                    items[nc_i5].number = 0;
                    break;
                case 2:
                    items[nc_i5].text = "a{";
                    items[nc_i5].number = 0;
                    break;
                }
            }
            std::thread([items = std::move(items), in = std::move(nc_inlet),
                         out = std::move(nc_outlet)]() mutable {
                ::std::vector<::std::string> sent{};
                try {
                    for (auto &item : in) {
                        sent.push_back(std::move(item));
                    }
                    nc_check.same("talk::Talks::lines", 6, "sent", selftest::shown(sent), "[\"\077\", \" \", \"\\22Z\", \"\077\", \" \", \"\\22Z\", \"\077\", \" \", \"\\22Z\", \"\077\", \" \", \"\\22Z\", \"\077\", \" \", \"\\22Z\", \"\077\", \" \", \"\\22Z\", \"\077\", \" \", \"\\22Z\", \"\077\", \" \", \"\\22Z\", \"\077\", \" \", \"\\22Z\", \"\077\", \" \", \"\\22Z\", \"\077\", \" \"]");
                    for (const auto &item : items) {
                        out.put(item);
                    }
                    ::nearcall::idl::talk::Refused nc_raised;
                    nc_raised.code = (-2147483647 - 1);
                    out.raise(nc_raised);
                } catch (const nearcall::given_up &) {
                    /* The client has said what differs. */
                }
            }).detach();
            break;
        }
        }
    }

    void octets(::nearcall::inlet<bool> nc_inlet, ::nearcall::outlet<uint8_t> nc_outlet) override {
        switch (nc_check.round(1, 5)) {
        case 0: {
            ::std::vector<uint8_t> items{};
            items.resize(3);
            items[0] = 255;
            items[1] = 0;
            items[2] = 0;
            std::thread([items = std::move(items), in = std::move(nc_inlet),
                         out = std::move(nc_outlet)]() mutable {
                ::std::vector<bool> sent{};
                try {
                    for (auto &item : in) {
                        sent.push_back(std::move(item));
                    }
                    nc_check.same("talk::Talks::octets", 0, "sent", selftest::shown(sent), "[true, true, false]");
                    for (const auto &item : items) {
                        out.put(item);
                    }
                    out.end();
                } catch (const nearcall::given_up &) {
                    /* The client has said what differs. */
                }
            }).detach();
            break;
        }
        case 1: {
            ::std::vector<uint8_t> items{};
            std::thread([items = std::move(items), in = std::move(nc_inlet),
                         out = std::move(nc_outlet)]() mutable {
                ::std::vector<bool> sent{};
                try {
                    for (auto &item : in) {
                        sent.push_back(std::move(item));
                    }
                    nc_check.same("talk::Talks::octets", 1, "sent", selftest::shown(sent), "[]");
                    for (const auto &item : items) {
                        out.put(item);
                    }
                    out.end();
                } catch (const nearcall::given_up &) {
                    /* The client has said what differs. */
                }
            }).detach();
            break;
        }
        case 2: {
            ::std::vector<uint8_t> items{};
            items.resize(1024);
            for (std::size_t nc_i5 = 0; nc_i5 < 1024; nc_i5++) {
                switch (nc_i5 % 7) {
                case 0:
                    items[nc_i5] = 0;
                    break;
                case 1:
                    items[nc_i5] = 21;
                    break;
                case 2:
                    items[nc_i5] = 255;
                    break;
                case 3:
                    items[nc_i5] = 255;
                    break;
                case 4:
                    items[nc_i5] = 193;
                    break;
                case 5:
                    items[nc_i5] = 103;
                    break;
                case 6:
                    items[nc_i5] = 0;
                    break;
                }
            }
            std::thread([items = std::move(items), in = std::move(nc_inlet),
                         out = std::move(nc_outlet)]() mutable {
                ::std::vector<bool> sent{};
                try {
                    for (auto &item : in) {
                        sent.push_back(std::move(item));
                    }
                    nc_check.same("talk::Talks::octets", 2, "sent", selftest::shown(sent), "[true, true, true, true, true, false, false, true, true, true, true, true, false, false, true, true,... 6436 bytes, hash cd6b76f04dbe0779");
                    for (const auto &item : items) {
                        out.put(item);
                    }
                    out.end();
                } catch (const nearcall::given_up &) {
                    /* The client has said what differs. */
                }
            }).detach();
            break;
        }
        case 3: {
            ::std::vector<uint8_t> items{};
            items.resize(2049);
            for (std::size_t nc_i5 = 0; nc_i5 < 2049; nc_i5++) {
                switch (nc_i5 % 7) {
                case 0:
                    items[nc_i5] = 0;
                    break;
                case 1:
                    items[nc_i5] = 0;
                    break;
                case 2:
                    items[nc_i5] = 72;
                    break;
                case 3:
                    items[nc_i5] = 4;
                    break;
                case 4:
                    items[nc_i5] = 0;
                    break;
                case 5:
                    items[nc_i5] = 65;
                    break;
                case 6:
                    items[nc_i5] = 0;
                    break;
                }
            }
            std::thread([items = std::move(items), in = std::move(nc_inlet),
                         out = std::move(nc_outlet)]() mutable {
                ::std::vector<bool> sent{};
                try {
                    for (auto &item : in) {
                        sent.push_back(std::move(item));
                    }
                    nc_check.same("talk::Talks::octets", 3, "sent", selftest::shown(sent), "[false, false, true, true, true, true, false, false, false, true, true, true, true, false, false, fa... 13172 bytes, hash 67b74ba32aa4fab7");
                    for (const auto &item : items) {
                        out.put(item);
                    }
                    out.end();
                } catch (const nearcall::given_up &) {
                    /* The client has said what differs. */
                }
            }).detach();
            break;
        }
        case 4: {
            ::std::vector<uint8_t> items{};
            items.resize(1025);
            for (std::size_t nc_i5 = 0; nc_i5 < 1025; nc_i5++) {
                switch (nc_i5 % 7) {
                case 0:
                    items[nc_i5] = 219;
                    break;
                case 1:
                    items[nc_i5] = 246;
                    break;
                case 2:
                    items[nc_i5] = 0;
                    break;
                case 3:
                    items[nc_i5] = 19;
                    break;
                case 4:
                    items[nc_i5] = 3;
                    break;
                case 5:
                    items[nc_i5] = 0;
                    break;
                case 6:
                    items[nc_i5] = 0;
                    break;
                }
            }
            std::thread([items = std::move(items), in = std::move(nc_inlet),
                         out = std::move(nc_outlet)]() mutable {
                ::std::vector<bool> sent{};
                try {
                    for (auto &item : in) {
                        sent.push_back(std::move(item));
                    }
                    nc_check.same("talk::Talks::octets", 4, "sent", selftest::shown(sent), "[true, false, false, true, true, true, false, true, false, false, true, true, true, false, true, fal... 6590 bytes, hash d174b30314a6c4c5");
                    for (const auto &item : items) {
                        out.put(item);
                    }
                    out.end();
                } catch (const nearcall::given_up &) {
                    /* The client has said what differs. */
                }
            }).detach();
            break;
        }
        }
    }

};

int main(int argc, char **argv) try {
    const std::string name = argv[argc - 1];
    nearcall::domain domain;
    nc_server_0 server_0;
    ::nearcall::idl::talk::TalksClerk clerk_0(domain, name + "-0", server_0);
    std::puts("ready");
    std::fflush(stdout);
    selftest::rest();
    nc_check.wait(12);
    domain.shut_down();
    return nc_check.end(12);
} catch (const std::exception &error) {
    std::fprintf(stderr, "server: %s\n", error.what());
    return 1;
}
