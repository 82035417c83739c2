//! What programs of tests do themselves beside the library.

use nearcall::system_calls::{BINDING, CALLING};

/// A system call, and what it is made for.
pub type Listed = (&'static str, &'static str);

/// What the programs in Rust, C and C++ do that tests start.
pub const OF_PROGRAMS: &[Listed] = &[
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

/// The calls that such a program may make.
#[must_use]
pub fn of_programs() -> Vec<&'static str> {
    let own = OF_PROGRAMS.iter().map(|call| call.0);
    CALLING.iter().chain(BINDING).copied().chain(own).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn what_programs_do_themselves_is_on_no_list_of_the_librarys_and_has_a_reason() {
        assert!(OF_PROGRAMS.iter().all(|(_, reason)| !reason.is_empty()));
        let all = of_programs();
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "one is there twice");
    }
}
