//! What can be wrong with bytes that a peer laid out.

use std::fmt;

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

    /// What was claimed and the limit, as a fault is reported.
    pub(crate) fn claim_and_limit(&self) -> (u64, u64) {
        match *self {
            Malformed::Text { at } => (at as u64, 0),
            Malformed::Bound { claimed, limit } | Malformed::Length { claimed, limit } => {
                (claimed, limit)
            }
            Malformed::Range { claimed } => (claimed, 0),
            Malformed::Depth => (super::DEPTH_MAX as u64 + 1, super::DEPTH_MAX as u64),
            Malformed::Stack { bytes, left } => (bytes, left),
            Malformed::Stalled { seen, end } => (seen, end),
            Malformed::Left { bytes } => (bytes, 0),
            Malformed::Keys { claimed, distinct } => (claimed, distinct),
            Malformed::Descriptors { claimed, wanted } => (claimed as u64, wanted as u64),
            Malformed::Feed { feed } => (feed, 0),
            Malformed::Descriptor(wrong) => (wrong.mode.into(), 0),
        }
    }
}

impl From<Malformed> for PeerFault {
    fn from(malformed: Malformed) -> PeerFault {
        let (claimed, limit) = malformed.claim_and_limit();
        match malformed {
            Malformed::Text { at } => PeerFault::Text { valid_bytes: at as u32 },
            Malformed::Range { claimed } => PeerFault::Discriminator { claimed, count: 0 },
            Malformed::Descriptors { claimed, wanted } => PeerFault::SocketMessage {
                wanted: "descriptors",
                fault: SocketFault::Descriptors { claimed: claimed as u32, wanted: wanted as u32 },
            },
            Malformed::Descriptor(wrong) => PeerFault::WrongDescriptor { mode: wrong.mode },
            _ => PeerFault::Length { claimed, limit },
        }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Malformed::Text { at } => write!(f, "text is not UTF-8 at byte {at}"),
            Malformed::Bound { claimed, limit } => {
                write!(f, "count {claimed} is over the bound {limit}")
            }
            Malformed::Length { claimed, limit } => {
                write!(f, "length {claimed} is over the {limit} bytes there are")
            }
            Malformed::Range { claimed } => write!(f, "{claimed} is no value of its type"),
            Malformed::Depth => {
                write!(f, "values are nested deeper than {}", super::DEPTH_MAX)
            }
            Malformed::Stack { bytes, left } => write!(
                f,
                "values are nested too deeply: one more may need {bytes} bytes of stack, of which \
                 {left} are left"
            ),
            Malformed::Stalled { seen, end } => {
                write!(f, "the client stopped copying at byte {seen} of {end}")
            }
            Malformed::Left { bytes } => write!(f, "{bytes} bytes are left over"),
            Malformed::Keys { claimed, distinct } => {
                write!(f, "{claimed} pairs of a map have {distinct} keys")
            }
            Malformed::Descriptors { claimed, wanted } => {
                write!(f, "{claimed} descriptors came with it, not {wanted}")
            }
            Malformed::Feed { feed } => write!(f, "feed {feed} has no such batch due"),
            Malformed::Descriptor(wrong) => wrong.fmt(f),
        }
    }
}

impl std::error::Error for Malformed {}
