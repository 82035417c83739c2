//! Interfaces: bases, operations, attributes (clauses 7.4.3, 7.4.4, 7.4.6).

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::annotation::{Applied, Place, Subject, find, is_set};
use super::descriptors::descriptor;
use super::scope::{ScopeId, State, SymbolId, SymbolKind};
use super::{Head, Resolver};
use crate::diagnostic::Diagnostic;
use crate::front::ast::{self, Definition, DefinitionKind, Item, Name, ScopedName};
use crate::front::rules::semantics as rules;
use crate::model::{
    AStackWish, Annotation, AttributeHalf, DeclarationId, Direction, Interface, Kind, Operation,
    Parameter, Type, Value,
};
use crate::source::Span;

/// Bases of an interface or struct, direct or not.
const BASES_MAX: usize = 255;

/// Operations of all interfaces of a compilation, inherited ones counted again in each.
const OPERATIONS_MAX: usize = 65_536;

impl Resolver {
    pub(super) fn interface(
        &mut self,
        definition: &Definition,
        name: &Name,
        bases: &[ScopedName],
        items: &[Item],
    ) {
        let head = self.head(definition, Subject::of(Place::Interface, None));
        let symbol = self.begin(name, SymbolKind::Interface);
        let bases = self.bases(bases);
        let scope = self.open_scope(Some(symbol));
        let inner: Vec<ScopeId> =
            bases.iter().filter_map(|base| self.symbol(*base).inner).collect();
        self.inherit(scope, &inner, name);
        self.check_inherited(scope, name);
        let mut operations = self.inherited_operations(&bases, name);
        let own = self.inside(scope, |resolver| resolver.exports(symbol, items));
        self.count_operations(own.len(), name);
        operations.extend(own);
        let bases = bases.into_iter().map(SymbolId::declaration).collect();
        self.complete(symbol, Kind::Interface(Interface { bases, operations }), head);
    }

    fn bases(&mut self, names: &[ScopedName]) -> Vec<SymbolId> {
        let mut bases: Vec<SymbolId> = Vec::new();
        let mut seen: HashMap<SymbolId, Span> = HashMap::new();
        for name in names {
            let Some(id) = self.lookup(name) else {
                continue;
            };
            let symbol = self.symbol(id);
            let declared = symbol.name.span;
            let span = name.span();
            let finding = match (symbol.kind, symbol.state) {
                (SymbolKind::Outside, _) => continue,
                (SymbolKind::Interface, State::Complete) => match seen.get(&id) {
                    None => {
                        seen.insert(id, span);
                        bases.push(id);
                        continue;
                    }
                    Some(first) => {
                        let message = format!("`{name}` is already a base of this interface");
                        Diagnostic::new(&rules::BASE_REPEATED, span, message)
                            .label(*first, "first named here")
                    }
                },
                (SymbolKind::Interface, State::Open) => {
                    let message = format!("`{name}` cannot inherit from itself");
                    Diagnostic::new(&rules::BASE_INCOMPLETE, span, message)
                        .label(declared, "this is being defined")
                }
                (SymbolKind::Interface, State::Forward) => {
                    let message = format!("`{name}` is declared, but not defined here");
                    Diagnostic::new(&rules::BASE_INCOMPLETE, span, message)
                        .label(declared, "declared forward here")
                        .help("define it before the interfaces that inherit from it")
                }
                (kind, _) => {
                    let message = format!("`{name}` is {}, not an interface", kind.what());
                    Diagnostic::new(&rules::BASE_KIND, span, message)
                        .label(declared, "declared here")
                }
            };
            self.diagnostics.push(finding);
        }
        bases
    }

    /// Makes the names of bases, and of their bases, visible in a scope.
    pub(super) fn inherit(&mut self, scope: ScopeId, bases: &[ScopeId], name: &Name) {
        let mut ancestors: Vec<ScopeId> = Vec::new();
        let mut seen = HashSet::new();
        for base in bases {
            let inherited = self.scope(*base).ancestors.iter().chain([base]);
            ancestors.extend(inherited.filter(|one| seen.insert(**one)));
            if ancestors.len() > BASES_MAX {
                let message = format!("`{}` has more than {BASES_MAX} bases", name.text);
                let finding = Diagnostic::new(&rules::TOO_MANY_BASES, name.span, message);
                self.diagnostics.push(finding);
                return;
            }
        }
        self.scope_mut(scope).ancestors = ancestors;
    }

