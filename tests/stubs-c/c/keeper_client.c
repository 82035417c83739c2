/* A client of vault.idl: `keeper_client NAME` passes descriptors of each kind and counts those that
 * stay open; `keeper_client NAME lies` expects a server that never sends what it should. */
#include "open.h"
#include "vault.h"

static nearcall_environment env;
static nearcall_domain *domain;

static void expect(nearcall_outcome outcome) {
    if (env.outcome != outcome) {
        fprintf(stderr, "outcome %u, not %u: %s\n", env.outcome, outcome, env.message);
        exit(1);
    }
    checks++;
}

static void swaps(const vault_Vault *vault, int file, int link) {
    int same = 77;
    int back = vault_Vault_swap(vault, file, "swap", link, &same, &env);
    expect(NEARCALL_RETURNED);
    CHECK(back >= 0 && back != link && same >= 0 && same != file);
    CHECK(same_file(back, link) && same_file(same, file));
    nearcall_close(back);
    nearcall_close(same);
    back = vault_Vault_swap(vault, file, "busy", link, &same, &env);
    expect(NEARCALL_RAISED);
    CHECK(nearcall_raised_vault_Busy(&env)->holder == 7);
    CHECK(back == -1 && same == -1);
    nearcall_environment_release(&env);
}

/* One of both is absent, each way. */
static void eithers(const vault_Vault *vault, int file, int link) {
    int same = 77;
    int back = vault_Vault_either(vault, link, file, &same, &env);
    expect(NEARCALL_RETURNED);
    CHECK(back >= 0 && same == -1 && same_file(back, link));
    nearcall_close(back);
    back = vault_Vault_either(vault, -1, file, &same, &env);
    expect(NEARCALL_RETURNED);
    CHECK(back == -1 && same >= 0 && same_file(same, file));
    nearcall_close(same);
    CHECK(vault_Vault_either(vault, file, file, &same, &env) == -1 && same == -1);
    expect(NEARCALL_USAGE);
    CHECK(strncmp(env.message, "link: ", 6) == 0);
    CHECK(vault_Vault_either(vault, link, -1, &same, &env) == -1 && same == -1);
    expect(NEARCALL_USAGE);
    CHECK(strncmp(env.message, "file: ", 6) == 0);
}

/* Of our own: nothing is sent. */
static void wrong_ones(const vault_Vault *vault, int file, int link) {
    int same = 77;
    CHECK(vault_Vault_swap(vault, link, "swap", link, &same, &env) == -1 && same == -1);
    expect(NEARCALL_USAGE);
    CHECK(strncmp(env.message, "file: ", 6) == 0);
    CHECK(vault_Vault_swap(vault, file, "swap", -1, &same, &env) == -1);
    expect(NEARCALL_USAGE);
    CHECK(strncmp(env.message, "link: ", 6) == 0);
    CHECK(vault_Vault_swap(vault, file, "\xff", link, &same, &env) == -1);
    expect(NEARCALL_USAGE);
    CHECK(vault_Vault_measure(vault, file, &env) == 0);
    expect(NEARCALL_USAGE);
    CHECK(strncmp(env.message, "segment: ", 9) == 0);
}

static void others(const vault_Vault *vault, int segment) {
    char text[16] = {0};
    int made;
    CHECK(vault_Vault_measure(vault, segment, &env) == 4096);
    expect(NEARCALL_RETURNED);
    made = vault_Vault_made(vault, "five!", &env);
    expect(NEARCALL_RETURNED);
    CHECK(pread(made, text, sizeof text, 0) == 5 && strcmp(text, "five!") == 0);
    nearcall_close(made);
    CHECK(vault_Vault_wrong(vault, &env) == -1);
    expect(NEARCALL_RESULTS_REFUSED);
    CHECK(env.ran == NEARCALL_RAN_YES);
}

/* The server is introduced to itself. */
static void introduces(const vault_Vault *vault) {
    int introduction = nearcall_introduce_vault_Vault(vault, &env);
    expect(NEARCALL_RETURNED);
    CHECK(introduction >= 0);
    CHECK(vault_Vault_ask(vault, introduction, &env) > 0);
    expect(NEARCALL_RETURNED);
    /* It is used. */
    CHECK(vault_Vault_ask(vault, introduction, &env) == 0);
    expect(NEARCALL_RETURNED);
    nearcall_close(introduction);
    CHECK(nearcall_introduced_vault_Vault(domain, -1, &env) == NULL);
    expect(NEARCALL_NOT_BOUND);
}

/* Waits until nothing is open that was not: what a oneway call has sent may be under way. */
static void all_closed(const vault_Vault *vault, unsigned before, unsigned there) {
    unsigned own = open_count(), its = vault_Vault_open_count(vault, &env);
    there += HELD_READY;
    for (int round = 0; its > there && round < 2000; round++) {
        usleep(1000);
        its = vault_Vault_open_count(vault, &env);
    }
    if (own > before || its > there) {
        fprintf(stderr, "open: %u, now %u; in the server: %u, now %u\n", before, own, there, its);
        exit(1);
    }
    checks++;
}

static void passes(const vault_Vault *vault) {
    int links[2], file = memory_file("x", 1), segment = sealed_segment();
    unsigned before = 0, there = 0;
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, links) == 0);
    for (int round = 0; round < 40; round++) {
        if (round == 10) {
            before = open_count();
            there = vault_Vault_open_count(vault, &env);
        }
        swaps(vault, file, links[0]);
        eithers(vault, file, links[0]);
        wrong_ones(vault, file, links[0]);
        others(vault, segment);
        introduces(vault);
        vault_Vault_close(vault, file, &env);
        expect(NEARCALL_RETURNED);
    }
    all_closed(vault, before, there);
    close(links[0]);
    close(links[1]);
    close(file);
    close(segment);
}

/* Each lie revokes its binding, which is why there is one for each. */
static void lies(const char *name) {
    int links[2], same, file = memory_file("x", 1);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, links) == 0);
    for (int lie = 0; lie < 4; lie++) {
        vault_Vault *vault = nearcall_import_vault_Vault(domain, name, &env);
        CHECK(vault != NULL);
        CHECK(vault_Vault_swap(vault, file, "swap", links[0], &same, &env) == -1 && same == -1);
        expect(NEARCALL_PEER);
        CHECK(nearcall_is_revoked(nearcall_binding_vault_Vault(vault)));
        nearcall_release_vault_Vault(vault);
    }
    close(links[0]);
    close(links[1]);
    close(file);
}

int main(int argc, char **argv) {
    domain = nearcall_domain_new(&env);
    CHECK(domain != NULL && argc >= 2);
    if (argc == 3) {
        lies(argv[1]);
    } else {
        vault_Vault *vault = nearcall_import_vault_Vault(domain, argv[1], &env);
        if (vault == NULL) {
            fprintf(stderr, "%s\n", env.message);
            return 1;
        }
        passes(vault);
        nearcall_release_vault_Vault(vault);
    }
    nearcall_domain_shut_down(domain);
    nearcall_domain_release(domain);
    printf("%u checks\n", checks);
    return 0;
}
