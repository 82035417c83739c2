//! What an inlet and an outlet promise, without a binding.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::task::Wake;

use super::calls::{NextBatch, Sent};
use super::*;
use crate::error::OverBound;
use crate::raw::{Marshal, Refusal, Writer};

#[test]
fn items_of_an_outlet_that_a_panic_drops_are_not_all() {
    let (ends, _inlet, mut outlet) = exchange::<(), u32, Infallible>(0, 10, Keeping::AsItIs);
    let panics = std::thread::spawn(move || {
        outlet.put(7).unwrap();
        resume_unwind(Box::new("on purpose"));
    });
    assert!(panics.join().is_err());
    let at_way = ends.asked.0.enter(0).unwrap();
    let context = Context::from_waker(Waker::noop());
    let items = at_way.poll_next(&context);
    assert!(matches!(&items, Poll::Ready(Some(Ok(Ok((items, false))))) if items.items() == [7]));
    assert!(matches!(at_way.poll_next(&context), Poll::Ready(None)));
}

#[test]
fn a_wait_ends_with_what_it_is_for_and_with_its_time() {
    let (ends, inlet, mut outlet) = exchange::<u32, u32, Infallible>(0, 1, Keeping::AsItIs);
    let brief = Duration::from_millis(1);
    assert!(outlet.wait(brief) && outlet.is_ready());
    outlet.put(7).unwrap();
    assert!(!outlet.wait(brief) && !outlet.is_ready());
    assert!(!inlet.wait(brief) && !inlet.is_ready());
    let gives_up = std::thread::spawn(move || drop(ends));
    assert!(outlet.wait(Duration::MAX) && inlet.wait(Duration::MAX));
    gives_up.join().unwrap();
    assert_eq!(outlet.put(8), Err(NotPut::GivenUp));
}

#[test]
fn items_that_came_together_are_had_together_and_the_end_once() {
    let (ends, mut inlet, _outlet) = exchange::<u32, u32, Infallible>(0, 1, Keeping::AsItIs);
    let context = &Context::from_waker(Waker::noop());
    let comes = |items: Vec<u32>| {
        let came = ends.sent.0.enter(0).unwrap().poll_put(&mut Sent::new(items, None), context);
        assert!(matches!(came, Poll::Ready(Ok(()))));
    };
    comes(vec![1, 2, 3]);
    assert_eq!(inlet.next_batch(), Some(Ok(vec![1, 2, 3])));
    comes(vec![4, 5]);
    assert_eq!(inlet.next(), Some(Ok(4)));
    assert_eq!(inlet.next_batch(), Some(Ok(vec![5])));
    drop(ends);
    assert_eq!((inlet.next_batch(), inlet.next_batch()), (Some(Err(GivenUp)), None));
}

#[test]
fn a_task_is_woken_when_it_need_not_wait_any_more() {
    let (ends, mut inlet, mut outlet) = exchange::<u32, u32, Infallible>(0, 1, Keeping::AsItIs);
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(Arc::clone(&woken));
    let context = &Context::from_waker(&waker);
    assert!(inlet.poll_ready(context).is_pending() && outlet.poll_ready(context).is_ready());
    let comes = ends.sent.0.enter(0).unwrap().poll_put(&mut Sent::new(vec![7], None), context);
    assert!(matches!(comes, Poll::Ready(Ok(()))) && woken.take() == 1);
    assert!(inlet.poll_ready(context).is_ready() && inlet.next() == Some(Ok(7)));
    outlet.put(8).unwrap();
    assert!(outlet.poll_ready(context).is_pending());
    let goes = ends.asked.0.enter(0).unwrap().poll_next(context);
    assert!(goes.is_ready() && woken.take() == 1 && outlet.poll_ready(context).is_ready());
    outlet.put(9).unwrap();
    assert!(inlet.poll_ready(context).is_pending() && outlet.poll_ready(context).is_pending());
    drop(ends);
    assert_eq!(woken.take(), 2);
    assert!(inlet.poll_ready(context).is_ready() && outlet.poll_ready(context).is_ready());
}

/// How often it was woken.
#[derive(Default)]
struct Woken(AtomicU32);

impl Woken {
    fn take(&self) -> u32 {
        self.0.swap(0, Relaxed)
    }
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Relaxed);
    }
}

#[test]
fn items_of_an_outlet_that_was_ended_are_all() {
    let (ends, _inlet, mut outlet) = exchange::<(), u32, Infallible>(0, 10, Keeping::AsItIs);
    outlet.put(7).unwrap();
    outlet.end();
    let at_way = ends.asked.0.enter(0).unwrap();
    let items = at_way.poll_next(&Context::from_waker(Waker::noop()));
    assert!(matches!(&items, Poll::Ready(Some(Ok(Ok((items, true))))) if items.items() == [7]));
}

#[test]
fn items_of_an_outlet_that_was_dropped_are_not_all() {
    let (ends, _inlet, mut outlet) = exchange::<(), u32, Infallible>(0, 10, Keeping::AsItIs);
    outlet.put(7).unwrap();
    drop(outlet);
    let at_way = ends.asked.0.enter(0).unwrap();
    let context = Context::from_waker(Waker::noop());
    let items = at_way.poll_next(&context);
    assert!(matches!(&items, Poll::Ready(Some(Ok(Ok((items, false))))) if items.items() == [7]));
    let Poll::Ready(Some(Err(unended))) = at_way.poll_next(&context) else {
        panic!("they look like all there are");
    };
    assert!(matches!(*unended, Refusal::Unended));
}

