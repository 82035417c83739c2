/* A client of talking.idl: `speaker NAME` talks in every way; `speaker NAME dies` has the server end
 * in the middle; `speaker NAME goes` ends itself there; `speaker NAME lies` expects batches of
 * nothing. */
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>

#include "check.h"
#include "talking.h"

#define NEVER 0xffffffffu

/* Most items of a batch of words; of numbers of four octets. */
#define WORDS 31u
#define NUMBERS 496u

static nearcall_environment env;

static void expect(nearcall_outcome outcome) {
    if (env.outcome != outcome) {
        fprintf(stderr, "outcome %u, not %u: %s\n", env.outcome, outcome, env.message);
        exit(1);
    }
    checks++;
}

/* Waits until a count of the server's is this. */
static void wait_for(const talking_Talking *talking, int32_t count) {
    for (int i = 0; i < 5000 && talking_Talking_alive(talking, &env) != count; i++) {
        usleep(1000);
    }
    CHECK(talking_Talking_alive(talking, &env) == count);
}

static char *word_of(size_t letters) {
    char *word = nearcall_allocate_zeroed(letters + 1);
    CHECK(word != NULL);
    memset(word, 'x', letters);
    return word;
}

/* One thread asks, and is answered in turn; behind the end come the answers that are left. */
static void in_turn(const talking_Talking *talking) {
    nearcall_sides_talking_Talking_talk sides =
        talking_Talking_talk(talking, "hall: ", NEVER, &env);
    talking_Line line;
    expect(NEARCALL_RETURNED);
    for (uint32_t i = 0; i < 100; i++) {
        talking_Line said = {i, word_of(i)};
        CHECK(nearcall_put_talking_Talking_talk(sides.sink, said, &env));
        CHECK(nearcall_flush_talking_Talking_talk(sides.sink, &env));
        CHECK(nearcall_next_talking_Talking_talk(sides.feed, &line, &env));
        CHECK(line.number == i && strlen(line.text) == i + 6);
        CHECK(strncmp(line.text, "hall: ", 6) == 0);
        nearcall_free_talking_Line(&line);
    }
    for (uint32_t i = 0; i < 3; i++) {
        talking_Line said = {i, NULL};
        CHECK(nearcall_put_talking_Talking_talk(sides.sink, said, &env));
    }
    nearcall_end_talking_Talking_talk(sides.sink, &env);
    expect(NEARCALL_RETURNED);
    nearcall_release_sink_talking_Talking_talk(sides.sink);
    for (uint32_t i = 0; i < 3; i++) {
        CHECK(nearcall_next_talking_Talking_talk(sides.feed, &line, &env));
        CHECK(line.number == i && strcmp(line.text, "hall: ") == 0);
        nearcall_free_talking_Line(&line);
    }
    CHECK(!nearcall_next_talking_Talking_talk(sides.feed, &line, &env));
    expect(NEARCALL_RETURNED);
    nearcall_release_feed_talking_Talking_talk(sides.feed);
}

static void *put_numbers(void *given) {
    nearcall_sink_talking_Talking_sums *sink = given;
    nearcall_environment own;
    uint32_t number, count = 20000;
    for (number = 0; number < count; number++) {
        CHECK(nearcall_put_talking_Talking_sums(sink, number, &own));
    }
    nearcall_end_talking_Talking_sums(sink, &own);
    CHECK(own.outcome == NEARCALL_RETURNED);
    nearcall_release_sink_talking_Talking_sums(sink);
    return NULL;
}

/* Each side is a thread's: once each, and in order. */
static void at_once(const talking_Talking *talking) {
    nearcall_sides_talking_Talking_sums sides = talking_Talking_sums(talking, &env);
    pthread_t thread;
    uint64_t sum = 0, came;
    uint32_t number = 0;
    CHECK(pthread_create(&thread, NULL, put_numbers, sides.sink) == 0);
    while (nearcall_next_talking_Talking_sums(sides.feed, &came, &env)) {
        sum += number++;
        CHECK(came == sum);
    }
    expect(NEARCALL_RETURNED);
    CHECK(number == 20000 && pthread_join(thread, NULL) == 0);
    nearcall_release_feed_talking_Talking_sums(sides.feed);
}

