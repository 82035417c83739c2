//! The server's side for procedures that are awaited (design note 0022): the same entry stubs, but
//! a procedure that has to wait leaves its processor to other calls.

use crate::back::rust::Rust;
use crate::back::rust::casing::ident;
use crate::back::rust::client::has_length;
use crate::back::rust::docs::doc;
use crate::back::rust::interface::Procedure;
use crate::back::rust::server::{Form, Ran, own_results, run_arguments, stub_name};
use crate::back::rust::stub::{Printer, Side, number};
use crate::back::rust::tokens::{TokenStream, quote};
use crate::layout::{Place, Root};
use crate::model::DeclarationId;
use crate::plan::{Passing, ProcedurePlan, Step};

/// What an awaited procedure evaluates to: what is lent to others is a result of it.
pub fn awaited_results(plan: &ProcedurePlan) -> Vec<Root> {
    let is_out = |root: &Root| match root {
        Root::Parameter(index) => {
            let mut arguments = plan.arguments.iter();
            arguments.any(|one| one.parameter == *index && one.passing == Passing::LentResult)
        }
        _ => false,
    };
    let mut results = plan.results.clone();
    results.extend(plan.lent_result.filter(is_out));
    results.sort_by_key(|root| match root {
        Root::Parameter(index) => Some(*index),
        _ => None,
    });
    results
}

/// Copies what an awaited procedure has made to where others put it themselves.
pub fn put_lent(printer: &mut Printer<'_, '_>, plan: &ProcedurePlan) -> Option<TokenStream> {
    let steps = plan.server.request.iter();
    let (root, at, limit) = steps.into_iter().find_map(|step| match step {
        Step::Lend { root, at, limit } => Some((*root, *at, *limit)),
        _ => None,
    })?;
    let (arguments, lent) = (printer.fixed("arguments"), printer.fixed("lent"));
    let (at, made) = (number(at), printer.local(&Place::whole(root), ""));
    let limit = limit.map_or(quote!(::nearcall::raw::UNBOUNDED), number);
    Some(quote! {
        let mut #lent = #arguments.lent_results::<#at>(#limit);
        #lent.put(&#made)?;
    })
}

impl Rust<'_> {
    /// The trait and the entry stubs.
    pub fn async_server(&self, id: DeclarationId, procedures: &[Procedure<'_>]) -> TokenStream {
        let names = self.names.interface(id);
        let (server, entries) = (ident(&names.async_server), ident(&names.async_entries));
        let (descriptor, generic) = (ident(&names.descriptor), ident(&names.generic));
        let name = &self.model.declaration(id).name;
        let text = format!(
            "What a domain that exports `{name}` does, if its procedures are awaited:\n\
             one that has to wait leaves its processor to other calls."
        );
        let server_doc = doc(&None, &text);
        let entries_doc = doc(&None, &format!("Entry stubs for a `{}`.", names.async_server));
        let allow =
            has_length(&names.functions).then(|| quote!(#[allow(clippy::len_without_is_empty)]));
        let own = procedures.iter().filter(|procedure| !procedure.operation.carries_feed());
        let held = quote!(::std::sync::Arc<#generic>);
        let form = Form { server: server.clone(), held, is_awaited: true };
        let signatures = own.map(|procedure| self.signature(*procedure, procedures, &form));
        let stubs = procedures.iter().map(|procedure| match procedure.operation.carries_feed() {
            true => self.entry_stub(*procedure, procedures, &form),
            false => self.async_stub(*procedure, procedures, &form),
        });
        let stub_names = names.functions.iter().map(|name| stub_name(name));
        let held = &form.held;
        quote! {
            #server_doc
            #allow
            pub trait #server: ::core::marker::Send + ::core::marker::Sync + 'static {
                #(#signatures)*
            }
            #entries_doc
            #[derive(Debug)]
            pub struct #entries<#generic>(#held);
            impl<#generic: #server> #entries<#generic> {
                const STUBS: &'static [fn(
                    &#held,
                    ::nearcall::raw::Arguments<'_>,
                ) -> ::nearcall::raw::Outcome] = &[#(Self::#stub_names),*];
                /// Entry stubs that run the procedures of `server`.
                pub fn new(server: #generic) -> Self { Self(::std::sync::Arc::new(server)) }
                #(#stubs)*
            }
            impl<#generic: #server> ::nearcall::raw::Entries for #entries<#generic> {
                fn interface(&self) -> &'static ::nearcall::InterfaceDescriptor { &#descriptor }
                fn enter(
                    &self,
                    procedure: usize,
                    arguments: ::nearcall::raw::Arguments<'_>,
                ) -> ::nearcall::raw::Outcome {
                    (Self::STUBS[procedure])(&self.0, arguments)
                }
                fn is_awaited(&self) -> bool { true }
            }
        }
    }

    fn async_stub(
        &self,
        procedure: Procedure<'_>,
        all: &[Procedure<'_>],
        form: &Form,
    ) -> TokenStream {
        let Procedure { interface, operation, plan } = procedure;
        let names = self.names.interface(interface);
        let scope = self.names.scope_of(interface);
        let (name, function) = {
            let function = &names.functions[plan.index as usize];
            (stub_name(function), ident(function))
        };
        let generic = ident(&names.generic);
        let Form { server: server_trait, held, .. } = form;
        let mut printer = Printer::new(self, scope, operation, plan, Side::Server);
        printer.is_outlived = true;
        let (server, arguments) = (printer.fixed("server"), printer.fixed("arguments"));
        let mut body = TokenStream::new();
        for step in plan.server.request.iter().filter(|step| !matches!(step, Step::Run)) {
            body.extend(printer.read(step));
        }
        let mut given = run_arguments(&mut printer, plan);
        if form.gives_ends(operation) {
            let (made, ends) = self.ends_made(&mut printer, procedure, all);
            body.extend(made);
            given.extend(ends);
        }
        let run = quote!(<#generic as #server_trait>::#function(&#server, #(#given),*).await);
        let (outcome, finish) = (printer.fixed("outcome"), printer.fixed("finish"));
        let is_plain = operation.raises.is_empty() && own_results(procedure, form).is_empty();
        let (run, ran) = match is_plain {
            true => (quote!(#run;), Ran::Nothing),
            false => (quote!(let #outcome = #run;), Ran::Value(quote!(#outcome))),
        };
        let reply = self.reply(&mut printer, (procedure, all), form, ran);
        let changed = plan.lent_result.is_some().then(|| quote!(mut));
        quote! {
            fn #name(
                #server: &#held,
                #arguments: ::nearcall::raw::Arguments<'_>,
            ) -> ::nearcall::raw::Outcome {
                #body
                let #server = ::std::sync::Arc::clone(#server);
                #arguments.run_awaited(async move {
                    #run
                    let #finish: ::nearcall::raw::Finish = ::std::boxed::Box::new(
                        move |#changed #arguments: ::nearcall::raw::Arguments<'_>| { #reply },
                    );
                    #finish
                })
            }
        }
    }
}
