//! Descriptors that operations pass: `@fd`, and `@optional` beside it (design note 0019).

use nearcall_abi::message::CALL_DESCRIPTORS_MAX;

use super::Resolver;
use super::interface::is_set_of;
use crate::diagnostic::Diagnostic;
use crate::front::ast;
use crate::front::rules::semantics as rules;
use crate::model::{
    Annotation, Descriptor, DescriptorKind, Direction, Operation, Primitive, Type, Value,
};

/// What `@fd` says, and `@optional` beside it.
pub(super) fn descriptor(annotations: &[Annotation]) -> Option<Descriptor> {
    let fd = annotations.iter().find(|one| one.name == "fd")?;
    let Some(Value::String(word)) = fd.parameters.get("kind") else { return None };
    let kind = DescriptorKind::ALL.into_iter().find(|kind| kind.word() == word)?;
    Some(Descriptor { kind, is_optional: is_set_of(annotations, "optional") })
}

impl Resolver {
    /// Descriptors go one way each, eight at most, and are declared as `long`.
    pub(super) fn check_descriptors(&mut self, syntax: &ast::Operation, operation: &Operation) {
        let is_long =
            |declared: &Type| matches!(self.behind(declared), Type::Primitive(Primitive::Int32));
        let mut findings = Vec::new();
        let mut counts = [0usize; 2];
        let passed = operation.parameters.iter().filter(|one| one.descriptor.is_some());
        for parameter in passed {
            counts[usize::from(parameter.direction == Direction::Out)] += 1;
            let name = &parameter.name;
            let of_name = |one: &&ast::Parameter| *one.name.text == **name;
            let span = syntax.parameters.iter().find(of_name).map(|one| one.name.span);
            let span = span.unwrap_or(syntax.name.span);
            if !is_long(&parameter.declared) {
                let message = format!("`{name}` is a descriptor, and its type is none for it");
                findings.push((&rules::DESCRIPTOR_TYPE, span, message, "declare it as `long`"));
            }
            if parameter.direction == Direction::Inout {
                let message = format!("`{name}` is a descriptor, and inout");
                let help = "use one parameter `in` and another one `out`";
                findings.push((&rules::DESCRIPTOR_DIRECTION, span, message, help));
            }
        }
        let span = syntax.name.span;
        if operation.returns_descriptor.is_some() {
            counts[1] += 1;
            if !operation.returns.as_ref().is_some_and(is_long) {
                let message = format!(
                    "`{}` returns a descriptor, and its type is none for it",
                    syntax.name.text
                );
                findings.push((&rules::DESCRIPTOR_TYPE, span, message, "return a `long`"));
            }
        }
        if let Some(count) = counts.into_iter().find(|count| *count > CALL_DESCRIPTORS_MAX) {
            let message = format!("{count} descriptors go one way with `{}`", syntax.name.text);
            findings.push((&rules::DESCRIPTOR_COUNT, span, message, "pass them in several calls"));
        }
        for (rule, span, message, help) in findings {
            self.diagnostics.push(Diagnostic::new(rule, span, message).help(help));
        }
    }

    /// What says that it may be absent is a descriptor.
    pub(super) fn check_absent(&mut self, syntax: &ast::Operation, operation: &Operation) {
        let absent = operation
            .parameters
            .iter()
            .filter(|one| one.descriptor.is_none() && is_set_of(&one.annotations, "optional"));
        let help = "pass a sequence of at most one, or a struct with an `@optional` member";
        let mut findings: Vec<Diagnostic> = absent
            .map(|one| {
                let message = format!("`{}` may be absent, and is no descriptor", one.name);
                Diagnostic::new(&rules::DESCRIPTOR_OPTIONAL, one.at, message).help(help)
            })
            .collect();
        let is_returned = is_set_of(&operation.annotations, "optional");
        if is_returned && operation.returns_descriptor.is_none() {
            let name = &syntax.name;
            let message =
                format!("what `{}` returns may be absent, and is no descriptor", name.text);
            let help = "return a sequence of at most one, or a struct with an `@optional` member";
            let finding = Diagnostic::new(&rules::DESCRIPTOR_OPTIONAL, name.span, message);
            findings.push(finding.help(help));
        }
        self.diagnostics.extend(findings);
    }
}
