//! What the parser saw, as written: names not looked up, constants not computed.
//!
//! Knows the grammar's shapes and nothing of their meaning. Every part carries its span, because
//! every part can be what a diagnostic points at.

use std::rc::Rc;

use super::token::Pragma;
use crate::model::{Direction, Primitive};
use crate::source::Span;

/// An identifier where it stands, an escaping `_` removed.
#[derive(Clone, Debug, PartialEq)]
pub struct Name {
    /// As spelled.
    pub text: Rc<str>,
    /// Where.
    pub span: Span,
}

/// `A::B` or `::A::B`.
#[derive(Clone, Debug, PartialEq)]
pub struct ScopedName {
    /// Begins with `::`.
    pub is_global: bool,
    /// At least one.
    pub parts: Vec<Name>,
}

/// What stands in a scope: a definition, or something of the preprocessor between definitions.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A definition.
    Definition(Definition),
    /// `#pragma prefix`, `ID` or `version`.
    Pragma(Pragma, Span),
    /// An included file begins here.
    FileStart,
    /// The included file has ended.
    FileEnd,
}

/// A definition with what stands before it.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// In the order of the text.
    pub annotations: Vec<Annotation>,
    /// Comment above it.
    pub doc: Option<Rc<str>>,
    /// Stands in an included file.
    pub is_included: bool,
    /// What it is.
    pub kind: DefinitionKind,
}

/// Kinds of definition, those that may only stand in interfaces among them.
#[derive(Clone, Debug, PartialEq)]
pub enum DefinitionKind {
    /// `module`
    Module { name: Name, items: Vec<Item> },
    /// `const`
    Constant { declared: TypeUse, name: Name, value: Expression },
    /// `typedef`
    Typedef { declared: TypeUse, declarators: Vec<Declarator> },
    /// `struct`
    Struct { name: Name, base: Option<ScopedName>, members: Vec<Member> },
    /// `union`
    Union { name: Name, discriminator: TypeUse, cases: Vec<Case> },
    /// `enum`
    Enum { name: Name, enumerators: Vec<Literal> },
    /// `bitmask`
    Bitmask { name: Name, flags: Vec<Literal> },
    /// `bitset`
    Bitset { name: Name, base: Option<ScopedName>, fields: Vec<Bitfield> },
    /// `exception`
    Exception { name: Name, members: Vec<Member> },
    /// `interface`
    Interface { name: Name, bases: Vec<ScopedName>, items: Vec<Item> },
    /// `struct S;`, `union U;`, `interface I;`
    Forward { what: Forward, name: Name },
    /// `@annotation`
    Annotation { name: Name, parameters: Vec<AnnotationParameter>, items: Vec<Item> },
    /// `typeid A::B "IDL:...";`
    TypeId { name: ScopedName, id: Rc<str>, span: Span },
    /// `typeprefix A "omg.org";`
    TypePrefix { name: ScopedName, prefix: Rc<str> },
    /// An operation of an interface.
    Operation(Operation),
    /// An attribute of an interface.
    Attribute(Attribute),
    /// A construct outside what Nearcall maps, already reported; the names it declares.
    Outside { names: Vec<Name> },
}

/// What a forward declaration promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forward {
    /// `struct`
    Struct,
    /// `union`
    Union,
    /// `interface`
    Interface,
}

/// A type where it is used.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeUse {
    /// What it is.
    pub kind: TypeKind,
    /// Where.
    pub span: Span,
}

/// Kinds of type use.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeKind {
    /// A built-in scalar.
    Primitive(Primitive),
    /// `string`
    String { bound: Option<Expression> },
    /// `wstring`
    WideString { bound: Option<Expression> },
    /// `sequence`
    Sequence { element: Box<TypeUse>, bound: Option<Expression> },
    /// `map`
    Map { key: Box<TypeUse>, value: Box<TypeUse>, bound: Option<Expression> },
    /// An array where no declarator has its dimension, as in MIDL.
    Array { element: Box<TypeUse>, count: Expression },
    /// A name.
    Name(ScopedName),
    /// A constructed type defined where it is used.
    Constructed(Box<Definition>),
    /// `any` and other types outside what Nearcall maps, already reported.
    Outside,
}

/// A name with array dimensions, if any.
#[derive(Clone, Debug, PartialEq)]
pub struct Declarator {
    /// The name.
    pub name: Name,
    /// `[2][3]`
    pub dimensions: Vec<Expression>,
}

/// Members of one type in a struct or exception.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// Apply to every declarator.
    pub annotations: Vec<Annotation>,
    /// Comment above.
    pub doc: Option<Rc<str>>,
    /// The type.
    pub declared: TypeUse,
    /// At least one.
    pub declarators: Vec<Declarator>,
    /// Of a field of a .proto file: its number, by which it is known.
    pub number: Option<i32>,
}

/// A case of a union with all its labels.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// At least one.
    pub labels: Vec<Label>,
    /// The member, with one declarator.
    pub member: Member,
}

