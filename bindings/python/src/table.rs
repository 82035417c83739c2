//! What a generated module says of its types and messages, once it was checked: nothing that a
//! call could trip over is left.

use std::collections::HashMap;

use nearcall::InterfaceDescriptor;
use nearcall::raw::DescriptorKind;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use crate::descriptor::Descriptors;
use crate::words::{Number, Word};
use crate::write::word_of;

/// A type as it is used.
#[derive(Debug)]
pub enum Type {
    Word(Word),
    /// `long double`: 16 bytes that nobody looks at.
    Extended,
    /// The bound is in bytes.
    Text {
        bound: u32,
    },
    /// The bound is in characters.
    WideText {
        bound: u32,
    },
    /// A sequence of octets.
    Octets {
        bound: u32,
    },
    /// So many octets.
    OctetArray {
        count: usize,
    },
    /// A sequence of numbers, or of arrays of them.
    Numbers {
        numbers: Numbers,
        bound: u32,
    },
    /// An array of numbers.
    NumberArray {
        numbers: Numbers,
    },
    Sequence {
        element: Box<Type>,
        bound: u32,
    },
    Array {
        element: Box<Type>,
        count: usize,
    },
    /// A batch of a feed's items: read as a list whatever they are, written from a
    /// [`crate::feed::Batch`].
    Items {
        element: Box<Type>,
        bound: u32,
    },
    Map {
        key: Box<Type>,
        value: Box<Type>,
        bound: u32,
    },
    Optional(Box<Type>),
    /// A member that stubs in other languages keep elsewhere, and so read one level deeper.
    Boxed(Box<Type>),
    Ranged {
        inner: Box<Type>,
        range: Range,
    },
    /// A row of the table.
    Declared(usize),
}

/// Numbers that lie as in memory: for an array all of them, for a sequence one element.
#[derive(Debug)]
pub struct Numbers {
    pub word: Word,
    /// What NumPy calls one.
    pub dtype: &'static str,
    /// Of an element, outermost first; none if it is a number.
    pub dimensions: Vec<usize>,
    /// Bytes of an element.
    pub width: usize,
    /// What each has to keep.
    pub ranges: Vec<Range>,
}

/// Values that a place may have.
#[derive(Clone, Debug)]
pub struct Range {
    pub least: Option<Number>,
    pub greatest: Option<Number>,
    /// They, in words.
    pub allowed: String,
}

/// A row of the table of types.
#[derive(Debug)]
pub struct Declared {
    pub class: Py<PyAny>,
    pub kind: Kind,
    /// The class takes some of its members by name only.
    pub is_by_name: bool,
}

impl Declared {
    /// An object of the class of a struct or an exception; its members' values in order.
    pub fn made<'py>(
        &self,
        py: Python<'py>,
        values: &[Bound<'py, PyAny>],
    ) -> PyResult<Bound<'py, PyAny>> {
        let class = self.class.bind(py);
        match &self.kind {
            Kind::Struct { members, .. } if self.is_by_name => {
                let named = PyDict::new(py);
                for (member, value) in members.iter().zip(values) {
                    named.set_item(&member.name, value)?;
                }
                class.call((), Some(&named))
            }
            _ => class.call1(PyTuple::new(py, values)?),
        }
    }
}

/// What a row declares.
#[derive(Debug)]
pub enum Kind {
    /// A struct or an exception.
    Struct {
        members: Vec<Member>,
        is_appendable: bool,
    },
    Union {
        discriminator: Type,
        cases: Vec<Type>,
        labels: HashMap<i128, usize>,
        rest: Rest,
        /// Of a oneof of a .proto file its discriminators, in words: what it holds stands behind
        /// its length, and one whose case is not known is not set.
        oneof: Option<String>,
    },
    Enum {
        word: Word,
        values: HashMap<i128, Py<PyAny>>,
        /// They, in words.
        allowed: String,
        /// The value of the one that stands for those that a later version has added.
        stand_in: Option<i128>,
    },
    Bitmask {
        word: Word,
        bits: u64,
    },
    Bitset {
        word: Word,
        fields: Vec<Field>,
    },
}

#[derive(Debug)]
pub struct Member {
    pub name: Py<PyString>,
    pub label: &'static str,
    pub declared: Type,
    /// Of an appendable struct: the default, as it is marshalled.
    pub missing: Vec<u8>,
}

/// What a discriminator without a label selects.
#[derive(Clone, Copy, Debug)]
pub enum Rest {
    Case(usize),
    /// No value at all.
    Nothing,
    /// There is none.
    Covered,
}

/// A field of a bitset.
#[derive(Debug)]
pub struct Field {
    pub name: Py<PyString>,
    pub label: &'static str,
    pub position: u32,
    pub width: u32,
    pub word: Word,
}

/// The table of types.
pub type Table = Vec<Declared>;

