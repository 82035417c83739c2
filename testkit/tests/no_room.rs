//! A server that has no room: for another mapping, or for another descriptor. Whoever asks is told
//! so, in words that say "try again", and nobody is revoked for it.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use lacking::lacking;
use nearcall::name::Scope;
use nearcall::{
    BindError, Binding, CallError, Cancellation, Clerk, Domain, DomainOptions, ExportOptions,
    Limits, NotExecuted, Policy, Priority, Rule, Rules, Verdict, Who,
};
use nearcall_abi::message::Message;
use nearcall_os::processor;
use rustix::net::{Shutdown, shutdown};
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use testkit::campaign::effects;
use testkit::campaign::hand::{self, HandClient, Heard};
use testkit::contract::{self, import_options};
use testkit::faults::faults::{FAULTS, FaultsClient};
use testkit::stubs::contract::{CONTRACT, ContractClient};
use testkit::users::{ANOTHER_USER, as_user};
use testkit::world::{Kind, Server, World, in_world};

const SERVER: &str = env!("CARGO_BIN_EXE_testkit-server");

const MIB: usize = 1 << 20;

/// What a process has of one thing, while it may have no more.
struct Held {
    pid: Pid,
    resource: Resource,
    before: Rlimit,
}

impl Held {
    /// Lets a server have no more than this.
    fn at(server: &Server, resource: Resource, limit: u64) -> Held {
        // It has ours, as far as it did not raise it: that one can be given back.
        Held::below(server, resource, limit, getrlimit(resource).maximum)
    }

    /// The same of one whose hard limit is this.
    fn below(server: &Server, resource: Resource, limit: u64, maximum: Option<u64>) -> Held {
        let pid = Pid::from_raw(server.pid().unwrap().cast_signed()).unwrap();
        let lower = Rlimit { current: Some(limit), maximum };
        let before = prlimit(Some(pid), resource, lower).unwrap();
        Held { pid, resource, before }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        prlimit(Some(self.pid), self.resource, self.before).unwrap();
    }
}

fn address_space_bytes(server: &Server) -> u64 {
    let path = format!("/proc/{}/statm", server.pid().unwrap());
    let pages = fs::read_to_string(path).unwrap();
    pages.split(' ').next().unwrap().parse::<u64>().unwrap() * 4096
}

/// The limit under which a server may open `count` descriptors more, and what it has open stays.
fn descriptors_and(server: &Server, count: usize) -> u64 {
    let entries = fs::read_dir(format!("/proc/{}/fd", server.pid().unwrap())).unwrap();
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name();
    let open: BTreeSet<u64> =
        entries.map(|entry| name(entry).to_str().unwrap().parse().unwrap()).collect();
    (0..).filter(|number| !open.contains(number)).nth(count).unwrap()
}

/// Waits until housekeeping has done what it does after a bind.
fn settle(client: &FaultsClient) {
    drop(client.binding().lend(4096).unwrap());
}

#[track_caller]
fn check_overloaded<T>(outcome: Result<T, CallError>) {
    let outcome = outcome.map(drop);
    let Err(CallError::NotExecuted { reason, .. }) = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(reason, NotExecuted::Overloaded);
}

/// What does not fit is refused as what may be tried again, and fits later.
fn check_no_room(limit: impl Fn(&World, &Server) -> Held, bytes: usize) {
    in_world(Kind::Processes, SERVER, |world| {
        let server = world.serve("full");
        let client = world.import(&server);
        let other = world.import(&server);
        settle(&other);
        let data = vec![7; bytes];
        let held = limit(world, &server);
        check_overloaded(client.echo(&data));
        let error = other.binding().lend(bytes).unwrap_err();
        assert!(error.to_string().contains("no room for it now"), "{error}");
        assert!(!client.binding().is_revoked() && !other.binding().is_revoked());
        client.null().unwrap();
        drop(held);
        assert!(client.echo(&data).unwrap() == data);
        drop(other.binding().lend(bytes).unwrap());
    });
}

