//! Messages as structs and enums as enums: fields, what may be missing, oneofs, maps.
//!
//! All are appendable, but for those that come with the language. Members stand in the order of
//! their numbers: a field that is added has the highest one, wherever it is written.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use protox::prost_reflect::prost_types::field_descriptor_proto::{Label as Count, Type};
use protox::prost_reflect::prost_types::{DescriptorProto, FieldDescriptorProto};

use super::lower::{Lowering, annotation, definition};
use super::names::scoped;
use super::places::NAME;
use crate::front::ast::{
    Annotation, Arguments, Case, Declarator, Definition, DefinitionKind, Expression,
    ExpressionKind, Label, Literal, Member, Name, TypeKind, TypeUse, Unary,
};
use crate::model::Primitive;
use crate::source::Span;

/// Field of a message's descriptor that holds its fields.
const FIELD: i32 = 2;

/// Field of a field's descriptor that holds the name of its type, or else the type.
const TYPE_NAME: i32 = 6;
const TYPE: i32 = 5;

/// A field and where it stands.
struct Field<'a> {
    descriptor: &'a FieldDescriptorProto,
    name: Name,
    doc: Option<Rc<str>>,
    /// What its options say.
    annotations: Vec<Annotation>,
    /// Of its type.
    span: Span,
}

impl Field<'_> {
    fn member(self, mut annotations: Vec<Annotation>, declared: TypeUse) -> Member {
        annotations.extend(self.annotations);
        let number = Some(self.descriptor.number());
        Member { number, ..member(annotations, self.doc, declared, self.name) }
    }
}

impl<'a> Lowering<'a> {
    /// A message, once its file and those that it needs are read.
    pub fn message(&mut self, index: usize) -> Definition {
        let message = &self.names.messages[index];
        let (descriptor, name) = (message.descriptor, message.name.clone());
        let doc = self.sources[message.source].places.doc(&message.path);
        let annotations = self.extensibility(message.source, name.span);
        let mut names = taken(descriptor);
        let mut oneofs_done = HashSet::new();
        let mut members = Vec::new();
        for at in by_number(descriptor) {
            let field = self.field(index, at);
            match oneof_of(field.descriptor) {
                None => members.push(self.member(index, field)),
                Some(oneof) if oneofs_done.insert(oneof) => {
                    members.push(self.oneof(index, oneof, &mut names));
                }
                Some(_) => {}
            }
        }
        let kind = DefinitionKind::Struct { name, base: None, members };
        Definition { annotations, ..definition(kind, doc) }
    }

    /// What is declared in a file of somebody's grows as that person likes; what comes with the
    /// language stays as it is.
    fn extensibility(&self, source: usize, span: Span) -> Vec<Annotation> {
        let is_own = !self.sources[source].loaded.is_built_in;
        is_own.then(|| annotation("appendable", Arguments::None, span)).into_iter().collect()
    }

