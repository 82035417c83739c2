//! What carries a feed, as a client calls it (design note 0020): one half of the stub posts, the
//! other one reads what came of it, and the program may be at another batch between the two.

use crate::back::c::C;
use crate::back::c::client::{fixed_bytes, print_reply, print_reply_record};
use crate::back::c::feeds::FeedOf;
use crate::back::c::interface::Procedure;
use crate::back::c::stub::{Printer, Side, message, payload_counts};
use crate::back::c::text::Text;
use crate::model::{Direction, FeedPart, Operation};
use crate::plan::Step;

/// Whether a call of it carries a batch, so that it may be ahead.
pub fn is_ahead(operation: &Operation) -> bool {
    let part = operation.feed.as_ref().map(|feed| feed.part);
    matches!(part, Some(FeedPart::Next | FeedPart::Put))
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
        self.print_post_half(procedure, text);
        self.print_collect_half(procedure, text);
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
        let all = operation.parameters.iter().zip(self.parameter_names(operation));
        let own = all.filter(|(parameter, _)| parameter.direction == direction);
        own.map(|(parameter, name)| self.call_parameter(parameter, &name) + ", ").collect()
    }

    fn print_post_half(&self, procedure: Procedure<'_>, text: &mut Text) {
        let plan = procedure.plan;
        let mut printer = Printer::new(self, procedure, Side::Client);
        for step in &plan.client.request {
            match step {
                Step::Post { fixed_bytes } => {
                    let request = message(&plan.client.request, "nc_fixed", *fixed_bytes);
                    printer.text.line(format!("nc_request = {request};"));
                }
                step => printer.write(step),
            }
        }
        printer.text.line("nc_is_posted = nearcall_post((const nearcall_client *)nc_client,");
        let index = plan.index;
        printer.text.line(format!("    {index}, &nc_request, nc_when, nc_posted, nc_env);"));
        let body = std::mem::take(&mut printer.text).finish();
        let own = self.names.declaration(procedure.interface);
        text.line(format!("static bool {}(const {own} *nc_client,", self.post_name(procedure)));
        let given = self.half_parameters(procedure, Direction::In);
        text.line(format!("    {given}uint32_t nc_when,"));
        text.open("    nearcall_posted *nc_posted, nearcall_environment *nc_env) {");
        text.line(format!("uint8_t nc_fixed[{}] = {{0}};", fixed_bytes(&plan.client.request)));
        text.line("nearcall_message nc_request;");
        text.line("bool nc_is_posted = false;");
        let puts = payload_counts(&plan.client.request).0;
        printer.print_locals(text, puts, 0);
        text.lines(body.lines().map(String::from));
        if body.contains("goto nc_done;") {
            text.label("nc_done:");
        }
        printer.print_frees(text, 0);
        text.line("return nc_is_posted;");
        text.close("}");
        text.line("");
    }

    fn print_collect_half(&self, procedure: Procedure<'_>, text: &mut Text) {
        let Procedure { operation, plan, .. } = procedure;
        let mut printer = Printer::new(self, procedure, Side::Client);
        print_reply_record(&mut printer, plan);
        printer.text.lines(
            ["if (!nearcall_collect(nc_posted, &nc_reply, nc_env)) {", "    goto nc_done;", "}"]
                .map(String::from),
        );
        print_reply(&mut printer, procedure);
        let body = std::mem::take(&mut printer.text).finish();
        let (returns, name) = (self.returned_type(operation), self.collect_name(procedure));
        text.line(format!("static {returns} {name}(nearcall_posted *nc_posted,"));
        let came = self.half_parameters(procedure, Direction::Out);
        text.open(format!("    {came}nearcall_environment *nc_env) {{"));
        self.print_reply_locals(&printer, procedure, 0, text);
        self.print_cleared_outs(&printer, procedure, text);
        text.lines(body.lines().map(String::from));
        text.label("nc_done:");
        self.print_call_end(&printer, procedure, text);
        text.close("}");
        text.line("");
    }
}
