//! A parent that ends before its child: its server lets go of it, and its name is free.

use std::fs;
use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::path::Path;
use std::time::Duration;

use nearcall::name::Scope;
use nearcall::{Binding, Clerk, Domain, ExportOptions};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, alarm, pause};
use testkit::activity::activity;
use testkit::confined::{List, confine};
use testkit::faults::faults::{FAULTS, FEEDING, FaultsClient, FeedingClient, FeedingEntries};
use testkit::feeding::Feeder;
use testkit::server::import_options;
use testkit::world::{Kind, World, in_world};

use super::{By, CHILD_SECONDS, SERVER, alone, beside_a_server, child, forked, goes_on};

/// A process that has done nothing for so long does nothing.
const AT_REST: Duration = Duration::from_millis(1_500);

/// Sockets that a process has open.
fn socket_count(pid: u32) -> usize {
    let open = fs::read_dir(format!("/proc/{pid}/fd")).expect("its descriptors");
    let names = open.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    names.filter(|name| name.to_string_lossy().starts_with("socket:")).count()
}

#[test]
fn a_child_has_no_part_of_its_parents_connections() {
    beside_a_server("outliving::a_child_has_no_part_of_its_parents_connections", |_, client| {
        let parents = socket_count(std::process::id());
        child(|| {
            assert_eq!(socket_count(std::process::id()), parents - 1);
            drop(client.clone());
        });
        assert_eq!(socket_count(std::process::id()), parents);
        goes_on(&client);
    });
}

/// Imports and calls, has a child that says its number into the pipe and waits, and is killed once
/// it is told so.
fn die_as_a_parent(world: &World, by: By, mut said: PipeWriter, mut told: PipeReader) -> ! {
    let domain = Domain::new().unwrap();
    let binding = Binding::import_with(&domain, "forks", &FAULTS, world.import_options());
    let client = FaultsClient::new(binding.unwrap());
    goes_on(&client);
    if let ForkResult::Child = forked(by) {
        alarm::set(CHILD_SECONDS);
        said.write_all(&std::process::id().to_ne_bytes()).unwrap();
        loop {
            pause();
        }
    }
    told.read_exact(&mut [0]).unwrap();
    kill(Pid::this(), Signal::SIGKILL).unwrap();
    unreachable!("it was killed");
}

/// Waits until a process does nothing any more.
fn await_rest(pid: u32) {
    if lacking::kernel_is_before(5, 16) {
        return lacking::lacking("servers that come to rest, of Linux 5.16");
    }
    let mut before = activity(pid);
    loop {
        std::thread::sleep(AT_REST);
        let now = activity(pid);
        if now == before {
            return;
        }
        before = now;
    }
}

/// That a server lets go of a client that has a child made so, and is killed, while the child
/// lives.
#[track_caller]
fn is_let_go_of(test: &str, by: By) {
    alone(test, || {
        in_world(Kind::Processes, SERVER, |world| {
            let server = world.serve("forks");
            let server_pid = server.pid().unwrap();
            let other = world.import(&server);
            let before = socket_count(server_pid);
            let ((mut says, said), (told, mut tell)) = (pipe().unwrap(), pipe().unwrap());
            let parent = match forked(By::Fork) {
                ForkResult::Child => {
                    alarm::set(CHILD_SECONDS);
                    confine(List::Forked);
                    die_as_a_parent(world, by, said, told);
                }
                ForkResult::Parent { child } => child,
            };
            let mut number = [0; 4];
            says.read_exact(&mut number).unwrap();
            let grandchild = Pid::from_raw(i32::from_ne_bytes(number));
            // Then it asks nobody whether it lives: what hangs up is the socket.
            await_rest(server_pid);
            tell.write_all(&[1]).unwrap();
            let end = waitpid(parent, None).expect("our own child");
            assert!(matches!(end, WaitStatus::Signaled(_, Signal::SIGKILL, _)), "{end:?}");
            // Ends with its alarm, and then there is nothing to see here.
            let lives = || fs::exists(format!("/proc/{grandchild}/fd/0")).unwrap();
            while socket_count(server_pid) > before {
                if let By::Clone = by {
                    goes_on(&other);
                }
                assert!(lives(), "the server has noticed no death while the child lived");
                std::thread::yield_now();
            }
            // It may have been that alarm which had the server let go.
            assert!(lives(), "the child has ended before the server noticed its parent's death");
            kill(grandchild, Signal::SIGKILL).expect("it lives still");
            goes_on(&world.import(&server));
        });
    });
}

#[test]
fn a_server_lets_go_of_a_client_whose_child_lives_on() {
    let test = "outliving::a_server_lets_go_of_a_client_whose_child_lives_on";
    is_let_go_of(test, By::Fork);
}

#[test]
fn a_server_lets_go_of_a_client_whose_child_made_by_hand_lives_on() {
    let test = "outliving::a_server_lets_go_of_a_client_whose_child_made_by_hand_lives_on";
    is_let_go_of(test, By::Clone);
}

/// Exports in this directory, as whoever does so without a policy.
fn export(domain: &Domain, directory: &Path) -> Clerk {
    let mut options = ExportOptions::default();
    options.scope = Some(Scope::Directory(directory.to_owned()));
    let entries = FeedingEntries::new(Feeder::default());
    Clerk::export_with(domain, "forks", entries, options).unwrap()
}

/// Exports, has a child that says its number into the pipe, and waits, as that does.
fn serve_as_a_parent(directory: &Path, mut said: PipeWriter) -> ! {
    let domain = Domain::new().unwrap();
    let _clerk = export(&domain, directory);
    if let ForkResult::Child = forked(By::Fork) {
        alarm::set(CHILD_SECONDS);
        said.write_all(&std::process::id().to_ne_bytes()).unwrap();
    }
    loop {
        pause();
    }
}

#[test]
fn the_name_of_a_server_whose_child_lives_on_is_exported_again() {
    alone("outliving::the_name_of_a_server_whose_child_lives_on_is_exported_again", || {
        let directory = tempfile::tempdir().unwrap();
        let (mut says, said) = pipe().unwrap();
        let parent = match forked(By::Fork) {
            ForkResult::Child => {
                alarm::set(CHILD_SECONDS);
                confine(List::Forked);
                serve_as_a_parent(directory.path(), said);
            }
            ForkResult::Parent { child } => child,
        };
        drop(said);
        let mut number = [0; 4];
        says.read_exact(&mut number).unwrap();
        let grandchild = Pid::from_raw(i32::from_ne_bytes(number));
        kill(parent, Signal::SIGKILL).unwrap();
        waitpid(parent, None).expect("our own child");
        let domain = Domain::new().unwrap();
        let _clerk = export(&domain, directory.path());
        let options = import_options(directory.path());
        let client = Binding::import_with(&domain, "forks", &FEEDING, options).unwrap();
        assert_eq!(FeedingClient::new(client).open().unwrap(), 0);
        kill(grandchild, Signal::SIGKILL).expect("it lives still");
    });
}