#[test]
fn a_server_that_can_map_nothing_more_refuses_and_revokes_nobody() {
    // The allocator has room for what it needs meanwhile.
    let limit = |_: &World, server: &Server| {
        Held::at(server, Resource::As, address_space_bytes(server) + 16 * MIB as u64)
    };
    check_no_room(limit, 64 * MIB);
}

#[test]
fn a_server_without_a_free_descriptor_refuses_and_revokes_nobody() {
    let limit =
        |_: &World, server: &Server| Held::at(server, Resource::Nofile, descriptors_and(server, 0));
    check_no_room(limit, MIB);
}

#[test]
fn a_bind_for_whose_segments_there_is_no_descriptor_may_be_tried_again() {
    in_world(Kind::Processes, SERVER, |world| {
        let server = world.serve("full");
        let first = world.import(&server);
        settle(&first);
        // The socket of the next one fits; what it sends does not.
        let held = Held::at(&server, Resource::Nofile, descriptors_and(&server, 1));
        let options = world.import_options();
        let refused = Binding::import_with(world.client_domain(), "full", &FAULTS, options);
        assert!(matches!(refused, Err(BindError::Overloaded { .. })), "{refused:?}");
        drop(held);
        world.import(&server).null().unwrap();
        first.null().unwrap();
    });
}

#[test]
fn a_server_whose_files_may_not_be_as_long_as_results_refuses_them_and_lives() {
    in_world(Kind::Processes, SERVER, |world| {
        let server = world.serve("short");
        let client = world.import(&server);
        let data = vec![7; MIB];
        let held = Held::at(&server, Resource::Fsize, 4096);
        // By the error and a signal, of which the one is told and the other ends nobody.
        for bytes in [MIB, 4 * MIB] {
            let outcome = client.echo(&data[..1].repeat(bytes));
            assert!(matches!(outcome, Err(CallError::ResultsRefused { .. })), "{outcome:?}");
        }
        client.null().unwrap();
        drop(held);
        assert!(client.echo(&data).unwrap() == data);
    });
}

/// What was done `asked` times has been warned of, and far less often.
fn check_warned(world: &World, mut server: Server, asked: u32, warning: &str) {
    server.shut_down();
    let warnings = fs::read_to_string(world.directory().join("warnings")).unwrap();
    let written = warnings.lines().filter(|line| line.contains(warning)).count() as u32;
    assert!((1..asked / 2).contains(&written), "{written} of {asked}: {warnings}");
}

#[test]
fn messages_that_lose_their_descriptors_are_warned_of_at_a_pace() {
    let (asked, warning) = (400, "no room for the descriptors of a client's message");
    in_world(Kind::Processes, SERVER, |world| {
        let server = world.serve_as("warning", &["anybody"]);
        let path = hand::path_of(world.directory(), &effects::name_of("warning"));
        let client = HandClient::bind(&path).unwrap();
        let page = || hand::file(4096, 4096, hand::SINGLE).unwrap();
        let lend = |number| {
            let lend = Message::Lend { number, bytes: 4096 };
            hand::send(&client.stream, &hand::packet(&lend), &[page()]).unwrap();
            match hand::hear(&client.stream, SOON) {
                Heard::Packet(packet) => {
                    Message::decode(&packet).unwrap() != Message::Lent { number }
                }
                other => panic!("{other:?}"),
            }
        };
        // Housekeeping has done what it does after a bind.
        assert!(!lend(0));
        let limit = descriptors_and(&server, 0);
        let held = Held::below(&server, Resource::Nofile, limit, Some(1024));
        let refused = (1..=asked).filter(|number| lend(*number)).count();
        assert_eq!(refused as u32, asked);
        drop(held);
        check_warned(world, server, asked, warning);
    });
}

#[test]
fn calls_whose_arguments_are_refused_are_warned_of_at_a_pace() {
    let (asked, warning) = (400, "a call was refused");
    in_world(Kind::Processes, SERVER, |world| {
        let server = world.serve_as("warning", &["anybody"]);
        let path = hand::path_of(world.directory(), &effects::name_of("warning"));
        let client = HandClient::bind(&path).unwrap();
        for sequence in 1..=asked {
            // Too short for the sequence that it promises.
            client.post(hand::astack_of("echo"), hand::words_of("echo", sequence, 0));
            assert!(client.await_reply(hand::astack_of("echo"), sequence, SOON));
        }
        check_warned(world, server, asked, warning);
    });
}

