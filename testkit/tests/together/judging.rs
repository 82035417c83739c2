//! Items that the interface forbids (design note 0020): each is refused where it is put, and those
//! before it and behind it go.

use futures::executor::block_on;
use nearcall::{
    Binding, CallError, Domain, Error, ImportOptions, OutOfRange, OverBound, UsageError,
};
use testkit::judging::{export, name_of};
use testkit::judging_stubs::judging::{JUDGING, JudgingClient, Row, Tree};
use testkit::world::{Kind, in_world};

const SERVER: &str = env!("CARGO_BIN_EXE_testkit-server");

/// More than two batches of any of these.
const MANY: u32 = 2_000;

/// Deepest that a value may be nested: a batch is a level itself.
const DEPTH_MAX: usize = 64;

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

/// So deep.
fn tree(depth: usize) -> Tree {
    (0..depth).fold(Tree::default(), |tree, _| Tree { branches: vec![tree] })
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
        sink.put(tree(DEPTH_MAX - 2)).unwrap();
        let refused = sink.put(tree(DEPTH_MAX - 1)).unwrap_err();
        assert_eq!(refused.to_string(), "nesting is 65, allowed is 0 to 64");
        sink.put(tree(0)).unwrap();
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
