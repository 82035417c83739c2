//! Feeds (design note 0020): what opens one, for its client and for its server, and what the
//! procedures that carry it do instead of running one of the server's.

use crate::back::rust::Rust;
use crate::back::rust::casing::ident;
use crate::back::rust::docs::doc;
use crate::back::rust::interface::Procedure;
use crate::back::rust::server::Form;
use crate::back::rust::stub::{Printer, number};
use crate::back::rust::tokens::{TokenStream, quote};
use crate::back::undocumented;
use crate::layout::{Place, Root};
use crate::model::{Direction, FeedPart};
use crate::plan::{FeedWay, Passing};

/// The procedures of one feed, and the types that they have to agree on.
pub struct FeedOf<'p> {
    /// Which exchange of its interface it is: what opens it.
    pub kind: u32,
    pub next: Option<Procedure<'p>>,
    pub put: Option<Procedure<'p>>,
    pub end: Option<Procedure<'p>>,
    pub item: TokenStream,
    /// Most items of a batch.
    pub bound: u32,
    pub output: TokenStream,
    /// What the procedures of the server raise.
    pub raised: TokenStream,
    /// Of an exchange: what goes to the server.
    pub sent: Option<SentItems>,
}

/// The items of an exchange that go to the server.
pub struct SentItems {
    pub item: TokenStream,
    pub bound: u32,
}

