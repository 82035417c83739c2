/* `plugin-c DIRECTORY`: a plug-in in C that counts words, and says after each how far it is. It is
 * exported in DIRECTORY until its standard input ends. */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plug.h"

typedef struct plug_in {
    nearcall_domain *domain;
    plug_Host *host; /* null before it was told whom to call back */
    int log;
} plug_in;

/* Comes before any text, and is over then: nobody has to lock what it sets. */
static void begin(void *self, int host, int log, nearcall_environment *env) {
    plug_in *own = self;
    nearcall_environment inner;
    /* What comes as a descriptor is the procedure's; an import by an introduction closes that. */
    plug_Host *client = nearcall_introduced_plug_Host(own->domain, host, &inner);
    if (client == NULL || own->host != NULL) {
        nearcall_panic(env, client == NULL ? inner.message : "it has begun already");
        nearcall_release_plug_Host(client);
        nearcall_close(log);
        return;
    }
    own->host = client;
    own->log = log;
    dprintf(log, "plugin-c: begins\n");
}

/* How many words there are before `end`. */
static uint32_t count_words(const char *text, const char *end) {
    uint32_t count = 0;
    for (; text < end; text++) {
        count += *text != ' ' && (text + 1 == end || text[1] == ' ');
    }
    return count;
}

/* What the host calls words; `fallback` if it has not set that. Null: the environment says why. */
static char *unit(const plug_in *own, const char *fallback, nearcall_environment *env) {
    nearcall_environment inner;
    char *set = plug_Host_setting(own->host, "unit", &inner);
    if (inner.outcome == NEARCALL_RETURNED) {
        return set;
    }
    if (nearcall_raised_plug_NoSetting(&inner) != NULL) {
        nearcall_environment_release(&inner);
        return nearcall_copy_text(fallback);
    }
    nearcall_panic(env, inner.message);
    return NULL;
}

static void misbehave(const plug_in *own, const char *text) {
    if (strcmp(text, "hang") == 0) {
        dprintf(own->log, "plugin-c: hangs\n");
        for (;;) {
            pause();
        }
    }
    if (strcmp(text, "crash") == 0) {
        dprintf(own->log, "plugin-c: crashes\n");
        abort();
    }
}

static char *apply(void *self, const char *text, nearcall_environment *env) {
    const plug_in *own = self;
    nearcall_environment inner;
    const uint32_t total = count_words(text, text + strlen(text));
    char *words, *counted;
    if (own->host == NULL) {
        nearcall_panic(env, "it has not begun");
        return NULL;
    }
    misbehave(own, text);
    for (uint32_t done = 1; done <= total; done++) {
        plug_Host_progress(own->host, done, total, &inner);
        if (inner.outcome != NEARCALL_RETURNED) {
            nearcall_panic(env, inner.message);
            return NULL;
        }
    }
    words = unit(own, total == 1 ? "word" : "words", env);
    if (words == NULL) {
        return NULL;
    }
    /* What is returned is given away: memory of nearcall_allocate. */
    counted = nearcall_allocate(strlen(words) + 16);
    if (counted == NULL) {
        nearcall_panic(env, "no memory");
    } else {
        sprintf(counted, "%u %s", total, words);
    }
    nearcall_free(words);
    return counted;
}

int main(int argc, char **argv) {
    plug_in own = {NULL, NULL, -1};
    const nearcall_server_plug_Filter server = {.self = &own, .begin = begin, .apply = apply};
    nearcall_export_options options = {0};
    nearcall_environment env;
    nearcall_clerk *clerk = NULL;
    char byte;
    if (argc != 2) {
        fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
        return 2;
    }
    options.directory = argv[1];
    own.domain = nearcall_domain_new(&env);
    if (own.domain != NULL) {
        clerk = nearcall_export_with_plug_Filter(own.domain, "filter", &server, &options, &env);
    }
    if (clerk == NULL) {
        fprintf(stderr, "plugin-c: %s\n", env.message);
        return 1;
    }
    while (read(STDIN_FILENO, &byte, 1) > 0) {
    }
    _exit(0); /* without a word to procedures that hang */
}
