//! Feeds whose items are awaited (design notes 0020 and 0022): every item once and in order,
//! whatever else the task does, and whatever of it is dropped.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use futures::executor::block_on;
use futures::future::{join, join_all};
use futures::stream::{self, Stream, StreamExt};
use nearcall::{AwaitedFeed, AwaitedSink, Binding, CallError, Domain, Error, NotExecuted, Ran};
use testkit::exchanges::exchanges::{EXCHANGING, ExchangingClient};
use testkit::faults::faults::{FEEDING, FeedingClient, Refused};
use testkit::longer::is_late;
use testkit::world::{Kind, World, each_world, in_world};
use testkit::{exchanging, feeding};

use crate::carrying::expect_no_room;

const SERVER: &str = env!("CARGO_BIN_EXE_testkit-server");

/// Longest until a server has dropped what nobody wants.
const DROPPED: Duration = Duration::from_secs(60);

/// More than the A-stacks of a class.
const MANY: u32 = 12;

fn check(test: impl Fn(&World, &FeedingClient)) {
    each_world(SERVER, |world| {
        let server = world.serve("feeds");
        test(world, &world.import_feeding(&server));
    });
}

/// Waits until the server has as many iterators and takers.
fn expect_open(client: &FeedingClient, count: u32) {
    let begin = Instant::now();
    while client.open().unwrap() != count {
        assert!(begin.elapsed() < DROPPED, "{} are open, not {count}", client.open().unwrap());
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The rest of a feed, and what ended it.
async fn rest<T, E: From<Box<CallError>>>(feed: &mut AwaitedFeed<T, E>) -> (Vec<T>, Option<E>) {
    let mut items = Vec::new();
    loop {
        match feed.next().await {
            Some(Ok(item)) => items.push(item),
            Some(Err(error)) => return (items, Some(error)),
            None => return (items, None),
        }
    }
}

/// Polls once, by nobody who could be woken, and drops.
fn poll_once<F: Future>(future: F) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn what_is_opened_at_once_has_room_before_it_is_posted_and_leaves_it_however_it_ends() {
    check(|_, client| {
        block_on(async {
            let calls = client.awaiting();
            for _ in 0..65 {
                let (items, error) = rest(&mut calls.numbers(3, 0).await.unwrap()).await;
                assert!(error.is_none() && items == [0, 1, 2]);
                drop(calls.sum(0).await.unwrap());
                assert_eq!(calls.sum(0).await.unwrap().end().await.unwrap(), 0);
                assert!(calls.until(0, 0).await.is_err());
                // Opened or not: nobody knows its number.
                let _ = poll_once(calls.numbers(3, 0));
                // Until that was taken nobody has it open, who may still do so.
                while client.binding().captured_count() > 0 {
                    std::thread::yield_now();
                }
                expect_open(client, 0);
            }
            let opened = join_all((0..70).map(|_| calls.numbers(5, 0))).await;
            let (open, refused): (Vec<_>, Vec<_>) = opened.into_iter().partition(Result::is_ok);
            assert_eq!((open.len(), refused.len()), (64, 6));
            for error in refused.into_iter().filter_map(Result::err) {
                expect_no_room(&error, "numbers", 64);
            }
        });
        expect_open(client, 0);
    });
}

#[test]
fn items_come_and_go_once_and_in_order() {
    check(|_, client| {
        block_on(async {
            let calls = client.awaiting();
            for count in [0, 1, 2, 495, 496, 497, 992, 100_000] {
                let mut feed = calls.numbers(count, 0).await.unwrap();
                let (items, error) = rest(&mut feed).await;
                assert!(error.is_none() && items.into_iter().eq(0..count), "{count}");
                assert!(feed.next().await.is_none());
                let mut sink = calls.sum(0).await.unwrap();
                for item in 0..count {
                    sink.put(item).await.unwrap();
                }
                let want = (0..count).map(u64::from).sum::<u64>();
                assert_eq!(sink.end().await.unwrap(), want, "{count}");
            }
            let (words, _) = rest(&mut calls.words(200).await.unwrap()).await;
            assert!(words.into_iter().eq((0..200).map(|length| "x".repeat(length))));
            let mut sink = calls.join().await.unwrap();
            for length in 0..100 {
                sink.put("y".repeat(length)).await.unwrap();
            }
            assert_eq!(sink.end().await.unwrap(), "y".repeat(4950));
        });
        expect_open(client, 0);
    });
}

#[test]
fn a_task_comes_to_more_feeds_than_there_are_astacks_one_after_the_other() {
    check(|_, client| {
        block_on(async {
            let calls = client.awaiting();
            let (mut feeds, mut sinks) = (Vec::new(), Vec::new());
            for _ in 0..MANY {
                feeds.push(calls.numbers(2_000, 0).await.unwrap());
                sinks.push(calls.sum(0).await.unwrap());
            }
            for number in 0..2_000 {
                for (feed, sink) in feeds.iter_mut().zip(&mut sinks) {
                    assert_eq!(feed.next().await.unwrap().unwrap(), number);
                    sink.put(number).await.unwrap();
                }
                // One A-stack is left to others.
                assert!(number % 500 != 0 || calls.open().await.unwrap() > 0);
            }
            for (feed, sink) in feeds.iter_mut().zip(sinks) {
                assert!(feed.next().await.is_none());
                assert_eq!(sink.end().await.unwrap(), 2_000 * 1_999 / 2);
            }
        });
        expect_open(client, 0);
    });
}

#[test]
fn many_tasks_have_a_feed_and_a_sink_each() {
    check(|_, client| {
        let task = async |number: u32| {
            let calls = client.awaiting();
            let (mut feed, mut sink) =
                (calls.numbers(3_000 + number, 0).await.unwrap(), calls.sum(0).await.unwrap());
            while let Some(item) = feed.next().await {
                sink.put(item.unwrap()).await.unwrap();
            }
            sink.end().await.unwrap()
        };
        let sums = block_on(join_all((0..MANY).map(task)));
        let want = (0..MANY).map(|number| (0..3_000 + u64::from(number)).sum::<u64>());
        assert!(sums.into_iter().eq(want));
        expect_open(client, 0);
    });
}

#[test]
fn a_wait_that_is_dropped_loses_no_item_and_puts_none() {
    check(|_, client| {
        block_on(async {
            let calls = client.awaiting();
            let mut feed = calls.numbers(20, 20).await.unwrap();
            let (mut items, mut dropped_count) = (Vec::new(), 0);
            while items.len() < 20 {
                // A task that is kept from running meanwhile finds its item there.
                for _ in 0..2 {
                    match poll_once(feed.next()) {
                        Poll::Ready(item) => items.extend(item.map(Result::unwrap)),
                        Poll::Pending => dropped_count += 1,
                    }
                }
                items.extend(feed.next().await.map(Result::unwrap));
            }
            assert!(dropped_count > 0, "no item had to be waited for");
            assert!(items.into_iter().eq(0..20));
            assert!(feed.next().await.is_none());
            // Batches of 496, each of which is taken in a tenth of a second.
            let mut sink = calls.sum(200).await.unwrap();
            let (mut put_count, mut dropped_count) = (0, 0);
            while put_count < 2_000 {
                match poll_once(sink.put(1)) {
                    Poll::Ready(put) => put.unwrap(),
                    Poll::Pending => {
                        dropped_count += 1;
                        sink.put(1).await.unwrap();
                    }
                }
                put_count += 1;
            }
            assert!(dropped_count > 0, "no put had to wait");
            assert_eq!(sink.end().await.unwrap(), 2_000);
        });
        expect_open(client, 0);
    });
}

#[test]
fn exceptions_come_behind_the_items_and_end_a_feed() {
    check(|_, client| {
        block_on(async {
            let calls = client.awaiting();
            let raised = calls.until(0, 0).await.unwrap_err();
            assert!(matches!(raised, Error::Exception(_)), "{raised}");
            let mut feed = calls.until(700, 9).await.unwrap();
            let (items, raised) = rest(&mut feed).await;
            assert!(items.into_iter().eq(0..700));
            let Some(Error::Exception(exception)) = raised else { panic!("{raised:?}") };
            assert_eq!(exception, Refused { code: 9, reason: String::from("enough") }.into());
            assert!(feed.next().await.is_none());
            let mut sink = calls.limited(100).await.unwrap();
            let raised = loop {
                if let Err(raised) = sink.put(1).await {
                    break raised;
                }
            };
            assert!(matches!(raised, Error::Exception(_)), "{raised}");
            for said in [sink.put(1).await, sink.flush().await, sink.end().await.map(drop)] {
                let is_over = matches!(
                    said,
                    Err(Error::Call(CallError::NotExecuted { reason: NotExecuted::FeedOver, .. }))
                );
                assert!(is_over, "{said:?}");
            }
            let (_, panicked) = rest(&mut calls.until(10, -1).await.unwrap()).await;
            let is_panic = matches!(panicked, Some(Error::Call(CallError::Panicked { .. })));
            assert!(is_panic, "{panicked:?}");
        });
        expect_open(client, 0);
    });
}

#[test]
fn what_is_dropped_in_the_middle_is_dropped_there_too() {
    check(|_, client| {
        block_on(async {
            let calls = client.awaiting();
            // More than a binding may have at once.
            for _ in 0..100 {
                let mut feed = calls.numbers(1_000_000, 0).await.unwrap();
                assert_eq!(feed.next().await.unwrap().unwrap(), 0);
                let mut sink = calls.sum(0).await.unwrap();
                sink.put(1).await.unwrap();
                sink.flush().await.unwrap();
            }
        });
        expect_open(client, 0);
        // A call that opens one and is given up: nobody has its number.
        for _ in 0..100 {
            let _ = poll_once(client.awaiting().numbers(1, 0));
        }
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
        let is_ended = async || {
            let Ok(mut feed) = hasty.awaiting().numbers(2, 600).await else { return false };
            let Err(late) = feed.next().await.unwrap() else { return false };
            assert!(is_late(&late), "{late}");
            assert!(feed.next().await.is_none());
            true
        };
        assert!((0..100).any(|_| block_on(is_ended())));
        expect_open(client, 0);
    });
}

#[test]
fn a_server_that_ends_ends_its_feeds() {
    in_world(Kind::Processes, SERVER, |world| {
        let mut server = world.serve("feeds");
        let client = world.import_feeding(&server);
        block_on(async {
            let calls = client.awaiting();
            let mut feed = calls.numbers(1_000_000, 0).await.unwrap();
            feed.next().await.unwrap().unwrap();
            let mut sink = calls.sum(0).await.unwrap();
            sink.put(1).await.unwrap();
            server.kill();
            let error = rest(&mut feed).await.1.unwrap();
            assert_ne!(error.ran(), Ran::Yes, "{error}");
            assert!(feed.next().await.is_none());
            assert!(sink.end().await.is_err());
        });
    });
}

#[test]
fn a_feed_goes_where_its_task_goes() {
    check(|_, client| {
        let calls = client.awaiting();
        let mut feed = block_on(calls.numbers(5_000, 0)).unwrap();
        let mut sink = block_on(calls.sum(0)).unwrap();
        for turn in 0..5 {
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    block_on(async {
                        for number in turn * 1_000..(turn + 1) * 1_000 {
                            assert_eq!(feed.next().await.unwrap().unwrap(), number);
                            sink.put(number).await.unwrap();
                        }
                    });
                });
            });
        }
        assert!(block_on(feed.next()).is_none());
        assert_eq!(block_on(sink.end()).unwrap(), 5_000 * 4_999 / 2);
        expect_open(client, 0);
    });
}

