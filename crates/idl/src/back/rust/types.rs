//! Types as Rust writes them, and which traits their values have.

use crate::back::rust::Rust;
use crate::back::rust::tokens::{Literal, TokenStream, quote};
use crate::layout::members;
use crate::model::{DeclarationId, Kind, Member, Primitive, Type, Union, UnionDefault, Value};

/// Traits that a type derives besides `Clone`, `Debug` and `PartialEq`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traits {
    /// `Copy`
    pub copy: bool,
    /// `Eq` and `Hash`
    pub eq: bool,
    /// `PartialOrd` and `Ord`
    pub ord: bool,
    /// `Default`
    pub default: bool,
}

impl Traits {
    const ALL: Traits = Traits { copy: true, eq: true, ord: true, default: true };

    fn and(self, other: Traits) -> Traits {
        Traits {
            copy: self.copy && other.copy,
            eq: self.eq && other.eq,
            ord: self.ord && other.ord,
            default: self.default && other.default,
        }
    }

    /// What to derive.
    pub fn derive(self) -> TokenStream {
        let copy = self.copy.then(|| quote!(Copy,));
        let eq = self.eq.then(|| quote!(Eq, Hash,));
        let ord = self.ord.then(|| quote!(PartialOrd, Ord,));
        let default = self.default.then(|| quote!(Default,));
        quote!(#[derive(Clone, #copy Debug, PartialEq, #eq #ord #default)])
    }
}

impl Rust<'_> {
    /// A type that owns its value, for code in `scope`.
    pub fn owned(&self, scope: usize, declared: &Type) -> TokenStream {
        match declared {
            Type::Primitive(primitive) => primitive_type(*primitive),
            Type::String { .. } | Type::WideString { .. } => quote!(::std::string::String),
            Type::Sequence { element, .. } => {
                let element = self.owned(scope, element);
                quote!(::std::vec::Vec<#element>)
            }
            Type::Array { element, dimensions } => {
                let element = self.owned(scope, element);
                dimensions.iter().rev().fold(element, |inner, dimension| {
                    let dimension = Literal::number(*dimension);
                    quote!([#inner; #dimension])
                })
            }
            Type::Map { key, value, .. } => {
                let (key, value) = (self.owned(scope, key), self.owned(scope, value));
                quote!(::std::collections::BTreeMap<#key, #value>)
            }
            Type::Named(id) => self.names.path(scope, *id),
        }
    }

    /// A shared reference to a value.
    pub fn borrowed(&self, scope: usize, declared: &Type) -> TokenStream {
        match self.model.resolved(declared) {
            Type::String { .. } | Type::WideString { .. } => quote!(&str),
            Type::Sequence { element, .. } => {
                let element = self.owned(scope, element);
                quote!(&[#element])
            }
            _ => {
                let owned = self.owned(scope, declared);
                quote!(&#owned)
            }
        }
    }

    /// A member's type.
    pub fn member(&self, scope: usize, member: &Member, is_boxed: bool) -> TokenStream {
        let mut declared = self.owned(scope, &member.declared);
        if is_boxed {
            declared = quote!(::std::boxed::Box<#declared>);
        }
        if member.is_optional {
            declared = quote!(::core::option::Option<#declared>);
        }
        declared
    }

    /// Traits that every member allows.
    pub fn member_traits(&self, id: DeclarationId) -> Traits {
        let mut open = vec![id];
        self.members_traits(&members(self.model, id), &mut open)
    }

    /// Traits of a union.
    pub fn union_traits(&self, id: DeclarationId) -> Traits {
        self.named_traits(id, &mut Vec::new())
    }

    /// Whether values hold no memory.
    pub fn is_copy(&self, declared: &Type) -> bool {
        self.traits(declared, &mut Vec::new()).copy
    }

    fn members_traits(&self, all: &[&Member], open: &mut Vec<DeclarationId>) -> Traits {
        all.iter().fold(Traits::ALL, |traits, member| {
            let mut own = self.traits(&member.declared, open);
            own.default |= member.is_optional;
            traits.and(own)
        })
    }

    fn traits(&self, declared: &Type, open: &mut Vec<DeclarationId>) -> Traits {
        match declared {
            Type::Primitive(Primitive::Float | Primitive::Double) => {
                Traits { eq: false, ord: false, ..Traits::ALL }
            }
            Type::Primitive(Primitive::LongDouble) => Traits { ord: false, ..Traits::ALL },
            Type::Primitive(_) => Traits::ALL,
            Type::String { .. } | Type::WideString { .. } => Traits { copy: false, ..Traits::ALL },
            Type::Sequence { element, .. } => {
                Traits { copy: false, default: true, ..self.traits(element, open) }
            }
            Type::Map { key, value, .. } => {
                let pair = self.traits(key, open).and(self.traits(value, open));
                Traits { copy: false, default: true, ..pair }
            }
            Type::Array { element, dimensions } => {
                let element = self.traits(element, open);
                // The standard library has `Default` for arrays of up to 32.
                let is_short = dimensions.iter().all(|dimension| *dimension <= 32);
                Traits { default: element.default && is_short, ..element }
            }
            Type::Named(id) => self.named_traits(*id, open),
        }
    }

    /// A type that contains itself has the traits that its other members allow, but `Copy`.
    fn named_traits(&self, id: DeclarationId, open: &mut Vec<DeclarationId>) -> Traits {
        if open.contains(&id) {
            return Traits { copy: false, ..Traits::ALL };
        }
        open.push(id);
        let traits = match &self.model.declaration(id).kind {
            Kind::Alias(behind) => self.traits(behind, open),
            Kind::Union(union) => {
                let members: Vec<&Member> = union.cases.iter().map(|case| &case.member).collect();
                let mut traits = self.traits(&union.discriminator, open);
                traits = traits.and(self.members_traits(&members, open));
                Traits { default: self.begins_with_no_case(union), ..traits }
            }
            Kind::Struct(_) => self.members_traits(&members(self.model, id), open),
            _ => Traits::ALL,
        };
        open.pop();
        traits
    }

    /// Does a discriminator of zero select nothing, as in a `oneof` that is not set?
    fn begins_with_no_case(&self, union: &Union) -> bool {
        let labels = union.cases.iter().flat_map(|case| &case.labels);
        let is_integer = |label: &Value| matches!(label, Value::Integer(value) if *value != 0);
        union.default == UnionDefault::Implicit && labels.into_iter().all(is_integer)
    }
}

/// A built-in scalar.
pub fn primitive_type(primitive: Primitive) -> TokenStream {
    match primitive {
        Primitive::Boolean => quote!(bool),
        Primitive::Octet | Primitive::Uint8 => quote!(u8),
        Primitive::Char => quote!(::nearcall::Char),
        Primitive::WideChar => quote!(char),
        Primitive::Int8 => quote!(i8),
        Primitive::Int16 => quote!(i16),
        Primitive::Uint16 => quote!(u16),
        Primitive::Int32 => quote!(i32),
        Primitive::Uint32 => quote!(u32),
        Primitive::Int64 => quote!(i64),
        Primitive::Uint64 => quote!(u64),
        Primitive::Float => quote!(f32),
        Primitive::Double => quote!(f64),
        Primitive::LongDouble => quote!(::nearcall::LongDouble),
    }
}

/// The unsigned word of so many bytes.
pub fn word_type(width: u8) -> TokenStream {
    match width {
        1 => quote!(u8),
        2 => quote!(u16),
        4 => quote!(u32),
        _ => quote!(u64),
    }
}
