//! Every message, enum and service of a compilation, and what the names in it mean.
//!
//! Of the files that come with the language only what is in a list here is taken in; wrappers are
//! the scalar that they wrap. Of all that is imported only what is used stays.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use protox::prost_reflect::prost_types::field_descriptor_proto::Type as FieldType;
use protox::prost_reflect::prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto,
    MethodDescriptorProto,
};

use super::load::Loaded;
use super::places::{NAME, Places};
use crate::front::ast::{Name, ScopedName};
use crate::source::{SourceMap, Span};

/// Messages that come with the language and are structs like any other.
const PLAIN: &[&str] =
    &["Any", "Duration", "Empty", "FieldMask", "ListValue", "Struct", "Timestamp", "Value"];

/// The enum that one of those has a value of.
const PLAIN_ENUM: &str = "NullValue";

/// What stands for nothing as an argument or a result. As an item of a stream it is a struct: that
/// an item came is what the stream tells.
const EMPTY: &str = ".google.protobuf.Empty";

/// Messages that come with the language for the sake of one scalar that may be missing.
const WRAPPERS: &[(&str, FieldType)] = &[
    (".google.protobuf.BoolValue", FieldType::Bool),
    (".google.protobuf.BytesValue", FieldType::Bytes),
    (".google.protobuf.DoubleValue", FieldType::Double),
    (".google.protobuf.FloatValue", FieldType::Float),
    (".google.protobuf.Int32Value", FieldType::Int32),
    (".google.protobuf.Int64Value", FieldType::Int64),
    (".google.protobuf.StringValue", FieldType::String),
    (".google.protobuf.UInt32Value", FieldType::Uint32),
    (".google.protobuf.UInt64Value", FieldType::Uint64),
];

/// A file with its places.
pub(super) struct Source<'a> {
    pub loaded: &'a Loaded,
    pub places: Places,
    /// Its package, outermost part first.
    pub package: Vec<Name>,
}

/// A message, or an enum, where it stands.
pub(super) struct Declared<'a, D> {
    pub descriptor: &'a D,
    /// As fields name it: `.package.Outer.Inner`.
    pub full_name: String,
    pub name: Name,
    /// The package, and the messages around it.
    pub scope: Vec<Name>,
    /// Index of its file.
    pub source: usize,
    /// In its file.
    pub path: Vec<i32>,
}

/// Everything that a compilation needs, outer messages before inner ones.
#[derive(Default)]
pub(super) struct Names<'a> {
    pub messages: Vec<Declared<'a, DescriptorProto>>,
    pub enums: Vec<Declared<'a, EnumDescriptorProto>>,
    /// What the compiler makes of each `map<key, value>`, by its name.
    entries: HashMap<String, &'a DescriptorProto>,
    messages_by_name: HashMap<String, usize>,
    enum_names: HashSet<String>,
}

/// A file, once it is known where its things stand.
pub(super) fn source<'a>(loaded: &'a Loaded, sources: &SourceMap) -> Source<'a> {
    const PACKAGE: i32 = 2;
    let places = Places::new(sources, loaded.file, &loaded.descriptor);
    let span = places.span(&[PACKAGE], &[]);
    let parts = loaded.descriptor.package().split('.').filter(|part| !part.is_empty());
    let package = parts.map(|part| Name { text: part.into(), span }).collect();
    Source { loaded, places, package }
}

