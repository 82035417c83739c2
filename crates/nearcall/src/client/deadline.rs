//! The one deadline of a call: it bounds the claim, growth, out-of-line segments and the wait for
//! the reply together.
//!
//! Nothing looks at the clock while nothing is waited for. So a deadline begins when the call first
//! does something that may take long; what came before was a few stores. From then on its linkage
//! record knows when the call is over.

use std::ops::Deref;
use std::time::Duration;

use nearcall_abi::deadline;
use nearcall_core::Sequence;
use nearcall_os::clock;

use super::binding::{Grip, Held};

/// Never.
pub(crate) const NEVER_NS: u64 = u64::MAX;

/// How long a call may take, and the same as it crosses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Deadline {
    /// Nanoseconds; 0: as long as it takes.
    pub ns: u64,
    /// Bits of an origin word.
    pub word: u32,
}

impl Deadline {
    pub fn new(deadline: Duration) -> Deadline {
        Deadline::of_ns(u64::try_from(deadline.as_nanos()).unwrap_or(NEVER_NS - 1))
    }

    pub fn of_ns(ns: u64) -> Deadline {
        let ns = ns.max(1);
        Deadline { ns, word: deadline::to_word(ns) }
    }

    /// When a call is over that begins now, on this domain's clock.
    pub fn until_ns(self) -> u64 {
        match self.ns {
            0 => NEVER_NS,
            ns => clock::now_ns().saturating_add(ns),
        }
    }

    /// The tighter of this one and what is left until `until_ns`, a deadline of a call that this
    /// one is made for. `None`: that has passed.
    pub fn within(self, until_ns: u64) -> Option<Deadline> {
        let left_ns = left_ns(until_ns);
        match (left_ns, self.ns) {
            (0, _) => None,
            (_, 0) => Some(Deadline::of_ns(left_ns)),
            (_, ns) => Some(if ns <= left_ns { self } else { Deadline::of_ns(left_ns) }),
        }
    }
}

/// What is left until then; 0: it has passed.
pub(crate) fn left_ns(until_ns: u64) -> u64 {
    until_ns.saturating_sub(clock::now_ns())
}

/// An A-stack that is being filled. Dropped unposted, its call has not begun: the next one has the
/// same number, and a deadline of its own.
#[derive(Debug)]
pub(crate) struct Unposted<'b>(Held<'b>);

impl<'b> Unposted<'b> {
    #[inline(always)]
    pub fn new(held: Held<'b>) -> Unposted<'b> {
        Unposted(held)
    }

    /// The call is about to be posted: see [`Held::let_go`].
    #[inline(always)]
    pub fn let_go(self) -> Grip<'b> {
        let grip = *self.0;
        std::mem::forget(self);
        grip
    }
}

impl<'b> Deref for Unposted<'b> {
    type Target = Grip<'b>;

    #[inline(always)]
    fn deref(&self) -> &Grip<'b> {
        &self.0
    }
}

impl Drop for Unposted<'_> {
    fn drop(&mut self) {
        self.linkage().forget_until();
    }
}

impl Grip<'_> {
    /// When call `sequence` on this A-stack is over, on this domain's clock. It begins now, unless
    /// it has begun.
    pub fn until_ns(self, sequence: Sequence, deadline: Deadline) -> u64 {
        if deadline.ns == 0 {
            return NEVER_NS;
        }
        let linkage = self.linkage();
        linkage.until_ns(sequence).unwrap_or_else(|| {
            let until_ns = deadline.until_ns();
            linkage.set_until_ns(sequence, until_ns);
            until_ns
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    #[test]
    fn the_tighter_deadline_holds() {
        let until_ns = clock::now_ns() + 100 * SECOND_NS;
        let short = Deadline::of_ns(SECOND_NS);
        assert_eq!(short.within(until_ns), Some(short));
        for long in [Deadline::of_ns(200 * SECOND_NS), Deadline::default()] {
            let within = long.within(until_ns).unwrap();
            assert!(within.ns > 0 && within.ns <= 100 * SECOND_NS, "{within:?}");
            assert_ne!(within.word, 0);
        }
    }

    #[test]
    fn nothing_is_within_a_deadline_that_has_passed() {
        assert_eq!(Deadline::default().within(clock::now_ns()), None);
        assert_eq!(Deadline::of_ns(1).within(1), None);
    }

    #[test]
    fn no_deadline_is_never_and_has_no_word() {
        assert_eq!((Deadline::default().until_ns(), Deadline::default().word), (NEVER_NS, 0));
        assert_ne!(Deadline::new(Duration::ZERO).word, 0);
        assert!(Deadline::new(Duration::MAX).ns < NEVER_NS);
    }
}
