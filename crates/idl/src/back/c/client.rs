//! Call stubs.

use crate::back::c::C;
use crate::back::c::interface::Procedure;
use crate::back::c::prealloc::{is_returned, returned_argument};
use crate::back::c::stub::{Printer, Side, message, payload_counts};
use crate::back::c::text::Text;
use crate::layout::{Place, Root};
use crate::model::{Direction, Type};
use crate::plan::{Check, ProcedurePlan, Step};

impl C<'_> {
    /// The call stub of a procedure.
    pub fn print_call_stub(&self, procedure: Procedure<'_>, text: &mut Text) {
        let Procedure { operation, plan, .. } = procedure;
        let mut printer = Printer::new(self, procedure, Side::Client);
        let brief = self.brief(procedure);
        for step in &plan.client.request {
            match step {
                Step::Post { fixed_bytes } => {
                    print_post(&mut printer, plan, brief.is_some(), *fixed_bytes);
                }
                Step::PostOneway { fixed_bytes } => print_oneway(&mut printer, plan, *fixed_bytes),
                step => printer.write(step),
            }
        }
        if !operation.is_oneway {
            print_reply(&mut printer, procedure);
        }
        let body = std::mem::take(&mut printer.text).finish();
        text.open(match brief {
            None => format!("{} {{", self.stub_signature(procedure)),
            Some(_) => format!("{} {{", self.slow_signature(procedure)),
        });
        self.print_call_locals(&printer, procedure, text);
        if brief.is_some() {
            let class = plan.class;
            text.line(format!(
                "nearcall_slow_begin((const nearcall_client *)nc_client, {class}, nc_claim);"
            ));
        }
        text.line("nearcall_begin(nc_env);");
        self.print_cleared_outs(&printer, procedure, text);
        text.lines(body.lines().map(String::from));
        text.label("nc_done:");
        self.print_call_end(&printer, procedure, text);
        text.close("}");
        text.line("");
        if let Some(brief) = brief {
            self.print_brief_stub(procedure, &brief, text);
        }
    }

    fn print_call_locals(
        &self,
        printer: &Printer<'_, '_>,
        procedure: Procedure<'_>,
        text: &mut Text,
    ) {
        let plan = procedure.plan;
        let request = fixed_bytes(&plan.client.request);
        if request > 0 && printer.gathers() {
            text.line(format!("uint8_t nc_fixed[{request}] = {{0}};"));
        }
        text.line("nearcall_message nc_request;");
        let puts = payload_counts(&plan.client.request).0;
        self.print_reply_locals(printer, procedure, puts, text);
    }

    /// Those that what comes back needs, and so many payloads that go.
    pub fn print_reply_locals(
        &self,
        printer: &Printer<'_, '_>,
        procedure: Procedure<'_>,
        puts: usize,
        text: &mut Text,
    ) {
        let Procedure { operation, plan, .. } = procedure;
        text.lines(printer.local_root(Root::Returned, "nc_returned"));
        if !operation.is_oneway {
            let reply = reply_bytes(plan);
            if reply > 0 && printer.whole_got().is_none() {
                text.line(format!("uint8_t nc_results[{reply}];"));
            }
            text.line("nearcall_reply nc_reply;");
            text.line("bool nc_is_good = false;");
        }
        for ((parameter, name), index) in operation.parameters.iter().zip(&printer.names).zip(0..) {
            if parameter.direction == Direction::Inout && printer.whole_got() != Some(index) {
                text.line(printer.local(&parameter.declared, &format!("nc_new_{name}")));
            }
        }
        for (id, number) in operation.raises.iter().zip(1..) {
            text.line(printer.local(&Type::Named(*id), &format!("nc_raised{number}")));
        }
        printer.print_locals(text, puts, takes(plan));
    }

    /// There is nothing in what comes out until it has come.
    pub fn print_cleared_outs(
        &self,
        printer: &Printer<'_, '_>,
        procedure: Procedure<'_>,
        text: &mut Text,
    ) {
        let parameters = procedure.operation.parameters.iter();
        for ((parameter, name), index) in parameters.zip(&printer.names).zip(0..) {
            if parameter.direction == Direction::Out {
                text.line(printer.cleared(Root::Parameter(index), (name, &format!("*{name}"))));
            }
        }
        if let Some(name) = returned_argument(procedure.operation) {
            text.line(printer.cleared(Root::Returned, (name, name)));
        }
    }

    /// What happens whatever happened.
    pub fn print_call_end(
        &self,
        printer: &Printer<'_, '_>,
        procedure: Procedure<'_>,
        text: &mut Text,
    ) {
        let Procedure { operation, plan, .. } = procedure;
        if !operation.is_oneway {
            let mut frees = Vec::new();
            if operation.returns.is_some() {
                frees.extend(printer.free_root(Root::Returned, "nc_returned"));
                let pointer = returned_argument(operation).unwrap_or("&nc_returned");
                frees.push(printer.cleared(Root::Returned, (pointer, "nc_returned")));
            }
            let all = operation.parameters.iter().zip(&printer.names).zip(0..);
            for ((parameter, name), index) in all {
                let value = match parameter.direction {
                    Direction::In => continue,
                    Direction::Out => format!("(*{name})"),
                    Direction::Inout => format!("nc_new_{name}"),
                };
                frees.extend(printer.free_root(Root::Parameter(index), &value));
                if parameter.direction == Direction::Out {
                    let target = format!("*{name}");
                    frees.push(printer.cleared(Root::Parameter(index), (name, &target)));
                }
            }
            match frees.is_empty() {
                true => text.line("(void)nc_is_good;"),
                false => {
                    text.open("if (!nc_is_good) {");
                    text.lines(frees);
                    text.close("}");
                }
            }
        }
        for (id, number) in operation.raises.iter().zip(1..) {
            let name = self.names.declaration(*id);
            text.line(format!("nearcall_free_{name}(&nc_raised{number});"));
        }
        printer.print_frees(text, takes(plan));
        text.line(if is_returned(operation) { "return nc_returned;" } else { "return;" });
    }
}

