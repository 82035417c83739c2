//! Types and values as Rust writes them in a program.

use crate::back::rust::casing::{Case, cased, ident};
use crate::back::rust::names::NameSet;
use crate::back::rust::selftest::Programs;
use crate::back::rust::types::primitive_type;
use crate::back::rust::unions::variants;
use crate::layout::members;
use crate::model::{DeclarationId, Kind, Member, Primitive, Type, Union};
use crate::selftest::{Value, element};

impl Programs<'_, '_> {
    /// The type of a local.
    pub fn owned(&self, declared: &Type) -> String {
        match declared {
            Type::Primitive(primitive) => {
                primitive_type(*primitive).to_string().replace(' ', "").replacen("::", "", 1)
            }
            Type::String { .. } | Type::WideString { .. } => String::from("String"),
            Type::Sequence { element, .. } => format!("Vec<{}>", self.owned(element)),
            Type::Array { element, dimensions } => {
                let around = |inner, many: &u32| format!("[{inner}; {many}]");
                dimensions.iter().rev().fold(self.owned(element), around)
            }
            Type::Map { key, value, .. } => {
                let (key, value) = (self.owned(key), self.owned(value));
                format!("std::collections::BTreeMap<{key}, {value}>")
            }
            Type::Named(id) => self.declared(*id),
        }
    }

    /// The type of what a procedure is shown.
    pub fn borrowed(&self, declared: &Type) -> String {
        match self.rust.model.resolved(declared) {
            Type::String { .. } | Type::WideString { .. } => String::from("&str"),
            Type::Sequence { element, .. } => format!("&[{}]", self.owned(element)),
            _ => format!("&{}", self.owned(declared)),
        }
    }

    /// A declaration, from the root of the program.
    pub fn declared(&self, id: DeclarationId) -> String {
        self.path(self.rust.names.scope_of(id), self.rust.names.declaration(id))
    }

    /// A value, where its type is known.
    pub fn expression(&self, declared: &Type, value: &Value) -> String {
        let resolved = self.rust.model.resolved(declared);
        match value {
            Value::Absent | Value::Unopened => String::from("None"),
            Value::Boolean(value) => value.to_string(),
            Value::Integer(value) => value.to_string(),
            Value::Char(value) => format!("nearcall::Char({value})"),
            Value::WideChar(value) => format!("'{}'", value.escape_unicode()),
            Value::Float(bits) => format!("f32::from_bits(0x{bits:08x})"),
            Value::Double(bits) => format!("f64::from_bits(0x{bits:016x})"),
            Value::LongDouble(bytes) => format!("nearcall::LongDouble({bytes:?})"),
            Value::Text { part, times: 1 } => format!("String::from({part:?})"),
            Value::Text { times: 0, .. } => String::from("String::new()"),
            Value::Text { part, times } => format!("{part:?}.repeat({times})"),
            Value::Items { part, count } => self.items(resolved, part, *count),
            Value::Pairs(pairs) => {
                let Type::Map { key, value, .. } = resolved else { return String::new() };
                let all = pairs.iter().map(|(one, item)| {
                    format!("({}, {})", self.expression(key, one), self.expression(value, item))
                });
                let all: Vec<String> = all.collect();
                format!("std::collections::BTreeMap::from([{}])", all.join(", "))
            }
            Value::Fields(_) => match resolved {
                Type::Named(id) => self.fields_expression(*id, value),
                _ => String::new(),
            },
            Value::Opened { kind, text, is_optional } => {
                let opened = format!("opened(nearcall::raw::DescriptorKind::{kind:?}, {text:?})");
                if *is_optional { format!("Some({opened})") } else { opened }
            }
            Value::Case { .. } | Value::Enumerator(_) | Value::Bits(_) => match resolved {
                Type::Named(id) => self.named(*id, value),
                _ => String::new(),
            },
        }
    }

