//! Exchanges: the client gives all items, and then takes those of the server and compares them.

use crate::back::rust::interface::Procedure;
use crate::back::rust::selftest::Programs;
use crate::plan::{FeedPlan, Sent};
use crate::selftest::{Manner, OperationTest, Round, Value};

/// One, with what goes.
pub struct Exchange<'t> {
    procedure: Procedure<'t>,
    feed: &'t FeedPlan,
    sent: &'t Sent,
}

impl<'t> Exchange<'t> {
    /// What an operation opens.
    pub fn of(procedure: Procedure<'t>, test: &'t OperationTest) -> Option<Exchange<'t>> {
        let feed = test.feed.as_ref()?;
        Some(Exchange { procedure, feed, sent: feed.sent.as_ref()? })
    }
}

impl Programs<'_, '_> {
    /// Opens one by `call`, and uses both sides to their ends.
    pub fn exchange_called(
        &self,
        exchange: &Exchange<'_>,
        (number, round): (usize, &Round),
        call: &str,
    ) -> String {
        let operation = exchange.procedure.operation;
        let (came, sent) = (exchange.feed.items(), exchange.sent.items());
        let none = Value::Items { part: Vec::new(), count: 0 };
        let (came_type, sent_type) = (self.owned(&came), self.owned(&sent));
        let given = self.expression(&sent, round.sent.as_ref().unwrap_or(&none));
        let mut text =
            format!("let mut items: {came_type} = Vec::new();\nlet sent: {sent_type} = {given};\n");
        let (going, ended, coming) =
            (self.all_go("sink", "sent"), self.ended("sink"), self.all_come("feed"));
        let begun = match self.test.manner {
            Manner::Awaited => "",
            _ => "let (mut sink, feed) = (sink.begin(), feed.begin());\n",
        };
        let sides = if begun.is_empty() { "(mut sink, mut feed)" } else { "(sink, feed)" };
        let body = format!("{begun}{going}{ended}?;\n{coming}Ok(())\n");
        text += &self.opened(call, sides, &body);
        let wanted = round.items.as_ref().unwrap_or(&none);
        text += &self.same("check", "PLACE", number, ("items", "&items"), &came, wanted);
        text += "match called {\n";
        text += &self.arms(operation, &[], number, round);
        text + &self.failed_arms(operation, number, round)
    }
}
