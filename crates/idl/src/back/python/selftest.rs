//! Self-tests: a client and a server that know which values must arrive.
//!
//! ```text
//! x_selftest.py          values as text, and what is counted
//! x_selftest_client.py   calls everything, and looks at what comes back
//! x_selftest_server.py   looks at what comes, and answers
//! ```

mod feeds;
mod values;

use crate::back::python::Python;
use crate::back::python::names::parameter_names;
use crate::back::python::selftest::feeds::FeedOf;
use crate::back::python::text::{Text, quoted, tuple};
use crate::back::{Output, Printed};
use crate::model::{Direction, Interface, Kind, Model, Operation, Type};
use crate::selftest::{
    Answer, InterfaceTest, Manner, OperationTest, Round, Selftest, Value, shortened, shown,
    shown_members,
};

const SUPPORT: &str = include_str!("selftest/support.py");

/// What every part of a program is printed from.
struct Programs<'t, 'm> {
    python: Python<'m>,
    test: &'t Selftest,
}

/// The programs, and what they share, beside the stubs.
pub fn selftest_python(model: &Model, stem: &str, test: &Selftest) -> Printed {
    let programs = Programs { python: Python::new(model), test };
    Ok(vec![
        Output { suffix: "_selftest.py", text: programs.shared(stem) },
        Output { suffix: "_selftest_client.py", text: programs.client(stem) },
        Output { suffix: "_selftest_server.py", text: programs.server(stem) },
    ])
}

/// A call of an operation.
#[derive(Clone, Copy)]
struct Call<'t> {
    interface: &'t Interface,
    operation: &'t Operation,
    test: &'t OperationTest,
    /// Which of its rounds.
    number: usize,
    round: &'t Round,
}

impl<'t> Call<'t> {
    /// The calls of an operation, one after the other.
    fn all(
        interface: &'t Interface,
        operation: &'t Operation,
        test: &'t OperationTest,
    ) -> impl Iterator<Item = Call<'t>> {
        let rounds = test.rounds.iter().enumerate();
        rounds.map(move |(number, round)| Call { interface, operation, test, number, round })
    }

    /// Where something of it is compared.
    fn at(self, what: &str) -> String {
        format!("(place, {}, {})", self.number, quoted(what))
    }
}

/// A result: its name in reports, its type, its value.
type Result<'t> = (&'t str, &'t Type, &'t Value);

