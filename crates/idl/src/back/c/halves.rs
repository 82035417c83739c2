//! Call stubs in two halves: one posts, the other one reads what came of it, and the program is at
//! other things between the two. They are a program's own (design note 0007), or those of what
//! carries a feed, which its functions call (design note 0020).

use crate::back::c::C;
use crate::back::c::client::{fixed_bytes, print_reply, print_reply_record};
use crate::back::c::feeds::FeedOf;
use crate::back::c::interface::Procedure;
use crate::back::c::stub::{Printer, Side, message, payload_counts};
use crate::back::c::text::Text;
use crate::layout::Root;
use crate::model::{Direction, FeedPart, Operation, Parameter};
use crate::plan::Step;

/// Whether a call of it carries a batch, so that it may be ahead.
pub fn is_ahead(operation: &Operation) -> bool {
    let part = operation.feed.as_ref().map(|feed| feed.part);
    matches!(part, Some(FeedPart::Next | FeedPart::Put))
}

/// The operation as one half has it. What the procedure changes goes by the post, which leaves it
/// as it is, and comes by the collection, which has nothing to give back for it.
pub fn half(operation: &Operation, direction: Direction) -> Operation {
    let turned = |parameter: &Parameter| match parameter.direction {
        Direction::Inout => Parameter { direction, ..parameter.clone() },
        _ => parameter.clone(),
    };
    let parameters = operation.parameters.iter().map(turned).collect();
    Operation { parameters, ..operation.clone() }
}

