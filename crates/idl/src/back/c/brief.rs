//! Call stubs of brief calls: what `nearcall_brief.h` does is inlined into them, and the stub that
//! all other calls have is where they go if they cannot be.
//!
//! ```text
//! x ───────────▶ nearcall_long_x     the payload is longer than the line has room for; if no
//!                                     payload fits the line, x is that itself
//! x, long_x ───▶ nearcall_slow_x     not kept for us, or a value that must not be
//! x, long_x ───▶ nearcall_late_x     no reply at the first look, or none of words alone
//! ```
//!
//! A call that may be made twice needs its arguments until it has its reply: `slow_x`, which has
//! them, is also where it waits. Calls that are posted and collected later: `brief/halves.rs`.

mod halves;

use nearcall_abi::INLINE_BYTES;

use crate::back::c::C;
use crate::back::c::client::{print_reply, print_reply_record};
use crate::back::c::interface::Procedure;
use crate::back::c::prealloc::{is_returned, returned_argument};
use crate::back::c::stub::{Printer, Side};
use crate::back::c::text::Text;
use crate::layout::{Place, Root, Scalar};
use crate::model::{Direction, Parameter};
use crate::plan::{Brief, BriefItem, BriefKind, BriefPayload};

/// Where a payload may lie.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// In the line.
    Line,
    /// In the block behind it, too.
    Block,
}

impl C<'_> {
    /// What is put and got, if there is a stub for it.
    pub fn brief(&self, procedure: Procedure<'_>) -> Option<Brief> {
        let Procedure { operation, plan, .. } = procedure;
        if operation.feed.is_none() { plan.brief() } else { None }
    }

    /// The head of the stub for everything else: it is told how the claim ended, and what the post
    /// found if it waits for the reply, too.
    pub fn slow_signature(&self, procedure: Procedure<'_>) -> String {
        let head = self.apart_signature(procedure, "NEARCALL_COLD", "slow");
        let told = match procedure.plan.is_retried {
            true => "uint32_t nc_claim, uint32_t nc_seen",
            false => "uint32_t nc_claim",
        };
        let environment = "nearcall_environment *nc_env";
        head.replacen(&format!("{environment})"), &format!("{environment}, {told})"), 1)
    }

    /// The head of a stub that another one goes on to, with the same parameters.
    fn apart_signature(&self, procedure: Procedure<'_>, apart: &str, which: &str) -> String {
        let returns = format!("{apart} {}", self.call_returned_type(procedure.operation));
        self.call_signature(procedure, &returns, &self.apart_name(procedure, which))
    }

    fn apart_name(&self, procedure: Procedure<'_>, which: &str) -> String {
        format!("nearcall_{which}_{}", self.stub_name(procedure))
    }

    /// The call stub, after the ones that it goes on to.
    pub fn print_brief_stub(&self, procedure: Procedure<'_>, brief: &Brief, text: &mut Text) {
        let stub = |reach| Stub::new(self, (procedure, brief), reach);
        if !procedure.plan.is_retried {
            stub(Reach::Line).print_late(text);
        }
        let reach = if brief.may_end_in_line() { Reach::Line } else { Reach::Block };
        if stub(reach).goes_on_to_long() {
            text.open(format!("{} {{", self.apart_signature(procedure, "NEARCALL_APART", "long")));
            stub(Reach::Block).print(text);
        }
        text.open(format!("{} {{", self.stub_signature(procedure)));
        stub(reach).print(text);
    }
}

/// One stub that is being printed.
struct Stub<'c, 'm> {
    printer: Printer<'c, 'm>,
    procedure: Procedure<'c>,
    brief: &'c Brief,
    reach: Reach,
}

impl<'c, 'm> Stub<'c, 'm> {
    fn new(
        c: &'c C<'m>,
        (procedure, brief): (Procedure<'c>, &'c Brief),
        reach: Reach,
    ) -> Stub<'c, 'm> {
        let printer = Printer::new(c, procedure, Side::Client);
        Stub { printer, procedure, brief, reach }
    }
}

impl Stub<'_, '_> {
    /// Most elements that the payload has in this stub.
    fn items_max(&self) -> u32 {
        self.items_max_within(self.reach)
    }