static void raised(const talking_Talking *talking) {
    nearcall_sides_talking_Talking_talk sides = talking_Talking_talk(talking, "", NEVER, &env);
    talking_Line line;
    expect(NEARCALL_RAISED);
    CHECK(sides.sink == NULL && sides.feed == NULL);
    CHECK(nearcall_raised_talking_Refused(&env)->code == -1);
    nearcall_environment_release(&env);
    sides = talking_Talking_talk(talking, "a", 2, &env);
    for (uint32_t i = 0; i < 5; i++) {
        talking_Line said = {i, word_of(1)};
        CHECK(nearcall_put_talking_Talking_talk(sides.sink, said, &env));
    }
    CHECK(nearcall_flush_talking_Talking_talk(sides.sink, &env));
    for (uint32_t i = 0; i < 2; i++) {
        CHECK(nearcall_next_talking_Talking_talk(sides.feed, &line, &env));
        CHECK(line.number == i && strcmp(line.text, "ax") == 0);
        nearcall_free_talking_Line(&line);
    }
    CHECK(!nearcall_next_talking_Talking_talk(sides.feed, &line, &env));
    expect(NEARCALL_RAISED);
    CHECK(nearcall_raised_talking_Refused(&env)->code == 2);
    CHECK(strcmp(nearcall_raised_talking_Refused(&env)->why, "not that") == 0);
    nearcall_environment_release(&env);
    CHECK(!nearcall_next_talking_Talking_talk(sides.feed, &line, &env));
    expect(NEARCALL_RETURNED);
    nearcall_release_feed_talking_Talking_talk(sides.feed);
    nearcall_release_sink_talking_Talking_talk(sides.sink);
    wait_for(talking, 0);
}

static void say(nearcall_sink_talking_Talking_echo *sink,
                nearcall_feed_talking_Talking_echo *feed) {
    char *word;
    CHECK(nearcall_put_talking_Talking_echo(sink, nearcall_copy_text("word"), &env));
    CHECK(nearcall_flush_talking_Talking_echo(sink, &env));
    CHECK(nearcall_next_talking_Talking_echo(feed, &word, &env));
    CHECK(strcmp(word, "word") == 0);
    nearcall_free(word);
}

/* A side is given up: the server learns it, and leaves the other one, which is not all then. */
static void given_up(const talking_Talking *talking) {
    const uint32_t before = talking_Talking_given_up(talking, &env);
    nearcall_sides_talking_Talking_echo sides = talking_Talking_echo(talking, &env);
    char *word;
    int put_count = 0;
    say(sides.sink, sides.feed);
    nearcall_release_sink_talking_Talking_echo(sides.sink);
    CHECK(!nearcall_next_talking_Talking_echo(sides.feed, &word, &env) && word == NULL);
    expect(NEARCALL_PANICKED);
    nearcall_release_feed_talking_Talking_echo(sides.feed);
    wait_for(talking, 0);
    CHECK(talking_Talking_given_up(talking, &env) == before + 1);
    /* It speaks on, and nobody listens. */
    sides = talking_Talking_echo(talking, &env);
    nearcall_release_feed_talking_Talking_echo(sides.feed);
    while (nearcall_put_talking_Talking_echo(sides.sink, nearcall_copy_text("word"), &env)) {
        CHECK(++put_count < 100000);
    }
    expect(NEARCALL_NOT_EXECUTED);
    CHECK(env.ran == NEARCALL_RAN_MAYBE);
    CHECK(!nearcall_may_retry(&env));
    nearcall_release_sink_talking_Talking_echo(sides.sink);
    wait_for(talking, 0);
    CHECK(talking_Talking_given_up(talking, &env) == before + 2);
    nearcall_release_sink_talking_Talking_echo(NULL);
    nearcall_release_feed_talking_Talking_echo(NULL);
}

