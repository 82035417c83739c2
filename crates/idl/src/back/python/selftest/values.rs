//! Values as expressions, and what they are shown by.

use crate::back::python::names::{constant_names, member_names};
use crate::back::python::selftest::Programs;
use crate::back::python::text::{Text, quoted, tuple};
use crate::layout::members;
use crate::model::{DeclarationId, Kind, Member, Primitive, Type, Union, UnionDefault};
use crate::selftest::{Value, element};

impl Programs<'_, '_> {
    /// A value as an expression.
    pub fn expression(&self, declared: &Type, value: &Value) -> String {
        let resolved = self.python.model.resolved(declared);
        let annotation = self.python.annotation(resolved);
        let (is_octets, is_numbers) =
            (annotation == "bytes", annotation.starts_with("_numpy_typing."));
        match value {
            Value::Items { .. } if is_octets => format!("bytes({})", self.plain(resolved, value)),
            // Short ones as lists, which are as good.
            Value::Items { part, count } if is_numbers && part.len() < *count as usize => {
                let number = annotation.trim_start_matches("_numpy_typing.NDArray[_");
                let number = number.trim_end_matches(']');
                format!("numpy.array({}, {number})", self.plain(resolved, value))
            }
            value => self.plain(resolved, value),
        }
    }

    /// The same, of lists and not of arrays.
    pub fn plain(&self, resolved: &Type, value: &Value) -> String {
        match (value, resolved) {
            (Value::Absent | Value::Unopened, _) => String::from("None"),
            (Value::Boolean(true), _) => String::from("True"),
            (Value::Boolean(false), _) => String::from("False"),
            (Value::Integer(value), _) => value.to_string(),
            (Value::Char(value), _) => quoted(&char::from(*value).to_string()),
            (Value::WideChar(value), _) => quoted(&value.to_string()),
            (Value::Float(bits), _) => format!("f4(0x{bits:08x})"),
            (Value::Double(bits), _) => format!("f8(0x{bits:016x})"),
            (Value::LongDouble(bytes), _) => {
                let all: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                format!("bytes.fromhex(\"{all}\")")
            }
            (Value::Text { part, times: 1 }, _) => quoted(part),
            (Value::Text { part, times }, _) => format!("{} * {times}", quoted(part)),
            (Value::Items { part, count }, _) => {
                let Some(element) = element(resolved) else { return String::new() };
                let inner = self.python.model.resolved(&element);
                let is_inner =
                    matches!(resolved, Type::Array { dimensions, .. } if dimensions.len() > 1);
                let all = part.iter().map(|item| match is_inner {
                    true => self.plain(inner, item),
                    false => self.expression(inner, item),
                });
                let all = all.collect::<Vec<_>>().join(", ");
                match part.len() == *count as usize {
                    true => format!("[{all}]"),
                    false => format!("repeated([{all}], {count})"),
                }
            }
            (Value::Pairs(pairs), Type::Map { key, value, .. }) => {
                let all = pairs.iter().map(|(one, item)| {
                    format!("{}: {}", self.expression(key, one), self.expression(value, item))
                });
                format!("{{{}}}", all.collect::<Vec<_>>().join(", "))
            }
            (Value::Opened { kind, text, .. }, _) => {
                format!("opened({}, {})", quoted(kind.word()), quoted(text))
            }
            (Value::Fields(_), Type::Named(id)) => self.fields_expression(*id, value),
            (_, Type::Named(id)) => self.named(*id, value),
            _ => String::new(),
        }
    }

    /// A struct or an exception.
    pub fn fields_expression(&self, id: DeclarationId, value: &Value) -> String {
        let Value::Fields(values) = value else { return String::new() };
        let all = members(self.python.model, id).into_iter().zip(self.python.fields(id));
        let all = all.zip(values).map(|((member, name), value)| {
            format!("{name}={}", self.expression(&member.declared, value))
        });
        let class = self.python.names.declaration(id);
        format!("stubs.{class}({})", all.collect::<Vec<_>>().join(", "))
    }

