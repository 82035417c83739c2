/* What a self-test needs to be the prey of a hostile peer: it looks at every byte that came and
 * says how each call ended, and compares nothing. Put behind the self-test's own header. */

/* How the call ended, in words, and whether with the error for a peer that lies. */
static char prey_heard[512];
static int prey_outcome;

/* How many procedures have run. */
static unsigned prey_runs;

/* A server that every call finds in its first round. */
NEARCALL_INLINE unsigned prey_round(void) {
    __atomic_fetch_add(&prey_runs, 1, __ATOMIC_SEQ_CST);
    return 0;
}

/* What a server says last. */
NEARCALL_INLINE int prey_end(void) {
    printf("ran %u\n", __atomic_load_n(&prey_runs, __ATOMIC_SEQ_CST));
    return 0;
}

NEARCALL_INLINE void prey_same(const char *what, nc_shown *got) {
    if (strcmp(what, "outcome") == 0) {
        nc_shorten(got);
        snprintf(prey_heard, sizeof prey_heard, "%s", got->bytes);
    }
    free(got->bytes);
}

NEARCALL_INLINE void prey_release(nearcall_environment *env) {
    prey_outcome = env->outcome;
    nearcall_environment_release(env);
}

/* Says a call's end in a line. */
NEARCALL_INLINE void prey_say(void) {
    const char *word = "other";
    if (prey_outcome == NEARCALL_RETURNED || prey_outcome == NEARCALL_RAISED) {
        word = "accepted";
    } else if (prey_outcome == NEARCALL_PEER) {
        word = "refused";
    }
    for (char *at = prey_heard; *at != '\0'; at++) {
        *at = *at == '\n' ? ' ' : *at;
    }
    printf("%s %s\n", word, prey_heard);
    fflush(stdout);
}

/* A line of standard input: which interface and operation to call, and whether to post that. */
NEARCALL_INLINE bool prey_next(unsigned *interface, unsigned *operation, int *is_posted) {
    return scanf("%u %u %d", interface, operation, is_posted) == 3;
}

#define nc_round(operation, rounds) prey_round()
#define nc_same(place, round, what, got, wanted) prey_same(what, got)
#define nc_wait(wanted) ((void)0)
#define nc_end(wanted) prey_end()
