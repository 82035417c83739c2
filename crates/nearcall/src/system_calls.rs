//! The system calls that Nearcall makes, by name: for a process that confines itself with seccomp.
//!
//! They are those of the library and of what Rust's standard library and the C library do for it:
//! threads that start and end, memory that is allocated and freed. What a procedure or a program
//! does itself comes on top. `testkit/tests/confined.rs` has calls of every kind made under filters
//! of these, and names any other; the clients and servers that `testkit` starts run under both.
//!
//! They are those of this program's architecture: aarch64 has no `open`, and `mkdirat` for `mkdir`.

/// What a client and a server need once their bindings are made: for calls of every kind, for
/// growth, for segments out of line, feeds, descriptors and introductions, for the death of the
/// other side, and to end in an orderly way.
pub const CALLING: &[&str] = &[
    "accept4",
    "brk",
    "clock_gettime",
    "clock_nanosleep",
    #[cfg(target_arch = "aarch64")]
    "clone",
    "clone3",
    "close",
    "dup3",
    "epoll_ctl",
    "epoll_pwait",
    "exit",
    "exit_group",
    "fallocate",
    "fcntl",
    "fstat",
    "fstatfs",
    "ftruncate",
    "futex",
    "futex_waitv",
    "geteuid",
    "getpid",
    "getrandom",
    "getsockopt",
    "gettid",
    "madvise",
    "membarrier",
    "memfd_create",
    "mmap",
    "mprotect",
    "mremap",
    "munmap",
    #[cfg(not(target_arch = "aarch64"))]
    "open",
    "openat",
    "pidfd_open",
    "ppoll",
    "prctl",
    "read",
    "recvmsg",
    "restart_syscall",
    "rseq",
    "rt_sigaction",
    "rt_sigprocmask",
    "rt_sigtimedwait",
    "sched_getaffinity",
    "sched_setaffinity",
    "sched_yield",
    "sendmsg",
    "set_robust_list",
    "setsockopt",
    "shutdown",
    "sigaltstack",
    "socketpair",
    "statx",
    "timerfd_create",
    "timerfd_settime",
    #[cfg(not(target_arch = "aarch64"))]
    "unlink",
    #[cfg(target_arch = "aarch64")]
    "unlinkat",
    "write",
];

/// What it takes on top to make a domain, to export, to import and to admit importers. A server
/// that goes on exporting admits and refuses whoever comes, so it needs these all the time.
pub const BINDING: &[&str] = &[
    "bind",
    #[cfg(not(target_arch = "aarch64"))]
    "chmod",
    "connect",
    "epoll_create1",
    "eventfd2",
    #[cfg(target_arch = "aarch64")]
    "fchmodat",
    "flock",
    "getsockname",
    "listen",
    #[cfg(not(target_arch = "aarch64"))]
    "mkdir",
    #[cfg(target_arch = "aarch64")]
    "mkdirat",
    "prlimit64",
    "socket",
    "waitid",
];
