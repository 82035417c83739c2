//! Feeds that clients of a binding have open, in the server's private memory (design note 0020).
//!
//! A feed is taken out of reach by its end, an error, its client's word, or the binding's end;
//! whoever runs a batch of it then drops it. Nobody waits here: a client that posts two batches of
//! one feed at a time, or out of order, breaks the protocol.

use std::any::Any;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use nearcall_core::Sequence;
use nearcall_os::clock;

use crate::raw::{Malformed, Refusal, ServedCall};

/// Most feeds that a binding has open.
const FEEDS_MAX: usize = 64;

/// How long a batch is filled, once it has an item: a slow feed's items come one by one.
const FILL_NS_MAX: u64 = 100_000;

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
    /// A [`Source`] or a [`Taker`] of the types of its procedure.
    end: Box<dyn Any + Send>,
}

/// What makes items, and an error that waits until the items before it are sent.
struct Source<T, E> {
    items: Items<Result<T, E>>,
    raised: Option<E>,
}

impl Feeds {
    /// Opens one for each end, or none; their numbers.
    fn open<const N: usize>(
        &self,
        opened_by: CallId,
        ends: [Box<dyn Any + Send>; N],
    ) -> Result<[u64; N], Box<Refusal>> {
        let mut table = self.table();
        if table.is_over || table.feeds.len() + N > FEEDS_MAX {
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

    /// The binding is over.
    pub fn clear(&self) {
        let mut table = self.table();
        table.is_over = true;
        let closed = std::mem::take(&mut table.feeds);
        drop(table);
        closed.into_values().for_each(let_go);
    }

    /// The next batch of at most `limit` items: at least one, unless it is the last.
    pub fn next<T, E>(
        &self,
        (feed, number): (u64, u32),
        limit: u32,
    ) -> Result<Result<(Vec<T>, bool), E>, Malformed>
    where
        T: 'static,
        E: 'static,
    {
        let batch = self.with(feed, Some(number), |end| {
            end.downcast_mut::<Source<T, E>>().map(|source| source.batch(limit as usize))
        })?;
        if !matches!(batch, Ok((_, false))) {
            self.close(feed);
        }
        Ok(batch)
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
        T: 'static,
        E: Send + 'static,
    {
        let [feed] = self.open_feeds([Box::new(Source { items, raised: None })])?;
        Ok(feed)
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
        if binding.feeds.table().feeds.len() + N > FEEDS_MAX {
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

impl<T, E> Source<T, E> {
    fn batch(&mut self, limit: usize) -> Result<(Vec<T>, bool), E> {
        if let Some(raised) = self.raised.take() {
            return Err(raised);
        }
        let mut items = Vec::new();
        let mut until_ns = u64::MAX;
        while items.len() < limit && clock::now_ns() < until_ns {
            match self.items.next() {
                None => return Ok((items, true)),
                Some(Ok(item)) => {
                    if items.is_empty() {
                        items.reserve_exact(limit);
                        until_ns = clock::now_ns().saturating_add(FILL_NS_MAX);
                    }
                    items.push(item);
                }
                Some(Err(raised)) if items.is_empty() => return Err(raised),
                Some(Err(raised)) => {
                    self.raised = Some(raised);
                    break;
                }
            }
        }
        Ok((items, false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        Box::new(Source::<u32, ()> { items: Box::new(Sore), raised: None })
    }

    fn call(number: u32) -> CallId {
        (3, Sequence::from_u32(number))
    }

    #[test]
    fn drops_that_panic_end_nobody_and_no_feed_outlives_its_binding() {
        let feeds = Feeds::default();
        for number in 0..FEEDS_MAX as u32 {
            feeds.open(call(number), [source()]).unwrap();
        }
        assert!(
            feeds.open(call(99), [Box::new(()) as Box<dyn Any + Send>]).is_err(),
            "there is no room"
        );
        feeds.close_opened_by(call(7));
        feeds.close(1);
        assert_eq!(feeds.table().feeds.len(), FEEDS_MAX - 2);
        feeds.clear();
        assert!(
            feeds.open(call(99), [Box::new(()) as Box<dyn Any + Send>]).is_err(),
            "the binding is over"
        );
        assert_eq!(feeds.table().feeds.len(), 0);
    }
}
