//! Exchanges (design note 0020): feeds that go both ways. What opens one gives its server two ends
//! and its client two; what carries items is awaited, so that no server processor waits for a
//! client.

use crate::back::rust::Rust;
use crate::back::rust::casing::ident;
use crate::back::rust::feeds::FeedOf;
use crate::back::rust::interface::Procedure;
use crate::back::rust::names::NameSet;
use crate::back::rust::server::{Form, Ran, server_name, stub_name};
use crate::back::rust::stub::{Printer, Side, number, parameter_names};
use crate::back::rust::tokens::{TokenStream, quote};
use crate::layout::{Place, Root};
use crate::model::{Direction, FeedPart};
use crate::plan::Step;

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
            let (feed, sink) = open()?;
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

    /// The parameters that a server's procedure has besides, if it opens one.
    pub fn exchange_parameters(
        &self,
        scope: usize,
        procedure: Procedure<'_>,
        all: &[Procedure<'_>],
    ) -> Vec<TokenStream> {
        if !procedure.operation.opens_exchange() {
            return Vec::new();
        }
        let FeedOf { item, raised, sent, .. } = self.feed_of(scope, procedure, all);
        let sent = sent.map(|sent| sent.item);
        let mut taken = NameSet::default();
        for name in parameter_names(procedure.operation) {
            taken.take(&name);
        }
        let [inlet, outlet] = ["inlet", "outlet"].map(|name| ident(&taken.take(name)));
        let outlet = match procedure.operation.raises.is_empty() {
            true => quote!(#outlet: ::nearcall::Outlet<#item>),
            false => quote!(#outlet: ::nearcall::Outlet<#item, #raised>),
        };
        vec![quote!(#inlet: ::nearcall::Inlet<#sent>), outlet]
    }

    /// Makes the ends of one, before the procedure that is given two of them.
    pub fn exchange_ends(
        &self,
        printer: &mut Printer<'_, '_>,
        procedure: Procedure<'_>,
        all: &[Procedure<'_>],
    ) -> Option<TokenStream> {
        if !procedure.operation.opens_exchange() {
            return None;
        }
        let FeedOf { kind, next, item, raised, sent, bound, .. } =
            self.feed_of(printer.scope, procedure, all);
        let keeping = next.map(|next| self.keeping(printer.scope, next, &item));
        let (sent, kind, bound) = (sent.map(|sent| sent.item), number(kind), number(bound));
        let [ends, inlet, outlet] = ["ends", "inlet", "outlet"].map(|name| printer.fixed(name));
        Some(quote! {
            let (#ends, #inlet, #outlet) =
                ::nearcall::raw::exchange::<#sent, #item, #raised>(#kind, #bound, #keeping);
        })
    }

    /// Makes two feeds of the ends, once the procedure has returned.
    pub fn exchange_numbered(
        &self,
        printer: &mut Printer<'_, '_>,
        procedure: Procedure<'_>,
    ) -> TokenStream {
        let locals = procedure.plan.results.iter();
        let locals: Vec<_> = locals.map(|root| printer.local(&Place::whole(*root), "")).collect();
        let (arguments, ends) = (printer.fixed("arguments"), printer.fixed("ends"));
        quote!(let (#(#locals),*) = #arguments.open_exchange(#ends)?;)
    }

    /// What the procedure that says that there are no more items runs.
    pub fn exchange_ended(
        &self,
        printer: &mut Printer<'_, '_>,
        procedure: Procedure<'_>,
        all: &[Procedure<'_>],
    ) -> Option<TokenStream> {
        let feed = procedure.operation.feed.as_ref()?;
        if !(feed.is_exchange && feed.part == FeedPart::End) {
            return None;
        }
        let FeedOf { kind, sent, .. } = self.feed_of(printer.scope, procedure, all);
        let (sent, kind) = (sent.map(|sent| sent.item), number(kind));
        let arguments = printer.fixed("arguments");
        let number_of = printer.local(&Place::whole(Root::Parameter(0)), "");
        Some(quote!(#arguments.end_of_exchange::<#sent>(#kind, #number_of)?))
    }

    /// The entry stub of what carries items: it is suspended until there are some, or room.
    pub fn waiting_stub(
        &self,
        procedure: Procedure<'_>,
        all: &[Procedure<'_>],
        form: &Form,
    ) -> TokenStream {
        let Procedure { interface, operation, plan } = procedure;
        let scope = self.names.scope_of(interface);
        let name = stub_name(&self.names.interface(interface).functions[plan.index as usize]);
        let held = &form.held;
        let mut printer = Printer::new(self, scope, operation, plan, Side::Server);
        let [server, arguments] =
            [server_name(operation), "arguments"].map(|one| printer.fixed(one));
        let mut body = TokenStream::new();
        for step in plan.server.request.iter().filter(|step| !matches!(step, Step::Run)) {
            body.extend(printer.read(step));
        }
        let given = (0u32..).zip(&operation.parameters);
        let given = given.filter(|(_, one)| one.direction == Direction::In);
        let given: Vec<_> = given
            .map(|(index, _)| printer.local(&Place::whole(Root::Parameter(index)), ""))
            .collect();
        let [awaited, outcome, finish] =
            ["awaited", "outcome", "finish"].map(|one| printer.fixed(one));
        let FeedOf { kind, item, raised, sent, .. } = self.feed_of(scope, procedure, all);
        let kind = number(kind);
        let part = operation.feed.as_ref().map(|feed| feed.part);
        let (carried, ran) = match sent {
            Some(sent) if part == Some(FeedPart::Put) => {
                let item = sent.item;
                let carried = quote!(put_to_exchange::<#item>(#kind, #(#given),*));
                (carried, Ran::Value(quote!(#outcome?)))
            }
            _ => (
                quote!(next_of_exchange::<#item, #raised>(#kind, #(#given),*)),
                Ran::Carried(quote!(#outcome?)),
            ),
        };
        let reply = self.reply(&mut printer, procedure, all, ran);
        quote! {
            fn #name(
                #server: &#held,
                #arguments: ::nearcall::raw::Arguments<'_>,
            ) -> ::nearcall::raw::Outcome {
                #body
                let #awaited = #arguments.#carried?;
                #arguments.run_awaited(async move {
                    let #outcome = #awaited.await;
                    let #finish: ::nearcall::raw::Finish = ::std::boxed::Box::new(
                        move |#arguments: ::nearcall::raw::Arguments<'_>| { #reply },
                    );
                    #finish
                })
            }
        }
    }
}
