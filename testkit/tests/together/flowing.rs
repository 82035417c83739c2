//! Feeds to one side of servers whose procedures are awaited (design note 0020): their clients see
//! what they see of every other, and no server processor waits for them, or for the application.

mod server;

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
// SeqCst: the tests compare what several threads counted.
use std::sync::atomic::Ordering::SeqCst;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use futures::executor::block_on;
use nearcall::name::Scope;
use nearcall::raw::Client;
use nearcall::{
    Binding, CallError, Clerk, Domain, DomainOptions, Error, ExportOptions, Pending, Ran, Sink,
};
use testkit::flowing::flowing::{
    FLOWING, FlowingAsyncEntries, FlowingClient, FlowingSumException, FlowingUntilException,
    Refused,
};
use testkit::longer::{is_late, is_so_beside};

use crate::carrying::{
    self, NOTICED, expect, expect_no_room, expect_refused, is_over, opened_by_hand, waiting_of_two,
};

use server::{Counts, Flow};

/// Milliseconds, much longer than anything takes.
const NEVER: u32 = 600_000;

/// Most numbers of a batch.
const BATCH: u32 = 496;

/// A server's domain, and a client's.
struct Scene {
    directory: tempfile::TempDir,
    domain: Domain,
    clerk: Clerk,
    client: Domain,
    counts: Arc<Counts>,
}

impl Scene {
    fn new() -> Scene {
        let directory = tempfile::tempdir().unwrap();
        let mut options = DomainOptions::default();
        options.processors_max = 2;
        let domain = Domain::with_options(options).unwrap();
        let flow = Flow::default();
        let counts = Arc::clone(&flow.counts);
        let mut options = ExportOptions::default();
        options.scope = Some(Scope::Directory(directory.path().to_owned()));
        let entries = FlowingAsyncEntries::new(flow);
        let clerk = Clerk::export_with(&domain, "flowing", entries, options).unwrap();
        Scene { directory, domain, clerk, client: Domain::new().unwrap(), counts }
    }

    /// A client over sealed segments.
    fn client(&self) -> FlowingClient {
        let options = testkit::server::import_options(self.directory.path());
        let binding = Binding::import_with(&self.client, "flowing", &FLOWING, options);
        FlowingClient::new(binding.unwrap())
    }

    /// One over a twin of them on the heap.
    fn twin(&self) -> FlowingClient {
        let options = testkit::server::import_options(self.directory.path());
        let binding = Binding::import_twin(&self.client, &self.clerk, &FLOWING, options);
        FlowingClient::new(binding.unwrap())
    }
}

fn check(test: impl Fn(&dyn Fn() -> FlowingClient)) {
    let scene = Scene::new();
    test(&|| scene.client());
    let scene = Scene::new();
    test(&|| scene.twin());
}