impl Rust<'_> {
    /// The batches of a feed that go to the server, and what becomes of an item, for the runtime.
    pub fn sending(
        &self,
        scope: usize,
        feed: &FeedOf<'_>,
        item: &TokenStream,
        count: u32,
    ) -> Option<TokenStream> {
        feed.put.map(|put| self.batches(scope, put, item, count))
    }

    pub fn feed_of<'p>(
        &self,
        scope: usize,
        procedure: Procedure<'p>,
        all: &[Procedure<'p>],
    ) -> FeedOf<'p> {
        let operation = procedure.operation;
        let feeds = &self.interface_plan(procedure.interface).feeds;
        let feed = feeds.iter().find(|feed| feed.has(procedure.plan.index));
        let feed = feed.expect("the plan has every feed");
        let at = |index: u32| Some(all[index as usize]);
        let (next, put, end) = match feed.way {
            FeedWay::Back { next } => (at(next), None, None),
            FeedWay::There { put, end } => (None, at(put), at(end)),
            FeedWay::Both { next, put, end } => (at(next), at(put), at(end)),
        };
        let returned = end.and_then(|end| end.operation.returns.as_ref());
        let sent = feed
            .sent
            .as_ref()
            .map(|sent| SentItems { item: self.owned(scope, &sent.item), bound: sent.batch_count });
        FeedOf {
            kind: feed.open,
            next,
            put,
            end,
            item: self.owned(scope, &feed.item),
            bound: feed.batch_count,
            output: returned.map_or_else(|| quote!(()), |declared| self.owned(scope, declared)),
            raised: match operation.raises.as_slice() {
                [] => quote!(::core::convert::Infallible),
                _ => self.exceptions_path(scope, operation),
            },
            sent,
        }
    }

    /// The client's function that opens a feed.
    pub fn feed_stub(&self, procedure: Procedure<'_>, all: &[Procedure<'_>]) -> TokenStream {
        let Procedure { interface, operation, plan } = procedure;
        let scope = self.names.scope_of(interface);
        let names = self.names.interface(interface);
        let feed = self.feed_of(scope, procedure, all);
        let doc = doc(&operation.doc, &undocumented::called(operation));
        let function = &names.functions[plan.index as usize];
        let lent = quote!(impl ::core::convert::Into<::nearcall::OpaqueIn<'d>>);
        let (name, parameters) = (ident(function), self.client_parameters(scope, procedure, &lent));
        let is_lent = plan.arguments.iter().any(|argument| argument.passing == Passing::Lent);
        let lifetime = is_lent.then(|| quote!(<'d>));
        let (item, output) = (&feed.item, &feed.output);
        let error = self.error_type(scope, operation);
        let posting = ident(&names.posting);
        let part = |part: Option<Procedure<'_>>| {
            part.map(|part| ident(&names.functions[part.plan.index as usize]))
        };
        let (next, put, end) = (part(feed.next), part(feed.put), part(feed.end));
        let given = feed.put.map(|put| self.given(put));
        let sending = self.sending(scope, &feed, item, feed.bound);
        let index = number(plan.index);
        let opened = quote!(self.client.opening(#index, open)?);
        let (returned, made) = match next {
            Some(_) if feed.sent.is_some() => self.exchange_opened(procedure, &feed, &opened),
            Some(next) => (
                quote!(::nearcall::Feed<'_, #item, #error>),
                quote! {
                    ::nearcall::Feed::new(&self.client, #opened, |client, feed, number| {
                        #posting { client }.#next(feed, number)
                    })
                },
            ),
            None => (
                quote!(::nearcall::Sink<'_, #item, #output, #error>),
                quote! {
                    ::nearcall::Sink::new(
                        &self.client,
                        #opened,
                        #sending,
                        |client, feed, number, batch| #posting { client }.#put(
                            feed, number, #given,
                        ),
                        |client, feed| #posting { client }.#end(feed)?.collect(),
                    )
                },
            ),
        };
        let signature = quote! {
            fn #name #lifetime(
                &self, #(#parameters),*
            ) -> ::core::result::Result<#returned, #error>
        };
        let allow = self.function_lints(operation, function, &signature).attribute();
        let body = self.call_body(scope, procedure);
        let numbers = self.result_type(scope, operation, &plan.results);
        quote! {
            #doc
            #allow
            pub #signature {
                let open = || -> ::core::result::Result<#numbers, #error> { #body };
                ::core::result::Result::Ok(#made)
            }
        }
    }

    /// What a procedure that opens a feed, and is given no ends of it, evaluates to.
    pub fn feed_type(
        &self,
        scope: usize,
        procedure: Procedure<'_>,
        all: &[Procedure<'_>],
    ) -> TokenStream {
        let FeedOf { next, item, output, raised, .. } = self.feed_of(scope, procedure, all);
        let is_raising = !procedure.operation.raises.is_empty();
        match (next, is_raising) {
            (Some(_), true) => quote!(::nearcall::Items<::core::result::Result<#item, #raised>>),
            (Some(_), false) => quote!(::nearcall::Items<#item>),
            (None, _) => quote!(::nearcall::Taker<#item, #output, #raised>),
        }
    }

    /// Makes a feed of what the procedure returned, or of the ends that it was given others of.
    pub fn opened(
        &self,
        printer: &mut Printer<'_, '_>,
        procedure: Procedure<'_>,
        all: &[Procedure<'_>],
        form: &Form,
    ) -> Option<TokenStream> {
        let is_opening = procedure.operation.feed.as_ref()?.part == FeedPart::Open;
        let feed = self.feed_of(printer.scope, procedure, all);
        if form.gives_ends(procedure.operation) {
            return Some(self.ends_numbered(printer, procedure, &feed));
        }
        let arguments = printer.fixed("arguments");
        let returned = printer.local(&Place::whole(Root::Returned), "");
        let raised = feed.raised;
        let opened = match feed.next {
            Some(_) if procedure.operation.raises.is_empty() => quote! {
                open_source(::std::boxed::Box::new(
                    #returned.map(::core::result::Result::<_, #raised>::Ok),
                ))
            },
            Some(_) => quote!(open_source(#returned)),
            None => quote!(open_taker(#returned)),
        };
        is_opening.then(|| quote!(let #returned = #arguments.#opened?;))
    }

    /// What a procedure that carries a feed runs.
    pub fn carried(
        &self,
        printer: &mut Printer<'_, '_>,
        procedure: Procedure<'_>,
        all: &[Procedure<'_>],
    ) -> Option<TokenStream> {
        let part = procedure.operation.feed.as_ref()?.part;
        let feed = self.feed_of(printer.scope, procedure, all);
        let FeedOf { item, bound, output, raised, .. } = feed;
        let arguments = printer.fixed("arguments");
        let parameters = procedure.operation.parameters.iter().zip(0u32..);
        let given = parameters.filter(|(one, _)| one.direction == Direction::In);
        let given: Vec<_> = given
            .map(|(_, index)| printer.local(&Place::whole(Root::Parameter(index)), ""))
            .collect();
        Some(match (part, given.as_slice()) {
            (FeedPart::Next, [of_feed, number]) => {
                let batches = self.batches(printer.scope, procedure, &item, bound);
                quote! {
                    #arguments.next_judged::<#item, #raised>(#of_feed, #number, #batches)?
                }
            }
            (FeedPart::Put, [number_of, number, items]) => {
                quote! {
                    #arguments.put_to_feed::<#item, #output, #raised>(#number_of, #number, #items)?
                }
            }
            (FeedPart::End, [feed]) => quote! {
                #arguments.end_of_feed::<#item, #output, #raised>(#feed)?
            },
            _ => return None,
        })
    }
}
