//! Feeds that clients of a binding have open, in the server's private memory (design note 0020).
//!
//! A feed is taken out of reach by its end, an error, its client's word, or the binding's end;
//! whoever runs a batch of it then drops it. Nobody waits here: a client that posts two batches of
//! one feed at a time, or out of order, breaks the protocol.

use std::any::Any;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use nearcall_abi::message::FEEDS_MAX;
use nearcall_core::Sequence;

use self::source::{Asker, Over, Source, SourceEnd};
use super::binding::ServerBinding;
use super::deferred::{self, Deferred};
use super::exchange::calls::NextBatch;
use crate::audit::Cause;
use crate::batch::Batches;
use crate::error::UsageError;
use crate::raw::{Keeping, Malformed, Refusal, ServedCall};

pub(crate) mod makers;
pub(crate) mod source;

/// What takes the items of a feed, in the server. It is dropped by whatever thread finds that it is
/// over, and must not wait for anything then. Dropped without [`Intake::end`], its client has
/// given the feed up, or has ended.
pub trait Intake: Send {
    /// What comes.
    type Item;
    /// What becomes of it.
    type Output;
    /// What the procedure raises; [`core::convert::Infallible`] if it raises nothing.
    type Error;

    /// The next item. Its client waits meanwhile, one batch ahead.
    ///
    /// # Errors: what the procedure raises; the feed is over.
    fn take(&mut self, item: Self::Item) -> Result<(), Self::Error>;

    /// There are no more.
    ///
    /// # Errors: what the procedure raises.
    fn end(self: Box<Self>) -> Result<Self::Output, Self::Error>;
}

/// What a procedure returns that is a feed of `T`. Its client waits while it makes an item; dropped
/// before its end, its client has given the feed up, or has ended.
pub type Items<T> = Box<dyn Iterator<Item = T> + Send>;

/// What a procedure returns that takes a feed of `T` and makes an `R` of it.
pub type Taker<T, R, E = std::convert::Infallible> =
    Box<dyn Intake<Item = T, Output = R, Error = E>>;

/// The open feeds of one binding.
#[derive(Default)]
pub(crate) struct Feeds {
    open: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    /// How many there were: a number is never used again.
    count: u64,
    feeds: HashMap<u64, Entry>,
    /// The binding is over: nothing is opened any more.
    is_over: bool,
}

struct Entry {
    opened_by: CallId,
    feed: Arc<Mutex<OpenFeed>>,
}

/// A call of a binding: its A-stack, and which of the calls there.
pub(crate) type CallId = (u32, Sequence);

/// A feed, and the number of its next batch.
struct OpenFeed {
    number: u32,
    /// A [`SourceEnd`] or a [`Taker`] of the types of its procedure.
    end: Box<dyn Any + Send>,
}

impl Feeds {
    /// Opens one for each end, or none; their numbers.
    fn open<const N: usize>(
        &self,
        opened_by: CallId,
        ends: [Box<dyn Any + Send>; N],
    ) -> Result<[u64; N], Box<Refusal>> {
        let mut table = self.table();
        if table.is_over || table.feeds.len() + N > FEEDS_MAX as usize {
            return Err(Box::new(Refusal::TooManyFeeds { limit: FEEDS_MAX }));
        }
        Ok(ends.map(|end| {
            table.count += 1;
            let feed = Arc::new(Mutex::new(OpenFeed { number: 0, end }));
            let number = table.count;
            table.feeds.insert(number, Entry { opened_by, feed });
            number
        }))
    }

    /// Its client has given this call up, and knows no feed that it opened.
    pub fn close_opened_by(&self, call: CallId) {
        let is_its = |_: &u64, entry: &mut Entry| entry.opened_by == call;
        let closed: Vec<_> = self.table().feeds.extract_if(is_its).collect();
        closed.into_iter().for_each(let_go);
    }

    /// Its client has given it up, or it is over.
    pub fn close(&self, feed: u64) {
        let closed = self.table().feeds.remove(&feed);
        let_go(closed);
    }

    /// Whether the binding is over: so from before any end is told.
    pub fn is_over(&self) -> bool {
        self.table().is_over
    }

