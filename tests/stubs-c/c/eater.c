/* A client of feeding.idl: `eater NAME` has feeds come and go in every way; `eater NAME dies` has
 * the server end in the middle of one; `eater NAME lies` expects batches of nothing. */
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>

#include "check.h"
#include "feeding.h"

#define NEVER 0xffffffffu

static nearcall_environment env;

static void expect(nearcall_outcome outcome) {
    if (env.outcome != outcome) {
        fprintf(stderr, "outcome %u, not %u: %s\n", env.outcome, outcome, env.message);
        exit(1);
    }
    checks++;
}

/* Numbers come from 0; how many did. */
static uint32_t count_numbers(const feeding_Feeding *feeding, uint32_t count) {
    nearcall_feed_feeding_Feeding_numbers *feed =
        feeding_Feeding_numbers(feeding, count, 0, NEVER, &env);
    uint32_t came = 0, number;
    expect(NEARCALL_RETURNED);
    while (nearcall_next_feeding_Feeding_numbers(feed, &number, &env)) {
        CHECK(number == came);
        came++;
    }
    expect(NEARCALL_RETURNED);
    CHECK(!nearcall_next_feeding_Feeding_numbers(feed, &number, &env) && number == 0);
    expect(NEARCALL_RETURNED);
    nearcall_release_feeding_Feeding_numbers(feed);
    return came;
}

static void rows_come(const feeding_Feeding *feeding) {
    nearcall_feed_feeding_Feeding_rows *feed;
    feeding_Row row;
    uint32_t came = 0;
    feed = feeding_Feeding_rows(feeding, "", 3, NEVER, &env);
    CHECK(feed == NULL);
    expect(NEARCALL_RAISED);
    CHECK(nearcall_raised_feeding_Refused(&env)->code == -1);
    nearcall_environment_release(&env);
    feed = feeding_Feeding_rows(feeding, "row", 100, 40, &env);
    while (nearcall_next_feeding_Feeding_rows(feed, &row, &env)) {
        char name[32];
        snprintf(name, sizeof name, "row %u", came);
        CHECK(row.key == came && strcmp(row.name, name) == 0);
        nearcall_free_feeding_Row(&row);
        came++;
    }
    expect(NEARCALL_RAISED);
    CHECK(came == 40 && nearcall_raised_feeding_Refused(&env)->code == 40);
    CHECK(strcmp(nearcall_raised_feeding_Refused(&env)->why, "not that") == 0);
    nearcall_environment_release(&env);
    CHECK(!nearcall_next_feeding_Feeding_rows(feed, &row, &env) && row.name == NULL);
    expect(NEARCALL_RETURNED);
    nearcall_release_feeding_Feeding_rows(feed);
}

/* Given up: before the first item, in the middle of a batch, and by releasing its binding first. */
static void dropped(const feeding_Feeding *feeding) {
    feeding_Row row;
    nearcall_feed_feeding_Feeding_rows *feed;
    feeding_Feeding *other = nearcall_with_deadline_feeding_Feeding(feeding, 5000000000u);
    nearcall_release_feeding_Feeding_rows(feeding_Feeding_rows(feeding, "a", 9, NEVER, &env));
    feed = feeding_Feeding_rows(other, "row", 1000, NEVER, &env);
    nearcall_release_feeding_Feeding(other);
    for (int i = 0; i < 7; i++) {
        CHECK(nearcall_next_feeding_Feeding_rows(feed, &row, &env));
        nearcall_free_feeding_Row(&row);
    }
    nearcall_release_feeding_Feeding_rows(feed);
    nearcall_release_feeding_Feeding_rows(NULL);
}

static void lines_come(const feeding_Feeding *feeding) {
    char *line;
    nearcall_feed_feeding_Feeding_lines *feed = feeding_Feeding_lines(feeding, 100000, &env);
    CHECK(nearcall_next_feeding_Feeding_lines(feed, &line, &env));
    CHECK(strlen(line) == 100000 && line[99999] == 'x');
    nearcall_free(line);
    CHECK(!nearcall_next_feeding_Feeding_lines(feed, &line, &env) && line == NULL);
    nearcall_release_feeding_Feeding_lines(feed);
}