    /// Two bases do not have operations or attributes of one name.
    fn check_inherited(&mut self, scope: ScopeId, name: &Name) {
        let mut seen: HashMap<Rc<str>, SymbolId> = HashMap::new();
        let mut findings = Vec::new();
        if self.scope(scope).ancestors.len() < 2 {
            return;
        }
        for ancestor in &self.scope(scope).ancestors {
            for id in &self.scope(*ancestor).symbols {
                let symbol = self.symbol(*id);
                if !matches!(symbol.kind, SymbolKind::Operation | SymbolKind::Attribute) {
                    continue;
                }
                let Some(first) = seen.insert(self.fold(&symbol.name.text), *id) else {
                    continue;
                };
                // In a base that has both this has been said.
                if self.have_common_heir(scope, first, *id) {
                    continue;
                }
                let message =
                    format!("`{}` inherits `{}` from two bases", name.text, symbol.name.text);
                let finding = Diagnostic::new(&rules::INHERITED_CLASH, name.span, message)
                    .label(self.symbol(first).name.span, "one is declared here")
                    .label(symbol.name.span, "the other is declared here")
                    .help("rename one of them, or inherit from one base only");
                findings.push(finding);
            }
        }
        self.diagnostics.extend(findings);
    }

    fn have_common_heir(&self, scope: ScopeId, one: SymbolId, other: SymbolId) -> bool {
        let [one, other] = [one, other].map(|id| self.symbol(id).scope);
        self.scope(scope).ancestors.iter().any(|heir| {
            let above = &self.scope(*heir).ancestors;
            let has = |scope: ScopeId| *heir == scope || above.contains(&scope);
            has(one) && has(other)
        })
    }

    /// The operations of the bases, depth first, each once.
    fn inherited_operations(&mut self, bases: &[SymbolId], name: &Name) -> Vec<Operation> {
        let lists: Vec<&[Operation]> = bases
            .iter()
            .filter_map(|base| match self.kind(base.declaration()) {
                Some(Kind::Interface(interface)) => Some(&interface.operations[..]),
                _ => None,
            })
            .collect();
        let count: usize = lists.iter().map(|list| list.len()).sum();
        if self.operations + count > OPERATIONS_MAX {
            self.count_operations(count, name);
            return Vec::new();
        }
        let mut seen: HashSet<DeclarationId> = HashSet::new();
        let mut operations = Vec::with_capacity(count);
        for list in lists {
            let new = list.iter().filter(|operation| !seen.contains(&operation.declared_in));
            operations.extend(new.cloned());
            seen.extend(list.iter().map(|operation| operation.declared_in));
        }
        self.count_operations(operations.len(), name);
        operations
    }

    fn count_operations(&mut self, more: usize, name: &Name) {
        let before = self.operations;
        self.operations = before.saturating_add(more);
        if before <= OPERATIONS_MAX && self.operations > OPERATIONS_MAX {
            let message = format!(
                "with `{}` the interfaces have more than {OPERATIONS_MAX} operations",
                name.text
            );
            let finding = Diagnostic::new(&rules::TOO_MANY_OPERATIONS, name.span, message)
                .help("inherit less: inherited operations count in every interface");
            self.diagnostics.push(finding);
        }
    }

    fn exports(&mut self, interface: SymbolId, items: &[Item]) -> Vec<Operation> {
        let mut operations = Vec::new();
        for item in items {
            let Item::Definition(definition) = item else {
                self.items(std::slice::from_ref(item));
                continue;
            };
            match &definition.kind {
                DefinitionKind::Operation(operation) => {
                    operations.extend(self.operation(interface, definition, operation));
                }
                DefinitionKind::Attribute(attribute) => {
                    self.attribute(interface, definition, attribute, &mut operations);
                }
                _ => self.definition(definition),
            }
        }
        operations
    }

