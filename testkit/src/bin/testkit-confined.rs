//! Processes that confine themselves: `testkit-confined DIRECTORY NAME ROLE LIST`.
//!
//! ```text
//! serve calling   exports, admits, confines itself, serves
//! serve binding   confines itself, exports, admits, serves
//! call  calling   binds, confines itself, calls
//! call  binding   confines itself, binds, calls
//! stray calling   confines itself, and makes a system call that is not on the list
//! stray playing   the same, of the list of those who play in other tests
//! ```
//!
//! Each says what it has done, a line at a time, and goes on when it reads one.

#![forbid(unsafe_code)]

use std::io::{BufRead, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::Duration;

use nearcall::{BindError, Binding, CallError, Domain, NotExecuted, Policy, WhenExhausted};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use testkit::confined::{List, confine};
use testkit::faults::faults::{
    FAULTS, FEEDING, FaultsClient, FeedingClient, PASSING, PassingClient, Shape,
};
use testkit::introducing::{self, said_over};
use testkit::introducing_stubs::introducing::HOST;
use testkit::{feeding, passing, server};

const MIB: usize = 1 << 20;

/// Longer than a server spins.
const UNTIL_ASLEEP: Duration = Duration::from_millis(60);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, directory, name, role, list] = &arguments[..] else {
        eprintln!(
            "usage: testkit-confined DIRECTORY NAME serve|call|stray calling|binding|playing"
        );
        return ExitCode::from(2);
    };
    let list = match list.as_str() {
        "calling" => List::Calling,
        "binding" => List::Binding,
        _ => List::Playing,
    };
    match role.as_str() {
        "serve" => serve(Path::new(directory), name, list),
        "stray" => stray(list),
        _ => call(Path::new(directory), name, list),
    }
    ExitCode::SUCCESS
}

/// Says what has been done.
fn say(what: &str) {
    println!("{what}");
    std::io::stdout().flush().expect("standard output");
}

/// The same, and waits until it is told to go on.
fn say_and_wait(what: &str) {
    say(what);
    std::io::stdin().lock().read_line(&mut String::new()).expect("standard input");
}

fn serve(directory: &Path, name: &str, list: List) {
    say_and_wait("ready");
    if list == List::Binding {
        confine(list);
    }
    let domain = Domain::new().expect("a domain");
    let faults = server::export(&domain, directory, name).expect("an export");
    let passing = passing::export(&domain, directory, name).expect("an export");
    let feeding = feeding::export(&domain, directory, name).expect("an export");
    let host = introducing::name_of(name);
    let host = introducing::export(&domain, directory, &host, Policy::default());
    let host = host.expect("an export");
    say_and_wait("exported");
    if list == List::Calling {
        confine(list);
    }
    // The same users may connect: the file's permissions stay as they are.
    let revoked = host.set_policy(Policy::OwnerOnly).expect("another policy");
    assert_eq!(revoked, 0, "it says the same of all");
    say("confined");
    std::io::stdin().read_to_end(&mut Vec::new()).expect("standard input");
    drop((faults, passing, feeding, host));
    domain.shut_down();
}

fn stray(list: List) {
    say_and_wait("ready");
    confine(list);
    std::env::set_current_dir("/").expect("a directory");
    say("strayed");
}

/// What a client is bound to, and a descriptor to pass.
struct Bound {
    faults: Arc<FaultsClient>,
    passing: PassingClient,
    feeding: FeedingClient,
    host: Binding,
    domain: Domain,
    given: OwnedFd,
}

fn call(directory: &Path, name: &str, list: List) {
    let (given, _) = rustix::pipe::pipe().expect("a pipe");
    let process = process_that_exports_nothing();
    say_and_wait("ready");
    if list == List::Binding {
        confine(list);
    }
    wait_in_vain(directory, process);
    let bound = bind(directory, name, given);
    say_and_wait("bound");
    if list == List::Calling {
        confine(list);
    }
    call_all_kinds(&bound);
    say("called");
    let ended = loop {
        if let Err(error) = bound.faults.doze(1) {
            break error;
        }
    };
    let is_ended = matches!(
        ended,
        CallError::CallFailed { .. }
            | CallError::NotExecuted {
                reason: NotExecuted::Refused | NotExecuted::Revoked | NotExecuted::ServerEnded,
                ..
            }
    );
    assert!(is_ended, "{ended}");
    drop(bound);
    say("told");
}

/// A child that has ended or is about to, and that nobody waits for.
#[expect(clippy::zombie_processes, reason = "how it has ended is asked without waiting for it")]
fn process_that_exports_nothing() -> OwnedFd {
    let child = Command::new("true").spawn().expect("a program");
    pidfd_open(Pid::from_child(&child), PidfdFlags::empty()).expect("a child")
}

