/* The server of a self-test of drip, seed 1: `drip_selftest_server NAME`, the
 * same name on both sides. To build:
 *
 * cc -std=c11 -c drip.c drip_server.c $(pkg-config --cflags nearcall)
 * c++ -std=c++17 -o drip_selftest_server drip_selftest_server.cpp drip.o drip_server.o \
 *     $(pkg-config --cflags --libs nearcall)
 */
#include "drip_selftest.hpp"

static selftest::check nc_check("server");

class nc_feed_0 final : public nearcall::items<::nearcall::idl::drip::Drop> {
  public:
    explicit nc_feed_0(unsigned round) : round_(round) {}
    ::std::vector<::nearcall::idl::drip::Drop> items{};
    bool next(::nearcall::idl::drip::Drop &item) override {
        if (at_ < items.size()) {
            item = items[at_++];
            return true;
        }
        switch (round_) {
        case 6: {
            ::nearcall::idl::drip::Dry nc_raised;
            nc_raised.left = (-2147483647 - 1);
            throw nc_raised;
        }
        default:
            return false;
        }
    }
  private:
    std::size_t at_ = 0;
    unsigned round_;
};

class nc_feed_1 final : public nearcall::taker<::nearcall::idl::drip::Drop, uint32_t> {
  public:
    explicit nc_feed_1(unsigned round) : round_(round) {}
    ::std::vector<::nearcall::idl::drip::Drop> items{};
    void take(const ::nearcall::idl::drip::Drop &item) override { items.push_back(item); }
    uint32_t end() override {
        uint32_t nc_returned{};
        switch (round_) {
        case 0: {
            nc_check.same("drip::Drip::into", 0, "items", selftest::shown(items), "[{size: 255, colour: \"Z\"}, {size: 46, colour: \"\"}, {size: 0, colour: \"\"}]");
            nc_returned = INT64_C(3723484662);
            break;
        }
        case 1: {
            nc_check.same("drip::Drip::into", 1, "items", selftest::shown(items), "[]");
            nc_returned = 0;
            break;
        }
        case 2: {
            nc_check.same("drip::Drip::into", 2, "items", selftest::shown(items), "[{size: 0, colour: \"\"}, {size: 0, colour: \"\\0a\"}, {size: 183, colour: \"\\0a\\22\"}, {size: 0, colour: \"... 823 bytes, hash b57c0017388bb628");
            nc_returned = 2026696102;
            break;
        }
        case 3: {
            nc_check.same("drip::Drip::into", 3, "items", selftest::shown(items), "[{size: 0, colour: \"{\"}, {size: 255, colour: \"\\22\077\"}, {size: 233, colour: \"\"}, {size: 0, colour: \"{\"... 1638 bytes, hash 0d8538ca8e83b664");
            nc_returned = 619051670;
            break;
        }
        case 4: {
            nc_check.same("drip::Drip::into", 4, "items", selftest::shown(items), "[{size: 255, colour: \"\\22\"}, {size: 0, colour: \"\"}, {size: 152, colour: \"\077\\5c\"}, {size: 255, colour:... 851 bytes, hash 3dc3f59e399ba183");
            nc_returned = 916027678;
            break;
        }
        case 6: {
            nc_check.same("drip::Drip::into", 6, "items", selftest::shown(items), "[{size: 61, colour: \"a%\"}, {size: 0, colour: \" {\"}, {size: 132, colour: \"\"}, {size: 61, colour: \"a%\"... 811 bytes, hash 2e71c52dde7c18ed");
            ::nearcall::idl::drip::Dry nc_raised;
            nc_raised.left = 718462058;
            throw nc_raised;
            break;
        }
        }
        return nc_returned;
    }
  private:
    unsigned round_;
};

