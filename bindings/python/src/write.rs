//! Values of Python to bytes. Everything is checked by its type in the table before anything is
//! posted.

use std::collections::HashMap;

use nearcall::raw::DEPTH_MAX;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyMapping, PySequence, PyString, PyTuple};

use crate::masked::check_mask;
use crate::table::{Kind, Numbers, Range, Rest, Table, Type};
use crate::view::View;
use crate::words::{Number, Word, before, elements_of, integer, truth, wrong_type};
use crate::wrong::Wrong;

/// Deepest nesting that is tried, of whatever kind: a value that holds itself has no end.
pub const NESTED_MAX: usize = 4 * DEPTH_MAX;

/// Where values are appended in the conventional way.
pub struct Writer<'t> {
    table: &'t Table,
    pub bytes: Vec<u8>,
    /// Levels as a reader in any language counts them.
    depth: usize,
    /// The same, and structs and unions.
    nesting: usize,
}

/// Judges a count by its bound.
pub fn check_bound(count: usize, bound: u32) -> Result<(), Wrong> {
    if count > bound as usize { Err(Wrong::bound(count, bound as usize)) } else { Ok(()) }
}

/// The text of a value, judged.
pub fn text<'v>(value: &'v Bound<'_, PyAny>, declared: &Type) -> Result<&'v str, Wrong> {
    let text = value.cast::<PyString>().map_err(|_| wrong_type(value, "a str"))?.to_str()?;
    match declared {
        Type::Text { bound } => check_bound(text.len(), *bound)?,
        Type::WideText { bound } => check_bound(text.chars().count(), *bound)?,
        _ => {}
    }
    Ok(text)
}

/// Stores a value that is one word at the beginning of `target`.
pub fn word(
    value: &Bound<'_, PyAny>,
    declared: &Type,
    table: &Table,
    target: &mut [u8],
) -> Result<(), Wrong> {
    match declared {
        Type::Word(word) => word.write(value, target),
        Type::Ranged { inner, range } => {
            word(value, inner, table, target)?;
            check_range(inner, table, target, range)
        }
        Type::Declared(row) => declared_word(value, &table[*row].kind, target),
        _ => Err(wrong_type(value, "a word")),
    }
}

fn declared_word(value: &Bound<'_, PyAny>, kind: &Kind, target: &mut [u8]) -> Result<(), Wrong> {
    match kind {
        Kind::Enum { word, values, allowed, .. } => {
            let allowed = || allowed.clone();
            let number = integer(value, &allowed)?;
            if !values.contains_key(&number) {
                return Err(Wrong::range(number, allowed()));
            }
            word.write_integer(number, &mut target[..word.bytes()])
        }
        Kind::Bitmask { word, bits } => {
            let allowed = || format!("bits of {bits:#x}");
            let number = integer(value, &allowed)?;
            if number < 0 || number & !i128::from(*bits) != 0 {
                return Err(Wrong::range(number, allowed()));
            }
            word.write_integer(number, &mut target[..word.bytes()])
        }
        Kind::Bitset { word, fields } => {
            let mut all = 0u64;
            for field in fields {
                let part = value.getattr(&field.name)?;
                let count = 1i128 << field.width;
                let (least, end) = match field.word {
                    Word::Signed(_) => (-count / 2, count / 2),
                    _ => (0, count),
                };
                let allowed = || before(least, end);
                let part = match field.word {
                    Word::Boolean => truth(&part).map(i128::from),
                    _ => integer(&part, &allowed),
                };
                let part = part.map_err(|wrong| wrong.of_member(value.py(), field.label))?;
                if part < least || part >= end {
                    return Err(Wrong::range(part, allowed()).named(field.label));
                }
                all |= ((part & (count - 1)) as u64) << field.position;
            }
            target[..word.bytes()].copy_from_slice(&all.to_le_bytes()[..word.bytes()]);
            Ok(())
        }
        Kind::Struct { .. } | Kind::Union { .. } => Err(wrong_type(value, "a word")),
    }
}

/// Judges a word that was just written.
fn check_range(declared: &Type, table: &Table, source: &[u8], range: &Range) -> Result<(), Wrong> {
    let Some(word) = word_of(declared, table) else {
        return Ok(());
    };
    check_number(word.number(source), word, range)
}

fn check_number(number: Number, word: Word, range: &Range) -> Result<(), Wrong> {
    if range.has(number) {
        return Ok(());
    }
    Err(Wrong::range(word.shown(number), range.allowed.clone()))
}

