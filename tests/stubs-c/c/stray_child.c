/* A program whose child makes a system call which is on no list; it ends as if nothing were wrong. */

#define _GNU_SOURCE
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
    const pid_t child = fork();

    if (child == 0) {
        _exit(chdir("/"));
    }
    return child > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
