/* A server of estacks.idl on E-stacks: `patient NAME [ESTACKS [BYTES]]` exports it until its standard
 * input ends, with one thread that runs calls, and calls the server `slow`. */
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "check.h"
#include "estacks.h"
#include "serve.h"

static estacks_Slow *slow;
static atomic_uint outlived_count;
static _Thread_local uint32_t of_this_thread;

static uint32_t ask_by_text(uint32_t number, bool is_posted, nearcall_environment *env) {
    nearcall_posted_estacks_Slow_hold_text posted;
    char text[16], *same;
    uint32_t held;
    snprintf(text, sizeof text, "%u", number);
    if (!is_posted) {
        same = estacks_Slow_hold_text(slow, text, env);
    } else {
        CHECK(nearcall_post_estacks_Slow_hold_text(slow, text, &posted, env));
        same = nearcall_collect_estacks_Slow_hold_text(&posted, env);
    }
    CHECK(env->outcome == NEARCALL_RETURNED);
    held = (uint32_t)strtoul(same, NULL, 10);
    nearcall_free(same);
    return held;
}

static uint32_t ask(void *self, estacks_Manner how, uint32_t number, nearcall_environment *env) {
    nearcall_posted_estacks_Slow_hold posted;
    (void)self;
    switch (how) {
    case estacks_BRIEF:
        return estacks_Slow_hold(slow, number, env);
    case estacks_POSTED_BRIEF:
        CHECK(nearcall_post_estacks_Slow_hold(slow, number, &posted, env));
        return nearcall_collect_estacks_Slow_hold(&posted, env);
    default:
        return ask_by_text(number, how == estacks_POSTED_TEXT, env);
    }
}

static uint32_t keep(void *self, uint32_t number, uint32_t *of_thread, nearcall_environment *env) {
    uint32_t held;
    (void)self;
    of_this_thread = number;
    held = estacks_Slow_hold(slow, number, env);
    *of_thread = of_this_thread;
    return held;
}

static void fail(void *self, uint32_t number, bool is_declared, nearcall_environment *env) {
    estacks_Refused refused;
    (void)self;
    refused.number = estacks_Slow_hold(slow, number, env);
    if (is_declared) {
        nearcall_raise_estacks_Refused(env, refused);
    } else {
        nearcall_panic(env, "held for too long");
    }
}

static void outlive(void *self, uint32_t number, nearcall_environment *env) {
    nearcall_current *call = nearcall_current_call();
    nearcall_environment own;
    (void)self;
    (void)env;
    estacks_Slow_hold(slow, number, &own);
    while (!nearcall_current_is_cancelled(call)) {
        sched_yield();
    }
    nearcall_current_release(call);
    nearcall_environment_release(&own);
    outlived_count++;
}

static uint32_t outlived(void *self, nearcall_environment *env) {
    (void)self;
    (void)env;
    return outlived_count;
}

static uint32_t dive(void *self, uint32_t depth, nearcall_environment *env) {
    volatile char frame[4096];
    frame[depth % sizeof frame] = 1;
    return depth == 0 ? 0 : dive(self, depth - 1, env) + frame[depth % sizeof frame];
}

static uint32_t add(void *self, uint32_t a, uint32_t b, nearcall_environment *env) {
    (void)self;
    (void)env;
    return a + b;
}

int main(int argc, char **argv) {
    static const nearcall_server_estacks_Host server = {NULL,    ask,      keep, fail,
                                                        outlive, outlived, dive, add};
    nearcall_export_options to = {.runs_on_estacks = true};
    nearcall_domain_options knobs;
    nearcall_environment env;
    nearcall_domain *domain;
    nearcall_clerk *clerk;
    CHECK(argc >= 2);
    nearcall_domain_options_default(&knobs);
    knobs.processors_max = 1;
    knobs.estacks_max = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : knobs.estacks_max;
    knobs.estack_bytes = argc > 3 ? strtoul(argv[3], NULL, 10) : knobs.estack_bytes;
    domain = nearcall_domain_new_with(&knobs, &env);
    CHECK(domain != NULL);
    slow = nearcall_import_estacks_Slow(domain, "slow", &env);
    CHECK(slow != NULL);
    clerk = nearcall_export_with_estacks_Host(domain, argv[1], &server, &to, &env);
    if (clerk != NULL) {
        until_input_ends();
    } else {
        puts(env.message);
    }
    nearcall_domain_shut_down(domain);
    nearcall_clerk_release(clerk);
    nearcall_release_estacks_Slow(slow);
    nearcall_domain_release(domain);
    return 0;
}
