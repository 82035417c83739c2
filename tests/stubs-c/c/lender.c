/* A client of lending.idl: `lender NAME` lends memory to its server, which ends once. */
#define _GNU_SOURCE
#include <pthread.h>

#include "lending.h"
#include "maps.h"

#define LARGE ((uint32_t)64 << 20)
/* Fits no A-stack. */
#define COPIED_BYTES ((uint32_t)1 << 20)
/* Segments that one binding has at most. */
#define LENT_MAX 64

static nearcall_environment env;
static const nearcall_import_options patient = {.rebind_timeout_ns = 60000000000u};

static uint8_t *lent_to(const lending_Lending *client, size_t bytes) {
    uint8_t *lent = nearcall_lend_to_lending_Lending(client, bytes, &env);
    if (lent == NULL) {
        fprintf(stderr, "%s\n", env.message);
    }
    CHECK(lent != NULL && env.outcome == NEARCALL_RETURNED);
    return lent;
}

/* The server has seen `count` octets, and this one. */
static void check_at(const lending_Lending *client, lending_Octets octets, uint32_t index,
                     uint8_t octet) {
    uint32_t count;
    CHECK(lending_Lending_at(client, &octets, index, &count, &env) == octet);
    CHECK(env.outcome == NEARCALL_RETURNED && count == octets._length);
}

static void in_place(const lending_Lending *client) {
    uint8_t *lent = lent_to(client, LARGE);
    lending_Octets all = {LARGE, lent}, part = {COPIED_BYTES, lent}, one = {1, lent};
    lending_Lending *hasty =
        nearcall_with_deadline_lending_Lending(client, (uint64_t)60000000000u);
    CHECK(lent[0] == 0 && lent[LARGE - 1] == 0);
    lent[LARGE - 1] = 7;
    check_at(client, all, LARGE - 1, 7);
    lent[LARGE - 1] = 8;
    check_at(client, all, LARGE - 1, 8);
    lent[COPIED_BYTES - 1] = 9;
    check_at(client, part, COPIED_BYTES - 1, 9);
    lent[0] = 10;
    check_at(hasty, one, 0, 10);
    CHECK(!is_mapped(COPIED) && is_mapped(LENT));
    nearcall_release_lending_Lending(hasty);
    nearcall_lent_release(lent);
    nearcall_lent_release(NULL);
    CHECK(!is_mapped(LENT));
}

static void beside_others(const lending_Lending *client) {
    uint8_t few[3] = {1, 2, 3};
    uint8_t *lent = lent_to(client, COPIED_BYTES);
    lending_Octets copied = {3, few}, all = {COPIED_BYTES, lent}, none = {0, NULL};
    char *text;
    lent[5] = 11;
    CHECK(lending_Lending_among(client, &copied, "and", &all, 5, &text, &env) == 11);
    CHECK(env.outcome == NEARCALL_RETURNED && strcmp(text, "3 and 1048576") == 0);
    nearcall_free(text);
    CHECK(lending_Lending_among(client, &all, "and", &copied, 2, &text, &env) == 3);
    CHECK(env.outcome == NEARCALL_RETURNED && strcmp(text, "1048576 and 3") == 0);
    nearcall_free(text);
    CHECK(lending_Lending_among(client, &none, "and", &all, 0, &text, &env) == 0);
    CHECK(env.outcome == NEARCALL_RETURNED && strcmp(text, "0 and 1048576") == 0);
    nearcall_free(text);
    CHECK(!is_mapped(COPIED));
    nearcall_lent_release(lent);
}

static void refused(const nearcall_domain *domain, const lending_Lending *client) {
    lending_Other *other = nearcall_import_lending_Other(domain, "counter", &env);
    uint8_t *lent = lent_to(client, 4096), *last[LENT_MAX];
    lending_Octets octets = {4096, lent}, more = {4097, lent};
    uint32_t count;
    CHECK(other != NULL);
    lending_Other_count(other, &octets, &env);
    CHECK(env.outcome == NEARCALL_USAGE && env.ran == NEARCALL_RAN_NO);
    CHECK(strcmp(env.message, "octets is lent over another binding: lend it over the one that is "
                              "called") == 0);
    lending_Lending_at(client, &more, 0, &count, &env);
    CHECK(env.outcome == NEARCALL_USAGE && env.ran == NEARCALL_RAN_NO);
    CHECK(strcmp(env.message, "octets has 4097 bytes, and 4096 are lent where it begins") == 0);
    for (int i = 1; i < LENT_MAX; i++) {
        last[i] = lent_to(client, 1);
    }
    CHECK(nearcall_lend_to_lending_Lending(client, 1, &env) == NULL);
    CHECK(env.outcome == NEARCALL_USAGE && strstr(env.message, "64 segments are lent") != NULL);
    for (int i = 1; i < LENT_MAX; i++) {
        nearcall_lent_release(last[i]);
    }
    CHECK(nearcall_lend_to_lending_Lending(client, ((size_t)1 << 30) + 1, &env) == NULL);
    CHECK(env.outcome == NEARCALL_USAGE);
    check_at(client, octets, 0, 0);
    nearcall_release_lending_Other(other);
    nearcall_lent_release(lent);
}

