//! Bytes to values of Python. The bytes are a private copy of what a peer wrote, and may be
//! anything: every one is judged by its type in the table.

use nearcall::raw::{DEFAULT_BYTES_MAX, DEPTH_MAX, Malformed, check_received};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyInt, PyList, PyString, PyTuple};

use crate::table::{Kind, Numbers, Range, Table, Type};
use crate::words::{Number, Word};
use crate::write::{NESTED_MAX, selected, word_of};

/// Why there is no value.
#[derive(Debug)]
pub enum Unread {
    /// The peer wrote what is none.
    Malformed(Malformed),
    /// Python could not make it.
    Python(PyErr),
}

/// Reads one value after another.
pub struct Reader<'p, 'py> {
    py: Python<'py>,
    table: &'p Table,
    rest: &'p [u8],
    /// Lists, maps, optional and boxed values around what is read.
    depth: usize,
    /// The same, and structs and unions.
    nesting: usize,
    /// Bytes of defaults that were read.
    defaulted: usize,
}

type Read<'py> = Result<Bound<'py, PyAny>, Unread>;

impl From<Malformed> for Unread {
    fn from(malformed: Malformed) -> Unread {
        Unread::Malformed(malformed)
    }
}

impl From<PyErr> for Unread {
    fn from(error: PyErr) -> Unread {
        Unread::Python(error)
    }
}

/// Judges what was received.
pub fn check_text<'t>(bytes: &'t [u8], declared: &Type) -> Result<&'t str, Malformed> {
    let text = std::str::from_utf8(bytes);
    let text = text.map_err(|bad| Malformed::Text { at: bad.valid_up_to() })?;
    match declared {
        Type::Text { bound } => check_received(text.len(), *bound)?,
        Type::WideText { bound } => check_received(text.chars().count(), *bound)?,
        _ => {}
    }
    Ok(text)
}

/// A value that is one word, at the beginning of `source`.
pub fn word<'py>(
    py: Python<'py>,
    declared: &Type,
    table: &Table,
    source: &[u8],
) -> Result<Bound<'py, PyAny>, Unread> {
    match declared {
        Type::Word(word) => Ok(word.read(py, source)?),
        Type::Ranged { inner, range } => {
            if let Some(word) = word_of(inner, table) {
                check_range(word, source, range)?;
            }
            word(py, inner, table, source)
        }
        Type::Declared(row) => declared_word(py, &table[*row], source),
        _ => Err(Malformed::range(0u8).into()),
    }
}

fn check_range(word: Word, source: &[u8], range: &Range) -> Result<(), Malformed> {
    if range.has(word.number(source)) {
        return Ok(());
    }
    let mut bits = [0; 8];
    bits[..word.bytes()].copy_from_slice(&source[..word.bytes()]);
    Err(Malformed::range(u64::from_le_bytes(bits)))
}

fn declared_word<'py>(
    py: Python<'py>,
    declared: &crate::table::Declared,
    source: &[u8],
) -> Read<'py> {
    let number = |word: Word| match word.number(source) {
        Number::Integer(number) => number,
        Number::Float(_) => 0,
    };
    match &declared.kind {
        Kind::Enum { word, values, stand_in, .. } => {
            let number = number(*word);
            let value = values.get(&number);
            let value = value.or_else(|| values.get(&(*stand_in)?));
            let value = value.ok_or_else(|| Malformed::range(number as u64))?;
            Ok(value.bind(py).clone())
        }
        Kind::Bitmask { word, bits } => {
            let number = number(*word) as u64;
            if number & !bits != 0 {
                return Err(Malformed::range(number).into());
            }
            Ok(declared.class.bind(py).call1((number,))?)
        }
        Kind::Bitset { word, fields } => {
            let all = number(*word) as u64;
            let mask = |width: u32| u64::MAX >> (64 - width.clamp(1, 64));
            let own = fields.iter().fold(0, |own, one| own | mask(one.width) << one.position);
            if all & !own != 0 {
                return Err(Malformed::range(all).into());
            }
            let values = fields
                .iter()
                .map(|field| field_value(py, field.word, all, (field.position, field.width)));
            let values: Vec<_> = values.collect();
            Ok(declared.class.bind(py).call1(PyTuple::new(py, values)?)?)
        }
        Kind::Struct { .. } | Kind::Union { .. } => Err(Malformed::range(0u8).into()),
    }
}

