//! What programs of tests do themselves beside the library.

use confined::Kind;
use nearcall::system_calls::{BINDING, CALLING};

/// A system call, and what it is made for.
pub type Listed = (&'static str, &'static str);

/// What the programs in Rust, C and C++ do that tests and the matrix start.
const OF_COMPILED: &[Listed] = &[
    ("alarm", "a child that is not over in time is ended"),
    ("clone", "a program forks"),
    ("getdents64", "a program counts its descriptors"),
    ("ioctl", "libtest asks whether it writes to a terminal"),
    ("lseek", "libtest asks how many processors a control group leaves"),
    ("newfstatat", "streams of the C library look at what they are of"),
    ("pipe", "a procedure hands out the end of a pipe"),
    ("pipe2", "as above"),
    ("poll", "Rust's standard library looks which standard streams are open"),
    ("pread64", "a program reads from a file that it was handed"),
    ("pwrite64", "a procedure writes into a file that it hands out"),
    ("rt_sigreturn", "a handler returns"),
    ("sendto", "a program writes to the end of a socket pair that it hands out"),
    ("tgkill", "a program ends itself, by abort"),
    ("wait4", "a program waits for its child"),
];

/// What the interpreter of Python does, and NumPy: `docs/system-calls.md` has the same ones.
pub const OF_INTERPRETER: &[Listed] = &[
    ("epoll_wait", "an event loop waits"),
    ("getcwd", "the interpreter looks for modules in its directory"),
    ("getdents64", "the interpreter looks for modules"),
    ("getegid", "outside of an environment the interpreter asks whose rights it has"),
    ("getgid", "as above"),
    ("getpeername", "a socket is shown as text, as in the warning of one that nobody has closed"),
    ("getuid", "outside of an environment the interpreter asks whose rights it has"),
    ("ioctl", "a file that is opened is asked whether it is a terminal"),
    ("lseek", "a file that is opened is asked where it is read"),
    ("mbind", "NumPy's OpenBLAS wants memory near the processor that uses it"),
    ("newfstatat", "the interpreter looks for modules"),
    ("pread64", "the loader reads a module in C"),
    ("readlink", "the interpreter looks for itself"),
    ("recvfrom", "an event loop hears that a thread wakes it"),
    ("rename", "the interpreter keeps what it has compiled of a module"),
    ("rt_sigreturn", "the interpreter's handler of a signal returns"),
    ("sendto", "a thread wakes an event loop"),
    ("sysinfo", "a sort of the C library's asks how much memory there is"),
    ("uname", "NumPy asks which processor this is"),
];

/// What programs in Python do themselves that tests and the matrix start.
const OF_PYTHON: &[Listed] = &[
    ("kill", "a client stops itself"),
    ("pause", "a server waits until it is ended"),
    ("pipe2", "a procedure hands out the end of a pipe"),
    ("pwrite64", "a program writes into a file that it hands out"),
    ("tgkill", "a program ends itself, by abort"),
];

/// What a kind of program does itself.
fn own(kind: Kind) -> impl Iterator<Item = &'static Listed> {
    let (first, second) = match kind {
        Kind::Compiled => (OF_COMPILED, &[][..]),
        Kind::Python => (OF_INTERPRETER, OF_PYTHON),
    };
    first.iter().chain(second)
}

/// The calls that such a program may make.
pub fn of(kind: Kind) -> impl Iterator<Item = &'static str> {
    let own = own(kind).map(|call| call.0);
    CALLING.iter().chain(BINDING).copied().chain(own)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn what_programs_do_themselves_is_on_no_list_of_the_librarys_and_has_a_reason() {
        for kind in Kind::ALL {
            assert!(own(kind).all(|(_, reason)| !reason.is_empty()), "{kind:?}");
            let all: Vec<_> = of(kind).collect();
            let once: BTreeSet<_> = all.iter().collect();
            assert_eq!(once.len(), all.len(), "one is there twice: {kind:?}");
        }
    }
}
