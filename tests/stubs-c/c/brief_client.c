/* A client of brief.idl: `brief_client WHAT NAME`. It counts how often its stubs go the way that all other
 * calls go. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <time.h>

#include "brief.h"
#include "check.h"

#define CALLS 20000
#define THREADS 8
/* Of the interface. */
#define CLASSES 6

typedef bool (*long_way)(const nearcall_client *, uint32_t, const nearcall_message *, nearcall_reply *,
                         nearcall_environment *);

static uint32_t slow_count;

/* In the place of libnearcall's, which it calls: what no brief call comes to. */
bool nearcall_call(const nearcall_client *client, uint32_t procedure,
                   const nearcall_message *request, nearcall_reply *reply,
                   nearcall_environment *environment) {
    long_way real;
    *(void **)&real = dlsym(RTLD_NEXT, "nearcall_call");
    __atomic_fetch_add(&slow_count, 1, __ATOMIC_RELAXED);
    return real(client, procedure, request, reply, environment);
}

static nearcall_environment env;

static void pause_ms(long ms) {
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

/* Values come back as they are, and only the first call takes the long way. */
static void words(const brief_Brief *brief) {
    for (uint32_t call = 0; call < CALLS; call++) {
        const int32_t number = (int32_t)(call * 2654435761u);
        uint8_t small = (uint8_t)call;
        uint64_t big = 0;
        brief_Point point = {number, 0.5};
        CHECK(brief_Brief_add(brief, number, 3, &env) == (int32_t)((uint32_t)number + 3));
        CHECK(env.outcome == NEARCALL_RETURNED);
        const brief_Color color =
            brief_Brief_mix(brief, brief_BLUE, call % 2 == 1, 'a', 1.5, &small, &big, &env);
        CHECK(env.outcome == NEARCALL_RETURNED && color == brief_GREEN);
        CHECK(small == (uint8_t)(call + call % 2) && big == ((uint64_t)3 << 32) + 'a');
        point = brief_Brief_move(brief, &point, &env);
        CHECK(point.x == number && point.y == 0.25);
        brief_Brief_null(brief, &env);
        CHECK(env.outcome == NEARCALL_RETURNED);
    }
    printf("%u of %u calls took the long way\n", slow_count, 4 * CALLS);
#if defined(__x86_64__)
    CHECK(slow_count <= 4);
#else
    CHECK(slow_count == 4 * CALLS);
#endif
    uint8_t small = 1;
    uint64_t big = 2;
    brief_Brief_mix(brief, (brief_Color)3, true, 'a', 1.5, &small, &big, &env);
    CHECK(env.outcome == NEARCALL_USAGE && env.ran == NEARCALL_RAN_NO);
    CHECK(small == 1 && big == 0);
}

/* Elements of every number arrive, in the line and behind it, until they fit no A-stack. */
static void payloads(const brief_Brief *brief) {
    static int32_t data[1000];
    static int16_t shorts[40];
    uint8_t octets[6];
    for (int32_t i = 0; i < 1000; i++) {
        data[i] = i * 65537;
    }
    for (int32_t i = 0; i < 40; i++) {
        shorts[i] = (int16_t)(i * 811);
    }
    for (int32_t count = 0, sum = 0; count <= 520; count++) {
        const brief_Longs longs = {(uint32_t)count, count == 0 ? NULL : data};
        int32_t pos = count;
        CHECK(brief_Brief_write(brief, 7, &pos, count, &longs, &env) == sum);
        CHECK(env.outcome == NEARCALL_RETURNED && pos == 2 * count);
        sum = (int32_t)((uint32_t)sum + (uint32_t)data[count]);
    }
    printf("%u calls took the long way\n", slow_count);
#if defined(__x86_64__)
    CHECK(slow_count == 1);
#endif
    const brief_Longs longs = {1000, data};
    int32_t pos = 0;
    brief_Brief_write(brief, 7, &pos, 1000, &longs, &env);
    CHECK(env.outcome == NEARCALL_RETURNED && pos == 1000);
    for (uint32_t count = 0, sum = 0; count <= 5; count++) {
        const brief_Few few = {count, octets};
        CHECK(brief_Brief_few(brief, &few, &env) == sum && env.outcome == NEARCALL_RETURNED);
        octets[count] = (uint8_t)(251 + count);
        sum += octets[count];
    }
    for (uint32_t count = 0; count <= 40; count++) {
        const brief_Some some = {count, shorts};
        int32_t sum = 0;
        int16_t first = 1;
        for (uint32_t i = 0; i < count; i++) {
            sum += shorts[i];
        }
        CHECK(brief_Brief_some(brief, &some, &first, &env) == sum && first == 0);
        CHECK(env.outcome == NEARCALL_RETURNED);
    }
    const brief_Few few = {6, octets};
    const brief_Some some = {41, shorts};
    int16_t first = 1;
    CHECK(brief_Brief_few(brief, &few, &env) == 0 && env.outcome == NEARCALL_USAGE);
    CHECK(brief_Brief_some(brief, &some, &first, &env) == 0 && env.outcome == NEARCALL_USAGE);
    CHECK(first == 0 && env.ran == NEARCALL_RAN_NO);
    brief_Tile tile, other, turned;
    for (uint32_t call = 0; call < CALLS; call++) {
        for (uint8_t i = 0; i < 12; i++) {
            tile._at[i] = (uint8_t)(call + i);
            other._at[i] = (uint8_t)(call * 3 + i);
        }
        turned = brief_Brief_turn(brief, &tile, &other, &env);
        for (uint8_t i = 0; i < 12; i++) {
            CHECK(turned._at[i] == (uint8_t)(call + 11 - i));
            CHECK(other._at[i] == (uint8_t)(call * 3 + 11 - i));
        }
    }
}

/* Blocks of every length that moves are for arrive whole, and nothing beside them is written. */
static void moves(void) {
    uint8_t from[NEARCALL_MOVES_BYTES], to[NEARCALL_MOVES_BYTES + 32];
    for (size_t i = 0; i < sizeof from; i++) {
        from[i] = (uint8_t)(i * 7 + i / 251 + 1);
    }
    for (size_t count = 1; count <= sizeof from; count++) {
        memset(to, 0, sizeof to);
        nearcall_move_block(to + 16, from, count);
        CHECK(memcmp(to + 16, from, count) == 0);
        for (size_t i = 0; i < 16; i++) {
            CHECK(to[i] == 0 && to[16 + count + i] == 0);
        }
    }
}

/* What lies behind the line comes and goes, by moves and by libnearcall's copies. */
static void behind(const brief_Brief *brief) {
    static int32_t data[300];
    brief_Sheet sheet, washed;
    brief_Page page, shifted;
    moves();
    for (uint32_t call = 0; call < CALLS / 4; call++) {
        for (uint32_t i = 0; i < sizeof sheet; i++) {
            sheet._at[i] = (uint8_t)(call * 3 + i * 5);
        }
        washed = sheet;
        CHECK(brief_Brief_wash(brief, call, &washed, &env) == sheet._at[199]);
        CHECK(env.outcome == NEARCALL_RETURNED);
        for (uint32_t i = 0; i < sizeof sheet; i++) {
            CHECK(washed._at[i] == (uint8_t)(sheet._at[i] + call));
        }
        memset(&page, (int)(call % 251), sizeof page);
        page._at[999] = (uint8_t)call;
        uint8_t last = 0;
        int32_t sum = (uint8_t)call + 999 * (int32_t)(call % 251);
        shifted = brief_Brief_shift(brief, &page, 255, &last, &env);
        CHECK(env.outcome == NEARCALL_RETURNED && last == (uint8_t)call);
        CHECK(shifted._at[0] == 255 && memcmp(shifted._at + 1, page._at, 999) == 0);
        const brief_Longs longs = {call % 300, data};
        data[call % 300] = (int32_t)call;
        for (uint32_t i = 0; i < longs._length; i++) {
            sum += data[i];
        }
        CHECK(brief_Brief_pay(brief, &page, &longs, &env) == sum);
        CHECK(env.outcome == NEARCALL_RETURNED);
        double got[7] = {0};
        const brief_Color color =
            brief_Brief_spread(brief, call, 1, 2, 3, 4, 5, 6, call % 2 == 0 ? brief_RED : brief_BLUE,
                               &got[0], &got[1], &got[2], &got[3], &got[4], &got[5], &got[6], &env);
        CHECK(env.outcome == NEARCALL_RETURNED);
        CHECK(color == (call % 2 == 0 ? brief_RED : brief_BLUE) && got[0] == call + 1.0);
        for (uint32_t i = 1; i < 7; i++) {
            CHECK(got[i] == i + 1.0);
        }
    }
    printf("%u of %u calls took the long way\n", slow_count, CALLS);
#if defined(__x86_64__)
    CHECK(slow_count <= CLASSES);
#endif
}

static uint32_t sum_of(const char *word) {
    uint32_t sum = 0;
    while (*word != 0) {
        sum += (unsigned char)*word++;
    }
    return sum;
}

/* Text of every length arrives, and what is not ASCII is judged by libnearcall. */
static void texts(const brief_Brief *brief) {
    static char word[2000];
    for (uint32_t bytes = 0; bytes <= 600; bytes++) {
        CHECK(brief_Brief_spell(brief, 7, word, &env) == 7 + sum_of(word));
        CHECK(env.outcome == NEARCALL_RETURNED);
        word[bytes] = (char)(1 + bytes % 127);
    }
    CHECK(brief_Brief_spell(brief, 7, NULL, &env) == 7 && env.outcome == NEARCALL_RETURNED);
    CHECK(brief_Brief_spell_short(brief, "sixsix", &env) == sum_of("sixsix"));
    CHECK(brief_Brief_spell_short(brief, "", &env) == 0 && env.outcome == NEARCALL_RETURNED);
    printf("%u calls took the long way\n", slow_count);
#if defined(__x86_64__)
    CHECK(slow_count <= 2);
#endif
    /* Too long for an A-stack. */
    memset(word, 'x', sizeof word - 1);
    CHECK(brief_Brief_spell(brief, 7, word, &env) == 7 + 1999 * 'x');
    CHECK(env.outcome == NEARCALL_RETURNED);
    /* One byte at every place of a text of every length: a letter that is not ASCII, then none. */
    for (uint32_t bytes = 2; bytes <= 100; bytes++) {
        for (uint32_t at = 0; at + 1 < bytes; at++) {
            memset(word, 'x', bytes);
            word[bytes] = 0;
            memcpy(word + at, "\xc3\xa9", 2);
            CHECK(brief_Brief_spell(brief, 0, word, &env) == sum_of(word));
            CHECK(env.outcome == NEARCALL_RETURNED);
            word[at] = 'x';
            CHECK(brief_Brief_spell(brief, 0, word, &env) == 0);
            CHECK(env.outcome == NEARCALL_USAGE && env.ran == NEARCALL_RAN_NO);
            CHECK(env.reason == NEARCALL_REASON_TEXT);
        }
    }
    CHECK(brief_Brief_spell_short(brief, "seven s", &env) == 0);
    CHECK(env.outcome == NEARCALL_USAGE && env.reason == NEARCALL_REASON_OVER_BOUND);
    CHECK(brief_Brief_spell_short(brief, "\xe2\x82\xac", &env) == 0xe2 + 0x82 + 0xac);
    CHECK(env.outcome == NEARCALL_RETURNED);
}

/* What goes is brief, and what comes back is an exception, or longer than the line. */
static void results(const brief_Brief *brief) {
    for (int32_t call = 0; call < CALLS / 4; call++) {
        const uint32_t many = (uint32_t)call % 1003;
        char *name = NULL;
        int32_t number = call;
        brief_Longs longs = brief_Brief_count(brief, many, &name, &env);
        if (many <= 1000) {
            char expected[16];
            snprintf(expected, sizeof expected, "to %u", many);
            CHECK(env.outcome == NEARCALL_RETURNED && strcmp(name, expected) == 0);
            CHECK(longs._length == many);
            CHECK(many == 0 || longs._buffer[many - 1] == (int32_t)many - 1);
        } else {
            CHECK(env.outcome == NEARCALL_RAISED && env.ran == NEARCALL_RAN_YES);
            CHECK(strcmp(nearcall_raised_brief_Refused(&env)->why, "too many") == 0);
            CHECK(name == NULL && longs._length == 0);
            nearcall_environment_release(&env);
        }
        nearcall_free_brief_Longs(&longs);
        nearcall_free(name);
        const int32_t half = brief_Brief_half(brief, &number, &env);
        if (call % 2 == 0) {
            CHECK(env.outcome == NEARCALL_RETURNED && half == call / 2 && number == 0);
        } else {
            CHECK(env.outcome == NEARCALL_RAISED && half == 0 && number == call);
            CHECK(nearcall_raised_brief_Refused(&env)->code == 1);
            nearcall_environment_release(&env);
        }
    }
    printf("%u calls took the long way\n", slow_count);
#if defined(__x86_64__)
    CHECK(slow_count <= 2);
#endif
}

/* The client sleeps while the procedure runs, and the server before the next call. */
static void naps(const brief_Brief *brief) {
    for (uint32_t call = 0; call < 20; call++) {
        brief_Brief_nap(brief, call % 4 * 10, &env);
        CHECK(env.outcome == NEARCALL_RETURNED);
        pause_ms(call % 5 * 20);
        CHECK(brief_Brief_add(brief, 1, 2, &env) == 3);
    }
    CHECK(slow_count == 1);
}

/* Calls of a copy with a deadline have one, and leave the others alone. */
static void deadlines(const brief_Brief *brief) {
    nearcall_client *hasty = nearcall_with_deadline((const nearcall_client *)brief, 20000000);
    /* On a loaded machine the deadline may pass before the post, or the reply be there before anybody
     * looks: then once more. */
    for (uint32_t call = 0, tries = 0; call < 5; tries++) {
        CHECK(tries < 20);
        CHECK(brief_Brief_add(brief, 1, 2, &env) == 3);
        brief_Brief_nap((const brief_Brief *)hasty, 1000, &env);
        CHECK(env.outcome == NEARCALL_RETURNED || IS_LATE(env));
        if (env.outcome == NEARCALL_CALL_ABORTED) {
            CHECK(env.ran == NEARCALL_RAN_MAYBE);
            call++;
        }
        CHECK(brief_Brief_add(brief, 1, 2, &env) == 3);
        CHECK(env.outcome == NEARCALL_RETURNED);
    }
    nearcall_client_release(hasty);
}

/* More threads than A-stacks: who finds none has the bias revoked under its owner's hands. */
static void *call_many(void *brief) {
    nearcall_environment own;
    for (int32_t call = 0; call < CALLS / THREADS; call++) {
        CHECK(brief_Brief_add(brief, call, call, &own) == 2 * call);
        CHECK(own.outcome == NEARCALL_RETURNED);
    }
    return NULL;
}

static void crowd(brief_Brief *brief) {
    pthread_t threads[THREADS];
    /* It owns the bias when they come. */
    CHECK(brief_Brief_add(brief, 1, 2, &env) == 3);
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, call_many, brief) == 0);
    }
    call_many(brief);
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    CHECK(brief_Brief_add(brief, 1, 2, &env) == 3);
}

