//! Values that are one word: a number, a boolean, a character.

use nearcall::raw::{Malformed, boolean, character};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyString};

use crate::masked::check_mask;
use crate::wrong::Wrong;

/// Which word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    Boolean,
    /// One byte of ISO 8859-1.
    Char,
    /// A Unicode scalar value.
    WideChar,
    Unsigned(u8),
    Signed(u8),
    Float,
    Double,
}

/// What a word holds, for ranges and labels.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub enum Number {
    Integer(i128),
    Float(f64),
}

impl Word {
    /// As tables call it.
    pub fn of(code: &str) -> Option<Word> {
        Some(match code {
            "boolean" => Word::Boolean,
            "char" => Word::Char,
            "wchar" => Word::WideChar,
            "octet" | "u1" => Word::Unsigned(1),
            "u2" => Word::Unsigned(2),
            "u4" => Word::Unsigned(4),
            "u8" => Word::Unsigned(8),
            "i1" => Word::Signed(1),
            "i2" => Word::Signed(2),
            "i4" => Word::Signed(4),
            "i8" => Word::Signed(8),
            "f4" => Word::Float,
            "f8" => Word::Double,
            _ => return None,
        })
    }

    /// Bytes of it.
    pub fn bytes(self) -> usize {
        match self {
            Word::Boolean | Word::Char => 1,
            Word::WideChar | Word::Float => 4,
            Word::Double => 8,
            Word::Unsigned(bytes) | Word::Signed(bytes) => bytes.into(),
        }
    }

