//! Values of any type: within every bound and range, and often at their ends.

use crate::layout::{Range, is_recursive, members, range};
use crate::model::{
    Annotation, Bitmask, Bitset, DeclarationId, Descriptor, DescriptorKind, Kind, Member, Model,
    Primitive, Type, Union, UnionDefault, Value as Label,
};
use crate::selftest::element;
use crate::selftest::random::Random;
use crate::selftest::shown::{enumeration, label, shown};

/// A value of some type, which whoever reads it knows.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// An optional member that is not there, or what a discriminator without a case selects.
    Absent,
    /// `boolean`
    Boolean(bool),
    /// Every integer type and `octet`.
    Integer(i128),
    /// `char`
    Char(u8),
    /// `wchar`
    WideChar(char),
    /// `float`, as its bits
    Float(u32),
    /// `double`, as its bits
    Double(u64),
    /// `long double`
    LongDouble([u8; 16]),
    /// `string`, `wstring`: a part so many times
    Text {
        /// Empty only if the text is.
        part: String,
        /// How often it stands there.
        times: u32,
    },
    /// A sequence or an array: the items of a part over and over, until there are so many.
    Items {
        /// At most as many as `count`; empty only if that is 0.
        part: Vec<Value>,
        /// How many items there are.
        count: u32,
    },
    /// `map`, no key twice
    Pairs(Vec<(Value, Value)>),
    /// Members of a struct or exception, inherited ones first
    Fields(Vec<Value>),
    /// A union
    Case {
        /// What selects the case.
        discriminator: Box<Value>,
        /// By index; `None` if nothing is selected.
        case: Option<u32>,
        /// The member, `Absent` if nothing is selected.
        value: Box<Value>,
    },
    /// An enumerator, by its place in the enum
    Enumerator(u32),
    /// The word of a bitmask or a bitset
    Bits(u64),
    /// `@fd`: an open file with a text in it, which whoever gets it reads once
    Opened {
        /// What it is.
        kind: DescriptorKind,
        /// At most [`OPENED_BYTES_MAX`] bytes.
        text: String,
        /// It might have been absent.
        is_optional: bool,
    },
    /// `@optional @fd`: an open file that is absent
    Unopened,
}

/// No text in an open file is longer: neither a pipe nor a socket keeps its writer waiting.
pub const OPENED_BYTES_MAX: u32 = 64;

/// How long what has a length is, wherever its bound allows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// None at all; optional members are absent.
    Nothing,
    /// A few.
    Few,
    /// More than a head line holds.
    PastInline,
    /// More than an A-stack holds.
    OutOfLine,
    /// As many as the bound allows; a few where there is none.
    Most,
}

/// Sequences below this many values around them are empty.
const DEPTH_MAX: u32 = 4;
/// Longer ones repeat their first items.
const SPELLED_MAX: u32 = 7;
/// Octets of a head line are fewer, of an A-stack more.
const PAST_INLINE: u32 = 150;
const OUT_OF_LINE: u32 = 3_000;
/// As often a value is repeated that is not a scalar or a text.
const HEAVY_MAX: u32 = 40;
/// The longest bound that is used up.
const MOST_MAX: u32 = 5_000;
/// Most bytes of a text, with a NUL behind it.
const TEXT_MAX: u32 = MOST_MAX * 4 + 1;

/// Letters of one to four bytes, and those that a language might quote. No NUL: text in C has none.
const LETTERS: &[char] = &['a', 'Z', ' ', '"', '\\', '\n', '?', '{', '%', 'é', '€', '😀'];
/// Scalar values where the encodings change.
const WIDE: &[char] =
    &['a', '\u{7f}', '\u{80}', 'é', '\u{7ff}', '\u{800}', '\u{d7ff}', '\u{e000}', '\u{10ffff}'];
/// Zeros, ones, the least and the greatest, what is no number: only the quiet one, whose bits no
/// conversion changes.
const FLOATS: &[u32] = &[
    0,
    0x8000_0000,
    0x3f80_0000,
    0xbf80_0000,
    1,
    0x8000_0001,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0x4048_f5c3,
];
const DOUBLES: &[u64] = &[
    0,
    1 << 63,
    0x3ff0_0000_0000_0000,
    0xbff0_0000_0000_0000,
    1,
    1 << 63 | 1,
    0x7fef_ffff_ffff_ffff,
    0xffef_ffff_ffff_ffff,
    0x7ff0_0000_0000_0000,
    0xfff0_0000_0000_0000,
    0x7ff8_0000_0000_0000,
    0x4009_1eb8_51eb_851f,
];

