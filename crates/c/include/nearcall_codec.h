/*
 * What generated stubs need to put words and values into private memory and to read them from
 * there. Nothing here touches memory that a peer can write. Included by nearcall.h alone.
 */
#ifndef NEARCALL_CODEC_H
#define NEARCALL_CODEC_H

NEARCALL_ASSERT(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

/* Deepest nesting of recursive values that is written and read. */
#define NEARCALL_DEPTH_MAX 64
/* A number as it is written. */
#define NEARCALL_SPELLED(number) NEARCALL_SPELLED_AS_IS(number)
#define NEARCALL_SPELLED_AS_IS(text) #text

/* Most bytes that are read of defaults for one payload. */
#define NEARCALL_DEFAULT_BYTES_MAX 16777216u

#define NEARCALL_UNBOUNDED UINT32_MAX

/* Words of the fixed part. */
#define NEARCALL_WORD(name, type)                                                              \
    NEARCALL_INLINE void nearcall_put_##name(uint8_t *fixed, size_t at, type value) {          \
        memcpy(fixed + at, &value, sizeof value);                                              \
    }                                                                                          \
    NEARCALL_INLINE type nearcall_get_##name(const uint8_t *fixed, size_t at) {                \
        type value;                                                                            \
        memcpy(&value, fixed + at, sizeof value);                                              \
        return value;                                                                          \
    }

NEARCALL_WORD(u8, uint8_t)
NEARCALL_WORD(u16, uint16_t)
NEARCALL_WORD(u32, uint32_t)
NEARCALL_WORD(u64, uint64_t)
NEARCALL_WORD(f32, float)
NEARCALL_WORD(f64, double)

NEARCALL_INLINE size_t nearcall_text_bytes(const char *text) {
    return text == NEARCALL_NULL ? 0 : strlen(text);
}

/* Characters of UTF-8. */
NEARCALL_INLINE size_t nearcall_characters(const char *text) {
    size_t count = 0;
    for (; text != NEARCALL_NULL && *text != 0; text++) {
        count += (NEARCALL_CAST(unsigned char, *text) & 0xc0) != 0x80;
    }
    return count;
}

/* A copy of text, from nearcall_allocate; null if there is no memory. */
NEARCALL_INLINE char *nearcall_copy_text(const char *text) {
    size_t bytes = nearcall_text_bytes(text);
    char *copy = NEARCALL_CAST(char *, nearcall_allocate(bytes + 1));
    if (copy != NEARCALL_NULL) {
        if (bytes > 0) {
            memcpy(copy, text, bytes);
        }
        copy[bytes] = 0;
    }
    return copy;
}

/* Zeroed memory, or null. */
NEARCALL_INLINE void *nearcall_allocate_zeroed(size_t bytes) {
    void *memory = nearcall_allocate(bytes == 0 ? 1 : bytes);
    if (memory != NEARCALL_NULL) {
        memset(memory, 0, bytes);
    }
    return memory;
}

/* Memory of the call, if there is one: nobody gives it back then. Null if there is none. */
NEARCALL_INLINE void *nearcall_memory(nearcall_served *lender, size_t bytes) {
    return lender == NEARCALL_NULL ? nearcall_allocate(bytes) : nearcall_scratch(lender, bytes);
}

NEARCALL_INLINE void nearcall_begin(nearcall_environment *environment) {
    environment->outcome = NEARCALL_RETURNED;
    environment->exception = NEARCALL_NULL;
}

/* Gives back the exception that a call raised. */
NEARCALL_INLINE void nearcall_environment_release(nearcall_environment *environment) {
    if (environment->exception != NEARCALL_NULL) {
        environment->release(environment->exception);
    }
    nearcall_begin(environment);
}

/* Replies to a call that was set aside: the environment has what nearcall_raise_<exception> or
 * nearcall_panic put there, and nothing after this. */
NEARCALL_INLINE void nearcall_deferred_raise(nearcall_deferred *call,
                                             nearcall_environment *environment) {
    nearcall_deferred_reply(call, environment);
    nearcall_environment_release(environment);
}