    fn named(&self, id: DeclarationId, value: &Value) -> String {
        let class = format!("stubs.{}", self.python.names.declaration(id));
        match (&self.python.model.declaration(id).kind, value) {
            (Kind::Enum(shape), Value::Enumerator(index)) => {
                let names = constant_names(shape.enumerators.iter().map(|one| one.name.as_str()));
                format!("{class}.{}", names[*index as usize])
            }
            (Kind::Bitmask(_), Value::Bits(bits)) => format!("{class}({bits})"),
            (Kind::Bitset(shape), Value::Bits(bits)) => {
                let names = shape.fields.iter().map(|field| field.name.as_str());
                let all = shape.fields.iter().zip(member_names(names, false));
                let all = all.map(|(field, name)| {
                    let value = crate::selftest::field(field, *bits);
                    match (field.declared, value) {
                        (Primitive::Boolean, 0) => format!("{name}=False"),
                        (Primitive::Boolean, _) => format!("{name}=True"),
                        (_, value) => format!("{name}={value}"),
                    }
                });
                format!("{class}({})", all.collect::<Vec<_>>().join(", "))
            }
            (Kind::Union(union), Value::Case { discriminator, case, value }) => {
                let selected = self.expression(&union.discriminator, discriminator);
                let value = match case {
                    Some(index) => {
                        let member = &union.cases[*index as usize].member;
                        self.expression(&member.declared, value)
                    }
                    None => String::from("None"),
                };
                format!("{class}({selected}, {value})")
            }
            _ => String::new(),
        }
    }

    /// What a value is shown by: see `shown` of the programs' own half.
    pub fn shape(&self, declared: &Type) -> String {
        match self.python.model.resolved(declared) {
            Type::Primitive(primitive) => quoted(match primitive {
                Primitive::Boolean => "boolean",
                Primitive::Char | Primitive::WideChar => "letter",
                Primitive::Float => "f4",
                Primitive::Double => "f8",
                Primitive::LongDouble => "extended",
                _ => "integer",
            }),
            Type::String { .. } | Type::WideString { .. } => quoted("text"),
            Type::Sequence { element, .. } => tuple(&[quoted("items"), self.shape(element)]),
            Type::Array { element, dimensions } => {
                let around = |inner, _: &u32| tuple(&[quoted("items"), inner]);
                dimensions.iter().fold(self.shape(element), around)
            }
            Type::Map { key, value, .. } => {
                tuple(&[quoted("map"), self.shape(key), self.shape(value)])
            }
            Type::Named(id) => match &self.python.model.declaration(*id).kind {
                Kind::Enum(_) | Kind::Bitmask(_) => quoted("integer"),
                _ => {
                    let name = self.python.model.declaration(*id).name.to_string();
                    tuple(&[quoted("named"), quoted(&name)])
                }
            },
        }
    }

    /// The shapes of what has members.
    pub fn shapes(&self, text: &mut Text) {
        let model = self.python.model;
        text.block("SHAPES = {", |text| {
            for id in (0u32..).map(DeclarationId).take(model.declarations.len()) {
                let shape = match &model.declaration(id).kind {
                    Kind::Struct(_) | Kind::Exception(_) => self.fields_shape(id),
                    Kind::Union(union) => self.union_shape(union),
                    Kind::Bitset(shape) => {
                        let names = shape.fields.iter().map(|field| field.name.as_str());
                        let all = shape.fields.iter().zip(member_names(names, false));
                        let all = all.map(|(field, name)| {
                            let mask = u64::MAX >> (64 - u32::from(field.width.clamp(1, 64)));
                            let parts =
                                [quoted(&name), field.position.to_string(), mask.to_string()];
                            tuple(&parts)
                        });
                        let all = [quoted("bitset")].into_iter().chain(all);
                        tuple(&all.collect::<Vec<_>>())
                    }
                    _ => continue,
                };
                let name = quoted(&model.declaration(id).name.to_string());
                text.line(&format!("{name}: {shape},"));
            }
        });
        text.line("}");
    }

    fn fields_shape(&self, id: DeclarationId) -> String {
        let all = members(self.python.model, id).into_iter().zip(self.python.fields(id));
        let all = all.map(|(member, name)| {
            tuple(&[quoted(&member.name), quoted(&name), self.member_shape(member)])
        });
        tuple(&[quoted("fields")].into_iter().chain(all).collect::<Vec<_>>())
    }

    fn member_shape(&self, member: &Member) -> String {
        let inner = self.shape(&member.declared);
        if member.is_optional { tuple(&[quoted("optional"), inner]) } else { inner }
    }

    fn union_shape(&self, union: &Union) -> String {
        let cases = union.cases.iter().flat_map(|case| {
            let shape = self.member_shape(&case.member);
            let labels = case.labels.iter();
            labels.map(move |label| format!("{}: {shape}", self.python.number_of(label)))
        });
        let cases = cases.collect::<Vec<_>>().join(", ");
        let default = match union.default {
            UnionDefault::Case(index) => self.member_shape(&union.cases[index as usize].member),
            _ => String::from("None"),
        };
        let discriminator = self.shape(&union.discriminator);
        tuple(&[quoted("union"), discriminator, format!("{{{cases}}}"), default])
    }
}
