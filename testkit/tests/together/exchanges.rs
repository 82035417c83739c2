//! Exchanges (design note 0020): feeds that go both ways. Neither way waits for the other, and no
//! server processor for a client.

use std::time::{Duration, Instant};

use nearcall::raw::Client;
use nearcall::{Binding, CallError, Domain, Error, Feed, Pending, Policy, Ran, Rules, Sink};
use testkit::exchanges::exchanges::{EXCHANGING, ExchangingClient, ExchangingSumsException};
use testkit::exchanging::{export, name_of};
use testkit::longer::{is_late, is_so_beside};
use testkit::world::{Kind, in_world};

use crate::carrying::{
    self, NOTICED, expect, expect_no_room, expect_refused, is_over, opened_by_hand, waiting_of_two,
};

const SERVER: &str = env!("CARGO_BIN_EXE_testkit-server");

/// Most words of a batch.
const BATCH: u32 = 31;

/// With a server in this process, and with one in another.
fn check(test: impl Fn(&dyn Fn() -> ExchangingClient)) {
    let directory = tempfile::tempdir().unwrap();
    let domain = Domain::new().unwrap();
    let clerk = export(&domain, directory.path(), "exchanges").unwrap();
    test(&|| import(directory.path(), "exchanges"));
    drop(clerk);
    in_world(Kind::Processes, SERVER, |world| {
        let _server = world.serve("exchanges");
        test(&|| import_with(world.import_options(), "exchanges"));
    });
}

fn import(directory: &std::path::Path, name: &str) -> ExchangingClient {
    import_with(testkit::server::import_options(directory), name)
}

fn import_with(options: nearcall::ImportOptions, name: &str) -> ExchangingClient {
    let domain = Domain::new().unwrap();
    let binding = Binding::import_with(&domain, &name_of(name), &EXCHANGING, options);
    ExchangingClient::new(binding.unwrap())
}

type Echo<'c> = (Sink<'c, String, ()>, Feed<'c, String>);

/// Both ends of an echo, on this thread.
fn echo(client: &ExchangingClient) -> Echo<'_> {
    let (sink, feed) = client.echo().unwrap();
    (sink.begin(), feed.begin())
}

/// The same for a client with a deadline: on a loaded machine that may pass before it is open.
fn echo_in_time(hasty: &ExchangingClient) -> Echo<'_> {
    let (sink, feed) = (0..100).find_map(|_| hasty.echo().ok()).expect("it is opened in time");
    (sink.begin(), feed.begin())
}

#[test]
fn items_go_and_come_on_two_threads_once_and_in_order() {
    check(|import| {
        let client = import();
        for count in [0u64, 1, 31, 32, 1_000, 20_000] {
            let (sink, feed) = client.sums(u32::MAX).unwrap();
            std::thread::scope(|scope| {
                scope.spawn(move || {
                    let mut sink = sink.begin();
                    (0..count).for_each(|number| sink.put(number as u32).unwrap());
                    sink.end().unwrap();
                });
                let mut sum = 0;
                let mut came = 0;
                for (item, number) in feed.begin().zip(0..) {
                    sum += number;
                    assert_eq!(item.unwrap(), sum);
                    came += 1;
                }
                assert_eq!(came, count);
            });
        }
        expect(0, || client.open());
        assert_eq!(client.given_up().unwrap(), 0);
    });
}

#[test]
fn one_thread_asks_and_is_answered_in_turn() {
    check(|import| {
        let client = import();
        let (mut sink, mut feed) = echo(&client);
        for length in 0..300 {
            let word = "x".repeat(length);
            sink.put(word.clone()).unwrap();
            sink.flush().unwrap();
            assert_eq!(feed.next().unwrap().unwrap(), word);
        }
        // What was sent before the end is answered after it.
        sink.put("last".to_owned()).unwrap();
        sink.end().unwrap();
        assert_eq!(feed.next().unwrap().unwrap(), "last");
        assert!(feed.next().is_none());
        expect(0, || client.open());
    });
}

