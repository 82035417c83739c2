/* A server of statuses.proto: exports it until its standard input ends. */
#include "check.h"
#include "serve.h"
#include "statuses.h"

static grpc_RpcStatus not_found(const char *message, const char *isbn) {
    grpc_RpcStatus status = {grpc_NOT_FOUND, nearcall_copy_text(message), {0, NULL}};
    status.details._length = (uint32_t)strlen(isbn);
    status.details._buffer = (uint8_t *)nearcall_copy_text(isbn);
    return status;
}

static void refuse(nearcall_environment *env) {
    nearcall_raise_grpc_RpcStatus(
        env, (grpc_RpcStatus){grpc_INVALID_ARGUMENT, nearcall_copy_text("no number"), {0, NULL}});
}

static statuses_Status find(void *self, const statuses_Book *request, nearcall_environment *env) {
    statuses_Status found = {NULL};
    char message[64];
    (void)self;
    if (request->isbn[0] == 0) {
        refuse(env);
    } else if (strcmp(request->isbn, "silent") == 0) {
        nearcall_raise_grpc_RpcStatus(env, (grpc_RpcStatus){.code = grpc_UNAVAILABLE});
    } else if (strcmp(request->isbn, "broken") == 0) {
        nearcall_panic(env, "it is broken");
    } else if (strcmp(request->isbn, "1") == 0) {
        found.text = nearcall_copy_text("here");
    } else {
        snprintf(message, sizeof message, "no book %s", request->isbn);
        nearcall_raise_grpc_RpcStatus(env, not_found(message, request->isbn));
    }
    return found;
}

typedef struct listed {
    char *isbn;
    int count;
} listed;

static bool next(void *self, statuses_Book *item, nearcall_environment *env) {
    listed *own = self;
    if (own->count++ == 2) {
        nearcall_raise_grpc_RpcStatus(env, not_found("no more books", ""));
        return false;
    }
    item->isbn = nearcall_copy_text(own->isbn);
    return true;
}

static void release_listed(void *self) {
    nearcall_free(((listed *)self)->isbn);
    free(self);
}

static nearcall_items_statuses_Shelf_List list(void *self, const statuses_Book *request,
                                               nearcall_environment *env) {
    listed *made = calloc(1, sizeof *made);
    nearcall_items_statuses_Shelf_List items = {made, release_listed, next};
    (void)self;
    (void)env;
    CHECK(made != NULL);
    made->isbn = nearcall_copy_text(request->isbn);
    return items;
}

static void take(void *self, const statuses_Book *item, nearcall_environment *env) {
    if (item->isbn[0] == 0) {
        refuse(env);
    }
    ++*(int *)self;
}

static statuses_Status end(void *self, nearcall_environment *env) {
    char count[16];
    statuses_Status all = {NULL};
    (void)env;
    snprintf(count, sizeof count, "%d", *(int *)self);
    all.text = nearcall_copy_text(count);
    return all;
}

static nearcall_taker_statuses_Shelf_Fill fill(void *self, nearcall_environment *env) {
    nearcall_taker_statuses_Shelf_Fill taker = {calloc(1, sizeof(int)), free, take, end};
    (void)self;
    (void)env;
    CHECK(taker.self != NULL);
    return taker;
}

int main(int argc, char **argv) {
    static const nearcall_server_statuses_Shelf server = {NULL, find, list, fill};
    nearcall_environment env;
    nearcall_domain *domain = nearcall_domain_new(&env);
    nearcall_clerk *clerk;
    CHECK(domain != NULL && argc == 2);
    clerk = nearcall_export_statuses_Shelf(domain, argv[1], &server, &env);
    CHECK(clerk != NULL);
    serve(domain, clerk);
    return 0;
}
