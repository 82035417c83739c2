//! What a peer can do wrong: what it claimed, and the limit.
//!
//! A fault is a description and no more. Whoever finds one revokes the binding; nobody repairs the
//! word.

use core::fmt;

use nearcall_abi::counted;
use nearcall_abi::layout::LayoutRefused;

use crate::turn::{Sequence, TurnWord};

/// The peer broke the protocol. Displays as a lower-case fragment that names the thing, the value
/// and the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PeerFault {
    /// A turn word that no edge leads to.
    Turn {
        /// What was there.
        seen: TurnWord,
        /// The call that was due there.
        sequence: Sequence,
        /// The phase that was due there.
        wanted: &'static str,
    },
    /// A procedure index past the interface's last.
    ProcedureIndex {
        /// The index.
        claimed: u32,
        /// Procedures of the interface.
        count: u32,
    },
    /// An A-stack index past the binding's last.
    AStackIndex {
        /// The index.
        claimed: u32,
        /// A-stacks of the binding.
        count: u32,
    },
    /// An A-stack class past the interface's last.
    ClassIndex {
        /// The index.
        claimed: u32,
        /// Classes of the interface.
        count: u32,
    },
    /// An A-stack class that a procedure has and that no A-stack has.
    ClassEmpty {
        /// The class.
        claimed: u32,
    },
    /// A procedure that came in an A-stack of another class.
    ClassOfProcedure {
        /// The class of the A-stack.
        claimed: u32,
        /// The class of the procedure.
        wanted: u32,
    },
    /// A lane past the bell line's last.
    Lane {
        /// The lane.
        claimed: u32,
        /// Lanes of a bell line.
        count: u32,
    },
    /// A message longer than there is room for.
    MessageBytes {
        /// Bytes of the message.
        claimed: u32,
        /// Bytes there is room for.
        limit: u32,
    },
    /// A message shorter than its fixed part, or than what its lengths add up to.
    MessageShort {
        /// Bytes of the message.
        claimed: u32,
        /// Bytes it must have.
        wanted: u64,
    },
    /// A selector word of a reply that is no status.
    Status {
        /// The word.
        claimed: u32,
    },
    /// An exception that the procedure does not raise.
    Exception {
        /// Its number, from 1.
        claimed: u32,
        /// Exceptions that the procedure raises.
        count: u32,
    },
    /// A flag that this message cannot have.
    Flags {
        /// The flag bits.
        claimed: u32,
    },
    /// A string or sequence over its bound, or over the end of its message.
    Length {
        /// Elements, or bytes of a string.
        claimed: u64,
        /// Most there may be.
        limit: u64,
    },
    /// A number that is no value of its boolean, enum, bitmask or character type.
    Value {
        /// The number.
        claimed: u64,
    },
    /// Values nested too deeply.
    Depth {
        /// Levels there may be.
        limit: u32,
    },
    /// Values nested more deeply than they can be read on this stack.
    Stack {
        /// Bytes that one level more may need.
        bytes: u64,
        /// Bytes that are left.
        left: u64,
    },
    /// A value that ended before its bytes did.
    LeftOver {
        /// Bytes left over.
        bytes: u64,
    },
    /// A map with a key that comes twice.
    Keys {
        /// Pairs.
        claimed: u64,
        /// Keys.
        distinct: u64,
    },
    /// Text that is not UTF-8.
    Text {
        /// Bytes that are.
        valid_bytes: u32,
    },
    /// An out-of-line segment that is not the one announced.
    Generation {
        /// The generation in the line.
        claimed: u32,
        /// The generation announced last.
        known: u32,
    },
    /// A count of bytes that are there, which goes back or past the end.
    Progress {
        /// The count.
        claimed: u32,
        /// Bytes that were there before.
        seen: u32,
        /// Bytes that there will be.
        end: u32,
    },
    /// A class list that has no layout.
    Classes(LayoutRefused),
    /// A descriptor that is not the segment it is said to be.
    Descriptor {
        /// Which segment.
        segment: &'static str,
        /// What is wrong with it.
        fault: DescriptorFault,
    },
    /// A descriptor that a call carries, of another kind than its interface says.
    WrongDescriptor {
        /// Its mode, as `fstat` gives it.
        mode: u32,
    },
    /// A socket message that is not due, or not of its form.
    SocketMessage {
        /// Which message was due.
        wanted: &'static str,
        /// What came instead.
        fault: SocketFault,
    },
}

