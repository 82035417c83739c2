//! Values as bytes of a message, one of them a lie if that is wanted. Written from what the design
//! says of messages, not from what a back end prints: both have to agree.

use std::collections::BTreeSet;

use nearcall_idl::layout::{
    Form, ItemKind, MessageLayout, Place, Range, Scalar, Shape, members, range, shape,
};
use nearcall_idl::model::{
    Annotation, DeclarationId, Kind as Declared, Member, Model, Primitive, Type, Union,
    Value as Label,
};
use nearcall_idl::selftest::Value;

use crate::Kind;
use crate::messages::Message;

/// A lie of more bytes only claims them.
const BYTES_MAX: u64 = 1 << 20;

/// Deeper places are the same code once more.
const DEPTH_MAX: usize = 3;

/// One lie: there is one of each variant for each kind and place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lie {
    /// What it is about.
    pub kind: Kind,
    /// Names of members, down to the value.
    pub place: String,
    /// Which of several.
    pub variant: u8,
}

/// A value, its type, and what annotations say of it.
#[derive(Clone, Copy)]
pub struct Known<'v> {
    pub declared: &'v Type,
    pub annotations: &'v [Annotation],
    pub value: &'v Value,
    /// The member of an exception that it is, if it is one that may be absent.
    pub optional: Option<&'v Member>,
}

/// Writes one message.
pub struct Writer<'m> {
    model: &'m Model,
    wanted: Option<&'m Lie>,
    path: Vec<String>,
    /// Every lie that there is a place for.
    pub found: BTreeSet<Lie>,
    /// Whether the wanted one was told.
    pub is_told: bool,
}

