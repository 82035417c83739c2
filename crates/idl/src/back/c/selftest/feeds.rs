//! Feeds: all items are kept, and compared as a sequence of them.

use crate::back::c::feeds::FeedOf;
use crate::back::c::selftest::{At, Programs};
use crate::back::c::text::Text;
use crate::back::c::types::quoted;
use crate::model::Type;
use crate::selftest::{Answer, OperationTest, Round, Value, shortened, shown};

impl Programs<'_, '_> {
    /// Opens a feed, and reads it or writes it to its end.
    pub fn feed_called(
        &self,
        feed: &FeedOf<'_>,
        (at, round): (At<'_>, &Round),
        arguments: &str,
        text: &mut Text,
    ) {
        let name = self.c.feed_name(feed);
        text.line(format!("nearcall_feed_{name} *feed;"));
        let returned = feed.end.and_then(|end| end.operation.returns.as_ref());
        if let Some(declared) = returned {
            self.local(declared, "returned", text);
        }
        match feed.end {
            None => {
                self.local(&feed.plan.item, "item", text);
                text.line("nc_shown items = {NULL, 0, 0};");
            }
            Some(_) => {
                text.line("bool is_open;");
                self.local(&feed.plan.items(), "items", text);
                if let Some(items) = &round.items {
                    self.assign(&feed.plan.items(), items, "items", text);
                }
            }
        }
        text.line(format!("nc_round({}, {});", at.test.number, at.test.rounds.len()));
        text.line(format!("feed = {name}({arguments}, &env);"));
        match feed.end {
            None => self.read(feed, (at, round), text),
            Some(_) => self.write(feed, returned.is_some(), text),
        }
        text.line(format!("nearcall_release_{name}(feed);"));
        self.outcome_of(feed.open.operation, returned, (at, round), text);
    }

    fn read(&self, feed: &FeedOf<'_>, (at, round): (At<'_>, &Round), text: &mut Text) {
        let (name, item) = (self.c.feed_name(feed), &feed.plan.item);
        text.line("nc_put(&items, \"[\");");
        text.open(format!("while (feed != NULL && nearcall_next_{name}(feed, &item, &env)) {{"));
        text.line("nc_put(&items, items.count == 1 ? \"\" : \", \");");
        text.line(self.show(item, "&items", "item"));
        text.lines(self.c.free(item, "item"));
        text.close("}");
        text.line("nc_put(&items, \"]\");");
        self.same_items(feed, (at, round), "&items", text);
    }

