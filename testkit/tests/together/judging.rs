//! Items that the interface forbids (design note 0020): each is refused where it is put, and those
//! before it and behind it go.

use futures::executor::block_on;
use nearcall::{
    Binding, CallError, Domain, Error, ImportOptions, OutOfRange, OverBound, UsageError,
};
use testkit::judging::{DEPTH_MAX, export, name_of, nested};
use testkit::judging_stubs::judging::{JUDGING, JudgingClient, Row};
use testkit::world::{Kind, in_world};

const SERVER: &str = env!("CARGO_BIN_EXE_testkit-server");

/// More than two batches of any of these.
const MANY: u32 = 2_000;

/// With a server in this process, and with one in another.
fn check(test: impl Fn(&JudgingClient)) {
    let directory = tempfile::tempdir().unwrap();
    let domain = Domain::new().unwrap();
    let clerk = export(&domain, directory.path(), "judging").unwrap();
    test(&import(testkit::server::import_options(directory.path())));
    drop(clerk);
    in_world(Kind::Processes, SERVER, |world| {
        let _server = world.serve("judging");
        test(&import(world.import_options()));
    });
}

fn import(options: ImportOptions) -> JudgingClient {
    let domain = Domain::new().unwrap();
    let binding = Binding::import_with(&domain, &name_of("judging"), &JUDGING, options);
    JudgingClient::new(binding.unwrap())
}

fn expect_over_bound(refused: &CallError, parameter: &'static str) {
    let want = UsageError::OverBound(OverBound { parameter, value: 5, limit: 4 });
    assert!(matches!(refused, CallError::Usage(seen) if *seen == want), "{refused:?}");
}

fn expect_not_a_digit(refused: &CallError) {
    let (value, allowed) = (String::from("10"), String::from("1 to 9"));
    let want = UsageError::OutOfRange(Box::new(OutOfRange { parameter: "item", value, allowed }));
    assert!(matches!(refused, CallError::Usage(seen) if *seen == want), "{refused:?}");
}

fn row(key: u32, name: &str) -> Row {
    Row { key, name: name.to_owned() }
}

#[test]
fn what_a_member_refuses_is_refused_at_once_and_the_others_go() {
    check(|client| {
        let mut sink = client.rows().unwrap();
        for key in 0..MANY {
            sink.put(row(key, "")).unwrap();
            let refused = sink.put(row(key, "fiver")).unwrap_err();
            let Error::Call(refused) = refused else { panic!("{refused}") };
            expect_over_bound(&refused, "name");
            assert!(!sink.is_over());
        }
        sink.put(row(7, "four")).unwrap();
        let want: String = (0..MANY).map(|key| key.to_string()).collect();
        assert_eq!(sink.end().unwrap(), want + "7four");
    });
}

#[test]
fn what_a_range_refuses_is_refused_at_once_and_the_others_go() {
    check(|client| {
        let mut sink = client.digits().unwrap();
        for number in 0..MANY {
            expect_not_a_digit(&sink.put(10).unwrap_err());
            sink.put((number % 9 + 1) as i32).unwrap();
        }
        assert!(!sink.is_over());
        let want: String = (0..MANY).map(|number| (number % 9 + 1).to_string()).collect();
        assert_eq!(sink.end().unwrap(), want);
    });
}

#[test]
fn what_is_nested_too_deep_is_refused_at_once_and_the_others_go() {
    check(|client| {
        let mut sink = client.trees().unwrap();
        sink.put(nested(DEPTH_MAX - 2)).unwrap();
        let refused = sink.put(nested(DEPTH_MAX - 1)).unwrap_err();
        assert_eq!(refused.to_string(), "item is 65 levels deep, allowed is 0 to 64");
        sink.put(nested(0)).unwrap();
        assert_eq!(sink.end().unwrap(), 2);
    });
}

