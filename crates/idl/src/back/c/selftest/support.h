#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A longer text is compared by its beginning, its length and its hash. */
#define NC_SHOWN_BYTES_MAX 300
/* How much of a longer text there is to see. */
#define NC_BEGINNING_BYTES 100
/* How long the server waits for calls that were posted and not awaited. */
#define NC_PATIENCE_MS 10000

/* A value as text, the same in every language. */
typedef struct nc_shown {
    char *bytes;
    size_t count;
    size_t room;
} nc_shown;

static unsigned nc_calls[NC_OPERATIONS];
static unsigned nc_values;
static unsigned nc_differences;

NEARCALL_INLINE void nc_stop(const char *why) {
    fprintf(stderr, "%s: %s\n", NC_SIDE, why);
    exit(1);
}

/* Memory of nearcall_allocate, all zero; no value has none. */
NEARCALL_INLINE void *nc_memory(size_t byte_count) {
    void *memory = nearcall_allocate_zeroed(byte_count);
    if (memory == NULL) {
        nc_stop("there is no memory");
    }
    return memory;
}

/* A part so many times. */
NEARCALL_INLINE char *nc_text(const char *part, size_t times) {
    const size_t count = strlen(part);
    char *text = (char *)nc_memory(count * times + 1);
    for (size_t i = 0; i < times; i++) {
        memcpy(text + i * count, part, count);
    }
    return text;
}

NEARCALL_INLINE float nc_float(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

NEARCALL_INLINE double nc_double(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

NEARCALL_INLINE nearcall_long_double nc_long_double(uint64_t low, uint64_t high) {
    nearcall_long_double value;
    memcpy(value.bytes, &low, sizeof low);
    memcpy(value.bytes + sizeof low, &high, sizeof high);
    return value;
}

NEARCALL_INLINE void nc_put(nc_shown *text, const char *bytes) {
    const size_t count = strlen(bytes);
    if (text->count + count + 1 > text->room) {
        text->room = 2 * text->room + count + 1;
        text->bytes = (char *)realloc(text->bytes, text->room);
        if (text->bytes == NULL) {
            nc_stop("there is no memory");
        }
    }
    memcpy(text->bytes + text->count, bytes, count + 1);
    text->count += count;
}

/* For what is short. */
NEARCALL_INLINE void nc_print(nc_shown *text, const char *format, ...) {
    char bytes[64];
    va_list all;
    va_start(all, format);
    vsnprintf(bytes, sizeof bytes, format, all);
    va_end(all);
    nc_put(text, bytes);
}

NEARCALL_INLINE void nc_put_boolean(nc_shown *text, bool value) {
    nc_put(text, value ? "true" : "false");
}

NEARCALL_INLINE void nc_put_signed(nc_shown *text, int64_t value) {
    nc_print(text, "%" PRId64, value);
}

NEARCALL_INLINE void nc_put_unsigned(nc_shown *text, uint64_t value) {
    nc_print(text, "%" PRIu64, value);
}

NEARCALL_INLINE void nc_put_float(nc_shown *text, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    nc_print(text, "0x%08" PRIx32, bits);
}

NEARCALL_INLINE void nc_put_double(nc_shown *text, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    nc_print(text, "0x%016" PRIx64, bits);
}

NEARCALL_INLINE void nc_put_long_double(nc_shown *text, nearcall_long_double value) {
    nc_put(text, "0x");
    for (size_t i = 0; i < sizeof value.bytes; i++) {
        nc_print(text, "%02x", (unsigned)value.bytes[i]);
    }
}

/* Null is empty text. */
NEARCALL_INLINE void nc_put_text(nc_shown *text, const char *value) {
    nc_put(text, "\"");
    for (; value != NULL && *value != '\0'; value++) {
        const unsigned byte = (unsigned char)*value;
        const bool is_plain = byte >= ' ' && byte <= '~' && byte != '"' && byte != '\\';
        nc_print(text, is_plain ? "%c" : "\\%02x", byte);
    }
    nc_put(text, "\"");
}

NEARCALL_INLINE void nc_put_opaque(nc_shown *text, const nearcall_opaque *value) {
    nc_put(text, "[");
    for (size_t i = 0; i < nearcall_opaque_bytes(value); i++) {
        uint8_t byte;
        if (!nearcall_opaque_copy(value, i, &byte, 1)) {
            nc_stop("octets that were lent cannot be read");
        }
        nc_print(text, i == 0 ? "%u" : ", %u", (unsigned)byte);
    }
    nc_put(text, "]");
}

NEARCALL_INLINE int nc_order(const void *one, const void *other) {
    return strcmp(((const nc_shown *)one)->bytes, ((const nc_shown *)other)->bytes);
}

/* The pairs of a map, which has other orders in other languages; they are given back. */
NEARCALL_INLINE void nc_put_pairs(nc_shown *text, nc_shown *pairs, size_t count) {
    qsort(pairs, count, sizeof *pairs, nc_order);
    nc_put(text, "{");
    for (size_t i = 0; i < count; i++) {
        nc_put(text, i == 0 ? "" : ", ");
        nc_put(text, pairs[i].bytes);
        free(pairs[i].bytes);
    }
    nc_put(text, "}");
    free(pairs);
}

/* Cuts a longer text. */
NEARCALL_INLINE void nc_shorten(nc_shown *text) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    const size_t count = text->count;
    if (count <= NC_SHOWN_BYTES_MAX) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        hash = (hash ^ (unsigned char)text->bytes[i]) * UINT64_C(0x100000001b3);
    }
    text->count = NC_BEGINNING_BYTES;
    text->bytes[text->count] = '\0';
    nc_print(text, "... %zu bytes, hash %016" PRIx64, count, hash);
}

