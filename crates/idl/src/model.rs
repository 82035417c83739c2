//! What an interface file means, once every name is resolved and every rule has been checked.
//!
//! Knows nothing of dialects or target languages, and of source text only where each name stands:
//! front ends make it, the layout reads it. Declarations stand in an arena in the order of the
//! text; everything refers to them by index. A model is only made from files without errors, so
//! that its readers need not check.

mod primitive;

pub use primitive::Primitive;

use std::collections::BTreeMap;

use crate::source::Span;

/// Index of a declaration in [`Model::declarations`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeclarationId(pub u32);

/// A whole compilation: the named file and all it includes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Model {
    /// Every declaration, in the order of the text. Only completed ones: a forward declaration
    /// and its definition are one entry, at the place of the definition.
    pub declarations: Vec<Declaration>,
}

/// One named thing.
#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    /// Scope and own name, outermost module first, as spelled (an escaping `_` removed).
    pub name: ScopedName,
    /// Where its name stands.
    pub at: Span,
    /// Text of the comment lines directly above it that begin with `///` or stand in `/** */`.
    pub doc: Option<String>,
    /// Repository id of clause 7.4.6.4.1, with the pragmas `ID`, `prefix` and `version` applied.
    pub repository_id: String,
    /// Annotations, standard and user-defined, in the order of the text; unknown ones left out.
    pub annotations: Vec<Annotation>,
    /// Declared in an included file: referred to, and generated once, where it is declared.
    pub is_included: bool,
    /// What it is.
    pub kind: Kind,
}

/// Names from the outermost scope inwards.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScopedName(pub Vec<String>);

/// What a declaration declares.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// `const`
    Constant(Constant),
    /// `typedef`, one entry a declarator
    Alias(Type),
    /// `struct`
    Struct(Struct),
    /// `union`
    Union(Union),
    /// `enum`
    Enum(Enum),
    /// `bitmask`
    Bitmask(Bitmask),
    /// `bitset`
    Bitset(Bitset),
    /// `exception`
    Exception(Vec<Member>),
    /// `interface`
    Interface(Interface),
}

/// A type as used: built in, constructed on the spot, or named.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// A built-in scalar.
    Primitive(Primitive),
    /// `string` or `string<bound>`; bound in bytes of UTF-8.
    String { bound: Option<u32> },
    /// `wstring` or `wstring<bound>`; bound in characters.
    WideString { bound: Option<u32> },
    /// `sequence<element>` or `sequence<element, bound>`.
    Sequence { element: Box<Type>, bound: Option<u32> },
    /// An array declarator; at least one dimension, none is zero.
    Array { element: Box<Type>, dimensions: Vec<u32> },
    /// `map<key, value>` or `map<key, value, bound>`.
    Map { key: Box<Type>, value: Box<Type>, bound: Option<u32> },
    /// A struct, union, enum, bitmask, bitset or alias. Never an interface or an exception.
    Named(DeclarationId),
}

/// A value of a constant expression, of a label or of an annotation parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `TRUE`, `FALSE`
    Boolean(bool),
    /// Every integer type and octet; in the range of its type
    Integer(i128),
    /// `float`, `double`, `long double`
    Float(f64),
    /// `char`, `wchar`
    Char(char),
    /// `string`, `wstring`
    String(String),
    /// An enumerator, by its place in the enum
    Enumerator(DeclarationId, u32),
}

/// A named constant.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    /// A primitive, string, wide string, or an alias or enum that comes down to one.
    pub declared: Type,
    /// In the range of `declared`.
    pub value: Value,
}

/// A struct. `members` has the inherited ones first (clause 7.4.13.4.1).
#[derive(Clone, Debug, PartialEq)]
pub struct Struct {
    /// The struct it extends.
    pub base: Option<DeclarationId>,
    /// Own members only.
    pub members: Vec<Member>,
}

/// A member of a struct or exception.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// As spelled.
    pub name: String,
    /// Where its name stands.
    pub at: Span,
    /// Comment above it.
    pub doc: Option<String>,
    /// Array declarators folded in.
    pub declared: Type,
    /// `@optional`
    pub is_optional: bool,
    /// Who makes one of its holder need not say it: in proto3 each has the zero of its type, if
    /// that has one.
    pub has_zero: bool,
    /// All annotations.
    pub annotations: Vec<Annotation>,
    /// Of a .proto file: the number of the field, or of a oneof's first. It is known by that, and
    /// may change its name.
    pub number: Option<i32>,
}

/// A union.
#[derive(Clone, Debug, PartialEq)]
pub struct Union {
    /// A primitive integer, char, wide char, boolean or octet, or an enum.
    pub discriminator: Type,
    /// In the order of the text.
    pub cases: Vec<Case>,
    /// There is a `default:` label, or the labels leave values over (an implicit default without
    /// a member).
    pub default: UnionDefault,
}

