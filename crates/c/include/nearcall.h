/*
 * Nearcall for C: what programs and generated stubs call. C11 and later, C++17 and later.
 *
 * Who owns what:
 *
 *  - A handle (nearcall_domain, nearcall_client, nearcall_clerk) is its caller's until it is given
 *    to the function that releases it. Any number of threads may call through one client at once.
 *  - A handle is null where its function has failed, as its environment says: look before it is used.
 *    A null one is NEARCALL_USAGE, with what to look at; but stubs that were compiled with
 *    optimization make brief calls, of a few words, without asking: there it is a fault of memory.
 *  - What a call is given stays the caller's, and is only read for as long as the call.
 *  - What a call returns, in results and out parameters, is the caller's, who gives it back with
 *    nearcall_free_<type>; text with nearcall_free. After an error there is nothing.
 *  - An exception is its environment's. Its caller looks at it there, and has
 *    nearcall_environment_release give it back before another call has the environment, which would
 *    forget it.
 *  - A result that is declared `@prealloc` comes to memory of its caller's, which must be for as
 *    many as can come: more are NEARCALL_RESULTS_REFUSED, and the procedure has run. `_length` is 0
 *    after an error, and the memory holds anything; it is never freed, nor kept.
 *  - What an inout parameter holds must be from nearcall_allocate: the call frees it and puts what
 *    came back in its place. After an error it is unchanged.
 *  - What is exported stays until its domain was shut down: calls may run after the clerk is released.
 *  - A procedure is lent its arguments for as long as it runs; what it keeps or returns of them it
 *    copies. What it returns must be from nearcall_allocate; the stub frees it, also of one that
 *    raises or panics, which returns zeros: then 0 is no descriptor. What an inout parameter holds
 *    is from nearcall_allocate: the procedure may put other memory of nearcall_allocate there, after
 *    freeing what was there. An out parameter holds nothing.
 *  - What `in` parameters hold is scratch memory, and nobody frees it; results are marshalled in
 *    such memory, too. It is from nearcall_allocate, and kept for later calls: of 16 calls at once a
 *    block each, none over 8 MiB, until a domain is shut down or released; a reply to a call that
 *    was set aside keeps its block behind that, too. So a call allocates none once there is enough.
 *  - The record of a call of a server that was exported with nearcall_export_async_<interface> is its
 *    procedure's, and any thread's that it is given to, until one of nearcall_reply_<operation>,
 *    nearcall_deferred_raise and nearcall_deferred_drop, which gives it back, with what is returned
 *    and what inout and out members hold. Its members are as a procedure is lent them: `in` is only
 *    read, inout may be changed as above, out holds nothing. To raise there, an environment is begun
 *    with nearcall_begin, and empty afterwards.
 *  - A descriptor (@fd) that a call is given stays the caller's; one that it returns is the caller's,
 *    who closes it. After an error it is -1, and so is one that is absent, which it may be if it is
 *    @optional, as an argument and as a result. One that a procedure is given is the procedure's, which
 *    closes it; one that it returns is the stub's, which closes it once it is sent. Nothing is open
 *    in a server of a call that was refused. One from nearcall_introduce_<interface> is an
 *    introduction (@fd(BINDING)); nearcall_introduced_<interface> closes it, whatever happens.
 *  - Several calls of one thread at once: nearcall_post_<operation> posts one, and nothing it is
 *    given is read after it has returned; nearcall_collect_<operation> waits, and what it returns is
 *    the caller's as from a call; an inout parameter goes by the one, which leaves it as it is, and
 *    comes by the other. Each call posted is collected, cancelled or dropped once, by any thread,
 *    before its client is released; an event loop has it be given to nearcall_completions_add first,
 *    and waits for none. A client has as many at once as it has A-stacks (@astack, 5 without it): a
 *    post of a thread that has them all is NEARCALL_USAGE.
 *  - Memory of nearcall_lend_to_<interface> is its caller's, who gives it to nearcall_lent_release.
 *    An `@opaque in` argument whose `_buffer` is where it begins is not copied: the server reads it
 *    there, up to all of it. What begins elsewhere in it is copied as other memory is, and so is
 *    what nearcall_post_<operation> is given, or the second try of a call. Who writes to it while a
 *    call has it, also one that was aborted or is oneway, has the server see that. Calls that run
 *    keep it when it is released; a oneway call that was not begun may be refused then. Its address
 *    is nobody's from then on, as one that was freed.
 *  - A feed (@feed) is its caller's, who releases it. An item that comes is the caller's, as a result
 *    is; one that is put is the feed's, whatever happens, and holds memory of nearcall_allocate. One
 *    that the interface forbids is NEARCALL_USAGE where it is put: it is not sent, the others are,
 *    and the feed goes on, unless nearcall_feed_is_over says that a batch before it failed. A
 *    procedure is lent the items it takes, and gives those it makes away; of one that the interface
 *    forbids its client is told NEARCALL_RESULTS_REFUSED behind those before it, and the feed is
 *    over. After an error of items, `ran` is never NEARCALL_RAN_NO, but for NEARCALL_USAGE, which
 *    is of this item or batch alone: what has opened the feed has run.
 *  - Each side of an exchange is its caller's, who releases both. A procedure that is given an inlet
 *    and an outlet releases both, whatever it returns or raises; before it has returned, nothing
 *    comes and nothing goes. An item that is taken is the taker's; one that is given is the
 *    outlet's, whatever happens, and judged as one that is put: with an environment of the giver's
 *    own, for what a procedure's says when it returns is what its client is told.
 *  - Text is UTF-8 with a NUL behind it; null is empty text.
 *  - A child of fork(2) makes a domain of its own. It may release its copies of what its parent has,
 *    which its parent does not notice. A call through its parent's client is NEARCALL_USAGE, memory
 *    that its parent has lent is empty, and a return from a procedure that it was forked in ends it.
 *
 * When a server ends, its bindings stay revoked: calls that it had are NEARCALL_CALL_FAILED, later
 * ones NEARCALL_NOT_EXECUTED. nearcall_rebind_<interface> binds to who exports the name now, and a
 * call of an @idempotent operation is made once more by itself, over such a binding: what the first
 * try said is told if there is none in time, or if the second has not run. Both wait for somebody to
 * export the name as long as the options of the import say. Of a posted call that is done by its
 * collection, for which its arguments are copied; one that passes descriptors is not made again.
 *
 * An environment says after an error whether the procedure ran, for which reason it did not, and of
 * which life of the server that is; nearcall_may_retry whether another try may help:
 *
 *     while (files_Files_read(client, path, &env), nearcall_may_retry(&env) && time_is_left()) {
 *         wait_a_little();
 *         if (nearcall_is_revoked(nearcall_binding_files_Files(client))) {
 *             client = renewed(client);
 *         }
 *     }
 */
