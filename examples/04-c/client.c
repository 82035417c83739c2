/* `notes-client NAME keep TEXT | read NUMBER | all`: one call, in C. */
#include <stdio.h>
#include <stdlib.h>

#include "notes.h"

/* What a call came to that did not return. Whether it ran is told with every error. */
static void complain(nearcall_environment *env) {
    static const char *const ran[] = {"did not run", "may have run", "ran"};
    const desk_NoSuchNote *none = nearcall_raised_desk_NoSuchNote(env);
    if (none != NULL) {
        fprintf(stderr, "there is no note %u\n", none->number);
    } else {
        fprintf(stderr, "%s; the procedure %s\n", env->message, ran[env->ran]);
    }
    nearcall_environment_release(env);
}

/* Calls; `env` says how it went. */
static void call(const desk_Notes *notes, char **words, nearcall_environment *env) {
    if (strcmp(words[0], "keep") == 0 && words[1] != NULL) {
        uint32_t number = desk_Notes_keep(notes, words[1], env);
        if (env->outcome == NEARCALL_RETURNED) {
            printf("kept as %u\n", number);
        }
    } else if (strcmp(words[0], "read") == 0 && words[1] != NULL) {
        uint32_t number = (uint32_t)strtoul(words[1], NULL, 10);
        desk_Note note = desk_Notes_read(notes, number, env);
        if (env->outcome == NEARCALL_RETURNED) {
            printf("%u: %s\n", note.number, note.text);
            /* What a call returns is the caller's. After an error there is nothing. */
            nearcall_free_desk_Note(&note);
        }
    } else {
        desk_NoteList list = desk_Notes_all(notes, env);
        for (uint32_t i = 0; i < list._length; i++) {
            printf("%u: %s\n", list._buffer[i].number, list._buffer[i].text);
        }
        nearcall_free_desk_NoteList(&list);
    }
}

int main(int argc, char **argv) {
    nearcall_environment env;
    int ended = 1;
    if (argc < 3) {
        fprintf(stderr, "usage: notes-client NAME keep TEXT | read NUMBER | all\n");
        return 2;
    }
    nearcall_domain *domain = nearcall_domain_new(&env);
    if (domain == NULL) {
        fprintf(stderr, "notes-client: %s\n", env.message);
        return 1;
    }
    desk_Notes *notes = nearcall_import_desk_Notes(domain, argv[1], &env);
    if (notes != NULL) {
        call(notes, argv + 2, &env);
        ended = env.outcome != NEARCALL_RETURNED;
        nearcall_release_desk_Notes(notes);
    }
    if (ended != 0) {
        complain(&env);
    }
    nearcall_domain_release(domain);
    return ended;
}
