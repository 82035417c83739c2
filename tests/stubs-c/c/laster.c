/* A server of lasting.idl: `laster NAME` exports it until its standard input ends. */
#include <sched.h>
#include <stdatomic.h>

#include "check.h"
#include "lasting.h"
#include "serve.h"

static atomic_uint begun_count;

static uint32_t last(void *self, nearcall_environment *env) {
    nearcall_current *call = nearcall_current_call();
    uint32_t looks = 1;
    bool is_ending;
    (void)self;
    (void)env;
    CHECK(!nearcall_current_is_ending(call));
    begun_count++;
    while (!(is_ending = nearcall_current_is_ending(call)) && !nearcall_current_is_cancelled(call)) {
        looks += looks < UINT32_MAX;
        sched_yield();
    }
    CHECK(!is_ending || !nearcall_current_is_cancelled(call));
    nearcall_current_release(call);
    return is_ending ? looks : 0;
}

static uint32_t begun(void *self, nearcall_environment *env) {
    (void)self;
    (void)env;
    return begun_count;
}

int main(int argc, char **argv) {
    static const nearcall_server_lasting_Lasting server = {NULL, last, begun};
    nearcall_environment env;
    nearcall_domain *domain = nearcall_domain_new(&env);
    nearcall_clerk *clerk;
    CHECK(domain != NULL && argc == 2);
    clerk = nearcall_export_lasting_Lasting(domain, argv[1], &server, &env);
    CHECK(clerk != NULL);
    serve(domain, clerk);
    return 0;
}
