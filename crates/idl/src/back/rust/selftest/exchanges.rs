//! Exchanges: the server takes all items, compares them, and then gives its own; so does the client
//! the other way round.

use crate::back::rust::interface::Procedure;
use crate::back::rust::selftest::Programs;
use crate::plan::{FeedPlan, Sent};
use crate::selftest::{Answer, Manner, OperationTest, Round, Value};

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

    /// What the function of a server returns.
    pub fn exchange_output(&self, exchange: &Exchange<'_>) -> String {
        let operation = exchange.procedure.operation;
        match operation.raises.is_empty() {
            true => String::new(),
            false => format!("-> Result<(), {}>", self.raised_type(operation)),
        }
    }

    /// The parameters that it has besides.
    pub fn exchange_parameters(&self, exchange: &Exchange<'_>) -> String {
        let operation = exchange.procedure.operation;
        let (came, sent) = (self.owned(&exchange.feed.item), self.owned(&exchange.sent.item));
        let raised = match operation.raises.is_empty() {
            true => String::new(),
            false => format!(", {}", self.raised_type(operation)),
        };
        let before = if exchange.procedure.plan.arguments.is_empty() { "" } else { ", " };
        format!(
            "{before}inlet: nearcall::Inlet<{sent}>, mut outlet: nearcall::Outlet<{came}{raised}>"
        )
    }

    /// What a procedure does in one round.
    pub fn exchange_served(
        &self,
        exchange: &Exchange<'_>,
        (number, round): (usize, &Round),
    ) -> String {
        let operation = exchange.procedure.operation;
        let text = self.compared(exchange.procedure, number, round);
        let raised = match &round.answer {
            Answer::Raised { index, members } => Some(self.raised(operation, *index, members)),
            Answer::Returned { .. } => None,
        };
        let (Some(items), Some(wanted)) = (&round.items, &round.sent) else {
            return text + &raised.map_or(String::new(), |raised| format!("Err({raised})\n"));
        };
        let (came, sent) = (exchange.feed.items(), exchange.sent.items());
        let (came_type, sent_type) = (self.owned(&came), self.owned(&sent));
        let same = self.same("check", "PLACE", number, ("sent", "&sent"), &sent, wanted);
        let last = raised.map_or(String::new(), |raised| format!("outlet.raise({raised});\n"));
        let result = if operation.raises.is_empty() { "" } else { "Ok(())\n" };
        let items = self.expression(&came, items);
        format!(
            "{text}let check = Arc::clone(&self.0);\n\
             let items: {came_type} = {items};\n\
             std::thread::spawn(move || {{\n\
             let sent: {sent_type} = inlet.map_while(Result::ok).collect();\n\
             {same}\
             for item in items {{ if outlet.put(item).is_err() {{ return; }} }}\n\
             {last}}});\n{result}"
        )
    }
}
