/* A client of judging.idl: `judge NAME` puts items into feeds, of which their types refuse some. */
#define _GNU_SOURCE
#include "check.h"
#include "judging.h"

/* More than one batch, of items of any type. */
#define MANY 600
#define NO_COLOR ((judging_Color)3)

static nearcall_environment env;

static void expect(nearcall_outcome outcome) {
    if (env.outcome != outcome) {
        fprintf(stderr, "outcome %u, not %u: %s\n", env.outcome, outcome, env.message);
        exit(1);
    }
    checks++;
}

/* What a call is told that takes such an item. */
static char plain_message[sizeof env.message];

static void plainly_refused(const char *wanted) {
    expect(NEARCALL_USAGE);
    CHECK(strstr(env.message, wanted) != NULL);
    strcpy(plain_message, env.message);
}

/* An item was refused, as by the call. */
static void refused(bool was_put) {
    CHECK(!was_put);
    expect(NEARCALL_USAGE);
    CHECK(env.ran == NEARCALL_RAN_NO);
    CHECK(strcmp(env.message, plain_message) == 0);
}

static void put(bool was_put) {
    expect(NEARCALL_RETURNED);
    CHECK(was_put);
}

/* What came of a feed, as so many letters. */
static void told(char *came, const char *wanted) {
    expect(NEARCALL_RETURNED);
    CHECK(came != NULL && strcmp(came, wanted) == 0);
    nearcall_free(came);
}

/* So many of one letter, and some before them. */
static char *many_of(const char *first, char letter) {
    static char text[MANY + 16];
    memset(text, 0, sizeof text);
    strcpy(text, first);
    memset(text + strlen(first), letter, MANY);
    return text;
}

static judging_Row row_of(int color, const char *name) {
    judging_Row row = {3, (judging_Color)color, nearcall_copy_text(name)};
    return row;
}

static judging_Row bad_row(int which) {
    switch (which % 3) {
    case 0:
        return row_of(NO_COLOR, "x");
    case 1:
        return row_of(judging_RED, "xxxxx");
    default:
        return row_of(judging_RED, "x\xff");
    }
}

/* What a call says of it. */
static void row_plainly(const judging_Judging *judging, int which) {
    static const char *const said[] = {
        "color is 3, allowed is RED (0) to BLUE (2)",
        "name has 5 bytes or elements, its limit is 4",
        "name is not UTF-8 at byte 1",
    };
    judging_Row row = bad_row(which);
    judging_Judging_row(judging, &row, &env);
    plainly_refused(said[which % 3]);
    nearcall_free_judging_Row(&row);
}

static void rows_go(const judging_Judging *judging) {
    nearcall_feed_judging_Judging_rows_go *feed = judging_Judging_rows_go(judging, &env);
    expect(NEARCALL_RETURNED);
    for (int which = 0; which < 3; which++) {
        row_plainly(judging, which);
        refused(nearcall_put_judging_Judging_rows_go(feed, bad_row(which), &env));
        put(nearcall_put_judging_Judging_rows_go(feed, row_of(judging_GREEN, "ab"), &env));
        refused(nearcall_put_judging_Judging_rows_go(feed, bad_row(which), &env));
    }
    for (int i = 0; i < MANY; i++) {
        put(nearcall_put_judging_Judging_rows_go(feed, row_of(judging_RED, "c"), &env));
        refused(nearcall_put_judging_Judging_rows_go(feed, bad_row(2), &env));
        CHECK(!nearcall_feed_is_over(feed));
    }
    told(nearcall_end_judging_Judging_rows_go(feed, &env), many_of("ababab", 'c'));
    CHECK(nearcall_feed_is_over(feed));
    nearcall_release_judging_Judging_rows_go(feed);
    /* Given up with one that was put, and one that was not. */
    feed = judging_Judging_rows_go(judging, &env);
    put(nearcall_put_judging_Judging_rows_go(feed, row_of(judging_GREEN, "ab"), &env));
    refused(nearcall_put_judging_Judging_rows_go(feed, bad_row(2), &env));
    nearcall_release_judging_Judging_rows_go(feed);
    /* None was put. */
    feed = judging_Judging_rows_go(judging, &env);
    refused(nearcall_put_judging_Judging_rows_go(feed, bad_row(2), &env));
    CHECK(nearcall_flush_judging_Judging_rows_go(feed, &env));
    told(nearcall_end_judging_Judging_rows_go(feed, &env), "");
    nearcall_release_judging_Judging_rows_go(feed);
}

