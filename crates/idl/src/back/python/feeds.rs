//! Feeds (design note 0020): what opens one in a client evaluates to, and what it returns in a
//! server.

use crate::back::python::Python;
use crate::model::{DeclarationId, Interface};
use crate::plan::FeedWay;

/// How a feed stands in signatures.
pub struct FeedTypes {
    /// The function of a client's that opens it, in the package.
    pub opening: &'static str,
    /// What a client has, without the package's name.
    pub client: String,
    /// What a server returns.
    pub server: String,
}

impl Python<'_> {
    /// The feed that procedure `index` opens.
    pub fn feed(
        &self,
        id: DeclarationId,
        interface: &Interface,
        index: usize,
    ) -> Option<FeedTypes> {
        let feeds = &self.interface_plan(id).feeds;
        let plan = feeds.iter().find(|feed| feed.open as usize == index)?;
        let (came, sent) = (self.annotation(&plan.item), self.argument_annotation(&plan.item));
        Some(match plan.way {
            FeedWay::Back { .. } => FeedTypes {
                opening: "_feed",
                client: format!("Feed[{came}]"),
                server: format!("_typing.Iterable[{sent}]"),
            },
            FeedWay::There { end, .. } => {
                let end = &interface.operations[end as usize];
                let (result, made) = (self.result_annotation(end), self.made_annotation(end));
                FeedTypes {
                    opening: "_sink",
                    client: format!("Sink[{sent}, {result}]"),
                    server: format!("_nearcall.Taker[{came}, {made}]"),
                }
            }
        })
    }

    /// The feeds of an interface, each with its procedures.
    pub fn feed_rows(&self, id: DeclarationId) -> Vec<String> {
        let feeds = self.interface_plan(id).feeds.iter();
        let rows = feeds.map(|feed| match feed.way {
            FeedWay::Back { next } => format!("(\"back\", {}, {next})", feed.open),
            FeedWay::There { put, end } => format!("(\"there\", {}, {put}, {end})", feed.open),
        });
        rows.collect()
    }
}
