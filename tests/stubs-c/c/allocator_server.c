/* The server of cross.idl, with memory from an allocator of its own. */
#include "counting.h"

#define main counted_main
#include "server.c"
#undef main

int main(int argc, char **argv) {
    nearcall_set_allocator(counting_allocate, counting_free);
    return counting_end(counted_main(argc, argv));
}