static void numbers_go(const feeding_Feeding *feeding, uint32_t count) {
    nearcall_feed_feeding_Feeding_sum *feed = feeding_Feeding_sum(feeding, &env);
    uint64_t sum = 0;
    expect(NEARCALL_RETURNED);
    for (uint32_t number = 0; number < count; number++) {
        CHECK(nearcall_put_feeding_Feeding_sum(feed, number, &env));
        sum += number;
    }
    CHECK(nearcall_end_feeding_Feeding_sum(feed, &env) == sum);
    expect(NEARCALL_RETURNED);
    CHECK(!nearcall_put_feeding_Feeding_sum(feed, 1, &env));
    expect(NEARCALL_NOT_EXECUTED);
    nearcall_release_feeding_Feeding_sum(feed);
}

static feeding_Row row_of(uint32_t key) {
    feeding_Row row = {key, nearcall_copy_text("a row")};
    return row;
}

static void rows_go(const feeding_Feeding *feeding) {
    nearcall_feed_feeding_Feeding_load *feed = feeding_Feeding_load(feeding, "x", NEVER, &env);
    expect(NEARCALL_RETURNED);
    for (uint32_t key = 0; key < 300; key++) {
        CHECK(nearcall_put_feeding_Feeding_load(feed, row_of(key), &env));
    }
    CHECK(nearcall_end_feeding_Feeding_load(feed, &env) == 300);
    nearcall_release_feeding_Feeding_load(feed);
    feed = feeding_Feeding_load(feeding, "", NEVER, &env);
    CHECK(feed == NULL);
    expect(NEARCALL_RAISED);
    nearcall_environment_release(&env);
    feed = feeding_Feeding_load(feeding, "x", 3, &env);
    for (uint32_t key = 0; key < 5; key++) {
        CHECK(nearcall_put_feeding_Feeding_load(feed, row_of(key), &env));
    }
    /* What the server makes of a batch is told by what comes after it. */
    CHECK(nearcall_flush_feeding_Feeding_load(feed, &env));
    CHECK(!nearcall_flush_feeding_Feeding_load(feed, &env));
    expect(NEARCALL_RAISED);
    CHECK(nearcall_raised_feeding_Refused(&env)->code == 3);
    nearcall_environment_release(&env);
    CHECK(!nearcall_put_feeding_Feeding_load(feed, row_of(6), &env));
    expect(NEARCALL_NOT_EXECUTED);
    CHECK(!nearcall_flush_feeding_Feeding_load(feed, &env));
    CHECK(nearcall_end_feeding_Feeding_load(feed, &env) == 0);
    expect(NEARCALL_NOT_EXECUTED);
    nearcall_release_feeding_Feeding_load(feed);
    /* An item that the interface forbids is refused here, and its feed goes on. */
    feed = feeding_Feeding_load(feeding, "x", NEVER, &env);
    CHECK(!nearcall_put_feeding_Feeding_load(
        feed, (feeding_Row){1, nearcall_copy_text("a name that is longer than the bound is")},
        &env));
    expect(NEARCALL_USAGE);
    CHECK(nearcall_end_feeding_Feeding_load(feed, &env) == 0);
    expect(NEARCALL_RETURNED);
    nearcall_release_feeding_Feeding_load(feed);
    /* Given up with items that were not sent. */
    feed = feeding_Feeding_load(feeding, "x", NEVER, &env);
    CHECK(nearcall_put_feeding_Feeding_load(feed, row_of(1), &env));
    nearcall_release_feeding_Feeding_load(feed);
}

static void others_go(const feeding_Feeding *feeding) {
    char *all;
    nearcall_feed_feeding_Feeding_joined *lines = feeding_Feeding_joined(feeding, &env);
    nearcall_feed_feeding_Feeding_dropped *octets = feeding_Feeding_dropped(feeding, &env);
    CHECK(nearcall_put_feeding_Feeding_joined(lines, nearcall_copy_text("ab"), &env));
    CHECK(nearcall_put_feeding_Feeding_joined(lines, nearcall_copy_text("c"), &env));
    all = nearcall_end_feeding_Feeding_joined(lines, &env);
    CHECK(all != NULL && strcmp(all, "abc") == 0);
    nearcall_free(all);
    nearcall_release_feeding_Feeding_joined(lines);
    for (int i = 0; i < 5000; i++) {
        CHECK(nearcall_put_feeding_Feeding_dropped(octets, (uint8_t)i, &env));
    }
    nearcall_end_feeding_Feeding_dropped(octets, &env);
    expect(NEARCALL_RETURNED);
    nearcall_release_feeding_Feeding_dropped(octets);
}

