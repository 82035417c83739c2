//! The conventional encoding of declared types.

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use crate::back::rust::Rust;
use crate::back::rust::casing::ident;
use crate::back::rust::limits::Subject;
use crate::layout::members;
use crate::model::DeclarationId;

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
            let (writer, subject) = (ident("writer"), Subject::value(quote!(self.#field)));
            let limits = self.write_limits(scope, &writer, &subject, &member.name, &plan.checks);
            let put = quote!(::nearcall::raw::Marshal::marshal(&self.#field, writer););
            puts.extend(quote!(#limits #put));
            let declared = self.member(scope, member, plan.is_boxed);
            let get = quote!(<#declared as ::nearcall::raw::Marshal>::unmarshal(reader)?);
            if is_checked {
                let local = format_ident!("member_{index}");
                let checks = self.read_limits(scope, &Subject::value(quote!(#local)), &plan.checks);
                gets.extend(quote!(let #local = #get; #checks));
                made.push(quote!(#field: #local));
            } else {
                made.push(quote!(#field: #get));
            }
        }
        let get = quote!(#gets ::core::result::Result::Ok(Self { #(#made),* }));
        self.marshal_impl(id, puts, get)
    }
}