/// What is wrong with a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DescriptorFault {
    /// Not a memory file.
    NotMemory,
    /// Some seal is not set.
    Seals {
        /// Seals that are set.
        claimed: u32,
        /// Seals that must be.
        wanted: u32,
    },
    /// Not of the size that the class list gives.
    Bytes {
        /// Its size.
        claimed: u64,
        /// The size it must have.
        wanted: u64,
    },
    /// Not allocated as a whole: a touch could fail.
    NotAllocated {
        /// Bytes that are allocated.
        claimed: u64,
        /// Its size.
        wanted: u64,
    },
    /// Open in a mode that gives less, or more, than the segment's.
    Access,
}

/// What is wrong with a socket message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SocketFault {
    /// Another kind of message.
    Kind {
        /// Its kind.
        claimed: u32,
    },
    /// Not of the length of its kind.
    Bytes {
        /// Its length.
        claimed: u64,
        /// The length it must have.
        wanted: u64,
    },
    /// Not with the descriptors of its kind.
    Descriptors {
        /// How many came.
        claimed: u32,
        /// How many must.
        wanted: u32,
    },
    /// Did not start with the magic number.
    Magic {
        /// What it started with.
        claimed: u32,
    },
    /// Of another version of the ABI.
    Version {
        /// The peer's version.
        claimed: u32,
        /// Ours.
        wanted: u32,
    },
    /// More than the binding's rights to ask allow.
    Quota {
        /// How much was asked for.
        claimed: u64,
        /// The limit.
        limit: u64,
    },
}

impl fmt::Display for PeerFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use PeerFault::*;
        match *self {
            Turn { seen, sequence, wanted } => {
                write!(f, "turn word says {seen} where call {sequence} {wanted} is due")
            }
            ProcedureIndex { claimed, count } => below(f, "procedure index", claimed, count),
            AStackIndex { claimed, count } => below(f, "A-stack index", claimed, count),
            ClassIndex { claimed, count } => below(f, "A-stack class", claimed, count),
            ClassEmpty { claimed } => write!(f, "A-stack class {claimed} has no A-stack"),
            ClassOfProcedure { claimed, wanted } => {
                write!(f, "procedure of A-stack class {wanted} came in class {claimed}")
            }
            Lane { claimed, count } => below(f, "bell lane", claimed, count),
            MessageBytes { claimed, limit } => {
                write!(f, "message of {claimed} bytes is over {limit}")
            }
            MessageShort { claimed, wanted } => {
                write!(f, "message of {} is under {wanted}", counted(claimed, "byte"))
            }
            Status { claimed } => write!(f, "status word {claimed:#x} is not defined"),
            Exception { claimed, count } => {
                write!(f, "exception {claimed} is not among the procedure's {count}")
            }
            Flags { claimed } => write!(f, "flag bits {claimed:#x} do not belong here"),
            Length { claimed, limit } => write!(f, "length {claimed} is over {limit}"),
            Value { claimed } => write!(f, "{claimed} is no value of its type"),
            Depth { limit } => write!(f, "values are nested deeper than {limit}"),
            Stack { bytes, left } => write!(
                f,
                "values are nested too deeply: one more may need {bytes} bytes of stack, of which \
                 {left} are left"
            ),
            LeftOver { bytes } => {
                let are = if bytes == 1 { "is" } else { "are" };
                write!(f, "{} {are} left over", counted(bytes, "byte"))
            }
            Keys { claimed, distinct } => {
                write!(f, "{claimed} pairs of a map have {}", counted(distinct, "key"))
            }
            Text { valid_bytes } => write!(f, "text is not UTF-8 at byte {valid_bytes}"),
            Generation { claimed, known } => {
                write!(f, "out-of-line generation {claimed} is not {known}")
            }
            Progress { claimed, seen, end } => {
                write!(f, "progress {claimed} is not between {seen} and {end} bytes")
            }
            Classes(refused) => write_refused(f, refused),
            Descriptor { segment, fault } => write!(f, "{segment} segment {fault}"),
            WrongDescriptor { mode } => {
                write!(f, "descriptor of mode {mode:o} is not of the kind that is due")
            }
            SocketMessage { wanted, fault } => write!(f, "in place of {wanted}: {fault}"),
        }
    }
}

fn below(
    f: &mut fmt::Formatter<'_>,
    thing: &str,
    claimed: impl fmt::Display,
    count: impl fmt::Display,
) -> fmt::Result {
    write!(f, "{thing} {claimed} is not below {count}")
}

