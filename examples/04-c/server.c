/* `notes-server NAME`: keeps notes in memory, and exports them until it is interrupted. */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <signal.h>
#include <stdio.h>

#include "notes.h"

#define NOTES_MAX 1000

/* Procedures run on threads of the domain's, several at once. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *notes[NOTES_MAX];
static uint32_t note_count;

/* The argument is lent for the time of the call: what is kept is a copy. */
static uint32_t keep(void *self, const char *text, nearcall_environment *env) {
    char *copy = nearcall_copy_text(text);
    uint32_t number = 0;
    (void)self;
    (void)env;
    pthread_mutex_lock(&lock);
    if (copy != NULL && note_count < NOTES_MAX) {
        notes[note_count] = copy;
        copy = NULL;
        number = ++note_count;
    }
    pthread_mutex_unlock(&lock);
    nearcall_free(copy);
    return number;
}

/* What is returned is given away: memory of nearcall_allocate, which the stub frees. */
static desk_Note note(uint32_t number) {
    desk_Note made = {number, nearcall_copy_text(notes[number - 1])};
    return made;
}

static desk_Note read_note(void *self, uint32_t number, nearcall_environment *env) {
    desk_Note found = {0, NULL};
    (void)self;
    pthread_mutex_lock(&lock);
    if (number >= 1 && number <= note_count) {
        found = note(number);
    } else {
        desk_NoSuchNote none = {number};
        nearcall_raise_desk_NoSuchNote(env, none);
    }
    pthread_mutex_unlock(&lock);
    return found;
}

static desk_NoteList all(void *self, nearcall_environment *env) {
    desk_NoteList list = {0, NULL};
    (void)self;
    (void)env;
    pthread_mutex_lock(&lock);
    list._buffer = nearcall_allocate((note_count + 1) * sizeof(desk_Note));
    while (list._buffer != NULL && list._length < note_count) {
        list._buffer[list._length] = note(list._length + 1);
        list._length++;
    }
    pthread_mutex_unlock(&lock);
    return list;
}

int main(int argc, char **argv) {
    static const nearcall_server_desk_Notes server = {
        .keep = keep,
        .read = read_note,
        .all = all,
    };
    nearcall_environment env;
    sigset_t ends;
    int received;
    if (argc != 2) {
        fprintf(stderr, "usage: notes-server NAME\n");
        return 2;
    }
    /* Before there are other threads, which are to leave these signals alone. */
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ends, NULL);

    nearcall_domain *domain = nearcall_domain_new(&env);
    nearcall_clerk *clerk = NULL;
    if (domain != NULL) {
        clerk = nearcall_export_desk_Notes(domain, argv[1], &server, &env);
    }
    if (clerk == NULL) {
        fprintf(stderr, "notes-server: %s\n", env.message);
        return 1;
    }
    printf("%s is exported\n", argv[1]);
    fflush(stdout);
    sigwait(&ends, &received);

    /* In this order: no new clients, no calls, nothing. */
    nearcall_clerk_release(clerk);
    nearcall_domain_shut_down(domain);
    nearcall_domain_release(domain);
    while (note_count > 0) {
        nearcall_free(notes[--note_count]);
    }
    return 0;
}
