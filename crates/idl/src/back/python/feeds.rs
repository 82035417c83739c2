//! Feeds (design note 0020): what opens one in a client evaluates to, and what it returns in a
//! server.

use crate::back::python::Python;
use crate::model::{DeclarationId, Interface};
use crate::plan::FeedWay;

/// How a feed stands in signatures.
pub struct FeedTypes {
    /// The function of a client's that opens it, in the package.
    pub opening: &'static str,
    /// What a client has.
    pub client: String,
    /// What a client has whose calls are awaited.
    pub waiting: String,
    /// What a server returns.
    pub server: String,
    /// What a server is given behind its arguments, of an exchange: names and kinds.
    pub ends: Vec<(&'static str, String)>,
}

impl FeedTypes {
    /// Whether a server that is awaited awaits what opens it.
    pub fn is_awaited(&self) -> bool {
        !self.ends.is_empty()
    }
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
                client: format!("_nearcall.Feed[{came}]"),
                waiting: format!("_nearcall.AsyncFeed[{came}]"),
                server: format!("_typing.Iterable[{sent}]"),
                ends: Vec::new(),
            },
            FeedWay::There { end, .. } => {
                let end = &interface.operations[end as usize];
                let (result, made) = (self.result_annotation(end), self.made_annotation(end));
                FeedTypes {
                    opening: "_sink",
                    client: format!("_nearcall.Sink[{sent}, {result}]"),
                    waiting: format!("_nearcall.AsyncSink[{sent}, {result}]"),
                    server: format!("_nearcall.Taker[{came}, {made}]"),
                    ends: Vec::new(),
                }
            }
            FeedWay::Both { .. } => {
                let given = &plan.sent.as_ref()?.item;
                let (put, taken) = (self.argument_annotation(given), self.annotation(given));
                let sides = |kind: &str| {
                    format!(
                        "tuple[_nearcall.{kind}Sink[{put}, None], _nearcall.{kind}Feed[{came}]]"
                    )
                };
                FeedTypes {
                    opening: "_exchange",
                    client: sides(""),
                    waiting: sides("Async"),
                    server: String::from("None"),
                    ends: vec![
                        ("inlet", format!("Inlet[{taken}]")),
                        ("outlet", format!("Outlet[{sent}]")),
                    ],
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
            FeedWay::Both { next, put, end } => {
                format!("(\"both\", {}, {next}, {put}, {end})", feed.open)
            }
        });
        rows.collect()
    }
}