/// Most items of the values of a sequence, and bytes of those of a text, with a NUL behind it.
pub fn items_max(model: &Model, declared: &Type) -> u32 {
    match model.resolved(declared) {
        Type::Sequence { element, .. } if is_light(model, element) => MOST_MAX,
        Type::Sequence { .. } => HEAVY_MAX,
        _ => TEXT_MAX,
    }
}

/// Makes the values of one call.
pub struct Maker<'m, 'r> {
    model: &'m Model,
    random: &'r mut Random,
    size: Size,
}

impl<'m, 'r> Maker<'m, 'r> {
    /// For a call whose values are of this size.
    pub fn new(model: &'m Model, random: &'r mut Random, size: Size) -> Maker<'m, 'r> {
        Maker { model, random, size }
    }

    /// A value of a parameter or of a result.
    pub fn value(&mut self, declared: &Type, annotations: &[Annotation]) -> Value {
        self.at(declared, annotations, self.size, 0)
    }

    /// An open file, or none.
    pub fn descriptor(&mut self, Descriptor { kind, is_optional }: Descriptor) -> Value {
        if is_optional && self.leaves_out(self.size, false) {
            return Value::Unopened;
        }
        let text = self.text(Some(OPENED_BYTES_MAX), char::len_utf8, self.size).text();
        Value::Opened { kind, text, is_optional }
    }

    /// The items of a feed: none, a few, a whole batch, one more, and more than two.
    pub fn feed(&mut self, item: &Type, batch_count: u32) -> Value {
        let count = match self.size {
            Size::Nothing => 0,
            Size::Few => 3,
            Size::PastInline => batch_count,
            Size::Most => batch_count + 1,
            Size::OutOfLine => 2 * batch_count + 1,
        };
        self.items(item, count, 0)
    }

    /// The members of an exception.
    pub fn members(&mut self, id: DeclarationId) -> Value {
        self.fields(id, self.size, 0)
    }

    fn at(&mut self, declared: &Type, annotations: &[Annotation], size: Size, depth: u32) -> Value {
        let model = self.model;
        let mut ranges = Vec::new();
        let (mut declared, mut annotations) = (declared, annotations);
        loop {
            ranges.extend(range(model, annotations, declared));
            let Type::Named(id) = declared else { break };
            let Kind::Alias(behind) = &model.declaration(*id).kind else { break };
            (declared, annotations) = (behind, &model.declaration(*id).annotations);
        }
        match declared {
            Type::Primitive(primitive) => self.primitive(*primitive, &ranges),
            Type::String { bound } => self.text(*bound, char::len_utf8, size),
            Type::WideString { bound } => self.text(*bound, |_| 1, size),
            Type::Sequence { element, bound } => {
                let count = self.count(*bound, is_light(model, element), size, depth);
                self.items(element, count, depth)
            }
            Type::Array { dimensions, .. } => {
                // An array has a dimension, and so an element.
                let Some(element) = element(declared) else { return Value::Absent };
                self.items(&element, dimensions[0], depth)
            }
            Type::Map { key, value, bound } => self.map((key, value), *bound, size, depth),
            Type::Named(id) => self.named(*id, &ranges, size, depth),
        }
    }

    fn named(&mut self, id: DeclarationId, ranges: &[Range], size: Size, depth: u32) -> Value {
        let model = self.model;
        match &model.declaration(id).kind {
            Kind::Union(union) => self.union((id, union), size, depth),
            Kind::Enum(shape) => {
                let (mut first, mut last) = (0, shape.enumerators.len() as u64 - 1);
                for range in ranges {
                    first = first.max(range.least.as_ref().map_or(0, place));
                    last = last.min(range.greatest.as_ref().map_or(last, place));
                }
                Value::Enumerator((first + self.random.below(last - first + 1)) as u32)
            }
            Kind::Bitmask(Bitmask { flags, .. }) => {
                let all = flags.iter().fold(0, |all, (_, position)| all | 1u64 << position);
                Value::Bits(self.any_word() & all)
            }
            Kind::Bitset(Bitset { fields, .. }) => {
                let mask = |width: u8| u64::MAX >> (64 - u32::from(width.clamp(1, 64)));
                let all = fields.iter().fold(0, |all, one| all | mask(one.width) << one.position);
                Value::Bits(self.any_word() & all)
            }
            // Aliases were followed; what is left has members.
            _ => self.fields(id, size, depth),
        }
    }

