//! Whom a thread is to biases, and to linkage records.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

use nearcall_os::HeadWords;
use nearcall_os::thread_pointer::thread_pointer;

use crate::server::current;

thread_local! {
    /// This thread's number, which no other thread of this process ever had; 0: none yet.
    static NUMBER: Cell<u64> = const { Cell::new(0) };
    /// What biases know this thread by; 0: nothing yet.
    static IDENTITY: Cell<u64> = const { Cell::new(0) };
}

/// What biases know this thread by, from here on: its thread pointer, which the call path in C
/// compares as well. A thread that comes after it may inherit its biases, as it inherits the
/// memory that the pointer points to.
///
/// A server processor has a number, which is no pointer: its calls are nested ones, which have no
/// more time than the calls they are made for, and brief ones do not ask (0026). So has every
/// thread where a head's words are not loaded at once, as those load them.
#[inline]
pub(crate) fn identity() -> u64 {
    match IDENTITY.get() {
        0 => identify(),
        identity => identity,
    }
}

/// The same of most threads, without a look into thread-local storage, which is a call to
/// compilers: so all that a stub has in registers would have to survive it. Who is not known by
/// this asks for [`identity`].
#[inline(always)]
pub(crate) fn likely_identity() -> u64 {
    thread_pointer().unwrap_or_else(|| IDENTITY.get())
}

#[cold]
#[inline(never)]
fn identify() -> u64 {
    let may_be_in_c = !current::has_entered_domain() && HeadWords::can_be_at_once();
    let pointer = may_be_in_c.then(thread_pointer).flatten();
    // Thread pointers are even.
    IDENTITY.set(pointer.unwrap_or_else(|| thread_number() << 1 | 1));
    IDENTITY.get()
}

/// This thread's number; it has one from here on.
#[inline(always)]
pub(crate) fn thread_number() -> u64 {
    match NUMBER.get() {
        0 => number_thread(),
        number => number,
    }
}

#[cold]
#[inline(never)]
fn number_thread() -> u64 {
    static NUMBERS: AtomicU64 = AtomicU64::new(1);
    // Relaxed: all that matters is that no two are alike.
    NUMBER.set(NUMBERS.fetch_add(1, Ordering::Relaxed));
    NUMBER.get()
}
