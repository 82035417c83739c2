//! What a call that passes descriptors leaves open in its own process: nothing; and what a twin
//! leaves that finds no descriptor free. Alone in their file, because no other test may open or
//! close any meanwhile; one after the other for the same reason.

use std::fs;
use std::os::fd::{AsFd, AsRawFd};
use std::time::{Duration, Instant};

use nearcall::{Binding, Domain};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use testkit::faults::faults::FAULTS;
use testkit::passing::count;
use testkit::server;
use testkit::world::{World, each_world};

const SERVER: &str = env!("CARGO_BIN_EXE_testkit-server");

#[test]
fn nothing_is_left_open() {
    calls_leave_no_descriptor_open();
    a_twin_that_is_not_made_leaves_no_bell();
}

fn bell_count() -> usize {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    maps.lines().filter(|line| line.contains("memfd:nearcall-bell")).count()
}

fn a_twin_that_is_not_made_leaves_no_bell() {
    let directory = tempfile::tempdir().unwrap();
    let (served, domain) = (Domain::new().unwrap(), Domain::new().unwrap());
    let clerk = server::export(&served, directory.path(), "twin").unwrap();
    let options = || server::import_options(directory.path());
    let before = getrlimit(Resource::Nofile);
    let mut refused_count = 0;
    loop {
        // Numbers are given from the lowest free one on.
        let next = rustix::io::dup(fs::File::open("/dev/null").unwrap()).unwrap();
        let lowest = next.as_raw_fd() as u64 - 1;
        drop(next);
        let current = Some(lowest + refused_count);
        setrlimit(Resource::Nofile, Rlimit { current, ..before }).unwrap();
        let made = Binding::import_twin(&domain, &clerk, &FAULTS, options());
        setrlimit(Resource::Nofile, before).unwrap();
        if made.is_ok() {
            break;
        }
        refused_count += 1;
        let begin = Instant::now();
        while bell_count() > 0 {
            assert!(begin.elapsed() < Duration::from_secs(60), "a bell is left of {made:?}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    // A pair of sockets, and what its class has.
    assert!(refused_count > 4, "{refused_count} were refused");
}

fn calls_leave_no_descriptor_open() {
    each_world(SERVER, |world: &World| {
        let server = world.serve("leaks");
        let client = world.import_passing(&server);
        let given = tempfile::tempfile().unwrap();
        let given = given.as_fd();
        let hasty = client.with_deadline(Duration::from_millis(2));
        let calls = || {
            for _ in 0..50 {
                drop(client.back(given).unwrap());
                client.choose(given, 1).unwrap_err();
                client.close(given).unwrap();
                drop(client.posting().back(given).unwrap());
                client.posting().later(given, 1).unwrap().cancel();
                // On a crowded machine its reply may be there before its client looks.
                drop(hasty.later(given, 4));
            }
            // Every A-stack is back, and a call that expects some has looked for what nobody did.
            while client.binding().captured_count() > 0 {
                std::thread::yield_now();
            }
            drop(client.back(given).unwrap());
        };
        calls();
        let before = count();
        calls();
        // A oneway call may still be under way.
        let closed = (0..60_000).any(|_| {
            std::thread::sleep(Duration::from_millis(1));
            count() <= before
        });
        assert!(closed, "{} descriptors were open, now {}", before, count());
    });
}
