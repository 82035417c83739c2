//! Sources: iterators that make the items of a feed, in the calls that ask for its batches (design
//! note 0020).
//!
//! An iterator may wait for what will happen while its batch has items, and nobody knows before it
//! does. So the batch lies where other processors reach it, and the call that asks for it can be
//! answered by one of those:
//!
//! ```text
//!   batch 0? ─▶ item ─ item ─ waits · · · · · · · · · · · · · · · ─▶ item: for batch 1
//!      housekeeping, after 1 ms ─▶ the watcher: batch 0, two items
//!   batch 1? ─▶ another call is in the iterator: set aside · · · · · · · · ─▶ batch 1
//! ```
//!
//! An iterator that was late with an item is likely to be so again: from then on its items go by
//! themselves, until it was in time for [`ALONE`] of them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nearcall_os::clock;

use super::makers::{Making, MakingTurn, Registered};
use super::{Items, let_go};
use crate::batch::{Batch, Keeping};
use crate::error::UsageError;
use crate::raw::{Malformed, Refusal};
use crate::server::current;

/// How long a batch is filled: a slow feed's items come one by one.
const FILL_NS_MAX: u64 = 100_000;

/// Items that go by themselves after one that was late.
const ALONE: u32 = 64;

/// The turn of a call that waits for another one's.
const NO_TURN: u64 = 0;

/// A call that asks for a batch, and may be answered by others than who runs it.
pub(crate) trait Asker: Send {
    /// There are items, or there never will be: enters its procedure again, elsewhere.
    fn enter_again(self: Box<Self>);

    /// Nobody makes items for it any more: says so.
    fn end(self: Box<Self>);

    /// Who runs it answers it.
    fn leave(self: Box<Self>);

    /// Its client has given it up, or has gone.
    fn is_cancelled(&self) -> bool;
}

/// See the module.
pub(super) struct Source<T, E> {
    /// What takes as long is late.
    pub(super) late_ns: u64,
    state: Mutex<State<T, E>>,
}

struct State<T, E> {
    /// `None` while a call is in it, and once it is over.
    items: Option<Items<Result<T, E>>>,
    /// Items that have not gone yet; of a feed that was never asked for none.
    batch: Option<Batch<T>>,
    /// Number of the batch that is due.
    number: u32,
    /// Why there are no more behind those.
    over: Option<Over<E>>,
    /// The call that is to have the batch, and which turn in the iterator it has.
    asked: Option<(u64, Box<dyn Asker>)>,
    /// How many calls were in the iterator.
    turns: u64,
    /// When the last of them came to it, in ticks.
    since: u64,
    /// Items to come that go by themselves.
    alone: u32,
    /// Its client has given it up, or is gone.
    is_unwanted: bool,
}

/// Why a feed is over.
pub(super) enum Over<E> {
    Ended,
    Raised(E),
    /// The interface forbids an item.
    Refused,
    /// Its iterator has panicked.
    Panicked,
}

/// What an iterator has made; it has panicked.
type Made<T, E> = Result<Option<Result<T, E>>, ()>;

/// What goes: items and whether they are the last; or why there are none.
pub(super) type Gone<T, E> = Result<(Batch<T>, bool), Over<E>>;

/// The runtime's end. Dropped, the feed is over.
pub(super) struct SourceEnd<T, E>(pub Arc<Source<T, E>>);

/// A turn in the iterator.
struct Turn<'s, T, E> {
    source: &'s Source<T, E>,
    number: u64,
    since: u64,
    items: Items<Result<T, E>>,
}

impl<T: Send + 'static, E: Send + 'static> Source<T, E> {
    pub fn new(items: Items<Result<T, E>>) -> Source<T, E> {
        let state = State {
            items: Some(items),
            batch: None,
            number: 0,
            over: None,
            asked: None,
            turns: NO_TURN,
            since: 0,
            alone: 0,
            is_unwanted: false,
        };
        Source { late_ns: FILL_NS_MAX, state: Mutex::new(state) }
    }

    /// Batch `number`: with one item at least, unless the feed is over. `tell` is told of an item
    /// that is refused.
    ///
    /// # Errors: it is not due, or asked for already, or given up; or another call is in the
    /// iterator, and this one was set aside.
    pub fn next(
        self: &Arc<Self>,
        (feed, number): (u64, u32),
        (keeping, count): (Keeping<T>, u32),
        asker: impl FnOnce() -> Result<Box<dyn Asker>, Box<Refusal>>,
        tell: impl FnOnce(&UsageError),
    ) -> Result<Gone<T, E>, Box<Refusal>> {
        let mut state = self.state();
        if state.is_unwanted {
            return Err(Box::new(Refusal::FeedOver));
        }
        if number != state.number || state.asked.is_some() {
            return Err(Malformed::Feed { feed }.into());
        }
        state.batch.get_or_insert_with(|| Batch::new(keeping, count));
        if state.has_some() {
            return Ok(state.take());
        }
        let asker = asker()?;
        let Some(items) = state.items.take() else {
            state.asked = Some((NO_TURN, asker));
            return Err(Box::new(Refusal::SetAside));
        };
        state.turns += 1;
        state.since = clock::ticks();
        state.asked = Some((state.turns, asker));
        let (number, since) = (state.turns, state.since);
        let is_relieved = state.alone > 0;
        let turn = Turn { source: self, number, since, items };
        drop(state);
        let Some(domain) = current::domain() else { return turn.make(tell, || false) };
        let making: MakingTurn = (Arc::<Self>::clone(self), number);
        let _registered = Registered::new(&domain.processors.makers, making, is_relieved);
        if !is_relieved {
            domain.housekeeping.look_after_items();
        }
        turn.make(tell, || domain.has_come_back_forked())
    }
}

