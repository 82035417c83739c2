//! What the grammar of MIDL saw, as written: declarations of C with attributes before them.
//!
//! Knows neither what a name means nor what an attribute does.

use std::rc::Rc;

use crate::front::ast::{Expression, Item as Mark, Name};
use crate::model::Primitive;
use crate::source::Span;

/// What stands in a file or an interface.
pub(super) enum Item {
    /// A declaration.
    Declaration(Declaration),
    /// A pragma, or where an included file begins or ends.
    Mark(Mark),
}

/// A declaration with what stands before it.
pub(super) struct Declaration {
    pub attributes: Vec<Attribute>,
    /// Comment above it.
    pub doc: Option<Rc<str>>,
    /// Stands in an included or imported file.
    pub is_included: bool,
    pub kind: DeclarationKind,
}

pub(super) enum DeclarationKind {
    /// `interface name : base { ... }`
    Interface { name: Name, base: Option<Name>, items: Vec<Item> },
    /// `typedef`
    Typedef { specifier: Specifier, declarators: Vec<Declarator> },
    /// A struct, union or enum with a tag, alone.
    Tagged(Specifier),
    /// `const`
    Constant { specifier: Specifier, declarator: Declarator, value: Expression },
    /// An operation of an interface.
    Operation { specifier: Specifier, declarator: Declarator, parameters: Vec<Field> },
    /// `interface name;`
    Forward { name: Name },
    /// `import`, which the preprocessor has followed; `cpp_quote`.
    Nothing,
    /// A construct outside, already reported; the names it declares.
    Outside { names: Vec<Name> },
}

/// `name` or `name(arguments)` between brackets.
pub(super) struct Attribute {
    pub name: Name,
    pub arguments: Vec<Argument>,
    /// The whole attribute.
    pub span: Span,
}

/// What an attribute is given, between commas.
pub(super) enum Argument {
    /// Nothing: `size_is(, n)`.
    Nothing,
    /// A value, with the number of `*` before it.
    Value { stars: u32, value: Expression },
    /// The type of `switch_type(type)`.
    Type(Specifier),
}

/// A type without what its declarators add.
pub(super) struct Specifier {
    pub kind: SpecifierKind,
    pub span: Span,
}

pub(super) enum SpecifierKind {
    Primitive(Primitive),
    Void,
    /// `handle_t`
    BindingHandle,
    Name(Name),
    Struct {
        tag: Option<Name>,
        members: Option<Vec<Field>>,
    },
    Union(Box<Union>),
    Enum {
        tag: Option<Name>,
        enumerators: Option<Vec<Enumerator>>,
    },
    /// Already reported.
    Outside,
}

/// A union of either kind.
pub(super) struct Union {
    pub tag: Option<Name>,
    /// `switch (type name)`: it carries its discriminator.
    pub switch: Option<Specifier>,
    pub arms: Option<Vec<Arm>>,
}

/// One arm of a union, with every label before it.
pub(super) struct Arm {
    pub labels: Vec<Label>,
    /// None: this discriminator selects no member.
    pub field: Option<Field>,
    pub span: Span,
}

pub(super) enum Label {
    Value(Expression),
    Default(Span),
}

pub(super) struct Enumerator {
    pub doc: Option<Rc<str>>,
    pub name: Name,
    pub value: Option<Expression>,
}

/// Members of one type, or one parameter.
pub(super) struct Field {
    pub attributes: Vec<Attribute>,
    pub doc: Option<Rc<str>>,
    pub specifier: Specifier,
    pub declarators: Vec<Declarator>,
}

/// `**name[3][]`
pub(super) struct Declarator {
    pub name: Name,
    /// How many `*` stand before it.
    pub stars: u32,
    pub dimensions: Vec<Dimension>,
}

pub(super) enum Dimension {
    /// `[]`, `[*]`
    Open,
    /// `[3]`
    Count(Expression),
}
