//! Exchanges, as their server holds them (design note 0020): an [`Inlet`] that items come out of,
//! and an [`Outlet`] that items are put into, each on any thread of the application's.
//!
//! ```text
//!   client                          runtime                        application
//!   call with a batch  ──▶ put: suspended until taken ──▶ Inlet   waits on its own thread
//!   call for a batch   ◀── next: suspended until put  ◀── Outlet  waits on its own thread
//! ```
//!
//! Between the two stand the items of one batch. The side of the calls never blocks: a client that
//! sends nothing, or asks for nothing, has a call suspended and no server processor. Neither way
//! knows of the other.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::quota::Charge;
use crate::batch::{Batch, Keeping};
use crate::error::UsageError;

pub(crate) mod calls;
pub(crate) mod one_way;

/// Items that a client sends. `None` once the client has said that there are no more.
///
/// Asking for one waits on this thread until there is one; a procedure that opens a feed has to
/// return first. Dropping it tells the client of an exchange, at the next batch, that nobody takes
/// them; of a feed to one side that batch waits for the [`Answer`](one_way::Answer).
pub struct Inlet<T> {
    way: Arc<Way<T, Infallible>>,
    batch: VecDeque<T>,
    is_over: bool,
}

/// Items for a client. [`Outlet::end`] says that there are no more, [`Outlet::raise`] that those
/// there are is not all, and why.
///
/// Dropped without either, as by a task that is aborted, or by a `?`, those there are is not all
/// either: the client's call fails with `Panicked` behind them, and the server's log says why.
pub struct Outlet<T, E = Infallible> {
    way: Arc<Way<T, E>>,
    /// What is written here is written without the lock, which a server processor takes, too.
    apart: Batch<T>,
}

/// The client has given this feed, or this side of an exchange, up; or it has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GivenUp;

/// Why an item was not put.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotPut {
    /// The client has given this feed, or this side of an exchange, up; or it has ended.
    GivenUp,
    /// The interface forbids this item. The feed goes on.
    Refused(UsageError),
}

/// What the runtime keeps of an exchange until it has numbers.
pub struct Ends<A, B, E> {
    sent: SentEnd<A>,
    asked: AskedEnd<B, E>,
}

/// Items on their way between a call and a thread of the application's.
struct Way<T, E> {
    /// Of the exchange.
    kind: u32,
    state: Mutex<State<T, E>>,
    /// What the application waits for has come.
    changed: Condvar,
}

struct State<T, E> {
    items: Batch<T>,
    /// What a client is charged with for them.
    charge: Option<Charge>,
    /// Why there are no more behind them.
    last: Option<Last<E>>,
    /// Nobody takes them.
    is_unwanted: bool,
    /// A call is at it; a second one at the same time breaks the protocol.
    has_call: bool,
    /// Of that call, if it waits.
    waker: Option<Waker>,
    /// Of the application's task, if that waits.
    own_waker: Option<Waker>,
}

enum Last<E> {
    Ended,
    GivenUp,
    Raised(E),
    Panicked,
    /// Its end was dropped, and nothing said.
    Dropped,
}

/// The end that a client's batches come to. Dropped before the last one, they are given up.
struct SentEnd<T>(Arc<Way<T, Infallible>>);

/// The end that a client asks for batches. Dropped, nobody wants any.
struct AskedEnd<T, E>(Arc<Way<T, E>>);

/// A call that is at a way.
struct AtWay<T, E>(Arc<Way<T, E>>);

/// The ends of a new exchange: the runtime's, and the application's two. At most `limit` items
/// wait for the client, and `keeping` is what becomes of them.
///
/// `kind` tells the exchanges of an interface apart, of which several may have items of the same
/// types: a batch of another one is refused.
pub fn exchange<A, B, E>(
    kind: u32,
    limit: u32,
    keeping: Keeping<B>,
) -> (Ends<A, B, E>, Inlet<A>, Outlet<B, E>) {
    let sent = Arc::new(Way::new(kind, Batch::of(Vec::new())));
    let asked = Arc::new(Way::new(kind, Batch::new(keeping, limit)));
    let inlet = Inlet { way: Arc::clone(&sent), batch: VecDeque::new(), is_over: false };
    let outlet = Outlet { way: Arc::clone(&asked), apart: Batch::new(keeping, limit) };
    (Ends { sent: SentEnd(sent), asked: AskedEnd(asked) }, inlet, outlet)
}

impl<T> Inlet<T> {
    /// Those that came together, one at least; waits for them as for one. `None`: no more come.
    ///
    /// # Errors: [`GivenUp`], once, behind all items.
    pub fn next_batch(&mut self) -> Option<Result<Vec<T>, GivenUp>> {
        let first = self.next()?;
        Some(first.map(|first| std::iter::once(first).chain(self.batch.drain(..)).collect()))
    }

    /// Whether asking for the next one will not wait.
    pub fn is_ready(&self) -> bool {
        self.wait(Duration::ZERO)
    }

