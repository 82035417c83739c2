//! Who waits for what: for a deadlock, and on request.

use std::cmp::Reverse;
use std::collections::BTreeMap;
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

/// Of a report that is written out, so many threads have a line each.
const LINES_MAX: usize = 64;

/// The others are counted by what they wait for, the most frequent first.
const COUNTS_MAX: usize = 16;

/// The threads that have not ended. `Display` shows the first 64, a line each, and counts the
/// others by what they wait for.
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

    /// Whether one of them waits for nothing.
    pub(crate) fn has_ready(&self) -> bool {
        self.threads.iter().any(|thread| thread.waits_for.is_none())
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
        let (first, others) = self.threads.split_at(self.threads.len().min(LINES_MAX));
        first.iter().try_for_each(|thread| writeln!(f, "{thread}"))?;
        let mut counts = BTreeMap::new();
        others.iter().for_each(|thread| *counts.entry(&thread.waits_for).or_default() += 1);
        let mut counts: Vec<(usize, _)> = counts.into_iter().map(|(does, n)| (n, does)).collect();
        counts.sort_by_key(|&(count, _)| Reverse(count));
        let rest = counts.split_off(counts.len().min(COUNTS_MAX));
        for (count, waits_for) in counts {
            match waits_for {
                Some(waits_for) => writeln!(f, "{count} more wait for {waits_for}")?,
                None => writeln!(f, "{count} more run or are ready")?,
            }
        }
        match rest.iter().map(|(count, _)| count).sum() {
            0 => Ok(()),
            count => writeln!(f, "{count} more wait for something else each"),
        }
    }
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FastThread {}", self.number)?;
        if let Some(name) = &self.name {
            write!(f, " `{name}`")?;
        }
        match &self.waits_for {
            Some(waits_for) => write!(f, " waits for {waits_for}"),
            None => f.write_str(" runs or is ready"),
        }
    }
}
