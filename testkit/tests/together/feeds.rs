//! Feeds (design note 0020): every item once and in order, whoever is slow, gives up or ends.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;
// SeqCst: counters that the tests compare between threads.
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

use nearcall::raw::{Arguments, Client, Entries, Outcome};
use nearcall::{
    Binding, CallError, Clerk, Domain, Error, ExportOptions, InterfaceDescriptor, Limits,
    NotExecuted, Policy, Priority, Ran, Rule, Rules, Verdict, Who,
};
use testkit::faults::faults::{FEEDING, FeedingClient, FeedingEntries, Refused};
use testkit::feeding::Feeder;
use testkit::longer::is_late;
use testkit::world::{Kind, Server, World, each_world, in_world};

use crate::carrying::{expect_no_room, opened_by_hand};

const SERVER: &str = env!("CARGO_BIN_EXE_testkit-server");

/// Longest until a server has dropped what nobody wants.
const DROPPED: Duration = Duration::from_secs(60);

fn check(test: impl Fn(&World, &FeedingClient)) {
    each_world(SERVER, |world| {
        let server = world.serve("feeds");
        test(world, &world.import_feeding(&server));
    });
}

/// Waits until the server has as many iterators and takers as before.
fn expect_open(client: &FeedingClient, count: u32) {
    let begin = Instant::now();
    while client.open().unwrap() != count {
        assert!(begin.elapsed() < DROPPED, "{} are open, not {count}", client.open().unwrap());
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn items_come_once_and_in_order() {
    check(|_, client| {
        for count in [0, 1, 2, 495, 496, 497, 992, 100_000] {
            let items: Result<Vec<u32>, CallError> = client.numbers(count, 0).unwrap().collect();
            assert!(items.unwrap().into_iter().eq(0..count), "{count}");
        }
        expect_open(client, 0);
    });
}

#[test]
fn items_go_once_and_in_order() {
    check(|_, client| {
        for count in [0u32, 1, 495, 496, 497, 100_000] {
            let mut sink = client.sum(0).unwrap();
            for item in 0..count {
                sink.put(item).unwrap();
            }
            let want = (0..count).map(u64::from).sum::<u64>();
            assert_eq!(sink.end().unwrap(), want, "{count}");
        }
        expect_open(client, 0);
    });
}

#[test]
fn items_of_any_length_arrive() {
    check(|_, client| {
        let words: Vec<String> = client.words(200).unwrap().map(Result::unwrap).collect();
        let want = (0..200).map(|length| "x".repeat(length));
        assert!(words.into_iter().eq(want));
        let mut sink = client.join().unwrap();
        for length in 0..100 {
            sink.put("y".repeat(length)).unwrap();
        }
        assert_eq!(sink.end().unwrap(), "y".repeat(4950));
    });
}

#[test]
fn several_feeds_of_one_binding_do_not_mix() {
    check(|_, client| {
        let mut first = client.numbers(5_000, 0).unwrap();
        let mut second = client.numbers(5_000, 0).unwrap();
        let mut sink = client.sum(0).unwrap();
        for number in 0..5_000 {
            assert_eq!(first.next().unwrap().unwrap(), number);
            assert_eq!(second.next().unwrap().unwrap(), number);
            sink.put(number).unwrap();
        }
        assert!(first.next().is_none() && second.next().is_none());
        assert_eq!(sink.end().unwrap(), 5_000 * 4_999 / 2);
    });
}

#[test]
fn a_slow_reader_is_sent_two_batches_at_most() {
    check(|_, client| {
        let mut feed = client.numbers(1_000_000, 0).unwrap();
        assert_eq!(feed.next().unwrap().unwrap(), 0);
        std::thread::sleep(Duration::from_millis(50));
        let made = client.made().unwrap();
        assert!((1..=2 * 496).contains(&made), "{made} items were made");
    });
}

#[test]
fn a_slow_writer_is_not_waited_for_until_a_batch_is_full() {
    check(|_, client| {
        let mut feed = client.numbers(400, 20).unwrap();
        assert_eq!(feed.next().unwrap().unwrap(), 0);
        assert!(client.made().unwrap() < 400, "the first came with the last");
        // Others are served meanwhile.
        let other: Vec<u32> = client.numbers(1_000, 0).unwrap().map(Result::unwrap).collect();
        assert_eq!(other.len(), 1_000);
    });
}

#[test]
fn a_slow_taker_holds_its_client_back() {
    check(|_, client| {
        let mut sink = client.sum(100).unwrap();
        let sent = AtomicU32::new(0);
        for number in 0..2_000 {
            sink.put(number).unwrap();
            sent.store(number + 1, SeqCst);
            if number % 496 == 495 {
                let ahead = sent.load(SeqCst) - client.taken().unwrap();
                assert!(ahead <= 2 * 496, "{ahead} items ahead");
            }
        }
        assert_eq!(sink.end().unwrap(), 2_000 * 1_999 / 2);
    });
}

#[test]
fn what_is_dropped_in_the_middle_is_dropped_there_too() {
    check(|_, client| {
        for _ in 0..3 {
            // More than a binding may have at once.
            for _ in 0..100 {
                let mut feed = client.numbers(1_000_000, 0).unwrap();
                assert_eq!(feed.next().unwrap().unwrap(), 0);
                let mut sink = client.sum(0).unwrap();
                sink.put(1).unwrap();
                sink.flush().unwrap();
            }
            expect_open(client, 0);
        }
        assert_eq!(client.numbers(3, 0).unwrap().count(), 3);
    });
}

#[test]
fn an_iterator_that_waits_learns_of_a_drop_by_its_call() {
    check(|_, client| {
        let client = &client.with_deadline(DROPPED);
        // More than there are A-stacks.
        for _ in 0..10 {
            // A whole batch: the next one is under way.
            let mut feed = client.unended(1).unwrap();
            assert_eq!(feed.next().unwrap().unwrap(), [7; 1024]);
        }
        expect_open(client, 0);
    });
}

#[test]
fn an_exception_comes_after_the_items_before_it() {
    check(|_, client| {
        let mut items = 0;
        let mut feed = client.until(700, 9).unwrap();
        let raised = loop {
            match feed.next().expect("it does not end") {
                Ok(item) => assert_eq!(item, items),
                Err(raised) => break raised,
            }
            items += 1;
        };
        assert_eq!(items, 700);
        let Error::Exception(exception) = raised else { panic!("{raised}") };
        let want = Refused { code: 9, reason: String::from("enough") };
        assert_eq!(exception, want.into());
        assert!(feed.next().is_none());
        expect_open(client, 0);
    });
}

#[test]
fn an_exception_at_the_start_opens_nothing() {
    check(|_, client| {
        let raised = client.until(0, 0).unwrap_err();
        assert!(matches!(raised, Error::Exception(_)), "{raised}");
        expect_open(client, 0);
    });
}

#[test]
fn a_taker_that_raises_ends_its_sink() {
    check(|_, client| {
        let mut sink = client.limited(100).unwrap();
        let raised = (0..).find_map(|number| sink.put(number).err()).unwrap();
        assert!(matches!(raised, Error::Exception(_)), "{raised}");
        assert!(sink.is_over());
        let over = |said: Result<(), Error<_>>| {
            let reason = NotExecuted::FeedOver;
            let said = said.unwrap_err();
            let is_over = matches!(
                &said,
                Error::Call(CallError::NotExecuted { reason: seen, .. }) if *seen == reason
            );
            assert!(is_over, "{said}");
        };
        (0..1_000).for_each(|number| over(sink.put(number)));
        over(sink.flush());
        over(sink.end().map(drop));
        let mut sink = client.limited(100).unwrap();
        (0..=100).for_each(|number| sink.put(number).unwrap());
        assert!(matches!(sink.end().unwrap_err(), Error::Exception(_)));
        let mut sink = client.limited(100).unwrap();
        (0..100).for_each(|number| sink.put(number).unwrap());
        assert_eq!(sink.end().unwrap(), 100);
        expect_open(client, 0);
    });
}

#[test]
fn one_that_panics_is_over_and_the_server_lives() {
    check(|_, client| {
        let mut feed = client.until(10, -1).unwrap();
        let said = feed.find_map(Result::err).unwrap();
        assert!(matches!(said, Error::Call(CallError::Panicked { .. })), "{said}");
        assert!(feed.next().is_none());
        expect_open(client, 0);
        assert_eq!(client.numbers(3, 0).unwrap().count(), 3);
    });
}

#[test]
fn a_deadline_ends_a_feed_that_waits_too_long() {
    check(|_, client| {
        let hasty = client.with_deadline(Duration::from_millis(20));
        // On a loaded machine the deadline may pass before it is open, and the item may be there
        // before anybody looks.
        let is_ended = |_| {
            let Ok(mut feed) = hasty.numbers(2, 600) else { return false };
            let Err(late) = feed.next().unwrap() else { return false };
            assert!(is_late(&late), "{late}");
            assert!(feed.next().is_none());
            true
        };
        assert!((0..100).any(is_ended));
        expect_open(client, 0);
    });
}

#[test]
fn a_server_that_ends_ends_its_feeds() {
    in_world(Kind::Processes, SERVER, |world| {
        let mut server = world.serve("feeds");
        let client = world.import_feeding(&server);
        let mut feed = client.numbers(1_000_000, 0).unwrap();
        feed.next().unwrap().unwrap();
        let mut sink = client.sum(0).unwrap();
        sink.put(1).unwrap();
        server.kill();
        let error = feed.find_map(Result::err).unwrap();
        assert_ne!(error.ran(), Ran::Yes, "{error}");
        assert!(feed.next().is_none());
        assert!(sink.end().is_err());
    });
}

#[test]
fn whoever_has_as_many_feeds_as_may_be_is_told_that_their_server_has_ended() {
    in_world(Kind::Processes, SERVER, |world| {
        let mut server = world.serve("feeds");
        let client = world.import_feeding(&server);
        let open: Vec<_> = (0..64).map(|_| client.numbers(1_000_000, 0).unwrap()).collect();
        expect_no_room(&client.numbers(5, 0).unwrap_err(), "numbers", 64);
        server.kill();
        while !client.binding().is_revoked() {
            std::thread::yield_now();
        }
        let said = client.numbers(5, 0).unwrap_err();
        let want = NotExecuted::Revoked;
        assert!(matches!(said, CallError::NotExecuted { reason, .. } if reason == want), "{said}");
        drop(open);
    });
}

#[test]
fn a_client_that_goes_takes_its_feeds_with_it() {
    check(|world, _| {
        let server = world.serve("others");
        let stays = world.import_feeding(&server);
        let goes = world.import_feeding(&server);
        let mut feed = goes.numbers(1_000_000, 0).unwrap();
        feed.next().unwrap().unwrap();
        expect_open(&stays, 1);
        // Without a word of the feed: as if its process had ended.
        std::mem::forget(feed);
        drop(goes);
        expect_open(&stays, 0);
    });
}

#[test]
fn more_feeds_than_the_limit_are_refused_and_others_go_on() {
    check(|_, client| {
        let open: Vec<_> = (0..64).map(|_| client.numbers(5, 0).unwrap()).collect();
        let refused = client.with_deadline(DROPPED).numbers(5, 0).unwrap_err();
        expect_no_room(&refused, "numbers", 64);
        let raw = Client::new(client.binding().clone(), &FEEDING);
        let refused = opened_by_hand((&raw, &FEEDING), "numbers", 5).unwrap_err();
        assert!(matches!(refused, CallError::ResultsRefused { .. }), "{refused}");
        for feed in open {
            assert_eq!(feed.count(), 5);
        }
        assert_eq!(client.numbers(5, 0).unwrap().count(), 5);
    });
}

#[test]
fn a_feed_leaves_its_room_however_it_ends() {
    check(|_, client| {
        for _ in 0..65 {
            assert_eq!(client.numbers(3, 0).unwrap().count(), 3);
            drop(client.numbers(3, 0).unwrap());
            let mut half = client.numbers(1_000, 0).unwrap();
            half.next().unwrap().unwrap();
            drop(half);
            assert!(client.until(0, 0).is_err());
            assert_eq!(client.until(2, 7).unwrap().filter(Result::is_err).count(), 1);
            assert_eq!(client.sum(0).unwrap().end().unwrap(), 0);
            drop(client.sum(0).unwrap());
            let mut raised = client.limited(0).unwrap();
            raised.put(1).unwrap();
            assert!(raised.end().is_err());
            expect_open(client, 0);
        }
        let open: Vec<_> = (0..64).map(|_| client.numbers(5, 0).unwrap()).collect();
        drop(open);
    });
}

/// Opens feeds like any other server, `until` late, and counts how often.
struct Late {
    inner: FeedingEntries<Feeder>,
    count: Arc<AtomicU32>,
}

impl Entries for Late {
    fn interface(&self) -> &'static InterfaceDescriptor {
        &FEEDING
    }

    fn enter(&self, procedure: usize, arguments: Arguments<'_>) -> Outcome {
        if FEEDING.procedures[procedure].name == "until" {
            std::thread::sleep(Duration::from_millis(5));
            self.count.fetch_add(1, SeqCst);
        }
        self.inner.enter(procedure, arguments)
    }
}

/// A client of what is exported with a policy.
fn exported(entries: impl Entries, policy: Policy, test: impl FnOnce(&FeedingClient)) {
    let directory = tempfile::tempdir().unwrap();
    let domain = Domain::new().unwrap();
    let mut options = ExportOptions::default();
    options.scope = Some(nearcall::name::Scope::Directory(directory.path().to_owned()));
    options.policy = policy;
    let _clerk = Clerk::export_with(&domain, "feeds", entries, options).unwrap();
    let options = testkit::server::import_options(directory.path());
    let binding = Binding::import_with(&domain, "feeds", &FEEDING, options).unwrap();
    test(&FeedingClient::new(binding));
}

#[test]
fn what_a_call_opens_that_was_given_up_is_dropped() {
    let count = Arc::new(AtomicU32::new(0));
    let inner = FeedingEntries::new(Feeder::default());
    let late = Late { inner, count: Arc::clone(&count) };
    exported(late, Policy::default(), |client| {
        let hasty = client.with_deadline(Duration::from_millis(1));
        // More than a binding may have open. Some are given up before they are taken; and on a
        // machine with other work a millisecond may be too short to begin with, or seem longer.
        let (mut aborted, begin) = (0, Instant::now());
        while count.load(SeqCst) < 70 || aborted < 70 {
            assert!(begin.elapsed() < DROPPED, "{aborted} were given up");
            match hasty.until(9, 9) {
                Err(Error::Call(CallError::CallAborted { .. })) => aborted += 1,
                Err(Error::Call(error)) => assert!(is_late(&error), "{error}"),
                Err(Error::Exception(other)) => panic!("{other}"),
                Ok(_) => {}
            }
        }
        expect_open(client, 0);
        assert_eq!(client.numbers(5, 0).unwrap().count(), 5);
    });
}

#[test]
fn who_may_open_a_feed_may_have_its_batches() {
    let only = Verdict::AdmitOnly(vec!["numbers".to_owned(), "sum".to_owned()]);
    let (id, who, priority) = ("some".to_owned(), Who::default(), Priority::default());
    let rule =
        Rule { id, who, verdict: only, priority, limits: Limits::default(), trust_class: None };
    let policy = Policy::Rules(Rules { rules: vec![rule] });
    let feeding = FeedingEntries::new(Feeder::default());
    exported(feeding, policy, |client| {
        assert_eq!(client.numbers(5, 0).unwrap().map(Result::unwrap).count(), 5);
        let mut sink = client.sum(0).unwrap();
        sink.put(7).unwrap();
        assert_eq!(sink.end().unwrap(), 7);
        let refused = client.words(5).unwrap_err();
        let want = NotExecuted::NotPermitted;
        assert!(
            matches!(refused, CallError::NotExecuted { reason, .. } if reason == want),
            "{refused}"
        );
    });
}

fn raw(world: &World) -> (Server, Client, FeedingClient) {
    let server = world.serve("feeds");
    let client = world.import_feeding(&server);
    (server, Client::new(client.binding().clone(), &FEEDING), client)
}

/// What is said of a batch that is asked for by hand.
fn asked(client: &Client, procedure: &str, feed: u64, number: u32) -> Result<(), CallError> {
    let index = FEEDING.procedures.iter().position(|one| one.name == procedure).unwrap();
    let class = usize::from(FEEDING.procedures[index].class);
    let mut call = client.claim_of_class(class, index as u32)?;
    call.put_u64::<0>(feed);
    call.put_u32::<8>(number);
    let reply = call.post(12)?;
    assert_eq!(reply.raised(), 0);
    Ok(())
}

#[test]
fn a_batch_that_is_not_due_is_refused() {
    each_world(SERVER, |world| {
        let (_server, raw, client) = raw(world);
        let mut feed = client.numbers(3_000, 0).unwrap();
        feed.next().unwrap().unwrap();
        let refused = |procedure, feed, number| {
            let error = asked(&raw, procedure, feed, number).unwrap_err();
            assert_eq!(error.ran(), Ran::Maybe, "{error}");
        };
        refused("_next_numbers", 1, 0);
        refused("_next_numbers", 1, 7);
        refused("_next_numbers", 2, 0);
        refused("_next_numbers", u64::MAX, u32::MAX);
        refused("_next_until", 1, 2);
        // It was not disturbed.
        assert_eq!(feed.map(Result::unwrap).count(), 2_999);
    });
}

/// A server whose feeds have batches of nothing, and none is the last.
struct Empty;

impl Entries for Empty {
    fn interface(&self) -> &'static InterfaceDescriptor {
        &FEEDING
    }

    fn enter(&self, procedure: usize, arguments: Arguments<'_>) -> Outcome {
        let mut results = arguments.results();
        if matches!(FEEDING.procedures[procedure].name, "numbers" | "sum") {
            results.put_u64::<0>(1);
            return results.reply(8);
        }
        results.put_u32::<0>(0);
        results.put_u8::<4>(0);
        results.variable::<8>(0)?;
        results.reply(5)
    }
}

