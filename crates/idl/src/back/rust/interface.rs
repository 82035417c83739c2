//! What both sides of an interface share: its descriptor, what its operations raise, and the
//! types in its signatures.

use crate::back::rust::Rust;
use crate::back::rust::casing::ident;
use crate::back::rust::docs::doc;
use crate::back::rust::items::written_batch;
use crate::back::rust::names::NameSet;
use crate::back::rust::tokens::{Ident, Literal, TokenStream, quote};
use crate::layout::Root;
use crate::model::{DeclarationId, Descriptor, Interface, Kind, Operation};
use crate::plan::{Passing, ProcedurePlan};

/// One operation with everything that its two stubs are printed from.
#[derive(Clone, Copy)]
pub struct Procedure<'p> {
    /// The interface that is printed.
    pub interface: DeclarationId,
    /// The operation.
    pub operation: &'p Operation,
    /// Its plan.
    pub plan: &'p ProcedurePlan,
}

impl Rust<'_> {
    /// `interface`
    pub fn interface(&self, id: DeclarationId, interface: &Interface) -> TokenStream {
        let descriptor = self.descriptor(id, interface);
        let exceptions = interface.operations.iter().enumerate();
        let exceptions = exceptions
            .filter(|(_, operation)| operation.declared_in == id && !operation.raises.is_empty())
            .filter(|(_, operation)| !operation.carries_feed());
        let exceptions = exceptions.map(|(index, operation)| self.exceptions(id, index, operation));
        let procedures: Vec<Procedure<'_>> = interface
            .operations
            .iter()
            .zip(&self.interface_plan(id).procedures)
            .map(|(operation, plan)| Procedure { interface: id, operation, plan })
            .collect();
        let client = self.client(id, &procedures);
        let posting = self.posting(id, &procedures);
        let awaiting = self.awaiting(id, &procedures);
        let server = self.server(id, &procedures);
        let async_server = self.async_server(id, &procedures);
        quote!(#(#exceptions)* #client #posting #awaiting #server #async_server #descriptor)
    }

    fn descriptor(&self, id: DeclarationId, interface: &Interface) -> TokenStream {
        let plan = self.interface_plan(id);
        let name = self.model.declaration(id).name.to_string();
        let doc = doc(&None, &format!("What both sides of `{name}` must agree on."));
        let own = ident(&self.names.interface(id).descriptor);
        let hash = hash(&plan.hash);
        let procedures = interface.operations.iter().zip(&plan.procedures);
        let procedures = procedures.map(|(operation, plan)| {
            let (name, hash) = (&operation.name, hash_of(plan));
            let class = Literal::number(plan.class);
            let (is_oneway, is_idempotent) = (operation.is_oneway, operation.is_idempotent);
            let is_leaf = operation.is_leaf;
            quote! {
                ::nearcall::ProcedureDescriptor {
                    name: #name,
                    hash: #hash,
                    class: #class,
                    is_oneway: #is_oneway,
                    is_idempotent: #is_idempotent,
                    is_leaf: #is_leaf,
                }
            }
        });
        let classes = plan.classes.iter().map(|class| {
            let block_bytes = Literal::number(class.block_bytes);
            let count = Literal::number(class.count);
            quote!(::nearcall::AStackClass { block_bytes: #block_bytes, count: #count })
        });
        let appendables = plan.appendables.iter().map(|appendable| {
            let name = self.model.declaration(appendable.id).name.to_string();
            let procedure = Literal::number(appendable.procedure);
            let hashes = appendable.hashes.iter().map(self::hash);
            quote! {
                ::nearcall::AppendableDescriptor {
                    name: #name,
                    procedure: #procedure,
                    hashes: &[#(#hashes),*],
                }
            }
        });
        quote! {
            #doc
            pub static #own: ::nearcall::InterfaceDescriptor = ::nearcall::InterfaceDescriptor {
                name: #name,
                hash: #hash,
                procedures: &[#(#procedures),*],
                classes: &[#(#classes),*],
                appendables: &[#(#appendables),*],
            };
        }
    }

    /// What an operation raises, as one type.
    fn exceptions(&self, id: DeclarationId, index: usize, operation: &Operation) -> TokenStream {
        let scope = self.names.scope_of(id);
        let name = ident(&self.names.interface(id).exceptions[index]);
        let text = format!("What `{}` raises.", operation.name);
        let doc = doc(&None, &text);
        let variants: Vec<_> = self.exception_variants(operation);
        let types: Vec<TokenStream> =
            operation.raises.iter().map(|raised| self.names.path(scope, *raised)).collect();
        let docs = operation.raises.iter().map(|raised| {
            let text = format!(" `{}`", self.model.declaration(*raised).name);
            quote!(#[doc = #text])
        });
        let spelled: Vec<String> = variants.iter().map(ToString::to_string).collect();
        let allow = self.exception_lints(&spelled, operation).attribute();
        // One function may judge what every operation raises that raises the same alone.
        let only = <&[Ident; 1]>::try_from(variants.as_slice()).ok().map(|[variant]| {
            quote! {
                #(impl ::core::convert::From<#name> for #types {
                    fn from(raised: #name) -> Self {
                        let #name::#variant(raised) = raised;
                        raised
                    }
                })*
            }
        });
        quote! {
            #doc
            #[derive(Clone, Debug, PartialEq)]
            #allow
            pub enum #name { #(#docs #variants(#types),)* }
            impl ::core::fmt::Display for #name {
                fn fmt(&self, formatter: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    match self {
                        #(Self::#variants(raised) => ::core::fmt::Display::fmt(raised, formatter),)*
                    }
                }
            }
            impl ::core::error::Error for #name {}
            #(impl ::core::convert::From<#types> for #name {
                fn from(raised: #types) -> Self { Self::#variants(raised) }
            })*
            #only
        }
    }

    /// Variants for what an operation raises, in order.
    pub fn exception_variants(&self, operation: &Operation) -> Vec<Ident> {
        let mut taken = NameSet::default();
        let names = operation.raises.iter().map(|raised| self.names.declaration(*raised));
        names.map(|name| ident(&taken.take(name.trim_end_matches('_')))).collect()
    }

    /// Path to the type of what an operation raises, which the interface that declares it has.
    pub fn exceptions_path(&self, scope: usize, operation: &Operation) -> TokenStream {
        let declared_in = operation.declared_in;
        let Kind::Interface(interface) = &self.model.declaration(declared_in).kind else {
            return TokenStream::new();
        };
        let mut operations = interface.operations.iter();
        let name = operation.feed.as_ref().map_or(&operation.name, |feed| &feed.opened_by);
        let index = operations.position(|one| one.name == *name).unwrap_or_default();
        let name = &self.names.interface(declared_in).exceptions[index];
        self.names.path_to(scope, self.names.scope_of(declared_in), name)
    }

    /// The parameters of the client's function, in which what the server is lent is a `lent`.
    pub fn client_parameters(
        &self,
        scope: usize,
        procedure: Procedure<'_>,
        lent: &TokenStream,
    ) -> Vec<TokenStream> {
        let names = super::stub::parameter_names(procedure.operation);
        let written = written_batch(procedure.operation, procedure.plan);
        let arguments = procedure.plan.arguments.iter();
        arguments
            .map(|argument| {
                let index = argument.parameter as usize;
                let (name, parameter) =
                    (ident(&names[index]), &procedure.operation.parameters[index]);
                let root = Root::Parameter(argument.parameter);
                let declared = match argument.passing {
                    _ if written == Some(root) => quote!(&[u8]),
                    Passing::Value => self.owned(scope, &parameter.declared),
                    Passing::Shared => self.borrowed(scope, &parameter.declared),
                    Passing::Exclusive => {
                        let owned = self.owned(scope, &parameter.declared);
                        quote!(&mut #owned)
                    }
                    Passing::Lent => lent.clone(),
                    Passing::LentResult | Passing::LentBoth => quote!(&mut ::std::vec::Vec<u8>),
                    Passing::Descriptor => {
                        or_none(parameter.descriptor, quote!(::std::os::fd::BorrowedFd<'_>))
                    }
                };
                quote!(#name: #declared)
            })
            .collect()
    }

    /// What results evaluate to, as a type: nothing, one, or a tuple.
    pub fn result_type(
        &self,
        scope: usize,
        operation: &Operation,
        results: &[Root],
    ) -> TokenStream {
        let types: Vec<TokenStream> = results
            .iter()
            .filter_map(|root| {
                if let descriptor @ Some(_) = operation.descriptor(*root) {
                    return Some(or_none(descriptor, quote!(::std::os::fd::OwnedFd)));
                }
                let declared = crate::layout::root_type(self.model, operation, None, *root);
                declared.map(|declared| self.owned(scope, declared))
            })
            .collect();
        match types.as_slice() {
            [one] => one.clone(),
            all => quote!((#(#all),*)),
        }
    }
}

/// The type of a descriptor, which may be absent.
pub fn or_none(descriptor: Option<Descriptor>, declared: TokenStream) -> TokenStream {
    match descriptor {
        Some(Descriptor { is_optional: true, .. }) => quote!(::core::option::Option<#declared>),
        _ => declared,
    }
}

fn hash_of(plan: &ProcedurePlan) -> TokenStream {
    hash(&plan.hash)
}

fn hash(hash: &[u8; 16]) -> TokenStream {
    let bytes = hash.iter().map(|byte| Literal::hexadecimal((*byte).into(), 2));
    quote!([#(#bytes),*])
}
