//! What goes wrong, for who forks, who joins and who runs.

use std::any::Any;
use std::fmt;
use std::io;
use std::sync::{Mutex, PoisonError};

use crate::cancel::Cancelled;
use crate::report::Report;
use crate::run::PROCESSORS_MAX;
use crate::stack::{STACK_BYTES_MAX, STACK_BYTES_MIN, when_no_memory};

/// Why the caller is no FastThread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outside {
    /// It is a kernel thread outside any [`crate::run`].
    KernelThread,
    /// It was a FastThread, and its process was copied by fork(2). FastThreads stay with the
    /// parent: the copy has one kernel thread and none of the others' progress.
    ForkedProcess,
    /// It is a FastThread of another [`crate::run`].
    OtherRun,
}

impl fmt::Display for Outside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Outside::KernelThread => "the caller is a kernel thread, not a FastThread",
            Outside::ForkedProcess => "FastThreads do not go on in the child of a fork(2)",
            Outside::OtherRun => "the caller is a FastThread of another run",
        })
    }
}

impl std::error::Error for Outside {}

/// Why no thread was forked. Nothing is left behind; the closure was dropped. `Debug` shows the
/// same words as `Display`: `unwrap` says them.
#[non_exhaustive]
pub enum ForkError {
    /// Only a FastThread forks FastThreads.
    Outside(Outside),
    /// There is no memory, or no mapping left, for another stack: before Linux 6.13 each takes two
    /// of the 65,530 that a process may have by default (`vm.max_map_count`).
    NoStack {
        /// Bytes of a stack.
        bytes: usize,
        /// What the kernel said.
        source: io::Error,
    },
    /// The closure and what it captured, or the result, would fill too much of the stack.
    TooLong {
        /// Bytes of the longer of both.
        bytes: usize,
        /// A quarter of the stack.
        bytes_max: usize,
    },
}

impl fmt::Display for ForkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ForkError::Outside(outside) => outside.fmt(f),
            ForkError::NoStack { bytes, source } => {
                write!(f, "no memory for a stack of {bytes} bytes: {source}{}", when_no_memory())
            }
            ForkError::TooLong { bytes, bytes_max } => write!(
                f,
                "the closure or its result takes {bytes} bytes of the thread's stack, \
                 at most {bytes_max} are allowed: put it into a box"
            ),
        }
    }
}

impl std::error::Error for ForkError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ForkError::Outside(_) | ForkError::TooLong { .. } => None,
            ForkError::NoStack { source, .. } => Some(source),
        }
    }
}

/// Which FastThread something is about: its number, and its name if it has one. `Debug` shows the
/// same words as `Display`.
#[derive(Clone, PartialEq, Eq)]
pub struct Title {
    number: u64,
    name: Option<Box<str>>,
}

impl Title {
    pub(crate) fn new(number: u64, name: Option<Box<str>>) -> Title {
        Title { number, name }
    }

    /// Its number, as reports and policies have it: 1 is the first of a run.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Its name, if it has one.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }
}

impl fmt::Display for Title {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "FastThread {} `{name}`", self.number),
            None => write!(f, "FastThread {}", self.number),
        }
    }
}

/// Why a join brought no result. `Debug` shows the same words as `Display`: `unwrap` says them.
#[non_exhaustive]
pub enum JoinError {
    /// The thread panicked, with this.
    Panicked(Payload),
    /// This thread was cancelled, and did not begin or ended before it was done.
    Cancelled(Title),
    /// The thread was joined before, and its result was taken.
    AlreadyJoined,
    /// This thread would wait for its own end.
    JoinsItself(Title),
    /// Only a FastThread joins FastThreads. The thread can still be joined by one.
    Outside(Outside),
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JoinError::Panicked(payload) => match payload.message() {
                Some(message) => write!(f, "{} panicked: {message}", payload.thread()),
                None => write!(f, "{} panicked", payload.thread()),
            },
            JoinError::Cancelled(thread) => write!(f, "{thread} was cancelled"),
            JoinError::AlreadyJoined => f.write_str("the FastThread was joined before"),
            JoinError::JoinsItself(thread) => write!(f, "{thread} joins itself"),
            JoinError::Outside(outside) => outside.fmt(f),
        }
    }
}

impl std::error::Error for JoinError {}

impl JoinError {
    /// The thread that it is about; nothing where it has none, or was joined before.
    pub fn thread(&self) -> Option<&Title> {
        match self {
            JoinError::Panicked(payload) => Some(payload.thread()),
            JoinError::Cancelled(thread) | JoinError::JoinsItself(thread) => Some(thread),
            JoinError::AlreadyJoined | JoinError::Outside(_) => None,
        }
    }