/// A field of a bitset, its sign with it.
fn field_value<'py>(
    py: Python<'py>,
    word: Word,
    all: u64,
    (position, width): (u32, u32),
) -> Bound<'py, PyAny> {
    let left = all << (64 - position - width);
    match word {
        Word::Boolean => {
            pyo3::types::PyBool::new(py, left >> (64 - width) != 0).to_owned().into_any()
        }
        Word::Signed(_) => PyInt::new(py, (left as i64) >> (64 - width)).into_any(),
        _ => PyInt::new(py, left >> (64 - width)).into_any(),
    }
}

/// Judges elements as they lie in memory.
pub fn check_numbers(bytes: &[u8], numbers: &Numbers) -> Result<(), Malformed> {
    if numbers.ranges.is_empty() {
        return Ok(());
    }
    for number in bytes.chunks_exact(numbers.word.bytes()) {
        numbers.ranges.iter().try_for_each(|range| check_range(numbers.word, number, range))?;
    }
    Ok(())
}

/// An array of NumPy over `memory`, which it keeps. `count`: elements of a sequence, `None` of an
/// array.
pub fn array<'py>(
    memory: Bound<'py, PyByteArray>,
    numbers: &Numbers,
    count: Option<usize>,
) -> Read<'py> {
    static FROM_BUFFER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    static EMPTY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = memory.py();
    let is_empty = memory.len() == 0;
    if is_empty {
        let shape: Vec<usize> = count.into_iter().chain(numbers.dimensions.clone()).collect();
        let empty = EMPTY.import(py, "numpy", "empty")?;
        return Ok(empty.call1((PyTuple::new(py, shape)?, numbers.dtype))?);
    }
    let array = FROM_BUFFER.import(py, "numpy", "frombuffer")?.call1((memory, numbers.dtype))?;
    if numbers.dimensions.is_empty() {
        return Ok(array);
    }
    let shape: Vec<usize> = count.into_iter().chain(numbers.dimensions.clone()).collect();
    Ok(array.call_method1("reshape", (PyTuple::new(py, shape)?,))?)
}

impl<'p, 'py> Reader<'p, 'py> {
    /// Reads from the beginning of `bytes`.
    pub fn new(py: Python<'py>, table: &'p Table, bytes: &'p [u8]) -> Reader<'p, 'py> {
        Reader { py, table, rest: bytes, depth: 0, nesting: 0, defaulted: 0 }
    }

    /// Every byte was used.
    pub fn finish(self) -> Result<(), Malformed> {
        self.check_end()
    }

    fn check_end(&self) -> Result<(), Malformed> {
        match self.rest.len() {
            0 => Ok(()),
            bytes => Err(Malformed::Left { bytes: bytes as u64 }),
        }
    }