/* The items are slower than the deadline of a batch. */
static void late(const feeding_Feeding *feeding) {
    feeding_Feeding *hasty = nearcall_with_deadline_feeding_Feeding(feeding, 50000000u);
    nearcall_feed_feeding_Feeding_numbers *feed;
    uint32_t number, tries = 0;
    bool is_ended = false;
    /* On a loaded machine it may pass before the feed is open, and the item may be there before anybody
     * looks. */
    while (!is_ended) {
        CHECK(++tries < 100);
        feed = feeding_Feeding_numbers(hasty, 3, 400, NEVER, &env);
        CHECK(feed != NULL || IS_LATE(env));
        if (feed != NULL) {
            is_ended = !nearcall_next_feeding_Feeding_numbers(feed, &number, &env);
            CHECK(!is_ended || IS_LATE(env));
        }
        if (is_ended) {
            CHECK(!nearcall_next_feeding_Feeding_numbers(feed, &number, &env));
            expect(NEARCALL_RETURNED);
        }
        if (feed != NULL) {
            nearcall_release_feeding_Feeding_numbers(feed);
        }
    }
    nearcall_release_feeding_Feeding(hasty);
}

/* As many as one client may have open; one more is refused here, by name and limit. */
static void too_many(const feeding_Feeding *feeding) {
    nearcall_feed_feeding_Feeding_sum *feeds[64];
    for (int i = 0; i < 64; i++) {
        feeds[i] = feeding_Feeding_sum(feeding, &env);
        expect(NEARCALL_RETURNED);
    }
    CHECK(feeding_Feeding_sum(feeding, &env) == NULL);
    expect(NEARCALL_USAGE);
    CHECK(env.reason == NEARCALL_REASON_TOO_MANY_FEEDS && env.ran == NEARCALL_RAN_NO);
    CHECK(strstr(env.message, "sum opens: this client has 64 feeds open") != NULL);
    CHECK(feeding_Feeding_numbers(feeding, 1, 0, NEVER, &env) == NULL);
    expect(NEARCALL_USAGE);
    for (int i = 0; i < 64; i++) {
        nearcall_release_feeding_Feeding_sum(feeds[i]);
    }
}

/* Waits until the server holds no feed. */
static void none_alive(const feeding_Feeding *feeding) {
    int32_t alive = feeding_Feeding_alive(feeding, &env);
    for (int round = 0; alive > 0 && round < 5000; round++) {
        usleep(1000);
        alive = feeding_Feeding_alive(feeding, &env);
    }
    expect(NEARCALL_RETURNED);
    CHECK(alive == 0);
}

/* Whether the server comes to the end of a feed whose reader has asked for its only item, which took
 * so long that it came alone. */
static bool ends_by_itself(const feeding_Feeding *feeding) {
    nearcall_feed_feeding_Feeding_numbers *feed =
        feeding_Feeding_numbers(feeding, 1, 1, NEVER, &env);
    uint32_t number;
    bool has_ended = false;
    CHECK(nearcall_next_feeding_Feeding_numbers(feed, &number, &env) && number == 0);
    for (int round = 0; round < 50 && !has_ended; round++) {
        usleep(1000);
        has_ended = feeding_Feeding_alive(feeding, &env) == 0;
    }
    CHECK(!nearcall_next_feeding_Feeding_numbers(feed, &number, &env));
    expect(NEARCALL_RETURNED);
    nearcall_release_feeding_Feeding_numbers(feed);
    none_alive(feeding);
    return has_ended;
}

/* While the program is at one batch the server is at the next. */
static void ahead_of_its_reader(const feeding_Feeding *feeding) {
    int rounds = 1;
    while (!ends_by_itself(feeding)) {
        CHECK(rounds++ < 50);
    }
}

#define MANY 12

