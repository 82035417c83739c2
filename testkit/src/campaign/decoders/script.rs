//! What a hostile peer does, as bytes that a fuzzer makes up: packets, what goes with them, and the
//! words of a head, one step after the other.
//!
//! ```text
//! 0 │ how │ length u16 │ packet
//! 1 │ how │ A-stack │ selector, message bytes, origin, there u32 │ length u16 │ message
//! 2 │ kind │ pages │ length u16 │ what stands first in it       goes with the next packet
//! ```
//!
//! Any bytes are a script: a step that is cut short is the last one.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use nearcall_os::segment::{Sealing, Segment};
use rustix::fs::MemfdFlags;

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'s> {
    /// Sends a packet, with all descriptors that were made for it.
    Packet {
        /// [`NEXT_CALL`] or not.
        how: u8,
        /// As it is sent.
        bytes: &'s [u8],
    },
    /// Writes a head and its message.
    Words(Words<'s>),
    /// Makes a descriptor.
    Descriptor(Descriptor<'s>),
}

/// The words of a head, and its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Words<'s> {
    /// [`OFF_TURN`] and others.
    pub how: u8,
    /// On which A-stack; who answers a call does so where it is.
    pub astack: u8,
    /// Procedure or status.
    pub selector: u32,
    /// Length of the message, as is said.
    pub message_bytes: u32,
    /// Processor and flags.
    pub origin: u32,
    /// Bytes of its variable part that are there, out of line.
    pub there: u32,
    /// What the message begins with.
    pub message: &'s [u8],
}

/// What goes with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor<'s> {
    /// [`SINGLE`] and others.
    pub kind: u8,
    /// Of 4 KiB, if it is a segment.
    pub pages: u8,
    /// What it begins with, if it is a segment.
    pub bytes: &'s [u8],
}

/// A segment that its creator writes.
pub const SINGLE: u8 = 0;
/// A segment that both write.
pub const BOTH: u8 = 1;
/// A file of nothing.
pub const FILE: u8 = 2;
/// One end of a pipe.
pub const PIPE: u8 = 3;
/// One end of a connection.
pub const SOCKET: u8 = 4;
const KINDS: u8 = 5;

/// Word 2 of the packet becomes the number of the call on the A-stack that word 1 names: that which
/// is due next, or waits for its reply.
pub const NEXT_CALL: u8 = 1;

/// The turn is not the one that is due, but one further on.
pub const OFF_TURN: u8 = 1;
/// The message begins with the number of the feed that was opened last, or of its other side.
pub const FIRST_FEED: u8 = 2;
/// As above.
pub const SECOND_FEED: u8 = 4;
/// The message says that it lies in the first segment of this A-stack, the second, the third.
pub const GENERATION: u8 = 0b1_1000;
/// It says how much of an out-of-line message is there.
pub const COMPLETE: u8 = 0b10_0000;
/// Its reply is not waited for: it comes after that to a later call, if at all.
pub const UNAWAITED: u8 = 0b100_0000;

const PAGE_BYTES: usize = 4096;

/// The steps of a script.
#[derive(Clone, Copy, Debug)]
pub struct Script<'s>(pub &'s [u8]);

impl<'s> Iterator for Script<'s> {
    type Item = Step<'s>;

    fn next(&mut self) -> Option<Step<'s>> {
        match self.u8()? % 3 {
            0 => Some(Step::Packet { how: self.u8()?, bytes: self.bytes()? }),
            1 => {
                let (how, astack) = (self.u8()?, self.u8()?);
                let (selector, message_bytes) = (self.u32()?, self.u32()?);
                let (origin, there, message) = (self.u32()?, self.u32()?, self.bytes()?);
                let words = Words { how, astack, selector, message_bytes, origin, there, message };
                Some(Step::Words(words))
            }
            _ => {
                let (kind, pages) = (self.u8()?, self.u8()?);
                Some(Step::Descriptor(Descriptor { kind, pages, bytes: self.bytes()? }))
            }
        }
    }
}

