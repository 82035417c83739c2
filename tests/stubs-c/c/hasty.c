/* A client of witness.idl, whose calls have deadlines. */
#include "check.h"
#include "witness.h"

static nearcall_environment env;

/* Makes calls that are given up until the server has seen that one was: beside other work one may
 * be before it was taken. */
static void give_up(const witness_Witness *patient, const witness_Witness *hasty) {
    uint32_t tries = 0;
    do {
        CHECK(tries++ < TRIES_MAX);
        witness_Witness_linger(hasty, &env);
        CHECK(IS_LATE(env));
        CHECK(env.outcome != NEARCALL_CALL_ABORTED || env.ran == NEARCALL_RAN_MAYBE);
        while (nearcall_captured_count(nearcall_binding_witness_Witness(patient)) > 0) {
        }
    } while (witness_Witness_seen(patient, &env) == 0);
}

int main(int argc, char **argv) {
    nearcall_domain *domain = nearcall_domain_new(&env);
    witness_Witness *patient, *hasty;
    uint64_t left_ns;
    CHECK(domain != NULL && argc == 2);
    patient = nearcall_import_witness_Witness(domain, argv[1], &env);
    CHECK(patient != NULL && witness_Witness_left(patient, &env) == UINT64_MAX);

    hasty = nearcall_with_deadline_witness_Witness(patient, UINT64_C(60000000000));
    left_ns = witness_Witness_left(hasty, &env);
    CHECK(left_ns > UINT64_C(30000000000) && left_ns <= UINT64_C(60000000000));
    nearcall_release_witness_Witness(hasty);

    hasty = nearcall_with_deadline_witness_Witness(patient, 50000000);
    give_up(patient, hasty);
    nearcall_release_witness_Witness(hasty);

    hasty = nearcall_with_deadline_witness_Witness(patient, 0);
    witness_Witness_linger(hasty, &env);
    CHECK(env.outcome == NEARCALL_NOT_EXECUTED && env.ran == NEARCALL_RAN_NO);
    nearcall_release_witness_Witness(hasty);
    CHECK(witness_Witness_seen(patient, &env) == 1);
    nearcall_release_witness_Witness(patient);
    nearcall_domain_release(domain);
    puts("done");
    return 0;
}
