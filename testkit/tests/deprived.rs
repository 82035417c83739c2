//! A client whose program takes from it what it needs: descriptors, as some do that close all there
//! are (`closefrom(3)`), the length of files, or room. Whoever calls is told, and waits for nobody
//! who has seen the binding end.

use std::fs;
use std::io::{ErrorKind, Read};
use std::mem;
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::process::Command;

use futures::executor::block_on;
use lacking::lacking;
use nearcall::{CallError, UsageError};
use nearcall_os::peer::Process;
use nix::unistd::{alarm, close};
use rustix::event::{EventfdFlags, eventfd};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use testkit::faults::faults::FaultsClient;
use testkit::world::{Kind, in_world};

const SERVER: &str = env!("CARGO_BIN_EXE_testkit-server");

/// Tells this program that it is the process of one test.
const VARIABLE: &str = "NEARCALL_TESTKIT_DEPRIVED";

/// Seconds after which a client that is not over waits for ever.
const CLIENT_SECONDS: u32 = 60;

/// Arguments that lie out of line.
const LONG: usize = 1 << 20;

/// Runs a test of a client in a process of its own.
#[track_caller]
fn alone(test: &str, main: impl Fn(&FaultsClient)) {
    if std::env::var_os(VARIABLE).is_some() {
        alarm::set(CLIENT_SECONDS);
        in_world(Kind::Processes, SERVER, |world| {
            let server = world.serve("deprived");
            let client = world.import(&server);
            main(&client);
            println!("it has run");
            // Before anything is dropped: what has been closed must not be closed again.
            std::process::exit(0);
        });
    }
    let mut command = Command::new("/proc/self/exe");
    command.args(["--exact", test, "--nocapture"]).env(VARIABLE, "1");
    let output = command.output().expect("a run of this test");
    let has_run = String::from_utf8_lossy(&output.stdout).contains("it has run");
    assert!(output.status.success() && has_run, "{output:?}");
}

/// What a domain and its bindings have open: sockets, processes, and what housekeeping waits with.
fn of_the_domain() -> Vec<RawFd> {
    let entries = fs::read_dir("/proc/self/fd").unwrap().map(Result::unwrap);
    let is_ours = |what: &str| what.starts_with("socket:") || what.starts_with("anon_inode:");
    let ours = entries.filter(|entry| {
        fs::read_link(entry.path()).is_ok_and(|what| is_ours(&what.to_string_lossy()))
    });
    ours.map(|entry| entry.file_name().to_str().unwrap().parse().unwrap()).collect()
}

/// What becomes of the numbers of a client's descriptors.
enum Taken {
    /// They are free.
    Closed,
    /// Those of sockets are free, and nothing else.
    SocketsClosed,
    /// They are a file's that may be read at once, as a process that has ended may.
    Zeros,
    /// They are another counter's, which may not.
    Counters,
    /// They are one end of a socket pair of the program's own.
    Pair,
}

impl Taken {
    fn take(&self, numbers: Vec<RawFd>) -> Option<UnixStream> {
        let close_all =
            |numbers: &[RawFd]| numbers.iter().for_each(|number| close(*number).unwrap());
        let give = |descriptor: OwnedFd| {
            close_all(&numbers);
            // Copies get the lowest numbers that are free, until all of these are taken.
            let last = *numbers.iter().max().unwrap();
            while descriptor.try_clone().unwrap().into_raw_fd() < last {}
            mem::forget(descriptor);
        };
        match self {
            Taken::Closed => close_all(&numbers),
            Taken::SocketsClosed => close_all(&sockets_of(&numbers)),
            Taken::Zeros => give(fs::File::open("/dev/zero").unwrap().into()),
            Taken::Counters => give(eventfd(0, EventfdFlags::NONBLOCK).unwrap()),
            Taken::Pair => {
                let (ours, other) = UnixStream::pair().unwrap();
                give(other.into());
                ours.set_nonblocking(true).unwrap();
                return Some(ours);
            }
        }
        None
    }
}

fn sockets_of(numbers: &[RawFd]) -> Vec<RawFd> {
    let what = |number: &RawFd| fs::read_link(format!("/proc/self/fd/{number}")).unwrap();
    numbers.iter().copied().filter(|n| what(n).to_string_lossy().starts_with("socket:")).collect()
}

/// That a call fails once its client's descriptors were taken, and nothing is done to what has
/// their numbers.
#[track_caller]
fn is_told(test: &str, taken: Taken, call: impl Fn(&FaultsClient) -> Result<(), CallError>) {
    alone(test, |client| {
        call(client).unwrap();
        let ours = taken.take(of_the_domain());
        // Until it has noticed that the socket hung up, the server replies, or refuses.
        let mut outcome = call(client);
        while !client.binding().is_revoked() {
            outcome = call(client);
        }
        assert!(matches!(outcome, Err(CallError::CallFailed { .. })), "{outcome:?}");
        if let Some(mut ours) = ours {
            let error = ours.read(&mut [0]).expect_err("nothing was sent, and nobody hung up");
            assert_eq!(error.kind(), ErrorKind::WouldBlock);
        }
    });
}

