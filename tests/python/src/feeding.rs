//! Feeds of every kind of item, counted for as long as they are there.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering::SeqCst};
use std::time::Duration;

use crate::passing::{
    Digest, FeedingLoadException, FeedingRowsException, FeedingServer, Refused, Row,
};
use nearcall::{Intake, Items, Taker};

/// Does what the interface says.
#[derive(Default)]
pub struct Feeder(Arc<AtomicI32>);

/// Counts itself for as long as it is there.
struct Held(Arc<AtomicI32>);

impl Held {
    fn new(count: &Arc<AtomicI32>) -> Held {
        count.fetch_add(1, SeqCst);
        Held(Arc::clone(count))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

/// Adds an item to what was made of those before it.
type Take<T, R, E> = Box<dyn Fn(&mut R, T) -> Result<(), E> + Send>;

/// What takes items, and what it makes of them.
struct Eater<T, R, E> {
    made: R,
    take: Take<T, R, E>,
    _held: Held,
}

impl<T, R: Send, E> Intake for Eater<T, R, E> {
    type Item = T;
    type Output = R;
    type Error = E;

    fn take(&mut self, item: T) -> Result<(), E> {
        (self.take)(&mut self.made, item)
    }

    fn end(self: Box<Self>) -> Result<R, E> {
        Ok(self.made)
    }
}

fn refused(code: i32) -> Refused {
    Refused { code, why: "not that".to_owned() }
}

impl Feeder {
    /// Items that are counted as one feed.
    fn held<T>(&self, items: impl Iterator<Item = T> + Send + 'static) -> Items<T> {
        let held = Held::new(&self.0);
        Box::new(items.inspect(move |_| {
            let _held = &held;
        }))
    }

    fn eater<T: 'static, R: Send + 'static>(
        &self,
        made: R,
        take: impl Fn(&mut R, T) + Send + 'static,
    ) -> Taker<T, R> {
        let take = Box::new(move |made: &mut R, item| -> Result<(), Infallible> {
            take(made, item);
            Ok(())
        });
        Box::new(Eater { made, take, _held: Held::new(&self.0) })
    }
}

impl FeedingServer for Feeder {
    fn rows(
        &self,
        name: &str,
        count: u32,
        refused_key: u32,
    ) -> Result<Items<Result<Row, FeedingRowsException>>, FeedingRowsException> {
        if name.is_empty() {
            return Err(refused(-1).into());
        }
        let name = name.to_owned();
        Ok(self.held((0..count).map(move |key| match key == refused_key {
            true => Err(refused(key as i32).into()),
            false => Ok(Row { key, name: format!("{name} {key}") }),
        })))
    }

    fn numbers(&self, count: u32, pause_ms: u32) -> Items<u32> {
        let pause = Duration::from_millis(pause_ms.into());
        self.held((0..count).inspect(move |_| std::thread::sleep(pause)))
    }

    fn lines(&self, letters: u32) -> Items<String> {
        self.held(std::iter::once("x".repeat(letters as usize)))
    }

    fn octets(&self, count: u32) -> Items<u8> {
        self.held((0..count).map(|octet| octet as u8))
    }

    fn digests(&self, count: u32) -> Items<Digest> {
        self.held((0..count).map(u32::to_be_bytes))
    }

    fn torn(&self) -> Items<Row> {
        let long = |key| if key == 3 { "x".repeat(33) } else { "x".to_owned() };
        self.held((0..9).map(move |key| Row { key, name: long(key) }))
    }

    fn load(
        &self,
        name: &str,
        refused_key: u32,
    ) -> Result<Taker<Row, u32, FeedingLoadException>, FeedingLoadException> {
        if name.is_empty() {
            return Err(refused(-1).into());
        }
        let take = Box::new(move |count: &mut u32, row: Row| match row.key == refused_key {
            true => Err(refused(row.key as i32).into()),
            false => {
                *count += 1;
                Ok(())
            }
        });
        Ok(Box::new(Eater { made: 0, take, _held: Held::new(&self.0) }))
    }

    fn sum(&self) -> Taker<u32, u64> {
        self.eater(0, |sum: &mut u64, number: u32| *sum += u64::from(number))
    }

    fn joined(&self) -> Taker<String, String> {
        self.eater(String::new(), |all: &mut String, line: String| all.push_str(&line))
    }

    fn dropped(&self) -> Taker<u8, ()> {
        self.eater((), |(): &mut (), _: u8| ())
    }

    fn alive(&self) -> i32 {
        self.0.load(SeqCst)
    }
}
