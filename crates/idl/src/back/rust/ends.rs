//! Feeds whose procedure is given the server's ends (design note 0020): exchanges, and those to one
//! side where procedures are awaited. What carries items is awaited, so that no server processor
//! waits for a client, or for the application.
//!
//! ```text
//!                  the procedure is given    what is awaited
//!   to the client  outlet                    next
//!   from it        inlet, answer             put, end
//!   both ways      inlet, outlet             next, put
//! ```

use crate::back::rust::Rust;
use crate::back::rust::casing::ident;
use crate::back::rust::feeds::FeedOf;
use crate::back::rust::interface::Procedure;
use crate::back::rust::names::NameSet;
use crate::back::rust::server::{Form, Ran, server_name, stub_name};
use crate::back::rust::stub::{Printer, Side, number, parameter_names};
use crate::back::rust::tokens::{TokenStream, quote};
use crate::layout::{Place, Root};
use crate::model::{Direction, FeedPart, Operation};
use crate::plan::Step;

impl Form {
    /// Whether it opens a feed whose ends it is given.
    pub fn gives_ends(&self, operation: &Operation) -> bool {
        self.has_ends(operation, |part| part == FeedPart::Open)
    }

    /// Whether its calls wait for what the application does with such ends. Whoever sends the last
    /// item of an exchange waits for nothing.
    pub fn waits_for_ends(&self, operation: &Operation) -> bool {
        self.has_ends(operation, |part| match part {
            FeedPart::Open => false,
            FeedPart::Next | FeedPart::Put => true,
            FeedPart::End => !is_exchange(operation),
        })
    }

    fn has_ends(&self, operation: &Operation, is_meant: impl Fn(FeedPart) -> bool) -> bool {
        let is_given = self.is_awaited || is_exchange(operation);
        is_given && operation.feed.as_ref().is_some_and(|feed| is_meant(feed.part))
    }
}

fn is_exchange(operation: &Operation) -> bool {
    operation.feed.as_ref().is_some_and(|feed| feed.is_exchange)
}

impl FeedOf<'_> {
    /// What the procedure calls the ends that it is given, in their order.
    pub fn end_names(&self) -> [Option<&'static str>; 2] {
        match (self.next, self.put) {
            (Some(_), Some(_)) => [Some("inlet"), Some("outlet")],
            (Some(_), None) => [Some("outlet"), None],
            _ => [Some("inlet"), Some("answer")],
        }
    }
}

impl Rust<'_> {
    /// The parameters that a procedure has besides, if it is given ends.
    pub fn end_parameters(
        &self,
        scope: usize,
        procedure: Procedure<'_>,
        all: &[Procedure<'_>],
    ) -> Vec<TokenStream> {
        let feed = self.feed_of(scope, procedure, all);
        let mut taken = NameSet::default();
        for name in parameter_names(procedure.operation) {
            taken.take(&name);
        }
        let FeedOf { item, output, raised, sent, .. } = &feed;
        let raised = (!procedure.operation.raises.is_empty()).then(|| quote!(, #raised));
        let taken_item = sent.as_ref().map_or(item, |sent| &sent.item);
        let parameters = feed.end_names().into_iter().flatten().map(|end| {
            let name = ident(&taken.take(end));
            match end {
                "inlet" => quote!(#name: ::nearcall::Inlet<#taken_item>),
                "outlet" => quote!(#name: ::nearcall::Outlet<#item #raised>),
                _ => quote!(#name: ::nearcall::Answer<#output #raised>),
            }
        });
        parameters.collect()
    }

    /// Makes the ends, before the procedure that is given them; and those, as its arguments.
    pub fn ends_made(
        &self,
        printer: &mut Printer<'_, '_>,
        procedure: Procedure<'_>,
        all: &[Procedure<'_>],
    ) -> (TokenStream, Vec<TokenStream>) {
        let feed = self.feed_of(printer.scope, procedure, all);
        let names = feed.end_names().into_iter().flatten();
        let given: Vec<_> = names.map(|name| printer.fixed(name)).collect();
        let FeedOf { kind, next, item, output, raised, sent, bound, .. } = feed;
        let keeping = next.map(|next| self.keeping(printer.scope, next, &item));
        let (kind, bound, ends) = (number(kind), number(bound), printer.fixed("ends"));
        let made = match (sent, next) {
            (Some(sent), _) => {
                let sent = sent.item;
                quote!(exchange::<#sent, #item, #raised>(#kind, #bound, #keeping))
            }
            (None, Some(_)) => quote!(outlet::<#item, #raised>(#kind, #bound, #keeping)),
            (None, None) => quote!(inlet::<#item, #output, #raised>(#kind)),
        };
        let made = quote!(let (#ends, #(#given),*) = ::nearcall::raw::#made;);
        (made, given.into_iter().map(|end| quote!(#end)).collect())
    }

    /// Makes feeds of the ends, once the procedure has returned.
    pub fn ends_numbered(
        &self,
        printer: &mut Printer<'_, '_>,
        procedure: Procedure<'_>,
        feed: &FeedOf<'_>,
    ) -> TokenStream {
        let locals = procedure.plan.results.iter();
        let locals: Vec<_> = locals.map(|root| printer.local(&Place::whole(*root), "")).collect();
        let numbers = match locals.as_slice() {
            [one] => quote!(#one),
            both => quote!((#(#both),*)),
        };
        let open = ident(match feed.end_names() {
            [Some("outlet"), _] => "open_outlet",
            [_, Some("outlet")] => "open_exchange",
            _ => "open_inlet",
        });
        let (arguments, ends) = (printer.fixed("arguments"), printer.fixed("ends"));
        quote!(let #numbers = #arguments.#open(#ends)?;)
    }

    /// What the procedure that says that no more items of an exchange come runs.
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

    /// The entry stub of what carries items, or asks for the answer to them: it is suspended until
    /// there are some, or room, or an answer.
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
        let FeedOf { kind, item, output, raised, sent, .. } = self.feed_of(scope, procedure, all);
        let (kind, outcome_of) = (number(kind), quote!(#outcome?));
        let part = operation.feed.as_ref().map(|feed| feed.part);
        let (carried, ran) = match (part, sent) {
            (Some(FeedPart::Put), Some(sent)) => {
                let sent = sent.item;
                (quote!(put_to_exchange::<#sent>), Ran::Value(outcome_of))
            }
            (Some(FeedPart::Put), None) => {
                (quote!(put_to_inlet::<#item, #output, #raised>), Ran::Carried(outcome_of))
            }
            (Some(FeedPart::End), _) => {
                (quote!(end_of_inlet::<#item, #output, #raised>), Ran::Carried(outcome_of))
            }
            _ => (quote!(next_of_exchange::<#item, #raised>), Ran::Carried(outcome_of)),
        };
        let reply = self.reply(&mut printer, (procedure, all), form, ran);
        quote! {
            fn #name(
                #server: &#held,
                #arguments: ::nearcall::raw::Arguments<'_>,
            ) -> ::nearcall::raw::Outcome {
                #body
                let #awaited = #arguments.#carried(#kind, #(#given),*)?;
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
