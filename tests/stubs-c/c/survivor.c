/* A client of again.idl that begins before its server, and whose servers end under it: `survivor
 * NAME`. Another one takes the name each time but the last. Its standard input is the pidfd of a
 * process that has ended. */
#include <poll.h>
#include <unistd.h>

#include "again.h"
#include "check.h"

#define OCTETS 100000u

#define CHECK_RETURNED()                                                                   \
    do {                                                                                   \
        if (env.outcome != NEARCALL_RETURNED) {                                            \
            fprintf(stderr, "%s\n", env.message);                                          \
        }                                                                                  \
        CHECK(env.outcome == NEARCALL_RETURNED);                                           \
    } while (0)

static nearcall_environment env;
static const nearcall_import_options patient = {.ready_timeout_ns = 60000000000u,
                                              .rebind_timeout_ns = 60000000000u};
static const nearcall_import_options hasty = {.ready_timeout_ns = 20000000u,
                                            .rebind_timeout_ns = 50000000u};

/* What there is in place of a binding whose server has ended. */
static again_Again *renewed(again_Again *again) {
    again_Again *next;
    while (!nearcall_is_revoked(nearcall_binding_again_Again(again))) {
    }
    next = nearcall_rebind_again_Again(again, &env);
    CHECK_RETURNED();
    CHECK(next != NULL);
    CHECK(nearcall_incarnation(nearcall_binding_again_Again(next)) >
          nearcall_incarnation(nearcall_binding_again_Again(again)));
    CHECK(nearcall_astack_count(nearcall_binding_again_Again(next)) >= 5);
    CHECK(nearcall_captured_count(nearcall_binding_again_Again(next)) == 0);
    nearcall_release_again_Again(again);
    return next;
}

static int32_t pid_of(const again_Again *again) {
    const int32_t pid = again_Again_pid(again, &env);
    CHECK_RETURNED();
    return pid;
}

/* Words alone, of a class that is kept for this thread by then. */
static void brief_calls(const again_Again *again) {
    int32_t before = 0, after;
    for (int i = 0; i < 10; i++) {
        before = pid_of(again);
    }
    after = again_Again_outlive(again, before, &env);
    CHECK_RETURNED();
    CHECK(after != before);
    CHECK(nearcall_is_revoked(nearcall_binding_again_Again(again)));
    CHECK(pid_of(again) == after);
}

/* Results that are read after the call, and are of the second try. */
static void kept_replies(const again_Again *again) {
    const int32_t before = pid_of(again);
    again_Octets octets = {OCTETS, nearcall_allocate(OCTETS)};
    char *text;
    CHECK(octets._buffer != NULL);
    memset(octets._buffer, 7, OCTETS);
    text = again_Again_carry(again, before, "text", &octets, &env);
    CHECK_RETURNED();
    CHECK(strcmp(text, "text") == 0);
    CHECK(octets._length == OCTETS && octets._buffer[OCTETS - 1] == 7);
    nearcall_free(text);
    nearcall_free_again_Octets(&octets);
}

static void exceptions(const again_Again *again) {
    const int32_t before = pid_of(again);
    again_Octets octets = {0, NULL};
    const again_Gone *gone;
    again_Again_carry(again, before, "", &octets, &env);
    gone = nearcall_raised_again_Gone(&env);
    CHECK(gone != NULL && gone->which != before);
    CHECK(env.ran == NEARCALL_RAN_YES);
    nearcall_environment_release(&env);
}

static void once_only(const again_Again *again) {
    again_Again_end(again, pid_of(again), &env);
    CHECK(env.outcome == NEARCALL_CALL_FAILED && env.ran == NEARCALL_RAN_MAYBE);
    again_Again_end(again, 0, &env);
    CHECK(env.outcome == NEARCALL_NOT_EXECUTED && env.ran == NEARCALL_RAN_NO);
}

/* What an event loop is told of next, which has one call under way. */
static nearcall_posted told(nearcall_completions *completions) {
    struct pollfd watched = {nearcall_completions_fd(completions), POLLIN, 0};
    nearcall_posted call;
    void *tag;
    while (!nearcall_completions_next(completions, &call, &tag)) {
        CHECK(poll(&watched, 1, -1) == 1);
    }
    CHECK(tag == &env && nearcall_posted_is_replied(&call));
    return call;
}