/// Puts until that fails.
fn put_on<R, E>(sink: &mut Sink<'_, u32, R, E>) -> E
where
    E: From<Box<CallError>>,
{
    (0..).find_map(|_| sink.put(1).err()).unwrap()
}

#[test]
fn items_come_once_and_in_order() {
    check(|import| {
        let client = import();
        for count in [0, 1, 2, BATCH - 1, BATCH, BATCH + 1, 2 * BATCH, 100_000] {
            let items: Result<Vec<u32>, CallError> = client.numbers(count).unwrap().collect();
            assert!(items.unwrap().into_iter().eq(0..count), "{count}");
        }
        expect(0, || client.open());
        assert_eq!(client.given_up().unwrap(), 0);
    });
}

#[test]
fn items_go_once_and_are_answered() {
    check(|import| {
        let client = import();
        for count in [0, 1, BATCH - 1, BATCH, BATCH + 1, 100_000] {
            let mut sink = client.sum(u32::MAX).unwrap();
            (0..count).for_each(|item| sink.put(item).unwrap());
            assert_eq!(sink.end().unwrap(), (0..count).map(u64::from).sum::<u64>(), "{count}");
        }
        expect(0, || client.open());
        assert_eq!(client.given_up().unwrap(), 0);
    });
}

#[test]
fn both_sides_may_be_awaited() {
    check(|import| {
        let client = import();
        block_on(async {
            let mut feed = client.awaiting().numbers(5_000).await.unwrap();
            let mut sink = client.awaiting().sum(u32::MAX).await.unwrap();
            while let Some(item) = feed.next().await {
                sink.put(item.unwrap()).await.unwrap();
            }
            assert_eq!(sink.end().await.unwrap(), 5_000 * 4_999 / 2);
        });
    });
}

#[test]
fn what_opens_an_exchange_is_awaited_too() {
    check(|import| {
        let client = import();
        let (sink, feed) = client.turned().unwrap();
        let (mut sink, mut feed) = (sink.begin(), feed.begin());
        for item in 0..20 {
            sink.put(item).unwrap();
            sink.flush().unwrap();
            assert_eq!(feed.next().unwrap().unwrap(), item);
        }
        sink.end().unwrap();
        assert!(feed.next().is_none());
        expect(0, || client.open());
    });
}

#[test]
fn several_feeds_of_one_binding_do_not_mix() {
    check(|import| {
        let client = import();
        let mut first = client.numbers(5_000).unwrap();
        let mut second = client.numbers(5_000).unwrap();
        let mut sink = client.sum(u32::MAX).unwrap();
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
fn a_slow_reader_is_sent_three_batches_at_most() {
    check(|import| {
        let client = import();
        let mut feed = client.numbers(100_000).unwrap();
        assert_eq!(feed.next().unwrap().unwrap(), 0);
        std::thread::sleep(Duration::from_millis(50));
        let moved = client.moved().unwrap();
        assert!((1..=3 * BATCH).contains(&moved), "{moved} items were put");
        assert!(feed.map(Result::unwrap).eq(1..100_000));
    });
}

#[test]
fn a_taker_that_takes_nothing_is_sent_three_batches_at_most() {
    check(|import| {
        let client = import();
        let is_sent_three = |milliseconds: u32| {
            let hasty = client.with_deadline(Duration::from_millis(milliseconds.into()));
            // Beside other work the deadline of an earlier batch may pass.
            let (put, said) = match hasty.held() {
                Ok(mut sink) => {
                    let said = (0..).find_map(|item| sink.put(item).err().map(|said| (item, said)));
                    said.unwrap()
                }
                Err(said) => (0, said),
            };
            assert!(is_late(&said), "{said}");
            // One waits in the server, and one for it; the third was full.
            assert!(put < 3 * BATCH, "{put} items were taken");
            let is_sent_three = put == 3 * BATCH - 1;
            // More, if one that was given up was opened nonetheless.
            assert!(client.let_go().unwrap() >= 1 || !is_sent_three);
            is_sent_three
        };
        assert!(is_so_beside(500, is_sent_three));
    });
}

#[test]
fn an_exception_comes_at_once_or_behind_the_items() {
    check(|import| {
        let client = import();
        let raised = client.until(5, 0).unwrap_err();
        let code = |error: Error<FlowingUntilException>| match error {
            Error::Exception(FlowingUntilException::Refused(Refused { code })) => code,
            other => panic!("{other}"),
        };
        assert_eq!(code(raised), 0);
        let mut feed = client.until(700, 9).unwrap();
        assert!(feed.by_ref().take(700).map(Result::unwrap).eq(0..700));
        assert_eq!(code(feed.next().unwrap().unwrap_err()), 9);
        assert!(feed.next().is_none());
        expect(0, || client.open());
    });
}

#[test]
fn what_a_taker_raises_is_told_at_the_next_batch_or_at_the_end() {
    check(|import| {
        let client = import();
        let code = |error: Error<FlowingSumException>| match error {
            Error::Exception(FlowingSumException::Refused(Refused { code })) => code,
            other => panic!("{other}"),
        };
        assert_eq!(code(client.sum(0).unwrap_err()), 0);
        let mut sink = client.sum(100).unwrap();
        sink.put(101).unwrap();
        assert_eq!(code(put_on(&mut sink)), 101);
        assert!(sink.is_over());
        let mut sink = client.sum(100).unwrap();
        [1, 102].into_iter().for_each(|item| sink.put(item).unwrap());
        assert_eq!(code(sink.end().unwrap_err()), 102);
        expect(0, || client.open());
    });
}

#[test]
fn a_task_that_panics_is_told_behind_its_items() {
    check(|import| {
        let client = import();
        for count in [0, 10, 700] {
            let mut feed = client.until(count, -1).unwrap();
            assert!(feed.by_ref().take(count as usize).map(Result::unwrap).eq(0..count));
            let said = feed.next().unwrap().unwrap_err();
            assert!(matches!(said, Error::Call(CallError::Panicked { .. })), "{said}");
            assert!(feed.next().is_none());
        }
        expect(0, || client.open());
    });
}

#[test]
fn a_task_that_ends_without_an_answer_has_panicked_to_its_client() {
    check(|import| {
        let client = import();
        let mut sink = client.forgets(10).unwrap();
        let said = put_on(&mut sink);
        assert!(matches!(said, CallError::Panicked { .. }), "{said}");
        assert!(sink.is_over());
        let sink = client.forgets(10).unwrap();
        let said = sink.end().unwrap_err();
        assert!(matches!(said, CallError::Panicked { .. }), "{said}");
        expect(0, || client.open());
    });
}

#[test]
fn an_answer_before_the_last_item_waits_for_its_client() {
    check(|import| {
        let client = import();
        for opened in [FlowingClient::early, FlowingClient::late] {
            let mut sink = opened(&client, 10).unwrap();
            (0..10 * BATCH).for_each(|item| sink.put(item).unwrap());
            assert_eq!(sink.end().unwrap(), 10);
            let mut sink = opened(&client, 10).unwrap();
            (0..3).for_each(|item| sink.put(item).unwrap());
            assert_eq!(sink.end().unwrap(), 3);
        }
        expect(0, || client.open());
        assert_eq!(client.let_go().unwrap(), 2);
    });
}

#[test]
fn what_comes_behind_an_answer_is_dropped_though_an_inlet_has_room() {
    check(|import| {
        let client = import();
        let mut sink = client.early(0).unwrap();
        // It has answered.
        expect(0, || client.open());
        (0..10 * BATCH).for_each(|item| sink.put(item).unwrap());
        assert_eq!(sink.end().unwrap(), 0);
        assert_eq!(client.let_go().unwrap(), 1);
        assert_eq!(client.moved().unwrap(), 0);
    });
}

#[test]
fn an_item_is_refused_where_it_is_put_and_the_others_go() {
    check(|import| {
        let client = import();
        let digits = client.digits(2_000).unwrap().map(Result::unwrap);
        assert!(digits.eq((0..2_000).map(|digit| digit % 9 + 1)));
        expect(0, || client.open());
    });
}

#[test]
fn bytes_that_are_opaque_may_become_a_feed() {
    check(|import| {
        let client = import();
        let data = vec![7; 5_000];
        let octets: Result<Vec<u8>, CallError> = client.octets(&data).unwrap().collect();
        assert_eq!(octets.unwrap(), data);
    });
}

#[test]
fn a_task_is_told_that_its_client_has_given_up() {
    check(|import| {
        let client = import();
        let mut feed = client.numbers(1_000_000).unwrap();
        feed.next().unwrap().unwrap();
        drop(feed);
        expect(1, || client.given_up());
        // An answer that nobody waits for says so: `sum` looks.
        let mut sink = client.sum(u32::MAX).unwrap();
        sink.put(1).unwrap();
        sink.flush().unwrap();
        drop(sink);
        expect(2, || client.given_up());
        expect(0, || client.open());
    });
}

#[test]
fn a_task_that_has_nothing_to_put_waits_for_that() {
    check(|import| {
        let (client, other) = (import(), import());
        let (feed, sink) = (client.watched().unwrap(), client.pondered().unwrap());
        let watched = other.watched().unwrap();
        assert_eq!(client.numbers(1_000).unwrap().count(), 1_000);
        // That of the numbers ends a moment after the last of them has come.
        expect(3, || client.open());
        assert_eq!(client.given_up().unwrap(), 0);
        drop(feed);
        expect(1, || client.given_up());
        drop(sink);
        expect(2, || client.given_up());
        // Without a word of the feed: as if its process had ended.
        std::mem::forget(watched);
        drop(other);
        expect(3, || client.given_up());
        expect(0, || client.open());
    });
}

#[test]
fn what_a_call_opens_that_was_given_up_is_given_up() {
    check(|import| {
        let client = import();
        let hasty = client.with_deadline(Duration::from_millis(10));
        // Beside other work one may be given up before it was taken, or not at all: of that the
        // task is told, too.
        let (mut opened_count, begin) = (0, Instant::now());
        while client.given_up().unwrap() <= opened_count {
            assert!(begin.elapsed() < NOTICED, "{opened_count} were opened, and none given up");
            match hasty.slow(100) {
                Ok(_) => opened_count += 1,
                Err(said) => assert!(is_late(&said), "{said}"),
            }
            while client.binding().captured_count() > 0 {
                std::thread::yield_now();
            }
        }
        expect(0, || client.open());
    });
}

#[test]
fn a_client_that_goes_takes_its_feeds_with_it() {
    check(|import| {
        let (stays, goes) = (import(), import());
        let mut feed = goes.numbers(1_000_000).unwrap();
        feed.next().unwrap().unwrap();
        let mut sink = goes.sum(u32::MAX).unwrap();
        sink.put(1).unwrap();
        sink.flush().unwrap();
        expect(2, || stays.open());
        // Without a word of them: as if its process had ended.
        std::mem::forget((feed, sink));
        drop(goes);
        expect(0, || stays.open());
        assert_eq!(stays.given_up().unwrap(), 2);
    });
}

#[test]
fn a_server_that_is_shut_down_ends_its_feeds() {
    let scene = Scene::new();
    let client = scene.client();
    let mut feed = client.numbers(1_000_000).unwrap();
    feed.next().unwrap().unwrap();
    let mut sink = client.sum(u32::MAX).unwrap();
    sink.put(1).unwrap();
    sink.flush().unwrap();
    let mut opening = pin!(client.awaiting().slow(NEVER));
    assert!(opening.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    expect(3, || Ok(scene.counts.open.load(SeqCst)));
    scene.domain.shut_down();
    let said = block_on(opening).map(drop).unwrap_err();
    assert!(matches!(said, CallError::CallFailed { .. }), "{said}");
    let said = feed.find_map(Result::err).unwrap();
    assert_ne!(said.ran(), Ran::Yes, "{said}");
    assert!(sink.end().is_err());
    expect(0, || Ok(scene.counts.open.load(SeqCst)));
    assert_eq!(scene.counts.given_up.load(SeqCst), 2);
}

/// A call that is posted by hand, of a procedure that carries items: one number a batch.
fn posted<'b>(client: &'b Client, procedure: &str, batch: (u64, u32)) -> Pending<'b, ()> {
    carrying::posted((client, &FLOWING), procedure, batch, (1, [1; 4]))
}

#[test]
fn what_is_not_due_is_refused_and_disturbs_nothing() {
    check(|import| {
        let client = import();
        let raw = Client::new(client.binding().clone(), &FLOWING).with_deadline(NOTICED);
        // The first of the binding: 1 comes, 2 goes.
        let mut feed = client.numbers(3).unwrap();
        let mut sink = client.early(u32::MAX).unwrap();
        let refused = |procedure, batch| expect_refused(posted(&raw, procedure, batch));
        for (feed, number) in [(1, 7), (2, 0), (3, 0), (u64::MAX, u32::MAX)] {
            refused("_next_numbers", (feed, number));
            // Of others, whose items are of the same types.
            refused("_next_kept", (feed, 0));
            refused("_put_held", (feed, 0));
            refused("_end_held", (feed, 0));
        }
        for (sink, number) in [(1, 0), (2, 7), (3, 0)] {
            refused("_put_early", (sink, number));
        }
        for sink in [1, 3, u64::MAX] {
            refused("_end_early", (sink, 0));
        }
        assert!(feed.by_ref().map(Result::unwrap).eq(0..3));
        sink.put(1).unwrap();
        assert_eq!(sink.end().unwrap(), 1);
        expect(0, || client.open());
    });
}

#[test]
fn whoever_waits_at_a_feed_that_is_closed_is_told_that_it_is_over() {
    check(|import| {
        let client = import();
        let raw = Client::new(client.binding().clone(), &FLOWING).with_deadline(NOTICED);
        // Numbers 1 to 3 of the binding, by whose stubs nothing is posted yet.
        let feeds = (client.held().unwrap(), client.held().unwrap(), client.kept().unwrap());
        posted(&raw, "_put_held", (1, 0)).collect().unwrap();
        let waiting = [("_put_held", (1, 1)), ("_end_held", (2, 0)), ("_next_kept", (3, 0))]
            .map(|(name, batch)| waiting_of_two([(); 2].map(|()| posted(&raw, name, batch))));
        drop(feeds);
        for waits in waiting {
            let over = waits.collect().unwrap_err();
            assert!(is_over(&over), "{over}");
        }
        assert_eq!(client.let_go().unwrap(), 3);
    });
}

#[test]
fn a_second_call_at_a_time_is_refused_and_the_first_goes_on() {
    check(|import| {
        let client = import();
        let raw = Client::new(client.binding().clone(), &FLOWING).with_deadline(NOTICED);
        let refused = |procedure, batch| expect_refused(posted(&raw, procedure, batch));
        // The first of the binding, by whose stubs nothing is posted yet; the second one.
        std::mem::forget((client.held().unwrap(), client.kept().unwrap()));
        posted(&raw, "_put_held", (1, 0)).collect().unwrap();
        let put = waiting_of_two([(); 2].map(|()| posted(&raw, "_put_held", (1, 1))));
        let next = waiting_of_two([(); 2].map(|()| posted(&raw, "_next_kept", (2, 0))));
        for number in [0, 1, 2] {
            refused("_put_held", (1, number));
            refused("_next_kept", (2, number));
        }
        refused("_end_held", (1, 0));
        assert!(!put.is_replied() && !next.is_replied());
        assert_eq!(client.let_go().unwrap(), 2);
        put.collect().unwrap();
        next.collect().unwrap();
    });
}

#[test]
fn feeds_that_wait_keep_no_server_processor() {
    check(|import| {
        let clients = [(); 3].map(|()| import());
        let raw: Vec<Client> =
            clients.iter().map(|client| Client::new(client.binding().clone(), &FLOWING)).collect();
        let mut waiting = Vec::new();
        for (client, raw) in clients.iter().zip(&raw) {
            for index in 0..2 {
                std::mem::forget((client.kept().unwrap(), client.held().unwrap()));
                waiting.push(posted(raw, "_next_kept", (2 * index + 1, 0)));
                waiting.push(posted(raw, "_end_held", (2 * index + 2, 0)));
            }
        }
        // More than there are server processors, and all wait.
        assert_eq!(waiting.len(), 12);
        let other = import();
        for _ in 0..100 {
            assert_eq!(other.with_deadline(NOTICED).open().unwrap(), 0);
        }
        assert!(waiting.iter().all(|call| !call.is_replied()));
        assert_eq!(other.let_go().unwrap(), 12);
        waiting.into_iter().for_each(|call| call.collect().unwrap());
    });
}

#[test]
fn more_feeds_than_the_limit_are_refused_and_given_up() {
    check(|import| {
        let client = import();
        let open: Vec<_> = (0..64).map(|_| client.numbers(5).unwrap()).collect();
        let mut aside = open.into_iter();
        expect_no_room(&client.numbers(5_000).unwrap_err(), "numbers", 64);
        let raw = Client::new(client.binding().clone(), &FLOWING);
        let refused = opened_by_hand((&raw, &FLOWING), "numbers", 5_000).unwrap_err();
        assert!(matches!(refused, CallError::ResultsRefused { .. }), "{refused}");
        expect(1, || client.given_up());
        assert!(aside.all(|feed| feed.count() == 5));
        assert_eq!(client.numbers(5).unwrap().count(), 5);
        expect(0, || client.open());
    });
}
