//! Exchanges: the server takes all items, compares them, and then gives its own; so does the client
//! the other way round.

use crate::back::c::exchanges::ExchangeOf;
use crate::back::c::selftest::feeds::with_items;
use crate::back::c::selftest::{At, Programs};
use crate::back::c::text::Text;
use crate::back::c::types::quoted;
use crate::model::Type;
use crate::selftest::{Answer, OperationTest, Round, Value, shortened, shown};

impl Programs<'_, '_> {
    /// Opens one, and uses both sides to their ends.
    pub fn exchange_called(
        &self,
        exchange: &ExchangeOf<'_>,
        (at, round): (At<'_>, &Round),
        arguments: &str,
        text: &mut Text,
    ) {
        let (came, sent) = (&exchange.came, &exchange.sent);
        let (name, batch) = (self.c.feed_name(came), batch(sent.item));
        text.line(format!("nearcall_sides_{name} sides;"));
        text.line("bool is_open;");
        text.line("nc_shown items = {NULL, 0, 0};");
        self.local(came.item, "item", text);
        self.local(&batch, "sent", text);
        if let Some(items) = &round.sent {
            self.assign(&batch, items, "sent", text);
        }
        text.line(format!("nc_round({}, {});", at.test.number, at.test.rounds.len()));
        text.line(format!("sides = {name}({arguments}, &env);"));
        text.line("is_open = sides.sink != NULL;");
        text.open("for (uint32_t i = 0; i < sent._length; i++) {");
        text.open("if (is_open) {");
        text.line("/* It is the sink's, whatever happens. */");
        text.line(format!("is_open = nearcall_put_{name}(sides.sink, sent._buffer[i], &env);"));
        if let Some(free) = self.c.free(sent.item, "sent._buffer[i]") {
            text.end();
            text.open("} else {");
            text.line(free);
        }
        text.close("}");
        text.close("}");
        text.line("nearcall_free(sent._buffer);");
        text.open("if (is_open) {");
        text.line(format!("nearcall_end_{name}(sides.sink, &env);"));
        text.line("is_open = env.outcome == NEARCALL_RETURNED;");
        text.close("}");
        text.line("nc_put(&items, \"[\");");
        text.open(format!("while (is_open && nearcall_next_{name}(sides.feed, &item, &env)) {{"));
        text.line("nc_put(&items, items.count == 1 ? \"\" : \", \");");
        text.line(self.show(came.item, "&items", "item"));
        text.lines(self.c.free(came.item, "item"));
        text.close("}");
        text.line("nc_put(&items, \"]\");");
        self.all_same((at, "items"), ("&items", came.item), round.items.as_ref(), text);
        text.line(format!("nearcall_release_sink_{name}(sides.sink);"));
        text.line(format!("nearcall_release_feed_{name}(sides.feed);"));
        self.outcome_of(came.open.operation, None, (at, round), text);
    }

    /// Compares what is shown of items.
    fn all_same(
        &self,
        (at, what): (At<'_>, &str),
        (got, item): (&str, &Type),
        wanted: Option<&Value>,
        text: &mut Text,
    ) {
        let none = Value::Items { part: Vec::new(), count: 0 };
        let wanted = shown(self.c.model, &batch(item), wanted.unwrap_or(&none));
        let (place, wanted) = (quoted(&at.test.place), quoted(&shortened(&wanted)));
        text.line(format!("nc_same({place}, {}, \"{what}\", {got}, {wanted});", at.round));
    }

    /// What a server's thread does with both ends.
    pub fn print_talk(&self, exchange: &ExchangeOf<'_>, test: &OperationTest, text: &mut Text) {
        let (came, sent) = (&exchange.came, &exchange.sent);
        let (name, number) = (self.c.feed_name(came), test.number);
        text.open(format!("typedef struct nc_talk_{number} {{"));
        text.line(format!("nearcall_inlet_{name} *inlet;"));
        text.line(format!("nearcall_outlet_{name} *outlet;"));
        text.line("unsigned round;");
        text.close(format!("}} nc_talk_{number};"));
        text.line("");
        text.open(format!("static void *nc_talk_on_{number}(void *nc_self) {{"));
        text.line(format!("nc_talk_{number} *talk = (nc_talk_{number} *)nc_self;"));
        text.line("nearcall_environment nc_own_env;");
        text.line("nearcall_environment *nc_env = &nc_own_env;");
        text.line("nc_shown sent = {NULL, 0, 0};");
        self.local(sent.item, "item", text);
        self.local(&batch(came.item), "items", text);
        text.line("nc_put(&sent, \"[\");");
        text.open(format!("while (nearcall_take_{name}(talk->inlet, &item, nc_env)) {{"));
        text.line("nc_put(&sent, sent.count == 1 ? \"\" : \", \");");
        text.line(self.show(sent.item, "&sent", "item"));
        text.lines(self.c.free(sent.item, "item"));
        text.close("}");
        text.line("nc_put(&sent, \"]\");");
        text.line("switch (talk->round) {");
        for (at, round) in with_items(test) {
            text.open(format!("case {}: {{", at.round));
            self.all_same((at, "sent"), ("&sent", sent.item), round.sent.as_ref(), text);
            if let Some(items) = &round.items {
                self.assign(&batch(came.item), items, "items", text);
            }
            text.line("break;");
            text.close("}");
        }
        text.line("}");
        text.open("for (uint32_t i = 0; i < items._length; i++) {");
        text.line("/* It is the outlet's, whatever happens. */");
        text.line(format!("nearcall_give_{name}(talk->outlet, items._buffer[i], nc_env);"));
        text.close("}");
        text.line("nearcall_free(items._buffer);");
        text.line("nearcall_begin(nc_env);");
        let mut raised = with_items(test).filter_map(|(at, round)| match &round.answer {
            Answer::Raised { index, members } => Some((at, *index, members)),
            Answer::Returned { .. } => None,
        });
        if let Some(first) = raised.next() {
            text.line("switch (talk->round) {");
            for (at, index, members) in std::iter::once(first).chain(raised) {
                text.open(format!("case {}: {{", at.round));
                self.raise(came.open.operation.raises[index], members, text);
                text.line("break;");
                text.close("}");
            }
            text.line("}");
        }
        text.line(format!("nearcall_release_inlet_{name}(talk->inlet);"));
        text.line(format!("nearcall_release_outlet_{name}(talk->outlet, nc_env);"));
        text.line("nearcall_free(talk);");
        text.line("return NULL;");
        text.close("}");
        text.line("");
    }

    /// What a procedure that opens one does in one round.
    pub fn exchange_served(
        &self,
        exchange: &ExchangeOf<'_>,
        (at, round): (At<'_>, &Round),
        text: &mut Text,
    ) {
        let (open, number) = (exchange.came.open, at.test.number);
        self.compared(open, (at, round), text);
        if let (None, Answer::Raised { index, members }) = (&round.items, &round.answer) {
            self.raise(open.operation.raises[*index], members, text);
            let name = self.c.feed_name(&exchange.came);
            text.line(format!("nearcall_release_inlet_{name}(nc_inlet);"));
            text.line(format!("nearcall_release_outlet_{name}(nc_outlet, NULL);"));
            return;
        }
        text.line(format!("nc_talk_{number} *talk = (nc_talk_{number} *)nc_memory(sizeof *talk);"));
        text.line("pthread_t thread;");
        text.line("talk->inlet = nc_inlet;");
        text.line("talk->outlet = nc_outlet;");
        text.line(format!("talk->round = {};", at.round));
        text.open(format!("if (pthread_create(&thread, NULL, nc_talk_on_{number}, talk) != 0) {{"));
        text.line("nc_stop(\"there is no thread\");");
        text.close("}");
        text.line("pthread_detach(thread);");
    }
}

/// All items, as the values of a self-test have them.
fn batch(item: &Type) -> Type {
    Type::Sequence { element: Box::new(item.clone()), bound: None }
}
