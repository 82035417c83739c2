/* The client of a self-test of echo, seed 1: `echo_selftest_client NAME`, the
 * same name on both sides. To build:
 *
 * cc -std=c11 -c echo.c $(pkg-config --cflags nearcall)
 * c++ -std=c++17 -o echo_selftest_client echo_selftest_client.cpp echo.o \
 *     $(pkg-config --cflags --libs nearcall)
 */
#include "echo_selftest.hpp"

static selftest::check nc_check("client");

static void nc_call_0(const ::nearcall::idl::echo::Echo &client) {
    {
        std::string outcome = "returned";
        int32_t a_a{};
        a_a = 2147483647;
        nc_check.round(0, 6);
        try {
            const auto returned = client.twice(a_a);
            nc_check.same("echo::Echo::twice", 0, "returned", selftest::shown(returned), "-2147483648");
        } catch (const ::nearcall::idl::echo::Unknown &raised) {
            outcome = "raised echo::Unknown " + selftest::shown(raised);
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("echo::Echo::twice", 0, "outcome", outcome, "returned");
    }
    {
        std::string outcome = "returned";
        int32_t a_a{};
        a_a = 1359066553;
        nc_check.round(0, 6);
        try {
            const auto returned = client.twice(a_a);
            nc_check.same("echo::Echo::twice", 1, "returned", selftest::shown(returned), "0");
        } catch (const ::nearcall::idl::echo::Unknown &raised) {
            outcome = "raised echo::Unknown " + selftest::shown(raised);
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("echo::Echo::twice", 1, "outcome", outcome, "returned");
    }
    {
        std::string outcome = "returned";
        int32_t a_a{};
        a_a = -1842903691;
        nc_check.round(0, 6);
        try {
            const auto returned = client.twice(a_a);
            nc_check.same("echo::Echo::twice", 2, "returned", selftest::shown(returned), "-2147483648");
        } catch (const ::nearcall::idl::echo::Unknown &raised) {
            outcome = "raised echo::Unknown " + selftest::shown(raised);
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("echo::Echo::twice", 2, "outcome", outcome, "returned");
    }
    {
        std::string outcome = "returned";
        int32_t a_a{};
        a_a = -2125050015;
        nc_check.round(0, 6);
        try {
            const auto returned = client.twice(a_a);
            nc_check.same("echo::Echo::twice", 3, "returned", selftest::shown(returned), "-878027328");
        } catch (const ::nearcall::idl::echo::Unknown &raised) {
            outcome = "raised echo::Unknown " + selftest::shown(raised);
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("echo::Echo::twice", 3, "outcome", outcome, "returned");
    }
    {
        std::string outcome = "returned";
        int32_t a_a{};
        a_a = -280209496;
        nc_check.round(0, 6);
        try {
            const auto returned = client.twice(a_a);
            nc_check.same("echo::Echo::twice", 4, "returned", selftest::shown(returned), "939330403");
        } catch (const ::nearcall::idl::echo::Unknown &raised) {
            outcome = "raised echo::Unknown " + selftest::shown(raised);
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("echo::Echo::twice", 4, "outcome", outcome, "returned");
    }
    {
        std::string outcome = "returned";
        int32_t a_a{};
        a_a = -1330673170;
        nc_check.round(0, 6);
        try {
            client.twice(a_a);
        } catch (const ::nearcall::idl::echo::Unknown &raised) {
            outcome = "raised echo::Unknown " + selftest::shown(raised);
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("echo::Echo::twice", 5, "outcome", outcome, "raised echo::Unknown {who: \"a\"}");
    }
}

static void nc_call_1(const ::nearcall::idl::echo::Echo &client) {
    {
        std::string outcome = "returned";
        ::nearcall::idl::echo::Guest a_guest{};
        a_guest.name = selftest::repeated("", 0);
        a_guest.age.emplace();
        (*a_guest.age) = 2147483647;
        ::std::vector<int16_t> a_numbers{};
        a_numbers.resize(2);
        a_numbers[0] = 32767;
        a_numbers[1] = 25191;
        ::std::vector<uint8_t> a_raw{};
        nc_check.round(1, 5);
        try {
            const auto returned = client.greet(a_guest, a_numbers, a_raw);
            nc_check.same("echo::Echo::greet", 0, "returned", selftest::shown(returned), "0");
            nc_check.same("echo::Echo::greet", 0, "numbers", selftest::shown(a_numbers), "[-1987]");
            nc_check.same("echo::Echo::greet", 0, "raw", selftest::shown(a_raw), "[46]");
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("echo::Echo::greet", 0, "outcome", outcome, "returned");
    }
    {
        std::string outcome = "returned";
        ::nearcall::idl::echo::Guest a_guest{};
        a_guest.name = selftest::repeated("", 0);
        ::std::vector<int16_t> a_numbers{};
        ::std::vector<uint8_t> a_raw{};
        nc_check.round(1, 5);
        try {
            const auto returned = client.greet(a_guest, a_numbers, a_raw);
            nc_check.same("echo::Echo::greet", 1, "returned", selftest::shown(returned), "1");
            nc_check.same("echo::Echo::greet", 1, "numbers", selftest::shown(a_numbers), "[]");
            nc_check.same("echo::Echo::greet", 1, "raw", selftest::shown(a_raw), "[]");
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("echo::Echo::greet", 1, "outcome", outcome, "returned");
    }
    {
        std::string outcome = "returned";
        ::nearcall::idl::echo::Guest a_guest{};
        a_guest.name = "\"\303\251\360\237\230\200\"";
        a_guest.age.emplace();
        (*a_guest.age) = 0;
        ::std::vector<int16_t> a_numbers{};
        a_numbers.resize(3);
        a_numbers[0] = 32767;
        a_numbers[1] = -29181;
        a_numbers[2] = 0;
        ::std::vector<uint8_t> a_raw{};
        nc_check.round(1, 5);
        try {
            const auto returned = client.greet(a_guest, a_numbers, a_raw);
            nc_check.same("echo::Echo::greet", 2, "returned", selftest::shown(returned), "0");
            nc_check.same("echo::Echo::greet", 2, "numbers", selftest::shown(a_numbers), "[-32768, -32768, -27451]");
            nc_check.same("echo::Echo::greet", 2, "raw", selftest::shown(a_raw), "[188, 0, 129, 0, 21, 255, 0, 188, 0, 129, 0, 21, 255, 0, 188, 0, 129, 0, 21, 255, 0, 188, 0, 129, 0,... 601 bytes, hash 9cf1af5686a0c974");
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("echo::Echo::greet", 2, "outcome", outcome, "returned");
    }
    {
        std::string outcome = "returned";
        ::nearcall::idl::echo::Guest a_guest{};
        a_guest.name = "\"\077a%\077{";
        a_guest.age.emplace();
        (*a_guest.age) = 41519233;
        ::std::vector<int16_t> a_numbers{};
        a_numbers.resize(3);
        a_numbers[0] = 22369;
        a_numbers[1] = 12405;
        a_numbers[2] = -4681;
        ::std::vector<uint8_t> a_raw{};
        nc_check.round(1, 5);
        try {
            const auto returned = client.greet(a_guest, a_numbers, a_raw);
            nc_check.same("echo::Echo::greet", 3, "returned", selftest::shown(returned), "1");
            nc_check.same("echo::Echo::greet", 3, "numbers", selftest::shown(a_numbers), "[-27801, 18964, 0]");
            nc_check.same("echo::Echo::greet", 3, "raw", selftest::shown(a_raw), "[0, 166, 46, 208, 0, 0, 44, 0, 166, 46, 208, 0, 0, 44, 0, 166, 46, 208, 0, 0, 44, 0, 166, 46, 208, 0... 11573 bytes, hash 967d0858fa0c7a4e");
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("echo::Echo::greet", 3, "outcome", outcome, "returned");
    }
    {
        std::string outcome = "returned";
        ::nearcall::idl::echo::Guest a_guest{};
        a_guest.name = selftest::repeated("x", 8);
        a_guest.age.emplace();
        (*a_guest.age) = (-2147483647 - 1);
        ::std::vector<int16_t> a_numbers{};
        a_numbers.resize(3);
        a_numbers[0] = 27558;
        a_numbers[1] = 32767;
        a_numbers[2] = 8526;
        ::std::vector<uint8_t> a_raw{};
        nc_check.round(1, 5);
        try {
            const auto returned = client.greet(a_guest, a_numbers, a_raw);
            nc_check.same("echo::Echo::greet", 4, "returned", selftest::shown(returned), "1");
            nc_check.same("echo::Echo::greet", 4, "numbers", selftest::shown(a_numbers), "[-32768, -6380, -32768]");
            nc_check.same("echo::Echo::greet", 4, "raw", selftest::shown(a_raw), "[0, 233, 184]");
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("echo::Echo::greet", 4, "outcome", outcome, "returned");
    }
}

int main(int argc, char **argv) try {
    const std::string name = argv[argc - 1];
    nearcall::domain domain;
    int status;
    {
        ::nearcall::idl::echo::Echo client_0(domain, name + "-0");
        nc_call_0(client_0);
        nc_call_1(client_0);
        status = nc_check.end(11);
    }
    domain.shut_down();
    return status;
} catch (const std::exception &error) {
    std::fprintf(stderr, "client: %s\n", error.what());
    return 1;
}
