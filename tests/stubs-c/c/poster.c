/* A client of posting.idl: `poster NAME` posts calls, and collects them later. */
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>

#include "check.h"
#include "posting.h"

static nearcall_environment env;

/* Calls of `add` at once, as the interface file says. */
#define ASTACK_COUNT 8

typedef nearcall_posted_posting_Posting_add added;

static void in_any_order(const posting_Posting *client) {
    added calls[ASTACK_COUNT];
    for (int32_t i = 0; i < ASTACK_COUNT; i++) {
        CHECK(nearcall_post_posting_Posting_add(client, i, 100, &calls[i], &env));
    }
    for (int32_t i = ASTACK_COUNT - 1; i >= 0; i--) {
        CHECK(nearcall_collect_posting_Posting_add(&calls[i], &env) == i + 100);
        CHECK(env.outcome == NEARCALL_RETURNED);
    }
}

/* None of two returns before both are there. */
static void at_once(const posting_Posting *client) {
    nearcall_posted_posting_Posting_meet calls[2];
    for (int i = 0; i < 2; i++) {
        CHECK(nearcall_post_posting_Posting_meet(client, 2, &calls[i], &env));
    }
    for (int i = 0; i < 2; i++) {
        nearcall_collect_posting_Posting_meet(&calls[i], &env);
        CHECK(env.outcome == NEARCALL_RETURNED);
    }
}

/* What goes is not read after the post, and stays the caller's. */
static void values(const posting_Posting *client) {
    int32_t some[3] = {1, -2, 3};
    posting_Few numbers = {3, some};
    posting_Few doubled;
    char text[] = "abc";
    char *came;
    const char *goes = text;
    int32_t count;
    nearcall_posted_posting_Posting_turned call;
    CHECK(nearcall_post_posting_Posting_turned(client, goes, &numbers, &call, &env));
    text[0] = 'z';
    some[0] = 9;
    count = nearcall_collect_posting_Posting_turned(&call, &came, &doubled, &env);
    CHECK(env.outcome == NEARCALL_RETURNED && count == 3);
    CHECK(strcmp(came, "cba") == 0);
    CHECK(doubled._length == 3 && doubled._buffer[0] == 2 && doubled._buffer[1] == -4);
    nearcall_free(came);
    nearcall_free_posting_Few(&doubled);
    CHECK(nearcall_post_posting_Posting_turned(client, "", &numbers, &call, &env));
    count = nearcall_collect_posting_Posting_turned(&call, &came, &doubled, &env);
    CHECK(nearcall_raised_posting_Refused(&env)->code == 7);
    CHECK(count == 0 && came == NULL && doubled._buffer == NULL);
    nearcall_environment_release(&env);
}

static void results_elsewhere(const posting_Posting *client) {
    int32_t mine[5];
    nearcall_prealloc_int32 numbers = NEARCALL_PREALLOC(mine);
    nearcall_posted_posting_Posting_counted call;
    nearcall_posted_posting_Posting_count_again again;
    nearcall_posted_posting_Posting_made made;
    int32_t last;
    char text[8];
    int file;
    CHECK(nearcall_post_posting_Posting_counted(client, 5, &call, &env));
    CHECK(nearcall_post_posting_Posting_made(client, "a file", &made, &env));
    nearcall_collect_posting_Posting_counted(&call, &numbers, &env);
    CHECK(env.outcome == NEARCALL_RETURNED && numbers._length == 5 && mine[4] == 4);
    file = nearcall_collect_posting_Posting_made(&made, &env);
    CHECK(env.outcome == NEARCALL_RETURNED && file >= 0);
    CHECK(pread(file, text, sizeof text, 0) == 6 && memcmp(text, "a file", 6) == 0);
    nearcall_close(file);
    CHECK(nearcall_post_posting_Posting_counted(client, 6, &call, &env));
    nearcall_collect_posting_Posting_counted(&call, &numbers, &env);
    CHECK(env.outcome == NEARCALL_RESULTS_REFUSED && numbers._length == 0);
    mine[3] = 0;
    CHECK(nearcall_post_posting_Posting_count_again(client, 4, &again, &env));
    nearcall_collect_posting_Posting_count_again(&again, &last, &numbers, &env);
    CHECK(env.outcome == NEARCALL_RETURNED && last == 3 && numbers._length == 4 && mine[3] == 3);
    CHECK(nearcall_post_posting_Posting_count_again(client, 6, &again, &env));
    nearcall_collect_posting_Posting_count_again(&again, &last, &numbers, &env);
    CHECK(env.outcome == NEARCALL_RESULTS_REFUSED && last == 0 && numbers._length == 0);
}

