//! Items of feeds that go to a server (design note 0020). One that its type, or its place, refuses
//! is refused where it is put. What has to be marshalled is written there, too, so that it is
//! judged once.

use crate::back::rust::Rust;
use crate::back::rust::casing::ident;
use crate::back::rust::interface::Procedure;
use crate::back::rust::limits::Subject;
use crate::back::rust::stub::{Printer, Side};
use crate::back::rust::tokens::{TokenStream, quote};
use crate::layout::{Place, Root};
use crate::model::{FeedPart, Operation};
use crate::plan::{ProcedurePlan, Step, item_checks};

/// What an item is called in messages to people.
const SPOKEN: &str = "item";

/// The parameter of a call for a batch whose items its client has written already.
pub fn written_batch(operation: &Operation, plan: &ProcedurePlan) -> Option<Root> {
    if !is_put(operation) {
        return None;
    }
    let root = Root::Parameter(operation.parameters.len() as u32 - 1);
    let is_marshalled =
        |step: &Step| matches!(step, Step::Marshal { place, .. } if place.root == root);
    plan.client.request.iter().any(is_marshalled).then_some(root)
}

fn is_put(operation: &Operation) -> bool {
    operation.feed.as_ref().is_some_and(|feed| feed.part == FeedPart::Put)
}

impl Rust<'_> {
    /// What becomes of an `item` of the batches that `put` calls with, for the runtime.
    pub fn keeping(&self, scope: usize, put: Procedure<'_>, item: &TokenStream) -> TokenStream {
        let checks = item_checks(&put.plan.client.request);
        let (writer, subject) = (ident("writer"), Subject::reference(quote!(item)));
        let limits = self.write_limits(scope, &writer, &subject, SPOKEN, &checks);
        match (written_batch(put.operation, put.plan), checks.is_empty()) {
            (None, true) => quote!(::nearcall::raw::Keeping::AsItIs),
            (None, false) => {
                quote!(::nearcall::raw::Keeping::Judged(|item: &#item, writer| { #limits }))
            }
            (Some(_), true) => {
                quote!(::nearcall::raw::Keeping::Written(::nearcall::raw::Marshal::marshal))
            }
            (Some(_), false) => quote! {
                ::nearcall::raw::Keeping::Written(|item: &#item, writer| {
                    #limits
                    ::nearcall::raw::Marshal::marshal(item, writer);
                })
            },
        }
    }

    /// What the function that posts a batch is given of it.
    pub fn given(&self, put: Procedure<'_>) -> TokenStream {
        match written_batch(put.operation, put.plan) {
            Some(_) => quote!(batch.written()),
            None => quote!(batch.items()),
        }
    }
}

impl Printer<'_, '_> {
    /// Whether this is a batch that was written item by item.
    pub fn is_written(&self, place: &Place) -> bool {
        self.side == Side::Client && written_batch(self.operation, self.plan) == Some(place.root)
    }

    /// Whether what is inside of a place was judged before this stub.
    pub fn is_judged(&self, place: &Place) -> bool {
        self.side == Side::Client
            && is_put(self.operation)
            && matches!(place.root, Root::Parameter(_))
    }
}