    /// What NumPy calls it, if it is a number.
    pub fn dtype(self) -> Option<&'static str> {
        Some(match self {
            Word::Unsigned(1) => "u1",
            Word::Unsigned(2) => "<u2",
            Word::Unsigned(4) => "<u4",
            Word::Unsigned(_) => "<u8",
            Word::Signed(1) => "i1",
            Word::Signed(2) => "<i2",
            Word::Signed(4) => "<i4",
            Word::Signed(_) => "<i8",
            Word::Float => "<f4",
            Word::Double => "<f8",
            Word::Boolean | Word::Char | Word::WideChar => return None,
        })
    }

    /// What NumPy calls it by its name, if it is a number.
    pub fn numpy_name(self) -> Option<String> {
        let bits = 8 * self.bytes();
        Some(match self {
            Word::Unsigned(_) => format!("uint{bits}"),
            Word::Signed(_) => format!("int{bits}"),
            Word::Float | Word::Double => format!("float{bits}"),
            Word::Boolean | Word::Char | Word::WideChar => return None,
        })
    }

    /// Stores a value at the beginning of `target`, which has room for it.
    pub fn write(self, value: &Bound<'_, PyAny>, target: &mut [u8]) -> Result<(), Wrong> {
        let bytes = self.bytes();
        let target = &mut target[..bytes];
        match self {
            Word::Boolean => target[0] = truth(value)?.into(),
            Word::Char => {
                let letter = letter(value)?;
                let wrong = |_| Wrong::range(format!("{letter:?}"), String::from("'\\0' to 'ÿ'"));
                target[0] = u8::try_from(u32::from(letter)).map_err(wrong)?;
            }
            Word::WideChar => target.copy_from_slice(&u32::from(letter(value)?).to_le_bytes()),
            Word::Unsigned(_) | Word::Signed(_) => {
                let number = integer(value, &|| self.integers())?;
                self.write_integer(number, target)?;
            }
            Word::Float => {
                let wide = real(value)?;
                let narrow = wide as f32;
                if narrow.is_infinite() && wide.is_finite() {
                    let allowed = format!("{:?} to {:?}", f32::MIN, f32::MAX);
                    return Err(Wrong::range(format!("{wide:?}"), allowed));
                }
                target.copy_from_slice(&narrow.to_le_bytes());
            }
            Word::Double => target.copy_from_slice(&real(value)?.to_le_bytes()),
        }
        Ok(())
    }

    /// Stores a number, if its type has it.
    pub fn write_integer(self, value: i128, target: &mut [u8]) -> Result<(), Wrong> {
        let (least, end) = self.ends();
        if value < least || value >= end {
            return Err(Wrong::range(value, self.integers()));
        }
        let bytes = target.len();
        target.copy_from_slice(&value.to_le_bytes()[..bytes]);
        Ok(())
    }

    /// The least integer of it, and the one after the greatest.
    fn ends(self) -> (i128, i128) {
        let count = 1i128 << (8 * self.bytes());
        match self {
            Word::Signed(_) => (-count / 2, count / 2),
            _ => (0, count),
        }
    }

    /// Its integers, in words.
    fn integers(self) -> String {
        let (least, end) = self.ends();
        before(least, end)
    }

    /// A number in it as an error shows it.
    pub fn shown(self, number: Number) -> String {
        match (self, number) {
            (Word::Char | Word::WideChar, Number::Integer(value)) => {
                let letter = u32::try_from(value).ok().and_then(char::from_u32);
                letter.map_or_else(|| value.to_string(), |letter| format!("{letter:?}"))
            }
            (_, Number::Integer(value)) => value.to_string(),
            // With an exponent where Python writes one, too.
            (Word::Float, Number::Float(value)) => format!("{:?}", value as f32),
            (_, Number::Float(value)) => format!("{value:?}"),
        }
    }

    /// The number in a word that is as long as this one; not judged.
    pub fn number(self, source: &[u8]) -> Number {
        let mut wide = [0; 8];
        wide[..self.bytes()].copy_from_slice(&source[..self.bytes()]);
        let bits = u64::from_le_bytes(wide);
        let unused = 64 - 8 * self.bytes() as u32;
        match self {
            Word::Signed(_) => Number::Integer((((bits << unused) as i64) >> unused).into()),
            Word::Float => Number::Float(f32::from_bits(bits as u32).into()),
            Word::Double => Number::Float(f64::from_bits(bits)),
            _ => Number::Integer(bits.into()),
        }
    }

    /// The value of a word that a peer wrote.
    pub fn read<'py>(self, py: Python<'py>, source: &[u8]) -> Result<Bound<'py, PyAny>, Malformed> {
        Ok(match (self, self.number(source)) {
            (Word::Boolean, Number::Integer(value)) => {
                PyBool::new(py, boolean(value as u8)?).to_owned().into_any()
            }
            (Word::Char | Word::WideChar, Number::Integer(value)) => {
                let letter = character(value as u32)?;
                PyString::new(py, letter.encode_utf8(&mut [0; 4])).into_any()
            }
            (Word::Unsigned(8), Number::Integer(value)) => PyInt::new(py, value as u64).into_any(),
            (_, Number::Integer(value)) => PyInt::new(py, value as i64).into_any(),
            (_, Number::Float(value)) => PyFloat::new(py, value).into_any(),
        })
    }
}

/// The integers from `least` on, before `end`, in words.
pub fn before(least: i128, end: i128) -> String {
    format!("{least} to {}", end - 1)
}

/// An integer of Python, or of what stands for one, if it fits any word; else what is `allowed` is
/// said.
pub fn integer(value: &Bound<'_, PyAny>, allowed: &dyn Fn() -> String) -> Result<i128, Wrong> {
    if let Ok(number) = value.cast::<PyInt>() {
        return whole(number, allowed);
    }
    check_mask(value)?;
    let name = intern!(value.py(), "__index__");
    if !value.get_type().hasattr(name)? {
        return Err(wrong_type(value, "an int"));
    }
    // Once: what a value's own method does and raises is its user's, an interrupt as well.
    let number = value.call_method0(name).map_err(|error| not_one(value, "an int", error))?;
    whole(number.cast().map_err(|_| wrong_type(&number, "an int"))?, allowed)
}

