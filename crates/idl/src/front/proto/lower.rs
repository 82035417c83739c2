//! From descriptors to the syntax tree that OMG IDL comes to as well: services, and where each
//! thing stands. Messages and enums are in `fields`.
//!
//! Names are full on this side of protox, so that they are written from the outermost scope on.
//! Every message is declared forward first: a .proto file has no order.

use std::rc::Rc;

use protox::prost_reflect::prost_types::method_options::IdempotencyLevel;
use protox::prost_reflect::prost_types::{MethodDescriptorProto, ServiceDescriptorProto};

use super::load::Loaded;
use super::names::{self, Names, Source, passed, scoped};
use super::older::other_syntax;
use super::order::Order;
use super::places::NAME;
use crate::diagnostic::Diagnostic;
use crate::front::ast::{
    Annotation, Arguments, Definition, DefinitionKind, Forward, Item, Name, Operation, Parameter,
    ScopedName, TypeKind, TypeUse,
};
use crate::front::rules::proto as rules;
use crate::model::Direction;
use crate::source::{SourceMap, Span};

/// What the one parameter of an operation is called: a .proto file has no name for it.
const PARAMETER: &str = "request";

/// Goes through a compilation.
pub(super) struct Lowering<'a> {
    pub sources: Vec<Source<'a>>,
    pub names: Names<'a>,
    pub order: Order,
    pub findings: Vec<Diagnostic>,
    /// What every procedure raises, once it is declared.
    pub raised: Option<ScopedName>,
    items: Vec<Item>,
}

/// The syntax tree of a compilation, and what has no place in it.
pub(super) fn lower(loaded: &[Loaded], map: &SourceMap) -> (Vec<Item>, Vec<Diagnostic>) {
    let sources: Vec<Source> = loaded.iter().map(|one| names::source(one, map)).collect();
    let names = Names::new(&sources);
    let needed =
        sources.iter().zip(0..).filter(|(source, index)| is_needed(source, *index, &names));
    let findings: Vec<Diagnostic> = needed.filter_map(|(source, _)| other_syntax(source)).collect();
    if !findings.is_empty() {
        return (Vec::new(), findings);
    }
    let order = Order::new(&names);
    let mut lowering =
        Lowering { sources, names, order, findings, raised: None, items: Vec::new() };
    lowering.messages_and_enums();
    lowering.status();
    lowering.services();
    lowering.note_extensions();
    (lowering.items, lowering.findings)
}

/// Is anything of a file in the stubs? Many an imported file declares options and nothing else.
pub(super) fn is_needed(source: &Source<'_>, index: usize, names: &Names<'_>) -> bool {
    let loaded = source.loaded;
    !loaded.is_included
        || !loaded.descriptor.service.is_empty()
        || names.messages.iter().any(|one| one.source == index)
        || names.enums.iter().any(|one| one.source == index)
}

