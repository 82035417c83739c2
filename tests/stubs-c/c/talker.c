/* A server of talking.idl: `talker NAME` exports it until its standard input ends. Each exchange is
 * a thread's. */
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>

#include "check.h"
#include "serve.h"
#include "talking.h"

#define KEPT_MAX 64

static int alive_count, given_up_count, moved_count;

static int changed(int *count, int by) {
    return __atomic_add_fetch(count, by, __ATOMIC_SEQ_CST);
}

/* What a thread is given: both ends of an exchange, whichever it is. */
typedef struct task {
    void *inlet, *outlet;
    uint32_t number;
    char *room;
} task;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static task kept_tasks[KEPT_MAX];
static uint32_t kept_count;

static void refuse(nearcall_environment *env, int32_t code) {
    talking_Refused refused = {code, nearcall_copy_text("not that")};
    nearcall_raise_talking_Refused(env, refused);
}

static void begin(void *(*work)(void *), task begun) {
    pthread_t thread;
    task *own = malloc(sizeof *own);
    CHECK(own != NULL);
    *own = begun;
    changed(&alive_count, 2);
    CHECK(pthread_create(&thread, NULL, work, own) == 0 && pthread_detach(thread) == 0);
}

/* Why a thread has stopped. */
static void end(task *own, const nearcall_environment *env) {
    if (env->outcome == NEARCALL_GIVEN_UP) {
        changed(&given_up_count, 1);
    }
    nearcall_free(own->room);
    free(own);
    changed(&alive_count, -2);
}

static void *talk_on(void *given) {
    task *own = given;
    nearcall_environment env;
    talking_Line line;
    while (nearcall_take_talking_Talking_talk(own->inlet, &line, &env)) {
        char *text;
        if (line.number == own->number) {
            if (strcmp(own->room, "last words") == 0) {
                _exit(0);
            }
            refuse(&env, (int32_t)line.number);
            nearcall_free_talking_Line(&line);
            break;
        }
        text = nearcall_allocate_zeroed(strlen(own->room) + nearcall_text_bytes(line.text) + 1);
        CHECK(text != NULL);
        strcpy(text, own->room);
        strcat(text, line.text == NULL ? "" : line.text);
        nearcall_free(line.text);
        line.text = text;
        if (!nearcall_give_talking_Talking_talk(own->outlet, line, &env)) {
            break;
        }
    }
    nearcall_release_inlet_talking_Talking_talk(own->inlet);
    nearcall_release_outlet_talking_Talking_talk(own->outlet, &env);
    end(own, &env);
    return NULL;
}

static void talk(void *self, const char *room, uint32_t refused,
                 nearcall_inlet_talking_Talking_talk *inlet,
                 nearcall_outlet_talking_Talking_talk *outlet, nearcall_environment *env) {
    task begun = {inlet, outlet, refused, NULL};
    (void)self;
    if (room[0] == 0) {
        refuse(env, -1);
        nearcall_release_inlet_talking_Talking_talk(inlet);
        nearcall_release_outlet_talking_Talking_talk(outlet, NULL);
        return;
    }
    if (strcmp(room, "thrown") == 0) {
        nearcall_environment thrown;
        nearcall_begin(&thrown);
        nearcall_panic(&thrown, "it was told to");
        nearcall_release_inlet_talking_Talking_talk(inlet);
        nearcall_release_outlet_talking_Talking_talk(outlet, &thrown);
        return;
    }
    begun.room = nearcall_copy_text(room);
    begin(talk_on, begun);
}

static void *echo_on(void *given) {
    task *own = given;
    nearcall_environment env;
    char *word;
    while (nearcall_take_talking_Talking_echo(own->inlet, &word, &env) &&
           nearcall_give_talking_Talking_echo(own->outlet, word, &env)) {
    }
    nearcall_release_inlet_talking_Talking_echo(own->inlet);
    nearcall_release_outlet_talking_Talking_echo(own->outlet, &env);
    end(own, &env);
    return NULL;
}

static void echo(void *self, nearcall_inlet_talking_Talking_echo *inlet,
                 nearcall_outlet_talking_Talking_echo *outlet, nearcall_environment *env) {
    task begun = {inlet, outlet, 0, NULL};
    (void)self;
    (void)env;
    begin(echo_on, begun);
}

static void kept(void *self, nearcall_inlet_talking_Talking_kept *inlet,
                 nearcall_outlet_talking_Talking_kept *outlet, nearcall_environment *env) {
    task begun = {inlet, outlet, 0, NULL};
    (void)self;
    (void)env;
    pthread_mutex_lock(&lock);
    CHECK(kept_count < KEPT_MAX);
    kept_tasks[kept_count++] = begun;
    pthread_mutex_unlock(&lock);
    changed(&alive_count, 2);
}

