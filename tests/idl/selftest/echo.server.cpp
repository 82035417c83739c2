/* The server of a self-test of echo, seed 1: `echo_selftest_server NAME`, the
 * same name on both sides. To build:
 *
 * cc -std=c11 -c echo.c echo_server.c $(pkg-config --cflags nearcall)
 * c++ -std=c++17 -o echo_selftest_server echo_selftest_server.cpp echo.o echo_server.o \
 *     $(pkg-config --cflags --libs nearcall)
 */
#include "echo_selftest.hpp"

static selftest::check nc_check("server");

class nc_server_0 final : public ::nearcall::idl::echo::EchoServer {
  public:
    int32_t twice(int32_t a) override {
        int32_t nc_returned{};
        switch (nc_check.round(0, 6)) {
        case 0: {
            nc_check.same("echo::Echo::twice", 0, "a", selftest::shown(a), "2147483647");
            nc_returned = (-2147483647 - 1);
            break;
        }
        case 1: {
            nc_check.same("echo::Echo::twice", 1, "a", selftest::shown(a), "1359066553");
            nc_returned = 0;
            break;
        }
        case 2: {
            nc_check.same("echo::Echo::twice", 2, "a", selftest::shown(a), "-1842903691");
            nc_returned = (-2147483647 - 1);
            break;
        }
        case 3: {
            nc_check.same("echo::Echo::twice", 3, "a", selftest::shown(a), "-2125050015");
            nc_returned = -878027328;
            break;
        }
        case 4: {
            nc_check.same("echo::Echo::twice", 4, "a", selftest::shown(a), "-280209496");
            nc_returned = 939330403;
            break;
        }
        case 5: {
            nc_check.same("echo::Echo::twice", 5, "a", selftest::shown(a), "-1330673170");
            ::nearcall::idl::echo::Unknown nc_raised;
            nc_raised.who = "a";
            throw nc_raised;
            break;
        }
        }
        return nc_returned;
    }

