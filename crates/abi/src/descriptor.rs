//! What generated code says about an interface: the procedure descriptor list of LRPC (L12, L48),
//! less the entry addresses, which never leave the server.

use crate::procedure_name::ProcedureName;
use crate::{ASTACKS_PER_PROCEDURE, LINE_BYTES, VARIABLE_BYTES};

/// A-stacks of one size, shared by the procedures of an interface that need about that much (L14).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AStackClass {
    /// Bytes of message past the head line, in each direction. Zero, or a power of two from a line
    /// on.
    pub block_bytes: u32,
    /// How many there are when the binding is made; the limit is soft (L15).
    pub count: u32,
}

/// One procedure, as both sides know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcedureDescriptor {
    /// The operation's name in the interface file; `_get_x` and `_set_x` for attribute `x`. Whoever
    /// is told of the procedure is told [`ProcedureDescriptor::told`].
    pub name: &'static str,
    /// Hash over everything that decides the layout of its messages.
    pub hash: [u8; 16],
    /// Index into [`InterfaceDescriptor::classes`].
    pub class: u8,
    /// The client does not wait for a reply.
    pub is_oneway: bool,
    /// Running it twice does no harm, so that the library may retry it.
    pub is_idempotent: bool,
    /// It waits for nobody and starts no threads, so that it may run on a server processor that is
    /// bound to its caller's (U10).
    pub is_leaf: bool,
}

/// A type that a later version may add to, at its end: a struct members, an enum enumerators, a
/// message of a .proto file fields, in its oneofs or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppendableDescriptor {
    /// Scoped name, `::` between the parts.
    pub name: &'static str,
    /// Index of the first procedure in whose messages it is.
    pub procedure: u32,
    /// Hash over its name; then one for each of those, over all of them up to that one. Of two
    /// versions that fit, one list begins with the other.
    pub hashes: &'static [[u8; 16]],
}

/// An interface: what import and export compare at bind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterfaceDescriptor {
    /// Scoped name, `::` between the parts.
    pub name: &'static str,
    /// Hash over the procedures' names and hashes, in order, and over the last of each appendable
    /// type.
    pub hash: [u8; 16],
    /// In the order of the interface file, inherited ones first.
    pub procedures: &'static [ProcedureDescriptor],
    /// In order of size.
    pub classes: &'static [AStackClass],
    /// The appendable types in its messages.
    pub appendables: &'static [AppendableDescriptor],
}

impl ProcedureDescriptor {
    /// What people are told that the procedure is.
    pub const fn told(&self) -> ProcedureName<'static> {
        ProcedureName::new(self.name)
    }
}

impl AStackClass {
    /// The class that holds `block_bytes` and has the default number of A-stacks.
    pub const fn for_block(block_bytes: u32) -> AStackClass {
        let block_bytes = match block_bytes {
            0 => 0,
            1..LINE_BYTES => LINE_BYTES,
            _ => block_bytes.next_power_of_two(),
        };
        AStackClass { block_bytes, count: ASTACKS_PER_PROCEDURE }
    }
}

const _: () = assert!(AStackClass::for_block(VARIABLE_BYTES).block_bytes == 2048);
const _: () = assert!(AStackClass::for_block(1).block_bytes == LINE_BYTES);