    fn items(&self, resolved: &Type, part: &[Value], count: u32) -> String {
        let Some(element) = element(resolved) else { return String::new() };
        let all: Vec<String> = part.iter().map(|item| self.expression(&element, item)).collect();
        let all = all.join(", ");
        let (is_whole, is_array) =
            (part.len() == count as usize, matches!(resolved, Type::Array { .. }));
        match (is_array, is_whole) {
            (true, true) => format!("[{all}]"),
            (true, false) => format!("repeated_array([{all}])"),
            (false, true) => format!("vec![{all}]"),
            (false, false) => format!("repeated(&[{all}], {count})"),
        }
    }

    /// A struct or an exception.
    pub fn fields_expression(&self, id: DeclarationId, value: &Value) -> String {
        let Value::Fields(values) = value else { return String::new() };
        let name = self.declared(id);
        let all = members(self.rust.model, id);
        if all.is_empty() {
            return name;
        }
        let is_exception = matches!(self.rust.model.declaration(id).kind, Kind::Exception(_));
        let boxed = |index: usize| !is_exception && self.rust.type_plan(id).members[index].is_boxed;
        let fields = all.iter().zip(values).zip(self.rust.field_names(id)).enumerate();
        let fields = fields.map(|(index, ((member, value), field))| {
            format!("{field}: {}", self.member(member, boxed(index), value))
        });
        format!("{name} {{ {} }}", fields.collect::<Vec<_>>().join(", "))
    }

    fn member(&self, member: &Member, is_boxed: bool, value: &Value) -> String {
        if *value == Value::Absent {
            return String::from("None");
        }
        let mut text = self.expression(&member.declared, value);
        if is_boxed {
            text = format!("Box::new({text})");
        }
        if member.is_optional { format!("Some({text})") } else { text }
    }

    fn named(&self, id: DeclarationId, value: &Value) -> String {
        let name = self.declared(id);
        match (&self.rust.model.declaration(id).kind, value) {
            (Kind::Enum(shape), Value::Enumerator(index)) => {
                let variant = &crate::back::rust::words::variants(shape)[*index as usize];
                format!("{name}::{}", ident(variant))
            }
            (Kind::Bitmask(_), Value::Bits(bits)) => {
                format!("{name}::from_bits({bits}).expect(\"they are flags\")")
            }
            (Kind::Bitset(shape), Value::Bits(bits)) => {
                let mut taken = NameSet::with(&["from_wire", "to_wire"]);
                let mut text = format!("{{ let mut fields = {name}::default();");
                for field in &shape.fields {
                    let own = cased(&field.name, Case::Snake);
                    taken.take(&own);
                    let setter = ident(&taken.take(&format!("set_{own}")));
                    let value = crate::selftest::field(field, *bits);
                    let value = match field.declared {
                        Primitive::Boolean => (value != 0).to_string(),
                        _ => value.to_string(),
                    };
                    text += &format!("fields.{setter}({value});");
                }
                text + "fields }"
            }
            (Kind::Union(union), Value::Case { discriminator, case, value }) => {
                self.case(id, union, discriminator, (*case, value))
            }
            _ => String::new(),
        }
    }

    fn case(
        &self,
        id: DeclarationId,
        union: &Union,
        discriminator: &Value,
        (case, value): (Option<u32>, &Value),
    ) -> String {
        let (name, (names, other)) = (self.declared(id), variants(union));
        let selected = self.expression(&union.discriminator, discriminator);
        let Some(index) = case else { return format!("{name}::{other}({selected})") };
        let (case, variant) = (&union.cases[index as usize], &names[index as usize]);
        let is_boxed = self.rust.type_plan(id).members[index as usize].is_boxed;
        let value = self.member(&case.member, is_boxed, value);
        match self.rust.is_selected_by_one(union, index) {
            true => format!("{name}::{variant}({value})"),
            false => format!("{name}::{variant}({selected}, {value})"),
        }
    }
}
