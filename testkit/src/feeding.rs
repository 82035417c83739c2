//! The server that items are fed to and fro.

use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
// SeqCst: the tests compare what several threads counted.
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use nearcall::name::Scope;
use nearcall::raw::{Arguments, Outcome};
use nearcall::{Clerk, Domain, ExportError, ExportOptions, Intake, Items, Taker, current_call};

use crate::faults::faults::{
    FeedingEntries, FeedingLimitedException, FeedingServer, FeedingUntilException, Page, Refused,
};
use crate::server::planned_panic;

/// Serves `Feeding`.
#[derive(Debug, Default)]
pub struct Feeder(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    open: AtomicU32,
    made: AtomicU32,
    taken: AtomicU32,
    let_through: AtomicU32,
}

/// Counts as open until it is dropped.
struct Counted<T> {
    counts: Arc<Counts>,
    inner: T,
}

/// The name that a server exports `Feeding` under, beside `Faults` under `name`.
pub fn name_of(name: &str) -> String {
    format!("{name}-feeding")
}

/// Exports a feeder beside what is exported under `name`, in the scope of `directory`.
pub fn export(domain: &Domain, directory: &Path, name: &str) -> Result<Clerk, ExportError> {
    let mut options = ExportOptions::default();
    options.scope = Some(Scope::Directory(directory.to_owned()));
    Clerk::export_with(domain, &name_of(name), FeedingEntries::new(Feeder::default()), options)
}

/// Opens a feed of numbers as the stub of an operation does that returns one: for servers by hand.
///
/// # Errors: its client has too many open.
pub fn open_numbers(
    arguments: Arguments<'_>,
    numbers: impl Iterator<Item = u32> + Send + 'static,
) -> Outcome {
    let feed = arguments.open_source(Box::new(numbers.map(Ok::<u32, Infallible>)))?;
    let mut results = arguments.results();
    results.put_u64::<0>(feed);
    results.reply(8)
}

impl Feeder {
    fn counted<T>(&self, inner: T) -> Counted<T> {
        self.0.open.fetch_add(1, SeqCst);
        Counted { counts: Arc::clone(&self.0), inner }
    }
}

impl<T> Drop for Counted<T> {
    fn drop(&mut self) {
        self.counts.open.fetch_sub(1, SeqCst);
    }
}

impl<T: Iterator> Iterator for Counted<T> {
    type Item = T::Item;

    fn next(&mut self) -> Option<T::Item> {
        let item = self.inner.next();
        if item.is_some() {
            self.counts.made.fetch_add(1, SeqCst);
        }
        item
    }
}

struct Sum {
    pause: Duration,
    sum: u64,
}

impl Intake for Counted<Sum> {
    type Item = u32;
    type Output = u64;
    type Error = Infallible;

    fn take(&mut self, item: u32) -> Result<(), Self::Error> {
        if !self.inner.pause.is_zero() {
            std::thread::sleep(self.inner.pause);
        }
        self.counts.taken.fetch_add(1, SeqCst);
        self.inner.sum += u64::from(item);
        Ok(())
    }

    fn end(self: Box<Self>) -> Result<u64, Self::Error> {
        Ok(self.inner.sum)
    }
}

impl Intake for Counted<String> {
    type Item = String;
    type Output = String;
    type Error = Infallible;

    fn take(&mut self, item: String) -> Result<(), Self::Error> {
        self.inner.push_str(&item);
        Ok(())
    }

    fn end(mut self: Box<Self>) -> Result<String, Self::Error> {
        Ok(std::mem::take(&mut self.inner))
    }
}

struct Limit {
    limit: u32,
    count: u32,
}

impl Intake for Counted<Limit> {
    type Item = u32;
    type Output = u32;
    type Error = FeedingLimitedException;

    fn take(&mut self, _item: u32) -> Result<(), Self::Error> {
        if self.inner.count == self.inner.limit {
            let reason = String::from("too many");
            return Err(Refused { code: self.inner.limit as i32, reason }.into());
        }
        self.inner.count += 1;
        Ok(())
    }

    fn end(self: Box<Self>) -> Result<u32, Self::Error> {
        Ok(self.inner.count)
    }
}

impl FeedingServer for Feeder {
    fn numbers(&self, count: u32, milliseconds: u32) -> Items<u32> {
        let pause = Duration::from_millis(milliseconds.into());
        Box::new(self.counted((0..count).inspect(move |_| {
            if !pause.is_zero() {
                std::thread::sleep(pause);
            }
        })))
    }

    fn unended(&self, count: u32) -> Items<Page> {
        let unended = std::iter::from_fn(|| {
            let call = current_call().expect("a batch is a call");
            while !call.is_cancelled() {
                std::thread::sleep(Duration::from_millis(1));
            }
            None
        });
        Box::new(self.counted((0..count).map(|_| [7; 1024]).chain(unended)))
    }

    fn gated(&self, ahead: u32) -> Items<u32> {
        let counts = Arc::clone(&self.0);
        let numbers = (0..).map_while(move |number| {
            let call = current_call().expect("a batch is a call");
            while number >= ahead.saturating_add(counts.let_through.load(SeqCst)) {
                if call.is_cancelled() {
                    return None;
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            Some(number)
        });
        Box::new(self.counted(numbers))
    }

    fn let_through(&self, count: u32) {
        self.0.let_through.fetch_add(count, SeqCst);
    }

    fn words(&self, count: u32) -> Items<String> {
        Box::new(self.counted((0..count as usize).map(|length| "x".repeat(length))))
    }

    fn until(
        &self,
        count: u32,
        code: i32,
    ) -> Result<Items<Result<u32, FeedingUntilException>>, FeedingUntilException> {
        let refused = move || Refused { code, reason: String::from("enough") };
        if code == 0 {
            return Err(refused().into());
        }
        let last = (0..1).map(move |_| match code {
            -1 => planned_panic("planned"),
            _ => Err(refused().into()),
        });
        Ok(Box::new(self.counted((0..count).map(Ok).chain(last))))
    }

    fn sum(&self, microseconds: u32) -> Taker<u32, u64> {
        let pause = Duration::from_micros(microseconds.into());
        Box::new(self.counted(Sum { pause, sum: 0 }))
    }

    fn join(&self) -> Taker<String, String> {
        Box::new(self.counted(String::new()))
    }

    fn limited(
        &self,
        limit: u32,
    ) -> Result<Taker<u32, u32, FeedingLimitedException>, FeedingLimitedException> {
        Ok(Box::new(self.counted(Limit { limit, count: 0 })))
    }

    fn open(&self) -> u32 {
        self.0.open.load(SeqCst)
    }

    fn made(&self) -> u32 {
        self.0.made.load(SeqCst)
    }

    fn taken(&self) -> u32 {
        self.0.taken.load(SeqCst)
    }
}
