//! What a server does, and its entry stubs.

use crate::back::rust::Rust;
use crate::back::rust::casing::ident;
use crate::back::rust::client::has_length;
use crate::back::rust::docs::doc;
use crate::back::rust::exchanges::exchange_is_awaited;
use crate::back::rust::interface::{Procedure, or_none};
use crate::back::rust::names::NameSet;
use crate::back::rust::stub::{Printer, Side, number, parameter_names};
use crate::back::rust::suspending::{awaited_results, put_lent};
use crate::back::rust::tokens::{Ident, Literal, TokenStream, format_ident, quote};
use crate::back::undocumented;
use crate::layout::{Place, Root};
use crate::model::{DeclarationId, Operation};
use crate::plan::{Passing, ProcedurePlan, Step};

/// What a procedure has evaluated to, as an expression.
pub enum Ran {
    /// To what its signature says.
    Value(TokenStream),
    /// To the same, or what a feed raises.
    Carried(TokenStream),
    /// To nothing.
    Nothing,
}

/// Which of the two traits an entry stub calls, and what it has of who does.
pub struct Form {
    pub server: Ident,
    pub held: TokenStream,
    /// Its procedures are awaited.
    pub is_awaited: bool,
}

impl Rust<'_> {
    /// The trait and the entry stubs.
    pub fn server(&self, id: DeclarationId, procedures: &[Procedure<'_>]) -> TokenStream {
        let names = self.names.interface(id);
        let (server, entries) = (ident(&names.server), ident(&names.entries));
        let (descriptor, generic) = (ident(&names.descriptor), ident(&names.generic));
        let name = &self.model.declaration(id).name;
        let server_doc = doc(&None, &format!("What a domain that exports `{name}` does."));
        let entries_doc = doc(&None, &format!("Entry stubs for a `{}`.", names.server));
        let allow =
            has_length(&names.functions).then(|| quote!(#[allow(clippy::len_without_is_empty)]));
        let form = Form { server: server.clone(), held: quote!(#generic), is_awaited: false };
        let own = procedures.iter().filter(|procedure| !procedure.operation.carries_feed());
        let signatures = own.map(|procedure| self.signature(*procedure, procedures, &form));
        let is_awaited = self.has_exchange(procedures).then(exchange_is_awaited);
        let stubs =
            procedures.iter().map(|procedure| self.entry_stub(*procedure, procedures, &form));
        let stub_names = names.functions.iter().map(|name| stub_name(name));
        quote! {
            #server_doc
            #allow
            pub trait #server: ::core::marker::Send + ::core::marker::Sync + 'static {
                #(#signatures)*
            }
            #entries_doc
            #[derive(Clone, Debug)]
            pub struct #entries<#generic>(#generic);
            impl<#generic: #server> #entries<#generic> {
                const STUBS: &'static [fn(
                    &#generic,
                    ::nearcall::raw::Arguments<'_>,
                ) -> ::nearcall::raw::Outcome] = &[#(Self::#stub_names),*];
                /// Entry stubs that run the procedures of `server`.
                pub fn new(server: #generic) -> Self { Self(server) }
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
                #is_awaited
            }
        }
    }

    pub fn signature(
        &self,
        procedure: Procedure<'_>,
        all: &[Procedure<'_>],
        form: &Form,
    ) -> TokenStream {
        let Procedure { interface, operation, plan } = procedure;
        let scope = self.names.scope_of(interface);
        let doc = doc(&operation.doc, &undocumented::served(operation));
        let function = &self.names.interface(interface).functions[plan.index as usize];
        let name = ident(function);
        let mut parameters = self.server_parameters(scope, procedure, form);
        if form.gives_ends(operation) {
            parameters.extend(self.end_parameters(scope, procedure, all));
        }
        let own = own_results(procedure, form);
        let returns_nothing = own.is_empty();
        let results = match operation.feed {
            Some(_) if !returns_nothing => self.feed_type(scope, procedure, all),
            _ => self.result_type(scope, operation, &own),
        };
        let output = match operation.raises.is_empty() {
            true => results,
            false => {
                let exceptions = self.exceptions_path(scope, operation);
                quote!(::core::result::Result<#results, #exceptions>)
            }
        };
        let output = if form.is_awaited {
            quote!(-> impl ::core::future::Future<Output = #output> + ::core::marker::Send)
        } else if operation.raises.is_empty() && returns_nothing {
            TokenStream::new()
        } else {
            quote!(-> #output)
        };
        let signature = quote!(fn #name(&self, #(#parameters),*) #output);
        let allow = self.function_lints(operation, function, &signature).attribute();
        quote!(#doc #allow #signature;)
    }

    /// As the client's, but for what is lent: whoever is awaited owns it.
    fn server_parameters(
        &self,
        scope: usize,
        procedure: Procedure<'_>,
        form: &Form,
    ) -> Vec<TokenStream> {
        let names = lent_names(procedure.operation, procedure.plan);
        let opaque = quote!(::nearcall::Opaque<'_>);
        let opaque_out = quote!(::nearcall::OpaqueOut<'_>);
        let mut parameters = Vec::new();
        let lent = if form.is_awaited { quote!(::std::vec::Vec<u8>) } else { opaque.clone() };
        let shared = self.client_parameters(scope, procedure, &lent);
        for (argument, shared) in procedure.plan.arguments.iter().zip(shared) {
            let name = ident(&names.parameters[argument.parameter as usize]);
            let written = &names.written;
            parameters.push(match argument.passing {
                Passing::LentResult if form.is_awaited => continue,
                Passing::LentResult => quote!(#name: #opaque_out),
                Passing::LentBoth if !form.is_awaited => {
                    quote!(#name: #opaque, #written: #opaque_out)
                }
                Passing::Descriptor => {
                    let parameter = &procedure.operation.parameters[argument.parameter as usize];
                    let owned = quote!(::std::os::fd::OwnedFd);
                    let owned = or_none(parameter.descriptor, owned);
                    quote!(#name: #owned)
                }
                _ => shared,
            });
        }
        if procedure.plan.lent_result == Some(Root::Returned) && !form.is_awaited {
            let written = &names.written;
            parameters.push(quote!(#written: #opaque_out));
        }
        parameters
    }

    pub fn entry_stub(
        &self,
        procedure: Procedure<'_>,
        all: &[Procedure<'_>],
        form: &Form,
    ) -> TokenStream {
        let Procedure { interface, operation, plan } = procedure;
        if form.waits_for_ends(operation) {
            return self.waiting_stub(procedure, all, form);
        }
        let scope = self.names.scope_of(interface);
        let names = self.names.interface(interface);
        let name = stub_name(&names.functions[plan.index as usize]);
        let held = &form.held;
        let mut printer = Printer::new(self, scope, operation, plan, Side::Server);
        let (server, arguments) =
            (printer.fixed(server_name(operation)), printer.fixed("arguments"));
        let mut body = TokenStream::new();
        for step in &plan.server.request {
            body.extend(match step {
                Step::Lend { at, limit, .. } => {
                    let (at, lent) = (number(*at), printer.fixed("lent"));
                    let limit = match limit {
                        Some(limit) => number(*limit),
                        None => quote!(::nearcall::raw::UNBOUNDED),
                    };
                    quote!(let #lent = #arguments.lent_results::<#at>(#limit);)
                }
                Step::Run => self.run(&mut printer, procedure, all, form),
                step => printer.read(step),
            });
        }
        let changed = plan.lent_result.is_some().then(|| quote!(mut));
        quote! {
            fn #name(
                #server: &#held,
                #changed #arguments: ::nearcall::raw::Arguments<'_>,
            ) -> ::nearcall::raw::Outcome {
                #body
            }
        }
    }

    /// Runs the procedure, and replies with what it evaluates to.
    fn run(
        &self,
        printer: &mut Printer<'_, '_>,
        procedure: Procedure<'_>,
        all: &[Procedure<'_>],
        form: &Form,
    ) -> TokenStream {
        let Procedure { interface, operation, plan } = procedure;
        let names = self.names.interface(interface);
        let (generic, server_trait) = (ident(&names.generic), &form.server);
        let function = ident(&names.functions[plan.index as usize]);
        let server = printer.fixed(server_name(operation));
        let mut arguments = run_arguments(printer, plan);
        let ends = form.gives_ends(operation).then(|| {
            let (made, given) = self.ends_made(printer, procedure, all);
            arguments.extend(given);
            made
        });
        let carried = self.carried(printer, procedure, all);
        let run = || quote!(<#generic as #server_trait>::#function(#server, #(#arguments),*));
        let ran = match self.exchange_ended(printer, procedure, all) {
            Some(ended) => Ran::Value(ended),
            None => carried.map_or_else(|| Ran::Value(run()), Ran::Carried),
        };
        let reply = self.reply(printer, (procedure, all), form, ran);
        quote!(#ends #reply)
    }

    /// Replies with what the procedure evaluates to.
    pub fn reply(
        &self,
        printer: &mut Printer<'_, '_>,
        (procedure, all): (Procedure<'_>, &[Procedure<'_>]),
        form: &Form,
        ran: Ran,
    ) -> TokenStream {
        let Procedure { interface, operation, plan } = procedure;
        let scope = self.names.scope_of(interface);
        let opened = self.opened(printer, procedure, all, form);
        let results = own_results(procedure, form);
        let put = form.is_awaited.then(|| put_lent(printer, plan)).flatten();
        let reply = reply_steps(printer, &plan.server.reply);
        let locals: Vec<Ident> = results.iter().map(|root| printer.bound(*root)).collect();
        let lent = printer.lent_batch(procedure);
        let pattern = match locals.as_slice() {
            [one] => quote!(#one),
            all => quote!((#(#all),*)),
        };
        let run = match ran {
            Ran::Carried(run) if operation.raises.is_empty() => {
                return quote!(let ::core::result::Result::Ok(#pattern) = #run; #lent #reply);
            }
            Ran::Nothing => return quote!(#opened #put #reply),
            Ran::Carried(run) | Ran::Value(run) => run,
        };
        if operation.raises.is_empty() {
            let bound = (!locals.is_empty()).then(|| quote!(let #pattern =));
            return quote!(#bound #run; #opened #put #reply);
        }
        let exceptions = self.exceptions_path(scope, operation);
        let variants = self.exception_variants(operation);
        let raised = plan.server.raised.iter().zip(&operation.raises).zip(&variants);
        let arms = raised.map(|((steps, id), variant)| {
            printer.enter_exception(*id);
            let raised = printer.fixed("raised");
            let is_empty = self.field_names(*id).is_empty();
            let binding = if is_empty { quote!(_) } else { quote!(#raised) };
            let steps = reply_steps(printer, steps);
            quote!(::core::result::Result::Err(#exceptions::#variant(#binding)) => { #steps })
        });
        let arms: Vec<TokenStream> = arms.collect();
        quote! {
            match #run {
                ::core::result::Result::Ok(#pattern) => { #opened #lent #put #reply }
                #(#arms)*
            }
        }
    }
}

/// A procedure that carries a feed has nothing to do with the server itself.
pub fn server_name(operation: &Operation) -> &'static str {
    if operation.carries_feed() { "_server" } else { "server" }
}

/// What the procedure itself evaluates to: numbers of feeds are made of what it was given.
pub fn own_results(procedure: Procedure<'_>, form: &Form) -> Vec<Root> {
    match form.gives_ends(procedure.operation) {
        true => Vec::new(),
        false if form.is_awaited => awaited_results(procedure.plan),
        false => run_results(procedure.plan),
    }
}

/// The results that are left: a lent one is in place already.
pub fn run_results(plan: &ProcedurePlan) -> Vec<Root> {
    plan.results.iter().copied().filter(|root| plan.lent_result != Some(*root)).collect()
}

/// Names of the server's parameters; `written` is the room for a lent result that has no parameter
/// of its own.
struct LentNames {
    parameters: Vec<String>,
    written: Ident,
}

fn lent_names(operation: &Operation, plan: &ProcedurePlan) -> LentNames {
    let parameters = parameter_names(operation);
    let mut taken = NameSet::default();
    for name in &parameters {
        taken.take(name);
    }
    let written = match plan.lent_result {
        Some(Root::Parameter(index)) => format!("{}_out", parameters[index as usize]),
        _ => String::from("returned"),
    };
    let written = ident(&taken.take(&written));
    LentNames { parameters, written }
}

pub fn run_arguments(printer: &mut Printer<'_, '_>, plan: &ProcedurePlan) -> Vec<TokenStream> {
    let lent = plan.lent_result.filter(|_| !printer.is_outlived).map(|_| printer.fixed("lent"));
    let mut arguments = Vec::new();
    for argument in &plan.arguments {
        if argument.passing == Passing::LentResult {
            arguments.extend(lent.as_ref().map(|lent| quote!(#lent)));
            continue;
        }
        let place = Place::whole(Root::Parameter(argument.parameter));
        let local = printer.local(&place, "");
        arguments.push(match argument.passing {
            _ if printer.is_in_room(place.root) => quote!(#local),
            Passing::Value | Passing::Lent | Passing::Descriptor => quote!(#local),
            Passing::Shared => quote!(&#local),
            Passing::Exclusive => quote!(&mut #local),
            Passing::LentBoth if printer.is_outlived => quote!(&mut #local),
            Passing::LentResult | Passing::LentBoth => quote!(#local, #lent),
        });
    }
    if plan.lent_result == Some(Root::Returned) {
        arguments.extend(lent.map(|lent| quote!(#lent)));
    }
    arguments
}

fn reply_steps(printer: &mut Printer<'_, '_>, steps: &[Step]) -> TokenStream {
    let (arguments, results) = (printer.fixed("arguments"), printer.fixed("results"));
    let changed = steps.iter().any(Step::is_write).then(|| quote!(mut));
    let mut body = TokenStream::new();
    for step in steps {
        body.extend(match step {
            Step::Results { exception } => {
                let made = if *exception { quote!(exception) } else { quote!(results) };
                quote!(let #changed #results = #arguments.#made();)
            }
            Step::Reply { fixed_bytes } => {
                let fixed_bytes = number(*fixed_bytes);
                quote!(#results.reply(#fixed_bytes))
            }
            Step::Raise { number: raised, fixed_bytes } => {
                let raised = Literal::number(*raised);
                let fixed_bytes = number(*fixed_bytes);
                quote!(#results.raise(#raised, #fixed_bytes))
            }
            step => printer.write(step),
        });
    }
    body
}

pub fn stub_name(function: &str) -> Ident {
    format_ident!("stub_{}", function)
}
