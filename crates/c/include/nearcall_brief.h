/*
 * Brief calls: what generated stubs do themselves where a call's arguments and results are words
 * and blocks, in the line that crosses and in the blocks behind it
 * (docs/design/0026-brief-calls.md). Included by nearcall.h alone.
 *
 *      claim ──▶ put ──▶ post ──▶ look once ──▶ got ──▶ release
 *        │        │         └─────────┴───────────┤        │
 *        │        ▼ long blocks, and payloads     │        ▼ revoked meanwhile
 *        │       nearcall_slow_put, ..._copy_out  │       nearcall_slow_release
 *        ▼ not kept for us                        ▼ not as most are
 *       nearcall_slow_begin                      nearcall_slow_reply
 *
 * From nearcall_slow_begin the stub goes on as for any other call, from nearcall_slow_reply as after
 * its post. It leaves by tail calls, so that what is quick saves no register. A procedure whose calls
 * may run twice keeps its arguments for that: its stub goes on to the same place from both.
 *
 * A call that is posted and collected later is made in two halves, on any A-stack that is kept:
 *
 *      claim_any ──▶ put ──▶ post           look ──▶ got ──▶ end
 *          │                  │               │       │       │
 *          │                  ▼ unusual       └───┬───┘       ▼ revoked meanwhile
 *          │            nearcall_slow_posted      │      nearcall_slow_give_back
 *          ▼ not kept for us                      ▼ not as most are
 *     nearcall_slow_begin, nearcall_post        nearcall_collect
 *
 * This is the one place where C touches memory that a peer writes: the line of an A-stack, and the
 * block of its results. Their words are loaded once each, and judged in private; blocks are copied
 * once.
 */
#ifndef NEARCALL_BRIEF_H
#define NEARCALL_BRIEF_H

/* Classes of A-stacks that an interface may have. */
#define NEARCALL_CLASSES_MAX 16

/* Calls after which libnearcall looks how long they took. */
#define NEARCALL_BATCH_CALLS 64u

/* Bytes of a message that the line of an A-stack has; the others lie in a block, behind a line. */
#define NEARCALL_LINE_WORDS 48u
#define NEARCALL_LINE_BYTES 64u

/* Longest part of a block in the block behind the line that is copied by moves alone. */
#define NEARCALL_MOVES_BYTES 256u

/* The line of an A-stack, in shared memory. */
typedef struct nearcall_head {
    uint32_t turn;
    uint32_t selector;
    uint32_t message_bytes;
    uint32_t origin;
    uint8_t words[NEARCALL_LINE_WORDS];
} nearcall_head;

/* What this domain notes of an A-stack. */
typedef struct nearcall_astack {
    nearcall_head *head;
    uint8_t *own_line;        /* and behind it the block that this side writes */
    const uint8_t *peer_line; /* and behind it the block that the server writes */
    uint64_t own_room;
    uint32_t sequence;
    uint32_t server_processor;
    uint32_t own_words[2];
    uint64_t kept; /* its bit in the bias of its class; 0: it is not kept */
    uint16_t linger;
    uint16_t own_half;
    uint32_t outstanding; /* the thread that has posted and will collect; 0: none */
    uint64_t rest[24];
} nearcall_astack;

/* For which thread the A-stacks of a class are kept, and which of them are free. */
typedef struct nearcall_bias {
    uint64_t owner;
    uint64_t free; /* a bit for each, the lowest for the first A-stack of the class */
    uint64_t rest[6];
} nearcall_bias;

/* A binding. */
typedef struct nearcall_binding {
    uint64_t own[32];
    nearcall_bias biases[NEARCALL_CLASSES_MAX];
} nearcall_binding;

/* What the calls of one class need. */
typedef struct nearcall_brief {
    nearcall_bias *bias;
    nearcall_astack *astack;
} nearcall_brief;

/* How a client begins; the rest is libnearcall's. */
struct nearcall_client {
    intptr_t processor_offset;
    nearcall_brief briefs[NEARCALL_CLASSES_MAX];
    nearcall_binding *binding;
    const uint32_t *lookout; /* NEARCALL_LOOKS: calls that nobody waits for are looked after */
};

