//! Exchanges (design note 0020): feeds that go both ways. What opens one gives its client two ends;
//! those of its server are in [`ends`](super::ends).

use crate::back::rust::Rust;
use crate::back::rust::casing::ident;
use crate::back::rust::feeds::FeedOf;
use crate::back::rust::interface::Procedure;
use crate::back::rust::tokens::{TokenStream, quote};

/// Part of the entry stubs of an interface with an exchange.
pub fn exchange_is_awaited() -> TokenStream {
    quote!(
        fn is_awaited(&self) -> bool {
            true
        }
    )
}

impl Rust<'_> {
    /// Whether an interface has one.
    pub fn has_exchange(&self, procedures: &[Procedure<'_>]) -> bool {
        procedures.iter().any(|procedure| procedure.operation.opens_exchange())
    }

    /// What the client's function that opens one returns, and makes of its numbers.
    pub fn exchange_opened(
        &self,
        procedure: Procedure<'_>,
        feed: &FeedOf<'_>,
        opened: &TokenStream,
    ) -> (TokenStream, TokenStream) {
        let Procedure { interface, operation, .. } = procedure;
        let scope = self.names.scope_of(interface);
        let error = self.error_type(scope, operation);
        let names = self.names.interface(interface);
        let posting = ident(&names.posting);
        let part = |part: Option<Procedure<'_>>| {
            part.map(|part| ident(&names.functions[part.plan.index as usize]))
        };
        let (next, put, end) = (part(feed.next), part(feed.put), part(feed.end));
        let sent = feed.sent.as_ref().expect("an exchange has items that go");
        let sending = self.sending(scope, feed, &sent.item, sent.bound);
        let (came, sent) = (&feed.item, &sent.item);
        let given = feed.put.map(|put| self.given(put));
        let returned = quote! {
            (
                ::nearcall::Unbegun<'_, ::nearcall::Sink<'_, #sent, ()>>,
                ::nearcall::Unbegun<'_, ::nearcall::Feed<'_, #came, #error>>,
            )
        };
        let made = quote! {{
            let (feed, sink) = #opened;
            (
                ::nearcall::Unbegun::new(&self.client, sink, |client, sink| {
                    ::nearcall::Sink::new(
                        client,
                        sink,
                        #sending,
                        |client, feed, number, batch| #posting { client }.#put(
                            feed, number, #given,
                        ),
                        |client, feed| #posting { client }.#end(feed)?.collect(),
                    )
                }),
                ::nearcall::Unbegun::new(&self.client, feed, |client, feed| {
                    ::nearcall::Feed::new(client, feed, |client, feed, number| {
                        #posting { client }.#next(feed, number)
                    })
                }),
            )
        }};
        (returned, made)
    }
}
