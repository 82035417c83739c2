//! Call stubs that open a feed and are awaited (design notes 0020 and 0022): so are its items.

use crate::back::rust::Rust;
use crate::back::rust::casing::ident;
use crate::back::rust::docs::doc;
use crate::back::rust::feeds::FeedOf;
use crate::back::rust::interface::Procedure;
use crate::back::rust::stub::{Printer, Side, number};
use crate::back::rust::tokens::{Ident, TokenStream, quote};
use crate::back::undocumented;

impl Rust<'_> {
    /// The function that opens a feed.
    pub fn awaited_feed_stub(
        &self,
        procedure: Procedure<'_>,
        all: &[Procedure<'_>],
    ) -> TokenStream {
        let Procedure { interface, operation, plan } = procedure;
        let plan = &plan.posted(self.model, operation);
        let procedure = Procedure { plan, ..procedure };
        let scope = self.names.scope_of(interface);
        let feed = self.feed_of(scope, procedure, all);
        let doc = doc(&operation.doc, &undocumented::called(operation));
        let function = &self.names.interface(interface).functions[plan.index as usize];
        let bytes = quote!(&[u8]);
        let (name, parameters) =
            (ident(function), self.client_parameters(scope, procedure, &bytes));
        let error = self.error_type(scope, operation);
        let opened = self.result_type(scope, operation, &plan.results);
        let opened = quote!(::core::result::Result<#opened, #error>);
        let (returned, made) = self.awaited_sides(procedure, &feed, &error);
        let signature = quote! {
            async fn #name(self, #(#parameters),*) -> ::core::result::Result<#returned, #error>
        };
        let allow = self.function_lints(operation, function, &signature).attribute();
        let mut printer = Printer::new(self, scope, operation, plan, Side::Client);
        let body = self.awaiting_body(&mut printer, procedure, &opened);
        quote! {
            #doc
            #allow
            pub #signature {
                let opened: #opened = async { #body }.await;
                ::core::result::Result::Ok(#made)
            }
        }
    }

    /// What that returns, and makes of what was opened.
    fn awaited_sides(
        &self,
        procedure: Procedure<'_>,
        feed: &FeedOf<'_>,
        error: &TokenStream,
    ) -> (TokenStream, TokenStream) {
        let names = self.names.interface(procedure.interface);
        let awaiting = ident(&names.awaiting);
        let part = |part: Option<Procedure<'_>>| {
            part.map(|part| ident(&names.functions[part.plan.index as usize]))
        };
        let (next, put, end) = (part(feed.next), part(feed.put), part(feed.end));
        let came = &feed.item;
        let comes = |index: u32, opened: TokenStream| {
            let (index, called) =
                (number(index), called(&awaiting, &next, quote!(feed, number), None));
            quote! {
                ::nearcall::AwaitedFeed::new(
                    self.client, #opened, #index, |client, feed, number| #called,
                )
            }
        };
        let given = feed.put.map(|put| self.given(put));
        let scope = self.names.scope_of(procedure.interface);
        let sends = |item: &TokenStream, bound: u32, opened: TokenStream| {
            let sending = self.sending(scope, feed, item, bound);
            // Its items were copied: they are not kept for as long as the server is at them.
            let sent = quote!(::core::mem::drop(batch););
            let puts = called(&awaiting, &put, quote!(feed, number, #given), Some(sent));
            let ends = called(&awaiting, &end, quote!(feed), None);
            quote! {
                ::nearcall::AwaitedSink::new(
                    self.client,
                    #opened,
                    #sending,
                    |client, feed, number, batch| #puts,
                    |client, feed| #ends,
                )
            }
        };
        match (&feed.sent, feed.next) {
            (Some(sent), Some(next)) => {
                let feed = comes(next.plan.index, quote!(feed));
                let (sent, sink) = (&sent.item, sends(&sent.item, sent.bound, quote!(sink)));
                let returned = quote! {
                    (
                        ::nearcall::AwaitedSink<#sent, ()>,
                        ::nearcall::AwaitedFeed<#came, #error>,
                    )
                };
                let made = quote! {{
                    let (feed, sink) = opened?;
                    (#sink, #feed)
                }};
                (returned, made)
            }
            (None, Some(next)) => (
                quote!(::nearcall::AwaitedFeed<#came, #error>),
                comes(next.plan.index, quote!(opened?)),
            ),
            (_, None) => {
                let output = &feed.output;
                let returned = quote!(::nearcall::AwaitedSink<#came, #output, #error>);
                (returned, sends(came, feed.bound, quote!(opened?)))
            }
        }
    }
}

/// A call of one of the functions of `awaiting`, which is kept between two polls: so it has a share
/// in the client. What is done between its post and its end is `posted`.
fn called(
    awaiting: &Ident,
    function: &Option<Ident>,
    arguments: TokenStream,
    posted: Option<TokenStream>,
) -> TokenStream {
    quote! {
        ::std::boxed::Box::pin(async move {
            let posted = #awaiting { client: &client }.#function(#arguments).await?;
            #posted
            client.awaited(posted).await
        })
    }
}