/// Numbers that a server sends, as whoever expects a stream of its own has them.
type Numbers = Pin<Box<dyn Stream<Item = Result<u32, CallError>> + Send>>;

async fn numbers_of(client: FeedingClient, count: u32) -> Numbers {
    let mut feed = client.awaiting().numbers(count, 0).await.unwrap();
    Box::pin(stream::poll_fn(move |context| feed.poll_next(context)))
}

async fn sum_of(client: FeedingClient) -> AwaitedSink<u32, u64> {
    client.awaiting().sum(0).await.unwrap()
}

#[test]
fn what_is_opened_outlives_its_client_in_a_task_of_its_own() {
    each_world(SERVER, |world| {
        let server = world.serve("feeds");
        let import = || world.import_feeding(&server);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build();
        runtime.unwrap().block_on(async {
            let (numbers, mut sum) = join(numbers_of(import(), 5_000), sum_of(import())).await;
            let coming = tokio::spawn(numbers.map(Result::unwrap).collect::<Vec<u32>>());
            let going = tokio::spawn(async move {
                for number in 0..5_000 {
                    sum.put(number).await.unwrap();
                }
                sum.end().await.unwrap()
            });
            assert!(coming.await.unwrap().into_iter().eq(0..5_000));
            assert_eq!(going.await.unwrap(), 5_000 * 4_999 / 2);
        });
    });
}