    fn fields(&mut self, id: DeclarationId, size: Size, depth: u32) -> Value {
        let all = members(self.model, id);
        Value::Fields(all.into_iter().map(|member| self.member(member, size, depth)).collect())
    }

    fn member(&mut self, member: &Member, size: Size, depth: u32) -> Value {
        let is_deep = depth >= DEPTH_MAX && recurs(self.model, &member.declared);
        let is_absent = self.leaves_out(size, is_deep);
        if member.is_optional && is_absent {
            return Value::Absent;
        }
        self.at(&member.declared, &member.annotations, size, depth + 1)
    }

    /// Whether what may be absent is.
    fn leaves_out(&mut self, size: Size, is_deep: bool) -> bool {
        match size {
            Size::Nothing => true,
            Size::Most => is_deep,
            _ => is_deep || self.random.below(3) == 0,
        }
    }

    fn union(&mut self, (id, union): (DeclarationId, &Union), size: Size, depth: u32) -> Value {
        let model = self.model;
        let free = match model.declaration(id).is_appendable() {
            // A oneof that is not set.
            true => Some(Value::Integer(0)),
            false => self.free_discriminator(union),
        };
        let mut choices: Vec<Option<u32>> = (0..union.cases.len() as u32).map(Some).collect();
        if union.default == UnionDefault::Implicit && free.is_some() {
            choices.push(None);
        }
        if depth >= DEPTH_MAX {
            let ends = |choice: &Option<u32>| {
                let case = choice.map(|index| &union.cases[index as usize].member.declared);
                case.is_none_or(|declared| !recurs(model, declared))
            };
            let ending: Vec<_> = choices.iter().copied().filter(ends).collect();
            choices = if ending.is_empty() { choices } else { ending };
        }
        let case = *self.random.one_of(&choices);
        let discriminator = model.resolved(&union.discriminator);
        let labels = case.map(|index| union.cases[index as usize].labels.as_slice());
        let mut selecting: Vec<Value> =
            labels.unwrap_or_default().iter().map(|one| label(one, discriminator)).collect();
        if case.is_none_or(|index| union.default == UnionDefault::Case(index)) {
            selecting.extend(free);
        }
        let selected = self.random.one_of(&selecting).clone();
        let value = match case {
            Some(index) => self.member(&union.cases[index as usize].member, size, depth),
            None => Value::Absent,
        };
        Value::Case { discriminator: Box::new(selected), case, value: Box::new(value) }
    }

    /// A value of the discriminator that is no label.
    fn free_discriminator(&mut self, union: &Union) -> Option<Value> {
        let discriminator = self.model.resolved(&union.discriminator);
        let labels = union.cases.iter().flat_map(|case| &case.labels);
        let labels: Vec<Value> = labels.map(|one| label(one, discriminator)).collect();
        let tried: Vec<Value> = match (discriminator, enumeration(self.model, discriminator)) {
            (_, Some(shape)) => {
                (0..shape.enumerators.len() as u32).map(Value::Enumerator).collect()
            }
            (Type::Primitive(Primitive::Boolean), _) => [false, true].map(Value::Boolean).into(),
            (declared, _) => {
                (0..=labels.len() * 4).map(|_| self.at(declared, &[], Size::Few, 0)).collect()
            }
        };
        let free: Vec<Value> = tried.into_iter().filter(|one| !labels.contains(one)).collect();
        (!free.is_empty()).then(|| self.random.one_of(&free).clone())
    }