/// The word of a type that is one.
pub fn word_of(declared: &Type, table: &Table) -> Option<Word> {
    match declared {
        Type::Word(word) => Some(*word),
        Type::Ranged { inner, .. } => word_of(inner, table),
        Type::Declared(row) => match &table[*row].kind {
            Kind::Enum { word, .. } | Kind::Bitmask { word, .. } | Kind::Bitset { word, .. } => {
                Some(*word)
            }
            Kind::Struct { .. } | Kind::Union { .. } => None,
        },
        _ => None,
    }
}

/// Octets where they lie.
pub fn octets(value: &Bound<'_, PyAny>, bound: u32) -> Result<View, Wrong> {
    let view = View::of(value).ok_or_else(|| wrong_type(value, "bytes or a buffer of bytes"))?;
    if !value.is_instance_of::<PyBytes>() {
        check_mask(value)?;
    }
    let octet = Word::Unsigned(1);
    if !view.is_of(octet) || !view.is_contiguous() {
        let wanted = "bytes, or a buffer of unsigned bytes in one piece,";
        let other = if view.is_of(octet) { None } else { other_elements(value, octet) };
        return Err(other.unwrap_or_else(|| wrong_type(value, wanted)));
    }
    check_bound(view.bytes().len(), bound)?;
    Ok(view)
}

/// Numbers where they lie, if they lie as they are sent.
pub fn view_of_numbers(
    value: &Bound<'_, PyAny>,
    numbers: &Numbers,
    is_sequence: bool,
) -> Result<Option<View>, Wrong> {
    view_of(value, numbers, (is_sequence, &numbers.dimensions))
}

/// The same, of as many dimensions; of a sequence's, those of its elements.
fn view_of(
    value: &Bound<'_, PyAny>,
    numbers: &Numbers,
    (is_sequence, dimensions): (bool, &[usize]),
) -> Result<Option<View>, Wrong> {
    let Some(view) = View::of(value) else {
        // What NumPy hands to nobody as memory, as times, is no list either.
        let is_list = value.is_exact_instance_of::<PyList>();
        let other = if is_list { None } else { other_elements(value, numbers.word) };
        return other.map_or(Ok(None), Err);
    };
    check_mask(value)?;
    let code = || numbers.dtype.trim_start_matches('<').to_owned();
    let wanted = numbers.word.numpy_name().unwrap_or_else(code);
    if !view.is_of(numbers.word) {
        let wanted = format!("a buffer of {wanted}, not of {:?},", view.format());
        let other = other_elements(value, numbers.word);
        return Err(other.unwrap_or_else(|| wrong_type(value, &wanted)));
    }
    let own = if is_sequence { view.shape().get(1..) } else { Some(view.shape()) };
    if own != Some(dimensions) {
        let (any, wanted) = (["any"], dimensions.iter().map(ToString::to_string));
        let any = any.iter().filter(|_| is_sequence).map(ToString::to_string);
        let wanted = any.chain(wanted).collect::<Vec<_>>().join(" x ");
        let found = view.shape().iter().map(ToString::to_string).collect::<Vec<_>>().join(" x ");
        return Err(wrong_type(value, &format!("a buffer of shape ({wanted}), not ({found}),")));
    }
    if !view.is_contiguous() {
        let advice = format!("a buffer of {wanted} in one piece (see numpy.ascontiguousarray)");
        return Err(wrong_type(value, &advice));
    }
    check_numbers(view.bytes(), numbers, view.shape())?;
    Ok(Some(view))
}

/// Of an array of NumPy's that has other elements, which it can be asked to convert where they are
/// numbers of the same kind, or of a smaller one.
fn other_elements(value: &Bound<'_, PyAny>, wanted: Word) -> Option<Wrong> {
    let wanted = wanted.numpy_name()?;
    let found = elements_of(value)?;
    let name = value.get_type().name().ok()?;
    let numpy = value.py().import("numpy").ok()?;
    let is_like = numpy.call_method1("can_cast", (&found, &*wanted, "same_kind")).ok()?;
    let way = match is_like.is_truthy().ok()? {
        true => format!(": .astype(\"{wanted}\") makes it that"),
        false => String::new(),
    };
    let why = format!("{name} of {found} where one of {wanted} is wanted{way}");
    Some(Wrong::Type { of: String::new(), why })
}

