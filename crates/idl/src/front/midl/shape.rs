//! Shapes: what a declarator, its typedefs and its attributes make of a type of C.
//!
//! ```text
//! C                              layers, outermost first      becomes
//! long                           -                            long
//! long *p                        pointer                      long, or nothing (`unique`)
//! [size_is(n)] long *p           pointer with a length        sequence<long>
//! long a[]  with size_is         open with a length           sequence<long>
//! long a[4]                      count                        long[4]
//! [string] char *s, char s[9]    pointer or count, text       string, string<8>
//! ```
//!
//! A typedef that holds a pointer is no type of its own but a shape that is written out where the
//! name is used, because what a pointer means is decided by where it stands.

use std::rc::Rc;

use super::ast::{Attribute, Declarator, Dimension};
use super::attributes::find;
use super::lower::Lowering;
use crate::diagnostic::Diagnostic;
use crate::front::ast::{Binary, Expression, ExpressionKind, Name, ScopedName, TypeKind, TypeUse};
use crate::front::rules::midl as rules;
use crate::model::Primitive;
use crate::source::Span;

/// What a pointer may be (C706, chapter 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PointerKind {
    /// Never null.
    Ref,
    /// May be null.
    Unique,
}

/// One step from a declared thing towards its values.
#[derive(Clone, Debug)]
pub(super) enum Layer {
    /// `*`, and what it says of itself.
    Pointer(Option<PointerKind>),
    /// `[]`
    Open,
    /// `[n]`
    Count(Expression),
}

/// What is left when all layers are taken off.
#[derive(Clone, Debug)]
pub(super) enum Base {
    /// A type with values.
    Value {
        used: TypeUse,
        scalar: Scalar,
    },
    /// A union whose discriminator stands beside it.
    Switched {
        used: TypeUse,
    },
    Void,
    BindingHandle,
}

/// What is known of a type without a look at its definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    /// It comes down to this.
    Is(Primitive),
    /// It is constructed.
    No,
    /// Nobody here has declared it, which the resolver reports.
    Unknown,
}

#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub base: Base,
    /// Outermost first.
    pub layers: Vec<Layer>,
    pub is_string: bool,
}

/// What is known of the length of one layer.
#[derive(Clone, Debug, Default)]
pub(super) struct Extent {
    /// It is known only when the call is made.
    pub is_variable: bool,
    /// It is this.
    pub count: Option<Expression>,
    /// It is no more than this.
    pub bound: Option<Expression>,
}

impl Extent {
    /// Something is known of it.
    pub fn is_known(&self) -> bool {
        self.is_variable || self.count.is_some() || self.bound.is_some()
    }
}

/// Where a shape stands, as far as its outermost pointer minds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Parameter,
    Member,
    Result,
    /// In a union or an array.
    Inner,
}

/// A type, and whether its value may be absent.
pub(super) struct Laid {
    pub used: TypeUse,
    pub is_nullable: bool,
}

impl Shape {
    pub fn value(used: TypeUse, scalar: Scalar) -> Shape {
        Shape { base: Base::Value { used, scalar }, layers: Vec::new(), is_string: false }
    }

    /// An integer that a length can be; behind how many pointers?
    pub fn as_length(&self) -> Option<usize> {
        let is_pointer = |layer: &Layer| matches!(layer, Layer::Pointer(_));
        let Base::Value { scalar, .. } = &self.base else {
            return None;
        };
        let is_integer = match scalar {
            Scalar::Is(primitive) => !matches!(
                primitive,
                Primitive::Boolean
                    | Primitive::Char
                    | Primitive::WideChar
                    | Primitive::Float
                    | Primitive::Double
                    | Primitive::LongDouble
            ),
            Scalar::No => false,
            Scalar::Unknown => true,
        };
        (is_integer && self.layers.iter().all(is_pointer)).then_some(self.layers.len())
    }
}

impl Lowering {
    /// The shape of a declarator: what it adds to the shape of its specifier.
    pub(super) fn declared(
        &mut self,
        inner: Shape,
        declarator: &Declarator,
        attributes: &[Attribute],
    ) -> Shape {
        let mut layers: Vec<Layer> = declarator
            .dimensions
            .iter()
            .map(|dimension| match dimension {
                Dimension::Open => Layer::Open,
                Dimension::Count(count) => Layer::Count(count.clone()),
            })
            .collect();
        layers.extend((0..declarator.stars).map(|_| Layer::Pointer(None)));
        layers.extend(inner.layers);
        let is_string = inner.is_string || find(attributes, "string").is_some();
        let mut shape = Shape { base: inner.base, layers, is_string };
        self.qualify(&mut shape, attributes);
        shape
    }