fn whole(number: &Bound<'_, PyInt>, allowed: &dyn Fn() -> String) -> Result<i128, Wrong> {
    if let Ok(number) = number.extract::<i64>() {
        return Ok(number.into());
    }
    if let Ok(number) = number.extract::<u64>() {
        return Ok(number.into());
    }
    // Python may refuse to write a very long one down.
    let shown = number.str().map(|text| text.to_string());
    let shown = shown.unwrap_or_else(|_| String::from("a number of many digits"));
    Err(Wrong::range(shown, allowed()))
}

/// What a value should have been.
pub fn wrong_type(value: &Bound<'_, PyAny>, wanted: &str) -> Wrong {
    let found = value.get_type().name().map(|name| name.to_string());
    let found = found.unwrap_or_else(|_| String::from("something else"));
    let elements = elements_of(value).map(|elements| format!(" of {elements}"));
    let elements = elements.unwrap_or_default();
    Wrong::Type { of: String::new(), why: format!("{found}{elements} where {wanted} is wanted") }
}

/// What an array of NumPy's has for elements (its `dtype`). `None`: it is no such array.
pub fn elements_of<'py>(value: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    // Where nobody has imported NumPy there are no arrays.
    if !value.hasattr(intern!(value.py(), "__array_interface__")).ok()? {
        return None;
    }
    let class = value.py().import("numpy").ok()?.getattr("ndarray").ok()?;
    let is_array = value.is_instance(&class).ok()?;
    is_array.then(|| value.getattr("dtype").ok()).flatten()
}

/// A boolean of Python.
pub fn truth(value: &Bound<'_, PyAny>) -> Result<bool, Wrong> {
    value.extract().map_err(|_| wrong_type(value, "a bool"))
}

/// A number of Python, or of what can be made one, which may refuse to.
fn real(value: &Bound<'_, PyAny>) -> Result<f64, Wrong> {
    if !value.is_instance_of::<PyFloat>() && !value.is_instance_of::<PyInt>() {
        check_mask(value)?;
        check_real(value)?;
    }
    // Once: what a value's own method does and raises is its user's, an interrupt as well.
    let error = match value.extract() {
        Ok(number) => return Ok(number),
        Err(error) => error,
    };
    if error.is_instance_of::<PyTypeError>(value.py()) {
        let kind = value.get_type();
        if !kind.hasattr("__float__")? && !kind.hasattr("__index__")? {
            return Err(wrong_type(value, "a float"));
        }
    }
    Err(not_one(value, "a float", error))
}

/// Why a value that has such a method gives no number: of an array with more than one element, or
/// none, what it is, and of all others what they say themselves.
fn not_one(value: &Bound<'_, PyAny>, wanted: &str, error: PyErr) -> Wrong {
    match elements_of(value) {
        Some(_) if error.is_instance_of::<PyTypeError>(value.py()) => wrong_type(value, wanted),
        _ => Wrong::Python(error),
    }
}

/// Refuses what NumPy would make a number of that is none: a complex one, without its imaginary
/// part, or a text, by what it says.
fn check_real(value: &Bound<'_, PyAny>) -> Result<(), Wrong> {
    let py = value.py();
    let Some(elements) = value.getattr_opt(intern!(py, "dtype"))? else { return Ok(()) };
    let Some(kind) = elements.getattr_opt(intern!(py, "kind"))? else { return Ok(()) };
    match kind.extract::<char>() {
        Ok('c' | 'S' | 'T' | 'U' | 'V' | 'M' | 'm') => Err(wrong_type(value, "a float")),
        _ => Ok(()),
    }
}

fn letter(value: &Bound<'_, PyAny>) -> Result<char, Wrong> {
    let text = value.cast::<PyString>().map_err(|_| wrong_type(value, "a str"))?.to_str()?;
    let mut letters = text.chars();
    match (letters.next(), letters.next()) {
        (Some(letter), None) => Ok(letter),
        _ => Err(wrong_type(value, "a str of one character")),
    }
}
