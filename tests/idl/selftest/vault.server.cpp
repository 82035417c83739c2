/* The server of a self-test of vault, seed 1: `vault_selftest_server NAME`, the
 * same name on both sides. To build:
 *
 * cc -std=c11 -c vault.c vault_server.c $(pkg-config --cflags nearcall)
 * c++ -std=c++17 -o vault_selftest_server vault_selftest_server.cpp vault.o vault_server.o \
 *     $(pkg-config --cflags --libs nearcall)
 */
#include "vault_selftest.hpp"

static selftest::check nc_check("server");

class nc_server_0 final : public ::nearcall::idl::vault::VaultServer {
  public:
    ::nearcall::descriptor swap(::nearcall::descriptor link, const ::std::string &text, ::nearcall::descriptor &kept) override {
        ::nearcall::descriptor nc_returned{};
        switch (nc_check.round(0, 6)) {
        case 0: {
            nc_check.same("vault::Vault::swap", 0, "link", selftest::shown(link), "\"\077\"");
            nc_check.same("vault::Vault::swap", 0, "text", selftest::shown(text), "\"%\"");
            kept = nearcall::descriptor(nc_opened(NC_SEGMENT, "Z"));
            nc_returned = nearcall::descriptor(nc_opened(NC_FILE, " a"));
            break;
        }
        case 1: {
            nc_check.same("vault::Vault::swap", 1, "link", selftest::shown(link), "\"\"");
            nc_check.same("vault::Vault::swap", 1, "text", selftest::shown(text), "\"\"");
            kept = nearcall::descriptor(nc_opened(NC_SEGMENT, ""));
            nc_returned = nearcall::descriptor(nc_opened(NC_FILE, ""));
            break;
        }
        case 2: {
            nc_check.same("vault::Vault::swap", 2, "link", selftest::shown(link), "\"\\22\\f0\\9f\\98\\80Z\\f0\\9f\\98\\80\\0a\\22Z\\22\\f0\\9f\\98\\80Z\\f0\\9f\\98\\80\\0a\\22Z\\22\\f0\\9f\\98\\80Z\\f0\\9f\\98\\80\\0a\\22Z\\22\\f0\\9f\\98\\80Z\\f0\\9f\\98\\80\\0a\\22Z\"");
            nc_check.same("vault::Vault::swap", 2, "text", selftest::shown(text), "\" {\\f0\\9f\\98\\80\\e2\\82\\acZ\\0a\\c3\\a9 {\\f0\\9f\\98\\80\\e2\\82\\acZ\\0a\\c3\\a9 {\\f0\\9f\\98\\80\\e2\\82\\acZ\\0a\\c3\\a9... 365 bytes, hash 60d400c90677f5ca");
            kept = nearcall::descriptor(nc_opened(NC_SEGMENT, "%\077\077\"\342\202\254%Z%\077\077\"\342\202\254%Z%\077\077\"\342\202\254%Z%\077\077\"\342\202\254%Z%\077\077\"\342\202\254%Z%\077\077\"\342\202\254%Z%\077\077\"\342\202\254%Z"));
            nc_returned = nearcall::descriptor(nc_opened(NC_FILE, "\" \012\012Z\342\202\254a\" \012\012Z\342\202\254a\" \012\012Z\342\202\254a\" \012\012Z\342\202\254a\" \012\012Z\342\202\254a\" \012\012Z\342\202\254a\" \012\012Z\342\202\254a"));
            break;
        }
        case 3: {
            nc_check.same("vault::Vault::swap", 3, "link", selftest::shown(link), "\"\077\\0a\\c3\\a9{\\f0\\9f\\98\\80\\e2\\82\\acZ\077\\0a\\c3\\a9{\\f0\\9f\\98\\80\\e2\\82\\acZ\077\\0a\\c3\\a9{\\f0\\9f\\98\\80\\e2\\82\\acZ\077\\0a\\c3\\a9{\\f0\\9f\\98\\80\\e2\\82\\acZ\"");
            nc_check.same("vault::Vault::swap", 3, "text", selftest::shown(text), "\"\\22\\e2\\82\\aca{  \077\\22\\e2\\82\\aca{  \077\\22\\e2\\82\\aca{  \077\\22\\e2\\82\\aca{  \077\\22\\e2\\82\\aca{  \077\\22\\e2\\82\\aca{... 5663 bytes, hash 8b0b6ba22d18f951");
            kept = nearcall::descriptor(nc_opened(NC_SEGMENT, "\"%%\360\237\230\200\303\251%Z\"%%\360\237\230\200\303\251%Z\"%%\360\237\230\200\303\251%Z\"%%\360\237\230\200\303\251%Z\"%%\360\237\230\200\303\251%Z"));
            nc_returned = nearcall::descriptor(nc_opened(NC_FILE, "{\077\360\237\230\200%\342\202\254\" {\077\360\237\230\200%\342\202\254\" {\077\360\237\230\200%\342\202\254\" {\077\360\237\230\200%\342\202\254\" {\077\360\237\230\200%\342\202\254\" "));
            break;
        }
        case 4: {
            nc_check.same("vault::Vault::swap", 4, "link", selftest::shown(link), "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"");
            nc_check.same("vault::Vault::swap", 4, "text", selftest::shown(text), "\"\"");
            kept = nearcall::descriptor(nc_opened(NC_SEGMENT, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"));
            nc_returned = nearcall::descriptor(nc_opened(NC_FILE, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"));
            break;
        }
        case 5: {
            nc_check.same("vault::Vault::swap", 5, "link", selftest::shown(link), "\"\"");
            nc_check.same("vault::Vault::swap", 5, "text", selftest::shown(text), "\"\\c3\\a9\"");
            ::nearcall::idl::vault::Busy nc_raised;
            nc_raised.holder = 0;
            throw nc_raised;
            break;
        }
        }
        return nc_returned;
    }

    ::std::optional<::nearcall::descriptor> find(::std::optional<::nearcall::descriptor> log, ::std::optional<::nearcall::descriptor> &kept) override {
        ::std::optional<::nearcall::descriptor> nc_returned{};
        switch (nc_check.round(1, 5)) {
        case 0: {
            nc_check.same("vault::Vault::find", 0, "log", selftest::shown(log), "\"\"");
            kept = std::nullopt;
            nc_returned = nearcall::descriptor(nc_opened(NC_FILE, "Z"));
            break;
        }
        case 1: {
            nc_check.same("vault::Vault::find", 1, "log", selftest::shown(log), "none");
            kept = std::nullopt;
            nc_returned = std::nullopt;
            break;
        }
        case 2: {
            nc_check.same("vault::Vault::find", 2, "log", selftest::shown(log), "none");
            kept = nearcall::descriptor(nc_opened(NC_SEGMENT, "\077%\360\237\230\200%\"\\ \077%\360\237\230\200%\"\\ \077%\360\237\230\200%\"\\ \077%\360\237\230\200%\"\\ \077%\360\237\230\200%\"\\ \077%\360\237\230\200%\"\\ "));
            nc_returned = std::nullopt;
            break;
        }
        case 3: {
            nc_check.same("vault::Vault::find", 3, "log", selftest::shown(log), "\" %a\\0a\\22\\c3\\a9\\f0\\9f\\98\\80 %a\\0a\\22\\c3\\a9\\f0\\9f\\98\\80 %a\\0a\\22\\c3\\a9\\f0\\9f\\98\\80 %a\\0a\\22\\c3\\a9\\f0\\9f\\98\\80 %a\\0a\\22\\c3\\a9\\f0\\9f\\98\\80\"");
            kept = std::nullopt;
            nc_returned = nearcall::descriptor(nc_opened(NC_FILE, "\"\342\202\254  \"{\\\"\342\202\254  \"{\\\"\342\202\254  \"{\\\"\342\202\254  \"{\\\"\342\202\254  \"{\\\"\342\202\254  \"{\\\"\342\202\254  \"{\\"));
            break;
        }
        case 4: {
            nc_check.same("vault::Vault::find", 4, "log", selftest::shown(log), "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"");
            kept = nearcall::descriptor(nc_opened(NC_SEGMENT, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"));
            nc_returned = nearcall::descriptor(nc_opened(NC_FILE, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"));
            break;
        }
        }
        return nc_returned;
    }

    void leave(::nearcall::descriptor given) override {
        switch (nc_check.round(2, 1)) {
        case 0: {
            nc_check.same("vault::Vault::leave", 0, "given", selftest::shown(given), "\"\\c3\\a9\"");
            break;
        }
        }
    }

};

int main(int argc, char **argv) try {
    const std::string name = argv[argc - 1];
    nearcall::domain domain;
    nc_server_0 server_0;
    ::nearcall::idl::vault::VaultClerk clerk_0(domain, name + "-0", server_0);
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
