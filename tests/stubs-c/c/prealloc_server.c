/* A server of ready.idl: `server NAME` exports it until its standard input ends. */
#include "check.h"
#include "ready.h"
#include "serve.h"

/* So many raise. */
#define TOO_MANY 1000000

static nearcall_sequence_int32 numbers_of(uint32_t count) {
    nearcall_sequence_int32 all = {count, (int32_t *)nearcall_allocate(count * sizeof(int32_t))};
    for (uint32_t i = 0; i < count; i++) {
        all._buffer[i] = (int32_t)i;
    }
    return all;
}

static nearcall_sequence_octet octets_of(uint32_t count) {
    nearcall_sequence_octet all = {count, (uint8_t *)nearcall_allocate(count)};
    for (uint32_t i = 0; i < count; i++) {
        all._buffer[i] = (uint8_t)i;
    }
    return all;
}

static char *text_of(uint32_t count) {
    char *text = (char *)nearcall_allocate((size_t)count + 1);
    memset(text, 'a', count);
    text[count] = 0;
    return text;
}

static void numbers(void *self, uint32_t count, nearcall_sequence_int32 *all,
                    nearcall_environment *env) {
    (void)self;
    if (count >= TOO_MANY) {
        nearcall_raise_ready_Gone(env, (ready_Gone){7});
        return;
    }
    *all = numbers_of(count);
}

static void bounded(void *self, uint32_t count, nearcall_sequence_int32 *all,
                    nearcall_environment *env) {
    (void)self;
    (void)env;
    *all = numbers_of(count);
}

static void text(void *self, uint32_t count, char **all, nearcall_environment *env) {
    (void)self;
    (void)env;
    *all = text_of(count);
}

static void octets(void *self, uint32_t count, ready_Octets *all, nearcall_environment *env) {
    (void)self;
    (void)env;
    *all = octets_of(count);
}

static void lent(void *self, uint32_t count, nearcall_served *all, nearcall_environment *env) {
    nearcall_sequence_octet made = octets_of(count);
    (void)self;
    (void)env;
    CHECK(nearcall_room_put(all, made._buffer, made._length));
    nearcall_free(made._buffer);
}

static void both(void *self, uint32_t count, char **name, nearcall_sequence_int32 *made,
                 nearcall_sequence_int32 *all, nearcall_environment *env) {
    (void)self;
    (void)env;
    *name = text_of(count);
    *made = numbers_of(count);
    *all = numbers_of(count);
}

static nearcall_sequence_int32 made(void *self, uint32_t count, nearcall_environment *env) {
    (void)self;
    (void)env;
    return numbers_of(count);
}

static nearcall_sequence_int32 given(void *self, uint32_t count, nearcall_environment *env) {
    nearcall_sequence_int32 all = {0, NULL};
    numbers(self, count, &all, env);
    return all;
}

static char *title(void *self, uint32_t count, nearcall_sequence_int32 *all,
                   nearcall_environment *env) {
    (void)self;
    (void)env;
    *all = numbers_of(count);
    return text_of(count);
}

static void page(void *self, uint32_t count, nearcall_served *room, nearcall_environment *env) {
    lent(self, count, room, env);
}

static void edges(void *self, uint32_t count, nearcall_sequence_ready_Edge *all,
                  nearcall_environment *env) {
    (void)self;
    (void)env;
    all->_length = count;
    all->_buffer = (ready_Edge *)nearcall_allocate(count * sizeof *all->_buffer);
    for (uint32_t i = 0; i < count; i++) {
        all->_buffer[i] = (ready_Edge){i / 4.0, (int32_t)i, -1};
    }
}

static nearcall_sequence_ready_Book books_of(uint32_t count) {
    static const ready_Kind each[] = {ready_PAPER, ready_CLOTH, ready_LEATHER};
    nearcall_sequence_ready_Book all = {count, NULL};
    all._buffer = (ready_Book *)nearcall_allocate(count * sizeof *all._buffer);
    for (uint32_t i = 0; i < count; i++) {
        all._buffer[i] = (ready_Book){i % 2 == 1, each[i % 3], (uint8_t)(1 + i % 99), i / 2.0, 'a'};
    }
    return all;
}

static nearcall_sequence_ready_Book books(void *self, uint32_t count, nearcall_environment *env) {
    (void)self;
    if (count >= TOO_MANY) {
        nearcall_raise_ready_Gone(env, (ready_Gone){7});
        return (nearcall_sequence_ready_Book){0, NULL};
    }
    return books_of(count);
}

static void kinds(void *self, uint32_t count, nearcall_sequence_ready_Kind *all,
                  nearcall_environment *env) {
    (void)self;
    (void)env;
    all->_length = count;
    all->_buffer = (ready_Kind *)nearcall_allocate(count * sizeof *all->_buffer);
    for (uint32_t i = 0; i < count; i++) {
        all->_buffer[i] = i % 2 == 0 ? ready_LEATHER : ready_PAPER;
    }
}

static void few(void *self, uint32_t count, nearcall_sequence_int32 *numbers,
                nearcall_sequence_ready_Book *all, nearcall_environment *env) {
    (void)self;
    (void)env;
    *numbers = numbers_of(count);
    *all = books_of(count);
}

int main(int argc, char **argv) {
    static const nearcall_server_ready_Shelf server = {
        NULL, numbers, bounded, text, octets, lent, both, made, given, title, page,
        edges, books, kinds, few,
    };
    nearcall_environment env;
    nearcall_domain *domain = nearcall_domain_new(&env);
    nearcall_clerk *clerk;
    CHECK(argc == 2 && domain != NULL);
    clerk = nearcall_export_ready_Shelf(domain, argv[1], &server, &env);
    CHECK(clerk != NULL);
    serve(domain, clerk);
    return 0;
}
