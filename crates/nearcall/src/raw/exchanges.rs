//! What entry stubs need of exchanges, and of awaited feeds to one side (design note 0020).

use std::future::Future;

use super::arguments::{Arguments, Refusal};
use crate::server::exchange::calls::NextBatch;
use crate::server::exchange::one_way::Answered;
pub use crate::server::exchange::one_way::{InletEnd, OutletEnd, inlet, outlet};
pub use crate::server::exchange::{Ends, exchange};

impl Arguments<'_> {
    /// Opens both ways of an exchange: the number of what comes to the client, then that of what
    /// goes.
    ///
    /// # Errors: [`Refusal`] if the client has too many feeds open; the ends are given up.
    pub fn open_exchange<A, B, E>(&self, ends: Ends<A, B, E>) -> Result<(u64, u64), Box<Refusal>>
    where
        A: Send + 'static,
        B: Send + 'static,
        E: Send + 'static,
    {
        self.call.open_exchange(ends)
    }

    /// Batch `number` of what comes to the client of an exchange of a kind, and whether it is the
    /// last: to be awaited. Within: what was raised.
    ///
    /// # Errors: it is not due.
    pub fn next_of_exchange<B, E>(
        &self,
        kind: u32,
        feed: u64,
        number: u32,
    ) -> Result<impl Future<Output = NextBatch<B, E>> + Send + use<B, E>, Box<Refusal>>
    where
        B: Send + 'static,
        E: Send + 'static,
    {
        self.call.next_of_exchange(kind, (feed, number))
    }

    /// Gives batch `number` to whoever takes what the client sends: to be awaited.
    ///
    /// # Errors: it is not due. Within: nobody takes it.
    pub fn put_to_exchange<A: Send + 'static>(
        &self,
        kind: u32,
        feed: u64,
        number: u32,
        items: Vec<A>,
    ) -> Result<impl Future<Output = Result<(), Box<Refusal>>> + Send + use<A>, Box<Refusal>> {
        self.call.put_to_exchange(kind, (feed, number), items)
    }

    /// The client sends no more.
    ///
    /// # Errors: it is not open.
    pub fn end_of_exchange<A: Send + 'static>(
        &self,
        kind: u32,
        feed: u64,
    ) -> Result<(), Box<Refusal>> {
        self.call.end_of_exchange::<A>(kind, feed)
    }

    /// Opens a feed to the client whose items an outlet is given; its number. What comes is a batch
    /// of an exchange of that kind.
    ///
    /// # Errors: as of [`Arguments::open_exchange`].
    pub fn open_outlet<B, E>(&self, end: OutletEnd<B, E>) -> Result<u64, Box<Refusal>>
    where
        B: Send + 'static,
        E: Send + 'static,
    {
        self.call.open_outlet(end)
    }

    /// Opens a feed from the client whose items come out of an inlet; its number.
    ///
    /// # Errors: as of [`Arguments::open_exchange`].
    pub fn open_inlet<A, R, E>(&self, end: InletEnd<A, R, E>) -> Result<u64, Box<Refusal>>
    where
        A: Send + 'static,
        R: Send + 'static,
        E: Send + 'static,
    {
        self.call.open_inlet(end)
    }

    /// Gives batch `number` to the inlet of such a feed: to be awaited. Once the procedure has
    /// answered, the items are dropped. Within: what was raised meanwhile.
    ///
    /// # Errors: it is not due.
    pub fn put_to_inlet<A, R, E>(
        &self,
        kind: u32,
        feed: u64,
        number: u32,
        items: Vec<A>,
    ) -> Result<impl Future<Output = Answered<(), E>> + Send + use<A, R, E>, Box<Refusal>>
    where
        A: Send + 'static,
        R: Send + 'static,
        E: Send + 'static,
    {
        self.call.put_to_inlet::<A, R, E>(kind, (feed, number), items)
    }

    /// The client sends no more; the answer, to be awaited. Within: what was raised.
    ///
    /// # Errors: it is not open.
    pub fn end_of_inlet<A, R, E>(
        &self,
        kind: u32,
        feed: u64,
    ) -> Result<impl Future<Output = Answered<R, E>> + Send + use<A, R, E>, Box<Refusal>>
    where
        A: Send + 'static,
        R: Send + 'static,
        E: Send + 'static,
    {
        self.call.end_of_inlet::<A, R, E>(kind, feed)
    }
}