    fn items_max_within(&self, reach: Reach) -> u32 {
        let Some(payload) = &self.brief.payload else { return 0 };
        let block = match reach {
            Reach::Line => 0,
            Reach::Block => self.block_bytes(),
        };
        let room = (INLINE_BYTES + block).saturating_sub(payload.at) / payload.width;
        room.min(payload.bound.unwrap_or(u32::MAX))
    }

    /// Whether longer payloads have a stub of their own.
    fn goes_on_to_long(&self) -> bool {
        self.reach == Reach::Line && self.items_max() < self.items_max_within(Reach::Block)
    }

    /// Of the procedure's class, which the server has as well if calls are brief.
    fn block_bytes(&self) -> u32 {
        let Procedure { interface, plan, .. } = self.procedure;
        let all = &self.printer.c.plan.interfaces;
        let own = all.iter().find(|one| one.id == interface);
        own.map_or(0, |own| own.classes[usize::from(plan.class)].block_bytes)
    }

    /// The statements that leave for another stub.
    fn leave(&self, call: String, text: &mut Text) {
        match is_returned(self.procedure.operation) {
            true => text.line(format!("return {call};")),
            false => text.lines([format!("{call};"), String::from("return;")]),
        }
    }

    /// From the claim to the release.
    fn print(mut self, text: &mut Text) {
        let plan = self.procedure.plan;
        let names = self.all_names();
        text.line("const nearcall_client *nc_binding = (const nearcall_client *)nc_client;");
        text.line("nearcall_held nc_held;");
        if let Some(payload) = &self.brief.payload {
            self.print_payload_locals(payload, &names, text);
        }
        let claim = format!("nearcall_brief_claim(nc_binding, {}, &nc_held)", plan.class);
        self.print_claim(&claim, !self.goes_on_to_long(), text);
        let slow = self.printer.c.apart_name(self.procedure, "slow");
        let seen = if plan.is_retried { ", 0" } else { "" };
        self.leave(format!("{slow}(nc_client{names}, nc_env, nc_claim{seen})"), text);
        text.close("}");
        self.brief.arguments.iter().for_each(|item| self.put(item, text));
        if let Some(payload) = &self.brief.payload {
            self.put_payload(payload, text);
        }
        let bytes = self.message_bytes();
        let call = format!(
            "nearcall_brief_call(&nc_held, {}, {bytes}, {}, nc_env)",
            plan.index, self.brief.reply_bytes
        );
        let Some(results) = &self.brief.results else {
            text.line(format!("(void){call};"));
            self.leave(self.late_call(), text);
            text.close("}");
            return text.line("");
        };
        text.open(format!("if (!{call}) {{"));
        self.leave(self.late_call(), text);
        text.close("}");
        self.printer.enter(None);
        let class = plan.class;
        self.print_results(results, &self.late_call(), text, |returned| {
            format!("nearcall_brief_release(&nc_held, {class}, {returned})")
        });
        text.close("}");
        text.line("");
    }

    /// Claims, and opens what happens if that is not to be, or cannot; as [`Stub::own_checks`].
    fn print_claim(&self, claim: &str, is_here: bool, text: &mut Text) {
        let own = self.own_checks(is_here);
        text.line(match own.is_empty() {
            true => format!("const uint32_t nc_claim = {claim};"),
            false => format!(
                "const uint32_t nc_claim = {} ? {claim} : NEARCALL_NOT_KEPT;",
                own.join(" && ")
            ),
        });
        text.open("if (nc_claim != NEARCALL_CLAIMED) {");
    }

    /// How long the message is.
    fn message_bytes(&self) -> String {
        match &self.brief.payload {
            Some(payload) => format!("{}u + nc_bytes", payload.at),
            None => self.brief.request_bytes.to_string(),
        }
    }

    /// How long the payload is, and where a longer one goes.
    fn print_payload_locals(&self, payload: &BriefPayload, names: &str, text: &mut Text) {
        self.print_payload_bytes(payload, text);
        if self.goes_on_to_long() {
            text.open(format!("if (nc_length > {}u) {{", self.items_max()));
            let long = self.printer.c.apart_name(self.procedure, "long");
            self.leave(format!("{long}(nc_client{names}, nc_env)"), text);
            text.close("}");
        }
    }

    fn print_payload_bytes(&self, payload: &BriefPayload, text: &mut Text) {
        let value = self.printer.value(&payload.place);
        if payload.is_text {
            text.line(format!("const size_t nc_length = nearcall_text_bytes({value});"));
            return text.line("const size_t nc_bytes = nc_length;");
        }
        text.line(format!("const uint32_t nc_length = {value}._length;"));
        text.line(format!("const size_t nc_bytes = (size_t)nc_length * {}u;", payload.width));
    }

