//! Feeds: all items are kept, and compared as a sequence of them.

use crate::back::c::feeds::FeedOf;
use crate::back::c::text::Text;
use crate::back::cpp::selftest::{At, Programs};
use crate::selftest::{Answer, OperationTest, Round, Value};

impl Programs<'_, '_, '_> {
    /// The items that come or go.
    pub fn items_local(&self, feed: &FeedOf<'_>, round: &Round, text: &mut Text) {
        let declared = feed.plan.items();
        text.line(format!("{} items{{}};", self.cpp.type_name(&declared)));
        if let (Some(_), Some(items)) = (feed.end, &round.items) {
            self.assign(&declared, items, "items", text);
        }
    }

    /// Opens a feed by `call`, and reads it or writes it to its end.
    pub fn feed_called(
        &self,
        feed: &FeedOf<'_>,
        (at, round): (At<'_>, &Round),
        call: &str,
        text: &mut Text,
    ) {
        let Some(end) = feed.end else {
            text.open(format!("for (auto &item : {call}) {{"));
            text.line("items.push_back(std::move(item));");
            return text.close("}");
        };
        text.line(format!("auto feed = {call};"));
        text.open("for (const auto &item : items) {");
        text.line("feed.put(item);");
        text.close("}");
        self.called(end.operation, (at, round), "feed.end()", text);
    }

    /// Compares all items.
    pub fn same_items(
        &self,
        feed: &FeedOf<'_>,
        (at, round): (At<'_>, &Round),
        got: &str,
        text: &mut Text,
    ) {
        let none = Value::Items { part: Vec::new(), count: 0 };
        let items = round.items.as_ref().unwrap_or(&none);
        self.same(at, ("items", got), (&feed.plan.items(), items), text);
    }

    /// The class of what a procedure returns that opens a feed.
    pub fn print_made(&self, feed: &FeedOf<'_>, test: &OperationTest, text: &mut Text) {
        let number = test.number;
        let item = self.cpp.type_name(&feed.plan.item);
        let returns = feed.end.map(|end| end.operation.returns.as_ref());
        let returns = returns.map(|returns| {
            returns.map_or(String::from("void"), |declared| self.cpp.type_name(declared))
        });
        let base = match &returns {
            None => format!("nearcall::items<{item}>"),
            Some(returns) => format!("nearcall::taker<{item}, {returns}>"),
        };
        text.open(format!("class nc_feed_{number} final : public {base} {{"));
        text.label("  public:");
        text.line(format!("explicit nc_feed_{number}(unsigned round) : round_(round) {{}}"));
        text.line(format!("{} items{{}};", self.cpp.type_name(&feed.plan.items())));
        match &returns {
            None => self.print_next(feed, test, &item, text),
            Some(returns) => self.print_take(feed, test, (&item, returns), text),
        }
        text.label("  private:");
        if returns.is_none() {
            text.line("std::size_t at_ = 0;");
        }
        text.line("unsigned round_;");
        text.close("};");
        text.line("");
    }

    fn print_next(&self, feed: &FeedOf<'_>, test: &OperationTest, item: &str, text: &mut Text) {
        text.open(format!("bool next({item} &item) override {{"));
        text.open("if (at_ < items.size()) {");
        text.line("item = items[at_++];");
        text.line("return true;");
        text.close("}");
        text.line("switch (round_) {");
        for (index, round) in test.rounds.iter().enumerate() {
            if let (Some(_), Answer::Raised { .. }) = (&round.items, &round.answer) {
                text.open(format!("case {index}: {{"));
                self.answer(feed, round, text);
                text.close("}");
            }
        }
        text.line("default:");
        text.line("    return false;");
        text.line("}");
        text.close("}");
    }

    fn print_take(
        &self,
        feed: &FeedOf<'_>,
        test: &OperationTest,
        (item, returns): (&str, &str),
        text: &mut Text,
    ) {
        text.line(format!("void take(const {item} &item) override {{ items.push_back(item); }}"));
        text.open(format!("{returns} end() override {{"));
        let is_returning = returns != "void";
        if is_returning {
            text.line(format!("{returns} nc_returned{{}};"));
        }
        text.line("switch (round_) {");
        for (index, round) in test.rounds.iter().enumerate() {
            if round.items.is_some() {
                text.open(format!("case {index}: {{"));
                self.same_items(feed, (At { test, round: index }, round), "items", text);
                self.answer(feed, round, text);
                text.line("break;");
                text.close("}");
            }
        }
        text.line("}");
        if is_returning {
            text.line("return nc_returned;");
        }
        text.close("}");
    }

    /// How a feed ends.
    fn answer(&self, feed: &FeedOf<'_>, round: &Round, text: &mut Text) {
        let returns = feed.end.and_then(|end| end.operation.returns.as_ref());
        match (&round.answer, returns) {
            (Answer::Raised { index, members }, _) => {
                self.throw(feed.open.operation.raises[*index], members, text);
            }
            (Answer::Returned { returned: Some(value), .. }, Some(declared)) => {
                self.assign(declared, value, "nc_returned", text);
            }
            _ => {}
        }
    }

    /// What a procedure that opens a feed does in one round.
    pub fn feed_served(&self, feed: &FeedOf<'_>, (at, round): (At<'_>, &Round), text: &mut Text) {
        self.compared(feed.open, (at, round), text);
        let Some(items) = &round.items else { return self.answer(feed, round, text) };
        let (number, index) = (at.test.number, at.round);
        text.line(format!("auto nc_feed = std::make_unique<nc_feed_{number}>({index});"));
        if feed.end.is_none() {
            self.assign(&feed.plan.items(), items, "nc_feed->items", text);
        }
        text.line("nc_returned = std::move(nc_feed);");
    }
}