    fn map(
        &mut self,
        (key, value): (&Type, &Type),
        bound: Option<u32>,
        size: Size,
        depth: u32,
    ) -> Value {
        let wanted = self.count(bound.map(|bound| bound.min(9)), false, size, depth).min(9);
        let mut pairs: Vec<(Value, Value)> = Vec::new();
        let mut keys = Vec::new();
        // A type with few values has too few keys.
        for _ in 0..wanted * 3 {
            let one = self.at(key, &[], Size::Few, depth + 1);
            let text = shown(self.model, key, &one);
            if pairs.len() < wanted as usize && !keys.contains(&text) {
                keys.push(text);
                pairs.push((one, self.at(value, &[], Size::Few, depth + 1)));
            }
        }
        Value::Pairs(pairs)
    }

    fn items(&mut self, element: &Type, count: u32, depth: u32) -> Value {
        let spelled = count.min(if is_light(self.model, element) { SPELLED_MAX } else { 3 });
        let all = (0..spelled).map(|_| self.at(element, &[], Size::Few, depth + 1));
        Value::Items { part: all.collect(), count }
    }

    fn count(&mut self, bound: Option<u32>, is_light: bool, size: Size, depth: u32) -> u32 {
        let few = self.random.below(3) as u32 + u32::from(depth == 0);
        let wanted = match size {
            _ if depth >= DEPTH_MAX => 0,
            Size::Nothing => 0,
            Size::Few => few,
            Size::PastInline if is_light => PAST_INLINE,
            Size::OutOfLine if is_light => OUT_OF_LINE,
            Size::PastInline | Size::OutOfLine => HEAVY_MAX,
            Size::Most => bound.unwrap_or(few).min(if is_light { MOST_MAX } else { HEAVY_MAX }),
        };
        wanted.min(bound.unwrap_or(u32::MAX))
    }

    /// `width` is what a letter counts for.
    fn text(&mut self, bound: Option<u32>, width: fn(char) -> usize, size: Size) -> Value {
        let wanted = self.count(bound, true, size, 1) as usize;
        let mut part = String::new();
        let mut counted = 0;
        for _ in 0..SPELLED_MAX {
            let letter = *self.random.one_of(LETTERS);
            if counted + width(letter) <= wanted {
                counted += width(letter);
                part.push(letter);
            }
        }
        if wanted > 0 && part.is_empty() {
            (part, counted) = (String::from("x"), 1);
        }
        let times = if part.is_empty() { 0 } else { (wanted / counted) as u32 };
        let (part, counted) = if times == 0 { (String::new(), 0) } else { (part, counted) };
        // To the very bound: letters that count for one, if there is nothing else to keep.
        match size {
            Size::Most if counted * times as usize != wanted => {
                Value::Text { part: String::from("x"), times: wanted as u32 }
            }
            _ => Value::Text { part, times },
        }
    }

    /// Any word, the ends of the range more often than chance has it.
    fn any_word(&mut self) -> u64 {
        match self.random.below(4) {
            0 => 0,
            1 => u64::MAX,
            _ => self.random.word(),
        }
    }

    fn primitive(&mut self, primitive: Primitive, ranges: &[Range]) -> Value {
        if let Some((least, greatest)) = integers(primitive) {
            return Value::Integer(self.integer(least, greatest, ranges));
        }
        match primitive {
            Primitive::Boolean => Value::Boolean(self.random.below(2) == 1),
            Primitive::Char => Value::Char(self.integer(0, 255, ranges) as u8),
            Primitive::WideChar => self.wide(ranges),
            Primitive::Float => Value::Float(self.within(
                FLOATS,
                ranges,
                |bits| f64::from(f32::from_bits(bits)),
                |value| (value as f32).to_bits(),
            )),
            Primitive::Double => {
                Value::Double(self.within(DOUBLES, ranges, f64::from_bits, f64::to_bits))
            }
            _ => {
                let mut bytes = [0; 16];
                bytes[..8].copy_from_slice(&self.any_word().to_le_bytes());
                bytes[8..].copy_from_slice(&self.any_word().to_le_bytes());
                Value::LongDouble(bytes)
            }
        }
    }

