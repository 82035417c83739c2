/* A client and a server of brief.idl that forks: `forker NAME` has children use, release and end
 * with what it has imported and exported, and goes on with it. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "brief.h"
#include "check.h"

/* What a child ends with that has done all that it was to. */
#define DONE 7

/* Seconds after which a child that is not over waits for ever. */
#define CHILD_SECONDS 20

/* Calls at once: all A-stacks of a class but one, whose call may be under way. */
#define CALLS_COUNT 4

static nearcall_environment env;

/* All there is: whoever exits gives it back. */
static const char *name;
static nearcall_domain *domain;
static nearcall_domain *exporting;
static nearcall_clerk *clerk;
static brief_Brief *imported;
static nearcall_posted_brief_Brief_add posted;

static int32_t add(void *self, int32_t a, int32_t b, nearcall_environment *own) {
    (void)self;
    (void)own;
    return a + b;
}

static const nearcall_server_brief_Sum server = {NULL, add};

static void goes_on(const brief_Brief *client) {
    nearcall_posted_brief_Brief_add calls[CALLS_COUNT];
    for (int32_t i = 0; i < 100; i++) {
        CHECK(brief_Brief_add(client, i, 1, &env) == i + 1);
        CHECK(env.outcome == NEARCALL_RETURNED);
    }
    for (int32_t i = 0; i < CALLS_COUNT; i++) {
        CHECK(nearcall_post_brief_Brief_add(client, i, 2, &calls[i], &env));
    }
    for (int32_t i = 0; i < CALLS_COUNT; i++) {
        CHECK(nearcall_collect_brief_Brief_add(&calls[i], &env) == i + 2);
        CHECK(env.outcome == NEARCALL_RETURNED);
    }
}

/* That a call was refused because its binding is this process's parent's. */
static void is_refused(const nearcall_environment *told) {
    CHECK(told->outcome == NEARCALL_USAGE && told->ran == NEARCALL_RAN_NO);
    CHECK(strstr(told->message, "was forked from") != NULL);
    CHECK(strstr(told->message, "import again") != NULL);
}

static void *call_elsewhere(void *client) {
    nearcall_environment own;
    brief_Brief_null(client, &own);
    is_refused(&own);
    return client;
}

static void calls(void) {
    for (int i = 0; i < 10; i++) {
        nearcall_posted_brief_Brief_add call;
        pthread_t thread;
        void *ended;
        brief_Brief_null(imported, &env);
        is_refused(&env);
        CHECK(brief_Brief_add(imported, 1, 2, &env) == 0);
        is_refused(&env);
        CHECK(!nearcall_post_brief_Brief_add(imported, 1, 2, &call, &env));
        is_refused(&env);
        CHECK(pthread_create(&thread, NULL, call_elsewhere, imported) == 0);
        CHECK(pthread_join(thread, &ended) == 0 && ended == imported);
    }
}

static void collects(void) {
    CHECK(nearcall_collect_brief_Brief_add(&posted, &env) == 0);
    is_refused(&env);
}

static void drops(void) {
    nearcall_posted_drop(&posted.call);
}

static void releases(void) {
    nearcall_release_brief_Brief(imported);
    nearcall_clerk_release(clerk);
    nearcall_domain_shut_down(exporting);
    nearcall_domain_shut_down(domain);
    nearcall_domain_release(exporting);
    nearcall_domain_release(domain);
}

static void imports_again(void) {
    nearcall_domain *own = nearcall_domain_new(&env);
    brief_Brief *client = nearcall_import_brief_Brief(own, name, &env);
    CHECK(client != NULL);
    goes_on(client);
    nearcall_release_brief_Brief(client);
    nearcall_domain_release(own);
}

static void has_no_domain(void) {
    CHECK(nearcall_import_brief_Brief(domain, name, &env) == NULL);
    CHECK(strstr(env.message, "was forked from") != NULL);
}

static void exits(void) {
    exit(DONE);
}

/* Has a child do that, and goes on. */
static void child(void (*act)(void)) {
    int status;
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        alarm(CHILD_SECONDS);
        act();
        _exit(DONE);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != DONE) {
        fprintf(stderr, "a child ended with wait status %#x\n", (unsigned)status);
        exit(1);
    }
    goes_on(imported);
}

int main(int argc, char **argv) {
    char own_name[64];
    brief_Sum *own;
    CHECK(argc == 2);
    name = argv[1];
    snprintf(own_name, sizeof own_name, "%s-own", name);
    domain = nearcall_domain_new(&env);
    exporting = nearcall_domain_new(&env);
    imported = nearcall_import_brief_Brief(domain, name, &env);
    clerk = nearcall_export_brief_Sum(exporting, own_name, &server, &env);
    CHECK(domain != NULL && exporting != NULL && imported != NULL && clerk != NULL);
    own = nearcall_import_brief_Sum(domain, own_name, &env);
    CHECK(own != NULL && atexit(releases) == 0);
    child(calls);
    child(imports_again);
    child(has_no_domain);
    for (int i = 0; i < 2; i++) {
        CHECK(nearcall_post_brief_Brief_add(imported, 40, 2, &posted, &env));
        child(i == 0 ? collects : drops);
        CHECK(nearcall_collect_brief_Brief_add(&posted, &env) == 42);
    }
    child(releases);
    child(exits);
    CHECK(brief_Sum_add(own, 40, 2, &env) == 42);
    nearcall_release_brief_Sum(own);
    own = nearcall_import_brief_Sum(domain, own_name, &env);
    CHECK(own != NULL);
    CHECK(brief_Sum_add(own, 40, 2, &env) == 42);
    nearcall_release_brief_Sum(own);
    printf("%u\n", checks);
    return 0;
}