/// A server in this process, for anybody.
fn export_to_all(options: DomainOptions, directory: &Path) -> (Domain, Clerk) {
    fs::set_permissions(directory, fs::Permissions::from_mode(0o755)).unwrap();
    let domain = Domain::with_options(options).unwrap();
    let mut options = ExportOptions::default();
    options.scope = Some(Scope::Directory(directory.to_owned()));
    options.policy = Policy::Anyone;
    let entries = contract::entries(&domain, directory);
    let clerk = Clerk::export_with(&domain, "keeper", entries, options).unwrap();
    (domain, clerk)
}

fn import(domain: &Domain, directory: &Path) -> Result<ContractClient, BindError> {
    let binding = Binding::import_with(domain, "keeper", &CONTRACT, import_options(directory));
    binding.map(ContractClient::new)
}

#[test]
fn whoever_has_its_share_of_mappings_leaves_room_for_other_users() {
    let mut options = DomainOptions::default();
    options.mappings_max = Some(60);
    let directory = tempfile::tempdir().unwrap();
    let _served = export_to_all(options, directory.path());
    let domain = Domain::new().unwrap();
    let greedy = as_user(1001, || {
        let client = import(&domain, directory.path()).unwrap();
        let mut lent = Vec::new();
        while let Ok(more) = client.binding().lend(4096) {
            lent.push(more);
        }
        let error = import(&domain, directory.path()).unwrap_err();
        assert!(matches!(error, BindError::Overloaded { .. }), "{error}");
        let says = "mappings: 33 is over its user's share, which is 30 now";
        assert!(error.to_string().contains(says), "{error}");
        client.null().unwrap();
        (client, lent)
    });
    let Some((client, lent)) = greedy else {
        return lacking(ANOTHER_USER);
    };
    // Its bell, its binding, and one for each.
    assert_eq!(lent.len(), 30 - 1 - 3);
    let other = import(&domain, directory.path()).unwrap();
    assert_eq!(other.echo(&[7; 100_000]).unwrap(), [7; 100_000]);
    drop(lent);
    assert_eq!(client.echo(&[7; 100_000]).unwrap(), [7; 100_000]);
}

/// Longer than anything takes that goes on.
const SOON: Duration = Duration::from_secs(60);

/// Calls that one user has under way at once: more than a server has processors.
const SLOW_CALLS: usize = 80;

#[test]
fn slow_calls_of_one_user_leave_processors_for_another() {
    let directory = tempfile::tempdir().unwrap();
    let _served = export_to_all(DomainOptions::default(), directory.path());
    let domain = Domain::new().unwrap();
    let other = import(&domain, directory.path()).unwrap();
    let other = other.with_deadline(SOON);
    if as_user(1001, || ()).is_none() {
        return lacking(ANOTHER_USER);
    }
    let most = beside_slow_calls(SLOW_CALLS, (&domain, directory.path()), || {
        let begin = Instant::now();
        let mut most = 0;
        // For some seconds, in which there are no calls that begin later if it has been so.
        while begin.elapsed() < Duration::from_secs(4) || most < 16 && begin.elapsed() < SOON {
            most = most.max(other.running().expect("another user's call goes on at once"));
        }
        most
    });
    // Its share of 64, where another has bound; more are begun while it is decided.
    assert!((16..=48).contains(&most), "{most} were running at once");
    // Theirs have ended, and it is held back no more.
    as_user(1001, || {
        let client = import(&domain, directory.path()).unwrap();
        client.with_deadline(SOON).null().unwrap();
    });
}