fn print_request(printer: &mut Printer<'_, '_>, plan: &ProcedurePlan, fixed_bytes: u32) {
    let request = message(&plan.client.request, &printer.written(), fixed_bytes);
    printer.text.line(format!("nc_request = {request};"));
}

fn print_post(
    printer: &mut Printer<'_, '_>,
    plan: &ProcedurePlan,
    is_brief: bool,
    fixed_bytes: u32,
) {
    print_request(printer, plan, fixed_bytes);
    print_reply_record(printer, plan);
    let client = "(const nearcall_client *)nc_client";
    let (index, rest) = (plan.index, "&nc_request, &nc_reply, nc_env");
    let function = if plan.is_retried { "nearcall_call_twice" } else { "nearcall_call" };
    let call = format!("{function}({client}, {index}, {rest})");
    let text = &mut printer.text;
    if plan.is_retried && is_brief {
        let posted = format!("{client}, {}, {index}, nc_seen, {rest}", plan.class);
        text.line("const bool nc_has_replied = nc_claim == NEARCALL_POSTED");
        text.line(format!("    ? nearcall_slow_reply_twice({posted})"));
        text.line(format!("    : {call};"));
        text.line("if (!nc_has_replied) {");
    } else {
        text.line(format!("if (!{call}) {{"));
    }
    text.lines(["    goto nc_done;", "}"].map(String::from));
}

/// Says what may come back.
pub fn print_reply_record(printer: &mut Printer<'_, '_>, plan: &ProcedurePlan) {
    let (bytes, is_kept) = (reply_bytes(plan), is_kept(plan));
    let results = if bytes > 0 { printer.read_into() } else { String::from("NULL") };
    let text = &mut printer.text;
    text.line(format!("nc_reply.fixed = {results};"));
    text.line(format!("nc_reply.fixed_bytes = {bytes};"));
    text.line(format!("nc_reply.exception_count = {};", plan.client.raised.len()));
    text.line(format!("nc_reply.is_kept = {is_kept};"));
    let has_descriptors = plan.client.request.contains(&Step::ExpectDescriptors);
    text.line(format!("nc_reply.has_descriptors = {has_descriptors};"));
}

