/* A server of feeding.idl: `feeder NAME` exports it until its standard input ends. */
#define _GNU_SOURCE
#include <unistd.h>

#include "check.h"
#include "feeding.h"
#include "serve.h"

static int alive_count;

/* What a feed is made of here, whichever it is. */
typedef struct feed {
    uint32_t at;
    uint32_t count;
    uint32_t pause_ms;
    uint32_t refused;
    uint64_t sum;
    char *text;
} feed;

static feed *new_feed(uint32_t count, uint32_t refused) {
    feed *made = calloc(1, sizeof *made);
    CHECK(made != NULL);
    made->count = count;
    made->refused = refused;
    __atomic_fetch_add(&alive_count, 1, __ATOMIC_SEQ_CST);
    return made;
}

static void release(void *self) {
    feed *own = self;
    nearcall_free(own->text);
    free(own);
    __atomic_fetch_sub(&alive_count, 1, __ATOMIC_SEQ_CST);
}

static void refuse(nearcall_environment *env, int32_t code) {
    feeding_Refused refused = {code, nearcall_copy_text("not that")};
    nearcall_raise_feeding_Refused(env, refused);
}

static bool next_row(void *self, feeding_Row *item, nearcall_environment *env) {
    feed *own = self;
    char name[48];
    if (own->at == own->refused) {
        refuse(env, (int32_t)own->at);
        return false;
    }
    if (own->at == own->count) {
        return false;
    }
    snprintf(name, sizeof name, "%s %u", own->text, own->at);
    item->key = own->at++;
    item->name = nearcall_copy_text(name);
    return true;
}

static nearcall_items_feeding_Feeding_rows rows(void *self, const char *name, uint32_t count,
                                                uint32_t refused, nearcall_environment *env) {
    nearcall_items_feeding_Feeding_rows items = {NULL, release, next_row};
    feed *made;
    (void)self;
    if (name[0] == 0) {
        refuse(env, -1);
        return items;
    }
    made = new_feed(count, refused);
    made->text = nearcall_copy_text(name);
    items.self = made;
    return items;
}

static bool next_number(void *self, uint32_t *item, nearcall_environment *env) {
    feed *own = self;
    (void)env;
    if (own->pause_ms > 0) {
        usleep(own->pause_ms * 1000);
    }
    if (own->at == own->refused) {
        _exit(0);
    }
    if (own->at == own->count) {
        return false;
    }
    *item = own->at++;
    return true;
}

static nearcall_items_feeding_Feeding_numbers numbers(void *self, uint32_t count,
                                                      uint32_t pause_ms, uint32_t last_words,
                                                      nearcall_environment *env) {
    feed *made = new_feed(count, last_words);
    nearcall_items_feeding_Feeding_numbers items = {made, release, next_number};
    (void)self;
    (void)env;
    made->pause_ms = pause_ms;
    return items;
}

static bool next_unended(void *self, feeding_Page *item, nearcall_environment *env) {
    feed *own = self;
    nearcall_current *call;
    (void)env;
    memset(item, 7, sizeof *item);
    if (own->at++ < own->count) {
        return true;
    }
    call = nearcall_current_call();
    while (!nearcall_current_is_cancelled(call)) {
        usleep(1000);
    }
    nearcall_current_release(call);
    return false;
}

static nearcall_items_feeding_Feeding_unended unended(void *self, uint32_t count,
                                                      nearcall_environment *env) {
    nearcall_items_feeding_Feeding_unended items = {new_feed(count, 0), release, next_unended};
    (void)self;
    (void)env;
    return items;
}

static bool next_line(void *self, char **item, nearcall_environment *env) {
    feed *own = self;
    (void)env;
    *item = own->text;
    own->text = NULL;
    return *item != NULL;
}

