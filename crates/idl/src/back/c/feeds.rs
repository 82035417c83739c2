//! Feeds (design note 0020): the client's ends, what a server makes of one, and what the entry
//! stubs that carry it do instead of entering a procedure.

use crate::back::c::C;
use crate::back::c::interface::Procedure;
use crate::back::c::items::Keeping;
use crate::back::c::stub::Printer;
use crate::back::c::text::Text;
use crate::layout::{Shape, shape};
use crate::model::{FeedPart, Type};
use crate::plan::{FeedPlan, FeedWay, InterfacePlan};

/// A feed, or one side of an exchange, with its procedures.
pub struct FeedOf<'p> {
    pub plan: &'p FeedPlan,
    pub open: Procedure<'p>,
    /// What carries batches.
    pub carrier: Procedure<'p>,
    /// What ends a feed that goes to the server.
    pub end: Option<Procedure<'p>>,
    pub item: &'p Type,
    /// Most items of a batch.
    pub batch_count: u32,
}

impl C<'_> {
    /// The feeds of an interface, and both sides of each exchange: what comes, then what goes.
    pub fn feeds<'p>(&'p self, plan: &'p InterfacePlan) -> Vec<FeedOf<'p>> {
        let all = self.procedures(plan);
        let mut found = Vec::new();
        for feed in &plan.feeds {
            let (next, put) = match feed.way {
                FeedWay::Back { next } => (Some(next), None),
                FeedWay::There { put, end } => (None, Some((put, end))),
                FeedWay::Both { next, put, end } => (Some(next), Some((put, end))),
            };
            let open = all[feed.open as usize];
            let (item, batch_count) = (&feed.item, feed.batch_count);
            found.extend(next.map(|next| {
                let carrier = all[next as usize];
                FeedOf { plan: feed, open, carrier, end: None, item, batch_count }
            }));
            let sent = feed.sent.as_ref();
            let (item, batch_count) =
                sent.map_or((item, batch_count), |sent| (&sent.item, sent.batch_count));
            found.extend(put.map(|(put, end)| {
                let (carrier, end) = (all[put as usize], Some(all[end as usize]));
                FeedOf { plan: feed, open, carrier, end, item, batch_count }
            }));
        }
        found
    }

    /// The feed that a procedure opens or carries; of an exchange the side, and of what opens one
    /// what comes.
    pub fn feed_of<'p>(
        &'p self,
        plan: &'p InterfacePlan,
        procedure: Procedure<'_>,
    ) -> Option<FeedOf<'p>> {
        let index = procedure.plan.index;
        self.feeds(plan).into_iter().find(|feed| feed.has(index))
    }

    /// The same, of the interface that a procedure is of.
    pub fn feed_here(&self, procedure: Procedure<'_>) -> Option<FeedOf<'_>> {
        let plan = self.plan.interfaces.iter().find(|plan| plan.id == procedure.interface)?;
        self.feed_of(plan, procedure)
    }

    /// What the function is called that opens a feed; the names of all others are made of it.
    pub fn feed_name(&self, feed: &FeedOf<'_>) -> &str {
        self.names.function(feed.open.interface, feed.open.plan.index)
    }

    /// What the record is called that a client has of it.
    pub fn feed_record(&self, feed: &FeedOf<'_>) -> String {
        format!("nearcall_{}_{}", feed.kind(), self.feed_name(feed))
    }

    /// The client's functions, for the header.
    pub fn declare_feed(&self, feed: &FeedOf<'_>, text: &mut Text) {
        let record = self.feed_record(feed);
        text.line(format!("typedef struct {record} {record};"));
        text.line("/* Null after an error. Used by one thread at a time. */");
        text.line(format!("{};", self.open_signature(feed)));
        self.declare_side(feed, text);
    }

    /// The functions of what was opened.
    pub fn declare_side(&self, feed: &FeedOf<'_>, text: &mut Text) {
        let kind = feed.kind();
        match feed.end {
            None => {
                text.line(
                    "/* The next item. False if there are none any more, or after an error. */",
                );
                text.line(format!("{};", self.next_signature(feed)));
            }
            Some(end) => {
                text.lines([
                    format!("/* Sends an item, with others; it is the {kind}'s, whatever happens."),
                    String::from(" * False if the interface forbids it (NEARCALL_USAGE, as of an"),
                    String::from(" * argument) or there is no memory for it: it is not sent, the"),
                    format!(" * others are, and the {kind} goes on. False, too, if what was put"),
                    String::from(" * before could not be sent: nearcall_feed_is_over then. */"),
                ]);
                text.line(format!("{};", self.put_signature(feed)));
                text.line("/* Sends what there is. What becomes of it is told after it. */");
                text.line(format!("{};", self.flush_signature(feed)));
                text.line(match feed.is_exchange() {
                    false => "/* There are no more: what the server makes of them. */",
                    true => "/* There are no more. */",
                });
                text.line(format!("{};", self.end_signature(feed, end)));
            }
        }
        text.line(format!("/* Always at last: a {kind} that is not over is given up. */"));
        text.line(format!("{};", self.release_signature(feed)));
    }

    fn open_signature(&self, feed: &FeedOf<'_>) -> String {
        let (record, name) = (self.feed_record(feed), self.feed_name(feed));
        self.call_signature(feed.open, &format!("{record} *"), name)
    }

    fn next_signature(&self, feed: &FeedOf<'_>) -> String {
        self.item_signature(feed, "next", "*nc_item")
    }

    fn put_signature(&self, feed: &FeedOf<'_>) -> String {
        self.item_signature(feed, "put", "nc_item")
    }

    fn item_signature(&self, feed: &FeedOf<'_>, verb: &str, item: &str) -> String {
        let (record, name) = (self.feed_record(feed), self.feed_name(feed));
        let item = self.declarator(feed.item, item);
        format!(
            "bool nearcall_{verb}_{name}({record} *nc_feed, {item}, nearcall_environment *nc_env)"
        )
    }

    fn flush_signature(&self, feed: &FeedOf<'_>) -> String {
        let (record, name) = (self.feed_record(feed), self.feed_name(feed));
        format!("bool nearcall_flush_{name}({record} *nc_feed, nearcall_environment *nc_env)")
    }

    /// What gives a client's end back: of an exchange it says which.
    pub fn release_name(&self, feed: &FeedOf<'_>) -> String {
        let name = self.feed_name(feed);
        match (feed.is_exchange(), feed.end) {
            (false, _) => format!("nearcall_release_{name}"),
            (true, None) => format!("nearcall_release_feed_{name}"),
            (true, Some(_)) => format!("nearcall_release_sink_{name}"),
        }
    }

    fn release_signature(&self, feed: &FeedOf<'_>) -> String {
        format!("void {}({} *nc_feed)", self.release_name(feed), self.feed_record(feed))
    }

    fn end_signature(&self, feed: &FeedOf<'_>, end: Procedure<'_>) -> String {
        let (name, returns) = (self.feed_name(feed), self.returned_type(end.operation));
        let star = if returns.ends_with('*') { "" } else { " " };
        let record = self.feed_record(feed);
        format!(
            "{returns}{star}nearcall_end_{name}({record} *nc_feed, nearcall_environment *nc_env)"
        )
    }

    /// Both ends of a feed, for the source.
    pub fn print_feed(&self, feed: &FeedOf<'_>, text: &mut Text) {
        self.print_record(feed, text);
        if self.keeping(feed) == Keeping::Written {
            self.print_item_writer(feed, text);
        }
        self.print_open(feed, text);
        self.print_side(feed, text);
        match feed.end {
            None => self.print_source(feed, text),
            Some(end) => self.print_intake(feed, end, text),
        }
    }

    /// What a client has of a feed.
    pub fn print_record(&self, feed: &FeedOf<'_>, text: &mut Text) {
        text.open(format!("struct {} {{", self.feed_record(feed)));
        text.line("nearcall_feed own;");
        if feed.end.is_some() && self.keeping(feed) == Keeping::Written {
            text.line("nearcall_batch_put batch;");
            text.close("};");
            return text.line("");
        }
        text.line(format!("{};", self.declarator(self.batch_type(feed), "batch")));
        match feed.end {
            None => text.line("uint32_t at;"),
            Some(_) => {
                let items = format!("items[{}];", feed.batch_count);
                text.line(self.declarator(feed.item, &items));
            }
        }
        text.close("};");
        text.line("");
    }

    /// The functions of what was opened.
    pub fn print_side(&self, feed: &FeedOf<'_>, text: &mut Text) {
        match feed.end {
            None => self.print_next(feed, text),
            Some(end) => self.print_put(feed, end, text),
        }
    }

    /// A batch, in the signature of what carries it.
    pub fn batch_type<'f>(&self, feed: &'f FeedOf<'_>) -> &'f Type {
        let operation = feed.carrier.operation;
        let items = operation.parameters.last().map(|items| &items.declared);
        operation.returns.as_ref().or(items).unwrap_or(feed.item)
    }

    fn print_open(&self, feed: &FeedOf<'_>, text: &mut Text) {
        let names = self.parameter_names(feed.open.operation);
        let arguments: String = names.iter().map(|name| format!(", {name}")).collect();
        let stub = self.stub_name(feed.open);
        let feed_type = self.feed_record(feed);
        text.open(format!("{} {{", self.open_signature(feed)));
        text.line("uint64_t nc_number;");
        text.line(format!("{feed_type} *nc_feed;"));
        print_room(feed.open, 1, "NULL", text);
        text.line(format!("nc_number = {stub}(nc_client{arguments}, nc_env);"));
        text.line(format!("nc_feed = ({feed_type} *)nearcall_feed_made("));
        text.line("    (const nearcall_client *)nc_client, nc_number, sizeof *nc_feed, nc_env);");
        if feed.end.is_some() && self.keeping(feed) != Keeping::Written {
            text.open("if (nc_feed != NULL) {");
            text.line("nc_feed->batch._buffer = nc_feed->items;");
            text.close("}");
        }
        text.line("return nc_feed;");
        text.close("}");
        text.line("");
    }

    /// The client's functions of a feed that comes.
    fn print_next(&self, feed: &FeedOf<'_>, text: &mut Text) {
        let index = feed.carrier.plan.index;
        self.print_ask(feed, text);
        text.open(format!("{} {{", self.next_signature(feed)));
        text.line("bool nc_is_last = false;");
        text.line("nearcall_begin(nc_env);");
        text.line("memset(nc_item, 0, sizeof *nc_item);");
        text.open("if (nc_feed->at == nc_feed->batch._length) {");
        text.line("/* The items of the batch before are the caller's. */");
        text.line("nearcall_free(nc_feed->batch._buffer);");
        text.line("memset(&nc_feed->batch, 0, sizeof nc_feed->batch);");
        text.line("nc_feed->at = 0;");
        text.lines(["if (nc_feed->own.is_over) {", "    return false;", "}"].map(String::from));
        let ask = format!("nearcall_ask_{}(nc_feed, NEARCALL_POST_", self.feed_name(feed));
        text.open(format!(
            "if (nc_feed->own.ahead.state != NEARCALL_NOT_POSTED || {ask}NOW, nc_env)) {{"
        ));
        let collect = self.collect_name(feed.carrier);
        let posted = "&nc_feed->own.ahead";
        text.line(format!("nc_feed->batch = {collect}({posted}, &nc_is_last, nc_env);"));
        text.close("}");
        text.line(format!(
            "if (!nearcall_feed_came(&nc_feed->own, {index}, nc_feed->batch._length, nc_is_last,"
        ));
        text.lines(["        nc_env)) {", "    return false;", "}"].map(String::from));
        text.open("if (!nc_is_last) {");
        text.line(format!("(void){ask}SPARE, nc_env);"));
        text.close("}");
        text.close("}");
        text.line("*nc_item = nc_feed->batch._buffer[nc_feed->at++];");
        text.line("return true;");
        text.close("}");
        text.line("");
        self.print_release(feed, "nc_feed->at", text);
    }

    fn print_release(&self, feed: &FeedOf<'_>, first: &str, text: &mut Text) {
        text.open(format!("{} {{", self.release_signature(feed)));
        text.lines(["if (nc_feed == NULL) {", "    return;", "}"].map(String::from));
        if feed.end.is_some() && self.keeping(feed) == Keeping::Written {
            text.line("nearcall_free(nc_feed->batch.items.bytes);");
        } else {
            self.print_item_frees(feed, first, text);
        }
        if feed.end.is_none() {
            text.line("nearcall_free(nc_feed->batch._buffer);");
        }
        text.line("nearcall_feed_end(&nc_feed->own);");
        text.close("}");
        text.line("");
    }

    /// Gives back what the items of the batch hold.
    fn print_item_frees(&self, feed: &FeedOf<'_>, first: &str, text: &mut Text) {
        if let Some(free) = self.free(feed.item, "nc_feed->batch._buffer[nc_i]") {
            text.open(format!(
                "for (uint32_t nc_i = {first}; nc_i < nc_feed->batch._length; nc_i++) {{"
            ));
            text.line(free);
            text.close("}");
        }
    }

    /// The client's functions of a feed that goes.
    fn print_put(&self, feed: &FeedOf<'_>, end: Procedure<'_>, text: &mut Text) {
        let (name, put) = (self.feed_name(feed), feed.carrier.plan.index);
        let over = format!("return nearcall_feed_over(nc_feed->own.client, {put}, nc_env);");
        text.open(format!("{} {{", self.put_signature(feed)));
        text.line("nearcall_begin(nc_env);");
        text.open("if (nc_feed->own.is_over) {");
        text.lines(self.free(feed.item, "nc_item"));
        text.line(&over);
        text.close("}");
        let length = self.print_kept(feed, text);
        let count = feed.batch_count;
        text.line(format!(
            "return nc_feed->batch.{length} < {count}u || nearcall_flush_{name}(nc_feed, nc_env);"
        ));
        text.close("}");
        text.line("");
        self.print_flush(feed, &over, text);
        text.open(format!("{} {{", self.end_signature(feed, end)));
        let call = format!(
            "{}((const {} *)nc_feed->own.client, nc_feed->own.feed, nc_env);",
            self.stub_name(end),
            self.names.declaration(feed.open.interface)
        );
        let flushed = format!(
            "if (nearcall_flush_{name}(nc_feed, nc_env) && \
             nearcall_settle_{name}(nc_feed, nc_env)) {{"
        );
        let ended = "nearcall_feed_ended(&nc_feed->own, nc_env);";
        match &end.operation.returns {
            Some(declared) => {
                text.line(format!("{};", self.declarator(declared, "nc_returned")));
                text.line("memset(&nc_returned, 0, sizeof nc_returned);");
                text.open(flushed);
                text.line(format!("nc_returned = {call}"));
                text.line(ended);
                text.close("}");
                text.line("return nc_returned;");
            }
            None => {
                text.open(flushed);
                text.line(call);
                text.line(ended);
                text.close("}");
            }
        }
        text.close("}");
        text.line("");
        self.print_release(feed, "0", text);
    }

    /// Keeps an item for its batch, or leaves if it is refused; how many there are.
    fn print_kept(&self, feed: &FeedOf<'_>, text: &mut Text) -> &'static str {
        if self.keeping(feed) == Keeping::Written {
            let writer = "nearcall_batch_item(&nc_feed->batch)";
            self.print_written(feed, writer, "nc_item", text);
            text.open("if (!nearcall_batch_took(&nc_feed->batch, nc_env)) {");
            text.line("return false;");
            text.close("}");
            return "count";
        }
        let refuse = |breach: &str| format!("nearcall_refuse_argument(nc_env, {breach})");
        self.print_judged(feed, "nc_item", &refuse, text);
        text.line("nc_feed->batch._buffer[nc_feed->batch._length++] = nc_item;");
        "_length"
    }

    fn print_flush(&self, feed: &FeedOf<'_>, over: &str, text: &mut Text) {
        let own = self.names.declaration(feed.open.interface);
        let (record, name) = (self.feed_record(feed), self.feed_name(feed));
        let (post, collect) = (self.post_name(feed.carrier), self.collect_name(feed.carrier));
        let collected = format!("{collect}(&nc_feed->own.ahead, nc_env);");
        text.line("/* What became of the batch that the server is at. */");
        text.line(format!("static bool nearcall_settle_{name}({record} *nc_feed,"));
        text.open("    nearcall_environment *nc_env) {");
        text.open("if (nc_feed->own.ahead.state != NEARCALL_NOT_POSTED) {");
        text.line(&collected);
        text.close("}");
        text.line("return nearcall_feed_went(&nc_feed->own, nc_env);");
        text.close("}");
        text.line("");
        text.open(format!("{} {{", self.flush_signature(feed)));
        text.line("bool nc_is_posted;");
        text.line("nearcall_begin(nc_env);");
        text.open("if (nc_feed->own.is_over) {");
        text.line(over);
        text.close("}");
        text.open(format!("if (!nearcall_settle_{name}(nc_feed, nc_env)) {{"));
        text.line("return false;");
        text.close("}");
        let is_written = self.keeping(feed) == Keeping::Written;
        let (length, batch) = match is_written {
            true => ("count", "nearcall_batch_whole(&nc_feed->batch)"),
            false => ("_length", "&nc_feed->batch"),
        };
        text.open(format!("if (nc_feed->batch.{length} == 0) {{"));
        text.line("return true;");
        text.close("}");
        text.line(format!("nc_is_posted = {post}((const {own} *)nc_feed->own.client,"));
        text.line(format!("    nc_feed->own.feed, nc_feed->own.number, {batch},"));
        text.line("    NEARCALL_POST_EITHER, &nc_feed->own.ahead, nc_env);");
        if is_written {
            text.line("nearcall_batch_gone(&nc_feed->batch);");
        } else {
            self.print_item_frees(feed, "0", text);
            text.line("nc_feed->batch._length = 0;");
        }
        text.line("if (nearcall_feed_counted(&nc_feed->own, nc_is_posted) &&");
        text.open("    nc_feed->own.ahead.state != NEARCALL_POSTED_AHEAD) {");
        text.line(collected);
        text.close("}");
        text.line("return nearcall_feed_went(&nc_feed->own, nc_env);");
        text.close("}");
        text.line("");
    }

    /// What libnearcall calls for the items of a feed that comes.
    fn print_source(&self, feed: &FeedOf<'_>, text: &mut Text) {
        let name = self.feed_name(feed);
        text.line(format!(
            "static bool nearcall_next_of_{name}(const void *nc_made, void *nc_item,"
        ));
        text.open("    nearcall_environment *nc_env) {");
        text.line(format!(
            "const nearcall_items_{name} *nc_items = (const nearcall_items_{name} *)nc_made;"
        ));
        self.print_made_item(feed, text);
        text.close("}");
        text.line("");
        let (item, free) = self.given_part(feed, &format!("nearcall_free_of_{name}"), text);
        let count = feed.batch_count;
        text.line(format!("static const nearcall_source nearcall_source_{name} = {{"));
        text.line(format!("    nearcall_next_of_{name}, {free}, sizeof({item}), {count},"));
        text.line("};");
        text.line("");
    }

    /// A function that gives back what a value behind a pointer holds, or `NULL`.
    pub fn print_free_of(&self, declared: &Type, function: &str, text: &mut Text) -> String {
        let pointer = self.declarator(declared, "*");
        let value = format!("(*({pointer})nc_value)");
        let Some(free) = self.free(declared, &value) else { return String::from("NULL") };
        text.open(format!("static void {function}(void *nc_value) {{"));
        text.line(free);
        text.close("}");
        text.line("");
        function.to_owned()
    }

    /// What libnearcall calls for the items of a feed that goes.
    fn print_intake(&self, feed: &FeedOf<'_>, end: Procedure<'_>, text: &mut Text) {
        let (name, item) = (self.feed_name(feed), feed.item);
        let made = format!(
            "const nearcall_taker_{name} *nc_taker = (const nearcall_taker_{name} *)nc_made;"
        );
        text.line(format!("static void nearcall_take_of_{name}(const void *nc_made,"));
        text.open("    const void *nc_item, nearcall_environment *nc_env) {");
        text.line(&made);
        let is_plain = matches!(shape(self.model, item), Shape::Scalar(_)) || self.is_text(item);
        let constant = match self.is_text(item) {
            true => String::from("char *const *"),
            false => format!("const {} *", self.type_name(item)),
        };
        let star = if is_plain { "*" } else { "" };
        text.line(format!("nc_taker->take(nc_taker->self, {star}({constant})nc_item, nc_env);"));
        text.close("}");
        text.line("");
        text.line(format!("static void nearcall_end_of_{name}(const void *nc_made,"));
        text.open("    void *nc_result, nearcall_environment *nc_env) {");
        text.line(&made);
        let call = "nc_taker->end(nc_taker->self, nc_env);";
        let result = end.operation.returns.as_ref();
        match result {
            Some(declared) => {
                let pointer = self.declarator(declared, "*");
                text.line(format!("*({pointer})nc_result = {call}"));
            }
            None => text.lines([String::from("(void)nc_result;"), call.to_owned()]),
        }
        text.close("}");
        text.line("");
        let function = format!("nearcall_free_of_{name}");
        let free =
            result.map_or(String::from("NULL"), |one| self.print_free_of(one, &function, text));
        let bytes =
            result.map_or(String::from("0"), |one| format!("sizeof({})", self.type_name(one)));
        text.line(format!("static const nearcall_intake nearcall_intake_{name} = {{"));
        text.line(format!("    nearcall_take_of_{name}, nearcall_end_of_{name}, {free},"));
        text.line(format!("    sizeof({}), {bytes},", self.type_name(item)));
        text.line("};");
        text.line("");
    }

    /// Local variables of an entry stub that opens or carries a feed.
    pub fn feed_locals(&self, procedure: Procedure<'_>) -> Vec<String> {
        if let Some(made) = self.made_type(procedure) {
            return vec![format!("{made} nc_made;")];
        }
        if procedure.operation.opens_exchange() {
            return ["nearcall_inlet *nc_inlet;", "nearcall_outlet *nc_outlet;"]
                .map(String::from)
                .to_vec();
        }
        let part = procedure.operation.feed.as_ref().map(|feed| feed.part);
        let batch =
            (part == Some(FeedPart::Next)).then(|| String::from("nearcall_batch nc_batch;"));
        batch.into_iter().collect()
    }

    /// What an entry stub does that carries a feed.
    pub fn print_carried(&self, printer: &mut Printer<'_, '_>, procedure: Procedure<'_>) {
        let Some(feed) = self.feed_here(procedure) else { return };
        let (name, names) = (self.feed_name(&feed), printer.names.clone());
        let mut open = |call: String| {
            printer.text.line(format!("if (!{call}) {{"));
            printer.text.lines(["    goto nc_done;", "}"].map(String::from));
        };
        match procedure.operation.feed.as_ref().map(|feed| feed.part) {
            Some(FeedPart::Next) => {
                open(format!(
                    "nearcall_feed_next(nc_call, &nearcall_source_{name}, {}, {}, \
                     &nc_batch, &{}, &nc_env)",
                    names[0], names[1], names[2]
                ));
                printer.text.lines(self.batch_returned(&feed, "nc_batch."));
            }
            Some(FeedPart::Put) => open(format!(
                "nearcall_feed_put(nc_call, &nearcall_intake_{name}, {}, {}, {}._buffer, \
                 {}._length, &nc_env)",
                names[0], names[1], names[2], names[2]
            )),
            _ if feed.is_exchange() => open(format!(
                "nearcall_exchange_end(nc_call, &nearcall_exchange_{name}, {})",
                names[0]
            )),
            _ => {
                let returns = procedure.operation.returns.is_some();
                let target = if returns { "&nc_returned" } else { "NULL" };
                open(format!(
                    "nearcall_feed_finish(nc_call, &nearcall_intake_{name}, {}, {target}, &nc_env)",
                    names[0]
                ));
            }
        }
    }
}

/// Room for what a procedure opens; `none` is returned if there is none.
pub fn print_room(open: Procedure<'_>, count: u32, none: &str, text: &mut Text) {
    let (client, index) = ("(const nearcall_client *)nc_client", open.plan.index);
    text.open(format!("if (!nearcall_feed_room({client}, {index}, {count}, nc_env)) {{"));
    text.line(format!("return {none};"));
    text.close("}");
}

impl FeedOf<'_> {
    /// Whether it is a side of one.
    pub fn is_exchange(&self) -> bool {
        self.plan.sent.is_some()
    }

    /// What a client has of it.
    fn kind(&self) -> &'static str {
        if self.is_exchange() && self.end.is_some() { "sink" } else { "feed" }
    }

    /// Whether a procedure opens or carries it.
    fn has(&self, index: u32) -> bool {
        let is_end = self.end.is_some_and(|end| end.plan.index == index);
        self.open.plan.index == index || self.carrier.plan.index == index || is_end
    }
}
