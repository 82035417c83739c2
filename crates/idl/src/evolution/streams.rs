//! What operations stream. A feed is several procedures: where it comes, goes or turns round, that
//! is told once, of the operation that opens it.

use std::collections::BTreeSet;

use super::interfaces::{Whole, told};
use super::pairing::Pairing;
use super::{Change, Comparison, rules};
use crate::model::{FeedPart, Interface, Operation};

impl Comparison<'_> {
    /// Says so of an operation that streams otherwise than before; nothing of what carries its
    /// feeds. Whose hash says whether it opens a feed, and whose carriers have names of their own,
    /// no bind takes for the other.
    pub(super) fn streams(
        &mut self,
        (old, was): (Whole<'_>, &Operation),
        (new, is): (Whole<'_>, &Operation),
    ) {
        let name = told(&new.declaration.name, is);
        self.refuse_types(was, is, &name);
        if was.carries_feed() {
            return;
        }
        let (before, now) = (streamed(old.interface, was), streamed(new.interface, is));
        let message = format!("operation `{name}` streams {now}, did stream {before}");
        let (old, new, refused_at) = (Some(was.at), Some(is.at), Some(&*name));
        let rule = &rules::STREAMS;
        let help = rule.help;
        self.add(Change { rule, old, new, message, refused_at, help });
    }
}

impl Pairing {
    /// Those that are not told of what carries the feeds of `restreamed`.
    pub(super) fn without(
        &self,
        restreamed: &BTreeSet<&str>,
        old: &Interface,
        new: &Interface,
    ) -> Pairing {
        let is_told = |one: &Operation| !one.carries_feed() || !restreamed.contains(opener(one));
        let was_told = |before: &usize| is_told(&old.operations[*before]);
        let are_told =
            |(before, place): &(usize, usize)| was_told(before) && is_told(&new.operations[*place]);
        Pairing {
            kept: self.kept.iter().copied().filter(are_told).collect(),
            renamed: self.renamed.iter().copied().filter(are_told).collect(),
            gone: self.gone.iter().copied().filter(was_told).collect(),
            added: self
                .added
                .iter()
                .copied()
                .filter(|place| is_told(&new.operations[*place]))
                .collect(),
        }
    }
}

/// The operations of both that stream otherwise in the new one.
pub(super) fn restreamed<'m>(old: &'m Interface, new: &Interface) -> BTreeSet<&'m str> {
    let is_other = |was: &&Operation| {
        let is = new.operations.iter().find(|is| is.name == was.name);
        !was.carries_feed() && is.is_some_and(|is| streamed(old, was) != streamed(new, is))
    };
    old.operations.iter().filter(is_other).map(|was| &*was.name).collect()
}

/// The operation itself, or the one whose feed it carries.
pub(super) fn opener(operation: &Operation) -> &str {
    match operation.feed.as_ref().filter(|_| operation.carries_feed()) {
        Some(feed) => &feed.opened_by,
        None => &operation.name,
    }
}

/// What an operation streams.
fn streamed(interface: &Interface, operation: &Operation) -> &'static str {
    let takes = |one: &Operation| {
        let feed = one.feed.as_ref().filter(|feed| feed.part == FeedPart::Put);
        feed.is_some_and(|feed| feed.opened_by == operation.name)
    };
    match &operation.feed {
        None => "nothing",
        Some(feed) if feed.is_exchange => "both ways",
        Some(_) if interface.operations.iter().any(takes) => "what it is given",
        Some(_) => "what it returns",
    }
}
