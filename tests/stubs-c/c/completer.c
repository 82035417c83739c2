/* A client of posting.idl with an event loop: `completer NAME` posts calls, and is told of those
 * that it can collect. */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "posting.h"

static nearcall_environment env;

/* Calls of `add` at once, as the interface file says. */
#define ASTACK_COUNT 8

typedef nearcall_posted_posting_Posting_add added;
typedef nearcall_posted_posting_Posting_linger lingering;

/* Whether there is something to look at, within so long; -1: however long it takes. */
static bool is_told(const nearcall_completions *completions, int timeout_ms) {
    struct pollfd watched = {nearcall_completions_fd(completions), POLLIN, 0};
    int ready = poll(&watched, 1, timeout_ms);
    CHECK(ready >= 0);
    return ready == 1;
}

/* The next one, as an event loop finds it. */
static nearcall_posted next(nearcall_completions *completions, void **tag) {
    nearcall_posted call = {0};
    while (!nearcall_completions_next(completions, &call, tag)) {
        CHECK(call.state == NEARCALL_NOT_POSTED);
        CHECK(is_told(completions, -1));
    }
    CHECK(nearcall_posted_is_replied(&call));
    return call;
}

static nearcall_completions *started(void) {
    nearcall_completions *completions = nearcall_completions_new(&env);
    CHECK(completions != NULL && env.outcome == NEARCALL_RETURNED);
    CHECK(!is_told(completions, 0));
    return completions;
}

static void many(const posting_Posting *client, nearcall_completions *completions) {
    added calls[ASTACK_COUNT];
    unsigned told = 0;
    for (int32_t i = 0; i < ASTACK_COUNT; i++) {
        CHECK(nearcall_post_posting_Posting_add(client, i, 100, &calls[i], &env));
        CHECK(nearcall_completions_add(completions, &calls[i].call, &calls[i], &env));
        CHECK(calls[i].call.state == NEARCALL_NOT_POSTED);
        CHECK(is_told(completions, 0));
    }
    for (int i = 0; i < ASTACK_COUNT; i++) {
        void *tag = NULL;
        nearcall_posted call = next(completions, &tag);
        added *own = (added *)tag;
        const int32_t n = (int32_t)(own - calls);
        CHECK(n >= 0 && n < ASTACK_COUNT && (told & 1u << n) == 0);
        told |= 1u << n;
        own->call = call;
        CHECK(nearcall_collect_posting_Posting_add(own, &env) == n + 100);
        CHECK(env.outcome == NEARCALL_RETURNED);
        /* Those that are ready may be left for later. */
        CHECK(told == (1u << ASTACK_COUNT) - 1 || is_told(completions, -1));
    }
}

/* None of two returns before both are there, so that this loop sleeps in between. */
static void asleep(const posting_Posting *client, nearcall_completions *completions) {
    nearcall_posted_posting_Posting_meet calls[2];
    nearcall_posted call;
    void *tag;
    CHECK(nearcall_post_posting_Posting_meet(client, 2, &calls[0], &env));
    CHECK(nearcall_completions_add(completions, &calls[0].call, &calls[0], &env));
    CHECK(!nearcall_completions_next(completions, &call, &tag));
    CHECK(!is_told(completions, 20));
    CHECK(nearcall_post_posting_Posting_meet(client, 2, &calls[1], &env));
    CHECK(nearcall_completions_add(completions, &calls[1].call, &calls[1], &env));
    for (int i = 0; i < 2; i++) {
        call = next(completions, &tag);
        CHECK(tag == &calls[0] || tag == &calls[1]);
        ((nearcall_posted_posting_Posting_meet *)tag)->call = call;
        nearcall_collect_posting_Posting_meet(tag, &env);
        CHECK(env.outcome == NEARCALL_RETURNED);
    }
}

/* What it raises, and results that do not lie in one line. */
static void values(const posting_Posting *client, nearcall_completions *completions) {
    int32_t some[3] = {1, -2, 3};
    posting_Few numbers = {3, some}, doubled;
    nearcall_posted_posting_Posting_turned call;
    char *came;
    void *tag;
    for (int i = 0; i < 2; i++) {
        const char *goes = i == 0 ? "abc" : "";
        int32_t count;
        CHECK(nearcall_post_posting_Posting_turned(client, goes, &numbers, &call, &env));
        CHECK(nearcall_completions_add(completions, &call.call, NULL, &env));
        call.call = next(completions, &tag);
        CHECK(tag == NULL);
        count = nearcall_collect_posting_Posting_turned(&call, &came, &doubled, &env);
        if (i == 0) {
            CHECK(env.outcome == NEARCALL_RETURNED && count == 3);
            CHECK(strcmp(came, "cba") == 0 && doubled._buffer[2] == 6);
            nearcall_free(came);
            nearcall_free_posting_Few(&doubled);
        } else {
            CHECK(nearcall_raised_posting_Refused(&env)->code == 7);
            nearcall_environment_release(&env);
        }
    }
}

