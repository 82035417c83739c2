//! Children of fork(2): what a process has imported and exported stays its own. Its child is
//! refused every call, what it drops ends nothing, and the parent goes on.
//!
//! Each test is a process of its own, so that it forks where no other test is in the middle of
//! anything.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::process::Command;
// Relaxed: nothing depends on when it is seen.
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Sender, channel};
use std::task::{Context, Waker};
use std::time::Duration;

use futures::executor::block_on;
use nearcall::name::Scope;
use nearcall::raw::{Arguments, Deferred, Entries, Failure, Outcome};
use nearcall::{
    BindError, Binding, CallError, Clerk, Domain, ExportError, ExportOptions, InterfaceDescriptor,
    UsageError,
};
use nix::libc;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, alarm, fork};
use testkit::confined::{List, confine};
use testkit::faults::faults::{FAULTS, FEEDING, FaultsClient, FeedingClient, FeedingEntries};
use testkit::feeding::{self, Feeder};
use testkit::server::import_options;
use testkit::stays::stays::{STAYS, Stay, StaysClient, StaysEntries, StaysServer};
use testkit::world::{Kind, World, in_world};

#[path = "forks/outliving.rs"]
mod outliving;

const SERVER: &str = env!("CARGO_BIN_EXE_testkit-server");

/// Tells this program that it is the process of one test.
const VARIABLE: &str = "NEARCALL_TESTKIT_FORKS";

/// Seconds after which a child that is not over waits for ever.
const CHILD_SECONDS: u32 = 60;

/// What a child ends with that has done all that it was to.
const DONE: i32 = 7;

/// Forks beside others that call.
const FORKS: u32 = 300;

/// Who calls meanwhile.
const OTHERS: u32 = 3;

/// How long each of their calls keeps a processor, in ns.
const STUCK_NS: u32 = 200_000;

/// Longer than anybody spins.
const ASLEEP_MS: u32 = 50;

/// Runs a test in a process of its own.
#[track_caller]
fn alone(test: &str, main: impl FnOnce()) {
    if std::env::var_os(VARIABLE).is_some() {
        main();
        println!("it has run");
        std::process::exit(0);
    }
    // This program, also where a build beside it has put another one in its place.
    let mut command = Command::new("/proc/self/exe");
    command.args(["--exact", test, "--nocapture"]).env(VARIABLE, "1");
    let output = command.output().expect("a run of this test");
    let has_run = String::from_utf8_lossy(&output.stdout).contains("it has run");
    assert!(output.status.success() && has_run, "{output:?}");
}

/// The same beside a server in another process, with a client of it.
#[track_caller]
fn beside_a_server(test: &str, main: impl Fn(&World, FaultsClient)) {
    alone(test, || {
        in_world(Kind::Processes, SERVER, |world| {
            let server = world.serve("forks");
            main(world, world.import(&server));
        });
    });
}

/// How a child ends that does this.
fn end_of_child(main: impl FnOnce()) -> WaitStatus {
    // SAFETY: the child calls what allocates, which glibc allows after a fork.
    match unsafe { fork() }.expect("a child") {
        ForkResult::Child => {
            alarm::set(CHILD_SECONDS);
            confine(List::Forked);
            let is_done = catch_unwind(AssertUnwindSafe(main)).is_ok();
            // SAFETY: ends the child without what the parent would do at its end.
            unsafe { libc::_exit(if is_done { DONE } else { 1 }) }
        }
        ForkResult::Parent { child } => waitpid(child, None).expect("our own child"),
    }
}

/// How a child is made.
#[derive(Clone, Copy, PartialEq)]
enum By {
    Fork,
    /// No handler of fork(2) runs.
    Clone,
}

/// Makes a child, and says which of the two this is.
fn forked(by: By) -> ForkResult {
    match by {
        // SAFETY: as in `end_of_child`.
        By::Fork => unsafe { fork() }.expect("a child"),
        By::Clone => {
            let flags = libc::c_long::from(libc::SIGCHLD);
            // SAFETY: as above, and the child neither allocates nor waits for a lock.
            match unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) } {
                0 => ForkResult::Child,
                child => ForkResult::Parent { child: Pid::from_raw(child as i32) },
            }
        }
    }
}

