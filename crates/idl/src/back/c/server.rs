//! Entry stubs.

use crate::back::c::C;
use crate::back::c::client::{fixed_bytes, reply_bytes};
use crate::back::c::interface::Procedure;
use crate::back::c::stub::{Printer, Side, message, payload_counts};
use crate::back::c::text::Text;
use crate::layout::{Root, Shape, shape};
use crate::model::Direction;
use crate::plan::{Passing, ProcedurePlan, Step};

impl C<'_> {
    /// The entry stub of a procedure.
    pub fn print_entry_stub(&self, procedure: Procedure<'_>, text: &mut Text) {
        if procedure.operation.waits_for_exchange() {
            return self.print_waiting_stub(procedure, text);
        }
        let plan = procedure.plan;
        let mut printer = Printer::new(self, procedure, Side::Server);
        let request = fixed_bytes(&plan.client.request);
        if request > 0 {
            let into = printer.read_into();
            let copy = format!("nearcall_arguments_fixed(nc_call, {into}, {request});");
            printer.text.line(copy);
        }
        for step in &plan.server.request {
            match step {
                Step::Lend { at, limit, .. } => {
                    let limit = limit
                        .map_or(String::from("NEARCALL_UNBOUNDED"), |limit| format!("{limit}u"));
                    printer.text.line(format!("nearcall_lend_room(nc_call, {at}, {limit});"));
                }
                Step::Run => self.print_run(&mut printer, procedure),
                step => printer.read(step, &plan.server.request),
            }
        }
        printer.enter(None);
        print_reply(&mut printer, &plan.server.reply, 0);
        let body = std::mem::take(&mut printer.text).finish();
        text.open(format!("{} {{", self.entry_signature(procedure)));
        self.print_entry_locals(&printer, procedure, text);
        text.lines(body.lines().map(String::from));
        text.label("nc_done:");
        self.print_entry_end(&printer, procedure, text);
        text.close("}");
        text.line("");
    }

    /// Runs the procedure.
    fn print_run(&self, printer: &mut Printer<'_, '_>, procedure: Procedure<'_>) {
        match procedure.operation.carries_feed() {
            true => self.print_carried(printer, procedure),
            false => self.print_entered(printer, procedure),
        }
        self.print_raised(printer, procedure);
        printer.text.lines(self.opened(procedure));
    }

    /// Enters the procedure.
    fn print_entered(&self, printer: &mut Printer<'_, '_>, procedure: Procedure<'_>) {
        let Procedure { interface, operation, plan } = procedure;
        let mut arguments = String::from("nc_server->self");
        printer.text.lines(self.exchange_made(procedure));
        for (parameter, index) in operation.spelled_parameters().iter().zip(0u32..) {
            let name = &printer.names[index as usize];
            let passing = plan.arguments.iter().find(|one| one.parameter == index);
            let is_word = matches!(shape(self.model, &parameter.declared), Shape::Scalar(_));
            let is_plain = is_word || self.is_text(&parameter.declared);
            arguments += &match passing.map(|one| one.passing) {
                Some(Passing::LentResult) => String::from(", nc_call"),
                Some(Passing::Descriptor) => format!(", nearcall_handed_over(&{name})"),
                Some(Passing::LentBoth) => format!(", &{name}, nc_call"),
                _ if parameter.direction == Direction::In && is_plain => format!(", {name}"),
                _ => format!(", &{name}"),
            };
        }
        if plan.lent_result == Some(Root::Returned) {
            arguments += ", nc_call";
        }
        arguments += &self.exchange_arguments(procedure).unwrap_or_default();
        let interfaces = self.plan.interfaces.iter().find(|one| one.id == interface);
        let functions = interfaces.map(|one| self.member_functions(one)).unwrap_or_default();
        let function = &functions[plan.index as usize];
        let is_returned = operation.returns.is_some() && plan.lent_result != Some(Root::Returned);
        let result = match self.made_type(procedure) {
            Some(_) => "nc_made = ",
            None if is_returned && !operation.opens_exchange() => "nc_returned = ",
            None => "",
        };
        printer.text.line(format!("{result}nc_server->{function}({arguments}, &nc_env);"));
    }

    /// What was raised is replied at once.
    pub fn print_raised(&self, printer: &mut Printer<'_, '_>, procedure: Procedure<'_>) {
        printer.text.open("if (nc_env.outcome != NEARCALL_RETURNED) {");
        if procedure.operation.returns_descriptor.is_some() {
            printer.text.line("/* Zero beside an exception is nothing, and not standard input. */");
            printer.text.line("nc_returned = nc_returned == 0 ? -1 : nc_returned;");
        }
        self.print_exceptions(printer, procedure);
        printer.text.close("}");
    }

    /// Replies with the exception of an environment that has one.
    pub fn print_exceptions(&self, printer: &mut Printer<'_, '_>, procedure: Procedure<'_>) {
        let Procedure { operation, plan, .. } = procedure;
        for ((steps, id), number) in plan.server.raised.iter().zip(&operation.raises).zip(1u32..) {
            let name = self.names.declaration(*id);
            let raised = format!("nc_raised{number}");
            printer.text.line(format!("const {name} *{raised} = nearcall_raised_{name}(&nc_env);"));
            printer.text.open(format!("if ({raised} != NULL) {{"));
            printer.enter(Some((*id, number)));
            print_reply(printer, steps, number);
            printer.text.line("goto nc_done;");
            printer.text.close("}");
        }
        printer.text.line("nearcall_refuse_raised(nc_call, &nc_env);");
        printer.text.line("goto nc_done;");
    }

    fn print_entry_locals(
        &self,
        printer: &Printer<'_, '_>,
        procedure: Procedure<'_>,
        text: &mut Text,
    ) {
        let plan = procedure.plan;
        let (request, reply) = (fixed_bytes(&plan.client.request), reply_bytes(plan));
        if request > 0 && printer.whole_got().is_none() {
            text.line(format!("uint8_t nc_fixed[{request}];"));
        }
        if reply > 0 && printer.gathers() {
            text.line(format!("uint8_t nc_results[{reply}] = {{0}};"));
        }
        text.lines(self.feed_locals(procedure));
        text.line("nearcall_message nc_message;");
        text.line("nearcall_environment nc_env;");
        for (index, name) in (0u32..).zip(&printer.names) {
            match lent(plan, index) {
                Some(Passing::Lent | Passing::LentBoth) => {
                    text.line(format!("nearcall_opaque {name} = {{{{0, 0}}}};"));
                }
                Some(Passing::LentResult) => {}
                _ => text.lines(printer.local_root(Root::Parameter(index), name)),
            }
        }
        if plan.lent_result != Some(Root::Returned) {
            text.lines(printer.local_root(Root::Returned, "nc_returned"));
        }
        printer.print_locals(text, puts(plan), payload_counts(&plan.server.request).1);
        if procedure.operation.carries_feed() {
            text.line("(void)nc_server;");
        }
        text.line("nearcall_begin(&nc_env);");
    }

    fn print_entry_end(
        &self,
        printer: &Printer<'_, '_>,
        procedure: Procedure<'_>,
        text: &mut Text,
    ) {
        let plan = procedure.plan;
        for (name, index) in printer.names.iter().zip(0u32..) {
            let passing = lent(plan, index);
            let is_lent =
                matches!(passing, Some(Passing::Lent | Passing::LentBoth | Passing::LentResult));
            if !is_lent {
                text.lines(printer.free_root(Root::Parameter(index), name));
            }
        }
        if plan.lent_result != Some(Root::Returned) {
            text.lines(printer.free_root(Root::Returned, "nc_returned"));
        }
        printer.print_frees(text, printer.allocated_takes(&plan.server.request));
        text.line("nearcall_environment_release(&nc_env);");
    }
}

/// How a parameter is passed, if it is an argument.
fn lent(plan: &ProcedurePlan, index: u32) -> Option<Passing> {
    plan.arguments.iter().find(|one| one.parameter == index).map(|one| one.passing)
}

/// Most payloads of a reply.
pub fn puts(plan: &ProcedurePlan) -> usize {
    let all = std::iter::once(&plan.server.reply).chain(&plan.server.raised);
    all.map(|steps| payload_counts(steps).0).max().unwrap_or_default()
}

/// Writes results or an exception, and replies.
pub fn print_reply(printer: &mut Printer<'_, '_>, steps: &[Step], raised: u32) {
    steps.iter().for_each(|step| printer.write(step));
    let reply = message(steps, &printer.written(), fixed_bytes(steps));
    printer.text.line(format!("nc_message = {reply};"));
    printer.text.line(format!("nearcall_reply_with(nc_call, &nc_message, {raised});"));
}