fn wait_in_vain(directory: &Path, process: OwnedFd) {
    let mut options = server::import_options(directory);
    options.ready_timeout = Duration::MAX;
    options.ready_pidfd = Some(Arc::new(process));
    let domain = Domain::new().expect("a domain");
    let error = Binding::import_with(&domain, "nobody", &FAULTS, options).expect_err("nobody");
    assert!(matches!(error, BindError::ProcessEnded { status: Some(_), .. }), "{error}");
}

fn bind(directory: &Path, name: &str, given: OwnedFd) -> Bound {
    let domain = Domain::new().expect("a domain");
    let import = |name: &str, interface| {
        let mut options = server::import_options(directory);
        options.when_exhausted = WhenExhausted::Grow;
        Binding::import_with(&domain, name, interface, options).expect("the server admits us")
    };
    Bound {
        faults: Arc::new(FaultsClient::new(import(name, &FAULTS))),
        passing: PassingClient::new(import(&passing::name_of(name), &PASSING)),
        feeding: FeedingClient::new(import(&feeding::name_of(name), &FEEDING)),
        host: import(&introducing::name_of(name), &HOST),
        domain: domain.clone(),
        given,
    }
}

/// Panics if anything comes out otherwise than it should.
fn call_all_kinds(bound: &Bound) {
    let Bound { faults, passing, feeding, host, domain, given } = bound;
    for number in 0..1_000 {
        assert_eq!(faults.add(number, 1).unwrap(), number + 1);
    }
    // The server sleeps and is woken; the client sleeps and is woken.
    for _ in 0..5 {
        std::thread::sleep(UNTIL_ASLEEP);
        faults.null().unwrap();
        faults.doze(20).unwrap();
    }
    assert!(faults.refuse(3).is_err());
    let late = faults.with_deadline(Duration::from_millis(5)).doze(50).unwrap_err();
    assert!(matches!(late, CallError::CallAborted { .. }), "{late}");
    faults.note().unwrap();
    // More at once than there are A-stacks, and than the server has processors ready; longer ones
    // where threads begin so late that the first calls are over.
    let has_grown = [30, 300, 3_000].into_iter().any(|milliseconds| {
        std::thread::scope(|threads| {
            (0..12).for_each(|_| drop(threads.spawn(|| faults.doze(milliseconds).unwrap())));
        });
        faults.binding().astack_count() > astacks_at_first()
    });
    assert!(has_grown, "it has not grown");
    let posting = faults.posting();
    let pending: Vec<_> = (0..32).map(|_| posting.work(1, 1, &[2]).unwrap()).collect();
    pending.into_iter().for_each(|call| assert_eq!(call.collect().unwrap(), [1, 2]));
    call_with_longer_and_longer_lists(faults);
    call_out_of_line(faults);
    for _ in 0..3 {
        drop(passing.back(given.as_fd()).unwrap());
        passing.close(given.as_fd()).unwrap();
    }
    for _ in 0..3 {
        let introduction = host.introduce().unwrap();
        let introduced = Binding::import_introduced(domain, introduction, &HOST).unwrap();
        assert!(said_over(&introduced).parse::<u32>().is_ok(), "it does not serve us");
    }
    let items: Result<Vec<u32>, CallError> = feeding.numbers(2_000, 0).unwrap().collect();
    assert_eq!(items.unwrap().len(), 2_000);
    let theirs = Arc::clone(faults);
    nearcall_threads::run(move || {
        let call = |_| {
            let client = Arc::clone(&theirs);
            nearcall_threads::fork(move || client.doze(5).unwrap()).unwrap()
        };
        let calls: Vec<_> = (0..8).map(call).collect();
        calls.into_iter().for_each(|call| assert!(call.join().unwrap() > 0));
    })
    .unwrap();
}

fn astacks_at_first() -> u32 {
    FAULTS.classes.iter().map(|class| class.count).sum()
}

/// They are marshalled to memory that grows, and read over those of earlier calls, which grow, too.
/// Before longer memory is freed than theirs: from then on the C library moves none of that length.
fn call_with_longer_and_longer_lists(faults: &FaultsClient) {
    for count in [100, 3_000, 12_000] {
        let name = |number: usize| format!("{number:060}");
        let shape = |number| Shape { name: name(number), points: Vec::new() };
        let given: Vec<_> = (0..count).map(shape).collect();
        let mirrored = faults.mirror(&given).unwrap();
        assert!(mirrored.iter().rev().eq(&given), "{count} of them");
    }
}

fn call_out_of_line(faults: &FaultsClient) {
    let data = vec![7; 3 * MIB];
    for _ in 0..2 {
        assert!(faults.echo(&data).unwrap() == data);
    }
    assert_eq!(faults.sum(&data).unwrap(), 7 * 3 * MIB as u32);
    let lent = faults.binding().lend(MIB).unwrap();
    assert_eq!(faults.sum(lent.first(MIB)).unwrap(), 0);
}
