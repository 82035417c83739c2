//! The scalars that every interface file has: how they are spelled, how long they are.

/// The built-in scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Primitive {
    /// `boolean`
    Boolean,
    /// `octet`
    Octet,
    /// `char`: one byte of ISO 8859-1
    Char,
    /// `wchar`: one Unicode scalar value
    WideChar,
    /// `int8`
    Int8,
    /// `uint8`
    Uint8,
    /// `short`, `int16`
    Int16,
    /// `unsigned short`, `uint16`
    Uint16,
    /// `long`, `int32`
    Int32,
    /// `unsigned long`, `uint32`
    Uint32,
    /// `long long`, `int64`
    Int64,
    /// `unsigned long long`, `uint64`
    Uint64,
    /// `float`
    Float,
    /// `double`
    Double,
    /// `long double`: 16 bytes, carried and not interpreted
    LongDouble,
}

impl Primitive {
    /// As it is written in OMG IDL.
    pub fn spelled(self) -> &'static str {
        match self {
            Primitive::Boolean => "boolean",
            Primitive::Octet => "octet",
            Primitive::Char => "char",
            Primitive::WideChar => "wchar",
            Primitive::Int8 => "int8",
            Primitive::Uint8 => "uint8",
            Primitive::Int16 => "short",
            Primitive::Uint16 => "unsigned short",
            Primitive::Int32 => "long",
            Primitive::Uint32 => "unsigned long",
            Primitive::Int64 => "long long",
            Primitive::Uint64 => "unsigned long long",
            Primitive::Float => "float",
            Primitive::Double => "double",
            Primitive::LongDouble => "long double",
        }
    }

    /// How many bytes it has.
    pub fn bytes(self) -> u8 {
        match self {
            Primitive::Boolean
            | Primitive::Octet
            | Primitive::Char
            | Primitive::Int8
            | Primitive::Uint8 => 1,
            Primitive::Int16 | Primitive::Uint16 => 2,
            Primitive::WideChar | Primitive::Int32 | Primitive::Uint32 | Primitive::Float => 4,
            Primitive::Int64 | Primitive::Uint64 | Primitive::Double => 8,
            Primitive::LongDouble => 16,
        }
    }
}
