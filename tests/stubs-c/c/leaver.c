/* A client of deferring.idl that ends while the server has calls of it: `leaver NAME HOW`. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "deferring.h"

/* As many as it has A-stacks for them. */
#define TOLD_COUNT 5

static nearcall_environment env;

/* Calls that are set aside. */
static void keep(const deferring_Later *later) {
    nearcall_posted_deferring_Later_keep first, second;
    uint32_t cancelled;
    CHECK(nearcall_post_deferring_Later_keep(later, 1, &first, &env));
    CHECK(nearcall_post_deferring_Later_keep(later, 2, &second, &env));
    while (deferring_Later_kept(later, &cancelled, &env) < 2) {
        CHECK(env.outcome == NEARCALL_RETURNED);
    }
}

int main(int argc, char **argv) {
    nearcall_domain *domain = nearcall_domain_new(&env);
    deferring_Later *later;
    CHECK(argc == 3 && domain != NULL);
    later = nearcall_import_deferring_Later(domain, argv[1], &env);
    CHECK(later != NULL);
    if (strcmp(argv[2], "keeps") == 0) {
        keep(later);
        raise(SIGKILL);
    }
    for (int number = 0; number < TOLD_COUNT; number++) {
        deferring_Later_tell(later, "goodbye", &env);
        CHECK(env.outcome == NEARCALL_RETURNED);
    }
    if (strcmp(argv[2], "exits") == 0) {
        _exit(0);
    } else if (strcmp(argv[2], "is killed") == 0) {
        raise(SIGKILL);
    }
    nearcall_release_deferring_Later(later);
    nearcall_domain_shut_down(domain);
    nearcall_domain_release(domain);
    return 0;
}