/* A call that is made beside others. */
typedef struct watch {
    const lending_Lending *client;
    lending_Octets octets;
    uint8_t seen;
    nearcall_outcome outcome;
} watch;

static void *watched(void *argument) {
    nearcall_environment own;
    watch *call = argument;
    call->seen = lending_Lending_watch(call->client, &call->octets, &own);
    call->outcome = (nearcall_outcome)own.outcome;
    return NULL;
}

/* Until so many calls have begun. */
static void wait_until_begun(const lending_Lending *client, uint32_t count) {
    while (lending_Lending_begun(client, &env) < count) {
        CHECK(env.outcome == NEARCALL_RETURNED);
    }
}

/* What is written while a call has it is seen; what is given back meanwhile is still there. */
static void under_way(const lending_Lending *client) {
    uint8_t *lent = lent_to(client, COPIED_BYTES);
    watch call = {client, {COPIED_BYTES, lent}, 0, NEARCALL_RETURNED};
    for (uint32_t i = 1; i <= 2; i++) {
        pthread_t thread;
        lent[0] = 20;
        CHECK(pthread_create(&thread, NULL, watched, &call) == 0);
        wait_until_begun(client, i);
        lent[0] = (uint8_t)(20 + i);
        if (i == 2) {
            nearcall_lent_release(lent);
            CHECK(is_mapped(LENT));
        }
        lending_Lending_look(client, &env);
        CHECK(pthread_join(thread, NULL) == 0);
        CHECK(call.outcome == NEARCALL_RETURNED && call.seen == 20 + i);
    }
    CHECK(!is_mapped(LENT));
}

/* What is posted is not lent, nor is what begins behind the first byte. */
static void copied(const lending_Lending *client) {
    uint8_t *lent = lent_to(client, COPIED_BYTES);
    lending_Octets all = {COPIED_BYTES, lent}, behind = {COPIED_BYTES - 4096, lent + 4096};
    nearcall_posted_lending_Lending_watch call;
    lent[0] = 30;
    lent[COPIED_BYTES - 1] = 31;
    CHECK(nearcall_post_lending_Lending_watch(client, &all, &call, &env));
    wait_until_begun(client, 3);
    lent[0] = 32;
    lending_Lending_look(client, &env);
    CHECK(nearcall_collect_lending_Lending_watch(&call, &env) == 30);
    CHECK(is_mapped(COPIED));
    check_at(client, behind, behind._length - 1, 31);
    nearcall_lent_release(lent);
}

static void when_nobody_waits(const lending_Lending *client) {
    uint8_t *lent = lent_to(client, COPIED_BYTES);
    lending_Octets all = {COPIED_BYTES, lent};
    uint32_t told;
    lent[0] = 40;
    lending_Lending_tell(client, &all, &env);
    CHECK(env.outcome == NEARCALL_RETURNED);
    while ((told = lending_Lending_told(client, &env)) > UINT8_MAX) {
        CHECK(env.outcome == NEARCALL_RETURNED);
    }
    CHECK(told == 40);
    nearcall_lent_release(lent);
}

/* The second try is of another server's, which is sent a copy; a binding to it is another one. */
static void outlived(const lending_Lending *client) {
    uint8_t *lent = lent_to(client, COPIED_BYTES);
    lending_Octets all = {COPIED_BYTES, lent};
    lending_Lending *rebound;
    int32_t first, second;
    lent[COPIED_BYTES - 1] = 50;
    CHECK(lending_Lending_outlive(client, 0, &all, &first, &env) == 50);
    CHECK(env.outcome == NEARCALL_RETURNED);
    lent[COPIED_BYTES - 1] = 51;
    CHECK(lending_Lending_outlive(client, first, &all, &second, &env) == 51);
    CHECK(env.outcome == NEARCALL_RETURNED && second != first);
    rebound = nearcall_rebind_lending_Lending(client, &env);
    CHECK(rebound != NULL);
    lending_Lending_outlive(rebound, 0, &all, &second, &env);
    CHECK(env.outcome == NEARCALL_USAGE && strstr(env.message, "another binding") != NULL);
    nearcall_release_lending_Lending(rebound);
    nearcall_lent_release(lent);
}

int main(int argc, char **argv) {
    nearcall_domain *domain = nearcall_domain_new(&env);
    const char *name = argv[argc - 1];
    lending_Lending *client =
        nearcall_import_with_lending_Lending(domain, name, &patient, &env);
    uint8_t *last;
    if (client == NULL) {
        fprintf(stderr, "%s\n", env.message);
        return 1;
    }
    in_place(client);
    beside_others(client);
    refused(domain, client);
    under_way(client);
    copied(client);
    when_nobody_waits(client);
    last = lent_to(client, 1);
    outlived(client);
    nearcall_release_lending_Lending(client);
    last[0] = 1;
    nearcall_lent_release(last);
    nearcall_domain_shut_down(domain);
    nearcall_domain_release(domain);
    printf("%u\n", checks);
    return 0;
}
