/*
 * Brief calls: what generated stubs do themselves where a call's arguments and results are words in
 * the one line that crosses (docs/design/0026-brief-calls.md). Included by nearcall.h alone.
 *
 *      claim ──▶ put words ──▶ post ──▶ look once ──▶ got words ──▶ release
 *        │                       └──────────┴─────────────┤            │
 *        ▼ not kept for us                 not as most    ▼            ▼ revoked meanwhile
 *      nearcall_slow_begin                   nearcall_slow_wait      nearcall_slow_release
 *
 * From the first the stub goes on as for any other call. It leaves by tail calls, so that what is
 * quick saves no register.
 *
 * This is the one place where C touches memory that a peer writes: the line of an A-stack. It is
 * loaded word by word, each once, and judged in private.
 */
#ifndef NEARCALL_BRIEF_H
#define NEARCALL_BRIEF_H

/* Classes of an interface whose calls may be brief: the first of them. */
#define NEARCALL_BRIEF_CLASSES 4

/* Calls after which libnearcall looks how long they took. */
#define NEARCALL_BATCH_CALLS 64u

/* The line of an A-stack, in shared memory. */
typedef struct nearcall_head {
    uint32_t turn;
    uint32_t selector;
    uint32_t message_bytes;
    uint32_t origin;
    uint8_t words[48];
} nearcall_head;

/* What this domain notes of an A-stack. */
typedef struct nearcall_astack {
    nearcall_head *head;
    void *own[3];
    uint32_t sequence;
    uint32_t server_processor;
    uint32_t own_words[4];
    uint16_t linger;
} nearcall_astack;

/* For which thread the A-stacks of a class are kept, and which of them are free. */
typedef struct nearcall_bias {
    uint64_t owner;
    uint64_t free;
} nearcall_bias;

/* What the calls of one class need. */
typedef struct nearcall_brief {
    nearcall_bias *bias;
    nearcall_astack *astack;
} nearcall_brief;

/* How a client begins; the rest is libnearcall's. */
struct nearcall_client {
    intptr_t processor_offset;
    nearcall_brief briefs[NEARCALL_BRIEF_CLASSES];
};

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

/* Where libnearcall takes a brief call over. After a claim that ended so: the stub goes on as for
 * any other call. */
void nearcall_slow_begin(const nearcall_client *client, uint32_t class_index, uint32_t claim);
/* After the post. True: the results are there, to be got and released. False: the environment says
 * why not, and the A-stack is not the stub's any more. */
bool nearcall_slow_wait(const nearcall_client *client, uint32_t class_index, uint32_t procedure,
                        uint32_t seen, nearcall_environment *environment);
/* Of results that are not what the interface promises. */
void nearcall_slow_malformed(const nearcall_client *client, uint32_t class_index,
                             uint32_t procedure, nearcall_malformed malformed,
                             nearcall_environment *environment);
/* The bias was given up while the stub had the A-stack. */
void nearcall_slow_release(const nearcall_client *client, uint32_t class_index);

#define NEARCALL_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define NEARCALL_COLD static __attribute__((noinline, cold))
#define NEARCALL_STRAIGHT static inline __attribute__((always_inline, unused))

#if defined(__x86_64__) && defined(__linux__)