impl<'m> Writer<'m> {
    pub fn new(model: &'m Model, wanted: Option<&'m Lie>) -> Writer<'m> {
        Writer { model, wanted, path: Vec::new(), found: BTreeSet::new(), is_told: false }
    }

    /// Writes both parts; `root` knows what stands at a place.
    pub fn message<'v>(
        &mut self,
        layout: &MessageLayout,
        known: impl Fn(&Place) -> (String, Known<'v>),
    ) -> Message {
        let mut fixed = vec![0; layout.fixed_bytes as usize];
        let mut put = |at: u32, bytes: &[u8]| {
            fixed[at as usize..at as usize + bytes.len()].copy_from_slice(bytes);
        };
        let mut variable = Vec::new();
        for payload in &layout.payloads {
            let (name, value) = known(&payload.place);
            let is_length = |item: &&nearcall_idl::layout::Item| {
                item.kind == ItemKind::Length && item.place == payload.place
            };
            let length = layout.items.iter().find(is_length).expect("a payload has a length");
            self.path.push(name);
            let (count, bytes) = self.payload(payload.form, payload.bound, value);
            let is_longer = self.tells(Kind::Length, 0);
            self.path.pop();
            put(length.at, &(if is_longer { u32::MAX } else { count }).to_le_bytes());
            variable.extend(bytes);
            variable.resize(variable.len().next_multiple_of(8), 0);
        }
        for item in &layout.items {
            if item.kind == ItemKind::Length {
                continue;
            }
            let (name, value) = known(&item.place);
            let mut bytes = Vec::new();
            self.inside(name, |writer| match item.kind {
                ItemKind::Presence => {
                    let is_there = Value::Boolean(*value.value != Value::Unopened);
                    let boolean = Type::Primitive(Primitive::Boolean);
                    writer.word(&boolean, &is_there, &[], false, &mut bytes);
                }
                _ => writer.value(value, &mut bytes),
            });
            put(item.at, &bytes);
        }
        let variable_at = (!layout.payloads.is_empty()).then_some(layout.variable_at as usize);
        Message { fixed, variable_at, variable, ..Message::default() }
    }

    fn inside(&mut self, name: impl Into<String>, write: impl FnOnce(&mut Self)) {
        self.path.push(name.into());
        write(self);
        self.path.pop();
    }

    /// Whether this is where the wanted lie is told.
    fn tells(&mut self, kind: Kind, variant: u8) -> bool {
        if self.path.len() > 2 * DEPTH_MAX {
            return false;
        }
        let lie = Lie { kind, place: self.path.join("."), variant };
        match self.wanted {
            Some(wanted) => {
                let is_here = !self.is_told && *wanted == lie;
                self.is_told |= is_here;
                is_here
            }
            None => {
                self.found.insert(lie);
                false
            }
        }
    }

    /// The length word of a payload, and its bytes.
    fn payload(&mut self, form: Form, bound: Option<u32>, known: Known<'_>) -> (u32, Vec<u8>) {
        let mut bytes = Vec::new();
        match form {
            Form::Text | Form::WideText => {
                let text = self.text(known.value, bound);
                return (text.len() as u32, text);
            }
            Form::Marshalled => {
                match known.optional {
                    Some(member) => self.member(member, known.value, &mut bytes),
                    None => self.value(known, &mut bytes),
                }
                return (bytes.len() as u32, bytes);
            }
            Form::Octets | Form::Lent | Form::Elements { .. } => {}
        }
        let Type::Sequence { element, .. } = self.model.resolved(known.declared) else {
            panic!("{:?} is no sequence", known.declared);
        };
        let count = self.items(element, known.value, bound, &mut bytes);
        (count, bytes)
    }

    /// Items one behind the other, more than there may be if that is the lie; how many.
    fn items(
        &mut self,
        element: &Type,
        value: &Value,
        bound: Option<u32>,
        bytes: &mut Vec<u8>,
    ) -> u32 {
        let Value::Items { part, count } = value else { panic!("{value:?} are no items") };
        let mut first = Vec::new();
        for (item, index) in part.iter().cycle().take(*count as usize).zip(0u32..) {
            let known = Known { declared: element, annotations: &[], value: item, optional: None };
            self.inside("[]", |writer| writer.value(known, bytes));
            if index == 0 {
                first.clone_from(bytes);
            }
        }
        self.over_bound(bound, *count, &first, bytes)
    }

    /// Fills up to one more than the bound with copies, if that is the lie.
    fn over_bound(
        &mut self,
        bound: Option<u32>,
        count: u32,
        one: &[u8],
        bytes: &mut Vec<u8>,
    ) -> u32 {
        let Some(over) = bound.and_then(|bound| bound.checked_add(1)) else { return count };
        if !self.tells(Kind::Bound, 0) {
            return count;
        }
        let missing = over - count;
        if u64::from(missing) * (one.len() as u64) < BYTES_MAX {
            (0..missing).for_each(|_| bytes.extend(one));
        }
        over
    }

    fn text(&mut self, value: &Value, bound: Option<u32>) -> Vec<u8> {
        let mut text = value.text().into_bytes();
        if self.tells(Kind::Text, 0) {
            match text.first_mut() {
                Some(first) => *first = 0xff,
                None => text.push(0xff),
            }
        }
        // A sequence that is cut off, and a surrogate; both only where the bound is not in the way.
        let bad: [&[u8]; 2] = [b"\xe2\x82", b"\xed\xa0\x80"];
        for (bytes, variant) in bad.into_iter().zip(1..) {
            if bound.is_none_or(|bound| bound >= 3) && self.tells(Kind::Text, variant) {
                text = bytes.to_vec();
            }
        }
        if let Some(bound) = bound.filter(|bound| u64::from(*bound) < BYTES_MAX)
            && self.tells(Kind::Bound, 0)
        {
            text = vec![b'x'; bound as usize + 1];
        }
        text
    }

    /// A value as it is marshalled, which for one word is as it lies in the fixed part.
    fn value(&mut self, known: Known<'_>, bytes: &mut Vec<u8>) {
        let model = self.model;
        let Known { mut declared, mut annotations, value, .. } = known;
        let mut ranges = Vec::new();
        loop {
            ranges.extend(range(model, annotations, declared));
            let Type::Named(id) = declared else { break };
            let Declared::Alias(behind) = &model.declaration(*id).kind else { break };
            (declared, annotations) = (behind, &model.declaration(*id).annotations);
        }
        match declared {
            Type::Primitive(Primitive::LongDouble) => {
                let Value::LongDouble(own) = value else { panic!("{value:?}") };
                bytes.extend(own);
            }
            Type::Primitive(_) => self.word(declared, value, &ranges, false, bytes),
            Type::String { bound } | Type::WideString { bound } => {
                let text = self.text(value, *bound);
                self.count(text.len() as u32, bytes);
                bytes.extend(text);
            }
            Type::Sequence { element, bound } => {
                let mut inner = Vec::new();
                let count = self.items(element, value, *bound, &mut inner);
                self.count(count, bytes);
                bytes.extend(inner);
            }
            Type::Array { .. } => {
                let element = nearcall_idl::selftest::element(declared).expect("it has elements");
                self.items(&element, value, None, bytes);
            }
            Type::Map { key, value: held, bound } => {
                self.pairs((key, held), value, *bound, bytes);
            }
            Type::Named(id) => self.named((declared, *id), value, &ranges, bytes),
        }
    }

    /// A length or a count, or one beyond the message.
    fn count(&mut self, count: u32, bytes: &mut Vec<u8>) {
        let is_longer = self.tells(Kind::Length, 0);
        bytes.extend((if is_longer { u32::MAX } else { count }).to_le_bytes());
    }

    fn pairs(
        &mut self,
        (key, held): (&Type, &Type),
        value: &Value,
        bound: Option<u32>,
        bytes: &mut Vec<u8>,
    ) {
        let Value::Pairs(pairs) = value else { panic!("{value:?} is no map") };
        let (mut inner, mut first) = (Vec::new(), Vec::new());
        for (own, item) in pairs {
            let known =
                |declared, value| Known { declared, annotations: &[], value, optional: None };
            self.inside("key", |writer| writer.value(known(key, own), &mut inner));
            self.inside("value", |writer| writer.value(known(held, item), &mut inner));
            if first.is_empty() {
                first.clone_from(&inner);
            }
        }
        let mut count = self.over_bound(bound, pairs.len() as u32, &first, &mut inner);
        let has_room = !first.is_empty() && bound.is_none_or(|bound| count < bound);
        if has_room && self.tells(Kind::Key, 0) {
            inner.extend(first);
            count += 1;
        }
        self.count(count, bytes);
        bytes.extend(inner);
    }

    fn named(
        &mut self,
        (declared, id): (&Type, DeclarationId),
        value: &Value,
        ranges: &[Range],
        bytes: &mut Vec<u8>,
    ) {
        let declaration = self.model.declaration(id);
        match (&declaration.kind, value) {
            (Declared::Union(union), _) if declaration.is_appendable() => {
                let mut inner = Vec::new();
                self.union(union, value, &mut inner);
                self.count(inner.len() as u32, bytes);
                bytes.extend(inner);
            }
            (Declared::Union(union), _) => self.union(union, value, bytes),
            (_, Value::Fields(fields)) => {
                let mut inner = Vec::new();
                let all = members(self.model, id);
                for (member, field) in all.iter().zip(fields) {
                    self.inside(&*member.name, |writer| writer.member(member, field, &mut inner));
                }
                if declaration.is_appendable() {
                    self.count(inner.len() as u32, bytes);
                } else if all.is_empty() {
                    inner.push(0);
                }
                bytes.extend(inner);
            }
            _ => self.word(declared, value, ranges, false, bytes),
        }
    }

    fn member(&mut self, member: &Member, value: &Value, bytes: &mut Vec<u8>) {
        if member.is_optional {
            let is_there = *value != Value::Absent;
            let is_neither = self.tells(Kind::Presence, 0);
            bytes.push(if is_neither { 2 } else { u8::from(is_there) });
            if !is_there {
                return;
            }
        }
        let Member { declared, annotations, .. } = member;
        self.value(Known { declared, annotations, value, optional: None }, bytes);
    }

    fn union(&mut self, union: &Union, value: &Value, bytes: &mut Vec<u8>) {
        let Value::Case { discriminator, case, value } = value else {
            panic!("{value:?} is no union");
        };
        let declared = self.model.resolved(&union.discriminator);
        self.inside("_d", |writer| writer.word(declared, discriminator, &[], true, bytes));
        if let Some(case) = case {
            let member = &union.cases[*case as usize].member;
            self.inside(&*member.name, |writer| writer.member(member, value, bytes));
        }
    }

    /// A word, or one that is no value of its type; `is_label` of a discriminator.
    fn word(
        &mut self,
        declared: &Type,
        value: &Value,
        ranges: &[Range],
        is_label: bool,
        bytes: &mut Vec<u8>,
    ) {
        let Shape::Scalar(scalar) = shape(self.model, declared) else {
            panic!("{declared:?} is no word");
        };
        let width = usize::from(scalar.width());
        let mut word = number(self.model, scalar, value) as u64;
        let (kind, lies) = self.no_values(scalar, width);
        let kind = if is_label { Kind::Label } else { kind };
        for (lie, variant) in lies.into_iter().zip(0..) {
            if self.tells(kind, variant) {
                word = lie;
            }
        }
        for ((kind, lie), variant) in self.beyond(scalar, ranges).into_iter().zip(0..) {
            if self.tells(kind, variant) {
                word = lie;
            }
        }
        bytes.extend(&word.to_le_bytes()[..width]);
    }

    /// Words that are no value of a type, whatever its range.
    fn no_values(&self, scalar: Scalar, width: usize) -> (Kind, Vec<u64>) {
        let mask = u64::MAX >> (64 - 8 * width);
        match scalar {
            Scalar::Primitive(Primitive::Boolean) => (Kind::Boolean, vec![2, 255]),
            Scalar::Primitive(Primitive::WideChar) => {
                (Kind::Character, vec![0xd800, 0xdfff, 0x11_0000, 0xffff_ffff])
            }
            // Any may be one of a later version.
            Scalar::Enum { id, .. } if self.model.may_grow(id) => (Kind::Enumerator, Vec::new()),
            Scalar::Enum { id, .. } => {
                let Declared::Enum(own) = &self.model.declaration(id).kind else {
                    panic!("{id:?} is no enum");
                };
                let values = own.enumerators.iter().map(|one| one.value as u64 & mask);
                let values: BTreeSet<u64> = values.collect();
                let tried = (0..=values.len() as u64).chain([mask, mask >> 1, (mask >> 1) + 1]);
                (Kind::Enumerator, tried.filter(|one| !values.contains(one)).collect())
            }
            Scalar::Bits { id, .. } => {
                let own = match &self.model.declaration(id).kind {
                    Declared::Bitmask(own) => {
                        own.flags.iter().fold(0, |all, (_, at)| all | 1u64 << at)
                    }
                    Declared::Bitset(own) => own.fields.iter().fold(0, |all, field| {
                        all | (u64::MAX >> (64 - field.width.clamp(1, 64))) << field.position
                    }),
                    other => panic!("{other:?} has no bits"),
                };
                let free = (0..8 * width as u32).map(|at| 1 << at).filter(|bit| own & bit == 0);
                let all: Vec<u64> = free.collect();
                let ends = [all.first(), all.last()];
                (Kind::Bits, ends.into_iter().flatten().copied().collect())
            }
            Scalar::Primitive(_) => (Kind::Range, Vec::new()),
        }
    }

    /// Words that are values of the type, and out of a range.
    fn beyond(&self, scalar: Scalar, ranges: &[Range]) -> Vec<(Kind, u64)> {
        let ends = |range: &Range| {
            [range.least.clone(), range.greatest.clone()].into_iter().flatten().collect::<Vec<_>>()
        };
        let mut found = Vec::new();
        for range in ranges {
            match scalar {
                Scalar::Primitive(primitive @ (Primitive::Float | Primitive::Double)) => {
                    let mut words = vec![(Kind::Float, f64::NAN), (Kind::Float, -f64::NAN)];
                    for (end, sign) in [(&range.least, -1.0), (&range.greatest, 1.0)] {
                        if let Some(end) = end.as_ref().map(float) {
                            words.push((Kind::Float, sign * f64::INFINITY));
                            words.push((Kind::Range, end + sign * (1.0 + end.abs())));
                        }
                    }
                    let bits = |value: f64| match primitive {
                        Primitive::Float => u64::from((value as f32).to_bits()),
                        _ => value.to_bits(),
                    };
                    found.extend(words.into_iter().map(|(kind, value)| (kind, bits(value))));
                }
                Scalar::Enum { id, .. } => {
                    let Declared::Enum(own) = &self.model.declaration(id).kind else { continue };
                    let values = own.enumerators.iter().map(|one| i128::from(one.value));
                    let least = range.least.as_ref().map(|end| whole(self.model, end));
                    let greatest = range.greatest.as_ref().map(|end| whole(self.model, end));
                    let is_out = |value: &i128| {
                        least.is_some_and(|least| *value < least)
                            || greatest.is_some_and(|greatest| *value > greatest)
                    };
                    let out = values.filter(is_out).take(1);
                    found.extend(out.map(|value| (Kind::Range, value as u64)));
                }
                Scalar::Primitive(primitive) => {
                    let ends = ends(range);
                    let below = range.least.as_ref().map(|end| whole(self.model, end) - 1);
                    let above = range.greatest.as_ref().map(|end| whole(self.model, end) + 1);
                    debug_assert!(!ends.is_empty());
                    let (first, last) = integers(primitive);
                    let both = below.into_iter().chain(above);
                    let both = both.filter(|word| (first..=last).contains(word));
                    found.extend(both.map(|word| (Kind::Range, word as u64)));
                }
                Scalar::Bits { .. } => {}
            }
        }
        found
    }
}

