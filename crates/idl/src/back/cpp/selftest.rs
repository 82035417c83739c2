//! Self-tests: a client and a server that know which values must arrive.
//!
//! ```text
//! x_selftest.hpp          values as text, and what is counted
//! x_selftest_client.cpp   calls everything, and looks at what comes back
//! x_selftest_server.cpp   looks at what comes, and answers
//! ```

mod exchanges;
mod feeds;
mod shown;
mod values;

use crate::back::c::C;
use crate::back::c::interface::Procedure;
use crate::back::c::text::Text;
use crate::back::c::types::quoted;
use crate::back::cpp::Cpp;
use crate::back::cpp::descriptors;
use crate::back::{Output, Printed};
use crate::layout::Root;
use crate::model::{DeclarationId, Descriptor, Direction, Model, Operation, Parameter, Type};
use crate::selftest::{
    Answer, InterfaceTest, Manner, OperationTest, Round, Selftest, Value, shortened, shown,
    shown_members,
};

/// What every part of a program is printed from.
struct Programs<'t, 'c, 'm> {
    cpp: Cpp<'c, 'm>,
    test: &'t Selftest,
}

/// The programs, and what they share, beside the stubs.
pub fn selftest_cpp(model: &Model, stem: &str, test: &Selftest) -> Printed {
    let within = C::new(model).within();
    let programs = Programs { cpp: Cpp::new(&within), test };
    Ok(vec![
        Output { suffix: "_selftest.hpp", text: programs.shared(stem) },
        Output { suffix: "_selftest_client.cpp", text: programs.client(stem) },
        Output { suffix: "_selftest_server.cpp", text: programs.server(stem) },
    ])
}

/// Where in a program something is compared.
#[derive(Clone, Copy)]
struct At<'t> {
    test: &'t OperationTest,
    round: usize,
}