    fn operation(
        &mut self,
        interface: SymbolId,
        definition: &Definition,
        operation: &ast::Operation,
    ) -> Option<Operation> {
        let returns = operation.returns.as_ref().map(|used| self.complete_type(used));
        let returned = returns.as_ref().and_then(Option::as_ref);
        let head = self.head(definition, Subject::of(Place::Operation, returned));
        self.declare(&operation.name, SymbolKind::Operation);
        let scope = self.open_scope(None);
        let parameters = self.inside(scope, |resolver| resolver.parameters(&operation.parameters));
        let raises = self.raised(&operation.raises);
        let oneway = operation.oneway.or_else(|| annotated_span(&head.annotations, "oneway"));
        if let Some(oneway) = oneway {
            self.check_oneway(operation, oneway);
        }
        let returns_opaque = is_set(&head.annotations, "opaque");
        if returns_opaque && operation.returns.is_none() {
            self.report_opaque(annotated_span(&head.annotations, "opaque"));
        }
        let name = operation.name.text.to_string();
        let mut resolved = self.operation_of(interface, (name, operation.name.span), head);
        resolved.is_oneway = oneway.is_some();
        resolved.returns = match returns {
            Some(returned) => Some(returned?),
            None => None,
        };
        resolved.returns_opaque = returns_opaque;
        resolved.returns_prealloc = is_set_of(&resolved.annotations, "prealloc");
        resolved.returns_feed = is_set_of(&resolved.annotations, "feed");
        resolved.returns_descriptor = descriptor(&resolved.annotations);
        resolved.parameters = parameters;
        self.check_descriptors(operation, &resolved);
        self.check_absent(operation, &resolved);
        self.check_feed(operation, &resolved);
        resolved.raises = raises;
        Some(resolved)
    }

    fn report_opaque(&mut self, span: Option<Span>) {
        let Some(span) = span else { return };
        let message = "this operation returns nothing that could be opaque";
        self.diagnostics.push(Diagnostic::new(&rules::OPAQUE_TYPE, span, message));
    }

    /// An operation with nothing but what its annotations say.
    fn operation_of(
        &self,
        interface: SymbolId,
        (name, at): (String, Span),
        head: Head,
    ) -> Operation {
        Operation {
            name,
            at,
            doc: head.doc,
            declared_in: interface.declaration(),
            attribute: None,
            is_oneway: false,
            is_idempotent: is_set(&head.annotations, "idempotent"),
            is_leaf: is_set(&head.annotations, "leaf"),
            returns: None,
            returns_opaque: false,
            returns_prealloc: false,
            returns_descriptor: None,
            returns_feed: false,
            feed: None,
            returns_typical_bytes: typical_bytes(&head.annotations),
            parameters: Vec::new(),
            raises: Vec::new(),
            astack: astack(&head.annotations),
            annotations: kept(head.annotations),
        }
    }

    fn parameters(&mut self, parameters: &[ast::Parameter]) -> Vec<Parameter> {
        let mut resolved = Vec::new();
        for parameter in parameters {
            let declared = self.complete_type(&parameter.declared);
            let subject = Subject::of(Place::Parameter, declared.as_ref());
            let applied = self.annotations(&parameter.annotations, subject);
            self.declare(&parameter.name, SymbolKind::Parameter);
            let Some(declared) = declared else { continue };
            resolved.push(Parameter {
                name: parameter.name.text.to_string(),
                at: parameter.name.span,
                direction: parameter.direction.0,
                declared,
                is_opaque: is_set(&applied, "opaque"),
                is_prealloc: is_set(&applied, "prealloc"),
                typical_bytes: typical_bytes(&applied),
                descriptor: None,
                is_feed: is_set(&applied, "feed"),
                annotations: kept(applied),
            });
            let last = resolved.last_mut().expect("pushed just now");
            last.descriptor = descriptor(&last.annotations);
        }
        resolved
    }

