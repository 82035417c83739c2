//! Sources, beside an iterator that waits for the test.

use std::mem;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use super::*;
use crate::domain::DomainCore;

/// Longest that what waits for nothing takes.
const SOON: Duration = Duration::from_secs(20);

/// What becomes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Again,
    Ended,
    Left,
}

/// Where calls say it, by their numbers.
type Fates = Sender<(u32, Fate)>;

/// A call that says what becomes of it.
struct Told(u32, Fates);

impl Asker for Told {
    fn enter_again(self: Box<Self>) {
        self.1.send((self.0, Fate::Again)).unwrap();
    }

    fn end(self: Box<Self>) {
        self.1.send((self.0, Fate::Ended)).unwrap();
    }

    fn leave(self: Box<Self>) {
        self.1.send((self.0, Fate::Left)).unwrap();
    }

    fn is_cancelled(&self) -> bool {
        self.0 == CANCELLED
    }
}

/// A call that its client has given up.
const CANCELLED: u32 = 9;

/// An iterator that makes what a test gives it, and says when it is asked.
struct Given {
    items: Receiver<Result<u32, &'static str>>,
    asked: Sender<()>,
}

impl Iterator for Given {
    type Item = Result<u32, &'static str>;

    fn next(&mut self) -> Option<Self::Item> {
        self.asked.send(()).unwrap();
        let item = self.items.recv().ok()?;
        assert_ne!(item, Err("panic"), "as the test wants it");
        Some(item)
    }
}

type Feed = Arc<Source<u32, &'static str>>;

/// A feed, and the test's ends.
struct Bench {
    source: Feed,
    give: Sender<Result<u32, &'static str>>,
    asked: Receiver<()>,
    fates: (Fates, Receiver<(u32, Fate)>),
}

/// What a call brings, to be compared: the items, and whether they are the last; or a word.
type Brought = Result<(Vec<u32>, bool), &'static str>;

fn next(source: &Feed, number: u32, (call, fates): (u32, Fates)) -> Brought {
    let asker = || Ok(Box::new(Told(call, fates)) as Box<dyn Asker>);
    match source.next((1, number), (Keeping::AsItIs, 3), asker, |_| {}) {
        Ok(Ok((batch, is_last))) => Ok((batch.into_items(), is_last)),
        Ok(Err(Over::Raised(raised))) => Err(raised),
        Ok(Err(Over::Panicked)) => Err("panicked"),
        Ok(Err(_)) => Err("over"),
        Err(refusal) => Err(match *refusal {
            Refusal::SetAside => "set aside",
            Refusal::FeedOver => "given up",
            _ => "refused",
        }),
    }
}

impl Bench {
    fn new() -> Bench {
        let ((give, items), (asked_in, asked)) = (channel(), channel());
        let mut source = Source::new(Box::new(Given { items, asked: asked_in }) as _);
        // Threads that stand still are not late here.
        source.late_ns = u64::MAX / 32;
        let source = Arc::new(source);
        Bench { source, give, asked, fates: channel() }
    }

    fn next(&self, number: u32, call: u32) -> Brought {
        next(&self.source, number, (call, self.fates.0.clone()))
    }

    /// The same on a thread, which has asked for `items` and one more when this returns.
    fn begin(&self, number: u32, call: u32, items: &[u32]) -> thread::JoinHandle<Brought> {
        let (source, fates) = (Arc::clone(&self.source), self.fates.0.clone());
        let there = thread::spawn(move || next(&source, number, (call, fates)));
        self.asked.recv().unwrap();
        for item in items {
            self.give.send(Ok(*item)).unwrap();
            self.asked.recv().unwrap();
        }
        there
    }

    /// What has become of calls since.
    fn fates(&self) -> Vec<(u32, Fate)> {
        self.fates.1.try_iter().collect()
    }

    /// The first turn is late.
    fn relieve(&self) {
        assert!(!self.source.relieve(1), "it is not yet");
        assert!(self.source.relieve_at(1, u64::MAX));
    }
}

