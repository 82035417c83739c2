/* The client of a self-test of drip, seed 1: `drip_selftest_client NAME`, the
 * same name on both sides. To build:
 *
 * cc -std=c11 -c drip.c $(pkg-config --cflags nearcall)
 * c++ -std=c++17 -o drip_selftest_client drip_selftest_client.cpp drip.o \
 *     $(pkg-config --cflags --libs nearcall)
 */
#include "drip_selftest.hpp"

static selftest::check nc_check("client");

static void nc_call_0(const ::nearcall::idl::drip::Drip &client) {
    {
        std::string outcome = "returned";
        ::std::string a_tap{};
        a_tap = "\077";
        ::std::vector<::nearcall::idl::drip::Drop> items{};
        nc_check.round(0, 7);
        try {
            for (auto &item : client.out_of(a_tap)) {
                items.push_back(std::move(item));
            }
        } catch (const ::nearcall::idl::drip::Dry &raised) {
            outcome = "raised drip::Dry " + selftest::shown(raised);
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("drip::Drip::out_of", 0, "items", selftest::shown(items), "[{size: 254, colour: \"\\5c\"}, {size: 172, colour: \"Z\"}, {size: 12, colour: \"\"}]");
        nc_check.same("drip::Drip::out_of", 0, "outcome", outcome, "returned");
    }
    {
        std::string outcome = "returned";
        ::std::string a_tap{};
        a_tap = selftest::repeated("", 0);
        ::std::vector<::nearcall::idl::drip::Drop> items{};
        nc_check.round(0, 7);
        try {
            for (auto &item : client.out_of(a_tap)) {
                items.push_back(std::move(item));
            }
        } catch (const ::nearcall::idl::drip::Dry &raised) {
            outcome = "raised drip::Dry " + selftest::shown(raised);
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("drip::Drip::out_of", 1, "items", selftest::shown(items), "[]");
        nc_check.same("drip::Drip::out_of", 1, "outcome", outcome, "returned");
    }
    {
        std::string outcome = "returned";
        ::std::string a_tap{};
        a_tap = selftest::repeated("\360\237\230\200{\"%\342\202\254 a", 12);
        ::std::vector<::nearcall::idl::drip::Drop> items{};
        nc_check.round(0, 7);
        try {
            for (auto &item : client.out_of(a_tap)) {
                items.push_back(std::move(item));
            }
        } catch (const ::nearcall::idl::drip::Dry &raised) {
            outcome = "raised drip::Dry " + selftest::shown(raised);
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("drip::Drip::out_of", 2, "items", selftest::shown(items), "[{size: 0, colour: \"\"}, {size: 14, colour: \"Z\\0a\"}, {size: 121, colour: \"\"}, {size: 0, colour: \"\"}, ... 783 bytes, hash 6688d97ddc345194");
        nc_check.same("drip::Drip::out_of", 2, "outcome", outcome, "returned");
    }
    {
        std::string outcome = "returned";
        ::std::string a_tap{};
        a_tap = selftest::repeated("%\077\012\303\251{\360\237\230\200\342\202\254", 230);
        ::std::vector<::nearcall::idl::drip::Drop> items{};
        nc_check.round(0, 7);
        try {
            for (auto &item : client.out_of(a_tap)) {
                items.push_back(std::move(item));
            }
        } catch (const ::nearcall::idl::drip::Dry &raised) {
            outcome = "raised drip::Dry " + selftest::shown(raised);
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("drip::Drip::out_of", 3, "items", selftest::shown(items), "[{size: 111, colour: \"\"}, {size: 0, colour: \"\"}, {size: 255, colour: \" \"}, {size: 111, colour: \"\"}, ... 1554 bytes, hash 19499f2252115175");
        nc_check.same("drip::Drip::out_of", 3, "outcome", outcome, "returned");
    }
    {
        std::string outcome = "returned";
        ::std::string a_tap{};
        a_tap = selftest::repeated("", 0);
        ::std::vector<::nearcall::idl::drip::Drop> items{};
        nc_check.round(0, 7);
        try {
            for (auto &item : client.out_of(a_tap)) {
                items.push_back(std::move(item));
            }
        } catch (const ::nearcall::idl::drip::Dry &raised) {
            outcome = "raised drip::Dry " + selftest::shown(raised);
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("drip::Drip::out_of", 4, "items", selftest::shown(items), "[{size: 4, colour: \"\\0a\"}, {size: 0, colour: \"\"}, {size: 156, colour: \"\077\"}, {size: 4, colour: \"\\0a\"}... 799 bytes, hash 70b7fd74c51b4ed6");
        nc_check.same("drip::Drip::out_of", 4, "outcome", outcome, "returned");
    }
    {
        std::string outcome = "returned";
        ::std::string a_tap{};
        a_tap = "\012";
        ::std::vector<::nearcall::idl::drip::Drop> items{};
        nc_check.round(0, 7);
        try {
            for (auto &item : client.out_of(a_tap)) {
                items.push_back(std::move(item));
            }
        } catch (const ::nearcall::idl::drip::Dry &raised) {
            outcome = "raised drip::Dry " + selftest::shown(raised);
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("drip::Drip::out_of", 5, "items", selftest::shown(items), "[]");
        nc_check.same("drip::Drip::out_of", 5, "outcome", outcome, "raised drip::Dry {left: 0}");
    }
    {
        std::string outcome = "returned";
        ::std::string a_tap{};
        a_tap = "\\%";
        ::std::vector<::nearcall::idl::drip::Drop> items{};
        nc_check.round(0, 7);
        try {
            for (auto &item : client.out_of(a_tap)) {
                items.push_back(std::move(item));
            }
        } catch (const ::nearcall::idl::drip::Dry &raised) {
            outcome = "raised drip::Dry " + selftest::shown(raised);
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("drip::Drip::out_of", 6, "items", selftest::shown(items), "[{size: 224, colour: \"{\\5c\"}, {size: 216, colour: \"Z\"}, {size: 255, colour: \"\\0a\"}, {size: 224, colo... 885 bytes, hash 979784e933d1efd9");
        nc_check.same("drip::Drip::out_of", 6, "outcome", outcome, "raised drip::Dry {left: -2147483648}");
    }
}

static void nc_call_1(const ::nearcall::idl::drip::Drip &client) {
    {
        std::string outcome = "returned";
        ::std::string a_tap{};
        a_tap = "\077";
        ::std::vector<::nearcall::idl::drip::Drop> items{};
        items.resize(3);
        items[0].size = 255;
        items[0].colour = "Z";
        items[1].size = 46;
        items[1].colour = selftest::repeated("", 0);
        items[2].size = 0;
        items[2].colour = selftest::repeated("", 0);
        nc_check.round(1, 7);
        try {
            auto feed = client.into(a_tap);
            for (const auto &item : items) {
                feed.put(item);
            }
            const auto returned = feed.end();
            nc_check.same("drip::Drip::into", 0, "returned", selftest::shown(returned), "3723484662");
        } catch (const ::nearcall::idl::drip::Dry &raised) {
            outcome = "raised drip::Dry " + selftest::shown(raised);
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("drip::Drip::into", 0, "outcome", outcome, "returned");
    }
    {
        std::string outcome = "returned";
        ::std::string a_tap{};
        a_tap = selftest::repeated("", 0);
        ::std::vector<::nearcall::idl::drip::Drop> items{};
        nc_check.round(1, 7);
        try {
            auto feed = client.into(a_tap);
            for (const auto &item : items) {
                feed.put(item);
            }
            const auto returned = feed.end();
            nc_check.same("drip::Drip::into", 1, "returned", selftest::shown(returned), "0");
        } catch (const ::nearcall::idl::drip::Dry &raised) {
            outcome = "raised drip::Dry " + selftest::shown(raised);
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("drip::Drip::into", 1, "outcome", outcome, "returned");
    }
    {
        std::string outcome = "returned";
        ::std::string a_tap{};
        a_tap = selftest::repeated("\"\012\360\237\230\200\342\202\254%%\303\251", 11);
        ::std::vector<::nearcall::idl::drip::Drop> items{};
        items.resize(31);
        for (std::size_t nc_i5 = 0; nc_i5 < 31; nc_i5++) {
            switch (nc_i5 % 3) {
            case 0:
                items[nc_i5].size = 0;
                items[nc_i5].colour = selftest::repeated("", 0);
                break;
            case 1:
                items[nc_i5].size = 0;
                items[nc_i5].colour = "\012";
                break;
            case 2:
                items[nc_i5].size = 183;
                items[nc_i5].colour = "\012\"";
                break;
            }
        }
        nc_check.round(1, 7);
        try {
            auto feed = client.into(a_tap);
            for (const auto &item : items) {
                feed.put(item);
            }
            const auto returned = feed.end();
            nc_check.same("drip::Drip::into", 2, "returned", selftest::shown(returned), "2026696102");
        } catch (const ::nearcall::idl::drip::Dry &raised) {
            outcome = "raised drip::Dry " + selftest::shown(raised);
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("drip::Drip::into", 2, "outcome", outcome, "returned");
    }
    {
        std::string outcome = "returned";
        ::std::string a_tap{};
        a_tap = selftest::repeated("\342\202\254\303\251%a%\360\237\230\200a", 230);
        ::std::vector<::nearcall::idl::drip::Drop> items{};
        items.resize(63);
        for (std::size_t nc_i5 = 0; nc_i5 < 63; nc_i5++) {
            switch (nc_i5 % 3) {
            case 0:
                items[nc_i5].size = 0;
                items[nc_i5].colour = "{";
                break;
            case 1:
                items[nc_i5].size = 255;
                items[nc_i5].colour = "\"\077";
                break;
            case 2:
                items[nc_i5].size = 233;
                items[nc_i5].colour = selftest::repeated("", 0);
                break;
            }
        }
        nc_check.round(1, 7);
        try {
            auto feed = client.into(a_tap);
            for (const auto &item : items) {
                feed.put(item);
            }
            const auto returned = feed.end();
            nc_check.same("drip::Drip::into", 3, "returned", selftest::shown(returned), "619051670");
        } catch (const ::nearcall::idl::drip::Dry &raised) {
            outcome = "raised drip::Dry " + selftest::shown(raised);
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("drip::Drip::into", 3, "outcome", outcome, "returned");
    }
    {
        std::string outcome = "returned";
        ::std::string a_tap{};
        a_tap = "{";
        ::std::vector<::nearcall::idl::drip::Drop> items{};
        items.resize(32);
        for (std::size_t nc_i5 = 0; nc_i5 < 32; nc_i5++) {
            switch (nc_i5 % 3) {
            case 0:
                items[nc_i5].size = 255;
                items[nc_i5].colour = "\"";
                break;
            case 1:
                items[nc_i5].size = 0;
                items[nc_i5].colour = selftest::repeated("", 0);
                break;
            case 2:
                items[nc_i5].size = 152;
                items[nc_i5].colour = "\077\\";
                break;
            }
        }
        nc_check.round(1, 7);
        try {
            auto feed = client.into(a_tap);
            for (const auto &item : items) {
                feed.put(item);
            }
            const auto returned = feed.end();
            nc_check.same("drip::Drip::into", 4, "returned", selftest::shown(returned), "916027678");
        } catch (const ::nearcall::idl::drip::Dry &raised) {
            outcome = "raised drip::Dry " + selftest::shown(raised);
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("drip::Drip::into", 4, "outcome", outcome, "returned");
    }
    {
        std::string outcome = "returned";
        ::std::string a_tap{};
        a_tap = " {";
        ::std::vector<::nearcall::idl::drip::Drop> items{};
        nc_check.round(1, 7);
        try {
            auto feed = client.into(a_tap);
            for (const auto &item : items) {
                feed.put(item);
            }
            feed.end();
        } catch (const ::nearcall::idl::drip::Dry &raised) {
            outcome = "raised drip::Dry " + selftest::shown(raised);
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("drip::Drip::into", 5, "outcome", outcome, "raised drip::Dry {left: -2147483648}");
    }
    {
        std::string outcome = "returned";
        ::std::string a_tap{};
        a_tap = "{%";
        ::std::vector<::nearcall::idl::drip::Drop> items{};
        items.resize(32);
        for (std::size_t nc_i5 = 0; nc_i5 < 32; nc_i5++) {
            switch (nc_i5 % 3) {
            case 0:
                items[nc_i5].size = 61;
                items[nc_i5].colour = "a%";
                break;
            case 1:
                items[nc_i5].size = 0;
                items[nc_i5].colour = " {";
                break;
            case 2:
                items[nc_i5].size = 132;
                items[nc_i5].colour = selftest::repeated("", 0);
                break;
            }
        }
        nc_check.round(1, 7);
        try {
            auto feed = client.into(a_tap);
            for (const auto &item : items) {
                feed.put(item);
            }
            feed.end();
        } catch (const ::nearcall::idl::drip::Dry &raised) {
            outcome = "raised drip::Dry " + selftest::shown(raised);
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("drip::Drip::into", 6, "outcome", outcome, "raised drip::Dry {left: 718462058}");
    }
}

int main(int argc, char **argv) try {
    const std::string name = argv[argc - 1];
    nearcall::domain domain;
    int status;
    {
        ::nearcall::idl::drip::Drip client_0(domain, name + "-0");
        nc_call_0(client_0);
        nc_call_1(client_0);
        status = nc_check.end(14);
    }
    domain.shut_down();
    return status;
} catch (const std::exception &error) {
    std::fprintf(stderr, "client: %s\n", error.what());
    return 1;
}
