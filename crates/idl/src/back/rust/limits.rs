//! Limits inside values: bounds and ranges, where they are written and where they are read.

use crate::back::allowed;
use crate::back::rust::Rust;
use crate::back::rust::tokens::{Ident, Literal, TokenStream, quote};
use crate::layout::Range;
use crate::model::{Primitive, Type};
use crate::plan::{Count, Hop, Limit, LimitCheck};

/// A value that is judged.
#[derive(Clone)]
pub struct Subject {
    /// As what a method is called on.
    pub receiver: TokenStream,
    /// As a reference.
    pub reference: TokenStream,
}

/// What is printed where a limit is checked.
pub struct Judgement<'j> {
    /// Given how many there are and how many there may be: refuses too many.
    pub at_most: &'j dyn Fn(TokenStream, TokenStream) -> TokenStream,
    /// Refuses the value behind the reference `ranged`, which is out of this range.
    pub beyond: &'j dyn Fn(&Range) -> TokenStream,
}

impl Subject {
    /// A value, not a reference.
    pub fn value(value: TokenStream) -> Subject {
        Subject { reference: quote!(&#value), receiver: value }
    }

    /// A reference.
    pub fn reference(reference: TokenStream) -> Subject {
        Subject { receiver: reference.clone(), reference }
    }
}

impl Rust<'_> {
    /// Remembers the breach of a limit inside a value.
    pub fn write_limits(
        &self,
        scope: usize,
        writer: &Ident,
        subject: &Subject,
        name: &str,
        checks: &[LimitCheck],
    ) -> TokenStream {
        let judgement = Judgement {
            at_most: &|count, limit| quote!(#writer.bound(#name, #count, #limit);),
            beyond: &|range| {
                let shown = shown(&range.of, quote!(ranged));
                let allowed = allowed::within(self.model, range);
                quote!(#writer.range(#name, #shown, #allowed);)
            },
        };
        self.limits(scope, subject, checks, &judgement)
    }

    /// Refuses the breach of a limit inside a value that is unmarshalled.
    pub fn read_limits(
        &self,
        scope: usize,
        subject: &Subject,
        checks: &[LimitCheck],
    ) -> TokenStream {
        let judgement = Judgement {
            at_most: &|count, limit| quote!(reader.bound(#count, #limit)?;),
            beyond: &|range| {
                let word = word(&range.of);
                quote! {
                    return ::core::result::Result::Err(::nearcall::raw::Malformed::range(#word));
                }
            },
        };
        self.limits(scope, subject, checks, &judgement)
    }

    /// Every check, one after the other.
    pub fn limits(
        &self,
        scope: usize,
        subject: &Subject,
        checks: &[LimitCheck],
        judgement: &Judgement<'_>,
    ) -> TokenStream {
        let checks = checks.iter().map(|check| {
            each(subject, &check.hops, &|item| match &check.limit {
                Limit::AtMost { count, limit } => {
                    let limit = Literal::number(*limit);
                    (judgement.at_most)(counted(&item.receiver, *count), quote!(#limit))
                }
                Limit::Within(range) => {
                    let (reference, beyond) = (&item.reference, (judgement.beyond)(range));
                    let range = self.range(scope, range);
                    quote!({
                        let ranged = #reference;
                        if !(#range).contains(ranged) { #beyond }
                    })
                }
            })
        });
        quote!(#(#checks)*)
    }

    fn range(&self, scope: usize, range: &Range) -> TokenStream {
        let value = |value| self.value(scope, &range.of, value);
        let least = range.least.as_ref().map(value);
        match range.greatest.as_ref().map(value) {
            Some(greatest) => quote!(#least..=#greatest),
            None => quote!(#least..),
        }
    }
}

/// `body` for each value at the end of the hops.
fn each(subject: &Subject, hops: &[Hop], body: &dyn Fn(&Subject) -> TokenStream) -> TokenStream {
    let Some((hop, rest)) = hops.split_first() else { return body(subject) };
    let inner = each(&Subject::reference(quote!(item)), rest, body);
    let value = &subject.receiver;
    match hop {
        Hop::Present => {
            quote!(if let ::core::option::Option::Some(item) = #value.as_ref() { #inner })
        }
        Hop::Each => quote!(for item in #value.iter() { #inner }),
        Hop::Keys => quote!(for item in #value.keys() { #inner }),
        Hop::Values => quote!(for item in #value.values() { #inner }),
    }
}

/// How many there are.
pub fn counted(value: &TokenStream, count: Count) -> TokenStream {
    match count {
        Count::Bytes | Count::Items => quote!(#value.len()),
        Count::Characters => quote!(#value.chars().count()),
    }
}

/// A reference as what an error of ours shows.
pub fn shown(of: &Type, reference: TokenStream) -> TokenStream {
    match of {
        Type::Primitive(Primitive::Char) => quote!(&::core::primitive::char::from(*#reference)),
        _ => reference,
    }
}

/// The value behind the reference `ranged` as the word that a fault of a peer's names.
pub fn word(of: &Type) -> TokenStream {
    match of {
        Type::Primitive(Primitive::Char) => quote!(u64::from(ranged.0)),
        Type::Primitive(Primitive::WideChar) => quote!(u64::from(u32::from(*ranged))),
        Type::Primitive(Primitive::Uint64) => quote!(*ranged),
        Type::Primitive(
            Primitive::Int8 | Primitive::Int16 | Primitive::Int32 | Primitive::Int64,
        ) => quote!(*ranged as u64),
        Type::Primitive(Primitive::Float) => quote!(u64::from(ranged.to_bits())),
        Type::Primitive(Primitive::Double) => quote!(ranged.to_bits()),
        Type::Named(_) => quote!(u64::from(ranged.to_wire())),
        _ => quote!(u64::from(*ranged)),
    }
}
