//! Who waits for what: for a deadlock, and on request.

use std::fmt;
use std::ptr::NonNull;

use crate::processor::Processor;
use crate::thread::Thread;

/// Something that a thread can wait for, as a report says it.
pub trait Waited {
    /// After "waits for".
    fn describe(&self) -> String;

    /// The address of the one thread that can bring it about, if there is such a one: who has the
    /// lock, or is joined. On any processor of the run.
    fn holder(&self) -> Option<usize> {
        None
    }

    /// A thread that waits for it was cancelled: takes it out of whatever list of this it is in, on
    /// the thread's processor. False: it waits on, because this cannot be given up, or has come.
    fn withdraw(&self, _processor: &Processor, _thread: &'static Thread) -> bool {
        false
    }

    /// The time until which a thread waits for it has come: takes it out of the other list that it
    /// is in, if it is in one, on the thread's processor. False: it is in none any more, and
    /// somebody makes it ready.
    fn be_late(&self, _processor: &Processor, _thread: &'static Thread) -> bool {
        true
    }
}

/// The threads that have not ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    threads: Vec<Waiting>,
    late: u64,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Its number: 1 is the first of a run.
    pub number: u64,
    /// Its name.
    pub name: Option<String>,
    /// What it waits for; nothing if it runs or is ready.
    pub waits_for: Option<String>,
}

impl Report {
    /// Of these threads, by their numbers; so many were begun elsewhere, late.
    pub(crate) fn new(mut threads: Vec<Waiting>, late: u64) -> Report {
        threads.sort_by_key(|thread| thread.number);
        Report { threads, late }
    }

    /// The threads, by their numbers.
    pub fn threads(&self) -> &[Waiting] {
        &self.threads
    }

    /// How often this processor has begun a thread because another one had left it for over 10 ms:
    /// that one was stuck in a thread that does not yield, and all threads that have begun there
    /// were kept waiting. Of a run that stands still, of all its processors. In a run with one
    /// processor, how often that was stuck so, for a tenth of a second or more.
    pub fn late(&self) -> u64 {
        self.late
    }
}

impl Waiting {
    /// Of a thread of the caller's processor.
    pub(crate) fn of(thread: &Thread) -> Waiting {
        let describe = |waited: NonNull<dyn Waited>| {
            // SAFETY: the thread borrows what it waits for, on its own stack, for as long as it
            // waits; and it does, because its processor is the caller's.
            unsafe { waited.as_ref() }.describe()
        };
        Waiting {
            number: thread.number.get(),
            name: thread.rare.borrow().name.as_deref().map(str::to_owned),
            waits_for: thread.waits_for.get().map(describe),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.threads.iter().try_for_each(|thread| writeln!(f, "{thread}"))
    }
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FastThread {}", self.number)?;
        if let Some(name) = &self.name {
            write!(f, " `{name}`")?;
        }
        write!(f, " waits for {}", self.waits_for.as_deref().unwrap_or("nothing"))
    }
}