#[test]
fn what_an_iterator_has_made_before_it_waits_is_sent_by_others() {
    let bench = Bench::new();
    let there = bench.begin(0, 5, &[10, 11]);
    assert_eq!(bench.next(0, 6), Err("refused"), "it is asked for already");
    bench.relieve();
    assert_eq!(bench.fates(), [(5, Fate::Again)]);
    assert_eq!(bench.next(0, 5), Ok((vec![10, 11], false)));
    // The next call comes while the first is in the iterator still.
    assert_eq!(bench.next(1, 6), Err("set aside"));
    assert_eq!(bench.fates(), []);
    bench.give.send(Ok(12)).unwrap();
    assert_eq!(there.join().unwrap(), Err("set aside"), "it was answered");
    assert_eq!(bench.fates(), [(6, Fate::Again)]);
    assert_eq!(bench.next(1, 6), Ok((vec![12], false)));
    assert_eq!(bench.next(1, 7), Err("refused"), "it has gone");
}

#[test]
fn an_iterator_that_was_late_sends_what_it_makes_at_once() {
    let bench = Bench::new();
    let there = bench.begin(0, 5, &[]);
    bench.relieve();
    assert_eq!(bench.fates(), [], "there is nothing to send");
    bench.give.send(Ok(10)).unwrap();
    assert_eq!(there.join().unwrap(), Ok((vec![10], false)));
    assert_eq!(bench.fates(), [(5, Fate::Left)]);
    for number in 1..ALONE {
        bench.give.send(Ok(number)).unwrap();
        assert_eq!(bench.next(number, 6), Ok((vec![number], false)));
    }
}

#[test]
fn what_comes_when_nobody_asks_waits_for_who_does() {
    let bench = Bench::new();
    let there = bench.begin(0, 5, &[10]);
    bench.relieve();
    assert_eq!(bench.next(0, 5), Ok((vec![10], false)));
    assert!(!bench.source.is_over(1));
    bench.give.send(Err("raised")).unwrap();
    assert_eq!(there.join().unwrap(), Err("set aside"));
    assert_eq!(bench.fates(), [(5, Fate::Again)]);
    assert!(bench.source.is_over(1), "who kept its call learns that the turn is over");
    assert_eq!(bench.next(1, 6), Err("raised"));
}

#[test]
fn a_feed_that_is_given_up_answers_who_waits_for_it() {
    for is_in_iterator in [true, false] {
        let bench = Bench::new();
        let end = SourceEnd(Arc::clone(&bench.source));
        let there = bench.begin(0, 5, &[10]);
        if !is_in_iterator {
            bench.relieve();
            assert_eq!(bench.next(0, 5), Ok((vec![10], false)));
            assert_eq!(bench.next(1, 6), Err("set aside"));
        }
        let call = if is_in_iterator { 5 } else { 6 };
        assert!(!bench.source.is_over(1));
        bench.fates();
        drop(end);
        assert_eq!(bench.fates(), [(call, Fate::Ended)]);
        assert!(bench.source.is_over(1), "who makes items learns of it");
        bench.give.send(Ok(11)).unwrap();
        assert_eq!(there.join().unwrap(), Err("set aside"));
        assert_eq!(bench.fates(), []);
        assert_eq!(bench.next(1, 7), Err("given up"), "who had found it before");
    }
}

#[test]
fn who_makes_items_learns_that_the_call_was_given_up_that_waits_now() {
    let bench = Bench::new();
    let there = bench.begin(0, 5, &[10]);
    bench.relieve();
    assert_eq!(bench.next(0, 5), Ok((vec![10], false)));
    assert!(!bench.source.is_over(1), "nobody waits, and somebody may");
    assert_eq!(bench.next(1, CANCELLED), Err("set aside"));
    assert!(bench.source.is_over(1));
    bench.give.send(Ok(11)).unwrap();
    assert_eq!(there.join().unwrap(), Err("set aside"));
    assert!(bench.source.is_over(1), "the turn is over");
}

