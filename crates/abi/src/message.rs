//! What goes over a binding's socket, one message a packet. Little endian, fixed order.
//!
//! ```text
//! u32 kind │ fields of that kind, in the order of the enum below
//! ```
//!
//! A text is a u16 length and its bytes. A class list is a u32 count and its entries. A packet that
//! is short, long, of an unknown kind or over a limit is [`Garbled`]; nothing in it is believed
//! further.

mod version;

pub use version::{AppendableList, ListedProcedure, ProcedureList, Version};

use crate::AStackClass;

/// First field of the first message: it is Nearcall that talks.
pub const MAGIC: u32 = 0x4c41_434e;

/// Longest packet, bytes.
pub const PACKET_BYTES_MAX: usize = 64 << 10;

/// Longest interface name, bytes.
pub const INTERFACE_NAME_BYTES_MAX: usize = 1024;

/// Most classes an interface may have.
pub const CLASSES_MAX: usize = 16;

/// Most feeds that a binding has open: a client counts them, and so does its server.
pub const FEEDS_MAX: u32 = 64;

/// Most descriptors that a call, or its reply, carries.
pub const CALL_DESCRIPTORS_MAX: usize = 8;

/// One message. Text and lists lie in the packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Message<'p> {
    /// Client: bind me to this interface. With the heads and the requests segment. Kind 1; over the
    /// socket that it has presented to whom it was introduced, kind 23: nobody who only accepts
    /// imports can have them answered by another server in the importer's name.
    Import {
        /// [`crate::ABI_VERSION`] of the client.
        abi_version: u32,
        /// Hash of the interface it was compiled for.
        interface_hash: [u8; 16],
        /// The processor that it runs on: a hint.
        processor: u32,
        /// Scoped name of the interface.
        interface_name: &'p str,
        /// The A-stacks that its segments are for, by class.
        classes: Classes,
        /// It was introduced.
        is_introduced: bool,
    },
    /// Server: bound, call away. With the replies and the bell segment. Kind 2.
    Bound {
        /// Which life of the server this is.
        incarnation: u64,
        /// The binding's lane in the bell line.
        lane: u32,
        /// The processor that it runs on: a hint.
        processor: u32,
    },
    /// Server: refused. Kind 3.
    Refused {
        /// Why.
        code: RefusalCode,
        /// The same in words, or for a hash mismatch the server's [`Version`].
        detail: &'p [u8],
    },
    /// Either: this segment holds the variable part of messages on A-stack `astack` from now on.
    /// With the segment. Kind 4.
    OutOfLine {
        /// Index of the A-stack.
        astack: u32,
        /// Counts the segments of this A-stack and direction.
        generation: u32,
        /// Size of the segment.
        bytes: u64,
    },
    /// Server: the out-of-line segment is mapped. Kind 5.
    Mapped {
        /// Index of the A-stack.
        astack: u32,
        /// Of the segment.
        generation: u32,
    },
    /// Client: more A-stacks of this class, please. Kind 6.
    Grow {
        /// Index of the class.
        class: u32,
    },
    /// Server: granted. With the replies segment of the extension. Kind 7.
    Grown {
        /// Index of the class.
        class: u32,
        /// How many more; their indices follow those there are.
        count: u32,
    },
    /// Client: heads and requests segment of the extension. Kind 8.
    GrownSegments {
        /// Index of the class.
        class: u32,
    },
    /// Server: the extension is watched. Kind 9.
    GrownBound {
        /// Index of the class.
        class: u32,
    },
    /// Server: no further call is taken on this binding. Kind 10.
    Revoked,
    /// Client: arguments of any call may lie in this segment. With the segment. Kind 11.
    Lend {
        /// Which of the binding's lent segments it is.
        number: u32,
        /// Size of the segment.
        bytes: u64,
    },
    /// Server: the lent segment is mapped. Kind 12.
    Lent {
        /// Of the segment.
        number: u32,
    },
    /// Client: no further call names the lent segment. Kind 13.
    LendOver {
        /// Of the segment.
        number: u32,
    },
    /// Client: look at this binding's A-stacks; its bells do not seem to arrive. Kind 14.
    Look,
    /// Server: no room for the out-of-line segment now; it is not mapped. Kind 15.
    NotMapped {
        /// Index of the A-stack.
        astack: u32,
        /// Of the segment.
        generation: u32,
    },
    /// Server: no room for the lent segment now; it is not mapped. Kind 16.
    NotLent {
        /// Of the segment.
        number: u32,
    },
    /// Either: what a call, or its reply, carries beside its message. With `count` descriptors, in
    /// the order of the parameters; sent before the A-stack is handed over. Kind 17.
    Descriptors {
        /// Index of the A-stack.
        astack: u32,
        /// Of the call.
        sequence: u32,
        /// How many come, from 1 to [`CALL_DESCRIPTORS_MAX`].
        count: u32,
    },
    /// Client: no more of this feed. Kind 18.
    FeedOver {
        /// Its number.
        feed: u64,
    },
    /// Client: an introduction, please. Kind 19.
    Introduce {
        /// Which of the binding's introductions it is.
        number: u32,
    },
    /// Server: granted. With the introduction. Kind 20.
    Introduced {
        /// Of the introduction.
        number: u32,
    },
    /// Server: no room for an introduction now. Kind 21.
    NotIntroduced {
        /// Of the introduction.
        number: u32,
    },
    /// Client, over an introduction: I import over this socket. With one end of it. Kind 22.
    Present,
}

