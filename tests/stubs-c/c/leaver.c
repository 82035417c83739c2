/* A client of deferring.idl that ends while its calls are set aside, but for those that nobody waits
 * for, which it has over: `leaver NAME`. */
#include <signal.h>

#include "check.h"
#include "deferring.h"

int main(int argc, char **argv) {
    nearcall_posted_deferring_Later_keep first, second;
    nearcall_environment env;
    nearcall_domain *domain = nearcall_domain_new(&env);
    deferring_Later *later;
    uint32_t cancelled;
    CHECK(argc == 2 && domain != NULL);
    later = nearcall_import_deferring_Later(domain, argv[1], &env);
    CHECK(later != NULL);
    CHECK(nearcall_post_deferring_Later_keep(later, 1, &first, &env));
    CHECK(nearcall_post_deferring_Later_keep(later, 2, &second, &env));
    while (deferring_Later_kept(later, &cancelled, &env) < 2) {
        CHECK(env.outcome == NEARCALL_RETURNED);
    }
    for (int number = 0; number < 3; number++) {
        deferring_Later_tell(later, "left", &env);
        CHECK(env.outcome == NEARCALL_RETURNED);
    }
    CHECK(nearcall_flush(nearcall_binding_deferring_Later(later), UINT64_C(30000000000)) == 0);
    CHECK(nearcall_flush(NULL, 0) == 0);
    raise(SIGKILL);
    return 1;
}
