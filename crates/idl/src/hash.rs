//! What import and export compare: 128 bits over everything that decides the layout of messages.
//!
//! The text that is hashed names types after all aliases are gone, widths, offsets, bounds and
//! directions, and whatever values are known by: names of parameters, members, cases, enumerators,
//! flags, bit fields and exceptions, or of a .proto file the numbers. Two of one type that change
//! places would else bind, and their values be taken for each other. It has no name of a type, no
//! comment, no path and no repository id. Knows no target language.
//!
//! An appendable struct stands in that text by its name alone, an appendable enum by its name and
//! width. Their members and enumerators have hashes of their own, each over all up to it, so that
//! of two versions of which one only adds some at the end of the other, one list begins with the
//! other (docs/design/0030). The list of a message of a .proto file has all its fields, by number,
//! those of its oneofs among them, each with its oneof; an enum of one has no list: it may have any
//! values (0012).

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use crate::layout::{ItemKind, MessageLayout, OperationLayout, Place, Root, members, range};
use crate::model::{
    Annotation, DeclarationId, Descriptor, Direction, FeedPart, Kind, Member, Model, Operation,
    Type, Value,
};

/// Changes whenever the meaning of the hashed text does.
const VERSION: &str = "nearcall layout 2\n";

/// Hash of one procedure: its messages, not its name.
pub fn procedure(model: &Model, operation: &Operation, layout: &OperationLayout) -> [u8; 16] {
    digest(&canonical(model, operation, layout))
}

/// Hashes of an appendable struct or enum: of its name, then one a member or enumerator, of all up
/// to that one.
pub fn appendable(model: &Model, id: DeclarationId) -> Vec<[u8; 16]> {
    let declaration = model.declaration(id);
    let mut hashes = vec![digest(&format!("{VERSION}appendable {}", declaration.name))];
    for (oneof, member) in listed(model, id) {
        let before = hex(hashes.last().expect("that of the name"));
        let mut writer = Canonical { model, text: before + " ", open: Vec::new() };
        if let Some(number) = oneof {
            writer.add(format_args!("of oneof {number}: "));
        }
        writer.member(member);
        hashes.push(digest(&writer.text));
    }
    if let Kind::Enum(shape) = &declaration.kind {
        for one in shape.enumerators.iter().filter(|one| !one.is_numbered) {
            let before = hex(hashes.last().expect("that of the name"));
            hashes.push(digest(&format!("{before} {} {}", one.name, one.value)));
        }
    }
    hashes
}

/// The members of a struct; of a message of a .proto file its fields by number, those of a oneof
/// each with what the oneof is known by, its lowest number. In one list, since a number stands for
/// one field of a message, wherever it is: one that leaves its oneof is another one.
fn listed(model: &Model, id: DeclarationId) -> Vec<(Option<i32>, &Member)> {
    let mut all = Vec::new();
    for member in members(model, id) {
        match model.oneof(&member.declared) {
            Some(oneof) => {
                let cases = oneof.cases.iter().map(|case| (member.number, &case.member));
                all.extend(cases);
            }
            None => all.push((None, member)),
        }
    }
    // Those without a number stay in their order.
    all.sort_by_key(|(_, member)| member.number);
    all
}

/// Hash of an interface: names and hashes of its procedures, in order; then the last hash of each
/// appendable struct in their messages.
pub fn interface<'p>(
    procedures: impl Iterator<Item = (&'p str, &'p [u8; 16])>,
    appendables: impl Iterator<Item = &'p [u8; 16]>,
) -> [u8; 16] {
    let mut text = String::from(VERSION);
    for (name, hash) in procedures {
        text.push_str(name);
        text.push(' ');
        text.push_str(&hex(hash));
        text.push('\n');
    }
    for hash in appendables {
        text.push_str(&format!("appendable {}\n", hex(hash)));
    }
    digest(&text)
}

