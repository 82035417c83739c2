/* A client of ready.idl, with an allocator that counts: `client NAME` has results come to memory
 * of its own, and prints how many pieces of memory each kind of call has had. */
#include "counting.h"
#include "ready.h"

#define CALLS 100
#define ROOM 2000

static nearcall_environment env;
static const ready_Shelf *shelf;

static void expect(nearcall_outcome outcome, const char *message) {
    if (env.outcome != outcome || (message != NULL && strcmp(env.message, message) != 0)) {
        fprintf(stderr, "outcome %u, not %u: %s\n", env.outcome, outcome, env.message);
        exit(1);
    }
    checks++;
}

/* Room for all that comes, and as much behind it that nobody writes to. */
static int32_t room[ROOM * 2];
static char letters[ROOM * 2];
static uint8_t bytes[ROOM * 2];
static ready_Edge shape[ROOM * 2];
static ready_Book library[ROOM * 2];

/* Puts the same everywhere. */
static void wiped(void) {
    memset(room, 0x5a, sizeof room);
    memset(letters, 0x5a, sizeof letters);
    memset(bytes, 0x5a, sizeof bytes);
    memset(shape, 0x5a, sizeof shape);
    memset(library, 0x5a, sizeof library);
}

/* Whether nothing stands behind so many bytes. */
static void nothing_behind(const void *all, size_t count, size_t whole) {
    const unsigned char *each = (const unsigned char *)all;
    for (size_t i = count; i < whole; i++) {
        CHECK(each[i] == 0x5a);
    }
}

static void numbers(uint32_t count) {
    nearcall_prealloc_int32 all = {room, 77, ROOM, NULL, NULL};
    ready_Shelf_numbers(shelf, count, &all, &env);
    expect(NEARCALL_RETURNED, NULL);
    CHECK(all._length == count && all._buffer == room && all._maximum == ROOM);
    for (uint32_t i = 0; i < count; i++) {
        CHECK(room[i] == (int32_t)i);
    }
}

static void text(uint32_t count) {
    nearcall_prealloc_text all = {letters, 0, ROOM, NULL, NULL};
    ready_Shelf_text(shelf, count, &all, &env);
    expect(NEARCALL_RETURNED, NULL);
    CHECK(all._length == count && strlen(letters) == count);
}

static void octets(uint32_t count) {
    nearcall_prealloc_octet all = {bytes, 0, ROOM, NULL, NULL};
    ready_Shelf_octets(shelf, count, &all, &env);
    expect(NEARCALL_RETURNED, NULL);
    CHECK(all._length == count && (count == 0 || bytes[count - 1] == (uint8_t)(count - 1)));
}

static void lent(uint32_t count) {
    nearcall_prealloc_octet all = {bytes, 0, ROOM, NULL, NULL};
    ready_Shelf_lent(shelf, count, &all, &env);
    expect(NEARCALL_RETURNED, NULL);
    CHECK(all._length == count && (count == 0 || bytes[count - 1] == (uint8_t)(count - 1)));
}

static void made(uint32_t count) {
    nearcall_sequence_int32 all = ready_Shelf_made(shelf, count, &env);
    expect(NEARCALL_RETURNED, NULL);
    CHECK(all._length == count);
    nearcall_free_sequence_int32(&all);
}

static void given(uint32_t count) {
    nearcall_prealloc_int32 all = {room, 77, ROOM, NULL, NULL};
    ready_Shelf_given(shelf, count, &all, &env);
    expect(NEARCALL_RETURNED, NULL);
    CHECK(all._length == count && all._buffer == room && all._maximum == ROOM);
    CHECK(count == 0 || room[count - 1] == (int32_t)(count - 1));
}

static void title(uint32_t count) {
    nearcall_prealloc_int32 all = {room, 0, ROOM, NULL, NULL};
    nearcall_prealloc_text name = {letters, 0, ROOM, NULL, NULL};
    ready_Shelf_title(shelf, count, &all, &name, &env);
    expect(NEARCALL_RETURNED, NULL);
    CHECK(name._length == count && strlen(letters) == count && all._length == count);
}

static void page(uint32_t count) {
    nearcall_prealloc_octet all = {bytes, 0, ROOM, NULL, NULL};
    ready_Shelf_page(shelf, count, &all, &env);
    expect(NEARCALL_RETURNED, NULL);
    CHECK(all._length == count && (count == 0 || bytes[count - 1] == (uint8_t)(count - 1)));
}

static void edges(uint32_t count) {
    nearcall_prealloc_ready_Edge all = {shape, 77, ROOM, NULL, NULL};
    ready_Shelf_edges(shelf, count, &all, &env);
    expect(NEARCALL_RETURNED, NULL);
    CHECK(all._length == count && all._buffer == shape && all._maximum == ROOM);
    for (uint32_t i = 0; i < count; i++) {
        CHECK(shape[i].from == i / 4.0 && shape[i].width == (int32_t)i && shape[i].height == -1);
    }
}