/// The word of a value.
fn number(model: &Model, scalar: Scalar, value: &Value) -> i128 {
    match (value, scalar) {
        (Value::Boolean(value), _) => (*value).into(),
        (Value::Integer(value), _) => *value,
        (Value::Char(value), _) => (*value).into(),
        (Value::WideChar(value), _) => u32::from(*value).into(),
        (Value::Float(bits), _) => (*bits).into(),
        (Value::Double(bits) | Value::Bits(bits), _) => (*bits).into(),
        (Value::Enumerator(index), Scalar::Enum { id, .. }) => match &model.declaration(id).kind {
            Declared::Enum(own) => own.enumerators[*index as usize].value.into(),
            other => panic!("{other:?} is no enum"),
        },
        _ => panic!("{value:?} is no word"),
    }
}

/// An end of a range, as a number.
fn whole(model: &Model, end: &Label) -> i128 {
    match end {
        Label::Integer(value) => *value,
        Label::Char(letter) => u32::from(*letter).into(),
        Label::Enumerator(id, index) => match &model.declaration(*id).kind {
            Declared::Enum(own) => own.enumerators[*index as usize].value.into(),
            other => panic!("{other:?} is no enum"),
        },
        other => panic!("{other:?} is no end of whole numbers"),
    }
}

fn float(end: &Label) -> f64 {
    match end {
        Label::Float(value) => *value,
        Label::Integer(value) => *value as f64,
        other => panic!("{other:?} is no end of numbers"),
    }
}

/// What a word of a type can hold.
fn integers(primitive: Primitive) -> (i128, i128) {
    let signed = |bits: u32| (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1);
    let unsigned = |bits: u32| (0, (1i128 << bits) - 1);
    match primitive {
        Primitive::Int8 => signed(8),
        Primitive::Int16 => signed(16),
        Primitive::Int32 => signed(32),
        Primitive::Int64 => signed(64),
        Primitive::Uint16 => unsigned(16),
        Primitive::Uint32 => unsigned(32),
        Primitive::WideChar => (0, 0x10_ffff),
        Primitive::Uint64 => unsigned(64),
        _ => unsigned(8),
    }
}