    /// Waits until asking for the next one will not wait, at most so long. True if it will not.
    pub fn wait(&self, timeout: Duration) -> bool {
        !self.batch.is_empty() || self.way.wait_at_most(timeout, Way::has_none)
    }

    /// The same for a task, however long it takes.
    pub async fn ready(&mut self) {
        poll_fn(|context| self.poll_ready(context)).await;
    }

    /// Whether asking for the next one will not wait; if it will, the task is woken when it may not
    /// any more.
    pub fn poll_ready(&mut self, context: &Context<'_>) -> Poll<()> {
        match self.batch.is_empty() {
            true => self.way.poll_while(context, Way::has_none),
            false => Poll::Ready(()),
        }
    }
}

impl<T> Iterator for Inlet<T> {
    type Item = Result<T, GivenUp>;

    fn next(&mut self) -> Option<Result<T, GivenUp>> {
        if self.batch.is_empty() && !self.is_over {
            let mut state = self.way.wait_while(Way::has_none);
            let charge = state.charge.take();
            self.batch = state.items.take().into_items().into();
            self.is_over = self.batch.is_empty();
            let is_given_up = matches!(state.last, Some(Last::GivenUp));
            Way::wake(state);
            // It takes locks of its own.
            drop(charge);
            if self.is_over && is_given_up {
                return Some(Err(GivenUp));
            }
        }
        self.batch.pop_front().map(Ok)
    }
}

impl<T, E> Outlet<T, E> {
    /// Gives the client an item. Waits on this thread while a whole batch is there that the client
    /// has not asked for; a procedure that opens a feed has to return first.
    ///
    /// # Errors: [`NotPut`]: the interface forbids the item, and the feed goes on; or nobody wants
    /// it, and any other one neither.
    pub fn put(&mut self, item: T) -> Result<(), NotPut> {
        self.apart.put(item).map_err(NotPut::Refused)?;
        let has_no_room = |way: &Way<T, E>, state: &State<T, E>| {
            way.has_no_room(state) || !(state.is_unwanted || state.items.has_room_for(&self.apart))
        };
        let mut state = self.way.wait_while(has_no_room);
        if state.is_unwanted {
            drop(state);
            self.apart.clear();
            return Err(NotPut::GivenUp);
        }
        state.items.append(&mut self.apart);
        Way::wake(state);
        Ok(())
    }

    /// Whether [`Outlet::put`] will not wait, but for an item of more than 512 MiB, which may have
    /// to wait until those before it were asked for.
    pub fn is_ready(&self) -> bool {
        self.wait(Duration::ZERO)
    }

    /// Waits until [`Outlet::put`] will not wait, at most so long. True if it will not.
    pub fn wait(&self, timeout: Duration) -> bool {
        self.way.wait_at_most(timeout, Way::has_no_room)
    }

    /// The same for a task, however long it takes.
    pub async fn ready(&mut self) {
        poll_fn(|context| self.poll_ready(context)).await;
    }

    /// Whether [`Outlet::put`] will not wait; if it will, the task is woken when it may not any
    /// more.
    pub fn poll_ready(&mut self, context: &Context<'_>) -> Poll<()> {
        self.way.poll_while(context, Way::has_no_room)
    }

    /// Nobody wants items any more: the client has given this side up, or has ended.
    pub fn is_given_up(&self) -> bool {
        self.way.state().is_unwanted
    }

    /// Waits until nobody wants items any more, for a task that waits for what there may be to put:
    /// it ends with its client. May be dropped, and asked for again.
    ///
    /// ```
    /// # use tokio::sync::mpsc::Receiver;
    /// async fn watch(mut changes: Receiver<u32>, mut outlet: nearcall::Outlet<u32>) {
    ///     loop {
    ///         let change = tokio::select! {
    ///             () = outlet.given_up() => return,
    ///             change = changes.recv() => change,
    ///         };
    ///         let Some(change) = change else { return outlet.end() };
    ///         outlet.ready().await;
    ///         if outlet.put(change).is_err() {
    ///             return;
    ///         }
    ///     }
    /// }
    /// ```
    pub async fn given_up(&mut self) {
        poll_fn(|context| self.way.poll_while(context, Way::is_wanted)).await;
    }

    /// There are no more items: the client has had all of them. Never waits.
    pub fn end(self) {
        self.over(Last::Ended);
    }

    /// Raises an exception behind the items: the feed is over. Never waits.
    pub fn raise(self, raised: E) {
        self.over(Last::Raised(raised));
    }

    fn over(&self, last: Last<E>) {
        let mut state = self.way.state();
        state.last.get_or_insert(last);
        Way::wake(state);
    }
}

impl<T> Drop for Inlet<T> {
    fn drop(&mut self) {
        let mut state = self.way.state();
        state.is_unwanted = true;
        let unwanted = (state.items.take(), state.charge.take());
        Way::wake(state);
        drop(unwanted);
    }
}

