//! Numbers that a peer claimed, and the same numbers once checked. Different types, so that a
//! claim cannot be used as if it had been checked.

use core::fmt;

use crate::fault::PeerFault;

/// An index as the peer wrote it. Carries no right to use anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClaimedIndex(pub u32);

/// An A-stack index that this binding owns, below its A-stack count (L49).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AStackIndex(u32);

/// A procedure index below the interface's procedure count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProcedureIndex(u32);

/// Which life of a server this is: a clerk counts up each time it exports. A binding never
/// reaches a later life of its server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Incarnation(pub u64);

impl ClaimedIndex {
    /// Checks the claim against the number of A-stacks. Cost: one comparison (L49).
    #[inline]
    pub fn check(self, astack_count: u32) -> Result<AStackIndex, PeerFault> {
        if self.0 < astack_count {
            Ok(AStackIndex(self.0))
        } else {
            Err(PeerFault::AStackIndex { claimed: self.0, count: astack_count })
        }
    }

    /// Checks the claim against the number of procedures. Cost: one comparison.
    #[inline]
    pub fn check_procedure(self, procedure_count: u32) -> Result<ProcedureIndex, PeerFault> {
        if self.0 < procedure_count {
            Ok(ProcedureIndex(self.0))
        } else {
            Err(PeerFault::ProcedureIndex { claimed: self.0, count: procedure_count })
        }
    }
}

impl AStackIndex {
    /// The index as a number.
    #[inline]
    pub const fn as_u32(self) -> u32 {
        self.0
    }
}

impl ProcedureIndex {
    /// The index as a number.
    #[inline]
    pub const fn as_u32(self) -> u32 {
        self.0
    }
}

impl fmt::Display for AStackIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "A-stack {}", self.0)
    }
}

impl fmt::Display for ProcedureIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "procedure {}", self.0)
    }
}

impl fmt::Display for Incarnation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "incarnation {}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn an_index_below_the_count_is_checked() {
        assert_eq!(ClaimedIndex(7).check(8).unwrap().as_u32(), 7);
        assert_eq!(ClaimedIndex(0).check_procedure(1).unwrap().as_u32(), 0);
    }

    #[test]
    fn an_index_at_the_count_is_a_fault_that_names_the_limit() {
        let fault = ClaimedIndex(8).check(8).unwrap_err();
        assert_eq!(fault.to_string(), "A-stack index 8 is not below 8");
        assert!(ClaimedIndex(3).check_procedure(3).is_err());
        let fault = ClaimedIndex(u32::MAX).check_procedure(0).unwrap_err();
        assert_eq!(fault.to_string(), "procedure index 4294967295 is not below 0");
    }
}
