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
    /// What a server does.
    pub server: Served,
    /// What one does that is awaited.
    pub awaited: Served,
}

/// How what opens a feed stands in a server.
pub struct Served {
    /// `def`, or `async def`.
    pub define: &'static str,
    /// What it is given behind its arguments: names and types.
    pub ends: Vec<(&'static str, String)>,
    pub returns: String,
}

impl Served {
    fn plain(returns: String) -> Served {
        Served { define: "def", ends: Vec::new(), returns }
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
                server: Served::plain(format!("_typing.Iterable[{sent}]")),
                // An async generator is no coroutine.
                awaited: Served::plain(format!("_typing.AsyncIterable[{sent}]")),
            },
            FeedWay::There { end, .. } => {
                let end = &interface.operations[end as usize];
                let (result, made) = (self.result_annotation(end), self.made_annotation(end));
                FeedTypes {
                    opening: "_sink",
                    client: format!("_nearcall.Sink[{sent}, {result}]"),
                    waiting: format!("_nearcall.AsyncSink[{sent}, {result}]"),
                    server: Served::plain(format!("_nearcall.Taker[{came}, {made}]")),
                    awaited: Served {
                        define: "async def",
                        ends: vec![("inlet", format!("_nearcall.AsyncInlet[{came}]"))],
                        returns: made,
                    },
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
                let served = |define, kind: &str| Served {
                    define,
                    ends: vec![
                        ("inlet", format!("_nearcall.{kind}Inlet[{taken}]")),
                        ("outlet", format!("_nearcall.{kind}Outlet[{sent}]")),
                    ],
                    returns: String::from("None"),
                };
                FeedTypes {
                    opening: "_exchange",
                    client: sides(""),
                    waiting: sides("Async"),
                    server: served("def", ""),
                    awaited: served("async def", "Async"),
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
