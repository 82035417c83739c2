/* What a program of these tests has mapped. */
#ifndef MAPS_H
#define MAPS_H

#include <stdbool.h>
#include <string.h>

#include "check.h"

/* Something is mapped that has `part` in its name. */
static inline bool is_mapped(const char *part) {
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4096];
    bool is_there = false;
    CHECK(maps != NULL);
    while (fgets(line, sizeof line, maps) != NULL) {
        is_there |= strstr(line, part) != NULL;
    }
    fclose(maps);
    return is_there;
}

/* Segments of arguments that are copied to a server and fit no A-stack; those that are lent. */
#define COPIED "memfd:nearcall-arguments"
#define LENT "memfd:nearcall-lent"

#endif
