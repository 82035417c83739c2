//! Imports that wait for a process to export: its end ends them.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use nearcall::{BindError, Binding, Domain, ImportOptions};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind, listen, socket};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use testkit::faults::faults::{FAULTS, FaultsClient};
use testkit::introducing_stubs::introducing::HOST;
use testkit::server::{export, import_options};

/// Longer than anything takes.
const NEVER: Duration = Duration::from_secs(120);

/// A process that ends with this status when its standard input does, and its pidfd.
fn process(status: i32) -> (Child, Arc<OwnedFd>) {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("read line; exit {status}")]).stdin(Stdio::piped());
    let child = command.spawn().unwrap();
    let pidfd = pidfd_open(Pid::from_child(&child), PidfdFlags::empty()).unwrap();
    (child, Arc::new(pidfd))
}

/// One that has ended, and that nobody has waited for.
fn ended(status: i32) -> (Child, Arc<OwnedFd>) {
    let (mut child, pidfd) = process(status);
    drop(child.stdin.take());
    let mut polled = [rustix::event::PollFd::new(&pidfd, rustix::event::PollFlags::IN)];
    rustix::event::poll(&mut polled, None).unwrap();
    (child, pidfd)
}

fn waiting(directory: &Path, pidfd: &Arc<OwnedFd>) -> ImportOptions {
    let mut options = import_options(directory);
    options.ready_timeout = NEVER;
    options.ready_pidfd = Some(Arc::clone(pidfd));
    options
}

fn import(directory: &Path, name: &str, pidfd: &Arc<OwnedFd>) -> Result<Binding, BindError> {
    Binding::import_with(&Domain::new().unwrap(), name, &FAULTS, waiting(directory, pidfd))
}

#[test]
fn an_import_ends_with_the_process_that_it_waits_for() {
    let directory = tempfile::tempdir().unwrap();
    let (mut child, pidfd) = process(3);
    let error = std::thread::scope(|threads| {
        let importing = threads.spawn(|| import(directory.path(), "never", &pidfd));
        drop(child.stdin.take());
        importing.join().unwrap().unwrap_err()
    });
    let want =
        r#""never" was not ready when the process that it waited for ended (exit status: 3)"#;
    let said = error.to_string();
    assert!(said.starts_with(&format!("{want}: no domain exports \"never\"")), "{said}");
    assert!(!error.may_retry(), "{error}");
    // Its parent can wait for it as if nobody had asked.
    let BindError::ProcessEnded { status, .. } = error else { panic!("{error}") };
    assert_eq!(status, Some(child.wait().unwrap()));
    // From then on nobody knows how it has ended.
    let error = import(directory.path(), "never", &pidfd).unwrap_err();
    let want = r#""never" was not ready when the process that it waited for ended: no domain"#;
    assert!(error.to_string().starts_with(want), "{error}");
}

#[test]
fn an_import_of_a_fastthread_ends_with_the_process_that_it_waits_for() {
    let directory = tempfile::tempdir().unwrap();
    let domain = Domain::new().unwrap();
    let (mut child, pidfd) = process(0);
    let options = waiting(directory.path(), &pidfd);
    nearcall_threads::run(move || {
        let importing = nearcall_threads::fork(move || {
            Binding::import_with(&domain, "never", &FAULTS, options)
        });
        // It runs until it waits, and lets this one go on: there is one processor.
        nearcall_threads::yield_now();
        drop(child.stdin.take());
        let error = importing.unwrap().join().unwrap().unwrap_err();
        assert!(matches!(error, BindError::ProcessEnded { .. }), "{error}");
        child.wait().unwrap();
    })
    .unwrap();
}

#[test]
fn a_server_that_has_exported_and_ended_is_refused_as_ever() {
    let directory = tempfile::tempdir().unwrap();
    let (mut child, pidfd) = ended(0);
    // What a server leaves that was killed: its socket, at which nobody listens.
    let address = SocketAddrUnix::new(directory.path().join("left.socket")).unwrap();
    let left = socket(AddressFamily::UNIX, SocketType::SEQPACKET, None).unwrap();
    bind(&left, &address).unwrap();
    listen(&left, 1).unwrap();
    drop(left);
    let error = import(directory.path(), "left", &pidfd).unwrap_err();
    let BindError::ProcessEnded { last, .. } = &error else { panic!("{error}") };
    assert!(matches!(**last, BindError::NoSuchName { .. }), "{error}");
    // One that does not wait hears nothing of the process.
    let mut options = waiting(directory.path(), &pidfd);
    options.ready_timeout = Duration::ZERO;
    let domain = Domain::new().unwrap();
    let error = Binding::import_with(&domain, "left", &FAULTS, options).unwrap_err();
    assert!(matches!(error, BindError::NoSuchName { .. }), "{error}");
    child.wait().unwrap();
}

#[test]
fn what_is_exported_is_bound_to_also_when_the_process_has_ended() {
    let directory = tempfile::tempdir().unwrap();
    let exporter = Domain::new().unwrap();
    let (mut child, pidfd) = ended(0);
    let _clerk = export(&exporter, directory.path(), "there").unwrap();
    let binding = import(directory.path(), "there", &pidfd).unwrap();
    FaultsClient::new(binding.clone()).null().unwrap();
    // The binding does not keep it: the next life of its server is another process.
    assert_eq!(Arc::strong_count(&pidfd), 1);
    // What no time mends is told as ever.
    let options = waiting(directory.path(), &pidfd);
    let domain = Domain::new().unwrap();
    let error = Binding::import_with(&domain, "there", &HOST, options).unwrap_err();
    assert!(matches!(error, BindError::OtherInterface { .. }), "{error}");
    child.wait().unwrap();
}

#[test]
fn a_process_that_lives_and_exports_nothing_is_waited_for_as_long_as_is_said() {
    let directory = tempfile::tempdir().unwrap();
    let (mut child, pidfd) = process(0);
    let mut options = waiting(directory.path(), &pidfd);
    options.ready_timeout = Duration::from_millis(20);
    let domain = Domain::new().unwrap();
    let error = Binding::import_with(&domain, "never", &FAULTS, options).unwrap_err();
    assert!(matches!(error, BindError::NotReady { .. }), "{error}");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_descriptor_of_another_kind_is_refused_before_anything_is_waited_for() {
    let directory = tempfile::tempdir().unwrap();
    let (reader, _writer) = rustix::pipe::pipe().unwrap();
    let error = import(directory.path(), "never", &Arc::new(reader)).unwrap_err();
    assert_eq!(error.to_string(), "ready_pidfd is no pidfd");
    assert!(!error.may_retry());
}
