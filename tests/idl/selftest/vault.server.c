/* The server of a self-test of vault, seed 1: `vault_selftest_server NAME`, the
 * same name on both sides. To build:
 *
 * cc -std=c11 -o vault_selftest_server vault_selftest_server.c vault.c vault_server.c \
 *    $(pkg-config --cflags --libs nearcall)
 */
#define _GNU_SOURCE
#define NC_SIDE "server"
#include "vault_selftest.h"

static int nc_run_0(void *nc_self, int link, const char *text, int *kept, nearcall_environment *nc_env) {
    int32_t nc_returned;
    memset(&nc_returned, 0, sizeof nc_returned);
    (void)nc_self;
    (void)nc_env;
    switch (nc_round(0, 6)) {
    case 0: {
        {
            nc_shown got = {NULL, 0, 0};
            nc_put_opened(&got, link);
            nc_same("vault::Vault::swap", 0, "link", &got, "\"\077\"");
        }
        {
            nc_shown got = {NULL, 0, 0};
            nc_put_text(&got, text);
            nc_same("vault::Vault::swap", 0, "text", &got, "\"%\"");
        }
        memset(kept, 0, sizeof *kept);
        (*kept) = nc_opened(NC_SEGMENT, "Z");
        nc_returned = nc_opened(NC_FILE, " a");
        break;
    }
    case 1: {
        {
            nc_shown got = {NULL, 0, 0};
            nc_put_opened(&got, link);
            nc_same("vault::Vault::swap", 1, "link", &got, "\"\"");
        }
        {
            nc_shown got = {NULL, 0, 0};
            nc_put_text(&got, text);
            nc_same("vault::Vault::swap", 1, "text", &got, "\"\"");
        }
        memset(kept, 0, sizeof *kept);
        (*kept) = nc_opened(NC_SEGMENT, "");
        nc_returned = nc_opened(NC_FILE, "");
        break;
    }
    case 2: {
        {
            nc_shown got = {NULL, 0, 0};
            nc_put_opened(&got, link);
            nc_same("vault::Vault::swap", 2, "link", &got, "\"\\22\\f0\\9f\\98\\80Z\\f0\\9f\\98\\80\\0a\\22Z\\22\\f0\\9f\\98\\80Z\\f0\\9f\\98\\80\\0a\\22Z\\22\\f0\\9f\\98\\80Z\\f0\\9f\\98\\80\\0a\\22Z\\22\\f0\\9f\\98\\80Z\\f0\\9f\\98\\80\\0a\\22Z\"");
        }
        {
            nc_shown got = {NULL, 0, 0};
            nc_put_text(&got, text);
            nc_same("vault::Vault::swap", 2, "text", &got, "\" {\\f0\\9f\\98\\80\\e2\\82\\acZ\\0a\\c3\\a9 {\\f0\\9f\\98\\80\\e2\\82\\acZ\\0a\\c3\\a9 {\\f0\\9f\\98\\80\\e2\\82\\acZ\\0a\\c3\\a9... 365 bytes, hash 60d400c90677f5ca");
        }
        memset(kept, 0, sizeof *kept);
        (*kept) = nc_opened(NC_SEGMENT, "%\077\077\"\342\202\254%Z%\077\077\"\342\202\254%Z%\077\077\"\342\202\254%Z%\077\077\"\342\202\254%Z%\077\077\"\342\202\254%Z%\077\077\"\342\202\254%Z%\077\077\"\342\202\254%Z");
        nc_returned = nc_opened(NC_FILE, "\" \012\012Z\342\202\254a\" \012\012Z\342\202\254a\" \012\012Z\342\202\254a\" \012\012Z\342\202\254a\" \012\012Z\342\202\254a\" \012\012Z\342\202\254a\" \012\012Z\342\202\254a");
        break;
    }
    case 3: {
        {
            nc_shown got = {NULL, 0, 0};
            nc_put_opened(&got, link);
            nc_same("vault::Vault::swap", 3, "link", &got, "\"\077\\0a\\c3\\a9{\\f0\\9f\\98\\80\\e2\\82\\acZ\077\\0a\\c3\\a9{\\f0\\9f\\98\\80\\e2\\82\\acZ\077\\0a\\c3\\a9{\\f0\\9f\\98\\80\\e2\\82\\acZ\077\\0a\\c3\\a9{\\f0\\9f\\98\\80\\e2\\82\\acZ\"");
        }
        {
            nc_shown got = {NULL, 0, 0};
            nc_put_text(&got, text);
            nc_same("vault::Vault::swap", 3, "text", &got, "\"\\22\\e2\\82\\aca{  \077\\22\\e2\\82\\aca{  \077\\22\\e2\\82\\aca{  \077\\22\\e2\\82\\aca{  \077\\22\\e2\\82\\aca{  \077\\22\\e2\\82\\aca{... 5663 bytes, hash 8b0b6ba22d18f951");
        }
        memset(kept, 0, sizeof *kept);
        (*kept) = nc_opened(NC_SEGMENT, "\"%%\360\237\230\200\303\251%Z\"%%\360\237\230\200\303\251%Z\"%%\360\237\230\200\303\251%Z\"%%\360\237\230\200\303\251%Z\"%%\360\237\230\200\303\251%Z");
        nc_returned = nc_opened(NC_FILE, "{\077\360\237\230\200%\342\202\254\" {\077\360\237\230\200%\342\202\254\" {\077\360\237\230\200%\342\202\254\" {\077\360\237\230\200%\342\202\254\" {\077\360\237\230\200%\342\202\254\" ");
        break;
    }
    case 4: {
        {
            nc_shown got = {NULL, 0, 0};
            nc_put_opened(&got, link);
            nc_same("vault::Vault::swap", 4, "link", &got, "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"");
        }
        {
            nc_shown got = {NULL, 0, 0};
            nc_put_text(&got, text);
            nc_same("vault::Vault::swap", 4, "text", &got, "\"\"");
        }
        memset(kept, 0, sizeof *kept);
        (*kept) = nc_opened(NC_SEGMENT, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
        nc_returned = nc_opened(NC_FILE, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
        break;
    }
    case 5: {
        {
            nc_shown got = {NULL, 0, 0};
            nc_put_opened(&got, link);
            nc_same("vault::Vault::swap", 5, "link", &got, "\"\"");
        }
        {
            nc_shown got = {NULL, 0, 0};
            nc_put_text(&got, text);
            nc_same("vault::Vault::swap", 5, "text", &got, "\"\\c3\\a9\"");
        }
        vault_Busy nc_raised;
        memset(&nc_raised, 0, sizeof nc_raised);
        nc_raised.holder = 0;
        nearcall_raise_vault_Busy(nc_env, nc_raised);
        break;
    }
    }
    return nc_returned;
}

static int nc_run_1(void *nc_self, int log, int *kept, nearcall_environment *nc_env) {
    int32_t nc_returned;
    memset(&nc_returned, 0, sizeof nc_returned);
    (void)nc_self;
    (void)nc_env;
    switch (nc_round(1, 5)) {
    case 0: {
        {
            nc_shown got = {NULL, 0, 0};
            nc_put_opened(&got, log);
            nc_same("vault::Vault::find", 0, "log", &got, "\"\"");
        }
        memset(kept, 0, sizeof *kept);
        (*kept) = -1;
        nc_returned = nc_opened(NC_FILE, "Z");
        break;
    }
    case 1: {
        {
            nc_shown got = {NULL, 0, 0};
            nc_put_opened(&got, log);
            nc_same("vault::Vault::find", 1, "log", &got, "none");
        }
        memset(kept, 0, sizeof *kept);
        (*kept) = -1;
        nc_returned = -1;
        break;
    }
    case 2: {
        {
            nc_shown got = {NULL, 0, 0};
            nc_put_opened(&got, log);
            nc_same("vault::Vault::find", 2, "log", &got, "none");
        }
        memset(kept, 0, sizeof *kept);
        (*kept) = nc_opened(NC_SEGMENT, "\077%\360\237\230\200%\"\\ \077%\360\237\230\200%\"\\ \077%\360\237\230\200%\"\\ \077%\360\237\230\200%\"\\ \077%\360\237\230\200%\"\\ \077%\360\237\230\200%\"\\ ");
        nc_returned = -1;
        break;
    }
    case 3: {
        {
            nc_shown got = {NULL, 0, 0};
            nc_put_opened(&got, log);
            nc_same("vault::Vault::find", 3, "log", &got, "\" %a\\0a\\22\\c3\\a9\\f0\\9f\\98\\80 %a\\0a\\22\\c3\\a9\\f0\\9f\\98\\80 %a\\0a\\22\\c3\\a9\\f0\\9f\\98\\80 %a\\0a\\22\\c3\\a9\\f0\\9f\\98\\80 %a\\0a\\22\\c3\\a9\\f0\\9f\\98\\80\"");
        }
        memset(kept, 0, sizeof *kept);
        (*kept) = -1;
        nc_returned = nc_opened(NC_FILE, "\"\342\202\254  \"{\\\"\342\202\254  \"{\\\"\342\202\254  \"{\\\"\342\202\254  \"{\\\"\342\202\254  \"{\\\"\342\202\254  \"{\\\"\342\202\254  \"{\\");
        break;
    }
    case 4: {
        {
            nc_shown got = {NULL, 0, 0};
            nc_put_opened(&got, log);
            nc_same("vault::Vault::find", 4, "log", &got, "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"");
        }
        memset(kept, 0, sizeof *kept);
        (*kept) = nc_opened(NC_SEGMENT, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
        nc_returned = nc_opened(NC_FILE, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
        break;
    }
    }
    return nc_returned;
}

static void nc_run_2(void *nc_self, int given, nearcall_environment *nc_env) {
    (void)nc_self;
    (void)nc_env;
    switch (nc_round(2, 1)) {
    case 0: {
        {
            nc_shown got = {NULL, 0, 0};
            nc_put_opened(&got, given);
            nc_same("vault::Vault::leave", 0, "given", &got, "\"\\c3\\a9\"");
        }
        break;
    }
    }
}

int main(int argc, char **argv) {
    static const nearcall_server_vault_Vault server_0 = {
        NULL,
        nc_run_0,
        nc_run_1,
        nc_run_2,
    };
    nearcall_environment env;
    nearcall_domain *domain = nearcall_domain_new(&env);
    nearcall_clerk *clerks[1];
    char name[128];
    if (domain == NULL) {
        nc_stop(env.message);
    }
    snprintf(name, sizeof name, "%s-0", argv[argc - 1]);
    clerks[0] = nearcall_export_vault_Vault(domain, name, &server_0, &env);
    if (clerks[0] == NULL) {
        nc_stop(env.message);
    }
    puts("ready");
    fflush(stdout);
    nc_rest();
    nc_wait(12);
    nearcall_domain_shut_down(domain);
    for (size_t i = 0; i < 1; i++) {
        nearcall_clerk_release(clerks[i]);
    }
    nearcall_domain_release(domain);
    return nc_end(12);
}
