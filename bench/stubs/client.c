/* The client in C of the table `stubs`: `client PROCESSOR`. */
#define _GNU_SOURCE
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "calls.h"
#include "orders.h"

static nearcall_environment env;

static inline void must_return(bool is_right) {
    if (env.outcome != NEARCALL_RETURNED || !is_right) {
        fprintf(stderr, "a call came back wrong: %u %s\n", env.outcome, env.message);
        exit(1);
    }
}

/* Always so many calls under way, the oldest collected first. */
static void posted(const calls_Calls *calls, const struct order *order) {
    static nearcall_posted_calls_Calls_null under_way[UNDER_WAY];
    unsigned oldest = 0;
    for (unsigned i = 0; i < UNDER_WAY; i++) {
        must_return(nearcall_post_calls_Calls_null(calls, &under_way[i], &env));
    }
    TIME(*order, (nearcall_collect_calls_Calls_null(&under_way[oldest], &env), must_return(true),
                  must_return(nearcall_post_calls_Calls_null(calls, &under_way[oldest], &env)),
                  oldest = (oldest + 1) % UNDER_WAY));
    for (unsigned i = 0; i < UNDER_WAY; i++) {
        nearcall_collect_calls_Calls_null(&under_way[i], &env);
        must_return(true);
    }
}

/* Turns of an event loop, until it was told of so many calls: it waits, and collects until it finds
 * no more, as loops do. */
static void turn_until(nearcall_completions *completions, unsigned *told, unsigned count) {
    struct pollfd watched = {nearcall_completions_fd(completions), POLLIN, 0};
    nearcall_posted_calls_Calls_null call;
    void *tag;
    while (*told < count) {
        if (poll(&watched, 1, -1) != 1) {
            perror("poll");
            exit(1);
        }
        while (nearcall_completions_next(completions, &call.call, &tag)) {
            nearcall_collect_calls_Calls_null(&call, &env);
            must_return(true);
            ++*told;
        }
    }
}

static void add(const calls_Calls *calls, nearcall_completions *completions) {
    nearcall_posted_calls_Calls_null call;
    must_return(nearcall_post_calls_Calls_null(calls, &call, &env));
    must_return(nearcall_completions_add(completions, &call.call, NULL, &env));
}

/* So many calls under way at most, of which an event loop is told. */
static void looped(const calls_Calls *calls, const struct order *order, unsigned under_way) {
    nearcall_completions *completions = nearcall_completions_new(&env);
    unsigned due = 0, told = 0;
    must_return(completions != NULL);
    for (unsigned i = 1; i < under_way; i++) {
        add(calls, completions);
    }
    TIME(*order, (add(calls, completions), turn_until(completions, &told, ++due)));
    turn_until(completions, &told, due + under_way - 1);
    nearcall_completions_release(completions);
}

static void obey(const calls_Calls *calls, const struct order *order) {
    calls_Big big = {0};
    volatile int32_t two = 2;
    if (strcmp(order->name, "null") == 0) {
        TIME(*order, (calls_Calls_null(calls, &env), must_return(true)));
    } else if (strcmp(order->name, "add") == 0) {
        TIME(*order, must_return(calls_Calls_add(calls, two, 3, &env) == 5));
    } else if (strcmp(order->name, "biginout") == 0) {
        uint8_t first = 0;
        TIME(*order, (calls_Calls_big_in_out(calls, &big, &env), must_return(big._at[0] == ++first)));
    } else if (strcmp(order->name, "posted-4") == 0) {
        posted(calls, order);
    } else if (strcmp(order->name, "loop") == 0) {
        looped(calls, order, 1);
    } else if (strcmp(order->name, "loop-4") == 0) {
        looped(calls, order, UNDER_WAY);
    } else {
        fprintf(stderr, "there is no case %s\n", order->name);
        exit(1);
    }
}

int main(int argc, char **argv) {
    struct order order;
    if (argc != 2) {
        fprintf(stderr, "which processor?\n");
        return 1;
    }
    pin(argv[1]);
    nearcall_domain *domain = nearcall_domain_new(&env);
    calls_Calls *calls = domain ? nearcall_import_calls_Calls(domain, CALLS_NAME, &env) : NULL;
    if (calls == NULL) {
        fprintf(stderr, "%u %s\n", env.outcome, env.message);
        return 1;
    }
    printf("ready gcc %s\n", __VERSION__);
    fflush(stdout);
    while (next_order(&order)) {
        obey(calls, &order);
    }
    nearcall_client_release((nearcall_client *)calls);
    nearcall_domain_release(domain);
    return 0;
}
