/* A server of vault.idl: `keeper_server NAME` exports it until its standard input ends. */
#include "open.h"
#include "serve.h"
#include "vault.h"

static int swap(void *self, int file, const char *text, int link, int *same,
                nearcall_environment *env) {
    (void)self;
    if (strcmp(text, "busy") == 0) {
        vault_Busy busy = {7};
        nearcall_raise_vault_Busy(env, busy);
        close(file);
        close(link);
        return -1;
    }
    *same = file;
    return link;
}

static int either(void *self, int link, int file, int *same, nearcall_environment *env) {
    (void)self;
    (void)env;
    *same = link < 0 ? file : -1;
    if (link >= 0) {
        close(file);
    }
    return link;
}

static uint64_t measure(void *self, int segment, nearcall_environment *env) {
    struct stat status;
    (void)self;
    (void)env;
    CHECK(fstat(segment, &status) == 0);
    close(segment);
    return (uint64_t)status.st_size;
}

static int made(void *self, const char *text, nearcall_environment *env) {
    (void)self;
    (void)env;
    return memory_file(text, strlen(text));
}

static int wrong(void *self, nearcall_environment *env) {
    int ends[2];
    (void)self;
    (void)env;
    CHECK(pipe(ends) == 0);
    close(ends[1]);
    return ends[0];
}

static nearcall_domain *domain;

static uint32_t open_count_of(void *self, int introduction, nearcall_environment *env) {
    nearcall_environment own;
    uint32_t count = 0;
    vault_Vault *vault = nearcall_introduced_vault_Vault(domain, introduction, &own);
    (void)self;
    (void)env;
    if (vault != NULL) {
        count = vault_Vault_open_count(vault, &own);
        nearcall_release_vault_Vault(vault);
    }
    return count;
}

static void close_it(void *self, int given, nearcall_environment *env) {
    (void)self;
    (void)env;
    close(given);
}

static uint32_t count(void *self, nearcall_environment *env) {
    (void)self;
    (void)env;
    return open_count();
}

int main(int argc, char **argv) {
    static const nearcall_server_vault_Vault server = {
        NULL, swap, either, measure, made, wrong, open_count_of, close_it, count,
    };
    nearcall_environment env;
    nearcall_clerk *clerk;
    domain = nearcall_domain_new(&env);
    CHECK(domain != NULL && argc == 2);
    clerk = nearcall_export_vault_Vault(domain, argv[1], &server, &env);
    if (clerk == NULL) {
        fprintf(stderr, "%s\n", env.message);
        return 1;
    }
    serve(domain, clerk);
    return 0;
}
