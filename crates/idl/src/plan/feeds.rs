//! Which procedures carry which feed (design note 0020).

use crate::model::{FeedPart, Interface, Operation, Type};

/// A feed, as the procedures that carry it.
#[derive(Clone, Debug, PartialEq)]
pub struct FeedPlan {
    /// The procedure that opens it.
    pub open: u32,
    /// Which way items go, and in the calls of which procedures.
    pub way: FeedWay,
    /// What an item is.
    pub item: Type,
    /// Most items of a batch.
    pub batch_count: u32,
}

/// Which way the items of a feed go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeedWay {
    /// To the client: each call of `next` brings a batch.
    Back { next: u32 },
    /// To the server: each call of `put` brings a batch, that of `end` the result.
    There { put: u32, end: u32 },
}

impl FeedPlan {
    /// Its items as a sequence: the type of a batch.
    pub fn items(&self) -> Type {
        Type::Sequence { element: Box::new(self.item.clone()), bound: Some(self.batch_count) }
    }

    /// Whether a procedure opens or carries it.
    pub fn has(&self, procedure: u32) -> bool {
        let carriers = match self.way {
            FeedWay::Back { next } => [next, next],
            FeedWay::There { put, end } => [put, end],
        };
        self.open == procedure || carriers.contains(&procedure)
    }
}

/// The feeds of an interface, in the order of the procedures that open them.
pub fn feeds(interface: &Interface) -> Vec<FeedPlan> {
    let operations = (0u32..).zip(&interface.operations);
    operations.filter_map(|(open, operation)| feed(interface, open, operation)).collect()
}

fn feed(interface: &Interface, open: u32, operation: &Operation) -> Option<FeedPlan> {
    let opened = operation.feed.as_ref().filter(|feed| feed.part == FeedPart::Open)?;
    let part = |part| {
        let mut all = (0u32..).zip(&interface.operations);
        all.find(|(_, one)| {
            let feed = one.feed.as_ref();
            one.declared_in == operation.declared_in
                && feed.is_some_and(|feed| feed.part == part && feed.opened_by == opened.opened_by)
        })
    };
    let (way, batch) = match part(FeedPart::Next) {
        Some((next, carrier)) => (FeedWay::Back { next }, carrier.returns.as_ref()?),
        None => {
            let ((put, carrier), (end, _)) = (part(FeedPart::Put)?, part(FeedPart::End)?);
            (FeedWay::There { put, end }, &carrier.parameters.last()?.declared)
        }
    };
    match batch {
        Type::Sequence { element, bound: Some(batch_count) } => {
            Some(FeedPlan { open, way, item: (**element).clone(), batch_count: *batch_count })
        }
        _ => None,
    }
}
