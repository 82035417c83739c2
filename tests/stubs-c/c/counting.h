/* An allocator that counts, and knows what it has given out: put before what uses it, whose main
 * becomes counted_main. */
#include <stdint.h>
#include <stdlib.h>

#include "check.h"
#include "nearcall.h"

/* Before each piece of memory. */
typedef struct counting_head {
    uint64_t mark;
    uint64_t unused;
} counting_head;

static unsigned long long counting_got;
static unsigned long long counting_given;

/* What a head of memory that is out has as its mark; no other address has it. */
static inline uint64_t counting_mark(counting_head *head) {
    return UINT64_C(0x6e65617263616c6c) ^ (uint64_t)(uintptr_t)head;
}

static inline void *counting_allocate(size_t bytes) {
    counting_head *head = (counting_head *)malloc(sizeof *head + bytes);
    if (head == NULL) {
        return NULL;
    }
    head->mark = counting_mark(head);
    __atomic_fetch_add(&counting_got, 1, __ATOMIC_SEQ_CST);
    return head + 1;
}

static inline void counting_free(void *memory) {
    counting_head *head = (counting_head *)memory - 1;
    if (memory == NULL) {
        return;
    }
    /* From here, and not given back before. */
    CHECK(head->mark == counting_mark(head));
    head->mark = 0;
    __atomic_fetch_add(&counting_given, 1, __ATOMIC_SEQ_CST);
    free(head);
}

/* Everything that was had was given back. */
static inline int counting_end(int status) {
    fprintf(stderr, "%llu pieces of memory, %llu given back\n", counting_got, counting_given);
    CHECK(counting_got > 0 && counting_got == counting_given);
    return status;
}