#[test]
fn a_side_that_is_given_up_leaves_the_other() {
    check(|import| {
        let client = import();
        // The server says nothing, and nobody listens.
        let (sink, feed) = client.mute().unwrap();
        drop(feed);
        let mut sink = sink.begin();
        (0..1_000).for_each(|number| sink.put(number).unwrap());
        sink.end().unwrap();
        expect(1_000, || client.moved());
        expect(0, || client.open());
        assert_eq!(client.given_up().unwrap(), 0);
        // The server is told that the client has stopped in the middle, and drops its outlet by a
        // `?`: what came is not all.
        let (mut sink, mut feed) = echo(&client);
        sink.put("word".to_owned()).unwrap();
        sink.flush().unwrap();
        assert_eq!(feed.next().unwrap().unwrap(), "word");
        drop(sink);
        let said = feed.next().unwrap().unwrap_err();
        assert!(matches!(said, CallError::Panicked { .. }), "{said}");
        assert!(feed.next().is_none());
        expect(1, || client.given_up());
        // One that speaks on is told that nobody listens.
        let (mut sink, feed) = echo(&client);
        drop(feed);
        let said = (0..).find_map(|_| sink.put("word".to_owned()).err());
        assert!(is_over(&said.unwrap()));
        expect(2, || client.given_up());
        expect(0, || client.open());
    });
}

#[test]
fn what_nobody_takes_is_refused_and_the_other_way_goes_on() {
    check(|import| {
        let client = import();
        let (sink, feed) = client.deaf(5_000).unwrap();
        let (mut sink, feed) = (sink.begin(), feed.begin());
        sink.put(1).unwrap();
        sink.flush().unwrap();
        let said = sink.end().unwrap_err();
        assert!(is_over(&said), "{said}");
        assert_eq!(said.ran(), Ran::Maybe);
        assert!(feed.map(Result::unwrap).eq(0..5_000));
        expect(0, || client.open());
    });
}

#[test]
fn an_exception_comes_at_once_or_behind_the_items() {
    check(|import| {
        let client = import();
        let code = |error: Error<ExchangingSumsException>| match error {
            Error::Exception(ExchangingSumsException::Refused(refused)) => refused.code,
            other => panic!("{other}"),
        };
        assert_eq!(code(client.sums(0).unwrap_err()), 0);
        let (sink, feed) = client.sums(10).unwrap();
        let (mut sink, mut feed) = (sink.begin(), feed.begin());
        [4, 5, 11, 1].into_iter().for_each(|number| sink.put(number).unwrap());
        sink.flush().unwrap();
        assert_eq!([(); 2].map(|()| feed.next().unwrap().unwrap()), [4, 9]);
        assert_eq!(code(feed.next().unwrap().unwrap_err()), 11);
        assert!(feed.next().is_none());
        // What was sent behind it was taken or refused; from now on all is.
        let said = (0..1_000_000).find_map(|_| sink.put(1).err());
        assert!(is_over(&said.unwrap()));
        expect(0, || client.open());
    });
}

#[test]
fn a_slow_side_holds_only_its_own_way_back() {
    check(|import| {
        let client = import();
        // A reader that stops: a batch is with it, one under way, one waits.
        let (_sink, feed) = client.deaf(1_000_000).unwrap();
        let mut feed = feed.begin();
        assert_eq!(feed.next().unwrap().unwrap(), 0);
        std::thread::sleep(Duration::from_millis(50));
        let moved = client.moved().unwrap();
        assert!((1..=3 * 496).contains(&moved), "{moved} items were made");
        // A taker that takes nothing: the second batch waits, and the third one for it.
        assert!(is_so_beside(1_000, |milliseconds| is_filled(&client, milliseconds)));
        // The reader goes on where it was.
        assert_eq!(feed.nth(9_998).unwrap().unwrap(), 9_999);
    });
}