    /// How a thread has ended.
    #[cold]
    pub(crate) fn of(unwound: Unwound) -> JoinError {
        let is_cancelled = unwound.is_cancelled();
        let Unwound { thread, payload } = unwound;
        match is_cancelled {
            true => JoinError::Cancelled(thread),
            // In a mutex, as it need not be `Sync`, and errors that `?` takes often have to be.
            false => JoinError::Panicked(Payload(Box::new((Mutex::new(payload), thread)))),
        }
    }
}

/// What a thread leaves behind that has unwound: who it was, and with what.
pub(crate) struct Unwound {
    pub thread: Title,
    pub payload: Box<dyn Any + Send>,
}

impl Unwound {
    /// What a thread's outcome has for a payload.
    pub fn of(payload: Box<dyn Any + Send>) -> Unwound {
        *payload.downcast().expect("it was signed where it was caught")
    }

    /// The same, left where it is.
    pub fn seen(payload: &(dyn Any + Send)) -> &Unwound {
        payload.downcast_ref().expect("it was signed where it was caught")
    }

    /// Whether it was by a cancel, and not by a panic.
    pub fn is_cancelled(&self) -> bool {
        self.payload.is::<Cancelled>()
    }
}

/// What a thread has panicked with.
pub struct Payload(Box<(Mutex<Box<dyn Any + Send>>, Title)>);

impl Payload {
    /// As [`std::panic::resume_unwind`] raises it again, and to be downcast.
    pub fn into_inner(self) -> Box<dyn Any + Send> {
        self.0.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// The thread.
    pub fn thread(&self) -> &Title {
        &self.0.1
    }

    /// What the panic said, if it said it in words.
    pub fn message(&self) -> Option<String> {
        let payload = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = payload.downcast_ref::<&'static str>().map(|text| (*text).to_owned());
        text.or_else(|| payload.downcast_ref::<String>().cloned())
    }
}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Payload").field(&self.message()).finish()
    }
}

impl fmt::Debug for Title {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for ForkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Why a thread-local was not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LocalError {
    /// The calling thread ends, or the guest of its E-stack has returned, and the value's drop has
    /// begun.
    Dropped,
    /// Only a FastThread has thread-locals of FastThreads.
    Outside(Outside),
}

impl fmt::Display for LocalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LocalError::Dropped => f.write_str("the FastThread ends and has dropped the local"),
            LocalError::Outside(outside) => outside.fmt(f),
        }
    }
}

impl std::error::Error for LocalError {}

/// Why a run had no result. `Debug` shows the same words as `Display`: `unwrap` says them.
#[non_exhaustive]
pub enum RunError {
    /// The first thread could not be forked.
    Fork(ForkError),
    /// The caller is a FastThread of a run already.
    InsideRun,
    /// This size of a stack is not allowed.
    StackBytes(usize),
    /// This many processors are not allowed.
    Processors(usize),
    /// A kernel thread could not be made for a processor.
    NoProcessor {
        /// Which one: the caller's is the first.
        number: usize,
        /// What the kernel said.
        source: io::Error,
    },
    /// Every thread that is left waits for another one, or is ready and was lost by a
    /// [`crate::Policy`]. They never go on, and nothing on their stacks is dropped.
    Deadlock(Report),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Fork(error) => error.fmt(f),
            RunError::InsideRun => f.write_str("a FastThread starts a run of its own"),
            RunError::StackBytes(bytes) => {
                write!(f, "a stack has {STACK_BYTES_MIN} to {STACK_BYTES_MAX} bytes, not {bytes}")
            }
            RunError::Processors(count) => {
                write!(f, "{count} processors are not between 1 and {PROCESSORS_MAX}")
            }
            RunError::NoProcessor { number, source } => {
                write!(f, "no kernel thread for processor {number} of the run: {source}")
            }
            RunError::Deadlock(report) => {
                f.write_str(match report.has_ready() {
                    false => "every FastThread that is left waits for another one\n",
                    true => {
                        "a policy has not given back what was ready, and nothing else goes on\n"
                    }
                })?;
                report.fmt(f)
            }
        }
    }
}

impl std::error::Error for RunError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            RunError::Fork(error) => Some(error),
            RunError::NoProcessor { source, .. } => Some(source),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unwrap_says_which_thread_has_panicked_and_with_what() {
        let joined = |name: Option<&str>, payload| {
            let thread = Title::new(7, name.map(Box::from));
            JoinError::of(Unwound { thread, payload })
        };
        let error = joined(Some("reader"), Box::new("no more"));
        assert_eq!(format!("{error:?}"), "FastThread 7 `reader` panicked: no more");
        let error = joined(None, Box::new(7));
        assert_eq!(format!("{error:?}"), "FastThread 7 panicked");
        let JoinError::Panicked(payload) = error else { panic!("{error}") };
        assert_eq!(format!("{payload:?}"), "Payload(None)");
        let error = joined(Some("reader"), Box::new(Cancelled));
        assert_eq!(format!("{error}"), "FastThread 7 `reader` was cancelled");
        assert_eq!(error.thread().and_then(Title::name), Some("reader"));
    }
}
