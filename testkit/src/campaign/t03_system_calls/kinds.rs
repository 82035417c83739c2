//! Which system calls a client and a server make in row T3: those that the library lists, but for
//! what is known of these lives.

use nearcall::system_calls::{BINDING, CALLING};

/// Who makes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Makes a domain, exports, admits an importer, serves it, and ends.
    Server,
    /// Makes a domain, binds, calls, and ends.
    Client,
}

/// How often a side makes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// In each life.
    Always,
    /// In some, by how fast others are.
    Sometimes,
    /// In none.
    Never,
}

/// What the player makes itself, and the runtime does not.
const OF_PLAYERS: [&str; 2] = ["readv", "writev"];

const BY_NEITHER: [&str; 7] = [
    // The child of a fork(2).
    "dup3",
    // Sockets that were handed down.
    "getsockname",
    // A kernel before 6.5.
    "pidfd_open",
    // Who was stopped and goes on.
    "restart_syscall",
    // Segments that are longer than a file of the process may be.
    "rt_sigtimedwait",
    // Introductions.
    "socketpair",
    // Imports that are told which process they wait for.
    "waitid",
];

/// Of the socket of a name and whoever comes there, of processors that sleep, and of iterators of
/// feeds.
const BY_SERVERS_ALONE: [&str; 14] = [
    "accept4",
    "bind",
    "chmod",
    "flock",
    "futex_waitv",
    "geteuid",
    "listen",
    "mkdir",
    "openat",
    "prlimit64",
    "statx",
    "timerfd_create",
    "timerfd_settime",
    "unlink",
];

/// Of memory that is lent.
const BY_CLIENTS_ALONE: [&str; 1] = ["ftruncate"];

const BY_CHANCE: [&str; 8] = [
    "brk",
    "clock_gettime",
    "clock_nanosleep",
    "exit",
    // Memory that grows where it is long.
    "mremap",
    // Before Linux 6.4, and where `prctl` fails.
    "open",
    "sched_setaffinity",
    "sched_yield",
];
const BY_CHANCE_OF_SERVERS: [&str; 2] = ["membarrier", "setsockopt"];
const BY_CHANCE_OF_CLIENTS: [&str; 3] = ["madvise", "ppoll", "read"];

/// What kills and never fails: the kernel fails none of these, and nobody looks. But `munmap` fails
/// for a broken invariant of our own, which is asserted while debugging; where `rseq` does, the C
/// library ends the process; and a sleep may be interrupted, after which the standard library goes
/// on with it.
const NEVER_FAIL: [&str; 12] = [
    "clock_gettime",
    "clock_nanosleep",
    // The kernel's closes whatever it says, and what it locks; one that is failed here does not.
    "close",
    "exit",
    "exit_group",
    // Wakes are among them: one that is failed here wakes nobody, and a server whose last one is
    // sleeps on. `futex_waitv` is for waits alone.
    "futex",
    "geteuid",
    "getpid",
    "gettid",
    "munmap",
    "rseq",
    "sched_yield",
];

/// All that the library lists.
pub fn listed() -> impl Iterator<Item = &'static str> {
    CALLING.iter().chain(BINDING).copied()
}

/// Whether a call is on a list, or a player's own.
pub fn is_known(call: &str) -> bool {
    OF_PLAYERS.contains(&call) || listed().any(|listed| listed == call)
}

/// Whether it may be made to say an error.
pub fn may_fail(call: &str) -> bool {
    !NEVER_FAIL.contains(&call)
}

impl Side {
    /// How often it makes a call that is listed.
    pub fn makes(self, call: &str) -> Made {
        let (never, by_chance) = match self {
            Side::Server => (&BY_CLIENTS_ALONE[..], &BY_CHANCE_OF_SERVERS[..]),
            Side::Client => (&BY_SERVERS_ALONE[..], &BY_CHANCE_OF_CLIENTS[..]),
        };
        if BY_NEITHER.contains(&call) || never.contains(&call) {
            Made::Never
        } else if BY_CHANCE.contains(&call) || by_chance.contains(&call) {
            Made::Sometimes
        } else {
            Made::Always
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_of_a_call_is_known_of_one_that_is_listed() {
        let known = [&BY_NEITHER[..], &BY_SERVERS_ALONE, &BY_CLIENTS_ALONE, &BY_CHANCE];
        let by_chance = [&BY_CHANCE_OF_SERVERS[..], &BY_CHANCE_OF_CLIENTS, &NEVER_FAIL];
        for call in known.into_iter().chain(by_chance).flatten() {
            assert!(listed().any(|listed| listed == *call), "{call}");
        }
        assert!(OF_PLAYERS.iter().all(|call| !listed().any(|listed| listed == *call)));
    }
}