/// Whether words that nobody takes, each put within so many milliseconds, are put until a batch is
/// there, one waits and one is full. On a loaded machine one before may be late.
fn is_filled(client: &ExchangingClient, milliseconds: u32) -> bool {
    let hasty = client.with_deadline(Duration::from_millis(milliseconds.into()));
    let Ok((sink, _feed)) = hasty.kept() else { return false };
    let mut sink = sink.begin();
    let put = (1..1_000).find_map(|count| Some((count, sink.put("word".to_owned()).err()?)));
    let (count, said) = put.expect("nobody takes them");
    assert!(is_late(&said) && count <= 3 * BATCH, "{count} words: {said}");
    count == 3 * BATCH
}

#[test]
fn who_writes_and_never_reads_is_ended_by_its_deadline_and_leaves_nothing() {
    check(|import| {
        let client = import();
        let hasty = client.with_deadline(Duration::from_secs(1));
        let (mut sink, feed) = echo_in_time(&hasty);
        // The server cannot answer, so it does not take: each waits for the other.
        let said = (0..10_000).find_map(|_| sink.put("word".to_owned()).err());
        assert!(said.as_ref().is_some_and(is_late), "{said:?}");
        drop(feed);
        expect(0, || client.open());
        // Its A-stacks are back.
        for _ in 0..20 {
            let (mut sink, mut feed) = echo(&client);
            sink.put("word".to_owned()).unwrap();
            sink.flush().unwrap();
            assert_eq!(feed.next().unwrap().unwrap(), "word");
        }
    });
}

#[test]
fn a_deadline_ends_the_way_that_waits() {
    check(|import| {
        let client = import();
        let hasty = client.with_deadline(Duration::from_millis(300));
        let is_told_over = || {
            let (mut sink, mut feed) = echo_in_time(&hasty);
            let late = feed.next().unwrap().unwrap_err();
            assert!(is_late(&late), "{late}");
            assert!(feed.next().is_none());
            // The server learns it when it has something to say.
            let said = (0..1_000).find_map(|_| {
                std::thread::sleep(Duration::from_millis(1));
                sink.put("word".to_owned()).and_then(|()| sink.flush()).err()
            });
            let said = said.unwrap();
            // On a loaded machine a word may be late itself.
            assert!(is_late(&said) || is_over(&said), "{said}");
            is_over(&said)
        };
        assert!((0..20).any(|_| is_told_over()));
        expect(0, || client.open());
    });
}

#[test]
fn readers_that_have_given_up_hold_no_call() {
    check(|import| {
        let client = import();
        let hasty = client.with_deadline(Duration::from_millis(50));
        // More than there can be A-stacks for reading. Their servers wait for words, and say none.
        let silent: Vec<_> = (0..40)
            .map(|_| {
                let (sink, mut feed) = echo_in_time(&hasty);
                let late = feed.next().unwrap().unwrap_err();
                assert!(is_late(&late), "{late}");
                sink
            })
            .collect();
        let patient = client.with_deadline(Duration::from_secs(60));
        let (mut sink, mut feed) = echo(&patient);
        sink.put("word".to_owned()).unwrap();
        sink.flush().unwrap();
        assert_eq!(feed.next().unwrap().unwrap(), "word");
        drop(silent);
    });
}

#[test]
fn another_policy_ends_both_ways_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let domain = Domain::new().unwrap();
    let clerk = export(&domain, directory.path(), "policy").unwrap();
    let client = import(directory.path(), "policy");
    let (sink, mut feed) = echo(&client);
    std::thread::scope(|scope| {
        let revokes = scope.spawn(|| {
            // Likely while the batch is waited for; what is said is the same before.
            std::thread::sleep(Duration::from_millis(50));
            clerk.set_policy(Policy::Rules(Rules::default())).unwrap()
        });
        // Its server says nothing before it is told something. What came is not all.
        let said = feed.next().unwrap().unwrap_err();
        assert_eq!(said.ran(), Ran::Maybe, "{said}");
        assert_eq!(revokes.join().unwrap(), 1);
    });
    drop(sink);
    expect(0, || Ok(clerk.binding_count() as u32));
}