class nc_server_0 final : public ::nearcall::idl::drip::DripServer {
  public:
    ::std::unique_ptr<::nearcall::items<::nearcall::idl::drip::Drop>> out_of(const ::std::string &tap) override {
        ::std::unique_ptr<::nearcall::items<::nearcall::idl::drip::Drop>> nc_returned{};
        switch (nc_check.round(0, 7)) {
        case 0: {
            nc_check.same("drip::Drip::out_of", 0, "tap", selftest::shown(tap), "\"\077\"");
            auto nc_feed = std::make_unique<nc_feed_0>(0);
            nc_feed->items.resize(3);
            nc_feed->items[0].size = 254;
            nc_feed->items[0].colour = "\\";
            nc_feed->items[1].size = 172;
            nc_feed->items[1].colour = "Z";
            nc_feed->items[2].size = 12;
            nc_feed->items[2].colour = selftest::repeated("", 0);
            nc_returned = std::move(nc_feed);
            break;
        }
        case 1: {
            nc_check.same("drip::Drip::out_of", 1, "tap", selftest::shown(tap), "\"\"");
            auto nc_feed = std::make_unique<nc_feed_0>(1);
            nc_returned = std::move(nc_feed);
            break;
        }
        case 2: {
            nc_check.same("drip::Drip::out_of", 2, "tap", selftest::shown(tap), "\"\\f0\\9f\\98\\80{\\22%\\e2\\82\\ac a\\f0\\9f\\98\\80{\\22%\\e2\\82\\ac a\\f0\\9f\\98\\80{\\22%\\e2\\82\\ac a\\f0\\9f\\98\\80{\\2... 338 bytes, hash 6146c800f2968edd");
            auto nc_feed = std::make_unique<nc_feed_0>(2);
            nc_feed->items.resize(31);
            for (std::size_t nc_i14 = 0; nc_i14 < 31; nc_i14++) {
                switch (nc_i14 % 3) {
                case 0:
                    nc_feed->items[nc_i14].size = 0;
                    nc_feed->items[nc_i14].colour = selftest::repeated("", 0);
                    break;
                case 1:
                    nc_feed->items[nc_i14].size = 14;
                    nc_feed->items[nc_i14].colour = "Z\012";
                    break;
                case 2:
                    nc_feed->items[nc_i14].size = 121;
                    nc_feed->items[nc_i14].colour = selftest::repeated("", 0);
                    break;
                }
            }
            nc_returned = std::move(nc_feed);
            break;
        }
        case 3: {
            nc_check.same("drip::Drip::out_of", 3, "tap", selftest::shown(tap), "\"%\077\\0a\\c3\\a9{\\f0\\9f\\98\\80\\e2\\82\\ac%\077\\0a\\c3\\a9{\\f0\\9f\\98\\80\\e2\\82\\ac%\077\\0a\\c3\\a9{\\f0\\9f\\98\\80\\e2\\82\\ac... 7592 bytes, hash ab9d48ce18ece797");
            auto nc_feed = std::make_unique<nc_feed_0>(3);
            nc_feed->items.resize(63);
            for (std::size_t nc_i14 = 0; nc_i14 < 63; nc_i14++) {
                switch (nc_i14 % 3) {
                case 0:
                    nc_feed->items[nc_i14].size = 111;
                    nc_feed->items[nc_i14].colour = selftest::repeated("", 0);
                    break;
                case 1:
                    nc_feed->items[nc_i14].size = 0;
                    nc_feed->items[nc_i14].colour = selftest::repeated("", 0);
                    break;
                case 2:
                    nc_feed->items[nc_i14].size = 255;
                    nc_feed->items[nc_i14].colour = " ";
                    break;
                }
            }
            nc_returned = std::move(nc_feed);
            break;
        }
        case 4: {
            nc_check.same("drip::Drip::out_of", 4, "tap", selftest::shown(tap), "\"\"");
            auto nc_feed = std::make_unique<nc_feed_0>(4);
            nc_feed->items.resize(32);
            for (std::size_t nc_i14 = 0; nc_i14 < 32; nc_i14++) {
                switch (nc_i14 % 3) {
                case 0:
                    nc_feed->items[nc_i14].size = 4;
                    nc_feed->items[nc_i14].colour = "\012";
                    break;
                case 1:
                    nc_feed->items[nc_i14].size = 0;
                    nc_feed->items[nc_i14].colour = selftest::repeated("", 0);
                    break;
                case 2:
                    nc_feed->items[nc_i14].size = 156;
                    nc_feed->items[nc_i14].colour = "\077";
                    break;
                }
            }
            nc_returned = std::move(nc_feed);
            break;
        }
        case 5: {
            nc_check.same("drip::Drip::out_of", 5, "tap", selftest::shown(tap), "\"\\0a\"");
            ::nearcall::idl::drip::Dry nc_raised;
            nc_raised.left = 0;
            throw nc_raised;
            break;
        }
        case 6: {
            nc_check.same("drip::Drip::out_of", 6, "tap", selftest::shown(tap), "\"\\5c%\"");
            auto nc_feed = std::make_unique<nc_feed_0>(6);
            nc_feed->items.resize(32);
            for (std::size_t nc_i14 = 0; nc_i14 < 32; nc_i14++) {
                switch (nc_i14 % 3) {
                case 0:
                    nc_feed->items[nc_i14].size = 224;
                    nc_feed->items[nc_i14].colour = "{\\";
                    break;
                case 1:
                    nc_feed->items[nc_i14].size = 216;
                    nc_feed->items[nc_i14].colour = "Z";
                    break;
                case 2:
                    nc_feed->items[nc_i14].size = 255;
                    nc_feed->items[nc_i14].colour = "\012";
                    break;
                }
            }
            nc_returned = std::move(nc_feed);
            break;
        }
        }
        return nc_returned;
    }