#[test]
fn a_batch_of_nothing_that_is_not_the_last_ends_the_binding() {
    exported(Empty, Policy::default(), |client| {
        let mut feed = client.numbers(5, 0).unwrap();
        let said = feed.next().unwrap().unwrap_err();
        assert!(matches!(said, CallError::Peer { .. }), "{said}");
        assert!(feed.next().is_none());
    });
}

#[test]
fn errors_name_the_operation_and_its_feed() {
    exported(Empty, Policy::default(), |client| {
        let mut sink = client.sum(0).unwrap();
        sink.put(1).unwrap();
        let said = client.numbers(5, 0).unwrap().next().unwrap().unwrap_err();
        let want = "the server broke the protocol at the feed of numbers: ";
        assert!(said.to_string().starts_with(want), "{said}");
        let CallError::Peer { procedure, .. } = said else { panic!("{said}") };
        assert_eq!(format!("{procedure:?}"), "\"the feed of numbers\"");
        assert_eq!(procedure.operation(), "numbers");
        let said = [sink.flush(), sink.put(2)].map(|refused| refused.unwrap_err().to_string());
        assert_eq!(
            said,
            [
                "the feed to sum broke off, at a call that was not executed: the binding is \
                 revoked: rebind, or import again",
                "the feed to sum is over",
            ]
        );
    });
}