impl C<'_> {
    /// The name of the half that posts.
    pub fn post_name(&self, procedure: Procedure<'_>) -> String {
        format!("nearcall_post_{}", self.stub_name(procedure))
    }

    /// The name of the half that reads.
    pub fn collect_name(&self, procedure: Procedure<'_>) -> String {
        format!("nearcall_collect_{}", self.stub_name(procedure))
    }

    /// Both halves.
    pub fn print_halves(&self, procedure: Procedure<'_>, text: &mut Text) {
        let brief = self.brief_ahead(procedure);
        let posted = half(procedure.operation, Direction::In);
        let posted = Procedure { operation: &posted, ..procedure };
        let slow = brief.as_ref().map(|_| self.slow_post_name(posted));
        self.print_post_half(posted, slow.as_deref(), text);
        if let Some(brief) = &brief {
            self.print_brief_post(posted, brief, text);
        }
        let collected = half(procedure.operation, Direction::Out);
        let collected = Procedure { operation: &collected, ..procedure };
        let results = brief.as_ref().and_then(|brief| Some((brief, brief.results.as_deref()?)));
        let late = results.map(|_| self.late_collect_name(collected));
        self.print_collect_half(collected, late.as_deref(), text);
        if let Some(results) = results {
            self.print_brief_collect(collected, results, text);
        }
    }

    /// A program's own halves, for the header.
    pub fn declare_halves(&self, procedure: Procedure<'_>, text: &mut Text) {
        let (record, stub) = (self.posted_record(procedure), self.stub_name(procedure));
        text.line(format!("/* A call of {stub} that is posted now and collected later. */"));
        text.line(format!("typedef struct {record} {{ nearcall_posted call; }} {record};"));
        let posted = half(procedure.operation, Direction::In);
        let posted = self.post_signature(Procedure { operation: &posted, ..procedure }, None);
        text.line(posted + ";");
        let collected = half(procedure.operation, Direction::Out);
        let collected =
            self.collect_signature(Procedure { operation: &collected, ..procedure }, None);
        text.line(collected + ";");
    }

    /// What a call is, between its halves.
    fn posted_record(&self, procedure: Procedure<'_>) -> String {
        match procedure.operation.is_posted() {
            true => format!("nearcall_posted_{}", self.stub_name(procedure)),
            false => String::from("nearcall_posted"),
        }
    }

    /// The head of the half that posts, or of one that is `apart` and goes by that name: it is told
    /// how the claim ended. Those of a feed are static, and say when.
    pub fn post_signature(&self, procedure: Procedure<'_>, apart: Option<&str>) -> String {
        let own = self.names.declaration(procedure.interface);
        let name = apart.map_or_else(|| self.post_name(procedure), str::to_owned);
        let given = self.half_parameters(procedure, Direction::In);
        let (kept, when) = match procedure.operation.is_posted() {
            true if apart.is_none() => ("", ""),
            true => ("NEARCALL_COLD ", ""),
            false => ("static ", "uint32_t nc_when, "),
        };
        let record = self.posted_record(procedure);
        let claim = if apart.is_some() { ", uint32_t nc_claim" } else { "" };
        format!(
            "{kept}bool {name}(const {own} *nc_client, {given}{when}{record} *nc_posted, \
             nearcall_environment *nc_env{claim})"
        )
    }

    /// The same of the half that reads.
    pub fn collect_signature(&self, procedure: Procedure<'_>, apart: Option<&str>) -> String {
        let returns = self.call_returned_type(procedure.operation);
        let name = apart.map_or_else(|| self.collect_name(procedure), str::to_owned);
        let mut came = self.half_parameters(procedure, Direction::Out);
        if let Some(returned) = self.returned_parameter(procedure.operation) {
            came += &format!("{returned}, ");
        }
        let kept = match procedure.operation.is_posted() {
            true if apart.is_none() => "",
            true => "NEARCALL_COLD ",
            false => "static ",
        };
        let (star, record) =
            (if returns.ends_with('*') { "" } else { " " }, self.posted_record(procedure));
        format!(
            "{kept}{returns}{star}{name}({record} *nc_posted, {came}nearcall_environment *nc_env)"
        )
    }

    /// What posts the call for the next batch.
    pub fn print_ask(&self, feed: &FeedOf<'_>, text: &mut Text) {
        let own = self.names.declaration(feed.open.interface);
        let (record, name) = (self.feed_record(feed), self.feed_name(feed));
        text.line(format!("static bool nearcall_ask_{name}({record} *nc_feed, uint32_t nc_when,"));
        text.open("    nearcall_environment *nc_env) {");
        text.line("nearcall_feed *nc_own = &nc_feed->own;");
        let post = self.post_name(feed.carrier);
        text.line(format!("return nearcall_feed_counted(nc_own, {post}("));
        text.line(format!("    (const {own} *)nc_own->client, nc_own->feed, nc_own->number,"));
        text.line("    nc_when, &nc_own->ahead, nc_env));");
        text.close("}");
        text.line("");
    }

    /// The parameters of one half, which are those that go, or those that come.
    fn half_parameters(&self, procedure: Procedure<'_>, direction: Direction) -> String {
        let operation = procedure.operation;
        let written = self.written_batch(procedure, Side::Client);
        let all = operation.parameters.iter().zip(self.parameter_names(operation)).zip(0..);
        let own = all.filter(|((parameter, _), _)| parameter.direction == direction);
        let declared =
            own.map(|((parameter, name), index)| match written == Some(Root::Parameter(index)) {
                true => format!("const nearcall_writer *{name}, "),
                false => self.call_parameter(parameter, &name) + ", ",
            });
        declared.collect()
    }

    fn print_post_half(&self, procedure: Procedure<'_>, apart: Option<&str>, text: &mut Text) {
        let Procedure { operation, plan, .. } = procedure;
        let mut printer = Printer::new(self, procedure, Side::Client);
        for step in &plan.client.request {
            match step {
                Step::Post { fixed_bytes } => {
                    let request = &printer.written();
                    let request = message(&plan.client.request, request, *fixed_bytes);
                    printer.text.line(format!("nc_request = {request};"));
                }
                step => printer.write(step),
            }
        }
        let is_twice = plan.is_posted_twice();
        let (function, when, posted) = match operation.is_posted() {
            true if is_twice => ("nearcall_post_twice", "", "&nc_posted->call"),
            true => ("nearcall_post", "NEARCALL_POST_NOW, ", "&nc_posted->call"),
            false => ("nearcall_post", "nc_when, ", "nc_posted"),
        };
        let (index, comes) = (plan.index, plan.client.request.contains(&Step::ExpectDescriptors));
        printer.text.line(format!("nc_is_posted = {function}((const nearcall_client *)nc_client,"));
        let rest = format!("{index}, &nc_request, {when}{comes}, {posted}, nc_env);");
        printer.text.line(format!("    {rest}"));
        let body = std::mem::take(&mut printer.text).finish();
        text.open(format!("{} {{", self.post_signature(procedure, apart)));
        let fixed_bytes = fixed_bytes(&plan.client.request);
        if fixed_bytes > 0 && printer.gathers() {
            text.line(format!("uint8_t nc_fixed[{fixed_bytes}] = {{0}};"));
        }
        text.line("nearcall_message nc_request;");
        text.line("bool nc_is_posted = false;");
        let puts = payload_counts(&plan.client.request).0;
        printer.print_locals(text, puts, 0);
        if operation.is_posted() {
            if apart.is_some() {
                let client = "(const nearcall_client *)nc_client";
                let class = plan.class;
                text.line(format!("nearcall_brief_otherwise({client}, {class}, nc_claim);"));
            }
            text.line("nearcall_begin(nc_env);");
            text.line("nc_posted->call.state = NEARCALL_NOT_POSTED;");
        }
        text.lines(body.lines().map(String::from));
        if body.contains("goto nc_done;") {
            text.label("nc_done:");
        }
        printer.print_frees(text, 0);
        text.line("return nc_is_posted;");
        text.close("}");
        text.line("");
    }

    fn print_collect_half(&self, procedure: Procedure<'_>, apart: Option<&str>, text: &mut Text) {
        let Procedure { operation, plan, .. } = procedure;
        let mut printer = Printer::new(self, procedure, Side::Client);
        print_reply_record(&mut printer, plan);
        let is_own = operation.is_posted();
        let posted = if is_own { "&nc_posted->call" } else { "nc_posted" };
        let function = match plan.is_posted_twice() {
            true => "nearcall_collect_twice",
            false => "nearcall_collect",
        };
        printer.text.open(format!("if (!{function}({posted}, &nc_reply, nc_env)) {{"));
        printer.text.line("goto nc_done;");
        printer.text.close("}");
        print_reply(&mut printer, procedure);
        let body = std::mem::take(&mut printer.text).finish();
        text.open(format!("{} {{", self.collect_signature(procedure, apart)));
        self.print_reply_locals(&printer, procedure, 0, text);
        if is_own {
            text.line("nearcall_begin(nc_env);");
        }
        self.print_cleared_outs(&printer, procedure, text);
        text.lines(body.lines().map(String::from));
        text.label("nc_done:");
        self.print_call_end(&printer, procedure, text);
        text.close("}");
        text.line("");
    }
}
