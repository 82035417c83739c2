//! Calls that were posted oneway just before their client went: they are begun all the same, and
//! nothing else of it is (design note 0015).

use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use nearcall::raw::Pending;
use nearcall::{Binding, CallError, Clerk, Domain, DomainOptions, InterfaceDescriptor};
use rustix::process::Signal;
use testkit::faults::faults::{FAULTS, FaultsClient, PASSING, PassingClient};
use testkit::world::{World, each_world};
use testkit::{passing, server};

const SERVER: &str = env!("CARGO_BIN_EXE_testkit-server");

/// Calls that a client posts before it goes: as many as it has A-stacks.
const NOTES: u64 = 5;

/// What tells the test [`leave`] to be the client that goes: how, the directory and the name.
const LEAVES: &str = "NEARCALL_TEST_LEAVES";

fn wait_for_runs(client: &FaultsClient, wanted: u64) {
    while client.runs().unwrap() < wanted {
        std::thread::yield_now();
    }
}

/// So many clients come and go, one after the other; before each goes, `pause`.
fn come_and_go(world: &World, name: &str, clients: u64, pause: impl Fn()) {
    let server = world.serve(name);
    let staying = world.import(&server);
    for _ in 0..clients {
        let leaving = world.import(&server);
        pause();
        (0..NOTES).for_each(|_| leaving.note().unwrap());
    }
    wait_for_runs(&staying, clients * NOTES);
    assert_eq!(staying.runs().unwrap(), clients * NOTES);
}

#[test]
fn what_was_posted_just_before_a_release_runs_once() {
    each_world(SERVER, |world| come_and_go(world, "released", 200, || {}));
}

#[test]
fn a_server_that_sleeps_runs_it_too() {
    let pause = || std::thread::sleep(Duration::from_millis(30));
    each_world(SERVER, |world| come_and_go(world, "asleep", 10, pause));
}

/// Arguments beyond an A-stack, and descriptors.
#[test]
fn it_has_its_arguments() {
    each_world(SERVER, |world| {
        let server = world.serve("arguments");
        let bytes: u64 = 200_000;
        for round in 0..20 {
            let path = world.directory().join(format!("appended-{round}"));
            let file = File::create(&path).unwrap();
            let leaving = world.import_passing(&server);
            (0..3).for_each(|_| leaving.append(file.as_fd(), &vec![7; bytes as usize]).unwrap());
            (0..2).for_each(|_| leaving.append(file.as_fd(), &[7]).unwrap());
            drop(leaving);
            while file.metadata().unwrap().len() < 3 * bytes + 2 {
                std::thread::yield_now();
            }
            assert!(std::fs::read(&path).unwrap().iter().all(|byte| *byte == 7));
        }
    });
}

/// A client that goes before it has read all that the server has sent: the end of its socket is
/// said before what it has sent itself.
#[test]
fn it_has_its_descriptors_where_its_client_has_left_something_unread() {
    each_world(SERVER, |world| {
        let server = world.serve("unread");
        for round in 0..20 {
            let path = world.directory().join(format!("appended-{round}"));
            let file = File::create(&path).unwrap();
            let leaving = world.import_passing(&server);
            let made = leaving.posting().made("unread").unwrap();
            while !made.is_replied() {
                std::thread::yield_now();
            }
            std::mem::forget(made);
            (0..NOTES - 1).for_each(|_| leaving.append(file.as_fd(), &[7]).unwrap());
            drop(leaving);
            while file.metadata().unwrap().len() < NOTES - 1 {
                std::thread::yield_now();
            }
        }
    });
}

/// A server of one processor, which a procedure keeps.
struct Kept {
    directory: tempfile::TempDir,
    server: Domain,
    clerk: Clerk,
    passing: Clerk,
    client: Domain,
}

impl Kept {
    fn new() -> Kept {
        let mut options = DomainOptions::default();
        options.processors_max = 1;
        let directory = tempfile::tempdir().unwrap();
        let server = Domain::with_options(options).unwrap();
        let clerk = server::export(&server, directory.path(), NAME).unwrap();
        let passing = passing::export(&server, directory.path(), NAME).unwrap();
        Kept { directory, server, clerk, passing, client: Domain::new().unwrap() }
    }