impl<'m> Programs<'_, 'm> {
    /// What both programs use.
    fn shared(&self, stem: &str) -> String {
        let mut text = Text::default();
        text.line("\"\"\"What the two programs of a self-test share: values as text, and what is");
        text.line("counted.\"\"\"");
        text.line("");
        let modules = "collections fcntl importlib.util itertools os pathlib socket struct sys \
                       threading time";
        modules.split(' ').for_each(|module| text.line(&format!("import {module}")));
        text.line("");
        text.line("import nearcall");
        text.line("");
        text.line("# By its path: any name of an interface file will do for its stubs.");
        let stubs = quoted(&format!("{stem}.py"));
        text.line(&format!("_path = pathlib.Path(__file__).with_name({stubs})"));
        let name = quoted(&format!("{stem}_stubs"));
        text.line(&format!("_spec = importlib.util.spec_from_file_location({name}, _path)"));
        text.line("stubs = importlib.util.module_from_spec(_spec)");
        text.line("sys.modules[_spec.name] = stubs");
        text.line("_spec.loader.exec_module(stubs)");
        text.line("");
        SUPPORT.lines().for_each(|line| text.line(line));
        text.part();
        self.shapes(&mut text);
        text.into_string()
    }

    /// A program: what all of them begin with, and then `body`.
    fn program(&self, stem: &str, side: &str, body: &str) -> String {
        let (own, seed) = (format!("{stem}_selftest_{side}"), self.test.seed);
        let mut text = Text::default();
        text.line(&format!("\"\"\"The {side} of a self-test of {stem}, seed {seed}. To run, with"));
        text.line(&format!("the same name on both sides: `python -P {own}.py NAME`.\"\"\""));
        text.line("");
        if self.is_awaited() {
            text.line("import asyncio");
        }
        text.line("import pathlib");
        text.line("import sys");
        text.line("");
        text.line("import nearcall");
        if body.contains("numpy.") {
            text.line("import numpy");
        }
        text.line("");
        text.line("# Behind all others, as stubs may be called what a module of Python's own is.");
        text.line("sys.path.append(str(pathlib.Path(__file__).parent))");
        text.line(&format!("from {stem}_selftest import (",));
        text.line(
            "    Check, Collected, f4, f8, given, opened, repeated, rest, shown, stubs, talk,",
        );
        text.line(")");
        text.line("");
        text.line(&format!("check = Check({})", quoted(side)));
        text.into_string() + body
    }

    fn client(&self, stem: &str) -> String {
        let mut text = Text::default();
        for interface in &self.test.interfaces {
            let declared = self.interface_of(interface);
            for (operation, test) in interface.calls(declared) {
                let functions = &self.python.names.interface(interface.id).functions;
                let function = &functions[test.procedure];
                self.calls((declared, operation), function, test, &mut text);
            }
        }
        text.part();
        text.line("name = sys.argv[-1]");
        for (number, interface) in self.test.interfaces.iter().enumerate() {
            let names = self.python.names.interface(interface.id);
            let class = if self.is_awaited() { &names.waiting } else { &names.client };
            text.line(&format!("client_{number} = stubs.{class}.import_(name + \"-{number}\")"));
            for operation in &interface.operations {
                let call = format!("call_{}(client_{number})", operation.number);
                text.line(&if self.is_awaited() { format!("asyncio.run({call})") } else { call });
            }
        }
        text.line(&format!("check.end({})", self.test.call_count()));
        self.program(stem, "client", &text.into_string())
    }

    /// The call of a function, as an expression.
    fn called(&self, operation: &Operation, function: &str, arguments: &str) -> String {
        match self.test.manner {
            Manner::Posted if operation.is_posted() => {
                format!("client.posting.{function}({arguments}).collect()")
            }
            Manner::Blocking | Manner::Posted => format!("client.{function}({arguments})"),
            Manner::Awaited => format!("await client.{function}({arguments})"),
        }
    }

    /// Whether its calls are.
    fn is_awaited(&self) -> bool {
        self.test.manner == Manner::Awaited
    }

    /// What stands before what is awaited, if calls are.
    fn before(&self, awaited: &'static str) -> &'static str {
        if self.is_awaited() { awaited } else { "" }
    }

    fn server(&self, stem: &str) -> String {
        let mut text = Text::default();
        for (number, interface) in self.test.interfaces.iter().enumerate() {
            let names = self.python.names.interface(interface.id);
            text.part();
            text.block(&format!("class Server{number}(stubs.{}):", names.server), |text| {
                let declared = self.interface_of(interface);
                for (operation, test) in interface.calls(declared) {
                    let function = &names.functions[test.procedure];
                    self.procedure((declared, operation), function, test, text);
                }
            });
        }
        text.part();
        text.line("name = sys.argv[-1]");
        text.line("exported = [");
        for number in 0..self.test.interfaces.len() {
            text.line(&format!("    nearcall.export(name + \"-{number}\", Server{number}()),"));
        }
        text.line("]");
        text.line("print(\"ready\", flush=True)");
        text.line("rest()");
        text.line(&format!("check.wait({})", self.test.call_count()));
        text.block("for one in exported:", |text| text.line("one.withdraw()"));
        text.line(&format!("check.end({})", self.test.call_count()));
        self.program(stem, "server", &text.into_string())
    }

    fn interface_of(&self, interface: &InterfaceTest) -> &'m Interface {
        match &self.python.model.declaration(interface.id).kind {
            Kind::Interface(found) => found,
            _ => panic!("a self-test is of interfaces"),
        }
    }

    /// Every round of an operation, called.
    fn calls(
        &self,
        (interface, operation): (&Interface, &Operation),
        function: &str,
        test: &OperationTest,
        text: &mut Text,
    ) {
        text.part();
        let names = parameter_names(operation);
        let define = self.before("async ");
        text.block(&format!("{define}def call_{}(client):", test.number), |text| {
            text.line(&format!("\"\"\"`{}`\"\"\"", test.place));
            text.line(&format!("place = {}", quoted(&test.place)));
            for call in Call::all(interface, operation, test) {
                let mut arguments = Vec::new();
                text.line("");
                let all = operation.parameters.iter().zip(&names).zip(&call.round.given);
                for ((parameter, name), given) in all {
                    let Some(value) = given else { continue };
                    let value = self.expression(&parameter.declared, value);
                    text.line(&format!("a_{name} = {value}"));
                    arguments.push(format!("a_{name}"));
                }
                let spelled = self.called(operation, function, &arguments.join(", "));
                self.call(call, &spelled, text);
            }
        });
    }

    fn call(&self, call: Call<'_>, spelled: &str, text: &mut Text) {
        let Call { operation, test, .. } = call;
        let feed = FeedOf::of(call);
        if let Some(feed) = &feed {
            self.feed_locals(feed, text);
        }
        text.line(&format!("check.round({}, {})", test.number, test.rounds.len()));
        text.block("try:", |text| {
            match &feed {
                Some(feed) => self.feed_called(feed, spelled, text),
                None => self.got(call, operation, spelled, text),
            }
            text.line("outcome = \"returned\"");
        });
        for id in &operation.raises {
            let (class, scoped) =
                (self.python.names.declaration(*id), &self.python.model.declaration(*id).name);
            text.block(&format!("except stubs.{class} as raised:"), |text| {
                let shape = self.shape(&Type::Named(*id));
                text.line(&format!("outcome = \"raised {scoped} \" + shown(raised, {shape})"));
            });
        }
        text.block("except nearcall.Error as error:", |text| text.line("outcome = str(error)"));
        if let Some(feed) = &feed {
            self.same_came(feed, text);
        }
        let wanted = quoted(&self.outcome(operation, call.round));
        text.line(&format!("check.same({}, outcome, {wanted})", call.at("outcome")));
    }

    /// What `operation` brings by `spelled`, compared.
    fn got(&self, call: Call<'_>, operation: &Operation, spelled: &str, text: &mut Text) {
        text.line(&format!("got = {spelled}"));
        let results = results(operation, call.round);
        let is_alone = results.len() == 1;
        for (index, (what, declared, value)) in results.into_iter().enumerate() {
            let got = if is_alone { String::from("got") } else { format!("got[{index}]") };
            text.line(&self.same(&call.at(what), &got, (declared, value)));
        }
    }

    /// How a call ends, as text.
    fn outcome(&self, operation: &Operation, round: &Round) -> String {
        match &round.answer {
            Answer::Returned { .. } => String::from("returned"),
            Answer::Raised { index, members } => {
                let (model, id) = (self.python.model, operation.raises[*index]);
                let members = shown_members(model, id, members);
                shortened(&format!("raised {} {members}", model.declaration(id).name))
            }
        }
    }

    /// What compares `got` with a value.
    fn same(&self, at: &str, got: &str, (declared, value): (&Type, &Value)) -> String {
        let wanted = quoted(&shortened(&shown(self.python.model, declared, value)));
        let shape = match value {
            Value::Opened { .. } | Value::Unopened => quoted("opened"),
            _ => self.shape(declared),
        };
        format!("check.same({at}, shown({got}, {shape}), {wanted})")
    }

    /// The method of a server.
    fn procedure(
        &self,
        (interface, operation): (&Interface, &Operation),
        function: &str,
        test: &OperationTest,
        text: &mut Text,
    ) {
        let names = parameter_names(operation);
        let parameters = operation.parameters.iter().zip(&names);
        let given = parameters.clone().filter(|(one, _)| one.direction != Direction::Out);
        let given: String = given.map(|(_, name)| format!(", a_{name}")).collect();
        let ends = if test.is_exchange() { ", inlet, outlet" } else { "" };
        text.line("");
        text.block(&format!("def {function}(self{given}{ends}):"), |text| {
            text.line(&format!("place = {}", quoted(&test.place)));
            text.block(
                &format!("match check.round({}, {}):", test.number, test.rounds.len()),
                |text| {
                    for call in Call::all(interface, operation, test) {
                        text.block(&format!("case {}:", call.number), |text| {
                            let all = parameters.clone().zip(&call.round.given);
                            for ((parameter, name), value) in all {
                                let Some(value) = value else { continue };
                                let compared = (&parameter.declared, value);
                                let at = call.at(&parameter.name);
                                text.line(&self.same(&at, &format!("a_{name}"), compared));
                            }
                            match FeedOf::of(call) {
                                Some(feed) => self.feed_served(&feed, text),
                                None => self.answer(call, text),
                            }
                        });
                    }
                },
            );
        });
    }

    fn answer(&self, call: Call<'_>, text: &mut Text) {
        match self.raised(call) {
            Some(raised) => text.line(&format!("raise {raised}")),
            None => text.line(&format!("return {}", self.made(call.operation, call.round))),
        }
    }

    /// What a call raises, as an expression.
    fn raised(&self, call: Call<'_>) -> Option<String> {
        match &call.round.answer {
            Answer::Raised { index, members } => {
                Some(self.fields_expression(call.operation.raises[*index], members))
            }
            Answer::Returned { .. } => None,
        }
    }

    /// All that `operation` brings, as an expression.
    fn made(&self, operation: &Operation, round: &Round) -> String {
        let results = results(operation, round).into_iter();
        let results = results.map(|(_, declared, value)| self.expression(declared, value));
        match results.collect::<Vec<String>>().as_slice() {
            [] => String::from("None"),
            [one] => one.clone(),
            all => tuple(all),
        }
    }
}

/// What a call evaluates to: the returned value, then what the procedure may change.
fn results<'t>(operation: &'t Operation, round: &'t Round) -> Vec<Result<'t>> {
    let Answer::Returned { returned, changed } = &round.answer else { return Vec::new() };
    let returned = operation.returns.iter().zip(returned);
    let returned = returned.map(|(declared, value)| ("returned", declared, value));
    let changed = operation.parameters.iter().zip(changed).filter_map(|(parameter, value)| {
        value.as_ref().map(|value| (parameter.name.as_str(), &parameter.declared, value))
    });
    returned.chain(changed).collect()
}