#define NEARCALL_LOOKS 1u

/* An A-stack that a stub has claimed. `seen` is what its post found in the turn word. */
typedef struct nearcall_held {
    const nearcall_client *client;
    nearcall_bias *bias;
    nearcall_astack *astack;
    nearcall_head *head;
    uint32_t seen;
} nearcall_held;

/* How a claim ended. */
#define NEARCALL_CLAIMED 0u
#define NEARCALL_NOT_KEPT 1u /* nothing has happened */
#define NEARCALL_REVOKED 2u  /* the bias was given up while the stub claimed */
#define NEARCALL_NTH_SHIFT 8 /* by so much, beside it: which of the class's A-stacks, from 0 on */
#define NEARCALL_POSTED 3u   /* it was claimed, and is posted: only its reply is to be waited for */

/* Where libnearcall takes a brief call over. After a claim that ended so: the stub goes on as for
 * any other call. */
void nearcall_slow_begin(const nearcall_client *client, uint32_t class_index, uint32_t claim);
/* Copies a payload or a long block to byte `at` of the message, part of which lies behind the line. */
void nearcall_slow_put(const nearcall_client *client, uint32_t class_index, uint32_t at,
                       const void *source, size_t byte_count);
/* Copies a long block out, from byte `at` of the message that came. */
void nearcall_slow_copy_out(const nearcall_client *client, uint32_t class_index, uint32_t at,
                       void *target, size_t byte_count);
/* After the post, of a message whose fixed part has `request_bytes`: as nearcall_call after its
 * own. */
bool nearcall_slow_reply(const nearcall_client *client, uint32_t class_index, uint32_t procedure,
                         uint32_t seen, uint32_t request_bytes, nearcall_reply *reply,
                         nearcall_environment *environment);
/* The same of a procedure whose calls may run twice: as nearcall_call_twice after its first post. */
bool nearcall_slow_reply_twice(const nearcall_client *client, uint32_t class_index,
                               uint32_t procedure, uint32_t seen,
                               const nearcall_message *request, nearcall_reply *reply,
                               nearcall_environment *environment);
/* The bias was given up while the stub had the A-stack. Returns `returned`. */
uint64_t nearcall_slow_release(const nearcall_client *client, uint32_t class_index,
                               uint64_t returned);

/* The same for calls that are posted and collected later. The number that this thread's posts have,
 * or 0: it makes none by itself. */
uint32_t nearcall_slow_number(void);
/* After a post that is not as most are. False after an error: then it is not posted. */
bool nearcall_slow_posted(nearcall_posted *posted, uint32_t seen,
                          nearcall_environment *environment);
/* The bias was given up while the A-stack was out. Returns `returned`. */
uint64_t nearcall_slow_give_back(nearcall_posted *posted, uint64_t returned);

#define NEARCALL_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define NEARCALL_STRAIGHT static inline __attribute__((always_inline, unused))

/* Whether text is ASCII, and so UTF-8: its bytes eight at a time, the last ones once more. */
NEARCALL_INLINE bool nearcall_is_ascii(const char *text, size_t byte_count) {
    const uint64_t high_bits = 0x8080808080808080u;
    uint64_t seen = 0, word;
    size_t at;
    if (byte_count >= 8) {
        for (at = 0; at + 8 < byte_count; at += 8) {
            memcpy(&word, text + at, 8);
            seen |= word;
        }
        memcpy(&word, text + byte_count - 8, 8);
        return ((seen | word) & high_bits) == 0;
    }
    for (at = 0; at < byte_count; at++) {
        seen |= NEARCALL_CAST(unsigned char, text[at]);
    }
    return (seen & high_bits) == 0;
}

#if defined(__x86_64__) && defined(__linux__)

/* Who we are to a bias: the thread pointer. */
NEARCALL_INLINE uint64_t nearcall_thread(void) {
    uint64_t thread;
    __asm__ volatile("movq %%fs:0, %0" : "=r"(thread));
    return thread;
}

