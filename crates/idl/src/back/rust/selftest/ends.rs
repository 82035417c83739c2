//! Procedures that are given ends of what they open: exchanges, and feeds to one side where
//! procedures are awaited. A thread takes all items that come, compares them, and then gives its
//! own, or its answer.

use crate::back::rust::interface::Procedure;
use crate::back::rust::selftest::Programs;
use crate::model::Type;
use crate::plan::{FeedPlan, FeedWay};
use crate::selftest::{Answer, Manner, OperationTest, Round, Value};

/// What is given ends, and what it opens.
pub struct Ends<'t> {
    procedure: Procedure<'t>,
    feed: &'t FeedPlan,
}

impl Programs<'_, '_> {
    /// What an operation's procedure is given ends of.
    pub fn ends_of<'t>(
        &self,
        procedure: Procedure<'t>,
        test: &'t OperationTest,
    ) -> Option<Ends<'t>> {
        let feed = test.feed.as_ref()?;
        let is_given = test.is_exchange() || self.test.manner == Manner::Awaited;
        is_given.then_some(Ends { procedure, feed })
    }

    /// What the function of a server returns.
    pub fn ends_output(&self, ends: &Ends<'_>) -> String {
        let operation = ends.procedure.operation;
        match operation.raises.is_empty() {
            true => String::new(),
            false => format!("-> Result<(), {}>", self.raised_type(operation)),
        }
    }

    /// The parameters that it has besides.
    pub fn end_parameters(&self, Ends { procedure, feed }: &Ends<'_>) -> String {
        let raised = match procedure.operation.raises.is_empty() {
            true => String::new(),
            false => format!(", {}", self.raised_type(procedure.operation)),
        };
        let before = if procedure.plan.arguments.is_empty() { "" } else { ", " };
        let item = self.owned(&feed.item);
        let inlet = |item: &str| format!("inlet: nearcall::Inlet<{item}>");
        let outlet = format!("mut outlet: nearcall::Outlet<{item}{raised}>");
        let parameters = match (feed.way, &feed.sent) {
            (FeedWay::There { end, .. }, _) => {
                let returns = self.ending(*procedure, end).returns.as_ref();
                let answer = returns.map_or(String::from("()"), |one| self.owned(one));
                format!("{}, answer: nearcall::Answer<{answer}{raised}>", inlet(&item))
            }
            (_, Some(sent)) => format!("{}, {outlet}", inlet(&self.owned(&sent.item))),
            (_, None) => outlet,
        };
        before.to_owned() + &parameters
    }

    /// What a procedure does in one round.
    pub fn ends_served(
        &self,
        Ends { procedure, feed }: &Ends<'_>,
        (number, round): (usize, &Round),
    ) -> String {
        let operation = procedure.operation;
        let text = self.compared(*procedure, number, round);
        let raised = match &round.answer {
            Answer::Raised { index, members } => Some(self.raised(operation, *index, members)),
            Answer::Returned { .. } => None,
        };
        let Some(items) = &round.items else {
            return text + &raised.map_or(String::new(), |raised| format!("Err({raised})\n"));
        };
        let declared = feed.items();
        let taken = match (feed.way, &feed.sent, &round.sent) {
            (FeedWay::There { .. }, ..) => Some(self.taken("items", number, (&declared, items))),
            (_, Some(sent), Some(wanted)) => {
                Some(self.taken("sent", number, (&sent.items(), wanted)))
            }
            _ => None,
        };
        let check = taken.as_ref().map_or("", |_| "let check = Arc::clone(&self.0);\n");
        let (made, given) = match (feed.way, raised) {
            (FeedWay::There { .. }, Some(raised)) => {
                (String::new(), format!("answer.raise({raised});\n"))
            }
            (FeedWay::There { end, .. }, None) => {
                let answer = self.returned_value(*procedure, end, round);
                (String::new(), format!("answer.give({answer});\n"))
            }
            (FeedWay::Back { .. } | FeedWay::Both { .. }, raised) => {
                let (owned, value) = (self.owned(&declared), self.expression(&declared, items));
                let last = match raised {
                    Some(one) => format!("outlet.raise({one});\n"),
                    None => "outlet.end();\n".to_owned(),
                };
                let put = "for item in items { if outlet.put(item).is_err() { return; } }\n";
                (format!("let items: {owned} = {value};\n"), format!("{put}{last}"))
            }
        };
        let taken = taken.unwrap_or_default();
        let result = if operation.raises.is_empty() { "" } else { "Ok(())\n" };
        format!("{text}{check}{made}std::thread::spawn(move || {{\n{taken}{given}}});\n{result}")
    }

    /// Takes all items of an inlet, and compares them.
    fn taken(&self, name: &str, number: usize, (items, wanted): (&Type, &Value)) -> String {
        let (declared, got) = (self.owned(items), format!("&{name}"));
        let same = self.same("check", "PLACE", number, (name, &got), items, wanted);
        format!("let {name}: {declared} = inlet.map_while(Result::ok).collect();\n{same}")
    }
}