    fn put(&self, item: &BriefItem, text: &mut Text) {
        let (value, at) = (self.printer.value(&item.place), item.at);
        text.line(match item.kind {
            BriefKind::Word(scalar) => self.printer.c.put_brief_word(scalar, at, &value),
            BriefKind::Block(bytes) => {
                let class = self.procedure.plan.class;
                format!("nearcall_brief_put_block(&nc_held, {class}, {at}, &{value}, {bytes});")
            }
            BriefKind::Length if self.is_text() => {
                format!("nearcall_brief_put_u32(&nc_held, {at}, (uint32_t)nc_length);")
            }
            BriefKind::Length => format!("nearcall_brief_put_u32(&nc_held, {at}, nc_length);"),
        });
    }

    fn put_payload(&self, payload: &BriefPayload, text: &mut Text) {
        let value = self.printer.value(&payload.place);
        let buffer = if payload.is_text { value } else { format!("{value}._buffer") };
        let (at, class) = (payload.at, self.procedure.plan.class);
        text.line(match self.reach {
            Reach::Line => format!("nearcall_brief_put_bytes(&nc_held, {at}, {buffer}, nc_bytes);"),
            Reach::Block => {
                format!("nearcall_slow_put(nc_binding, {class}, {at}, {buffer}, nc_bytes);")
            }
        });
    }

    fn is_text(&self) -> bool {
        self.brief.payload.as_ref().is_some_and(|payload| payload.is_text)
    }

    /// Parameters that results go to.
    fn outs(&self) -> Vec<(&Parameter, &str)> {
        let all = self.procedure.operation.parameters.iter().zip(&self.printer.names);
        let outs = all.filter(|(parameter, _)| parameter.direction != Direction::In);
        outs.map(|(parameter, name)| (parameter, name.as_str())).collect()
    }

    /// Every parameter, as one that follows another.
    fn all_names(&self) -> String {
        let names = self.printer.names.iter().map(String::as_str);
        let names = names.chain(returned_argument(self.procedure.operation));
        names.map(|name| format!(", {name}")).collect()
    }

    fn late_call(&self) -> String {
        if self.procedure.plan.is_retried {
            let names = self.all_names();
            let slow = self.printer.c.apart_name(self.procedure, "slow");
            return format!("{slow}(nc_client{names}, nc_env, NEARCALL_POSTED, nc_held.seen)");
        }
        let returned = returned_argument(self.procedure.operation);
        let outs = self.outs().into_iter().map(|(_, name)| name).chain(returned);
        let outs = outs.map(|name| format!(", {name}")).collect::<String>();
        let late = self.printer.c.apart_name(self.procedure, "late");
        format!("{late}(nc_client{outs}, nc_env, nc_held.seen)")
    }

    /// The stub that waits, reads whatever came, and ends the call.
    fn print_late(mut self, text: &mut Text) {
        let Procedure { interface, operation, plan } = self.procedure;
        let c = self.printer.c;
        let (own, returns) = (c.names.declaration(interface), c.call_returned_type(operation));
        let outs = self.outs();
        let outs = outs.iter().map(|(parameter, name)| c.call_parameter(parameter, name));
        let outs = outs.chain(c.returned_parameter(operation));
        let outs = outs.map(|out| format!(", {out}")).collect::<String>();
        let name = c.apart_name(self.procedure, "late");
        let star = if returns.ends_with('*') { "" } else { " " };
        text.line(format!("NEARCALL_COLD {returns}{star}{name}(const {own} *nc_client{outs},"));
        text.open("    nearcall_environment *nc_env, uint32_t nc_seen) {");
        print_reply_record(&mut self.printer, plan);
        let wait = format!("(const nearcall_client *)nc_client, {}, {}", plan.class, plan.index);
        let printed = &mut self.printer.text;
        let request = self.brief.request_bytes;
        printed.line(format!(
            "if (!nearcall_slow_reply({wait}, nc_seen, {request}, &nc_reply, nc_env)) {{"
        ));
        printed.lines(["    goto nc_done;", "}"].map(String::from));
        print_reply(&mut self.printer, self.procedure);
        c.print_reply_locals(&self.printer, self.procedure, 0, text);
        c.print_cleared_outs(&self.printer, self.procedure, text);
        let body = std::mem::take(&mut self.printer.text).finish();
        text.lines(body.lines().map(String::from));
        text.label("nc_done:");
        c.print_call_end(&self.printer, self.procedure, text);
        text.close("}");
        text.line("");
    }