    /// Compares what is shown of items.
    fn same_items(
        &self,
        feed: &FeedOf<'_>,
        (at, round): (At<'_>, &Round),
        got: &str,
        text: &mut Text,
    ) {
        let none = Value::Items { part: Vec::new(), count: 0 };
        let items = round.items.as_ref().unwrap_or(&none);
        let wanted = quoted(&shortened(&shown(self.c.model, &feed.plan.items(), items)));
        let place = quoted(&at.test.place);
        text.line(format!("nc_same({place}, {}, \"items\", {got}, {wanted});", at.round));
    }

    fn write(&self, feed: &FeedOf<'_>, is_returning: bool, text: &mut Text) {
        let name = self.c.feed_name(feed);
        text.line("is_open = feed != NULL;");
        text.open("for (uint32_t i = 0; i < items._length; i++) {");
        text.open("if (is_open) {");
        text.line("/* It is the feed's, whatever happens. */");
        text.line(format!("is_open = nearcall_put_{name}(feed, items._buffer[i], &env);"));
        if let Some(free) = self.c.free(&feed.plan.item, "items._buffer[i]") {
            text.end();
            text.open("} else {");
            text.line(free);
        }
        text.close("}");
        text.close("}");
        text.line("nearcall_free(items._buffer);");
        text.open("if (is_open) {");
        let bound = if is_returning { "returned = " } else { "" };
        text.line(format!("{bound}nearcall_end_{name}(feed, &env);"));
        text.close("}");
    }

    /// What a server's feed is made of: its type, and its functions.
    pub fn print_made(&self, feed: &FeedOf<'_>, test: &OperationTest, text: &mut Text) {
        let number = test.number;
        text.open(format!("typedef struct nc_feed_{number} {{"));
        match feed.end {
            None => {
                text.line(format!("{};", self.c.declarator(&feed.plan.items(), "items")));
                text.line("uint32_t at;");
            }
            Some(_) => text.line("nc_shown items;"),
        }
        text.line("unsigned round;");
        text.close(format!("}} nc_feed_{number};"));
        text.line("");
        text.open(format!("static void nc_release_{number}(void *nc_self) {{"));
        text.line(format!("nc_feed_{number} *feed = (nc_feed_{number} *)nc_self;"));
        if feed.end.is_none() {
            if let Some(free) = self.c.free(&feed.plan.item, "feed->items._buffer[feed->at]") {
                text.open("for (; feed->at < feed->items._length; feed->at++) {");
                text.line(free);
                text.close("}");
            }
            text.line("nearcall_free(feed->items._buffer);");
        } else {
            text.line("free(feed->items.bytes);");
        }
        text.line("nearcall_free(feed);");
        text.close("}");
        text.line("");
        match feed.end {
            None => self.print_next(feed, test, text),
            Some(_) => self.print_take(feed, test, text),
        }
    }

    fn print_next(&self, feed: &FeedOf<'_>, test: &OperationTest, text: &mut Text) {
        let (number, item) = (test.number, self.c.declarator(&feed.plan.item, "*nc_item"));
        text.open(format!(
            "static bool nc_next_{number}(void *nc_self, {item}, nearcall_environment *nc_env) {{"
        ));
        text.line(format!("nc_feed_{number} *feed = (nc_feed_{number} *)nc_self;"));
        text.line("(void)nc_env;");
        text.open("if (feed->at < feed->items._length) {");
        text.line("*nc_item = feed->items._buffer[feed->at++];");
        text.line("return true;");
        text.close("}");
        let answers = with_items(test).map(|(at, round)| (at, &round.answer));
        let mut raised = answers.filter(|(_, answer)| matches!(answer, Answer::Raised { .. }));
        if let Some(first) = raised.next() {
            text.line("switch (feed->round) {");
            for (at, answer) in std::iter::once(first).chain(raised) {
                text.open(format!("case {}: {{", at.round));
                self.answer(feed, None, answer, text);
                text.line("break;");
                text.close("}");
            }
            text.line("}");
        }
        text.line("return false;");
        text.close("}");
        text.line("");
    }

    fn print_take(&self, feed: &FeedOf<'_>, test: &OperationTest, text: &mut Text) {
        let number = test.number;
        let declared = &feed.plan.item;
        let own = format!("nc_feed_{number} *feed = (nc_feed_{number} *)nc_self;");
        let parameter = self.c.in_parameter(declared, "nc_item");
        text.open(format!(
            "static void nc_take_{number}(void *nc_self, {parameter}, \
             nearcall_environment *nc_env) {{"
        ));
        text.line(&own);
        text.line("(void)nc_env;");
        text.line("nc_put(&feed->items, feed->items.count == 1 ? \"\" : \", \");");
        let is_value = self.is_scalar(declared) || self.c.is_text(declared);
        let item = if is_value { "nc_item" } else { "(*nc_item)" };
        text.line(self.show(declared, "&feed->items", item));
        text.close("}");
        text.line("");
        let Some(end) = feed.end else { return };
        let returned = end.operation.returns.as_ref();
        let type_name = self.c.returned_type(end.operation);
        let star = if type_name.ends_with('*') { "" } else { " " };
        text.open(format!(
            "static {type_name}{star}nc_end_{number}(void *nc_self, \
             nearcall_environment *nc_env) {{"
        ));
        text.line(&own);
        if let Some(declared) = returned {
            self.local(declared, "nc_returned", text);
        }
        text.line("(void)nc_env;");
        text.line("nc_put(&feed->items, \"]\");");
        text.line("switch (feed->round) {");
        for (at, round) in with_items(test) {
            text.open(format!("case {}: {{", at.round));
            self.same_items(feed, (at, round), "&feed->items", text);
            self.answer(feed, returned, &round.answer, text);
            text.line("break;");
            text.close("}");
        }
        text.line("}");
        text.line("memset(&feed->items, 0, sizeof feed->items);");
        if returned.is_some() {
            text.line("return nc_returned;");
        }
        text.close("}");
        text.line("");
    }

    /// How a feed ends.
    fn answer(&self, feed: &FeedOf<'_>, returns: Option<&Type>, answer: &Answer, text: &mut Text) {
        match (answer, returns) {
            (Answer::Raised { index, members }, _) => {
                self.raise(feed.open.operation.raises[*index], members, text);
            }
            (Answer::Returned { returned: Some(value), .. }, Some(declared)) => {
                self.assign(declared, value, "nc_returned", text);
            }
            _ => {}
        }
    }

    /// What the function of a server returns.
    pub fn made_local(&self, feed: &FeedOf<'_>, number: usize, returns: &str, text: &mut Text) {
        let functions = match feed.end {
            None => format!("nc_next_{number}"),
            Some(_) => format!("nc_take_{number}, nc_end_{number}"),
        };
        text.line(format!("{returns} nc_returned = {{NULL, nc_release_{number}, {functions}}};"));
    }

    /// What a procedure that opens a feed does in one round.
    pub fn feed_served(&self, feed: &FeedOf<'_>, (at, round): (At<'_>, &Round), text: &mut Text) {
        self.compared(feed.open, (at, round), text);
        let Some(items) = &round.items else {
            return self.answer(feed, None, &round.answer, text);
        };
        let number = at.test.number;
        text.line(format!("nc_feed_{number} *feed = (nc_feed_{number} *)nc_memory(sizeof *feed);"));
        text.line(format!("feed->round = {};", at.round));
        match feed.end {
            None => self.assign(&feed.plan.items(), items, "feed->items", text),
            Some(_) => text.line("nc_put(&feed->items, \"[\");"),
        }
        text.line("nc_returned.self = feed;");
    }
}

/// The rounds whose feed is opened.
pub fn with_items(test: &OperationTest) -> impl Iterator<Item = (At<'_>, &Round)> {
    let rounds = test.rounds.iter().enumerate();
    let rounds = rounds.map(|(index, round)| (At { test, round: index }, round));
    rounds.filter(|(_, round)| round.items.is_some())
}
