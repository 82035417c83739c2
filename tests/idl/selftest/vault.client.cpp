/* The client of a self-test of vault, seed 1: `vault_selftest_client NAME`, the
 * same name on both sides. To build:
 *
 * cc -std=c11 -c vault.c $(pkg-config --cflags nearcall)
 * c++ -std=c++17 -o vault_selftest_client vault_selftest_client.cpp vault.o \
 *     $(pkg-config --cflags --libs nearcall)
 */
#include "vault_selftest.hpp"

static selftest::check nc_check("client");

static void nc_call_0(const ::nearcall::idl::vault::Vault &client) {
    {
        std::string outcome = "returned";
        ::nearcall::descriptor a_link{};
        a_link = nearcall::descriptor(nc_opened(NC_SOCKET, "\077"));
        ::std::string a_text{};
        a_text = "%";
        ::nearcall::descriptor a_kept{};
        nc_check.round(0, 6);
        try {
            const auto returned = client.swap(a_link.get(), a_text, a_kept);
            nc_check.same("vault::Vault::swap", 0, "returned", selftest::shown(returned), "\" a\"");
            nc_check.same("vault::Vault::swap", 0, "kept", selftest::shown(a_kept), "\"Z\"");
        } catch (const ::nearcall::idl::vault::Busy &raised) {
            outcome = "raised vault::Busy " + selftest::shown(raised);
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("vault::Vault::swap", 0, "outcome", outcome, "returned");
    }
    {
        std::string outcome = "returned";
        ::nearcall::descriptor a_link{};
        a_link = nearcall::descriptor(nc_opened(NC_SOCKET, ""));
        ::std::string a_text{};
        a_text = selftest::repeated("", 0);
        ::nearcall::descriptor a_kept{};
        nc_check.round(0, 6);
        try {
            const auto returned = client.swap(a_link.get(), a_text, a_kept);
            nc_check.same("vault::Vault::swap", 1, "returned", selftest::shown(returned), "\"\"");
            nc_check.same("vault::Vault::swap", 1, "kept", selftest::shown(a_kept), "\"\"");
        } catch (const ::nearcall::idl::vault::Busy &raised) {
            outcome = "raised vault::Busy " + selftest::shown(raised);
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("vault::Vault::swap", 1, "outcome", outcome, "returned");
    }
    {
        std::string outcome = "returned";
        ::nearcall::descriptor a_link{};
        a_link = nearcall::descriptor(nc_opened(NC_SOCKET, "\"\360\237\230\200Z\360\237\230\200\012\"Z\"\360\237\230\200Z\360\237\230\200\012\"Z\"\360\237\230\200Z\360\237\230\200\012\"Z\"\360\237\230\200Z\360\237\230\200\012\"Z"));
        ::std::string a_text{};
        a_text = selftest::repeated(" {\360\237\230\200\342\202\254Z\012\303\251", 11);
        ::nearcall::descriptor a_kept{};
        nc_check.round(0, 6);
        try {
            const auto returned = client.swap(a_link.get(), a_text, a_kept);
            nc_check.same("vault::Vault::swap", 2, "returned", selftest::shown(returned), "\"\\22 \\0a\\0aZ\\e2\\82\\aca\\22 \\0a\\0aZ\\e2\\82\\aca\\22 \\0a\\0aZ\\e2\\82\\aca\\22 \\0a\\0aZ\\e2\\82\\aca\\22 \\0a\\0aZ\\e2\\82\\aca\\22 \\0a\\0aZ\\e2\\82\\aca\\22 \\0a\\0aZ\\e2\\82\\aca\"");
            nc_check.same("vault::Vault::swap", 2, "kept", selftest::shown(a_kept), "\"%\077\077\\22\\e2\\82\\ac%Z%\077\077\\22\\e2\\82\\ac%Z%\077\077\\22\\e2\\82\\ac%Z%\077\077\\22\\e2\\82\\ac%Z%\077\077\\22\\e2\\82\\ac%Z%\077\077\\22\\e2\\82\\ac%Z%\077\077\\22\\e2\\82\\ac%Z\"");
        } catch (const ::nearcall::idl::vault::Busy &raised) {
            outcome = "raised vault::Busy " + selftest::shown(raised);
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("vault::Vault::swap", 2, "outcome", outcome, "returned");
    }
    {
        std::string outcome = "returned";
        ::nearcall::descriptor a_link{};
        a_link = nearcall::descriptor(nc_opened(NC_SOCKET, "\077\012\303\251{\360\237\230\200\342\202\254Z\077\012\303\251{\360\237\230\200\342\202\254Z\077\012\303\251{\360\237\230\200\342\202\254Z\077\012\303\251{\360\237\230\200\342\202\254Z"));
        ::std::string a_text{};
        a_text = selftest::repeated("\"\342\202\254a{  \077", 333);
        ::nearcall::descriptor a_kept{};
        nc_check.round(0, 6);
        try {
            const auto returned = client.swap(a_link.get(), a_text, a_kept);
            nc_check.same("vault::Vault::swap", 3, "returned", selftest::shown(returned), "\"{\077\\f0\\9f\\98\\80%\\e2\\82\\ac\\22 {\077\\f0\\9f\\98\\80%\\e2\\82\\ac\\22 {\077\\f0\\9f\\98\\80%\\e2\\82\\ac\\22 {\077\\f0\\9f\\98\\80%\\e2\\82\\ac\\22 {\077\\f0\\9f\\98\\80%\\e2\\82\\ac\\22 \"");
            nc_check.same("vault::Vault::swap", 3, "kept", selftest::shown(a_kept), "\"\\22%%\\f0\\9f\\98\\80\\c3\\a9%Z\\22%%\\f0\\9f\\98\\80\\c3\\a9%Z\\22%%\\f0\\9f\\98\\80\\c3\\a9%Z\\22%%\\f0\\9f\\98\\80\\c3\\a9%Z\\22%%\\f0\\9f\\98\\80\\c3\\a9%Z\"");
        } catch (const ::nearcall::idl::vault::Busy &raised) {
            outcome = "raised vault::Busy " + selftest::shown(raised);
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("vault::Vault::swap", 3, "outcome", outcome, "returned");
    }
    {
        std::string outcome = "returned";
        ::nearcall::descriptor a_link{};
        a_link = nearcall::descriptor(nc_opened(NC_SOCKET, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"));
        ::std::string a_text{};
        a_text = selftest::repeated("", 0);
        ::nearcall::descriptor a_kept{};
        nc_check.round(0, 6);
        try {
            const auto returned = client.swap(a_link.get(), a_text, a_kept);
            nc_check.same("vault::Vault::swap", 4, "returned", selftest::shown(returned), "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"");
            nc_check.same("vault::Vault::swap", 4, "kept", selftest::shown(a_kept), "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"");
        } catch (const ::nearcall::idl::vault::Busy &raised) {
            outcome = "raised vault::Busy " + selftest::shown(raised);
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("vault::Vault::swap", 4, "outcome", outcome, "returned");
    }
    {
        std::string outcome = "returned";
        ::nearcall::descriptor a_link{};
        a_link = nearcall::descriptor(nc_opened(NC_SOCKET, ""));
        ::std::string a_text{};
        a_text = "\303\251";
        ::nearcall::descriptor a_kept{};
        nc_check.round(0, 6);
        try {
            client.swap(a_link.get(), a_text, a_kept);
        } catch (const ::nearcall::idl::vault::Busy &raised) {
            outcome = "raised vault::Busy " + selftest::shown(raised);
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("vault::Vault::swap", 5, "outcome", outcome, "raised vault::Busy {holder: 0}");
    }
}

static void nc_call_1(const ::nearcall::idl::vault::Vault &client) {
    {
        std::string outcome = "returned";
        ::std::optional<::nearcall::descriptor> a_log{};
        a_log = nearcall::descriptor(nc_opened(NC_ANY, ""));
        ::std::optional<::nearcall::descriptor> a_kept{};
        nc_check.round(1, 5);
        try {
            const auto returned = client.find(a_log ? std::optional<int>(a_log->get()) : std::nullopt, a_kept);
            nc_check.same("vault::Vault::find", 0, "returned", selftest::shown(returned), "\"Z\"");
            nc_check.same("vault::Vault::find", 0, "kept", selftest::shown(a_kept), "none");
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("vault::Vault::find", 0, "outcome", outcome, "returned");
    }
    {
        std::string outcome = "returned";
        ::std::optional<::nearcall::descriptor> a_log{};
        a_log = std::nullopt;
        ::std::optional<::nearcall::descriptor> a_kept{};
        nc_check.round(1, 5);
        try {
            const auto returned = client.find(a_log ? std::optional<int>(a_log->get()) : std::nullopt, a_kept);
            nc_check.same("vault::Vault::find", 1, "returned", selftest::shown(returned), "none");
            nc_check.same("vault::Vault::find", 1, "kept", selftest::shown(a_kept), "none");
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("vault::Vault::find", 1, "outcome", outcome, "returned");
    }
    {
        std::string outcome = "returned";
        ::std::optional<::nearcall::descriptor> a_log{};
        a_log = std::nullopt;
        ::std::optional<::nearcall::descriptor> a_kept{};
        nc_check.round(1, 5);
        try {
            const auto returned = client.find(a_log ? std::optional<int>(a_log->get()) : std::nullopt, a_kept);
            nc_check.same("vault::Vault::find", 2, "returned", selftest::shown(returned), "none");
            nc_check.same("vault::Vault::find", 2, "kept", selftest::shown(a_kept), "\"\077%\\f0\\9f\\98\\80%\\22\\5c \077%\\f0\\9f\\98\\80%\\22\\5c \077%\\f0\\9f\\98\\80%\\22\\5c \077%\\f0\\9f\\98\\80%\\22\\5c \077%\\f0\\9f\\98\\80%\\22\\5c \077%\\f0\\9f\\98\\80%\\22\\5c \"");
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("vault::Vault::find", 2, "outcome", outcome, "returned");
    }
    {
        std::string outcome = "returned";
        ::std::optional<::nearcall::descriptor> a_log{};
        a_log = nearcall::descriptor(nc_opened(NC_ANY, " %a\012\"\303\251\360\237\230\200 %a\012\"\303\251\360\237\230\200 %a\012\"\303\251\360\237\230\200 %a\012\"\303\251\360\237\230\200 %a\012\"\303\251\360\237\230\200"));
        ::std::optional<::nearcall::descriptor> a_kept{};
        nc_check.round(1, 5);
        try {
            const auto returned = client.find(a_log ? std::optional<int>(a_log->get()) : std::nullopt, a_kept);
            nc_check.same("vault::Vault::find", 3, "returned", selftest::shown(returned), "\"\\22\\e2\\82\\ac  \\22{\\5c\\22\\e2\\82\\ac  \\22{\\5c\\22\\e2\\82\\ac  \\22{\\5c\\22\\e2\\82\\ac  \\22{\\5c\\22\\e2\\82\\ac  \\22{\\5c\\22\\e2\\82\\ac  \\22{\\5c\\22\\e2\\82\\ac  \\22{\\5c\"");
            nc_check.same("vault::Vault::find", 3, "kept", selftest::shown(a_kept), "none");
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("vault::Vault::find", 3, "outcome", outcome, "returned");
    }
    {
        std::string outcome = "returned";
        ::std::optional<::nearcall::descriptor> a_log{};
        a_log = nearcall::descriptor(nc_opened(NC_ANY, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"));
        ::std::optional<::nearcall::descriptor> a_kept{};
        nc_check.round(1, 5);
        try {
            const auto returned = client.find(a_log ? std::optional<int>(a_log->get()) : std::nullopt, a_kept);
            nc_check.same("vault::Vault::find", 4, "returned", selftest::shown(returned), "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"");
            nc_check.same("vault::Vault::find", 4, "kept", selftest::shown(a_kept), "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"");
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("vault::Vault::find", 4, "outcome", outcome, "returned");
    }
}

static void nc_call_2(const ::nearcall::idl::vault::Vault &client) {
    {
        std::string outcome = "returned";
        ::nearcall::descriptor a_given{};
        a_given = nearcall::descriptor(nc_opened(NC_ANY, "\303\251"));
        nc_check.round(2, 1);
        try {
            client.leave(a_given.get());
        } catch (const nearcall::call_error &error) {
            outcome = error.what();
        }
        nc_check.same("vault::Vault::leave", 0, "outcome", outcome, "returned");
    }
}

int main(int argc, char **argv) try {
    const std::string name = argv[argc - 1];
    nearcall::domain domain;
    int status;
    {
        ::nearcall::idl::vault::Vault client_0(domain, name + "-0");
        nc_call_0(client_0);
        nc_call_1(client_0);
        nc_call_2(client_0);
        status = nc_check.end(12);
    }
    domain.shut_down();
    return status;
} catch (const std::exception &error) {
    std::fprintf(stderr, "client: %s\n", error.what());
    return 1;
}
