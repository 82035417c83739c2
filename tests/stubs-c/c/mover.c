/* A client of versions/straight.idl: `mover NAME WORDS`, where a refusal of the bind to NAME has
 * these words; none: it is not refused. */
#include <string.h>

#include "check.h"
#include "straight.h"

int main(int argc, char **argv) {
    nearcall_environment env;
    nearcall_domain *domain = nearcall_domain_new(&env);
    moving_Mover *mover;
    moving_Place place = {1, 2};
    CHECK(argc == 3 && domain != NULL);
    mover = nearcall_import_moving_Mover(domain, argv[1], &env);
    if (*argv[2] != '\0') {
        CHECK(mover == NULL && env.outcome == NEARCALL_NOT_BOUND);
        CHECK(env.reason == NEARCALL_REASON_HASH);
        CHECK(strstr(env.message, argv[2]) != NULL);
    } else {
        CHECK(mover != NULL);
        CHECK(moving_Mover_carry(mover, 1, 2, &env) == 12);
        CHECK(moving_Mover_reach(mover, &place, &env) == 12);
        nearcall_release_moving_Mover(mover);
    }
    nearcall_domain_shut_down(domain);
    nearcall_domain_release(domain);
    return 0;
}
