//! A client whose program takes from it what it needs: descriptors, as some do that close all there
//! are (`closefrom(3)`), the length of files, or room. Whoever calls is told, and waits for nobody
//! who has seen the binding end.

use std::fs;
use std::os::fd::{AsRawFd, RawFd};
use std::process::Command;

use futures::executor::block_on;
use nearcall::{CallError, UsageError};
use nix::unistd::{alarm, close};
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

/// That a call fails once its client's descriptors were closed.
#[track_caller]
fn is_told(test: &str, call: impl Fn(&FaultsClient) -> Result<(), CallError>) {
    alone(test, |client| {
        call(client).unwrap();
        of_the_domain().into_iter().for_each(|number| close(number).unwrap());
        // Until it has noticed that the socket hung up, the server replies, or refuses.
        let mut outcome = call(client);
        while !client.binding().is_revoked() {
            outcome = call(client);
        }
        assert!(matches!(outcome, Err(CallError::CallFailed { .. })), "{outcome:?}");
    });
}

#[test]
fn a_call_fails_whose_bindings_descriptors_were_closed() {
    is_told("a_call_fails_whose_bindings_descriptors_were_closed", FaultsClient::null);
}

#[test]
fn an_awaited_call_fails_whose_bindings_descriptors_were_closed() {
    is_told("an_awaited_call_fails_whose_bindings_descriptors_were_closed", |client| {
        block_on(client.awaiting().null())
    });
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