#[test]
fn a_panic_comes_behind_the_items_before_it() {
    let bench = Bench::new();
    let there = bench.begin(0, 5, &[10]);
    bench.relieve();
    assert_eq!(bench.next(0, 5), Ok((vec![10], false)));
    assert_eq!(bench.next(1, 6), Err("set aside"));
    bench.give.send(Err("panic")).unwrap();
    assert_eq!(there.join().unwrap(), Err("set aside"), "it was answered");
    assert_eq!(bench.fates(), [(5, Fate::Again), (6, Fate::Again)]);
    assert_eq!(bench.next(1, 6), Err("panicked"));

    let bench = Bench::new();
    let there = bench.begin(0, 5, &[10]);
    bench.give.send(Err("panic")).unwrap();
    assert_eq!(there.join().unwrap(), Ok((vec![10], false)));
    assert_eq!(bench.next(1, 6), Err("panicked"));
}

/// An item, or what a panic says, whose drop asks for its feed, and panics itself.
struct Sore(Arc<Source<Sore, ()>>, Sender<bool>);

impl Drop for Sore {
    fn drop(&mut self) {
        let is_free = self.0.state.try_lock().is_ok();
        self.1.send(is_free).unwrap();
        panic!("as the test wants it");
    }
}

/// What the drop finds of what is made when a feed was given up, or of what a panic says, if
/// `panics`; and the call's fates and what it brought.
fn left_behind(panics: bool) -> (Vec<bool>, Vec<(u32, Fate)>, &'static str) {
    let ((dropped, drops), (told, fates)) = (channel(), channel());
    let own = Arc::new(Mutex::new(None::<Arc<Source<Sore, ()>>>));
    let known = Arc::clone(&own);
    let items = std::iter::from_fn(move || {
        let source = known.lock().unwrap().clone().unwrap();
        let sore = Sore(Arc::clone(&source), dropped.clone());
        if panics {
            std::panic::panic_any(sore);
        }
        drop(SourceEnd(source));
        Some(Ok(sore))
    });
    let source = Arc::new(Source::new(Box::new(items)));
    *own.lock().unwrap() = Some(Arc::clone(&source));
    let asker = || Ok(Box::new(Told(5, told)) as Box<dyn Asker>);
    let brought = match source.next((1, 0), (Keeping::AsItIs, 3), asker, |_| {}) {
        Ok(Err(Over::Panicked)) => "panicked",
        Err(refusal) if matches!(*refusal, Refusal::SetAside) => "set aside",
        _ => "something",
    };
    own.lock().unwrap().take();
    (drops.try_iter().collect(), fates.try_iter().collect(), brought)
}

#[test]
fn what_is_the_applications_is_dropped_outside_of_the_lock_and_may_panic_there() {
    assert_eq!(left_behind(false), (vec![true], vec![(5, Fate::Ended)], "set aside"));
    assert_eq!(left_behind(true), (vec![true], vec![(5, Fate::Left)], "panicked"));
}

#[test]
fn an_iterator_that_forks_comes_back_in_the_child_whatever_the_parent_had_locked() {
    let (known, core) = (Arc::new(Mutex::new(None::<Feed>)), DomainCore::forked());
    let source_of = Arc::clone(&known);
    let items = std::iter::from_fn(move || {
        let source = source_of.lock().unwrap().clone().unwrap();
        // As another thread of the parent does, which is not there in the child.
        mem::forget(source.state());
        Some(Ok(10))
    });
    let source = Arc::new(Source::new(Box::new(items)));
    *known.lock().unwrap() = Some(Arc::clone(&source));
    let (brings, brought) = channel();
    thread::spawn(move || {
        current::enter_domain(Arc::downgrade(&core), 1);
        brings.send(next(&source, 0, (5, channel().0))).unwrap();
    });
    assert_eq!(brought.recv_timeout(SOON), Ok(Err("set aside")));
}
