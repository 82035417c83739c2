/* A server of either version of versions/: `store_server NAME` exports it until its standard input
 * ends. Compiled with NEW for the new version. It keeps one entry, which one client puts. */
#ifdef NEW
#include "new.h"
#else
#include "old.h"
#endif
#include "check.h"
#include "serve.h"

static char key_kept[17];
static int32_t value_kept;

static int32_t get(void *self, const char *key, nearcall_environment *env) {
    (void)self;
    if (strcmp(key, key_kept) != 0) {
        versions_Missing missing = {nearcall_copy_text(key)};
        nearcall_raise_versions_Missing(env, missing);
        return 0;
    }
    return value_kept;
}

static void put(void *self, const versions_Entry *entry, nearcall_environment *env) {
    (void)self;
    (void)env;
    strcpy(key_kept, entry->key);
    value_kept = entry->value;
}

#ifdef NEW
static int32_t count(void *self, nearcall_environment *env) {
    (void)self;
    (void)env;
    return key_kept[0] != '\0';
}

static versions_Entries all(void *self, nearcall_environment *env) {
    versions_Entries none = {0, NULL};
    (void)self;
    (void)env;
    return none;
}
#endif

int main(int argc, char **argv) {
#ifdef NEW
    static const nearcall_server_versions_Store server = {NULL, get, put, count, all};
#else
    static const nearcall_server_versions_Store server = {NULL, get, put};
#endif
    nearcall_environment env;
    nearcall_domain *domain = nearcall_domain_new(&env);
    nearcall_clerk *clerk;
    CHECK(argc == 2 && domain != NULL);
    clerk = nearcall_export_versions_Store(domain, argv[1], &server, &env);
    CHECK(clerk != NULL);
    serve(domain, clerk);
    return 0;
}
