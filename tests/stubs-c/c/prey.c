/* A client whose server is hostile: `prey NAME` calls everything a few hundred times, and expects
 * of each call only that it ends, and that what it left can be given back. */
#include "check.h"
#include "cross.h"

enum { ROUNDS = 200, CALLS = 9 };

static unsigned outcomes[16];

/* One call of its own; whatever came back is given back. */
static void call(const cross_Cross *cross, int which, nearcall_environment *env) {
    switch (which) {
    case 0: {
        uint8_t small = 1;
        cross_Rights rights = cross_Rights_READ;
        uint64_t big;
        cross_Color color =
            cross_Cross_words(cross, cross_RED, true, 'a', 65, 1.0f, &small, &rights, &big, env);
        CHECK(color == cross_RED || color == cross_GREEN || color == cross_BLUE);
        break;
    }
    case 1:
        nearcall_free(cross_Cross_greet(cross, "me", env));
        break;
    case 2: {
        int32_t some[2] = {1, 2};
        cross_Numbers numbers = {2, some};
        cross_Octets bytes = {0, NULL};
        char *text = nearcall_copy_text("text");
        cross_Numbers all = cross_Cross_doubled(cross, &numbers, &bytes, &text, env);
        CHECK(all._length <= 1000);
        nearcall_free_cross_Numbers(&all);
        nearcall_free_cross_Octets(&bytes);
        nearcall_free(text);
        break;
    }
    case 3: {
        cross_Point point = {1, 2};
        cross_Grid grid = {{{0}}};
        cross_Grid turned;
        cross_Cross_move(cross, &point, &grid, &turned, env);
        break;
    }
    case 4: {
        cross_Person person = {0};
        cross_Choice choice = {0};
        cross_Person met = cross_Cross_meet(cross, &person, &choice, env);
        CHECK(met.name == NULL || strlen(met.name) <= 8);
        nearcall_free_cross_Person(&met);
        nearcall_free_cross_Choice(&choice);
        break;
    }
    case 5: {
        cross_Tree tree = {0, {0, NULL}};
        cross_Tree grown = cross_Cross_grow(cross, &tree, env);
        nearcall_free_cross_Tree(&grown);
        break;
    }
    case 6: {
        nearcall_sequence_int32 parts = {0, NULL};
        int32_t sum = cross_Cross_share(cross, 1, &parts, env);
        CHECK(sum >= 0 && sum <= 100);
        break;
    }
    case 7: {
        cross_Octets data = {0, NULL};
        cross_Octets written;
        nearcall_free(cross_Cross_change(cross, &data, &written, env));
        nearcall_free_cross_Octets(&written);
        break;
    }
    default:
        cross_Cross_add(cross, 1, 2, env);
        break;
    }
}

int main(int argc, char **argv) {
    nearcall_environment env;
    nearcall_domain *domain = nearcall_domain_new(&env);
    cross_Cross *cross = NULL;
    CHECK(argc == 2 && domain != NULL);
    for (int round = 0; round < ROUNDS * CALLS; round++) {
        /* A server that was caught is not asked again. */
        if (cross == NULL || nearcall_is_revoked((const nearcall_client *)cross)) {
            nearcall_release_cross_Cross(cross);
            cross = nearcall_import_cross_Cross(domain, argv[1], &env);
            CHECK(cross != NULL);
        }
        call(cross, round % CALLS, &env);
        CHECK(env.outcome < 16);
        outcomes[env.outcome]++;
        nearcall_environment_release(&env);
    }
    nearcall_release_cross_Cross(cross);
    nearcall_domain_shut_down(domain);
    nearcall_domain_release(domain);
    printf("%u returned, %u raised, %u caught the server\n", outcomes[NEARCALL_RETURNED],
           outcomes[NEARCALL_RAISED], outcomes[NEARCALL_PEER]);
    CHECK(outcomes[NEARCALL_PEER] > 0);
    CHECK(outcomes[NEARCALL_RETURNED] > 0);
    return 0;
}
