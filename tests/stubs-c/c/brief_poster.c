/* A client of brief.idl: `brief_poster WHAT NAME` posts calls, and collects them later. It counts
 * how often its stubs go the ways that are not brief. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <time.h>

#include "brief.h"
#include "check.h"

#define CALLS 20000
#define UNDER_WAY 4
#define THREADS 8
/* More than a class of the interface has. */
#define ASTACKS_MAX 16

typedef nearcall_posted_brief_Brief_add added;

/* Posts that were not brief; posts that were, with something left to do; collections that were not
 * brief; and those that were, and whose A-stack went to its list. */
static uint32_t otherwise, told, late, given_back;

static void *real(const char *name) {
    return dlsym(RTLD_NEXT, name);
}

static void count(uint32_t *counter) {
    __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

/* These are in the place of libnearcall's, which they call. */
bool nearcall_post(const nearcall_client *client, uint32_t procedure,
                   const nearcall_message *request, uint32_t when, bool expects_descriptors,
                   nearcall_posted *posted, nearcall_environment *environment) {
    bool (*own)(const nearcall_client *, uint32_t, const nearcall_message *, uint32_t, bool,
                nearcall_posted *, nearcall_environment *);
    *(void **)&own = real("nearcall_post");
    count(&otherwise);
    return own(client, procedure, request, when, expects_descriptors, posted, environment);
}

bool nearcall_slow_posted(nearcall_posted *posted, uint32_t seen,
                          nearcall_environment *environment) {
    bool (*own)(nearcall_posted *, uint32_t, nearcall_environment *);
    *(void **)&own = real("nearcall_slow_posted");
    count(&told);
    return own(posted, seen, environment);
}

bool nearcall_collect(nearcall_posted *posted, nearcall_reply *reply,
                      nearcall_environment *environment) {
    bool (*own)(nearcall_posted *, nearcall_reply *, nearcall_environment *);
    *(void **)&own = real("nearcall_collect");
    count(&late);
    return own(posted, reply, environment);
}

uint64_t nearcall_slow_give_back(nearcall_posted *posted, uint64_t returned) {
    uint64_t (*own)(nearcall_posted *, uint64_t);
    *(void **)&own = real("nearcall_slow_give_back");
    count(&given_back);
    return own(posted, returned);
}

static nearcall_environment env;

static void pause_ms(long ms) {
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static void await(const nearcall_posted *call) {
    while (!nearcall_posted_is_replied(call)) {
    }
}

/* How many calls this thread can have under way: all A-stacks of the class, each of them once. */
static int32_t full(const brief_Brief *brief) {
    added calls[ASTACKS_MAX];
    int32_t count = 0;
    while (nearcall_post_brief_Brief_add(brief, count, 1, &calls[count], &env)) {
        count++;
        CHECK(count < ASTACKS_MAX);
    }
    CHECK(env.outcome == NEARCALL_USAGE && env.ran == NEARCALL_RAN_NO);
    CHECK(strstr(env.message, "add") != NULL);
    for (int32_t i = 0; i < count; i++) {
        CHECK(nearcall_collect_brief_Brief_add(&calls[i], &env) == i + 1);
        CHECK(env.outcome == NEARCALL_RETURNED);
    }
    return count;
}

/* What lies behind the line, on any A-stack of its class; what libnearcall would have to copy takes
 * the long way. */
static void behind(const brief_Brief *brief) {
    nearcall_posted_brief_Brief_wash washes[UNDER_WAY];
    nearcall_posted_brief_Brief_shift shifted;
    uint32_t before = 0;
    for (uint32_t call = 0; call < CALLS / 4; call++) {
        brief_Sheet sheet;
        memset(&sheet, (int)(call % 256), sizeof sheet);
        /* What A-stacks the class has are kept from the first calls on. */
        before = call == 1 ? otherwise : before;
        for (uint32_t i = 0; i < UNDER_WAY; i++) {
            sheet._at[199] = (uint8_t)i;
            CHECK(nearcall_post_brief_Brief_wash(brief, i, &sheet, &washes[i], &env));
        }
        for (uint32_t i = 0; i < UNDER_WAY; i++) {
            await(&washes[i].call);
            CHECK(nearcall_collect_brief_Brief_wash(&washes[i], &sheet, &env) == i);
            CHECK(env.outcome == NEARCALL_RETURNED && sheet._at[199] == 2 * i);
            CHECK(sheet._at[0] == (uint8_t)(call + i) && sheet._at[198] == (uint8_t)(call + i));
        }
    }
#if defined(__x86_64__)
    CHECK(otherwise == before);
#endif
    const uint32_t before_page = otherwise;
    brief_Page page = {{0}};
    uint8_t last = 0;
    page._at[999] = 7;
    CHECK(nearcall_post_brief_Brief_shift(brief, &page, 9, &shifted, &env));
    page = nearcall_collect_brief_Brief_shift(&shifted, &last, &env);
    CHECK(env.outcome == NEARCALL_RETURNED && page._at[0] == 9 && last == 7);
    CHECK(otherwise == before_page + 1);
}

/* Only the first calls, for which nothing is kept yet, and payloads longer than the line take the
 * long way. */
static void words(const brief_Brief *brief) {
    static int32_t data[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    for (int32_t call = 0; call < CALLS / UNDER_WAY; call++) {
        added calls[UNDER_WAY];
        for (int32_t i = 0; i < UNDER_WAY; i++) {
            const uint32_t all = told + otherwise;
            CHECK(nearcall_post_brief_Brief_add(brief, call, i, &calls[i], &env));
            /* The last one of a batch is weighed by libnearcall. */
            CHECK(calls[i].call.held.astack->sequence % NEARCALL_BATCH_CALLS != 0 ||
                  told + otherwise == all + 1);
        }
        /* Each second time in another order than that of the posts. */
        for (int32_t i = 0; i < UNDER_WAY; i++) {
            const int32_t one = call % 2 == 0 ? i : UNDER_WAY - 1 - i;
            await(&calls[one].call);
            CHECK(nearcall_collect_brief_Brief_add(&calls[one], &env) == call + one);
            CHECK(env.outcome == NEARCALL_RETURNED);
        }
    }
    printf("%u of %d posted, %u collected the long way, %u told\n", otherwise, CALLS, late, told);
#if defined(__x86_64__)
    CHECK(otherwise <= UNDER_WAY && late < CALLS / 2);
#else
    CHECK(otherwise == CALLS && late == CALLS && told == 0);
#endif
    for (uint32_t length = 0, sum = 0; length <= 12; length++) {
        const brief_Longs longs = {length, data};
        nearcall_posted_brief_Brief_write written;
        int32_t pos = 7;
        CHECK(nearcall_post_brief_Brief_write(brief, 7, pos, (int32_t)length, &longs, &written,
                                              &env));
        CHECK(nearcall_collect_brief_Brief_write(&written, &pos, &env) == (int32_t)sum);
        CHECK(env.outcome == NEARCALL_RETURNED && pos == 7 + (int32_t)length);
        sum += length + 1;
    }
    for (uint32_t call = 0; call < 100; call++) {
        nearcall_posted_brief_Brief_mix mixed;
        uint8_t small = (uint8_t)call;
        uint64_t big = 0;
        CHECK(nearcall_post_brief_Brief_mix(brief, brief_BLUE, call % 2 == 1, 'a', 1.5, small,
                                            &mixed, &env));
        small = 0;
        CHECK(nearcall_collect_brief_Brief_mix(&mixed, &small, &big, &env) == brief_GREEN);
        CHECK(small == (uint8_t)(call + call % 2) && big == ((uint64_t)3 << 32) + 'a');
    }
    behind(brief);
    nearcall_posted_brief_Brief_mix refused;
    uint8_t small = 1;
    CHECK(!nearcall_post_brief_Brief_mix(brief, (brief_Color)3, true, 'a', 1.5, small, &refused,
                                         &env));
    CHECK(env.outcome == NEARCALL_USAGE && env.ran == NEARCALL_RAN_NO);
    const int32_t all = full(brief);
    CHECK(full(brief) == all && all > UNDER_WAY);
}

/* Text of every length arrives, in the line by the stubs themselves. */
static void texts(const brief_Brief *brief) {
    char word[61] = "";
    uint32_t before = 0, sum = 9;
    for (uint32_t bytes = 0; bytes < 60; bytes++) {
        nearcall_posted_brief_Brief_spell spelt;
        CHECK(nearcall_post_brief_Brief_spell(brief, 9, word, &spelt, &env));
        CHECK(nearcall_collect_brief_Brief_spell(&spelt, &env) == sum);
        CHECK(env.outcome == NEARCALL_RETURNED);
        if (bytes == 40) {
            before = otherwise;
        }
        word[bytes] = (char)('A' + bytes);
        word[bytes + 1] = 0;
        sum += (uint32_t)'A' + bytes;
    }
    printf("%u of 41 posted the long way, and %u in all\n", before, otherwise);
#if defined(__x86_64__)
    CHECK(before <= 1 && otherwise >= before + 19);
#endif
    nearcall_posted_brief_Brief_spell refused;
    CHECK(!nearcall_post_brief_Brief_spell(brief, 9, "no \xff text", &refused, &env));
    CHECK(env.outcome == NEARCALL_USAGE && env.reason == NEARCALL_REASON_TEXT);
}

/* The class of calls that are words. */
static const nearcall_brief *words_of(const brief_Brief *brief) {
    return &((const nearcall_client *)brief)->briefs[0];
}

#if defined(__x86_64__)
/* A server that does not poll the A-stack is told, though all else is as for most posts. */
static void ring(const brief_Brief *brief) {
    const nearcall_client *client = (const nearcall_client *)brief;
    uint32_t rung = 0;
    for (uint32_t call = 0; call < 1000 && rung < 5; call++) {
        const uint32_t before = told, posted = otherwise;
        nearcall_posted_brief_Brief_null nothing;
        pause_ms(5 + call % 20);
        const nearcall_bias *bias = words_of(brief)->bias;
        const nearcall_astack *astack = words_of(brief)->astack + __builtin_ctzll(bias->free);
        const bool is_polled = (__atomic_load_n(&astack->head->turn, __ATOMIC_RELAXED) & 7) == 1;
        const bool is_as_most = (astack->sequence + 1) % NEARCALL_BATCH_CALLS != 0 &&
                                __atomic_load_n(client->lookout, __ATOMIC_RELAXED) != 0;
        CHECK(nearcall_post_brief_Brief_null(brief, &nothing, &env));
        CHECK(otherwise == posted && nothing.call.held.astack == astack);
        if (!is_polled && is_as_most) {
            CHECK(told == before + 1);
            rung++;
        }
        nearcall_collect_brief_Brief_null(&nothing, &env);
        CHECK(env.outcome == NEARCALL_RETURNED);
    }
    printf("%u rung\n", rung);
    CHECK(rung == 5);
}
#endif

/* A reply that is not there yet, an exception, and a server that sleeps. */
static void unusual(const brief_Brief *brief) {
    nearcall_posted_brief_Brief_half halved;
    nearcall_posted_brief_Brief_nap napped;
    int32_t number;
    for (int32_t call = 0; call < 200; call++) {
        CHECK(nearcall_post_brief_Brief_half(brief, call, &halved, &env));
        await(&halved.call);
        const uint32_t before = late;
        const int32_t half = nearcall_collect_brief_Brief_half(&halved, &number, &env);
        if (call % 2 == 0) {
            CHECK(env.outcome == NEARCALL_RETURNED && half == call / 2);
        } else {
            CHECK(env.outcome == NEARCALL_RAISED && late == before + 1);
            CHECK(nearcall_raised_brief_Refused(&env)->code == 1);
            nearcall_environment_release(&env);
        }
    }
    for (uint32_t call = 0; call < 10; call++) {
        const uint32_t before = late;
        CHECK(nearcall_post_brief_Brief_nap(brief, 100, &napped, &env));
        CHECK(!nearcall_posted_is_replied(&napped.call));
        nearcall_collect_brief_Brief_nap(&napped, &env);
        CHECK(env.outcome == NEARCALL_RETURNED && late == before + 1);
    }
#if defined(__x86_64__)
    ring(brief);
    for (uint32_t call = 0; call < 10; call++) {
        nearcall_posted_brief_Brief_null nothing;
        CHECK(nearcall_post_brief_Brief_null(brief, &nothing, &env));
        await(&nothing.call);
        /* From another processor than the one before. */
        nothing.call.held.astack->server_processor = ~0u;
        const uint32_t before = late;
        nearcall_collect_brief_Brief_null(&nothing, &env);
        CHECK(env.outcome == NEARCALL_RETURNED && late == before + 1);
    }
#endif
}

static void *collect(void *call) {
    nearcall_environment own;
    const int32_t sum = nearcall_collect_brief_Brief_add(call, &own);
    return sum == 42 && own.outcome == NEARCALL_RETURNED ? call : NULL;
}

static void collect_elsewhere(added *call) {
    pthread_t thread;
    void *ended;
    CHECK(pthread_create(&thread, NULL, collect, call) == 0);
    CHECK(pthread_join(thread, &ended) == 0 && ended == call);
}

/* Any thread collects, or drops, or cancels: each A-stack comes back once. */
static void elsewhere(const brief_Brief *brief) {
    const int32_t all = full(brief);
    for (int32_t i = 0; i < 10 * all; i++) {
        added call;
        CHECK(nearcall_post_brief_Brief_add(brief, 40, 2, &call, &env));
        await(&call.call);
        const uint32_t before = late;
        collect_elsewhere(&call);
        CHECK(late == before + 1);
    }
    CHECK(full(brief) == all);
    for (int32_t i = 0; i < 10 * all; i++) {
        added call;
        CHECK(nearcall_post_brief_Brief_add(brief, i, i, &call, &env));
        nearcall_posted_drop(&call.call);
        CHECK(nearcall_posted_is_replied(&call.call));
        CHECK(nearcall_post_brief_Brief_add(brief, i, i, &call, &env));
        nearcall_posted_cancel(&call.call);
        nearcall_collect_brief_Brief_add(&call, &env);
        CHECK(env.outcome == NEARCALL_USAGE && env.ran == NEARCALL_RAN_NO);
    }
    CHECK(full(brief) == all);
}

/* Calls of a thread that has ended. */
struct left {
    const brief_Brief *brief;
    added calls[ASTACKS_MAX];
    int32_t count;
};

static void *post_all(void *given) {
    struct left *left = given;
    const int32_t all = full(left->brief);
    const uint32_t before = otherwise;
    for (left->count = 0; left->count < all; left->count++) {
        added *call = &left->calls[left->count];
        CHECK(nearcall_post_brief_Brief_add(left->brief, 40, 2, call, &env));
    }
#if defined(__x86_64__)
    CHECK(otherwise == before);
#endif
    return left;
}

static void *call_one(void *given) {
    struct left *left = given;
    nearcall_environment own;
    added call;
    /* It is not refused: others than this thread have them all. */
    CHECK(nearcall_post_brief_Brief_add(left->brief, 40, 2, &call, &own));
    return collect(&call) == NULL ? NULL : left;
}

/* A thread ends with every A-stack under way. The next one has its thread pointer, and so its
 * biases, and is not taken for it: it waits until one is collected. */
static void heirs(const nearcall_domain *domain, const char *name) {
    for (int round = 0; round < 5; round++) {
        brief_Brief *brief = nearcall_import_brief_Brief(domain, name, &env);
        struct left left = {.brief = brief};
        pthread_t thread;
        void *ended;
        CHECK(brief != NULL);
        CHECK(pthread_create(&thread, NULL, post_all, &left) == 0);
        CHECK(pthread_join(thread, &ended) == 0 && ended == &left);
        CHECK(pthread_create(&thread, NULL, call_one, &left) == 0);
        pause_ms(20);
        for (int32_t i = 0; i < left.count; i++) {
            CHECK(nearcall_collect_brief_Brief_add(&left.calls[i], &env) == 42);
        }
        CHECK(pthread_join(thread, &ended) == 0 && ended == &left);
        CHECK(full(brief) == left.count);
        nearcall_client_release((nearcall_client *)brief);
    }
}

static void *call_many(void *brief) {
    nearcall_environment own;
    for (int32_t call = 0; call < CALLS / THREADS; call++) {
        added posted;
        CHECK(nearcall_post_brief_Brief_add(brief, call, call, &posted, &own));
        CHECK(nearcall_collect_brief_Brief_add(&posted, &own) == 2 * call);
        CHECK(own.outcome == NEARCALL_RETURNED);
    }
    return NULL;
}

#if defined(__x86_64__)
/* The bias is revoked between two steps of a half, which are the header's: each A-stack goes to the
 * list once. */
static void under_revocation(const nearcall_domain *domain, const char *name) {
    for (uint32_t round = 0; round < 2; round++) {
        brief_Brief *brief = nearcall_import_brief_Brief(domain, name, &env);
        const nearcall_client *client = (const nearcall_client *)brief;
        const int32_t all = full(brief);
        nearcall_held held;
        added call;
        pthread_t threads[THREADS];
        if (round == 0) {
            /* A reply from another processor than the one before is collected the long way. */
            for (int32_t tries = 0; tries < CALLS; tries++) {
                CHECK(nearcall_post_brief_Brief_add(brief, 40, 2, &call, &env));
                await(&call.call);
                if (nearcall_brief_look(&call.call, 0, 4, &held)) {
                    break;
                }
                CHECK(tries + 1 < CALLS);
                CHECK(nearcall_collect_brief_Brief_add(&call, &env) == 42);
            }
            given_back = 0;
        } else {
            /* This file learns the number of the thread. */
            nearcall_brief_otherwise(client, 0, NEARCALL_NOT_KEPT);
            CHECK(nearcall_brief_claim_any(client, 0, &held) == NEARCALL_CLAIMED);
        }
        for (int i = 0; i < THREADS; i++) {
            CHECK(pthread_create(&threads[i], NULL, call_many, brief) == 0);
        }
        for (int i = 0; i < THREADS; i++) {
            CHECK(pthread_join(threads[i], NULL) == 0);
        }
        CHECK(!nearcall_is_owner(words_of(brief)->bias, nearcall_thread()));
        if (round == 0) {
            CHECK(nearcall_brief_end(&held, &call.call, &env, 7) == 7 && given_back == 1);
            CHECK(nearcall_posted_is_replied(&call.call) && call.call.state == NEARCALL_NOT_POSTED);
        } else {
            const uint32_t nth = (uint32_t)(held.astack - words_of(brief)->astack);
            nearcall_brief_otherwise(client, 0, NEARCALL_REVOKED | nth << NEARCALL_NTH_SHIFT);
        }
        CHECK(full(brief) == all);
        nearcall_client_release((nearcall_client *)brief);
    }
}
#endif

/* More threads than A-stacks: the bias is revoked while its owner posts, and while it has calls
 * under way. */
static void crowd(brief_Brief *brief) {
    pthread_t threads[THREADS];
    const int32_t all = full(brief);
    added calls[2];
    for (int32_t i = 0; i < 2; i++) {
        CHECK(nearcall_post_brief_Brief_add(brief, i, 1, &calls[i], &env));
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, call_many, brief) == 0);
    }
    call_many(brief);
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    const uint32_t before = late;
    for (int32_t i = 0; i < 2; i++) {
        CHECK(nearcall_collect_brief_Brief_add(&calls[i], &env) == i + 1);
        CHECK(env.outcome == NEARCALL_RETURNED);
    }
    CHECK(late == before + 2);
    CHECK(full(brief) == all);
}

/* A copy with a deadline posts as others do, and has its deadline. */
static void deadlines(const brief_Brief *brief) {
    nearcall_client *copy = nearcall_with_deadline((const nearcall_client *)brief, 20000000);
    const brief_Brief *hasty = (const brief_Brief *)copy;
    const int32_t all = full(brief);
    /* On a loaded machine the deadline may pass before the post, or the reply be there before anybody
     * looks: then once more. */
    for (int32_t call = 0, tries = 0; call < 3; tries++) {
        nearcall_posted_brief_Brief_nap napped;
        added posted;
        const uint32_t before = otherwise;
        bool is_posted, is_aborted = false;
        CHECK(tries < 20);
        is_posted = nearcall_post_brief_Brief_nap(hasty, 1000, &napped, &env);
        CHECK(is_posted || IS_LATE(env));
        if (is_posted) {
            bool both = nearcall_post_brief_Brief_add(hasty, call, 1, &posted, &env);
            CHECK(both ? otherwise == before + 2 : IS_LATE(env));
            nearcall_collect_brief_Brief_nap(&napped, &env);
            is_aborted = env.outcome == NEARCALL_CALL_ABORTED && both;
            CHECK(env.outcome == NEARCALL_RETURNED || IS_LATE(env));
            CHECK(!is_aborted || env.ran == NEARCALL_RAN_MAYBE);
            if (both) {
                await(&posted.call);
                /* However late. */
                CHECK(nearcall_collect_brief_Brief_add(&posted, &env) == call + 1);
            }
        }
        call += is_aborted;
    }
    CHECK(full(brief) == all);
    nearcall_client_release(copy);
}

/* The server ends while it has calls, one of which it has replied to. */
static void end(const brief_Brief *brief) {
    added first, last;
    nearcall_posted_brief_Brief_end ended;
    full(brief);
    CHECK(nearcall_post_brief_Brief_add(brief, 40, 2, &first, &env));
    await(&first.call);
    CHECK(nearcall_post_brief_Brief_end(brief, &ended, &env));
    nearcall_collect_brief_Brief_end(&ended, &env);
    CHECK(env.outcome == NEARCALL_CALL_FAILED && env.ran == NEARCALL_RAN_MAYBE);
    CHECK(nearcall_is_revoked((const nearcall_client *)brief));
    CHECK(nearcall_collect_brief_Brief_add(&first, &env) == 42);
    CHECK(env.outcome == NEARCALL_RETURNED);
    CHECK(!nearcall_post_brief_Brief_add(brief, 1, 2, &last, &env));
    CHECK(env.outcome == NEARCALL_NOT_EXECUTED && env.ran == NEARCALL_RAN_NO);
}

/* The server tells the truth for a while and then what no value is. */
static void lies(const brief_Brief *brief) {
    uint32_t call = 0;
    uint8_t small = 0;
    uint64_t big = 0;
    do {
        nearcall_posted_brief_Brief_mix mixed;
        small = 5;
        CHECK(nearcall_post_brief_Brief_mix(brief, brief_RED, true, 'a', 1.5, small, &mixed,
                                            &env));
        await(&mixed.call);
        big = 7;
        nearcall_collect_brief_Brief_mix(&mixed, &small, &big, &env);
        call++;
        CHECK(call < 1000);
    } while (env.outcome == NEARCALL_RETURNED);
    printf("call %u: %u, %s\n", call, env.outcome, env.message);
    CHECK(call > 100 && late < call);
    CHECK(env.outcome == NEARCALL_PEER && small == 0 && big == 0);
    CHECK(nearcall_is_revoked((const nearcall_client *)brief));
}

int main(int argc, char **argv) {
    CHECK(argc == 3);
    nearcall_domain *domain = nearcall_domain_new(&env);
    CHECK(domain != NULL);
    brief_Brief *brief = nearcall_import_brief_Brief(domain, argv[2], &env);
    if (brief == NULL) {
        fprintf(stderr, "%s\n", env.message);
        return 1;
    }
    switch (argv[1][0]) {
    case 'w':
        words(brief);
        break;
    case 't':
        texts(brief);
        break;
    case 'u':
        unusual(brief);
        break;
    case 'o':
        elsewhere(brief);
        break;
    case 'h':
        heirs(domain, argv[2]);
        break;
    case 'c':
        crowd(brief);
        break;
    case 'r':
#if defined(__x86_64__)
        under_revocation(domain, argv[2]);
#endif
        break;
    case 'd':
        deadlines(brief);
        break;
    case 'e':
        end(brief);
        break;
    default:
        lies(brief);
    }
    nearcall_client_release((nearcall_client *)brief);
    nearcall_domain_release(domain);
    printf("%u checks, %u given back\n", checks, given_back);
    return 0;
}
