/* A client of again.idl that is told why not, and whether to try again. Its servers are those of
 * retrying.rs, and their names say what becomes of it there. */
#include "again.h"
#include "check.h"

static nearcall_environment env;

static bool has_failed(uint32_t outcome, uint32_t reason, uint64_t incarnation, bool may_retry) {
    if (env.outcome == outcome && env.reason == reason && env.incarnation == incarnation &&
        nearcall_may_retry(&env) == may_retry) {
        return true;
    }
    fprintf(stderr, "outcome %u, reason %u, life %llu: %s\n", env.outcome, env.reason,
            (unsigned long long)env.incarnation, env.message);
    return false;
}

static void binds(const nearcall_domain *domain) {
    again_Again *bound;
    CHECK(nearcall_import_again_Again(domain, "absent", &env) == NULL);
    CHECK(has_failed(NEARCALL_NOT_BOUND, NEARCALL_REASON_NO_SUCH_NAME, 0, true));
    CHECK(nearcall_import_again_Again(domain, "closed", &env) == NULL);
    CHECK(has_failed(NEARCALL_NOT_BOUND, NEARCALL_REASON_NOT_ADMITTED, 0, false));
    bound = nearcall_import_again_Again(domain, "narrow", &env);
    CHECK(bound != NULL && !nearcall_may_retry(&env));
    CHECK(nearcall_import_again_Again(domain, "narrow", &env) == NULL);
    CHECK(has_failed(NEARCALL_NOT_BOUND, NEARCALL_REASON_OVERLOADED, 0, true));
    nearcall_release_again_Again(bound);
}

/* The server ends while it has the call. */
static void death(const nearcall_domain *domain) {
    again_Again *again = nearcall_import_again_Again(domain, "mortal", &env);
    const nearcall_client *binding = nearcall_binding_again_Again(again);
    CHECK(again != NULL && nearcall_incarnation(binding) != 0);
    again_Again_end(again, again_Again_pid(again, &env), &env);
    CHECK(has_failed(NEARCALL_CALL_FAILED, NEARCALL_REASON_NONE, nearcall_incarnation(binding),
                     false));
    CHECK(env.ran == NEARCALL_RAN_MAYBE);
    /* What that one said holds no longer. */
    again_Again_end(again, 0, &env);
    CHECK(env.reason == NEARCALL_REASON_REVOKED || env.reason == NEARCALL_REASON_SERVER_ENDED);
    CHECK(has_failed(NEARCALL_NOT_EXECUTED, env.reason, 0, true));
    nearcall_release_again_Again(again);
}

/* The server ends in an orderly way, between two of these calls or before it has taken one. */
static void shut_down(const nearcall_domain *domain) {
    again_Again *again = nearcall_import_again_Again(domain, "ending", &env);
    CHECK(again != NULL);
    puts("calls");
    fflush(stdout);
    do {
        again_Again_end(again, 0, &env);
    } while (env.outcome == NEARCALL_RETURNED);
    CHECK(env.reason == NEARCALL_REASON_REVOKED || env.reason == NEARCALL_REASON_REFUSED);
    CHECK(has_failed(NEARCALL_NOT_EXECUTED, env.reason, 0, true));
    CHECK(env.ran == NEARCALL_RAN_NO);
    nearcall_release_again_Again(again);
}

static int32_t pid(void *self, nearcall_environment *unused) {
    (void)self;
    (void)unused;
    return 0;
}

static int32_t end(void *self, int32_t which, nearcall_environment *unused) {
    (void)self;
    (void)unused;
    return which;
}

static char *carry(void *self, int32_t which, const char *text, again_Octets *octets,
                   nearcall_environment *unused) {
    (void)self;
    (void)which;
    (void)octets;
    (void)unused;
    return nearcall_copy_text(text);
}

static void exports(const nearcall_domain *domain) {
    static const nearcall_server_again_Again server = {
        .pid = pid, .outlive = end, .carry = carry, .end = end};
    const nearcall_export_options wrong = {.policy = "/"};
    CHECK(nearcall_export_again_Again(domain, "closed", &server, &env) == NULL);
    CHECK(has_failed(NEARCALL_NOT_EXPORTED, NEARCALL_REASON_ALREADY_EXPORTED, 0, true));
    CHECK(nearcall_export_again_Again(domain, "a name", &server, &env) == NULL);
    CHECK(has_failed(NEARCALL_NOT_EXPORTED, NEARCALL_REASON_NAME, 0, false));
    CHECK(nearcall_export_with_again_Again(domain, "own", &server, &wrong, &env) == NULL);
    CHECK(has_failed(NEARCALL_NOT_EXPORTED, NEARCALL_REASON_POLICY, 0, false));
}

int main(void) {
    nearcall_domain *domain = nearcall_domain_new(&env);
    CHECK(domain != NULL);
    binds(domain);
    exports(domain);
    death(domain);
    shut_down(domain);
    nearcall_domain_shut_down(domain);
    nearcall_domain_release(domain);
    return 0;
}