#[test]
fn a_task_that_is_told_first_does_not_make_its_feed_look_complete() {
    let directory = tempfile::tempdir().unwrap();
    let domain = Domain::new().unwrap();
    let clerk = export(&domain, directory.path(), "hasty").unwrap();
    // In which order the two ends are told differs from binding to binding.
    let clients: Vec<_> = (0..8).map(|_| import(directory.path(), "hasty")).collect();
    std::thread::scope(|scope| {
        for client in &clients {
            let (sink, feed) = client.hasty().unwrap();
            scope.spawn(move || {
                let _sink = sink.begin();
                let said = feed.begin().next().unwrap().unwrap_err();
                assert_eq!(said.ran(), Ran::Maybe, "{said}");
            });
        }
        // Likely while they wait for a batch; what is said is the same before.
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(clerk.set_policy(Policy::Rules(Rules::default())).unwrap(), 8);
    });
}

#[test]
fn a_server_that_ends_ends_both_ways() {
    in_world(Kind::Processes, SERVER, |world| {
        let mut server = world.serve("exchanges");
        let client = import_with(world.import_options(), "exchanges");
        let (mut sink, mut feed) = echo(&client);
        sink.put("word".to_owned()).unwrap();
        sink.flush().unwrap();
        feed.next().unwrap().unwrap();
        server.kill();
        let said = feed.find_map(Result::err).unwrap();
        assert_ne!(said.ran(), Ran::Yes, "{said}");
        assert!((0..1_000).find_map(|_| sink.put("word".to_owned()).err()).is_some());
    });
}

#[test]
fn a_client_that_goes_ends_both_ways() {
    check(|import| {
        let (stays, goes) = (import(), import());
        let (mut sink, mut feed) = echo(&goes);
        sink.put("word".to_owned()).unwrap();
        sink.flush().unwrap();
        feed.next().unwrap().unwrap();
        expect(1, || stays.open());
        // Without a word: as if its process had ended.
        std::mem::forget((sink, feed));
        drop(goes);
        expect(0, || stays.open());
        assert_eq!(stays.given_up().unwrap(), 1);
    });
}

/// A call that is posted by hand, of a procedure that carries items: none a batch.
fn posted<'b>(client: &'b Client, procedure: &str, batch: (u64, u32)) -> Pending<'b, ()> {
    carrying::posted((client, &EXCHANGING), procedure, batch, (4, [0; 4]))
}

#[test]
fn what_is_not_due_is_refused_and_disturbs_nothing() {
    check(|import| {
        let client = import();
        let raw = Client::new(client.binding().clone(), &EXCHANGING).with_deadline(NOTICED);
        let (mut sink, mut feed) = echo(&client);
        // The first of the binding: 1 comes, 2 goes.
        let refused = |procedure, batch| expect_refused(posted(&raw, procedure, batch));
        for (feed, number) in [(1, 7), (2, 0), (3, 0), (u64::MAX, u32::MAX)] {
            refused("_next_echo", (feed, number));
            refused("_next_sums", (feed, 0));
        }
        for (feed, number) in [(1, 0), (2, 7), (3, 0)] {
            refused("_put_echo", (feed, number));
        }
        refused("_end_echo", (1, 0));
        // Of another exchange, whose items are of the same types.
        refused("_next_kept", (1, 0));
        refused("_put_kept", (2, 0));
        refused("_end_kept", (2, 0));
        sink.put("word".to_owned()).unwrap();
        sink.flush().unwrap();
        assert_eq!(feed.next().unwrap().unwrap(), "word");
        sink.end().unwrap();
        assert!(feed.next().is_none());
        expect(0, || client.open());
    });
}