static void colors_go(const judging_Judging *judging) {
    nearcall_feed_judging_Judging_colors_go *feed = judging_Judging_colors_go(judging, &env);
    judging_Judging_color(judging, NO_COLOR, &env);
    plainly_refused("item is 3, allowed is RED (0) to BLUE (2)");
    refused(nearcall_put_judging_Judging_colors_go(feed, NO_COLOR, &env));
    for (int i = 0; i < MANY; i++) {
        put(nearcall_put_judging_Judging_colors_go(feed, judging_GREEN, &env));
        refused(nearcall_put_judging_Judging_colors_go(feed, NO_COLOR, &env));
    }
    told(nearcall_end_judging_Judging_colors_go(feed, &env), many_of("", 'g'));
    nearcall_release_judging_Judging_colors_go(feed);
}

static void digits_go(const judging_Judging *judging) {
    nearcall_feed_judging_Judging_digits_go *feed = judging_Judging_digits_go(judging, &env);
    judging_Judging_digit(judging, 10, &env);
    plainly_refused("item is 10, allowed is 1 to 9");
    refused(nearcall_put_judging_Judging_digits_go(feed, 10, &env));
    for (int i = 0; i < MANY; i++) {
        put(nearcall_put_judging_Judging_digits_go(feed, 9, &env));
        refused(nearcall_put_judging_Judging_digits_go(feed, 10, &env));
    }
    told(nearcall_end_judging_Judging_digits_go(feed, &env), many_of("", '9'));
    nearcall_release_judging_Judging_digits_go(feed);
}

static void pairs_go(const judging_Judging *judging) {
    const judging_Pair good = {{1, 2}}, bad = {{1, -2}};
    nearcall_feed_judging_Judging_pairs_go *feed = judging_Judging_pairs_go(judging, &env);
    judging_Judging_pair(judging, &bad, &env);
    plainly_refused("item is -2, allowed is 1 to 9");
    refused(nearcall_put_judging_Judging_pairs_go(feed, bad, &env));
    put(nearcall_put_judging_Judging_pairs_go(feed, good, &env));
    refused(nearcall_put_judging_Judging_pairs_go(feed, bad, &env));
    put(nearcall_put_judging_Judging_pairs_go(feed, good, &env));
    told(nearcall_end_judging_Judging_pairs_go(feed, &env), "1212");
    nearcall_release_judging_Judging_pairs_go(feed);
}

static char *bad_word(int i) {
    return nearcall_copy_text(i % 2 == 0 ? "wwwww" : "w\xfe");
}

static void words_go(const judging_Judging *judging) {
    nearcall_feed_judging_Judging_words_go *feed = judging_Judging_words_go(judging, &env);
    judging_Judging_word(judging, "wwwww", &env);
    plainly_refused("item has 5 bytes or elements, its limit is 4");
    refused(nearcall_put_judging_Judging_words_go(feed, bad_word(0), &env));
    judging_Judging_word(judging, "w\xfe", &env);
    plainly_refused("item is not UTF-8 at byte 1");
    for (int i = 0; i < MANY; i++) {
        put(nearcall_put_judging_Judging_words_go(feed, nearcall_copy_text("w"), &env));
        refused(nearcall_put_judging_Judging_words_go(feed, bad_word(1), &env));
    }
    /* Null is no text. */
    put(nearcall_put_judging_Judging_words_go(feed, NULL, &env));
    told(nearcall_end_judging_Judging_words_go(feed, &env), many_of("", 'w'));
    nearcall_release_judging_Judging_words_go(feed);
}