    /// What `ref`, `unique` and `ptr` say of the outermost pointer.
    fn qualify(&mut self, shape: &mut Shape, attributes: &[Attribute]) {
        for (name, kind) in [
            ("ref", PointerKind::Ref),
            ("unique", PointerKind::Unique),
            ("ptr", PointerKind::Unique),
        ] {
            let Some(attribute) = find(attributes, name) else {
                continue;
            };
            if name == "ptr" {
                self.report_full_pointer(attribute.span);
            }
            let is_bare = shape.layers.is_empty();
            let outermost = shape.layers.iter_mut().find_map(|layer| match layer {
                Layer::Pointer(known) => Some(known),
                // An array that is a parameter is a pointer to C.
                Layer::Open | Layer::Count(_) => None,
            });
            match outermost {
                Some(known) => *known = Some(kind),
                None if is_bare => {
                    let message = format!("`{name}` stands before what is no pointer");
                    let finding = Diagnostic::new(&rules::PLACE, attribute.span, message);
                    self.diagnostics.push(finding);
                }
                None => {}
            }
        }
    }

    pub(super) fn report_full_pointer(&mut self, span: Span) {
        let message = "`ptr` says that two pointers may point to one thing, and a copy cannot tell";
        let finding = Diagnostic::new(&rules::FULL_POINTER, span, message)
            .help("write `unique`: it may be null and has no alias");
        self.diagnostics.push(finding);
    }

    /// The type that a shape comes to; what comes to none has been reported.
    pub(super) fn lay(
        &mut self,
        shape: &Shape,
        extents: &[Extent],
        role: Role,
        name: &Name,
    ) -> Option<Laid> {
        self.lay_from(shape, extents, role, name, 0)
    }

    fn lay_from(
        &mut self,
        shape: &Shape,
        extents: &[Extent],
        role: Role,
        name: &Name,
        index: usize,
    ) -> Option<Laid> {
        let Some(layer) = shape.layers.get(index) else {
            return self.lay_base(&shape.base, name);
        };
        let is_text = shape.is_string && index + 1 == shape.layers.len();
        let extent = extents.get(index).cloned().unwrap_or_default();
        let kind = self.pointer_kind(layer, role, index);
        if is_text {
            let bound = match layer {
                Layer::Count(count) => Some(one_less(count)),
                _ => extent.count.as_ref().map(one_less),
            };
            let said = matches!(layer, Layer::Pointer(Some(PointerKind::Unique)));
            let by_default = role == Role::Member && index == 0;
            let is_nullable = kind == Some(PointerKind::Unique) && (said || by_default);
            return Some(Laid { used: self.text(&shape.base, bound, name)?, is_nullable });
        }
        if extent.is_variable {
            let bound = match layer {
                Layer::Count(count) => Some(count.clone()),
                _ => extent.bound,
            };
            let element = self.element(shape, extents, name, index)?;
            return Some(plain(sequence(element, bound, name.span)));
        }
        let count = match layer {
            Layer::Count(count) => Some(count.clone()),
            _ => extent.count,
        };
        if let Some(count) = count {
            let element = Box::new(self.element(shape, extents, name, index)?);
            return Some(plain(TypeUse {
                kind: TypeKind::Array { element, count },
                span: name.span,
            }));
        }
        let Some(kind) = kind else {
            self.report_unsized(name);
            return None;
        };
        let inner = self.lay_from(shape, extents, Role::Inner, name, index + 1)?;
        let used = self.present(inner);
        Some(Laid { used, is_nullable: kind == PointerKind::Unique })
    }

    /// What a layer is as a pointer, if it is one: by what it says of itself, and else by where it
    /// stands.
    pub(super) fn pointer_kind(
        &self,
        layer: &Layer,
        role: Role,
        index: usize,
    ) -> Option<PointerKind> {
        let Layer::Pointer(kind) = layer else {
            return None;
        };
        Some(kind.unwrap_or(match (role, index) {
            (Role::Parameter, 0) => PointerKind::Ref,
            _ => self.pointer_default,
        }))
    }