static nearcall_items_feeding_Feeding_lines lines(void *self, uint32_t letters,
                                                  nearcall_environment *env) {
    feed *made = new_feed(1, 0);
    nearcall_items_feeding_Feeding_lines items = {made, release, next_line};
    (void)self;
    (void)env;
    made->text = nearcall_allocate_zeroed(letters + 1u);
    CHECK(made->text != NULL);
    memset(made->text, 'x', letters);
    return items;
}

static void take_row(void *self, const feeding_Row *item, nearcall_environment *env) {
    feed *own = self;
    if (item->key == own->refused) {
        refuse(env, (int32_t)item->key);
        return;
    }
    own->count += item->name[0] == 'a';
}

static uint32_t end_rows(void *self, nearcall_environment *env) {
    (void)env;
    return ((feed *)self)->count;
}

static nearcall_taker_feeding_Feeding_load load(void *self, const char *name, uint32_t refused,
                                                nearcall_environment *env) {
    nearcall_taker_feeding_Feeding_load taker = {NULL, release, take_row, end_rows};
    (void)self;
    if (name[0] == 0) {
        refuse(env, -1);
        return taker;
    }
    taker.self = new_feed(0, refused);
    return taker;
}

static void take_number(void *self, uint32_t item, nearcall_environment *env) {
    (void)env;
    ((feed *)self)->sum += item;
}

static uint64_t end_numbers(void *self, nearcall_environment *env) {
    (void)env;
    return ((feed *)self)->sum;
}

static nearcall_taker_feeding_Feeding_sum sum(void *self, nearcall_environment *env) {
    nearcall_taker_feeding_Feeding_sum taker = {new_feed(0, 0), release, take_number,
                                                end_numbers};
    (void)self;
    (void)env;
    return taker;
}

static void take_line(void *self, const char *item, nearcall_environment *env) {
    feed *own = self;
    size_t before = nearcall_text_bytes(own->text);
    char *longer = nearcall_allocate_zeroed(before + strlen(item) + 1);
    (void)env;
    CHECK(longer != NULL);
    if (before > 0) {
        memcpy(longer, own->text, before);
    }
    strcpy(longer + before, item);
    nearcall_free(own->text);
    own->text = longer;
}

static char *end_lines(void *self, nearcall_environment *env) {
    feed *own = self;
    char *all = own->text;
    (void)env;
    own->text = NULL;
    return all;
}

static nearcall_taker_feeding_Feeding_joined joined(void *self, nearcall_environment *env) {
    nearcall_taker_feeding_Feeding_joined taker = {new_feed(0, 0), release, take_line, end_lines};
    (void)self;
    (void)env;
    return taker;
}

static void take_octet(void *self, uint8_t item, nearcall_environment *env) {
    (void)env;
    CHECK(item == (uint8_t)((feed *)self)->count++);
}

static void end_octets(void *self, nearcall_environment *env) {
    (void)env;
    CHECK(((feed *)self)->count == 5000);
}

static nearcall_taker_feeding_Feeding_dropped dropped(void *self, nearcall_environment *env) {
    nearcall_taker_feeding_Feeding_dropped taker = {new_feed(0, 0), release, take_octet,
                                                    end_octets};
    (void)self;
    (void)env;
    return taker;
}

static int32_t alive(void *self, nearcall_environment *env) {
    (void)self;
    (void)env;
    return __atomic_load_n(&alive_count, __ATOMIC_SEQ_CST);
}

int main(int argc, char **argv) {
    static const nearcall_server_feeding_Feeding server = {
        NULL, rows, numbers, unended, lines, load, sum, joined, dropped, alive,
    };
    nearcall_environment env;
    nearcall_domain *domain = nearcall_domain_new(&env);
    nearcall_clerk *clerk;
    CHECK(domain != NULL && argc == 2);
    clerk = nearcall_export_feeding_Feeding(domain, argv[1], &server, &env);
    if (clerk == NULL) {
        fprintf(stderr, "%s\n", env.message);
        return 1;
    }
    serve(domain, clerk);
    return 0;
}
