//! Interfaces: the table of the plan, the clients and the server.

use crate::back::python::Python;
use crate::back::python::feeds::{FeedTypes, Served};
use crate::back::python::messages::{Part, Role};
use crate::back::python::names::{InterfaceNames, parameter_names};
use crate::back::python::text::{Text, quoted, tuple};
use crate::back::rust::names::NameSet;
use crate::back::undocumented;
use crate::hash::hex;
use crate::layout::{Root, members};
use crate::model::{DeclarationId, Descriptor, Direction, FeedPart, Interface, Operation, Type};
use crate::plan::ProcedurePlan;

impl Python<'_> {
    /// Prints an interface.
    pub fn interface(&self, id: DeclarationId, interface: &Interface, text: &mut Text) {
        let names = self.names.interface(id);
        let name = &self.model.declaration(id).name.to_string();
        self.interface_table(id, interface, text);
        let doc = &self.model.declaration(id).doc;
        let calls = format!("Calls `{name}` in the domain that exports it.");
        self.stubs(&names.client, ("_raw.Client", doc, &calls), names, text, |text| {
            self.posting_property(names, text);
            self.functions(names, interface, text, |text, index, operation| {
                self.call_stub(
                    names,
                    (index, operation),
                    (self.feed(id, interface, index), false),
                    text,
                );
            });
        });
        let awaits = format!("Calls `{name}`; every call is awaited.");
        self.stubs(&names.waiting, ("_raw.AsyncClient", doc, &awaits), names, text, |text| {
            self.functions(names, interface, text, |text, index, operation| {
                self.call_stub(
                    names,
                    (index, operation),
                    (self.feed(id, interface, index), true),
                    text,
                );
            });
        });
        self.posting(names, name, interface, text);
        let does = format!("What a domain that exports `{name}` does.");
        self.server((id, interface), (&names.server, "_raw.Server", &does), text);
        let does = format!("What a domain that exports `{name}` does; awaited.");
        self.server((id, interface), (&names.awaited, "_raw.AsyncServer", &does), text);
    }

    /// What a server has to do.
    fn server(
        &self,
        (id, interface): (DeclarationId, &Interface),
        (class, base, does): (&str, &str, &str),
        text: &mut Text,
    ) {
        let names = self.names.interface(id);
        self.stubs(class, (base, &None, does), names, text, |text| {
            self.functions(names, interface, text, |text, index, operation| {
                text.line("@_abc.abstractmethod");
                let name = &names.functions[index];
                let feed = self.feed(id, interface, index);
                let is_awaited = class == names.awaited;
                let signature = self.server_signature((name, is_awaited), operation, feed);
                text.block(&signature, |text| {
                    text.docstring(&operation.doc, &undocumented::served(operation));
                });
            });
        });
    }

    fn stubs(
        &self,
        name: &str,
        (base, comment, otherwise): (&str, &Option<String>, &str),
        names: &InterfaceNames,
        text: &mut Text,
        content: impl FnOnce(&mut Text),
    ) {
        text.part();
        text.block(&format!("class {name}({base}):"), |text| {
            text.docstring(comment, otherwise);
            text.line("");
            text.line("__slots__ = ()");
            text.line(&format!("_interface = {}", names.table));
            content(text);
        });
    }

    fn functions(
        &self,
        names: &InterfaceNames,
        interface: &Interface,
        text: &mut Text,
        print: impl Fn(&mut Text, usize, &Operation),
    ) {
        let all = interface.operations.iter().zip(0..names.functions.len());
        for (operation, index) in all.filter(|(operation, _)| !operation.carries_feed()) {
            text.line("");
            print(text, index, operation);
        }
    }

    fn call_stub(
        &self,
        names: &InterfaceNames,
        (index, operation): (usize, &Operation),
        (feed, is_awaited): (Option<FeedTypes>, bool),
        text: &mut Text,
    ) {
        let name = &names.functions[index];
        text.block(&self.signature(name, operation, (&feed, is_awaited)), |text| {
            text.docstring(&operation.doc, &undocumented::called(operation));
            let arguments = arguments(operation);
            let awaited = if is_awaited { "await " } else { "" };
            if let Some(FeedTypes { opening, .. }) = feed {
                return text.line(&format!("return {awaited}self.{opening}({index}{arguments})"));
            }
            let call = format!("{awaited}self._call({index}{arguments})");
            if self.results(operation).is_empty() {
                return text.line(&call);
            }
            let annotation = self.result_annotation(operation);
            text.line(&format!("_results: {annotation} = {call}"));
            text.line("return _results");
        });
    }

    fn signature(
        &self,
        name: &str,
        operation: &Operation,
        (feed, is_awaited): (&Option<FeedTypes>, bool),
    ) -> String {
        let parameters = self.given_parameters(operation);
        let define = if is_awaited { "async def" } else { "def" };
        let results = match feed {
            Some(feed) if is_awaited => feed.waiting.clone(),
            Some(feed) => feed.client.clone(),
            None => self.result_annotation(operation),
        };
        format!("{define} {name}(self{parameters}) -> {results}:")
    }

    /// The parameters of a stub, behind `self`.
    pub fn given_parameters(&self, operation: &Operation) -> String {
        let given = parameters(operation, Direction::Out);
        given.map(|part| format!(", {}: {}", part.name, self.sent_annotation(&part))).collect()
    }

    /// What arrives, and whatever may be sent back.
    fn server_signature(
        &self,
        (name, is_awaited): (&str, bool),
        operation: &Operation,
        feed: Option<FeedTypes>,
    ) -> String {
        let mut taken = NameSet::default();
        let mut all = String::new();
        for part in parameters(operation, Direction::Out) {
            let name = taken.take(&part.name);
            all += &format!(", {name}: {}", self.came_annotation(&part));
        }
        let served = feed.map(|feed| if is_awaited { feed.awaited } else { feed.server });
        for (name, declared) in served.iter().flat_map(|served| &served.ends) {
            all += &format!(", {}: {declared}", taken.take(name));
        }
        let (define, returns) = match served {
            Some(Served { define, returns, .. }) => (define, returns),
            None if is_awaited => ("async def", self.made_annotation(operation)),
            None => ("def", self.made_annotation(operation)),
        };
        format!("{define} {name}(self{all}) -> {returns}:")
    }

    /// What a procedure may evaluate to.
    pub fn made_annotation(&self, operation: &Operation) -> String {
        let results = self.results(operation).into_iter();
        tuple_annotation(results.map(|part| self.sent_annotation(&part)).collect())
    }

    /// What a call evaluates to: the returned value, then what the procedure may change.
    fn results<'o>(&self, operation: &'o Operation) -> Vec<Part<'o>> {
        let returned = operation.returns.iter().map(|declared| Part {
            root: Root::Returned,
            name: String::from("returned"),
            declared,
            annotations: &[],
            is_optional: false,
            role: role(operation, Root::Returned, declared),
        });
        returned.chain(parameters(operation, Direction::In)).collect()
    }

    pub fn result_annotation(&self, operation: &Operation) -> String {
        let results = self.results(operation).into_iter();
        tuple_annotation(results.map(|part| self.came_annotation(&part)).collect())
    }

    /// What arrives.
    fn came_annotation(&self, part: &Part<'_>) -> String {
        match part.role {
            Role::Descriptor(one) => or_none(one, "_nearcall.Descriptor"),
            _ => self.annotation(part.declared),
        }
    }

    /// Whatever may be sent.
    fn sent_annotation(&self, part: &Part<'_>) -> String {
        match part.role {
            Role::Descriptor(one) => or_none(one, "_raw.DescriptorLike"),
            _ => self.argument_annotation(part.declared),
        }
    }

    fn interface_table(&self, id: DeclarationId, interface: &Interface, text: &mut Text) {
        let (names, plan) = (self.names.interface(id), self.interface_plan(id));
        let classes = plan
            .classes
            .iter()
            .map(|class| tuple(&[class.block_bytes.to_string(), class.count.to_string()]));
        let classes = tuple(&classes.collect::<Vec<_>>());
        let name = quoted(&self.model.declaration(id).name.to_string());
        text.part();
        text.block(&format!("{} = _raw.Interface(", names.table), |text| {
            let hash = quoted(&hex(&plan.hash));
            text.line(&format!("_TYPES, {name}, {hash}, {classes},"));
            text.block("(", |text| {
                let procedures = interface.operations.iter().zip(&plan.procedures);
                for ((operation, plan), function) in procedures.zip(&names.functions) {
                    self.procedure_table(operation, plan, function, text);
                }
            });
            text.line("),");
            let feeds = self.feed_rows(id);
            if !feeds.is_empty() {
                text.line(&format!("{},", tuple(&feeds)));
            }
            let appendables = plan.appendables.iter().map(|appendable| {
                let name = quoted(&self.model.declaration(appendable.id).name.to_string());
                let hashes = appendable.hashes.iter().map(|hash| quoted(&hex(hash)));
                let hashes = tuple(&hashes.collect::<Vec<_>>());
                tuple(&[name, appendable.procedure.to_string(), hashes])
            });
            let appendables: Vec<String> = appendables.collect();
            if !appendables.is_empty() {
                text.line(&format!("appendables={},", tuple(&appendables)));
            }
        });
        text.line(")");
    }

    fn procedure_table(
        &self,
        operation: &Operation,
        plan: &ProcedurePlan,
        function: &str,
        text: &mut Text,
    ) {
        let flag = |flag| String::from(if flag { "True" } else { "False" });
        let head = [
            quoted(&operation.name),
            quoted(&hex(&plan.hash)),
            plan.class.to_string(),
            flag(operation.is_oneway),
            flag(operation.is_idempotent),
            flag(operation.is_leaf),
            if operation.carries_feed() { String::from("None") } else { quoted(function) },
        ];
        let given: Vec<Part<'_>> = parameters(operation, Direction::Out).collect();
        let request = self.message(&given, &plan.client.request, &plan.server.request);
        let results = self.results(operation);
        let reply = self.message(&results, &plan.server.reply, &plan.client.reply);
        text.block("(", |text| {
            text.line(&format!("{},", head.join(", ")));
            text.line(&format!("{request},"));
            text.line(&format!("{reply},"));
            text.block("(", |text| {
                let steps = plan.server.raised.iter().zip(&plan.client.raised);
                for (id, (writing, reading)) in operation.raises.iter().zip(steps) {
                    let all = members(self.model, *id);
                    let all = all.into_iter().zip(self.fields(*id)).zip(0u32..);
                    let parts = all.map(|((member, name), index)| Part {
                        root: Root::Member(index),
                        name,
                        declared: &member.declared,
                        annotations: &member.annotations,
                        is_optional: member.is_optional,
                        role: Role::Value,
                    });
                    let message = self.message(&parts.collect::<Vec<_>>(), writing, reading);
                    text.line(&format!("({}, {message}),", self.row(*id)));
                }
            });
            text.line("),");
        });
        text.line("),");
    }
}

