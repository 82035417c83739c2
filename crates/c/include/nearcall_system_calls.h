/* Made by crates/c/src/handle/system_calls.rs, where a test compares them.
 *
 * The system calls that a domain needs, for a program that confines itself with seccomp
 * (docs/system-calls.md): DO is done with the name of each, as
 *
 *     #define NUMBER(name) SYS_##name,
 *     static const int allowed[] = {
 *         NEARCALL_CALLING_SYSTEM_CALLS(NUMBER) NEARCALL_BINDING_SYSTEM_CALLS(NUMBER)};
 *
 * or, with libseccomp, seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(name), 0). nearcall.h does
 * not include this. */
#ifndef NEARCALL_SYSTEM_CALLS_H
#define NEARCALL_SYSTEM_CALLS_H

/* What aarch64 does not have, and what takes its place there. */
#ifdef __aarch64__
#define NEARCALL_OLD_SYSTEM_CALL(DO, name)
#define NEARCALL_NEW_SYSTEM_CALL(DO, name) DO(name)
#else
#define NEARCALL_OLD_SYSTEM_CALL(DO, name) DO(name)
#define NEARCALL_NEW_SYSTEM_CALL(DO, name)
#endif

/* Once bindings are made: for calls of every kind, and for their end. */
#define NEARCALL_CALLING_SYSTEM_CALLS(DO) \
    DO(accept4) \
    DO(brk) \
    DO(clock_gettime) \
    DO(clock_nanosleep) \
    NEARCALL_NEW_SYSTEM_CALL(DO, clone) \
    DO(clone3) \
    DO(close) \
    DO(dup3) \
    DO(epoll_ctl) \
    DO(epoll_pwait) \
    DO(exit) \
    DO(exit_group) \
    DO(fallocate) \
    DO(fcntl) \
    DO(fstat) \
    DO(fstatfs) \
    DO(ftruncate) \
    DO(futex) \
    DO(futex_waitv) \
    DO(geteuid) \
    DO(getpid) \
    DO(getrandom) \
    DO(getsockopt) \
    DO(gettid) \
    DO(madvise) \
    DO(membarrier) \
    DO(memfd_create) \
    DO(mmap) \
    DO(mprotect) \
    DO(mremap) \
    DO(munmap) \
    NEARCALL_OLD_SYSTEM_CALL(DO, open) \
    DO(openat) \
    DO(pidfd_open) \
    DO(ppoll) \
    DO(prctl) \
    DO(read) \
    DO(recvmsg) \
    DO(restart_syscall) \
    DO(rseq) \
    DO(rt_sigaction) \
    DO(rt_sigprocmask) \
    DO(rt_sigtimedwait) \
    DO(sched_getaffinity) \
    DO(sched_setaffinity) \
    DO(sched_yield) \
    DO(sendmsg) \
    DO(set_robust_list) \
    DO(setsockopt) \
    DO(shutdown) \
    DO(sigaltstack) \
    DO(socketpair) \
    DO(statx) \
    DO(timerfd_create) \
    DO(timerfd_settime) \
    NEARCALL_OLD_SYSTEM_CALL(DO, unlink) \
    NEARCALL_NEW_SYSTEM_CALL(DO, unlinkat) \
    DO(write)

/* On top, to make a domain, to import, to export, and for as long as importers are admitted. */
#define NEARCALL_BINDING_SYSTEM_CALLS(DO) \
    DO(bind) \
    NEARCALL_OLD_SYSTEM_CALL(DO, chmod) \
    DO(connect) \
    DO(epoll_create1) \
    DO(eventfd2) \
    NEARCALL_NEW_SYSTEM_CALL(DO, fchmodat) \
    DO(flock) \
    DO(getsockname) \
    DO(listen) \
    NEARCALL_OLD_SYSTEM_CALL(DO, mkdir) \
    NEARCALL_NEW_SYSTEM_CALL(DO, mkdirat) \
    DO(prlimit64) \
    DO(socket) \
    DO(waitid)

#endif