    /// An end, what is next to it, or anything between.
    fn integer(&mut self, least: i128, greatest: i128, ranges: &[Range]) -> i128 {
        let (mut first, mut last) = (least, greatest);
        for range in ranges {
            first = first.max(range.least.as_ref().and_then(whole).unwrap_or(least));
            last = last.min(range.greatest.as_ref().and_then(whole).unwrap_or(greatest));
        }
        let span = (last - first).cast_unsigned();
        match self.random.below(6) {
            0 => first,
            1 => last,
            2 if first <= 0 && last >= 0 => 0,
            _ => first + (u128::from(self.random.word()) % (span + 1)).cast_signed(),
        }
    }

    fn wide(&mut self, ranges: &[Range]) -> Value {
        if ranges.is_empty() {
            return Value::WideChar(*self.random.one_of(WIDE));
        }
        let word = self.integer(0, u32::from(char::MAX).into(), ranges);
        let letter = u32::try_from(word).ok().and_then(char::from_u32);
        // Between the surrogates there is none; the ends of a range are letters.
        let end = ranges.iter().find_map(|range| range.least.as_ref().or(range.greatest.as_ref()));
        let end = end.and_then(whole).and_then(|end| char::from_u32(end as u32));
        Value::WideChar(letter.or(end).unwrap_or('a'))
    }

    /// One of these if it is within the ranges, an end of them if not.
    fn within<B: Copy>(
        &mut self,
        all: &[B],
        ranges: &[Range],
        number: fn(B) -> f64,
        bits: fn(f64) -> B,
    ) -> B {
        let end = |label: &Option<Label>| match label {
            Some(Label::Float(value)) => Some(*value),
            Some(Label::Integer(value)) => Some(*value as f64),
            _ => None,
        };
        let least = ranges.iter().filter_map(|range| end(&range.least)).reduce(f64::max);
        let greatest = ranges.iter().filter_map(|range| end(&range.greatest)).reduce(f64::min);
        let mut allowed: Vec<B> = all
            .iter()
            .copied()
            .filter(|one| ranges.is_empty() || !number(*one).is_nan())
            .filter(|one| least.is_none_or(|least| number(*one) >= least))
            .filter(|one| greatest.is_none_or(|greatest| number(*one) <= greatest))
            .collect();
        allowed.extend(least.into_iter().chain(greatest).map(bits));
        *self.random.one_of(&allowed)
    }
}

impl Value {
    /// A text in one piece; empty for what is none.
    pub fn text(&self) -> String {
        match self {
            Value::Text { part, times } => part.repeat(*times as usize),
            _ => String::new(),
        }
    }
}

/// A scalar or a text.
fn is_light(model: &Model, declared: &Type) -> bool {
    match model.resolved(declared) {
        Type::Primitive(_) => true,
        Type::Named(id) => {
            let kind = &model.declaration(*id).kind;
            matches!(kind, Kind::Enum(_) | Kind::Bitmask(_) | Kind::Bitset(_))
        }
        _ => false,
    }
}

/// Does a value of this type hold others of its own type?
fn recurs(model: &Model, declared: &Type) -> bool {
    match model.resolved(declared) {
        Type::Sequence { element, .. } | Type::Array { element, .. } => recurs(model, element),
        Type::Map { value, .. } => recurs(model, value),
        Type::Named(id) => is_recursive(model, *id),
        _ => false,
    }
}

/// The integers of a type.
fn integers(primitive: Primitive) -> Option<(i128, i128)> {
    let (bits, is_signed) = match primitive {
        Primitive::Octet | Primitive::Uint8 => (8, false),
        Primitive::Int8 => (8, true),
        Primitive::Uint16 => (16, false),
        Primitive::Int16 => (16, true),
        Primitive::Uint32 => (32, false),
        Primitive::Int32 => (32, true),
        Primitive::Uint64 => (64, false),
        Primitive::Int64 => (64, true),
        _ => return None,
    };
    let all = 1i128 << bits;
    Some(if is_signed { (-all / 2, all / 2 - 1) } else { (0, all - 1) })
}

/// A number, or the number of a letter.
fn whole(value: &Label) -> Option<i128> {
    match value {
        Label::Integer(value) => Some(*value),
        Label::Char(letter) => Some(u32::from(*letter).into()),
        _ => None,
    }
}

/// The place of an enumerator.
fn place(value: &Label) -> u64 {
    match value {
        Label::Enumerator(_, index) => u64::from(*index),
        _ => 0,
    }
}