#[track_caller]
fn child(main: impl FnOnce()) {
    let end = end_of_child(main);
    assert!(matches!(end, WaitStatus::Exited(_, DONE)), "{end:?}");
}

/// That a call is refused to a child of this process, and says what to do.
#[track_caller]
fn refused<T: std::fmt::Debug, E: Failure + std::fmt::Debug>(outcome: Result<T, E>, parent: u32) {
    let error = outcome.unwrap_err();
    let error = error.call_error().expect("it did not raise");
    let CallError::Usage(UsageError::Forked { name, importer }) = error else {
        panic!("{error}");
    };
    assert_eq!((name.starts_with("forks"), *importer), (true, parent));
    let said = error.to_string();
    assert!(said.contains("was forked from") && said.contains("import again"), "{said}");
}

/// As many calls as have an A-stack, and some, one after the other and at once.
#[track_caller]
fn goes_on(client: &FaultsClient) {
    (0..20).for_each(|number| assert_eq!(client.add(number, 1).unwrap(), number + 1));
    let posting = client.posting();
    let pending: Vec<_> = (0..5).map(|number| posting.add(number, 2).unwrap()).collect();
    let sums: Vec<i32> = pending.into_iter().map(|call| call.collect().unwrap()).collect();
    assert_eq!(sums, [2, 3, 4, 5, 6]);
    assert_eq!(client.echo(&[3; 100_000]).unwrap(), [3; 100_000]);
    assert!(!client.binding().is_revoked());
    assert_eq!(client.binding().captured_count(), 0);
}

#[test]
fn a_child_is_refused_every_call_and_the_parent_goes_on() {
    beside_a_server("a_child_is_refused_every_call_and_the_parent_goes_on", |_, client| {
        let parent = std::process::id();
        let deadline = client.with_deadline(std::time::Duration::from_secs(60));
        // One of its A-stacks is kept for this thread, and one is not.
        goes_on(&client);
        child(|| {
            for _ in 0..10 {
                refused(client.null(), parent);
                refused(client.echo(&[1; 100_000]), parent);
                refused(client.work(1, 0, &[1]), parent);
                refused(client.note(), parent);
                refused(client.posting().add(1, 2).map(drop), parent);
                refused(block_on(client.awaiting().add(1, 2)), parent);
                refused(deadline.null(), parent);
                refused(client.binding().lend(10).map(drop), parent);
            }
            std::thread::scope(|scope| {
                let other = scope.spawn(|| refused(client.null(), parent));
                other.join().unwrap();
            });
            assert!(client.binding().is_revoked());
        });
        goes_on(&client);
    });
}

#[test]
fn a_child_of_a_thread_that_never_called_is_refused_too() {
    beside_a_server("a_child_of_a_thread_that_never_called_is_refused_too", |_, client| {
        let parent = std::process::id();
        goes_on(&client);
        std::thread::scope(|scope| {
            scope.spawn(|| child(|| refused(client.null(), parent))).join().unwrap();
        });
        goes_on(&client);
    });
}

#[test]
fn a_child_calls_over_a_binding_of_its_own() {
    beside_a_server("a_child_calls_over_a_binding_of_its_own", |world, client| {
        // The thread that wakes tasks is the parent's.
        assert!(block_on(client.awaiting().doze(ASLEEP_MS)).is_ok());
        child(|| {
            let domain = Domain::new().unwrap();
            let options = world.import_options();
            let own = Binding::import_with(&domain, "forks", &FAULTS, options).unwrap();
            let own = FaultsClient::new(own);
            goes_on(&own);
            assert!(block_on(own.awaiting().doze(ASLEEP_MS)).is_ok());
            child(|| refused(own.null(), std::os::unix::process::parent_id()));
            goes_on(&own);
        });
        goes_on(&client);
    });
}

#[test]
fn a_child_neither_binds_again_nor_introduces_by_what_is_its_parents() {
    let test = "a_child_neither_binds_again_nor_introduces_by_what_is_its_parents";
    beside_a_server(test, |world, client| {
        child(|| {
            let import = || {
                let domain = world.client_domain();
                Binding::import_with(domain, "forks", &FAULTS, world.import_options()).map(drop)
            };
            let binding = client.binding();
            let refusals = [import(), binding.rebind().map(drop), binding.introduce().map(drop)];
            for refusal in refusals {
                let Err(BindError::System { reason, .. }) = refusal else { panic!("{refusal:?}") };
                assert!(reason.to_string().contains("was forked from"), "{reason}");
            }
        });
        goes_on(&client);
    });
}