impl<'s> Script<'s> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*first)
    }

    fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// As many as it says, or as there are.
    fn bytes(&mut self) -> Option<&'s [u8]> {
        let length = self.array().map(u16::from_le_bytes)?;
        let (taken, rest) = self.0.split_at(self.0.len().min(length.into()));
        self.0 = rest;
        Some(taken)
    }
}

/// A script of these steps.
pub fn written(steps: &[Step<'_>]) -> Vec<u8> {
    let mut script = Vec::new();
    for step in steps {
        let bytes = match *step {
            Step::Packet { how, bytes } => {
                script.extend([0, how]);
                bytes
            }
            Step::Words(words) => {
                let Words { how, astack, selector, message_bytes, origin, there, message } = words;
                script.extend([1, how, astack]);
                let words = [selector, message_bytes, origin, there];
                script.extend(words.map(u32::to_le_bytes).as_flattened());
                message
            }
            Step::Descriptor(Descriptor { kind, pages, bytes }) => {
                script.extend([2, kind, pages]);
                bytes
            }
        };
        script.extend((bytes.len() as u16).to_le_bytes());
        script.extend(bytes);
    }
    script
}

impl Words<'_> {
    /// Which segment the message says that it lies in.
    pub fn generation(&self) -> u32 {
        u32::from((self.how & GENERATION) >> 3)
    }
}

impl Descriptor<'_> {
    /// Makes it.
    pub fn made(self) -> io::Result<OwnedFd> {
        Ok(match self.kind % KINDS {
            SINGLE => self.segment(Sealing::SingleWriter)?,
            BOTH => self.segment(Sealing::BothWrite)?,
            FILE => file()?,
            PIPE => rustix::pipe::pipe()?.0,
            _ => UnixStream::pair()?.0.into(),
        })
    }

    fn segment(self, sealing: Sealing) -> io::Result<OwnedFd> {
        let bytes = usize::from(self.pages.max(1)) * PAGE_BYTES;
        let made = Segment::create("nearcall-by-hand", bytes, sealing);
        let (segment, descriptor) = made.map_err(|error| io::Error::other(error.to_string()))?;
        let room = segment.span_mut().expect("our own segment is mapped writable");
        room.copy_in(0, &self.bytes[..self.bytes.len().min(bytes)]);
        Ok(descriptor)
    }
}

/// The packet of a step: `number` says which call is due on an A-stack, or waits for its reply.
pub fn numbered(how: u8, bytes: &[u8], number: impl Fn(u32) -> u32) -> Vec<u8> {
    let mut packet = bytes.to_vec();
    if how & NEXT_CALL != 0
        && let [_, astack, of_call, ..] = packet.as_chunks_mut::<4>().0
    {
        *of_call = number(u32::from_le_bytes(*astack)).to_le_bytes();
    }
    packet
}

/// A file of nothing.
pub fn file() -> io::Result<OwnedFd> {
    Ok(rustix::fs::memfd_create("nearcall-by-hand", MemfdFlags::CLOEXEC)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_read_as_it_was_written() {
        let words = Words {
            how: OFF_TURN,
            astack: 7,
            selector: 1,
            message_bytes: 2,
            origin: 3,
            there: 4,
            message: b"message",
        };
        let steps = [
            Step::Packet { how: 1, bytes: b"packet" },
            Step::Words(words),
            Step::Descriptor(Descriptor { kind: BOTH, pages: 2, bytes: b"" }),
        ];
        let script = written(&steps);
        assert_eq!(Script(&script).collect::<Vec<_>>(), steps);
        assert_eq!(Script(&script[..script.len() - 3]).count(), 2);
        let cut = written(&steps[..1]);
        let short = Script(&cut[..cut.len() - 2]).collect::<Vec<_>>();
        assert_eq!(short, [Step::Packet { how: 1, bytes: b"pack" }]);
    }

    #[test]
    fn any_kind_of_descriptor_is_made() {
        for kind in 0..=u8::MAX {
            Descriptor { kind, pages: kind % 3, bytes: b"first" }.made().unwrap();
        }
    }
}