impl<T, E> Source<T, E> {
    fn state(&self) -> MutexGuard<'_, State<T, E>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What began and ended then, in ticks, took too long.
    fn is_late(&self, since: u64, now: u64) -> bool {
        clock::ticks_ns(now.saturating_sub(since)) >= self.late_ns
    }

    /// As [`Making::relieve`], at this time in ticks.
    fn relieve_at(&self, turn: u64, now: u64) -> bool {
        let mut state = self.state();
        if !state.is_asked_by(turn) {
            return true;
        }
        if !self.is_late(state.since, now) {
            return false;
        }
        state.alone = ALONE;
        if state.has_some()
            && let Some((_, asker)) = state.asked.take()
        {
            drop(state);
            asker.enter_again();
        }
        true
    }
}

impl<T, E> State<T, E> {
    /// Something may go.
    fn has_some(&self) -> bool {
        self.over.is_some() || self.batch.as_ref().is_some_and(|batch| !batch.is_empty())
    }

    /// What may go, goes.
    fn take(&mut self) -> Gone<T, E> {
        self.number = self.number.wrapping_add(1);
        let batch = self.batch.as_mut().expect("it was asked for");
        let is_last = matches!(self.over, Some(Over::Ended));
        match self.over.take_if(|_| batch.is_empty()) {
            Some(over) if !is_last => Err(over),
            _ => Ok((batch.take(), is_last)),
        }
    }

    /// The call that asks is the one that has this turn.
    fn is_asked_by(&self, turn: u64) -> bool {
        self.asked.as_ref().is_some_and(|(asked, _)| *asked == turn)
    }
}

impl<T: Send + 'static, E: Send + 'static> Turn<'_, T, E> {
    /// Makes items until the batch is full, late, or no longer this call's; or until this is a
    /// child that its iterator has forked.
    fn make(
        mut self,
        tell: impl FnOnce(&UsageError),
        is_forked: impl Fn() -> bool,
    ) -> Result<Gone<T, E>, Box<Refusal>> {
        let source = self.source;
        let mut before = self.since;
        let (state, refused, unkept) = loop {
            // The call may be another processor's when it panics: that is not to unwind through it.
            let item = catch_unwind(AssertUnwindSafe(|| self.items.next()));
            if is_forked() {
                // The batch is the parent's, and its lock may be held for good.
                std::mem::forget((item, self.items));
                return Err(Box::new(Refusal::SetAside));
            }
            let mut item = Some(item.map_err(let_go));
            let mut state = source.state();
            let refused = state.keep(&mut item);
            let now = clock::ticks();
            if source.is_late(before, now) {
                state.alone = ALONE;
            }
            let is_full = state.batch.as_ref().is_none_or(Batch::is_full);
            let is_due = is_full || state.alone > 0 || source.is_late(self.since, now);
            if is_due || state.over.is_some() || !state.is_asked_by(self.number) {
                break (state, refused, item);
            }
            before = now;
        };
        let gone = self.end(state);
        let_go(unkept);
        if let Some(refused) = refused {
            // As above.
            let _ = catch_unwind(AssertUnwindSafe(|| tell(&refused)));
        }
        gone
    }

    /// The turn is over.
    fn end(self, mut state: MutexGuard<'_, State<T, E>>) -> Result<Gone<T, E>, Box<Refusal>> {
        state.alone = state.alone.saturating_sub(1);
        let items = Some(self.items);
        let unneeded = match state.over.is_some() || state.is_unwanted {
            true => items,
            false => std::mem::replace(&mut state.items, items),
        };
        let is_own = state.is_asked_by(self.number);
        let asked = state.asked.take().map(|(_, asker)| asker);
        let gone = is_own.then(|| state.take());
        drop(state);
        match asked {
            Some(asker) if is_own => asker.leave(),
            Some(asker) => asker.enter_again(),
            None => {}
        }
        let_go(unneeded);
        gone.ok_or_else(|| Box::new(Refusal::SetAside))
    }
}

impl<T, E> State<T, E> {
    /// Keeps an item, or why there is none. Why it is refused. What is unwanted is left: its drop
    /// is the application's, which may ask for this feed.
    fn keep(&mut self, item: &mut Option<Made<T, E>>) -> Option<UsageError> {
        // What is unwanted has no batch.
        let batch = self.batch.as_mut()?;
        let (over, refused) = match item.take()? {
            Err(()) => (Over::Panicked, None),
            Ok(None) => (Over::Ended, None),
            Ok(Some(Err(raised))) => (Over::Raised(raised), None),
            Ok(Some(Ok(item))) => match batch.put(item) {
                Ok(()) => return None,
                Err(refused) => (Over::Refused, Some(refused)),
            },
        };
        self.over = Some(over);
        refused
    }
}

impl<T: Send, E: Send> Making for Source<T, E> {
    fn relieve(&self, turn: u64) -> bool {
        self.relieve_at(turn, clock::ticks())
    }

    fn is_over(&self, turn: u64) -> bool {
        let state = self.state();
        let is_cancelled = state.asked.as_ref().is_some_and(|(_, asker)| asker.is_cancelled());
        let has_ended = state.items.is_some() || state.over.is_some() || state.turns != turn;
        is_cancelled || state.is_unwanted || has_ended
    }
}

impl<T, E> Drop for SourceEnd<T, E> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.is_unwanted = true;
        let (asked, items) = (state.asked.take(), state.items.take());
        let (batch, over) = (state.batch.take(), state.over.take());
        drop(state);
        if let Some((_, asker)) = asked {
            asker.end();
        }
        drop((items, batch, over));
    }
}

#[cfg(test)]
mod tests;