#[test]
fn calls_that_were_posted_are_the_parents() {
    beside_a_server("calls_that_were_posted_are_the_parents", |_, client| {
        let parent = std::process::id();
        let posting = client.posting();
        for is_replied in [false, true] {
            let post = || posting.work(1, if is_replied { 0 } else { 300 }, &[9]).unwrap();
            let pending: Vec<_> = (0..4).map(|_| post()).collect();
            while is_replied && !pending.iter().all(|call| call.is_replied()) {
                std::thread::yield_now();
            }
            let mut pending = Some(pending);
            child(|| {
                let mut pending = pending.take().unwrap().into_iter();
                refused(pending.next().unwrap().collect(), parent);
                pending.next().unwrap().cancel();
            });
            for call in pending.unwrap() {
                assert_eq!(call.collect().unwrap(), [1, 9]);
            }
            goes_on(&client);
        }
    });
}

#[test]
fn what_nobody_waits_for_is_the_parents_to_flush() {
    beside_a_server("what_nobody_waits_for_is_the_parents_to_flush", |_, client| {
        let (binding, long) = (client.binding(), std::time::Duration::from_secs(600));
        (0..2).for_each(|_| drop(client.posting().work(1, 1000, &[9]).unwrap()));
        assert_eq!(binding.captured_count(), 2);
        child(|| assert_eq!(binding.flush(long), 0));
        assert_eq!(binding.captured_count(), 2);
        assert_eq!(binding.flush(long), 0);
        goes_on(&client);
    });
}

#[test]
fn lent_memory_and_feeds_are_the_parents() {
    alone("lent_memory_and_feeds_are_the_parents", || {
        in_world(Kind::Processes, SERVER, |world| {
            let server = world.serve("forks");
            let (client, feeding) = (world.import(&server), world.import_feeding(&server));
            let mut lent = client.binding().lend(5000).unwrap();
            lent.fill(1);
            let mut numbers = feeding.numbers(5_000, 0).unwrap();
            assert_eq!(numbers.next().unwrap().unwrap(), 0);
            let mut held = Some((lent, numbers));
            child(|| {
                let (mut lent, mut numbers) = held.take().unwrap();
                assert!(lent.iter().all(|byte| *byte == 0), "it is memory of the child's own");
                lent.fill(2);
                // What has come is there; the next batch does not come here.
                let refusal = numbers.find_map(Result::err).expect("it is not all there");
                refused(Err::<(), _>(refusal), std::os::unix::process::parent_id());
            });
            let (lent, numbers) = held.unwrap();
            assert_eq!(client.sum(&lent).unwrap(), 5000);
            let numbers: Result<Vec<u32>, CallError> = numbers.collect();
            assert!(numbers.unwrap().into_iter().eq(1..5_000));
            goes_on(&client);
        });
    });
}

#[test]
fn what_a_child_drops_or_ends_with_ends_nothing() {
    beside_a_server("what_a_child_drops_or_ends_with_ends_nothing", |world, client| {
        let exported = Domain::new().unwrap();
        let export = || testkit::server::export(&exported, world.directory(), "forks-own").unwrap();
        let domain = Domain::new().unwrap();
        let import = || {
            let options = world.import_options();
            FaultsClient::new(Binding::import_with(&domain, "forks-own", &FAULTS, options).unwrap())
        };
        let mut held = Some((export(), client));
        let own = import();
        child(|| drop(held.take()));
        child(|| {
            exported.shut_down();
            domain.shut_down();
            let (clerk, client) = held.take().unwrap();
            drop((clerk, client));
        });
        let exits = end_of_child(|| std::process::exit(3));
        assert!(matches!(exits, WaitStatus::Exited(_, 3)), "{exits:?}");
        goes_on(&own);
        goes_on(&import());
        goes_on(&held.unwrap().1);
    });
}

