/* A client of ready.idl whose server lies: `client NAME`. What it is sent as the first is true, and
 * of nothing else that comes to its memory there is a length. */
#include "check.h"
#include "ready.h"

#define ROOM 8

int main(int argc, char **argv) {
    static const uint8_t wiped[sizeof(ready_Book)] = {0};
    nearcall_environment env;
    nearcall_domain *domain = nearcall_domain_new(&env);
    CHECK(argc == 2 && domain != NULL);
    for (uint32_t lie = 0; lie < 10; lie++) {
        ready_Book library[ROOM + 1];
        int32_t room[ROOM];
        nearcall_prealloc_ready_Book all = {library, 77, ROOM, NULL, NULL};
        nearcall_prealloc_int32 numbers = NEARCALL_PREALLOC(room);
        /* Each revokes the binding. */
        ready_Shelf *shelf = nearcall_import_ready_Shelf(domain, argv[1], &env);
        CHECK(shelf != NULL);
        memset(library, 0, sizeof library);
        if (lie == 9) {
            ready_Shelf_few(shelf, lie, &numbers, &all, &env);
            CHECK(numbers._length == 0);
        } else {
            ready_Shelf_books(shelf, lie, &all, &env);
        }
        if (lie == 0) {
            CHECK(env.outcome == NEARCALL_RETURNED && all._length == 2);
            CHECK(library[1].is_lent && library[1].kind == ready_LEATHER);
            CHECK(library[1].shelf == 99 && library[1].weight == 2.5 && library[1].mark == 'z');
        } else {
            CHECK(env.outcome == NEARCALL_PEER);
            CHECK(all._length == 0 && all._buffer == library && all._maximum == ROOM);
        }
        CHECK(memcmp(&library[ROOM], wiped, sizeof wiped) == 0);
        printf("%u%s%s\n", lie, lie == 0 ? "" : " ", lie == 0 ? "" : env.message);
        nearcall_release_ready_Shelf(shelf);
    }
    nearcall_domain_shut_down(domain);
    nearcall_domain_release(domain);
    return 0;
}