    /// Why a call at a feed is refused, which goes with its binding if that is over.
    pub fn or_over(&self, refusal: Box<Refusal>) -> Box<Refusal> {
        if self.is_over() { Box::new(Refusal::Ended) } else { refusal }
    }

    /// The binding is over.
    pub fn clear(&self) {
        let mut table = self.table();
        table.is_over = true;
        let closed = std::mem::take(&mut table.feeds);
        drop(table);
        closed.into_values().for_each(let_go);
    }

    /// The batch that is due: with one item at least, unless it is the last. `asker` is the call
    /// that asks for it, and `tell` is told of an item that is refused.
    fn next<T, E>(
        &self,
        (feed, number): (u64, u32),
        kept: (Keeping<T>, u32),
        asker: impl FnOnce() -> Result<Box<dyn Asker>, Box<Refusal>>,
        tell: impl FnOnce(&UsageError),
    ) -> NextBatch<T, E>
    where
        T: Send + 'static,
        E: Send + 'static,
    {
        let source = self.with(feed, None, |end| {
            end.downcast_ref::<SourceEnd<T, E>>().map(|end| Arc::clone(&end.0))
        });
        let source = source.map_err(|_| self.or_over(deferred::not_open(feed)))?;
        let gone = source.next((feed, number), kept, asker, tell);
        let gone = gone.map_err(|refusal| match *refusal {
            Refusal::FeedOver => self.or_over(refusal),
            _ => refusal,
        })?;
        if !matches!(gone, Ok((_, false))) {
            self.close(feed);
        }
        match gone {
            Ok(batch) => Ok(Ok(batch)),
            Err(Over::Raised(raised)) => Ok(Err(raised)),
            Err(Over::Refused) => Err(Box::new(Refusal::Told)),
            Err(Over::Panicked) => resume_unwind(Box::new("its iterator has panicked")),
            Err(Over::Ended) => Err(Box::new(Refusal::FeedOver)),
        }
    }

    /// Gives a batch to its taker.
    pub fn put<T, R, E>(
        &self,
        (feed, number): (u64, u32),
        items: Vec<T>,
    ) -> Result<Result<(), E>, Malformed>
    where
        T: 'static,
        R: 'static,
        E: 'static,
    {
        let taken = self.with(feed, Some(number), |end| {
            let taker = end.downcast_mut::<Taker<T, R, E>>()?;
            Some(items.into_iter().try_for_each(|item| taker.take(item)))
        })?;
        if taken.is_err() {
            self.close(feed);
        }
        Ok(taken)
    }

    /// Tells the taker that there are no more.
    pub fn end<T, R, E>(&self, feed: u64) -> Result<Result<R, E>, Malformed>
    where
        T: 'static,
        R: 'static,
        E: 'static,
    {
        let over: Box<dyn Any + Send> = Box::new(());
        let taker = self.with(feed, None, |end| {
            end.is::<Taker<T, R, E>>().then(|| std::mem::replace(end, over))
        })?;
        self.close(feed);
        let taker = taker.downcast::<Taker<T, R, E>>();
        let taker = taker.map_err(|_| Malformed::Feed { feed })?;
        Ok(taker.end())
    }

