//! The conventional encoding of declared types.

use crate::back::rust::Rust;
use crate::back::rust::casing::ident;
use crate::back::rust::limits::Subject;
use crate::back::rust::tokens::{Literal, TokenStream, format_ident, quote};
use crate::layout::members;
use crate::model::{DeclarationId, Type};

impl Rust<'_> {
    /// `Marshal` for a type that marshals by `put` and unmarshals by `get`.
    pub fn marshal_impl(
        &self,
        id: DeclarationId,
        put: TokenStream,
        get: TokenStream,
    ) -> TokenStream {
        self.marshal_impl_over(id, put, get, None)
    }

    /// The same for one that, over a value that is there, unmarshals by `over`.
    pub fn marshal_impl_over(
        &self,
        id: DeclarationId,
        put: TokenStream,
        get: TokenStream,
        over: Option<TokenStream>,
    ) -> TokenStream {
        let over = over.map(|over| {
            quote! {
                fn unmarshal_over(
                    &mut self,
                    reader: &mut ::nearcall::raw::Reader<'_>,
                ) -> ::core::result::Result<(), ::nearcall::raw::Malformed> { #over }
            }
        });
        let plan = self.type_plan(id);
        let name = ident(self.names.declaration(id));
        let bytes_min = Literal::number(plan.bytes_min);
        quote! {
            impl ::nearcall::raw::Marshal for #name {
                const BYTES_MIN: usize = #bytes_min;
                fn marshal(&self, writer: &mut ::nearcall::raw::Writer) { #put }
                fn unmarshal(
                    reader: &mut ::nearcall::raw::Reader<'_>,
                ) -> ::core::result::Result<Self, ::nearcall::raw::Malformed> { #get }
                #over
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
        let plan = self.type_plan(id);
        if all.is_empty() && plan.is_appendable {
            let put = quote!(writer.appendable(|_| {}););
            let get = quote!(reader.appendable(|_| ::core::result::Result::Ok(Self)));
            return self.marshal_impl(id, put, get);
        }
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
        let fields = self.field_names(id);
        if self.is_plain(id) {
            let name = ident(self.names.declaration(id));
            let declared = all.iter().map(|member| self.member(scope, member, false));
            return quote!(::nearcall::plain!(#name { #(#fields: #declared),* }););
        }
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
            let reader = missing(&plan.missing);
            let get = quote!(<#declared as ::nearcall::raw::Marshal>::unmarshal(#reader)?);
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
        let over = self.members_over(id);
        if !plan.is_appendable {
            return self.marshal_impl_over(id, puts, get, over);
        }
        let put = quote!(writer.appendable(|writer| { #puts }););
        let get = quote!(reader.appendable(|reader| { #get }));
        let over = over.map(|over| quote!(reader.appendable(|reader| { #over })));
        self.marshal_impl_over(id, put, get, over)
    }

    /// What unmarshals members over those that are there, if any of them holds memory.
    fn members_over(&self, id: DeclarationId) -> Option<TokenStream> {
        if self.member_traits(id).copy {
            return None;
        }
        let (scope, plan, fields) =
            (self.names.scope_of(id), self.type_plan(id), self.field_names(id));
        let members = fields.iter().zip(&plan.members).map(|(field, plan)| {
            let reader = missing(&plan.missing);
            let subject = Subject::value(quote!(self.#field));
            let checks = self.read_limits(scope, &subject, &plan.checks);
            quote! {
                ::nearcall::raw::Marshal::unmarshal_over(&mut self.#field, #reader)?;
                #checks
            }
        });
        Some(quote!(#(#members)* ::core::result::Result::Ok(())))
    }

    /// Whether values of a struct lie in memory as they are marshalled: see `nearcall::raw::plain`.
    pub fn is_plain(&self, id: DeclarationId) -> bool {
        self.plan.footprint(self.model, &Type::Named(id)).is_some()
    }
}

/// What a member is read from: a missing one from its default.
fn missing(bytes: &[u8]) -> TokenStream {
    if bytes.is_empty() {
        return quote!(reader);
    }
    if bytes.iter().all(|byte| *byte == 0) {
        let count = Literal::number(bytes.len());
        return quote!(reader.or_missing(&[0; #count])?);
    }
    let bytes = bytes.iter().map(|byte| Literal::number(*byte));
    quote!(reader.or_missing(&[#(#bytes),*])?)
}
