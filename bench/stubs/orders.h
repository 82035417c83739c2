/* What the clients of the table `stubs` share: they answer orders as src/rival.rs says it.
 *
 *   standard output: ready VERSION
 *   standard input:  CASE WARM_UP BATCHES BATCH     and so on, until it ends
 *   standard output: ns ns ns ...                   one number for each batch
 */
#ifndef ORDERS_H
#define ORDERS_H

#define CALLS_NAME "calls"
/* Calls under way at once, as the table has it. */
#define UNDER_WAY 4u
/* Batches of an order. */
#define BATCHES_MAX 1000000

struct order {
    char name[32];
    unsigned warm_up, batches, batch;
};

static uint64_t times_ns[BATCHES_MAX];

/* The next order; false after the last. */
static bool next_order(struct order *order) {
    const int words = scanf("%31s %u %u %u", order->name, &order->warm_up, &order->batches,
                            &order->batch);
    if (words == 4 && order->batches > BATCHES_MAX) {
        fprintf(stderr, "%u batches are over %u\n", order->batches, BATCHES_MAX);
        exit(1);
    }
    return words == 4;
}

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Binds this thread, and those that it starts, to a processor. */
static void pin(const char *processor) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(strtoul(processor, NULL, 10), &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0) {
        perror("sched_setaffinity");
        exit(1);
    }
}

static void answer(unsigned batches) {
    for (unsigned batch = 0; batch < batches; batch++) {
        printf("%llu ", (unsigned long long)times_ns[batch]);
    }
    printf("\n");
    fflush(stdout);
}

/* Answers an order by making a call as often as it says. */
#define TIME(order, CALL)                                                                  \
    do {                                                                                   \
        for (unsigned call = 0; call < (order).warm_up; call++) {                          \
            CALL;                                                                          \
        }                                                                                  \
        for (unsigned batch = 0; batch < (order).batches; batch++) {                       \
            const uint64_t begin_ns = now_ns();                                            \
            for (unsigned call = 0; call < (order).batch; call++) {                        \
                CALL;                                                                      \
            }                                                                              \
            times_ns[batch] = now_ns() - begin_ns;                                         \
        }                                                                                  \
        answer((order).batches);                                                           \
    } while (0)

#endif