    /// Does something with a feed, of which batch `number` is due.
    pub fn with<O>(
        &self,
        feed: u64,
        number: Option<u32>,
        act: impl FnOnce(&mut Box<dyn Any + Send>) -> Option<O>,
    ) -> Result<O, Malformed> {
        let unknown = Malformed::Feed { feed };
        let open = self.table().feeds.get(&feed).map(|entry| Arc::clone(&entry.feed));
        let open = open.ok_or(unknown)?;
        let mut open = match open.try_lock() {
            Ok(open) => open,
            Err(TryLockError::WouldBlock) => return Err(unknown),
            Err(TryLockError::Poisoned(_)) => {
                // Its procedure has panicked in the middle of a batch.
                self.close(feed);
                return Err(unknown);
            }
        };
        if number.is_some_and(|number| number != open.number) {
            return Err(unknown);
        }
        let acted = act(&mut open.end).ok_or(unknown)?;
        open.number = open.number.wrapping_add(1);
        Ok(acted)
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ServedCall<'_> {
    /// Opens a feed of what `items` makes; its number.
    pub(crate) fn open_source<T, E>(&self, items: Items<Result<T, E>>) -> Result<u64, Box<Refusal>>
    where
        T: Send + 'static,
        E: Send + 'static,
    {
        let source = SourceEnd(Arc::new(Source::new(items)));
        let [feed] = self.open_feeds([Box::new(source)])?;
        Ok(feed)
    }

    /// The next batch of a feed, of items that are judged here.
    pub(crate) fn next_judged<T, E>(
        &self,
        due: (u64, u32),
        batches: Batches,
        keeping: Keeping<T>,
    ) -> NextBatch<T, E>
    where
        T: Send + 'static,
        E: Send + 'static,
    {
        deferred::expect_same(due.0)?;
        let tell = |refused: &UsageError| tell(self.binding, batches.procedure, refused);
        self.binding.feeds.next(due, (keeping, batches.count), || self.asker(due.0), tell)
    }

    /// The same, of items that were judged before they came here.
    pub(crate) fn next_of_feed<T, E>(&self, due: (u64, u32), limit: u32) -> NextBatch<T, E>
    where
        T: Send + 'static,
        E: Send + 'static,
    {
        deferred::expect_same(due.0)?;
        self.binding.feeds.next(due, (Keeping::AsItIs, limit), || self.asker(due.0), |_| {})
    }

    /// This call for a batch of `feed`, as one that others may answer.
    fn asker(&self, feed: u64) -> Result<Box<dyn Asker>, Box<Refusal>> {
        Ok(Box::new(Deferred::new(self, feed)?))
    }

    /// Opens a feed into `taker`; its number.
    pub(crate) fn open_taker<T, R, E>(&self, taker: Taker<T, R, E>) -> Result<u64, Box<Refusal>>
    where
        T: 'static,
        R: 'static,
        E: 'static,
    {
        let [feed] = self.open_feeds([Box::new(taker)])?;
        Ok(feed)
    }

    /// Opens a feed for each end; their numbers.
    pub(crate) fn open_feeds<const N: usize>(
        &self,
        ends: [Box<dyn Any + Send>; N],
    ) -> Result<[u64; N], Box<Refusal>> {
        let (binding, index) = (self.binding, self.astack.record().index);
        if binding.feeds.table().feeds.len() + N > FEEDS_MAX as usize {
            // Some may be over, and housekeeping have no time yet.
            for feed in binding.read_over_feeds() {
                binding.feeds.close(feed);
            }
        }
        binding.feeds.open((index, binding.claimed(index)), ends)
    }
}

/// Drops what is the application's, outside of every lock. If that panics, the thread lives: it may
/// be the one that keeps house.
fn let_go(closed: impl Sized) {
    // The panic hook has said so.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(closed)));
}

/// Tells the server's author of an item that its iterator has made. Its client learns that results
/// were refused, and that behind the items before it.
#[cold]
fn tell(binding: &ServerBinding, procedure: u32, refused: &UsageError) {
    if let Some(unsaid) = binding.may_warn(Cause::Server) {
        let name = &binding.name;
        let procedure = binding.all_procedures()[procedure as usize].told();
        tracing::warn!(name, %procedure, %refused, unsaid, "a feed made an item that is refused");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw::Writer;

    /// Its drop panics.
    struct Sore;

    impl Iterator for Sore {
        type Item = Result<u32, ()>;

        fn next(&mut self) -> Option<Self::Item> {
            None
        }
    }

    impl Drop for Sore {
        fn drop(&mut self) {
            panic!("as the test wants it");
        }
    }

    fn source() -> Box<dyn Any + Send> {
        Box::new(SourceEnd(Arc::new(Source::<u32, ()>::new(Box::new(Sore)))))
    }

    fn call(number: u32) -> CallId {
        (3, Sequence::from_u32(number))
    }

    #[test]
    fn drops_that_panic_end_nobody_and_no_feed_outlives_its_binding() {
        let feeds = Feeds::default();
        for number in 0..FEEDS_MAX {
            feeds.open(call(number), [source()]).unwrap();
        }
        assert!(
            feeds.open(call(99), [Box::new(()) as Box<dyn Any + Send>]).is_err(),
            "there is no room"
        );
        feeds.close_opened_by(call(7));
        feeds.close(1);
        assert_eq!(feeds.table().feeds.len(), FEEDS_MAX as usize - 2);
        feeds.clear();
        assert!(
            feeds.open(call(99), [Box::new(()) as Box<dyn Any + Send>]).is_err(),
            "the binding is over"
        );
        assert_eq!(feeds.table().feeds.len(), 0);
    }

    /// A call that nobody else answers.
    struct Alone;

    impl Asker for Alone {
        fn enter_again(self: Box<Self>) {
            unreachable!("it is answered where it runs");
        }

        fn end(self: Box<Self>) {
            unreachable!("as above");
        }

        fn leave(self: Box<Self>) {}

        fn is_cancelled(&self) -> bool {
            false
        }
    }

    /// Numbers up to 9, or 7: that is raised.
    fn open_numbers(feeds: &Feeds, numbers: &'static [u32]) -> u64 {
        let items = numbers.iter().map(|&number| if number == 7 { Err(7) } else { Ok(number) });
        let mut source = Source::<u32, u32>::new(Box::new(items));
        // A thread that stands still is not late here.
        source.late_ns = u64::MAX / 32;
        let source = SourceEnd(Arc::new(source));
        let [feed] = feeds.open(call(0), [Box::new(source) as Box<dyn Any + Send>]).unwrap();
        feed
    }

    fn judge(item: &u32, writer: &mut Writer) {
        if *item > 9 {
            writer.range("item", item, "0 to 9");
        }
    }

    /// The batch that is due, and what the server's author is told meanwhile.
    fn next(feeds: &Feeds, due: (u64, u32)) -> (NextBatch<u32, u32>, Vec<String>) {
        let mut told = Vec::new();
        let asker = || Ok(Box::new(Alone) as Box<dyn Asker>);
        let tell = |refused: &UsageError| told.push(refused.to_string());
        let next = feeds.next(due, (Keeping::Judged(judge), 3), asker, tell);
        (next, told)
    }

    fn is_refused(next: &NextBatch<u32, u32>) -> bool {
        matches!(next, Err(refusal) if matches!(**refusal, Refusal::Told))
    }

    #[test]
    fn a_feed_is_over_behind_what_was_good_of_it_and_its_author_knows_at_once() {
        let feeds = Feeds::default();
        let feed = open_numbers(&feeds, &[1, 2, 3, 4, 10, 5]);
        let refused = vec![String::from("item is 10, allowed is 0 to 9")];
        let (batch, told) = next(&feeds, (feed, 0));
        assert!(matches!(batch, Ok(Ok((batch, false))) if batch.items() == [1, 2, 3]));
        assert_eq!(told, Vec::<String>::new());
        let (batch, told) = next(&feeds, (feed, 1));
        assert!(matches!(batch, Ok(Ok((batch, false))) if batch.items() == [4]));
        assert_eq!(told, refused);
        let (batch, told) = next(&feeds, (feed, 2));
        assert!(is_refused(&batch) && told.is_empty());
        let unknown = next(&feeds, (feed, 3)).0.unwrap_err();
        assert!(matches!(*unknown, Refusal::Arguments(Malformed::Feed { .. })), "it is closed");
        let feed = open_numbers(&feeds, &[11]);
        let (batch, told) = next(&feeds, (feed, 0));
        assert!(is_refused(&batch) && told.len() == 1);
    }

    #[test]
    fn what_is_raised_comes_behind_the_items_before_it() {
        let feeds = Feeds::default();
        let feed = open_numbers(&feeds, &[1, 7, 10]);
        let (batch, told) = next(&feeds, (feed, 0));
        assert!(matches!(batch, Ok(Ok((batch, false))) if batch.items() == [1]));
        assert!(told.is_empty());
        let (raised, told) = next(&feeds, (feed, 1));
        assert!(matches!(raised, Ok(Err(7))) && told.is_empty());
    }
    #[test]
    fn a_call_that_comes_as_its_binding_ends_goes_with_it() {
        let feeds = Feeds::default();
        let feed = open_numbers(&feeds, &[1]);
        feeds.clear();
        let refusal = next(&feeds, (feed, 0)).0.unwrap_err();
        assert!(matches!(*refusal, Refusal::Ended), "{refusal}");
    }
}