impl Lowering<'_> {
    fn messages_and_enums(&mut self) {
        for index in 0..self.names.messages.len() {
            let message = &self.names.messages[index];
            let kind =
                DefinitionKind::Forward { what: Forward::Struct, name: message.name.clone() };
            let (source, scope) = (message.source, message.scope.clone());
            self.put(source, &scope, definition(kind, None));
        }
        for index in 0..self.names.enums.len() {
            self.enumeration(index);
        }
        for index in std::mem::take(&mut self.order.messages) {
            let message = &self.names.messages[index];
            let (source, scope) = (message.source, message.scope.clone());
            let definition = self.message(index);
            self.put(source, &scope, definition);
        }
    }

    /// Puts a definition into its scope, that of a package or of a message.
    pub fn put(&mut self, source: usize, scope: &[Name], mut definition: Definition) {
        let is_included = self.sources[source].loaded.is_included;
        definition.is_included = is_included;
        let inner = Item::Definition(definition);
        let item = scope.iter().rev().fold(inner, |item, name| {
            let kind = DefinitionKind::Module { name: name.clone(), items: vec![item] };
            Item::Definition(Definition { is_included, ..self::definition(kind, None) })
        });
        self.items.push(item);
    }

    fn services(&mut self) {
        const SERVICE: i32 = 6;
        for index in 0..self.sources.len() {
            let loaded = self.sources[index].loaded;
            if loaded.is_built_in {
                continue;
            }
            for (service, at) in loaded.descriptor.service.iter().zip(0..) {
                let definition = self.service(index, &[SERVICE, at], service);
                let scope = self.sources[index].package.clone();
                self.put(index, &scope, definition);
            }
        }
    }

    fn service(
        &mut self,
        source: usize,
        path: &[i32],
        service: &ServiceDescriptorProto,
    ) -> Definition {
        const METHOD: i32 = 2;
        let operations = service.method.iter().zip(0..).map(|(method, at)| {
            let path = [path, &[METHOD, at]].concat();
            Item::Definition(self.operation(source, &path, method))
        });
        let items = operations.collect();
        let places = &self.sources[source].places;
        let name = Name { text: service.name().into(), span: places.span(path, &[NAME]) };
        let kind = DefinitionKind::Interface { name, bases: Vec::new(), items };
        definition(kind, places.doc(path))
    }

    fn operation(
        &mut self,
        source: usize,
        path: &[i32],
        method: &MethodDescriptorProto,
    ) -> Definition {
        const INPUT: i32 = 2;
        const OUTPUT: i32 = 3;
        let places = &self.sources[source].places;
        let name = Name { text: method.name().into(), span: places.span(path, &[NAME]) };
        let [input, output] = [INPUT, OUTPUT].map(|field| places.span(path, &[field]));
        let doc = places.doc(path);
        let own = self.options_of(source, path, method);
        let [takes, gives] = passed(method);
        let declared = takes.map(|one| self.passed(one, input));
        let feed = |is_feed: bool, span| {
            is_feed.then(|| annotation("feed", Arguments::None, span)).into_iter()
        };
        let mut request = own.request;
        request.extend(feed(method.client_streaming(), input));
        let parameters = declared.map(|declared| Parameter {
            annotations: request,
            direction: (Direction::In, input),
            declared,
            name: Name { text: PARAMETER.into(), span: input },
        });
        let parameters = parameters.into_iter().collect();
        let returns = gives.map(|one| self.passed(one, output));
        let level = method.options.as_ref().map(|options| options.idempotency_level());
        let is_idempotent =
            level.is_some_and(|level| level != IdempotencyLevel::IdempotencyUnknown);
        // The calls of a stream are numbered: none is made twice.
        let is_streaming = method.client_streaming() || method.server_streaming();
        let annotations = (is_idempotent && !is_streaming)
            .then(|| annotation("idempotent", Arguments::None, name.span))
            .into_iter()
            .chain(feed(method.server_streaming(), output))
            .chain(own.operation)
            .collect();
        let raises = self.raised.iter().cloned().collect();
        let operation = Operation { name, oneway: None, returns, parameters, raises };
        Definition { annotations, ..definition(DefinitionKind::Operation(operation), doc) }
    }

    /// What a procedure takes or returns.
    fn passed(&mut self, full_name: &str, span: Span) -> TypeUse {
        TypeUse { kind: self.message_type(full_name, span), span }
    }

    /// A message where it is named.
    pub fn message_type(&mut self, full_name: &str, span: Span) -> TypeKind {
        if let Some(scalar) = names::wrapped(full_name) {
            return self.scalar(scalar, span);
        }
        if self.names.message_index(full_name).is_some() || self.names.is_enum(full_name) {
            return TypeKind::Name(scoped(full_name, span));
        }
        let name = full_name.trim_start_matches('.');
        let message = format!("`{name}` describes what .proto files declare");
        let finding = Diagnostic::new(&rules::DESCRIPTION, span, message)
            .help("pass it as `bytes`, as Protocol Buffers write it");
        self.findings.push(finding);
        TypeKind::Outside
    }

    /// Those of the named file: who imports options of others has nothing to do about them.
    fn note_extensions(&mut self) {
        const EXTENSION: i32 = 7;
        const NESTED_EXTENSION: i32 = 6;
        let of_files = self.sources.iter().filter(|one| !one.loaded.is_included).flat_map(|one| {
            let found = one.loaded.descriptor.extension.iter().zip(0..);
            found.map(move |(field, at)| (one, vec![EXTENSION, at], field))
        });
        let own = self.names.messages.iter();
        let own = own.filter(|one| !self.sources[one.source].loaded.is_included);
        let of_messages = own.flat_map(|message| {
            let source = &self.sources[message.source];
            let found = message.descriptor.extension.iter().zip(0..);
            found.map(move |(field, at)| {
                (source, [&message.path[..], &[NESTED_EXTENSION, at]].concat(), field)
            })
        });
        let notes = of_files.chain(of_messages).map(|(source, path, field)| {
            let message = format!("the option `{}` is not looked at", field.name());
            Diagnostic::new(&rules::EXTENSION, source.places.span(&path, &[NAME]), message)
        });
        let notes: Vec<Diagnostic> = notes.collect();
        self.findings.extend(notes);
    }
}

/// A definition without annotations, of the named file.
pub(super) fn definition(kind: DefinitionKind, doc: Option<Rc<str>>) -> Definition {
    Definition { annotations: Vec::new(), doc, is_included: false, kind }
}

/// An annotation as if it stood in the text.
pub(super) fn annotation(name: &str, arguments: Arguments, span: Span) -> Annotation {
    let parts = vec![Name { text: name.into(), span }];
    Annotation { name: ScopedName { is_global: false, parts }, arguments, span }
}
