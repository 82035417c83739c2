//! Call stubs that open a feed and are awaited (design notes 0020 and 0022): so are its items.

use crate::back::rust::Rust;
use crate::back::rust::casing::ident;
use crate::back::rust::docs::doc;
use crate::back::rust::feeds::FeedOf;
use crate::back::rust::interface::Procedure;
use crate::back::rust::stub::{Printer, Side};
use crate::back::rust::tokens::{TokenStream, quote};
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
        let asked = quote! {
            |client, feed, number| ::std::boxed::Box::pin(#awaiting { client }.#next(feed, number))
        };
        let given = feed.put.map(|put| self.given(put));
        let scope = self.names.scope_of(procedure.interface);
        let sends = |sink: TokenStream, item: &TokenStream, bound: u32| {
            let sending = self.sending(scope, feed, item, bound);
            quote! {
                ::nearcall::AwaitedSink::new(
                    self.client,
                    #sink,
                    #sending,
                    |client, feed, number, batch| ::std::boxed::Box::pin(async move {
                        #awaiting { client }.#put(feed, number, #given).await
                    }),
                    |client, feed| ::std::boxed::Box::pin(#awaiting { client }.#end(feed)),
                )
            }
        };
        match (&feed.sent, next.is_some()) {
            (Some(sent), _) => {
                let (sent, sink) = (&sent.item, sends(quote!(sink), &sent.item, sent.bound));
                let returned = quote! {
                    (
                        ::nearcall::AwaitedSink<'b, #sent, ()>,
                        ::nearcall::AwaitedFeed<'b, #came, #error>,
                    )
                };
                let made = quote! {{
                    let (feed, sink) = opened?;
                    (#sink, ::nearcall::AwaitedFeed::new(self.client, feed, #asked))
                }};
                (returned, made)
            }
            (None, true) => (
                quote!(::nearcall::AwaitedFeed<'b, #came, #error>),
                quote!(::nearcall::AwaitedFeed::new(self.client, opened?, #asked)),
            ),
            (None, false) => {
                let output = &feed.output;
                let returned = quote!(::nearcall::AwaitedSink<'b, #came, #output, #error>);
                (returned, sends(quote!(opened?), came, feed.bound))
            }
        }
    }
}
