//! Exchanges: the server takes all items, compares them, and then gives its own; so does the client
//! the other way round.

use crate::back::c::exchanges::ExchangeOf;
use crate::back::c::text::Text;
use crate::back::cpp::selftest::{At, Programs};
use crate::model::Type;
use crate::selftest::{Answer, Round};

impl Programs<'_, '_, '_> {
    /// The items that a client sends.
    pub fn sent_local(&self, exchange: &ExchangeOf<'_>, round: &Round, text: &mut Text) {
        let declared = batch(exchange.sent.item);
        text.line(format!("{} sent{{}};", self.cpp.type_name(&declared)));
        if let Some(items) = &round.sent {
            self.assign(&declared, items, "sent", text);
        }
    }

    /// Opens one by `call`, and uses both sides to their ends.
    pub fn exchange_called(&self, call: &str, text: &mut Text) {
        text.line(format!("auto sides = {call};"));
        text.open("for (const auto &item : sent) {");
        text.line("sides.first.put(item);");
        text.close("}");
        text.line("sides.first.end();");
        text.open("for (auto &item : sides.second) {");
        text.line("items.push_back(std::move(item));");
        text.close("}");
    }

    /// What a procedure that opens one does in one round.
    pub fn exchange_served(
        &self,
        exchange: &ExchangeOf<'_>,
        (at, round): (At<'_>, &Round),
        text: &mut Text,
    ) {
        let operation = exchange.came.open.operation;
        self.compared(exchange.came.open, (at, round), text);
        let (Some(items), Some(wanted)) = (&round.items, &round.sent) else {
            if let Answer::Raised { index, members } = &round.answer {
                self.throw(operation.raises[*index], members, text);
            }
            return;
        };
        let (came, sent) = (batch(exchange.came.item), batch(exchange.sent.item));
        text.line(format!("{} items{{}};", self.cpp.type_name(&came)));
        self.assign(&came, items, "items", text);
        text.line("std::thread([items = std::move(items), in = std::move(nc_inlet),");
        text.open("             out = std::move(nc_outlet)]() mutable {");
        text.line(format!("{} sent{{}};", self.cpp.type_name(&sent)));
        text.open("try {");
        text.open("for (auto &item : in) {");
        text.line("sent.push_back(std::move(item));");
        text.close("}");
        self.same(at, ("sent", "sent"), (&sent, wanted), text);
        text.open("for (const auto &item : items) {");
        text.line("out.put(item);");
        text.close("}");
        if let Answer::Raised { index, members } = &round.answer {
            let id = operation.raises[*index];
            text.line(format!("{} nc_raised;", self.cpp.path(id)));
            self.assign_fields(id, members, "nc_raised", text);
            text.line("out.raise(nc_raised);");
        } else {
            text.line("out.end();");
        }
        text.end();
        text.open("} catch (const nearcall::given_up &) {");
        text.line("/* The client has said what differs. */");
        text.close("}");
        text.close("}).detach();");
    }
}

/// All items, as the values of a self-test have them.
fn batch(item: &Type) -> Type {
    Type::Sequence { element: Box::new(item.clone()), bound: None }
}