/* Counts a call of an operation; which of its rounds it is. */
NEARCALL_INLINE unsigned nc_round(unsigned operation, unsigned rounds) {
    return __atomic_fetch_add(&nc_calls[operation], 1, __ATOMIC_SEQ_CST) % rounds;
}

/* Compares a value with the text that it should have, and gives the value's text back. */
NEARCALL_INLINE void nc_same(const char *place, unsigned round, const char *what, nc_shown *got,
                             const char *wanted) {
    __atomic_fetch_add(&nc_values, 1, __ATOMIC_SEQ_CST);
    nc_shorten(got);
    if (strcmp(got->bytes, wanted) != 0) {
        __atomic_fetch_add(&nc_differences, 1, __ATOMIC_SEQ_CST);
        fprintf(stderr, "%s of %s, round %u: %s is\n  %s\nand should be\n  %s\n", NC_SIDE, place,
                round, what, got->bytes, wanted);
    }
    free(got->bytes);
}

NEARCALL_INLINE unsigned nc_call_count(void) {
    unsigned count = 0;
    for (size_t i = 0; i < NC_OPERATIONS; i++) {
        count += __atomic_load_n(&nc_calls[i], __ATOMIC_SEQ_CST);
    }
    return count;
}

/* Waits until so many calls were taken, or for so long that they will not be. */
NEARCALL_INLINE void nc_wait(unsigned wanted) {
    const struct timespec pause = {0, 1000000};
    for (unsigned i = 0; i < NC_PATIENCE_MS && nc_call_count() < wanted; i++) {
        nanosleep(&pause, NULL);
    }
}

/* Waits until whoever started it closes its standard input. */
NEARCALL_INLINE void nc_rest(void) {
    char byte;
    while (read(0, &byte, 1) > 0) {
    }
}

/* Says what was counted; 0 only if there were as many calls as there should be, and no difference.
 * A client stays until its standard input ends: a call that is not awaited goes with its client. */
NEARCALL_INLINE int nc_end(unsigned wanted) {
    const unsigned calls = nc_call_count();
    printf("%s: %u of %u calls, %u values, %u differ\n", NC_SIDE, calls, wanted, nc_values,
           nc_differences);
    fflush(stdout);
    nc_rest();
    return calls == wanted && calls > 0 && nc_differences == 0 ? 0 : 1;
}
