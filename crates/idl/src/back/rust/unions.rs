//! Unions: an enum whose variants are the cases. A variant that more than one discriminator
//! selects carries the discriminator too, so that nothing is lost on the way.

use crate::back::allowed;
use crate::back::rust::Rust;
use crate::back::rust::casing::{Case, cased, ident};
use crate::back::rust::docs::{doc, optional_doc};
use crate::back::rust::limits::{Subject, shown};
use crate::back::rust::lints::{holder_lints, member_lints};
use crate::back::rust::names::NameSet;
use crate::back::rust::tokens::{Ident, TokenStream, quote};
use crate::back::rust::types::Traits;
use crate::model::{Case as UnionCase, DeclarationId, Primitive, Type, Union, UnionDefault, Value};

/// How a case is selected.
enum Selection {
    /// By one value.
    One(TokenStream),
    /// By one of these.
    Several(TokenStream),
    /// By what no other case has.
    Default,
}

impl Rust<'_> {
    /// `union`
    pub fn union(&self, id: DeclarationId, union: &Union) -> TokenStream {
        let scope = self.names.scope_of(id);
        let declaration = self.model.declaration(id);
        let doc = doc(&declaration.doc, &format!("Union `{}`.", declaration.name));
        let name = ident(self.names.declaration(id));
        let traits = self.union_traits(id);
        let derive = Traits { default: false, ..traits }.derive();
        let discriminator = self.owned(scope, &union.discriminator);
        let (variants, other) = variants(union);
        let default = traits.default.then(|| {
            quote! {
                impl ::core::default::Default for #name {
                    fn default() -> Self {
                        Self::#other(0)
                    }
                }
            }
        });
        let boxed = self.type_plan(id).members.iter().map(|member| member.is_boxed);
        let cases = union.cases.iter().zip(boxed).zip(&variants).zip(0..);
        let mut held = Vec::new();
        let cases = cases.map(|(((case, is_boxed), variant), index)| {
            let doc = optional_doc(&case.member.doc);
            let value = self.member(scope, &case.member, is_boxed);
            held.push(value.clone());
            match self.selection(scope, union, index) {
                Selection::One(_) => quote!(#doc #variant(#value)),
                _ => quote!(#doc #variant(#discriminator, #value)),
            }
        });
        let cases: Vec<TokenStream> = cases.collect();
        let doc_of_other = match self.type_plan(id).is_appendable {
            true => "Nothing is set: 0.",
            false => "No case: the discriminator alone.",
        };
        let doc_of_other = self::doc(&None, doc_of_other);
        let other = (union.default == UnionDefault::Implicit)
            .then(|| quote!(#doc_of_other #other(#discriminator)));
        let is_documented = union.cases.iter().all(|case| case.member.doc.is_some());
        let spelled: Vec<String> = variants.iter().map(ToString::to_string).collect();
        let types: Vec<Type> =
            union.cases.iter().map(|case| case.member.declared.clone()).collect();
        let lints = self.variant_lints(member_lints(is_documented, &spelled), &types);
        let allow = holder_lints(lints, &held).attribute();
        let variants = cases.into_iter().chain(other);
        let marshal = self.marshal_union(id, union);
        quote! {
            #doc
            #derive
            #allow
            pub enum #name { #(#variants,)* }
            #default
            #marshal
        }
    }

    /// Has its variant no discriminator, because there is but one that selects it?
    pub fn is_selected_by_one(&self, union: &Union, index: u32) -> bool {
        union.default != UnionDefault::Case(index) && union.cases[index as usize].labels.len() == 1
    }

    fn selection(&self, scope: usize, union: &Union, index: u32) -> Selection {
        if union.default == UnionDefault::Case(index) {
            return Selection::Default;
        }
        let labels = self.labels(scope, union, &union.cases[index as usize]);
        match union.cases[index as usize].labels.len() {
            1 => Selection::One(labels),
            _ => Selection::Several(labels),
        }
    }

    /// The labels of a case, as a pattern.
    fn labels(&self, scope: usize, union: &Union, case: &UnionCase) -> TokenStream {
        self.pattern(scope, union, case.labels.clone())
    }

    /// Labels as a pattern; numbers and characters in a row as a range.
    fn pattern(&self, scope: usize, union: &Union, mut labels: Vec<Value>) -> TokenStream {
        let resolved = self.model.resolved(&union.discriminator);
        let is_char = matches!(resolved, Type::Primitive(Primitive::Char));
        labels.sort_by_key(ordinal);
        let runs = labels.chunk_by(|one, next| {
            let pair = (ordinal(one), ordinal(next));
            !is_char && matches!(pair, (Some(one), Some(next)) if one + 1 == next)
        });
        let patterns = runs.map(|run| match run {
            [first, _, .., last] => {
                let first = self.value(scope, resolved, first);
                let last = self.value(scope, resolved, last);
                quote!(#first..=#last)
            }
            few => {
                let few = few.iter().map(|label| self.value(scope, resolved, label));
                quote!(#(#few)|*)
            }
        });
        quote!(#(#patterns)|*)
    }

    /// Labels of every case but this, as a pattern; `None` if there are none.
    fn other_labels(&self, scope: usize, union: &Union, own: Option<usize>) -> Option<TokenStream> {
        let others = union.cases.iter().enumerate();
        let others = others.filter(|(index, case)| Some(*index) != own && !case.labels.is_empty());
        let labels: Vec<Value> = others.flat_map(|(_, case)| case.labels.clone()).collect();
        (!labels.is_empty()).then(|| self.pattern(scope, union, labels))
    }

    fn marshal_union(&self, id: DeclarationId, union: &Union) -> TokenStream {
        let scope = self.names.scope_of(id);
        let (variants, other) = variants(union);
        let discriminator = self.owned(scope, &union.discriminator);
        let (mut puts, mut gets, mut default) = (Vec::new(), Vec::new(), None);
        for (index, variant) in variants.iter().enumerate() {
            let (put, get) = self.case(id, union, index, variant);
            puts.push(put);
            match self.selection(scope, union, index as u32) {
                Selection::One(labels) | Selection::Several(labels) => {
                    gets.push(quote!(#labels => { #get }));
                }
                Selection::Default => default = Some(quote!(_ => { #get })),
            }
        }
        let is_appendable = self.type_plan(id).is_appendable;
        if union.default == UnionDefault::Implicit {
            let keep = match is_appendable {
                true => self.put_unset(union),
                false => self.put_discriminator(scope, union, None, "discriminator"),
            };
            puts.push(quote!(Self::#other(discriminator) => { #keep }));
            default = Some(match is_appendable {
                true => get_unset(&other),
                false => quote!(_ => ::core::result::Result::Ok(Self::#other(discriminator))),
            });
        }
        let put = quote!(match self { #(#puts)* });
        let put = match is_appendable {
            true => quote!(writer.appendable(|writer| { #put });),
            false => put,
        };
        let taken = quote! {
            let discriminator: #discriminator = ::nearcall::raw::Marshal::unmarshal(reader)?;
        };
        let cases = quote!(match discriminator { #(#gets)* #default });
        let overs = variants.iter().enumerate();
        let overs = overs.filter_map(|(index, variant)| self.case_over(id, union, index, variant));
        let overs: Vec<TokenStream> = overs.collect();
        if overs.is_empty() {
            let get = read_within(is_appendable, quote!(#taken #cases));
            return self.marshal_impl(id, put, get);
        }
        let name = ident(self.names.declaration(id));
        let get = quote!(#taken Self::from_wire(discriminator, reader));
        let get = read_within(is_appendable, get);
        let over = quote! {
            #taken
            match (discriminator, self) {
                #(#overs)*
                #[allow(unreachable_patterns)]
                (_, other) => *other = Self::from_wire(discriminator, reader)?,
            }
            ::core::result::Result::Ok(())
        };
        let over = read_within(is_appendable, over);
        let marshal = self.marshal_impl_over(id, put, get, Some(over));
        quote! {
            impl #name {
                fn from_wire(
                    discriminator: #discriminator,
                    reader: &mut ::nearcall::raw::Reader<'_>,
                ) -> ::core::result::Result<Self, ::nearcall::raw::Malformed> { #cases }
            }
            #marshal
        }
    }

    /// An arm that unmarshals a case over a value of the same case, if that may hold memory. A
    /// default case is made anew: whatever is no label selects it.
    fn case_over(
        &self,
        id: DeclarationId,
        union: &Union,
        index: usize,
        variant: &Ident,
    ) -> Option<TokenStream> {
        let scope = self.names.scope_of(id);
        let (member, plan) = (&union.cases[index].member, &self.type_plan(id).members[index]);
        if !plan.is_boxed && self.is_copy(&member.declared) {
            return None;
        }
        let subject = Subject { receiver: quote!(value), reference: quote!(&*value) };
        let checks = self.read_limits(scope, &subject, &plan.checks);
        let over = quote!(::nearcall::raw::Marshal::unmarshal_over(value, reader)?; #checks);
        Some(match self.selection(scope, union, index as u32) {
            Selection::One(label) => quote!((#label, Self::#variant(value)) => { #over }),
            Selection::Several(labels) => quote! {
                (#labels, Self::#variant(kept, value)) => { *kept = discriminator; #over }
            },
            Selection::Default => return None,
        })
    }

    /// An arm that marshals a case, and what unmarshals it.
    fn case(
        &self,
        id: DeclarationId,
        union: &Union,
        index: usize,
        variant: &Ident,
    ) -> (TokenStream, TokenStream) {
        let scope = self.names.scope_of(id);
        let (member, plan) = (&union.cases[index].member, &self.type_plan(id).members[index]);
        let (writer, subject) = (ident("writer"), Subject::reference(quote!(value)));
        let limits = self.write_limits(scope, &writer, &subject, &member.name, &plan.checks);
        let put = quote!(#limits ::nearcall::raw::Marshal::marshal(value, writer););
        let declared = self.member(scope, member, plan.is_boxed);
        let checks = self.read_limits(scope, &Subject::value(quote!(value)), &plan.checks);
        let get = quote! {
            let value = <#declared as ::nearcall::raw::Marshal>::unmarshal(reader)?;
            #checks
        };
        if let Selection::One(label) = self.selection(scope, union, index as u32) {
            let discriminator = self.owned(scope, &union.discriminator);
            let put = quote! {
                Self::#variant(value) => {
                    <#discriminator as ::nearcall::raw::Marshal>::marshal(&#label, writer);
                    #put
                }
            };
            return (put, quote!(#get ::core::result::Result::Ok(Self::#variant(value))));
        }
        let name = format!("the discriminator of {}", member.name);
        let keep = self.put_discriminator(scope, union, Some(index), &name);
        let put = quote!(Self::#variant(discriminator, value) => { #keep #put });
        (put, quote!(#get ::core::result::Result::Ok(Self::#variant(discriminator, value))))
    }

    /// Marshals a discriminator that the value carries, and refuses one of another case.
    fn put_discriminator(
        &self,
        scope: usize,
        union: &Union,
        case: Option<usize>,
        name: &str,
    ) -> TokenStream {
        let others = self.other_labels(scope, union, case);
        let own = case.filter(|index| union.default != UnionDefault::Case(*index as u32));
        let shown = shown(self.model.resolved(&union.discriminator), quote!(discriminator));
        let allowed = allowed::selecting(self.model, union, case);
        let refuse = quote!(writer.range(#name, #shown, #allowed));
        let check = match (own, others) {
            // Every value selects this case.
            (Some(_), None) if union.default == UnionDefault::Covered => TokenStream::new(),
            (Some(index), _) => {
                let labels = self.labels(scope, union, &union.cases[index]);
                quote!(match *discriminator { #labels => {} _ => #refuse, })
            }
            (None, None) => TokenStream::new(),
            (None, Some(_)) if self.is_boolean(union) => {
                let labels = union.cases.iter().flat_map(|case| &case.labels);
                let is_true = labels.into_iter().any(|label| *label == Value::Boolean(true));
                let not = (!is_true).then(|| quote!(!));
                quote!(if #not *discriminator { #refuse; })
            }
            (None, Some(labels)) => quote!(if let #labels = *discriminator { #refuse; }),
        };
        quote!(#check ::nearcall::raw::Marshal::marshal(discriminator, writer);)
    }

    /// Marshals the number of a oneof that is not set, and refuses any but 0: a version that has a
    /// case of that number would look for its value.
    fn put_unset(&self, union: &Union) -> TokenStream {
        let shown = shown(self.model.resolved(&union.discriminator), quote!(discriminator));
        let allowed = allowed::set_or_not(self.model, union);
        quote! {
            if *discriminator != 0 {
                writer.range("discriminator", #shown, #allowed);
            }
            ::nearcall::raw::Marshal::marshal(discriminator, writer);
        }
    }

    fn is_boolean(&self, union: &Union) -> bool {
        let resolved = self.model.resolved(&union.discriminator);
        matches!(resolved, Type::Primitive(Primitive::Boolean))
    }
}

/// Arms that read a oneof of which nothing is set, as is one whose case only a newer version has.
fn get_unset(other: &Ident) -> TokenStream {
    quote! {
        0 => ::core::result::Result::Ok(Self::#other(0)),
        _ => {
            reader.leave_case_out();
            ::core::result::Result::Ok(Self::#other(0))
        }
    }
}

/// What a reader does, of a oneof behind its length.
fn read_within(is_appendable: bool, inner: TokenStream) -> TokenStream {
    if is_appendable { quote!(reader.oneof(|reader| { #inner })) } else { inner }
}

/// Where a label stands among those that can be written as a range.
fn ordinal(label: &Value) -> Option<i128> {
    match label {
        Value::Integer(value) => Some(*value),
        Value::Char(value) => Some(i128::from(u32::from(*value))),
        _ => None,
    }
}

/// Names of the variants, and of the one for no case.
pub fn variants(union: &Union) -> (Vec<Ident>, Ident) {
    let mut taken = NameSet::default();
    let names = union.cases.iter().map(|case| cased(&case.member.name, Case::Camel));
    let names = names.map(|name| ident(&taken.take(&name))).collect();
    (names, ident(&taken.take("Other")))
}