#[test]
fn a_second_call_for_a_batch_is_refused_and_the_first_goes_on() {
    check(|import| {
        let client = import();
        let raw = Client::new(client.binding().clone(), &EXCHANGING).with_deadline(NOTICED);
        // By the stubs of its feed, which is the first of the binding, nothing is posted.
        let (sink, feed) = client.echo().unwrap();
        let next = waiting_of_two([(); 2].map(|()| posted(&raw, "_next_echo", (1, 0))));
        for number in [0, 1, 2] {
            expect_refused(posted(&raw, "_next_echo", (1, number)));
        }
        assert!(!next.is_replied());
        let mut sink = sink.begin();
        sink.put("word".to_owned()).unwrap();
        sink.end().unwrap();
        next.collect().unwrap();
        drop(feed);
        expect(0, || client.open());
    });
}

#[test]
fn clients_that_say_nothing_keep_no_server_processor() {
    check(|import| {
        let clients = [(); 3].map(|()| import());
        let raw: Vec<Client> = clients
            .iter()
            .map(|client| Client::new(client.binding().clone(), &EXCHANGING))
            .collect();
        let mut waiting = Vec::new();
        for (client, raw) in clients.iter().zip(&raw) {
            for index in 0..30 {
                let (sink, feed) = client.kept().unwrap();
                std::mem::forget((sink, feed));
                waiting.push(posted(raw, "_next_kept", (2 * index + 1, 0)));
            }
        }
        // More than there are server processors, and all wait.
        assert_eq!(waiting.len(), 90);
        let other = import();
        for _ in 0..100 {
            assert_eq!(other.with_deadline(NOTICED).open().unwrap(), 0);
        }
        assert!(waiting.iter().all(|call| !call.is_replied()));
        assert_eq!(other.let_go().unwrap(), 90);
        waiting.into_iter().for_each(|call| call.collect().unwrap());
    });
}

#[test]
fn more_exchanges_than_the_limit_are_refused_and_given_up() {
    check(|import| {
        let client = import();
        let open: Vec<_> = (0..32).map(|_| client.echo().unwrap()).collect();
        expect_no_room(&client.echo().unwrap_err(), "echo", 64);
        let raw = Client::new(client.binding().clone(), &EXCHANGING);
        let refused = opened_by_hand((&raw, &EXCHANGING), "echo", 0).unwrap_err();
        assert!(matches!(refused, CallError::ResultsRefused { .. }), "{refused}");
        expect(1, || client.given_up());
        for (sink, feed) in open {
            sink.begin().end().unwrap();
            assert!(feed.begin().next().is_none());
        }
        expect(0, || client.open());
        drop(echo(&client));
    });
}

#[test]
fn many_items_go_and_are_answered() {
    const COUNT: u32 = 200_000;
    in_world(Kind::Processes, SERVER, |world| {
        let _server = world.serve("exchanges");
        let client = import_with(world.import_options(), "exchanges");
        let ns_of = |run: &dyn Fn()| {
            let begin = Instant::now();
            run();
            begin.elapsed().as_nanos() as f64 / f64::from(COUNT)
        };
        let call = ns_of(&|| (0..COUNT).for_each(|_| assert_eq!(client.open().unwrap(), 0)));
        let answered = ns_of(&|| {
            let (sink, feed) = client.sums(u32::MAX).unwrap();
            std::thread::scope(|scope| {
                scope.spawn(move || {
                    let mut sink = sink.begin();
                    (0..COUNT).for_each(|number| sink.put(number).unwrap());
                    sink.end().unwrap();
                });
                assert_eq!(feed.begin().map(Result::unwrap).count() as u32, COUNT);
            });
        });
        println!("a call {call:.0} ns, an item that goes and its answer {answered:.0} ns");
    });
}
