//! What awaited procedures are polled in: the domain's processors belong to no executor, and
//! timers, sockets and tasks of some want their runtime around whoever polls (design note 0022).

use std::fmt;

type Around = dyn Fn(&mut dyn FnMut()) + Send + Sync;

/// What is done around each poll of a procedure that is awaited, and around the drop of one that
/// is not finished: see [`ExportOptions::surroundings`](crate::ExportOptions::surroundings).
#[derive(Default)]
pub struct Surroundings(Option<Box<Around>>);

impl Surroundings {
    /// `around` is given what polls or drops, and is to call it, once, before it returns. One that
    /// does not call it, or panics, has the procedure dropped; its client is told
    /// [`Panicked`](crate::CallError::Panicked).
    ///
    /// A runtime goes behind the domain: procedures that are polled when it has gone panic where
    /// they ask for its timers. [`Domain::shut_down`](crate::Domain::shut_down) first, within
    /// `block_on` or after it.
    ///
    /// # Cost: what `around` costs, at each poll, on the processor that takes calls.
    ///
    /// ```
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    /// let handle = runtime.handle().clone();
    /// let mut options = nearcall::ExportOptions::default();
    /// options.surroundings = nearcall::Surroundings::new(move |poll| {
    ///     let _entered = handle.enter();
    ///     poll();
    /// });
    /// // Clerk::export_with(&domain, "files", FilesAsyncEntries::new(disk), options)?
    /// ```
    pub fn new(around: impl Fn(&mut dyn FnMut()) + Send + Sync + 'static) -> Surroundings {
        Surroundings(Some(Box::new(around)))
    }

    /// Calls `poll` in them.
    pub(super) fn around(&self, poll: &mut dyn FnMut()) {
        match &self.0 {
            Some(around) => around(poll),
            None => poll(),
        }
    }
}

impl fmt::Debug for Surroundings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Surroundings" } else { "None" })
    }
}