#[test]
fn a_child_exports_nothing_through_its_parents_domain() {
    alone("a_child_exports_nothing_through_its_parents_domain", || {
        let directory = tempfile::tempdir().unwrap();
        let (domain, client) = (Domain::new().unwrap(), Domain::new().unwrap());
        let export = |name: &str| testkit::server::export(&domain, directory.path(), name);
        let _clerk = export("forks-before").unwrap();
        child(|| {
            let refusal = export("forks-in-child").map(drop);
            let Err(ExportError::System { reason, .. }) = refusal else { panic!("{refusal:?}") };
            assert!(reason.to_string().contains("was forked from"), "{reason}");
        });
        let _another = export("forks-after").unwrap();
        for name in ["forks-before", "forks-after"] {
            let options = import_options(directory.path());
            let binding = Binding::import_with(&client, name, &FAULTS, options).unwrap();
            goes_on(&FaultsClient::new(binding));
        }
        let mut options = import_options(directory.path());
        options.timeout = std::time::Duration::ZERO;
        let nobody = Binding::import_with(&client, "forks-in-child", &FAULTS, options).map(drop);
        assert!(matches!(nobody, Err(BindError::NoSuchName { .. })), "{nobody:?}");
    });
}

/// Returns twice, and in the parent once the child has ended, as a process does whose threads have.
fn fork_and_go_on() {
    // SAFETY: as in `end_of_child`.
    match unsafe { fork() }.expect("a child") {
        ForkResult::Child => {
            alarm::set(CHILD_SECONDS);
            confine(List::Forked);
        }
        ForkResult::Parent { child } => {
            let end = waitpid(child, None).expect("our own child");
            assert!(matches!(end, WaitStatus::Exited(_, 0)), "{end:?}");
        }
    }
}

/// Serves `Stays`, and has a child return from the procedure as well. Another number than 1 is how
/// long the procedure takes.
struct Forker;

impl StaysServer for Forker {
    fn work(&self, nanoseconds: u32) -> Stay {
        match nanoseconds {
            1 => fork_and_go_on(),
            _ => std::thread::sleep(Duration::from_nanos(nanoseconds.into())),
        }
        Stay {
            client_processor: 0,
            processor: 0,
            begin_ns: 1,
            end_ns: u64::from(std::process::id()),
        }
    }
}

#[test]
fn a_child_that_returns_from_a_procedure_replies_to_nobody() {
    alone("a_child_that_returns_from_a_procedure_replies_to_nobody", || {
        let directory = tempfile::tempdir().unwrap();
        let (server, domain) = (Domain::new().unwrap(), Domain::new().unwrap());
        let mut options = ExportOptions::default();
        options.scope = Some(Scope::Directory(directory.path().to_owned()));
        let _clerk =
            Clerk::export_with(&server, "forker", StaysEntries::new(Forker), options).unwrap();
        let options = import_options(directory.path());
        let client = Binding::import_with(&domain, "forker", &STAYS, options).unwrap();
        let client = StaysClient::new(client);
        for nanoseconds in [0, 1, 0, 1, 0] {
            assert_eq!(client.work(nanoseconds).unwrap().end_ns, u64::from(std::process::id()));
        }
        assert!(!client.binding().is_revoked());
    });
}

#[test]
fn a_child_that_returns_while_other_processors_begin_and_end_waits_for_none_of_them() {
    alone(
        "a_child_that_returns_while_other_processors_begin_and_end_waits_for_none_of_them",
        || {
            let directory = tempfile::tempdir().unwrap();
            let (server, domain) = (Domain::new().unwrap(), Domain::new().unwrap());
            let mut options = ExportOptions::default();
            options.scope = Some(Scope::Directory(directory.path().to_owned()));
            let _clerk =
                Clerk::export_with(&server, "forker", StaysEntries::new(Forker), options).unwrap();
            let client = || {
                let options = import_options(directory.path());
                StaysClient::new(Binding::import_with(&domain, "forker", &STAYS, options).unwrap())
            };
            let (forks, is_over) = (client(), AtomicBool::new(false));
            std::thread::scope(|threads| {
                for _ in 0..OTHERS {
                    let other = client();
                    let is_over = &is_over;
                    // Long enough for another processor to take over, again and again.
                    let call = move || {
                        while !is_over.load(Relaxed) {
                            other.work(STUCK_NS).unwrap();
                        }
                    };
                    threads.spawn(call);
                }
                let forked = catch_unwind(AssertUnwindSafe(|| {
                    for _ in 0..FORKS {
                        forks.work(1).unwrap();
                    }
                }));
                is_over.store(true, Relaxed);
                forked.unwrap();
            });
        },
    );
}

