/* What the programs of these tests share. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>

static unsigned checks;

/* Ends the program unless the condition holds, and says where. */
#define CHECK(condition)                                                                   \
    do {                                                                                   \
        checks++;                                                                          \
        if (!(condition)) {                                                                \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);        \
            exit(1);                                                                       \
        }                                                                                  \
    } while (0)

/* Whether the outcome of a call is that its deadline passed: after its post, or before. */
#define IS_LATE(env)                                                                       \
    ((env).outcome == NEARCALL_CALL_ABORTED || (env).outcome == NEARCALL_NO_ASTACK ||      \
     ((env).outcome == NEARCALL_NOT_EXECUTED &&                                            \
      (env).reason == NEARCALL_REASON_DEADLINE_PASSED))

/* How often what nearly always meets what it is to is tried. */
#define TRIES_MAX 100

#endif
