//! Items of feeds that go out (design note 0020), a client's and a server's. One that its type, or
//! its place, refuses is refused where it is put, or made. What has to be marshalled is written
//! there, too, so that it is judged once.

use crate::back::rust::Rust;
use crate::back::rust::casing::ident;
use crate::back::rust::interface::Procedure;
use crate::back::rust::limits::Subject;
use crate::back::rust::stub::{Printer, Side, number};
use crate::back::rust::tokens::{Ident, TokenStream, quote};
use crate::layout::{Place, Root};
use crate::model::{FeedPart, Operation};
use crate::plan::{ProcedurePlan, Step, item_checks};

/// What an item is called in messages to people.
const SPOKEN: &str = "item";

/// A batch that goes out, in the stub that it goes through.
struct Outgoing<'p> {
    side: Side,
    root: Root,
    steps: &'p [Step],
}

impl Outgoing<'_> {
    fn of<'p>(operation: &Operation, plan: &'p ProcedurePlan) -> Option<Outgoing<'p>> {
        Some(match operation.feed.as_ref()?.part {
            FeedPart::Put => Outgoing {
                side: Side::Client,
                root: Root::Parameter(operation.parameters.len() as u32 - 1),
                steps: &plan.client.request,
            },
            FeedPart::Next => {
                Outgoing { side: Side::Server, root: Root::Returned, steps: &plan.server.reply }
            }
            FeedPart::Open | FeedPart::End => return None,
        })
    }

    /// Whether its items were written before this stub.
    fn is_written(&self) -> bool {
        let is_marshalled =
            |step: &Step| matches!(step, Step::Marshal { place, .. } if place.root == self.root);
        self.steps.iter().any(is_marshalled)
    }
}

/// The parameter of a call for a batch whose items its client has written already.
pub fn written_batch(operation: &Operation, plan: &ProcedurePlan) -> Option<Root> {
    let batch = Outgoing::of(operation, plan)?;
    (batch.side == Side::Client && batch.is_written()).then_some(batch.root)
}

impl Rust<'_> {
    /// The batches that `carrier` carries, and what becomes of an `item`, for the runtime.
    pub fn batches(
        &self,
        scope: usize,
        carrier: Procedure<'_>,
        item: &TokenStream,
        count: u32,
    ) -> TokenStream {
        let keeping = self.keeping(scope, carrier, item);
        let (procedure, count) = (number(carrier.plan.index), number(count));
        quote! {
            ::nearcall::raw::Batches { procedure: #procedure, count: #count },
            #keeping
        }
    }

    /// What becomes of an `item` of the batches that `carrier` carries, for the runtime.
    pub fn keeping(&self, scope: usize, carrier: Procedure<'_>, item: &TokenStream) -> TokenStream {
        let batch = Outgoing::of(carrier.operation, carrier.plan);
        let batch = batch.expect("what carries items out has a batch");
        let checks = item_checks(batch.steps);
        let (writer, subject) = (ident("writer"), Subject::reference(quote!(item)));
        let limits = self.write_limits(scope, &writer, &subject, SPOKEN, &checks);
        match (batch.is_written(), checks.is_empty()) {
            (false, true) => quote!(::nearcall::raw::Keeping::AsItIs),
            (false, false) => {
                quote!(::nearcall::raw::Keeping::Judged(|item: &#item, writer| { #limits }))
            }
            (true, true) => {
                quote!(::nearcall::raw::Keeping::Written(::nearcall::raw::Marshal::marshal))
            }
            (true, false) => quote! {
                ::nearcall::raw::Keeping::Written(|item: &#item, writer| {
                    #limits
                    ::nearcall::raw::Marshal::marshal(item, writer);
                })
            },
        }
    }

    /// What the stub that a `batch` goes through is given of it.
    pub fn given(&self, carrier: Procedure<'_>) -> TokenStream {
        match Outgoing::of(carrier.operation, carrier.plan).is_some_and(|batch| batch.is_written())
        {
            true => quote!(batch.written()),
            false => quote!(batch.items()),
        }
    }
}

impl Printer<'_, '_> {
    /// The batch that goes out through this stub.
    fn outgoing(&self) -> Option<Outgoing<'_>> {
        Outgoing::of(self.operation, self.plan).filter(|batch| batch.side == self.side)
    }

    /// Whether this is a batch that was written item by item.
    pub fn is_written(&self, place: &Place) -> bool {
        self.is_judged(place) && self.outgoing().is_some_and(|batch| batch.is_written())
    }

    /// Whether what is inside of a place was judged before this stub.
    pub fn is_judged(&self, place: &Place) -> bool {
        self.is_batch(place.root)
    }

    /// Whether this is the batch that goes out, which is lent to the stub.
    pub fn is_batch(&self, root: Root) -> bool {
        self.outgoing().is_some_and(|batch| batch.root == root)
    }

    /// What of a procedure's result is bound where it returns: a batch, which is not lent yet.
    pub fn bound(&mut self, root: Root) -> Ident {
        match self.is_batch(root) {
            true => ident("batch"),
            false => self.local(&Place::whole(root), ""),
        }
    }

    /// Lends a server's stub what it needs of its batch.
    pub fn lent_batch(&mut self, procedure: Procedure<'_>) -> Option<TokenStream> {
        let root = self.outgoing().filter(|batch| batch.side == Side::Server)?.root;
        let (lent, given) = (self.local(&Place::whole(root), ""), self.rust.given(procedure));
        Some(quote!(let #lent = #given;))
    }
}
