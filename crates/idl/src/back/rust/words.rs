//! Enums, bitmasks and bitsets: types whose values are one word.

use crate::back::rust::Rust;
use crate::back::rust::casing::{Case, cased, ident};
use crate::back::rust::docs::{doc, optional_doc};
use crate::back::rust::lints::member_lints;
use crate::back::rust::names::NameSet;
use crate::back::rust::tokens::{Ident, Literal, TokenStream, format_ident, quote};
use crate::back::rust::types::{primitive_type, word_type};
use crate::model::{Bitfield, Bitmask, Bitset, DeclarationId, Enum, Primitive};

/// Names of the variants of an enum.
pub fn variants(shape: &Enum) -> Vec<String> {
    let mut names = NameSet::default();
    let cased = |name: &str| cased(name, Case::Camel);
    shape.enumerators.iter().map(|one| names.take(&cased(&one.name))).collect()
}

impl Rust<'_> {
    /// Bytes of the word, its type, the type's name and its doc comment.
    fn word(&self, id: DeclarationId, what: &str) -> (u8, TokenStream, Ident, TokenStream) {
        let declaration = self.model.declaration(id);
        let doc = doc(&declaration.doc, &format!("{what} `{}`.", declaration.name));
        let width = self.type_plan(id).bytes_min as u8;
        (width, word_type(width), ident(self.names.declaration(id)), doc)
    }

    /// `enum`
    pub fn enumeration(&self, id: DeclarationId, shape: &Enum) -> TokenStream {
        let (width, word, name, doc) = self.word(id, "Enum");
        let is_signed = shape.enumerators.iter().any(|one| one.value < 0);
        let repr =
            if is_signed { format_ident!("i{}", width * 8) } else { ident(&word.to_string()) };
        let names: Vec<Ident> = variants(shape).iter().map(|name| ident(name)).collect();
        let docs = shape.enumerators.iter().map(|one| optional_doc(&one.doc));
        let is_documented = shape.enumerators.iter().all(|one| one.doc.is_some());
        let allow = member_lints(is_documented, &variants(shape)).attribute();
        let values = shape.enumerators.iter().map(|one| {
            let sign = (one.value < 0).then(|| quote!(-));
            let literal = Literal::number(one.value.unsigned_abs());
            quote!(#sign #literal)
        });
        let mask = u64::MAX >> (64 - u32::from(width) * 8);
        let words = shape.enumerators.iter().map(|one| (one.value as u64) & mask);
        let words = words.map(Literal::number);
        let first = (0..names.len()).map(|index| (index == 0).then(|| quote!(#[default])));
        let to_word =
            if is_signed { quote!(self as #repr as #word) } else { quote!(self as #word) };
        let from_word = quote! {
            match word {
                #(#words => ::core::result::Result::Ok(Self::#names),)*
                _ => ::core::result::Result::Err(
                    ::nearcall::raw::Malformed::range(word),
                ),
            }
        };
        // What a peer sends may be an enumerator of a later version.
        let came = self.model.stand_in(id).map(|index| {
            let stands = &names[index as usize];
            quote! {
                ::core::result::Result::Ok(
                    <Self as ::core::convert::TryFrom<#word>>::try_from(word)
                        .unwrap_or(Self::#stands),
                )
            }
        });
        let methods = self.word_methods(id, &word, to_word, (from_word, came));
        quote! {
            #doc
            #allow
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
            #[repr(#repr)]
            pub enum #name { #(#docs #first #names = #values,)* }
            #methods
        }
    }

    /// `bitmask`
    pub fn bitmask(&self, id: DeclarationId, shape: &Bitmask) -> TokenStream {
        let (width, word, name, doc) = self.word(id, "Bitmask");
        let mut taken = NameSet::default();
        let flags = shape.flags.iter().map(|(flag, position)| {
            let name = ident(&taken.take(&cased(flag, Case::Screaming)));
            let doc = format!(" Flag `{flag}`.");
            let value = hexadecimal(1 << position, width);
            quote!(#[doc = #doc] pub const #name: Self = Self(#value);)
        });
        let all = shape.flags.iter().fold(0u64, |all, (_, position)| all | 1 << position);
        let methods =
            self.word_methods(id, &word, quote!(self.0), (checked(quote!(word), all, width), None));
        let is_known = only(quote!(bits), all, width);
        let from_bits = match is_known {
            None => quote!(::core::option::Option::Some(Self(bits))),
            Some(is_known) => quote! {
                if #is_known {
                    ::core::option::Option::Some(Self(bits))
                } else {
                    ::core::option::Option::None
                }
            },
        };
        quote! {
            #doc
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
            pub struct #name(#word);
            impl #name {
                #(#flags)*
                /// No flag.
                pub const fn empty() -> Self { Self(0) }
                /// The word.
                pub const fn bits(self) -> #word { self.0 }
                /// The flags of a word; `None` if it has a bit that is no flag.
                pub const fn from_bits(bits: #word) -> ::core::option::Option<Self> {
                    #from_bits
                }
                /// Are all these flags set?
                pub const fn contains(self, flags: Self) -> bool { self.0 & flags.0 == flags.0 }
            }
            impl ::core::ops::BitOr for #name {
                type Output = Self;
                fn bitor(self, other: Self) -> Self { Self(self.0 | other.0) }
            }
            impl ::core::ops::BitOrAssign for #name {
                fn bitor_assign(&mut self, other: Self) { self.0 |= other.0; }
            }
            impl ::core::ops::BitAnd for #name {
                type Output = Self;
                fn bitand(self, other: Self) -> Self { Self(self.0 & other.0) }
            }
            #methods
        }
    }

    /// `bitset`
    pub fn bitset(&self, id: DeclarationId, shape: &Bitset) -> TokenStream {
        let (width, word, name, doc) = self.word(id, "Bitset");
        let mut taken = NameSet::with(&["from_wire", "to_wire"]);
        let fields: Vec<TokenStream> =
            shape.fields.iter().map(|field| accessors(field, &mut taken)).collect();
        let all = shape.fields.iter().fold(0, |all, field| all | mask(field) << field.position);
        let (to_word, bits) = match width {
            8 => (quote!(self.0), quote!(word)),
            _ => (quote!(self.0 as #word), quote!(::core::convert::Into::into(word))),
        };
        let methods = self.word_methods(id, &word, to_word, (checked(bits, all, width), None));
        quote! {
            #doc
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
            pub struct #name(u64);
            impl #name { #(#fields)* }
            #methods
        }
    }

    /// Between a value and its word; the word of a peer is judged (L44), if need be in another way
    /// than what is converted.
    fn word_methods(
        &self,
        id: DeclarationId,
        word: &TokenStream,
        to_word: TokenStream,
        (from_word, came): (TokenStream, Option<TokenStream>),
    ) -> TokenStream {
        let name = ident(self.names.declaration(id));
        let (from_word, converted) = match came {
            None => (from_word, quote!(Self::from_wire(word))),
            Some(came) => (came, from_word),
        };
        let marshal = self.marshal_word(id, word);
        quote! {
            impl #name {
                #[doc(hidden)]
                #[inline]
                pub const fn to_wire(self) -> #word { #to_word }
                #[doc(hidden)]
                #[inline]
                pub fn from_wire(
                    word: #word,
                ) -> ::core::result::Result<Self, ::nearcall::raw::Malformed> {
                    #from_word
                }
            }
            impl ::core::convert::From<#name> for #word {
                fn from(value: #name) -> Self { value.to_wire() }
            }
            impl ::core::convert::TryFrom<#word> for #name {
                type Error = ::nearcall::raw::Malformed;
                fn try_from(
                    word: #word,
                ) -> ::core::result::Result<Self, ::nearcall::raw::Malformed> {
                    #converted
                }
            }
            #marshal
        }
    }
}

/// `Ok` of a value made of `bits`, if `word` has no bit but these.
fn checked(bits: TokenStream, all: u64, width: u8) -> TokenStream {
    let made = quote!(::core::result::Result::Ok(Self(#bits)));
    match only(quote!(word), all, width) {
        None => made,
        Some(is_known) => quote! {
            if #is_known {
                #made
            } else {
                ::core::result::Result::Err(
                    ::nearcall::raw::Malformed::range(word),
                )
            }
        },
    }
}

/// Has a word no bit but these? `None` if it cannot have another.
fn only(word: TokenStream, all: u64, width: u8) -> Option<TokenStream> {
    if all == u64::MAX >> (64 - u32::from(width) * 8) {
        return None;
    }
    let mask = hexadecimal(all, width);
    Some(if all == 0 { quote!(#word == 0) } else { quote!(#word & #mask == #word) })
}

/// Getter and setter of a bit field.
fn accessors(field: &Bitfield, taken: &mut NameSet) -> TokenStream {
    let name = cased(&field.name, Case::Snake);
    let getter = ident(&taken.take(&name));
    let setter = ident(&taken.take(&format!("set_{name}")));
    let declared = primitive_type(field.declared);
    let (get_doc, set_doc) = (
        format!(" Field `{}`, {} bits.", field.name, field.width),
        format!(" Sets field `{}` to the low {} bits of `value`.", field.name, field.width),
    );
    let down = masked(shifted(quote!(self.0), quote!(>>), field.position), field);
    let got = match field.declared {
        Primitive::Boolean => quote!(#down != 0),
        Primitive::Uint64 => down.bare(),
        Primitive::Int8 | Primitive::Int16 | Primitive::Int32 | Primitive::Int64 => {
            // To the top and down again, so that the sign goes with it.
            let up = shifted(quote!(self.0), quote!(<<), 64 - field.position - field.width);
            let signed = shifted(quote!(#up as i64), quote!(>>), 64 - field.width);
            match field.declared {
                Primitive::Int64 => signed.bare(),
                _ => quote!(#signed as #declared),
            }
        }
        _ => quote!(#down as #declared),
    };
    let value = match field.declared {
        Primitive::Boolean => quote!((value as u64)),
        Primitive::Uint64 => quote!(value),
        _ => quote!((value as u64)),
    };
    let put = shifted(masked(value, field), quote!(<<), field.position);
    let hole = hexadecimal(!(mask(field) << field.position), 8);
    let kept = if mask(field) == u64::MAX { put.bare() } else { quote!((self.0 & #hole) | #put) };
    quote! {
        #[doc = #get_doc]
        pub const fn #getter(self) -> #declared { #got }
        #[doc = #set_doc]
        pub fn #setter(&mut self, value: #declared) { self.0 = #kept; }
    }
}

/// A shift, unless it is by nothing.
fn shifted(value: TokenStream, operator: TokenStream, bits: u8) -> TokenStream {
    if bits == 0 {
        return value;
    }
    let bits = Literal::number(bits);
    quote!((#value #operator #bits))
}

/// The low bits that the field has.
fn masked(value: TokenStream, field: &Bitfield) -> TokenStream {
    if mask(field) == u64::MAX {
        return value;
    }
    let mask = hexadecimal(mask(field), 8);
    quote!((#value & #mask))
}

/// As many low bits as the field has.
fn mask(field: &Bitfield) -> u64 {
    u64::MAX >> (64 - u32::from(field.width.clamp(1, 64)))
}

fn hexadecimal(value: u64, width: u8) -> Literal {
    Literal::hexadecimal(value, usize::from(width) * 2)
}
