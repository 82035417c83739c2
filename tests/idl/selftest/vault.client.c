/* The client of a self-test of vault, seed 1: `vault_selftest_client NAME`, the
 * same name on both sides. To build:
 *
 * cc -std=c11 -o vault_selftest_client vault_selftest_client.c vault.c \
 *    $(pkg-config --cflags --libs nearcall)
 */
#define _GNU_SOURCE
#define NC_SIDE "client"
#include "vault_selftest.h"

static void nc_call_0(const vault_Vault *client) {
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        int32_t a_link;
        memset(&a_link, 0, sizeof a_link);
        a_link = nc_opened(NC_SOCKET, "\077");
        char *a_text;
        memset(&a_text, 0, sizeof a_text);
        a_text = nc_text("%", 1);
        int32_t a_kept;
        memset(&a_kept, 0, sizeof a_kept);
        int32_t returned;
        memset(&returned, 0, sizeof returned);
        nc_round(0, 6);
        returned = vault_Vault_swap(client, a_link, a_text, &a_kept, &env);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
            {
                nc_shown got = {NULL, 0, 0};
                nc_put_opened(&got, returned);
                nc_same("vault::Vault::swap", 0, "returned", &got, "\" a\"");
            }
            {
                nc_shown got = {NULL, 0, 0};
                nc_put_opened(&got, a_kept);
                nc_same("vault::Vault::swap", 0, "kept", &got, "\"Z\"");
            }
        } else if (nearcall_raised_vault_Busy(&env) != NULL) {
            nc_put(&outcome, "raised vault::Busy ");
            nc_show_vault_Busy(&outcome, nearcall_raised_vault_Busy(&env));
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("vault::Vault::swap", 0, "outcome", &outcome, "returned");
        nearcall_close(a_link);
        nearcall_free(a_text);
        nearcall_environment_release(&env);
    }
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        int32_t a_link;
        memset(&a_link, 0, sizeof a_link);
        a_link = nc_opened(NC_SOCKET, "");
        char *a_text;
        memset(&a_text, 0, sizeof a_text);
        a_text = nc_text("", 0);
        int32_t a_kept;
        memset(&a_kept, 0, sizeof a_kept);
        int32_t returned;
        memset(&returned, 0, sizeof returned);
        nc_round(0, 6);
        returned = vault_Vault_swap(client, a_link, a_text, &a_kept, &env);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
            {
                nc_shown got = {NULL, 0, 0};
                nc_put_opened(&got, returned);
                nc_same("vault::Vault::swap", 1, "returned", &got, "\"\"");
            }
            {
                nc_shown got = {NULL, 0, 0};
                nc_put_opened(&got, a_kept);
                nc_same("vault::Vault::swap", 1, "kept", &got, "\"\"");
            }
        } else if (nearcall_raised_vault_Busy(&env) != NULL) {
            nc_put(&outcome, "raised vault::Busy ");
            nc_show_vault_Busy(&outcome, nearcall_raised_vault_Busy(&env));
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("vault::Vault::swap", 1, "outcome", &outcome, "returned");
        nearcall_close(a_link);
        nearcall_free(a_text);
        nearcall_environment_release(&env);
    }
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        int32_t a_link;
        memset(&a_link, 0, sizeof a_link);
        a_link = nc_opened(NC_SOCKET, "\"\360\237\230\200Z\360\237\230\200\012\"Z\"\360\237\230\200Z\360\237\230\200\012\"Z\"\360\237\230\200Z\360\237\230\200\012\"Z\"\360\237\230\200Z\360\237\230\200\012\"Z");
        char *a_text;
        memset(&a_text, 0, sizeof a_text);
        a_text = nc_text(" {\360\237\230\200\342\202\254Z\012\303\251", 11);
        int32_t a_kept;
        memset(&a_kept, 0, sizeof a_kept);
        int32_t returned;
        memset(&returned, 0, sizeof returned);
        nc_round(0, 6);
        returned = vault_Vault_swap(client, a_link, a_text, &a_kept, &env);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
            {
                nc_shown got = {NULL, 0, 0};
                nc_put_opened(&got, returned);
                nc_same("vault::Vault::swap", 2, "returned", &got, "\"\\22 \\0a\\0aZ\\e2\\82\\aca\\22 \\0a\\0aZ\\e2\\82\\aca\\22 \\0a\\0aZ\\e2\\82\\aca\\22 \\0a\\0aZ\\e2\\82\\aca\\22 \\0a\\0aZ\\e2\\82\\aca\\22 \\0a\\0aZ\\e2\\82\\aca\\22 \\0a\\0aZ\\e2\\82\\aca\"");
            }
            {
                nc_shown got = {NULL, 0, 0};
                nc_put_opened(&got, a_kept);
                nc_same("vault::Vault::swap", 2, "kept", &got, "\"%\077\077\\22\\e2\\82\\ac%Z%\077\077\\22\\e2\\82\\ac%Z%\077\077\\22\\e2\\82\\ac%Z%\077\077\\22\\e2\\82\\ac%Z%\077\077\\22\\e2\\82\\ac%Z%\077\077\\22\\e2\\82\\ac%Z%\077\077\\22\\e2\\82\\ac%Z\"");
            }
        } else if (nearcall_raised_vault_Busy(&env) != NULL) {
            nc_put(&outcome, "raised vault::Busy ");
            nc_show_vault_Busy(&outcome, nearcall_raised_vault_Busy(&env));
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("vault::Vault::swap", 2, "outcome", &outcome, "returned");
        nearcall_close(a_link);
        nearcall_free(a_text);
        nearcall_environment_release(&env);
    }
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        int32_t a_link;
        memset(&a_link, 0, sizeof a_link);
        a_link = nc_opened(NC_SOCKET, "\077\012\303\251{\360\237\230\200\342\202\254Z\077\012\303\251{\360\237\230\200\342\202\254Z\077\012\303\251{\360\237\230\200\342\202\254Z\077\012\303\251{\360\237\230\200\342\202\254Z");
        char *a_text;
        memset(&a_text, 0, sizeof a_text);
        a_text = nc_text("\"\342\202\254a{  \077", 333);
        int32_t a_kept;
        memset(&a_kept, 0, sizeof a_kept);
        int32_t returned;
        memset(&returned, 0, sizeof returned);
        nc_round(0, 6);
        returned = vault_Vault_swap(client, a_link, a_text, &a_kept, &env);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
            {
                nc_shown got = {NULL, 0, 0};
                nc_put_opened(&got, returned);
                nc_same("vault::Vault::swap", 3, "returned", &got, "\"{\077\\f0\\9f\\98\\80%\\e2\\82\\ac\\22 {\077\\f0\\9f\\98\\80%\\e2\\82\\ac\\22 {\077\\f0\\9f\\98\\80%\\e2\\82\\ac\\22 {\077\\f0\\9f\\98\\80%\\e2\\82\\ac\\22 {\077\\f0\\9f\\98\\80%\\e2\\82\\ac\\22 \"");
            }
            {
                nc_shown got = {NULL, 0, 0};
                nc_put_opened(&got, a_kept);
                nc_same("vault::Vault::swap", 3, "kept", &got, "\"\\22%%\\f0\\9f\\98\\80\\c3\\a9%Z\\22%%\\f0\\9f\\98\\80\\c3\\a9%Z\\22%%\\f0\\9f\\98\\80\\c3\\a9%Z\\22%%\\f0\\9f\\98\\80\\c3\\a9%Z\\22%%\\f0\\9f\\98\\80\\c3\\a9%Z\"");
            }
        } else if (nearcall_raised_vault_Busy(&env) != NULL) {
            nc_put(&outcome, "raised vault::Busy ");
            nc_show_vault_Busy(&outcome, nearcall_raised_vault_Busy(&env));
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("vault::Vault::swap", 3, "outcome", &outcome, "returned");
        nearcall_close(a_link);
        nearcall_free(a_text);
        nearcall_environment_release(&env);
    }
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        int32_t a_link;
        memset(&a_link, 0, sizeof a_link);
        a_link = nc_opened(NC_SOCKET, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
        char *a_text;
        memset(&a_text, 0, sizeof a_text);
        a_text = nc_text("", 0);
        int32_t a_kept;
        memset(&a_kept, 0, sizeof a_kept);
        int32_t returned;
        memset(&returned, 0, sizeof returned);
        nc_round(0, 6);
        returned = vault_Vault_swap(client, a_link, a_text, &a_kept, &env);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
            {
                nc_shown got = {NULL, 0, 0};
                nc_put_opened(&got, returned);
                nc_same("vault::Vault::swap", 4, "returned", &got, "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"");
            }
            {
                nc_shown got = {NULL, 0, 0};
                nc_put_opened(&got, a_kept);
                nc_same("vault::Vault::swap", 4, "kept", &got, "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"");
            }
        } else if (nearcall_raised_vault_Busy(&env) != NULL) {
            nc_put(&outcome, "raised vault::Busy ");
            nc_show_vault_Busy(&outcome, nearcall_raised_vault_Busy(&env));
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("vault::Vault::swap", 4, "outcome", &outcome, "returned");
        nearcall_close(a_link);
        nearcall_free(a_text);
        nearcall_environment_release(&env);
    }
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        int32_t a_link;
        memset(&a_link, 0, sizeof a_link);
        a_link = nc_opened(NC_SOCKET, "");
        char *a_text;
        memset(&a_text, 0, sizeof a_text);
        a_text = nc_text("\303\251", 1);
        int32_t a_kept;
        memset(&a_kept, 0, sizeof a_kept);
        int32_t returned;
        memset(&returned, 0, sizeof returned);
        nc_round(0, 6);
        returned = vault_Vault_swap(client, a_link, a_text, &a_kept, &env);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
        } else if (nearcall_raised_vault_Busy(&env) != NULL) {
            nc_put(&outcome, "raised vault::Busy ");
            nc_show_vault_Busy(&outcome, nearcall_raised_vault_Busy(&env));
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("vault::Vault::swap", 5, "outcome", &outcome, "raised vault::Busy {holder: 0}");
        nearcall_close(a_link);
        nearcall_free(a_text);
        nearcall_environment_release(&env);
    }
}

