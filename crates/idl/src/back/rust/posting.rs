//! Call stubs that post now and collect later (design note 0007).

use crate::back::rust::Rust;
use crate::back::rust::casing::ident;
use crate::back::rust::client::{claim, claim_brief, has_length, nothing_raised, opaque_arguments};
use crate::back::rust::docs::doc;
use crate::back::rust::interface::Procedure;
use crate::back::rust::stub::{Printer, Side, number};
use crate::back::rust::tokens::{TokenStream, quote};
use crate::back::undocumented;
use crate::model::{DeclarationId, FeedPart, Operation};
use crate::plan::{Passing, Step};

impl Rust<'_> {
    /// The type whose functions post calls of an interface.
    pub fn posting(&self, id: DeclarationId, procedures: &[Procedure<'_>]) -> TokenStream {
        let names = self.names.interface(id);
        let posting = ident(&names.posting);
        let text = format!(
            "Posts calls of `{}`; what each function returns collects the results.",
            self.model.declaration(id).name
        );
        let doc = doc(&None, &text);
        let is_opening = |operation: &Operation| {
            operation.feed.as_ref().is_some_and(|feed| feed.part == FeedPart::Open)
        };
        let two_way = procedures
            .iter()
            .filter(|procedure| !procedure.operation.is_oneway && !is_opening(procedure.operation));
        let functions: Vec<TokenStream> =
            two_way.map(|procedure| self.posting_stub(*procedure)).collect();
        let allow =
            has_length(&names.functions).then(|| quote!(#[allow(clippy::len_without_is_empty)]));
        let functions = (!functions.is_empty()).then(|| {
            quote! {
                #allow
                impl<'b> #posting<'b> { #(#functions)* }
            }
        });
        quote! {
            #doc
            #[derive(Clone, Debug)]
            pub struct #posting<'b> { client: &'b ::nearcall::raw::Client }
            #functions
        }
    }

    fn posting_stub(&self, procedure: Procedure<'_>) -> TokenStream {
        let Procedure { interface, operation, plan } = procedure;
        let plan = &plan.posted(self.model, operation);
        let procedure = Procedure { plan, ..procedure };
        let scope = self.names.scope_of(interface);
        let doc = doc(&operation.doc, &undocumented::called(operation));
        let function = &self.names.interface(interface).functions[plan.index as usize];
        // Copied by the post: what is lent in place would have to stay until the collection.
        let bytes = quote!(&[u8]);
        let (name, parameters) =
            (ident(function), self.client_parameters(scope, procedure, &bytes));
        let results = self.result_type(scope, operation, &plan.results);
        let error = self.error_type(scope, operation);
        let evaluated = match operation.raises.as_slice() {
            [] => results.clone(),
            _ => quote!(#results, #error),
        };
        let pending = match plan.is_retried {
            true => quote!(::nearcall::PendingTwice<'b, #evaluated>),
            false => quote!(::nearcall::Pending<'b, #evaluated>),
        };
        let signature = quote! {
            fn #name(
                &self,
                #(#parameters),*
            ) -> ::core::result::Result<#pending, ::nearcall::CallError>
        };
        let mut printer = Printer::new(self, scope, operation, plan, Side::Client);
        let allow = self.function_lints(operation, function, &signature).attribute();
        let collected = quote!(::core::result::Result<#results, #error>);
        let mut body = self.posting_body(&mut printer, procedure, &collected);
        if plan.is_retried {
            body = posted_twice(&mut printer, &parameters, &evaluated, &body);
        }
        // A feed calls those by itself.
        let public = (!operation.carries_feed()).then(|| quote!(pub));
        quote!(#doc #allow #public #signature { #body })
    }

    fn posting_body(
        &self,
        printer: &mut Printer<'_, '_>,
        procedure: Procedure<'_>,
        collected: &TokenStream,
    ) -> TokenStream {
        let plan = procedure.plan;
        let brief = plan.words_alone();
        let is_written = plan.client.request.iter().any(Step::is_write);
        let mut body = opaque_arguments(printer, plan);
        let (mut judged, mut fixed) = (TokenStream::new(), 0);
        for step in &plan.client.request {
            match step {
                Step::Claim { class } => body.extend(match brief {
                    Some(_) => claim_brief(printer, (*class, plan.index)),
                    None => claim(printer, (*class, plan.index), is_written),
                }),
                Step::Post { fixed_bytes } => fixed = *fixed_bytes,
                Step::NothingRaised => judged = nothing_raised(printer),
                Step::Dispatch { .. } => {}
                step => body.extend(printer.write(step)),
            }
        }
        let read = self.read_reply(printer, printer.scope, procedure);
        let (call, reply) = (printer.fixed("call"), printer.fixed("reply"));
        let fixed = number(fixed);
        if let Some(bytes) = brief.map(number) {
            return quote! {
                #body
                ::core::result::Result::Ok(#call.post_pending::<#fixed, #bytes, _, _, _>(
                    |#reply| -> #collected { #judged #read },
                )?)
            };
        }
        let collect = printer.fixed("collect");
        quote! {
            #body
            let #collect = |#reply: ::nearcall::raw::Reply<'_>| -> #collected { #judged #read };
            ::core::result::Result::Ok(#call.post_pending(#fixed, #collect)?)
        }
    }
}

/// A body that posts, as a function of its own, which posts the second try, too: with copies of the
/// arguments.
fn posted_twice(
    printer: &mut Printer<'_, '_>,
    parameters: &[TokenStream],
    evaluated: &TokenStream,
    body: &TokenStream,
) -> TokenStream {
    let (client, post) = (printer.client(), printer.fixed("post"));
    let (mut copies, mut given, mut borrows) = (TokenStream::new(), Vec::new(), false);
    for argument in &printer.plan.arguments {
        let name = ident(&printer.parameters[argument.parameter as usize]);
        match argument.passing {
            Passing::Value => given.push(quote!(#name)),
            _ => {
                copies.extend(quote!(let #name = #name.to_owned();));
                given.push(quote!(&#name));
                borrows = true;
            }
        }
    }
    let lifetime = if borrows { quote!('c) } else { quote!('_) };
    let generic = borrows.then(|| quote!(<'c>));
    let reference = if borrows { quote!(&'c) } else { quote!(&) };
    let pending = quote!(::nearcall::Pending<#lifetime, #evaluated>);
    let posts = match given.is_empty() {
        true => quote!(#post),
        false => quote!(move |#client| #post(#client, #(#given),*)),
    };
    quote! {
        fn #post #generic(
            #client: #reference ::nearcall::raw::Client,
            #(#parameters),*
        ) -> ::core::result::Result<#pending, ::nearcall::CallError> {
            #body
        }
        #copies
        ::nearcall::PendingTwice::post(self.client, #posts)
    }
}