    /// The next value.
    pub fn value(&mut self, declared: &Type) -> Read<'py> {
        match declared {
            Type::Word(_) | Type::Ranged { .. } => self.word(declared),
            Type::Extended => Ok(PyBytes::new(self.py, self.take(16)?).into_any()),
            Type::Text { .. } | Type::WideText { .. } => {
                let count = self.count()?;
                let text = check_text(self.take(count)?, declared)?;
                Ok(PyString::new(self.py, text).into_any())
            }
            Type::Octets { bound } => {
                let count = self.bounded(*bound)?;
                let octets =
                    self.nested(true, |reader| reader.take(count).map_err(Unread::from))?;
                Ok(PyBytes::new(self.py, octets).into_any())
            }
            Type::OctetArray { count } => Ok(PyBytes::new(self.py, self.take(*count)?).into_any()),
            Type::Numbers { numbers, bound } => {
                let count = self.bounded(*bound)?;
                let bytes = count.saturating_mul(numbers.width);
                self.nested(true, |reader| reader.numbers(bytes, numbers, Some(count)))
            }
            Type::NumberArray { numbers } => self.numbers(numbers.width, numbers, None),
            Type::Sequence { element, bound } | Type::Items { element, bound } => {
                let count = self.bounded(*bound)?;
                self.plausible(count)?;
                self.nested(true, |reader| reader.list(count, element))
            }
            Type::Array { element, count } => {
                self.plausible(*count)?;
                self.list(*count, element)
            }
            Type::Map { key, value, bound } => {
                let count = self.bounded(*bound)?;
                self.plausible(count)?;
                self.nested(true, |reader| reader.map(count, key, value))
            }
            Type::Boxed(inner) => self.nested(true, |reader| reader.value(inner)),
            Type::Optional(inner) => match self.take(1)?[0] {
                0 => Ok(self.py.None().into_bound(self.py)),
                1 => self.nested(true, |reader| reader.value(inner)),
                other => Err(Malformed::range(other).into()),
            },
            Type::Declared(row) => self.declared(*row, declared),
        }
    }

    fn take(&mut self, count: usize) -> Result<&'p [u8], Malformed> {
        let limit = self.rest.len() as u64;
        let (taken, rest) = self
            .rest
            .split_at_checked(count)
            .ok_or(Malformed::Length { claimed: count as u64, limit })?;
        self.rest = rest;
        Ok(taken)
    }

    /// Where nothing is left of a struct, reading goes on in its member's default.
    fn or_missing(&mut self, missing: &'p [u8]) -> Result<(), Malformed> {
        if self.rest.is_empty() {
            let defaulted = self.defaulted + missing.len();
            if defaulted > DEFAULT_BYTES_MAX {
                let (claimed, limit) = (defaulted as u64, DEFAULT_BYTES_MAX as u64);
                return Err(Malformed::Length { claimed, limit });
            }
            (self.defaulted, self.rest) = (defaulted, missing);
        }
        Ok(())
    }

    fn count(&mut self) -> Result<usize, Malformed> {
        let mut word = [0; 4];
        word.copy_from_slice(self.take(4)?);
        Ok(u32::from_le_bytes(word) as usize)
    }

    fn bounded(&mut self, bound: u32) -> Result<usize, Malformed> {
        let count = self.count()?;
        check_received(count, bound).map(|()| count)
    }

    /// Reads from here on no more than the length that comes first says; what is behind that.
    fn appendable(&mut self) -> Result<&'p [u8], Malformed> {
        let count = self.count()?;
        let came = self.take(count)?;
        Ok(std::mem::replace(&mut self.rest, came))
    }

    /// No value takes less than a byte.
    fn plausible(&self, count: usize) -> Result<(), Malformed> {
        let (claimed, limit) = (count as u64, self.rest.len() as u64);
        if claimed > limit { Err(Malformed::Length { claimed, limit }) } else { Ok(()) }
    }

    fn nested<T>(
        &mut self,
        is_counted: bool,
        inner: impl FnOnce(&mut Self) -> Result<T, Unread>,
    ) -> Result<T, Unread> {
        let deeper = usize::from(is_counted);
        if self.depth + deeper > DEPTH_MAX || self.nesting == NESTED_MAX {
            return Err(Malformed::Depth.into());
        }
        self.depth += deeper;
        self.nesting += 1;
        let value = inner(self);
        self.nesting -= 1;
        self.depth -= deeper;
        value
    }

    fn word(&mut self, declared: &Type) -> Read<'py> {
        let bytes = word_of(declared, self.table).map_or(0, Word::bytes);
        let source = self.take(bytes)?;
        word(self.py, declared, self.table, source)
    }

    fn numbers(&mut self, bytes: usize, numbers: &Numbers, count: Option<usize>) -> Read<'py> {
        let bytes = self.take(bytes)?;
        check_numbers(bytes, numbers)?;
        array(PyByteArray::new(self.py, bytes), numbers, count)
    }

    /// So many elements, one behind the other.
    pub fn list(&mut self, count: usize, element: &Type) -> Read<'py> {
        let list = PyList::empty(self.py);
        for _ in 0..count {
            list.append(self.value(element)?)?;
        }
        Ok(list.into_any())
    }

    fn map(&mut self, count: usize, key: &Type, value: &Type) -> Read<'py> {
        let map = PyDict::new(self.py);
        for _ in 0..count {
            map.set_item(self.value(key)?, self.value(value)?)?;
        }
        if map.len() < count {
            let (claimed, distinct) = (count as u64, map.len() as u64);
            return Err(Malformed::Keys { claimed, distinct }.into());
        }
        Ok(map.into_any())
    }

    fn declared(&mut self, row: usize, declared: &Type) -> Read<'py> {
        let table = self.table;
        match &table[row].kind {
            Kind::Enum { .. } | Kind::Bitmask { .. } | Kind::Bitset { .. } => self.word(declared),
            Kind::Struct { members, is_appendable: true } => {
                let behind = self.appendable()?;
                let values = self.nested(false, |reader| {
                    let values = members.iter().map(|member| {
                        reader.or_missing(&member.missing)?;
                        reader.value(&member.declared)
                    });
                    values.collect::<Result<Vec<_>, _>>()
                })?;
                // What was left is of members that a newer version has.
                self.rest = behind;
                Ok(table[row].made(self.py, &values)?)
            }
            Kind::Struct { members, is_appendable: false } => {
                if members.is_empty() {
                    match self.take(1)?[0] {
                        0 => {}
                        other => return Err(Malformed::range(other).into()),
                    }
                }
                let values = self.nested(false, |reader| {
                    let values = members.iter().map(|member| reader.value(&member.declared));
                    values.collect::<Result<Vec<_>, _>>()
                })?;
                Ok(table[row].made(self.py, &values)?)
            }
            Kind::Union { oneof: Some(_), .. } => {
                let behind = self.appendable()?;
                let value = self.union(row)?;
                // It grows by cases, not behind them.
                self.check_end()?;
                self.rest = behind;
                Ok(value)
            }
            Kind::Union { oneof: None, .. } => self.union(row),
        }
    }

    fn union(&mut self, row: usize) -> Read<'py> {
        let table = self.table;
        let Kind::Union { discriminator, cases, labels, rest, oneof } = &table[row].kind else {
            return Err(Malformed::range(0u8).into());
        };
        let word = word_of(discriminator, table);
        let number = word.and_then(|word| {
            let source = self.rest.get(..word.bytes())?;
            Some(word.number(source))
        });
        let key = self.value(discriminator)?;
        let class = table[row].class.bind(self.py);
        let value = match (selected(number, labels, *rest), rest) {
            (Some(case), _) => self.nested(false, |reader| reader.value(&cases[case]))?,
            (None, _) if oneof.is_some() => {
                // A case that only a newer version has is one that is not set.
                if number != Some(Number::Integer(0)) {
                    self.rest = &[];
                }
                return Ok(class.call1((0, self.py.None()))?);
            }
            (None, crate::table::Rest::Nothing) => self.py.None().into_bound(self.py),
            (None, _) => {
                let claimed = match number {
                    Some(Number::Integer(label)) => label as u64,
                    _ => 0,
                };
                return Err(Malformed::range(claimed).into());
            }
        };
        Ok(class.call1((key, value))?)
    }
}
