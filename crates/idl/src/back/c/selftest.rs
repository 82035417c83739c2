//! Self-tests: a client and a server that know which values must arrive.
//!
//! ```text
//! x_selftest.h          values as text, and what is counted
//! x_selftest_client.c   calls everything, and looks at what comes back
//! x_selftest_server.c   looks at what comes, and answers
//! ```

mod exchanges;
mod feeds;
mod later;
mod shown;
mod values;

use crate::back::c::C;
use crate::back::c::interface::Procedure;
use crate::back::c::text::Text;
use crate::back::c::types::quoted;
use crate::back::{Output, Printed};
use crate::layout::{Root, Shape, shape};
use crate::model::{DeclarationId, Direction, Model, Operation, Parameter, Type};
use crate::plan::InterfacePlan;
use crate::selftest::{
    Answer, InterfaceTest, Manner, OperationTest, Round, Selftest, Value, items_max, shortened,
    shown, shown_members,
};

pub use shown::DESCRIPTORS;

/// What every part of a program is printed from.
struct Programs<'t, 'm> {
    c: C<'m>,
    test: &'t Selftest,
}

/// The programs, and what they share, beside the stubs.
pub fn selftest_c(model: &Model, stem: &str, test: &Selftest) -> Printed {
    let programs = Programs { c: C::new(model), test };
    Ok(vec![
        Output { suffix: "_selftest.h", text: programs.shared(stem) },
        Output { suffix: "_selftest_client.c", text: programs.client(stem) },
        Output { suffix: "_selftest_server.c", text: programs.server(stem) },
    ])
}

/// Where in a program something is compared.
#[derive(Clone, Copy)]
struct At<'t> {
    test: &'t OperationTest,
    round: usize,
}

