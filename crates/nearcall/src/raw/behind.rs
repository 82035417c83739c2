//! Copying arguments behind a client that is still copying them (MECHANISMS 7).
//!
//! ```text
//!  client   copy 64 KiB │ post │ copy 64 KiB │ tell │ copy 64 KiB │ tell │ wait
//!  server                take  │ copy 64 KiB │ look │ copy 64 KiB │ look │ copy … │ run
//! ```
//!
//! The server waits where it copies, and its processor with it but on an E-stack (L26), so that
//! the wait is bounded: a client that keeps us waiting for longer than [`WAIT_NS_MAX`] and
//! what its length allows, because it was stopped or wants to hold us, is refused the call. It is
//! not revoked: a client that a debugger has stopped did nothing wrong. Others are served meanwhile
//! as behind a slow procedure (docs/design/0003-server-processors.md).

use std::cell::Cell;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use nearcall_abi::RequestLine;
use nearcall_abi::head::flag;
use nearcall_core::progress;
use nearcall_os::{HeadWords, clock, processor};

use super::malformed::Malformed;
use super::served::ServedCall;
use crate::client::switching;

/// Longest time that a call waits for its arguments, of any length.
const WAIT_NS_MAX: u64 = 1_000_000_000;

/// As much again for each byte: one fortieth of the speed of the copy, that of reading a disk.
const WAIT_NS_A_BYTE: u64 = 10;

/// How long to poll for the next piece before sleeping between looks. A piece takes a few
/// microseconds; a client that is slower than this was preempted, or touches new memory.
const POLL_NS: u64 = 30_000;

/// The sleep between looks: an eighth of what was waited, so that clients that have stopped, each
/// with a call on an E-stack, do not keep a processor at looking. Of it, the least and the most.
const NAP_PART: u64 = 8;
const NAP_NS_MIN: u64 = 200_000;
const NAP_NS_MAX: u64 = 20_000_000;

/// Most time that one nap counts for beyond its length, or one row of looks: where it took longer,
/// it was we who did not run, and the client may not have run either.
const SPENT_NS_MAX: u64 = 800_000;

/// Looks between two looks at the clock.
const LOOKS: u32 = 16;

/// More than any variable part has.
const ALL: u32 = u32::MAX;

/// How far the client was when we looked last.
#[derive(Debug)]
pub(crate) struct Behind {
    /// Bytes of the variable part that were there; [`ALL`]: it was all there at the post.
    seen: Cell<u32>,
    /// Bytes that there will be.
    end: Cell<u32>,
    /// How long this call has waited.
    waited_ns: Cell<u64>,
}

impl Default for Behind {
    /// Of a call that was copied when it was posted.
    fn default() -> Behind {
        Behind { seen: Cell::new(ALL), end: Cell::new(0), waited_ns: Cell::new(0) }
    }
}

impl Behind {
    pub fn of(words: HeadWords) -> Behind {
        let seen = if words.origin() & flag::PARTIAL == 0 { ALL } else { 0 };
        Behind { seen: Cell::new(seen), ..Behind::default() }
    }

    /// The client had not copied all when it posted.
    #[inline]
    pub fn is_partial(&self) -> bool {
        self.seen.get() != ALL
    }

    /// The variable part has `bytes` bytes.
    #[inline]
    pub fn set_end(&self, bytes: usize) {
        self.end.set(bytes as u32);
    }

    fn stalled(&self) -> Malformed {
        Malformed::Stalled { seen: self.seen.get().into(), end: self.end.get().into() }
    }

    /// How long to sleep until the next look.
    fn nap_ns(&self) -> u64 {
        (self.waited_ns.get() / NAP_PART).clamp(NAP_NS_MIN, NAP_NS_MAX)
    }

    /// Counts time that was spent waiting.
    fn spend(&self, time_ns: u64) -> Result<(), Malformed> {
        let waited_ns = self.waited_ns.get() + time_ns;
        self.waited_ns.set(waited_ns);
        let max_ns = WAIT_NS_MAX + u64::from(self.end.get()) * WAIT_NS_A_BYTE;
        if waited_ns > max_ns { Err(self.stalled()) } else { Ok(()) }
    }
}

impl ServedCall<'_> {
    /// Waits until more than `done` bytes of the variable part are there, and says how many.
    #[cold]
    #[inline(never)]
    pub(super) fn wait_behind(&self, behind: &Behind, done: usize) -> Result<usize, Malformed> {
        if let Some(there) = self.look_behind(behind, done)? {
            return Ok(there);
        }
        let start_ns = clock::now_ns();
        let mut now_ns = start_ns;
        loop {
            for _ in 0..LOOKS {
                processor::relax();
                if let Some(there) = self.look_behind(behind, done)? {
                    return Ok(there);
                }
            }
            let mut nap_ns = 0;
            if now_ns - start_ns > POLL_NS {
                if !self.binding.state.is_open() {
                    return Err(behind.stalled());
                }
                nap_ns = behind.nap_ns();
                switching::nap(Duration::from_nanos(nap_ns));
            }
            let before_ns = std::mem::replace(&mut now_ns, clock::now_ns());
            behind.spend((now_ns - before_ns).min(nap_ns + SPENT_NS_MAX))?;
        }
    }

    /// How many bytes are there, if they are more than `done`.
    fn look_behind(&self, behind: &Behind, done: usize) -> Result<Option<usize>, Malformed> {
        let seen = behind.seen.get();
        if seen as usize > done {
            return Ok(Some(seen as usize));
        }
        // A private copy: the line is mapped read-only.
        let copy = AtomicU32::new(self.astack.peer_line::<RequestLine>().progress());
        let end = behind.end.get();
        let there = progress::look(&copy, seen, end).map_err(|fault| {
            self.binding.fault(fault);
            behind.stalled()
        })?;
        behind.seen.set(there);
        Ok((there as usize > done).then_some(there as usize))
    }
}

#[cfg(test)]
mod tests;