/// What stands for so many results.
fn tuple_annotation(mut all: Vec<String>) -> String {
    match all.len() {
        0 => String::from("None"),
        1 => all.remove(0),
        _ => format!("tuple[{}]", all.join(", ")),
    }
}

/// Parameters that do not go this way alone.
fn parameters(operation: &Operation, but: Direction) -> impl Iterator<Item = Part<'_>> {
    let names = parameter_names(operation).into_iter();
    let all = operation.parameters.iter().zip(names).zip(0u32..);
    let all = all.filter(move |((parameter, _), _)| parameter.direction != but);
    all.map(|((parameter, name), index)| Part {
        root: Root::Parameter(index),
        name,
        declared: &parameter.declared,
        annotations: &parameter.annotations,
        is_optional: false,
        role: role(operation, Root::Parameter(index), &parameter.declared),
    })
}

/// The type of a descriptor, which may be absent.
fn or_none(descriptor: Descriptor, declared: &str) -> String {
    let none = if descriptor.is_optional { " | None" } else { "" };
    format!("{declared}{none}")
}

/// What a value of a message stands for.
fn role(operation: &Operation, root: Root, declared: &Type) -> Role {
    let part = operation.feed.as_ref().map(|feed| feed.part);
    let is_carrier = matches!(part, Some(FeedPart::Next | FeedPart::Put));
    match operation.descriptor(root) {
        Some(descriptor) => Role::Descriptor(descriptor),
        None if is_carrier && matches!(declared, Type::Sequence { .. }) => Role::Batch,
        None => Role::Value,
    }
}

/// What a stub passes on, behind the procedure's index.
pub fn arguments(operation: &Operation) -> String {
    parameters(operation, Direction::Out).map(|part| format!(", {}", part.name)).collect()
}