/* The exception if it is this one. */
NEARCALL_INLINE void *nearcall_raised(const nearcall_environment *environment, const char *id) {
    if (environment->outcome != NEARCALL_RAISED || strcmp(environment->exception_id, id) != 0) {
        return NEARCALL_NULL;
    }
    return environment->exception;
}

/* What people are told of an outcome; what does not fit is cut. */
NEARCALL_INLINE void nearcall_say(nearcall_environment *environment, const char *text) {
    const size_t bytes = strlen(text), most = sizeof environment->message - 1;
    environment->incarnation = 0;
    environment->reason = NEARCALL_REASON_NONE;
    memset(environment->message, 0, sizeof environment->message);
    memcpy(environment->message, text, bytes < most ? bytes : most);
}

/* Raises; the exception is a copy from nearcall_allocate, which is the environment's now. */
NEARCALL_INLINE void nearcall_raise(nearcall_environment *environment, const char *id,
                                    void *exception, void (*release)(void *)) {
    nearcall_environment_release(environment);
    nearcall_say(environment, exception == NEARCALL_NULL ? "no memory for a value" : id);
    environment->outcome = exception == NEARCALL_NULL ? NEARCALL_NO_MEMORY : NEARCALL_RAISED;
    environment->exception_id = id;
    environment->exception = exception;
    environment->release = release;
}

NEARCALL_COLD bool nearcall_no_memory(nearcall_environment *environment, uint32_t ran) {
    environment->outcome = NEARCALL_NO_MEMORY;
    environment->ran = ran;
    nearcall_say(environment, "no memory for a value");
    return false;
}

/* A descriptor; whoever asks has it from here on. */
NEARCALL_INLINE int nearcall_handed_over(int *descriptor) {
    int fd = *descriptor;
    *descriptor = -1;
    return fd;
}

/* What was taken; whoever asks has it from here on. */
NEARCALL_INLINE void *nearcall_taken(nearcall_take *take) {
    void *bytes = take->bytes;
    take->bytes = NEARCALL_NULL;
    return bytes;
}

/* Gives back what nobody has asked for, once. */
NEARCALL_APART void nearcall_free_takes(nearcall_take *takes, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (takes[i].form <= NEARCALL_FORM_TEXT) {
            nearcall_free(nearcall_taken(&takes[i]));
        }
    }
}

/* What a stub says of a value that a peer sent. */
NEARCALL_INLINE nearcall_malformed nearcall_bad(uint32_t kind, uint64_t claimed, uint64_t limit) {
    nearcall_malformed malformed = {kind, claimed, limit};
    return malformed;
}

NEARCALL_INLINE nearcall_breach nearcall_over(const char *name, uint32_t kind, uint64_t value,
                                              uint64_t limit) {
    nearcall_breach breach = {name, NEARCALL_NULL, value, limit, kind};
    return breach;
}

/* The same of a number or a character, which has no limit but may be `allowed`. */
NEARCALL_INLINE nearcall_breach nearcall_outside(const char *name, uint32_t kind, uint64_t value,
                                                 const char *allowed) {
    nearcall_breach breach = {name, allowed, value, 0, kind};
    return breach;
}

/* Collects the bytes of one value. */
typedef struct nearcall_writer {
    nearcall_served *lender; /* whose memory the bytes are, if they go with that call */
    uint8_t *bytes;
    size_t count;
    size_t capacity;
    nearcall_breach breach;
    bool has_breach;
    bool has_no_memory;
    uint32_t depth;
} nearcall_writer;

/* Room for so many bytes more, twice as much as there would be; false if there is none. */
NEARCALL_APART bool nearcall_write_grow(nearcall_writer *writer, size_t count) {
    size_t capacity = (writer->count + count) * 2;
    uint8_t *grown = NEARCALL_NULL;
    if (!writer->has_no_memory) {
        grown = NEARCALL_CAST(uint8_t *, nearcall_memory(writer->lender, capacity));
    }
    if (grown == NEARCALL_NULL) {
        writer->has_no_memory = true;
        return false;
    }
    if (writer->count > 0) {
        memcpy(grown, writer->bytes, writer->count);
    }
    if (writer->lender == NEARCALL_NULL) {
        nearcall_free(writer->bytes);
    }
    writer->bytes = grown;
    writer->capacity = capacity;
    return true;
}

