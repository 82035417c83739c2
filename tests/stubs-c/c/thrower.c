/* A server of throwing.idl: exports it until its standard input ends. */
#include <string.h>

#include "check.h"
#include "serve.h"
#include "throwing.h"

static void plain(void *self, nearcall_environment *env) {
    (void)self;
    nearcall_panic(env, "threw: nothing is plain");
}

static int32_t declared(void *self, bool is_refused, nearcall_environment *env) {
    (void)self;
    if (is_refused) {
        const throwing_Refused refused = {7};
        nearcall_raise_throwing_Refused(env, refused);
    } else {
        nearcall_panic(env, "threw: beyond 3");
    }
    return 0;
}

static char *strange(void *self, nearcall_environment *env) {
    (void)self;
    nearcall_panic(env, "threw: no std::exception");
    return NULL;
}

static throwing_Either unfit(void *self, nearcall_environment *env) {
    const throwing_Either none = {0};
    (void)self;
    nearcall_refuse_returned(
        env, "throwing::Thrower::unfit returned what cannot be sent: returned: "
             "the discriminator of throwing::Either is 1, which selects alternative 1, "
             "and it holds alternative 2");
    return none;
}

/* It has not looked at what became of a call that it has made. */
static void left(void *self, int32_t outcome, nearcall_environment *env) {
    (void)self;
    env->outcome = (uint32_t)outcome;
}

static bool is_second;

static bool next(void *self, int32_t *item, nearcall_environment *env) {
    (void)self;
    if (is_second) {
        nearcall_panic(env, "threw: no more numbers");
        return false;
    }
    is_second = true;
    *item = 1;
    return true;
}

static nearcall_items_throwing_Thrower_numbers numbers(void *self, nearcall_environment *env) {
    nearcall_items_throwing_Thrower_numbers items = {0};
    (void)self;
    (void)env;
    items.next = next;
    return items;
}

static bool next_name(void *self, char **item, nearcall_environment *env) {
    (void)self;
    (void)env;
    *item = nearcall_copy_text("too long");
    return true;
}

static nearcall_items_throwing_Thrower_names names(void *self, nearcall_environment *env) {
    nearcall_items_throwing_Thrower_names items = {0};
    (void)self;
    (void)env;
    items.next = next_name;
    return items;
}

/* Whoever listens, where it is one. */
static void hear(void *context, nearcall_level level, const char *line) {
    (void)context;
    if (level != NEARCALL_LOG_INFO) {
        fprintf(stderr, "%s\n", line);
    }
}

int main(int argc, char **argv) {
    static const nearcall_server_throwing_Thrower server = {
        NULL, plain, declared, strange, unfit, left, numbers, names,
    };
    nearcall_environment env;
    nearcall_domain *domain;
    nearcall_clerk *clerk;
    CHECK(argc == 2 || (argc == 3 && strcmp(argv[2], "heard") == 0));
    CHECK(argc == 2 || nearcall_set_log(hear, NULL));
    domain = nearcall_domain_new(&env);
    CHECK(domain != NULL);
    clerk = nearcall_export_throwing_Thrower(domain, argv[1], &server, &env);
    CHECK(clerk != NULL);
    serve(domain, clerk);
    return 0;
}