/// A class list by value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Classes {
    list: [AStackClass; CLASSES_MAX],
    count: usize,
}

/// Why a server refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalCode {
    /// The policy does not admit this importer.
    NotAdmitted,
    /// Another ABI version.
    AbiVersion,
    /// Another interface under this name.
    OtherInterface,
    /// Another version of the interface; the detail is the server's [`Version`].
    Hash,
    /// No room for another binding or another A-stack now; try again later.
    Overloaded,
    /// The packet or a segment with it broke the protocol.
    Protocol,
    /// It has connected before this server listened there, so that it takes another process for
    /// the server: connect again.
    Early,
}

/// A packet that is no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Garbled {
    /// The kind it claimed to be, 0 if it had not even that.
    pub kind: u32,
    /// Its length.
    pub packet_bytes: usize,
}

impl Classes {
    /// `None` for more than [`CLASSES_MAX`].
    pub fn new(classes: &[AStackClass]) -> Option<Classes> {
        let mut list = [AStackClass { block_bytes: 0, count: 0 }; CLASSES_MAX];
        list.get_mut(..classes.len())?.copy_from_slice(classes);
        Some(Classes { list, count: classes.len() })
    }

    /// The classes, in order.
    pub fn as_slice(&self) -> &[AStackClass] {
        &self.list[..self.count]
    }
}

