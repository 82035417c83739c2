/* Descriptors that programs of these tests pass. */
#ifndef OPEN_H
#define OPEN_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

/* How many this process has open, less the one that looks. */
static inline unsigned open_count(void) {
    DIR *all = opendir("/proc/self/fd");
    unsigned count = 0;
    CHECK(all != NULL);
    while (readdir(all) != NULL) {
        count++;
    }
    closedir(all);
    return count - 3;
}

/* How many more a server may have than it had: the segment that it holds ready for the replies to
 * its next importer, which it makes only when its processor is its own. */
enum { HELD_READY = 1 };

/* An unsealed file of text, in memory. */
static inline int memory_file(const char *text, size_t bytes) {
    int file = memfd_create("passed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    CHECK(file >= 0 && write(file, text, bytes) == (ssize_t)bytes);
    return file;
}

/* A sealed segment of one page. */
static inline int sealed_segment(void) {
    int file = memory_file("", 0);
    CHECK(posix_fallocate(file, 0, 4096) == 0);
    CHECK(fcntl(file, F_ADD_SEALS,
                F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | F_SEAL_FUTURE_WRITE) == 0);
    return file;
}

static inline int same_file(int a, int b) {
    struct stat first, second;
    CHECK(fstat(a, &first) == 0 && fstat(b, &second) == 0);
    return first.st_ino == second.st_ino && first.st_dev == second.st_dev;
}

#endif
