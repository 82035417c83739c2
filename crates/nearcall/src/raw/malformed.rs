//! What can be wrong with bytes that a peer laid out.

use std::fmt;

use nearcall_abi::counted;
use nearcall_core::PeerFault;
use nearcall_core::fault::SocketFault;
use nearcall_os::WrongDescriptor;

/// Why bytes are not a value of the type that the interface promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// Text that is not UTF-8.
    Text {
        /// Byte at which it stops being UTF-8.
        at: usize,
    },
    /// A count over the bound of its type.
    Bound {
        /// Elements, or bytes of text.
        claimed: u64,
        /// The type's bound.
        limit: u64,
    },
    /// A length that reaches past the message.
    Length {
        /// Bytes.
        claimed: u64,
        /// Bytes there are.
        limit: u64,
    },
    /// A number that is no value of its boolean, enum, bitmask or character type.
    Range {
        /// The number.
        claimed: u64,
    },
    /// Values nested deeper than [`super::DEPTH_MAX`].
    Depth,
    /// Values nested deeper than the stack allows, which they are read on.
    Stack {
        /// Bytes that one level more may need.
        bytes: u64,
        /// Bytes that are left.
        left: u64,
    },
    /// Arguments that the client has stopped copying.
    Stalled {
        /// Bytes that are there.
        seen: u64,
        /// Bytes that were to come.
        end: u64,
    },
    /// A value that ended before its bytes did.
    Left {
        /// Bytes left over.
        bytes: u64,
    },
    /// A map with a key that comes twice. Else more pairs than its bound would pass for fewer.
    Keys {
        /// Pairs.
        claimed: u64,
        /// Keys.
        distinct: u64,
    },
    /// Not with as many descriptors as the procedure has.
    Descriptors {
        /// How many came.
        claimed: usize,
        /// How many must.
        wanted: usize,
    },
    /// A batch of a feed that is not open, or not the one that is due.
    Feed {
        /// The feed.
        feed: u64,
    },
    /// A descriptor of another kind.
    Descriptor(WrongDescriptor),
}

impl Malformed {
    /// A number that is no value of its type.
    #[cold]
    pub fn range(claimed: impl TryInto<u64>) -> Malformed {
        Malformed::Range { claimed: claimed.try_into().unwrap_or(u64::MAX) }
    }
}

impl From<Malformed> for PeerFault {
    fn from(malformed: Malformed) -> PeerFault {
        match malformed {
            Malformed::Text { at } => PeerFault::Text { valid_bytes: at as u32 },
            Malformed::Bound { claimed, limit } | Malformed::Length { claimed, limit } => {
                PeerFault::Length { claimed, limit }
            }
            Malformed::Range { claimed } => PeerFault::Value { claimed },
            Malformed::Depth => PeerFault::Depth { limit: super::DEPTH_MAX as u32 },
            Malformed::Stack { bytes, left } => PeerFault::Stack { bytes, left },
            Malformed::Left { bytes } => PeerFault::LeftOver { bytes },
            Malformed::Keys { claimed, distinct } => PeerFault::Keys { claimed, distinct },
            Malformed::Descriptors { claimed, wanted } => PeerFault::SocketMessage {
                wanted: "descriptors",
                fault: SocketFault::Descriptors { claimed: claimed as u32, wanted: wanted as u32 },
            },
            Malformed::Descriptor(wrong) => PeerFault::WrongDescriptor { mode: wrong.mode },
            // Of arguments alone, which no client reads.
            Malformed::Stalled { seen, end } => PeerFault::Length { claimed: seen, limit: end },
            Malformed::Feed { feed } => PeerFault::Length { claimed: feed, limit: 0 },
        }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Malformed::Bound { claimed, limit } => {
                write!(f, "count {claimed} is over the bound {limit}")
            }
            Malformed::Length { claimed, limit } => {
                write!(f, "length {claimed} is over what there is, {}", counted(limit, "byte"))
            }
            Malformed::Stalled { seen, end } => {
                write!(f, "the client stopped copying at byte {seen} of {end}")
            }
            Malformed::Descriptors { claimed, wanted } => {
                write!(f, "{} came with it, not {wanted}", counted(claimed, "descriptor"))
            }
            Malformed::Feed { feed } => write!(f, "feed {feed} has no such batch due"),
            Malformed::Descriptor(wrong) => wrong.fmt(f),
            told_alike => PeerFault::from(told_alike).fmt(f),
        }
    }
}

impl std::error::Error for Malformed {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_told_what_is_wrong_and_not_of_a_length() {
        let told = |malformed: Malformed| PeerFault::from(malformed).to_string();
        assert_eq!(told(Malformed::range(3)), "3 is no value of its type");
        assert_eq!(told(Malformed::range(-1)), "18446744073709551615 is no value of its type");
        assert_eq!(told(Malformed::Depth), "values are nested deeper than 64");
        let length = Malformed::Length { claimed: 2, limit: 1 }.to_string();
        assert_eq!(length, "length 2 is over what there is, 1 byte");
        let came = Malformed::Descriptors { claimed: 1, wanted: 2 }.to_string();
        assert_eq!(came, "1 descriptor came with it, not 2");
        assert_eq!(told(Malformed::Left { bytes: 15 }), "15 bytes are left over");
        assert_eq!(told(Malformed::Left { bytes: 1 }), "1 byte is left over");
        let twice = Malformed::Keys { claimed: 3, distinct: 2 };
        assert_eq!(told(twice), "3 pairs of a map have 2 keys");
        let stack = told(Malformed::Stack { bytes: 9, left: 8 });
        assert!(stack.ends_with("9 bytes of stack, of which 8 are left"), "{stack}");
        let bound = Malformed::Bound { claimed: 9, limit: 8 };
        assert_eq!((bound.to_string(), told(bound)), {
            ("count 9 is over the bound 8".to_owned(), "length 9 is over 8".to_owned())
        });
    }
}
