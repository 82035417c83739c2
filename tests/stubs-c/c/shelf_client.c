/* A client of either version of versions/early.idl and late.idl: `shelf_client NAME early|late|moved`,
 * by what the server has. Compiled with LATE for the new version. */
#ifdef LATE
#include "late.h"
#else
#include "early.h"
#endif
#include "check.h"

static nearcall_environment env;

static void keep(const growing_Shelf *shelf, growing_Item *item, const char *want) {
    growing_Items items = {0};
    char *kept;
    items._length = 1;
    items._buffer = item;
    kept = growing_Shelf_keep(shelf, &items, &env);
    CHECK(env.outcome == NEARCALL_RETURNED);
    CHECK(strcmp(kept, want) == 0);
    nearcall_free(kept);
}

#ifdef LATE
#define NEWEST growing_DEEP
#else
#define NEWEST growing_OTHER
#endif

/* What an old version does not know is its default literal to it, wherever it stands. */
static void tints(const growing_Shelf *shelf, bool is_late_there) {
    const growing_Tint got = is_late_there ? NEWEST : growing_OTHER;
    growing_Coat two[] = {{growing_PLAIN, 9}, {NEWEST, 9}};
    growing_Coats coats = {0}, seen;
    CHECK(growing_Shelf_newest(shelf, growing_PLAIN, &env) == got);
    CHECK(env.outcome == NEARCALL_RETURNED);
    CHECK(growing_Shelf_newest(shelf, NEWEST, &env) == got);
    CHECK(env.outcome == NEARCALL_RETURNED);
    coats._length = 2;
    coats._buffer = two;
    seen = growing_Shelf_seen(shelf, &coats, &env);
    CHECK(env.outcome == NEARCALL_RETURNED && seen._length == 2);
    CHECK(seen._buffer[0].tint == got && seen._buffer[1].tint == got);
    CHECK(seen._buffer[0].layers == growing_PLAIN && seen._buffer[1].layers == (int32_t)got);
    nearcall_free_growing_Coats(&seen);
}

#ifdef LATE
static void call(const growing_Shelf *shelf, bool is_late_there) {
    char name[] = "late", note[] = "a note", kind[] = "fancy";
    growing_Part part = {1, 2};
    growing_Item item = {0}, last;
    item.name = name;
    item.parts._length = 1;
    item.parts._buffer = &part;
    item.note = (char **)nearcall_allocate(sizeof *item.note);
    *item.note = note;
    item.kind = kind;
    item.few = 9;
    item.base = part;
    keep(shelf, &item,
         is_late_there ? "late 1x2 Some(\"a note\") fancy Red 9 0 [] 1x2;" : "late [1];");
    nearcall_free(item.note);
    last = growing_Shelf_last(shelf, &env);
    CHECK(env.outcome == NEARCALL_RETURNED);
    if (is_late_there) {
        CHECK(strcmp(last.name, "late") == 0 && strcmp(last.kind, "fancy") == 0);
        CHECK(strcmp(*last.note, "a note") == 0 && last.few == 9);
        CHECK(last.parts._length == 1 && last.parts._buffer[0].height == 2);
    } else {
        CHECK(strcmp(last.name, "early") == 0 && strcmp(last.kind, "plain") == 0);
        CHECK(last.note == NULL && last.few == 3 && last.ratio == 2.5);
        CHECK(last.parts._length == 2 && last.parts._buffer[1].weight == 8);
        CHECK(last.parts._buffer[1].height == 7 && last.labels._length == 0);
        CHECK(last.colour == growing_GREEN && last.base.weight == 0 && last.base.height == 7);
    }
    nearcall_free_growing_Item(&last);
}
#else
static void call(const growing_Shelf *shelf, bool is_late_there) {
    char name[] = "hat";
    growing_Part part = {5};
    growing_Item item = {0}, last;
    item.name = name;
    item.parts._length = 1;
    item.parts._buffer = &part;
    keep(shelf, &item, is_late_there ? "hat 5x7 None plain Green 3 2.5 [] 0x7;" : "hat [5];");
    last = growing_Shelf_last(shelf, &env);
    CHECK(env.outcome == NEARCALL_RETURNED);
    CHECK(strcmp(last.name, is_late_there ? "late" : "early") == 0);
    CHECK(last.parts._length == (is_late_there ? 1 : 2));
    CHECK(last.parts._buffer[0].weight == (is_late_there ? 1 : 9));
    nearcall_free_growing_Item(&last);
}
#endif

int main(int argc, char **argv) {
    nearcall_domain *domain = nearcall_domain_new(&env);
    growing_Shelf *shelf;
    CHECK(argc == 3 && domain != NULL);
    shelf = nearcall_import_growing_Shelf(domain, argv[1], &env);
    if (strcmp(argv[2], "moved") == 0) {
        CHECK(shelf == NULL && env.outcome == NEARCALL_NOT_BOUND);
        CHECK(strstr(env.message, "`growing::Part`, whose member 1 differs there") != NULL);
    } else {
        CHECK(shelf != NULL);
        call(shelf, strcmp(argv[2], "late") == 0);
        tints(shelf, strcmp(argv[2], "late") == 0);
        nearcall_release_growing_Shelf(shelf);
    }
    nearcall_domain_shut_down(domain);
    nearcall_domain_release(domain);
    printf("%u checks\n", checks);
    return 0;
}