NEARCALL_INLINE void nearcall_write(nearcall_writer *writer, const void *bytes, size_t count) {
    if (count == 0) {
        return;
    }
    if (writer->capacity - writer->count < count && !nearcall_write_grow(writer, count)) {
        return;
    }
    memcpy(writer->bytes + writer->count, bytes, count);
    writer->count += count;
}

/* Remembers the first breach. */
NEARCALL_COLD void nearcall_write_breach(nearcall_writer *writer, nearcall_breach breach) {
    if (!writer->has_breach) {
        writer->has_breach = true;
        writer->breach = breach;
    }
}

/* Whether values so many levels deeper would be read. If not, that is a breach. */
NEARCALL_INLINE bool nearcall_write_level(nearcall_writer *writer, uint32_t levels) {
    if (writer->depth + levels <= NEARCALL_DEPTH_MAX) {
        return true;
    }
    /* Of the value as a whole, which `nearcall_breach_of` names. */
    nearcall_write_breach(writer,
                          nearcall_outside("", NEARCALL_BREACH_LEVELS, NEARCALL_DEPTH_MAX + 1,
                                           "0 to " NEARCALL_SPELLED(NEARCALL_DEPTH_MAX)));
    return false;
}

/* So many levels deeper; undone by `writer->depth -= levels`. */
NEARCALL_INLINE bool nearcall_write_deeper(nearcall_writer *writer, uint32_t levels) {
    if (!nearcall_write_level(writer, levels)) {
        return false;
    }
    writer->depth += levels;
    return true;
}

/* How many items, and the items, each of which may have any value. */
NEARCALL_APART void nearcall_write_items(nearcall_writer *writer, const void *items,
                                         uint32_t count, size_t size) {
    nearcall_write(writer, &count, sizeof count);
    if (nearcall_write_level(writer, 1)) {
        nearcall_write(writer, items, count * size);
    }
}

/* How many items: none. */
NEARCALL_INLINE void nearcall_write_none(nearcall_writer *writer) {
    const uint32_t count = 0;
    nearcall_write(writer, &count, sizeof count);
    (void)nearcall_write_level(writer, 1);
}

NEARCALL_APART void nearcall_free_writers(nearcall_writer *writers, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        nearcall_free(writers[i].bytes);
    }
}

/* Whether a value was not written as a whole. */
NEARCALL_INLINE bool nearcall_is_unwritten(const nearcall_writer *writer) {
    return writer->has_breach || writer->has_no_memory;
}

NEARCALL_APART void nearcall_write_text(nearcall_writer *writer, const char *name,
                                         const char *text) {
    size_t bytes = nearcall_text_bytes(text);
    size_t end = bytes == 0 ? 0 : nearcall_text_end(text, bytes);
    if (bytes > UINT32_MAX) {
        nearcall_write_breach(writer,
                              nearcall_over(name, NEARCALL_BREACH_BOUND, bytes, UINT32_MAX));
    } else if (end < bytes) {
        nearcall_write_breach(writer, nearcall_over(name, NEARCALL_BREACH_TEXT, end, 0));
    } else {
        uint32_t count = NEARCALL_CAST(uint32_t, bytes);
        nearcall_write(writer, &count, sizeof count);
        nearcall_write(writer, text, bytes);
    }
}

/* Begins a value of an appendable type: its length comes when it has been written. */
NEARCALL_INLINE size_t nearcall_write_appendable(nearcall_writer *writer) {
    const uint32_t later = 0;
    nearcall_write(writer, &later, sizeof later);
    return writer->count;
}

/* Ends it. A value past UINT32_MAX is over the limit of a message, and refused there. */
NEARCALL_INLINE void nearcall_write_appended(nearcall_writer *writer, size_t begin) {
    const uint32_t count = NEARCALL_CAST(uint32_t, writer->count - begin);
    if (!writer->has_no_memory) {
        memcpy(writer->bytes + begin - sizeof count, &count, sizeof count);
    }
}

