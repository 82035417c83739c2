//! Linkage records: what a thread must know to come back from a call (L16, L21, L22).
//!
//! In the papers only the kernel can reach them. Here they lie in the private memory of the domain
//! that made the call: nobody else can forge a way back, because nobody else has one. A thread
//! that is in several nested calls has several, newest last.

use alloc::vec::Vec;

use crate::index::AStackIndex;
use crate::turn::Sequence;

/// The number that this domain gives a binding; never used again for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BindingNumber(pub u64);

/// Which way a call of the record goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// This domain made the call, as a client.
    Out,
    /// This domain runs the call, as a server.
    In,
}

/// One call that a thread is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linkage {
    /// Over which binding.
    pub binding: BindingNumber,
    /// Who called whom.
    pub direction: Direction,
    /// On which A-stack.
    pub astack: AStackIndex,
    /// Which call on it.
    pub sequence: Sequence,
    /// When the caller stops waiting, on this domain's clock.
    pub deadline_ns: Option<u64>,
}

/// The calls that one thread is in, newest last. Allocates once, when made.
#[derive(Debug)]
pub struct LinkageStack {
    records: Vec<Record>,
}

#[derive(Debug)]
struct Record {
    linkage: Linkage,
    is_valid: bool,
}

/// A thread is in as many nested calls as it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooDeep {
    /// The limit.
    pub depth_max: u32,
}

/// Where a returning thread goes (L53).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Return {
    /// The first valid linkage; `None`: there is none, and the thread ends.
    pub to: Option<Linkage>,
    /// Some linkage on the way was invalid: what is returned is call-failed.
    pub has_failed: bool,
}

impl LinkageStack {
    /// A stack for `depth_max` nested calls.
    pub fn new(depth_max: u32) -> LinkageStack {
        LinkageStack { records: Vec::with_capacity(depth_max as usize) }
    }

    /// Enters a call.
    pub fn push(&mut self, linkage: Linkage) -> Result<(), TooDeep> {
        if self.records.len() == self.records.capacity() {
            return Err(TooDeep { depth_max: self.records.len() as u32 });
        }
        self.records.push(Record { linkage, is_valid: true });
        Ok(())
    }

    /// Leaves the newest call, and any older one whose binding has ended (L53).
    pub fn pop(&mut self) -> Return {
        let mut has_failed = false;
        while let Some(record) = self.records.pop() {
            if record.is_valid {
                return Return { to: Some(record.linkage), has_failed };
            }
            has_failed = true;
        }
        Return { to: None, has_failed }
    }

    /// A binding has ended: no thread returns over it any more (L52). Says how many records it
    /// had.
    pub fn invalidate(&mut self, binding: BindingNumber) -> u32 {
        let mut count = 0;
        for record in &mut self.records {
            if record.is_valid && record.linkage.binding == binding {
                record.is_valid = false;
                count += 1;
            }
        }
        count
    }

    /// The tightest deadline of the calls that the thread is in. A nested call inherits it.
    pub fn deadline_ns(&self) -> Option<u64> {
        self.records.iter().filter_map(|record| record.linkage.deadline_ns).min()
    }

    /// How many calls the thread is in.
    pub fn depth(&self) -> u32 {
        self.records.len() as u32
    }
}

impl core::fmt::Display for TooDeep {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "nested calls are limited to {}", self.depth_max)
    }
}

impl core::error::Error for TooDeep {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::ClaimedIndex;

    fn call(binding: u64, deadline_ns: Option<u64>) -> Linkage {
        Linkage {
            binding: BindingNumber(binding),
            direction: Direction::Out,
            astack: ClaimedIndex(0).check(1).unwrap(),
            sequence: Sequence::ZERO.next(),
            deadline_ns,
        }
    }

    fn nested(bindings: &[u64]) -> LinkageStack {
        let mut stack = LinkageStack::new(4);
        for &binding in bindings {
            stack.push(call(binding, None)).unwrap();
        }
        stack
    }

    #[test]
    fn a_thread_returns_through_its_newest_call() {
        let mut stack = nested(&[1, 2]);
        assert_eq!(stack.pop(), Return { to: Some(call(2, None)), has_failed: false });
        assert_eq!(stack.pop(), Return { to: Some(call(1, None)), has_failed: false });
    }

    #[test]
    fn a_return_past_an_ended_binding_has_failed() {
        let mut stack = nested(&[1, 2, 3]);
        assert_eq!(stack.invalidate(BindingNumber(3)), 1);
        assert_eq!(stack.pop(), Return { to: Some(call(2, None)), has_failed: true });
        assert_eq!(stack.depth(), 1);
    }

    #[test]
    fn a_thread_with_no_valid_call_ends() {
        let mut stack = nested(&[1, 1]);
        assert_eq!(stack.invalidate(BindingNumber(1)), 2);
        assert_eq!(stack.pop(), Return { to: None, has_failed: true });
        assert_eq!(stack.pop(), Return { to: None, has_failed: false });
    }

    #[test]
    fn a_call_past_the_depth_is_refused() {
        let mut stack = nested(&[1, 2, 3, 4]);
        assert_eq!(stack.push(call(5, None)), Err(TooDeep { depth_max: 4 }));
        assert_eq!(stack.depth(), 4);
    }

    #[test]
    fn the_tightest_deadline_holds() {
        let mut stack = nested(&[1]);
        assert_eq!(stack.deadline_ns(), None);
        stack.push(call(2, Some(90))).unwrap();
        stack.push(call(3, Some(100))).unwrap();
        assert_eq!(stack.deadline_ns(), Some(90));
    }
}
