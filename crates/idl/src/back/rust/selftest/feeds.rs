//! Feeds: all items are kept, and compared as a sequence of them.

use crate::back::rust::interface::Procedure;
use crate::back::rust::selftest::Programs;
use crate::model::Operation;
use crate::plan::{FeedPlan, FeedWay};
use crate::selftest::{Answer, Round, Value};

/// What both sides send has programs of its own.
const APART: &str = "exchanges are printed by another module";

impl Programs<'_, '_> {
    /// Opens a feed by `call`, and reads it or writes it to its end.
    pub fn feed_called(
        &self,
        procedure: Procedure<'_>,
        feed: &FeedPlan,
        (number, round): (usize, &Round),
        call: &str,
    ) -> String {
        let operation = procedure.operation;
        let (items, none) = (feed.items(), Value::Items { part: Vec::new(), count: 0 });
        let sent = round.items.as_ref().unwrap_or(&none);
        let declared = self.owned(&items);
        let (mut text, body, ended, results) = match feed.way {
            FeedWay::Back { .. } => (
                format!("let mut items: {declared} = Vec::new();\n"),
                self.all_come("feed") + "Ok(())",
                operation,
                &[][..],
            ),
            FeedWay::Both { .. } => unreachable!("{APART}"),
            FeedWay::There { end, .. } => (
                format!("let items: {declared} = {};\n", self.expression(&items, sent)),
                self.all_go("feed", "items") + &self.ended("feed"),
                self.ending(procedure, end),
                &self.rust.interface_plan(procedure.interface).procedures[end as usize].results[..],
            ),
        };
        let held = match feed.way {
            FeedWay::Back { .. } => self.coming(),
            FeedWay::There { .. } | FeedWay::Both { .. } => "mut feed",
        };
        text += &self.opened(call, held, &body);
        if let FeedWay::Back { .. } = feed.way {
            text += &self.same("check", "PLACE", number, ("items", "&items"), &items, sent);
        }
        text += "match called {\n";
        text += &self.arms(ended, results, number, round);
        text + &self.failed_arms(operation, number, round)
    }

    /// What the function of a server returns.
    pub fn feed_output(&self, procedure: Procedure<'_>, feed: &FeedPlan) -> String {
        let made = self.made(procedure, feed);
        match procedure.operation.raises.is_empty() {
            true => format!("-> {made}"),
            false => format!("-> Result<{made}, {}>", self.raised_type(procedure.operation)),
        }
    }

    /// What becomes of a feed that a procedure opens.
    fn made(&self, procedure: Procedure<'_>, feed: &FeedPlan) -> String {
        let operation = procedure.operation;
        let item = self.owned(&feed.item);
        let raised = match operation.raises.is_empty() {
            true => String::from("std::convert::Infallible"),
            false => self.raised_type(operation),
        };
        match feed.way {
            FeedWay::Back { .. } if operation.raises.is_empty() => {
                format!("nearcall::Items<{item}>")
            }
            FeedWay::Back { .. } => format!("nearcall::Items<Result<{item}, {raised}>>"),
            FeedWay::Both { .. } => unreachable!("{APART}"),
            FeedWay::There { end, .. } => {
                let returns = &self.ending(procedure, end).returns;
                let returns = returns.as_ref().map_or(String::from("()"), |one| self.owned(one));
                format!("nearcall::Taker<{item}, {returns}, {raised}>")
            }
        }
    }

    /// What a procedure does in one round.
    pub fn feed_served(
        &self,
        procedure: Procedure<'_>,
        feed: &FeedPlan,
        (number, round): (usize, &Round),
    ) -> String {
        let operation = procedure.operation;
        let mut text = self.compared(procedure, number, round);
        let raised = match &round.answer {
            Answer::Raised { index, members } => Some(self.raising(operation, *index, members)),
            Answer::Returned { .. } => None,
        };
        let Some(sent) = &round.items else { return text + &raised.unwrap_or_default() };
        let (items, made) = (feed.items(), self.made(procedure, feed));
        let declared = self.owned(&items);
        match feed.way {
            FeedWay::Back { .. } => {
                text += &format!("let items: {declared} = {};\n", self.expression(&items, sent));
                let items = match (operation.raises.is_empty(), raised) {
                    (true, _) => String::from("items.into_iter()"),
                    (false, None) => String::from("items.into_iter().map(Ok)"),
                    (false, Some(raised)) => format!("items.into_iter().map(Ok).chain([{raised}])"),
                };
                text += &format!("let made: {made} = Box::new({items});\n");
            }
            FeedWay::Both { .. } => unreachable!("{APART}"),
            FeedWay::There { end, .. } => {
                let same = self.same("check", "PLACE", number, ("items", "&items"), &items, sent);
                let given = || format!("Ok({})", self.returned_value(procedure, end, round));
                let answer = raised.unwrap_or_else(given);
                text += &format!(
                    "let check = Arc::clone(&self.0);\n\
                     let made: {made} = Box::new(Collected::new(move |items: {declared}| {{\n\
                     {same}{answer}\n}}));\n"
                );
            }
        }
        text + if operation.raises.is_empty() { "made\n" } else { "Ok(made)\n" }
    }

    /// The answer to the end of a feed.
    pub fn returned_value(&self, procedure: Procedure<'_>, end: u32, round: &Round) -> String {
        let Answer::Returned { returned, .. } = &round.answer else { return String::new() };
        let declared = self.ending(procedure, end).returns.as_ref();
        let value = declared.zip(returned.as_ref());
        let value = value.map(|(declared, value)| self.expression(declared, value));
        value.unwrap_or(String::from("()"))
    }

    /// The operation that ends a feed.
    pub fn ending(&self, procedure: Procedure<'_>, end: u32) -> &Operation {
        &self.interface_at(procedure.interface).operations[end as usize]
    }
}