    ::std::unique_ptr<::nearcall::taker<::nearcall::idl::drip::Drop, uint32_t>> into(const ::std::string &tap) override {
        ::std::unique_ptr<::nearcall::taker<::nearcall::idl::drip::Drop, uint32_t>> nc_returned{};
        switch (nc_check.round(1, 7)) {
        case 0: {
            nc_check.same("drip::Drip::into", 0, "tap", selftest::shown(tap), "\"\077\"");
            auto nc_feed = std::make_unique<nc_feed_1>(0);
            nc_returned = std::move(nc_feed);
            break;
        }
        case 1: {
            nc_check.same("drip::Drip::into", 1, "tap", selftest::shown(tap), "\"\"");
            auto nc_feed = std::make_unique<nc_feed_1>(1);
            nc_returned = std::move(nc_feed);
            break;
        }
        case 2: {
            nc_check.same("drip::Drip::into", 2, "tap", selftest::shown(tap), "\"\\22\\0a\\f0\\9f\\98\\80\\e2\\82\\ac%%\\c3\\a9\\22\\0a\\f0\\9f\\98\\80\\e2\\82\\ac%%\\c3\\a9\\22\\0a\\f0\\9f\\98\\80\\e2\\82\\ac%%... 387 bytes, hash d83b04df5051abef");
            auto nc_feed = std::make_unique<nc_feed_1>(2);
            nc_returned = std::move(nc_feed);
            break;
        }
        case 3: {
            nc_check.same("drip::Drip::into", 3, "tap", selftest::shown(tap), "\"\\e2\\82\\ac\\c3\\a9%a%\\f0\\9f\\98\\80a\\e2\\82\\ac\\c3\\a9%a%\\f0\\9f\\98\\80a\\e2\\82\\ac\\c3\\a9%a%\\f0\\9f\\98\\80a\\e2\\82... 7132 bytes, hash b6045f56c2ff152f");
            auto nc_feed = std::make_unique<nc_feed_1>(3);
            nc_returned = std::move(nc_feed);
            break;
        }
        case 4: {
            nc_check.same("drip::Drip::into", 4, "tap", selftest::shown(tap), "\"{\"");
            auto nc_feed = std::make_unique<nc_feed_1>(4);
            nc_returned = std::move(nc_feed);
            break;
        }
        case 5: {
            nc_check.same("drip::Drip::into", 5, "tap", selftest::shown(tap), "\" {\"");
            ::nearcall::idl::drip::Dry nc_raised;
            nc_raised.left = (-2147483647 - 1);
            throw nc_raised;
            break;
        }
        case 6: {
            nc_check.same("drip::Drip::into", 6, "tap", selftest::shown(tap), "\"{%\"");
            auto nc_feed = std::make_unique<nc_feed_1>(6);
            nc_returned = std::move(nc_feed);
            break;
        }
        }
        return nc_returned;
    }

};

int main(int argc, char **argv) try {
    const std::string name = argv[argc - 1];
    nearcall::domain domain;
    nc_server_0 server_0;
    ::nearcall::idl::drip::DripClerk clerk_0(domain, name + "-0", server_0);
    std::puts("ready");
    std::fflush(stdout);
    selftest::rest();
    nc_check.wait(14);
    domain.shut_down();
    return nc_check.end(14);
} catch (const std::exception &error) {
    std::fprintf(stderr, "server: %s\n", error.what());
    return 1;
}