/// What comes of this beside so many slow calls of another user, each on a binding of its own,
/// which are cancelled after it.
fn beside_slow_calls<T>(
    count: usize,
    (domain, directory): (&Domain, &Path),
    main: impl FnOnce() -> T,
) -> T {
    /// Cancels also where the test fails.
    struct Cancelling(Cancellation);

    impl Drop for Cancelling {
        fn drop(&mut self) {
            self.0.cancel();
        }
    }

    let cancellation = Cancellation::new();
    let call_slowly = || {
        as_user(1001, || {
            let client = import(domain, directory).unwrap();
            cancellation.run(|| client.work_until_cancelled(600_000)).unwrap_err();
        });
    };
    std::thread::scope(|threads| {
        let _cancelling = Cancelling(cancellation.clone());
        (0..count).for_each(|_| drop(threads.spawn(call_slowly)));
        main()
    })
}

/// Threads of this process that serve calls of one processor's callers.
fn resident_count() -> usize {
    let names = fs::read_dir("/proc/self/task").unwrap().flatten();
    let names = names.filter_map(|task| fs::read_to_string(task.path().join("comm")).ok());
    names.filter(|name| name.starts_with("nearcall-at-")).count()
}

/// Residents never take the watch over: they leave as many processors to those that do.
#[test]
fn slow_calls_of_one_user_leave_a_processor_where_there_are_residents() {
    let directory = tempfile::tempdir().unwrap();
    let mut options = DomainOptions::default();
    options.processors_max = 16;
    let _served = export_to_all(options, directory.path());
    let domain = Domain::new().unwrap();
    let sleeper = as_user(1001, || {
        let client = import(&domain, directory.path()).unwrap();
        for processor in processor::allowed() {
            processor::pin(processor).unwrap();
            for _ in 0..10 {
                std::thread::sleep(Duration::from_millis(20));
                client.null().unwrap();
            }
        }
        client
    });
    if sleeper.is_none() {
        return lacking(ANOTHER_USER);
    }
    if processor::count_allowed() == 1 {
        return lacking("a second processor");
    }
    assert!(resident_count() > 0, "no call from a sleeper's processor made a resident");
    beside_slow_calls(20, (&domain, directory.path()), || {
        std::thread::sleep(Duration::from_secs(2));
        let other = import(&domain, directory.path()).unwrap();
        let running = other.with_deadline(SOON).running();
        running.expect("another user's call goes on");
    });
}

/// Bindings of one user, and its threads over them, whose calls end soon and come again: it is held
/// back and let go of all the time.
const SHORT_BINDINGS: usize = 40;
const SHORT_CALLERS: usize = 200;

#[test]
fn calls_that_come_again_and_again_keep_no_more_than_their_users_share() {
    let directory = tempfile::tempdir().unwrap();
    let mut options = DomainOptions::default();
    options.processors_max = 32;
    let _served = export_to_all(options, directory.path());
    let domain = Domain::new().unwrap();
    let other = import(&domain, directory.path()).unwrap();
    let bind = || (0..SHORT_BINDINGS).map(|_| import(&domain, directory.path()).unwrap()).collect();
    let Some(bound): Option<Vec<ContractClient>> = as_user(1001, bind) else {
        return lacking(ANOTHER_USER);
    };
    let is_over = AtomicBool::new(false);
    let mut counts: Vec<_> = std::thread::scope(|threads| {
        for client in bound.iter().cycle().take(SHORT_CALLERS) {
            threads.spawn(|| {
                while !is_over.load(Relaxed) {
                    let _ = client.work_until_cancelled(100);
                }
            });
        }
        std::thread::sleep(Duration::from_secs(1));
        let counts = (0..40).map(|_| {
            std::thread::sleep(Duration::from_millis(25));
            other.running().expect("another user's call goes on")
        });
        let counts = counts.collect();
        is_over.store(true, Relaxed);
        counts
    });
    counts.sort_unstable();
    // Its share of 32 is 16, where another has bound.
    let half = counts[counts.len() / 2];
    assert!((8..=20).contains(&half), "{half} of its calls ran at once, half of the time");
}

