//! Exchanges (design note 0020): the two sides that a client has, the two ends that a procedure is
//! given, and entry stubs in two halves, of which the second one runs when there is something to
//! reply.

use crate::back::c::C;
use crate::back::c::client::{fixed_bytes, reply_bytes};
use crate::back::c::feeds::{FeedOf, print_room};
use crate::back::c::interface::Procedure;
use crate::back::c::items::Keeping;
use crate::back::c::server::{print_reply, puts};
use crate::back::c::stub::{Printer, Side, payload_counts};
use crate::back::c::text::Text;
use crate::layout::Root;
use crate::model::{Direction, FeedPart};
use crate::plan::{InterfacePlan, Step};

/// Both sides of an exchange: what comes to its client, and what goes to its server.
pub struct ExchangeOf<'p> {
    pub came: FeedOf<'p>,
    pub sent: FeedOf<'p>,
}

impl C<'_> {
    /// The exchanges of an interface.
    pub fn exchanges<'p>(&'p self, plan: &'p InterfacePlan) -> Vec<ExchangeOf<'p>> {
        let mut sides = self.feeds(plan).into_iter().filter(FeedOf::is_exchange);
        let mut found = Vec::new();
        while let (Some(came), Some(sent)) = (sides.next(), sides.next()) {
            found.push(ExchangeOf { came, sent });
        }
        found
    }

    /// The exchange that a procedure opens.
    pub fn exchange_of(&self, procedure: Procedure<'_>) -> Option<ExchangeOf<'_>> {
        let plan = self.plan.interfaces.iter().find(|plan| plan.id == procedure.interface)?;
        let index = procedure.plan.index;
        self.exchanges(plan).into_iter().find(|one| one.came.plan.open == index)
    }

    /// What both sides of a client and both ends of a server are, for the header.
    pub fn declare_exchange(&self, exchange: &ExchangeOf<'_>, text: &mut Text) {
        let ExchangeOf { came, sent } = exchange;
        let name = self.feed_name(came);
        for record in [self.feed_record(sent), self.feed_record(came)] {
            text.line(format!("typedef struct {record} {record};"));
        }
        text.line(
            "/* Null both after an error. Each is used by one thread at a time, whichever. */",
        );
        text.open(format!("typedef struct nearcall_sides_{name} {{"));
        text.line(format!("{} *sink;", self.feed_record(sent)));
        text.line(format!("{} *feed;", self.feed_record(came)));
        text.close(format!("}} nearcall_sides_{name};"));
        text.line(format!("{};", self.sides_signature(exchange)));
        self.declare_side(sent, text);
        self.declare_side(came, text);
        text.line("/* A server's ends of it, each used by one thread at a time, whichever. */");
        for end in ["inlet", "outlet"] {
            text.line(format!("typedef struct nearcall_{end}_{name} nearcall_{end}_{name};"));
        }
        text.line(
            "/* Waits for the next item. False if there are none any more, or if its client has",
        );
        text.line(" * given them up: NEARCALL_GIVEN_UP. */");
        text.line(format!("{};", self.take_signature(sent)));
        text.line(
            "/* Gives its client an item, which is the outlet's, whatever happens; waits while a",
        );
        text.line(
            " * batch is there that nobody has asked for. False if the interface forbids it,",
        );
        text.line(
            " * which is NEARCALL_USAGE: it is not sent, the others are, and the outlet goes on.",
        );
        text.line(" * False if nobody wants it: NEARCALL_GIVEN_UP. */");
        text.line(format!("{};", self.give_signature(came)));
        text.line("/* Always at last: no more are taken. */");
        text.line(format!("{};", release_inlet_signature(name)));
        text.line(
            "/* Always at last: there are no more, and these are all if `nc_env` is null or has no",
        );
        text.line(
            " * error. What it has raised comes behind them; behind any other error, such as an",
        );
        text.line(" * item's that was refused, the client's call fails. */");
        text.line(format!("{};", release_outlet_signature(name)));
    }

    fn sides_signature(&self, exchange: &ExchangeOf<'_>) -> String {
        let name = self.feed_name(&exchange.came);
        let open = exchange.came.open;
        let spelled = open.operation.spelled_parameters();
        self.call_signature_of(open, spelled, &format!("nearcall_sides_{name}"), name)
    }

    fn take_signature(&self, sent: &FeedOf<'_>) -> String {
        let (name, item) = (self.feed_name(sent), self.declarator(sent.item, "*nc_item"));
        format!(
            "bool nearcall_take_{name}(nearcall_inlet_{name} *nc_inlet, {item}, \
             nearcall_environment *nc_env)"
        )
    }

    fn give_signature(&self, came: &FeedOf<'_>) -> String {
        let (name, item) = (self.feed_name(came), self.declarator(came.item, "nc_item"));
        format!(
            "bool nearcall_give_{name}(nearcall_outlet_{name} *nc_outlet, {item}, \
             nearcall_environment *nc_env)"
        )
    }

    /// The parameters that a server's procedure has besides.
    pub fn exchange_parameters(&self, procedure: Procedure<'_>) -> Option<String> {
        let exchange = self.exchange_of(procedure)?;
        let name = self.feed_name(&exchange.came);
        Some(format!(", nearcall_inlet_{name} *nc_inlet, nearcall_outlet_{name} *nc_outlet"))
    }

    /// Both sides and both ends, for the source.
    pub fn print_exchange(&self, exchange: &ExchangeOf<'_>, text: &mut Text) {
        let ExchangeOf { came, sent } = exchange;
        self.print_record(came, text);
        self.print_record(sent, text);
        for side in [sent, came] {
            if self.keeping(side) == Keeping::Written {
                self.print_item_writer(side, text);
            }
        }
        self.print_sides(exchange, text);
        self.print_side(sent, text);
        self.print_side(came, text);
        self.print_ends(exchange, text);
        let name = self.feed_name(came);
        let taken = self.print_free_of(sent.item, &format!("nearcall_free_taken_of_{name}"), text);
        let taken_type = self.type_name(sent.item);
        let (given_type, given) =
            self.given_part(came, &format!("nearcall_free_given_of_{name}"), text);
        text.line(format!("static const nearcall_exchange nearcall_exchange_{name} = {{"));
        text.line(format!("    {taken}, {given}, sizeof({taken_type}), sizeof({given_type}),"));
        text.line(format!("    {}, {},", came.batch_count, came.plan.open));
        text.line("};");
        text.line("");
    }

    fn print_sides(&self, exchange: &ExchangeOf<'_>, text: &mut Text) {
        let ExchangeOf { came, sent } = exchange;
        let (name, stub) = (self.feed_name(came), self.stub_name(came.open));
        let spelled = came.open.operation.spelled_parameters().len();
        let names = self.parameter_names(came.open.operation);
        let arguments: String = names[..spelled].iter().map(|name| format!(", {name}")).collect();
        let (feed, sink) = (self.feed_record(came), self.feed_record(sent));
        text.open(format!("{} {{", self.sides_signature(exchange)));
        text.line(format!("const size_t nc_bytes[2] = {{sizeof({feed}), sizeof({sink})}};"));
        text.line("uint64_t nc_numbers[2] = {0, 0};");
        text.line("void *nc_made[2];");
        text.line(format!("nearcall_sides_{name} nc_sides = {{NULL, NULL}};"));
        print_room(came.open, 2, "nc_sides", text);
        text.line(format!("nc_numbers[0] = {stub}(nc_client{arguments}, &nc_numbers[1], nc_env);"));
        text.line("nearcall_sides_made((const nearcall_client *)nc_client, nc_numbers, nc_bytes,");
        text.line("    nc_made, nc_env);");
        text.line(format!("nc_sides.feed = ({feed} *)nc_made[0];"));
        text.line(format!("nc_sides.sink = ({sink} *)nc_made[1];"));
        if self.keeping(sent) != Keeping::Written {
            text.open("if (nc_sides.sink != NULL) {");
            text.line("nc_sides.sink->batch._buffer = nc_sides.sink->items;");
            text.close("}");
        }
        text.line("return nc_sides;");
        text.close("}");
        text.line("");
    }

    /// The functions of the two ends that a procedure is given.
    fn print_ends(&self, exchange: &ExchangeOf<'_>, text: &mut Text) {
        let name = self.feed_name(&exchange.came);
        self.print_give(&exchange.came, text);
        let mut function = |signature: String, lines: &[&str]| {
            text.open(format!("{signature} {{"));
            text.lines(lines.iter().copied().map(String::from));
            text.close("}");
            text.line("");
        };
        function(
            self.take_signature(&exchange.sent),
            &[
                "nearcall_begin(nc_env);",
                "memset(nc_item, 0, sizeof *nc_item);",
                "return nearcall_inlet_take((nearcall_inlet *)nc_inlet, nc_item, nc_env);",
            ],
        );
        function(
            release_inlet_signature(name),
            &["nearcall_inlet_release((nearcall_inlet *)nc_inlet);"],
        );
        function(
            release_outlet_signature(name),
            &["nearcall_outlet_release((nearcall_outlet *)nc_outlet, nc_env);"],
        );
    }

    fn print_give(&self, came: &FeedOf<'_>, text: &mut Text) {
        text.open(format!("{} {{", self.give_signature(came)));
        let outlet = "(nearcall_outlet *)nc_outlet";
        if self.keeping(came) == Keeping::Written {
            text.line("nearcall_writer nc_writer = {0};");
            text.line("nearcall_begin(nc_env);");
            self.print_written(came, "&nc_writer", "nc_item", text);
            text.line(format!("return nearcall_give_written({outlet}, &nc_writer, nc_env);"));
        } else {
            text.line("nearcall_begin(nc_env);");
            let refuse = |breach: &str| format!("nearcall_refuse_argument(nc_env, {breach})");
            self.print_judged(came, "nc_item", &refuse, text);
            text.line(format!("return nearcall_outlet_give({outlet}, &nc_item, nc_env);"));
        }
        text.close("}");
        text.line("");
    }

    /// Makes the ends of one, in its entry stub.
    pub fn exchange_made(&self, procedure: Procedure<'_>) -> Option<String> {
        let exchange = self.exchange_of(procedure)?;
        let name = self.feed_name(&exchange.came);
        Some(format!(
            "nearcall_make_exchange(nc_call, &nearcall_exchange_{name}, &nc_inlet, &nc_outlet);"
        ))
    }

    /// The arguments that its procedure has besides.
    pub fn exchange_arguments(&self, procedure: Procedure<'_>) -> Option<String> {
        let exchange = self.exchange_of(procedure)?;
        let name = self.feed_name(&exchange.came);
        Some(format!(", (nearcall_inlet_{name} *)nc_inlet, (nearcall_outlet_{name} *)nc_outlet"))
    }

    /// The entry stub of what carries items: one function judges what came, and another one replies
    /// once there are some, or room.
    pub fn print_waiting_stub(&self, procedure: Procedure<'_>, text: &mut Text) {
        let Some(feed) = self.feed_here(procedure) else { return };
        let name = self.feed_name(&feed);
        let is_next = procedure.operation.feed.as_ref().map(|one| one.part) == Some(FeedPart::Next);
        let part = if is_next { "next" } else { "put" };
        self.print_finish(procedure, &feed, &format!("nearcall_finish_{part}_{name}"), text);
        let plan = procedure.plan;
        let mut printer = Printer::new(self, procedure, Side::Server);
        let request = fixed_bytes(&plan.client.request);
        printer.text.line(format!("nearcall_arguments_fixed(nc_call, nc_fixed, {request});"));
        for step in plan.server.request.iter().filter(|step| !matches!(step, Step::Run)) {
            printer.read(step, &plan.server.request);
        }
        let names = printer.names.clone();
        let (own, number) = (&names[0], &names[1]);
        let begin = format!(
            "nearcall_exchange_{part}(nc_call, &nearcall_exchange_{name}, {own}, {number},"
        );
        printer.text.line(begin);
        match is_next {
            true => printer.text.line(format!("    nearcall_finish_next_{name});")),
            false => {
                let items = &names[2];
                printer.text.line(format!(
                    "    {items}._buffer, {items}._length, nearcall_finish_put_{name});"
                ));
                printer.text.line("/* What they hold is the exchange's. */");
                printer.text.line(format!("{items}._length = 0;"));
            }
        }
        let takes = payload_counts(&plan.server.request).1;
        let allocated = printer.allocated_takes(&plan.server.request);
        let body = std::mem::take(&mut printer.text).finish();
        text.open(format!("{} {{", self.entry_signature(procedure)));
        text.line(format!("uint8_t nc_fixed[{request}];"));
        let given = || (0u32..).zip(&names).zip(&procedure.operation.parameters);
        let given = || given().filter(|(_, parameter)| parameter.direction == Direction::In);
        for ((index, name), _) in given() {
            text.lines(printer.local_root(Root::Parameter(index), name));
        }
        printer.print_locals(text, 0, takes);
        text.line("(void)nc_server;");
        text.lines(body.lines().map(String::from));
        if takes > 0 {
            text.label("nc_done:");
        }
        for ((index, name), _) in given() {
            text.lines(printer.free_root(Root::Parameter(index), name));
        }
        printer.print_frees(text, allocated);
        text.close("}");
        text.line("");
    }

    /// What replies.
    fn print_finish(
        &self,
        procedure: Procedure<'_>,
        feed: &FeedOf<'_>,
        function: &str,
        text: &mut Text,
    ) {
        let plan = procedure.plan;
        let is_next = feed.end.is_none();
        let mut printer = Printer::new(self, procedure, Side::Server);
        if is_next {
            self.print_raised(&mut printer, procedure);
            printer.text.lines(self.batch_returned(feed, "nc_batch->"));
        }
        printer.enter(None);
        print_reply(&mut printer, &plan.server.reply, 0);
        let body = std::mem::take(&mut printer.text).finish();
        match is_next {
            true => {
                text.line(format!("static void {function}(nearcall_served *nc_call,"));
                text.line("    const nearcall_batch *nc_batch, bool nc_is_last,");
                text.open("    nearcall_environment *nc_came) {");
            }
            false => text.open(format!("static void {function}(nearcall_served *nc_call) {{")),
        }
        if reply_bytes(plan) > 0 {
            text.line(format!("uint8_t nc_results[{}] = {{0}};", reply_bytes(plan)));
        }
        text.line("nearcall_message nc_message;");
        if is_next {
            text.line("nearcall_environment nc_env = *nc_came;");
            text.lines(printer.local_root(Root::Returned, "nc_returned"));
            text.line(format!("const bool {} = nc_is_last;", printer.names[2]));
        }
        printer.print_locals(text, puts(plan), 0);
        text.lines(body.lines().map(String::from));
        if is_next {
            text.label("nc_done:");
            text.lines(printer.free_root(Root::Returned, "nc_returned"));
        }
        printer.print_frees(text, 0);
        if is_next {
            text.line("nearcall_environment_release(&nc_env);");
        }
        text.close("}");
        text.line("");
    }
}

fn release_inlet_signature(name: &str) -> String {
    format!("void nearcall_release_inlet_{name}(nearcall_inlet_{name} *nc_inlet)")
}

fn release_outlet_signature(name: &str) -> String {
    format!(
        "void nearcall_release_outlet_{name}(nearcall_outlet_{name} *nc_outlet, \
         nearcall_environment *nc_env)"
    )
}