static void are_books(const ready_Book *all, uint32_t count) {
    static const ready_Kind each[] = {ready_PAPER, ready_CLOTH, ready_LEATHER};
    for (uint32_t i = 0; i < count; i++) {
        CHECK(all[i].is_lent == (i % 2 == 1) && all[i].kind == each[i % 3]);
        CHECK(all[i].shelf == 1 + i % 99 && all[i].weight == i / 2.0 && all[i].mark == 'a');
    }
}

static void books(uint32_t count) {
    nearcall_prealloc_ready_Book all = {library, 77, ROOM, NULL, NULL};
    ready_Shelf_books(shelf, count, &all, &env);
    expect(NEARCALL_RETURNED, NULL);
    CHECK(all._length == count && all._buffer == library && all._maximum == ROOM);
    are_books(library, count);
}

static void kinds(uint32_t count) {
    static ready_Kind mine[ROOM];
    nearcall_prealloc_ready_Kind all = NEARCALL_PREALLOC(mine);
    ready_Shelf_kinds(shelf, count, &all, &env);
    expect(NEARCALL_RETURNED, NULL);
    CHECK(all._length == count);
    for (uint32_t i = 0; i < count; i++) {
        CHECK(mine[i] == (i % 2 == 0 ? ready_LEATHER : ready_PAPER));
    }
}

/* As much as there is room for comes, and one more does not; the binding holds. */
static void exactly(void) {
    int32_t four[4] = {1, 2, 3, 4};
    nearcall_prealloc_int32 all = NEARCALL_PREALLOC(four), none = {NULL, 0, 0, NULL, NULL};
    nearcall_prealloc_text name = {letters, 0, 5, NULL, NULL}, no_name = {NULL, 0, 0, NULL, NULL};
    nearcall_prealloc_octet some = {bytes, 9, 16, NULL, NULL};
    wiped();
    ready_Shelf_numbers(shelf, 4, &all, &env);
    expect(NEARCALL_RETURNED, NULL);
    CHECK(all._length == 4 && four[3] == 3);
    ready_Shelf_numbers(shelf, 5, &all, &env);
    expect(NEARCALL_RESULTS_REFUSED, "all has 5 bytes or elements, its caller room for 4");
    CHECK(env.ran == NEARCALL_RAN_YES && all._length == 0 && all._maximum == 4 && four[3] == 3);
    ready_Shelf_numbers(shelf, 0, &none, &env);
    expect(NEARCALL_RETURNED, NULL);
    ready_Shelf_numbers(shelf, 1, &none, &env);
    expect(NEARCALL_RESULTS_REFUSED, "all has 1 byte or element, its caller room for 0");
    /* Text needs room for a NUL. */
    ready_Shelf_text(shelf, 4, &name, &env);
    expect(NEARCALL_RETURNED, NULL);
    CHECK(name._length == 4 && strcmp(letters, "aaaa") == 0);
    ready_Shelf_text(shelf, 5, &name, &env);
    expect(NEARCALL_RESULTS_REFUSED, "all has 6 bytes or elements, its caller room for 5");
    ready_Shelf_text(shelf, 0, &no_name, &env);
    expect(NEARCALL_RESULTS_REFUSED, "all has 1 byte or element, its caller room for 0");
    ready_Shelf_text(shelf, 0, &name, &env);
    CHECK(name._length == 0 && letters[0] == 0);
    nothing_behind(letters, 5, sizeof letters);
    ready_Shelf_lent(shelf, 17, &some, &env);
    expect(NEARCALL_RESULTS_REFUSED, "all has 17 bytes or elements, its caller room for 16");
    nothing_behind(bytes, 0, sizeof bytes);
    /* Out of line. */
    ready_Shelf_octets(shelf, 1 << 20, &some, &env);
    expect(NEARCALL_RESULTS_REFUSED, "all has 1048576 bytes or elements, its caller room for 16");
    ready_Shelf_lent(shelf, 16, &some, &env);
    CHECK(some._length == 16 && bytes[15] == 15);
    nothing_behind(bytes, 16, sizeof bytes);
}

