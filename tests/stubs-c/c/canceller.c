/* A client of witness.idl, whose calls are cancelled by another thread. */
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "witness.h"

static void *cancel_soon(void *cancellation) {
    const struct timespec soon = {0, 50000000};
    nanosleep(&soon, NULL);
    nearcall_cancellation_cancel((nearcall_cancellation *)cancellation);
    return NULL;
}

/* A call that takes until it is given up, in a cancellation that another thread cancels soon. */
static void check_cancelled(witness_Witness *client, nearcall_cancellation *cancelled) {
    nearcall_environment env;
    pthread_t other;
    CHECK(!nearcall_cancellation_is_cancelled(cancelled));
    CHECK(pthread_create(&other, NULL, cancel_soon, cancelled) == 0);
    witness_Witness_linger(client, &env);
    CHECK(env.outcome == NEARCALL_CALL_ABORTED && env.ran == NEARCALL_RAN_MAYBE);
    CHECK(env.reason == NEARCALL_REASON_CANCELLED);
    CHECK(strstr(env.message, "was cancelled after") != NULL);
    CHECK(pthread_join(other, NULL) == 0);
    CHECK(nearcall_cancellation_is_cancelled(cancelled));
}

/* How many calls the server has seen to be given up, of which none is under way any more. */
static uint32_t seen(const witness_Witness *client) {
    nearcall_environment env;
    uint32_t count;
    while (nearcall_captured_count(nearcall_binding_witness_Witness(client)) > 0) {
    }
    count = witness_Witness_seen(client, &env);
    CHECK(env.outcome == NEARCALL_RETURNED);
    return count;
}

/* A call in two cancellations, each of which ends one; whether the server has seen both to be given
 * up: beside other work one may be before it was taken. */
static bool are_seen(witness_Witness *client) {
    nearcall_cancellation *outer = nearcall_cancellation_new();
    nearcall_cancellation *inner = nearcall_cancellation_new();
    nearcall_environment env;
    uint32_t before = seen(client), between;

    nearcall_cancellation_enter(outer);
    nearcall_cancellation_enter(inner);
    check_cancelled(client, inner);
    CHECK(nearcall_cancellation_leave(inner) && !nearcall_cancellation_leave(inner));
    between = seen(client);
    CHECK(between <= before + 1);
    check_cancelled(client, outer);

    /* It is for good. */
    witness_Witness_linger(client, &env);
    CHECK(env.outcome == NEARCALL_CALL_ABORTED);
    CHECK(nearcall_cancellation_leave(outer));
    nearcall_cancellation_release(inner);
    nearcall_cancellation_release(outer);
    return between > before && seen(client) > between;
}

int main(int argc, char **argv) {
    nearcall_environment env;
    nearcall_domain *domain = nearcall_domain_new(&env);
    witness_Witness *client, *late;
    uint32_t tries = 0;
    CHECK(domain != NULL && argc == 2);
    client = nearcall_import_witness_Witness(domain, argv[1], &env);
    CHECK(client != NULL);
    while (!are_seen(client)) {
        CHECK(tries++ < TRIES_MAX);
    }
    nearcall_cancellation_release(NULL);
    late = nearcall_with_deadline_witness_Witness(client, 20000000);
    tries = 0;
    do {
        CHECK(tries++ < TRIES_MAX);
        witness_Witness_linger(late, &env);
        CHECK(IS_LATE(env) && env.reason != NEARCALL_REASON_CANCELLED);
    } while (env.outcome != NEARCALL_CALL_ABORTED);
    nearcall_release_witness_Witness(late);
    nearcall_release_witness_Witness(client);
    nearcall_domain_release(domain);
    puts("done");
    return 0;
}