/* What a thread has called, its successor calls. */
static void heirs(brief_Brief *brief) {
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, call_many, brief) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
    }
}

/* The server ends while it has the call, and after that no call runs. */
static void end(const brief_Brief *brief) {
    for (uint32_t call = 0; call < 100; call++) {
        CHECK(brief_Brief_add(brief, 1, 2, &env) == 3);
    }
    brief_Brief_end(brief, &env);
    CHECK(env.outcome == NEARCALL_CALL_FAILED && env.ran == NEARCALL_RAN_MAYBE);
    for (uint32_t call = 0; call < 3; call++) {
        CHECK(brief_Brief_add(brief, 1, 2, &env) == 0);
        CHECK(env.outcome == NEARCALL_NOT_EXECUTED && env.ran == NEARCALL_RAN_NO);
    }
}

/* The server tells the truth for a while and then what no value is. */
static void lies(const brief_Brief *brief) {
    uint32_t call = 0;
    uint8_t small = 0;
    uint64_t big = 0;
    do {
        small = 5;
        big = 7;
        brief_Brief_mix(brief, brief_RED, true, 'a', 1.5, &small, &big, &env);
        call++;
        CHECK(call < 1000);
    } while (env.outcome == NEARCALL_RETURNED);
    printf("call %u: %u, %s\n", call, env.outcome, env.message);
    CHECK(call > 100 && slow_count == 1);
    CHECK(env.outcome == NEARCALL_PEER && small == 5 && big == 0);
    CHECK(nearcall_is_revoked(nearcall_binding_brief_Brief(brief)));
    brief_Brief_null(brief, &env);
    CHECK(env.outcome == NEARCALL_NOT_EXECUTED);
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
    case 'p':
        payloads(brief);
        break;
    case 'b':
        behind(brief);
        break;
    case 't':
        texts(brief);
        break;
    case 'r':
        results(brief);
        break;
    case 'n':
        naps(brief);
        break;
    case 'd':
        deadlines(brief);
        break;
    case 'c':
        crowd(brief);
        break;
    case 'h':
        heirs(brief);
        break;
    case 'e':
        end(brief);
        break;
    default:
        lies(brief);
    }
    nearcall_client_release((nearcall_client *)brief);
    nearcall_domain_release(domain);
    printf("%u checks\n", checks);
    return 0;
}
