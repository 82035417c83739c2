/* A server of deferring.idl that has one processor: calls are set aside, and whoever likes replies. */
#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "check.h"
#include "deferring.h"
#include "serve.h"

#define KEPT_MAX 64

typedef nearcall_deferred_deferring_Later_keep Kept;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Kept *kept[KEPT_MAX];
static uint32_t kept_count;
static uint32_t told_count;
static char *told_text;

static char *copy_of(const char *text) {
    size_t bytes = nearcall_text_bytes(text) + 1;
    char *copy = (char *)nearcall_allocate(bytes);
    CHECK(copy != NULL);
    memcpy(copy, text == NULL ? "" : text, bytes);
    return copy;
}

static void keep(void *self, Kept *call) {
    (void)self;
    pthread_mutex_lock(&lock);
    CHECK(kept_count < KEPT_MAX);
    kept[kept_count++] = call;
    pthread_mutex_unlock(&lock);
}

static void refuse(nearcall_deferred *call, const char *why, int32_t code) {
    deferring_Refused refused = {copy_of(why), code};
    nearcall_environment env;
    nearcall_begin(&env);
    nearcall_raise_deferring_Refused(&env, refused);
    nearcall_deferred_raise(call, &env);
    CHECK(env.outcome == NEARCALL_RETURNED && env.exception == NULL);
}

static void end(Kept *call, deferring_How how) {
    nearcall_environment env;
    nearcall_begin(&env);
    switch (how) {
    case deferring_RAISED:
        refuse(&call->nc_call, "it was kept", call->number);
        break;
    case deferring_PANICKED:
        nearcall_panic(&env, "it was told to");
        nearcall_deferred_raise(&call->nc_call, &env);
        break;
    case deferring_NOTHING_RAISED:
        nearcall_deferred_raise(&call->nc_call, &env);
        break;
    case deferring_DROPPED:
        nearcall_deferred_drop(&call->nc_call);
        break;
    default:
        nearcall_reply_deferring_Later_keep(call, call->number);
    }
}

static void *end_all(void *nothing) {
    uint32_t index;
    (void)nothing;
    pthread_mutex_lock(&lock);
    for (index = 0; index < kept_count; index++) {
        end(kept[index], deferring_FORWARD);
    }
    kept_count = 0;
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* Waits until a thread has done it. */
static void by_thread(void *(*work)(void *), void *own) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, work, own) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

static void go(void *self, nearcall_deferred_deferring_Later_go *call) {
    uint32_t count = kept_count, index;
    (void)self;
    if (call->how == deferring_BY_THREAD) {
        by_thread(end_all, NULL);
    }
    for (index = 0; index < kept_count; index++) {
        bool is_backward = call->how == deferring_BACKWARD;
        end(kept[is_backward ? kept_count - 1 - index : index], call->how);
    }
    kept_count = 0;
    nearcall_reply_deferring_Later_go(call, count);
}

static void count_kept(void *self, nearcall_deferred_deferring_Later_kept *call) {
    uint32_t index;
    (void)self;
    for (index = 0; index < kept_count; index++) {
        nearcall_current *current = nearcall_deferred_current(&kept[index]->nc_call);
        call->cancelled += nearcall_current_is_cancelled(current);
        nearcall_current_release(current);
    }
    nearcall_reply_deferring_Later_kept(call, kept_count);
}

static void tell(void *self, nearcall_deferred_deferring_Later_tell *call) {
    (void)self;
    nearcall_free(told_text);
    told_text = copy_of(call->text);
    told_count++;
    nearcall_reply_deferring_Later_tell(call);
}

static void told(void *self, nearcall_deferred_deferring_Later_told *call) {
    (void)self;
    call->count = told_count;
    nearcall_reply_deferring_Later_told(call, copy_of(told_text));
}

static char *twice(const char *text) {
    size_t bytes = nearcall_text_bytes(text);
    char *both = (char *)nearcall_allocate(2 * bytes + 1);
    CHECK(both != NULL);
    memcpy(both, text == NULL ? "" : text, bytes);
    memcpy(both + bytes, text == NULL ? "" : text, bytes + 1);
    return both;
}

static deferring_Note note_twice(const deferring_Note *note) {
    deferring_Note both = {NULL, {0, NULL}, NULL};
    uint32_t count = note->marks._length;
    both.text = twice(note->text);
    both.marks._length = 2 * count;
    both.marks._buffer = (int32_t *)nearcall_allocate(2 * count * sizeof(int32_t) + 1);
    CHECK(both.marks._buffer != NULL);
    if (count > 0) {
        memcpy(both.marks._buffer, note->marks._buffer, count * sizeof(int32_t));
        memcpy(both.marks._buffer + count, note->marks._buffer, count * sizeof(int32_t));
    }
    if (note->more != NULL) {
        both.more = (char **)nearcall_allocate(sizeof(char *));
        CHECK(both.more != NULL);
        *both.more = twice(*note->more);
    }
    return both;
}

