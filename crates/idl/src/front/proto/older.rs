//! Files that are not of proto3, and what stands in them that proto3 does not have: whoever has
//! such a file learns of all there is to change, and not of one thing after the other.

use protox::prost_reflect::prost_types::field_descriptor_proto::{Label, Type};
use protox::prost_reflect::prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto,
};

use super::names::Source;
use super::places::{NAME, Places};
use crate::diagnostic::Diagnostic;
use crate::front::rules::proto as rules;
use crate::source::Span;

/// What proto3 does not have, of each kind the first.
struct Marks<'a> {
    places: &'a Places,
    found: Vec<(&'static str, Span)>,
}

/// What is wrong with a file that is not of proto3.
pub(super) fn other_syntax(source: &Source<'_>) -> Option<Diagnostic> {
    const SYNTAX: i32 = 12;
    let descriptor = &source.loaded.descriptor;
    if source.loaded.is_built_in || descriptor.syntax() == "proto3" {
        return None;
    }
    let name = descriptor.name();
    let (message, place) = match source.places.has(&[SYNTAX]) {
        true => (format!("`{name}` is of proto2"), "in its place"),
        false => (format!("`{name}` has no `syntax`, and so is of proto2"), "first"),
    };
    let mut marks = Marks { places: &source.places, found: Vec::new() };
    marks.file(source);
    let once = if marks.found.is_empty() { "" } else { ", once what is marked is gone" };
    let finding = Diagnostic::new(&rules::SYNTAX, source.places.span(&[SYNTAX], &[]), message)
        .help(format!("write `syntax = \"proto3\";` {place}{once}"));
    Some(marks.found.into_iter().fold(finding, |finding, (said, span)| finding.label(span, said)))
}

impl Marks<'_> {
    fn file(&mut self, source: &Source<'_>) {
        const MESSAGE: i32 = 4;
        const ENUM: i32 = 5;
        const EXTENSION: i32 = 7;
        let descriptor = &source.loaded.descriptor;
        for (message, at) in descriptor.message_type.iter().zip(0..) {
            self.message(&[MESSAGE, at], message);
        }
        for (declared, at) in descriptor.enum_type.iter().zip(0..) {
            self.enumeration(&[ENUM, at], declared);
        }
        for (field, at) in descriptor.extension.iter().zip(0..) {
            self.extension(&[EXTENSION, at], field);
        }
    }

    fn message(&mut self, path: &[i32], message: &DescriptorProto) {
        const FIELD: i32 = 2;
        const NESTED_MESSAGE: i32 = 3;
        const NESTED_ENUM: i32 = 4;
        const EXTENSION_RANGE: i32 = 5;
        const NESTED_EXTENSION: i32 = 6;
        let within = |part: i32, at: i32| [path, &[part, at]].concat();
        for (field, at) in message.field.iter().zip(0..) {
            self.field(&within(FIELD, at), field);
        }
        if !message.extension_range.is_empty() {
            self.mark("proto3 has no extensions", &within(EXTENSION_RANGE, 0), &[]);
        }
        for (field, at) in message.extension.iter().zip(0..) {
            self.extension(&within(NESTED_EXTENSION, at), field);
        }
        for (nested, at) in message.nested_type.iter().zip(0..) {
            self.message(&within(NESTED_MESSAGE, at), nested);
        }
        for (nested, at) in message.enum_type.iter().zip(0..) {
            self.enumeration(&within(NESTED_ENUM, at), nested);
        }
    }

    fn field(&mut self, path: &[i32], field: &FieldDescriptorProto) {
        const LABEL: i32 = 4;
        const DEFAULT: i32 = 7;
        if field.label() == Label::Required {
            self.mark("proto3 has no required fields", path, &[LABEL]);
        }
        if field.r#type() == Type::Group {
            self.mark("proto3 has no groups", path, &[NAME]);
        }
        if field.default_value.is_some() {
            self.mark("proto3 has no default values", path, &[DEFAULT]);
        }
    }

    /// Options are extended in proto3, too.
    fn extension(&mut self, path: &[i32], field: &FieldDescriptorProto) {
        if !field.extendee().starts_with(".google.protobuf.") {
            self.mark("proto3 has no extensions", path, &[NAME]);
        }
        self.field(path, field);
    }

    fn enumeration(&mut self, path: &[i32], declared: &EnumDescriptorProto) {
        const VALUE: i32 = 2;
        const NUMBER: i32 = 2;
        if declared.value.first().is_some_and(|first| first.number() != 0) {
            let first = [path, &[VALUE, 0]].concat();
            self.mark("the first value is 0 in proto3", &first, &[NUMBER]);
        }
    }

    fn mark(&mut self, said: &'static str, path: &[i32], tail: &[i32]) {
        if self.found.iter().all(|(other, _)| *other != said) {
            self.found.push((said, self.places.span(path, tail)));
        }
    }
}
