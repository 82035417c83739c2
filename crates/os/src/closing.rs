//! Closing what a peer sent, without waiting for it.
//!
//! A close may take as long as a peer has arranged: a socket that lingers waits for data that
//! nobody reads (4 s were seen where 4 s were asked for), a file of a file system in user space for
//! an answer of its process. So threads close what is not a memory file, and nobody else waits.
//!
//! ```text
//!   a user's descriptors ──▶ its line ──┐
//!   another user's ────────▶ its line ──┴─▶ lines that no thread is at ──▶ threads that close
//! ```
//!
//! At a line there is one thread at most: one that is stuck keeps what is in that line open, and
//! nothing of other users. How much waits in a line is counted, so that no more is taken from a
//! user of whom too much waits.

use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use crate::forks::PerProcess;

/// Of a user of whose descriptors more wait to be closed, nothing is read: far more than honest
/// calls leave behind, and few beside what a process may have open.
const UNCLOSED_MAX: usize = 256;

/// Most threads that close: as many users may have them stuck before the others' descriptors wait,
/// too, which is until theirs are too many to have more read.
const THREADS_MAX: usize = 64;

/// The descriptors of one user that wait to be closed, however many connections they came over.
#[derive(Clone)]
pub struct Behind(Arc<Line>);

/// The same, for whoever is to find it again as long as somebody has it.
#[derive(Clone, Debug)]
pub struct WeakBehind(Weak<Line>);

/// What is kept for a descriptor until it is closed.
pub type Kept = Box<dyn Any + Send>;

struct Line {
    /// Of those in `waiting`, and of one that is being closed.
    count: AtomicUsize,
    queue: Mutex<Queue>,
    /// Makes what is kept for each.
    keep: Box<dyn Fn() -> Kept + Send + Sync>,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Waiting>,
    /// A thread is at this line, or it is among those that wait for one.
    is_taken: bool,
}

/// A descriptor that waits to be closed, and is counted until it is: fields are dropped in order.
struct Waiting {
    _descriptor: OwnedFd,
    _kept: Kept,
}

/// The threads, and the lines that wait for one.
#[derive(Default)]
struct Closers {
    state: Mutex<State>,
    come: Condvar,
}

#[derive(Default)]
struct State {
    lines: VecDeque<Arc<Line>>,
    threads_count: usize,
    idle_count: usize,
}

static CLOSERS: PerProcess<Closers> = PerProcess::new();

impl Behind {
    /// Of a user none of whose descriptors wait yet. `keep` makes what is kept for each one until
    /// it is closed: what its user is charged with.
    pub fn new(keep: impl Fn() -> Kept + Send + Sync + 'static) -> Behind {
        let (count, queue) = (AtomicUsize::new(0), Mutex::default());
        Behind(Arc::new(Line { count, queue, keep: Box::new(keep) }))
    }

    /// Of all those together of whom nobody has said who they are.
    pub fn unknown() -> Behind {
        static UNKNOWN: OnceLock<Behind> = OnceLock::new();
        UNKNOWN.get_or_init(|| Behind::new(|| Box::new(()))).clone()
    }

    /// How many wait.
    pub fn count(&self) -> usize {
        // Relaxed: a count that orders nothing.
        self.0.count.load(Ordering::Relaxed)
    }

    /// So many wait that nothing more is to be read from this user.
    pub fn is_full(&self) -> bool {
        self.count() > UNCLOSED_MAX
    }

    /// The same without keeping it.
    pub fn downgrade(&self) -> WeakBehind {
        WeakBehind(Arc::downgrade(&self.0))
    }
}

impl WeakBehind {
    /// As long as somebody has it, or something of it waits.
    pub fn upgrade(&self) -> Option<Behind> {
        self.0.upgrade().map(Behind)
    }

    /// Nobody has it, and nothing of it waits.
    pub fn is_gone(&self) -> bool {
        self.0.strong_count() == 0
    }
}

impl fmt::Debug for Behind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Behind").field(&self.count()).finish()
    }
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Line").field("count", &self.count).finish_non_exhaustive()
    }
}

/// Closes a descriptor that a peer sent; `behind` counts it until it is closed.
///
/// # Cost: two system calls for a memory file, the second of which closes it; else one, two locks,
/// and a thread if none is idle.
pub(crate) fn close(descriptor: OwnedFd, behind: &Behind) {
    // Only memory files have seals, and closing one waits for nobody.
    if rustix::fs::fcntl_get_seals(&descriptor).is_ok() {
        return;
    }
    let line = &behind.0;
    // Relaxed: see `Behind::count`.
    line.count.fetch_add(1, Ordering::Relaxed);
    let waiting = Waiting { _descriptor: descriptor, _kept: (line.keep)() };
    if line.push(waiting) {
        CLOSERS.own(Closers::default).come(Arc::clone(line));
    }
}