/// What a union does with a discriminator that has no label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnionDefault {
    /// Case of this index.
    Case(u32),
    /// No label left over: every value has a case.
    Covered,
    /// No member is active.
    Implicit,
}

/// One case of a union.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Values that select it; empty if it has only `default:`.
    pub labels: Vec<Value>,
    /// The member.
    pub member: Member,
}

/// An enum.
#[derive(Clone, Debug, PartialEq)]
pub struct Enum {
    /// At least one.
    pub enumerators: Vec<Enumerator>,
    /// `@bit_bound`, 1 to 32; 32 if not given.
    pub bit_bound: u8,
    /// Which enumerator stands where no value came: `@default_literal`, or the first.
    pub default_index: u32,
    /// Whether it is the one that says so.
    pub has_default_literal: bool,
}

/// One enumerator.
#[derive(Clone, Debug, PartialEq)]
pub struct Enumerator {
    /// As spelled.
    pub name: String,
    /// Where its name stands.
    pub at: Span,
    /// Comment above it.
    pub doc: Option<String>,
    /// Its place, or `@value`.
    pub value: i64,
    /// Of a .proto file: it is known by its value, and may change its name.
    pub is_numbered: bool,
}

/// A bitmask.
#[derive(Clone, Debug, PartialEq)]
pub struct Bitmask {
    /// `@bit_bound`, 1 to 64; 32 if not given.
    pub bit_bound: u8,
    /// Names and positions, positions below `bit_bound`, no two alike.
    pub flags: Vec<(String, u8)>,
}

/// A bitset: bit fields in one word of at most 64 bits.
#[derive(Clone, Debug, PartialEq)]
pub struct Bitset {
    /// Inherited fields first, padding fields without a name left out.
    pub fields: Vec<Bitfield>,
    /// Bits of all fields and paddings.
    pub width: u8,
}

/// One field of a bitset.
#[derive(Clone, Debug, PartialEq)]
pub struct Bitfield {
    /// As spelled.
    pub name: String,
    /// Bit it begins at.
    pub position: u8,
    /// Bits, 1 to 64.
    pub width: u8,
    /// Type it is read as: boolean or an integer type.
    pub declared: Primitive,
}

/// An interface.
#[derive(Clone, Debug, PartialEq)]
pub struct Interface {
    /// Direct bases, in the order of the text.
    pub bases: Vec<DeclarationId>,
    /// All operations a client may call, in the order of their procedure index: those of the
    /// bases first (depth first, each once), then its own, with attributes as `_get_` and `_set_`
    /// operations at the place of the attribute.
    pub operations: Vec<Operation>,
}

/// An operation, or one half of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    /// As spelled; `_get_x`, `_set_x` for an attribute.
    pub name: String,
    /// Where its name, or that of its attribute, stands.
    pub at: Span,
    /// Comment above it.
    pub doc: Option<String>,
    /// The interface that declares it.
    pub declared_in: DeclarationId,
    /// What it is half of, if it is.
    pub attribute: Option<AttributeHalf>,
    /// `oneway` or `@oneway`.
    pub is_oneway: bool,
    /// `@idempotent`.
    pub is_idempotent: bool,
    /// `@leaf`: its procedure waits for nobody and starts no threads.
    pub is_leaf: bool,
    /// `None` for `void`.
    pub returns: Option<Type>,
    /// `@opaque` on the operation applies to what it returns.
    pub returns_opaque: bool,
    /// `@prealloc` on the operation applies to what it returns, as [`Parameter::is_prealloc`].
    pub returns_prealloc: bool,
    /// `@fd` on the operation: what it returns is a descriptor.
    pub returns_descriptor: Option<Descriptor>,
    /// `@feed` on the operation: it returns items. Not in a whole model: see [`Operation::feed`].
    pub returns_feed: bool,
    /// One of the procedures that carry a feed, if it is one.
    pub feed: Option<Feed>,
    /// In the order of the text.
    pub parameters: Vec<Parameter>,
    /// Exceptions, in the order of the text, each once.
    pub raises: Vec<DeclarationId>,
    /// `@typical(bytes)` of what it returns, as [`Parameter::typical_bytes`].
    pub returns_typical_bytes: Option<u32>,
    /// `@astack(count, bytes)`: simultaneous calls and bytes for variable arguments (L48).
    pub astack: AStackWish,
    /// All annotations.
    pub annotations: Vec<Annotation>,
}

/// What `@astack` asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AStackWish {
    /// Simultaneous calls.
    pub count: Option<u32>,
    /// Bytes for variable arguments.
    pub bytes: Option<u32>,
}

