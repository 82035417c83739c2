//! Which procedures carry which feed (design note 0020).

use crate::model::{FeedPart, Interface, Operation, Type};
use crate::plan::{Hop, LimitCheck, Step};

/// A feed, as the procedures that carry it.
#[derive(Clone, Debug, PartialEq)]
pub struct FeedPlan {
    /// The procedure that opens it.
    pub open: u32,
    /// Which way items go, and in the calls of which procedures.
    pub way: FeedWay,
    /// What an item is; of an exchange, one that comes to the client.
    pub item: Type,
    /// Most items of a batch.
    pub batch_count: u32,
    /// Of an exchange: the items that go to the server.
    pub sent: Option<Sent>,
}

/// The items of an exchange that go to the server.
#[derive(Clone, Debug, PartialEq)]
pub struct Sent {
    /// What one is.
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
    /// Both: an exchange. `end` has no result.
    Both { next: u32, put: u32, end: u32 },
}

impl Sent {
    /// Them as a sequence: the type of a batch.
    pub fn items(&self) -> Type {
        Type::Sequence { element: Box::new(self.item.clone()), bound: Some(self.batch_count) }
    }
}

impl FeedPlan {
    /// Its items as a sequence: the type of a batch.
    pub fn items(&self) -> Type {
        Type::Sequence { element: Box::new(self.item.clone()), bound: Some(self.batch_count) }
    }

    /// Whether a procedure opens or carries it.
    pub fn has(&self, procedure: u32) -> bool {
        let carriers = match self.way {
            FeedWay::Back { next } => [next; 3],
            FeedWay::There { put, end } => [put, end, end],
            FeedWay::Both { next, put, end } => [next, put, end],
        };
        self.open == procedure || carriers.contains(&procedure)
    }
}

/// What is judged of each item, as the steps have it that write a batch.
pub fn item_checks(steps: &[Step]) -> Vec<LimitCheck> {
    let all = steps.iter().filter_map(|step| match step {
        Step::CheckRange { checks, .. } | Step::Marshal { checks, .. } => Some(checks),
        _ => None,
    });
    let inside = all.flatten().filter_map(|check| match check.hops.split_first() {
        Some((Hop::Each, hops)) => {
            Some(LimitCheck { hops: hops.to_vec(), limit: check.limit.clone() })
        }
        _ => None,
    });
    inside.collect()
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
    let came = part(FeedPart::Next).and_then(|(next, carrier)| {
        let (item, batch_count) = batch(carrier.returns.as_ref()?)?;
        Some((next, item, batch_count))
    });
    let sent = part(FeedPart::Put).and_then(|(put, carrier)| {
        let (item, batch_count) = batch(&carrier.parameters.last()?.declared)?;
        let (end, _) = part(FeedPart::End)?;
        Some((put, end, Sent { item, batch_count }))
    });
    Some(match (came, sent) {
        (Some((next, item, batch_count)), sent) => {
            let way = match sent {
                Some((put, end, _)) => FeedWay::Both { next, put, end },
                None => FeedWay::Back { next },
            };
            FeedPlan { open, way, item, batch_count, sent: sent.map(|(.., sent)| sent) }
        }
        (None, Some((put, end, Sent { item, batch_count }))) => {
            FeedPlan { open, way: FeedWay::There { put, end }, item, batch_count, sent: None }
        }
        (None, None) => return None,
    })
}

/// The items of a batch, and how many there are at most.
fn batch(declared: &Type) -> Option<(Type, u32)> {
    match declared {
        Type::Sequence { element, bound: Some(bound) } => Some(((**element).clone(), *bound)),
        _ => None,
    }
}
