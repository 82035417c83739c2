//! Feeds whose iterators wait for what will happen (design note 0020): nothing that they have made
//! waits with them.

use std::ops::Range;
use std::sync::{Arc, Mutex};
// SeqCst: by hand, nothing is to depend on a row of the table.
use std::sync::atomic::Ordering::SeqCst;
use std::thread;
use std::time::{Duration, Instant};

use futures::executor::block_on;
use nearcall::name::Scope;
use nearcall::raw::{Arguments, Entries, Outcome};
use nearcall::{
    Binding, CallError, Clerk, Domain, DomainOptions, ExportOptions, InterfaceDescriptor, Limits,
    Policy, Priority, Ran, Rule, Rules, Verdict, Who,
};
use nearcall_abi::Status;
use nearcall_core::Phase;
use testkit::campaign::hand::{self, HandClient, Words};
use testkit::faults::faults::{FEEDING, FeedingClient, FeedingEntries};
use testkit::feeding::{self, Feeder};
use testkit::world::{World, each_world};

use crate::giving_up::{give_up_at_whatever_moment, take_in_haste};

const SERVER: &str = env!("CARGO_BIN_EXE_testkit-server");

/// Longest that a test waits for what comes without anybody's help.
const SOON: Duration = Duration::from_secs(20);

fn check(test: impl Fn(&World, &FeedingClient)) {
    each_world(SERVER, |world| {
        let server = world.serve("feeds");
        // A batch that does not come ends a test.
        test(world, &world.import_feeding(&server).with_deadline(SOON));
    });
}

#[track_caller]
fn expect(feed: &mut impl Iterator<Item = Result<u32, CallError>>, numbers: Range<u32>) {
    for number in numbers {
        assert_eq!(feed.next().expect("it is not over").unwrap(), number);
    }
}

#[track_caller]
fn until(what: &str, is_so: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < SOON, "{what}: not within {SOON:?}");
        thread::sleep(Duration::from_millis(1));
    }
}

#[track_caller]
fn until_open(client: &FeedingClient, count: u32) {
    until(&format!("{count} are open"), || client.open().unwrap() == count);
}

/// How many are let through in turn: some fill batches, some come one by one.
const STEPS: [u32; 8] = [1, 2, 1, 5, 600, 1, 70, 3];

#[test]
fn what_is_made_before_an_iterator_waits_arrives() {
    check(|_, client| {
        let mut feed = client.gated(3).unwrap();
        expect(&mut feed, 0..3);
        let mut made = 3;
        for count in STEPS {
            client.let_through(count).unwrap();
            expect(&mut feed, made..made + count);
            made += count;
        }
    });
}

#[test]
fn a_task_has_it_as_well() {
    check(|_, client| {
        block_on(async {
            let mut feed = client.awaiting().gated(600).await.unwrap();
            let mut made = 0;
            for count in std::iter::once(600).chain(STEPS) {
                client.let_through(if made == 0 { 0 } else { count }).unwrap();
                for number in made..made + count {
                    assert_eq!(feed.next().await.expect("it is not over").unwrap(), number);
                }
                made += count;
            }
        });
    });
}

#[test]
fn several_that_wait_do_not_hold_each_other_up() {
    check(|_, client| {
        let mut feeds: Vec<_> = (0..4).map(|ahead| client.gated(ahead).unwrap()).collect();
        for (ahead, feed) in (0..).zip(&mut feeds) {
            expect(feed, 0..ahead);
        }
        for count in 1..20 {
            client.let_through(1).unwrap();
            for (ahead, feed) in (0..).zip(&mut feeds) {
                expect(feed, ahead + count - 1..ahead + count);
            }
            assert_eq!(client.numbers(1_000, 0).unwrap().count(), 1_000);
        }
        drop(feeds);
        until_open(client, 0);
    });
}

#[test]
fn one_that_is_dropped_while_its_iterator_waits_is_dropped_there_too() {
    check(|_, client| {
        for ahead in [0, 1, 3, 500, 0, 1, 3, 500] {
            let mut feed = client.gated(ahead).unwrap();
            expect(&mut feed, 0..ahead);
            // The next batch is under way, or set aside.
            drop(feed);
        }
        until_open(client, 0);
    });
}

#[test]
fn who_waits_is_told_when_the_server_shuts_down() {
    each_world(SERVER, |world| {
        let mut server = world.serve("feeds");
        let client = world.import_feeding(&server).with_deadline(SOON);
        let mut feed = client.gated(2).unwrap();
        expect(&mut feed, 0..2);
        thread::scope(|scope| {
            scope.spawn(|| server.shut_down());
            let error = feed.next().expect("it is not complete").unwrap_err();
            assert_ne!(error.ran(), Ran::Yes, "{error}");
            assert!(feed.next().is_none());
        });
    });
}