/* What is not posted is collected without harm, and says so. */
static void refused(const posting_Posting *client) {
    int32_t some[9] = {0};
    posting_Few numbers = {9, some};
    posting_Few doubled;
    char *text;
    added call;
    nearcall_posted_posting_Posting_turned turned;
    CHECK(!nearcall_post_posting_Posting_turned(client, "abc", &numbers, &turned, &env));
    CHECK(env.outcome == NEARCALL_USAGE && env.ran == NEARCALL_RAN_NO);
    CHECK(strcmp(env.message, "client_ has 9 bytes or elements, its limit is 8") == 0);
    CHECK(nearcall_posted_is_replied(&turned.call));
    nearcall_posted_cancel(&turned.call);
    nearcall_posted_drop(&turned.call);
    nearcall_collect_posting_Posting_turned(&turned, &text, &doubled, &env);
    CHECK(env.outcome == NEARCALL_USAGE && text == NULL && doubled._buffer == NULL);
    CHECK(nearcall_post_posting_Posting_add(client, 1, 2, &call, &env));
    CHECK(nearcall_collect_posting_Posting_add(&call, &env) == 3);
    CHECK(nearcall_collect_posting_Posting_add(&call, &env) == 0);
    CHECK(env.outcome == NEARCALL_USAGE);
    CHECK(strstr(env.message, "was collected before") != NULL);
}

static void too_many(const posting_Posting *client) {
    added calls[ASTACK_COUNT + 1];
    for (int32_t i = 0; i < ASTACK_COUNT; i++) {
        CHECK(nearcall_post_posting_Posting_add(client, i, i, &calls[i], &env));
    }
    CHECK(!nearcall_post_posting_Posting_add(client, 0, 0, &calls[ASTACK_COUNT], &env));
    CHECK(env.outcome == NEARCALL_USAGE && env.ran == NEARCALL_RAN_NO);
    CHECK(strstr(env.message, "add") != NULL && strstr(env.message, " 8 ") != NULL);
    for (int32_t i = 0; i < ASTACK_COUNT; i++) {
        CHECK(nearcall_collect_posting_Posting_add(&calls[i], &env) == 2 * i);
    }
}

static void *collect(void *call) {
    nearcall_environment own;
    int32_t sum = nearcall_collect_posting_Posting_add(call, &own);
    return sum == 42 && own.outcome == NEARCALL_RETURNED ? call : NULL;
}

static void by_another_thread(const posting_Posting *client) {
    for (int i = 0; i < 3 * ASTACK_COUNT; i++) {
        pthread_t thread;
        void *ended;
        added call;
        CHECK(nearcall_post_posting_Posting_add(client, 40, 2, &call, &env));
        CHECK(pthread_create(&thread, NULL, collect, &call) == 0);
        CHECK(pthread_join(thread, &ended) == 0 && ended == &call);
    }
}

/* Until so many calls have begun, or have ended. */
static void wait_until(const posting_Posting *client, uint32_t begun, uint32_t ended) {
    uint32_t seen;
    while (posting_Posting_begun(client, &seen, &env) < begun || seen < ended) {
        CHECK(env.outcome == NEARCALL_RETURNED);
    }
}

