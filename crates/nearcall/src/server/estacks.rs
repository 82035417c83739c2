//! Procedures that run on E-stacks, so that one that waits leaves its processor to other calls
//! (L26 to L29; design note 0027).
//!
//! ```text
//!   run ─▶ begin ═══▶ the procedure, on an E-stack ═══▶ it has returned: replied, as ever
//!                        │ it waits
//!                        ▼
//!            other calls, go_on, sleep … ═══▶ it goes on ═══▶ it has returned: it replies itself
//! ```
//!
//! Without the feature `threads` there are none, and nothing of this is left.

#[cfg(feature = "threads")]
mod entries;
#[cfg(feature = "threads")]
mod guests;

#[cfg(feature = "threads")]
pub(crate) use entries::OnEStacks;
#[cfg(feature = "threads")]
pub(crate) use guests::{
    Common, begin, can_go_on, finish, go_on, has_guests, is_busy, note_guests, served_binding,
    sleep,
};

#[cfg(not(feature = "threads"))]
pub(crate) use nobody::{
    begin, can_go_on, finish, go_on, has_guests, is_busy, note_guests, served_binding, sleep,
};

#[cfg(not(feature = "threads"))]
mod nobody {
    use std::sync::Arc;
    use std::time::Duration;

    use nearcall_core::WaitPolicy;
    use nearcall_os::HeadWords;
    use nearcall_os::futex::{self, Watched, Woken};

    use crate::raw::{Replied, ServedCall};
    use crate::server::binding::ServerBinding;

    /// Begins a procedure that is to run on an E-stack.
    pub(crate) fn begin(_: &ServedCall<'_>, _: usize, _: HeadWords) -> Option<Replied> {
        unreachable!("nothing is exported with E-stacks")
    }

    /// Goes on with procedures of this processor that wait no more.
    pub(crate) const fn go_on(_ns_max: u64) -> bool {
        false
    }

    /// Whether a procedure of this processor waits no more.
    pub(crate) const fn can_go_on() -> bool {
        false
    }

    /// Whether the watch has to look for such procedures.
    pub(crate) const fn has_guests() -> bool {
        false
    }

    /// Finds out whether it has to.
    pub(crate) const fn note_guests() {}

    /// Whether procedures of this processor wait, or wait no more and have not gone on.
    pub(crate) const fn is_busy() -> bool {
        false
    }

    /// Goes on until all have returned.
    pub(crate) const fn finish(_: &WaitPolicy) {}

    /// The binding with this key, if the caller is in one of its procedures.
    pub(crate) const fn served_binding(_key: u64) -> Option<Arc<ServerBinding>> {
        None
    }

    /// Sleeps on these words and on what procedures of this processor wait for.
    pub(crate) fn sleep(
        _: &WaitPolicy,
        words: &[Watched<'_>],
        longest: Option<Duration>,
    ) -> Option<Woken> {
        Some(futex::wait_any(words, longest))
    }
}