/* Reads one value from a private copy. */
typedef struct nearcall_reader {
    nearcall_served *lender; /* whose memory the value's is, if the value goes with that call */
    const uint8_t *rest;
    size_t left;
    uint32_t depth;
    uint32_t defaulted; /* bytes of defaults that were read */
    nearcall_malformed malformed;
    bool has_no_memory;
} nearcall_reader;

/* A value that goes with a call is never given back: `lender` is that call, or null. */
NEARCALL_APART void nearcall_read_begin(nearcall_reader *reader, nearcall_served *lender,
                                        const void *bytes, size_t count) {
    const uint8_t *rest = NEARCALL_CAST(const uint8_t *, bytes);
    const nearcall_reader begun = {lender, rest, count, 0, 0, {0, 0, 0}, false};
    *reader = begun;
}

/* False, always. */
NEARCALL_COLD bool nearcall_read_bad(nearcall_reader *reader, uint32_t kind, uint64_t claimed,
                                     uint64_t limit) {
    reader->malformed = nearcall_bad(kind, claimed, limit);
    return false;
}

/* False: there are no more so many bytes. */
NEARCALL_COLD bool nearcall_read_short(nearcall_reader *reader, size_t count) {
    return nearcall_read_bad(reader, NEARCALL_MALFORMED_LENGTH, count, reader->left);
}

NEARCALL_INLINE bool nearcall_read(nearcall_reader *reader, void *target, size_t count) {
    if (count > reader->left) {
        return nearcall_read_short(reader, count);
    }
    if (count > 0) {
        memcpy(target, reader->rest, count);
        reader->rest += count;
        reader->left -= count;
    }
    return true;
}

/* A count of values of at least so many bytes each: no more than there can be. */
NEARCALL_INLINE bool nearcall_read_count(nearcall_reader *reader, uint64_t bytes_min,
                                         uint32_t *count) {
    if (!nearcall_read(reader, count, sizeof *count)) {
        return false;
    }
    if (*count > 0 && bytes_min > reader->left / *count) {
        return nearcall_read_short(reader, *count);
    }
    return true;
}

/* What lies behind a value of an appendable type. */
typedef struct nearcall_behind {
    const uint8_t *rest;
    size_t left;
} nearcall_behind;

/* Begins a value of an appendable type: nothing is read past what its length says. */
NEARCALL_APART bool nearcall_read_appendable(nearcall_reader *reader, nearcall_behind *behind) {
    uint32_t count = 0;
    if (!nearcall_read_count(reader, 1, &count)) {
        return false;
    }
    behind->rest = reader->rest + count;
    behind->left = reader->left - count;
    reader->left = count;
    return true;
}

/* Before a member: where nothing is left of the struct, reading goes on in the member's default. */
NEARCALL_APART bool nearcall_read_missing(nearcall_reader *reader, const uint8_t *missing,
                                           uint32_t count) {
    if (reader->left > 0) {
        return true;
    }
    if (count > NEARCALL_DEFAULT_BYTES_MAX - reader->defaulted) {
        return nearcall_read_bad(reader, NEARCALL_MALFORMED_LENGTH,
                                 NEARCALL_CAST(uint64_t, reader->defaulted) + count,
                                 NEARCALL_DEFAULT_BYTES_MAX);
    }
    reader->defaulted += count;
    reader->rest = missing;
    reader->left = count;
    return true;
}

/* Ends a struct. What is left is of members that a newer version has. */
NEARCALL_INLINE void nearcall_read_appended(nearcall_reader *reader,
                                            const nearcall_behind *behind) {
    reader->rest = behind->rest;
    reader->left = behind->left;
}

/* Leaves out the rest of a oneof, whose case only a newer version has. */
NEARCALL_INLINE void nearcall_read_no_case(nearcall_reader *reader) {
    reader->left = 0;
}

