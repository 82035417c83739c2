/* A client of witness.idl, whose calls are cancelled by another thread. */
#define _GNU_SOURCE
#include <pthread.h>
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
    CHECK(pthread_join(other, NULL) == 0);
    CHECK(nearcall_cancellation_is_cancelled(cancelled));
}

int main(int argc, char **argv) {
    nearcall_environment env;
    nearcall_domain *domain = nearcall_domain_new(&env);
    nearcall_cancellation *outer = nearcall_cancellation_new();
    nearcall_cancellation *inner = nearcall_cancellation_new();
    witness_Witness *client;
    CHECK(domain != NULL && argc == 2);
    client = nearcall_import_witness_Witness(domain, argv[1], &env);
    CHECK(client != NULL);

    nearcall_cancellation_enter(outer);
    nearcall_cancellation_enter(inner);
    check_cancelled(client, inner);
    CHECK(nearcall_cancellation_leave(inner) && !nearcall_cancellation_leave(inner));
    while (witness_Witness_seen(client, &env) == 0) {
    }
    check_cancelled(client, outer);

    /* It is for good. */
    witness_Witness_linger(client, &env);
    CHECK(env.outcome == NEARCALL_CALL_ABORTED);
    CHECK(nearcall_cancellation_leave(outer));
    while (witness_Witness_seen(client, &env) < 2) {
    }
    CHECK(env.outcome == NEARCALL_RETURNED);
    nearcall_cancellation_release(inner);
    nearcall_cancellation_release(outer);
    nearcall_cancellation_release(NULL);
    nearcall_release_witness_Witness(client);
    nearcall_domain_release(domain);
    puts("done");
    return 0;
}
