//! Procedures in C and C++ ask of their caller, and of who has introduced it, what those in Rust
//! ask.

use std::fs;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use nearcall::name::Scope;
use nearcall::{Binding, Clerk, Domain, ExportOptions, Importer, current_call};
use rustix::process::Gid;
use stubs_c_tests::knowing::known::*;

use crate::support::{Server, import, in_both};

/// A group that this process is not in, nor in the one after it.
const GROUP: u32 = 271_828;

/// The same server in Rust, whose answers are those that are wanted.
struct Knower;

fn asked_of<T>(is_giver: bool, ask: impl Fn(&Importer) -> T) -> T {
    let call = current_call().expect("it is one");
    ask(if is_giver { call.giver().expect("it was introduced") } else { call.importer() })
}

impl KnownServer for Knower {
    fn is_in_group(&self, is_giver: bool, group: u32) -> (bool, bool) {
        asked_of(is_giver, |one| (one.is_in_group(group), one.are_groups_all()))
    }

    fn cgroup(&self, is_giver: bool) -> String {
        asked_of(is_giver, Importer::cgroup).unwrap_or_default()
    }

    fn label(&self, is_giver: bool) -> String {
        asked_of(is_giver, |one| one.label().map(str::to_owned)).unwrap_or_default()
    }

    fn pidfd(&self, is_giver: bool) -> OwnedFd {
        asked_of(is_giver, Importer::pidfd).expect("it is there")
    }
}

/// What a server says of whom it is asked about; `groups` are those that are asked for.
fn answers(client: &KnownClient, is_giver: bool, groups: &[u32]) -> Vec<String> {
    let is_in = |group: &u32| format!("{:?}", client.is_in_group(is_giver, *group).unwrap());
    let mut said: Vec<_> = groups.iter().map(is_in).collect();
    said.extend([client.cgroup(is_giver).unwrap(), client.label(is_giver).unwrap()]);
    said
}

/// Which process it is that a pidfd of a server's is of.
fn process_of(client: &KnownClient, is_giver: bool) -> String {
    let pidfd = client.pidfd(is_giver).unwrap();
    let path = format!("/proc/self/fdinfo/{}", pidfd.as_raw_fd());
    let text = fs::read_to_string(path).expect("/proc tells");
    let number = text.lines().find_map(|line| line.strip_prefix("Pid:"));
    number.expect("it is a pidfd").trim().to_owned()
}

/// What a client is told for itself, and in the name of whom it has introduced.
fn both(binding: Binding, other: &Domain) -> [(KnownClient, bool); 2] {
    let introduction = binding.introduce().unwrap();
    let introduced = Binding::import_introduced(other, introduction, &KNOWN).unwrap();
    [(KnownClient::new(binding), false), (KnownClient::new(introduced), true)]
}

fn ask(program: &Path, runtime: &Path) {
    let server = Server::start(program, "known", runtime);
    let (domain, other) = (Domain::new().unwrap(), Domain::new().unwrap());
    let mut options = ExportOptions::default();
    options.scope = Some(Scope::Directory(runtime.join("nearcall")));
    let _clerk = Clerk::export_with(&domain, "wanted", KnownEntries::new(Knower), options).unwrap();

    // This thread's, where the test may have it in any.
    let _ = rustix::thread::set_thread_groups(&[Gid::from_raw(GROUP)]);
    let own: Vec<_> =
        rustix::process::getgroups().unwrap().iter().map(|one| one.as_raw()).collect();
    let groups = [own.as_slice(), &[GROUP + 1]].concat();
    let wanted = both(import(&domain, "wanted", runtime, &KNOWN), &other);
    let asked = both(import(&domain, "known", runtime, &KNOWN), &other);
    for ((asked, is_giver), (wanted, _)) in asked.iter().zip(&wanted) {
        let said = answers(asked, *is_giver, &groups);
        assert_eq!(said, answers(wanted, *is_giver, &groups));
        assert!(said[..own.len()].iter().all(|one| one == "(true, true)"), "{said:?}");
        assert_eq!(said[own.len()], "(false, true)");
        assert_eq!(process_of(asked, *is_giver), std::process::id().to_string());
    }
    server.end();
}

#[test]
fn procedures_learn_of_groups_control_group_label_and_process() {
    in_both("known.idl", ["knower", "knower_cpp"], ask);
}