impl<'m> Programs<'_, 'm> {
    fn head(&self, stem: &str, side: &str, sources: &str) -> Text {
        let (own, seed) = (format!("{stem}_selftest_{side}"), self.test.seed);
        let mut text = Text::default();
        text.line(format!(
            "/* The {side} of a self-test of {stem}, seed {seed}: `{own} NAME`, the"
        ));
        text.line(" * same name on both sides. To build:");
        text.line(" *");
        let has_threads = side == "server" && self.test.has_exchange();
        let threads = if has_threads { " -pthread" } else { "" };
        text.line(format!(" * cc -std=c11{threads} -o {own} {own}.c {sources} \\"));
        text.line(" *    $(pkg-config --cflags --libs nearcall)");
        text.line(" */");
        // For nanosleep, or for memory files.
        text.line(match self.test.has_descriptors(self.c.model) {
            true => "#define _GNU_SOURCE",
            false => "#define _POSIX_C_SOURCE 200809L",
        });
        if has_threads {
            text.line("#include <pthread.h>");
        }
        text.line(format!("#define NC_SIDE \"{side}\""));
        text.line(format!("#include \"{stem}_selftest.h\""));
        text.line("");
        text
    }

    fn client(&self, stem: &str) -> String {
        let mut text = self.head(stem, "client", &format!("{stem}.c"));
        for interface in &self.test.interfaces {
            for (procedure, test) in self.procedures(interface) {
                self.calls(procedure, test, &mut text);
            }
        }
        text.open("int main(int argc, char **argv) {");
        text.line("nearcall_environment env;");
        text.line("nearcall_domain *domain = nearcall_domain_new(&env);");
        text.line("char name[128];");
        text.line("int status;");
        let interfaces = self.test.interfaces.iter().enumerate();
        for (number, interface) in interfaces.clone() {
            let own = self.c.names.declaration(interface.id);
            text.line(format!("{own} *client_{number};"));
        }
        text.lines(["if (domain == NULL) {", "    nc_stop(env.message);", "}"].map(String::from));
        for (number, interface) in interfaces.clone() {
            let own = self.c.names.declaration(interface.id);
            text.line(format!("snprintf(name, sizeof name, \"%s-{number}\", argv[argc - 1]);"));
            text.line(format!("client_{number} = nearcall_import_{own}(domain, name, &env);"));
            text.open(format!("if (client_{number} == NULL) {{"));
            text.line("nc_stop(env.message);");
            text.close("}");
            for operation in &interface.operations {
                text.line(format!("nc_call_{}(client_{number});", operation.number));
            }
        }
        text.line(format!("status = nc_end({});", self.test.call_count()));
        for (number, interface) in interfaces {
            let own = self.c.names.declaration(interface.id);
            text.line(format!("nearcall_release_{own}(client_{number});"));
        }
        text.line("nearcall_domain_shut_down(domain);");
        text.line("nearcall_domain_release(domain);");
        text.line("return status;");
        text.close("}");
        text.finish()
    }

    fn server(&self, stem: &str) -> String {
        let sources = format!("{stem}.c {stem}_server.c");
        let mut text = self.head(stem, "server", &sources);
        for interface in &self.test.interfaces {
            for (procedure, test) in self.procedures(interface) {
                self.procedure(procedure, test, &mut text);
                self.later(procedure, test, &mut text);
            }
        }
        let count = self.test.interfaces.len();
        text.open("int main(int argc, char **argv) {");
        for (number, interface) in self.test.interfaces.iter().enumerate() {
            let own = self.c.names.declaration(interface.id);
            let kind = self.kind(interface);
            text.open(format!("static const nearcall_{kind}server_{own} server_{number} = {{"));
            text.line("NULL,");
            for (procedure, test) in self.procedures(interface) {
                text.line(format!("{},", self.run_name(procedure, test)));
            }
            text.close("};");
        }
        text.line("nearcall_environment env;");
        text.line("nearcall_domain *domain = nearcall_domain_new(&env);");
        text.line(format!("nearcall_clerk *clerks[{count}];"));
        text.line("char name[128];");
        text.lines(["if (domain == NULL) {", "    nc_stop(env.message);", "}"].map(String::from));
        for (number, interface) in self.test.interfaces.iter().enumerate() {
            let own = self.c.names.declaration(interface.id);
            text.line(format!("snprintf(name, sizeof name, \"%s-{number}\", argv[argc - 1]);"));
            let export = format!("nearcall_export_{}{own}", self.kind(interface));
            text.line(format!(
                "clerks[{number}] = {export}(domain, name, &server_{number}, &env);"
            ));
            text.open(format!("if (clerks[{number}] == NULL) {{"));
            text.line("nc_stop(env.message);");
            text.close("}");
        }
        text.line("puts(\"ready\");");
        text.line("fflush(stdout);");
        text.line("nc_rest();");
        text.line(format!("nc_wait({});", self.test.call_count()));
        text.line("nearcall_domain_shut_down(domain);");
        text.open(format!("for (size_t i = 0; i < {count}; i++) {{"));
        text.line("nearcall_clerk_release(clerks[i]);");
        text.close("}");
        text.line("nearcall_domain_release(domain);");
        text.line(format!("return nc_end({});", self.test.call_count()));
        text.close("}");
        text.finish()
    }

    fn procedures<'p>(
        &'p self,
        interface: &'p InterfaceTest,
    ) -> impl Iterator<Item = (Procedure<'p>, &'p OperationTest)> {
        let plan = self.c.plan.interfaces.iter().find(|plan| plan.id == interface.id);
        let procedures = plan.map(|plan: &InterfacePlan| self.c.procedures(plan));
        let procedures = procedures.unwrap_or_default();
        interface.operations.iter().map(move |test| (procedures[test.procedure], test))
    }

    /// Every round of an operation, called.
    fn calls(&self, procedure: Procedure<'_>, test: &OperationTest, text: &mut Text) {
        let Procedure { interface, operation, plan } = procedure;
        let (own, function) =
            (self.c.names.declaration(interface), self.c.names.function(interface, plan.index));
        text.open(format!("static void nc_call_{}(const {own} *client) {{", test.number));
        for (number, round) in test.rounds.iter().enumerate() {
            let at = At { test, round: number };
            text.open("{");
            text.line("nearcall_environment env;");
            text.line("nc_shown outcome = {NULL, 0, 0};");
            let mut arguments = self.arguments(operation, round, text);
            match (self.c.exchange_of(procedure), self.c.feed_here(procedure)) {
                (Some(exchange), _) => {
                    self.exchange_called(&exchange, (at, round), &arguments, text);
                }
                (None, Some(feed)) => self.feed_called(&feed, (at, round), &arguments, text),
                (None, None) => {
                    let returned = operation.returns.as_ref();
                    let bound = self.returned_local(operation, &mut arguments, text);
                    text.line(format!("nc_round({}, {});", test.number, test.rounds.len()));
                    match self.test.manner == Manner::Posted && operation.is_posted() {
                        true => self.posted(operation, (bound, function), text),
                        false => text.line(format!("{bound}{function}({arguments}, &env);")),
                    }
                    self.outcome_of(operation, returned, (at, round), text);
                }
            }
            let all = operation.parameters.iter().zip(self.c.parameter_names(operation));
            for (parameter, name) in all.filter(|(one, _)| one.direction != Direction::Out) {
                match parameter.descriptor {
                    Some(_) => text.line(format!("nearcall_close(a_{name});")),
                    None => text.lines(self.c.free(&parameter.declared, &format!("a_{name}"))),
                }
            }
            text.line("nearcall_environment_release(&env);");
            text.close("}");
        }
        text.close("}");
        text.line("");
    }

    /// A call by its two halves.
    fn posted(&self, operation: &Operation, (bound, function): (&str, &str), text: &mut Text) {
        let [mut goes, mut comes] = [String::from("client"), String::from("&posted")];
        text.open("{");
        text.line(format!("nearcall_posted_{function} posted;"));
        let mut frees = Vec::new();
        for (parameter, name) in operation.parameters.iter().zip(self.c.parameter_names(operation))
        {
            let local = format!("a_{name}");
            if parameter.direction != Direction::Out {
                let given = if self.is_by_value(parameter) { "" } else { "&" };
                goes += &format!(", {given}{local}");
            }
            if parameter.direction == Direction::Inout {
                frees.extend(self.c.free(&parameter.declared, &local));
            }
            if parameter.direction != Direction::In {
                comes += &format!(", &{local}");
            }
        }
        if operation.returns_prealloc {
            comes += ", &returned";
        }
        text.open(format!("if (nearcall_post_{function}({goes}, &posted, &env)) {{"));
        text.lines(frees);
        text.line(format!("{bound}nearcall_collect_{function}({comes}, &env);"));
        text.close("}");
        text.close("}");
    }

    /// Whether a stub that only reads it is given the value itself.
    fn is_by_value(&self, parameter: &Parameter) -> bool {
        let declared = &parameter.declared;
        parameter.descriptor.is_some() || self.is_scalar(declared) || self.c.is_text(declared)
    }

    /// Locals for what is passed, and how they are.
    fn arguments(&self, operation: &Operation, round: &Round, text: &mut Text) -> String {
        let mut arguments = String::from("client");
        let all = operation.spelled_parameters().iter().zip(self.c.parameter_names(operation));
        for ((parameter, name), given) in all.zip(&round.given) {
            let local = format!("a_{name}");
            if let Some(prealloc) = self.c.prealloc(parameter) {
                let count = items_max(self.c.model, &parameter.declared);
                self.callers_memory(prealloc, count, (&local, &format!("b_{name}")), text);
                arguments += &format!(", &{local}");
                continue;
            }
            self.local(&parameter.declared, &local, text);
            if let Some(value) = given {
                self.assign(&parameter.declared, value, &local, text);
            }
            let is_value = parameter.direction == Direction::In && self.is_by_value(parameter);
            arguments += if is_value { ", " } else { ", &" };
            arguments += &local;
        }
        arguments
    }

    /// Memory of the client's for a result.
    fn callers_memory(
        &self,
        (record, element): (String, String),
        count: u32,
        (local, room): (&str, &str),
        text: &mut Text,
    ) {
        text.line(format!("static {element} {room}[{count}];"));
        text.line(format!("{record} {local} = NEARCALL_PREALLOC({room});"));
    }

    /// A local for what is returned, and what binds it; an argument where it is memory of the
    /// client's.
    fn returned_local(
        &self,
        operation: &Operation,
        arguments: &mut String,
        text: &mut Text,
    ) -> &'static str {
        let Some(declared) = &operation.returns else { return "" };
        if let Some(prealloc) = self.c.returned_prealloc(operation) {
            let count = items_max(self.c.model, declared);
            self.callers_memory(prealloc, count, ("returned", "returned_room"), text);
            *arguments += ", &returned";
            return "";
        }
        self.local(declared, "returned", text);
        "returned = "
    }

    /// Compares how a call has ended, and what it has brought.
    fn outcome_of(
        &self,
        operation: &Operation,
        returned: Option<&Type>,
        (at, round): (At<'_>, &Round),
        text: &mut Text,
    ) {
        let spelled = operation.spelled_parameters().iter();
        let all = spelled.zip(self.c.parameter_names(operation));
        text.open("if (env.outcome == NEARCALL_RETURNED) {");
        text.line("nc_put(&outcome, \"returned\");");
        if let Answer::Returned { returned: value, changed } = &round.answer {
            if let (Some(declared), Some(value)) = (returned, value) {
                let is_prealloc = operation.returns_prealloc;
                let got = self.came((declared, is_prealloc), "returned", text);
                self.same(at, ("returned", &got), (declared, value), text);
            }
            for ((parameter, name), value) in all.clone().zip(changed) {
                let Some(value) = value else { continue };
                let Parameter { declared, is_prealloc, .. } = parameter;
                let got = self.came((declared, *is_prealloc), &format!("a_{name}"), text);
                self.same(at, (&parameter.name, &got), (declared, value), text);
            }
        }
        let stubs = returned.filter(|_| !operation.returns_prealloc);
        text.lines(stubs.and_then(|declared| self.c.free(declared, "returned")));
        let is_stubs = |one: &Parameter| one.direction == Direction::Out && !one.is_prealloc;
        for (parameter, name) in all.filter(|(one, _)| is_stubs(one)) {
            text.lines(self.c.free(&parameter.declared, &format!("a_{name}")));
        }
        self.raised(operation, text);
        text.open("} else {");
        text.line("nc_put(&outcome, env.message);");
        text.close("}");
        let (place, wanted) = (quoted(&at.test.place), quoted(&self.outcome(operation, round)));
        text.line(format!("nc_same({place}, {}, \"outcome\", &outcome, {wanted});", at.round));
    }

    /// What has come to a local, as a value of its type.
    fn came(&self, (declared, is_prealloc): (&Type, bool), local: &str, text: &mut Text) -> String {
        if !is_prealloc {
            return local.to_owned();
        }
        if self.c.is_text(declared) {
            return format!("{local}._buffer");
        }
        let declarator = self.c.declarator(declared, &format!("s_{local}"));
        text.line(format!("const {declarator} = {{{local}._length, {local}._buffer}};"));
        format!("s_{local}")
    }

    /// What was raised, as the outcome of a call.
    fn raised(&self, operation: &Operation, text: &mut Text) {
        for id in &operation.raises {
            let name = self.c.names.declaration(*id);
            text.end();
            text.open(format!("}} else if (nearcall_raised_{name}(&env) != NULL) {{"));
            let scoped = &self.c.model.declaration(*id).name;
            text.line(format!("nc_put(&outcome, \"raised {scoped} \");"));
            text.line(format!("nc_show_{name}(&outcome, nearcall_raised_{name}(&env));"));
        }
        text.end();
    }

    /// How a call ends, as text.
    fn outcome(&self, operation: &Operation, round: &Round) -> String {
        match &round.answer {
            Answer::Returned { .. } => String::from("returned"),
            Answer::Raised { index, members } => {
                let (model, id) = (self.c.model, operation.raises[*index]);
                let members = shown_members(model, id, members);
                shortened(&format!("raised {} {members}", model.declaration(id).name))
            }
        }
    }

    /// A local with nothing in it.
    fn local(&self, declared: &Type, name: &str, text: &mut Text) {
        text.line(format!("{};", self.c.declarator(declared, name)));
        text.line(format!("memset(&{name}, 0, sizeof {name});"));
    }

    fn is_scalar(&self, declared: &Type) -> bool {
        matches!(shape(self.c.model, declared), Shape::Scalar(_))
    }

    /// Compares `got` with a value.
    fn same(
        &self,
        at: At<'_>,
        (what, got): (&str, &str),
        (declared, value): (&Type, &Value),
        text: &mut Text,
    ) {
        let show = match value {
            Value::Opened { .. } | Value::Unopened => format!("nc_put_opened(&got, {got});"),
            _ => self.show(declared, "&got", got),
        };
        self.same_text(at, what, &show, (declared, value), text);
    }

    fn same_text(
        &self,
        at: At<'_>,
        what: &str,
        show: &str,
        (declared, value): (&Type, &Value),
        text: &mut Text,
    ) {
        let wanted = quoted(&shortened(&shown(self.c.model, declared, value)));
        let (place, what) = (quoted(&at.test.place), quoted(what));
        text.open("{");
        text.line("nc_shown got = {NULL, 0, 0};");
        text.line(show);
        text.line(format!("nc_same({place}, {}, {what}, &got, {wanted});", at.round));
        text.close("}");
    }

    /// The function of a server.
    fn procedure(&self, procedure: Procedure<'_>, test: &OperationTest, text: &mut Text) {
        let exchange = self.c.exchange_of(procedure);
        let feed = self.c.feed_here(procedure).filter(|feed| !feed.is_exchange());
        if let Some(exchange) = &exchange {
            self.print_talk(exchange, test, text);
        } else if let Some(feed) = &feed {
            self.print_made(feed, test, text);
        }
        let (returns, parameters) = self.c.run_signature(procedure);
        let star = if returns.ends_with('*') { "" } else { " " };
        let number = test.number;
        text.open(format!("static {returns}{star}nc_run_{number}(void *nc_self{parameters}) {{"));
        let Procedure { operation, plan, .. } = procedure;
        let is_in_place = plan.lent_result == Some(Root::Returned);
        let is_plain = !is_in_place && exchange.is_none();
        let returned = operation.returns.as_ref().filter(|_| is_plain);
        match (&feed, returned) {
            (Some(feed), _) => self.made_local(feed, number, &returns, text),
            (None, Some(declared)) => self.local(declared, "nc_returned", text),
            (None, None) => {}
        }
        text.line("(void)nc_self;");
        text.line("(void)nc_env;");
        text.line(format!("switch (nc_round({number}, {})) {{", test.rounds.len()));
        for (index, round) in test.rounds.iter().enumerate() {
            let at = At { test, round: index };
            text.open(format!("case {index}: {{"));
            match (&exchange, &feed) {
                (Some(exchange), _) => self.exchange_served(exchange, (at, round), text),
                (None, Some(feed)) => self.feed_served(feed, (at, round), text),
                (None, None) => self.served(procedure, at, round, text),
            }
            text.line("break;");
            text.close("}");
        }
        text.line("}");
        if returned.is_some() {
            text.line("return nc_returned;");
        }
        text.close("}");
        text.line("");
    }

    /// Compares what a procedure was given.
    fn compared(&self, procedure: Procedure<'_>, (at, round): (At<'_>, &Round), text: &mut Text) {
        let Procedure { operation, plan, .. } = procedure;
        let names = self.c.parameter_names(operation);
        let is_lent_result = |index: u32| plan.lent_result == Some(Root::Parameter(index));
        let all = operation.parameters.iter().zip(&names).zip(0u32..);
        for ((parameter, name), index) in all {
            let Some(value) = &round.given[index as usize] else { continue };
            let is_in = parameter.direction == Direction::In;
            let compared = (&parameter.declared, value);
            if parameter.is_opaque && (is_in || is_lent_result(index)) {
                let show = format!("nc_put_opaque(&got, {name});");
                self.same_text(at, &parameter.name, &show, compared, text);
                continue;
            }
            let is_value =
                self.is_scalar(&parameter.declared) || self.c.is_text(&parameter.declared);
            let got = if is_in && is_value { name.clone() } else { format!("(*{name})") };
            self.same(at, (&parameter.name, &got), compared, text);
        }
    }

    /// Raises, in the function of a server.
    fn raise(&self, id: DeclarationId, members: &Value, text: &mut Text) {
        let name = self.c.names.declaration(id);
        text.line(format!("{name} nc_raised;"));
        text.line("memset(&nc_raised, 0, sizeof nc_raised);");
        self.assign_fields(id, members, "nc_raised", text);
        text.line(format!("nearcall_raise_{name}(nc_env, nc_raised);"));
    }

    /// What a procedure does in one round.
    fn served(&self, procedure: Procedure<'_>, at: At<'_>, round: &Round, text: &mut Text) {
        let Procedure { operation, plan, .. } = procedure;
        let names = self.c.parameter_names(operation);
        let is_lent_result = |index: u32| plan.lent_result == Some(Root::Parameter(index));
        let all = operation.parameters.iter().zip(&names).zip(0u32..);
        self.compared(procedure, (at, round), text);
        let (returned, changed) = match &round.answer {
            Answer::Raised { index, members } => {
                return self.raise(operation.raises[*index], members, text);
            }
            Answer::Returned { returned, changed } => (returned, changed),
        };
        for ((parameter, name), index) in all {
            let Some(value) = &changed[index as usize] else { continue };
            let declared = &parameter.declared;
            if is_lent_result(index) {
                let is_both = parameter.direction == Direction::Inout;
                let room = if is_both { format!("{name}_out") } else { name.clone() };
                self.put(declared, value, &room, text);
                continue;
            }
            if parameter.direction == Direction::Inout {
                text.lines(self.c.free(declared, &format!("(*{name})")));
            }
            text.line(format!("memset({name}, 0, sizeof *{name});"));
            self.assign(declared, value, &format!("(*{name})"), text);
        }
        match (&operation.returns, returned) {
            (Some(declared), Some(value)) if plan.lent_result == Some(Root::Returned) => {
                self.put(declared, value, "nc_room", text);
            }
            (Some(declared), Some(value)) => self.assign(declared, value, "nc_returned", text),
            _ => {}
        }
    }

    /// Writes a result in place.
    fn put(&self, declared: &Type, value: &Value, room: &str, text: &mut Text) {
        text.open("{");
        self.local(declared, "nc_octets", text);
        self.assign(declared, value, "nc_octets", text);
        text.open(format!(
            "if (!nearcall_room_put({room}, nc_octets._buffer, nc_octets._length)) {{"
        ));
        text.line("nc_stop(\"there is no room for octets\");");
        text.close("}");
        text.lines(self.c.free(declared, "nc_octets"));
        text.close("}");
    }
}
