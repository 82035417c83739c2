/* What the servers of these tests do when they have exported. */
#ifndef SERVE_H
#define SERVE_H

#include <stdio.h>
#include <unistd.h>

#include "nearcall.h"

/* Says that it serves, and waits until standard input ends. */
NEARCALL_INLINE void until_input_ends(void) {
    char byte;
    puts("ready");
    fflush(stdout);
    while (read(0, &byte, 1) > 0) {
    }
}

/* Serves until standard input ends, and gives back what it has served with. */
NEARCALL_INLINE void serve(nearcall_domain *domain, nearcall_clerk *clerk) {
    until_input_ends();
    nearcall_domain_shut_down(domain);
    nearcall_clerk_release(clerk);
    nearcall_domain_release(domain);
}

#endif
