/* Passes libnearcall what somebody new to it would, and looks where that one would look. */
#define _POSIX_C_SOURCE 200809L

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <unistd.h>

#include "careless.h"
#include "check.h"

/* An environment as it lies on a stack that others have used. */
static nearcall_environment used(void) {
    nearcall_environment env;
    memset(&env, 0xa5, sizeof env);
    return env;
}

/* What the runtime has told. */
static struct heard {
    atomic_uint bound, refused, revoked, panicked, results, others;
} heard;

static void hear(void *context, nearcall_level level, const char *line) {
    struct heard *all = context;
    CHECK(line[0] == '{' && line[strlen(line) - 1] == '}' && strchr(line, '\n') == NULL);
    if (level == NEARCALL_LOG_INFO && strstr(line, "\"target\":\"nearcall::audit\"") != NULL) {
        atomic_fetch_add(&all->bound, strstr(line, "\"event\":\"bound\"") != NULL);
        atomic_fetch_add(&all->refused, strstr(line, "\"event\":\"refused\"") != NULL);
        atomic_fetch_add(&all->revoked, strstr(line, "\"event\":\"revoked\"") != NULL);
    } else if (level == NEARCALL_LOG_ERROR && strstr(line, "\"why\":\"no file 7\"") != NULL) {
        CHECK(strstr(line, "\"name\":\"files\"") != NULL && strstr(line, "\"store\"") != NULL);
        atomic_fetch_add(&all->panicked, 1);
    } else if (level == NEARCALL_LOG_WARNING && strstr(line, "results refused") != NULL) {
        CHECK(strstr(line, "\"name\":\"files\"") != NULL && strstr(line, "open_file") != NULL);
        atomic_fetch_add(&all->results, 1);
    } else {
        atomic_fetch_add(&all->others, 1);
    }
}

/* A file that could not be opened is not looked at, and its number is -1. */
static int64_t load(void *self, int32_t file, nearcall_served *data, nearcall_environment *env) {
    (void)self;
    (void)env;
    return nearcall_room_read_at(data, file, 0, 64);
}

static bool store(void *self, int32_t file, const nearcall_opaque *data,
                  nearcall_environment *env) {
    (void)self;
    if (file == 7) {
        nearcall_panic(env, "no file 7");
        return false;
    }
    return nearcall_opaque_write_at(data, file, 0);
}

static void refuse(void *self, bool is_missing, nearcall_environment *env) {
    (void)self;
    if (is_missing) {
        careless_Missing missing = {nearcall_copy_text("it")};
        nearcall_raise_careless_Missing(env, missing);
    } else {
        careless_Refused refused = {nearcall_copy_text("so"), 3};
        nearcall_raise_careless_Refused(env, refused);
    }
}

/* What it returns, if it returns. */
static int opened = -1;

/* What returns beside an exception is nothing, as people write it. */
static int open_file(void *self, nearcall_environment *env) {
    careless_Missing missing = {NULL};
    (void)self;
    if (opened != -1) {
        return opened;
    }
    nearcall_raise_careless_Missing(env, missing);
    return 0;
}

static const nearcall_server_careless_Files server = {NULL, load, store, refuse, open_file};

static void *nothing(size_t bytes) {
    (void)bytes;
    return NULL;
}

/* Half an allocator, or none, is the C library's. */
static void allocate(void) {
    nearcall_set_allocator(nothing, NULL);
    nearcall_free(nearcall_copy_text("there is memory"));
    nearcall_set_allocator(nothing, free);
    CHECK(nearcall_copy_text("there is none") == NULL);
    nearcall_set_allocator(NULL, NULL);
    char *text = nearcall_copy_text("there is memory again");
    CHECK(text != NULL);
    nearcall_free(text);
}

