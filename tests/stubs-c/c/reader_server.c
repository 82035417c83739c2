/* A server of reading.idl, with an allocator that counts: `server NAME` exports it until its
 * standard input ends. */
#include <unistd.h>

#include "counting.h"
#include "reading.h"

/* This domain's own binding to what it exports. */
static reading_Reader *itself;

static uint64_t sum_of(const char *text) {
    uint64_t sum = 0;
    for (; *text != 0; text++) {
        sum += (unsigned char)*text;
    }
    return sum;
}

static uint64_t text(void *self, const char *one, const char *other, nearcall_environment *env) {
    (void)self;
    (void)env;
    return sum_of(one) + sum_of(other);
}

static uint64_t numbers(void *self, const nearcall_sequence_int32 *all,
                        nearcall_environment *env) {
    uint64_t sum = 0;
    (void)self;
    (void)env;
    for (uint32_t i = 0; i < all->_length; i++) {
        sum += (uint64_t)all->_buffer[i];
    }
    return sum;
}

static uint64_t entries(void *self, const reading_Entries *all, nearcall_environment *env) {
    uint64_t sum = 0;
    (void)self;
    (void)env;
    for (uint32_t i = 0; i < all->_length; i++) {
        const reading_Entry *one = &all->_buffer[i];
        sum += sum_of(one->name) + (one->mark == NULL ? 0 : (uint64_t)*one->mark);
        for (uint32_t at = 0; at < one->values._length; at++) {
            sum += (uint64_t)one->values._buffer[at];
        }
    }
    return sum;
}

static uint64_t ages(void *self, const nearcall_map_text_int32 *ages, nearcall_environment *env) {
    uint64_t sum = 0;
    (void)self;
    (void)env;
    for (uint32_t i = 0; i < ages->_length; i++) {
        sum += sum_of(ages->_buffer[i].key) + (uint64_t)ages->_buffer[i].value;
    }
    return sum;
}

static reading_Choice turned(void *self, const reading_Choice *one, nearcall_environment *env) {
    reading_Choice made = {0};
    (void)self;
    (void)env;
    made._d = 2;
    made._u.number = one->_d == 1 ? (int32_t)sum_of(one->_u.text) : one->_u.number + 1;
    return made;
}

static uint64_t perhaps(void *self, const reading_Perhaps *one, nearcall_environment *env) {
    (void)self;
    (void)env;
    return one->_d == 1 ? sum_of(one->_u.text) : 0;
}

static uint64_t nested(void *self, uint32_t depth, const char *own, nearcall_environment *env) {
    char other[64];
    uint64_t rest = 0;
    (void)self;
    if (depth > 0) {
        memset(other, 'a' + (int)depth, sizeof other - 1);
        other[sizeof other - 1] = 0;
        rest = reading_Reader_nested(itself, depth - 1, other, env);
        CHECK(env->outcome == NEARCALL_RETURNED);
    }
    return rest + sum_of(own);
}

static uint64_t had(void *self, nearcall_environment *env) {
    (void)self;
    (void)env;
    return __atomic_load_n(&counting_got, __ATOMIC_SEQ_CST);
}

int main(int argc, char **argv) {
    static const nearcall_server_reading_Reader server = {
        NULL, text, numbers, entries, ages, turned, perhaps, nested, had,
    };
    nearcall_environment env;
    char byte;
    nearcall_domain *domain;
    nearcall_clerk *clerk;
    CHECK(argc == 2);
    nearcall_set_allocator(counting_allocate, counting_free);
    domain = nearcall_domain_new(&env);
    CHECK(domain != NULL);
    clerk = nearcall_export_reading_Reader(domain, argv[1], &server, &env);
    CHECK(clerk != NULL);
    itself = nearcall_import_reading_Reader(domain, argv[1], &env);
    CHECK(itself != NULL);
    puts("ready");
    fflush(stdout);
    while (read(0, &byte, 1) > 0) {
    }
    nearcall_release_reading_Reader(itself);
    nearcall_domain_shut_down(domain);
    nearcall_clerk_release(clerk);
    nearcall_domain_release(domain);
    return counting_end(0);
}