#[test]
fn a_million_items_arrive_and_go() {
    const COUNT: u32 = 1_000_000;
    in_world(Kind::Processes, SERVER, |world| {
        let server = world.serve("feeds");
        let client = world.import_feeding(&server);
        let ns_of = |count: u32, run: &dyn Fn()| {
            let begin = Instant::now();
            run();
            begin.elapsed().as_nanos() as f64 / f64::from(count)
        };
        let sum = u64::from(COUNT) * u64::from(COUNT - 1) / 2;
        let call = ns_of(100_000, &|| {
            (0..100_000).for_each(|_| assert_eq!(client.taken().unwrap(), 0));
        });
        let came = ns_of(COUNT, &|| {
            let items = client.numbers(COUNT, 0).unwrap();
            assert_eq!(items.map(|item| u64::from(item.unwrap())).sum::<u64>(), sum);
        });
        let went = ns_of(COUNT, &|| {
            let mut sink = client.sum(0).unwrap();
            (0..COUNT).for_each(|item| sink.put(item).unwrap());
            assert_eq!(sink.end().unwrap(), sum);
        });
        println!(
            "a call {call:.0} ns, an item that comes {came:.1} ns, one that goes {went:.1} ns"
        );
    });
}

#[test]
fn a_feed_of_a_fastthread_that_is_cancelled_is_given_up() {
    each_world(SERVER, |world| {
        let server = world.serve("feeds");
        let client = std::sync::Arc::new(world.import_feeding(&server));
        let theirs = std::sync::Arc::clone(&client);
        let joined = nearcall_threads::run(move || {
            let takes = nearcall_threads::fork(move || {
                let items = theirs.numbers(u32::MAX, 20).unwrap();
                items.map(Result::unwrap).map(u64::from).sum::<u64>()
            });
            let takes = takes.unwrap();
            // It waits for a batch.
            nearcall_threads::sleep(Duration::from_millis(5));
            takes.cancel().unwrap();
            takes.join()
        });
        assert!(matches!(joined.unwrap(), Err(nearcall_threads::JoinError::Cancelled(_))));
        expect_open(&client, 0);
    });
}