    /// All words are got and judged before one of them is where it belongs. What is no value, or
    /// more, `late` reads again; `release` is the expression that ends the call.
    fn print_results(
        &self,
        results: &[BriefItem],
        late: &str,
        text: &mut Text,
        release: impl Fn(&str) -> String,
    ) {
        let c = self.printer.c;
        let words = || {
            let words = results.iter().zip(0..).filter_map(|(item, number)| match item.kind {
                BriefKind::Word(scalar) => Some((item, scalar, format!("nc_word{number}"))),
                BriefKind::Block(_) | BriefKind::Length => None,
            });
            words.collect::<Vec<_>>()
        };
        for (item, scalar, word) in words() {
            let got = c.got_brief_word(scalar, item.at);
            text.line(format!("const {} {word} = {got};", c.raw_type(scalar)));
        }
        let judged = words().into_iter();
        let judged = judged.filter_map(|(_, scalar, word)| c.is_value(scalar, &word));
        let judged: Vec<String> = judged.collect();
        if !judged.is_empty() {
            text.open(format!("if (!({})) {{", judged.join(" && ")));
            self.leave(late.to_owned(), text);
            text.close("}");
        }
        let is_word = |(item, scalar, _): &(&BriefItem, Scalar, String)| {
            item.place == Place::whole(Root::Returned) && !c.is_float(*scalar)
        };
        let (returned, others): (Vec<_>, Vec<_>) = words().into_iter().partition(is_word);
        if returned.is_empty() {
            text.lines(self.printer.local_root(Root::Returned, "nc_returned"));
        }
        for item in results {
            if let BriefKind::Block(bytes) = item.kind {
                let (class, at, target) =
                    (self.procedure.plan.class, item.at, self.target(&item.place));
                text.line(format!(
                    "nearcall_brief_get_block(&nc_held, {class}, {at}, &{target}, {bytes});"
                ));
            }
        }
        for (item, scalar, word) in others {
            text.line(format!("{} = {};", self.target(&item.place), c.of_word(scalar, &word)));
        }
        if self.brief.request_bytes > INLINE_BYTES {
            text.line(format!("nearcall_brief_ask(&nc_held, {});", self.brief.request_bytes));
        }
        if let Some((_, scalar, word)) = returned.first() {
            return text.line(format!("return {};", c.of_word(*scalar, &release(word))));
        }
        text.line(format!("{};", release("0")));
        if self.procedure.operation.returns.is_some() {
            text.line("return nc_returned;");
        }
    }

    /// Values of our own that C can hold and the interface has not, and payloads that are too long,
    /// if it `is_here` that they are found out: the other stub refuses them, or makes room.
    fn own_checks(&self, is_here: bool) -> Vec<String> {
        let c = self.printer.c;
        let mut checks = Vec::new();
        for item in &self.brief.arguments {
            let value = self.printer.value(&item.place);
            match item.kind {
                BriefKind::Word(scalar) => checks.extend(c.is_own_value(scalar, &value)),
                BriefKind::Length if is_here => {
                    checks.push(format!("nc_length <= {}u", self.items_max()));
                }
                BriefKind::Length | BriefKind::Block(_) => {}
            }
        }
        // Text that is more than ASCII is judged by libnearcall, whose words say what is wrong.
        let text = self.brief.payload.as_ref().filter(|payload| payload.is_text);
        checks.extend(text.map(|payload| {
            format!("nearcall_is_ascii({}, nc_bytes)", self.printer.value(&payload.place))
        }));
        checks
    }

    /// Where a result belongs: an inout one in the parameter itself, since everything was judged.
    fn target(&self, place: &Place) -> String {
        let value = self.printer.value(place);
        match place.root {
            Root::Parameter(index) if self.is_inout(index) => {
                let name = &self.printer.names[index as usize];
                value.replacen(&format!("nc_new_{name}"), &format!("(*{name})"), 1)
            }
            _ => value,
        }
    }

    fn is_inout(&self, parameter: u32) -> bool {
        let all = &self.procedure.operation.parameters;
        all[parameter as usize].direction == Direction::Inout
    }
}