static void *mix_later(void *own) {
    nearcall_deferred_deferring_Later_mix *call = (nearcall_deferred_deferring_Later_mix *)own;
    deferring_Note changed;
    call->said = twice(call->text);
    if (call->text == NULL || *call->text == 0) {
        refuse(&call->nc_call, "no text", 7);
        return NULL;
    }
    changed = note_twice(&call->changed);
    nearcall_free_deferring_Note(&call->changed);
    call->changed = changed;
    call->word *= 2;
    call->more._buffer = (deferring_Note *)nearcall_allocate(2 * sizeof(deferring_Note));
    CHECK(call->more._buffer != NULL);
    call->more._length = 2;
    call->more._buffer[0] = note_twice(&call->note);
    call->more._buffer[1] = note_twice(&call->note);
    call->sum = call->prices._at[0] + call->prices._at[1] + call->prices._at[2];
    nearcall_reply_deferring_Later_mix(call, note_twice(&call->note));
    return NULL;
}

static void mix(void *self, nearcall_deferred_deferring_Later_mix *call) {
    (void)self;
    by_thread(mix_later, call);
}

static void many(void *self, nearcall_deferred_deferring_Later_many *call) {
    nearcall_sequence_int32 numbers = {call->count, NULL};
    (void)self;
    numbers._buffer = (int32_t *)nearcall_allocate(call->count * sizeof(int32_t) + 1);
    CHECK(numbers._buffer != NULL);
    memset(numbers._buffer, 0, call->count * sizeof(int32_t));
    nearcall_reply_deferring_Later_many(call, numbers);
}

static void swap(void *self, nearcall_deferred_deferring_Later_swap *call) {
    (void)self;
    CHECK(call->same == -1);
    if (strcmp(call->text, "refused") == 0) {
        nearcall_close(call->other);
        call->same = call->file;
        refuse(&call->nc_call, "descriptors", 3);
    } else if (strcmp(call->text, "dropped") == 0) {
        nearcall_close(call->other);
        call->same = call->file;
        nearcall_deferred_drop(&call->nc_call);
    } else {
        call->same = call->file;
        nearcall_reply_deferring_Later_swap(call, call->other);
    }
}

static void *left_later(void *own) {
    nearcall_deferred_deferring_Later_left *call = (nearcall_deferred_deferring_Later_left *)own;
    nearcall_current *current = nearcall_deferred_current(&call->nc_call);
    CHECK(nearcall_current_call() == NULL);
    CHECK(!nearcall_current_is_cancelled(current));
    call->pid = nearcall_current_importer(current).pid;
    nearcall_reply_deferring_Later_left(call, nearcall_current_time_left_ns(current));
    CHECK(nearcall_current_is_cancelled(current));
    nearcall_current_release(current);
    return NULL;
}

static void left(void *self, nearcall_deferred_deferring_Later_left *call) {
    (void)self;
    CHECK(call->nc_call.own == NULL);
    call->nc_call.own = call;
    by_thread(left_later, call->nc_call.own);
}

static uint32_t measure(void *self, const nearcall_opaque *octets, nearcall_environment *env) {
    (void)self;
    (void)env;
    return (uint32_t)nearcall_opaque_bytes(octets);
}

/* Replies or lets go. */
static void end_each(void) {
    uint32_t index;
    for (index = 0; index < kept_count; index++) {
        end(kept[index], index % 2 == 0 ? deferring_DROPPED : deferring_FORWARD);
    }
    kept_count = 0;
}

static void forked(void *self, nearcall_deferred_deferring_Later_forked *call) {
    int status = 1;
    pid_t child;
    (void)self;
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        end_each();
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    nearcall_reply_deferring_Later_forked(call, status);
}

static void open_count(void *self, nearcall_deferred_deferring_Later_open_count *call) {
    DIR *directory = opendir("/proc/self/fd");
    uint32_t count = 0;
    (void)self;
    CHECK(directory != NULL);
    while (readdir(directory) != NULL) {
        count++;
    }
    closedir(directory);
    nearcall_reply_deferring_Later_open_count(call, count);
}

int main(int argc, char **argv) {
    static const nearcall_async_server_deferring_Later server = {
        NULL, keep, go, count_kept, tell, told, mix, many, swap, left, measure, forked, open_count};
    static const nearcall_async_server_deferring_Later lacking = {.keep = keep};
    nearcall_domain_options options;
    nearcall_environment env;
    nearcall_domain *domain;
    nearcall_clerk *clerk;
    CHECK(argc == 2);
    nearcall_domain_options_default(&options);
    options.processors_max = 1;
    domain = nearcall_domain_new_with(&options, &env);
    CHECK(domain != NULL);
    CHECK(nearcall_export_async_deferring_Later(domain, argv[1], &lacking, &env) == NULL);
    CHECK(env.outcome == NEARCALL_USAGE && strstr(env.message, "go") != NULL);
    clerk = nearcall_export_async_deferring_Later(domain, argv[1], &server, &env);
    CHECK(clerk != NULL);
    until_input_ends();
    nearcall_domain_shut_down(domain);
    /* Who shuts down does not wait for them: they may be replied to, or never be. */
    if (kept_count > 0) {
        kept_count--;
    }
    end_each();
    nearcall_clerk_release(clerk);
    nearcall_domain_release(domain);
    nearcall_free(told_text);
    return 0;
}