static void nc_call_1(const vault_Vault *client) {
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        int32_t a_log;
        memset(&a_log, 0, sizeof a_log);
        a_log = nc_opened(NC_ANY, "");
        int32_t a_kept;
        memset(&a_kept, 0, sizeof a_kept);
        int32_t returned;
        memset(&returned, 0, sizeof returned);
        nc_round(1, 5);
        returned = vault_Vault_find(client, a_log, &a_kept, &env);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
            {
                nc_shown got = {NULL, 0, 0};
                nc_put_opened(&got, returned);
                nc_same("vault::Vault::find", 0, "returned", &got, "\"Z\"");
            }
            {
                nc_shown got = {NULL, 0, 0};
                nc_put_opened(&got, a_kept);
                nc_same("vault::Vault::find", 0, "kept", &got, "none");
            }
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("vault::Vault::find", 0, "outcome", &outcome, "returned");
        nearcall_close(a_log);
        nearcall_environment_release(&env);
    }
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        int32_t a_log;
        memset(&a_log, 0, sizeof a_log);
        a_log = -1;
        int32_t a_kept;
        memset(&a_kept, 0, sizeof a_kept);
        int32_t returned;
        memset(&returned, 0, sizeof returned);
        nc_round(1, 5);
        returned = vault_Vault_find(client, a_log, &a_kept, &env);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
            {
                nc_shown got = {NULL, 0, 0};
                nc_put_opened(&got, returned);
                nc_same("vault::Vault::find", 1, "returned", &got, "none");
            }
            {
                nc_shown got = {NULL, 0, 0};
                nc_put_opened(&got, a_kept);
                nc_same("vault::Vault::find", 1, "kept", &got, "none");
            }
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("vault::Vault::find", 1, "outcome", &outcome, "returned");
        nearcall_close(a_log);
        nearcall_environment_release(&env);
    }
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        int32_t a_log;
        memset(&a_log, 0, sizeof a_log);
        a_log = -1;
        int32_t a_kept;
        memset(&a_kept, 0, sizeof a_kept);
        int32_t returned;
        memset(&returned, 0, sizeof returned);
        nc_round(1, 5);
        returned = vault_Vault_find(client, a_log, &a_kept, &env);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
            {
                nc_shown got = {NULL, 0, 0};
                nc_put_opened(&got, returned);
                nc_same("vault::Vault::find", 2, "returned", &got, "none");
            }
            {
                nc_shown got = {NULL, 0, 0};
                nc_put_opened(&got, a_kept);
                nc_same("vault::Vault::find", 2, "kept", &got, "\"\077%\\f0\\9f\\98\\80%\\22\\5c \077%\\f0\\9f\\98\\80%\\22\\5c \077%\\f0\\9f\\98\\80%\\22\\5c \077%\\f0\\9f\\98\\80%\\22\\5c \077%\\f0\\9f\\98\\80%\\22\\5c \077%\\f0\\9f\\98\\80%\\22\\5c \"");
            }
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("vault::Vault::find", 2, "outcome", &outcome, "returned");
        nearcall_close(a_log);
        nearcall_environment_release(&env);
    }
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        int32_t a_log;
        memset(&a_log, 0, sizeof a_log);
        a_log = nc_opened(NC_ANY, " %a\012\"\303\251\360\237\230\200 %a\012\"\303\251\360\237\230\200 %a\012\"\303\251\360\237\230\200 %a\012\"\303\251\360\237\230\200 %a\012\"\303\251\360\237\230\200");
        int32_t a_kept;
        memset(&a_kept, 0, sizeof a_kept);
        int32_t returned;
        memset(&returned, 0, sizeof returned);
        nc_round(1, 5);
        returned = vault_Vault_find(client, a_log, &a_kept, &env);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
            {
                nc_shown got = {NULL, 0, 0};
                nc_put_opened(&got, returned);
                nc_same("vault::Vault::find", 3, "returned", &got, "\"\\22\\e2\\82\\ac  \\22{\\5c\\22\\e2\\82\\ac  \\22{\\5c\\22\\e2\\82\\ac  \\22{\\5c\\22\\e2\\82\\ac  \\22{\\5c\\22\\e2\\82\\ac  \\22{\\5c\\22\\e2\\82\\ac  \\22{\\5c\\22\\e2\\82\\ac  \\22{\\5c\"");
            }
            {
                nc_shown got = {NULL, 0, 0};
                nc_put_opened(&got, a_kept);
                nc_same("vault::Vault::find", 3, "kept", &got, "none");
            }
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("vault::Vault::find", 3, "outcome", &outcome, "returned");
        nearcall_close(a_log);
        nearcall_environment_release(&env);
    }
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        int32_t a_log;
        memset(&a_log, 0, sizeof a_log);
        a_log = nc_opened(NC_ANY, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
        int32_t a_kept;
        memset(&a_kept, 0, sizeof a_kept);
        int32_t returned;
        memset(&returned, 0, sizeof returned);
        nc_round(1, 5);
        returned = vault_Vault_find(client, a_log, &a_kept, &env);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
            {
                nc_shown got = {NULL, 0, 0};
                nc_put_opened(&got, returned);
                nc_same("vault::Vault::find", 4, "returned", &got, "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"");
            }
            {
                nc_shown got = {NULL, 0, 0};
                nc_put_opened(&got, a_kept);
                nc_same("vault::Vault::find", 4, "kept", &got, "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"");
            }
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("vault::Vault::find", 4, "outcome", &outcome, "returned");
        nearcall_close(a_log);
        nearcall_environment_release(&env);
    }
}

static void nc_call_2(const vault_Vault *client) {
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        int32_t a_given;
        memset(&a_given, 0, sizeof a_given);
        a_given = nc_opened(NC_ANY, "\303\251");
        nc_round(2, 1);
        vault_Vault_leave(client, a_given, &env);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("vault::Vault::leave", 0, "outcome", &outcome, "returned");
        nearcall_close(a_given);
        nearcall_environment_release(&env);
    }
}

int main(int argc, char **argv) {
    nearcall_environment env;
    nearcall_domain *domain = nearcall_domain_new(&env);
    char name[128];
    int status;
    vault_Vault *client_0;
    if (domain == NULL) {
        nc_stop(env.message);
    }
    snprintf(name, sizeof name, "%s-0", argv[argc - 1]);
    client_0 = nearcall_import_vault_Vault(domain, name, &env);
    if (client_0 == NULL) {
        nc_stop(env.message);
    }
    nc_call_0(client_0);
    nc_call_1(client_0);
    nc_call_2(client_0);
    status = nc_end(12);
    nearcall_release_vault_Vault(client_0);
    nearcall_domain_shut_down(domain);
    nearcall_domain_release(domain);
    return status;
}
