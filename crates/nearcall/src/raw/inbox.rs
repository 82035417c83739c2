//! What a loop is told by others: a queue, and a descriptor that can be read when there is
//! something in it, so that the loop may wait for it beside whatever else it waits for (design note
//! 0022).
//!
//! ```text
//!   herald, or who releases an A-stack ── Waker::wake ──▶ number ─┐ into the queue; if that was
//!   server processor ──────────────────────────────────▶ call ───┘ empty, a write to the eventfd
//!   loop ── take ──▶ all of it, once the eventfd was read
//! ```
//!
//! A call that wakes itself while it is polled, as those do that have just been posted, is told so
//! by the poll, and nobody writes.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::AtomicU8;
use std::sync::atomic::Ordering::AcqRel;
use std::task::Wake;

use nearcall_os::Waker;
use nearcall_os::forks::{self, OwnLock};

/// Nobody polls it, and it was not woken.
const PARKED: u8 = 0;

/// It is being polled.
const POLLED: u8 = 1;

/// It is to be polled.
const WOKEN: u8 = 2;

/// See the module. A child of fork(2) finds nothing in it.
#[derive(Debug)]
pub struct Inbox<T> {
    told: OwnLock<Told<T>>,
    signal: Waker,
    /// Of the process that has made it.
    generation: u32,
}

#[derive(Debug)]
struct Told<T> {
    all: Vec<T>,
    is_closed: bool,
}

/// What wakes one call: its number comes to the inbox.
#[derive(Debug)]
pub struct NumberedWaker<T> {
    number: u64,
    stage: AtomicU8,
    inbox: Arc<Inbox<T>>,
}

impl<T> Inbox<T> {
    /// An open one, and nothing in it.
    ///
    /// # Errors: there is no room for a descriptor.
    pub fn new() -> io::Result<Inbox<T>> {
        Ok(Inbox { told: OwnLock::new(), signal: Waker::new()?, generation: forks::generation() })
    }

    /// False in a child of fork(2), whose copy of the descriptor is the parent's.
    pub fn is_own(&self) -> bool {
        self.generation == forks::generation()
    }

    /// Puts one behind all others.
    ///
    /// # Errors: what was given, if it is closed, or a parent's.
    ///
    /// # Cost: a system call, if there was nothing in it.
    pub fn push(&self, one: T) -> Result<(), T> {
        let mut told = self.told.lock();
        if told.is_closed || !self.is_own() {
            return Err(one);
        }
        let is_first = told.all.is_empty();
        told.all.push(one);
        drop(told);
        if is_first {
            self.signal();
        }
        Ok(())
    }

    /// All that is in it, the oldest first. Its descriptor cannot be read until something comes.
    ///
    /// # Cost: a system call.
    pub fn take(&self) -> Vec<T> {
        // Before anything is taken out, so that whoever finds it empty after that writes anew. What
        // was written for a parent is the parent's.
        if self.is_own() {
            self.signal.drain();
        }
        std::mem::take(&mut self.told.lock().all)
    }

    /// Its descriptor can be read, until the next [`Inbox::take`]; not in a child.
    pub fn signal(&self) {
        if self.is_own() {
            self.signal.wake();
        }
    }

    /// Nothing comes any more. What is in it.
    pub fn close(&self) -> Vec<T> {
        let mut told = self.told.lock();
        told.is_closed = true;
        std::mem::take(&mut told.all)
    }
}

impl<T> AsFd for Inbox<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.signal.as_fd()
    }
}

impl<T> Default for Told<T> {
    fn default() -> Told<T> {
        Told { all: Vec::new(), is_closed: false }
    }
}

impl<T> NumberedWaker<T> {
    /// Tells this inbox of the call of this number.
    pub fn new(number: u64, inbox: &Arc<Inbox<T>>) -> NumberedWaker<T> {
        NumberedWaker { number, stage: AtomicU8::new(PARKED), inbox: Arc::clone(inbox) }
    }

    /// Of the call.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// It is about to be polled: whatever woke it before is done with.
    pub fn begin_poll(&self) {
        // AcqRel, all three: what was there before a wake is seen by the poll that follows it.
        self.stage.swap(POLLED, AcqRel);
    }

    /// It was polled; whether it was woken meanwhile, and nobody else tells.
    pub fn end_poll(&self) -> bool {
        // AcqRel: as above.
        self.stage.swap(PARKED, AcqRel) == WOKEN
    }
}

impl<T: From<u64> + Send> Wake for NumberedWaker<T> {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // AcqRel: as above.
        if self.stage.swap(WOKEN, AcqRel) == PARKED {
            // Where it is closed nobody waits.
            let _ = self.inbox.push(T::from(self.number));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;
    use std::time::Duration;

    use nearcall_os::Poller;

    use super::*;

    /// Whether a loop that waits for it would go on.
    fn can_be_read(inbox: &Inbox<u64>) -> bool {
        let (poller, mut ready) = (Poller::new().expect("a descriptor"), Vec::new());
        poller.add(inbox, 0).expect("it is watched");
        poller.wait(&mut ready, Some(Duration::ZERO)).expect("waits");
        !ready.is_empty()
    }

    #[test]
    fn its_descriptor_can_be_read_while_there_is_something_in_it() {
        let inbox = Inbox::new().expect("a descriptor");
        assert!(!can_be_read(&inbox) && inbox.take().is_empty());
        assert_eq!((inbox.push(1), inbox.push(2)), (Ok(()), Ok(())));
        assert!(can_be_read(&inbox));
        assert_eq!(inbox.take(), [1, 2]);
        assert!(!can_be_read(&inbox));
        assert_eq!(inbox.push(3), Ok(()));
        assert!(can_be_read(&inbox));
        assert_eq!((inbox.close(), inbox.push(4)), (vec![3], Err(4)));
        assert_eq!(inbox.take(), []);
    }

    #[test]
    fn one_that_is_woken_while_it_is_polled_is_told_by_that_alone() {
        let inbox = Arc::new(Inbox::<u64>::new().expect("a descriptor"));
        let numbered = Arc::new(NumberedWaker::new(7, &inbox));
        let waker = Waker::from(Arc::clone(&numbered));
        numbered.begin_poll();
        waker.wake_by_ref();
        assert!(numbered.end_poll() && !can_be_read(&inbox));
        numbered.begin_poll();
        assert!(!numbered.end_poll());
        waker.wake_by_ref();
        waker.wake_by_ref();
        assert_eq!(inbox.take(), [7]);
        // It was woken, and not polled since.
        waker.wake();
        assert_eq!(inbox.take(), []);
    }
}