impl Line {
    /// Whether a thread is to be found for it.
    fn push(&self, waiting: Waiting) -> bool {
        let mut queue = self.queue();
        queue.waiting.push_back(waiting);
        !std::mem::replace(&mut queue.is_taken, true)
    }

    /// Closes the first, for the thread that is at this line. Whether more wait.
    fn close_one(&self) -> bool {
        let first = self.queue().waiting.pop_front();
        let has_closed = first.is_some();
        // It may take long: nobody is to wait for the lock meanwhile.
        drop(first);
        // Relaxed: see `Behind::count`.
        self.count.fetch_sub(usize::from(has_closed), Ordering::Relaxed);
        let mut queue = self.queue();
        queue.is_taken = !queue.waiting.is_empty();
        queue.is_taken
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Closers {
    /// Something waits in this line, and no thread is at it.
    fn come(&'static self, line: Arc<Line>) {
        let mut state = self.state();
        state.lines.push_back(line);
        let needs_thread = state.idle_count < state.lines.len();
        if !needs_thread || state.threads_count >= THREADS_MAX {
            drop(state);
            self.come.notify_one();
            return;
        }
        let thread = std::thread::Builder::new().name("nearcall-close".to_owned());
        match thread.spawn(|| self.close_all()) {
            Ok(_) => state.threads_count += 1,
            // One that is stuck may come free. Without any, it is closed here.
            Err(_) if state.threads_count > 0 => {}
            Err(_) => {
                let line = state.lines.pop_back().expect("it was put there");
                drop(state);
                while line.close_one() {}
            }
        }
    }

    /// The life of a thread: one descriptor of each line in turn. One waits for more, others end.
    fn close_all(&self) {
        let mut state = self.state();
        loop {
            let Some(line) = state.lines.pop_front() else {
                if state.idle_count > 0 {
                    state.threads_count -= 1;
                    return;
                }
                state.idle_count += 1;
                state = self.come.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.idle_count -= 1;
                continue;
            };
            drop(state);
            let has_more = line.close_one();
            state = self.state();
            if has_more {
                state.lines.push_back(line);
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::io::{Read, Write};
    use std::net::{Ipv4Addr, TcpListener, TcpStream};
    use std::time::Duration;

    use super::*;

    /// Longer than any test waits.
    const LONG: Duration = Duration::from_secs(600);

    /// A user's of whom nothing waits.
    pub(crate) fn own() -> Behind {
        Behind::new(|| Box::new(()))
    }

    /// A connection whose first end lingers at its close until the second has read what it sent.
    pub(crate) fn lingering() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let mut ours = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (theirs, _) = listener.accept().unwrap();
        rustix::net::sockopt::set_socket_linger(&ours, Some(LONG)).unwrap();
        ours.set_nonblocking(true).unwrap();
        while ours.write(&[7; 1 << 16]).is_ok() {}
        (ours, theirs)
    }

    #[test]
    fn a_socket_that_lingers_is_closed_and_nobody_waits_for_it() {
        let (ours, mut theirs) = lingering();
        let behind = own();
        close(ours.into(), &behind);
        assert_eq!(behind.count(), 1);
        // It is still being closed: what was sent comes, and then the end.
        let bytes = theirs.read_to_end(&mut Vec::new()).unwrap();
        assert!(bytes > 0);
        while behind.count() > 0 {
            std::thread::yield_now();
        }
    }

    /// Waits until a pipe's end was closed.
    fn what_comes_is_closed(behind: &Behind) {
        let (ours, theirs) = rustix::pipe::pipe().unwrap();
        close(theirs, behind);
        let mut bytes = Vec::new();
        std::fs::File::from(ours).read_to_end(&mut bytes).unwrap();
        assert!(bytes.is_empty());
    }

    #[test]
    fn what_is_no_memory_file_is_closed_in_the_end() {
        what_comes_is_closed(&own());
    }

    #[test]
    fn one_users_descriptor_that_lingers_keeps_no_other_users_open() {
        let (stuck, _theirs) = lingering();
        let first = own();
        close(stuck.into(), &first);
        what_comes_is_closed(&own());
        assert_eq!(first.count(), 1);
    }

    #[test]
    fn what_is_kept_for_a_descriptor_goes_when_it_is_closed() {
        let kept = Arc::new(());
        let theirs = Arc::clone(&kept);
        let behind = Behind::new(move || Box::new(Arc::clone(&theirs)));
        let (ours, mut other) = lingering();
        close(ours.into(), &behind);
        assert_eq!(Arc::strong_count(&kept), 3);
        other.read_to_end(&mut Vec::new()).unwrap();
        while behind.count() > 0 {
            std::thread::yield_now();
        }
        assert_eq!(Arc::strong_count(&kept), 2);
    }
}
