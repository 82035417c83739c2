/* What the servers of these tests do when they have exported. */
#ifndef SERVE_H
#define SERVE_H

#include <stdio.h>
#include <unistd.h>

#include "nearcall.h"

/* Serves until standard input ends, and gives back what it has served with. */
static void serve(nearcall_domain *domain, nearcall_clerk *clerk) {
    char byte;
    puts("ready");
    fflush(stdout);
    while (read(0, &byte, 1) > 0) {
    }
    nearcall_domain_shut_down(domain);
    nearcall_clerk_release(clerk);
    nearcall_domain_release(domain);
}

#endif