/// Calls that come back to their server need two processors each.
#[test]
fn calls_that_come_back_have_processors_beside_slow_calls_of_another_user() {
    let directory = tempfile::tempdir().unwrap();
    let _served = export_to_all(DomainOptions::default(), directory.path());
    let domain = Domain::new().unwrap();
    if as_user(1001, || ()).is_none() {
        return lacking(ANOTHER_USER);
    }
    beside_slow_calls(SLOW_CALLS, (&domain, directory.path()), || {
        std::thread::sleep(Duration::from_secs(2));
        let back = || {
            let client = import(&domain, directory.path()).unwrap();
            client.with_deadline(SOON).relay("keeper", 10)
        };
        std::thread::scope(|threads| {
            for each in [(); 2].map(|()| threads.spawn(back)) {
                each.join().unwrap().expect("it came back");
            }
        });
    });
}

/// Bells that are mapped in this process, by servers.
fn bell_count() -> usize {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    maps.lines().filter(|line| line.contains("memfd:nearcall-bell")).count()
}

#[test]
fn the_bell_of_a_user_goes_with_its_last_binding() {
    let directory = tempfile::tempdir().unwrap();
    let _served = export_to_all(DomainOptions::default(), directory.path());
    let domain = Domain::new().unwrap();
    let _stays = import(&domain, directory.path()).unwrap();
    let before = bell_count();
    for uid in 2001..2009 {
        let bound = as_user(uid, || {
            import(&domain, directory.path()).unwrap().null().unwrap();
        });
        if bound.is_none() {
            return lacking(ANOTHER_USER);
        }
    }
    let begin = Instant::now();
    while bell_count() > before {
        assert!(begin.elapsed() < SOON, "{} bells", bell_count());
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Those of one user whom a rule has in a class of their own ring a bell of their own.
#[test]
fn a_rule_that_names_a_trust_class_gives_its_clients_a_bell_of_their_own() {
    let directory = tempfile::tempdir().unwrap();
    let (domain, _clerk) = export_to_all(DomainOptions::default(), directory.path());
    let rule = Rule {
        id: "sandboxed".to_owned(),
        who: Who::default(),
        verdict: Verdict::Admit,
        priority: Priority::default(),
        limits: Limits::default(),
        trust_class: Some("sandboxed".to_owned()),
    };
    let mut options = ExportOptions::default();
    options.scope = Some(Scope::Directory(directory.path().to_owned()));
    options.policy = Policy::Rules(Rules { rules: vec![rule] });
    let entries = contract::entries(&domain, directory.path());
    let _other = Clerk::export_with(&domain, "sandboxed", entries, options).unwrap();
    let bind = |name| {
        let path = directory.path().join(format!("{name}.socket"));
        HandClient::bind_for(&path, &CONTRACT).unwrap()
    };
    let bound = ["keeper", "sandboxed", "sandboxed", "keeper"].map(bind);
    // A word that nobody looks at: whoever shares a bell can write it for the others.
    bound[1].bell_line().reserved.store(7, Relaxed);
    let seen = bound.each_ref().map(|client| client.bell_line().reserved.load(Relaxed));
    assert_eq!(seen, [0, 7, 7, 0]);
    // Its server sleeps, and is rung for.
    let options = import_options(directory.path());
    let client = Binding::import_with(&Domain::new().unwrap(), "sandboxed", &CONTRACT, options);
    let client = ContractClient::new(client.unwrap());
    for _ in 0..10 {
        std::thread::sleep(Duration::from_millis(20));
        client.null().unwrap();
    }
}

#[test]
fn a_bell_that_rings_when_its_user_has_gone_ends_no_processor() {
    let directory = tempfile::tempdir().unwrap();
    let (_domain, clerk) = export_to_all(DomainOptions::default(), directory.path());
    let client = HandClient::bind_for(clerk.path(), &CONTRACT).unwrap();
    // The mapping stays, as a client's does that wants to do harm.
    shutdown(&client.stream, Shutdown::Both).unwrap();
    // So seldom that its user owes nothing: its class goes meanwhile.
    for _ in 0..25 {
        std::thread::sleep(Duration::from_millis(20));
        client.ring();
    }
    let domain = Domain::new().unwrap();
    let client = import(&domain, directory.path()).unwrap();
    let client = client.with_deadline(SOON);
    for _ in 0..10 {
        client.null().unwrap();
    }
}
