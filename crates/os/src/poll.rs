//! Waiting for descriptors: what the housekeeping thread of a domain sleeps in.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};

use crate::clock;

/// Most descriptors that one [`Poller::wait`] reports.
const READY_MAX: usize = 64;

/// A set of descriptors to wait for, each with a token. A descriptor stays ready until what made it
/// so is taken away; a pidfd stays ready for good.
#[derive(Debug)]
pub struct Poller {
    epoll: OwnedFd,
}

/// A descriptor of which something can be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready {
    /// As given to [`Poller::add`].
    pub token: u64,
    /// Something can be read or accepted; of a pidfd: the process has ended.
    pub is_readable: bool,
    /// The other end is closed, or the descriptor is broken.
    pub is_hung_up: bool,
}

impl Poller {
    /// An empty set.
    pub fn new() -> io::Result<Poller> {
        Ok(Poller { epoll: epoll::create(CreateFlags::CLOEXEC)? })
    }

    /// Waits for `source`, too. Remove it before it is closed: a duplicate in another domain would
    /// keep it in the set.
    pub fn add(&self, source: impl AsFd, token: u64) -> io::Result<()> {
        let flags = EventFlags::IN | EventFlags::RDHUP;
        Ok(epoll::add(&self.epoll, source, EventData::new_u64(token), flags)?)
    }

    /// Waits for the end of `source` only: what can be read there is another thread's.
    pub fn add_hang_up(&self, source: impl AsFd, token: u64) -> io::Result<()> {
        let flags = EventFlags::RDHUP;
        Ok(epoll::add(&self.epoll, source, EventData::new_u64(token), flags)?)
    }

    /// Of what was added: leaves what can be read for later, and waits for the end only.
    pub fn leave_packets(&self, source: impl AsFd, token: u64) -> io::Result<()> {
        self.change(source, token, EventFlags::RDHUP)
    }

    /// The same back: waits for packets again.
    pub fn take_packets(&self, source: impl AsFd, token: u64) -> io::Result<()> {
        self.change(source, token, EventFlags::IN | EventFlags::RDHUP)
    }

    fn change(&self, source: impl AsFd, token: u64, flags: EventFlags) -> io::Result<()> {
        Ok(epoll::modify(&self.epoll, source, EventData::new_u64(token), flags)?)
    }

    /// No longer waits for `source`.
    pub fn remove(&self, source: impl AsFd) -> io::Result<()> {
        Ok(epoll::delete(&self.epoll, source)?)
    }

    /// Waits until something is ready, at most `timeout` (`None`: without end); leaves in `ready`
    /// what is, at most 64 at a time. Leaves it empty if the time is over or a signal came.
    pub fn wait(&self, ready: &mut Vec<Ready>, timeout: Option<Duration>) -> io::Result<()> {
        ready.clear();
        let timeout = timeout.map(clock::timespec);
        let none = Event { flags: EventFlags::empty(), data: EventData::new_u64(0) };
        let mut events = [none; READY_MAX];
        let count = match epoll::wait(&self.epoll, &mut events[..], timeout.as_ref()) {
            Err(Errno::INTR) => 0,
            result => result?,
        };
        ready.extend(events[..count].iter().map(|event| Ready::new(*event)));
        Ok(())
    }
}

impl Ready {
    fn new(event: Event) -> Ready {
        let flags = event.flags;
        let hang_up = EventFlags::HUP | EventFlags::RDHUP | EventFlags::ERR;
        Ready {
            token: event.data.u64(),
            is_readable: flags.contains(EventFlags::IN),
            is_hung_up: flags.intersects(hang_up),
        }
    }
}

impl AsFd for Poller {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}

/// Wakes a thread that sleeps in [`Poller::wait`].
#[derive(Debug)]
pub struct Waker {
    event: OwnedFd,
}

impl Waker {
    /// One that nobody has rung.
    pub fn new() -> io::Result<Waker> {
        Ok(Waker { event: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)? })
    }

    /// Makes it ready. Does not block; calls before the next [`Waker::drain`] count as one.
    pub fn wake(&self) {
        // The only refusal is a full counter: it is ready then, too.
        let _ = rustix::io::write(&self.event, &1u64.to_ne_bytes());
    }

    /// Makes it wait for the next [`Waker::wake`]; whether there was one.
    pub fn drain(&self) -> bool {
        rustix::io::read(&self.event, &mut [0; 8]).is_ok()
    }
}

impl AsFd for Waker {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

/// Wakes a thread that sleeps in [`Poller::wait`], later.
#[derive(Debug)]
pub struct Timer {
    timer: OwnedFd,
}

impl Timer {
    /// One that is not set.
    pub fn new() -> io::Result<Timer> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        Ok(Timer { timer: timerfd_create(TimerfdClockId::Monotonic, flags)? })
    }

    /// Makes it ready after so long, in place of what it was set to before.
    ///
    /// # Cost: a system call.
    pub fn set(&self, after: Duration) -> io::Result<()> {
        // Zero would have it never be ready.
        let it_value = clock::timespec(after.max(Duration::from_nanos(1)));
        let once = Itimerspec { it_interval: clock::timespec(Duration::ZERO), it_value };
        timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &once)?;
        Ok(())
    }

    /// Makes it wait until it is set again; whether it was ready.
    pub fn drain(&self) -> bool {
        rustix::io::read(&self.timer, &mut [0; 8]).is_ok()
    }
}