#[test]
fn whatever_is_given_up_at_whatever_moment_the_binding_lives_on() {
    check(|_, client| {
        let let_one_through = || client.let_through(1).unwrap();
        give_up_at_whatever_moment(150, let_one_through, |most, ahead, count| {
            let hasty = client.with_deadline(most);
            if let Ok(feed) = hasty.gated(ahead) {
                take_in_haste(feed, count);
            }
        });
        until_open(client, 0);
        assert_eq!(client.numbers(1_000, 0).unwrap().count(), 1_000);
    });
}

/// A client by hand, which changes its messages once it has posted them.
struct Changing(HandClient);

impl Changing {
    /// Posts a call of `procedure` with this message: on which A-stack, and which call there.
    fn post(&self, procedure: &str, message: &[u8]) -> (u32, u32) {
        let selector = FEEDING.procedures.iter().position(|one| one.name == procedure).unwrap();
        let class = FEEDING.procedures[selector].class.into();
        let astack = hand::layout_of(&FEEDING).class_range(class).start;
        let sequence = self.0.next_sequence(astack);
        self.0.write_message(astack, message);
        let turn = hand::turn(sequence, Phase::Posted);
        let message_bytes = message.len() as u32;
        let selector = selector as u32;
        self.0.post(astack, Words { turn, selector, message_bytes, origin: 0 });
        (astack, sequence)
    }

    /// What became of it.
    fn status(&self, (astack, sequence): (u32, u32)) -> Option<Status> {
        assert!(self.0.await_reply(astack, sequence, SOON), "there is no reply");
        Status::from_word(self.0.head(astack).selector.load(SeqCst))
    }

    fn open(&self, ahead: u32) {
        let opened = self.post("gated", &ahead.to_le_bytes());
        assert_eq!(self.status(opened), Some(Status::Returned));
    }
}

/// Arguments of a call for a batch.
fn due(feed: u64, number: u32) -> Vec<u8> {
    [&feed.to_le_bytes()[..], &number.to_le_bytes()].concat()
}

#[test]
fn a_message_that_changed_meanwhile_takes_its_call_into_no_iterator() {
    each_world(SERVER, |world| {
        let server = world.serve("feeds");
        let other = world.import_feeding(&server).with_deadline(SOON);
        let path = hand::path_of(world.directory(), &feeding::name_of("feeds"));
        // It may change a message before it is read first: that is no change.
        let is_refused = (0..20).any(|_| {
            let client = Changing(HandClient::bind_for(&path, &FEEDING).unwrap());
            client.open(1);
            client.open(u32::MAX);
            assert_eq!(
                client.status(client.post("_next_gated", &due(1, 0))),
                Some(Status::Returned)
            );
            // Somebody is in the iterator: this one is set aside.
            let call = client.post("_next_gated", &due(1, 1));
            thread::sleep(Duration::from_millis(5));
            client.0.write_message(call.0, &due(2, 0));
            other.let_through(1).unwrap();
            let is_refused = client.status(call) == Some(Status::FeedOver);
            if is_refused {
                // Nobody is to ask for what was made: it is dropped.
                until_open(&other, 1);
            }
            is_refused
        });
        assert!(is_refused);
    });
}

#[test]
fn a_client_that_goes_or_is_hung_up_on_leaves_nothing_that_waits() {
    each_world(SERVER, |world| {
        let server = world.serve("feeds");
        let other = world.import_feeding(&server).with_deadline(SOON);
        let path = hand::path_of(world.directory(), &feeding::name_of("feeds"));
        // What it has posted last is in the iterator, or set aside; and how it goes.
        for (is_aside, is_hung_up_on) in
            [(false, false), (true, false), (false, true), (true, true)]
        {
            let client = Changing(HandClient::bind_for(&path, &FEEDING).unwrap());
            client.open(1);
            until_open(&other, 1);
            let made = other.made().unwrap();
            let mut call = client.post("_next_gated", &due(1, 0));
            if is_aside {
                assert_eq!(client.status(call), Some(Status::Returned));
                call = client.post("_next_gated", &due(1, 1));
            }
            until("there is an item", || other.made().unwrap() > made);
            if is_hung_up_on {
                let turn = hand::turn(call.1 + 100, Phase::Posted);
                client.0.write(call.0, Words { turn, selector: 0, message_bytes: 0, origin: 0 });
                client.0.ring();
                assert!(hand::await_hang_up(&client.0.stream, SOON).is_some());
            }
            drop(client);
            until_open(&other, 0);
            assert_eq!(other.numbers(1_000, 0).unwrap().count(), 1_000);
        }
    });
}