    fn field(&mut self, message: usize, at: usize) -> Field<'a> {
        let message = &self.names.messages[message];
        let (source, holder) = (message.source, message.full_name.clone());
        let descriptor: &FieldDescriptorProto = &message.descriptor.field[at];
        let path = [&message.path[..], &[FIELD, at as i32]].concat();
        let annotations = self.range_of(source, &path, &holder, descriptor);
        let places = &self.sources[source].places;
        let name = Name { text: descriptor.name().into(), span: places.span(&path, &[NAME]) };
        let part = if descriptor.type_name.is_some() { TYPE_NAME } else { TYPE };
        let span = places.span(&path, &[part]);
        Field { descriptor, name, doc: places.doc(&path), annotations, span }
    }

    fn member(&mut self, message: usize, field: Field<'a>) -> Member {
        let descriptor = field.descriptor;
        let span = field.span;
        let kind = match self.names.entry(descriptor.type_name()) {
            Some((key, value)) => {
                let [key, value] = [key, value].map(|part| Box::new(self.type_use(part, span)));
                TypeKind::Map { key, value, bound: None }
            }
            None if descriptor.label() == Count::Repeated => {
                let element = Box::new(self.type_use(descriptor, span));
                TypeKind::Sequence { element, bound: None }
            }
            None => {
                let mut annotations = self.external(message, descriptor, span);
                if descriptor.proto3_optional() || descriptor.r#type() == Type::Message {
                    annotations.push(annotation("optional", Arguments::None, span));
                }
                let declared = self.type_use(descriptor, span);
                return field.member(annotations, declared);
            }
        };
        field.member(Vec::new(), TypeUse { kind, span })
    }

    /// What holds itself, directly or not, does so out of place.
    fn external(
        &self,
        holder: usize,
        descriptor: &FieldDescriptorProto,
        span: Span,
    ) -> Vec<Annotation> {
        let held = self.names.message_index(descriptor.type_name());
        let is_later = held.is_some_and(|held| self.order.is_later(held, holder));
        is_later.then(|| annotation("external", Arguments::None, span)).into_iter().collect()
    }

    /// A union with a case for each field, selected by its number.
    fn oneof(&mut self, message: usize, oneof: i32, names: &mut HashSet<String>) -> Member {
        const ONEOF: i32 = 8;
        let declared = &self.names.messages[message];
        let (descriptor, source) = (declared.descriptor, declared.source);
        let places = &self.sources[source].places;
        let path = [&declared.path[..], &[ONEOF, oneof]].concat();
        let (span, doc) = (places.span(&path, &[NAME]), places.doc(&path));
        let text = descriptor.oneof_decl[oneof as usize].name();
        let fields = by_number(descriptor).into_iter();
        let own: Vec<usize> =
            fields.filter(|at| oneof_of(&descriptor.field[*at]) == Some(oneof)).collect();
        let first = descriptor.field[own[0]].number();
        let cases = own.into_iter().map(|at| {
            let field = self.field(message, at);
            let number = integer(field.descriptor.number(), field.name.span);
            let annotations = self.external(message, field.descriptor, field.span);
            let declared = self.type_use(field.descriptor, field.span);
            let member = field.member(annotations, declared);
            Case { labels: vec![Label::Value(number)], member }
        });
        let cases = cases.collect();
        let discriminator = TypeUse { kind: TypeKind::Primitive(Primitive::Uint32), span };
        let name = Name { text: union_name(text, names).into(), span };
        let union = DefinitionKind::Union { name, discriminator, cases };
        let annotations = self.extensibility(source, span);
        let union = Definition { annotations, ..definition(union, doc.clone()) };
        let kind = TypeKind::Constructed(Box::new(union));
        let name = Name { text: text.into(), span };
        let union = member(Vec::new(), doc, TypeUse { kind, span }, name);
        // It has none of its own, and nothing else of the message has this one.
        Member { number: Some(first), ..union }
    }

    /// The type of a field, or of each of several.
    fn type_use(&mut self, field: &FieldDescriptorProto, span: Span) -> TypeUse {
        let kind = match field.r#type() {
            // proto3 has no groups; what looks like one names a message.
            Type::Message | Type::Enum | Type::Group => self.message_type(field.type_name(), span),
            scalar => self.scalar(scalar, span),
        };
        TypeUse { kind, span }
    }

    /// A type without a name.
    pub fn scalar(&self, scalar: Type, span: Span) -> TypeKind {
        let primitive = match scalar {
            Type::Bool => Primitive::Boolean,
            Type::Double => Primitive::Double,
            Type::Float => Primitive::Float,
            Type::Int32 | Type::Sint32 | Type::Sfixed32 => Primitive::Int32,
            Type::Int64 | Type::Sint64 | Type::Sfixed64 => Primitive::Int64,
            Type::Uint32 | Type::Fixed32 => Primitive::Uint32,
            Type::Uint64 | Type::Fixed64 => Primitive::Uint64,
            Type::String => return TypeKind::String { bound: None },
            Type::Bytes | Type::Message | Type::Enum | Type::Group => {
                let kind = TypeKind::Primitive(Primitive::Octet);
                let element = Box::new(TypeUse { kind, span });
                return TypeKind::Sequence { element, bound: None };
            }
        };
        TypeKind::Primitive(primitive)
    }

    /// An enum; a second name for a number is a constant beside it.
    pub fn enumeration(&mut self, index: usize) {
        const VALUE: i32 = 2;
        let declared = &self.names.enums[index];
        let (source, scope) = (declared.source, declared.scope.clone());
        let places = &self.sources[source].places;
        let outer: String = scope.iter().map(|part| format!(".{}", part.text)).collect();
        let mut first_names: HashMap<i32, &str> = HashMap::new();
        let (mut enumerators, mut aliases) = (Vec::new(), Vec::new());
        for (value, at) in declared.descriptor.value.iter().zip(0..) {
            let path = [&declared.path[..], &[VALUE, at]].concat();
            let span = places.span(&path, &[NAME]);
            let (name, doc) = (Name { text: value.name().into(), span }, places.doc(&path));
            if let Some(first) = first_names.get(&value.number()) {
                let kind = ExpressionKind::Name(scoped(&format!("{outer}.{first}"), span));
                let value = Expression { kind, span };
                let kind = TypeKind::Name(scoped(&declared.full_name, span));
                let declared = TypeUse { kind, span };
                aliases.push(definition(DefinitionKind::Constant { declared, name, value }, doc));
                continue;
            }
            first_names.insert(value.number(), value.name());
            let number = Arguments::Single(integer(value.number(), span));
            let mut annotations = vec![annotation("value", number, span)];
            if value.number() == 0 {
                // What one that a reader does not know is to it.
                annotations.push(annotation("default_literal", Arguments::None, span));
            }
            enumerators.push(Literal { annotations, doc, name, is_numbered: true });
        }
        let kind = DefinitionKind::Enum { name: declared.name.clone(), enumerators };
        let annotations = self.extensibility(source, declared.name.span);
        let declaration =
            Definition { annotations, ..definition(kind, places.doc(&declared.path)) };
        for one in std::iter::once(declaration).chain(aliases) {
            self.put(source, &scope, one);
        }
    }
}