/* A server that ends a side early: of what goes to it, and of what comes. */
static void ends_early(const talking_Talking *talking) {
    nearcall_sides_talking_Talking_deaf deaf = talking_Talking_deaf(talking, 5000, &env);
    nearcall_sides_talking_Talking_mute mute;
    uint32_t number, came = 0, put_count = 0;
    uint8_t octet;
    CHECK(nearcall_put_talking_Talking_deaf(deaf.sink, 1, &env));
    /* That nobody takes it is told by what comes after it. */
    CHECK(nearcall_flush_talking_Talking_deaf(deaf.sink, &env));
    CHECK(!nearcall_flush_talking_Talking_deaf(deaf.sink, &env));
    expect(NEARCALL_NOT_EXECUTED);
    CHECK(!nearcall_put_talking_Talking_deaf(deaf.sink, 1, &env));
    expect(NEARCALL_NOT_EXECUTED);
    nearcall_end_talking_Talking_deaf(deaf.sink, &env);
    expect(NEARCALL_NOT_EXECUTED);
    while (nearcall_next_talking_Talking_deaf(deaf.feed, &number, &env)) {
        CHECK(number == came++);
    }
    expect(NEARCALL_RETURNED);
    CHECK(came == 5000);
    nearcall_release_sink_talking_Talking_deaf(deaf.sink);
    nearcall_release_feed_talking_Talking_deaf(deaf.feed);
    mute = talking_Talking_mute(talking, 700, &env);
    while (nearcall_put_talking_Talking_mute(mute.sink, put_count, &env)) {
        CHECK(put_count++ < 100000);
    }
    expect(NEARCALL_NOT_EXECUTED);
    CHECK(put_count + 1 >= 2 * NUMBERS);
    CHECK(!nearcall_next_talking_Talking_mute(mute.feed, &octet, &env));
    expect(NEARCALL_RETURNED);
    nearcall_release_feed_talking_Talking_mute(mute.feed);
    nearcall_release_sink_talking_Talking_mute(mute.sink);
    wait_for(talking, 0);
}

/* Whether the deadline of a batch ends what waits behind three of them; on a loaded machine it may
 * end an earlier one. */
static bool is_kept_waiting(const talking_Talking *talking, uint64_t deadline_ns) {
    talking_Talking *hasty = nearcall_with_deadline_talking_Talking(talking, deadline_ns);
    nearcall_sides_talking_Talking_kept kept = talking_Talking_kept(hasty, &env);
    uint32_t put_count = 0;
    char *word;
    /* Its sides outlive the binding that opened them. */
    nearcall_release_talking_Talking(hasty);
    if (env.outcome != NEARCALL_RETURNED) {
        CHECK(IS_LATE(env));
        return false;
    }
    while (nearcall_put_talking_Talking_kept(kept.sink, nearcall_copy_text("word"), &env)) {
        put_count++;
    }
    CHECK(IS_LATE(env) && put_count < 3 * WORDS);
    CHECK(!nearcall_next_talking_Talking_kept(kept.feed, &word, &env) && IS_LATE(env));
    CHECK(!nearcall_next_talking_Talking_kept(kept.feed, &word, &env));
    expect(NEARCALL_RETURNED);
    nearcall_release_feed_talking_Talking_kept(kept.feed);
    nearcall_release_sink_talking_Talking_kept(kept.sink);
    CHECK(talking_Talking_let_go(talking, &env) >= 1);
    wait_for(talking, 0);
    return put_count + 1 == 3 * WORDS;
}

/* Whoever is slow keeps the other waiting, and a deadline ends that. */
static void slow(const talking_Talking *talking) {
    nearcall_sides_talking_Talking_deaf deaf;
    const uint64_t second_ns = 1000000000u;
    const uint32_t before = talking_Talking_moved(talking, &env);
    uint32_t number, moved, tries;
    deaf = talking_Talking_deaf(talking, 1000000, &env);
    CHECK(nearcall_next_talking_Talking_deaf(deaf.feed, &number, &env) && number == 0);
    /* The first one is there before it is counted. */
    for (tries = 0; tries < 10000 && talking_Talking_moved(talking, &env) == before; tries++) {
        usleep(1000);
    }
    usleep(50000);
    moved = talking_Talking_moved(talking, &env) - before;
    /* A batch that is read, one that was posted ahead, and one between call and thread. */
    CHECK(moved >= 1 && moved <= 3 * NUMBERS);
    nearcall_release_feed_talking_Talking_deaf(deaf.feed);
    nearcall_release_sink_talking_Talking_deaf(deaf.sink);
    CHECK(is_kept_waiting(talking, second_ns) || is_kept_waiting(talking, 10 * second_ns) ||
          is_kept_waiting(talking, 60 * second_ns));
}