impl<'p> Message<'p> {
    /// Writes the packet; `None` if it does not fit.
    pub fn encode<'b>(&self, packet: &'b mut [u8]) -> Option<&'b [u8]> {
        let mut out = Out { packet, length: 0 };
        out.u32(self.kind())?;
        match *self {
            Message::Import {
                abi_version,
                interface_hash,
                processor,
                interface_name,
                classes,
                is_introduced: _,
            } => {
                out.u32(MAGIC)?;
                out.u32(abi_version)?;
                out.bytes(&interface_hash)?;
                out.u32(processor)?;
                out.text(interface_name.as_bytes())?;
                out.classes(&classes)?;
            }
            Message::Bound { incarnation, lane, processor } => {
                out.bytes(&incarnation.to_le_bytes())?;
                out.u32(lane)?;
                out.u32(processor)?;
            }
            Message::Refused { code, detail } => {
                out.u32(code as u32)?;
                out.bytes(detail)?;
            }
            Message::OutOfLine { astack, generation, bytes } => {
                out.u32(astack)?;
                out.u32(generation)?;
                out.bytes(&bytes.to_le_bytes())?;
            }
            Message::Mapped { astack: first, generation: second }
            | Message::NotMapped { astack: first, generation: second }
            | Message::Grown { class: first, count: second } => {
                out.u32(first)?;
                out.u32(second)?;
            }
            Message::Lend { number, bytes } => {
                out.u32(number)?;
                out.bytes(&bytes.to_le_bytes())?;
            }
            Message::FeedOver { feed } => out.bytes(&feed.to_le_bytes())?,
            Message::Grow { class: word }
            | Message::GrownSegments { class: word }
            | Message::GrownBound { class: word }
            | Message::Lent { number: word }
            | Message::NotLent { number: word }
            | Message::LendOver { number: word }
            | Message::Introduce { number: word }
            | Message::Introduced { number: word }
            | Message::NotIntroduced { number: word } => out.u32(word)?,
            Message::Descriptors { astack, sequence, count } => {
                out.u32(astack)?;
                out.u32(sequence)?;
                out.u32(count)?;
            }
            Message::Revoked | Message::Look | Message::Present => {}
        }
        let Out { packet, length } = out;
        Some(&packet[..length])
    }

    /// Judges a packet.
    pub fn decode(packet: &'p [u8]) -> Result<Message<'p>, Garbled> {
        let mut input = In { rest: packet };
        let kind = input.u32().unwrap_or(0);
        decode_kind(kind, &mut input)
            .filter(|_| input.rest.is_empty())
            .ok_or(Garbled { kind, packet_bytes: packet.len() })
    }

    /// How many descriptors come with the message: exactly that many, or it is garbled.
    pub fn descriptor_count(&self) -> usize {
        match self {
            Message::Import { .. } | Message::Bound { .. } | Message::GrownSegments { .. } => 2,
            Message::OutOfLine { .. }
            | Message::Grown { .. }
            | Message::Lend { .. }
            | Message::Introduced { .. }
            | Message::Present => 1,
            Message::Descriptors { count, .. } => *count as usize,
            _ => 0,
        }
    }

    fn kind(&self) -> u32 {
        match self {
            Message::Import { is_introduced: false, .. } => 1,
            Message::Import { is_introduced: true, .. } => 23,
            Message::Bound { .. } => 2,
            Message::Refused { .. } => 3,
            Message::OutOfLine { .. } => 4,
            Message::Mapped { .. } => 5,
            Message::Grow { .. } => 6,
            Message::Grown { .. } => 7,
            Message::GrownSegments { .. } => 8,
            Message::GrownBound { .. } => 9,
            Message::Revoked => 10,
            Message::Lend { .. } => 11,
            Message::Lent { .. } => 12,
            Message::LendOver { .. } => 13,
            Message::Look => 14,
            Message::NotMapped { .. } => 15,
            Message::NotLent { .. } => 16,
            Message::Descriptors { .. } => 17,
            Message::FeedOver { .. } => 18,
            Message::Introduce { .. } => 19,
            Message::Introduced { .. } => 20,
            Message::NotIntroduced { .. } => 21,
            Message::Present => 22,
        }
    }
}

