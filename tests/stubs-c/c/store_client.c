/* A client of either version of versions/: `store_client NAME older|newer|other`, by what the
 * server has. Compiled with NEW for the new version. */
#ifdef NEW
#include "new.h"
#else
#include "old.h"
#endif
#include "check.h"

static nearcall_environment env;

/* What both versions have. */
static void both(const versions_Store *store) {
    char key[] = "a key";
    versions_Entry entry = {key, 7};
    int32_t value;
    versions_Store_put(store, &entry, &env);
    CHECK(env.outcome == NEARCALL_RETURNED);
    value = versions_Store_get(store, "a key", &env);
    CHECK(env.outcome == NEARCALL_RETURNED && value == 7);
    versions_Store_get(store, "no key", &env);
    CHECK(env.outcome == NEARCALL_RAISED);
    CHECK(strcmp(nearcall_raised_versions_Missing(&env)->key, "no key") == 0);
    nearcall_environment_release(&env);
}

#ifdef NEW
/* What only the new one has, at an old server. */
static void missing(const versions_Store *store) {
    versions_Store_count(store, &env);
    CHECK(env.outcome == NEARCALL_NOT_EXECUTED && env.ran == NEARCALL_RAN_NO);
    CHECK(strcmp(env.message, "count was not executed: the server's version of the interface "
                              "does not have it") == 0);
}
#endif

int main(int argc, char **argv) {
    nearcall_domain *domain = nearcall_domain_new(&env);
    versions_Store *store;
    int round;
    CHECK(argc == 3 && domain != NULL);
    store = nearcall_import_versions_Store(domain, argv[1], &env);
    if (strcmp(argv[2], "other") == 0) {
        CHECK(store == NULL && env.outcome == NEARCALL_NOT_BOUND);
        CHECK(strstr(env.message, "procedure 0, `get`, has other parameters, ") != NULL);
    } else {
        CHECK(store != NULL);
        for (round = 0; round < 100; round++) {
            both(store);
#ifdef NEW
            CHECK(strcmp(argv[2], "older") == 0);
            missing(store);
#else
            CHECK(strcmp(argv[2], "newer") == 0);
#endif
        }
        nearcall_release_versions_Store(store);
    }
    nearcall_domain_shut_down(domain);
    nearcall_domain_release(domain);
    printf("%u checks\n", checks);
    return 0;
}