static void given_up(const posting_Posting *client) {
    const uint64_t soon_ns = 50000000;
    posting_Posting *hasty = nearcall_with_deadline_posting_Posting(client, soon_ns);
    nearcall_posted_posting_Posting_linger call;
    uint32_t ended, tries = 0;
    CHECK(nearcall_post_posting_Posting_linger(client, &call, &env));
    wait_until(client, 1, 0);
    CHECK(!nearcall_posted_is_replied(&call.call));
    nearcall_posted_cancel(&call.call);
    CHECK(nearcall_posted_is_replied(&call.call));
    wait_until(client, 1, 1);
    /* Beside other work one may be given up before it was taken. */
    do {
        CHECK(tries++ < TRIES_MAX);
        if (nearcall_post_posting_Posting_linger(hasty, &call, &env)) {
            nearcall_collect_posting_Posting_linger(&call, &env);
        }
        CHECK(IS_LATE(env));
        while (nearcall_captured_count(nearcall_binding_posting_Posting(client)) > 0) {
        }
    } while (posting_Posting_begun(client, &ended, &env) == 1);
    CHECK(ended == 2);
    nearcall_release_posting_Posting(hasty);
}

/* More than there are A-stacks: each comes back. */
static void dropped(const posting_Posting *client) {
    for (int i = 0; i < 10 * ASTACK_COUNT; i++) {
        added call;
        while (!nearcall_post_posting_Posting_add(client, i, i, &call, &env)) {
            CHECK(env.outcome == NEARCALL_NO_ASTACK || env.outcome == NEARCALL_USAGE);
        }
        nearcall_posted_drop(&call.call);
    }
}

/* Over a binding that grows a thread has more calls under way than there were A-stacks. */
static void grown(const nearcall_domain *domain, const char *name) {
    static const nearcall_import_options growing = {.grows = true};
    posting_Posting *client =
        nearcall_import_with_posting_Posting(domain, name, &growing, &env);
    added calls[3 * ASTACK_COUNT];
    CHECK(client != NULL);
    for (int32_t i = 0; i < 3 * ASTACK_COUNT; i++) {
        CHECK(nearcall_post_posting_Posting_add(client, i, i, &calls[i], &env));
    }
    for (int32_t i = 0; i < 3 * ASTACK_COUNT; i++) {
        CHECK(nearcall_collect_posting_Posting_add(&calls[i], &env) == 2 * i);
    }
    nearcall_release_posting_Posting(client);
}

/* Who listens and does not answer keeps nobody for longer than they said. */
static void silent(const nearcall_domain *domain) {
    static const nearcall_import_options hasty = {.timeout_ns = 20000000};
    CHECK(nearcall_import_with_posting_Posting(domain, "silent", &hasty, &env) == NULL);
    CHECK(env.outcome == NEARCALL_NOT_BOUND);
    /* Milliseconds, and not the 5 s of who says nothing. */
    CHECK(strstr(env.message, "\"silent\" did not answer within ") == env.message);
    CHECK(strstr(env.message, "ms") != NULL);
}

int main(int argc, char **argv) {
    nearcall_domain *domain = nearcall_domain_new(&env);
    posting_Posting *client = nearcall_import_posting_Posting(domain, argv[argc - 1], &env);
    if (client == NULL) {
        fprintf(stderr, "%s\n", env.message);
        return 1;
    }
    in_any_order(client);
    at_once(client);
    values(client);
    results_elsewhere(client);
    refused(client);
    too_many(client);
    by_another_thread(client);
    given_up(client);
    dropped(client);
    in_any_order(client);
    nearcall_release_posting_Posting(client);
    grown(domain, argv[argc - 1]);
    silent(domain);
    nearcall_domain_shut_down(domain);
    nearcall_domain_release(domain);
    printf("%u\n", checks);
    return 0;
}
