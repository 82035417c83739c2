/* A server of either version of versions/early.idl and late.idl: `shelf_server NAME` exports it
 * until its standard input ends. Compiled with LATE for the new version. What it keeps it tells as
 * the servers in Rust do, of the one item that the client in C sends. */
#ifdef LATE
#include "late.h"
#else
#include "early.h"
#endif
#include "check.h"
#include "serve.h"

static char *keep(void *self, const growing_Items *items, nearcall_environment *env) {
    const growing_Item *item = &items->_buffer[0];
    const growing_Part *part = &item->parts._buffer[0];
    char text[200];
    (void)self;
    (void)env;
    CHECK(items->_length == 1 && item->parts._length == 1);
#ifdef LATE
    snprintf(text, sizeof text, "%s %dx%d %s%s%s %s %s %d %g [] %dx%d;", item->name,
             (int)part->weight, (int)part->height, item->note == NULL ? "None" : "Some(\"",
             item->note == NULL ? "" : *item->note, item->note == NULL ? "" : "\")", item->kind,
             item->colour == growing_RED ? "Red" : "Green", (int)item->few, item->ratio,
             (int)item->base.weight, (int)item->base.height);
    CHECK(item->labels._length == 0);
#else
    snprintf(text, sizeof text, "%s [%d];", item->name, (int)part->weight);
#endif
    return nearcall_copy_text(text);
}

static growing_Item last(void *self, nearcall_environment *env) {
    growing_Item item;
    (void)self;
    (void)env;
    memset(&item, 0, sizeof item);
#ifdef LATE
    item.name = nearcall_copy_text("late");
    item.kind = nearcall_copy_text("fancy");
    item.note = (char **)nearcall_allocate(sizeof *item.note);
    *item.note = nearcall_copy_text("a note");
    item.few = 9;
    item.parts._length = 1;
    item.parts._buffer = (growing_Part *)nearcall_allocate_zeroed(sizeof *item.parts._buffer);
    item.parts._buffer[0].weight = 1;
    item.parts._buffer[0].height = 2;
#else
    item.name = nearcall_copy_text("early");
    item.parts._length = 2;
    item.parts._buffer = (growing_Part *)nearcall_allocate_zeroed(2 * sizeof *item.parts._buffer);
    item.parts._buffer[0].weight = 9;
    item.parts._buffer[1].weight = 8;
#endif
    return item;
}

#ifdef LATE
#define NEWEST growing_DEEP
#else
#define NEWEST growing_OTHER
#endif

static growing_Tint newest(void *self, growing_Tint tint, nearcall_environment *env) {
    (void)self;
    (void)env;
    return tint == growing_PLAIN ? NEWEST : tint;
}

static growing_Coats seen(void *self, const growing_Coats *coats, nearcall_environment *env) {
    const size_t bytes = coats->_length * sizeof *coats->_buffer;
    growing_Coats own;
    (void)self;
    (void)env;
    memset(&own, 0, sizeof own);
    own._length = coats->_length;
    own._buffer = (growing_Coat *)nearcall_allocate_zeroed(bytes);
    for (uint32_t i = 0; i < own._length; i++) {
        own._buffer[i].tint = NEWEST;
        own._buffer[i].layers = (int32_t)coats->_buffer[i].tint;
    }
    return own;
}

int main(int argc, char **argv) {
    static const nearcall_server_growing_Shelf server = {NULL, keep, last, newest, seen};
    nearcall_environment env;
    nearcall_domain *domain = nearcall_domain_new(&env);
    nearcall_clerk *clerk;
    CHECK(argc == 2 && domain != NULL);
    clerk = nearcall_export_growing_Shelf(domain, argv[1], &server, &env);
    CHECK(clerk != NULL);
    serve(domain, clerk);
    return 0;
}
