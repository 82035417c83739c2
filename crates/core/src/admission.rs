//! Binding: what is compared when one is made (L10 to L19), and whether it still holds (L52).
//!
//! ```text
//!   OPEN ──── R1 revoke ────▶ reason      once; the first reason stays
//! ```
//!
//! | row | edge | by | order | makes visible | pairs with |
//! |---|---|---|---|---|---|
//! | R1 | OPEN to a reason, compare-and-swap | anyone of this domain | Relaxed | nothing | - |
//! | R2 | load | anyone of this domain | Relaxed | nothing | - |
//!
//! Nothing is read through this word: a call that slips past it ends as any call does whose
//! server has gone.

use alloc::vec::Vec;
use core::fmt;

use nearcall_abi::{AStackClass, SegmentLayout};

use crate::fault::PeerFault;
use crate::sync::{AtomicU32, ord};

/// Whether a binding is open, and if not, why not. In private memory; read at every call.
#[derive(Debug)]
pub struct BindingState(AtomicU32);

/// Why a binding does not hold any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum RevokeReason {
    /// This side gave the binding up.
    Released = 1,
    /// The peer revoked it.
    RevokedByPeer = 2,
    /// The peer broke the protocol.
    Fault = 3,
    /// The peer's domain ended.
    PeerDied = 4,
    /// The peer's socket hung up.
    PeerHungUp = 5,
    /// This domain is shutting down.
    ShutDown = 6,
}

const OPEN: u32 = 0;

/// The procedures that a client may call: a bit each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permitted(Vec<u64>);

impl Permitted {
    /// Those of these indices.
    pub fn of(procedures: impl IntoIterator<Item = u32>) -> Permitted {
        let mut words = Vec::new();
        for procedure in procedures {
            let (word, bit) = (procedure as usize / 64, procedure % 64);
            if words.len() <= word {
                words.resize(word + 1, 0);
            }
            words[word] |= 1 << bit;
        }
        Permitted(words)
    }

    /// Whether this one is among them. Cost: one bit test.
    pub fn allows(&self, procedure: u32) -> bool {
        let word = self.0.get(procedure as usize / 64).copied().unwrap_or(0);
        word >> (procedure % 64) & 1 != 0
    }
}

/// The first procedure in which two interfaces differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference<'n> {
    /// Which procedure, in the order of the interface file.
    pub index: u32,
    /// Its name here; `None`: the interface has fewer procedures here.
    pub ours: Option<&'n str>,
    /// Its name there; `None`: the interface has fewer procedures there.
    pub theirs: Option<&'n str>,
}

impl BindingState {
    /// An open binding.
    #[allow(clippy::new_without_default)]
    pub fn new() -> BindingState {
        BindingState(AtomicU32::new(OPEN))
    }

    /// Whether calls may be made. Cost: one load.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.0.load(ord!("R2", Relaxed)) == OPEN
    }

    /// Revokes the binding. False if it was already: the first reason stays.
    pub fn revoke(&self, reason: RevokeReason) -> bool {
        let to = reason as u32;
        self.0.compare_exchange(OPEN, to, ord!("R1", Relaxed), ord!("R1", Relaxed)).is_ok()
    }

    /// Why the binding is revoked; `None` while it is open.
    pub fn reason(&self) -> Option<RevokeReason> {
        RevokeReason::from_u32(self.0.load(ord!("R2", Relaxed)))
    }
}

impl RevokeReason {
    /// Judges a number that a peer may have sent.
    pub const fn from_u32(number: u32) -> Option<RevokeReason> {
        Some(match number {
            1 => RevokeReason::Released,
            2 => RevokeReason::RevokedByPeer,
            3 => RevokeReason::Fault,
            4 => RevokeReason::PeerDied,
            5 => RevokeReason::PeerHungUp,
            6 => RevokeReason::ShutDown,
            _ => return None,
        })
    }
}

/// Judges the class list that a server sent, and the class that it gave each procedure.
pub fn check_classes<'c>(
    classes: &'c [AStackClass],
    class_of_procedure: impl IntoIterator<Item = u8>,
) -> Result<SegmentLayout<'c>, PeerFault> {
    let layout = SegmentLayout::new(classes).map_err(PeerFault::Classes)?;
    let count = classes.len() as u32;
    for claimed in class_of_procedure {
        let claimed = u32::from(claimed);
        if claimed >= count {
            return Err(PeerFault::ClassIndex { claimed, count });
        }
        if classes[claimed as usize].count == 0 {
            return Err(PeerFault::ClassEmpty { claimed });
        }
    }
    Ok(layout)
}