/* Without room for a descriptor there is no domain; the environment says so. */
static void lack_descriptors(void) {
    nearcall_environment env = used();
    struct rlimit limit, none;
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    none = limit;
    none.rlim_cur = 3;
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
    CHECK(nearcall_domain_new(&env) == NULL);
    CHECK(env.outcome == NEARCALL_SYSTEM && env.ran == NEARCALL_RAN_NO && env.message[0] != 0);
    nearcall_environment_release(&env);
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

static void call(const nearcall_domain *domain) {
    nearcall_environment env = used();
    nearcall_sequence_octet data = {1, (uint8_t *)"a"};
    int64_t count;
    careless_Files *files = nearcall_import_careless_Files(domain, "files", &env);
    CHECK(files != NULL);
    for (int32_t file = -1; file > -3; file--) {
        CHECK(!careless_Files_store(files, file, &data, &env) && env.outcome == NEARCALL_RETURNED);
        count = careless_Files_load(files, file, &data, &env);
        CHECK(count == -1 && data._length == 0 && env.outcome == NEARCALL_RETURNED);
        nearcall_free_sequence_octet(&data);
    }
    CHECK(!careless_Files_store(files, 7, &data, &env) && env.outcome == NEARCALL_PANICKED);
    nearcall_environment_release(&env);
    /* Whoever shows the message of whatever did not return shows a message. */
    env = used();
    careless_Files_refuse(files, false, &env);
    CHECK(env.outcome == NEARCALL_RAISED && env.ran == NEARCALL_RAN_YES);
    CHECK(strcmp(env.message, "IDL:careless/Refused:1.0") == 0);
    CHECK(nearcall_raised_careless_Refused(&env)->code == 3);
    nearcall_environment_release(&env);
    careless_Files_refuse(files, true, &env);
    CHECK(strcmp(env.message, "IDL:careless/Missing:1.0") == 0);
    nearcall_environment_release(&env);
    CHECK(careless_Files_open_file(files, &env) == -1);
    CHECK(nearcall_raised_careless_Missing(&env) != NULL && fcntl(0, F_GETFD) >= 0);
    nearcall_environment_release(&env);
    /* A pipe is no file. */
    int ends[2];
    CHECK(pipe(ends) == 0);
    opened = ends[0];
    CHECK(careless_Files_open_file(files, &env) == -1);
    CHECK(env.outcome == NEARCALL_RESULTS_REFUSED && close(ends[1]) == 0);
    nearcall_environment_release(&env);
    nearcall_release_careless_Files(files);
}

/* That something was not made, and what to look at. */
static void expect_lacking(nearcall_environment *env, const char *what) {
    CHECK(env->outcome == NEARCALL_USAGE && env->ran == NEARCALL_RAN_NO);
    CHECK(strstr(env->message, what) != NULL && strstr(env->message, "look at") != NULL);
    nearcall_environment_release(env);
    *env = used();
}

/* An import has failed, and so had the domain: nobody has looked. */
static void lack_handles(const nearcall_domain *domain) {
    const char *client = "the client is null", *none = "the domain is null";
    const char *clerk = "the clerk is null";
    nearcall_environment env = used();
    nearcall_sequence_octet data = {1, (uint8_t *)"a"};
    nearcall_posted_careless_Files_store stored;
    careless_Files *files = nearcall_import_careless_Files(domain, "nowhere", &env);
    const nearcall_client *binding = nearcall_binding_careless_Files(files);
    int ends[2];
    CHECK(files == NULL && env.outcome == NEARCALL_NOT_BOUND);
    CHECK(!careless_Files_store(files, 3, &data, &env));
    expect_lacking(&env, client);
    CHECK(careless_Files_open_file(files, &env) == -1);
    expect_lacking(&env, client);
#ifndef __OPTIMIZE__
    /* Brief ones. */
    nearcall_posted_careless_Files_refuse refused;
    nearcall_sequence_octet came = {1, NULL};
    CHECK(careless_Files_load(files, 3, &came, &env) == 0 && came._length == 0);
    expect_lacking(&env, client);
    careless_Files_refuse(files, true, &env);
    expect_lacking(&env, client);
    CHECK(!nearcall_post_careless_Files_refuse(files, true, &refused, &env));
    expect_lacking(&env, client);
#endif
    CHECK(!nearcall_post_careless_Files_store(files, 3, &data, &stored, &env));
    expect_lacking(&env, client);
    CHECK(nearcall_lend_to_careless_Files(files, 1, &env) == NULL);
    expect_lacking(&env, client);
    CHECK(nearcall_rebind_careless_Files(files, &env) == NULL);
    expect_lacking(&env, client);
    CHECK(nearcall_introduce_careless_Files(files, &env) == -1);
    expect_lacking(&env, client);
    CHECK(nearcall_with_deadline_careless_Files(files, 1) == NULL);
    CHECK(nearcall_is_revoked(binding) && nearcall_incarnation(binding) == 0);
    CHECK(nearcall_captured_count(binding) == 0 && nearcall_astack_count(binding) == 0);

    CHECK(nearcall_import_careless_Files(NULL, "files", &env) == NULL);
    expect_lacking(&env, none);
    CHECK(nearcall_export_careless_Files(NULL, "files", &server, &env) == NULL);
    expect_lacking(&env, none);
    CHECK(nearcall_clerk_set_policy(NULL, "/nowhere", &env) == -1);
    expect_lacking(&env, clerk);
    /* An introduction is closed, whatever happens. */
    CHECK(pipe(ends) == 0);
    CHECK(nearcall_introduced_careless_Files(NULL, ends[0], &env) == NULL);
    expect_lacking(&env, none);
    CHECK(fcntl(ends[0], F_GETFD) == -1 && close(ends[1]) == 0);
}

/* A program that loads plug-ins may have another interface's stubs where one's were. */
static void load_another(const nearcall_domain *domain) {
    nearcall_environment env = used();
    nearcall_interface described = nearcall_interface_careless_Files;
    nearcall_client *client;
    char *name = malloc(sizeof "careless::Files");
    CHECK(name != NULL);
    memcpy(name, "careless::Files", sizeof "careless::Files");
    described.name = name;
    client = nearcall_import(domain, "files", &described, NULL, &env);
    CHECK(client != NULL);
    free(name);
    described.name = "careless::Others";
    described.hash[0] ^= 1;
    nearcall_begin(&env);
    CHECK(nearcall_import(domain, "files", &described, NULL, &env) == NULL);
    CHECK(env.outcome == NEARCALL_NOT_BOUND && strstr(env.message, "careless::Others") != NULL);
    nearcall_client_release(client);
}

/* A domain with knobs: of two bindings that it serves at most one user alone has one. */
static void turn_knobs(void) {
    nearcall_environment env = used();
    nearcall_domain_options knobs;
    nearcall_import_options from = {0};
    nearcall_export_options to = {0};
    nearcall_domain *domain;
    nearcall_clerk *clerk;
    careless_Files *files;
    char elsewhere[4096];
    snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", getenv("XDG_RUNTIME_DIR"));
    domain = nearcall_domain_new_with(NULL, &env);
    CHECK(domain != NULL && env.outcome == NEARCALL_RETURNED);
    nearcall_domain_release(domain);
    memset(&knobs, 0xa5, sizeof knobs);
    nearcall_domain_options_default(&knobs);
    CHECK(knobs.bindings_max == 20000 && knobs.wait.yields_max == 16 && knobs.mappings_max == 0);
    knobs.bindings_max = 2;
    domain = nearcall_domain_new_with(&knobs, &env);
    CHECK(domain != NULL && env.outcome == NEARCALL_RETURNED);
    to.directory = elsewhere;
    clerk = nearcall_export_with_careless_Files(domain, "knobs", &server, &to, &env);
    CHECK(clerk != NULL);
    CHECK(nearcall_import_careless_Files(domain, "knobs", &env) == NULL);
    CHECK(env.outcome == NEARCALL_NOT_BOUND);
    from.directory = elsewhere;
    from.wait = &knobs.wait;
    files = nearcall_import_with_careless_Files(domain, "knobs", &from, &env);
    CHECK(files != NULL);
    knobs.wait.yields_max = 0;
    careless_Files_refuse(files, false, &env);
    CHECK(env.outcome == NEARCALL_RAISED);
    nearcall_environment_release(&env);
    CHECK(nearcall_import_with_careless_Files(domain, "knobs", &from, &env) == NULL);
    CHECK(env.outcome == NEARCALL_NOT_BOUND && strstr(env.message, "no room") != NULL);
    nearcall_release_careless_Files(files);
    nearcall_clerk_release(clerk);
    nearcall_domain_shut_down(domain);
    nearcall_domain_release(domain);
}

int main(void) {
    nearcall_environment env = used();
    nearcall_domain *domain;
    nearcall_clerk *clerk;
    CHECK(!nearcall_set_log(NULL, NULL));
    CHECK(nearcall_set_log(hear, &heard) && !nearcall_set_log(hear, NULL));
    allocate();
    lack_descriptors();
    turn_knobs();
    /* What was not made ends as what was. */
    nearcall_domain_shut_down(NULL);
    nearcall_clerk_release(NULL);
    nearcall_release_careless_Files(NULL);
    nearcall_domain_release(NULL);

    domain = nearcall_domain_new(&env);
    CHECK(domain != NULL && env.outcome == NEARCALL_RETURNED);
    nearcall_environment_release(&env);
    clerk = nearcall_export_careless_Files(domain, "files", &server, &env);
    CHECK(clerk != NULL);
    env = used();
    CHECK(nearcall_clerk_set_policy(clerk, "/nowhere", &env) < 0);
    CHECK(env.outcome == NEARCALL_NOT_EXPORTED);
    nearcall_environment_release(&env);
    call(domain);
    lack_handles(domain);
    load_another(domain);
    nearcall_clerk_release(clerk);
    nearcall_domain_shut_down(domain);
    nearcall_domain_release(domain);
    /* One binding of the domain with knobs, which had no room for another, and two of this one,
     * at which a third had another version. */
    CHECK(heard.bound == 3 && heard.refused == 2 && heard.revoked == 3);
    /* Of results that are refused the author is told once. */
    CHECK(heard.panicked == 1 && heard.results == 1 && heard.others == 0);
    puts("done");
    return 0;
}