impl AsFd for Timer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.timer.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ready_now(poller: &Poller) -> Vec<Ready> {
        let mut ready = Vec::new();
        poller.wait(&mut ready, Some(Duration::ZERO)).unwrap();
        ready
    }

    #[test]
    fn a_waker_is_ready_from_wake_to_drain() {
        let (poller, waker) = (Poller::new().unwrap(), Waker::new().unwrap());
        poller.add(&waker, 7).unwrap();
        assert_eq!(ready_now(&poller), []);
        waker.wake();
        waker.wake();
        let want = Ready { token: 7, is_readable: true, is_hung_up: false };
        assert_eq!(ready_now(&poller), [want]);
        assert!(waker.drain());
        assert!(!waker.drain());
        assert_eq!(ready_now(&poller), []);
    }

    #[test]
    fn a_thread_asleep_without_end_is_woken() {
        let (poller, waker) = (Poller::new().unwrap(), Waker::new().unwrap());
        poller.add(&waker, 1).unwrap();
        std::thread::scope(|scope| {
            let sleeper = scope.spawn(|| {
                let mut ready = Vec::new();
                poller.wait(&mut ready, None).unwrap();
                ready.len()
            });
            waker.wake();
            assert_eq!(sleeper.join().unwrap(), 1);
        });
    }

    #[test]
    fn a_timer_is_ready_once_after_it_was_set() {
        let (poller, timer) = (Poller::new().unwrap(), Timer::new().unwrap());
        poller.add(&timer, 5).unwrap();
        assert_eq!(ready_now(&poller), []);
        let mut ready = Vec::new();
        for after in [Duration::from_millis(1), Duration::ZERO] {
            timer.set(after).unwrap();
            poller.wait(&mut ready, None).unwrap();
            assert_eq!(ready.len(), 1);
            assert!(timer.drain() && !timer.drain());
            assert_eq!(ready_now(&poller), []);
        }
    }

    #[test]
    fn a_closed_other_end_is_a_hang_up() {
        let poller = Poller::new().unwrap();
        let (here, there) = crate::Stream::pair().unwrap();
        poller.add(&here, 3).unwrap();
        assert_eq!(ready_now(&poller), []);
        drop(there);
        let ready = ready_now(&poller);
        assert_eq!((ready.len(), ready[0].token, ready[0].is_hung_up), (1, 3, true));
    }

    #[test]
    fn who_waits_for_the_end_only_is_not_told_of_packets() {
        let poller = Poller::new().unwrap();
        let (here, there) = crate::Stream::pair().unwrap();
        poller.add_hang_up(&here, 3).unwrap();
        there.send(b"packet", &[], Duration::ZERO).unwrap();
        assert_eq!(ready_now(&poller), []);
        there.hang_up();
        let ready = ready_now(&poller);
        assert_eq!((ready.len(), ready[0].is_hung_up), (1, true));
    }

    #[test]
    fn packets_that_are_left_for_later_are_told_of_then_and_the_end_at_once() {
        let poller = Poller::new().unwrap();
        let (here, there) = crate::Stream::pair().unwrap();
        poller.add(&here, 3).unwrap();
        there.send(b"packet", &[], Duration::ZERO).unwrap();
        poller.leave_packets(&here, 3).unwrap();
        assert_eq!(ready_now(&poller), []);
        poller.take_packets(&here, 3).unwrap();
        let told = ready_now(&poller);
        assert_eq!((told.len(), told[0].is_readable, told[0].is_hung_up), (1, true, false));
        poller.leave_packets(&here, 3).unwrap();
        there.hang_up();
        let told = ready_now(&poller);
        assert_eq!((told.len(), told[0].is_hung_up), (1, true));
    }

    #[test]
    fn after_a_hang_up_both_ends_read_the_end_past_what_was_sent() {
        let (here, there) = crate::Stream::pair().unwrap();
        there.send(b"last", &[], Duration::ZERO).unwrap();
        there.hang_up();
        there.hang_up();
        let received = |end: &crate::Stream| end.try_receive(&mut [0; 8], 0);
        assert_eq!(received(&here).unwrap().unwrap().bytes, 4);
        for end in [&here, &there] {
            assert!(matches!(received(end), Err(crate::SocketError::HungUp)));
            let sent = end.send(b"x", &[], Duration::ZERO);
            assert!(matches!(sent, Err(crate::SocketError::HungUp)));
        }
    }

    #[test]
    fn a_removed_descriptor_is_not_reported() {
        let (poller, waker) = (Poller::new().unwrap(), Waker::new().unwrap());
        poller.add(&waker, 1).unwrap();
        waker.wake();
        poller.remove(&waker).unwrap();
        assert_eq!(ready_now(&poller), []);
        assert!(poller.remove(&waker).is_err());
    }

    #[test]
    fn more_ready_descriptors_than_one_report_holds_come_in_turn() {
        let poller = Poller::new().unwrap();
        let wakers: Vec<Waker> = (0..READY_MAX as u64 + 1)
            .map(|token| {
                let waker = Waker::new().unwrap();
                poller.add(&waker, token).unwrap();
                waker.wake();
                waker
            })
            .collect();
        let first = ready_now(&poller);
        assert_eq!(first.len(), READY_MAX);
        for ready in first {
            wakers[ready.token as usize].drain();
        }
        assert_eq!(ready_now(&poller).len(), 1);
    }
}
