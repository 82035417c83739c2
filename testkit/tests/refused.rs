//! What the system refuses a domain that is made is said by name. Alone in its file, because what
//! it may have is the whole process's.

#![forbid(unsafe_code)]

use std::error::Error;
use std::fs::{self, File};
use std::os::fd::AsRawFd;

use nearcall::Domain;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Less than the stack of a thread, and more than else a domain takes.
const MORE_BYTES: u64 = 1 << 20;

/// What is said of a domain that is made while the process may have no more than this.
fn said(resource: Resource, current: u64) -> String {
    let before = getrlimit(resource);
    setrlimit(resource, Rlimit { current: Some(current), ..before }).unwrap();
    let made = Domain::new();
    setrlimit(resource, before).unwrap();
    let refused = made.expect_err("there is no room");
    assert!(refused.get_ref().and_then(Error::source).is_some(), "the system's word is its source");
    refused.to_string()
}

fn mapped_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("/proc tells");
    let line = status.lines().find_map(|line| line.strip_prefix("VmSize:")).expect("it is there");
    let kib: u64 = line.trim().trim_end_matches(" kB").parse().expect("it is a number");
    kib << 10
}

/// As many descriptors as there are, if numbers are given from the lowest free one on.
fn descriptors() -> u64 {
    let next = File::open("/dev/null").unwrap();
    u64::try_from(next.as_raw_fd()).expect("it is open")
}

#[test]
fn an_error_of_a_new_domain_says_which_step_was_refused() {
    // First: stacks of threads that have ended are kept for others.
    let thread = said(Resource::As, mapped_bytes() + MORE_BYTES);
    assert!(thread.starts_with("start the thread that keeps house: "), "{thread}");
    let all = ["make an epoll set for housekeeping: ", "make an eventfd that wakes housekeeping: "];
    for (more, doing) in (0..).zip(all) {
        let refused = said(Resource::Nofile, descriptors() + more);
        assert!(refused.starts_with(doing), "{refused}");
    }
    assert!(Domain::new().is_ok());
}
