//! Structs, exceptions and aliases.

use crate::back::rust::Rust;
use crate::back::rust::casing::{Case, cased, ident};
use crate::back::rust::docs::{doc, optional_doc};
use crate::back::rust::lints::{holder_lints, member_lints};
use crate::back::rust::names::NameSet;
use crate::back::rust::tokens::{Ident, Literal, TokenStream, quote};
use crate::layout::members;
use crate::model::{DeclarationId, Type};
use crate::plan::{SHOWN_CHARACTERS_MAX, Showing, showing};

impl Rust<'_> {
    /// `typedef`
    pub fn alias(&self, id: DeclarationId, behind: &Type) -> TokenStream {
        let declaration = self.model.declaration(id);
        let doc = doc(&declaration.doc, &format!("Type `{}`.", declaration.name));
        let name = ident(self.names.declaration(id));
        let behind = self.owned(self.names.scope_of(id), behind);
        quote!(#doc pub type #name = #behind;)
    }

    /// `struct`
    pub fn structure(&self, id: DeclarationId) -> TokenStream {
        let plan = self.type_plan(id);
        let boxed: Vec<bool> = plan.members.iter().map(|member| member.is_boxed).collect();
        let declared = self.fields(id, "Struct", &boxed);
        let marshal = self.marshal_struct(id);
        let times = plan.time.map(|time| self.times(id, time));
        quote!(#declared #marshal #times)
    }

    /// `exception`
    pub fn exception(&self, id: DeclarationId) -> TokenStream {
        let boxed = vec![false; members(self.model, id).len()];
        let declared = self.fields(id, "Exception", &boxed);
        let name = ident(self.names.declaration(id));
        let shown = self.shown(id);
        quote! {
            #declared
            impl ::core::fmt::Display for #name {
                fn fmt(&self, formatter: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    #shown
                }
            }
            impl ::core::error::Error for #name {}
        }
    }

    /// Prints `NotFound { path: "x" }`, and never much more.
    fn shown(&self, id: DeclarationId) -> TokenStream {
        let all = members(self.model, id);
        let showings: Vec<Showing> = all.iter().map(|one| showing(self.model, one)).collect();
        let name = self.model.declaration(id).name.0.last();
        let shown = all.iter().zip(self.field_names(id)).zip(&showings);
        let shown = shown.map(|((member, field), showing)| {
            let name = &member.name;
            match showing {
                Showing::Whole => quote!(.field(#name, &self.#field)),
                Showing::Text => quote!(.field(#name, &cut(&self.#field))),
                Showing::Count => {
                    quote!(.field(#name, &::core::format_args!("{} elements", self.#field.len())))
                }
                Showing::LeftOut => TokenStream::new(),
            }
        });
        let end = match showings.contains(&Showing::LeftOut) {
            true => quote!(finish_non_exhaustive),
            false => quote!(finish),
        };
        let cut = showings.contains(&Showing::Text).then(cut);
        quote!(#cut formatter.debug_struct(#name)#(#shown)*.#end())
    }

    /// Names of the fields of a struct or exception.
    pub fn field_names(&self, id: DeclarationId) -> Vec<Ident> {
        let mut taken = NameSet::default();
        let all = members(self.model, id);
        let names = all.iter().map(|member| cased(&member.name, Case::Snake));
        names.map(|name| ident(&taken.take(&name))).collect()
    }

    fn fields(&self, id: DeclarationId, what: &str, boxed: &[bool]) -> TokenStream {
        let scope = self.names.scope_of(id);
        let declaration = self.model.declaration(id);
        let doc = doc(&declaration.doc, &format!("{what} `{}`.", declaration.name));
        let name = ident(self.names.declaration(id));
        let all = members(self.model, id);
        let mut derive = self.member_traits(id).derive();
        if what == "Struct" && self.is_plain(id) {
            derive.extend(quote!(#[repr(C)]));
        }
        if all.is_empty() {
            return quote!(#doc #derive pub struct #name;);
        }
        let is_documented = all.iter().all(|member| member.doc.is_some());
        let names = self.field_names(id);
        let docs = all.iter().map(|member| optional_doc(&member.doc));
        let declared =
            all.iter().zip(boxed).map(|(member, is_boxed)| self.member(scope, member, *is_boxed));
        let declared: Vec<TokenStream> = declared.collect();
        let allow = holder_lints(member_lints(is_documented, &[]), &declared).attribute();
        quote! {
            #doc
            #derive
            #allow
            pub struct #name { #(#docs pub #names: #declared,)* }
        }
    }
}

/// A function that cuts a text to what is shown of it.
fn cut() -> TokenStream {
    let most = Literal::number(SHOWN_CHARACTERS_MAX);
    quote! {
        let cut = |text: &str| {
            let mut shown: ::std::string::String = text.chars().take(#most).collect();
            if shown.len() < text.len() {
                shown.push_str("...");
            }
            shown
        };
    }
}