/// One procedure.
#[derive(Debug)]
pub struct Procedure {
    pub name: &'static str,
    /// What a server does; what carries a feed is no function of its own.
    pub function: Option<Py<PyString>>,
    pub role: Role,
    pub class: usize,
    pub is_oneway: bool,
    /// Its calls are made once more when the server ends.
    pub is_retried: bool,
    pub request: Message,
    pub reply: Message,
    /// Which exception, and its members.
    pub raised: Vec<(usize, Message)>,
}

/// What a procedure is for a feed, which is named by what opens it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Nothing.
    Plain,
    /// Opens a feed whose items come back in calls of `next`.
    OpensSource {
        next: usize,
    },
    /// Opens a feed whose items go in calls of `put`, until `end`.
    OpensTaker {
        put: usize,
        end: usize,
    },
    Next {
        open: usize,
    },
    Put {
        open: usize,
    },
    End {
        open: usize,
    },
    /// Opens an exchange: items come back in calls of `next`, and go in those of `put` until `end`.
    OpensExchange {
        next: usize,
        put: usize,
        end: usize,
    },
    NextOfExchange {
        open: usize,
    },
    PutToExchange {
        open: usize,
    },
    EndOfExchange {
        open: usize,
    },
}

impl Role {
    /// Whether an event loop runs it, if one serves.
    pub fn is_awaited(self) -> bool {
        use Role::{OpensExchange, OpensSource, OpensTaker, Plain};
        matches!(self, Plain | OpensSource { .. } | OpensTaker { .. } | OpensExchange { .. })
    }

    /// Which procedure has opened the feed that it carries, if it carries one.
    pub fn opener(self) -> Option<usize> {
        use Role::{End, EndOfExchange, Next, NextOfExchange, Put, PutToExchange};
        match self {
            Next { open } | Put { open } | End { open } => Some(open),
            NextOfExchange { open } | PutToExchange { open } | EndOfExchange { open } => Some(open),
            _ => None,
        }
    }
}

/// One message.
#[derive(Debug)]
pub struct Message {
    pub fixed_bytes: usize,
    pub variable_at: usize,
    pub parts: Vec<Part>,
    /// The part that the server writes in place: its payload comes first.
    pub lent: Option<usize>,
    pub has_payloads: bool,
    /// What goes beside it, in the order of the parts.
    pub descriptors: Descriptors,
}

/// One value of a message.
#[derive(Debug)]
pub struct Part {
    pub name: &'static str,
    pub declared: Type,
    pub place: Place,
}

/// Where a value goes.
#[derive(Debug)]
pub enum Place {
    Word {
        at: usize,
    },
    Image {
        at: usize,
        bytes: usize,
    },
    /// A payload, whose length stands at `at`.
    Payload {
        at: usize,
        form: Form,
    },
    /// Not in the message: beside it. If it may be absent, whether it is there stands at a byte.
    Descriptor {
        kind: DescriptorKind,
        presence_at: Option<usize>,
    },
    /// Member by member.
    Members(Vec<Place>),
}

/// How a payload is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Text,
    Octets,
    Lent,
    Elements,
    Marshalled,
}

/// An interface: its descriptor, its procedures, its types.
#[derive(Debug)]
pub struct Plan {
    pub descriptor: &'static InterfaceDescriptor,
    pub procedures: Vec<Procedure>,
    pub table: std::sync::Arc<Table>,
}

impl Range {
    /// Does it have this value? A NaN is in no range.
    pub fn has(&self, value: Number) -> bool {
        self.least.is_none_or(|least| compares(least, value))
            && self.greatest.is_none_or(|greatest| compares(value, greatest))
    }
}

fn compares(less: Number, more: Number) -> bool {
    match (less, more) {
        (Number::Integer(less), Number::Integer(more)) => less <= more,
        (less, more) => wide(less) <= wide(more),
    }
}

fn wide(number: Number) -> f64 {
    match number {
        Number::Integer(value) => value as f64,
        Number::Float(value) => value,
    }
}

impl Type {
    /// Bytes of every value of it, if they are as many.
    pub fn fixed_bytes(&self, table: &Table) -> Option<usize> {
        match self {
            Type::Extended => Some(16),
            Type::OctetArray { count } => Some(*count),
            Type::NumberArray { numbers } => Some(numbers.width),
            Type::Array { element, count } => element.fixed_bytes(table)?.checked_mul(*count),
            _ => word_of(self, table).map(Word::bytes),
        }
    }
}

impl Place {
    /// Is it, or is below it, a payload?
    pub fn has_payload(&self) -> bool {
        match self {
            Place::Payload { .. } => true,
            Place::Members(inner) => inner.iter().any(Place::has_payload),
            Place::Word { .. } | Place::Image { .. } | Place::Descriptor { .. } => false,
        }
    }
}
