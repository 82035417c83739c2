//! Messages that a hostile peer might send, made from an interface file: valid ones, mutations of
//! them, and deliberate lies, one of a kind and place at a time; and peers that send them.
//!
//! ```text
//! model ─▶ values of self-tests ─▶ messages ─┬─▶ attack: a client that sends requests
//!                                            └─▶ answer: a server that sends replies
//! ```
//!
//! Decides what is sent and what has to come of it; knows no target language. Who reads the
//! messages are programs made of self-tests, in each language's own tests.

#![forbid(unsafe_code)]

mod answer;
mod attack;
mod feeds;
mod hunt;
mod messages;
mod mutations;
mod opened;
mod tally;
mod writer;

pub use attack::Attacker;
pub use hunt::{Hunted, Prey, hunted};
pub use messages::{Around, Case, Form, InterfaceCases, Message, Purpose, trimmed};
pub use tally::{Side, Tally, Verdict};
pub use writer::Lie;

/// What a lie is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// No enumerator of its enum.
    Enumerator,
    /// A boolean of 2.
    Boolean,
    /// A `wchar` that is a surrogate, or beyond all characters.
    Character,
    /// A bit of a bitmask or bitset that is not there.
    Bits,
    /// Text that is not UTF-8.
    Text,
    /// More than a bound allows.
    Bound,
    /// An integer, letter, enumerator or number out of its range.
    Range,
    /// No number, or an infinity, where a range forbids it.
    Float,
    /// A discriminator that is none of its type's values.
    Label,
    /// An optional member that is neither there nor absent.
    Presence,
    /// A length beyond the message.
    Length,
    /// A key that comes twice in a map.
    Key,
    /// An exception that is not declared; of replies alone.
    Exception,
    /// Too few open files, too many, or one of another kind.
    Descriptor,
    /// Nothing in the place of an open file that is absent.
    Absence,
    /// A feed that is not open, a batch that is not due, or one of nothing that is not the last.
    Feed,
}

impl Kind {
    /// Every one.
    pub const ALL: [Kind; 16] = [
        Kind::Enumerator,
        Kind::Boolean,
        Kind::Character,
        Kind::Bits,
        Kind::Text,
        Kind::Bound,
        Kind::Range,
        Kind::Float,
        Kind::Label,
        Kind::Presence,
        Kind::Length,
        Kind::Key,
        Kind::Exception,
        Kind::Descriptor,
        Kind::Absence,
        Kind::Feed,
    ];
}