/// Lower-case hexadecimal digits.
pub fn hex(hash: &[u8; 16]) -> String {
    hash.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The first 128 bits of SHA-256.
pub fn digest(text: &str) -> [u8; 16] {
    let digest = Sha256::digest(text.as_bytes());
    let mut hash = [0; 16];
    hash.copy_from_slice(&digest[..16]);
    hash
}

/// The text that is hashed for a procedure.
pub fn canonical(model: &Model, operation: &Operation, layout: &OperationLayout) -> String {
    let mut text = String::from(VERSION);
    if operation.is_oneway {
        text.push_str("oneway\n");
    }
    // The number of a feed looks like any other that is returned.
    if operation.feed.as_ref().is_some_and(|feed| feed.part == FeedPart::Open) {
        text.push_str("opens a feed\n");
    }
    let mut writer = Canonical { model, text, open: Vec::new() };
    for parameter in &operation.parameters {
        writer.text.push_str(match parameter.direction {
            Direction::In => "in ",
            Direction::Inout => "inout ",
            Direction::Out => "out ",
        });
        writer.add(format_args!("{} ", parameter.name));
        if parameter.is_opaque {
            writer.text.push_str("opaque ");
        }
        writer.descriptor(parameter.descriptor);
        writer.ranged(&parameter.declared, &parameter.annotations);
        writer.text.push('\n');
    }
    if let Some(returns) = &operation.returns {
        let opaque = if operation.returns_opaque { "opaque " } else { "" };
        writer.text.push_str("returns ");
        writer.text.push_str(opaque);
        writer.descriptor(operation.returns_descriptor);
        writer.declared(returns);
        writer.text.push('\n');
    }
    writer.message("request", None, &layout.request);
    writer.message("reply", None, &layout.reply);
    for (id, message) in operation.raises.iter().zip(&layout.raised) {
        writer.message("raised", Some(*id), message);
    }
    writer.text
}

struct Canonical<'m> {
    model: &'m Model,
    text: String,
    /// Structs and unions being written, outermost first: a type that contains itself is written
    /// as how far up it is.
    open: Vec<DeclarationId>,
}