/* One above the other. */
static judging_Tree tree_of(int levels) {
    judging_Tree tree = {5, {0}};
    for (int level = 1; level < levels; level++) {
        judging_Tree higher = {5, {0}};
        higher.branches._buffer = nearcall_allocate_zeroed(sizeof tree);
        CHECK(higher.branches._buffer != NULL);
        higher.branches._buffer[0] = tree;
        higher.branches._length = 1;
        tree = higher;
    }
    return tree;
}

static void trees_go(const judging_Judging *judging) {
    nearcall_feed_judging_Judging_trees_go *feed = judging_Judging_trees_go(judging, &env);
    judging_Tree tree = tree_of(65), bad = tree_of(2);
    judging_Judging_tree(judging, &tree, &env);
    plainly_refused("item is 65 levels deep, allowed is 0 to 64");
    refused(nearcall_put_judging_Judging_trees_go(feed, tree, &env));
    put(nearcall_put_judging_Judging_trees_go(feed, tree_of(3), &env));
    /* An item stands in its batch, which is a level. */
    refused(nearcall_put_judging_Judging_trees_go(feed, tree_of(64), &env));
    put(nearcall_put_judging_Judging_trees_go(feed, tree_of(63), &env));
    bad.branches._buffer[0].digit = 0;
    judging_Judging_tree(judging, &bad, &env);
    plainly_refused("digit is 0, allowed is 1 to 9");
    refused(nearcall_put_judging_Judging_trees_go(feed, bad, &env));
    put(nearcall_put_judging_Judging_trees_go(feed, tree_of(1), &env));
    told(nearcall_end_judging_Judging_trees_go(feed, &env), "555");
    nearcall_release_judging_Judging_trees_go(feed);
}

/* Two items, an error, and no more. */
static void come(const judging_Judging *judging) {
    nearcall_feed_judging_Judging_rows_come *rows = judging_Judging_rows_come(judging, &env);
    nearcall_feed_judging_Judging_colors_come *colors = judging_Judging_colors_come(judging, &env);
    nearcall_feed_judging_Judging_digits_come *digits = judging_Judging_digits_come(judging, &env);
    nearcall_feed_judging_Judging_words_come *words = judging_Judging_words_come(judging, &env);
    judging_Row row;
    judging_Color color;
    judging_Digit digit;
    char *word;
    for (uint32_t i = 0; i < 2; i++) {
        CHECK(nearcall_next_judging_Judging_rows_come(rows, &row, &env) && row.key == i);
        CHECK(strcmp(row.name, "row") == 0);
        nearcall_free_judging_Row(&row);
        CHECK(nearcall_next_judging_Judging_colors_come(colors, &color, &env));
        CHECK(color == judging_GREEN);
        CHECK(nearcall_next_judging_Judging_digits_come(digits, &digit, &env) && digit == 7);
        CHECK(nearcall_next_judging_Judging_words_come(words, &word, &env));
        CHECK(strcmp(word, "word") == 0);
        nearcall_free(word);
    }
    CHECK(!nearcall_next_judging_Judging_rows_come(rows, &row, &env));
    expect(NEARCALL_RESULTS_REFUSED);
    CHECK(!nearcall_next_judging_Judging_rows_come(rows, &row, &env));
    expect(NEARCALL_RETURNED);
    CHECK(!nearcall_next_judging_Judging_colors_come(colors, &color, &env));
    expect(NEARCALL_RESULTS_REFUSED);
    CHECK(!nearcall_next_judging_Judging_digits_come(digits, &digit, &env));
    expect(NEARCALL_RESULTS_REFUSED);
    CHECK(!nearcall_next_judging_Judging_words_come(words, &word, &env));
    expect(NEARCALL_RESULTS_REFUSED);
    nearcall_release_judging_Judging_rows_come(rows);
    nearcall_release_judging_Judging_colors_come(colors);
    nearcall_release_judging_Judging_digits_come(digits);
    nearcall_release_judging_Judging_words_come(words);
}

