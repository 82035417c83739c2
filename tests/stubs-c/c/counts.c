/* Counts the instructions of brief calls: `counts NAME`. It steps itself: with the trap flag set,
 * the processor stops after every instruction, and the handler counts. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <ucontext.h>

#include "brief.h"
#include "check.h"

#define TRAP_FLAG 0x100
/* Calls before, not stepped: the A-stack has its bias after them, and the server is awake. */
#define WARM_UP 1000
/* Calls of which the one with the fewest instructions counts. */
#define CALLS 50
/* Of a call with more only so many are shown. */
#define SHOWN_MAX 256
/* Classes of the interface. */
#define CLASSES 6

/* The call that is stepped: where its stub begins, where that returns to, what was counted, and
 * where each instruction stands. */
static struct stepped {
    uintptr_t stub;
    uintptr_t back;
    uintptr_t stack;
    unsigned count;
    unsigned to_post;
    uintptr_t at[SHOWN_MAX];
} stepped;

/* Where the program lies; the linker says. */
extern const char __executable_start[];

static nearcall_environment env;

/* Whether a swap of a register and memory stands there: how a call is posted. */
static bool is_swap(const uint8_t *code) {
    code += (*code & 0xf0) == 0x40;
    return code[0] == 0x87 && code[1] < 0xc0;
}

static void step(int signal, siginfo_t *information, void *context) {
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    const uintptr_t at = (uintptr_t)registers[REG_RIP], stack = (uintptr_t)registers[REG_RSP];
    (void)signal;
    (void)information;
    if (stepped.stack == 0 && at == stepped.stub) {
        stepped.stack = stack;
        stepped.back = *(uintptr_t *)stack;
    }
    if (stepped.stack == 0) {
        return;
    }
    if (at == stepped.back && stack > stepped.stack) {
        registers[REG_EFL] &= ~TRAP_FLAG;
        return;
    }
    if (stepped.count < SHOWN_MAX) {
        stepped.at[stepped.count] = at;
    }
    stepped.count++;
    if (stepped.to_post == 0 && is_swap((const uint8_t *)at)) {
        stepped.to_post = stepped.count;
    }
}

/* Past what a function may keep below its stack. */
static inline void trap(void) {
    __asm__ volatile("leaq -128(%%rsp), %%rsp\n\tpushfq\n\torq %0, (%%rsp)\n\tpopfq\n\t"
                     "leaq 128(%%rsp), %%rsp"
                     :
                     : "i"(TRAP_FLAG)
                     : "memory", "cc");
}

static void null(const brief_Brief *brief) {
    brief_Brief_null(brief, &env);
}

static void add(const brief_Brief *brief) {
    CHECK(brief_Brief_add(brief, 2, 3, &env) == 5);
}

/* IDL4's example, with four numbers. */
static void pfs_write(const brief_Brief *brief) {
    int32_t data[4] = {1, 2, 3, 4}, pos = 5;
    const brief_Longs longs = {4, data};
    CHECK(brief_Brief_write(brief, 7, &pos, 4, &longs, &env) == 10 && pos == 9);
}

/* 200 bytes in and out, of which 148 and 156 lie behind the line. */
static void wash(const brief_Brief *brief) {
    brief_Sheet sheet = {{0}};
    CHECK(brief_Brief_wash(brief, 1, &sheet, &env) == 0 && sheet._at[199] == 1);
}

/* In two halves, with the reply there before it is collected. */
static void posted_null(const brief_Brief *brief) {
    nearcall_posted_brief_Brief_null posted;
    CHECK(nearcall_post_brief_Brief_null(brief, &posted, &env));
    while (!nearcall_posted_is_replied(&posted.call)) {
    }
    nearcall_collect_brief_Brief_null(&posted, &env);
}

static void posted_add(const brief_Brief *brief) {
    nearcall_posted_brief_Brief_add posted;
    CHECK(nearcall_post_brief_Brief_add(brief, 2, 3, &posted, &env));
    while (!nearcall_posted_is_replied(&posted.call)) {
    }
    CHECK(nearcall_collect_brief_Brief_add(&posted, &env) == 5);
}

/* Counts the calls of one procedure. */
static void count(const brief_Brief *brief, const char *name, void (*call)(const brief_Brief *),
                  uintptr_t stub) {
    static struct stepped fewest;
    fewest.count = ~0u;
    for (int i = 0; i < WARM_UP; i++) {
        call(brief);
    }
    for (int i = 0; i < CALLS; i++) {
        memset(&stepped, 0, sizeof stepped);
        stepped.stub = stub;
        /* Or the speed of the machine would be counted. */
        for (int class_index = 0; class_index < CLASSES; class_index++) {
            ((const nearcall_client *)brief)->briefs[class_index].astack->linger = 0;
        }
        trap();
        call(brief);
        CHECK(env.outcome == NEARCALL_RETURNED && stepped.count > 0);
        if (stepped.count < fewest.count) {
            fewest = stepped;
        }
    }
    printf("%s %u %u", name, fewest.to_post, fewest.count);
    for (unsigned i = 0; i < fewest.count && i < SHOWN_MAX; i++) {
        printf(" %lx", (unsigned long)(fewest.at[i] - (uintptr_t)__executable_start));
    }
    puts("");
}

int main(int argc, char **argv) {
    struct sigaction action;
    cpu_set_t all, one;
    int processor = 0;
    CHECK(argc == 2);
    /* The first processor; the server has another one. */
    CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
    while (!CPU_ISSET(processor, &all)) {
        processor++;
    }
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    memset(&action, 0, sizeof action);
    action.sa_sigaction = step;
    action.sa_flags = SA_SIGINFO;
    CHECK(sigaction(SIGTRAP, &action, NULL) == 0);
    nearcall_domain *domain = nearcall_domain_new(&env);
    CHECK(domain != NULL);
    brief_Brief *brief = nearcall_import_brief_Brief(domain, argv[1], &env);
    CHECK(brief != NULL);
    count(brief, "null", null, (uintptr_t)brief_Brief_null);
    count(brief, "add", add, (uintptr_t)brief_Brief_add);
    count(brief, "pfs_write", pfs_write, (uintptr_t)brief_Brief_write);
    count(brief, "wash", wash, (uintptr_t)brief_Brief_wash);
    count(brief, "post_null", posted_null, (uintptr_t)nearcall_post_brief_Brief_null);
    count(brief, "collect_null", posted_null, (uintptr_t)nearcall_collect_brief_Brief_null);
    count(brief, "post_add", posted_add, (uintptr_t)nearcall_post_brief_Brief_add);
    count(brief, "collect_add", posted_add, (uintptr_t)nearcall_collect_brief_Brief_add);
    nearcall_client_release((nearcall_client *)brief);
    nearcall_domain_release(domain);
    return 0;
}