/// Serves `Feeding`, whose `gated` makes numbers up to that, and has a child return from the
/// iterator as well: at once, or when its call was answered by another processor.
struct ForkingFeeder(FeedingEntries<Feeder>);

impl Entries for ForkingFeeder {
    fn interface(&self) -> &'static InterfaceDescriptor {
        &FEEDING
    }

    fn enter(&self, procedure: usize, arguments: Arguments<'_>) -> Outcome {
        if FEEDING.procedures[procedure].name != "gated" {
            return self.0.enter(procedure, arguments);
        }
        let numbers = (0..arguments.get_u32::<0>()).inspect(|&number| {
            if number % 2 == 1 {
                if number % 4 == 1 {
                    std::thread::sleep(Duration::from_millis(20));
                }
                fork_and_go_on();
            }
        });
        feeding::open_numbers(arguments, numbers)
    }
}

#[test]
fn a_child_that_returns_from_an_iterator_sends_nothing() {
    alone("a_child_that_returns_from_an_iterator_sends_nothing", || {
        let directory = tempfile::tempdir().unwrap();
        let (server, domain) = (Domain::new().unwrap(), Domain::new().unwrap());
        let mut options = ExportOptions::default();
        options.scope = Some(Scope::Directory(directory.path().to_owned()));
        let entries = ForkingFeeder(FeedingEntries::new(Feeder::default()));
        let _clerk = Clerk::export_with(&server, "forker", entries, options).unwrap();
        let options = import_options(directory.path());
        let client = Binding::import_with(&domain, "forker", &FEEDING, options).unwrap();
        let client = FeedingClient::new(client);
        let numbers: Vec<_> = client.gated(12).unwrap().map(Result::unwrap).collect();
        assert_eq!(numbers, (0..12).collect::<Vec<_>>());
        assert!(!client.binding().is_revoked());
    });
}

/// Serves `Stays`, of which it sets every call aside.
struct Aside {
    calls: Sender<Deferred>,
}

impl Entries for Aside {
    fn interface(&self) -> &'static InterfaceDescriptor {
        &STAYS
    }

    fn enter(&self, _procedure: usize, arguments: Arguments<'_>) -> Outcome {
        arguments.defer(None, |call| self.calls.send(call).unwrap())
    }

    fn is_awaited(&self) -> bool {
        true
    }
}

#[test]
fn calls_that_were_set_aside_are_the_parents() {
    alone("calls_that_were_set_aside_are_the_parents", || {
        let directory = tempfile::tempdir().unwrap();
        let (server, domain) = (Domain::new().unwrap(), Domain::new().unwrap());
        let mut options = ExportOptions::default();
        options.scope = Some(Scope::Directory(directory.path().to_owned()));
        let (calls, came) = channel();
        let _clerk = Clerk::export_with(&server, "aside", Aside { calls }, options).unwrap();
        let options = import_options(directory.path());
        let client = Binding::import_with(&domain, "aside", &STAYS, options).unwrap();
        let client = StaysClient::new(client);
        let entries = StaysEntries::new(Forker);
        for is_dropped in [true, false] {
            let posted = client.posting().work(0).unwrap();
            let mut call = Some(came.recv().unwrap());
            let mut cancelled = Some(call.as_ref().unwrap().current().cancelled());
            let context = &mut Context::from_waker(Waker::noop());
            assert!(Pin::new(cancelled.as_mut().unwrap()).poll(context).is_pending());
            child(|| {
                drop(cancelled.take());
                let call = call.take().unwrap();
                match is_dropped {
                    true => drop(call),
                    false => call.reply(|arguments| entries.enter(0, arguments)),
                }
            });
            assert!(!posted.is_replied() && !client.binding().is_revoked());
            call.unwrap().reply(|arguments| entries.enter(0, arguments));
            assert_eq!(posted.collect().unwrap().end_ns, u64::from(std::process::id()));
        }
        assert!(!client.binding().is_revoked());
    });
}