#ifndef NEARCALL_H
#define NEARCALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
#define NEARCALL_ASSERT(condition) static_assert(condition, #condition)
extern "C" {
#else
#define NEARCALL_ASSERT(condition) _Static_assert(condition, #condition)
#endif

/* For functions of headers, which are compiled as C and as C++, with the warnings that a program
 * asks for: a cast of a number or of a pointer to void, one of a pointer to something else, and the
 * null pointer. */
#ifdef __cplusplus
#define NEARCALL_CAST(type, value) static_cast<type>(value)
#define NEARCALL_POINTER(type, value) reinterpret_cast<type>(value)
#define NEARCALL_NULL nullptr
#else
#define NEARCALL_CAST(type, value) ((type)(value))
#define NEARCALL_POINTER(type, value) ((type)(value))
#define NEARCALL_NULL NULL
#endif

/* A function of a header that a program need not use. */
#define NEARCALL_INLINE static inline __attribute__((unused))
/* One that is called and not inlined: large, or never on the way that most calls go. */
#define NEARCALL_APART static __attribute__((noinline, unused))
#define NEARCALL_COLD static __attribute__((noinline, cold, unused))
/* Where it is called, nobody is in a hurry. */
#define NEARCALL_RARE __attribute__((cold))

/* What became of a call, an import or an export. */
typedef enum nearcall_outcome {
    NEARCALL_RETURNED = 0,        /* it ran, and returned */
    NEARCALL_RAISED = 1,          /* it ran, and raised an exception of the interface */
    NEARCALL_USAGE = 2,           /* the interface forbids an argument, or a handle is null: nothing
                                   * was posted */
    NEARCALL_NO_ASTACK = 3,       /* none came free before the deadline: nothing was posted */
    NEARCALL_NOT_EXECUTED = 4,    /* proven not to have run */
    NEARCALL_CALL_FAILED = 5,     /* the server ended while it had the call */
    NEARCALL_CALL_ABORTED = 6,    /* deadline passed, or cancelled; it may still be running */
    NEARCALL_PANICKED = 7,        /* it ran and panicked, or left a feed before its end */
    NEARCALL_RESULTS_REFUSED = 8, /* it ran, and its results are beyond a limit */
    NEARCALL_PEER = 9,            /* the server broke the protocol; the binding is revoked */
    NEARCALL_NOT_BOUND = 10,      /* import */
    NEARCALL_NOT_EXPORTED = 11,   /* export */
    NEARCALL_NO_MEMORY = 12,      /* there is none for arguments or results */
    NEARCALL_SYSTEM = 13,         /* the system refused something */
    NEARCALL_GIVEN_UP = 14        /* an exchange's client has given this side up, or has ended */
} nearcall_outcome;

/* Whether the procedure ran. After NEARCALL_RAN_NO a retry cannot run it twice. */
typedef enum nearcall_ran {
    NEARCALL_RAN_NO = 0,
    NEARCALL_RAN_MAYBE = 1,
    NEARCALL_RAN_YES = 2
} nearcall_ran;

/* Which reason of its outcome it was, by the names that Rust's errors have. Those that are marked may
 * pass without this program's doing: then nearcall_may_retry. */
typedef enum nearcall_reason {
    NEARCALL_REASON_NONE = 0, /* the outcome says all, or the message what this program did wrong */
    /* Of NEARCALL_NOT_BOUND; some are of NEARCALL_NOT_EXPORTED or NEARCALL_NOT_EXECUTED, too. */
    NEARCALL_REASON_NAME = 1,              /* the name is none */
    NEARCALL_REASON_NO_SUCH_NAME = 2,      /* may pass: nobody exports it */
    NEARCALL_REASON_NOT_ADMITTED = 3,      /* policy, or the permissions of the socket */
    NEARCALL_REASON_OTHER_INTERFACE = 4,   /* another interface is exported by that name */
    NEARCALL_REASON_HASH = 5,              /* the server's version of it does not fit */
    NEARCALL_REASON_OVERLOADED = 6,        /* may pass: the server has no room for this user now */
    NEARCALL_REASON_TIMED_OUT = 7,         /* may pass: the server did not answer in time */
    NEARCALL_REASON_NOT_READY = 8,         /* may pass: nobody did while it was waited for */
    NEARCALL_REASON_NO_INTRODUCTION = 9,   /* the descriptor is none */
    NEARCALL_REASON_INTRODUCTION_OVER = 10, /* it was used or waited too long, or its giver went */
    NEARCALL_REASON_INTRODUCED = 11,       /* it has no name to rebind by */
    NEARCALL_REASON_REVOKED = 12,          /* may pass, over another binding: this one is revoked */
    NEARCALL_REASON_PEER = 13,             /* may pass: the server went, or broke the protocol */
    NEARCALL_REASON_SYSTEM = 14,           /* the system refused memory or descriptors */
    /* Of NEARCALL_NOT_EXECUTED. */
    NEARCALL_REASON_SERVER_ENDED = 15,      /* may pass, over another binding */
    NEARCALL_REASON_REFUSED = 16,           /* may pass, over another binding: this is given up */
    NEARCALL_REASON_ARGUMENTS_REFUSED = 17, /* to the server they are not what was promised */
    NEARCALL_REASON_NOT_PERMITTED = 18,     /* policy */
    NEARCALL_REASON_NOT_PROVIDED = 19,      /* the server's version does not have it */
    NEARCALL_REASON_DEADLINE_PASSED = 20,   /* before the call was posted */
    NEARCALL_REASON_DESCRIPTORS_NOT_SENT = 21, /* may pass: the server does not read them now */
    NEARCALL_REASON_FEED_OVER = 22,            /* an error has said so before */
    /* Of NEARCALL_NOT_EXPORTED. */
    NEARCALL_REASON_ALREADY_EXPORTED = 23, /* may pass: by another domain that lives */
    NEARCALL_REASON_POLICY = 24,           /* the file is none, or not for this interface */
    /* Of NEARCALL_USAGE. */
    NEARCALL_REASON_OVER_BOUND = 25,
    NEARCALL_REASON_OUT_OF_RANGE = 26,
    NEARCALL_REASON_TEXT = 27,        /* no UTF-8, or with a NUL in it */
    NEARCALL_REASON_OUTSTANDING = 28, /* this thread has to collect a call before it posts one */
    NEARCALL_REASON_NO_MEMORY = 29,
    NEARCALL_REASON_LENT_ELSEWHERE = 30, /* to the server of another binding */
    NEARCALL_REASON_FORKED = 31,         /* the binding is this process's parent's */
    NEARCALL_REASON_WRONG_DESCRIPTOR = 32,
    /* Of NEARCALL_CALL_ABORTED, which is a deadline's without it. */
    NEARCALL_REASON_CANCELLED = 33, /* by a nearcall_cancellation */
    /* Of NEARCALL_NOT_EXPORTED. */
    NEARCALL_REASON_NO_ROOM = 34, /* by the domain's options nobody could ever bind */
    /* Of NEARCALL_USAGE. */
    NEARCALL_REASON_TOO_MANY_FEEDS = 35, /* one has to be over before the next is opened */
    /* Of NEARCALL_NOT_BOUND. */
    NEARCALL_REASON_PROCESS_ENDED = 36 /* and nobody had exported the name */
} nearcall_reason;

/* How a call went; the last parameter of every call. A procedure raises through its own. After an
 * error all of it says something, but for what an exception alone has. */
typedef struct nearcall_environment {
    uint32_t outcome; /* a nearcall_outcome */
    uint32_t ran;     /* a nearcall_ran */
    const char *exception_id;
    void *exception;
    void (*release)(void *exception);
    uint64_t incarnation; /* the life of the server that had the call, as of nearcall_incarnation;
                           * 0: none that is known */
    uint32_t reason;      /* a nearcall_reason; later versions may have others */
    char message[236];    /* what was claimed and the limit, or what was raised */
} nearcall_environment;

/* Procedures of like size share A-stacks. */
typedef struct nearcall_class {
    uint32_t block_bytes;
    uint32_t count;
} nearcall_class;

typedef struct nearcall_procedure {
    const char *name;
    uint8_t hash[16];
    uint8_t class_index;
    bool is_oneway;
    bool is_idempotent;
    bool is_leaf;
} nearcall_procedure;

/* A type that a later version may add to, at its end: a struct members, an enum enumerators, a
 * message of a .proto file fields, in its oneofs or not. */
typedef struct nearcall_appendable {
    const char *name;
    const uint8_t (*hashes)[16]; /* of the name, then one for each of those */
    uint32_t hash_count;
    uint32_t procedure; /* the first in whose messages it is */
} nearcall_appendable;

/* What both sides of an interface must agree on. Generated. */
typedef struct nearcall_interface {
    const char *name;
    uint8_t hash[16];
    const nearcall_procedure *procedures;
    const nearcall_class *classes;
    const nearcall_appendable *appendables;
    uint32_t procedure_count;
    uint32_t class_count;
    uint32_t appendable_count;
    uint32_t stub_bytes_max; /* of a message or of all values of a call: stubs have them on the
                              * stack */
    bool is_awaited; /* it has an exchange */
} nearcall_interface;

/* Who calls, as the system told when it bound. Below 0: it does not tell. */
typedef struct nearcall_importer {
    int64_t pid; /* for people: another process may have it by now */
    int64_t uid;
    int64_t gid;
    const struct nearcall_known *known; /* what nearcall_importer_<...> asks: the call's, as long as
                                         * that is not released */
} nearcall_importer;

/* How long a side spins, yields and sleeps while it waits. Knobs, units and defaults are told in
 * docs/performance.md; nearcall_domain_options_default has the defaults. */
typedef struct nearcall_wait_policy {
    uint32_t linger_cycles_max;   /* longest that a line just given away is left alone, and a server
                                   * leaves several calls' for three times that; 0: polls at once */
    uint32_t spin_ns_max;         /* longest spin for a peer on another processor */
    uint32_t spin_ns_min;         /* shortest, and longest while yields are banned */
    uint32_t polls_per_spin;      /* polls between two looks at the clock, or yields */
    uint32_t yields_max;          /* yields to a peer on the same processor before sleeping; one
                                   * more, which is not timed, may come first */
    uint32_t yield_ns_max;        /* a yield that takes longer may have gone to a third thread */
    uint32_t slow_yields_ns_max;  /* what such yields may take before yields are banned */
    uint32_t yield_ban_waits_min; /* waits for which yields are banned the first time */
    uint32_t yield_ban_waits_max; /* at most: each ban is twice the one before */
    uint64_t sleep_slice_ns_min;  /* first sleep before liveness is looked at again */
    uint64_t sleep_slice_ns_max;  /* longest such sleep: each is twice the one before */
} nearcall_wait_policy;

/* Knobs of a domain: nearcall_domain_options_default, then those that are to be others; units and
 * defaults are in docs/performance.md. What limits importers is shared out among their users: one
 * alone has half. */
typedef struct nearcall_domain_options {
    nearcall_wait_policy wait;
    uint64_t introduction_timeout_ns; /* how long an introduction waits for whoever takes it up */
    uint64_t mapped_bytes_max;        /* bytes of importers' segments that are mapped */
    uint64_t own_bytes_max;           /* bytes of the domain's own that are held for importers */
    uint64_t estack_bytes;            /* bytes of an E-stack */
    uint32_t estacks_max;             /* procedures on E-stacks that wait at once, of a thread */
    uint32_t processors_max;          /* threads that run calls */
    uint32_t bindings_max;            /* bindings that are served at once */
    uint32_t handshakes_max;          /* binds that are not complete */
    uint32_t astacks_max;             /* A-stacks of importers */
    uint32_t descriptors_max;         /* that came with calls and no procedure has taken */
    uint32_t mappings_max;            /* for importers; 0: by what the process may have */
    uint32_t open_descriptors_max;    /* for importers; 0: by what the process may have */
    bool raises_descriptor_limit;     /* to the hard limit, when the domain exports something */
    bool is_dumpable; /* other processes of this user may look into this one; false holds for the
                       * whole process */
} nearcall_domain_options;

/* How an interface is imported. All bytes zero: as without options. */
typedef struct nearcall_import_options {
    uint64_t ready_timeout_ns;  /* longest wait of an import for an export of the name; 0: none */
    uint64_t rebind_timeout_ns; /* the same of a rebind, and of a call that is made once more */
    uint64_t timeout_ns;        /* longest wait for the server's half of the bind; 0: 5 s */
    bool grows; /* a call that finds no A-stack has the server add some, up to 15 times as many */
    const char *directory;            /* where the name is looked up; null: the user's scope, then
                                       * the system's */
    const nearcall_wait_policy *wait; /* of this binding's calls; null: the domain's */
    const int *ready_pidfd; /* of the process that is to export the name, or to have it exported:
                             * once that has ended the import waits no longer, and fails by
                             * NEARCALL_REASON_PROCESS_ENDED. Beside ready_timeout_ns: without that
                             * it does not wait. It stays the caller's. Null: none */
} nearcall_import_options;

/* How an interface is exported. All bytes zero: as without options. */
typedef struct nearcall_export_options {
    const char *policy;     /* a policy file, in TOML, of who may bind, that nobody else may write
                             * but root; null: the domain's own user, in the system scope nobody */
    bool is_open_to_anyone; /* whoever may open the socket may bind; not with a policy */
    const char *directory;  /* where the name goes, made for this user alone if it is not there;
                             * null: the user's scope, for root without one the system's */
    bool runs_on_estacks; /* procedures run on stacks of their own, but for @leaf ones: one that
                           * waits for a nested call leaves its thread to other calls */
    void *(*exceptions)(void); /* with these, where procedures are in C++: __cxa_get_globals, so that
                                * each has what it has thrown and caught for itself, and none ends
                                * another's; the wrapper in C++ sets it */
} nearcall_export_options;

/* A payload that goes out. */
typedef struct nearcall_put {
    const void *bytes;
    uint64_t byte_count;
    const char *name;
    bool is_text;
    bool is_opaque;     /* it may lie in lent memory */
    uint32_t length_at; /* then, where in the fixed part its length stands */
} nearcall_put;

#define NEARCALL_DESCRIPTOR_ANY 0u
#define NEARCALL_DESCRIPTOR_FILE 1u
#define NEARCALL_DESCRIPTOR_SEGMENT 2u
#define NEARCALL_DESCRIPTOR_SOCKET 3u
#define NEARCALL_DESCRIPTOR_BINDING 4u

/* A descriptor that goes or comes beside a message, and what it has to be; -1 is none. Those that
 * may be absent stand behind the others. */
typedef struct nearcall_descriptor {
    const char *name;
    uint16_t kind;
    bool is_optional; /* it may be absent */
    uint8_t is_there; /* of one that may be absent and comes: 1 or 0, as the message says */
    int fd;
} nearcall_descriptor;

/* A message that goes out. */
typedef struct nearcall_message {
    const uint8_t *fixed;
    const nearcall_put *payloads;
    uint32_t fixed_bytes;
    uint32_t variable_at;
    uint32_t payload_count;
    uint32_t descriptor_count;
    const nearcall_descriptor *descriptors;
} nearcall_message;

#define NEARCALL_FORM_BYTES 0u
#define NEARCALL_FORM_TEXT 1u
#define NEARCALL_FORM_LENT 2u
#define NEARCALL_FORM_ITEMS 3u /* elements behind their count; `count` is the bytes of both */
#define NEARCALL_FORM_SCRATCH 4u /* with bytes or text */
#define NEARCALL_FORM_PREALLOC 8u /* with all but lent: `bytes` is a nearcall_filling */

/* A payload that comes in: once taken, `bytes` is memory of nearcall_allocate, or scratch. */
typedef struct nearcall_take {
    void *bytes;
    uint32_t count;
    uint32_t width;
    uint32_t limit;
    uint32_t form;
} nearcall_take;

/* Memory of the caller's for a result that is declared `@prealloc`: the parameter is a
 * nearcall_prealloc_<type>, the same with a type for its elements. What is returned has one, too,
 * in front of the environment. */
typedef struct nearcall_prealloc {
    void *_buffer;
    uint32_t _length;  /* how many came; of text without the NUL */
    uint32_t _maximum; /* how many there is room for; of text with the NUL */
    /* Makes room for so many, and of text for the NUL, when more come; null if there is none, and
     * then there is none for fewer either. Null itself where what there is, is all. */
    void *(*_grow)(void *_own, uint32_t count);
    void *_own;
} nearcall_prealloc;

/* One of an array, or of text that lies in one. */
#define NEARCALL_PREALLOC(array) {(array), 0, sizeof(array) / sizeof(*(array)), NULL, NULL}

/* Such a result, as a stub says it. */
typedef struct nearcall_filling {
    const char *name;
    void *target;
    size_t item_bytes; /* of an element there */
} nearcall_filling;

/* A reply while a call stub reads it. */
typedef struct nearcall_reply {
    uint8_t *fixed;
    uint32_t fixed_bytes;
    uint32_t exception_count;
    bool is_kept;
    bool has_descriptors;
    uint32_t raised;
    uint64_t held[8];
} nearcall_reply;

#define NEARCALL_POST_NOW 0u    /* somebody waits for it */
#define NEARCALL_POST_SPARE 1u  /* only if there is an A-stack to spare; else false, and no error */
#define NEARCALL_POST_EITHER 2u /* ahead if there is one to spare; else now */

/* A call that is under way: on which A-stack, and until when. `lead` is for batches. */
typedef struct nearcall_ahead {
    struct nearcall_binding *binding;
    struct nearcall_astack *astack;
    uint32_t procedure;
    uint64_t deadline_ns;
    uint32_t deadline_word;
    const void *lead;
} nearcall_ahead;

#define NEARCALL_NOT_POSTED 0u   /* or it was collected, cancelled or dropped */
#define NEARCALL_POSTED_ONCE 1u  /* somebody collects it */
#define NEARCALL_POSTED_AHEAD 2u /* nobody has to wait for it yet */
/* What is held of these is libnearcall's alone. */
#define NEARCALL_POSTED_TWICE 3u /* it may run twice */
#define NEARCALL_POSTED_ENDED 4u /* it has ended without a reply: its collection says how */

/* A call that is posted and not collected, as the records of generated halves hold it. */
typedef struct nearcall_posted {
    uint8_t state;
    nearcall_ahead held;
} nearcall_posted;

/* What makes the items of a feed, and what takes them: generated, one for each feed. `made` is the
 * record that the procedure returned. */
typedef struct nearcall_source {
    bool (*next)(const void *made, void *item, nearcall_environment *environment);
    void (*free)(void *item);
    uint32_t item_bytes;
    uint32_t batch_count;
} nearcall_source;

typedef struct nearcall_intake {
    void (*take)(const void *made, const void *item, nearcall_environment *environment);
    void (*end)(const void *made, void *result, nearcall_environment *environment);
    void (*free)(void *result);
    uint32_t item_bytes;
    uint32_t result_bytes;
} nearcall_intake;

/* What goes both ways of an exchange: generated, one for each. An item is taken by the server, or
 * given by it. */
typedef struct nearcall_exchange {
    void (*free_taken)(void *item);
    void (*free_given)(void *item);
    uint32_t taken_bytes;
    uint32_t given_bytes;
    uint32_t batch_count;
    uint32_t kind;
} nearcall_exchange;

/* Items that were made: memory of nearcall_allocate. */
typedef struct nearcall_batch {
    void *items;
    uint32_t count;
} nearcall_batch;

/* A call that its procedure has set aside: the head of nearcall_deferred_<operation>. */
typedef struct nearcall_deferred {
    void *own; /* the procedure's, for what it likes */
    void *held;
} nearcall_deferred;

/* Octets that a client lent for the time of a call; it may change them meanwhile. */
typedef struct nearcall_opaque {
    uint64_t held[2];
} nearcall_opaque;

#define NEARCALL_MALFORMED_TEXT 0u
#define NEARCALL_MALFORMED_BOUND 1u
#define NEARCALL_MALFORMED_LENGTH 2u
#define NEARCALL_MALFORMED_RANGE 3u
#define NEARCALL_MALFORMED_DEPTH 4u
#define NEARCALL_MALFORMED_LEFT 5u

/* Why what a peer sent is not what the interface promises. */
typedef struct nearcall_malformed {
    uint32_t kind;
    uint64_t claimed;
    uint64_t limit;
} nearcall_malformed;

#define NEARCALL_BREACH_BOUND 0u     /* a count */
#define NEARCALL_BREACH_TEXT 1u      /* the byte at which it stops being text */
#define NEARCALL_BREACH_SIGNED 2u    /* a number, as int64_t */
#define NEARCALL_BREACH_UNSIGNED 3u  /* a number */
#define NEARCALL_BREACH_FLOAT 4u     /* the bits of a float */
#define NEARCALL_BREACH_DOUBLE 5u    /* the bits of a double */
#define NEARCALL_BREACH_CHARACTER 6u /* its number in Unicode */
#define NEARCALL_BREACH_LEVELS 7u    /* how many values are each in the one before */

/* Which value of our own is beyond a limit of the interface. */
typedef struct nearcall_breach {
    const char *name;
    const char *allowed; /* what a number or character may be, in words; of others null */
    uint64_t value;
    uint64_t limit;
    uint32_t kind;
} nearcall_breach;

/* `long double` of the interface: 16 bytes as the sender had them, carried and not interpreted. */
typedef struct nearcall_long_double {
    uint8_t bytes[16];
} nearcall_long_double;

typedef struct nearcall_domain nearcall_domain; /* one process's part */
typedef struct nearcall_client nearcall_client; /* a binding, and how long calls wait */
typedef struct nearcall_clerk nearcall_clerk;   /* an exported interface */
typedef struct nearcall_served nearcall_served; /* a call while it is served */
typedef struct nearcall_inlet nearcall_inlet;   /* an exchange's items for the server */
typedef struct nearcall_outlet nearcall_outlet; /* an exchange's items for the client */
typedef struct nearcall_current nearcall_current; /* a call, as its procedure sees its client */
typedef struct nearcall_cancellation nearcall_cancellation; /* ends calls of other threads */
typedef struct nearcall_completions nearcall_completions;   /* posted calls that a loop waits for */

/* Runs procedure `procedure` of `server`; generated, one for each interface. */
typedef void (*nearcall_enter)(void *server, uint32_t procedure, nearcall_served *call);

/* Where results, arguments and exceptions lie; null if there is no memory. */
void *nearcall_allocate(size_t bytes);
void nearcall_free(void *memory);
/* From here on memory is had from these, which are as malloc and free: aligned for any value, null
 * if there is none, for any thread and several at once. Null, either: malloc and free. Before the
 * first domain is made. */
void nearcall_set_allocator(void *(*allocate)(size_t), void (*free)(void *));

/* How grave it is what the runtime tells. */
typedef enum nearcall_level {
    NEARCALL_LOG_ERROR = 1,
    NEARCALL_LOG_WARNING = 2, /* a peer that breaks the protocol; and at a pace, with "unsaid" of how many
                               * nothing was said: calls and results that are refused, no room */
    NEARCALL_LOG_INFO = 3     /* audit records: every bind, refusal, call that a policy does not
                               * permit, and end of a binding */
} nearcall_level;

/* From here on `log` gets what the runtime tells, each event as one line of JSON: "timestamp",
 * "level", "target" ("nearcall::audit" of an audit record) and what there is to say. The line lives
 * until it returns. Any thread may tell, several at once, also in the middle of the runtime's work:
 * `log` must not call Nearcall. Once in a process, before the first domain is made; false if `log`
 * is null, or another one was set. Without it nothing is written anywhere, but for what a server's
 * author has to know (a procedure that panicked, results that were refused): standard error. */
bool nearcall_set_log(void (*log)(void *context, nearcall_level level, const char *line),
                      void *context);

/* Closes a descriptor; below 0 is none. */
void nearcall_close(int fd);

/* One process's part in Nearcall, or null. */
nearcall_domain *nearcall_domain_new(nearcall_environment *environment);
/* The same with knobs; null: without. */
void nearcall_domain_options_default(nearcall_domain_options *options);
nearcall_domain *nearcall_domain_new_with(const nearcall_domain_options *options,
                                          nearcall_environment *environment);
/* Calls that run are finished, calls that were not taken are refused. Waits for that, but in a
 * procedure of its own; procedures that take long may ask (nearcall_current_is_ending). Here and
 * wherever something is released, null is nothing. */
void nearcall_domain_shut_down(const nearcall_domain *domain);
void nearcall_domain_release(nearcall_domain *domain);

/* The policy of a clerk's is what a file says from here on. Bindings of which it says something else
 * are revoked, in order; returns how many, below 0 after an error, and then the policy before it
 * stays. */
int64_t nearcall_clerk_set_policy(const nearcall_clerk *clerk, const char *policy,
                                  nearcall_environment *environment);
/* Withdraws the name and revokes its bindings; calls that run are finished. */
void nearcall_clerk_release(nearcall_clerk *clerk);

/* The call that this thread serves, which is released; null outside of a procedure. Other threads
 * may ask it, too: once the procedure has returned it is cancelled. Costs a look-up: once a call. */
nearcall_current *nearcall_current_call(void);
void nearcall_current_release(nearcall_current *call);
/* Its client has given it up, or has gone: nobody will see its results. A procedure that takes long
 * asks now and then, two loads, and returns early; nothing forces it to. */
bool nearcall_current_is_cancelled(const nearcall_current *call);
/* Its server ends: its clerk was released, or its domain is being shut down, which waits for it. Its
 * results still arrive, if its client is there. Asked now and then likewise, a load. */
bool nearcall_current_is_ending(const nearcall_current *call);
/* How long its client still waits; UINT64_MAX: as long as it takes. */
uint64_t nearcall_current_time_left_ns(const nearcall_current *call);
nearcall_importer nearcall_current_importer(const nearcall_current *call);
/* Who has introduced that one; false: nobody, it came by the name. A server that decides itself what
 * a user may do decides by both. */
bool nearcall_current_giver(const nearcall_current *call, nearcall_importer *giver);
/* What else is known of either of the two, until the call is released. Whether it is in this group,
 * beside its own one; and whether all those have numbers here: where not, it may be in any. */
bool nearcall_importer_is_in_group(const nearcall_importer *importer, uint32_t group);
bool nearcall_importer_are_groups_all(const nearcall_importer *importer);
/* Its control group, as a path: text of the caller's, for nearcall_free. Null: the system does not
 * tell, its binding has gone, or there is no memory. Some system calls. */
char *nearcall_importer_cgroup(const nearcall_importer *importer);
/* Its security label, as it was when it connected: likewise, without a system call. Null: it has
 * none, or there is no memory. */
char *nearcall_importer_label(const nearcall_importer *importer);
/* A pidfd, which identifies it, and can be read once it has ended: the caller's, who closes it. Below
 * 0 after an error, whose errno has the other sign: -ENOTCONN, its binding has gone; -EMFILE or
 * -ENFILE, there is no room for a descriptor; another one, it ended so long ago that the kernel has
 * nothing more to tell of it. Up to three system calls. */
int nearcall_importer_pidfd(const nearcall_importer *importer);

/* After an error: whether nothing ran, and another try may help. Later, for what is in the way is not
 * this program's to change; over what nearcall_rebind_<interface> gives, if the binding is revoked
 * (nearcall_is_revoked). It says nothing of calls that may have run (NEARCALL_RAN_MAYBE): whether
 * those may run twice is for their caller to know. */
bool nearcall_may_retry(const nearcall_environment *environment);

/* For procedures: this one cannot go on, and its interface has no exception for that. Its client is
 * told NEARCALL_PANICKED. Its server's author is told which procedure it was, of which export, and
 * why, as far as the environment's message holds it: as nearcall_set_log says, without a function
 * there on standard error. What it returns after that goes nowhere. */
NEARCALL_RARE void nearcall_panic(nearcall_environment *environment, const char *why);

/* For calls of a server that was exported with nearcall_export_async_<interface>: there will be no
 * reply, and its client is told NEARCALL_PANICKED; null is nothing. */
void nearcall_deferred_drop(nearcall_deferred *call);
/* Such a call, as nearcall_current_call has that of a thread; released by itself. It is asked for
 * before the reply; so is nearcall_current_call in a procedure that replies before it returns, which
 * may be told of the next call of the same client afterwards. */
nearcall_current *nearcall_deferred_current(const nearcall_deferred *call);

/* A call between nearcall_post_<operation> and nearcall_collect_<operation>, `call` of its record.
 * Of one that is not posted, or is collected, these do nothing; they never wait. */
/* To collect it will not wait. */
bool nearcall_posted_is_replied(const nearcall_posted *posted);
/* Gives it up, and lets the server see that: it is not run if it was not begun. */
void nearcall_posted_cancel(nearcall_posted *posted);
/* Lets it run, and drops what it will bring. */
void nearcall_posted_drop(nearcall_posted *posted);

/* Posted calls that an event loop waits for. A call moves in with a tag of the program's, and out
 * again once to collect it does not wait, whether it has a reply, or an error that its collection
 * tells, as after its deadline. Any thread may add, and look. Its caller's, who releases it: calls
 * that are there then are given up. A client is released after its calls have left.
 *
 *     nearcall_post_calls_Calls_add(calls, 2, 3, &sum, &env) &&
 *         nearcall_completions_add(completions, &sum.call, &sum, &env);
 *     // and whenever nearcall_completions_fd(completions) can be read:
 *     for (int n = 0; n < 100 && nearcall_completions_next(completions, &call, &tag); n++) {
 *         nearcall_posted_calls_Calls_add *sum = tag;
 *         sum->call = call;
 *         handle(nearcall_collect_calls_Calls_add(sum, &env));
 *     }
 *
 * Who posts again in there takes so many at a time, as here, so that other descriptors have their
 * turn. The thread that looks is taken for the one that collects: where calls in here have all
 * A-stacks, its post is NEARCALL_USAGE, and does not wait for itself. */
/* Null after an error: there is no room for a descriptor. */
nearcall_completions *nearcall_completions_new(nearcall_environment *environment);
/* Null is nothing. */
void nearcall_completions_release(nearcall_completions *completions);
/* Can be read as long as there is something to look at (level-triggered); for poll(2), epoll, or any
 * event loop, which does nothing else with it. Not to be closed. */
int nearcall_completions_fd(const nearcall_completions *completions);
/* Takes a posted call, which `posted` then holds no more. False after an error: it is not posted, or
 * the completions are a parent's of this process. */
bool nearcall_completions_add(nearcall_completions *completions, nearcall_posted *posted, void *tag,
                              nearcall_environment *environment);
/* Gives one back that can be collected, to `posted`, which holds none, and its tag. False: there is
 * none, and the descriptor can be read once there is. Looks for as long as calls spin, and never
 * sleeps. Cost: with what `add` and the loop's own wait take, three system calls, one to two
 * microseconds, where the reply comes meanwhile; else two wake-ups as well: of the thread that wakes
 * loops, and of the loop. */
bool nearcall_completions_next(nearcall_completions *completions, nearcall_posted *posted,
                               void **tag);
/* Gives all calls up that have this tag, and lets their servers see it; how many there were. */
size_t nearcall_completions_cancel(nearcall_completions *completions, void *tag);

/* Ends the calls of threads from other threads. Its caller's, who releases it. A thread that has
 * entered it has its calls end with nearcall_cancellation_cancel until it leaves, as those whose
 * deadline has passed: NEARCALL_CALL_ABORTED once they were posted, which the server sees; else
 * NEARCALL_NO_ASTACK or NEARCALL_NOT_EXECUTED, and an import NEARCALL_NOT_BOUND. Any number of
 * threads may be in one at a time, and a thread in several, in one more than once; cancelled once,
 * it is for good. A call looks when it is about to sleep: what is replied sooner has its reply, also
 * where it was cancelled before. */
nearcall_cancellation *nearcall_cancellation_new(void);
/* Once no thread is in it; null is nothing. */
void nearcall_cancellation_release(nearcall_cancellation *cancellation);
void nearcall_cancellation_enter(const nearcall_cancellation *cancellation);
/* The thread that has entered leaves, as often; false: it is not in it. */
bool nearcall_cancellation_leave(const nearcall_cancellation *cancellation);
/* From any thread: calls in it that wait give up within 20 ms. Waits for nothing. */
void nearcall_cancellation_cancel(const nearcall_cancellation *cancellation);
bool nearcall_cancellation_is_cancelled(const nearcall_cancellation *cancellation);

/* Gives memory back that was lent (nearcall_lend_to_<interface>), before or after the client is
 * released; null is nothing. May wait 100 ms for room in the binding's socket. */
void nearcall_lent_release(void *lent);

/* For generated code from here on. */

nearcall_client *nearcall_import(const nearcall_domain *domain, const char *name,
                                 const nearcall_interface *interface,
                                 const nearcall_import_options *options,
                                 nearcall_environment *environment);
nearcall_client *nearcall_rebind(const nearcall_client *client, nearcall_environment *environment);
nearcall_client *nearcall_introduced(const nearcall_domain *domain, int introduction,
                                     const nearcall_interface *interface,
                                     nearcall_environment *environment);
int nearcall_introduce(const nearcall_client *client, nearcall_environment *environment);
nearcall_client *nearcall_client_shared(const nearcall_client *client);
nearcall_client *nearcall_with_deadline(const nearcall_client *client, uint64_t deadline_ns);
void *nearcall_lend(const nearcall_client *client, size_t byte_count,
                    nearcall_environment *environment);
/* Whether the server has ended, or one of the two sides has given the binding up. */
bool nearcall_is_revoked(const nearcall_client *client);
/* Which life of the server it is bound to: a later export has a larger number. */
uint64_t nearcall_incarnation(const nearcall_client *client);
/* How many A-stacks the server holds of calls that nobody waits for: aborted, dropped or oneway
 * ones. */
uint32_t nearcall_captured_count(const nearcall_client *client);
/* Waits until every call over this binding is over that nobody waits for: what any thread has
 * posted oneway, given up or dropped. To be called before the program exits or releases the client:
 * what a server has not begun by then it does not run. How many are not over after timeout_ns; 0:
 * all have run, or were refused. */
uint32_t nearcall_flush(const nearcall_client *client, uint64_t timeout_ns);
/* How many A-stacks there are, of all classes. */
uint32_t nearcall_astack_count(const nearcall_client *client);
void nearcall_client_release(nearcall_client *client);
nearcall_clerk *nearcall_export(const nearcall_domain *domain, const char *name,
                                const nearcall_interface *interface, nearcall_enter enter,
                                const void *server, const nearcall_export_options *options,
                                nearcall_environment *environment);
nearcall_clerk *nearcall_async_export(const nearcall_domain *domain, const char *name,
                                      const nearcall_interface *interface, nearcall_enter enter,
                                      const void *server,
                                      const nearcall_export_options *options,
                                      nearcall_environment *environment);
/* Of a server whose record has null for that function; null, always. */
NEARCALL_RARE nearcall_clerk *nearcall_refuse_server(const nearcall_interface *interface,
                                                     const char *function,
                                                     nearcall_environment *environment);

/* These return false after an error, which the environment then tells. */
bool nearcall_call(const nearcall_client *client, uint32_t procedure,
                   const nearcall_message *request, nearcall_reply *reply,
                   nearcall_environment *environment);
/* Of a procedure whose calls may run twice. */
bool nearcall_call_twice(const nearcall_client *client, uint32_t procedure,
                         const nearcall_message *request, nearcall_reply *reply,
                         nearcall_environment *environment);
bool nearcall_post_oneway(const nearcall_client *client, uint32_t procedure,
                          const nearcall_message *request, nearcall_environment *environment);
/* The same in two halves, between which nothing is the caller's but `client` and `posted`. */
bool nearcall_post(const nearcall_client *client, uint32_t procedure,
                   const nearcall_message *request, uint32_t when, bool expects_descriptors,
                   nearcall_posted *posted, nearcall_environment *environment);
bool nearcall_collect(nearcall_posted *posted, nearcall_reply *reply,
                      nearcall_environment *environment);
/* Of a procedure whose calls may run twice: what a second try needs is copied. */
bool nearcall_post_twice(const nearcall_client *client, uint32_t procedure,
                         const nearcall_message *request, bool expects_descriptors,
                         nearcall_posted *posted, nearcall_environment *environment);
bool nearcall_collect_twice(nearcall_posted *posted, nearcall_reply *reply,
                            nearcall_environment *environment);
/* Of a kept reply; after an error it is not kept any more. */
bool nearcall_reply_take(nearcall_reply *reply, uint32_t variable_at, nearcall_take *takes,
                         uint32_t take_count, nearcall_environment *environment);
bool nearcall_reply_descriptors(nearcall_reply *reply, nearcall_descriptor *descriptors,
                                uint32_t descriptor_count, nearcall_environment *environment);
void nearcall_reply_release(nearcall_reply *reply);
/* False, always. */
NEARCALL_RARE bool nearcall_reply_malformed(nearcall_reply *reply, nearcall_malformed malformed,
                                            nearcall_environment *environment);
/* Room for `count` feeds that the procedure opens. False if so many more would be too many: over a
 * binding that is revoked, or a parent's, that is what is said. */
bool nearcall_feed_room(const nearcall_client *client, uint32_t procedure, uint32_t count,
                        nearcall_environment *environment);
/* So many are over by what the server has said, or were not opened. */
void nearcall_feeds_ended(const nearcall_client *client, uint32_t count);
bool nearcall_empty_batch(const nearcall_client *client, uint32_t procedure,
                          nearcall_environment *environment);
bool nearcall_feed_over(const nearcall_client *client, uint32_t procedure,
                           nearcall_environment *environment);
void nearcall_give_up_feed(const nearcall_client *client, uint64_t feed);
NEARCALL_RARE bool nearcall_refuse_argument(nearcall_environment *environment,
                                            nearcall_breach breach);

void nearcall_arguments_fixed(const nearcall_served *call, uint8_t *target, uint32_t byte_count);
/* False if the arguments are refused. */
bool nearcall_arguments_take(nearcall_served *call, uint32_t variable_at, nearcall_take *takes,
                             uint32_t take_count);
/* Memory that goes with the call, from nearcall_allocate or kept of earlier calls; null if there is
 * none. Its bytes may have any value. */
void *nearcall_scratch(nearcall_served *call, size_t byte_count);
bool nearcall_arguments_descriptors(nearcall_served *call, nearcall_descriptor *descriptors,
                                    uint32_t descriptor_count);
/* False, always. */
NEARCALL_RARE bool nearcall_refuse_arguments(nearcall_served *call, nearcall_malformed malformed);
NEARCALL_RARE bool nearcall_refuse_result(nearcall_served *call, nearcall_breach breach);
/* Of a procedure that raised what its interface does not declare, returned what cannot be sent, or
 * panicked. */
NEARCALL_RARE bool nearcall_refuse_raised(nearcall_served *call,
                                          const nearcall_environment *environment);
/* Of what a procedure in C++ has thrown whose answer somebody else has. */
NEARCALL_RARE void nearcall_tell_unanswered(const char *procedure, const char *why);
/* Of what a procedure in C++ has returned, and why it cannot be sent. */
NEARCALL_RARE void nearcall_refuse_returned(nearcall_environment *environment, const char *why);
/* Of an item that the feed of that procedure has made. */
NEARCALL_RARE bool nearcall_refuse_item(nearcall_environment *environment, const char *procedure,
                                        nearcall_breach breach);
NEARCALL_RARE bool nearcall_refuse_memory(nearcall_served *call, uint64_t byte_count);
/* Of a procedure whose feed has null for that function: it has panicked. Releases the feed. */
NEARCALL_RARE bool nearcall_refuse_made(nearcall_served *call, const char *function, void *own,
                                        void (*release)(void *));
void nearcall_reply_with(nearcall_served *call, const nearcall_message *message, uint32_t raised);
/* Memory of the call, all 0, for the record of one that is set aside; null if it is refused. */
nearcall_deferred *nearcall_defer_room(nearcall_served *call, size_t byte_count);
/* From here on it is the procedure's; false if there is nobody to reply to. `finish` replies: with
 * what was raised if there is an environment. `free`, or null, gives back what the record holds. */
bool nearcall_defer(nearcall_served *call, nearcall_deferred *record,
                    void (*finish)(nearcall_served *call, nearcall_deferred *record,
                                   const nearcall_environment *environment),
                    void (*free)(nearcall_deferred *record));
/* With what the record holds, or with what was raised if there is an environment. */
void nearcall_deferred_reply(nearcall_deferred *call, const nearcall_environment *environment);
void nearcall_lend_room(nearcall_served *call, uint32_t variable_at, uint32_t limit);

/* False if they are refused. `own` is released when the feed is over, or here if it is refused. */
bool nearcall_open_source(nearcall_served *call, const nearcall_source *source, const void *made,
                          size_t made_bytes, void *own, void (*release)(void *), uint64_t *feed);
bool nearcall_open_intake(nearcall_served *call, const nearcall_intake *intake, const void *made,
                          size_t made_bytes, void *own, void (*release)(void *), uint64_t *feed);
bool nearcall_feed_next(nearcall_served *call, const nearcall_source *source, uint64_t feed,
                        uint32_t number, nearcall_batch *batch, bool *is_last,
                        nearcall_environment *environment);
bool nearcall_feed_put(nearcall_served *call, const nearcall_intake *intake, uint64_t feed,
                       uint32_t number, const void *items, uint32_t count,
                       nearcall_environment *environment);
bool nearcall_feed_finish(nearcall_served *call, const nearcall_intake *intake, uint64_t feed,
                          void *result, nearcall_environment *environment);

/* The ends that a procedure is given, which it releases, and those that the call opens. */
void nearcall_make_exchange(nearcall_served *call, const nearcall_exchange *exchange,
                            nearcall_inlet **inlet, nearcall_outlet **outlet);
bool nearcall_open_exchange(nearcall_served *call, uint64_t *feed, uint64_t *sink);
/* `finish` replies, later; batch and environment are its own. */
void nearcall_exchange_next(nearcall_served *call, const nearcall_exchange *exchange,
                            uint64_t feed, uint32_t number,
                            void (*finish)(nearcall_served *call, const nearcall_batch *batch,
                                           bool is_last, nearcall_environment *environment));
/* What the items hold is taken, whatever happens. */
void nearcall_exchange_put(nearcall_served *call, const nearcall_exchange *exchange, uint64_t sink,
                           uint32_t number, const void *items, uint32_t count,
                           void (*finish)(nearcall_served *call));
bool nearcall_exchange_end(nearcall_served *call, const nearcall_exchange *exchange, uint64_t sink);
bool nearcall_inlet_take(nearcall_inlet *inlet, void *item, nearcall_environment *environment);
bool nearcall_outlet_give(nearcall_outlet *outlet, const void *item,
                          nearcall_environment *environment);
void nearcall_inlet_release(nearcall_inlet *inlet);
void nearcall_outlet_release(nearcall_outlet *outlet, nearcall_environment *environment);

/* For procedures: results that are written in place. What goes over the interface's bound is not
 * there: false. */
uint32_t nearcall_room_bytes(const nearcall_served *call);
bool nearcall_room_put(nearcall_served *call, const void *source, size_t byte_count);
/* How many were read; -1 after an error, of which errno says nothing, also for a file below 0. */
int64_t nearcall_room_read_at(nearcall_served *call, int file, uint64_t offset, size_t byte_count);

/* For procedures: octets that were lent. */
size_t nearcall_opaque_bytes(const nearcall_opaque *opaque);
bool nearcall_opaque_copy(const nearcall_opaque *opaque, size_t at, void *target,
                          size_t byte_count);
bool nearcall_opaque_write_at(const nearcall_opaque *opaque, int file, uint64_t offset);

/* Byte at which bytes stop being text; `byte_count` if they do not. */
size_t nearcall_text_end(const void *source, size_t byte_count);

#include "nearcall_codec.h"
#include "nearcall_brief.h"
#include "nearcall_feed.h"

#ifdef __cplusplus
}
#endif

#include "nearcall_layout.h"

#endif
