/* A client of statuses.proto: `status_client NAME` makes its procedures fail, and says how many
 * things it has looked at. */
#include <string.h>

#include "check.h"
#include "statuses.h"

static statuses_Book book(const char *isbn) {
    statuses_Book made = {(char *)isbn};
    return made;
}

/* What a procedure has raised is that, and is given back with the environment. */
static void expect(nearcall_environment *env, grpc_RpcCode code, const char *message) {
    const grpc_RpcStatus *status = nearcall_raised_grpc_RpcStatus(env);
    CHECK(status != NULL && env->outcome == NEARCALL_RAISED);
    CHECK(status->code == code && strcmp(status->message, message) == 0);
    nearcall_environment_release(env);
}

static void find(statuses_Shelf *shelf) {
    nearcall_environment env;
    statuses_Book asked = book("1");
    statuses_Status found = statuses_Shelf_Find(shelf, &asked, &env);
    const grpc_RpcStatus *status;
    CHECK(env.outcome == NEARCALL_RETURNED && strcmp(found.text, "here") == 0);
    CHECK(nearcall_raised_grpc_RpcStatus(&env) == NULL);
    nearcall_free_statuses_Status(&found);

    asked = book("496");
    statuses_Shelf_Find(shelf, &asked, &env);
    status = nearcall_raised_grpc_RpcStatus(&env);
    CHECK(status != NULL && status->details._length == 3);
    CHECK(memcmp(status->details._buffer, "496", 3) == 0);
    expect(&env, grpc_NOT_FOUND, "no book 496");

    asked = book("");
    statuses_Shelf_Find(shelf, &asked, &env);
    expect(&env, grpc_INVALID_ARGUMENT, "no number");

    /* A message and details that nobody has said. */
    asked = book("silent");
    statuses_Shelf_Find(shelf, &asked, &env);
    status = nearcall_raised_grpc_RpcStatus(&env);
    CHECK(status != NULL && status->details._length == 0);
    expect(&env, grpc_UNAVAILABLE, "");

    /* What ends a procedure otherwise is no status. */
    asked = book("broken");
    statuses_Shelf_Find(shelf, &asked, &env);
    CHECK(env.outcome == NEARCALL_PANICKED && nearcall_raised_grpc_RpcStatus(&env) == NULL);
}

static void stream(statuses_Shelf *shelf) {
    nearcall_environment env;
    statuses_Book asked = book("7"), item;
    nearcall_feed_statuses_Shelf_List *list = statuses_Shelf_List(shelf, &asked, &env);
    nearcall_feed_statuses_Shelf_Fill *fill;
    int count = 0;
    CHECK(list != NULL);
    while (nearcall_next_statuses_Shelf_List(list, &item, &env)) {
        CHECK(strcmp(item.isbn, "7") == 0);
        nearcall_free_statuses_Book(&item);
        count++;
    }
    CHECK(count == 2);
    expect(&env, grpc_NOT_FOUND, "no more books");
    nearcall_release_statuses_Shelf_List(list);

    fill = statuses_Shelf_Fill(shelf, &env);
    CHECK(fill != NULL);
    nearcall_put_statuses_Shelf_Fill(fill, book(nearcall_copy_text("")), &env);
    CHECK(env.outcome == NEARCALL_RETURNED);
    nearcall_end_statuses_Shelf_Fill(fill, &env);
    expect(&env, grpc_INVALID_ARGUMENT, "no number");
    nearcall_release_statuses_Shelf_Fill(fill);
}

int main(int argc, char **argv) {
    nearcall_environment env;
    nearcall_domain *domain = nearcall_domain_new(&env);
    statuses_Shelf *shelf;
    CHECK(domain != NULL && argc == 2);
    shelf = nearcall_import_statuses_Shelf(domain, argv[1], &env);
    CHECK(shelf != NULL);
    find(shelf);
    stream(shelf);
    nearcall_release_statuses_Shelf(shelf);
    nearcall_domain_release(domain);
    printf("%u\n", checks);
    return 0;
}