static void rows_turn(const judging_Judging *judging) {
    nearcall_sides_judging_Judging_rows_turn sides = judging_Judging_rows_turn(judging, &env);
    judging_Row row;
    expect(NEARCALL_RETURNED);
    row_plainly(judging, 1);
    for (int i = 0; i < MANY; i++) {
        refused(nearcall_put_judging_Judging_rows_turn(sides.sink, bad_row(1), &env));
        put(nearcall_put_judging_Judging_rows_turn(sides.sink, row_of(judging_RED, "turn"), &env));
        if (i % 20 == 19) {
            put(nearcall_flush_judging_Judging_rows_turn(sides.sink, &env));
            for (int j = 0; j < 20; j++) {
                CHECK(nearcall_next_judging_Judging_rows_turn(sides.feed, &row, &env));
                CHECK(row.key == 3 && strcmp(row.name, "turn") == 0);
                nearcall_free_judging_Row(&row);
            }
        }
    }
    nearcall_end_judging_Judging_rows_turn(sides.sink, &env);
    expect(NEARCALL_RETURNED);
    CHECK(!nearcall_next_judging_Judging_rows_turn(sides.feed, &row, &env));
    expect(NEARCALL_RETURNED);
    nearcall_release_sink_judging_Judging_rows_turn(sides.sink);
    nearcall_release_feed_judging_Judging_rows_turn(sides.feed);
}

static void others_turn(const judging_Judging *judging) {
    nearcall_sides_judging_Judging_colors_turn colors = judging_Judging_colors_turn(judging, &env);
    nearcall_sides_judging_Judging_words_turn words = judging_Judging_words_turn(judging, &env);
    judging_Color color;
    char *word;
    judging_Judging_color(judging, NO_COLOR, &env);
    plainly_refused("item is 3");
    put(nearcall_put_judging_Judging_colors_turn(colors.sink, judging_GREEN, &env));
    refused(nearcall_put_judging_Judging_colors_turn(colors.sink, NO_COLOR, &env));
    nearcall_end_judging_Judging_colors_turn(colors.sink, &env);
    expect(NEARCALL_RETURNED);
    CHECK(nearcall_next_judging_Judging_colors_turn(colors.feed, &color, &env));
    CHECK(color == judging_GREEN);
    CHECK(!nearcall_next_judging_Judging_colors_turn(colors.feed, &color, &env));
    expect(NEARCALL_RETURNED);
    judging_Judging_word(judging, "wwwww", &env);
    plainly_refused("item has 5 bytes");
    put(nearcall_put_judging_Judging_words_turn(words.sink, nearcall_copy_text("in"), &env));
    refused(nearcall_put_judging_Judging_words_turn(words.sink, bad_word(0), &env));
    nearcall_end_judging_Judging_words_turn(words.sink, &env);
    expect(NEARCALL_RETURNED);
    CHECK(nearcall_next_judging_Judging_words_turn(words.feed, &word, &env));
    CHECK(strcmp(word, "in") == 0);
    nearcall_free(word);
    CHECK(!nearcall_next_judging_Judging_words_turn(words.feed, &word, &env));
    expect(NEARCALL_RETURNED);
    nearcall_release_sink_judging_Judging_colors_turn(colors.sink);
    nearcall_release_feed_judging_Judging_colors_turn(colors.feed);
    nearcall_release_sink_judging_Judging_words_turn(words.sink);
    nearcall_release_feed_judging_Judging_words_turn(words.feed);
}

int main(int argc, char **argv) {
    nearcall_domain *domain = nearcall_domain_new(&env);
    judging_Judging *judging;
    CHECK(domain != NULL && argc == 2);
    judging = nearcall_import_judging_Judging(domain, argv[1], &env);
    if (judging == NULL) {
        fprintf(stderr, "%s\n", env.message);
        return 1;
    }
    rows_go(judging);
    colors_go(judging);
    digits_go(judging);
    pairs_go(judging);
    words_go(judging);
    trees_go(judging);
    come(judging);
    rows_turn(judging);
    others_turn(judging);
    nearcall_release_judging_Judging(judging);
    nearcall_domain_shut_down(domain);
    nearcall_domain_release(domain);
    printf("%u checks\n", checks);
    return 0;
}