#[test]
fn a_call_fails_whose_bindings_descriptors_were_closed() {
    let test = "a_call_fails_whose_bindings_descriptors_were_closed";
    is_told(test, Taken::Closed, FaultsClient::null);
}

#[test]
fn a_call_fails_whose_bindings_socket_was_closed() {
    let test = "a_call_fails_whose_bindings_socket_was_closed";
    is_told(test, Taken::SocketsClosed, FaultsClient::null);
}

#[test]
fn a_call_fails_whose_bindings_descriptors_are_a_file_now() {
    let test = "a_call_fails_whose_bindings_descriptors_are_a_file_now";
    is_told(test, Taken::Zeros, FaultsClient::null);
}

#[test]
fn a_call_fails_whose_bindings_descriptors_are_counters_now() {
    let test = "a_call_fails_whose_bindings_descriptors_are_counters_now";
    if Process::current().unwrap().inode().is_none() {
        return lacking("Linux 6.9, which tells processes and counters apart");
    }
    is_told(test, Taken::Counters, FaultsClient::null);
}

#[test]
fn a_socket_that_has_the_number_of_a_bindings_is_left_alone() {
    let test = "a_socket_that_has_the_number_of_a_bindings_is_left_alone";
    is_told(test, Taken::Pair, FaultsClient::null);
}

#[test]
fn an_awaited_call_fails_whose_bindings_descriptors_were_closed() {
    let test = "an_awaited_call_fails_whose_bindings_descriptors_were_closed";
    is_told(test, Taken::Closed, |client| block_on(client.awaiting().null()));
}

#[test]
fn arguments_longer_than_a_file_may_be_are_refused_by_the_limits_name() {
    let test = "arguments_longer_than_a_file_may_be_are_refused_by_the_limits_name";
    alone(test, |client| {
        let before = getrlimit(Resource::Fsize);
        setrlimit(Resource::Fsize, Rlimit { current: Some(0), ..before }).unwrap();
        let lend = |bytes| client.binding().lend(bytes).map(drop);
        for outcome in [client.echo(&[7; LONG]).map(drop), lend(LONG), lend(4 * LONG)] {
            let Err(CallError::Usage(error)) = outcome else { panic!("{outcome:?}") };
            assert!(matches!(error, UsageError::NoMemory { .. }), "{error}");
            assert!(error.to_string().contains("RLIMIT_FSIZE"), "{error}");
        }
        client.null().unwrap();
        setrlimit(Resource::Fsize, before).unwrap();
        assert_eq!(client.echo(&[7; LONG]).unwrap(), [7; LONG]);
    });
}

/// That results out of line are refused by who has no room for them, once the procedure has run.
#[track_caller]
fn are_refused(test: &str, resource: Resource, limit: fn() -> u64) {
    alone(test, |client| {
        let long = LONG as u32;
        // What comes back goes to memory that is there.
        let mut data = Vec::with_capacity(LONG);
        let before = getrlimit(resource);
        setrlimit(resource, Rlimit { current: Some(limit()), ..before }).unwrap();
        let outcome = client.fill(long, 7, &mut data);
        setrlimit(resource, before).unwrap();
        assert!(matches!(outcome, Err(CallError::ResultsRefused { .. })), "{outcome:?}");
        assert!(client.binding().is_revoked());
        let client = FaultsClient::new(client.binding().rebind().unwrap());
        client.fill(long, 7, &mut data).unwrap();
        assert_eq!(data, [7; LONG]);
    });
}

#[test]
fn results_for_whose_segment_no_descriptor_is_free_are_refused() {
    let test = "results_for_whose_segment_no_descriptor_is_free_are_refused";
    are_refused(test, Resource::Nofile, || {
        // The lowest number that is free, which is what a file gets.
        fs::File::open("/dev/null").unwrap().as_raw_fd() as u64
    });
}

#[test]
fn results_for_whose_segment_there_is_no_memory_are_refused() {
    let test = "results_for_whose_segment_there_is_no_memory_are_refused";
    are_refused(test, Resource::As, || {
        let said = fs::read_to_string("/proc/self/statm").unwrap();
        let pages: u64 = said.split(' ').next().unwrap().parse().unwrap();
        // Less than the results, and something for whoever allocates meanwhile.
        pages * 4096 + LONG as u64 / 2
    });
}