static uint32_t let_go(void *self, nearcall_environment *env) {
    uint32_t count;
    (void)self;
    (void)env;
    pthread_mutex_lock(&lock);
    count = kept_count;
    for (uint32_t i = 0; i < count; i++) {
        nearcall_release_inlet_talking_Talking_kept(kept_tasks[i].inlet);
        nearcall_release_outlet_talking_Talking_kept(kept_tasks[i].outlet, NULL);
    }
    kept_count = 0;
    pthread_mutex_unlock(&lock);
    changed(&alive_count, -2 * (int)count);
    return count;
}

static void *sum_on(void *given) {
    task *own = given;
    nearcall_environment env;
    uint64_t sum = 0;
    uint32_t number;
    while (nearcall_take_talking_Talking_sums(own->inlet, &number, &env)) {
        sum += number;
        if (!nearcall_give_talking_Talking_sums(own->outlet, sum, &env)) {
            break;
        }
    }
    nearcall_release_inlet_talking_Talking_sums(own->inlet);
    nearcall_release_outlet_talking_Talking_sums(own->outlet, &env);
    end(own, &env);
    return NULL;
}

static void sums(void *self, nearcall_inlet_talking_Talking_sums *inlet,
                 nearcall_outlet_talking_Talking_sums *outlet, nearcall_environment *env) {
    task begun = {inlet, outlet, 0, NULL};
    (void)self;
    (void)env;
    begin(sum_on, begun);
}

static void *be_deaf(void *given) {
    task *own = given;
    nearcall_environment env;
    nearcall_begin(&env);
    for (uint32_t number = 0; number < own->number; number++) {
        if (!nearcall_give_talking_Talking_deaf(own->outlet, number, &env)) {
            break;
        }
        changed(&moved_count, 1);
    }
    nearcall_release_outlet_talking_Talking_deaf(own->outlet, &env);
    end(own, &env);
    return NULL;
}

static void deaf(void *self, uint32_t count, nearcall_inlet_talking_Talking_deaf *inlet,
                 nearcall_outlet_talking_Talking_deaf *outlet, nearcall_environment *env) {
    task begun = {NULL, outlet, count, NULL};
    (void)self;
    (void)env;
    nearcall_release_inlet_talking_Talking_deaf(inlet);
    begin(be_deaf, begun);
}

static void *be_mute(void *given) {
    task *own = given;
    nearcall_environment env;
    uint32_t number;
    nearcall_begin(&env);
    for (uint32_t i = 0; i < own->number; i++) {
        if (!nearcall_take_talking_Talking_mute(own->inlet, &number, &env)) {
            break;
        }
        CHECK(number == i);
        changed(&moved_count, 1);
    }
    nearcall_release_inlet_talking_Talking_mute(own->inlet);
    nearcall_release_outlet_talking_Talking_mute(own->outlet, &env);
    end(own, &env);
    return NULL;
}

static void mute(void *self, uint32_t count, nearcall_inlet_talking_Talking_mute *inlet,
                 nearcall_outlet_talking_Talking_mute *outlet, nearcall_environment *env) {
    task begun = {inlet, outlet, count, NULL};
    (void)self;
    (void)env;
    begin(be_mute, begun);
}

static int32_t alive(void *self, nearcall_environment *env) {
    (void)self;
    (void)env;
    return changed(&alive_count, 0);
}

static uint32_t given_up(void *self, nearcall_environment *env) {
    (void)self;
    (void)env;
    return (uint32_t)changed(&given_up_count, 0);
}

static uint32_t moved(void *self, nearcall_environment *env) {
    (void)self;
    (void)env;
    return (uint32_t)changed(&moved_count, 0);
}

int main(int argc, char **argv) {
    static const nearcall_server_talking_Talking server = {
        NULL, talk, echo, kept, sums, deaf, mute, let_go, alive, given_up, moved,
    };
    nearcall_environment env;
    nearcall_domain *domain = nearcall_domain_new(&env);
    nearcall_clerk *clerk;
    CHECK(domain != NULL && argc == 2);
    clerk = nearcall_export_talking_Talking(domain, argv[1], &server, &env);
    if (clerk == NULL) {
        fprintf(stderr, "%s\n", env.message);
        return 1;
    }
    serve(domain, clerk);
    let_go(NULL, &env);
    /* Its threads learn that their clients have ended. */
    while (changed(&alive_count, 0) > 0) {
        usleep(1000);
    }
    return 0;
}