/// Judges numbers that lie as an array of this shape.
fn check_numbers(bytes: &[u8], numbers: &Numbers, shape: &[usize]) -> Result<(), Wrong> {
    if numbers.ranges.is_empty() {
        return Ok(());
    }
    for (index, number) in bytes.chunks_exact(numbers.word.bytes()).enumerate() {
        let (word, number) = (numbers.word, numbers.word.number(number));
        let judged = numbers.ranges.iter().try_for_each(|range| check_number(number, word, range));
        judged.map_err(|wrong| {
            let step = |(wrong, rest): (Wrong, usize), count: &usize| {
                (wrong.at(rest % count), rest / count)
            };
            shape.iter().rev().fold((wrong, index), step).0
        })?;
    }
    Ok(())
}

impl<'t> Writer<'t> {
    /// An empty one.
    pub fn new(table: &'t Table) -> Writer<'t> {
        Writer { table, bytes: Vec::new(), depth: 0, nesting: 0 }
    }

    /// Appends a value.
    pub fn value(&mut self, value: &Bound<'_, PyAny>, declared: &Type) -> Result<(), Wrong> {
        match declared {
            Type::Word(_) | Type::Ranged { .. } => self.word(value, declared),
            Type::Extended => self.exactly(&octets(value, 16)?, 16),
            Type::Text { .. } | Type::WideText { .. } => {
                let text = text(value, declared)?;
                self.count(text.len())?;
                self.bytes.extend_from_slice(text.as_bytes());
                Ok(())
            }
            Type::Octets { bound } => {
                let view = octets(value, *bound)?;
                self.count(view.bytes().len())?;
                self.nested(true, |writer| {
                    writer.bytes.extend_from_slice(view.bytes());
                    Ok(())
                })
            }
            Type::OctetArray { count } => self.exactly(&octets(value, u32::MAX)?, *count),
            Type::Numbers { numbers, bound } => {
                let at = self.bytes.len();
                self.count(0)?;
                let mut count = 0;
                self.nested(true, |writer| {
                    count = writer.numbers(value, numbers, *bound)?;
                    Ok(())
                })?;
                self.bytes[at..at + 4].copy_from_slice(&count.to_le_bytes());
                Ok(())
            }
            Type::NumberArray { numbers } => {
                self.numbers_within(value, numbers, &numbers.dimensions)
            }
            Type::Sequence { element, bound } => {
                let items = items(value)?;
                check_bound(items.len(), *bound)?;
                self.count(items.len())?;
                self.nested(true, |writer| writer.elements(&items, element))
            }
            // Whoever carries a feed has made one already.
            Type::Items { .. } => Err(wrong_type(value, "a batch")),
            Type::Array { element, count } => {
                let items = items(value)?;
                if items.len() != *count {
                    return Err(wrong_type(value, &format!("a sequence of {count}")));
                }
                self.elements(&items, element)
            }
            Type::Map { key, value: held, bound } => self.map(value, (key, held), *bound),
            Type::Optional(inner) => {
                self.bytes.push((!value.is_none()).into());
                match value.is_none() {
                    true => Ok(()),
                    false => self.nested(true, |writer| writer.value(value, inner)),
                }
            }
            Type::Boxed(inner) => self.nested(true, |writer| writer.value(value, inner)),
            Type::Declared(row) => self.declared(value, *row, declared),
        }
    }

    fn word(&mut self, value: &Bound<'_, PyAny>, declared: &Type) -> Result<(), Wrong> {
        let mut room = [0; 8];
        word(value, declared, self.table, &mut room)?;
        let bytes = word_of(declared, self.table).map_or(0, Word::bytes);
        self.bytes.extend_from_slice(&room[..bytes]);
        Ok(())
    }

    fn count(&mut self, count: usize) -> Result<(), Wrong> {
        let count = u32::try_from(count).map_err(|_| Wrong::bound(count, u32::MAX as usize))?;
        self.bytes.extend_from_slice(&count.to_le_bytes());
        Ok(())
    }

    fn exactly(&mut self, view: &View, count: usize) -> Result<(), Wrong> {
        if view.bytes().len() != count {
            return Err(Wrong::bound(view.bytes().len(), count));
        }
        self.bytes.extend_from_slice(view.bytes());
        Ok(())
    }

    /// Writes one level deeper, which is counted where whoever reads it does: past the limit that
    /// one would take it for a lie.
    pub fn nested(
        &mut self,
        is_counted: bool,
        inner: impl FnOnce(&mut Self) -> Result<(), Wrong>,
    ) -> Result<(), Wrong> {
        let deeper = usize::from(is_counted);
        if self.depth + deeper > DEPTH_MAX || self.nesting == NESTED_MAX {
            return Err(Wrong::nesting(DEPTH_MAX + 1, DEPTH_MAX));
        }
        self.depth += deeper;
        self.nesting += 1;
        let done = inner(self);
        self.nesting -= 1;
        self.depth -= deeper;
        done
    }

    /// Appends each of a list.
    pub fn elements(&mut self, items: &[Bound<'_, PyAny>], of: &Type) -> Result<(), Wrong> {
        for (index, item) in items.iter().enumerate() {
            self.value(item, of).map_err(|wrong| wrong.at(index))?;
        }
        Ok(())
    }

    /// Appends elements as they lie in memory, and says how many.
    pub fn numbers(
        &mut self,
        value: &Bound<'_, PyAny>,
        numbers: &Numbers,
        bound: u32,
    ) -> Result<u32, Wrong> {
        if let Some(view) = view_of_numbers(value, numbers, true)? {
            let count = view.shape()[0];
            check_bound(count, bound)?;
            self.bytes.extend_from_slice(view.bytes());
            return Ok(count as u32);
        }
        let items = items(value)?;
        check_bound(items.len(), bound)?;
        self.rows(&items, numbers, &numbers.dimensions)?;
        Ok(items.len() as u32)
    }

    /// Numbers of lists within lists, the inner ones of which may be buffers: NumPy's rows, bytes.
    fn numbers_within(
        &mut self,
        value: &Bound<'_, PyAny>,
        numbers: &Numbers,
        dimensions: &[usize],
    ) -> Result<(), Wrong> {
        let Some((count, rest)) = dimensions.split_first() else {
            let mut room = [0; 8];
            numbers.word.write(value, &mut room)?;
            let room = &room[..numbers.word.bytes()];
            check_numbers(room, numbers, &[])?;
            self.bytes.extend_from_slice(room);
            return Ok(());
        };
        if let Some(view) = view_of(value, numbers, (false, dimensions))? {
            self.bytes.extend_from_slice(view.bytes());
            return Ok(());
        }
        let items = items(value)?;
        if items.len() != *count {
            return Err(wrong_type(value, &format!("a sequence of {count}")));
        }
        self.rows(&items, numbers, rest)
    }

    /// Each of a list: a number, if there are no dimensions left.
    fn rows(
        &mut self,
        items: &[Bound<'_, PyAny>],
        numbers: &Numbers,
        dimensions: &[usize],
    ) -> Result<(), Wrong> {
        for (index, item) in items.iter().enumerate() {
            let written = self.numbers_within(item, numbers, dimensions);
            written.map_err(|wrong| wrong.at(index))?;
        }
        Ok(())
    }

    fn map(
        &mut self,
        value: &Bound<'_, PyAny>,
        (key, held): (&Type, &Type),
        bound: u32,
    ) -> Result<(), Wrong> {
        let items = match value.cast::<PyDict>() {
            Ok(map) => map.items(),
            Err(_) => {
                let map = value.cast::<PyMapping>().map_err(|_| wrong_type(value, "a mapping"))?;
                map.items()?
            }
        };
        check_bound(items.len(), bound)?;
        self.count(items.len())?;
        self.nested(true, |writer| {
            for pair in items.iter() {
                let pair = pair.cast_into::<PyTuple>().map_err(PyErr::from)?;
                let (named, kept) = (pair.get_item(0)?, pair.get_item(1)?);
                let written = writer.value(&named, key);
                written.map_err(|wrong| wrong.of_entry(&named, |key| format!(", key {key}")))?;
                let written = writer.value(&kept, held);
                written.map_err(|wrong| wrong.of_entry(&named, |key| format!("[{key}]")))?;
            }
            Ok(())
        })
    }

    fn declared(
        &mut self,
        value: &Bound<'_, PyAny>,
        row: usize,
        declared: &Type,
    ) -> Result<(), Wrong> {
        let table = self.table;
        let class = table[row].class.bind(value.py());
        match &table[row].kind {
            Kind::Enum { .. } | Kind::Bitmask { .. } | Kind::Bitset { .. } => {
                self.word(value, declared)
            }
            Kind::Struct { members, is_appendable } => {
                check_class(value, class)?;
                let at = self.bytes.len();
                match (is_appendable, members.is_empty()) {
                    (true, _) => self.count(0)?,
                    (false, true) => self.bytes.push(0),
                    (false, false) => {}
                }
                self.nested(false, |writer| {
                    members.iter().try_for_each(|member| {
                        let inner = value.getattr(&member.name)?;
                        let written = writer.value(&inner, &member.declared);
                        written.map_err(|wrong| wrong.of_member(value.py(), member.label))
                    })
                })?;
                if *is_appendable {
                    self.appended(at);
                }
                Ok(())
            }
            Kind::Union { oneof, .. } => {
                check_class(value, class)?;
                let at = self.bytes.len();
                if oneof.is_some() {
                    self.count(0)?;
                }
                self.union(value, row)?;
                if oneof.is_some() {
                    self.appended(at);
                }
                Ok(())
            }
        }
    }

    /// Puts the length of what is appendable, and began here, before it.
    fn appended(&mut self, at: usize) {
        // A payload past `u32::MAX` is over the limit of a message, and refused.
        let bytes = (self.bytes.len() - at - 4) as u32;
        self.bytes[at..at + 4].copy_from_slice(&bytes.to_le_bytes());
    }

    fn union(&mut self, value: &Bound<'_, PyAny>, row: usize) -> Result<(), Wrong> {
        let table = self.table;
        let Kind::Union { discriminator, cases, labels, rest, oneof } = &table[row].kind else {
            return Err(wrong_type(value, "a union"));
        };
        let at = self.bytes.len();
        let key = value.getattr("discriminator")?;
        let written = self.value(&key, discriminator);
        written.map_err(|wrong| wrong.named("discriminator"))?;
        let word = word_of(discriminator, table);
        let number = word.map(|word| word.number(&self.bytes[at..]));
        let held = value.getattr("value")?;
        let is_set = !matches!(number, Some(Number::Integer(0)));
        let written = match (selected(number, labels, *rest), oneof) {
            (Some(case), _) => self.nested(false, |writer| writer.value(&held, &cases[case])),
            // A version that has a case of that number would look for its value.
            (None, Some(allowed)) if is_set => {
                return Err(Wrong::range(key, allowed.clone()).named("discriminator"));
            }
            (None, _) if held.is_none() => Ok(()),
            (None, _) => Err(wrong_type(&held, "None, for a discriminator without a case,")),
        };
        written.map_err(|wrong| wrong.of_part("value"))
    }
}

/// The case that a discriminator selects, if it selects one.
pub fn selected(
    number: Option<Number>,
    labels: &HashMap<i128, usize>,
    rest: Rest,
) -> Option<usize> {
    let label = match number {
        Some(Number::Integer(label)) => labels.get(&label).copied(),
        _ => None,
    };
    match rest {
        Rest::Case(case) => Some(label.unwrap_or(case)),
        Rest::Nothing | Rest::Covered => label,
    }
}

/// Refuses what is no instance of its class.
pub fn check_class(value: &Bound<'_, PyAny>, class: &Bound<'_, PyAny>) -> Result<(), Wrong> {
    if value.is_instance(class)? {
        return Ok(());
    }
    let name = class.getattr("__name__")?.to_string();
    Err(wrong_type(value, &format!("a {name}")))
}

/// Of what is no sequence; an array of NumPy's, which stands for numbers alone, can be made one.
fn no_sequence(value: &Bound<'_, PyAny>) -> Wrong {
    let mut wrong = wrong_type(value, "a sequence");
    if let Wrong::Type { why, .. } = &mut wrong
        && elements_of(value).is_some()
    {
        why.push_str(": .tolist() makes a list");
    }
    wrong
}

/// The items of a sequence; text and bytes are none.
pub fn items<'py>(value: &Bound<'py, PyAny>) -> Result<Vec<Bound<'py, PyAny>>, Wrong> {
    if let Ok(list) = value.cast::<PyList>() {
        return Ok(list.iter().collect());
    }
    check_mask(value)?;
    let is_text = value.is_instance_of::<PyString>() || value.is_instance_of::<PyBytes>();
    let sequence = value.cast::<PySequence>().ok().filter(|_| !is_text);
    match sequence {
        Some(sequence) => Ok(sequence.try_iter()?.collect::<PyResult<_>>()?),
        None => Err(no_sequence(value)),
    }
}