static nearcall_completions *completing(nearcall_posted *call) {
    nearcall_completions *completions = nearcall_completions_new(&env);
    CHECK(completions != NULL);
    CHECK(nearcall_completions_add(completions, call, &env, &env));
    return completions;
}

/* What was posted, too, whose arguments are nobody's by then; and a second one behind it. */
static void posted_calls(const again_Again *again) {
    const int32_t before = pid_of(again);
    again_Octets octets = {OCTETS, nearcall_allocate(OCTETS)}, came;
    char text[] = "text", *returned;
    nearcall_posted_again_Again_carry carried;
    nearcall_posted_again_Again_outlive outlived, dropped, cancelled;
    nearcall_posted_again_Again_end another;
    nearcall_completions *completions;
    int32_t after;
    CHECK(octets._buffer != NULL);
    memset(octets._buffer, 7, OCTETS);
    CHECK(nearcall_post_again_Again_carry(again, before, text, &octets, &carried, &env));
    memset(octets._buffer, 0, OCTETS);
    memset(text, 'x', 4);
    nearcall_free_again_Octets(&octets);
    CHECK(nearcall_post_again_Again_outlive(again, before, &outlived, &env));
    completions = completing(&outlived.call);
    returned = nearcall_collect_again_Again_carry(&carried, &came, &env);
    CHECK_RETURNED();
    CHECK(strcmp(returned, "text") == 0);
    CHECK(came._length == OCTETS && came._buffer[0] == 7 && came._buffer[OCTETS - 1] == 7);
    nearcall_free(returned);
    nearcall_free_again_Octets(&came);
    /* Its first try is over, and its collection makes the second. */
    outlived.call = told(completions);
    after = nearcall_collect_again_Again_outlive(&outlived, &env);
    CHECK_RETURNED();
    CHECK(after != before && pid_of(again) == after);
    /* Nobody has it any more. */
    nearcall_collect_again_Again_outlive(&outlived, &env);
    CHECK(env.outcome == NEARCALL_USAGE);
    /* Over the dead binding. */
    CHECK(nearcall_post_again_Again_outlive(again, before, &outlived, &env));
    CHECK(nearcall_posted_is_replied(&outlived.call));
    /* By the collection of another operation it is not collected, and not lost. */
    another.call = outlived.call;
    nearcall_collect_again_Again_end(&another, &env);
    CHECK(env.outcome == NEARCALL_USAGE && strstr(env.message, "another operation") != NULL);
    CHECK(nearcall_completions_add(completions, &outlived.call, &env, &env));
    outlived.call = told(completions);
    CHECK(nearcall_collect_again_Again_outlive(&outlived, &env) == after);
    CHECK(nearcall_post_again_Again_outlive(again, before, &outlived, &env));
    CHECK(nearcall_completions_add(completions, &outlived.call, &env, &env));
    nearcall_completions_release(completions);
    CHECK(nearcall_post_again_Again_outlive(again, before, &dropped, &env));
    CHECK(nearcall_post_again_Again_outlive(again, before, &cancelled, &env));
    nearcall_posted_drop(&dropped.call);
    nearcall_posted_cancel(&cancelled.call);
    CHECK(nearcall_posted_is_replied(&dropped.call) && nearcall_posted_is_replied(&cancelled.call));
    nearcall_posted_drop(&cancelled.call);
}

static void posted_given_up(const again_Again *again) {
    nearcall_posted_again_Again_outlive dropped, cancelled;
    CHECK(nearcall_post_again_Again_outlive(again, 0, &dropped, &env));
    CHECK(nearcall_post_again_Again_outlive(again, 0, &cancelled, &env));
    nearcall_posted_drop(&dropped.call);
    nearcall_posted_cancel(&cancelled.call);
    CHECK(dropped.call.state == NEARCALL_NOT_POSTED && cancelled.call.state == NEARCALL_NOT_POSTED);
}