impl Canonical<'_> {
    fn add(&mut self, arguments: std::fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = self.text.write_fmt(arguments);
    }

    fn descriptor(&mut self, descriptor: Option<Descriptor>) {
        if let Some(Descriptor { kind, is_optional }) = descriptor {
            let optional = if is_optional { "optional " } else { "" };
            self.add(format_args!("{optional}descriptor {} ", kind.word()));
        }
    }

    fn message(&mut self, title: &str, exception: Option<DeclarationId>, message: &MessageLayout) {
        self.add(format_args!("{title} {} {}\n", message.fixed_bytes, message.variable_at));
        if let Some(id) = exception {
            self.add(format_args!("{}\n", self.model.declaration(id).name));
            for member in members(self.model, id) {
                self.member(member);
                self.text.push('\n');
            }
        }
        for item in &message.items {
            self.place(&item.place);
            match item.kind {
                ItemKind::Scalar(scalar) => {
                    self.add(format_args!(" word {} at {}\n", scalar.width(), item.at));
                }
                ItemKind::Block { bytes } => {
                    self.add(format_args!(" block {bytes} at {}\n", item.at));
                }
                ItemKind::Image { bytes } => {
                    self.add(format_args!(" image {bytes} at {}\n", item.at));
                }
                ItemKind::Length => self.add(format_args!(" length at {}\n", item.at)),
                ItemKind::Presence => self.add(format_args!(" presence at {}\n", item.at)),
            }
        }
        for payload in &message.payloads {
            self.place(&payload.place);
            self.add(format_args!(" payload {:?} bound {:?}\n", payload.form, payload.bound));
        }
    }

    fn place(&mut self, place: &Place) {
        match place.root {
            Root::Returned => self.text.push_str("returned"),
            Root::Parameter(index) => self.add(format_args!("parameter {index}")),
            Root::Member(index) => self.add(format_args!("member {index}")),
        }
        for index in &place.path {
            self.add(format_args!(".{index}"));
        }
    }

    /// A type and the ranges that it, or the place it stands in, has.
    fn ranged(&mut self, declared: &Type, annotations: &[Annotation]) {
        let model = self.model;
        let (mut declared, mut annotations) = (declared, annotations);
        loop {
            if let Some(range) = range(model, annotations, declared) {
                self.text.push_str("range ");
                for end in [&range.least, &range.greatest] {
                    match end {
                        Some(end) => self.label(end),
                        None => self.text.push_str("any:"),
                    }
                }
            }
            let Type::Named(id) = declared else { break };
            let declaration = model.declaration(*id);
            let Kind::Alias(behind) = &declaration.kind else { break };
            (declared, annotations) = (behind, &declaration.annotations);
        }
        self.resolved(declared);
    }

    fn declared(&mut self, declared: &Type) {
        self.ranged(declared, &[]);
    }

    fn resolved(&mut self, declared: &Type) {
        let bounded = |bound: &Option<u32>| bound.map(|n| format!("<={n}")).unwrap_or_default();
        match declared {
            Type::Primitive(primitive) => self.add(format_args!("{primitive:?}")),
            Type::String { bound } => self.add(format_args!("string{}", bounded(bound))),
            Type::WideString { bound } => self.add(format_args!("wstring{}", bounded(bound))),
            Type::Sequence { element, bound } => {
                self.add(format_args!("sequence{}(", bounded(bound)));
                self.declared(element);
                self.text.push(')');
            }
            Type::Array { element, dimensions } => {
                self.add(format_args!("array{dimensions:?}("));
                self.declared(element);
                self.text.push(')');
            }
            Type::Map { key, value, bound } => {
                self.add(format_args!("map{}(", bounded(bound)));
                self.declared(key);
                self.text.push(',');
                self.declared(value);
                self.text.push(')');
            }
            Type::Named(id) => self.named(*id),
        }
    }

    fn named(&mut self, id: DeclarationId) {
        let declaration = self.model.declaration(id);
        if declaration.is_appendable() {
            return self.add(format_args!("appendable {}", declaration.name));
        }
        if let Some(up) = self.open.iter().rev().position(|open| *open == id) {
            self.add(format_args!("up {up}"));
            return;
        }
        self.open.push(id);
        let model = self.model;
        match &model.declaration(id).kind {
            Kind::Enum(shape) if model.may_grow(id) => {
                if shape.is_numbered() {
                    self.text.push_str("numbered ");
                }
                self.add(format_args!("appendable enum {} {}", declaration.name, shape.bit_bound));
            }
            Kind::Enum(shape) => {
                self.add(format_args!("enum {}(", shape.bit_bound));
                for one in &shape.enumerators {
                    let name = if one.is_numbered { "" } else { &one.name };
                    self.add(format_args!("{name} {};", one.value));
                }
                self.text.push(')');
            }
            Kind::Bitmask(shape) => {
                let mut flags: Vec<(u8, &str)> =
                    shape.flags.iter().map(|(name, position)| (*position, &**name)).collect();
                flags.sort_unstable();
                self.add(format_args!("bitmask {}{flags:?}", shape.bit_bound));
            }
            Kind::Bitset(shape) => {
                self.add(format_args!("bitset {}(", shape.width));
                for field in &shape.fields {
                    let (name, at, bits) = (&field.name, field.position, field.width);
                    self.add(format_args!("{name} {at}+{bits} {:?};", field.declared));
                }
                self.text.push(')');
            }
            Kind::Union(union) => self.union(union),
            _ => {
                self.text.push_str("struct(");
                for member in members(model, id) {
                    self.member(member);
                }
                self.text.push(')');
            }
        }
        self.open.pop();
    }

    fn union(&mut self, union: &crate::model::Union) {
        self.text.push_str("union ");
        self.declared(&union.discriminator);
        self.add(format_args!(" default {:?}(", union.default));
        for case in &union.cases {
            for label in &case.labels {
                self.label(label);
            }
            self.member(&case.member);
        }
        self.text.push(')');
    }

    fn label(&mut self, label: &Value) {
        match label {
            // The enum that it belongs to has been written.
            Value::Enumerator(_, index) => self.add(format_args!("#{index}:")),
            value => self.add(format_args!("{value:?}:")),
        }
    }

    fn member(&mut self, member: &Member) {
        match member.number {
            Some(number) => self.add(format_args!("{number} ")),
            None => self.add(format_args!("{} ", member.name)),
        }
        if member.is_optional {
            self.text.push_str("optional ");
        }
        self.ranged(&member.declared, &member.annotations);
        self.text.push(';');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_hash_depends_on_names_hashes_and_order() {
        fn hash(procedures: [(&str, &[u8; 16]); 2], appendables: &[[u8; 16]]) -> [u8; 16] {
            interface(procedures.into_iter(), appendables.iter())
        }
        let (one, two) = ([1; 16], [2; 16]);
        let first = hash([("a", &one), ("b", &two)], &[]);
        assert_ne!(first, hash([("b", &two), ("a", &one)], &[]));
        assert_ne!(first, hash([("a", &two), ("b", &two)], &[]));
        assert_ne!(first, hash([("a", &one), ("c", &two)], &[]));
        assert_ne!(first, hash([("a", &one), ("b", &two)], &[one]));
        assert_eq!(first, hash([("a", &one), ("b", &two)], &[]));
    }

    #[test]
    fn hex_is_lower_case_and_whole() {
        assert_eq!(hex(&[0x0a; 16]), "0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a");
    }
}
