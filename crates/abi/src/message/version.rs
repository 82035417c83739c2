//! The detail of a refusal: which version of an interface the server has.

use super::{Classes, In, Out};
use crate::InterfaceDescriptor;

/// The server's version of an interface, as it stands in the detail of a hash refusal: the hash,
/// the class list, a u32 count of procedures, and as many of these as fit; then a u32 count of
/// appendable types, and as many of these as fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Version<'p> {
    /// Of the interface.
    pub interface_hash: [u8; 16],
    /// A-stacks that a binding to it has.
    pub classes: Classes,
    /// How many procedures there are, whether or not they are listed.
    pub procedure_count: u32,
    /// The first of them, in order.
    pub procedures: ProcedureList<'p>,
}

/// Procedures of a [`Version`]: for each its hash, its class as a u32, and its name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProcedureList<'p> {
    rest: &'p [u8],
    /// How many there should be.
    left: u32,
}

/// Appendable types of a [`Version`]: for each a u32 count of hashes, and the hashes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AppendableList<'p> {
    rest: &'p [u8],
    /// How many there should be; `None`: it does not say.
    left: Option<u32>,
}

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedProcedure<'p> {
    /// Its name.
    pub name: &'p str,
    /// Hash over what decides the layout of its messages.
    pub hash: [u8; 16],
    /// Index into the class list.
    pub class: u8,
}

impl<'p> Version<'p> {
    /// Writes the version of `interface` with as many procedures as fit; returns the bytes used.
    /// `None` if not even the first fields fit.
    pub fn encode(interface: &InterfaceDescriptor, detail: &mut [u8]) -> Option<usize> {
        let mut out = Out { packet: detail, length: 0 };
        out.bytes(&interface.hash)?;
        out.classes(&Classes::new(interface.classes)?)?;
        out.u32(interface.procedures.len() as u32)?;
        for each in interface.procedures {
            let before = out.length;
            let written = out.bytes(&each.hash).and_then(|()| out.u32(each.class.into()));
            if written.and_then(|()| out.text(each.name.as_bytes())).is_none() {
                return Some(before);
            }
        }
        let whole = out.length;
        if out.u32(interface.appendables.len() as u32).is_none() {
            return Some(whole);
        }
        for each in interface.appendables {
            let before = out.length;
            let written = out.u32(each.hashes.len() as u32);
            if written.and_then(|()| out.bytes(each.hashes.as_flattened())).is_none() {
                return Some(before);
            }
        }
        Some(out.length)
    }

    /// Judges a detail. `None`: it is none, or has less than its first fields.
    pub fn decode(detail: &'p [u8]) -> Option<Version<'p>> {
        let mut input = In { rest: detail };
        let interface_hash = input.array()?;
        let classes = input.classes()?;
        let procedure_count = input.u32()?;
        let procedures = ProcedureList { rest: input.rest, left: procedure_count };
        Some(Version { interface_hash, classes, procedure_count, procedures })
    }

    /// The appendable types, which stand behind the procedures.
    pub fn appendables(&self) -> AppendableList<'p> {
        let mut procedures = self.procedures;
        procedures.by_ref().for_each(drop);
        let mut input = In { rest: procedures.rest };
        let left = if procedures.left == 0 { input.u32() } else { None };
        AppendableList { rest: input.rest, left }
    }
}

impl AppendableList<'_> {
    /// Whether all have been listed.
    pub fn is_over(&self) -> bool {
        self.left == Some(0)
    }
}

impl<'p> Iterator for AppendableList<'p> {
    /// Hashes: of the name, then one a member.
    type Item = &'p [[u8; 16]];

    fn next(&mut self) -> Option<Self::Item> {
        let left = self.left?.checked_sub(1)?;
        let mut input = In { rest: self.rest };
        let bytes = (input.u32()? as usize).checked_mul(size_of::<[u8; 16]>())?;
        let (hashes, _) = input.bytes(bytes)?.as_chunks();
        *self = AppendableList { rest: input.rest, left: Some(left) };
        Some(hashes)
    }
}

impl<'p> Iterator for ProcedureList<'p> {
    type Item = ListedProcedure<'p>;

    fn next(&mut self) -> Option<Self::Item> {
        let left = self.left.checked_sub(1)?;
        let mut input = In { rest: self.rest };
        let hash = input.array()?;
        let class = u8::try_from(input.u32()?).ok()?;
        let name = core::str::from_utf8(input.text()?).ok()?;
        *self = ProcedureList { rest: input.rest, left };
        Some(ListedProcedure { name, hash, class })
    }
}