fn print_oneway(printer: &mut Printer<'_, '_>, plan: &ProcedurePlan, fixed_bytes: u32) {
    print_request(printer, plan, fixed_bytes);
    let client = "(const nearcall_client *)nc_client";
    let post = format!("nearcall_post_oneway({client}, {}, &nc_request, nc_env)", plan.index);
    printer.text.open(format!("if (!{post}) {{"));
    printer.text.line("goto nc_done;");
    printer.text.close("}");
}

/// Reads what came back.
pub fn print_reply(printer: &mut Printer<'_, '_>, procedure: Procedure<'_>) {
    let Procedure { operation, plan, .. } = procedure;
    printer.enter(None);
    if plan.client.raised.is_empty() {
        print_results(printer, procedure);
    } else {
        printer.text.line("switch (nc_reply.raised) {");
        printer.text.open("case 0:");
        print_results(printer, procedure);
        printer.text.line("break;");
        printer.text.end();
        for ((steps, id), number) in plan.client.raised.iter().zip(&operation.raises).zip(1u32..) {
            printer.enter(Some((*id, number)));
            let is_last = number as usize == operation.raises.len();
            printer.text.open(if is_last {
                String::from("default:")
            } else {
                format!("case {number}:")
            });
            steps.iter().for_each(|step| printer.read(step, steps));
            let name = printer.c.names.declaration(*id);
            printer.text.line("nc_env->ran = NEARCALL_RAN_YES;");
            printer.text.line(format!("nearcall_raise_{name}(nc_env, nc_raised{number});"));
            printer.text.line(format!("memset(&nc_raised{number}, 0, sizeof nc_raised{number});"));
            printer.text.line("break;");
            printer.text.end();
        }
        printer.text.line("}");
    }
    if is_kept(plan) {
        printer.text.line("nearcall_reply_release(&nc_reply);");
    }
    printer.text.line("nc_is_good = true;");
}

/// Reads the results, and puts what came back in the place of what went.
fn print_results(printer: &mut Printer<'_, '_>, procedure: Procedure<'_>) {
    let Procedure { operation, plan, .. } = procedure;
    plan.client.reply.iter().for_each(|step| printer.read(step, &plan.client.reply));
    for (parameter, index) in operation.parameters.iter().zip(0u32..) {
        if parameter.direction == Direction::Inout && printer.whole_got() != Some(index) {
            let new = printer.value(&Place::whole(Root::Parameter(index)));
            let name = printer.names[index as usize].clone();
            let free = printer.c.free(&parameter.declared, &format!("(*{name})"));
            printer.text.lines(free);
            printer.text.line(format!("*{name} = {new};"));
        }
    }
}

/// Does the stub read more than words that may have any value?
fn is_kept(plan: &ProcedurePlan) -> bool {
    let all = plan.client.reply.iter().chain(plan.client.raised.iter().flatten());
    all.into_iter().any(|step| match step {
        Step::GetScalar { check, .. } => *check != Check::Any,
        Step::GetImage { .. }
        | Step::Incoming { .. }
        | Step::CheckInside { .. }
        | Step::TakeDescriptors { .. } => true,
        _ => false,
    })
}

fn takes(plan: &ProcedurePlan) -> usize {
    let all = std::iter::once(&plan.client.reply).chain(&plan.client.raised);
    all.map(|steps| payload_counts(steps).1).max().unwrap_or_default()
}

/// Bytes of the fixed part that steps write.
pub fn fixed_bytes(steps: &[Step]) -> u32 {
    let bytes = steps.iter().find_map(|step| match step {
        Step::Post { fixed_bytes }
        | Step::PostOneway { fixed_bytes }
        | Step::Reply { fixed_bytes }
        | Step::Raise { fixed_bytes, .. } => Some(*fixed_bytes),
        _ => None,
    });
    bytes.unwrap_or_default()
}

/// Bytes of the longest fixed part of a reply.
pub fn reply_bytes(plan: &ProcedurePlan) -> u32 {
    let all = std::iter::once(&plan.server.reply).chain(&plan.server.raised);
    all.map(|steps| fixed_bytes(steps)).max().unwrap_or_default()
}
