//! Binding: what is compared when one is made (L10 to L19), and whether it still holds (L52).
//!
//! ```text
//!         ┌── R1 revoke ────▶ reason      once; the first reason stays
//!   OPEN ─┤
//!         └── R3 disown ────▶ FORKED      in a child of fork(2): it is its parent's
//! ```
//!
//! | row | edge | by | order | makes visible | pairs with |
//! |---|---|---|---|---|---|
//! | R1 | OPEN to a reason, compare-and-swap | anyone of this domain | Relaxed | nothing | - |
//! | R2 | load | anyone of this domain | Relaxed | nothing | - |
//! | R3 | OPEN to FORKED, compare-and-swap | a child's only thread | Relaxed | nothing | - |
//!
//! Nothing is read through this word: a call that slips past it ends as any call does whose
//! server has gone.

use alloc::vec::Vec;
use core::fmt;

use nearcall_abi::{AStackClass, ProcedureName, SegmentLayout, counted};

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
    /// The name is withdrawn, or this domain is shutting down.
    ShutDown = 6,
    /// This domain has another policy now, which does not say the same of the peer.
    OtherPolicy = 7,
}

const OPEN: u32 = 0;

/// No reason's number.
const FORKED: u32 = u32::MAX;

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

    /// Those that are among both.
    pub fn and(mut self, other: &Permitted) -> Permitted {
        self.0.truncate(other.0.len());
        for (word, others) in self.0.iter_mut().zip(&other.0) {
            *word &= others;
        }
        self
    }

    /// Whether nothing may be called.
    pub fn are_none(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// Whether this one is among them. Cost: one bit test.
    pub fn allows(&self, procedure: u32) -> bool {
        let word = self.0.get(procedure as usize / 64).copied().unwrap_or(0);
        word >> (procedure % 64) & 1 != 0
    }
}

/// What a client may do at a server that has another version of its interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agreement {
    /// For each procedure that both versions have, the A-stack class that the server has it in.
    class_of_procedure: Vec<u8>,
}

/// Which A-stack classes there are, and which each procedure takes.
#[derive(Clone, Copy, Debug)]
pub struct Classing<'c> {
    /// The classes.
    pub classes: &'c [AStackClass],
    /// Indices of classes, in the order of the procedures.
    pub class_of_procedure: &'c [u8],
}