impl Programs<'_, '_, '_> {
    fn head(&self, stem: &str, side: &str, sources: &[String]) -> Text {
        let (own, seed) = (format!("{stem}_selftest_{side}"), self.test.seed);
        let (files, objects): (Vec<_>, Vec<_>) =
            sources.iter().map(|one| (format!("{one}.c"), format!("{one}.o"))).unzip();
        let (files, objects) = (files.join(" "), objects.join(" "));
        let mut text = Text::default();
        text.line(format!(
            "/* The {side} of a self-test of {stem}, seed {seed}: `{own} NAME`, the"
        ));
        text.line(" * same name on both sides. To build:");
        text.line(" *");
        text.line(format!(" * cc -std=c11 -c {files} $(pkg-config --cflags nearcall)"));
        let has_threads = side == "server" && self.test.has_exchange();
        let threads = if has_threads { " -pthread" } else { "" };
        text.line(format!(" * c++ -std=c++17{threads} -o {own} {own}.cpp {objects} \\"));
        text.line(" *     $(pkg-config --cflags --libs nearcall)");
        text.line(" */");
        text.line(format!("#include \"{stem}_selftest.hpp\""));
        if has_threads {
            text.line("#include <thread>");
        }
        text.line("");
        text.line(format!("static selftest::check nc_check(\"{side}\");"));
        text.line("");
        text
    }

    fn client(&self, stem: &str) -> String {
        let mut text = self.head(stem, "client", &[stem.to_owned()]);
        for interface in &self.test.interfaces {
            for ((procedure, function), test) in self.procedures(interface) {
                self.calls(procedure, &function, test, &mut text);
            }
        }
        text.open("int main(int argc, char **argv) try {");
        text.line("const std::string name = argv[argc - 1];");
        text.line("nearcall::domain domain;");
        text.line("int status;");
        text.open("{");
        for (number, interface) in self.test.interfaces.iter().enumerate() {
            let class = self.cpp.path(interface.id);
            text.line(format!("{class} client_{number}(domain, name + \"-{number}\");"));
            for operation in &interface.operations {
                text.line(format!("nc_call_{}(client_{number});", operation.number));
            }
        }
        text.line(format!("status = nc_check.end({});", self.test.call_count()));
        text.close("}");
        text.line("domain.shut_down();");
        text.line("return status;");
        self.caught("client", &mut text);
        text.finish()
    }

    /// The end of a program that could not bind or export.
    fn caught(&self, side: &str, text: &mut Text) {
        text.end();
        text.open("} catch (const std::exception &error) {");
        text.line(format!("std::fprintf(stderr, \"{side}: %s\\n\", error.what());"));
        text.line("return 1;");
        text.close("}");
    }

    fn server(&self, stem: &str) -> String {
        let mut text = self.head(stem, "server", &[stem.to_owned(), format!("{stem}_server")]);
        for (number, interface) in self.test.interfaces.iter().enumerate() {
            for ((procedure, _), test) in self.procedures(interface) {
                let feed = self.cpp.c.feed_here(procedure);
                if let Some(feed) = feed.filter(|feed| !feed.is_exchange()) {
                    self.print_made(&feed, test, &mut text);
                }
            }
            let base = self.beside(interface, "Server");
            text.open(format!("class nc_server_{number} final : public {base} {{"));
            text.label("  public:");
            for ((procedure, function), test) in self.procedures(interface) {
                self.procedure(procedure, &function, test, &mut text);
            }
            text.close("};");
            text.line("");
        }
        text.open("int main(int argc, char **argv) try {");
        text.line("const std::string name = argv[argc - 1];");
        text.line("nearcall::domain domain;");
        for (number, interface) in self.test.interfaces.iter().enumerate() {
            let clerk = self.beside(interface, "Clerk");
            text.line(format!("nc_server_{number} server_{number};"));
            text.line(format!(
                "{clerk} clerk_{number}(domain, name + \"-{number}\", server_{number});"
            ));
        }
        text.line("std::puts(\"ready\");");
        text.line("std::fflush(stdout);");
        text.line("selftest::rest();");
        text.line(format!("nc_check.wait({});", self.test.call_count()));
        text.line("domain.shut_down();");
        text.line(format!("return nc_check.end({});", self.test.call_count()));
        self.caught("server", &mut text);
        text.finish()
    }

    /// A class that stands beside an interface's own.
    fn beside(&self, interface: &InterfaceTest, end: &str) -> String {
        let (space, own) = self.cpp.place(interface.id);
        format!("::{space}::{}", self.cpp.unused(interface.id, format!("{own}{end}")))
    }

    /// Procedures, their names, and their calls.
    fn procedures<'p>(
        &'p self,
        interface: &'p InterfaceTest,
    ) -> Vec<((Procedure<'p>, String), &'p OperationTest)> {
        let plans = &self.cpp.c.plan.interfaces;
        let Some(plan) = plans.iter().find(|plan| plan.id == interface.id) else {
            return Vec::new();
        };
        let procedures = self.cpp.c.procedures(plan).into_iter();
        let named: Vec<_> = procedures.zip(self.cpp.c.member_functions(plan)).collect();
        let tests = interface.operations.iter();
        tests.map(|test| (named[test.procedure].clone(), test)).collect()
    }

    /// Every round of an operation, called.
    fn calls(
        &self,
        procedure: Procedure<'_>,
        function: &str,
        test: &OperationTest,
        text: &mut Text,
    ) {
        let Procedure { interface, operation, .. } = procedure;
        let exchange = self.cpp.c.exchange_of(procedure);
        let feed = self.cpp.c.feed_here(procedure);
        let class = self.cpp.path(interface);
        let is_posted = self.test.manner == Manner::Posted && operation.is_posted();
        text.open(format!("static void nc_call_{}(const {class} &client) {{", test.number));
        for (number, round) in test.rounds.iter().enumerate() {
            let at = At { test, round: number };
            text.open("{");
            text.line("std::string outcome = \"returned\";");
            let mut arguments = Vec::new();
            let spelled = operation.spelled_parameters().iter();
            let all = spelled.zip(self.cpp.c.parameter_names(operation));
            for ((parameter, name), given) in all.zip(&round.given) {
                let local = format!("a_{name}");
                let declared = match parameter.descriptor {
                    Some(descriptor) => descriptors::owned(descriptor),
                    None => self.cpp.type_name(&parameter.declared),
                };
                if !is_posted || parameter.direction != Direction::Out {
                    text.line(format!("{declared} {local}{{}};"));
                }
                if let Some(value) = given {
                    self.assign(&parameter.declared, value, &local, text);
                }
                arguments.push(argument(parameter, local));
            }
            if let Some(memory) = self.cpp.returned_memory(operation).filter(|_| !is_posted) {
                text.line(format!("{memory} returned{{}};"));
                arguments.push(String::from("returned"));
            }
            if let Some(exchange) = &exchange {
                self.sent_local(exchange, round, text);
            }
            if let Some(feed) = &feed {
                self.items_local(feed, round, text);
            }
            text.line(format!("nc_check.round({}, {});", test.number, test.rounds.len()));
            text.open("try {");
            let call = format!("client.{function}({})", arguments.join(", "));
            match (&exchange, &feed) {
                (None, None) if is_posted => {
                    self.posted((operation, function), (at, round), &arguments, text);
                }
                (Some(_), _) => self.exchange_called(&call, text),
                (None, Some(feed)) => self.feed_called(feed, (at, round), &call, text),
                (None, None) => self.called(operation, (at, round), &call, text),
            }
            self.print_caught(operation, text);
            if let Some(feed) = feed.as_ref().filter(|feed| feed.end.is_none()) {
                self.same_items(feed, (at, round), "items", text);
            }
            let (place, wanted) = (quoted(&test.place), quoted(&self.outcome(operation, round)));
            text.line(format!("nc_check.same({place}, {number}, \"outcome\", outcome, {wanted});"));
            text.close("}");
        }
        text.close("}");
        text.line("");
    }

    /// A call, and what it brings.
    fn called(
        &self,
        operation: &Operation,
        (at, round): (At<'_>, &Round),
        call: &str,
        text: &mut Text,
    ) {
        let Answer::Returned { returned, changed } = &round.answer else {
            return text.line(format!("{call};"));
        };
        match (&operation.returns, returned) {
            (Some(declared), Some(value)) => {
                let bound = if operation.returns_prealloc { "" } else { "const auto returned = " };
                text.line(format!("{bound}{call};"));
                self.same(at, ("returned", "returned"), (declared, value), text);
            }
            _ => text.line(format!("{call};")),
        }
        let all = operation.parameters.iter().zip(self.cpp.c.parameter_names(operation));
        for ((parameter, name), value) in all.zip(changed) {
            let Some(value) = value else { continue };
            let got = (&*parameter.name, &*format!("a_{name}"));
            self.same(at, got, (&parameter.declared, value), text);
        }
    }

    /// The same of one that is posted and collected.
    fn posted(
        &self,
        (operation, function): (&Operation, &str),
        (at, round): (At<'_>, &Round),
        arguments: &[String],
        text: &mut Text,
    ) {
        let all = operation.parameters.iter().zip(arguments);
        let given = all.filter(|(parameter, _)| parameter.direction != Direction::Out);
        let given: Vec<&str> = given.map(|(_, argument)| argument.as_str()).collect();
        let collected = format!("posting(client).{function}({}).collect()", given.join(", "));
        let Answer::Returned { returned, changed } = &round.answer else {
            return text.line(format!("(void){collected};"));
        };
        let returned = operation.returns.iter().zip(returned);
        let returned = returned.map(|(declared, value)| ("returned", declared, value));
        let all = operation.parameters.iter().zip(changed);
        let changed = all.filter_map(|(one, value)| {
            value.as_ref().map(|value| (one.name.as_str(), &one.declared, value))
        });
        let all: Vec<_> = returned.chain(changed).collect();
        text.line(match all.len() {
            0 => format!("{collected};"),
            _ => format!("const auto collected = {collected};"),
        });
        let is_alone = all.len() == 1;
        for ((what, declared, value), index) in all.into_iter().zip(0..) {
            let got = match is_alone {
                true => String::from("collected"),
                false => format!("std::get<{index}>(collected)"),
            };
            self.same(at, (what, &got), (declared, value), text);
        }
    }

    /// What was raised, as the outcome of a call.
    fn print_caught(&self, operation: &Operation, text: &mut Text) {
        for id in &operation.raises {
            let scoped = &self.cpp.c.model.declaration(*id).name;
            text.end();
            text.open(format!("}} catch (const {} &raised) {{", self.cpp.path(*id)));
            text.line(format!("outcome = \"raised {scoped} \" + selftest::shown(raised);"));
        }
        text.end();
        text.open("} catch (const nearcall::call_error &error) {");
        text.line("outcome = error.what();");
        text.close("}");
    }

    /// How a call ends, as text.
    fn outcome(&self, operation: &Operation, round: &Round) -> String {
        match &round.answer {
            Answer::Returned { .. } => String::from("returned"),
            Answer::Raised { index, members } => {
                let (model, id) = (self.cpp.c.model, operation.raises[*index]);
                let members = shown_members(model, id, members);
                shortened(&format!("raised {} {members}", model.declaration(id).name))
            }
        }
    }

    /// Compares `got` with a value.
    fn same(
        &self,
        at: At<'_>,
        (what, got): (&str, &str),
        (declared, value): (&Type, &Value),
        text: &mut Text,
    ) {
        let wanted = quoted(&shortened(&shown(self.cpp.c.model, declared, value)));
        let (place, what) = (quoted(&at.test.place), quoted(what));
        text.line(format!(
            "nc_check.same({place}, {}, {what}, selftest::shown({got}), {wanted});",
            at.round
        ));
    }

    /// The function of a server.
    fn procedure(
        &self,
        procedure: Procedure<'_>,
        function: &str,
        test: &OperationTest,
        text: &mut Text,
    ) {
        let returned = self.cpp.returned(procedure, true);
        let result = returned.clone().unwrap_or("void".into());
        let parameters = self.cpp.parameters(procedure, true);
        text.open(format!("{result} {function}({parameters}) override {{"));
        if let Some(returned) = &returned {
            text.line(format!("{returned} nc_returned{{}};"));
        }
        text.line(format!("switch (nc_check.round({}, {})) {{", test.number, test.rounds.len()));
        for (index, round) in test.rounds.iter().enumerate() {
            let at = At { test, round: index };
            text.open(format!("case {index}: {{"));
            let exchange = self.cpp.c.exchange_of(procedure);
            match (exchange, self.cpp.c.feed_here(procedure)) {
                (Some(exchange), _) => self.exchange_served(&exchange, (at, round), text),
                (None, Some(feed)) => self.feed_served(&feed, (at, round), text),
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
        let names = self.cpp.c.parameter_names(operation);
        let is_lent_result = |index: u32| plan.lent_result == Some(Root::Parameter(index));
        let all = operation.parameters.iter().zip(&names).zip(0u32..);
        for ((parameter, name), index) in all {
            let Some(value) = &round.given[index as usize] else { continue };
            let is_in = parameter.direction == Direction::In;
            let is_lent = parameter.is_opaque && (is_in || is_lent_result(index));
            let got = if is_lent { format!("{name}.copy()") } else { name.clone() };
            self.same(at, (&parameter.name, &got), (&parameter.declared, value), text);
        }
    }

    fn throw(&self, id: DeclarationId, members: &Value, text: &mut Text) {
        text.line(format!("{} nc_raised;", self.cpp.path(id)));
        self.assign_fields(id, members, "nc_raised", text);
        text.line("throw nc_raised;");
    }

    /// What a procedure does in one round.
    fn served(&self, procedure: Procedure<'_>, at: At<'_>, round: &Round, text: &mut Text) {
        let Procedure { operation, plan, .. } = procedure;
        let names = self.cpp.c.parameter_names(operation);
        let is_lent_result = |index: u32| plan.lent_result == Some(Root::Parameter(index));
        let all = operation.parameters.iter().zip(&names).zip(0u32..);
        self.compared(procedure, (at, round), text);
        let (returned, changed) = match &round.answer {
            Answer::Raised { index, members } => {
                return self.throw(operation.raises[*index], members, text);
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
            if parameter.descriptor.is_none() {
                text.line(format!("{name} = {}{{}};", self.cpp.type_name(declared)));
            }
            self.assign(declared, value, name, text);
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
        text.line(format!("{} nc_octets{{}};", self.cpp.type_name(declared)));
        self.assign(declared, value, "nc_octets", text);
        text.line(format!("if (!{room}.put(nc_octets.data(), nc_octets.size())) {{"));
        text.line("    throw std::length_error(\"there is no room for octets\");");
        text.line("}");
        text.close("}");
    }
}

/// How a client passes what a local holds.
fn argument(parameter: &Parameter, local: String) -> String {
    match parameter.descriptor.filter(|_| parameter.direction == Direction::In) {
        Some(Descriptor { is_optional: true, .. }) => {
            format!("{local} ? std::optional<int>({local}->get()) : std::nullopt")
        }
        Some(_) => format!("{local}.get()"),
        None => local,
    }
}
