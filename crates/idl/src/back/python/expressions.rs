//! Types as annotations, and as rows of the table of types.

use crate::back::allowed::within;
use crate::back::python::Python;
use crate::back::python::text::{float, quoted, tuple};
use crate::layout::{Range, Scalar, range};
use crate::model::{Annotation, Kind, Member, Primitive, Type, Value};

impl Python<'_> {
    /// What a value is when it arrives, and in a struct.
    pub fn annotation(&self, declared: &Type) -> String {
        match self.model.resolved(declared) {
            Type::Primitive(primitive) => primitive_annotation(*primitive).to_owned(),
            Type::String { .. } | Type::WideString { .. } => String::from("str"),
            Type::Sequence { element, .. } => match self.number(element) {
                Some(Primitive::Octet) if self.is_plain(element) => String::from("bytes"),
                Some(number) => numbers_annotation(number),
                None => format!("list[{}]", self.annotation(element)),
            },
            Type::Array { element, dimensions } => match self.number(element) {
                Some(Primitive::Octet) if dimensions.len() == 1 && self.is_plain(element) => {
                    String::from("bytes")
                }
                Some(number) => numbers_annotation(number),
                None => dimensions
                    .iter()
                    .fold(self.annotation(element), |inner, _| format!("list[{inner}]")),
            },
            Type::Map { key, value, .. } => {
                format!("dict[{}, {}]", self.annotation(key), self.annotation(value))
            }
            Type::Named(id) => self.names.declaration(*id).to_owned(),
        }
    }

    /// What an argument may be: whatever can be read in the same way.
    pub fn argument_annotation(&self, declared: &Type) -> String {
        let owned = self.annotation(declared);
        let resolved = self.model.resolved(declared);
        match resolved {
            _ if owned == "bytes" && !matches!(resolved, Type::Primitive(_)) => {
                String::from("_raw.Buffer")
            }
            Type::Sequence { element, .. } if self.number(element).is_some() => {
                let (arrays, number) = (self.arrays(element), self.scalar_annotation(element));
                format!("{arrays} | _typing.Sequence[{number}]")
            }
            Type::Array { element, dimensions } if self.number(element).is_some() => {
                let (arrays, number) = (self.arrays(element), self.scalar_annotation(element));
                let nested =
                    dimensions.iter().fold(number, |inner, _| format!("_typing.Sequence[{inner}]"));
                format!("{arrays} | {nested}")
            }
            Type::Sequence { element, .. } => {
                format!("_typing.Sequence[{}]", self.annotation(element))
            }
            Type::Array { .. } => match owned.strip_prefix("list[") {
                Some(rest) => format!("_typing.Sequence[{rest}"),
                None => owned,
            },
            Type::Map { key, value, .. } => {
                format!("_typing.Mapping[{}, {}]", self.annotation(key), self.annotation(value))
            }
            _ => owned,
        }
    }

    /// A member's annotation.
    pub fn member_annotation(&self, member: &Member) -> String {
        let annotation = self.annotation(&member.declared);
        if member.is_optional { format!("{annotation} | None") } else { annotation }
    }

    /// The innermost number's annotation; of what are no numbers, the value's own.
    fn scalar_annotation(&self, declared: &Type) -> String {
        match self.model.resolved(declared) {
            Type::Array { element, dimensions } => {
                dimensions.iter().fold(self.scalar_annotation(element), |inner, _| {
                    format!("_typing.Sequence[{inner}]")
                })
            }
            _ => self.annotation(declared),
        }
    }

    /// What has numbers in memory, and may be an argument: by an alias, so that who only sends some
    /// imports no NumPy.
    fn arrays(&self, element: &Type) -> String {
        let name = self.number(element).map_or("", numpy_name);
        let (initial, rest) = name.split_at(1);
        format!("_raw.{}{rest}s", initial.to_uppercase())
    }

    /// The number that this is, or an array of.
    pub fn number(&self, declared: &Type) -> Option<Primitive> {
        match self.model.resolved(declared) {
            Type::Array { element, .. } => self.number(element),
            Type::Primitive(
                Primitive::Boolean | Primitive::Char | Primitive::WideChar | Primitive::LongDouble,
            ) => None,
            Type::Primitive(primitive) => Some(*primitive),
            _ => None,
        }
    }

    /// A number, without dimensions of its own.
    fn is_plain(&self, declared: &Type) -> bool {
        matches!(self.model.resolved(declared), Type::Primitive(_))
    }

    /// A type as the native half reads it.
    pub fn expression(&self, declared: &Type, annotations: &[Annotation]) -> String {
        let inner = match declared {
            Type::Primitive(primitive) => quoted(primitive_code(*primitive)),
            Type::String { bound } => tuple(&[quoted("string"), count(*bound)]),
            Type::WideString { bound } => tuple(&[quoted("wstring"), count(*bound)]),
            Type::Sequence { element, bound } => {
                tuple(&[quoted("sequence"), self.expression(element, &[]), count(*bound)])
            }
            Type::Array { element, dimensions } => {
                let dimensions: Vec<String> = dimensions.iter().map(u32::to_string).collect();
                tuple(&[quoted("array"), self.expression(element, &[]), tuple(&dimensions)])
            }
            Type::Map { key, value, bound } => {
                let (key, value) = (self.expression(key, &[]), self.expression(value, &[]));
                tuple(&[quoted("map"), key, value, count(*bound)])
            }
            Type::Named(id) => match &self.model.declaration(*id).kind {
                Kind::Alias(behind) => {
                    self.expression(behind, &self.model.declaration(*id).annotations)
                }
                _ => self.row(*id).to_string(),
            },
        };
        match range(self.model, annotations, declared) {
            Some(range) => self.ranged(inner, &range),
            None => inner,
        }
    }

    /// A member's type as the native half reads it.
    pub fn member_expression(&self, member: &Member, is_boxed: bool) -> String {
        let inner = self.expression(&member.declared, &member.annotations);
        let inner = if is_boxed { tuple(&[quoted("boxed"), inner]) } else { inner };
        if member.is_optional { tuple(&[quoted("optional"), inner]) } else { inner }
    }

    fn ranged(&self, inner: String, range: &Range) -> String {
        let end = |end: &Option<Value>| match (end, &range.of) {
            // The native half compares in 64 bits, and a word of 32 holds the end as rounded.
            (Some(Value::Float(value)), Type::Primitive(Primitive::Float)) => {
                float(f64::from(*value as f32))
            }
            (Some(value), _) => self.number_of(value),
            (None, _) => String::from("None"),
        };
        let (least, greatest) = (end(&range.least), end(&range.greatest));
        tuple(&[quoted("range"), inner, least, greatest, quoted(&within(self.model, range))])
    }

    /// A value by the number that its word holds.
    pub fn number_of(&self, value: &Value) -> String {
        match value {
            Value::Boolean(value) => i32::from(*value).to_string(),
            Value::Integer(value) => value.to_string(),
            Value::Float(value) => float(*value),
            Value::Char(value) => u32::from(*value).to_string(),
            Value::String(value) => quoted(value),
            Value::Enumerator(id, index) => match &self.model.declaration(*id).kind {
                Kind::Enum(shape) => shape.enumerators[*index as usize].value.to_string(),
                _ => index.to_string(),
            },
        }
    }
}