/* The same of what is returned, which messages call so. */
static void exactly_returned(void) {
    int32_t four[4] = {1, 2, 3, 4};
    nearcall_prealloc_int32 all = NEARCALL_PREALLOC(four), some = {room, 5, ROOM, NULL, NULL};
    nearcall_prealloc_text name = {letters, 7, 5, NULL, NULL};
    nearcall_prealloc_octet octet = {bytes, 9, 16, NULL, NULL};
    wiped();
    ready_Shelf_given(shelf, 4, &all, &env);
    expect(NEARCALL_RETURNED, NULL);
    CHECK(all._length == 4 && four[3] == 3);
    ready_Shelf_given(shelf, 5, &all, &env);
    expect(NEARCALL_RESULTS_REFUSED, "returned has 5 bytes or elements, its caller room for 4");
    CHECK(env.ran == NEARCALL_RAN_YES && all._length == 0 && four[3] == 3);
    all._length = 4;
    ready_Shelf_given(shelf, 1000000, &all, &env);
    CHECK(env.outcome == NEARCALL_RAISED && all._length == 0);
    nearcall_environment_release(&env);
    ready_Shelf_title(shelf, 5, &some, &name, &env);
    expect(NEARCALL_RESULTS_REFUSED, "returned has 6 bytes or elements, its caller room for 5");
    CHECK(some._length == 0 && name._length == 0);
    ready_Shelf_title(shelf, 4, &some, &name, &env);
    expect(NEARCALL_RETURNED, NULL);
    CHECK(some._length == 4 && name._length == 4 && strcmp(letters, "aaaa") == 0);
    nothing_behind(letters, 5, sizeof letters);
    ready_Shelf_page(shelf, 17, &octet, &env);
    expect(NEARCALL_RESULTS_REFUSED, "returned has 17 bytes or elements, its caller room for 16");
    nothing_behind(bytes, 0, sizeof bytes);
}

/* The same of structs, of which each takes more in memory than in the message, or as much. */
static void exactly_structs(void) {
    nearcall_prealloc_ready_Book all = {library, 7, 5, NULL, NULL};
    nearcall_prealloc_ready_Edge some = {shape, 7, 5, NULL, NULL};
    nearcall_prealloc_int32 numbers = {room, 7, ROOM, NULL, NULL};
    nearcall_prealloc_ready_Book none = {NULL, 7, 0, NULL, NULL};
    wiped();
    ready_Shelf_books(shelf, 5, &all, &env);
    expect(NEARCALL_RETURNED, NULL);
    CHECK(all._length == 5);
    are_books(library, 5);
    nothing_behind(library, 5 * sizeof *library, sizeof library);
    ready_Shelf_books(shelf, 6, &all, &env);
    expect(NEARCALL_RESULTS_REFUSED, "returned has 6 bytes or elements, its caller room for 5");
    CHECK(env.ran == NEARCALL_RAN_YES && all._length == 0);
    are_books(library, 5);
    all._length = 5;
    ready_Shelf_books(shelf, 1000000, &all, &env);
    CHECK(env.outcome == NEARCALL_RAISED && all._length == 0);
    nearcall_environment_release(&env);
    ready_Shelf_books(shelf, 0, &none, &env);
    expect(NEARCALL_RETURNED, NULL);
    CHECK(none._length == 0);
    ready_Shelf_edges(shelf, 5, &some, &env);
    expect(NEARCALL_RETURNED, NULL);
    CHECK(some._length == 5 && shape[4].from == 1);
    nothing_behind(shape, 5 * sizeof *shape, sizeof shape);
    ready_Shelf_edges(shelf, 6, &some, &env);
    expect(NEARCALL_RESULTS_REFUSED, "all has 6 bytes or elements, its caller room for 5");
    CHECK(some._length == 0);
    /* Numbers had come already. */
    all._maximum = 2;
    ready_Shelf_few(shelf, 3, &numbers, &all, &env);
    expect(NEARCALL_RESULTS_REFUSED, "all has 3 bytes or elements, its caller room for 2");
    CHECK(numbers._length == 0 && all._length == 0);
    all._maximum = 5;
    ready_Shelf_few(shelf, 3, &numbers, &all, &env);
    expect(NEARCALL_RETURNED, NULL);
    CHECK(numbers._length == 3 && all._length == 3);
    are_books(library, 3);
    /* The server's own stub holds the bound. */
    ready_Shelf_few(shelf, 4, &numbers, &all, &env);
    expect(NEARCALL_RESULTS_REFUSED, NULL);
    CHECK(numbers._length == 0 && all._length == 0);
}