/* All of it was used. */
NEARCALL_INLINE bool nearcall_read_end(nearcall_reader *reader) {
    return reader->left == 0 ||
           nearcall_read_bad(reader, NEARCALL_MALFORMED_LEFT, reader->left, 0);
}

/* Ends a oneof, of which nothing is left: it grows by cases, not behind them. */
NEARCALL_INLINE bool nearcall_read_oneof_end(nearcall_reader *reader,
                                             const nearcall_behind *behind) {
    if (!nearcall_read_end(reader)) {
        return false;
    }
    nearcall_read_appended(reader, behind);
    return true;
}

NEARCALL_INLINE bool nearcall_read_boolean(nearcall_reader *reader, bool *is_present) {
    uint8_t word = 0;
    if (!nearcall_read(reader, &word, 1)) {
        return false;
    }
    *is_present = word == 1;
    return word <= 1 || nearcall_read_bad(reader, NEARCALL_MALFORMED_RANGE, word, 0);
}

NEARCALL_INLINE bool nearcall_is_character(uint32_t word) {
    return word < 0xd800 || (word > 0xdfff && word <= 0x10ffff);
}

NEARCALL_INLINE bool nearcall_read_character(nearcall_reader *reader, uint32_t *word) {
    return nearcall_read(reader, word, sizeof *word) &&
           (nearcall_is_character(*word) ||
            nearcall_read_bad(reader, NEARCALL_MALFORMED_RANGE, *word, 0));
}