impl<T, E> Drop for Outlet<T, E> {
    fn drop(&mut self) {
        self.over(if std::thread::panicking() { Last::Panicked } else { Last::Dropped });
    }
}

impl<T> SentEnd<T> {
    /// No more come. Whom to tell of it, outside of the lock on the feed; `None` if it is of
    /// another kind, or if a call is there.
    fn end(&self, kind: u32) -> Option<Arc<Way<T, Infallible>>> {
        let _only = self.0.enter(kind)?;
        self.0.state().last.get_or_insert(Last::Ended);
        Some(Arc::clone(&self.0))
    }
}

impl<T> Drop for SentEnd<T> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.last.get_or_insert(Last::GivenUp);
        self.0.tell_both(state);
    }
}

impl<T, E> Drop for AskedEnd<T, E> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.is_unwanted = true;
        let unwanted = state.items.take();
        self.0.tell_both(state);
        drop(unwanted);
    }
}

impl<T, E> Drop for AtWay<T, E> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.has_call = false;
        state.waker = None;
    }
}

impl<T, E> Way<T, E> {
    fn new(kind: u32, items: Batch<T>) -> Way<T, E> {
        let state = State {
            items,
            charge: None,
            last: None,
            is_unwanted: false,
            has_call: false,
            waker: None,
            own_waker: None,
        };
        Way { kind, state: Mutex::new(state), changed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State<T, E>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// There is no item, and one may come.
    fn has_none(&self, state: &State<T, E>) -> bool {
        state.items.is_empty() && state.last.is_none()
    }

    /// Its items are.
    fn is_wanted(&self, state: &State<T, E>) -> bool {
        !state.is_unwanted
    }

    /// There is no room for an item that is wanted.
    fn has_no_room(&self, state: &State<T, E>) -> bool {
        state.items.is_full() && !state.is_unwanted
    }

    fn wait_while(
        &self,
        is_so: impl Fn(&Self, &State<T, E>) -> bool,
    ) -> MutexGuard<'_, State<T, E>> {
        let waited = self.changed.wait_while(self.state(), |state| is_so(self, state));
        waited.unwrap_or_else(PoisonError::into_inner)
    }

    /// The same, at most so long. True: it is not so.
    fn wait_at_most(&self, timeout: Duration, is_so: fn(&Self, &State<T, E>) -> bool) -> bool {
        let is_so = |state: &mut State<T, E>| is_so(self, state);
        let waited = self.changed.wait_timeout_while(self.state(), timeout, is_so);
        let (_state, wait) = waited.unwrap_or_else(PoisonError::into_inner);
        !wait.timed_out()
    }

    /// The same for a task, which is woken when it may not be so any more.
    fn poll_while(
        &self,
        context: &Context<'_>,
        is_so: fn(&Self, &State<T, E>) -> bool,
    ) -> Poll<()> {
        let own = context.waker().clone();
        let mut state = self.state();
        if !is_so(self, &state) {
            return Poll::Ready(());
        }
        let before = state.own_waker.replace(own);
        // It may be all that is left of a task: not within the lock.
        drop(state);
        drop(before);
        Poll::Pending
    }

    /// Tells the application that something has changed, outside of the lock.
    fn tell(&self, mut state: MutexGuard<'_, State<T, E>>) {
        let waker = state.own_waker.take();
        drop(state);
        self.changed.notify_all();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// The same, and wakes the call that waits.
    fn tell_both(&self, mut state: MutexGuard<'_, State<T, E>>) {
        let waker = state.waker.take();
        self.tell(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Wakes the call that waits, outside of the lock.
    fn wake(mut state: MutexGuard<'_, State<T, E>>) {
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// A call of an exchange of a kind comes to it; `None` if it is none of that kind, or if a call
    /// is there.
    fn enter(self: &Arc<Self>, kind: u32) -> Option<AtWay<T, E>> {
        if kind != self.kind {
            return None;
        }
        let mut state = self.state();
        let is_first = !std::mem::replace(&mut state.has_call, true);
        is_first.then(|| AtWay(Arc::clone(self)))
    }
}

impl fmt::Display for GivenUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("its client has given this feed up, or has ended")
    }
}

impl std::error::Error for GivenUp {}

impl fmt::Display for NotPut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotPut::GivenUp => GivenUp.fmt(f),
            NotPut::Refused(refused) => refused.fmt(f),
        }
    }
}

impl std::error::Error for NotPut {}

impl From<GivenUp> for NotPut {
    fn from(GivenUp: GivenUp) -> NotPut {
        NotPut::GivenUp
    }
}

impl<T> fmt::Debug for Inlet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inlet").field("is_over", &self.is_over).finish_non_exhaustive()
    }
}

impl<T, E> fmt::Debug for Outlet<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outlet").field("kind", &self.way.kind).finish_non_exhaustive()
    }
}

impl<A, B, E> fmt::Debug for Ends<A, B, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ends").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