/* What else came is given back with the error, and an exception has no results. */
static void beside(void) {
    nearcall_prealloc_int32 all = {room, 3, 1, NULL, NULL};
    nearcall_prealloc_text name = {letters, 3, ROOM, NULL, NULL};
    nearcall_sequence_int32 own;
    ready_Shelf_both(shelf, 2, &name, &own, &all, &env);
    expect(NEARCALL_RESULTS_REFUSED, "all has 2 bytes or elements, its caller room for 1");
    CHECK(name._length == 0 && own._length == 0 && own._buffer == NULL && all._length == 0);
    all._maximum = ROOM;
    ready_Shelf_both(shelf, 2, &name, &own, &all, &env);
    expect(NEARCALL_RETURNED, NULL);
    CHECK(name._length == 2 && own._length == 2 && all._length == 2 && room[1] == 1);
    nearcall_free_sequence_int32(&own);
    ready_Shelf_numbers(shelf, 1000000, &all, &env);
    CHECK(env.outcome == NEARCALL_RAISED && nearcall_raised_ready_Gone(&env)->code == 7);
    CHECK(all._length == 0);
    nearcall_environment_release(&env);
}

/* Memory that grows. */
static void *grown(void *own, uint32_t count) {
    int32_t **all = (int32_t **)own;
    nearcall_free(*all);
    *all = count > ROOM ? NULL : (int32_t *)nearcall_allocate(count * sizeof **all);
    return *all;
}

static void *more_books(void *own, uint32_t count) {
    ready_Book **all = (ready_Book **)own;
    nearcall_free(*all);
    *all = count > ROOM ? NULL : (ready_Book *)nearcall_allocate(count * sizeof **all);
    return *all;
}

static void growing_structs(void) {
    ready_Book *own = NULL;
    nearcall_prealloc_ready_Book all = {NULL, 0, 0, more_books, &own};
    for (int round = 0; round < 2; round++) {
        const unsigned long long before = counting_got;
        ready_Shelf_books(shelf, 50, &all, &env);
        expect(NEARCALL_RETURNED, NULL);
        CHECK(all._length == 50 && all._maximum == 50 && all._buffer == own);
        are_books(own, 50);
        CHECK(counting_got - before == (round == 0 ? 1 : 0));
    }
    ready_Shelf_books(shelf, ROOM + 1, &all, &env);
    expect(NEARCALL_NO_MEMORY, NULL);
    CHECK(all._length == 0);
}

static void growing(void) {
    int32_t *own = NULL;
    nearcall_prealloc_int32 all = {NULL, 0, 0, grown, &own};
    for (int round = 0; round < 2; round++) {
        const unsigned long long before = counting_got;
        ready_Shelf_numbers(shelf, 50, &all, &env);
        expect(NEARCALL_RETURNED, NULL);
        CHECK(all._length == 50 && all._maximum == 50 && all._buffer == own && own[49] == 49);
        CHECK(counting_got - before == (round == 0 ? 1 : 0));
    }
    ready_Shelf_numbers(shelf, ROOM + 1, &all, &env);
    expect(NEARCALL_NO_MEMORY, "no memory for 8004 bytes of results");
    CHECK(all._length == 0);
    ready_Shelf_given(shelf, 60, &all, &env);
    expect(NEARCALL_RETURNED, NULL);
    CHECK(all._length == 60 && all._maximum == 60 && all._buffer == own && own[59] == 59);
    ready_Shelf_given(shelf, ROOM + 1, &all, &env);
    expect(NEARCALL_NO_MEMORY, "no memory for 8004 bytes of results");
    CHECK(all._length == 0 && all._buffer == NULL && all._maximum == 0);
    /* Fewer than there was room for. */
    ready_Shelf_given(shelf, 40, &all, &env);
    expect(NEARCALL_RETURNED, NULL);
    CHECK(all._length == 40 && all._maximum == 40 && all._buffer == own && own[39] == 39);
    nearcall_free(own);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*call)(uint32_t count);
    } all[] = {
        {"numbers", numbers}, {"text", text}, {"octets", octets}, {"lent", lent}, {"made", made},
        {"given", given},     {"title", title}, {"page", page},
        {"edges", edges},     {"books", books}, {"kinds", kinds}};
    static const uint32_t counts[] = {0, 1, 8, 150, 1999};
    nearcall_domain *domain;
    ready_Shelf *own;
    CHECK(argc == 2);
    nearcall_set_allocator(counting_allocate, counting_free);
    domain = nearcall_domain_new(&env);
    CHECK(domain != NULL);
    own = nearcall_import_ready_Shelf(domain, argv[1], &env);
    CHECK(own != NULL);
    shelf = own;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const unsigned long long before = counting_got;
        for (int call = 0; call < CALLS; call++) {
            all[i].call(counts[(size_t)call % (sizeof counts / sizeof *counts)]);
        }
        printf("%s %llu\n", all[i].name, counting_got - before);
    }
    exactly();
    exactly_returned();
    exactly_structs();
    beside();
    growing();
    growing_structs();
    nearcall_release_ready_Shelf(own);
    nearcall_domain_shut_down(domain);
    nearcall_domain_release(domain);
    return counting_end(0);
}
