/* A server of witness.idl: `onlooker NAME [POLICY]` exports it until its standard input ends, each
 * word of which is the policy file that counts from then on. */
#include <sched.h>
#include <stdatomic.h>

#include "check.h"
#include "witness.h"

static atomic_uint seen;

static int64_t who(void *self, int64_t *gid, int64_t *pid, nearcall_environment *env) {
    nearcall_current *call = nearcall_current_call();
    nearcall_importer importer = nearcall_current_importer(call);
    (void)self;
    (void)env;
    nearcall_current_release(call);
    *gid = importer.gid;
    *pid = importer.pid;
    return importer.uid;
}

static int64_t giver(void *self, nearcall_environment *env) {
    nearcall_current *call = nearcall_current_call();
    nearcall_importer giver;
    bool is_any = nearcall_current_giver(call, &giver);
    (void)self;
    (void)env;
    nearcall_current_release(call);
    return is_any ? giver.pid : -1;
}

static uint64_t left(void *self, nearcall_environment *env) {
    nearcall_current *call = nearcall_current_call();
    uint64_t left_ns = nearcall_current_time_left_ns(call);
    (void)self;
    (void)env;
    CHECK(!nearcall_current_is_cancelled(call));
    nearcall_current_release(call);
    return left_ns;
}

static void linger(void *self, nearcall_environment *env) {
    nearcall_current *call = nearcall_current_call();
    (void)self;
    (void)env;
    while (!nearcall_current_is_cancelled(call)) {
        sched_yield();
    }
    nearcall_current_release(call);
    seen++;
}

static uint32_t count(void *self, nearcall_environment *env) {
    (void)self;
    (void)env;
    return seen;
}

int main(int argc, char **argv) {
    static const nearcall_server_witness_Witness server = {NULL, who, giver, left, linger, count};
    nearcall_export_options options = {.policy = NULL};
    nearcall_environment env;
    nearcall_domain *domain = nearcall_domain_new(&env);
    nearcall_clerk *clerk;
    char path[256];
    CHECK(domain != NULL && argc >= 2);
    CHECK(nearcall_current_call() == NULL);
    nearcall_current_release(NULL);
    options.policy = argv[2];
    clerk = nearcall_export_with_witness_Witness(domain, argv[1], &server, &options, &env);
    if (clerk == NULL) {
        puts(env.message);
        nearcall_domain_release(domain);
        return 0;
    }
    puts("ready");
    fflush(stdout);
    while (scanf("%255s", path) == 1) {
        const int64_t revoked = nearcall_clerk_set_policy(clerk, path, &env);
        CHECK((revoked < 0) == (env.outcome != NEARCALL_RETURNED));
        printf("%lld %s\n", (long long)revoked, revoked < 0 ? env.message : "");
        fflush(stdout);
    }
    nearcall_domain_shut_down(domain);
    nearcall_clerk_release(clerk);
    nearcall_domain_release(domain);
    return 0;
}