/* Whether the A-stacks of a class are kept for this thread. */
NEARCALL_STRAIGHT bool nearcall_is_owner(const nearcall_bias *bias) {
    bool is_owner;
    uint64_t thread;
    __asm__ volatile("movq %%fs:0, %1\n\tcmpq %2, %1"
                     : "=@cce"(is_owner), "=&r"(thread)
                     : "m"(bias->owner)
                     : "memory");
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

NEARCALL_INLINE void nearcall_give_bit(nearcall_bias *bias) {
    __asm__ volatile("orq $1, %0" : "+m"(bias->free) : : "memory", "cc");
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

NEARCALL_STRAIGHT uint32_t nearcall_brief_claim(const nearcall_client *client,
                                                uint32_t class_index, nearcall_held *held) {
    const nearcall_brief *brief = &client->briefs[class_index];
    nearcall_bias *bias = brief->bias;
    if (!NEARCALL_LIKELY(nearcall_is_owner(bias)) || !NEARCALL_LIKELY(nearcall_take_bit(bias))) {
        return NEARCALL_NOT_KEPT;
    }
    if (!NEARCALL_LIKELY(nearcall_is_owner(bias))) {
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
                                           uint32_t request_bytes, uint32_t reply_bytes,
                                           nearcall_environment *environment) {
    nearcall_astack *astack = held->astack;
    nearcall_head *head = held->head;
    const uint32_t processor = nearcall_processor(held->client);
    const uint32_t sequence = __atomic_load_n(&astack->sequence, __ATOMIC_RELAXED) + 1;
    const uint32_t idle = sequence << 3; /* the turn word of a reply; one more if it is polled */
    uint64_t low, high;
    uint32_t server;
    __atomic_store_n(&head->selector, procedure, __ATOMIC_RELAXED);
    __atomic_store_n(&head->message_bytes, request_bytes, __ATOMIC_RELAXED);
    __atomic_store_n(&head->origin, processor, __ATOMIC_RELAXED);
    __atomic_store_n(&astack->sequence, sequence, __ATOMIC_RELAXED);
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
           NEARCALL_LIKELY(high - reply_bytes == (uint64_t)server << 32);
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
                                           uint32_t request_bytes, uint32_t reply_bytes,
                                           nearcall_environment *environment) {
    held->seen = 0;
    (void)procedure;
    (void)request_bytes;
    (void)reply_bytes;
    (void)environment;
    return false;
}

NEARCALL_INLINE void nearcall_give_bit(nearcall_bias *bias) {
    __atomic_fetch_or(&bias->free, 1, __ATOMIC_RELEASE);
}

NEARCALL_INLINE bool nearcall_is_owner(const nearcall_bias *bias) {
    (void)bias;
    return false;
}

#endif

/* The same A-stack, for a stub that was called to wait. */
NEARCALL_INLINE nearcall_held nearcall_brief_held(const nearcall_client *client,
                                                  uint32_t class_index) {
    const nearcall_brief *brief = &client->briefs[class_index];
    const nearcall_held held = {client, brief->bias, brief->astack, brief->astack->head, 0};
    return held;
}

NEARCALL_STRAIGHT void nearcall_brief_release(const nearcall_held *held, uint32_t class_index) {
    nearcall_give_bit(held->bias);
    if (!NEARCALL_LIKELY(nearcall_is_owner(held->bias))) {
        nearcall_slow_release(held->client, class_index);
    }
}

/* Words of the message in the line: one store, one load. */
#define NEARCALL_BRIEF_WORD(name, type, word)                                                  \
    NEARCALL_STRAIGHT void nearcall_brief_put_##name(const nearcall_held *held, size_t at,     \
                                                     type value) {                             \
        word bits;                                                                             \
        memcpy(&bits, &value, sizeof bits);                                                    \
        __atomic_store_n((word *)(void *)(held->head->words + at), bits, __ATOMIC_RELAXED);    \
    }                                                                                          \
    NEARCALL_STRAIGHT type nearcall_brief_get_##name(const nearcall_held *held, size_t at) {   \
        type value;                                                                            \
        const word bits =                                                                      \
            __atomic_load_n((const word *)(const void *)(held->head->words + at),              \
                            __ATOMIC_RELAXED);                                                 \
        memcpy(&value, &bits, sizeof value);                                                   \
        return value;                                                                          \
    }

NEARCALL_BRIEF_WORD(u8, uint8_t, uint8_t)
NEARCALL_BRIEF_WORD(u16, uint16_t, uint16_t)
NEARCALL_BRIEF_WORD(u32, uint32_t, uint32_t)
NEARCALL_BRIEF_WORD(u64, uint64_t, uint64_t)
NEARCALL_BRIEF_WORD(f32, float, uint32_t)
NEARCALL_BRIEF_WORD(f64, double, uint64_t)

#endif