/* More feeds of one thread than a binding has A-stacks, which comes to one after the other. */
static void more_than_astacks(const feeding_Feeding *feeding) {
    nearcall_feed_feeding_Feeding_numbers *feeds[MANY];
    nearcall_feed_feeding_Feeding_sum *sums[MANY];
    uint32_t number;
    for (int i = 0; i < MANY; i++) {
        feeds[i] = feeding_Feeding_numbers(feeding, 1000, 0, NEVER, &env);
        sums[i] = feeding_Feeding_sum(feeding, &env);
    }
    for (uint32_t came = 0; came < 1000; came++) {
        for (int i = 0; i < MANY; i++) {
            CHECK(nearcall_next_feeding_Feeding_numbers(feeds[i], &number, &env));
            CHECK(number == came);
            CHECK(nearcall_put_feeding_Feeding_sum(sums[i], number, &env));
        }
    }
    for (int i = 0; i < MANY; i++) {
        CHECK(!nearcall_next_feeding_Feeding_numbers(feeds[i], &number, &env));
        CHECK(nearcall_end_feeding_Feeding_sum(sums[i], &env) == 499500);
        expect(NEARCALL_RETURNED);
        nearcall_release_feeding_Feeding_numbers(feeds[i]);
        nearcall_release_feeding_Feeding_sum(sums[i]);
    }
}

/* Given up while the server is at a batch, more often than there are A-stacks. */
static void given_up_ahead(const feeding_Feeding *feeding) {
    uint32_t number;
    for (int i = 0; i < 20; i++) {
        nearcall_feed_feeding_Feeding_numbers *feed =
            feeding_Feeding_numbers(feeding, 1000, 1, NEVER, &env);
        nearcall_feed_feeding_Feeding_load *load =
            feeding_Feeding_load(feeding, "x", NEVER, &env);
        expect(NEARCALL_RETURNED);
        CHECK(nearcall_next_feeding_Feeding_numbers(feed, &number, &env));
        CHECK(nearcall_put_feeding_Feeding_load(load, row_of(1), &env));
        CHECK(nearcall_flush_feeding_Feeding_load(load, &env));
        nearcall_release_feeding_Feeding_numbers(feed);
        nearcall_release_feeding_Feeding_load(load);
    }
}

/* Given up while the server waits in a batch, more often than there are A-stacks; what is in that
   batch has come. */
static void given_up_waiting(const feeding_Feeding *feeding) {
    feeding_Page page;
    for (int i = 0; i < 20; i++) {
        nearcall_feed_feeding_Feeding_unended *feed = feeding_Feeding_unended(feeding, 3, &env);
        expect(NEARCALL_RETURNED);
        for (int at = 0; at < 3; at++) {
            CHECK(nearcall_next_feeding_Feeding_unended(feed, &page, &env) && page._at[63] == 7);
        }
        nearcall_release_feeding_Feeding_unended(feed);
    }
}

/* Both ends of what another thread goes on with. */
typedef struct errand {
    nearcall_feed_feeding_Feeding_numbers *feed;
    nearcall_feed_feeding_Feeding_sum *sum;
    uint32_t next;
} errand;

static void *go_on(void *given) {
    errand *own = given;
    nearcall_environment told;
    uint32_t number;
    for (int i = 0; i < 700; i++) {
        CHECK(nearcall_next_feeding_Feeding_numbers(own->feed, &number, &told));
        CHECK(number == own->next++);
        CHECK(nearcall_put_feeding_Feeding_sum(own->sum, number, &told));
    }
    return NULL;
}

