//! The conventional encoding of declared types.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use crate::back::rust::Rust;
use crate::back::rust::casing::ident;
use crate::layout::members;
use crate::model::DeclarationId;
use crate::plan::{BoundCheck, Count, Hop};

impl Rust<'_> {
    /// `Marshal` for a type that marshals by `put` and unmarshals by `get`.
    pub fn marshal_impl(
        &self,
        id: DeclarationId,
        put: TokenStream,
        get: TokenStream,
    ) -> TokenStream {
        let plan = self.type_plan(id);
        let name = ident(self.names.declaration(id));
        let bytes_min = Literal::u64_unsuffixed(plan.bytes_min);
        quote! {
            impl ::nearcall::raw::Marshal for #name {
                const BYTES_MIN: usize = #bytes_min;
                fn marshal(&self, writer: &mut ::nearcall::raw::Writer) { #put }
                fn unmarshal(
                    reader: &mut ::nearcall::raw::Reader<'_>,
                ) -> ::core::result::Result<Self, ::nearcall::raw::Malformed> { #get }
            }
        }
    }

    /// `Marshal` for a type that is one word.
    pub fn marshal_word(&self, id: DeclarationId, word: &TokenStream) -> TokenStream {
        let put = quote!(::nearcall::raw::Marshal::marshal(&self.to_wire(), writer););
        let get = quote!(Self::from_wire(<#word as ::nearcall::raw::Marshal>::unmarshal(reader)?));
        self.marshal_impl(id, put, get)
    }

    /// `Marshal` for a struct: its members in order.
    pub fn marshal_struct(&self, id: DeclarationId) -> TokenStream {
        let scope = self.names.scope_of(id);
        let all = members(self.model, id);
        if all.is_empty() {
            // One byte, so that no value takes none.
            let put = quote!(::nearcall::raw::Marshal::marshal(&0u8, writer););
            let get = quote! {
                match <u8 as ::nearcall::raw::Marshal>::unmarshal(reader)? {
                    0 => ::core::result::Result::Ok(Self),
                    byte => ::core::result::Result::Err(
                        ::nearcall::raw::Malformed::range(byte),
                    ),
                }
            };
            return self.marshal_impl(id, put, get);
        }
        let plan = self.type_plan(id);
        let fields = self.field_names(id);
        let is_checked = plan.members.iter().any(|member| !member.checks.is_empty());
        let (mut puts, mut gets, mut made) = (TokenStream::new(), TokenStream::new(), Vec::new());
        for (index, ((member, field), plan)) in
            all.iter().zip(&fields).zip(&plan.members).enumerate()
        {
            let bounds = self.write_bounds(
                &ident("writer"),
                quote!(self.#field),
                &member.name,
                &plan.checks,
            );
            let put = quote!(::nearcall::raw::Marshal::marshal(&self.#field, writer););
            puts.extend(quote!(#bounds #put));
            let declared = self.member(scope, member, plan.is_boxed);
            let get = quote!(<#declared as ::nearcall::raw::Marshal>::unmarshal(reader)?);
            if is_checked {
                let local = format_ident!("member_{index}");
                let checks = self.read_bounds(quote!(#local), &plan.checks);
                gets.extend(quote!(let #local = #get; #checks));
                made.push(quote!(#field: #local));
            } else {
                made.push(quote!(#field: #get));
            }
        }
        let get = quote!(#gets ::core::result::Result::Ok(Self { #(#made),* }));
        self.marshal_impl(id, puts, get)
    }

    /// Remembers the breach of a bound inside `value`.
    pub fn write_bounds(
        &self,
        writer: &Ident,
        value: TokenStream,
        name: &str,
        checks: &[BoundCheck],
    ) -> TokenStream {
        let checks = checks.iter().map(|check| {
            each(value.clone(), &check.hops, &|item| {
                let count = counted(item, check.count);
                let limit = Literal::u32_unsuffixed(check.limit);
                quote!(#writer.bound(#name, #count, #limit);)
            })
        });
        quote!(#(#checks)*)
    }

    /// Refuses the breach of a bound inside `value`.
    pub fn read_bounds(&self, value: TokenStream, checks: &[BoundCheck]) -> TokenStream {
        let checks = checks.iter().map(|check| {
            each(value.clone(), &check.hops, &|item| {
                let count = counted(item, check.count);
                let limit = Literal::u32_unsuffixed(check.limit);
                quote!(reader.bound(#count, #limit)?;)
            })
        });
        quote!(#(#checks)*)
    }
}

/// `body` for each value at the end of the hops.
pub fn each(
    value: TokenStream,
    hops: &[Hop],
    body: &dyn Fn(TokenStream) -> TokenStream,
) -> TokenStream {
    let Some((hop, rest)) = hops.split_first() else {
        return body(value);
    };
    let inner = each(quote!(item), rest, body);
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
pub fn counted(value: TokenStream, count: Count) -> TokenStream {
    match count {
        Count::Bytes | Count::Items => quote!(#value.len()),
        Count::Characters => quote!(#value.chars().count()),
    }
}