/// A server whose `gated` makes one item, waits until that is late, and then ends its domain.
struct Ending {
    inner: FeedingEntries<Feeder>,
    served: Arc<Mutex<Option<(Domain, Clerk)>>>,
}

impl Entries for Ending {
    fn interface(&self) -> &'static InterfaceDescriptor {
        &FEEDING
    }

    fn enter(&self, procedure: usize, arguments: Arguments<'_>) -> Outcome {
        if FEEDING.procedures[procedure].name != "gated" {
            return self.inner.enter(procedure, arguments);
        }
        let served = Arc::clone(&self.served);
        let waits = std::iter::once_with(move || {
            thread::sleep(Duration::from_millis(50));
            drop(served.lock().unwrap().take());
            1
        });
        feeding::open_numbers(arguments, std::iter::once(0).chain(waits))
    }
}

#[test]
fn who_waits_is_told_when_the_iterator_ends_its_own_domain() {
    let served = Arc::new(Mutex::new(None));
    let inner = FeedingEntries::new(Feeder::default());
    let ending = Ending { inner, served: Arc::clone(&served) };
    // Nobody else enters again what is late.
    exported(ending, Policy::default(), 1, |client, domain, clerk| {
        *served.lock().unwrap() = Some((domain, clerk));
        let mut feed = client.gated(1).unwrap();
        // What it has made arrives if its processor is back before the client is told.
        let mut items = Vec::new();
        let error = loop {
            match feed.next() {
                Some(Ok(item)) => items.push(item),
                Some(Err(error)) => break Some(error),
                None => break None,
            }
        };
        assert!([0, 1].starts_with(&items), "{items:?}");
        match error {
            Some(error) => assert_eq!(error.ran(), Ran::Maybe, "{error} after {items:?}"),
            None => assert_eq!(items, [0, 1]),
        }
    });
}

/// A client of what is exported with a policy, in a domain of so many processors.
fn exported(
    entries: impl Entries,
    policy: Policy,
    processors_max: u32,
    test: impl FnOnce(&FeedingClient, Domain, Clerk),
) {
    let directory = tempfile::tempdir().unwrap();
    let mut options = DomainOptions::default();
    options.processors_max = processors_max;
    let domain = Domain::with_options(options).unwrap();
    let mut options = ExportOptions::default();
    options.scope = Some(Scope::Directory(directory.path().to_owned()));
    options.policy = policy;
    let clerk = Clerk::export_with(&domain, "feeds", entries, options).unwrap();
    let own = Domain::new().unwrap();
    let options = testkit::server::import_options(directory.path());
    let binding = Binding::import_with(&own, "feeds", &FEEDING, options).unwrap();
    test(&FeedingClient::new(binding).with_deadline(SOON), domain, clerk);
}

#[test]
fn the_only_processor_sends_what_is_late_itself() {
    let entries = FeedingEntries::new(Feeder::default());
    exported(entries, Policy::default(), 1, |client, _domain, _clerk| {
        for milliseconds in [2, 0, 3] {
            let mut feed = client.numbers(20, milliseconds).unwrap();
            expect(&mut feed, 0..20);
            assert!(feed.next().is_none());
        }
    });
}

/// A server that judges each of its calls, as one does whose interface has an exchange.
struct Awaited(FeedingEntries<Feeder>);

impl Entries for Awaited {
    fn interface(&self) -> &'static InterfaceDescriptor {
        &FEEDING
    }

    fn enter(&self, procedure: usize, arguments: Arguments<'_>) -> Outcome {
        self.0.enter(procedure, arguments)
    }

    fn is_awaited(&self) -> bool {
        true
    }
}

#[test]
fn what_is_late_comes_from_servers_that_judge_each_call_too() {
    let check = |client: &FeedingClient, _domain, _clerk| {
        let mut feed = client.gated(3).unwrap();
        expect(&mut feed, 0..3);
        for number in 3..20 {
            client.let_through(1).unwrap();
            expect(&mut feed, number..number + 1);
        }
    };
    let entries = || FeedingEntries::new(Feeder::default());
    exported(Awaited(entries()), Policy::default(), 64, check);
    // Whose client may not call everything.
    let only = Verdict::AdmitOnly(["gated", "let_through"].map(str::to_owned).to_vec());
    let (id, who, priority) = ("some".to_owned(), Who::default(), Priority::default());
    let rule =
        Rule { id, who, verdict: only, priority, limits: Limits::default(), trust_class: None };
    exported(entries(), Policy::Rules(Rules { rules: vec![rule] }), 64, check);
}
