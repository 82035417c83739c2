//! Self-tests: a client and a server that know which values must arrive.
//!
//! ```text
//! x_selftest.rs          values as text, and what is counted
//! x_selftest_client.rs   calls everything, and looks at what comes back
//! x_selftest_server.rs   looks at what comes, and answers
//! ```

mod ends;
mod exchanges;
mod feeds;
mod manners;
mod shown;
mod values;

use crate::back::rust::Rust;
use crate::back::rust::casing::{Case, cased, ident};
use crate::back::rust::interface::Procedure;
use crate::back::rust::print::{Unused, print};
use crate::back::rust::selftest::exchanges::Exchange;
use crate::back::rust::stub::parameter_names;
use crate::back::rust::tokens::TokenStream;
use crate::back::{Output, Printed};
use crate::layout::{Root, root_type};
use crate::model::{DeclarationId, Descriptor, Interface, Kind, Model, Operation, Type};
use crate::plan::{InterfacePlan, Passing};
use crate::selftest::{
    Answer, InterfaceTest, Manner, OperationTest, Round, Selftest, Value, shortened, shown,
    shown_members,
};

/// What every part of a program is printed from.
struct Programs<'t, 'm> {
    rust: Rust<'m>,
    test: &'t Selftest,
    /// The module with the stubs.
    stubs: String,
}

/// The programs, and what they share, beside the stubs.
pub fn selftest_rust(model: &Model, stem: &str, test: &Selftest) -> Printed {
    let stubs = cased(&stem.replace(['-', '.'], "_"), Case::Snake);
    let programs = Programs { rust: Rust::new(model), test, stubs };
    Ok(vec![
        Output { suffix: "_selftest.rs", text: programs.shared() },
        Output { suffix: "_selftest_client.rs", text: programs.client(stem) },
        Output { suffix: "_selftest_server.rs", text: programs.server(stem) },
    ])
}