/* A feed whose next batch one thread has posted, and another one asks for. */
static void from_thread_to_thread(const feeding_Feeding *feeding) {
    errand own = {feeding_Feeding_numbers(feeding, 7000, 0, NEVER, &env),
                  feeding_Feeding_sum(feeding, &env), 0};
    uint32_t number;
    for (int i = 0; i < 5; i++) {
        pthread_t thread;
        go_on(&own);
        CHECK(pthread_create(&thread, NULL, go_on, &own) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
        /* This thread's own calls go on meanwhile, and after it. */
        CHECK(feeding_Feeding_alive(feeding, &env) >= 1);
    }
    CHECK(!nearcall_next_feeding_Feeding_numbers(own.feed, &number, &env));
    CHECK(nearcall_end_feeding_Feeding_sum(own.sum, &env) == 24496500u);
    expect(NEARCALL_RETURNED);
    nearcall_release_feeding_Feeding_numbers(own.feed);
    nearcall_release_feeding_Feeding_sum(own.sum);
}

/* The deadline of a batch counts from its post; one that is there is taken, however late. */
static void read_late(const feeding_Feeding *feeding) {
    feeding_Feeding *hasty = nearcall_with_deadline_feeding_Feeding(feeding, 2000000000u);
    nearcall_feed_feeding_Feeding_numbers *feed =
        feeding_Feeding_numbers(hasty, 497, 0, NEVER, &env);
    uint32_t number, came = 0;
    CHECK(nearcall_next_feeding_Feeding_numbers(feed, &number, &env));
    usleep(2100000);
    while (nearcall_next_feeding_Feeding_numbers(feed, &number, &env)) {
        came++;
    }
    expect(NEARCALL_RETURNED);
    CHECK(came == 496);
    nearcall_release_feeding_Feeding_numbers(feed);
    nearcall_release_feeding_Feeding(hasty);
}

/* What is posted ahead of whoever will ask for it. */
static void ahead(const feeding_Feeding *feeding) {
    ahead_of_its_reader(feeding);
    more_than_astacks(feeding);
    given_up_ahead(feeding);
    none_alive(feeding);
    given_up_waiting(feeding);
    none_alive(feeding);
    from_thread_to_thread(feeding);
    read_late(feeding);
    none_alive(feeding);
}

static void feeds(const feeding_Feeding *feeding) {
    static const uint32_t counts[] = {0, 1, 2, 495, 496, 497, 992, 993, 20000};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        CHECK(count_numbers(feeding, counts[i]) == counts[i]);
        numbers_go(feeding, counts[i]);
    }
    rows_come(feeding);
    dropped(feeding);
    lines_come(feeding);
    rows_go(feeding);
    others_go(feeding);
    none_alive(feeding);
    too_many(feeding);
    none_alive(feeding);
    late(feeding);
    none_alive(feeding);
    ahead(feeding);
}

static void dies(const feeding_Feeding *feeding) {
    nearcall_feed_feeding_Feeding_numbers *feed =
        feeding_Feeding_numbers(feeding, 10000, 0, 3000, &env);
    nearcall_feed_feeding_Feeding_sum *sum = feeding_Feeding_sum(feeding, &env);
    uint32_t number, came = 0;
    expect(NEARCALL_RETURNED);
    while (nearcall_next_feeding_Feeding_numbers(feed, &number, &env)) {
        came++;
    }
    /* Made for a batch that had been late, the last words are in no call. */
    CHECK(env.outcome == NEARCALL_CALL_FAILED || env.outcome == NEARCALL_NOT_EXECUTED);
    CHECK(env.ran == NEARCALL_RAN_MAYBE && !nearcall_may_retry(&env));
    CHECK(came > 2000 && came <= 3000);
    nearcall_release_feeding_Feeding_numbers(feed);
    CHECK(nearcall_put_feeding_Feeding_sum(sum, 1, &env));
    CHECK(nearcall_end_feeding_Feeding_sum(sum, &env) == 0);
    CHECK(env.outcome != NEARCALL_RETURNED && env.ran == NEARCALL_RAN_MAYBE);
    nearcall_release_feeding_Feeding_sum(sum);
}

static void lies(const feeding_Feeding *feeding) {
    nearcall_feed_feeding_Feeding_numbers *feed =
        feeding_Feeding_numbers(feeding, 1, 0, NEVER, &env);
    uint32_t number;
    expect(NEARCALL_RETURNED);
    CHECK(!nearcall_next_feeding_Feeding_numbers(feed, &number, &env));
    expect(NEARCALL_PEER);
    CHECK(nearcall_is_revoked(nearcall_binding_feeding_Feeding(feeding)));
    nearcall_release_feeding_Feeding_numbers(feed);
}

int main(int argc, char **argv) {
    nearcall_domain *domain = nearcall_domain_new(&env);
    feeding_Feeding *feeding;
    CHECK(domain != NULL && argc >= 2);
    feeding = nearcall_import_feeding_Feeding(domain, argv[1], &env);
    if (feeding == NULL) {
        fprintf(stderr, "%s\n", env.message);
        return 1;
    }
    if (argc == 2) {
        feeds(feeding);
    } else if (strcmp(argv[2], "dies") == 0) {
        dies(feeding);
    } else {
        lies(feeding);
    }
    nearcall_release_feeding_Feeding(feeding);
    nearcall_domain_shut_down(domain);
    nearcall_domain_release(domain);
    printf("%u checks\n", checks);
    return 0;
}