/// The word that an enum, bitmask or bitset crosses in.
pub fn word_code(scalar: Scalar, is_signed: bool) -> String {
    let sign = if is_signed { 'i' } else { 'u' };
    quoted(&format!("{sign}{}", scalar.width()))
}

/// A built-in scalar as the native half calls it: NumPy's word for it where there is one.
pub fn primitive_code(primitive: Primitive) -> &'static str {
    match primitive {
        Primitive::Boolean => "boolean",
        Primitive::Octet => "octet",
        Primitive::Char => "char",
        Primitive::WideChar => "wchar",
        Primitive::Int8 => "i1",
        Primitive::Uint8 => "u1",
        Primitive::Int16 => "i2",
        Primitive::Uint16 => "u2",
        Primitive::Int32 => "i4",
        Primitive::Uint32 => "u4",
        Primitive::Int64 => "i8",
        Primitive::Uint64 => "u8",
        Primitive::Float => "f4",
        Primitive::Double => "f8",
        Primitive::LongDouble => "extended",
    }
}

fn primitive_annotation(primitive: Primitive) -> &'static str {
    match primitive {
        Primitive::Boolean => "bool",
        Primitive::Char | Primitive::WideChar => "str",
        Primitive::Float | Primitive::Double => "float",
        Primitive::LongDouble => "bytes",
        _ => "int",
    }
}

fn numbers_annotation(primitive: Primitive) -> String {
    format!("_numpy_typing.NDArray[{}]", numpy_type(primitive))
}

/// NumPy's type for a number.
pub fn numpy_type(primitive: Primitive) -> String {
    format!("_numpy.{}", numpy_name(primitive))
}

fn numpy_name(primitive: Primitive) -> &'static str {
    match primitive {
        Primitive::Octet | Primitive::Uint8 => "uint8",
        Primitive::Int8 => "int8",
        Primitive::Int16 => "int16",
        Primitive::Uint16 => "uint16",
        Primitive::Int32 => "int32",
        Primitive::Uint32 => "uint32",
        Primitive::Int64 => "int64",
        Primitive::Uint64 => "uint64",
        Primitive::Float => "float32",
        // Boolean, characters and long double are no numbers.
        _ => "float64",
    }
}

/// A bound, or none.
fn count(bound: Option<u32>) -> String {
    bound.map_or_else(|| String::from("None"), |bound| bound.to_string())
}