static void *look(void *completions) {
    void *tag;
    added call;
    call.call = next(completions, &tag);
    /* The thread that has posted is another one. */
    if (nearcall_collect_posting_Posting_add(&call, &env) == 42) {
        return tag;
    }
    return NULL;
}

static void by_another_thread(const posting_Posting *client, nearcall_completions *completions) {
    for (int i = 0; i < 2 * ASTACK_COUNT; i++) {
        pthread_t thread;
        void *tag;
        added call;
        CHECK(nearcall_post_posting_Posting_add(client, 40, 2, &call, &env));
        CHECK(nearcall_completions_add(completions, &call.call, &call, &env));
        CHECK(pthread_create(&thread, NULL, look, completions) == 0);
        CHECK(pthread_join(thread, &tag) == 0 && tag == &call);
    }
}

struct crowd {
    const posting_Posting *client;
    nearcall_completions *completions;
};

/* Ends the program, of which another thread may be waiting for this one. */
static void must(bool is_so, const char *what) {
    if (!is_so) {
        fprintf(stderr, "not so: %s\n", what);
        exit(1);
    }
}

/* Posts, and collects as many, whosever they are. */
static void *post_and_look(void *argument) {
    struct crowd *crowd = (struct crowd *)argument;
    int32_t sum = 0;
    nearcall_environment own;
    for (int32_t i = 0; i < 1000; i++) {
        added call;
        void *tag;
        must(nearcall_post_posting_Posting_add(crowd->client, i, 1, &call, &own), "posted");
        must(nearcall_completions_add(crowd->completions, &call.call, crowd, &own), "added");
        /* There is one to come for each that looks. */
        while (!nearcall_completions_next(crowd->completions, &call.call, &tag)) {
            struct pollfd watched = {nearcall_completions_fd(crowd->completions), POLLIN, 0};
            must(poll(&watched, 1, -1) == 1, "waited");
        }
        must(tag == crowd, "tagged");
        sum += nearcall_collect_posting_Posting_add(&call, &own);
        must(own.outcome == NEARCALL_RETURNED, "collected");
    }
    return (void *)(intptr_t)sum;
}

/* Threads that add and look at once. */
static void by_many(const posting_Posting *client, nearcall_completions *completions) {
    struct crowd crowd = {client, completions};
    pthread_t threads[4];
    nearcall_posted none;
    void *tag;
    intptr_t sum = 0;
    for (int i = 0; i < 4; i++) {
        CHECK(pthread_create(&threads[i], NULL, post_and_look, &crowd) == 0);
    }
    for (int i = 0; i < 4; i++) {
        void *ended;
        CHECK(pthread_join(threads[i], &ended) == 0);
        sum += (intptr_t)ended;
    }
    CHECK(sum == 4 * (1000 * 999 / 2 + 1000));
    CHECK(!nearcall_completions_next(completions, &none, &tag) && !is_told(completions, 0));
}

/* Who has all of them told, and not collected, is not made to wait for one that comes back. */
static void too_many(const posting_Posting *client, nearcall_completions *completions) {
    added calls[ASTACK_COUNT], more;
    void *tag;
    for (int32_t i = 0; i < ASTACK_COUNT; i++) {
        CHECK(nearcall_post_posting_Posting_add(client, i, i, &calls[i], &env));
        CHECK(nearcall_completions_add(completions, &calls[i].call, NULL, &env));
    }
    for (int i = 0; i < ASTACK_COUNT; i++) {
        calls[i].call = next(completions, &tag);
    }
    CHECK(!nearcall_post_posting_Posting_add(client, 0, 0, &more, &env));
    CHECK(env.outcome == NEARCALL_USAGE && env.reason == NEARCALL_REASON_OUTSTANDING);
    for (int i = 0; i < ASTACK_COUNT; i++) {
        CHECK(nearcall_collect_posting_Posting_add(&calls[i], &env) % 2 == 0);
        CHECK(env.outcome == NEARCALL_RETURNED);
    }
}

/* Until as many calls have ended as have begun. */
static void wait_for_ends(const posting_Posting *client) {
    uint32_t begun, ended;
    do {
        begun = posting_Posting_begun(client, &ended, &env);
        CHECK(env.outcome == NEARCALL_RETURNED);
    } while (begun != ended ||
             nearcall_captured_count(nearcall_binding_posting_Posting(client)) > 0);
}