#[test]
fn a_feed_that_ends_with_its_binding_does_not_look_complete() {
    let context = Context::from_waker(Waker::noop());
    let is_ended = |next: Poll<Option<NextBatch<u32, Infallible>>>| match next {
        Poll::Ready(Some(Err(ended))) => matches!(*ended, Refusal::FeedOver),
        _ => false,
    };
    let (ends, _inlet, _outlet) = exchange::<(), u32, Infallible>(0, 10, Keeping::AsItIs);
    let waits = ends.asked.0.enter(0).unwrap();
    assert!(waits.poll_next(&context).is_pending());
    drop(ends);
    assert!(is_ended(waits.poll_next(&context)));

    let (ends, _inlet, mut outlet) = exchange::<(), u32, Infallible>(0, 10, Keeping::AsItIs);
    let woken = ends.asked.0.enter(0).unwrap();
    outlet.put(7).unwrap();
    drop(outlet);
    // Before the call was polled, which these items have woken.
    drop(ends);
    assert!(is_ended(woken.poll_next(&context)));
}

/// A text of four bytes at most.
fn write(item: &String, writer: &mut Writer) {
    writer.bound("word", item.len(), 4);
    item.marshal(writer);
}

fn lengthy() -> (String, NotPut) {
    let want = OverBound { parameter: "word", value: 7, limit: 4 };
    (String::from("lengthy"), NotPut::Refused(UsageError::OverBound(want)))
}

#[test]
fn a_refused_item_was_not_put_and_the_exchange_goes_on() {
    let written = Keeping::Written(write);
    let (ends, _inlet, mut outlet) = exchange::<(), String, Infallible>(0, 3, written);
    let at_way = ends.asked.0.enter(0).unwrap();
    let context = Context::from_waker(Waker::noop());
    let (lengthy, refused) = lengthy();
    assert_eq!(outlet.put(lengthy.clone()), Err(refused.clone()));
    assert!(at_way.poll_next(&context).is_pending());
    let words = ["one", "two", "ten"].map(String::from);
    for word in &words {
        outlet.put(word.clone()).unwrap();
        assert_eq!(outlet.put(lengthy.clone()), Err(refused.clone()));
    }
    outlet.end();
    let mut want = Writer::new();
    words.to_vec().marshal(&mut want);
    let items = at_way.poll_next(&context);
    let Poll::Ready(Some(Ok(Ok((items, true))))) = items else { panic!("it is not the last") };
    assert_eq!(items.written(), want.as_bytes());
}

#[test]
fn who_puts_an_item_that_is_refused_does_not_wait_for_room() {
    let written = Keeping::Written(write);
    let (ends, _inlet, mut outlet) = exchange::<(), String, Infallible>(0, 1, written);
    outlet.put(String::from("one")).unwrap();
    assert!(!outlet.is_ready());
    let (lengthy, refused) = lengthy();
    assert_eq!(outlet.put(lengthy), Err(refused));
    drop(ends);
    assert_eq!(outlet.put(String::from("two")), Err(NotPut::GivenUp));
}

#[test]
fn an_outlet_whose_items_are_looked_at_keeps_the_others_as_they_are() {
    let judged = Keeping::Judged(|item: &u32, writer| {
        if *item > 9 {
            writer.range("item", item, "0 to 9");
        }
    });
    let (ends, _inlet, mut outlet) = exchange::<(), u32, Infallible>(0, 3, judged);
    for number in 8..12 {
        match outlet.put(number) {
            Ok(()) => assert!(number < 10),
            Err(refused) => {
                assert_eq!(refused.to_string(), format!("item is {number}, allowed is 0 to 9"));
            }
        }
    }
    let at_way = ends.asked.0.enter(0).unwrap();
    let items = at_way.poll_next(&Context::from_waker(Waker::noop()));
    assert!(matches!(items, Poll::Ready(Some(Ok(Ok((items, false))))) if items.items() == [8, 9]));
}

/// The loop that a server is.
fn echo(inlet: Inlet<u32>, mut outlet: Outlet<u32>) -> Result<(), NotPut> {
    for number in inlet {
        outlet.put(number?)?;
    }
    Ok(())
}

#[test]
fn a_server_that_hands_both_errors_on_says_which_it_was() {
    let (ends, inlet, outlet) = exchange::<u32, u32, Infallible>(0, 1, Keeping::AsItIs);
    drop(ends);
    assert_eq!(echo(inlet, outlet), Err(NotPut::GivenUp));
    let judged = Keeping::Judged(|item: &u32, writer| writer.range("item", item, "none"));
    let (ends, inlet, outlet) = exchange::<u32, u32, Infallible>(0, 1, judged);
    let context = Context::from_waker(Waker::noop());
    let sent = ends.sent.0.enter(0).unwrap().poll_put(&mut Sent::new(vec![7], None), &context);
    assert!(matches!(sent, Poll::Ready(Ok(()))));
    let refused = echo(inlet, outlet).unwrap_err();
    assert_eq!(refused.to_string(), "item is 7, allowed is none");
    assert!(matches!(refused, NotPut::Refused(UsageError::OutOfRange(_))));
}