/// The first procedure whose A-stacks are smaller there than its client was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmallerAStacks {
    /// Which procedure.
    pub index: u32,
    /// Bytes past the head line here.
    pub ours_bytes: u32,
    /// And there.
    pub theirs_bytes: u32,
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

    /// This process is a child that was forked: the binding is its parent's, and nothing is ever to
    /// be done with this copy of it. One that was revoked stays so.
    pub fn disown(&self) {
        // What it was is of no interest: it is not open.
        let _ = self.0.compare_exchange(OPEN, FORKED, ord!("R3", Relaxed), ord!("R3", Relaxed));
    }

    /// Whether it is the copy that a child has of what was open when it was forked.
    pub fn is_parents(&self) -> bool {
        self.0.load(ord!("R2", Relaxed)) == FORKED
    }

    /// Why the binding is revoked; `None` while it is open, and of a parent's.
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
            7 => RevokeReason::OtherPolicy,
            _ => return None,
        })
    }

    /// Whether results of what runs still go to the peer, which did nothing wrong.
    pub const fn is_orderly(self) -> bool {
        matches!(self, RevokeReason::ShutDown | RevokeReason::OtherPolicy)
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

impl Agreement {
    /// Judges whether the A-stacks of a server, which may claim what it likes, hold what the client
    /// stores for each of the first `common_count` procedures: blocks as large as its own do.
    ///
    /// # Panics
    ///
    /// If `ours` has fewer procedures, or a class of `ours` is not in its list.
    pub fn new(
        common_count: u32,
        ours: Classing<'_>,
        theirs: Classing<'_>,
    ) -> Result<Result<Agreement, SmallerAStacks>, PeerFault> {
        let of_theirs = theirs.class_of_procedure;
        check_classes(theirs.classes, of_theirs.iter().copied())?;
        let common = of_theirs.iter().zip(ours.class_of_procedure).take(common_count as usize);
        for ((their_class, our_class), index) in common.clone().zip(0..) {
            let ours_bytes = ours.classes[usize::from(*our_class)].block_bytes;
            let theirs_bytes = theirs.classes[usize::from(*their_class)].block_bytes;
            if theirs_bytes < ours_bytes {
                return Ok(Err(SmallerAStacks { index, ours_bytes, theirs_bytes }));
            }
        }
        let class_of_procedure = common.map(|(their_class, _)| *their_class).collect();
        Ok(Ok(Agreement { class_of_procedure }))
    }

    /// The class that the server has a procedure in; `None`: it does not have the procedure.
    pub fn class(&self, procedure: u32) -> Option<u32> {
        self.class_of_procedure.get(procedure as usize).copied().map(u32::from)
    }
}

/// How many procedures two versions have in common, if one of them only adds procedures at the end
/// of the other.
pub fn extension_count(ours: &[(&str, [u8; 16])], theirs: &[(&str, [u8; 16])]) -> Option<u32> {
    let count = common_count(ours, theirs);
    (count as usize == ours.len().min(theirs.len())).then_some(count)
}

/// The first member, counted from 1, in which two versions of an appendable type differ; `None`
/// if one of them only adds members at the end of the other. Both are lists of a hash over the name
/// and one a member, over all up to that one; either may be a peer's.
pub fn member_difference(ours: &[[u8; 16]], theirs: &[[u8; 16]]) -> Option<usize> {
    ours.iter().zip(theirs).position(|(ours, theirs)| ours != theirs)
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

/// How many procedures, from the first, are the same on both sides.
fn common_count(ours: &[(&str, [u8; 16])], theirs: &[(&str, [u8; 16])]) -> u32 {
    ours.iter().zip(theirs).take_while(|(ours, theirs)| ours == theirs).count() as u32
}

impl<'n> fmt::Display for Difference<'n> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let index = self.index;
        let told = |name: Option<&'n str>| name.map(ProcedureName::new);
        match (told(self.ours), told(self.theirs)) {
            (Some(ours), Some(theirs)) if ours == theirs => {
                let what = "other parameters, results or exceptions there, by type, name or order";
                write!(f, "procedure {index}, `{ours}`, has {what}")
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

impl fmt::Display for SmallerAStacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SmallerAStacks { index, ours_bytes, theirs_bytes } = self;
        let theirs = counted(*theirs_bytes, "byte");
        write!(f, "A-stacks of procedure {index} have {theirs} there, {ours_bytes} here")
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
            RevokeReason::ShutDown => "name is withdrawn, or the domain ends",
            RevokeReason::OtherPolicy => "another policy is in force",
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
        assert_eq!(extension_count(&both, &both), Some(2));
    }

    #[test]
    fn the_first_difference_is_named() {
        check(
            &[OPEN_FILE, READ],
            &[READ, OPEN_FILE],
            "procedure 0 is `open` here and `read` there",
        );
        let want = "procedure 1, `read`, has other parameters, results or exceptions there, by \
                    type, name or order";
        check(&[OPEN_FILE, READ], &[OPEN_FILE, WIDER_READ], want);
        check(&[OPEN_FILE, READ], &[OPEN_FILE], "procedure 1, `read`, is missing there");
        check(&[], &[OPEN_FILE], "procedure 0, `open`, is missing here");
    }

    #[test]
    fn a_version_that_only_adds_at_the_end_extends_the_other() {
        assert_eq!(extension_count(&[OPEN_FILE], &[OPEN_FILE, READ]), Some(1));
        assert_eq!(extension_count(&[OPEN_FILE, READ], &[OPEN_FILE]), Some(1));
        assert_eq!(extension_count(&[], &[OPEN_FILE]), Some(0));
        assert_eq!(extension_count(&[READ], &[WIDER_READ]), None);
        assert_eq!(extension_count(&[OPEN_FILE, READ], &[READ]), None);
        assert_eq!(extension_count(&[OPEN_FILE, READ], &[OPEN_FILE, WIDER_READ]), None);
    }

    #[test]
    fn a_struct_with_members_added_at_the_end_does_not_differ() {
        let [name, one, two, other] = [[0; 16], [1; 16], [2; 16], [3; 16]];
        assert_eq!(member_difference(&[name, one], &[name, one, two]), None);
        assert_eq!(member_difference(&[name, one, two], &[name]), None);
        assert_eq!(member_difference(&[name, one, two], &[name, one, other]), Some(2));
        assert_eq!(member_difference(&[name, one], &[name, other, two]), Some(1));
    }

    #[test]
    fn an_agreement_has_the_servers_classes_and_no_procedure_that_it_has_not() {
        let ours = [AStackClass::for_block(0), AStackClass::for_block(100)];
        let theirs = [64, 0, 256].map(AStackClass::for_block);
        let classing = |classes, class_of_procedure| Classing { classes, class_of_procedure };
        let ours = classing(&ours, &[0, 1, 1]);
        let agreed = Agreement::new(2, ours, classing(&theirs, &[1, 2])).unwrap().unwrap();
        let classes: Vec<_> = (0..4).map(|procedure| agreed.class(procedure)).collect();
        assert_eq!(classes, [Some(1), Some(2), None, None]);
        let smaller = SmallerAStacks { index: 1, ours_bytes: 128, theirs_bytes: 64 };
        assert_eq!(Agreement::new(2, ours, classing(&theirs, &[1, 0])), Ok(Err(smaller)));
        assert!(Agreement::new(2, ours, classing(&theirs, &[1, 3])).is_err());
        assert!(Agreement::new(0, ours, classing(&[], &[])).is_err());
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
    fn a_childs_copy_is_not_open_and_is_revoked_for_nobody() {
        let state = BindingState::new();
        assert!(!state.is_parents());
        state.disown();
        assert!(state.is_parents() && !state.is_open());
        assert!(!state.revoke(RevokeReason::Released));
        assert_eq!((state.is_parents(), state.reason()), (true, None));
        let revoked = BindingState::new();
        assert!(revoked.revoke(RevokeReason::Fault));
        revoked.disown();
        assert_eq!((revoked.is_parents(), revoked.reason()), (false, Some(RevokeReason::Fault)));
    }

    #[test]
    fn a_reason_survives_its_number_and_others_are_none() {
        let reasons = (0..100).filter_map(|number| {
            let reason = RevokeReason::from_u32(number)?;
            assert_eq!(reason as u32, number);
            Some(reason)
        });
        assert_eq!(reasons.count(), 7);
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