    /// One feed a way, and what goes with it goes in.
    fn check_feed(&mut self, syntax: &ast::Operation, operation: &Operation) {
        let feeds = operation.parameters.iter().filter(|one| one.is_feed);
        let count = feeds.clone().count();
        if count == 0 && !operation.returns_feed {
            return;
        }
        let name = &syntax.name.text;
        let mut findings = Vec::new();
        if count > 1 {
            let help = "use one operation for each; the first can return a number for the second";
            findings.push((format!("`{name}` takes {count} feeds"), help));
        }
        if operation.returns_feed && operation.returns.is_none() {
            let help = "return the type of an item, if need be a struct without members";
            findings.push((format!("`{name}` returns a feed of nothing"), help));
        }
        let out = operation.parameters.iter().find(|one| one.direction != Direction::In);
        if let Some(out) = out {
            findings.push(match out.is_feed {
                true => (
                    format!("the feed `{}` comes back as a parameter", out.name),
                    "return its items: `@feed` goes before what the operation returns",
                ),
                false => (
                    format!("`{}` comes back beside a feed", out.name),
                    "make it a part of the items, or of what is returned",
                ),
            });
        }
        if operation.is_oneway || operation.is_idempotent {
            let message = format!("the feed `{name}` is `@oneway` or `@idempotent`");
            findings.push((message, "leave that out: its items are sent once, and waited for"));
        }
        let is_item = |one: &Parameter| {
            let special = ["range", "min", "max"];
            let is_ranged = one.annotations.iter().any(|each| special.contains(&&*each.name));
            !(is_ranged || one.is_opaque || one.descriptor.is_some())
        };
        // What a feed in comes to is returned by the call that ends it, which carries neither.
        let is_plain = !operation.returns_opaque && operation.returns_descriptor.is_none();
        if !is_plain || !feeds.clone().all(is_item) {
            let message =
                format!("the items of the feed `{name}`, or what it returns, are annotated");
            findings.push((message, "annotate their type, in a typedef or a struct"));
        }
        for (message, help) in findings {
            let finding = Diagnostic::new(&rules::FEED_SHAPE, syntax.name.span, message);
            self.diagnostics.push(finding.help(help));
        }
    }

    /// Nothing comes back from a oneway operation (clause 7.4.6.4.5).
    fn check_oneway(&mut self, operation: &ast::Operation, oneway: Span) {
        let name = &operation.name.text;
        let mut findings = Vec::new();
        if let Some(returns) = &operation.returns {
            let message = format!("the oneway operation `{name}` returns a value");
            findings.push((&rules::ONEWAY_RETURNS, returns.span, message, "return `void`"));
        }
        let back = |parameter: &&ast::Parameter| parameter.direction.0 != Direction::In;
        for parameter in operation.parameters.iter().filter(back) {
            let message =
                format!("`{}` of the oneway operation `{name}` is not in", parameter.name.text);
            let span = parameter.direction.1;
            findings.push((&rules::ONEWAY_DIRECTION, span, message, "make it `in`"));
        }
        if let Some(first) = operation.raises.first() {
            let message = format!("the oneway operation `{name}` raises exceptions");
            findings.push((&rules::ONEWAY_RAISES, first.span(), message, "delete the `raises`"));
        }
        for (rule, span, message, help) in findings {
            let finding = Diagnostic::new(rule, span, message)
                .label(oneway, "it is oneway: nothing comes back")
                .help(help);
            self.diagnostics.push(finding);
        }
    }