#[test]
fn an_awaited_sink_refuses_an_item_at_once_and_sends_the_others() {
    check(|client| {
        block_on(async {
            let mut words = client.awaiting().words().await.unwrap();
            let mut digits = client.awaiting().digits().await.unwrap();
            for _ in 0..MANY {
                words.put(String::from("four")).await.unwrap();
                let refused = words.put(String::from("fiver")).await.unwrap_err();
                expect_over_bound(&refused, "item");
                digits.put(9).await.unwrap();
                expect_not_a_digit(&digits.put(10).await.unwrap_err());
            }
            assert!(!words.is_over() && !digits.is_over());
            assert_eq!(words.end().await.unwrap(), "four".repeat(MANY as usize));
            assert_eq!(digits.end().await.unwrap(), "9".repeat(MANY as usize));
        });
    });
}

#[test]
fn the_sink_of_an_exchange_refuses_an_item_at_once_and_sends_the_others() {
    check(|client| {
        let (sink, feed) = client.words_turn().unwrap();
        let (mut sink, mut feed) = (sink.begin(), feed.begin());
        for word in ["one", "two", "ten"] {
            expect_over_bound(&sink.put(String::from("fiver")).unwrap_err(), "item");
            sink.put(word.to_owned()).unwrap();
            sink.flush().unwrap();
            assert_eq!(feed.next().unwrap().unwrap(), word);
        }
        sink.end().unwrap();
        assert!(feed.next().is_none());
    });
}

#[test]
fn an_outlet_refuses_an_item_at_once_and_its_exchange_goes_on() {
    check(|client| {
        let (sink, feed) = client.words_turn().unwrap();
        let (mut sink, mut feed) = (sink.begin(), feed.begin());
        let (digits_sink, digits_feed) = client.digits_turn().unwrap();
        let (mut digits_sink, mut digits_feed) = (digits_sink.begin(), digits_feed.begin());
        for number in 1..10 {
            sink.put(number.to_string()).unwrap();
            sink.flush().unwrap();
            assert_eq!(feed.next().unwrap().unwrap(), number.to_string());
            digits_sink.put(number).unwrap();
            digits_sink.flush().unwrap();
            assert_eq!(digits_feed.next().unwrap().unwrap(), number);
        }
        sink.end().unwrap();
        digits_sink.end().unwrap();
        assert!(feed.next().is_none() && digits_feed.next().is_none());
    });
}

#[test]
fn an_exchange_of_many_items_between_refused_ones_brings_all_of_them() {
    check(|client| {
        let (sink, feed) = client.words_turn().unwrap();
        let mut sink = sink.begin();
        std::thread::scope(|scope| {
            let came = scope.spawn(|| feed.begin().map(Result::unwrap).collect::<Vec<_>>());
            let words: Vec<String> = (0..MANY).map(|number| number.to_string()).collect();
            for word in &words {
                sink.put(word.clone()).unwrap();
            }
            sink.end().unwrap();
            assert_eq!(came.join().unwrap(), words);
        });
    });
}

/// Reads a feed that makes an item that is refused: it comes to `good` items and an end.
fn expect_refused_behind<T, E: std::fmt::Debug>(
    mut feed: impl Iterator<Item = Result<T, E>>,
    good: u32,
    is_item: impl Fn(u32, T) -> bool,
) -> E {
    for at in 0..good {
        assert!(is_item(at, feed.next().unwrap().unwrap()), "item {at}");
    }
    let refused = feed.next().unwrap().err().unwrap();
    assert!(feed.next().is_none(), "it is over");
    refused
}

#[test]
fn what_an_iterator_makes_that_is_refused_ends_its_feed_behind_the_others() {
    check(|client| {
        for good in [0, 1, MANY] {
            let rows = client.rows_come(good).unwrap();
            let refused = expect_refused_behind(rows, good, |at, came| came == row(at, "four"));
            assert!(matches!(refused, Error::Call(CallError::ResultsRefused { .. })));
            let digits = client.digits_come(good).unwrap();
            let is_item = |at, came| came == (at % 9 + 1) as i32;
            let refused = expect_refused_behind(digits, good, is_item);
            assert!(matches!(refused, CallError::ResultsRefused { .. }));
        }
        let trees = client.trees_come(3).unwrap();
        let is_item = |_, came| came == nested(DEPTH_MAX - 2);
        let refused = expect_refused_behind(trees, 3, is_item);
        assert!(matches!(refused, CallError::ResultsRefused { .. }));
        let words = client.words().unwrap();
        assert_eq!(words.end().unwrap(), "", "the binding is not revoked");
    });
}