/// Which accessor an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttributeHalf {
    /// Reads it.
    Getter,
    /// Writes it.
    Setter,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// As spelled.
    pub name: String,
    /// Where its name, or that of its attribute, stands.
    pub at: Span,
    /// Which way it goes.
    pub direction: Direction,
    /// Its type.
    pub declared: Type,
    /// `@opaque`: the server does not interpret it, so that it is lent in place (L43). Only on a
    /// `sequence<octet>`, bounded or not.
    pub is_opaque: bool,
    /// `@prealloc`: the client has memory for it. Only on what comes back, and is text or a
    /// sequence of elements of one length.
    pub is_prealloc: bool,
    /// `@typical(bytes)`: how much of its variable part most calls have at most, which then lies on
    /// the A-stack, and what is longer out of line (I10). Only on what has a variable part.
    pub typical_bytes: Option<u32>,
    /// `@fd`: a descriptor, which goes beside the message. Only on a `long`, and not inout.
    pub descriptor: Option<Descriptor>,
    /// `@feed`: it is sent item by item. Not in a whole model: see [`Operation::feed`].
    pub is_feed: bool,
    /// All annotations.
    pub annotations: Vec<Annotation>,
}

/// What a procedure does for a feed.
#[derive(Clone, Debug, PartialEq)]
pub struct Feed {
    /// Which of its procedures it is.
    pub part: FeedPart,
    /// The operation that opens the feed, as spelled.
    pub opened_by: String,
    /// It goes both ways: an exchange.
    pub is_exchange: bool,
}

/// The procedures that a `@feed` operation becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeedPart {
    /// Opens a feed, and returns its number; that of an exchange both numbers.
    Open,
    /// Returns the next batch of items.
    Next,
    /// Takes the next batch of items.
    Put,
    /// Says that there are no more, and returns what the operation returns.
    End,
}

/// A descriptor that is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// What it has to be.
    pub kind: DescriptorKind,
    /// `@optional`: it may be absent, which a byte of the message says.
    pub is_optional: bool,
}

/// What a descriptor that is passed has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DescriptorKind {
    /// `@fd`, `@fd(ANY)`
    Any,
    /// `@fd(BINDING)`: an introduction to a binding of the sender's.
    Binding,
    /// `@fd(FILE)`: a regular file.
    File,
    /// `@fd(SEGMENT)`: a segment that its creator alone can write.
    Segment,
    /// `@fd(SOCKET)`
    Socket,
}

/// Which way a parameter goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To the server.
    In,
    /// Both ways.
    Inout,
    /// To the client.
    Out,
}

/// An annotation with its parameters, defaults filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct Annotation {
    /// Without the `@`; `::` between parts of a scoped one.
    pub name: String,
    /// Parameter values by name.
    pub parameters: BTreeMap<String, Value>,
}

impl Declaration {
    /// How the type says that it may change: `FINAL`, `APPENDABLE` or `MUTABLE`, if it says so.
    pub fn extensibility(&self) -> Option<&str> {
        self.annotations.iter().find_map(|one| match &*one.name {
            "final" => Some("FINAL"),
            "appendable" => Some("APPENDABLE"),
            "mutable" => Some("MUTABLE"),
            "extensibility" => match one.parameters.get("value") {
                Some(Value::String(word)) => Some(&**word),
                _ => None,
            },
            _ => None,
        })
    }

    /// Whether a later version may add members at its end: a struct that says so, and a oneof of a
    /// .proto file, which may get cases.
    pub fn is_appendable(&self) -> bool {
        let may_be = match &self.kind {
            Kind::Struct(_) => true,
            Kind::Union(union) => union.is_numbered(),
            _ => false,
        };
        may_be && self.extensibility() == Some("APPENDABLE")
    }
}

impl Enum {
    /// Whether it is of a .proto file: its values are known by their numbers, and nothing by the
    /// place where one stands.
    pub fn is_numbered(&self) -> bool {
        self.enumerators.iter().all(|one| one.is_numbered)
    }
}

impl Union {
    /// Whether it is a oneof of a .proto file: its cases are known by their numbers, which are its
    /// discriminators.
    pub fn is_numbered(&self) -> bool {
        self.cases.iter().all(|case| case.member.number.is_some())
    }
}

impl DescriptorKind {
    /// Every one.
    pub const ALL: [DescriptorKind; 5] = [
        DescriptorKind::Any,
        DescriptorKind::Binding,
        DescriptorKind::File,
        DescriptorKind::Segment,
        DescriptorKind::Socket,
    ];

    /// As it stands in an interface file.
    pub fn word(self) -> &'static str {
        match self {
            DescriptorKind::Any => "ANY",
            DescriptorKind::Binding => "BINDING",
            DescriptorKind::File => "FILE",
            DescriptorKind::Segment => "SEGMENT",
            DescriptorKind::Socket => "SOCKET",
        }
    }
}

