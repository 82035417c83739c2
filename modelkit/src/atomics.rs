//! Loom's atomics and cells, with the names that the library's `sync` modules have for theirs.

use core::sync::atomic::Ordering;

/// An atomic of loom's, with a turnstile before it.
///
/// Loom 0.7 looks for other orders to try at a store only among the last access of any kind, and
/// so misses "the other thread's load, my load, my store" tried with the other thread's load last.
/// An access that is always a read-modify-write of the same cell, and that is Relaxed, so that it
/// orders no memory, makes it try all of them.
macro_rules! atomic {
    ($name:ident, $number:ty) => {
        /// One of loom's atomics, of which all orders are tried.
        pub struct $name {
            turnstile: loom::sync::atomic::AtomicU32,
            cell: loom::sync::atomic::$name,
        }

        #[allow(missing_docs)]
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

            pub fn fetch_sub(&self, value: $number, order: Ordering) -> $number {
                self.cell().fetch_sub(value, order)
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
atomic!(AtomicUsize, usize);

/// What one thread at a time may touch; loom checks it.
#[derive(Debug)]
pub struct UnsafeCell<T>(loom::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    /// A cell with this value.
    pub fn new(value: T) -> UnsafeCell<T> {
        UnsafeCell(loom::cell::UnsafeCell::new(value))
    }

    /// Shows it to `look`; loom fails the model if another thread touches it meanwhile.
    pub fn with_mut<R>(&self, look: impl FnOnce(*mut T) -> R) -> R {
        self.0.with_mut(look)
    }
}