/* The bits of a number, as errors tell them. */
NEARCALL_INLINE uint64_t nearcall_bits_f32(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

NEARCALL_INLINE uint64_t nearcall_bits_f64(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Whether there may be a value one level deeper. */
NEARCALL_INLINE bool nearcall_read_level(nearcall_reader *reader) {
    return reader->depth < NEARCALL_DEPTH_MAX ||
           nearcall_read_bad(reader, NEARCALL_MALFORMED_DEPTH, NEARCALL_DEPTH_MAX + 1,
                             NEARCALL_DEPTH_MAX);
}

/* One level deeper; undone by `reader->depth--`. */
NEARCALL_INLINE bool nearcall_read_deeper(nearcall_reader *reader) {
    if (!nearcall_read_level(reader)) {
        return false;
    }
    reader->depth++;
    return true;
}

/* Whether a list has no items, and may be there; if not, nothing was read. */
NEARCALL_INLINE bool nearcall_read_none(nearcall_reader *reader) {
    uint32_t count = 1;
    if (reader->left >= sizeof count && reader->depth < NEARCALL_DEPTH_MAX) {
        memcpy(&count, reader->rest, sizeof count);
    }
    return count == 0 && nearcall_read(reader, &count, sizeof count);
}

/* Memory for a value, or null. */
NEARCALL_INLINE void *nearcall_read_memory(nearcall_reader *reader, size_t bytes) {
    void *memory = nearcall_memory(reader->lender, bytes);
    reader->has_no_memory = memory == NEARCALL_NULL;
    return memory;
}

/* Zeroed memory for a value, or false. */
NEARCALL_APART bool nearcall_read_room(nearcall_reader *reader, size_t bytes, void **room) {
    *room = nearcall_read_memory(reader, bytes == 0 ? 1 : bytes);
    if (reader->has_no_memory) {
        return false;
    }
    memset(*room, 0, bytes);
    return true;
}

/*
 * Room for one element more, of `count`: never much more than the bytes that are left could be, or
 * twice as many as were read. Those that appendable structs make of fewer bytes are limited by
 * NEARCALL_DEFAULT_BYTES_MAX.
 */
NEARCALL_APART bool nearcall_read_grow(nearcall_reader *reader, void **buffer, uint32_t used,
                                        uint32_t *capacity, uint32_t count, size_t size) {
    size_t wanted = used == 0 ? reader->left / size + 4 : NEARCALL_CAST(size_t, used) * 2;
    void *grown = NEARCALL_NULL;
    if (used < *capacity) {
        return true;
    }
    wanted = wanted > count ? count : wanted;
    if (!nearcall_read_room(reader, wanted * size, &grown)) {
        return false;
    }
    if (used > 0) {
        memcpy(grown, *buffer, used * size);
    }
    if (reader->lender == NEARCALL_NULL) {
        nearcall_free(*buffer);
    }
    *buffer = grown;
    *capacity = NEARCALL_CAST(uint32_t, wanted);
    return true;
}

/* Begins to read elements that lie as they came, `width` bytes each, at the end of the memory of
 * `item_bytes` each that they are read to: one that was read ends before the next one begins. */
NEARCALL_INLINE void nearcall_read_filled(nearcall_reader *reader, const void *items,
                                          uint32_t count, size_t item_bytes, size_t width) {
    const uint8_t *begin = NEARCALL_CAST(const uint8_t *, items);
    if (count > 0) {
        begin += count * (item_bytes - width);
    }
    nearcall_read_begin(reader, NEARCALL_NULL, begin, count * width);
}

/* What nearcall_write_items wrote; there are none after false. */
NEARCALL_APART bool nearcall_read_items(nearcall_reader *reader, void **items, uint32_t *length,
                                        size_t size) {
    uint32_t count = 0;
    if (!nearcall_read_count(reader, size, &count) || !nearcall_read_level(reader)) {
        return false;
    }
    if (count == 0) {
        return true;
    }
    *items = nearcall_read_memory(reader, count * size);
    if (reader->has_no_memory) {
        return false;
    }
    *length = count;
    /* There are as many bytes: that was judged with the count. */
    return nearcall_read(reader, *items, count * size);
}

NEARCALL_APART bool nearcall_read_text(nearcall_reader *reader, char **text) {
    uint32_t count = 0;
    size_t end;
    if (!nearcall_read_count(reader, 1, &count)) {
        return false;
    }
    end = nearcall_text_end(reader->rest, count);
    if (end < count) {
        return nearcall_read_bad(reader, NEARCALL_MALFORMED_TEXT, end, 0);
    }
    *text = NEARCALL_CAST(char *, nearcall_read_memory(reader, NEARCALL_CAST(size_t, count) + 1));
    if (reader->has_no_memory) {
        return false;
    }
    (*text)[count] = 0;
    /* There are as many bytes: that was judged with the count. */
    return nearcall_read(reader, *text, count);
}

/* The breach of a value that is called so: too many levels are told of the whole. */
NEARCALL_COLD nearcall_breach nearcall_breach_of(const nearcall_writer *writer, const char *name) {
    nearcall_breach breach = writer->breach;
    if (breach.kind == NEARCALL_BREACH_LEVELS) {
        breach.name = name;
    }
    return breach;
}

/* What stubs say of a value that could not be written, or be read. */
NEARCALL_COLD void nearcall_argument_unwritten(nearcall_environment *environment,
                                               const nearcall_writer *writer, const char *name) {
    if (writer->has_breach) {
        nearcall_refuse_argument(environment, nearcall_breach_of(writer, name));
    } else {
        nearcall_no_memory(environment, NEARCALL_RAN_NO);
    }
}

NEARCALL_COLD void nearcall_result_unwritten(nearcall_served *call, const nearcall_writer *writer,
                                             const char *name) {
    if (writer->has_breach) {
        nearcall_refuse_result(call, nearcall_breach_of(writer, name));
    } else {
        nearcall_refuse_memory(call, 0);
    }
}

NEARCALL_COLD void nearcall_argument_unread(nearcall_served *call,
                                            const nearcall_reader *reader) {
    if (reader->has_no_memory) {
        nearcall_refuse_memory(call, 0);
    } else {
        nearcall_refuse_arguments(call, reader->malformed);
    }
}

NEARCALL_COLD void nearcall_result_unread(nearcall_reply *reply, const nearcall_reader *reader,
                                          nearcall_environment *environment) {
    if (reader->has_no_memory) {
        nearcall_reply_release(reply);
        nearcall_no_memory(environment, NEARCALL_RAN_YES);
    } else {
        nearcall_reply_malformed(reply, reader->malformed, environment);
    }
}

#endif
