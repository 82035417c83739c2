/* Exports servers of lacking.idl that lack one function each, and calls one whose feeds do, and whose
 * text is none. */
#include "check.h"
#include "lacking.h"

typedef nearcall_server_lacking_Files files;

/* No text: a byte of another encoding. */
static char *name(void *self, nearcall_environment *env) {
    (void)self;
    (void)env;
    return nearcall_copy_text("caf\xe9");
}

static uint32_t read_some(void *self, uint32_t count, nearcall_environment *env) {
    (void)self;
    (void)env;
    return count;
}

static int32_t level(void *self, nearcall_environment *env) {
    (void)self;
    (void)env;
    return 0;
}

static void set_level(void *self, int32_t value, nearcall_environment *env) {
    (void)self;
    (void)value;
    (void)env;
}

/* Feeds that were made and not released yet. */
static unsigned feeds;

static void release(void *self) {
    --*(unsigned *)self;
}

static nearcall_items_lacking_Files_numbers numbers(void *self, nearcall_environment *env) {
    const nearcall_items_lacking_Files_numbers made = {&feeds, release, NULL};
    (void)self;
    (void)env;
    feeds++;
    return made;
}

static void take(void *self, uint8_t byte, nearcall_environment *env) {
    (void)self;
    (void)byte;
    (void)env;
}

static void end(void *self, nearcall_environment *env) {
    (void)self;
    (void)env;
}

/* Lacks one function at first, then the other one, then both and a release. */
static nearcall_taker_lacking_Files_fill fill(void *self, nearcall_environment *env) {
    static const nearcall_taker_lacking_Files_fill made[] = {
        {&feeds, release, NULL, end},
        {&feeds, release, take, NULL},
        {NULL, NULL, NULL, NULL},
    };
    static unsigned at;
    (void)self;
    (void)env;
    feeds += made[at].self != NULL;
    return made[at++];
}

static void echo(void *self, nearcall_inlet_lacking_Files_echo *inlet,
                 nearcall_outlet_lacking_Files_echo *outlet, nearcall_environment *env) {
    (void)self;
    nearcall_release_inlet_lacking_Files_echo(inlet);
    nearcall_release_outlet_lacking_Files_echo(outlet, env);
}

static const files whole = {NULL, name, read_some, level, set_level, numbers, fill, echo};

/* What is refused, under which message; each server is whole but for `lacking`. */
static void refused(const nearcall_domain *domain, files lacking, const char *function) {
    nearcall_environment env;
    char message[128];
    CHECK(nearcall_export_lacking_Files(domain, "files", &lacking, &env) == NULL);
    snprintf(message, sizeof message, "the server of lacking::Files has no function for \"%s\"",
             function);
    CHECK(env.outcome == NEARCALL_USAGE && env.ran == NEARCALL_RAN_NO);
    CHECK(strcmp(env.message, message) == 0);
}

#define REFUSED(domain, function)            \
    do {                                     \
        files lacking = whole;               \
        lacking.function = NULL;             \
        refused(domain, lacking, #function); \
    } while (0)

/* Its client is told that the procedure has panicked, and the feed is released. */
static void panicked(const void *feed, const char *procedure, const nearcall_environment *env) {
    char message[128];
    CHECK(feed == NULL && feeds == 0);
    snprintf(message, sizeof message,
             "%s panicked in the server, or was dropped there unfinished", procedure);
    CHECK(env->outcome == NEARCALL_PANICKED && env->ran == NEARCALL_RAN_YES);
    CHECK(strcmp(env->message, message) == 0);
}

static void call(const nearcall_domain *domain) {
    nearcall_environment env;
    lacking_Files *client = nearcall_import_lacking_Files(domain, "files", &env);
    CHECK(client != NULL);
    panicked(lacking_Files_numbers(client, &env), "numbers", &env);
    for (unsigned i = 0; i < 3; i++) {
        panicked(lacking_Files_fill(client, &env), "fill", &env);
    }
    CHECK(lacking_Files_name(client, &env) == NULL && env.outcome == NEARCALL_RESULTS_REFUSED);
    CHECK(lacking_Files_read(client, 7, &env) == 7 && env.outcome == NEARCALL_RETURNED);
    nearcall_release_lacking_Files(client);
}

int main(void) {
    nearcall_environment env;
    nearcall_domain *domain = nearcall_domain_new(&env);
    nearcall_clerk *clerk;
    CHECK(domain != NULL);
    REFUSED(domain, name);
    REFUSED(domain, read);
    REFUSED(domain, _get_level);
    REFUSED(domain, _set_level);
    REFUSED(domain, numbers);
    REFUSED(domain, fill);
    REFUSED(domain, echo);
    clerk = nearcall_export_lacking_Files(domain, "files", &whole, &env);
    CHECK(clerk != NULL && checks == 23);
    call(domain);
    nearcall_domain_shut_down(domain);
    nearcall_clerk_release(clerk);
    nearcall_domain_release(domain);
    return 0;
}