impl<'m> Programs<'_, 'm> {
    /// The head of a program; `//!` is what its reader sees first.
    fn head(&self, stem: &str, side: &str) -> String {
        let (stubs, seed) = (&self.stubs, self.test.seed);
        let (own, there) = (format!("{stem}_selftest_{side}"), format!("{stem}_selftest.rs"));
        let needed = match self.test.has_descriptors(self.rust.model) {
            true => "`nearcall` and on `rustix`, with its `fs`,",
            false => "`nearcall`",
        };
        format!(
            "//! The {side} of a self-test of `{stem}`, seed {seed}: `{own} NAME`, the same name\n\
             //! on both sides. To build: a package that depends on {needed} and has this file\n\
             //! as the path of a `[[bin]]`, with those that it names beside it.\n\
             #[path = \"{stem}.rs\"] mod {stubs};\n\
             #[allow(dead_code)] #[path = \"{there}\"] mod {stubs}_selftest;\n\
             use {stubs}_selftest::*;\n"
        )
    }

    fn client(&self, stem: &str) -> String {
        let mut text = self.head(stem, "client");
        let (operations, calls) = (self.test.operation_count(), self.test.call_count());
        text += "/// Calls everything, and ends the program: well only if all is as it should be.\n\
                 pub fn main() {\n\
                 let name = std::env::args().next_back().unwrap_or_default();\n\
                 let domain = nearcall::Domain::new().expect(\"this is a domain\");\n";
        text += &format!("let check = Check::new(\"client\", {operations});\n");
        let mut functions = String::new();
        for (number, interface) in self.test.interfaces.iter().enumerate() {
            let client = self.interface_name(interface, |names| &names.client);
            text += &format!(
                "let client = {client}::import(&domain, &format!(\"{{name}}-{number}\"))\
                 .unwrap_or_else(|error| panic!(\"{{error}}\"));\n"
            );
            for (procedure, operation) in self.procedures(interface) {
                let function = format!("call_{}", operation.number);
                text += &format!("{function}(&client, &check);\n");
                let body = self.calls(procedure, operation);
                functions += &format!(
                    "/// `{}`\nfn {function}(client: &{client}, check: &Check) {{\n\
                     const PLACE: &str = {:?};\n{body}}}\n",
                    operation.place, operation.place
                );
            }
        }
        text += &format!("check.end({calls});\n}}\n{functions}");
        printed(&text)
    }

    fn server(&self, stem: &str) -> String {
        let mut text = self.head(stem, "server");
        let (operations, calls) = (self.test.operation_count(), self.test.call_count());
        text += "use std::sync::Arc;\n\
                 /// Exports everything until standard input ends.\n\
                 pub fn main() {\n\
                 let name = std::env::args().next_back().unwrap_or_default();\n\
                 let domain = nearcall::Domain::new().expect(\"this is a domain\");\n";
        text += &format!("let check = Arc::new(Check::new(\"server\", {operations}));\n");
        let mut servers = String::new();
        text += "let clerks = [";
        for (number, interface) in self.test.interfaces.iter().enumerate() {
            let is_awaited = self.test.manner == Manner::Awaited;
            let entries = self.interface_name(interface, |names| match is_awaited {
                true => &names.async_entries,
                false => &names.entries,
            });
            text += &format!(
                "nearcall::Clerk::export(&domain, &format!(\"{{name}}-{number}\"), \
                 {entries}::new(Server{number}(Arc::clone(&check))))\
                 .unwrap_or_else(|error| panic!(\"{{error}}\")),\n"
            );
            let server = self.interface_name(interface, |names| match is_awaited {
                true => &names.async_server,
                false => &names.server,
            });
            let procedures = self.procedures(interface);
            let procedures =
                procedures.map(|(procedure, operation)| self.procedure(procedure, operation));
            let procedures: String = procedures.collect();
            servers += &format!(
                "struct Server{number}(Arc<Check>);\n\
                 impl {server} for Server{number} {{\n{procedures}}}\n"
            );
        }
        text += &format!(
            "];\nprintln!(\"ready\");\n\
             rest();\n\
             check.wait({calls});\ndrop(clerks);\ndomain.shut_down();\ncheck.end({calls});\n}}\n\
             {servers}"
        );
        printed(&text)
    }

    fn procedures<'p>(
        &'p self,
        interface: &'p InterfaceTest,
    ) -> impl Iterator<Item = (Procedure<'p>, &'p OperationTest)> {
        let plan: &InterfacePlan = self.rust.interface_plan(interface.id);
        interface.calls(self.interface_of(interface)).map(|(operation, test)| {
            let plan = &plan.procedures[test.procedure];
            (Procedure { interface: interface.id, operation, plan }, test)
        })
    }

    fn interface_of(&self, interface: &InterfaceTest) -> &'m Interface {
        self.interface_at(interface.id)
    }

    fn interface_at(&self, id: DeclarationId) -> &'m Interface {
        match &self.rust.model.declaration(id).kind {
            Kind::Interface(found) => found,
            _ => panic!("a self-test is of interfaces"),
        }
    }

    /// One of the names that an interface gets, from the root of the program.
    fn interface_name(
        &self,
        interface: &InterfaceTest,
        which: impl Fn(&crate::back::rust::names::InterfaceNames) -> &String,
    ) -> String {
        let name = which(self.rust.names.interface(interface.id));
        self.path(self.rust.names.scope_of(interface.id), name)
    }

    /// A name of a scope, from the root of the program.
    fn path(&self, scope: usize, name: &str) -> String {
        let modules = self.rust.names.scopes[scope].path.iter();
        let modules: String = modules.map(|module| format!("{}::", ident(module))).collect();
        format!("{}::{modules}{}", self.stubs, ident(name))
    }

    /// Every round of an operation, called.
    fn calls(&self, procedure: Procedure<'_>, test: &OperationTest) -> String {
        let Procedure { interface, operation, plan } = procedure;
        let function = &self.rust.names.interface(interface).functions[plan.index as usize];
        let function = ident(function).to_string();
        let posted = plan.posted(self.rust.model, operation);
        let plan = match self.manner_of(operation) {
            Manner::Blocking => plan,
            Manner::Posted | Manner::Awaited => &posted,
        };
        let procedure = Procedure { plan, ..procedure };
        let mut text = String::new();
        for (number, round) in test.rounds.iter().enumerate() {
            text += "{\n";
            let arguments = self.arguments(procedure, round, &mut text);
            text += &format!("check.round({}, {});\n", test.number, test.rounds.len());
            let call = self.called(operation, &function, &arguments);
            if let Some(exchange) = Exchange::of(procedure, test) {
                text += &self.exchange_called(&exchange, (number, round), &call);
            } else if let Some(feed) = &test.feed {
                text += &self.feed_called(procedure, feed, (number, round), &call);
            } else {
                text += &format!("match {call} {{\n");
                text += &self.arms(operation, plan.results.as_slice(), number, round);
                text += &self.failed_arms(operation, number, round);
            }
            text += "}\n";
        }
        text
    }

    /// Locals for what is passed, and how they are.
    fn arguments(&self, procedure: Procedure<'_>, round: &Round, text: &mut String) -> String {
        let Procedure { operation, plan, .. } = procedure;
        let names = parameter_names(operation);
        let mut arguments = Vec::new();
        for argument in &plan.arguments {
            let index = argument.parameter as usize;
            let (name, parameter) = (&names[index], &operation.parameters[index]);
            let root = Root::Parameter(argument.parameter);
            let declared = self.owned_root(operation, root);
            let is_changed = matches!(
                argument.passing,
                Passing::Exclusive | Passing::LentResult | Passing::LentBoth
            );
            let changed = if is_changed { "mut " } else { "" };
            let value = match &round.given[index] {
                Some(value) => self.expression(&parameter.declared, value),
                None => String::from("Vec::new()"),
            };
            *text += &format!("let {changed}a_{name}: {declared} = {value};\n");
            arguments.push(match argument.passing {
                Passing::Value => format!("a_{name}"),
                Passing::Descriptor
                    if operation.descriptor(root).is_some_and(|one| one.is_optional) =>
                {
                    format!("a_{name}.as_ref().map(std::os::fd::AsFd::as_fd)")
                }
                Passing::Descriptor => format!("std::os::fd::AsFd::as_fd(&a_{name})"),
                _ if is_changed => format!("&mut a_{name}"),
                _ => format!("&a_{name}"),
            });
        }
        arguments.join(", ")
    }

    /// What is done when the call does not return, and the end of what begins with `match`.
    fn failed_arms(&self, operation: &Operation, number: usize, round: &Round) -> String {
        let mut text = String::new();
        if operation.raises.is_empty() {
            text += "Err(error) => ";
        } else {
            text += &self.raised_arm(operation, number, round);
            text += "Err(nearcall::Error::Call(error)) => ";
        }
        let wanted = self.outcome(operation, round);
        text += &format!("check.differs((PLACE, {number}, \"outcome\"), error, {wanted:?}),\n");
        text + "}\n"
    }

    /// What is done when the call returns.
    fn arms(
        &self,
        operation: &Operation,
        results: &[Root],
        number: usize,
        round: &Round,
    ) -> String {
        let Answer::Returned { returned, changed } = &round.answer else {
            let wanted = self.outcome(operation, round);
            let at = format!("(PLACE, {number}, \"outcome\")");
            return format!("Ok(_) => check.differs({at}, \"returned\", {wanted:?}),\n");
        };
        let names = parameter_names(operation);
        let locals = results.iter().map(|root| match root {
            Root::Parameter(index) => format!("a_{}", names[*index as usize]),
            _ => String::from("returned"),
        });
        let locals: Vec<String> = locals.collect();
        let pattern = match locals.as_slice() {
            [one] => one.clone(),
            all => format!("({})", all.join(", ")),
        };
        let mut text = format!("Ok({pattern}) => {{\n");
        if let (Some(value), Some(declared)) = (returned, &operation.returns) {
            text +=
                &self.same("check", "PLACE", number, ("returned", "&returned"), declared, value);
        }
        for (index, value) in changed.iter().enumerate() {
            let Some(value) = value else { continue };
            let parameter = &operation.parameters[index];
            let place = (&*parameter.name, &*format!("&a_{}", names[index]));
            text += &self.same("check", "PLACE", number, place, &parameter.declared, value);
        }
        text + "}\n"
    }

    /// What is done when it raises.
    fn raised_arm(&self, operation: &Operation, number: usize, round: &Round) -> String {
        let wanted = self.outcome(operation, round);
        format!(
            "Err(nearcall::Error::Exception(raised)) => \
             check.same((PLACE, {number}, \"outcome\"), &raised, {wanted:?}),\n"
        )
    }

    /// How a call ends, as text.
    fn outcome(&self, operation: &Operation, round: &Round) -> String {
        match &round.answer {
            Answer::Returned { .. } => String::from("returned"),
            Answer::Raised { index, members } => {
                let (model, id) = (self.rust.model, operation.raises[*index]);
                let members = shown_members(model, id, members);
                shortened(&format!("raised {} {members}", model.declaration(id).name))
            }
        }
    }

    /// A statement that compares.
    fn same(
        &self,
        check: &str,
        place: &str,
        round: usize,
        (what, got): (&str, &str),
        declared: &Type,
        value: &Value,
    ) -> String {
        let wanted = shortened(&shown(self.rust.model, declared, value));
        format!("{check}.same(({place}, {round}, {what:?}), {got}, {wanted:?});\n")
    }

    /// The function of a server.
    fn procedure(&self, procedure: Procedure<'_>, test: &OperationTest) -> String {
        let Procedure { interface, plan, .. } = procedure;
        let function = &self.rust.names.interface(interface).functions[plan.index as usize];
        let ends = self.ends_of(procedure, test);
        let output = match (&ends, &test.feed) {
            (Some(ends), _) => self.ends_output(ends),
            (None, Some(feed)) => self.feed_output(procedure, feed),
            (None, None) => self.output(procedure),
        };
        let mut parameters = self.procedure_parameters(procedure);
        if let Some(ends) = &ends {
            parameters += &self.end_parameters(ends);
        }
        let (define, waits) = self.defined();
        let mut text =
            format!("{define} {}(&self, {parameters}) {output} {{\n{waits}", ident(function));
        let rounds = test.rounds.iter().enumerate();
        let rounds = rounds.map(|(number, round)| match (&ends, &test.feed) {
            (Some(ends), _) => self.ends_served(ends, (number, round)),
            (None, Some(feed)) => self.feed_served(procedure, feed, (number, round)),
            (None, None) => self.served(procedure, number, round),
        });
        let rounds: Vec<String> = rounds.collect();
        if rounds.iter().any(|round| round.contains("PLACE")) {
            text += &format!("const PLACE: &str = {:?};\n", test.place);
        }
        let counted = format!("self.0.round({}, {})", test.number, rounds.len());
        if let [round] = rounds.as_slice() {
            return text + &format!("{counted};\n{round}}}\n");
        }
        text += &format!("match {counted} {{\n");
        for (number, round) in rounds.iter().enumerate() {
            let is_last = number + 1 == rounds.len();
            let pattern = if is_last { String::from("_") } else { number.to_string() };
            text += &format!("{pattern} => {{\n{round}}}\n");
        }
        text + "}\n}\n"
    }

    /// The type of an argument or a result.
    fn owned_root(&self, operation: &Operation, root: Root) -> String {
        let declared = root_type(self.rust.model, operation, None, root);
        match operation.descriptor(root) {
            Some(Descriptor { is_optional: true, .. }) => {
                String::from("Option<std::os::fd::OwnedFd>")
            }
            Some(_) => String::from("std::os::fd::OwnedFd"),
            None => declared.map_or(String::new(), |declared| self.owned(declared)),
        }
    }

    /// What the function of a server returns.
    fn output(&self, Procedure { operation, plan, .. }: Procedure<'_>) -> String {
        let results = self.own_results(plan);
        let types = results.iter().map(|root| self.owned_root(operation, *root));
        let types: Vec<String> = types.collect();
        let results = match types.as_slice() {
            [one] => one.clone(),
            all => format!("({})", all.join(", ")),
        };
        match operation.raises.is_empty() {
            false => format!("-> Result<{results}, {}>", self.raised_type(operation)),
            true if types.is_empty() => String::new(),
            true => format!("-> {results}"),
        }
    }

    fn procedure_parameters(&self, procedure: Procedure<'_>) -> String {
        let Procedure { operation, plan, .. } = procedure;
        let names = parameter_names(operation);
        let is_awaited = self.test.manner == Manner::Awaited;
        let mut all = Vec::new();
        for argument in &plan.arguments {
            let index = argument.parameter as usize;
            let (name, parameter) = (&names[index], &operation.parameters[index]);
            let owned = self.owned_root(operation, Root::Parameter(argument.parameter));
            let room = format!("mut room_{name}: nearcall::OpaqueOut<'_>");
            match argument.passing {
                Passing::Lent if is_awaited => all.push(format!("a_{name}: Vec<u8>")),
                Passing::LentBoth if is_awaited => all.push(format!("a_{name}: &mut Vec<u8>")),
                Passing::LentResult if is_awaited => {}
                Passing::Value | Passing::Descriptor => all.push(format!("a_{name}: {owned}")),
                Passing::Shared => {
                    all.push(format!("a_{name}: {}", self.borrowed(&parameter.declared)));
                }
                Passing::Exclusive => all.push(format!("a_{name}: &mut {owned}")),
                Passing::LentResult => all.push(room),
                Passing::Lent => all.push(format!("a_{name}: nearcall::Opaque<'_>")),
                Passing::LentBoth => {
                    all.extend([format!("a_{name}: nearcall::Opaque<'_>"), room]);
                }
            }
        }
        if plan.lent_result == Some(Root::Returned) && !is_awaited {
            all.push(String::from("mut room: nearcall::OpaqueOut<'_>"));
        }
        all.join(", ")
    }

    /// Compares what a procedure was given.
    fn compared(&self, procedure: Procedure<'_>, number: usize, round: &Round) -> String {
        let Procedure { operation, plan, .. } = procedure;
        let names = parameter_names(operation);
        let mut text = String::new();
        for argument in &plan.arguments {
            let index = argument.parameter as usize;
            let (name, parameter) = (&names[index], &operation.parameters[index]);
            let Some(value) = &round.given[index] else { continue };
            let got = match argument.passing {
                Passing::Value | Passing::Descriptor => format!("&a_{name}"),
                Passing::Lent | Passing::LentBoth => format!("&a_{name}.to_vec()"),
                _ => format!("a_{name}"),
            };
            let place = (&*parameter.name, &*got);
            text += &self.same("self.0", "PLACE", number, place, &parameter.declared, value);
        }
        text
    }

    /// What a procedure does in one round.
    fn served(&self, procedure: Procedure<'_>, number: usize, round: &Round) -> String {
        let Procedure { operation, plan, .. } = procedure;
        let names = parameter_names(operation);
        let is_awaited = self.test.manner == Manner::Awaited;
        let mut text = self.compared(procedure, number, round);
        let (returned, changed) = match &round.answer {
            Answer::Raised { index, members } => {
                return text + &self.raising(operation, *index, members);
            }
            Answer::Returned { returned, changed } => (returned, changed),
        };
        let value_of = |root: Root| match root {
            Root::Parameter(index) => changed[index as usize].as_ref(),
            _ => returned.as_ref(),
        };
        let expression = |root: Root| {
            let declared = root_type(self.rust.model, operation, None, root);
            declared.zip(value_of(root)).map(|(declared, value)| self.expression(declared, value))
        };
        for argument in &plan.arguments {
            let name = &names[argument.parameter as usize];
            let Some(value) = expression(Root::Parameter(argument.parameter)) else { continue };
            match argument.passing {
                Passing::Exclusive => text += &format!("*a_{name} = {value};\n"),
                Passing::LentBoth if is_awaited => text += &format!("*a_{name} = {value};\n"),
                Passing::LentResult if is_awaited => {}
                _ => text += &put(&format!("room_{name}"), &value),
            }
        }
        if plan.lent_result == Some(Root::Returned) && !is_awaited {
            text += &put("room", &expression(Root::Returned).unwrap_or_default());
        }
        let results = self.own_results(plan).into_iter();
        let results: Vec<String> = results.filter_map(expression).collect();
        let results = match results.as_slice() {
            [] if operation.raises.is_empty() => return text,
            [one] => one.clone(),
            all => format!("({})", all.join(", ")),
        };
        text + &if operation.raises.is_empty() { results } else { format!("Ok({results})") }
    }

    fn raising(&self, operation: &Operation, index: usize, members: &Value) -> String {
        format!("Err({})\n", self.raised(operation, index, members))
    }

    fn raised(&self, operation: &Operation, index: usize, members: &Value) -> String {
        let variant = &self.rust.exception_variants(operation)[index];
        let raised = self.fields_expression(operation.raises[index], members);
        format!("{}::{variant}({raised})", self.raised_type(operation))
    }

    /// The type of what an operation raises, which the interface that declares it has.
    fn raised_type(&self, operation: &Operation) -> String {
        let path = self.rust.exceptions_path(0, operation).to_string().replace(' ', "");
        format!("{}::{}", self.stubs, path.trim_start_matches("self::"))
    }
}

/// Writes a result in place.
fn put(room: &str, value: &str) -> String {
    format!("let bytes: Vec<u8> = {value};\n{room}.put(&bytes).expect(\"there is room\");\n")
}

/// Formats a file.
fn printed(text: &str) -> String {
    print(&TokenStream::of_text(text), Unused::Warned)
}
