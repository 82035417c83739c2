//! The server's side for procedures that set their calls aside (design note 0014): entry stubs in
//! two halves. One reads the arguments and runs the procedure, the other one replies when somebody
//! says so, and the call has a record between the two.

use crate::back::c::C;
use crate::back::c::client::{fixed_bytes, reply_bytes};
use crate::back::c::interface::Procedure;
use crate::back::c::server::{print_reply, puts};
use crate::back::c::stub::{Printer, Side, payload_counts};
use crate::back::c::text::Text;
use crate::layout::Root;
use crate::model::{Direction, Parameter};
use crate::plan::{InterfacePlan, Passing, Step};

/// The record, in stubs.
const RECORD: &str = "nc_deferred";

/// Whether its calls are set aside: what outlives the look at its A-stack may be, and is no feed.
pub fn is_deferred(procedure: Procedure<'_>) -> bool {
    let Procedure { operation, plan, .. } = procedure;
    let is_lent = plan.arguments.iter().any(|argument| {
        matches!(argument.passing, Passing::Lent | Passing::LentResult | Passing::LentBoth)
    });
    !is_lent && plan.lent_result.is_none() && operation.feed.is_none() && !operation.carries_feed()
}

impl C<'_> {
    /// Whether an interface has a server of this kind.
    pub fn has_async_server(&self, plan: &InterfacePlan) -> bool {
        self.procedures(plan).into_iter().any(is_deferred)
    }

    /// The records of calls, and of the server.
    pub fn declare_async_server(&self, plan: &InterfacePlan, text: &mut Text) {
        if !self.has_async_server(plan) {
            return;
        }
        for procedure in self.procedures(plan).into_iter().filter(|one| is_deferred(*one)) {
            self.declare_record(procedure, text);
        }
        let name = self.names.declaration(plan.id);
        text.line(
            "/* The same of a domain that replies to calls when it likes, from any thread. */",
        );
        text.open(format!("typedef struct nearcall_async_server_{name} {{"));
        text.line("void *self;");
        let all = self.procedures(plan).into_iter().zip(self.member_functions(plan));
        for (procedure, own) in all.filter(|(one, _)| !one.operation.carries_feed()) {
            if is_deferred(procedure) {
                let record = self.deferred_record(procedure);
                text.line(format!("void (*{own})(void *nc_self, {record} *nc_call);"));
            } else {
                let (returns, parameters) = self.run_signature(procedure);
                let star = if returns.ends_with('*') { "" } else { " " };
                text.line(format!("{returns}{star}(*{own})(void *nc_self{parameters});"));
            }
        }
        text.close(format!("}} nearcall_async_server_{name};"));
        text.line("");
        for procedure in self.procedures(plan) {
            text.line(format!("{};", self.async_entry_signature(procedure)));
        }
        self.print_export(&format!("async_{name}"), &format!("nearcall_async_server_{name}"), text);
    }

    pub fn deferred_record(&self, procedure: Procedure<'_>) -> String {
        let Procedure { interface, plan, .. } = procedure;
        format!("nearcall_deferred_{}", self.names.function(interface, plan.index))
    }

    fn declare_record(&self, procedure: Procedure<'_>, text: &mut Text) {
        let operation = procedure.operation;
        let record = self.deferred_record(procedure);
        text.line(format!(
            "/* A call of {} that is set aside, until it is replied to. */",
            self.names.function(procedure.interface, procedure.plan.index)
        ));
        text.open(format!("typedef struct {record} {{"));
        text.line("nearcall_deferred nc_call;");
        let names = self.parameter_names(operation);
        for (parameter, name) in operation.parameters.iter().zip(names) {
            text.line(format!("{};", self.record_member(parameter, &name)));
        }
        if operation.returns.is_some() {
            let returns = self.returned_type(operation);
            let star = if returns.ends_with('*') { "" } else { " " };
            text.line(format!("{returns}{star}nc_returned;"));
        }
        text.close(format!("}} {record};"));
        text.line("/* Replies to it, with what its inout and out members hold, too. */");
        text.line(format!("{};", self.reply_signature(procedure)));
    }

    /// An argument, or what will be a result.
    fn record_member(&self, parameter: &Parameter, name: &str) -> String {
        let Parameter { declared, direction, descriptor, .. } = parameter;
        match direction {
            _ if descriptor.is_some() => format!("int {name}"),
            Direction::In if self.is_text(declared) => self.in_parameter(declared, name),
            _ => self.declarator(declared, name),
        }
    }

    fn reply_signature(&self, procedure: Procedure<'_>) -> String {
        let Procedure { interface, operation, plan } = procedure;
        let function = self.names.function(interface, plan.index);
        let returned = match operation.returns {
            None => String::new(),
            Some(_) => {
                let returns = self.returned_type(operation);
                let star = if returns.ends_with('*') { "" } else { " " };
                format!(", {returns}{star}nc_returned")
            }
        };
        let record = self.deferred_record(procedure);
        format!("void nearcall_reply_{function}({record} *{RECORD}{returned})")
    }

    fn async_entry_signature(&self, procedure: Procedure<'_>) -> String {
        let own = self.names.declaration(procedure.interface);
        let function = self.names.function(procedure.interface, procedure.plan.index);
        format!(
            "void nearcall_async_entry_{function}(const nearcall_async_server_{own} *nc_server, \
             nearcall_served *nc_call)"
        )
    }

    /// What reads and what replies, of every procedure.
    pub fn print_async_entries(&self, plan: &InterfacePlan, text: &mut Text) {
        if !self.has_async_server(plan) {
            return;
        }
        for (procedure, own) in self.procedures(plan).into_iter().zip(self.member_functions(plan)) {
            if is_deferred(procedure) {
                let has_let_go = self.print_let_go(procedure, text);
                self.print_answer(procedure, text);
                self.print_reply_function(procedure, text);
                self.print_async_entry(procedure, (&own, has_let_go), text);
            } else {
                self.print_same_entry(procedure, &own, text);
            }
        }
    }

    /// A printer whose parameters are members of the record.
    fn record_printer<'c>(&'c self, procedure: Procedure<'c>) -> Printer<'c, 'c> {
        let mut printer = Printer::new(self, procedure, Side::Server);
        for name in &mut printer.names {
            *name = format!("{RECORD}->{name}");
        }
        printer
    }

    /// What gives back what a record holds, but for descriptors that came, which are the
    /// procedure's. False if there is nothing.
    fn print_let_go(&self, procedure: Procedure<'_>, text: &mut Text) -> bool {
        let Procedure { interface, operation, plan } = procedure;
        let printer = self.record_printer(procedure);
        let own = operation.parameters.iter().zip(0u32..).filter(|(parameter, _)| {
            parameter.direction != Direction::In || parameter.descriptor.is_none()
        });
        let frees = own.filter_map(|(_, index)| {
            printer.free_root(Root::Parameter(index), &printer.names[index as usize])
        });
        let returned = printer.free_root(Root::Returned, &format!("{RECORD}->nc_returned"));
        let all: Vec<String> = frees.chain(returned).collect();
        if all.is_empty() {
            return false;
        }
        let function = self.names.function(interface, plan.index);
        text.open(format!("static void nearcall_let_go_{function}(nearcall_deferred *nc_held) {{"));
        self.print_record_local(procedure, text);
        text.lines(all);
        text.close("}");
        text.line("");
        true
    }

    fn print_record_local(&self, procedure: Procedure<'_>, text: &mut Text) {
        let record = self.deferred_record(procedure);
        text.line(format!("{record} *const {RECORD} = ({record} *)nc_held;"));
    }

    /// The second half: writes results or an exception, and replies.
    fn print_answer(&self, procedure: Procedure<'_>, text: &mut Text) {
        let Procedure { interface, operation, plan } = procedure;
        let mut printer = self.record_printer(procedure);
        printer.text.open("if (nc_came != NULL) {");
        printer.text.line("const nearcall_environment nc_env = *nc_came;");
        self.print_exceptions(&mut printer, procedure);
        printer.text.close("}");
        printer.enter(None);
        print_reply(&mut printer, &plan.server.reply, 0);
        let body = std::mem::take(&mut printer.text).finish();
        let function = self.names.function(interface, plan.index);
        text.line(format!("static void nearcall_answer_{function}(nearcall_served *nc_call,"));
        text.open("    nearcall_deferred *nc_held, const nearcall_environment *nc_came) {");
        let reply = reply_bytes(plan);
        if reply > 0 && printer.gathers() {
            text.line(format!("uint8_t nc_results[{reply}] = {{0}};"));
        }
        text.line("nearcall_message nc_message;");
        printer.print_locals(text, puts(plan), 0);
        match body.contains(RECORD) || operation.returns.is_some() {
            true => self.print_record_local(procedure, text),
            false => text.line("(void)nc_held;"),
        }
        if operation.returns.is_some() {
            let returns = self.returned_type(operation);
            let star = if returns.ends_with('*') { "" } else { " " };
            text.line(format!("{returns}{star}nc_returned = {RECORD}->nc_returned;"));
        }
        text.lines(body.lines().map(String::from));
        text.label("nc_done:");
        text.line("return;");
        text.close("}");
        text.line("");
    }

    fn print_reply_function(&self, procedure: Procedure<'_>, text: &mut Text) {
        text.open(format!("{} {{", self.reply_signature(procedure)));
        if procedure.operation.returns.is_some() {
            text.line(format!("{RECORD}->nc_returned = nc_returned;"));
        }
        text.line(format!("nearcall_deferred_reply(&{RECORD}->nc_call, NULL);"));
        text.close("}");
        text.line("");
    }

    /// The first half: reads the arguments, sets the call aside, and runs the procedure, which may
    /// have replied before it returns.
    fn print_async_entry(
        &self,
        procedure: Procedure<'_>,
        (own, has_let_go): (&str, bool),
        text: &mut Text,
    ) {
        let Procedure { interface, operation, plan } = procedure;
        let mut printer = self.record_printer(procedure);
        let request = fixed_bytes(&plan.client.request);
        if request > 0 {
            let into = printer.read_into();
            printer.text.line(format!("nearcall_arguments_fixed(nc_call, {into}, {request});"));
        }
        for step in plan.server.request.iter().filter(|step| **step != Step::Run) {
            printer.read(step, &plan.server.request);
        }
        let body = std::mem::take(&mut printer.text).finish();
        let (function, record) =
            (self.names.function(interface, plan.index), self.deferred_record(procedure));
        text.open(format!("{} {{", self.async_entry_signature(procedure)));
        if request > 0 && printer.whole_got().is_none() {
            text.line(format!("uint8_t nc_fixed[{request}];"));
        }
        printer.print_locals(text, 0, payload_counts(&plan.server.request).1);
        text.line(format!("{record} *const {RECORD} ="));
        text.line(format!("    ({record} *)nearcall_defer_room(nc_call, sizeof(*{RECORD}));"));
        text.open(format!("if ({RECORD} == NULL) {{"));
        text.line("return;");
        text.close("}");
        let roots =
            (0u32..).zip(&printer.names).map(|(index, name)| (Root::Parameter(index), name));
        let returned = format!("{RECORD}->nc_returned");
        for (root, name) in roots.chain([(Root::Returned, &returned)]) {
            if operation.descriptor(root).is_some() {
                text.line(format!("{name} = -1;"));
            }
        }
        text.lines(body.lines().map(String::from));
        let let_go =
            if has_let_go { format!("nearcall_let_go_{function}") } else { String::from("NULL") };
        let ends = format!("nearcall_answer_{function}, {let_go}");
        text.open(format!("if (nearcall_defer(nc_call, &{RECORD}->nc_call, {ends})) {{"));
        text.line(format!("nc_server->{own}(nc_server->self, {RECORD});"));
        text.line("return;");
        text.close("}");
        if body.contains("goto nc_done;") {
            text.label("nc_done:");
        }
        self.print_refused_end(&printer, procedure, has_let_go, text);
        text.close("}");
        text.line("");
    }

    /// Gives back what had come when the arguments were refused.
    fn print_refused_end(
        &self,
        printer: &Printer<'_, '_>,
        procedure: Procedure<'_>,
        has_let_go: bool,
        text: &mut Text,
    ) {
        let Procedure { interface, operation, plan } = procedure;
        for (parameter, name) in operation.parameters.iter().zip(&printer.names) {
            if parameter.descriptor.is_some() && parameter.direction == Direction::In {
                text.line(format!("nearcall_close({name});"));
            }
        }
        if has_let_go {
            let function = self.names.function(interface, plan.index);
            text.line(format!("nearcall_let_go_{function}(&{RECORD}->nc_call);"));
        }
        printer.print_frees(text, printer.allocated_takes(&plan.server.request));
        text.line("return;");
    }

    /// The entry stub of an ordinary procedure beside those.
    fn print_same_entry(&self, procedure: Procedure<'_>, own: &str, text: &mut Text) {
        let interface = self.names.declaration(procedure.interface);
        let function = self.names.function(procedure.interface, procedure.plan.index);
        text.open(format!("{} {{", self.async_entry_signature(procedure)));
        let run = match procedure.operation.carries_feed() {
            true => String::new(),
            false => format!(", .{own} = nc_server->{own}"),
        };
        text.line(format!(
            "const nearcall_server_{interface} nc_own = {{.self = nc_server->self{run}}};"
        ));
        text.line(format!("nearcall_entry_{function}(&nc_own, nc_call);"));
        text.close("}");
        text.line("");
    }
}