    fn raised(&mut self, names: &[ScopedName]) -> Vec<DeclarationId> {
        let mut raised: Vec<DeclarationId> = Vec::new();
        let mut seen: HashMap<SymbolId, Span> = HashMap::new();
        for name in names {
            let Some(id) = self.lookup(name) else {
                continue;
            };
            let symbol = self.symbol(id);
            if symbol.kind == SymbolKind::Outside {
                continue;
            }
            if symbol.kind != SymbolKind::Exception {
                let message = format!("`{name}` is {}, not an exception", symbol.kind.what());
                let finding = Diagnostic::new(&rules::RAISES_KIND, name.span(), message)
                    .label(symbol.name.span, "declared here");
                self.diagnostics.push(finding);
                continue;
            }
            match seen.get(&id) {
                Some(first) => {
                    let message = format!("`{name}` is already raised");
                    let finding = Diagnostic::new(&rules::RAISES_REPEATED, name.span(), message)
                        .label(*first, "first named here");
                    self.diagnostics.push(finding);
                }
                None => {
                    seen.insert(id, name.span());
                    raised.push(id.declaration());
                }
            }
        }
        raised
    }

    /// An attribute is an operation that reads and, unless readonly, one that writes
    /// (clause 7.4.3.4.3.3.2).
    fn attribute(
        &mut self,
        interface: SymbolId,
        definition: &Definition,
        attribute: &ast::Attribute,
        operations: &mut Vec<Operation>,
    ) {
        let declared = self.complete_type(&attribute.declared);
        let gets = self.raised(&attribute.get_raises);
        let sets = self.raised(&attribute.set_raises);
        for name in &attribute.names {
            let head = self.head(definition, Subject::of(Place::Attribute, declared.as_ref()));
            let again = Head {
                doc: head.doc.clone(),
                annotations: head.annotations.clone(),
                is_included: head.is_included,
            };
            self.declare(name, SymbolKind::Attribute);
            let Some(declared) = declared.clone() else {
                continue;
            };
            let is_opaque = is_set(&head.annotations, "opaque");
            let at = name.span;
            let mut getter =
                self.operation_of(interface, (format!("_get_{}", name.text), at), head);
            getter.attribute = Some(AttributeHalf::Getter);
            getter.returns = Some(declared.clone());
            getter.returns_opaque = is_opaque;
            getter.raises.clone_from(&gets);
            operations.push(getter);
            if attribute.is_readonly {
                continue;
            }
            let mut setter =
                self.operation_of(interface, (format!("_set_{}", name.text), at), again);
            setter.attribute = Some(AttributeHalf::Setter);
            let mut value = value_parameter(declared, at, is_opaque);
            value.typical_bytes = setter.returns_typical_bytes.take();
            setter.parameters.push(value);
            setter.raises.clone_from(&sets);
            operations.push(setter);
        }
    }
}

fn value_parameter(declared: Type, at: Span, is_opaque: bool) -> Parameter {
    Parameter {
        name: "value".to_owned(),
        at,
        direction: Direction::In,
        declared,
        is_opaque,
        is_prealloc: false,
        typical_bytes: None,
        descriptor: None,
        is_feed: false,
        annotations: Vec::new(),
    }
}

fn kept(applied: Vec<Applied>) -> Vec<Annotation> {
    applied.into_iter().map(|one| one.annotation).collect()
}

/// Where an annotation says that something is so.
fn annotated_span(applied: &[Applied], name: &str) -> Option<Span> {
    match find(applied, name) {
        Some((Value::Boolean(true), span)) => Some(span),
        _ => None,
    }
}

/// As [`is_set`], of annotations that were kept.
pub(super) fn is_set_of(annotations: &[Annotation], name: &str) -> bool {
    let one = annotations.iter().find(|one| one.name == name);
    one.is_some_and(|one| one.parameters.get("value") == Some(&Value::Boolean(true)))
}

/// What `@astack` says.
fn astack(applied: &[Applied]) -> AStackWish {
    let number = |parameter| number(applied, "astack", parameter);
    AStackWish { count: number("count"), bytes: number("bytes") }
}

/// What `@typical` says.
fn typical_bytes(applied: &[Applied]) -> Option<u32> {
    number(applied, "typical", "bytes")
}

/// A number that an annotation is given, if it is there.
fn number(applied: &[Applied], annotation: &str, parameter: &str) -> Option<u32> {
    let one = applied.iter().find(|one| one.annotation.name == annotation)?;
    match one.annotation.parameters.get(parameter)? {
        Value::Integer(value) => u32::try_from(*value).ok(),
        _ => None,
    }
}
