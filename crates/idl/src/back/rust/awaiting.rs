//! Call stubs that are awaited (design note 0022): what they write and read is what the stubs that
//! post now and collect later do.

use crate::back::rust::Rust;
use crate::back::rust::casing::ident;
use crate::back::rust::client::{has_length, nothing_raised, opaque_arguments};
use crate::back::rust::docs::doc;
use crate::back::rust::interface::Procedure;
use crate::back::rust::stub::{Printer, Side, number};
use crate::back::rust::tokens::{Ident, TokenStream, quote};
use crate::back::undocumented;
use crate::model::{DeclarationId, FeedPart, Operation};
use crate::plan::Step;

impl Rust<'_> {
    /// The type whose functions call an interface and are awaited.
    pub fn awaiting(&self, id: DeclarationId, procedures: &[Procedure<'_>]) -> TokenStream {
        let names = self.names.interface(id);
        let awaiting = ident(&names.awaiting);
        let text = format!(
            "Calls `{}` from tasks of any executor: each function is awaited.",
            self.model.declaration(id).name
        );
        let doc = doc(&None, &text);
        let is_opening = |operation: &Operation| {
            operation.feed.as_ref().is_some_and(|feed| feed.part == FeedPart::Open)
        };
        let functions = procedures.iter().map(|procedure| match is_opening(procedure.operation) {
            true => self.awaited_feed_stub(*procedure, procedures),
            false => self.awaiting_stub(*procedure),
        });
        let functions: Vec<TokenStream> = functions.collect();
        let allow =
            has_length(&names.functions).then(|| quote!(#[allow(clippy::len_without_is_empty)]));
        let functions = (!functions.is_empty()).then(|| {
            quote! {
                #allow
                impl<'b> #awaiting<'b> { #(#functions)* }
            }
        });
        quote! {
            #doc
            #[derive(Clone, Copy, Debug)]
            pub struct #awaiting<'b> { client: &'b ::nearcall::raw::Client }
            #functions
        }
    }

    fn awaiting_stub(&self, procedure: Procedure<'_>) -> TokenStream {
        let Procedure { interface, operation, plan } = procedure;
        let plan = &plan.awaited(self.model, operation);
        let procedure = Procedure { plan, ..procedure };
        let scope = self.names.scope_of(interface);
        let doc = doc(&operation.doc, &undocumented::called(operation));
        let function = &self.names.interface(interface).functions[plan.index as usize];
        // Copied by the post: a future may be dropped while the server reads.
        let bytes = quote!(&[u8]);
        let (name, parameters) =
            (ident(function), self.client_parameters(scope, procedure, &bytes));
        let results = self.result_type(scope, operation, &plan.results);
        let error = self.error_type(scope, operation);
        let result = quote!(::core::result::Result<#results, #error>);
        // A feed awaits what it has posted when it comes to it.
        let awaiting = quote!(::nearcall::raw::Awaiting<'b, #results, #error>);
        let returned = match operation.carries_feed() {
            true => quote!(::core::result::Result<#awaiting, #error>),
            false => result.clone(),
        };
        let signature = quote!(async fn #name(self, #(#parameters),*) -> #returned);
        // By value, so that a future borrows nothing but the client.
        let is_of_value = function.starts_with("as_") || function.starts_with("is_");
        let allow = self
            .function_lints(operation, function, &signature)
            .allow(is_of_value, quote!(clippy::wrong_self_convention))
            .attribute();
        let mut printer = Printer::new(self, scope, operation, plan, Side::Client);
        let mut body = self.awaiting_body(&mut printer, procedure, &result);
        if plan.is_retried {
            body = awaited_twice(&mut printer, &parameters, &result, &body);
        }
        let public = (!operation.carries_feed()).then(|| quote!(pub));
        quote!(#doc #allow #public #signature { #body })
    }

    /// Writes, posts and awaits a call.
    pub fn awaiting_body(
        &self,
        printer: &mut Printer<'_, '_>,
        procedure: Procedure<'_>,
        result: &TokenStream,
    ) -> TokenStream {
        let Procedure { operation, plan, .. } = procedure;
        let client = printer.client();
        let (brief, mut of_class) = (plan.words_alone(), 0);
        let is_written = plan.client.request.iter().any(Step::is_write);
        let mut body = opaque_arguments(printer, plan);
        let (mut judged, mut fixed) = (TokenStream::new(), TokenStream::new());
        let call = printer.fixed("call");
        for step in &plan.client.request {
            match step {
                Step::Claim { class } => {
                    of_class = u32::from(*class);
                    let (class, index) = (number(of_class), number(plan.index));
                    let changed = is_written.then(|| quote!(mut));
                    body.extend(quote! {
                        let #changed #call =
                            #client.claim_awaited::<#class>(#index).await?.call();
                    });
                }
                Step::Post { fixed_bytes } => fixed = number(*fixed_bytes),
                Step::PostOneway { fixed_bytes } => {
                    let fixed = number(*fixed_bytes);
                    body.extend(quote!(#call.post_oneway(#fixed)?;));
                }
                Step::NothingRaised => judged = nothing_raised(printer),
                Step::Dispatch { .. } => {}
                step => body.extend(printer.write(step)),
            }
        }
        if operation.is_oneway {
            return quote!(#body ::core::result::Result::Ok(()));
        }
        let read = self.read_reply(printer, printer.scope, procedure);
        let reply = printer.fixed("reply");
        let awaited = printer.fixed("awaited");
        let collected = quote!(-> #result { #judged #read });
        let post = match brief.map(number) {
            Some(bytes) => {
                let class = number(of_class);
                quote! {
                    #client.post_awaited_brief::<#class, #bytes, _, _, _>(
                        #call, #fixed, |#reply| #collected,
                    )?
                }
            }
            None => {
                let collect = printer.fixed("collect");
                body.extend(
                    quote!(let #collect = |#reply: ::nearcall::raw::Reply<'_>| #collected;),
                );
                quote!(#client.post_awaited(#call, #fixed, #collect)?)
            }
        };
        let (taken, ended) = around(printer, procedure, &awaited);
        // What is filled in stays with the thread that does so, and is gone before the await.
        quote! {
            #taken
            let #awaited = {
                #body
                #post
            };
            #ended
        }
    }
}

/// What stands before and behind a call that is awaited as `awaited`: room for what it opens.
fn around(
    printer: &mut Printer<'_, '_>,
    Procedure { operation, plan, .. }: Procedure<'_>,
    awaited: &Ident,
) -> (Option<TokenStream>, TokenStream) {
    match operation.feed.as_ref().map(|feed| feed.part) {
        None => (None, quote!(#awaited.await.map_err(|error| *error))),
        Some(FeedPart::Open) => {
            let (client, room, index) =
                (printer.client(), printer.fixed("room"), number(plan.index));
            let count = number(if operation.opens_exchange() { 2 } else { 1 });
            let taken = quote!(let #room = #client.feed_room(#index, #count)?;);
            let opening = quote!(::nearcall::raw::Opening::new(#client, #room, #awaited).await);
            (Some(taken), opening)
        }
        Some(_) => (None, quote!(::core::result::Result::Ok(#awaited))),
    }
}

/// A body that is awaited, as a function of its own, which makes the second try, too.
fn awaited_twice(
    printer: &mut Printer<'_, '_>,
    parameters: &[TokenStream],
    result: &TokenStream,
    body: &TokenStream,
) -> TokenStream {
    let client = printer.client();
    let [once, tries, ended] = ["once", "tries", "ended"].map(|name| printer.fixed(name));
    let names = printer.plan.arguments.iter();
    let names: Vec<Ident> =
        names.map(|argument| ident(&printer.parameters[argument.parameter as usize])).collect();
    quote! {
        async fn #once(
            #client: &::nearcall::raw::Client,
            #(#parameters),*
        ) -> #result {
            #body
        }
        let mut #tries = ::nearcall::raw::Tries::new(self.client);
        loop {
            let #ended = #once(#tries.client(), #(#names),*).await;
            if let ::core::option::Option::Some(#ended) = #tries.ended(#ended).await {
                return #ended;
            }
        }
    }
}