/// The first procedure whose name or hash differs; `None` if all are equal. Either list may be a
/// peer's.
pub fn first_difference<'n>(
    ours: &[(&'n str, [u8; 16])],
    theirs: &[(&'n str, [u8; 16])],
) -> Option<Difference<'n>> {
    let at = common_count(ours, theirs);
    let name = |side: &[(&'n str, [u8; 16])]| side.get(at as usize).map(|procedure| procedure.0);
    let (ours, theirs) = (name(ours), name(theirs));
    let differs = ours.is_some() || theirs.is_some();
    differs.then_some(Difference { index: at, ours, theirs })
}

/// How many procedures, from the first, are the same on both sides. Two versions of an interface
/// of which one adds procedures at the end bind with so many.
pub fn common_count(ours: &[(&str, [u8; 16])], theirs: &[(&str, [u8; 16])]) -> u32 {
    ours.iter().zip(theirs).take_while(|(ours, theirs)| ours == theirs).count() as u32
}

impl fmt::Display for Difference<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let index = self.index;
        match (self.ours, self.theirs) {
            (Some(ours), Some(theirs)) if ours == theirs => {
                write!(f, "procedure {index}, `{ours}`, has other parameters there")
            }
            (Some(ours), Some(theirs)) => {
                write!(f, "procedure {index} is `{ours}` here and `{theirs}` there")
            }
            (Some(ours), None) => write!(f, "procedure {index}, `{ours}`, is missing there"),
            (None, Some(theirs)) => write!(f, "procedure {index}, `{theirs}`, is missing here"),
            (None, None) => write!(f, "procedure {index} is missing on both sides"),
        }
    }
}

impl fmt::Display for RevokeReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RevokeReason::Released => "binding was released here",
            RevokeReason::RevokedByPeer => "peer revoked the binding",
            RevokeReason::Fault => "peer broke the protocol",
            RevokeReason::PeerDied => "peer's domain ended",
            RevokeReason::PeerHungUp => "peer hung up",
            RevokeReason::ShutDown => "domain is shutting down",
        })
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    const OPEN_FILE: (&str, [u8; 16]) = ("open", [1; 16]);
    const READ: (&str, [u8; 16]) = ("read", [2; 16]);
    const WIDER_READ: (&str, [u8; 16]) = ("read", [3; 16]);

    #[track_caller]
    fn check(ours: &[(&str, [u8; 16])], theirs: &[(&str, [u8; 16])], want: &str) {
        assert_eq!(first_difference(ours, theirs).unwrap().to_string(), want);
    }

    #[test]
    fn equal_interfaces_do_not_differ() {
        let both = [OPEN_FILE, READ];
        assert_eq!(first_difference(&both, &both), None);
        assert_eq!(common_count(&both, &both), 2);
    }

    #[test]
    fn the_first_difference_is_named() {
        check(
            &[OPEN_FILE, READ],
            &[READ, OPEN_FILE],
            "procedure 0 is `open` here and `read` there",
        );
        let want = "procedure 1, `read`, has other parameters there";
        check(&[OPEN_FILE, READ], &[OPEN_FILE, WIDER_READ], want);
        check(&[OPEN_FILE, READ], &[OPEN_FILE], "procedure 1, `read`, is missing there");
        check(&[], &[OPEN_FILE], "procedure 0, `open`, is missing here");
    }

    #[test]
    fn an_older_version_has_a_common_start() {
        assert_eq!(common_count(&[OPEN_FILE], &[OPEN_FILE, READ]), 1);
        assert_eq!(common_count(&[READ], &[WIDER_READ]), 0);
    }

    #[test]
    fn only_what_is_permitted_is() {
        let permitted = Permitted::of([0, 63, 64, 200]);
        let allowed: Vec<u32> = (0..1_000).filter(|index| permitted.allows(*index)).collect();
        assert_eq!(allowed, [0, 63, 64, 200]);
        assert!(!permitted.allows(u32::MAX));
        assert!(!Permitted::of([]).allows(0));
    }

    #[test]
    fn a_binding_is_revoked_once_and_keeps_the_reason() {
        let state = BindingState::new();
        assert!(state.is_open());
        assert_eq!(state.reason(), None);
        assert!(state.revoke(RevokeReason::Fault));
        assert!(!state.revoke(RevokeReason::PeerDied));
        assert!(!state.is_open());
        assert_eq!(state.reason(), Some(RevokeReason::Fault));
    }

    #[test]
    fn a_reason_survives_its_number_and_others_are_none() {
        let reasons = (0..100).filter_map(|number| {
            let reason = RevokeReason::from_u32(number)?;
            assert_eq!(reason as u32, number);
            Some(reason)
        });
        assert_eq!(reasons.count(), 6);
    }

    #[test]
    fn a_procedure_needs_a_class_with_an_astack() {
        let classes = [AStackClass::for_block(0), AStackClass { block_bytes: 64, count: 0 }];
        assert_eq!(check_classes(&classes, [0, 0]).unwrap().astack_count(), 5);
        let refused = |class| check_classes(&classes, [0, class]).unwrap_err().to_string();
        assert_eq!(refused(1), "A-stack class 1 has no A-stack");
        assert_eq!(refused(2), "A-stack class 2 is not below 2");
        let refused = check_classes(&[], []).unwrap_err();
        assert_eq!(refused.to_string(), "class list has no A-stack");
    }
}