fn write_refused(f: &mut fmt::Formatter<'_>, refused: LayoutRefused) -> fmt::Result {
    use nearcall_abi::layout::{ASTACKS_MAX, BLOCK_BYTES_MAX};
    match refused {
        LayoutRefused::Empty => write!(f, "class list has no A-stack"),
        LayoutRefused::TooMany { claimed } => {
            write!(f, "class list of {claimed} A-stacks is over {ASTACKS_MAX}")
        }
        LayoutRefused::BlockBytes { claimed } => {
            write!(f, "block of {claimed} bytes is over {BLOCK_BYTES_MAX} or no power of two")
        }
        LayoutRefused::TooLarge { claimed } => {
            write!(f, "class list of {claimed} bytes is over {}", 1u64 << 31)
        }
    }
}

impl fmt::Display for DescriptorFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            DescriptorFault::NotMemory => write!(f, "is not a memory file"),
            DescriptorFault::Seals { claimed, wanted } => {
                write!(f, "has seals {claimed:#x}, not {wanted:#x}")
            }
            DescriptorFault::Bytes { claimed, wanted } => {
                write!(f, "has {}, not {wanted}", counted(claimed, "byte"))
            }
            DescriptorFault::NotAllocated { claimed, wanted } => {
                write!(f, "has {claimed} bytes allocated, not {wanted}")
            }
            DescriptorFault::Access => write!(f, "is open in the wrong mode"),
        }
    }
}

impl fmt::Display for SocketFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            SocketFault::Kind { claimed } => write!(f, "message kind {claimed}"),
            SocketFault::Bytes { claimed, wanted } => {
                write!(f, "message of {}, not {wanted}", counted(claimed, "byte"))
            }
            SocketFault::Descriptors { claimed, wanted } => {
                write!(f, "{}, not {wanted}", counted(claimed, "descriptor"))
            }
            SocketFault::Magic { claimed } => write!(f, "message starts with {claimed:#x}"),
            SocketFault::Version { claimed, wanted } => {
                write!(f, "ABI version {claimed}, not {wanted}")
            }
            SocketFault::Quota { claimed, limit } => write!(f, "asks for {claimed}, over {limit}"),
        }
    }
}

impl core::error::Error for PeerFault {}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;
    use crate::turn::Phase;

    #[track_caller]
    fn check(fault: PeerFault, want: &str) {
        assert_eq!(fault.to_string(), want);
    }

    #[test]
    fn a_wrong_turn_names_what_was_seen_and_what_was_due() {
        let seen = TurnWord::new(Sequence::from_u32(9), Phase::PostedAsleep);
        let want = "turn word says call 9 posted, client asleep where call 8 idle is due";
        check(seen.fault(Sequence::from_u32(8), "idle"), want);
        let want = "turn word says call 1, phase 7 where call 0 idle is due";
        check(TurnWord(15).fault(Sequence::ZERO, "idle"), want);
    }

    #[test]
    fn a_message_names_its_length_and_the_limit() {
        let fault = PeerFault::MessageBytes { claimed: 4097, limit: 4096 };
        check(fault, "message of 4097 bytes is over 4096");
    }

    #[test]
    fn one_of_anything_is_told_of_as_one() {
        let short = PeerFault::MessageShort { claimed: 1, wanted: 2 };
        check(short, "message of 1 byte is under 2");
        check(PeerFault::LeftOver { bytes: 1 }, "1 byte is left over");
        let keys = PeerFault::Keys { claimed: 2, distinct: 1 };
        check(keys, "2 pairs of a map have 1 key");
        let told = |fault: SocketFault| fault.to_string();
        assert_eq!(told(SocketFault::Bytes { claimed: 1, wanted: 8 }), "message of 1 byte, not 8");
        let descriptors = |claimed| told(SocketFault::Descriptors { claimed, wanted: 2 });
        assert_eq!([1, 3].map(descriptors), ["1 descriptor, not 2", "3 descriptors, not 2"]);
    }

    #[test]
    fn a_segment_names_what_it_lacks() {
        let fault = DescriptorFault::Bytes { claimed: 1, wanted: 4096 };
        check(
            PeerFault::Descriptor { segment: "heads", fault },
            "heads segment has 1 byte, not 4096",
        );
    }

    #[test]
    fn a_class_list_names_its_limit() {
        let refused = LayoutRefused::TooMany { claimed: 4097 };
        check(PeerFault::Classes(refused), "class list of 4097 A-stacks is over 4096");
    }
}
