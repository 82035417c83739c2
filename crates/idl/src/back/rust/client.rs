//! Call stubs.

use crate::back::rust::Rust;
use crate::back::rust::casing::ident;
use crate::back::rust::docs::doc;
use crate::back::rust::interface::Procedure;
use crate::back::rust::stub::{Printer, Side, literal, number};
use crate::back::rust::tokens::{Ident, Literal, TokenStream, quote};
use crate::back::undocumented;
use crate::layout::{Place, Root};
use crate::model::{DeclarationId, Operation};
use crate::plan::{Passing, ProcedurePlan, Step};

impl Rust<'_> {
    /// The type that calls an interface.
    pub fn client(&self, id: DeclarationId, procedures: &[Procedure<'_>]) -> TokenStream {
        let names = self.names.interface(id);
        let (client, descriptor) = (ident(&names.client), ident(&names.descriptor));
        let (posting, awaiting) = (ident(&names.posting), ident(&names.awaiting));
        let declaration = self.model.declaration(id);
        let text = format!("Calls `{}` in the domain that exports it.", declaration.name);
        let doc = doc(&declaration.doc, &text);
        let own = procedures.iter().filter(|procedure| !procedure.operation.carries_feed());
        let functions = own.map(|procedure| match procedure.operation.feed {
            Some(_) => self.feed_stub(*procedure, procedures),
            None => self.call_stub(*procedure),
        });
        let allow =
            has_length(&names.functions).then(|| quote!(#[allow(clippy::len_without_is_empty)]));
        quote! {
            #doc
            #[derive(Clone, Debug)]
            pub struct #client { client: ::nearcall::raw::Client }
            #allow
            impl #client {
                /// Binds to the domain that exports `name`.
                pub fn import(
                    domain: &::nearcall::Domain,
                    name: &str,
                ) -> ::core::result::Result<Self, ::nearcall::BindError> {
                    ::nearcall::Binding::import(domain, name, &#descriptor).map(Self::new)
                }
                /// The same, as the options say: where, for how long, and how calls wait.
                pub fn import_with(
                    domain: &::nearcall::Domain,
                    name: &str,
                    options: ::nearcall::ImportOptions,
                ) -> ::core::result::Result<Self, ::nearcall::BindError> {
                    ::nearcall::Binding::import_with(domain, name, &#descriptor, options)
                        .map(Self::new)
                }
                /// Calls through a binding. Panics if it is a binding of another interface.
                pub fn new(binding: ::nearcall::Binding) -> Self {
                    Self { client: ::nearcall::raw::Client::new(binding, &#descriptor) }
                }
                /// The binding.
                pub fn binding(&self) -> &::nearcall::Binding { self.client.binding() }
                /// The same, but every call waits at most this long; with 0 none is posted.
                pub fn with_deadline(&self, deadline: ::core::time::Duration) -> Self {
                    Self { client: self.client.with_deadline(deadline) }
                }
                /// The operations, each posted now and collected later: several calls at once.
                pub fn posting(&self) -> #posting<'_> { #posting { client: &self.client } }
                /// The operations, each awaited, on any executor.
                pub fn awaiting(&self) -> #awaiting<'_> { #awaiting { client: &self.client } }
                #(#functions)*
            }
        }
    }

    fn call_stub(&self, procedure: Procedure<'_>) -> TokenStream {
        let Procedure { interface, operation, plan } = procedure;
        let scope = self.names.scope_of(interface);
        let doc = doc(&operation.doc, &undocumented::called(operation));
        let function = &self.names.interface(interface).functions[plan.index as usize];
        let lent = quote!(impl ::core::convert::Into<::nearcall::OpaqueIn<'d>>);
        let (name, parameters) = (ident(function), self.client_parameters(scope, procedure, &lent));
        let results = self.result_type(scope, operation, &plan.results);
        let error = self.error_type(scope, operation);
        let is_lent = plan.arguments.iter().any(|argument| argument.passing == Passing::Lent);
        let lifetime = is_lent.then(|| quote!(<'d>));
        let signature = quote! {
            fn #name #lifetime(
                &self, #(#parameters),*
            ) -> ::core::result::Result<#results, #error>
        };
        let allow = self.function_lints(operation, function, &signature).attribute();
        let body = self.call_body(scope, procedure);
        quote!(#doc #allow pub #signature { #body })
    }

    /// What a call returns without results.
    pub fn error_type(&self, scope: usize, operation: &Operation) -> TokenStream {
        if operation.raises.is_empty() {
            return quote!(::nearcall::CallError);
        }
        let exceptions = self.exceptions_path(scope, operation);
        quote!(::nearcall::Error<#exceptions>)
    }

    pub fn call_body(&self, scope: usize, procedure: Procedure<'_>) -> TokenStream {
        let Procedure { operation, plan, .. } = procedure;
        let mut printer = Printer::new(self, scope, operation, plan, Side::Client);
        if let Some(reply_bytes) = plan.words_alone() {
            let body = self.brief_body(&mut printer, scope, procedure, reply_bytes);
            return match plan.is_retried {
                true => self.retried(&mut printer, scope, procedure, &body),
                false => body,
            };
        }
        let is_written = plan.client.request.iter().any(Step::is_write);
        let mut body = opaque_arguments(&mut printer, plan);
        for step in &plan.client.request {
            body.extend(match step {
                Step::Claim { class } => claim(&mut printer, (*class, plan.index), is_written),
                Step::Post { fixed_bytes } => {
                    let (call, reply) = (printer.fixed("call"), printer.fixed("reply"));
                    let fixed_bytes = number(*fixed_bytes);
                    quote!(let #reply = #call.post(#fixed_bytes)?;)
                }
                Step::PostOneway { fixed_bytes } => {
                    let (call, fixed_bytes) = (printer.fixed("call"), number(*fixed_bytes));
                    quote!(#call.post_oneway(#fixed_bytes)?;)
                }
                Step::NothingRaised => nothing_raised(&mut printer),
                Step::Return { results } => returned(&mut printer, results),
                Step::Dispatch { .. } => continue,
                step => printer.write(step),
            });
        }
        let read = self.read_reply(&mut printer, scope, procedure);
        match plan.is_retried {
            true => self.retried(&mut printer, scope, procedure, &quote!(#body #read)),
            false => quote!(#body #read),
        }
    }

    /// A call of words and blocks alone, which the runtime makes in line (design note 0026).
    fn brief_body(
        &self,
        printer: &mut Printer<'_, '_>,
        scope: usize,
        procedure: Procedure<'_>,
        reply_bytes: u32,
    ) -> TokenStream {
        let plan = procedure.plan;
        let (mut body, mut judged, mut request_bytes) = (TokenStream::new(), TokenStream::new(), 0);
        for step in &plan.client.request {
            match step {
                Step::Claim { class } => body.extend(claim_brief(printer, (*class, plan.index))),
                Step::Post { fixed_bytes } => request_bytes = *fixed_bytes,
                Step::NothingRaised => judged = nothing_raised(printer),
                Step::Dispatch { .. } => {}
                step => body.extend(printer.write(step)),
            }
        }
        let read = self.read_reply(printer, scope, procedure);
        let (call, reply) = (printer.fixed("call"), printer.fixed("reply"));
        let (request_bytes, reply_bytes) = (number(request_bytes), number(reply_bytes));
        quote! {
            #body
            #call.post::<#request_bytes, #reply_bytes, _, _>(|#reply| { #judged #read })
        }
    }

    /// A body that is run again over another binding if need be.
    fn retried(
        &self,
        printer: &mut Printer<'_, '_>,
        scope: usize,
        procedure: Procedure<'_>,
        body: &TokenStream,
    ) -> TokenStream {
        let Procedure { operation, plan, .. } = procedure;
        let results = self.result_type(scope, operation, &plan.results);
        let (client, error) = (printer.client(), self.error_type(scope, operation));
        let lent = lent_arguments(printer, plan).into_iter();
        let lent = lent.map(|name| quote!(let #name: ::nearcall::OpaqueIn<'d> = #name.into();));
        quote! {
            #(#lent)*
            self.client.twice_if_need_be(
                |#client: &::nearcall::raw::Client| -> ::core::result::Result<#results, #error> {
                    #body
                },
            )
        }
    }

    /// Reads the results, or the exception that was raised.
    pub fn read_reply(
        &self,
        printer: &mut Printer<'_, '_>,
        scope: usize,
        procedure: Procedure<'_>,
    ) -> TokenStream {
        let Procedure { operation, plan, .. } = procedure;
        let reply = self.reply_steps(printer, &plan.client.reply);
        if plan.client.raised.is_empty() {
            return reply;
        }
        let raised = plan.client.raised.iter().zip(&operation.raises).zip(1u32..);
        let arms = raised.map(|((steps, id), number)| {
            printer.enter_exception(*id);
            let steps = self.raised_steps(printer, scope, procedure, steps);
            let number = Literal::number(number);
            quote!(#number => { #steps })
        });
        let arms: Vec<TokenStream> = arms.collect();
        let source = printer.fixed("reply");
        quote! {
            match #source.raised() {
                0 => { #reply }
                #(#arms)*
                _ => ::core::result::Result::Err(#source.unknown_exception().into()),
            }
        }
    }

    fn reply_steps(&self, printer: &mut Printer<'_, '_>, steps: &[Step]) -> TokenStream {
        let mut body = TokenStream::new();
        for step in steps {
            body.extend(match step {
                step if is_stored_as_it_is(printer, step, steps) => continue,
                Step::Store { root } => store(printer, *root, steps),
                Step::Return { results } => returned(printer, results),
                step => printer.read(step),
            });
        }
        body
    }

    fn raised_steps(
        &self,
        printer: &mut Printer<'_, '_>,
        scope: usize,
        procedure: Procedure<'_>,
        steps: &[Step],
    ) -> TokenStream {
        let mut body = TokenStream::new();
        for step in steps {
            body.extend(match step {
                Step::ReturnRaised { number } => {
                    let index = *number as usize - 1;
                    let id = procedure.operation.raises[index];
                    let path = self.names.path(scope, id);
                    let all = self.exceptions_path(scope, procedure.operation);
                    let variant = &self.exception_variants(procedure.operation)[index];
                    let fields = self.field_names(id);
                    let locals = (0..fields.len() as u32)
                        .map(|index| printer.local(&Place::whole(Root::Member(index)), ""));
                    let locals: Vec<TokenStream> = locals.map(|local| quote!(#local)).collect();
                    let value = literal(&path, &fields, &locals);
                    quote! {
                        ::core::result::Result::Err(
                            ::nearcall::Error::Exception(#all::#variant(#value)),
                        )
                    }
                }
                step => printer.read(step),
            });
        }
        body
    }
}

/// What `@opaque` in arguments are given as, as what is put.
pub fn opaque_arguments(printer: &mut Printer<'_, '_>, plan: &ProcedurePlan) -> TokenStream {
    let client = printer.client();
    let lent = lent_arguments(printer, plan).into_iter();
    lent.map(|name| quote!(let #name = #client.opaque(#name)?;)).collect()
}

/// Names of the `@opaque` in arguments.
fn lent_arguments(printer: &Printer<'_, '_>, plan: &ProcedurePlan) -> Vec<Ident> {
    let lent = plan.arguments.iter().filter(|argument| argument.passing == Passing::Lent);
    lent.map(|argument| ident(&printer.parameters[argument.parameter as usize])).collect()
}

/// Claims an A-stack.
pub fn claim(
    printer: &mut Printer<'_, '_>,
    (class, procedure): (u8, u32),
    is_written: bool,
) -> TokenStream {
    let (call, class) = (printer.fixed("call"), number(class.into()));
    let procedure = number(procedure);
    let changed = is_written.then(|| quote!(mut));
    let client = printer.client();
    quote!(let #changed #call = #client.claim::<#class>(#procedure)?;)
}

/// Claims an A-stack for a call of words and blocks alone.
pub fn claim_brief(printer: &mut Printer<'_, '_>, (class, procedure): (u8, u32)) -> TokenStream {
    let (call, client) = (printer.fixed("call"), printer.client());
    let (class, procedure) = (number(class.into()), number(procedure));
    quote!(let #call = #client.claim_brief::<#class>(#procedure)?;)
}

/// Refuses a reply that raises.
pub fn nothing_raised(printer: &mut Printer<'_, '_>) -> TokenStream {
    let reply = printer.fixed("reply");
    quote! {
        if #reply.raised() != 0 {
            return ::core::result::Result::Err(#reply.unknown_exception());
        }
    }
}

/// The place of what is copied as it lies in memory, and where it lies in the reply.
fn block<'s>(printer: &Printer<'_, '_>, step: &'s Step) -> Option<(&'s Place, u32)> {
    match step {
        Step::GetBlock { place, at, .. } => Some((place, *at)),
        Step::GetImage { place, at, .. } if printer.is_plain(place) => Some((place, *at)),
        _ => None,
    }
}

/// Is what this step copies out of the reply the caller's, whatever it is?
fn is_stored_as_it_is(printer: &Printer<'_, '_>, step: &Step, steps: &[Step]) -> bool {
    let Some((place, _)) = block(printer, step) else { return false };
    let is_judged =
        |step: &Step| matches!(step, Step::CheckInside { place: one, .. } if one == place);
    let is_stored = |step: &Step| matches!(step, Step::Store { root } if *root == place.root);
    place.path.is_empty() && steps.iter().any(is_stored) && !steps.iter().any(is_judged)
}

/// Gives a result to the caller, all results having been judged: from its local, or by its one
/// copy if there was nothing to judge.
fn store(printer: &mut Printer<'_, '_>, root: Root, steps: &[Step]) -> TokenStream {
    let Root::Parameter(index) = root else {
        return TokenStream::new();
    };
    let (place, parameter) = (Place::whole(root), ident(&printer.parameters[index as usize]));
    let copied = steps.iter().filter(|step| is_stored_as_it_is(printer, step, steps));
    let mut copied = copied.filter_map(|step| block(printer, step));
    match copied.find(|(one, _)| **one == place) {
        Some((_, at)) => printer.store_block(&place, at, &parameter),
        None => {
            let local = printer.local(&place, "");
            quote!(*#parameter = #local;)
        }
    }
}

fn returned(printer: &mut Printer<'_, '_>, results: &[Root]) -> TokenStream {
    let locals: Vec<_> =
        results.iter().map(|root| printer.local(&Place::whole(*root), "")).collect();
    match locals.as_slice() {
        [one] => quote!(::core::result::Result::Ok(#one)),
        all => quote!(::core::result::Result::Ok((#(#all),*))),
    }
}

/// Clippy wants an `is_empty` beside every `len`; an interface may do without.
pub fn has_length(functions: &[String]) -> bool {
    functions.iter().any(|name| name == "len")
}