/* Two numbers each of 64 that a binding may have. */
static void too_many(const talking_Talking *talking) {
    nearcall_sides_talking_Talking_echo sides[33];
    for (int i = 0; i < 33; i++) {
        sides[i] = talking_Talking_echo(talking, &env);
        expect(i < 32 ? NEARCALL_RETURNED : NEARCALL_USAGE);
    }
    CHECK(env.reason == NEARCALL_REASON_TOO_MANY_FEEDS);
    CHECK(sides[32].sink == NULL && sides[32].feed == NULL);
    for (int i = 0; i < 33; i++) {
        nearcall_release_sink_talking_Talking_echo(sides[i].sink);
        nearcall_release_feed_talking_Talking_echo(sides[i].feed);
    }
    wait_for(talking, 0);
}

/* The server ends in the middle. */
static void outlive(const talking_Talking *talking) {
    nearcall_sides_talking_Talking_talk sides =
        talking_Talking_talk(talking, "last words", 50, &env);
    talking_Line line;
    uint32_t i = 0, answered = 0;
    bool is_put;
    do {
        talking_Line said = {i++, word_of(3)};
        is_put = nearcall_put_talking_Talking_talk(sides.sink, said, &env) &&
                 nearcall_flush_talking_Talking_talk(sides.sink, &env);
        if (is_put && nearcall_next_talking_Talking_talk(sides.feed, &line, &env)) {
            answered++;
            nearcall_free_talking_Line(&line);
        } else {
            break;
        }
    } while (true);
    CHECK(env.outcome == NEARCALL_CALL_FAILED || env.outcome == NEARCALL_NOT_EXECUTED);
    CHECK(answered == 50);
    CHECK(!nearcall_next_talking_Talking_talk(sides.feed, &line, &env));
    nearcall_release_feed_talking_Talking_talk(sides.feed);
    nearcall_release_sink_talking_Talking_talk(sides.sink);
}

/* Batches of nothing that are not the last: the binding is revoked. */
static void lied_to(const talking_Talking *talking) {
    nearcall_sides_talking_Talking_echo sides = talking_Talking_echo(talking, &env);
    char *word;
    expect(NEARCALL_RETURNED);
    CHECK(!nearcall_next_talking_Talking_echo(sides.feed, &word, &env));
    expect(NEARCALL_PEER);
    CHECK(nearcall_is_revoked(nearcall_binding_talking_Talking(talking)));
    nearcall_release_feed_talking_Talking_echo(sides.feed);
    nearcall_release_sink_talking_Talking_echo(sides.sink);
}

int main(int argc, char **argv) {
    nearcall_domain *domain = nearcall_domain_new(&env);
    const char *way = argc == 3 ? argv[2] : "";
    talking_Talking *talking;
    CHECK(domain != NULL && argc >= 2);
    talking = nearcall_import_talking_Talking(domain, argv[1], &env);
    if (talking == NULL) {
        fprintf(stderr, "%s\n", env.message);
        return 1;
    }
    if (strcmp(way, "dies") == 0) {
        outlive(talking);
    } else if (strcmp(way, "lies") == 0) {
        lied_to(talking);
    } else if (strcmp(way, "goes") == 0) {
        nearcall_sides_talking_Talking_echo sides = talking_Talking_echo(talking, &env);
        say(sides.sink, sides.feed);
        _exit(0);
    } else {
        in_turn(talking);
        at_once(talking);
        raised(talking);
        given_up(talking);
        ends_early(talking);
        slow(talking);
        too_many(talking);
        wait_for(talking, 0);
    }
    nearcall_release_talking_Talking(talking);
    nearcall_domain_release(domain);
    printf("%u checks\n", checks);
    return 0;
}
