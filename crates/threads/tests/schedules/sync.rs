//! The library's `sync`: before every access to a word another processor may go on. The orders are
//! those of the models (`tests/model`); here all is as if it were SeqCst.
//!
//! The words themselves are std's, because threads' records outlive a schedule, which shuttle's own
//! may not.

use std::sync::atomic::Ordering::{self, SeqCst};

macro_rules! ord {
    ($row:literal, $order:ident) => {
        core::sync::atomic::Ordering::$order
    };
}

pub(crate) use ord;

/// Chance decides who goes on.
fn switch() {
    shuttle::sync::atomic::AtomicBool::new(false).load(SeqCst);
}

macro_rules! atomic {
    ($name:ident, $number:ty) => {
        #[derive(Debug)]
        pub struct $name(core::sync::atomic::$name);

        impl $name {
            pub const fn new(value: $number) -> $name {
                $name(core::sync::atomic::$name::new(value))
            }

            /// A load at which nobody else goes on.
            pub fn peek(&self) -> $number {
                self.0.load(SeqCst)
            }

            pub fn load(&self, _: Ordering) -> $number {
                switch();
                self.0.load(SeqCst)
            }

            pub fn store(&self, value: $number, _: Ordering) {
                switch();
                self.0.store(value, SeqCst);
            }

            pub fn swap(&self, value: $number, _: Ordering) -> $number {
                switch();
                self.0.swap(value, SeqCst)
            }

            pub fn fetch_add(&self, value: $number, _: Ordering) -> $number {
                switch();
                self.0.fetch_add(value, SeqCst)
            }

            pub fn fetch_sub(&self, value: $number, _: Ordering) -> $number {
                switch();
                self.0.fetch_sub(value, SeqCst)
            }

            pub fn fetch_or(&self, value: $number, _: Ordering) -> $number {
                switch();
                self.0.fetch_or(value, SeqCst)
            }

            pub fn compare_exchange(
                &self,
                from: $number,
                to: $number,
                _: Ordering,
                _: Ordering,
            ) -> Result<$number, $number> {
                switch();
                self.0.compare_exchange(from, to, SeqCst, SeqCst)
            }

            pub fn compare_exchange_weak(
                &self,
                from: $number,
                to: $number,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$number, $number> {
                self.compare_exchange(from, to, success, failure)
            }
        }
    };
}

atomic!(AtomicU32, u32);
atomic!(AtomicU64, u64);
atomic!(AtomicUsize, usize);

/// What one processor at a time may touch.
#[derive(Debug)]
pub struct UnsafeCell<T>(core::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    pub fn new(value: T) -> UnsafeCell<T> {
        UnsafeCell(core::cell::UnsafeCell::new(value))
    }

    pub fn with_mut<R>(&self, look: impl FnOnce(*mut T) -> R) -> R {
        look(self.0.get())
    }
}

/// Somebody else goes on.
pub fn pause(_turn: u32) {
    shuttle::thread::yield_now();
}