    /// What one element of a layer is.
    fn element(
        &mut self,
        shape: &Shape,
        extents: &[Extent],
        name: &Name,
        index: usize,
    ) -> Option<TypeUse> {
        let element = self.lay_from(shape, extents, Role::Inner, name, index + 1)?;
        Some(self.present(element))
    }

    /// What may be absent is a sequence of at most one, where no member can be left out.
    pub(super) fn present(&mut self, laid: Laid) -> TypeUse {
        if !laid.is_nullable {
            return laid.used;
        }
        let span = laid.used.span;
        sequence(laid.used, Some(integer(1, span)), span)
    }

    fn lay_base(&mut self, base: &Base, name: &Name) -> Option<Laid> {
        match base {
            Base::Value { used, .. } | Base::Switched { used } => Some(plain(used.clone())),
            Base::Void => {
                let message =
                    format!("`{}` points to `void`: nobody knows what is there", name.text);
                let finding = Diagnostic::new(&rules::VOID, name.span, message)
                    .help("say what it points to; for bytes write `[size_is(n)] byte *`");
                self.diagnostics.push(finding);
                None
            }
            Base::BindingHandle => {
                let message = format!("`{}` is a binding handle, which is no value", name.text);
                let finding = Diagnostic::new(&rules::HANDLE, name.span, message)
                    .help("pass the name under which the other end can be imported");
                self.diagnostics.push(finding);
                None
            }
        }
    }

    fn text(&mut self, base: &Base, bound: Option<Expression>, name: &Name) -> Option<TypeUse> {
        let scalar = match base {
            Base::Value { scalar, .. } => *scalar,
            _ => Scalar::No,
        };
        let kind = match scalar {
            Scalar::Is(Primitive::Char | Primitive::Octet | Primitive::Uint8 | Primitive::Int8) => {
                TypeKind::String { bound }
            }
            Scalar::Is(Primitive::WideChar | Primitive::Uint16) => TypeKind::WideString { bound },
            // The resolver has the type to report.
            Scalar::Unknown => return self.lay_base(base, name).map(|laid| laid.used),
            _ => {
                let message = format!("`{}` is a string of what are no characters", name.text);
                let finding = Diagnostic::new(&rules::STRING, name.span, message)
                    .help("a string is of `char`, `wchar_t` or `byte`; give an array `size_is`");
                self.diagnostics.push(finding);
                return None;
            }
        };
        Some(TypeUse { kind, span: name.span })
    }

    fn report_unsized(&mut self, name: &Name) {
        let message = format!("nothing says how long `{}` is", name.text);
        let finding = Diagnostic::new(&rules::UNSIZED, name.span, message)
            .help("write `size_is(n)` before it, with a parameter or member `n`, or `string`");
        self.diagnostics.push(finding);
    }
}

fn plain(used: TypeUse) -> Laid {
    Laid { used, is_nullable: false }
}

pub(super) fn sequence(element: TypeUse, bound: Option<Expression>, span: Span) -> TypeUse {
    TypeUse { kind: TypeKind::Sequence { element: Box::new(element), bound }, span }
}

pub(super) fn integer(value: u64, span: Span) -> Expression {
    Expression { kind: ExpressionKind::Integer(value), span }
}

pub(super) fn one_more(count: &Expression) -> Expression {
    computed(Binary::Add, count)
}

/// An array of characters holds one less than a string of C, whose end takes one.
fn one_less(count: &Expression) -> Expression {
    computed(Binary::Subtract, count)
}

fn computed(operator: Binary, count: &Expression) -> Expression {
    let span = count.span;
    let (left, right) = (Box::new(count.clone()), Box::new(integer(1, span)));
    Expression { kind: ExpressionKind::Binary(operator, left, right), span }
}

/// The type that a name names.
pub(super) fn named(name: &Name) -> TypeUse {
    TypeUse { kind: TypeKind::Name(scoped(name)), span: name.span }
}

pub(super) fn scoped(name: &Name) -> ScopedName {
    ScopedName { is_global: false, parts: vec![name.clone()] }
}

/// The same text at another place.
pub(super) fn at(text: &Rc<str>, span: Span) -> Name {
    Name { text: text.clone(), span }
}