/* It is told once its deadline has passed, and the collection says so. */
static void late(const posting_Posting *client, nearcall_completions *completions) {
    const uint64_t soon_ns = 50000000;
    posting_Posting *hasty = nearcall_with_deadline_posting_Posting(client, soon_ns);
    lingering call;
    void *tag;
    uint32_t tries = 0;
    CHECK(hasty != NULL);
    /* Beside other work it may pass before the post. */
    while (!nearcall_post_posting_Posting_linger(hasty, &call, &env)) {
        CHECK(IS_LATE(env) && tries++ < TRIES_MAX);
    }
    CHECK(nearcall_completions_add(completions, &call.call, &call, &env));
    call.call = next(completions, &tag);
    CHECK(tag == &call && call.call.state == NEARCALL_POSTED_ENDED);
    nearcall_collect_posting_Posting_linger(&call, &env);
    CHECK(env.outcome == NEARCALL_CALL_ABORTED && strstr(env.message, "linger") != NULL);
    CHECK(call.call.state == NEARCALL_NOT_POSTED);
    nearcall_release_posting_Posting(hasty);
    wait_for_ends(client);
}

static void given_up(const posting_Posting *client, nearcall_completions *completions) {
    nearcall_completions *more = started();
    nearcall_posted none;
    lingering calls[3];
    void *tag;
    for (int i = 0; i < 3; i++) {
        CHECK(nearcall_post_posting_Posting_linger(client, &calls[i], &env));
        CHECK(nearcall_completions_add(i < 2 ? completions : more, &calls[i].call, &calls[i % 2],
                                       &env));
    }
    CHECK(!nearcall_completions_next(completions, &none, &tag));
    CHECK(nearcall_completions_cancel(completions, calls) == 1);
    CHECK(nearcall_completions_cancel(completions, calls) == 0);
    CHECK(nearcall_completions_cancel(completions, &calls[1]) == 1);
    CHECK(!nearcall_completions_next(completions, &none, &tag) && !is_told(completions, 0));
    /* With the one that is in it. */
    nearcall_completions_release(more);
    wait_for_ends(client);
}

/* What is no call, and what is nobody's here. */
static void refused(const posting_Posting *client, nearcall_completions *completions) {
    added call;
    nearcall_posted none;
    void *tag;
    pid_t child;
    int status;
    CHECK(nearcall_post_posting_Posting_add(client, 1, 2, &call, &env));
    CHECK(nearcall_collect_posting_Posting_add(&call, &env) == 3);
    CHECK(!nearcall_completions_add(completions, &call.call, &call, &env));
    CHECK(env.outcome == NEARCALL_USAGE && strstr(env.message, "not posted") != NULL);
    CHECK(!nearcall_completions_add(NULL, &call.call, &call, &env));
    CHECK(env.outcome == NEARCALL_USAGE && strstr(env.message, "no completions") != NULL);
    CHECK(!nearcall_completions_next(completions, &none, &tag));
    CHECK(nearcall_post_posting_Posting_add(client, 1, 2, &call, &env));
    CHECK(nearcall_completions_add(completions, &call.call, &call, &env));
    child = fork();
    if (child == 0) {
        CHECK(!nearcall_completions_next(completions, &none, &tag));
        CHECK(!nearcall_completions_add(completions, &call.call, &call, &env));
        CHECK(env.outcome == NEARCALL_USAGE && strstr(env.message, "parent") != NULL);
        CHECK(nearcall_completions_cancel(completions, &call) == 0);
        nearcall_completions_release(completions);
        _exit(0);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    call.call = next(completions, &tag);
    CHECK(tag == &call && nearcall_collect_posting_Posting_add(&call, &env) == 3);
}

int main(int argc, char **argv) {
    nearcall_domain *domain = nearcall_domain_new(&env);
    posting_Posting *client = nearcall_import_posting_Posting(domain, argv[argc - 1], &env);
    nearcall_completions *completions = started();
    if (client == NULL) {
        fprintf(stderr, "%s\n", env.message);
        return 1;
    }
    for (int i = 0; i < 3; i++) {
        many(client, completions);
        asleep(client, completions);
    }
    values(client, completions);
    by_another_thread(client, completions);
    by_many(client, completions);
    too_many(client, completions);
    late(client, completions);
    given_up(client, completions);
    refused(client, completions);
    many(client, completions);
    nearcall_completions_release(completions);
    nearcall_completions_release(NULL);
    nearcall_release_posting_Posting(client);
    nearcall_domain_shut_down(domain);
    nearcall_domain_release(domain);
    printf("%u\n", checks);
    return 0;
}