impl Operation {
    /// One of the procedures that carry a feed that another one has opened.
    pub fn carries_feed(&self) -> bool {
        self.feed.as_ref().is_some_and(|feed| feed.part != FeedPart::Open)
    }

    /// Whether a program may post its calls and collect them later (design note 0007): it has a
    /// reply, and neither opens nor carries a feed.
    pub fn is_posted(&self) -> bool {
        !self.is_oneway && self.feed.is_none()
    }

    /// Whether it opens a feed that goes both ways.
    pub fn opens_exchange(&self) -> bool {
        let feed = self.feed.as_ref();
        feed.is_some_and(|feed| feed.is_exchange && feed.part == FeedPart::Open)
    }

    /// The parameters that its interface file gives it: what opens an exchange has one more.
    pub fn spelled_parameters(&self) -> &[Parameter] {
        let own_count = self.parameters.len() - usize::from(self.opens_exchange());
        &self.parameters[..own_count]
    }

    /// Whether its calls bring the server items of a feed.
    pub fn takes_items(&self) -> bool {
        self.feed.as_ref().is_some_and(|feed| feed.part == FeedPart::Put)
    }

    /// Whether its calls wait for what the other side of an exchange does.
    pub fn waits_for_exchange(&self) -> bool {
        self.feed.as_ref().is_some_and(|feed| {
            feed.is_exchange && matches!(feed.part, FeedPart::Next | FeedPart::Put)
        })
    }

    /// Whether descriptors go with its calls, either way.
    pub fn passes_descriptors(&self) -> bool {
        let mut parameters = self.parameters.iter();
        self.returns_descriptor.is_some() || parameters.any(|one| one.descriptor.is_some())
    }
}

impl Model {
    /// The declaration with this index.
    pub fn declaration(&self, id: DeclarationId) -> &Declaration {
        &self.declarations[id.0 as usize]
    }

    /// Whether a later version may add to a type at its end: a struct that says so, an enum, or a
    /// oneof of a .proto file.
    pub fn may_grow(&self, id: DeclarationId) -> bool {
        self.declaration(id).is_appendable() || self.stand_in(id).is_some()
    }

    /// The oneof of a .proto file that a type is.
    pub fn oneof(&self, declared: &Type) -> Option<&Union> {
        let Type::Named(id) = self.resolved(declared) else { return None };
        match &self.declaration(*id).kind {
            Kind::Union(union) if union.is_numbered() => Some(union),
            _ => None,
        }
    }

    /// What a oneof of a .proto file is known by: its message and its lowest number, whatever it is
    /// called.
    pub fn oneof_key(&self, id: DeclarationId) -> Option<(&[String], i32)> {
        let declaration = self.declaration(id);
        let Kind::Union(union) = &declaration.kind else { return None };
        let number = union.cases.iter().map(|case| case.member.number).min().flatten()?;
        let (_, message) = declaration.name.0.split_last()?;
        Some((message, number))
    }

    /// Of an enum to which a later version may add, what stands for an enumerator that this one
    /// does not know: its default literal. One that selects the cases of a union has none, as it
    /// would select another case.
    pub fn stand_in(&self, id: DeclarationId) -> Option<u32> {
        let declaration = self.declaration(id);
        let Kind::Enum(shape) = &declaration.kind else { return None };
        let says_so = declaration.extensibility() == Some("APPENDABLE");
        let stands = says_so && shape.has_default_literal && !self.is_discriminator(id);
        stands.then_some(shape.default_index)
    }

    /// Whether an enum selects the cases of a union.
    pub fn is_discriminator(&self, id: DeclarationId) -> bool {
        self.declarations.iter().any(|one| match &one.kind {
            Kind::Union(union) => *self.resolved(&union.discriminator) == Type::Named(id),
            _ => false,
        })
    }

    /// All interfaces, in the order of the text.
    pub fn interfaces(&self) -> impl Iterator<Item = (DeclarationId, &Declaration, &Interface)> {
        self.declarations.iter().enumerate().filter_map(|(index, declaration)| {
            match &declaration.kind {
                Kind::Interface(interface) => {
                    Some((DeclarationId(index as u32), declaration, interface))
                }
                _ => None,
            }
        })
    }

    /// The type behind any number of aliases.
    pub fn resolved<'m>(&'m self, declared: &'m Type) -> &'m Type {
        let mut declared = declared;
        while let Type::Named(id) = declared {
            match &self.declaration(*id).kind {
                Kind::Alias(behind) => declared = behind,
                _ => break,
            }
        }
        declared
    }
}

impl std::fmt::Display for ScopedName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.join("::"))
    }
}
