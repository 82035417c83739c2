/* A server of judging.idl: `judged NAME` exports it until its standard input ends. Makes items that
 * their types refuse, among others. */
#define _GNU_SOURCE
#include <pthread.h>

#include "check.h"
#include "judging.h"
#include "serve.h"

#define NO_COLOR ((judging_Color)3)

/* All that came, as letters. */
typedef struct heard {
    size_t count;
    char text[4096];
} heard;

static void hear(void *self, const char *what) {
    heard *own = self;
    CHECK(own->count + strlen(what) < sizeof own->text);
    strcpy(own->text + own->count, what);
    own->count += strlen(what);
}

static char *tell(void *self, nearcall_environment *env) {
    (void)env;
    return nearcall_copy_text(((heard *)self)->text);
}

static void *listen_to(void) {
    void *made = calloc(1, sizeof(heard));
    CHECK(made != NULL);
    return made;
}

static void row(void *self, const judging_Row *item, nearcall_environment *env) {
    (void)env;
    if (self != NULL) {
        CHECK(item->key == 3);
        hear(self, item->name);
    }
}

static void color(void *self, judging_Color item, nearcall_environment *env) {
    (void)env;
    if (self != NULL) {
        hear(self, item == judging_RED ? "r" : "g");
    }
}

static void digit(void *self, judging_Digit item, nearcall_environment *env) {
    const char text[2] = {(char)('0' + item), 0};
    (void)env;
    if (self != NULL) {
        hear(self, text);
    }
}

static void pair(void *self, const judging_Pair *item, nearcall_environment *env) {
    digit(self, item->_at[0], env);
    digit(self, item->_at[1], env);
}

static void word(void *self, const char *item, nearcall_environment *env) {
    (void)env;
    if (self != NULL) {
        hear(self, item);
    }
}

static void tree(void *self, const judging_Tree *item, nearcall_environment *env) {
    digit(self, item->digit, env);
}

#define TAKES(what, one)                                                                          \
    static nearcall_taker_judging_Judging_##what what(void *self, nearcall_environment *env) {    \
        nearcall_taker_judging_Judging_##what taker = {listen_to(), free, one, tell};             \
        (void)self;                                                                               \
        (void)env;                                                                                \
        return taker;                                                                             \
    }

TAKES(rows_go, row)
TAKES(colors_go, color)
TAKES(digits_go, digit)
TAKES(pairs_go, pair)
TAKES(words_go, word)
TAKES(trees_go, tree)

/* How many there were before. */
static uint32_t next_of(void *self) {
    heard *own = self;
    CHECK(own->count < 3);
    return (uint32_t)own->count++;
}

static judging_Row bad_row(void) {
    judging_Row row = {3, NO_COLOR, nearcall_copy_text("bad")};
    return row;
}

static bool next_row(void *self, judging_Row *item, nearcall_environment *env) {
    const uint32_t key = next_of(self);
    (void)env;
    if (key == 2) {
        *item = bad_row();
        return true;
    }
    item->key = key;
    item->name = nearcall_copy_text("row");
    return true;
}

static bool next_color(void *self, judging_Color *item, nearcall_environment *env) {
    (void)env;
    *item = next_of(self) == 2 ? NO_COLOR : judging_GREEN;
    return true;
}

static bool next_digit(void *self, judging_Digit *item, nearcall_environment *env) {
    (void)env;
    *item = next_of(self) == 2 ? 10 : 7;
    return true;
}

static bool next_word(void *self, char **item, nearcall_environment *env) {
    (void)env;
    *item = nearcall_copy_text(next_of(self) == 2 ? "too long" : "word");
    return true;
}

#define COMES(what, next)                                                                         \
    static nearcall_items_judging_Judging_##what what(void *self, nearcall_environment *env) {    \
        nearcall_items_judging_Judging_##what items = {listen_to(), free, next};                  \
        (void)self;                                                                               \
        (void)env;                                                                                \
        return items;                                                                             \
    }

COMES(rows_come, next_row)
COMES(colors_come, next_color)
COMES(digits_come, next_digit)
COMES(words_come, next_word)

/* Nothing was given, and why is told. */
static void refused(bool was_given, const nearcall_environment *env, const char *why) {
    CHECK(!was_given && env->outcome == NEARCALL_USAGE && strstr(env->message, why) != NULL);
}

/* Both ends of an exchange. */
typedef struct task {
    void *inlet, *outlet;
} task;

static void begin(void *(*work)(void *), void *inlet, void *outlet) {
    pthread_t thread;
    task *own = malloc(sizeof *own);
    CHECK(own != NULL);
    own->inlet = inlet;
    own->outlet = outlet;
    CHECK(pthread_create(&thread, NULL, work, own) == 0 && pthread_detach(thread) == 0);
}

#define TURNS(what, type, bad, why)                                                               \
    static void *what##_on(void *given) {                                                         \
        const task own = *(task *)given;                                                          \
        nearcall_environment env;                                                                 \
        type item;                                                                                \
        free(given);                                                                              \
        while (nearcall_take_judging_Judging_##what(own.inlet, &item, &env)) {                    \
            refused(nearcall_give_judging_Judging_##what(own.outlet, bad, &env), &env, why);      \
            CHECK(nearcall_give_judging_Judging_##what(own.outlet, item, &env));                  \
        }                                                                                         \
        /* The last one is refused, too, and those that went are all nonetheless. */              \
        refused(nearcall_give_judging_Judging_##what(own.outlet, bad, &env), &env, why);          \
        nearcall_release_inlet_judging_Judging_##what(own.inlet);                                 \
        nearcall_release_outlet_judging_Judging_##what(own.outlet, NULL);                         \
        return NULL;                                                                              \
    }                                                                                             \
    static void what(void *self, nearcall_inlet_judging_Judging_##what *inlet,                    \
                     nearcall_outlet_judging_Judging_##what *outlet,                              \
                     nearcall_environment *env) {                                                 \
        (void)self;                                                                               \
        (void)env;                                                                                \
        begin(what##_on, inlet, outlet);                                                          \
    }

TURNS(rows_turn, judging_Row, bad_row(), "color is 3, allowed is RED (0) to BLUE (2)")
TURNS(colors_turn, judging_Color, NO_COLOR, "item is 3, allowed is RED (0) to BLUE (2)")
TURNS(words_turn, char *, nearcall_copy_text("w\xff"), "item is not UTF-8 at byte 1")

int main(int argc, char **argv) {
    static const nearcall_server_judging_Judging server = {
        NULL,      row,       color,       digit,       pair,       word,      tree,
        rows_go,   colors_go, digits_go,   pairs_go,    words_go,   trees_go,  rows_come,
        colors_come, digits_come, words_come, rows_turn, colors_turn, words_turn,
    };
    nearcall_environment env;
    nearcall_domain *domain = nearcall_domain_new(&env);
    nearcall_clerk *clerk;
    CHECK(domain != NULL && argc == 2);
    clerk = nearcall_export_judging_Judging(domain, argv[1], &server, &env);
    if (clerk == NULL) {
        fprintf(stderr, "%s\n", env.message);
        return 1;
    }
    serve(domain, clerk);
    return 0;
}
