/* The client of a self-test of talk, seed 1: `talk_selftest_client NAME`, the
 * same name on both sides. To build:
 *
 * cc -std=c11 -c talk.c $(pkg-config --cflags nearcall)
 * c++ -std=c++17 -o talk_selftest_client talk_selftest_client.cpp talk.o \
 *     $(pkg-config --cflags --libs nearcall)
 */
#include "talk_selftest.hpp"

static selftest::check nc_check("client");

static void nc_call_0(const ::nearcall::idl::talk::Talks &client) {
    {
        std::string outcome = "returned";
        ::std::string a_room{};
        a_room = "\077";
        ::std::vector<::std::string> sent{};
        sent.resize(3);
        sent[0] = "Z\\";
        sent[1] = "\\a";
        sent[2] = "a%";
        ::std::vector<::nearcall::idl::talk::Line> items{};
        nc_check.round(0, 7);
        try {
            auto sides = client.lines(a_room);
            for (const auto &item : sent) {
                sides.first.put(item);
            }
            sides.first.end();
            for (auto &item : sides.second) {
                items.push_back(std::move(item));
            }
        } catch (const ::nearcall::idl::talk::Refused &raised) {
            outcome = "raised talk::Refused " + selftest::shown(raised);
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("talk::Talks::lines", 0, "items", selftest::shown(items), "[{text: \"\", number: 0}, {text: \"\", number: 35258}, {text: \"\\22%\", number: 65535}]");
        nc_check.same("talk::Talks::lines", 0, "outcome", outcome, "returned");
    }
    {
        std::string outcome = "returned";
        ::std::string a_room{};
        a_room = selftest::repeated("", 0);
        ::std::vector<::std::string> sent{};
        ::std::vector<::nearcall::idl::talk::Line> items{};
        nc_check.round(0, 7);
        try {
            auto sides = client.lines(a_room);
            for (const auto &item : sent) {
                sides.first.put(item);
            }
            sides.first.end();
            for (auto &item : sides.second) {
                items.push_back(std::move(item));
            }
        } catch (const ::nearcall::idl::talk::Refused &raised) {
            outcome = "raised talk::Refused " + selftest::shown(raised);
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("talk::Talks::lines", 1, "items", selftest::shown(items), "[]");
        nc_check.same("talk::Talks::lines", 1, "outcome", outcome, "returned");
    }
    {
        std::string outcome = "returned";
        ::std::string a_room{};
        a_room = selftest::repeated("\360\237\230\200\342\202\254Z\012\303\251\303\251\"", 10);
        ::std::vector<::std::string> sent{};
        sent.resize(31);
        for (std::size_t nc_i4 = 0; nc_i4 < 31; nc_i4++) {
            switch (nc_i4 % 3) {
            case 0:
                sent[nc_i4] = "\"";
                break;
            case 1:
                sent[nc_i4] = selftest::repeated("", 0);
                break;
            case 2:
                sent[nc_i4] = selftest::repeated("", 0);
                break;
            }
        }
        ::std::vector<::nearcall::idl::talk::Line> items{};
        nc_check.round(0, 7);
        try {
            auto sides = client.lines(a_room);
            for (const auto &item : sent) {
                sides.first.put(item);
            }
            sides.first.end();
            for (auto &item : sides.second) {
                items.push_back(std::move(item));
            }
        } catch (const ::nearcall::idl::talk::Refused &raised) {
            outcome = "raised talk::Refused " + selftest::shown(raised);
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("talk::Talks::lines", 2, "items", selftest::shown(items), "[{text: \"\\0aZ\", number: 34478}, {text: \"%\", number: 15983}, {text: \"\", number: 0}, {text: \"\\0aZ\", nu... 851 bytes, hash 041cf51ea77871e4");
        nc_check.same("talk::Talks::lines", 2, "outcome", outcome, "returned");
    }
    {
        std::string outcome = "returned";
        ::std::string a_room{};
        a_room = selftest::repeated("Z\012\\\012\360\237\230\200\\\077", 300);
        ::std::vector<::std::string> sent{};
        sent.resize(63);
        for (std::size_t nc_i4 = 0; nc_i4 < 63; nc_i4++) {
            switch (nc_i4 % 3) {
            case 0:
                sent[nc_i4] = "\077\012";
                break;
            case 1:
                sent[nc_i4] = "\\";
                break;
            case 2:
                sent[nc_i4] = "\\";
                break;
            }
        }
        ::std::vector<::nearcall::idl::talk::Line> items{};
        nc_check.round(0, 7);
        try {
            auto sides = client.lines(a_room);
            for (const auto &item : sent) {
                sides.first.put(item);
            }
            sides.first.end();
            for (auto &item : sides.second) {
                items.push_back(std::move(item));
            }
        } catch (const ::nearcall::idl::talk::Refused &raised) {
            outcome = "raised talk::Refused " + selftest::shown(raised);
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("talk::Talks::lines", 3, "items", selftest::shown(items), "[{text: \" a\", number: 0}, {text: \"\", number: 20918}, {text: \"\", number: 0}, {text: \" a\", number: 0},... 1575 bytes, hash 4a7a1bc4fe007f3e");
        nc_check.same("talk::Talks::lines", 3, "outcome", outcome, "returned");
    }
    {
        std::string outcome = "returned";
        ::std::string a_room{};
        a_room = "\012";
        ::std::vector<::std::string> sent{};
        sent.resize(32);
        for (std::size_t nc_i4 = 0; nc_i4 < 32; nc_i4++) {
            switch (nc_i4 % 3) {
            case 0:
                sent[nc_i4] = selftest::repeated("", 0);
                break;
            case 1:
                sent[nc_i4] = "a\077";
                break;
            case 2:
                sent[nc_i4] = "\077Z";
                break;
            }
        }
        ::std::vector<::nearcall::idl::talk::Line> items{};
        nc_check.round(0, 7);
        try {
            auto sides = client.lines(a_room);
            for (const auto &item : sent) {
                sides.first.put(item);
            }
            sides.first.end();
            for (auto &item : sides.second) {
                items.push_back(std::move(item));
            }
        } catch (const ::nearcall::idl::talk::Refused &raised) {
            outcome = "raised talk::Refused " + selftest::shown(raised);
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("talk::Talks::lines", 4, "items", selftest::shown(items), "[{text: \"\", number: 65535}, {text: \"\", number: 0}, {text: \"\", number: 2988}, {text: \"\", number: 6553... 810 bytes, hash f3939f26f3b7b3b5");
        nc_check.same("talk::Talks::lines", 4, "outcome", outcome, "returned");
    }
    {
        std::string outcome = "returned";
        ::std::string a_room{};
        a_room = selftest::repeated("", 0);
        ::std::vector<::std::string> sent{};
        ::std::vector<::nearcall::idl::talk::Line> items{};
        nc_check.round(0, 7);
        try {
            auto sides = client.lines(a_room);
            for (const auto &item : sent) {
                sides.first.put(item);
            }
            sides.first.end();
            for (auto &item : sides.second) {
                items.push_back(std::move(item));
            }
        } catch (const ::nearcall::idl::talk::Refused &raised) {
            outcome = "raised talk::Refused " + selftest::shown(raised);
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("talk::Talks::lines", 5, "items", selftest::shown(items), "[]");
        nc_check.same("talk::Talks::lines", 5, "outcome", outcome, "raised talk::Refused {code: -2147483648}");
    }
    {
        std::string outcome = "returned";
        ::std::string a_room{};
        a_room = "%\\";
        ::std::vector<::std::string> sent{};
        sent.resize(32);
        for (std::size_t nc_i4 = 0; nc_i4 < 32; nc_i4++) {
            switch (nc_i4 % 3) {
            case 0:
                sent[nc_i4] = "\077";
                break;
            case 1:
                sent[nc_i4] = " ";
                break;
            case 2:
                sent[nc_i4] = "\"Z";
                break;
            }
        }
        ::std::vector<::nearcall::idl::talk::Line> items{};
        nc_check.round(0, 7);
        try {
            auto sides = client.lines(a_room);
            for (const auto &item : sent) {
                sides.first.put(item);
            }
            sides.first.end();
            for (auto &item : sides.second) {
                items.push_back(std::move(item));
            }
        } catch (const ::nearcall::idl::talk::Refused &raised) {
            outcome = "raised talk::Refused " + selftest::shown(raised);
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("talk::Talks::lines", 6, "items", selftest::shown(items), "[{text: \"\\0a%\", number: 0}, {text: \"a\", number: 0}, {text: \"a{\", number: 0}, {text: \"\\0a%\", number: ... 811 bytes, hash c2d86aeea49df38c");
        nc_check.same("talk::Talks::lines", 6, "outcome", outcome, "raised talk::Refused {code: -2147483648}");
    }
}

static void nc_call_1(const ::nearcall::idl::talk::Talks &client) {
    {
        std::string outcome = "returned";
        ::std::vector<bool> sent{};
        sent.resize(3);
        sent[0] = true;
        sent[1] = true;
        sent[2] = false;
        ::std::vector<uint8_t> items{};
        nc_check.round(1, 5);
        try {
            auto sides = client.octets();
            for (const auto &item : sent) {
                sides.first.put(item);
            }
            sides.first.end();
            for (auto &item : sides.second) {
                items.push_back(std::move(item));
            }
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("talk::Talks::octets", 0, "items", selftest::shown(items), "[255, 0, 0]");
        nc_check.same("talk::Talks::octets", 0, "outcome", outcome, "returned");
    }
    {
        std::string outcome = "returned";
        ::std::vector<bool> sent{};
        ::std::vector<uint8_t> items{};
        nc_check.round(1, 5);
        try {
            auto sides = client.octets();
            for (const auto &item : sent) {
                sides.first.put(item);
            }
            sides.first.end();
            for (auto &item : sides.second) {
                items.push_back(std::move(item));
            }
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("talk::Talks::octets", 1, "items", selftest::shown(items), "[]");
        nc_check.same("talk::Talks::octets", 1, "outcome", outcome, "returned");
    }
    {
        std::string outcome = "returned";
        ::std::vector<bool> sent{};
        sent.resize(1024);
        for (std::size_t nc_i4 = 0; nc_i4 < 1024; nc_i4++) {
            switch (nc_i4 % 7) {
            case 0:
                sent[nc_i4] = true;
                break;
            case 1:
                sent[nc_i4] = true;
                break;
            case 2:
                sent[nc_i4] = true;
                break;
            case 3:
                sent[nc_i4] = true;
                break;
            case 4:
                sent[nc_i4] = true;
                break;
            case 5:
                sent[nc_i4] = false;
                break;
            case 6:
                sent[nc_i4] = false;
                break;
            }
        }
        ::std::vector<uint8_t> items{};
        nc_check.round(1, 5);
        try {
            auto sides = client.octets();
            for (const auto &item : sent) {
                sides.first.put(item);
            }
            sides.first.end();
            for (auto &item : sides.second) {
                items.push_back(std::move(item));
            }
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("talk::Talks::octets", 2, "items", selftest::shown(items), "[0, 21, 255, 255, 193, 103, 0, 0, 21, 255, 255, 193, 103, 0, 0, 21, 255, 255, 193, 103, 0, 0, 21, 25... 4387 bytes, hash b9dd45e2b84058ea");
        nc_check.same("talk::Talks::octets", 2, "outcome", outcome, "returned");
    }
    {
        std::string outcome = "returned";
        ::std::vector<bool> sent{};
        sent.resize(2049);
        for (std::size_t nc_i4 = 0; nc_i4 < 2049; nc_i4++) {
            switch (nc_i4 % 7) {
            case 0:
                sent[nc_i4] = false;
                break;
            case 1:
                sent[nc_i4] = false;
                break;
            case 2:
                sent[nc_i4] = true;
                break;
            case 3:
                sent[nc_i4] = true;
                break;
            case 4:
                sent[nc_i4] = true;
                break;
            case 5:
                sent[nc_i4] = true;
                break;
            case 6:
                sent[nc_i4] = false;
                break;
            }
        }
        ::std::vector<uint8_t> items{};
        nc_check.round(1, 5);
        try {
            auto sides = client.octets();
            for (const auto &item : sent) {
                sides.first.put(item);
            }
            sides.first.end();
            for (auto &item : sides.second) {
                items.push_back(std::move(item));
            }
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("talk::Talks::octets", 3, "items", selftest::shown(items), "[0, 0, 72, 4, 0, 65, 0, 0, 0, 72, 4, 0, 65, 0, 0, 0, 72, 4, 0, 65, 0, 0, 0, 72, 4, 0, 65, 0, 0, 0, 7... 6732 bytes, hash 429bd6ce15987032");
        nc_check.same("talk::Talks::octets", 3, "outcome", outcome, "returned");
    }
    {
        std::string outcome = "returned";
        ::std::vector<bool> sent{};
        sent.resize(1025);
        for (std::size_t nc_i4 = 0; nc_i4 < 1025; nc_i4++) {
            switch (nc_i4 % 7) {
            case 0:
                sent[nc_i4] = true;
                break;
            case 1:
                sent[nc_i4] = false;
                break;
            case 2:
                sent[nc_i4] = false;
                break;
            case 3:
                sent[nc_i4] = true;
                break;
            case 4:
                sent[nc_i4] = true;
                break;
            case 5:
                sent[nc_i4] = true;
                break;
            case 6:
                sent[nc_i4] = false;
                break;
            }
        }
        ::std::vector<uint8_t> items{};
        nc_check.round(1, 5);
        try {
            auto sides = client.octets();
            for (const auto &item : sent) {
                sides.first.put(item);
            }
            sides.first.end();
            for (auto &item : sides.second) {
                items.push_back(std::move(item));
            }
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("talk::Talks::octets", 4, "items", selftest::shown(items), "[219, 246, 0, 19, 3, 0, 0, 219, 246, 0, 19, 3, 0, 0, 219, 246, 0, 19, 3, 0, 0, 219, 246, 0, 19, 3, 0... 3809 bytes, hash 12418a1f3cd76b8d");
        nc_check.same("talk::Talks::octets", 4, "outcome", outcome, "returned");
    }
}

int main(int argc, char **argv) try {
    const std::string name = argv[argc - 1];
    nearcall::domain domain;
    int status;
    {
        ::nearcall::idl::talk::Talks client_0(domain, name + "-0");
        nc_call_0(client_0);
        nc_call_1(client_0);
        status = nc_check.end(12);
    }
    domain.shut_down();
    return status;
} catch (const std::exception &error) {
    std::fprintf(stderr, "client: %s\n", error.what());
    return 1;
}