static void posted_once_only(const again_Again *again) {
    nearcall_posted_again_Again_end ended;
    nearcall_completions *completions;
    CHECK(nearcall_post_again_Again_end(again, pid_of(again), &ended, &env));
    completions = completing(&ended.call);
    ended.call = told(completions);
    nearcall_completions_release(completions);
    nearcall_collect_again_Again_end(&ended, &env);
    CHECK(env.outcome == NEARCALL_CALL_FAILED && env.ran == NEARCALL_RAN_MAYBE);
    CHECK(!nearcall_post_again_Again_end(again, 0, &ended, &env));
    CHECK(env.outcome == NEARCALL_NOT_EXECUTED && env.ran == NEARCALL_RAN_NO);
}

/* Nobody takes the name of the last one. */
static void in_vain(const nearcall_domain *domain, const char *name) {
    again_Again *plain = nearcall_import_again_Again(domain, name, &env);
    again_Again *waits = nearcall_import_with_again_Again(domain, name, &hasty, &env);
    again_Again *same = nearcall_rebind_again_Again(plain, &env);
    CHECK(plain != NULL && waits != NULL && same != NULL);
    again_Again_outlive(plain, pid_of(same), &env);
    CHECK(env.outcome == NEARCALL_CALL_FAILED && env.ran == NEARCALL_RAN_MAYBE);
    while (!nearcall_is_revoked(nearcall_binding_again_Again(waits))) {
    }
    CHECK(nearcall_rebind_again_Again(plain, &env) == NULL);
    CHECK(env.outcome == NEARCALL_NOT_BOUND);
    CHECK(strstr(env.message, "no domain exports") != NULL && strstr(env.message, name) != NULL);
    CHECK(nearcall_rebind_again_Again(waits, &env) == NULL);
    CHECK(env.outcome == NEARCALL_NOT_BOUND && strstr(env.message, name) != NULL);
    CHECK(strstr(env.message, "was not ready within 50ms") != NULL);
    again_Again_pid(waits, &env);
    CHECK(env.outcome == NEARCALL_NOT_EXECUTED);
    CHECK(nearcall_import_with_again_Again(domain, name, &hasty, &env) == NULL);
    CHECK(env.outcome == NEARCALL_NOT_BOUND && env.reason == NEARCALL_REASON_NOT_READY);
    CHECK(strstr(env.message, "was not ready within 20ms: no domain exports") != NULL);
    nearcall_release_again_Again(same);
    nearcall_release_again_Again(waits);
    nearcall_release_again_Again(plain);
}

/* Nor is it taken by a process that was waited for, and has ended. */
static void in_vain_beside(const nearcall_domain *domain, const char *name) {
    static const int ended = STDIN_FILENO, others[] = {STDOUT_FILENO, -1};
    nearcall_import_options beside = patient;
    beside.ready_pidfd = &ended;
    CHECK(nearcall_import_with_again_Again(domain, name, &beside, &env) == NULL);
    CHECK(env.outcome == NEARCALL_NOT_BOUND && env.reason == NEARCALL_REASON_PROCESS_ENDED);
    CHECK(env.ran == NEARCALL_RAN_NO && !nearcall_may_retry(&env));
    CHECK(strstr(env.message, "process that it waited for ended: no domain exports") != NULL);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        beside.ready_pidfd = &others[i];
        CHECK(nearcall_import_with_again_Again(domain, name, &beside, &env) == NULL);
        CHECK(env.outcome == NEARCALL_NOT_BOUND && env.reason == NEARCALL_REASON_WRONG_DESCRIPTOR);
        CHECK(strcmp(env.message, "ready_pidfd is no pidfd") == 0);
    }
}

int main(int argc, char **argv) {
    nearcall_domain *domain = nearcall_domain_new(&env);
    again_Again *again;
    CHECK(argc == 2 && domain != NULL);
    again = nearcall_import_with_again_Again(domain, argv[1], &patient, &env);
    CHECK_RETURNED();
    brief_calls(again);
    again = renewed(again);
    kept_replies(again);
    again = renewed(again);
    exceptions(again);
    again = renewed(again);
    once_only(again);
    again = renewed(again);
    posted_calls(again);
    again = renewed(again);
    posted_given_up(again);
    posted_once_only(again);
    again = renewed(again);
    in_vain(domain, argv[1]);
    in_vain_beside(domain, argv[1]);
    nearcall_release_again_Again(again);
    nearcall_domain_shut_down(domain);
    nearcall_domain_release(domain);
    printf("%u checks\n", checks);
    return 0;
}
