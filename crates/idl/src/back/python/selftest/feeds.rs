//! Feeds and exchanges: all items are kept, and compared as a sequence of them. Of an exchange the
//! server takes all items, compares them, and then gives its own; so does the client the other way
//! round.

use crate::back::python::selftest::{Call, Programs};
use crate::back::python::text::Text;
use crate::model::{Operation, Type};
use crate::plan::{FeedPlan, FeedWay};
use crate::selftest::Value;

/// A feed that a call opens.
#[derive(Clone, Copy)]
pub struct FeedOf<'t> {
    call: Call<'t>,
    plan: &'t FeedPlan,
    /// What its end brings, if that is a call of its own.
    end: Option<&'t Operation>,
}

impl<'t> FeedOf<'t> {
    /// What a call opens.
    pub fn of(call: Call<'t>) -> Option<FeedOf<'t>> {
        let plan = call.test.feed.as_ref()?;
        let end = match plan.way {
            FeedWay::There { end, .. } => Some(&call.interface.operations[end as usize]),
            FeedWay::Back { .. } | FeedWay::Both { .. } => None,
        };
        Some(FeedOf { call, plan, end })
    }

    /// The items that go, by what they are called.
    fn sent(&self) -> Option<(&'static str, Type, Option<&'t Value>)> {
        let round = self.call.round;
        match self.plan.way {
            FeedWay::Back { .. } => None,
            FeedWay::There { .. } => Some(("items", self.plan.items(), round.items.as_ref())),
            FeedWay::Both { .. } => {
                let sent = self.plan.sent.as_ref()?;
                Some(("sent", sent.items(), round.sent.as_ref()))
            }
        }
    }

    /// The items that come.
    fn came(&self) -> Option<(Type, Option<&'t Value>)> {
        let comes = !matches!(self.plan.way, FeedWay::There { .. });
        comes.then(|| (self.plan.items(), self.call.round.items.as_ref()))
    }
}

impl Programs<'_, '_> {
    /// Items as a list, whatever they are.
    fn list(&self, items: &Type, value: Option<&Value>) -> String {
        value.map_or(String::from("[]"), |value| self.plain(items, value))
    }

    /// Locals for items, before the call.
    pub fn feed_locals(&self, feed: &FeedOf<'_>, text: &mut Text) {
        if let Some((name, declared, value)) = feed.sent() {
            text.line(&format!("{name} = {}", self.list(&declared, value)));
        }
        if feed.came().is_some() {
            text.line("items = []");
        }
    }

    /// Opens a feed by `call`, and reads it, writes it, or both, to its end.
    pub fn feed_called(&self, feed: &FeedOf<'_>, call: &str, text: &mut Text) {
        let opened = match feed.plan.way {
            FeedWay::Back { .. } => "feed",
            FeedWay::There { .. } => "sink",
            FeedWay::Both { .. } => "sink, feed",
        };
        text.line(&format!("{opened} = {call}"));
        let (awaited, each) = (self.before("await "), self.before("async "));
        if let Some((name, ..)) = feed.sent() {
            let put = format!("{awaited}sink.put(item)");
            text.block(&format!("for item in {name}:"), |text| text.line(&put));
            let ended = format!("{awaited}sink.end()");
            match feed.end {
                Some(end) => self.got(feed.call, end, &ended, text),
                None => text.line(&ended),
            }
        }
        if feed.came().is_some() {
            text.block(&format!("{each}for item in feed:"), |text| text.line("items.append(item)"));
        }
    }

    /// Compares the items that came.
    pub fn same_came(&self, feed: &FeedOf<'_>, text: &mut Text) {
        if let Some((declared, value)) = feed.came() {
            text.line(&self.same_items(feed, ("items", &declared, value)));
        }
    }

    /// What compares all items, of which there are none where a call is refused.
    fn same_items(
        &self,
        feed: &FeedOf<'_>,
        (name, declared, value): (&str, &Type, Option<&Value>),
    ) -> String {
        let none = Value::Items { part: Vec::new(), count: 0 };
        self.same(&feed.call.at(name), name, (declared, value.unwrap_or(&none)))
    }

    /// What a procedure that opens one does in one round.
    pub fn feed_served(&self, feed: &FeedOf<'_>, text: &mut Text) {
        let round = feed.call.round;
        let raised = self.raised(feed.call);
        if let (None, Some(raised)) = (&round.items, &raised) {
            return text.line(&format!("raise {raised}"));
        }
        let raised = raised.unwrap_or(String::from("None"));
        let look = feed.sent().map(|(name, declared, value)| {
            format!("lambda {name}: {}", self.same_items(feed, (name, &declared, value)))
        });
        let items = feed.came().map(|(declared, value)| self.list(&declared, value));
        match (look, items) {
            (None, Some(items)) => text.line(&format!("return given({items}, {raised})")),
            (Some(look), None) => {
                let made = feed.end.map_or(String::new(), |end| self.made(end, round));
                text.line(&format!("return Collected({look}, {made}, {raised})"));
            }
            (Some(look), Some(items)) => {
                text.line(&format!("talk(inlet, outlet, {look}, {items}, {raised})"));
            }
            (None, None) => {}
        }
    }
}