#[test]
fn a_binding_lasts_as_long_as_what_was_opened_over_it() {
    let directory = tempfile::tempdir().unwrap();
    let (domain, own) = (Domain::new().unwrap(), Domain::new().unwrap());
    let clerk = feeding::export(&domain, directory.path(), "lasting").unwrap();
    let import = || {
        let options = testkit::server::import_options(directory.path());
        let name = feeding::name_of("lasting");
        FeedingClient::new(Binding::import_with(&own, &name, &FEEDING, options).unwrap())
    };
    let (other, client) = (import(), import());
    let calls = client.awaiting();
    let (mut feed, sum) = block_on(join(calls.numbers(1_000_000, 0), calls.sum(0)));
    drop(client);
    assert_eq!(block_on(feed.as_mut().unwrap().next()).unwrap().unwrap(), 0);
    expect_open(&other, 2);
    // By what its client says of it: the binding is there for the other one.
    drop(feed);
    expect_open(&other, 1);
    assert_eq!(clerk.binding_count(), 2);
    drop(sum);
    expect_open(&other, 0);
    let begin = Instant::now();
    while clerk.binding_count() != 1 {
        assert!(begin.elapsed() < DROPPED, "{} bindings", clerk.binding_count());
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Counts its wakes.
#[derive(Default)]
struct Wakes(AtomicU32);

impl Wake for Wakes {
    fn wake(self: Arc<Wakes>) {
        self.0.fetch_add(1, SeqCst);
    }
}

#[test]
fn nobody_is_woken_for_a_batch_that_nobody_waits_for() {
    check(|_, client| {
        // A batch, and nothing behind it.
        let mut feed = block_on(client.awaiting().gated(496)).unwrap();
        let begin = Instant::now();
        loop {
            let wakes = Arc::new(Wakes::default());
            let waker = Waker::from(Arc::clone(&wakes));
            if let Poll::Ready(item) = feed.poll_next(&mut Context::from_waker(&waker)) {
                assert_eq!(item.unwrap().unwrap(), 0);
                assert_eq!(wakes.0.load(SeqCst), 0, "the batch behind it is under way");
                break;
            }
            assert!(begin.elapsed() < DROPPED, "there is no item");
            std::thread::yield_now();
        }
    });
}

#[test]
fn an_exchange_is_put_and_read_by_one_thread() {
    let directory = tempfile::tempdir().unwrap();
    let domain = Domain::new().unwrap();
    let _clerk = exchanging::export(&domain, directory.path(), "awaited").unwrap();
    let options = testkit::server::import_options(directory.path());
    let name = exchanging::name_of("awaited");
    let binding = Binding::import_with(&Domain::new().unwrap(), &name, &EXCHANGING, options);
    let client = ExchangingClient::new(binding.unwrap());
    let calls = client.awaiting();
    block_on(async {
        let (mut sink, mut feed) = calls.echo().await.unwrap();
        let put = async move {
            for number in 0..2_000 {
                sink.put(number.to_string()).await.unwrap();
            }
            sink.end().await.unwrap();
        };
        let ((), (words, error)) = join(put, rest(&mut feed)).await;
        assert!(error.is_none() && words.into_iter().eq((0..2_000).map(|n: u32| n.to_string())));
        let (mut sink, mut feed) = calls.sums(10).await.unwrap();
        sink.put(4).await.unwrap();
        sink.flush().await.unwrap();
        assert_eq!(feed.next().await.unwrap().unwrap(), 4);
        sink.put(11).await.unwrap();
        sink.flush().await.unwrap();
        let raised = feed.next().await.unwrap().unwrap_err();
        assert!(matches!(raised, Error::Exception(_)), "{raised}");
    });
}