/* Whether the A-stacks of a class are kept for this thread. */
NEARCALL_STRAIGHT bool nearcall_is_owner(const nearcall_bias *bias, uint64_t thread) {
    bool is_owner;
    __asm__ volatile("cmpq %2, %1" : "=@cce"(is_owner) : "r"(thread), "m"(bias->owner) : "memory");
    return is_owner;
}

/* The number of the processor that we run on, as the kernel keeps it for this thread. */
NEARCALL_INLINE uint32_t nearcall_processor(const nearcall_client *client) {
    uint32_t number;
    __asm__ volatile("movzwl %%fs:(%1), %0" : "=r"(number) : "r"(client->processor_offset));
    return number;
}

/* Takes the lowest bit; whether it was there. Only the owner writes the word: no lock. */
NEARCALL_INLINE bool nearcall_take_bit(nearcall_bias *bias) {
    bool was_free;
    __asm__ volatile("btrq $0, %0" : "+m"(bias->free), "=@ccc"(was_free) : : "memory");
    return was_free;
}

NEARCALL_STRAIGHT void nearcall_give_bit(nearcall_bias *bias, uint64_t bit) {
    __asm__ volatile("orq %1, %0" : "+m"(bias->free) : "er"(bit) : "memory", "cc");
}

/* Counts a call; its number. Only we write the word: no lock. */
NEARCALL_INLINE uint32_t nearcall_count(nearcall_astack *astack) {
    const uint32_t before = __atomic_load_n(&astack->sequence, __ATOMIC_RELAXED);
    __asm__ volatile("incl %0" : "+m"(astack->sequence) : : "cc");
    return before + 1;
}

/* Leaves the line alone for so many cycles. */
NEARCALL_INLINE void nearcall_linger(uint32_t cycles) {
    if (cycles != 0) {
        __asm__ volatile("1: decl %0\n\tjnz 1b\n\tlfence" : "+r"(cycles) : : "memory", "cc");
    }
}

/* The four words of a head, by one load: a second one of a line that has just come costs 10 ns. */
NEARCALL_INLINE void nearcall_look(const nearcall_head *head, uint64_t *low, uint64_t *high) {
    __asm__ volatile("movdqa (%2), %%xmm0\n\tmovq %%xmm0, %0\n\t"
                     "punpckhqdq %%xmm0, %%xmm0\n\tmovq %%xmm0, %1"
                     : "=&r"(*low), "=r"(*high)
                     : "r"(head)
                     : "xmm0", "memory");
}