/// Places of the fields of a message, the lowest number first.
fn by_number(message: &DescriptorProto) -> Vec<usize> {
    let mut places: Vec<usize> = (0..message.field.len()).collect();
    places.sort_by_key(|at| message.field[*at].number());
    places
}

/// The oneof that a field stands in, if its author wrote one.
fn oneof_of(field: &FieldDescriptorProto) -> Option<i32> {
    field.oneof_index.filter(|_| !field.proto3_optional())
}

/// The names that stand in a message.
fn taken(message: &DescriptorProto) -> HashSet<String> {
    let fields = message.field.iter().map(|field| field.name());
    let messages = message.nested_type.iter().map(|nested| nested.name());
    let enums = message.enum_type.iter().map(|nested| nested.name());
    let values = message.enum_type.iter().flat_map(|nested| &nested.value);
    let oneofs = message.oneof_decl.iter().map(|oneof| oneof.name());
    let all = fields.chain(messages).chain(enums).chain(oneofs).map(str::to_owned);
    all.chain(values.map(|value| value.name().to_owned())).collect()
}

/// What the union of a oneof is called: its name in camel case, and something behind it as long as
/// that is taken.
fn union_name(oneof: &str, taken: &mut HashSet<String>) -> String {
    let mut name = String::new();
    for part in oneof.split('_') {
        let mut characters = part.chars();
        name.extend(characters.next().map(|first| first.to_ascii_uppercase()));
        name.push_str(characters.as_str());
    }
    while name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) {
        name.insert_str(0, "Oneof");
    }
    while !taken.insert(name.clone()) {
        name.push_str("Oneof");
    }
    name
}

pub(super) fn member(
    annotations: Vec<Annotation>,
    doc: Option<Rc<str>>,
    declared: TypeUse,
    name: Name,
) -> Member {
    let declarators = vec![Declarator { name, dimensions: Vec::new() }];
    Member { annotations, doc, declared, declarators, number: None }
}

/// A number as if it stood in the text.
pub(super) fn integer(value: impl Into<i64>, span: Span) -> Expression {
    let value: i64 = value.into();
    let magnitude = ExpressionKind::Integer(value.unsigned_abs());
    let kind = match value < 0 {
        true => {
            let operand = Expression { kind: magnitude, span };
            ExpressionKind::Unary(Unary::Minus, Box::new(operand))
        }
        false => magnitude,
    };
    Expression { kind, span }
}
