//! The library's `sync`, with loom's atomics, and with one row weakened when asked.

use core::sync::atomic::Ordering;
use std::sync::LazyLock;

/// An atomic of loom's, with a turnstile before it.
///
/// Loom 0.7 looks for other orders to try at a store only among the last access of any kind, and
/// so misses "the other thread's load, my load, my store" tried with the other thread's load last.
/// An access that is always a read-modify-write of the same cell, and that is Relaxed, so that it
/// orders no memory, makes it try all of them.
macro_rules! atomic {
    ($name:ident, $number:ty) => {
        pub struct $name {
            turnstile: loom::sync::atomic::AtomicU32,
            cell: loom::sync::atomic::$name,
        }

        impl $name {
            pub fn new(value: $number) -> $name {
                $name {
                    turnstile: loom::sync::atomic::AtomicU32::new(0),
                    cell: loom::sync::atomic::$name::new(value),
                }
            }

            fn cell(&self) -> &loom::sync::atomic::$name {
                self.turnstile.fetch_add(1, Ordering::Relaxed);
                &self.cell
            }

            pub fn load(&self, order: Ordering) -> $number {
                self.cell().load(order)
            }

            pub fn store(&self, value: $number, order: Ordering) {
                self.cell().store(value, order);
            }

            pub fn swap(&self, value: $number, order: Ordering) -> $number {
                self.cell().swap(value, order)
            }

            pub fn fetch_add(&self, value: $number, order: Ordering) -> $number {
                self.cell().fetch_add(value, order)
            }

            pub fn fetch_or(&self, value: $number, order: Ordering) -> $number {
                self.cell().fetch_or(value, order)
            }

            pub fn compare_exchange(
                &self,
                from: $number,
                to: $number,
                order: Ordering,
                failure: Ordering,
            ) -> Result<$number, $number> {
                self.cell().compare_exchange(from, to, order, failure)
            }

            pub fn compare_exchange_weak(
                &self,
                from: $number,
                to: $number,
                order: Ordering,
                failure: Ordering,
            ) -> Result<$number, $number> {
                self.cell().compare_exchange_weak(from, to, order, failure)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    };
}

atomic!(AtomicU32, u32);
atomic!(AtomicU64, u64);

/// One row of a table, and what stands there instead of its order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weakening {
    pub row: String,
    pub from: Ordering,
    pub to: Ordering,
}

/// The variable that tells a model, run in a process of its own, what to weaken.
pub const VARIABLE: &str = "NEARCALL_MODEL_WEAKENING";

impl Weakening {
    /// As it stands in [`VARIABLE`].
    pub fn to_text(&self) -> String {
        format!("{} {:?} {:?}", self.row, self.from, self.to)
    }

    fn from_text(text: &str) -> Option<Weakening> {
        let mut words = text.split(' ');
        let row = words.next()?.to_owned();
        let (from, to) = (ordering(words.next()?)?, ordering(words.next()?)?);
        Some(Weakening { row, from, to })
    }
}

fn ordering(name: &str) -> Option<Ordering> {
    use Ordering::{AcqRel, Acquire, Relaxed, Release};
    let mut all = [Relaxed, Acquire, Release, AcqRel].into_iter();
    all.find(|order| format!("{order:?}") == name)
}

static WEAKENING: LazyLock<Option<Weakening>> = LazyLock::new(|| {
    let text = std::env::var(VARIABLE).ok()?;
    Some(Weakening::from_text(&text).expect("a row and two orders"))
});

/// The order of a row, in this process.
pub fn order(row: &str, order: Ordering) -> Ordering {
    match &*WEAKENING {
        Some(weakening) if weakening.row == row && weakening.from == order => weakening.to,
        _ => order,
    }
}

macro_rules! ord {
    ($row:literal, $order:ident) => {
        crate::sync::order($row, core::sync::atomic::Ordering::$order)
    };
}

pub(crate) use ord;

/// The library's half of an asymmetric fence, as strong as it is together with the other half.
pub fn light_fence() {
    loom::sync::atomic::fence(Ordering::SeqCst);
}