    fn binding(&self, name: &str, interface: &'static InterfaceDescriptor) -> Binding {
        let options = server::import_options(self.directory.path());
        Binding::import_with(&self.client, name, interface, options).unwrap()
    }

    fn import(&self) -> FaultsClient {
        FaultsClient::new(self.binding(NAME, &FAULTS))
    }

    fn import_passing(&self) -> PassingClient {
        PassingClient::new(self.binding(&passing::name_of(NAME), &PASSING))
    }
}

/// Posts a call that keeps the server's processor from here on.
fn keep(client: &PassingClient) -> Pending<'_, (), CallError> {
    let (mut told, tells) = std::io::pipe().unwrap();
    let keeping = client.posting().keep(tells.as_fd(), KEPT_MS).unwrap();
    told.read_exact(&mut [0]).unwrap();
    keeping
}

const NAME: &str = "kept";

/// Longer than it takes to post, to go and to be missed.
const KEPT_MS: u32 = 300;

/// Nothing has begun when the client is found to have gone.
#[test]
fn what_is_not_oneway_is_not_run() {
    let kept = Kept::new();
    let [staying, leaving, elsewhere] = [(); 3].map(|()| kept.import());
    let keeper = kept.import_passing();
    let keeping = keep(&keeper);
    (0..NOTES).for_each(|_| leaving.note().unwrap());
    // It stays posted, as that of a process that ends in the middle of it.
    std::mem::forget(elsewhere.posting().work(0, 0, &[1]).unwrap());
    (0..NOTES).for_each(|_| elsewhere.note().unwrap());
    drop((leaving, elsewhere));
    keeping.collect().unwrap();
    wait_for_runs(&staying, 2 * NOTES);
    while kept.clerk.binding_count() > 1 {
        std::thread::yield_now();
    }
    assert_eq!(staying.runs().unwrap(), 2 * NOTES);
}

#[test]
fn a_clerk_that_ends_begins_nothing_of_it() {
    let kept = Kept::new();
    let directory = tempfile::tempdir().unwrap();
    let ending = passing::export(&kept.server, directory.path(), "ending").unwrap();
    let options = server::import_options(directory.path());
    let name = passing::name_of("ending");
    let binding = Binding::import_with(&kept.client, &name, &PASSING, options).unwrap();
    let (keeper, leaving) = (kept.import_passing(), PassingClient::new(binding));
    let file = File::create(directory.path().join("appended")).unwrap();
    let keeping = keep(&keeper);
    (0..NOTES).for_each(|_| leaving.append(file.as_fd(), &[7]).unwrap());
    drop(leaving);
    // It parts by now, mostly.
    std::thread::sleep(Duration::from_millis(50));
    drop(ending);
    keeping.collect().unwrap();
    keeper.add(1, 2).unwrap();
    assert_eq!(file.metadata().unwrap().len(), 0);
    assert_eq!(kept.passing.binding_count(), 1);
}

/// The client that goes without a release: see [`a_process_that_ends_leaves_its_calls_behind`].
#[test]
fn leave() {
    let Ok(how) = std::env::var(LEAVES) else {
        return;
    };
    let [how, directory, name] = how.split(':').collect::<Vec<_>>()[..] else {
        panic!("how, where and what");
    };
    let domain = Domain::new().unwrap();
    let options = server::import_options(Path::new(directory));
    let binding = Binding::import_with(&domain, name, &FAULTS, options).unwrap();
    let client = FaultsClient::new(binding);
    (0..NOTES).for_each(|_| client.note().unwrap());
    match how {
        "exits" => std::process::exit(0),
        _ => rustix::process::kill_process(rustix::process::getpid(), Signal::KILL).unwrap(),
    }
}

#[test]
fn a_process_that_ends_leaves_its_calls_behind() {
    each_world(SERVER, |world| {
        let server = world.serve("ended");
        let staying = world.import(&server);
        for (ends, how) in (1..).zip(["exits", "is killed"].into_iter().cycle().take(6)) {
            let place = format!("{how}:{}:ended", world.directory().display());
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.args(["--exact", "left_behind::leave"]).env(LEAVES, place);
            let status = command.output().unwrap().status;
            assert_eq!(status.success(), how == "exits", "{status}");
            wait_for_runs(&staying, ends * NOTES);
            assert_eq!(staying.runs().unwrap(), ends * NOTES);
        }
    });
}
