//! What a member of a class is if nobody says, and whether it has to be said by name.
//!
//! proto3 has a default for each field, IDL for what is `@optional` and for what says `@default`.
//! In Python nothing without a default may stand behind what has one, unless one of the two is
//! passed by name only.

use crate::back::python::Python;
use crate::back::python::expressions::numpy_type;
use crate::back::python::text::{float, quoted};
use crate::layout::{given, members};
use crate::model::{DeclarationId, Kind, Member, Primitive, Type, Value};

/// What a member is if nobody says.
enum Default {
    /// A value that nobody can change, so that all objects may have the same one.
    Same(String),
    /// What makes a new one for each object.
    New(String),
}

/// How a member is passed to its class.
struct Passed {
    default: Option<Default>,
    is_by_name: bool,
}

impl Python<'_> {
    /// What stands behind the annotation of each member of a struct or exception, inherited ones
    /// first.
    pub fn field_values(&self, id: DeclarationId) -> Vec<String> {
        self.passed(id).into_iter().map(field_value).collect()
    }

    fn passed(&self, id: DeclarationId) -> Vec<Passed> {
        let base = match &self.model.declaration(id).kind {
            Kind::Struct(own) => own.base,
            _ => None,
        };
        let mut passed = base.map_or_else(Vec::new, |base| self.passed(base));
        let is_behind = passed.iter().any(|one| one.default.is_some() && !one.is_by_name);
        let all = members(self.model, id);
        let own = &all[passed.len()..];
        let defaults: Vec<_> = own.iter().map(|member| self.default(member)).collect();
        let required = defaults.iter().rposition(Option::is_none);
        passed.extend(defaults.into_iter().enumerate().map(|(place, default)| {
            let is_by_name = match is_behind {
                true => default.is_none(),
                false => default.is_some() && required.is_some_and(|last| place < last),
            };
            Passed { default, is_by_name }
        }));
        passed
    }

    fn default(&self, member: &Member) -> Option<Default> {
        if member.is_optional {
            return Some(Default::Same(String::from("None")));
        }
        let resolved = self.model.resolved(&member.declared);
        match given(self.model, &member.declared, &member.annotations) {
            Some(given) => self.given(resolved, given).map(Default::Same),
            None if member.has_zero => self.zero(resolved),
            None => None,
        }
    }

    /// What `@default` says, where it can be said in Python.
    fn given(&self, resolved: &Type, value: &Value) -> Option<String> {
        match (resolved, value) {
            // Sixteen bytes in Python.
            (Type::Primitive(Primitive::LongDouble), _) => None,
            (Type::Named(id), value) => match (&self.model.declaration(*id).kind, value) {
                (Kind::Enum(_), Value::Enumerator(id, index)) => Some(self.enumerator(*id, *index)),
                _ => None,
            },
            (_, Value::Boolean(true)) => Some(String::from("True")),
            (_, Value::Boolean(false)) => Some(String::from("False")),
            (_, Value::Char(letter)) => Some(quoted(&letter.to_string())),
            (_, Value::String(text)) => Some(quoted(text)),
            (Type::Primitive(Primitive::Float | Primitive::Double), Value::Integer(value)) => {
                Some(float(*value as f64))
            }
            (_, Value::Integer(value)) => Some(value.to_string()),
            (_, Value::Float(value)) => Some(float(*value)),
            (_, Value::Enumerator(..)) => None,
        }
    }

    /// What proto3 says of a field's type. A field of a message is optional.
    fn zero(&self, resolved: &Type) -> Option<Default> {
        let same = |text: &str| Some(Default::Same(text.to_owned()));
        let new = |text: &str| Some(Default::New(text.to_owned()));
        match resolved {
            Type::Primitive(Primitive::Boolean) => same("False"),
            Type::Primitive(Primitive::Float | Primitive::Double) => same("0.0"),
            Type::Primitive(_) => same("0"),
            Type::String { .. } | Type::WideString { .. } => same("\"\""),
            Type::Map { .. } => new("dict"),
            Type::Sequence { .. } if self.annotation(resolved) == "bytes" => same("b\"\""),
            Type::Sequence { element, .. } => match self.number(element) {
                Some(number) => new(&format!("lambda: _numpy.empty(0, {})", numpy_type(number))),
                None => new("list"),
            },
            Type::Array { .. } => None,
            Type::Named(id) => match &self.model.declaration(*id).kind {
                Kind::Enum(shape) => same(&self.enumerator(*id, shape.default_index)),
                // A oneof of which nothing is set: no field has number 0.
                Kind::Union(_) => new(&format!("lambda: {}(0, None)", self.names.declaration(*id))),
                _ => None,
            },
        }
    }
}

fn field_value(Passed { default, is_by_name }: Passed) -> String {
    let default = match default {
        Some(Default::Same(value)) if !is_by_name => return format!(" = {value}"),
        Some(Default::Same(value)) => Some(format!("default={value}")),
        Some(Default::New(factory)) => Some(format!("default_factory={factory}")),
        None => None,
    };
    let by_name = is_by_name.then(|| String::from("kw_only=True"));
    let parts: Vec<String> = default.into_iter().chain(by_name).collect();
    match parts.is_empty() {
        true => String::new(),
        false => format!(" = _dataclasses.field({})", parts.join(", ")),
    }
}
