//! The processors of one run, as they see each other: whom another one has made ready, what has not
//! begun, who sleeps, and whether anything is left to do.
//!
//! ```text
//!              nothing to do          deliver, rouse, or the slice is over
//!   awake ───────────────────▶ asleep ─────────────────────────────────▶ awake
//!                                │ and nothing from outside can come: at rest
//!                                ▼
//!                  the last one, and nobody's inbox has anything: the run is over
//! ```
//!
//! | row | edge | by | order | makes visible | pairs with |
//! |---|---|---|---|---|---|
//! | M1 | asleep: add 1, after N3 | who falls asleep | Relaxed | nothing: the latch does | - |
//! | M2 | asleep: load, inside its list's latch | who forks | Relaxed | nothing: as above | - |
//! | M3 | asleep: take 1 | who wakes | Relaxed | nothing | - |
//! | M4 | census: take 1 from awake | who goes to rest | AcqRel | what it delivered | M4 |
//! | M5 | census: add 1 to awake and to rises | who rests no more | Relaxed | nothing | - |
//! | M6 | census: load, after all inboxes | who was the last | Relaxed | nothing: N7 does | - |
//! | M7 | census: add OVER | who was the last | Relaxed | nothing | - |
//! | M8 | census: load | any processor | Relaxed | nothing | - |
//!
//! *A fork and a sleeper.* The sleeper stores M1 and then counts what others have that has not
//! begun, inside each one's latch; who forks adds one inside that latch, and loads M2 there. One of
//! them is first: either the sleeper finds what was forked, or who forked finds it asleep.
//!
//! *The end.* Who delivers is awake, and counts itself out only later (M4). So who finds that it
//! was the last sees whatever was delivered, in an inbox: unless that one's processor rose for it,
//! and may have delivered more before it slept again. Who sees that it sleeps (N7) sees that the
//! census has changed (M5) when it reads it again (M6), and is not the last; that one will be, or
//! somebody after it. A run that is over stays so.

use crate::inbox::Inbox;
use crate::sync::{AtomicU32, AtomicU64, ord};
use crate::unbegun::{Entry, PLENTY, Unbegun};

/// One processor, as others see it. No two share lines.
#[derive(Debug)]
#[repr(align(128))]
pub struct Member<T> {
    /// Its threads that others have made ready.
    pub inbox: Inbox,
    /// Its threads that have not begun.
    pub unbegun: Unbegun<T>,
}

/// The processors of a run.
#[derive(Debug)]
pub struct Team<T> {
    number: u32,
    members: Box<[Member<T>]>,
    asleep: AtomicU32,
    census: AtomicU64,
}

/// In the census: one processor that is not at rest. The bits above count how often one rose.
const AWAKE: u64 = 1;
const RISE: u64 = 1 << 16;
const OVER: u64 = 1 << 63;

impl<T> Team<T> {
    /// So many processors, fewer than the census can count, all of them awake, for the run of this
    /// number.
    pub fn new(number: u32, count: usize) -> Team<T> {
        let member = |_| Member { inbox: Inbox::new(), unbegun: Unbegun::new(number) };
        Team {
            number,
            members: (0..count).map(member).collect(),
            asleep: AtomicU32::new(0),
            census: AtomicU64::new(count as u64 * AWAKE),
        }
    }

    /// The run's number.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The processors.
    pub fn members(&self) -> &[Member<T>] {
        &self.members
    }

    /// Puts a thread into a processor's inbox; see [`Inbox::push`]. The word to wake it by, if it
    /// sleeps.
    #[must_use]
    pub fn deliver(&self, to: usize, thread: usize, link: impl Fn(usize)) -> Option<&AtomicU32> {
        let inbox = &self.members[to].inbox;
        inbox.push(thread, link).then(|| inbox.wakes())
    }

    /// A processor forks a thread. The word to wake another one by, if there is plenty to begin and
    /// one sleeps.
    #[must_use]
    pub fn fork(&self, at: usize, entry: Entry<T>) -> Option<&AtomicU32> {
        let needs_others = |count| count >= PLENTY && self.asleep.load(ord!("M2", Relaxed)) > 0;
        let unbegun = &self.members[at].unbegun;
        if unbegun.push(entry, needs_others) { self.rouse_one() } else { None }
    }

    #[cold]
    fn rouse_one(&self) -> Option<&AtomicU32> {
        let sleeper = self.members.iter().find(|member| member.inbox.rouse())?;
        Some(sleeper.inbox.wakes())
    }

    /// A processor is about to sleep. False: something is in its inbox.
    #[must_use]
    pub fn fall_asleep(&self, at: usize) -> bool {
        let is_asleep = self.members[at].inbox.fall_asleep();
        if is_asleep {
            self.asleep.fetch_add(1, ord!("M1", Relaxed));
        }
        is_asleep
    }

    /// It has fallen asleep. Whether another one has more to begin than it can at once.
    pub fn has_plenty_for(&self, at: usize) -> bool {
        self.others(at).any(|other| other.unbegun.count() >= PLENTY)
    }

    /// The same, as of about now, for one that is awake.
    #[inline]
    pub fn seems_to_have_plenty_for(&self, at: usize) -> bool {
        self.others(at).any(|other| other.unbegun.hint().count >= PLENTY)
    }

    fn others(&self, at: usize) -> impl Iterator<Item = &Member<T>> {
        let others = self.members.iter().enumerate().filter(move |(other, _)| *other != at);
        others.map(|(_, other)| other)
    }

    /// It has fallen asleep, and only another one can make a thread of it ready. True: none can any
    /// more, and the caller is to wake all of them.
    #[must_use]
    pub fn rest(&self) -> bool {
        let now = self.census.fetch_sub(AWAKE, ord!("M4", AcqRel)) - AWAKE;
        if now & OVER != 0 {
            return true;
        }
        let is_last = now.is_multiple_of(RISE)
            && self.members.iter().all(|member| member.inbox.is_asleep())
            && self.census.load(ord!("M6", Relaxed)) == now;
        if is_last {
            self.census.fetch_or(OVER, ord!("M7", Relaxed));
        }
        is_last
    }

    /// It is not there, and will not be.
    pub fn retire(&self, at: usize) {
        let is_asleep = self.fall_asleep(at);
        let is_last = self.rest();
        assert!(is_asleep && !is_last, "whoever says so is awake, and nobody else knows of it");
    }

    /// It does not sleep any more; and did it rest?
    pub fn wake_up(&self, at: usize, has_rested: bool) {
        if has_rested {
            self.census.fetch_add(AWAKE + RISE, ord!("M5", Relaxed));
        }
        self.members[at].inbox.wake_up();
        self.asleep.fetch_sub(1, ord!("M3", Relaxed));
    }

    /// Whether nothing is left to do.
    pub fn is_over(&self) -> bool {
        self.census.load(ord!("M8", Relaxed)) & OVER != 0
    }
}