fn decode_kind<'p>(kind: u32, input: &mut In<'p>) -> Option<Message<'p>> {
    Some(match kind {
        1 | 23 => decode_import(input, kind == 23)?,
        2 => {
            let (incarnation, lane) = (input.u64()?, input.u32()?);
            Message::Bound { incarnation, lane, processor: input.u32()? }
        }
        3 => {
            let code = RefusalCode::from_word(input.u32()?)?;
            Message::Refused { code, detail: core::mem::take(&mut input.rest) }
        }
        4 => {
            let (astack, generation) = (input.u32()?, input.u32()?);
            Message::OutOfLine { astack, generation, bytes: input.u64()? }
        }
        5 => Message::Mapped { astack: input.u32()?, generation: input.u32()? },
        6 => Message::Grow { class: input.u32()? },
        7 => Message::Grown { class: input.u32()?, count: input.u32()? },
        8 => Message::GrownSegments { class: input.u32()? },
        9 => Message::GrownBound { class: input.u32()? },
        10 => Message::Revoked,
        11 => Message::Lend { number: input.u32()?, bytes: input.u64()? },
        12 => Message::Lent { number: input.u32()? },
        13 => Message::LendOver { number: input.u32()? },
        14 => Message::Look,
        15 => Message::NotMapped { astack: input.u32()?, generation: input.u32()? },
        16 => Message::NotLent { number: input.u32()? },
        17 => {
            let (astack, sequence) = (input.u32()?, input.u32()?);
            let count = input.u32()?;
            let limit = CALL_DESCRIPTORS_MAX as u32;
            (1..=limit).contains(&count).then_some(())?;
            Message::Descriptors { astack, sequence, count }
        }
        18 => Message::FeedOver { feed: input.u64()? },
        19 => Message::Introduce { number: input.u32()? },
        20 => Message::Introduced { number: input.u32()? },
        21 => Message::NotIntroduced { number: input.u32()? },
        22 => Message::Present,
        _ => return None,
    })
}

fn decode_import<'p>(input: &mut In<'p>, is_introduced: bool) -> Option<Message<'p>> {
    if input.u32()? != MAGIC {
        return None;
    }
    let abi_version = input.u32()?;
    let interface_hash = input.array()?;
    let processor = input.u32()?;
    let interface_name = core::str::from_utf8(input.text()?).ok()?;
    if interface_name.len() > INTERFACE_NAME_BYTES_MAX {
        return None;
    }
    let classes = input.classes()?;
    Some(Message::Import {
        abi_version,
        interface_hash,
        processor,
        interface_name,
        classes,
        is_introduced,
    })
}

impl RefusalCode {
    fn from_word(word: u32) -> Option<RefusalCode> {
        use RefusalCode::*;
        [NotAdmitted, AbiVersion, OtherInterface, Hash, Overloaded, Protocol, Early]
            .into_iter()
            .find(|code| *code as u32 == word)
    }
}

struct Out<'b> {
    packet: &'b mut [u8],
    length: usize,
}

impl Out<'_> {
    fn bytes(&mut self, bytes: &[u8]) -> Option<()> {
        let end = self.length + bytes.len();
        self.packet.get_mut(self.length..end)?.copy_from_slice(bytes);
        self.length = end;
        Some(())
    }

    fn u32(&mut self, value: u32) -> Option<()> {
        self.bytes(&value.to_le_bytes())
    }

    fn classes(&mut self, classes: &Classes) -> Option<()> {
        self.u32(classes.count as u32)?;
        for class in classes.as_slice() {
            self.u32(class.block_bytes)?;
            self.u32(class.count)?;
        }
        Some(())
    }

    fn text(&mut self, text: &[u8]) -> Option<()> {
        self.bytes(&u16::try_from(text.len()).ok()?.to_le_bytes())?;
        self.bytes(text)
    }
}

struct In<'p> {
    rest: &'p [u8],
}

impl<'p> In<'p> {
    fn bytes(&mut self, count: usize) -> Option<&'p [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.try_into().ok()
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn classes(&mut self) -> Option<Classes> {
        let count = self.u32()? as usize;
        let mut classes = Classes::new(&[])?;
        for class in classes.list.get_mut(..count)? {
            *class = AStackClass { block_bytes: self.u32()?, count: self.u32()? };
        }
        classes.count = count;
        Some(classes)
    }

    fn text(&mut self) -> Option<&'p [u8]> {
        let length = u16::from_le_bytes(self.array()?);
        self.bytes(usize::from(length))
    }
}

#[cfg(test)]
mod tests;