/// A label of a case.
#[derive(Clone, Debug, PartialEq)]
pub enum Label {
    /// `case value:`
    Value(Expression),
    /// `default:`
    Default(Span),
}

/// An enumerator or a flag of a bitmask.
#[derive(Clone, Debug, PartialEq)]
pub struct Literal {
    /// In the order of the text.
    pub annotations: Vec<Annotation>,
    /// Comment above.
    pub doc: Option<Rc<str>>,
    /// The name.
    pub name: Name,
    /// Of a value of a .proto file, which is known by its number.
    pub is_numbered: bool,
}

/// `bitfield<width, declared> names;`
#[derive(Clone, Debug, PartialEq)]
pub struct Bitfield {
    /// Bits of each.
    pub width: Expression,
    /// What it is read as.
    pub declared: Option<TypeUse>,
    /// None: padding.
    pub names: Vec<Name>,
    /// The specification.
    pub span: Span,
}

/// An operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    /// The name.
    pub name: Name,
    /// The word `oneway` stands before it.
    pub oneway: Option<Span>,
    /// `None` for `void`.
    pub returns: Option<TypeUse>,
    /// In the order of the text.
    pub parameters: Vec<Parameter>,
    /// In the order of the text.
    pub raises: Vec<ScopedName>,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// In the order of the text.
    pub annotations: Vec<Annotation>,
    /// Which way, and where that is said.
    pub direction: (Direction, Span),
    /// The type.
    pub declared: TypeUse,
    /// The name.
    pub name: Name,
}

/// Attributes of one type.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// `readonly`
    pub is_readonly: bool,
    /// The type.
    pub declared: TypeUse,
    /// At least one.
    pub names: Vec<Name>,
    /// `raises` of a readonly one, `getraises` of another.
    pub get_raises: Vec<ScopedName>,
    /// `setraises`
    pub set_raises: Vec<ScopedName>,
}

/// `@name`, `@name(value)` or `@name(a = 1, b = 2)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Annotation {
    /// The name without `@`.
    pub name: ScopedName,
    /// What it is given.
    pub arguments: Arguments,
    /// The whole application.
    pub span: Span,
}

/// What an annotation is given.
#[derive(Clone, Debug, PartialEq)]
pub enum Arguments {
    /// Nothing.
    None,
    /// One value without a name.
    Single(Expression),
    /// Values by name.
    Named(Vec<(Name, Expression)>),
}

/// A parameter of an annotation declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct AnnotationParameter {
    /// The type; `None` for `any`.
    pub declared: Option<TypeUse>,
    /// The name.
    pub name: Name,
    /// `default value`
    pub default: Option<Expression>,
}

/// A constant expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    /// What it is.
    pub kind: ExpressionKind,
    /// Where.
    pub span: Span,
}

/// Kinds of constant expression.
#[derive(Clone, Debug, PartialEq)]
pub enum ExpressionKind {
    /// An integer literal.
    Integer(u64),
    /// A floating-point literal.
    Float(f64),
    /// A character literal.
    Char(char),
    /// A wide character literal.
    WideChar(char),
    /// Neighbouring string literals, joined.
    String(Rc<str>),
    /// Neighbouring wide string literals, joined.
    WideString(Rc<str>),
    /// `TRUE`, `FALSE`
    Boolean(bool),
    /// A constant or an enumerator.
    Name(ScopedName),
    /// An operator before its operand.
    Unary(Unary, Box<Expression>),
    /// An operator between its operands.
    Binary(Binary, Box<Expression>, Box<Expression>),
    /// A fixed-point literal, already reported.
    Outside,
}

/// Operators before an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// `-`
    Minus,
    /// `+`
    Plus,
    /// `~`
    Complement,
}

/// Operators between operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// `|`
    Or,
    /// `^`
    Xor,
    /// `&`
    And,
    /// `<<`
    ShiftLeft,
    /// `>>`
    ShiftRight,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Remainder,
}

impl ScopedName {
    /// From the first name to the last.
    pub fn span(&self) -> Span {
        self.parts[0].span.to(self.parts[self.parts.len() - 1].span)
    }
}

impl std::fmt::Display for ScopedName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, part) in self.parts.iter().enumerate() {
            let separator = if index > 0 || self.is_global { "::" } else { "" };
            write!(f, "{separator}{}", part.text)?;
        }
        Ok(())
    }
}

impl Binary {
    /// As it is written.
    pub fn sign(self) -> &'static str {
        match self {
            Binary::Or => "|",
            Binary::Xor => "^",
            Binary::And => "&",
            Binary::ShiftLeft => "<<",
            Binary::ShiftRight => ">>",
            Binary::Add => "+",
            Binary::Subtract => "-",
            Binary::Multiply => "*",
            Binary::Divide => "/",
            Binary::Remainder => "%",
        }
    }
}