/* Moves that the compiler neither splits nor repeats: each byte is accessed as an atomic is. */
#define NEARCALL_MOVE(width, type, class, code)                                                \
    typedef struct nearcall_bytes_##width {                                                    \
        uint8_t bytes[width];                                                                  \
    } __attribute__((may_alias)) nearcall_bytes_##width;                                       \
    NEARCALL_STRAIGHT void nearcall_move_##width(uint8_t *target, const uint8_t *source) {     \
        type value;                                                                            \
        __asm__ volatile(code " %1, %0"                                                        \
                         : "=" class(value)                                                    \
                         : "m"(*NEARCALL_POINTER(const nearcall_bytes_##width *, source)));    \
        __asm__ volatile(code " %1, %0"                                                        \
                         : "=m"(*NEARCALL_POINTER(nearcall_bytes_##width *, target))           \
                         : class(value));                                                      \
    }

NEARCALL_MOVE(1, uint8_t, "q", "movb")
NEARCALL_MOVE(2, uint16_t, "r", "movw")
NEARCALL_MOVE(4, uint32_t, "r", "movl")
NEARCALL_MOVE(8, uint64_t, "r", "movq")
NEARCALL_MOVE(16, float __attribute__((vector_size(16))), "x", "movups")

/* At most `room` bytes, which is at most 48; the last move overlaps the one before. */
NEARCALL_STRAIGHT void nearcall_move(void *to, const void *from, size_t byte_count, size_t room) {
    uint8_t *target = NEARCALL_CAST(uint8_t *, to);
    const uint8_t *source = NEARCALL_CAST(const uint8_t *, from);
    if (byte_count >= 16) {
        nearcall_move_16(target, source);
        if (room > 32 && byte_count > 32) {
            nearcall_move_16(target + 16, source + 16);
        }
        nearcall_move_16(target + byte_count - 16, source + byte_count - 16);
    } else if (byte_count >= 8) {
        nearcall_move_8(target, source);
        nearcall_move_8(target + byte_count - 8, source + byte_count - 8);
    } else if (byte_count >= 4) {
        nearcall_move_4(target, source);
        nearcall_move_4(target + byte_count - 4, source + byte_count - 4);
    } else if (byte_count >= 2) {
        nearcall_move_2(target, source);
        nearcall_move_2(target + byte_count - 2, source + byte_count - 2);
    } else if (byte_count == 1) {
        nearcall_move_1(target, source);
    }
}

NEARCALL_STRAIGHT void nearcall_move_64(uint8_t *target, const uint8_t *source) {
    nearcall_move_16(target, source);
    nearcall_move_16(target + 16, source + 16);
    nearcall_move_16(target + 32, source + 32);
    nearcall_move_16(target + 48, source + 48);
}

/* At most NEARCALL_MOVES_BYTES, a constant where this is inlined: no branch is left. What is behind
 * the last 64 bytes goes by moves that overlap them. */
NEARCALL_STRAIGHT void nearcall_move_block(void *to, const void *from, size_t byte_count) {
    uint8_t *target = NEARCALL_CAST(uint8_t *, to);
    const uint8_t *source = NEARCALL_CAST(const uint8_t *, from);
    const size_t behind = byte_count % 64;
    if (byte_count < 64) {
        nearcall_move(to, from, byte_count < 48 ? byte_count : 48, 48);
        if (byte_count > 48) {
            nearcall_move_16(target + byte_count - 16, source + byte_count - 16);
        }
        return;
    }
    nearcall_move_64(target, source);
    if (byte_count >= 128) {
        nearcall_move_64(target + 64, source + 64);
    }
    if (byte_count >= 192) {
        nearcall_move_64(target + 128, source + 128);
    }
    if (byte_count >= 256) {
        nearcall_move_64(target + 192, source + 192);
    }
    if (behind > 48) {
        nearcall_move_16(target + byte_count - 64, source + byte_count - 64);
    }
    if (behind > 32) {
        nearcall_move_16(target + byte_count - 48, source + byte_count - 48);
    }
    if (behind > 16) {
        nearcall_move_16(target + byte_count - 32, source + byte_count - 32);
    }
    if (behind > 0) {
        nearcall_move_16(target + byte_count - 16, source + byte_count - 16);
    }
}

/* Asks for a line of ours that the server has read, in a state to be written: a hint. */
NEARCALL_STRAIGHT void nearcall_ask(const uint8_t *line) {
    __asm__ volatile("prefetchw %0" : : "m"(*line));
}

/* Whether there is no client, as nearcall_call would tell. Optimized stubs do not ask: it would be
 * two instructions of every call, and a null client is a fault of memory there. */
NEARCALL_STRAIGHT bool nearcall_is_null(const nearcall_client *client) {
#ifdef __OPTIMIZE__
    (void)client;
    return false;
#else
    return client == NEARCALL_NULL;
#endif
}

NEARCALL_STRAIGHT uint32_t nearcall_brief_claim(const nearcall_client *client,
                                                uint32_t class_index, nearcall_held *held) {
    const uint64_t thread = nearcall_thread();
    const nearcall_brief *brief;
    nearcall_bias *bias;
    if (nearcall_is_null(client)) {
        return NEARCALL_NOT_KEPT;
    }
    brief = &client->briefs[class_index];
    bias = brief->bias;
    if (!NEARCALL_LIKELY(nearcall_is_owner(bias, thread)) ||
        !NEARCALL_LIKELY(nearcall_take_bit(bias))) {
        return NEARCALL_NOT_KEPT;
    }
    if (!NEARCALL_LIKELY(nearcall_is_owner(bias, thread))) {
        return NEARCALL_REVOKED;
    }
    held->client = client;
    held->bias = bias;
    held->astack = brief->astack;
    held->head = brief->astack->head;
    return NEARCALL_CLAIMED;
}

/* Posts, and looks once when the reply can be there. True: the procedure has returned, and its
 * results can be got. False: to be waited for. */
NEARCALL_STRAIGHT bool nearcall_brief_call(nearcall_held *held, uint32_t procedure,
                                           size_t request_bytes, uint32_t reply_bytes,
                                           nearcall_environment *environment) {
    nearcall_astack *astack = held->astack;
    nearcall_head *head = held->head;
    const uint32_t processor = nearcall_processor(held->client);
    /* The turn word of a reply; one more if it is polled. */
    const uint32_t idle = nearcall_count(astack) << 3;
    uint64_t low, high;
    uint32_t server;
    __atomic_store_n(&head->selector, procedure, __ATOMIC_RELAXED);
    __atomic_store_n(&head->message_bytes, NEARCALL_CAST(uint32_t, request_bytes),
                     __ATOMIC_RELAXED);
    __atomic_store_n(&head->origin, processor, __ATOMIC_RELAXED);
    /* Row O1: all that was put is to be seen by who takes the call. */
    held->seen = __atomic_exchange_n(&head->turn, idle + 2, __ATOMIC_RELEASE);
    nearcall_begin(environment);
    if (!NEARCALL_LIKELY(held->seen == idle - 7)) {
        return false;
    }
    server = __atomic_load_n(&astack->server_processor, __ATOMIC_RELAXED);
    if (!NEARCALL_LIKELY(processor != server) ||
        !NEARCALL_LIKELY(idle % (8 * NEARCALL_BATCH_CALLS) != 0)) {
        return false;
    }
    nearcall_linger(__atomic_load_n(&astack->linger, __ATOMIC_RELAXED));
    nearcall_look(head, &low, &high);
    /* Idle again, after this call, and returned; as long as it has to be, in place, and from the
     * processor that the last reply came from. */
    return NEARCALL_LIKELY(low - idle <= 1) &&
           NEARCALL_LIKELY(high - reply_bytes == NEARCALL_CAST(uint64_t, server) << 32);
}

/* The number of this thread in this file; 0: not asked for yet. */
NEARCALL_STRAIGHT uint32_t *nearcall_number(void) {
    static __thread uint32_t number;
    return &number;
}

/* Claims the lowest that is free. */
NEARCALL_STRAIGHT uint32_t nearcall_brief_claim_any(const nearcall_client *client,
                                                    uint32_t class_index, nearcall_held *held) {
    const uint64_t thread = nearcall_thread();
    const nearcall_brief *brief;
    nearcall_bias *bias;
    uint64_t free;
    uint32_t nth;
    if (nearcall_is_null(client)) {
        return NEARCALL_NOT_KEPT;
    }
    brief = &client->briefs[class_index];
    bias = brief->bias;
    if (!NEARCALL_LIKELY(*nearcall_number() != 0) ||
        !NEARCALL_LIKELY(nearcall_is_owner(bias, thread))) {
        return NEARCALL_NOT_KEPT;
    }
    free = __atomic_load_n(&bias->free, __ATOMIC_RELAXED);
    if (!NEARCALL_LIKELY(free != 0)) {
        return NEARCALL_NOT_KEPT;
    }
    nth = NEARCALL_CAST(uint32_t, __builtin_ctzll(free));
    /* Row D1: only the owner writes the word. */
    __atomic_store_n(&bias->free, free & (free - 1), __ATOMIC_RELAXED);
    __asm__ volatile("" : : : "memory");
    if (!NEARCALL_LIKELY(nearcall_is_owner(bias, thread))) {
        return NEARCALL_REVOKED | nth << NEARCALL_NTH_SHIFT;
    }
    held->client = client;
    held->astack = brief->astack + nth;
    held->head = held->astack->head;
    return NEARCALL_CLAIMED;
}

/* A claim of any A-stack has ended so: the half goes on as for any other call. */
NEARCALL_INLINE void nearcall_brief_otherwise(const nearcall_client *client, uint32_t class_index,
                                              uint32_t claim) {
    if (*nearcall_number() == 0) {
        *nearcall_number() = nearcall_slow_number();
    }
    nearcall_slow_begin(client, class_index, claim);
}

/* Posts, and notes what is under way. False after an error: then it is not posted. */
NEARCALL_STRAIGHT bool nearcall_brief_post(nearcall_held *held, uint32_t procedure,
                                           size_t request_bytes, nearcall_posted *posted,
                                           nearcall_environment *environment) {
    const nearcall_client *client = held->client;
    nearcall_astack *astack = held->astack;
    nearcall_head *head = held->head;
    const uint32_t processor = nearcall_processor(client);
    const uint32_t idle = nearcall_count(astack) << 3;
    const nearcall_ahead ahead = {client->binding, astack, procedure, 0, 0, NEARCALL_NULL};
    uint32_t seen;
    __atomic_store_n(&head->selector, procedure, __ATOMIC_RELAXED);
    __atomic_store_n(&head->message_bytes, NEARCALL_CAST(uint32_t, request_bytes),
                     __ATOMIC_RELAXED);
    __atomic_store_n(&head->origin, processor, __ATOMIC_RELAXED);
    /* Row O1: as of a call that is waited for. */
    seen = __atomic_exchange_n(&head->turn, idle + 2, __ATOMIC_RELEASE);
    nearcall_begin(environment);
    posted->state = NEARCALL_POSTED_ONCE;
    posted->held = ahead;
    __atomic_store_n(&astack->outstanding, *nearcall_number(), __ATOMIC_RELAXED);
    /* Row K1, after what was noted. */
    __asm__ volatile("" : : : "memory");
    if (!NEARCALL_LIKELY(seen == idle - 7) ||
        !NEARCALL_LIKELY(idle % (8 * NEARCALL_BATCH_CALLS) != 0) ||
        !NEARCALL_LIKELY(__atomic_load_n(client->lookout, __ATOMIC_RELAXED) == NEARCALL_LOOKS)) {
        return nearcall_slow_posted(posted, seen, environment);
    }
    return true;
}

/* Looks once. True: the procedure has returned, and its results can be got. False: nothing has
 * happened. */
NEARCALL_STRAIGHT bool nearcall_brief_look(const nearcall_posted *posted, uint32_t class_index,
                                           uint32_t reply_bytes, nearcall_held *held) {
    uint64_t low, high;
    uint32_t idle, server;
    if (!NEARCALL_LIKELY(posted->state == NEARCALL_POSTED_ONCE)) {
        return false;
    }
    held->client = NEARCALL_NULL; /* nothing is copied by libnearcall here */
    held->bias = &posted->held.binding->biases[class_index];
    held->astack = posted->held.astack;
    held->head = held->astack->head;
    if (!NEARCALL_LIKELY(held->astack->kept != 0) ||
        !NEARCALL_LIKELY(nearcall_is_owner(held->bias, nearcall_thread()))) {
        return false;
    }
    idle = __atomic_load_n(&held->astack->sequence, __ATOMIC_RELAXED) << 3;
    server = __atomic_load_n(&held->astack->server_processor, __ATOMIC_RELAXED);
    nearcall_look(held->head, &low, &high);
    /* As of a call that is waited for. */
    return NEARCALL_LIKELY(low - idle <= 1) &&
           NEARCALL_LIKELY(high - reply_bytes == NEARCALL_CAST(uint64_t, server) << 32);
}

#else

/* Elsewhere every call goes through libnearcall, from its begin. */
NEARCALL_STRAIGHT uint32_t nearcall_brief_claim(const nearcall_client *client,
                                                uint32_t class_index, nearcall_held *held) {
    (void)client;
    (void)class_index;
    (void)held;
    return NEARCALL_NOT_KEPT;
}

NEARCALL_STRAIGHT bool nearcall_brief_call(nearcall_held *held, uint32_t procedure,
                                           size_t request_bytes, uint32_t reply_bytes,
                                           nearcall_environment *environment) {
    held->seen = 0;
    (void)procedure;
    (void)request_bytes;
    (void)reply_bytes;
    (void)environment;
    return false;
}

NEARCALL_STRAIGHT uint32_t nearcall_brief_claim_any(const nearcall_client *client,
                                                    uint32_t class_index, nearcall_held *held) {
    (void)client;
    (void)class_index;
    (void)held;
    return NEARCALL_NOT_KEPT;
}

NEARCALL_INLINE void nearcall_brief_otherwise(const nearcall_client *client, uint32_t class_index,
                                              uint32_t claim) {
    nearcall_slow_begin(client, class_index, claim);
}

NEARCALL_STRAIGHT bool nearcall_brief_post(nearcall_held *held, uint32_t procedure,
                                           size_t request_bytes, nearcall_posted *posted,
                                           nearcall_environment *environment) {
    (void)held;
    (void)procedure;
    (void)request_bytes;
    (void)posted;
    (void)environment;
    return false;
}

NEARCALL_STRAIGHT bool nearcall_brief_look(const nearcall_posted *posted, uint32_t class_index,
                                           uint32_t reply_bytes, nearcall_held *held) {
    (void)posted;
    (void)class_index;
    (void)reply_bytes;
    (void)held;
    return false;
}

NEARCALL_STRAIGHT void nearcall_give_bit(nearcall_bias *bias, uint64_t bit) {
    __atomic_fetch_or(&bias->free, bit, __ATOMIC_RELEASE);
}

NEARCALL_INLINE uint64_t nearcall_thread(void) {
    return 0;
}

NEARCALL_INLINE bool nearcall_is_owner(const nearcall_bias *bias, uint64_t thread) {
    (void)bias;
    (void)thread;
    return false;
}

NEARCALL_STRAIGHT void nearcall_move(void *target, const void *source, size_t byte_count,
                                     size_t room) {
    (void)room;
    memcpy(target, source, byte_count);
}

NEARCALL_STRAIGHT void nearcall_move_block(void *target, const void *source, size_t byte_count) {
    memcpy(target, source, byte_count);
}

NEARCALL_STRAIGHT void nearcall_ask(const uint8_t *line) {
    (void)line;
}

#endif

/* Returns `returned`, so that a stub that ends so has nothing to keep. */
NEARCALL_STRAIGHT uint64_t nearcall_brief_release(const nearcall_held *held, uint32_t class_index,
                                                  uint64_t returned) {
    nearcall_give_bit(held->bias, 1);
    if (!NEARCALL_LIKELY(nearcall_is_owner(held->bias, nearcall_thread()))) {
        return nearcall_slow_release(held->client, class_index, returned);
    }
    return returned;
}

/* The same of a posted call, which is collected. */
NEARCALL_STRAIGHT uint64_t nearcall_brief_end(const nearcall_held *held, nearcall_posted *posted,
                                              nearcall_environment *environment,
                                              uint64_t returned) {
    nearcall_begin(environment);
    posted->state = NEARCALL_NOT_POSTED;
    __atomic_store_n(&held->astack->outstanding, 0, __ATOMIC_RELAXED);
    nearcall_give_bit(held->bias, held->astack->kept);
    if (!NEARCALL_LIKELY(nearcall_is_owner(held->bias, nearcall_thread()))) {
        return nearcall_slow_give_back(posted, returned);
    }
    return returned;
}

/* Where byte `at` of the message lies that goes; a constant, so that nothing is asked. */
NEARCALL_STRAIGHT uint8_t *nearcall_brief_own(const nearcall_held *held, size_t at) {
    return at < NEARCALL_LINE_WORDS
               ? held->head->words + at
               : held->astack->own_line + NEARCALL_LINE_BYTES + (at - NEARCALL_LINE_WORDS);
}

/* The same of the message that comes. */
NEARCALL_STRAIGHT const uint8_t *nearcall_brief_peer(const nearcall_held *held, size_t at) {
    return at < NEARCALL_LINE_WORDS
               ? held->head->words + at
               : held->astack->peer_line + NEARCALL_LINE_BYTES + (at - NEARCALL_LINE_WORDS);
}

/* Words of the message: one store, one load. */
#define NEARCALL_BRIEF_WORD(name, type, word)                                                  \
    NEARCALL_STRAIGHT void nearcall_brief_put_##name(const nearcall_held *held, size_t at,     \
                                                     type value) {                             \
        void *to = nearcall_brief_own(held, at);                                               \
        word bits;                                                                             \
        memcpy(&bits, &value, sizeof bits);                                                    \
        __atomic_store_n(NEARCALL_CAST(word *, to), bits, __ATOMIC_RELAXED);                   \
    }                                                                                          \
    NEARCALL_STRAIGHT type nearcall_brief_get_##name(const nearcall_held *held, size_t at) {   \
        type value;                                                                            \
        const void *from = nearcall_brief_peer(held, at);                                      \
        const word bits =                                                                      \
            __atomic_load_n(NEARCALL_CAST(const word *, from), __ATOMIC_RELAXED);              \
        memcpy(&value, &bits, sizeof value);                                                   \
        return value;                                                                          \
    }

NEARCALL_BRIEF_WORD(u8, uint8_t, uint8_t)
NEARCALL_BRIEF_WORD(u16, uint16_t, uint16_t)
NEARCALL_BRIEF_WORD(u32, uint32_t, uint32_t)
NEARCALL_BRIEF_WORD(u64, uint64_t, uint64_t)
NEARCALL_BRIEF_WORD(f32, float, uint32_t)
NEARCALL_BRIEF_WORD(f64, double, uint64_t)

/* A payload that lies in the line. */
NEARCALL_STRAIGHT void nearcall_brief_put_bytes(const nearcall_held *held, size_t at,
                                                const void *source, size_t byte_count) {
    nearcall_move(held->head->words + at, source, byte_count, sizeof held->head->words - at);
}

/* Bytes of a block from `at` on that lie in the line; constants, as all that follows is of. */
NEARCALL_STRAIGHT size_t nearcall_brief_in_line(size_t at, size_t byte_count) {
    const size_t room = at < NEARCALL_LINE_WORDS ? NEARCALL_LINE_WORDS - at : 0;
    return byte_count < room ? byte_count : room;
}

/* A block, part of which may lie in the line: that part last, because the server polls the line,
 * and takes it away again meanwhile. */
NEARCALL_STRAIGHT void nearcall_brief_put_block(const nearcall_held *held, uint32_t class_index,
                                                uint32_t at, const void *source,
                                                size_t byte_count) {
    const uint8_t *from = NEARCALL_CAST(const uint8_t *, source);
    const size_t in_line = nearcall_brief_in_line(at, byte_count);
    if (byte_count - in_line > NEARCALL_MOVES_BYTES) {
        nearcall_slow_put(held->client, class_index, at, source, byte_count);
        return;
    }
    if (byte_count > in_line) {
        nearcall_move_block(nearcall_brief_own(held, at + in_line), from + in_line,
                            byte_count - in_line);
    }
    if (in_line != 0) {
        nearcall_move(held->head->words + at, from, in_line, in_line);
    }
}

NEARCALL_STRAIGHT void nearcall_brief_get_block(const nearcall_held *held, uint32_t class_index,
                                                uint32_t at, void *target, size_t byte_count) {
    uint8_t *to = NEARCALL_CAST(uint8_t *, target);
    const size_t in_line = nearcall_brief_in_line(at, byte_count);
    if (byte_count - in_line > NEARCALL_MOVES_BYTES) {
        nearcall_slow_copy_out(held->client, class_index, at, target, byte_count);
        return;
    }
    if (in_line != 0) {
        nearcall_move(to, held->head->words + at, in_line, in_line);
    }
    if (byte_count > in_line) {
        nearcall_move_block(to + in_line, nearcall_brief_peer(held, at + in_line),
                            byte_count - in_line);
    }
}

/* The call is over: the first lines of the block that went come back until the next one. */
NEARCALL_STRAIGHT void nearcall_brief_ask(const nearcall_held *held, size_t request_bytes) {
    const uint8_t *line = held->astack->own_line + NEARCALL_LINE_BYTES;
    size_t left = request_bytes > NEARCALL_LINE_WORDS ? request_bytes - NEARCALL_LINE_WORDS : 0;
    for (left = left < 512 ? left : 512; left > 0; left -= left < 64 ? left : 64) {
        nearcall_ask(line);
        line += 64;
    }
}

#endif
