/* A server of known.idl: `knower NAME` exports it until its standard input ends. */
#include "check.h"
#include "known.h"
#include "serve.h"

/* Whom a question is about, for as long as its call is not released. */
static nearcall_importer asked_of(const nearcall_current *call, bool is_giver) {
    nearcall_importer importer = nearcall_current_importer(call);
    CHECK(!is_giver || nearcall_current_giver(call, &importer));
    return importer;
}

static bool is_in_group(void *self, bool is_giver, uint32_t group, bool *are_all,
                        nearcall_environment *env) {
    nearcall_current *call = nearcall_current_call();
    const nearcall_importer importer = asked_of(call, is_giver);
    const bool is_in = nearcall_importer_is_in_group(&importer, group);
    (void)self;
    (void)env;
    *are_all = nearcall_importer_are_groups_all(&importer);
    nearcall_current_release(call);
    return is_in;
}

static char *cgroup(void *self, bool is_giver, nearcall_environment *env) {
    nearcall_current *call = nearcall_current_call();
    const nearcall_importer importer = asked_of(call, is_giver);
    char *text = nearcall_importer_cgroup(&importer);
    (void)self;
    (void)env;
    nearcall_current_release(call);
    return text;
}

static char *label(void *self, bool is_giver, nearcall_environment *env) {
    nearcall_current *call = nearcall_current_call();
    const nearcall_importer importer = asked_of(call, is_giver);
    char *text = nearcall_importer_label(&importer);
    (void)self;
    (void)env;
    nearcall_current_release(call);
    return text;
}

static int pidfd(void *self, bool is_giver, nearcall_environment *env) {
    nearcall_current *call = nearcall_current_call();
    const nearcall_importer importer = asked_of(call, is_giver);
    const int own = nearcall_importer_pidfd(&importer);
    (void)self;
    (void)env;
    nearcall_current_release(call);
    CHECK(own >= 0);
    return own;
}

int main(int argc, char **argv) {
    static const nearcall_server_known_Known server = {NULL, is_in_group, cgroup, label, pidfd};
    nearcall_environment env;
    nearcall_domain *domain = nearcall_domain_new(&env);
    nearcall_clerk *clerk;
    CHECK(domain != NULL && argc == 2);
    clerk = nearcall_export_known_Known(domain, argv[1], &server, &env);
    CHECK(clerk != NULL);
    serve(domain, clerk);
    return 0;
}
