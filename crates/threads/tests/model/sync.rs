//! The library's `sync`, with loom's atomics, and with one row weakened when asked.

use core::sync::atomic::Ordering;

use loom::sync::atomic;

/// An atomic of loom's with a turnstile before it: see the same in `nearcall-core`'s models.
#[derive(Debug)]
pub struct AtomicUsize {
    turnstile: atomic::AtomicU32,
    cell: atomic::AtomicUsize,
}

impl AtomicUsize {
    pub fn new(value: usize) -> AtomicUsize {
        let turnstile = atomic::AtomicU32::new(0);
        AtomicUsize { turnstile, cell: atomic::AtomicUsize::new(value) }
    }

    fn cell(&self) -> &atomic::AtomicUsize {
        self.turnstile.fetch_add(1, Ordering::Relaxed);
        &self.cell
    }

    pub fn load(&self, order: Ordering) -> usize {
        self.cell().load(order)
    }

    pub fn store(&self, value: usize, order: Ordering) {
        self.cell().store(value, order);
    }

    pub fn swap(&self, value: usize, order: Ordering) -> usize {
        self.cell().swap(value, order)
    }

    pub fn compare_exchange(
        &self,
        from: usize,
        to: usize,
        order: Ordering,
        failure: Ordering,
    ) -> Result<usize, usize> {
        self.cell().compare_exchange(from, to, order, failure)
    }
}

/// The same, of the size of a futex.
#[derive(Debug)]
pub struct AtomicU32 {
    turnstile: atomic::AtomicU32,
    cell: atomic::AtomicU32,
}

impl AtomicU32 {
    pub fn new(value: u32) -> AtomicU32 {
        AtomicU32 { turnstile: atomic::AtomicU32::new(0), cell: atomic::AtomicU32::new(value) }
    }

    fn cell(&self) -> &atomic::AtomicU32 {
        self.turnstile.fetch_add(1, Ordering::Relaxed);
        &self.cell
    }

    pub fn load(&self, order: Ordering) -> u32 {
        self.cell().load(order)
    }

    pub fn store(&self, value: u32, order: Ordering) {
        self.cell().store(value, order);
    }

    pub fn fetch_add(&self, value: u32, order: Ordering) -> u32 {
        self.cell().fetch_add(value, order)
    }

    pub fn fetch_sub(&self, value: u32, order: Ordering) -> u32 {
        self.cell().fetch_sub(value, order)
    }

    pub fn compare_exchange(
        &self,
        from: u32,
        to: u32,
        order: Ordering,
        failure: Ordering,
    ) -> Result<u32, u32> {
        self.cell().compare_exchange(from, to, order, failure)
    }
}

/// The same, for words of 64 bits.
#[derive(Debug)]
pub struct AtomicU64 {
    turnstile: atomic::AtomicU32,
    cell: atomic::AtomicU64,
}

impl AtomicU64 {
    pub fn new(value: u64) -> AtomicU64 {
        AtomicU64 { turnstile: atomic::AtomicU32::new(0), cell: atomic::AtomicU64::new(value) }
    }

    fn cell(&self) -> &atomic::AtomicU64 {
        self.turnstile.fetch_add(1, Ordering::Relaxed);
        &self.cell
    }

    pub fn load(&self, order: Ordering) -> u64 {
        self.cell().load(order)
    }

    pub fn store(&self, value: u64, order: Ordering) {
        self.cell().store(value, order);
    }

    pub fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        self.cell().fetch_add(value, order)
    }

    pub fn fetch_sub(&self, value: u64, order: Ordering) -> u64 {
        self.cell().fetch_sub(value, order)
    }

    pub fn fetch_or(&self, value: u64, order: Ordering) -> u64 {
        self.cell().fetch_or(value, order)
    }
}

/// What one kernel thread at a time may touch; loom checks it.
#[derive(Debug)]
pub struct UnsafeCell<T>(loom::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    pub fn new(value: T) -> UnsafeCell<T> {
        UnsafeCell(loom::cell::UnsafeCell::new(value))
    }

    pub fn with_mut<R>(&self, look: impl FnOnce(*mut T) -> R) -> R {
        self.0.with_mut(look)
    }
}

/// Somebody else goes on.
pub fn pause(_turn: u32) {
    loom::thread::yield_now();
}

/// The variable that names, to a model in a process of its own, the row to weaken to Relaxed.
pub const VARIABLE: &str = "NEARCALL_THREADS_WEAKENED";

/// The order of a row, in this process.
pub fn order(row: &str, order: Ordering) -> Ordering {
    match std::env::var(VARIABLE) {
        Ok(weakened) if weakened == row => Ordering::Relaxed,
        _ => order,
    }
}

macro_rules! ord {
    ($row:literal, $order:ident) => {
        crate::sync::order($row, core::sync::atomic::Ordering::$order)
    };
}

pub(crate) use ord;