    ::nearcall::idl::echo::Mood greet(const ::nearcall::idl::echo::Guest &guest, ::std::vector<int16_t> &numbers, ::nearcall::room &raw) override {
        ::nearcall::idl::echo::Mood nc_returned{};
        switch (nc_check.round(1, 5)) {
        case 0: {
            nc_check.same("echo::Echo::greet", 0, "guest", selftest::shown(guest), "{name: \"\", age: 2147483647}");
            nc_check.same("echo::Echo::greet", 0, "numbers", selftest::shown(numbers), "[32767, 25191]");
            numbers = ::std::vector<int16_t>{};
            numbers.resize(1);
            numbers[0] = -1987;
            {
                ::std::vector<uint8_t> nc_octets{};
                nc_octets.resize(1);
                nc_octets[0] = 46;
                if (!raw.put(nc_octets.data(), nc_octets.size())) {
                    throw std::length_error("there is no room for octets");
                }
            }
            nc_returned = ::nearcall::idl::echo::Mood::GLAD;
            break;
        }
        case 1: {
            nc_check.same("echo::Echo::greet", 1, "guest", selftest::shown(guest), "{name: \"\", age: none}");
            nc_check.same("echo::Echo::greet", 1, "numbers", selftest::shown(numbers), "[]");
            numbers = ::std::vector<int16_t>{};
            {
                ::std::vector<uint8_t> nc_octets{};
                if (!raw.put(nc_octets.data(), nc_octets.size())) {
                    throw std::length_error("there is no room for octets");
                }
            }
            nc_returned = ::nearcall::idl::echo::Mood::SAD;
            break;
        }
        case 2: {
            nc_check.same("echo::Echo::greet", 2, "guest", selftest::shown(guest), "{name: \"\\22\\c3\\a9\\f0\\9f\\98\\80\\22\", age: 0}");
            nc_check.same("echo::Echo::greet", 2, "numbers", selftest::shown(numbers), "[32767, -29181, 0]");
            numbers = ::std::vector<int16_t>{};
            numbers.resize(3);
            numbers[0] = -32768;
            numbers[1] = -32768;
            numbers[2] = -27451;
            {
                ::std::vector<uint8_t> nc_octets{};
                nc_octets.resize(150);
                for (std::size_t nc_i9 = 0; nc_i9 < 150; nc_i9++) {
                    switch (nc_i9 % 7) {
                    case 0:
                        nc_octets[nc_i9] = 188;
                        break;
                    case 1:
                        nc_octets[nc_i9] = 0;
                        break;
                    case 2:
                        nc_octets[nc_i9] = 129;
                        break;
                    case 3:
                        nc_octets[nc_i9] = 0;
                        break;
                    case 4:
                        nc_octets[nc_i9] = 21;
                        break;
                    case 5:
                        nc_octets[nc_i9] = 255;
                        break;
                    case 6:
                        nc_octets[nc_i9] = 0;
                        break;
                    }
                }
                if (!raw.put(nc_octets.data(), nc_octets.size())) {
                    throw std::length_error("there is no room for octets");
                }
            }
            nc_returned = ::nearcall::idl::echo::Mood::GLAD;
            break;
        }
        case 3: {
            nc_check.same("echo::Echo::greet", 3, "guest", selftest::shown(guest), "{name: \"\\22\077a%\077{\", age: 41519233}");
            nc_check.same("echo::Echo::greet", 3, "numbers", selftest::shown(numbers), "[22369, 12405, -4681]");
            numbers = ::std::vector<int16_t>{};
            numbers.resize(3);
            numbers[0] = -27801;
            numbers[1] = 18964;
            numbers[2] = 0;
            {
                ::std::vector<uint8_t> nc_octets{};
                nc_octets.resize(3000);
                for (std::size_t nc_i9 = 0; nc_i9 < 3000; nc_i9++) {
                    switch (nc_i9 % 7) {
                    case 0:
                        nc_octets[nc_i9] = 0;
                        break;
                    case 1:
                        nc_octets[nc_i9] = 166;
                        break;
                    case 2:
                        nc_octets[nc_i9] = 46;
                        break;
                    case 3:
                        nc_octets[nc_i9] = 208;
                        break;
                    case 4:
                        nc_octets[nc_i9] = 0;
                        break;
                    case 5:
                        nc_octets[nc_i9] = 0;
                        break;
                    case 6:
                        nc_octets[nc_i9] = 44;
                        break;
                    }
                }
                if (!raw.put(nc_octets.data(), nc_octets.size())) {
                    throw std::length_error("there is no room for octets");
                }
            }
            nc_returned = ::nearcall::idl::echo::Mood::SAD;
            break;
        }
        case 4: {
            nc_check.same("echo::Echo::greet", 4, "guest", selftest::shown(guest), "{name: \"xxxxxxxx\", age: -2147483648}");
            nc_check.same("echo::Echo::greet", 4, "numbers", selftest::shown(numbers), "[27558, 32767, 8526]");
            numbers = ::std::vector<int16_t>{};
            numbers.resize(3);
            numbers[0] = -32768;
            numbers[1] = -6380;
            numbers[2] = -32768;
            {
                ::std::vector<uint8_t> nc_octets{};
                nc_octets.resize(3);
                nc_octets[0] = 0;
                nc_octets[1] = 233;
                nc_octets[2] = 184;
                if (!raw.put(nc_octets.data(), nc_octets.size())) {
                    throw std::length_error("there is no room for octets");
                }
            }
            nc_returned = ::nearcall::idl::echo::Mood::SAD;
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
    ::nearcall::idl::echo::EchoClerk clerk_0(domain, name + "-0", server_0);
    std::puts("ready");
    std::fflush(stdout);
    selftest::rest();
    nc_check.wait(11);
    domain.shut_down();
    return nc_check.end(11);
} catch (const std::exception &error) {
    std::fprintf(stderr, "server: %s\n", error.what());
    return 1;
}