impl<'a> Names<'a> {
    pub fn new(sources: &[Source<'a>]) -> Names<'a> {
        let mut names = Names::default();
        for (index, source) in sources.iter().enumerate() {
            names.file(index, source, &source.loaded.descriptor);
        }
        names.drop_unused(sources);
        let by_name = |(index, one): (usize, &Declared<_>)| (one.full_name.clone(), index);
        names.messages_by_name = names.messages.iter().enumerate().map(by_name).collect();
        names.enum_names = names.enums.iter().map(|one| one.full_name.clone()).collect();
        names
    }

    fn file(&mut self, index: usize, source: &Source<'a>, file: &'a FileDescriptorProto) {
        const MESSAGE: i32 = 4;
        const ENUM: i32 = 5;
        let scope = &source.package;
        for (message, at) in file.message_type.iter().zip(0..) {
            if !source.loaded.is_built_in || PLAIN.contains(&message.name()) {
                self.message(index, source, scope, vec![MESSAGE, at], message);
            }
        }
        for (declared, at) in file.enum_type.iter().zip(0..) {
            if !source.loaded.is_built_in || declared.name() == PLAIN_ENUM {
                self.enums.push(declare(index, source, scope, vec![ENUM, at], declared));
            }
        }
    }

    /// A message and what stands in it. protox lets no more than some dozens nest.
    fn message(
        &mut self,
        index: usize,
        source: &Source<'a>,
        scope: &[Name],
        path: Vec<i32>,
        message: &'a DescriptorProto,
    ) {
        const NESTED_MESSAGE: i32 = 3;
        const NESTED_ENUM: i32 = 4;
        let declared = declare(index, source, scope, path.clone(), message);
        if message.options.as_ref().is_some_and(|options| options.map_entry()) {
            self.entries.insert(declared.full_name, message);
            return;
        }
        let scope: Vec<Name> = scope.iter().chain([&declared.name]).cloned().collect();
        self.messages.push(declared);
        for (nested, at) in message.nested_type.iter().zip(0..) {
            let path = [&path[..], &[NESTED_MESSAGE, at]].concat();
            self.message(index, source, &scope, path, nested);
        }
        for (nested, at) in message.enum_type.iter().zip(0..) {
            let path = [&path[..], &[NESTED_ENUM, at]].concat();
            self.enums.push(declare(index, source, &scope, path, nested));
        }
    }

    /// Stubs are made of what the named file declares, and of what is used of its imports.
    fn drop_unused(&mut self, sources: &[Source<'a>]) {
        let used = self.used(sources);
        let is_kept = |source: usize, full_name: &str| {
            !sources[source].loaded.is_included || used.contains(full_name)
        };
        self.messages.retain(|one| is_kept(one.source, &one.full_name));
        self.enums.retain(|one| is_kept(one.source, &one.full_name));
    }

    /// Full names of what the messages of the named file hold, of what procedures pass, and of what
    /// that holds in turn.
    fn used(&self, sources: &[Source<'a>]) -> HashSet<&'a str> {
        let declared = self.messages.iter().map(|one| (one.full_name.as_str(), one.descriptor));
        let entries = self.entries.iter().map(|(name, entry)| (name.as_str(), *entry));
        let by_name: HashMap<&str, &'a DescriptorProto> = declared.chain(entries).collect();
        let own = self.messages.iter().filter(|one| !sources[one.source].loaded.is_included);
        let held = own.flat_map(|one| &one.descriptor.field).map(|field| field.type_name());
        let services = sources.iter().flat_map(|source| &source.loaded.descriptor.service);
        let procedures = services.flat_map(|service| &service.method);
        let mut found: Vec<&'a str> = held.chain(procedures.flat_map(passed).flatten()).collect();
        let mut used = HashSet::new();
        while let Some(name) = found.pop() {
            if used.insert(name) {
                let fields = by_name.get(name).into_iter().flat_map(|one| &one.field);
                found.extend(fields.map(|field| field.type_name()));
            }
        }
        used
    }

    /// The place of a message among `messages`.
    pub fn message_index(&self, full_name: &str) -> Option<usize> {
        self.messages_by_name.get(full_name).copied()
    }

    pub fn is_enum(&self, full_name: &str) -> bool {
        self.enum_names.contains(full_name)
    }

    /// Key and value, if a field of this type is a map.
    pub fn entry(
        &self,
        full_name: &str,
    ) -> Option<(&'a FieldDescriptorProto, &'a FieldDescriptorProto)> {
        match &self.entries.get(full_name)?.field[..] {
            [key, value] => Some((key, value)),
            _ => None,
        }
    }
}

/// The messages that a procedure takes and returns, where there are any.
pub(super) fn passed(method: &MethodDescriptorProto) -> [Option<&str>; 2] {
    let is_passed = |name: &str, is_streaming: bool| is_streaming || name != EMPTY;
    let (takes, gives) = (method.input_type(), method.output_type());
    [
        is_passed(takes, method.client_streaming()).then_some(takes),
        is_passed(gives, method.server_streaming()).then_some(gives),
    ]
}

/// The scalar that a message is a wrapper of.
pub(super) fn wrapped(full_name: &str) -> Option<FieldType> {
    WRAPPERS.iter().find(|(name, _)| *name == full_name).map(|(_, scalar)| *scalar)
}

/// `.package.Outer.Inner` as `::package::Outer::Inner`.
pub(super) fn scoped(full_name: &str, span: Span) -> ScopedName {
    let parts = full_name.split('.').filter(|part| !part.is_empty());
    let parts = parts.map(|part| Name { text: Rc::from(part), span }).collect();
    ScopedName { is_global: true, parts }
}

/// What has a name of its own.
pub(super) trait Named {
    fn own_name(&self) -> &str;
}

impl Named for DescriptorProto {
    fn own_name(&self) -> &str {
        self.name()
    }
}

impl Named for EnumDescriptorProto {
    fn own_name(&self) -> &str {
        self.name()
    }
}

fn declare<'a, D: Named>(
    index: usize,
    source: &Source<'a>,
    scope: &[Name],
    path: Vec<i32>,
    descriptor: &'a D,
) -> Declared<'a, D> {
    let text: Rc<str> = descriptor.own_name().into();
    let name = Name { text, span: source.places.span(&path, &[NAME]) };
    let parts = scope.iter().chain([&name]).map(|part| format!(".{}", part.text));
    let full_name = parts.collect();
    Declared { descriptor, full_name, name, scope: scope.to_vec(), source: index, path }
}
