//! Unions: a class of discriminator and value, and each case by the name of its member.

use crate::back::python::Python;
use crate::back::python::names::case_names;
use crate::back::python::text::{Text, quoted, tuple};
use crate::layout::{integer_ends, range};
use crate::model::{DeclarationId, Kind, Primitive, Type, Union, UnionDefault, Value};

impl Python<'_> {
    pub fn union(&self, id: DeclarationId, union: &Union, text: &mut Text) {
        let mut values: Vec<String> = Vec::new();
        let cases = union.cases.iter().map(|case| self.member_annotation(&case.member));
        let none = (union.default == UnionDefault::Implicit).then(|| String::from("None"));
        for annotation in cases.chain(none) {
            if !values.contains(&annotation) {
                values.push(annotation);
            }
        }
        let discriminator = self.annotation(&union.discriminator);
        self.record(id, ("Union", "_raw.Record"), text, |text| {
            text.line(&format!("discriminator: {discriminator}"));
            text.line(&format!("value: {}", values.join(" | ")));
            text.line("");
            self.cases(union, text);
        });
    }

    /// A name for each case: what it is called with, and what it then has.
    fn cases(&self, union: &Union, text: &mut Text) {
        let names = case_names(union.cases.iter().map(|case| case.member.name.as_str()));
        for ((case, name), index) in union.cases.iter().zip(names).zip(0u32..) {
            let mut selecting: Vec<String> =
                case.labels.iter().map(|label| self.literal(label)).collect();
            if UnionDefault::Case(index) == union.default {
                let own = &case.labels;
                let all = union.cases.iter().flat_map(|case| &case.labels);
                let others: Vec<_> = all.clone().filter(|one| !own.contains(one)).collect();
                let others = others.iter().map(|label| self.literal(label));
                if own.is_empty() {
                    let free = self.unlabelled(union, &all.collect::<Vec<_>>());
                    let free = free.expect("a default is for values without a label (E0233)");
                    selecting.push(self.literal(&free));
                }
                selecting.push(format!("unless={}", tuple(&others.collect::<Vec<_>>())));
            }
            text.comment(&case.member.doc);
            let held = quoted(&self.member_annotation(&case.member));
            text.line(&format!("{name} = _raw.Case[{held}]({})", selecting.join(", ")));
        }
    }

    /// The first value of a discriminator that is no label: zero, or what comes next to it.
    fn unlabelled(&self, union: &Union, labels: &[&Value]) -> Option<Value> {
        let (least, greatest) = self.ends(&union.discriminator);
        let is_free = |value: &Value| !labels.contains(&value);
        let letter = |code| char::from_u32(code).map(Value::Char);
        match self.model.resolved(&union.discriminator) {
            Type::Primitive(Primitive::Boolean) => {
                [false, true].map(Value::Boolean).into_iter().find(is_free)
            }
            Type::Primitive(Primitive::Char | Primitive::WideChar) => {
                let codes = least.max(0) as u32..=greatest.min(i128::from(u32::MAX)) as u32;
                codes.filter_map(letter).find(is_free)
            }
            Type::Named(id) => {
                let Kind::Enum(shape) = &self.model.declaration(*id).kind else { return None };
                let within = |place: &u32| {
                    let value = shape.enumerators[*place as usize].value;
                    (least..=greatest).contains(&i128::from(value))
                };
                let places = (0..shape.enumerators.len() as u32).filter(within);
                places.map(|place| Value::Enumerator(*id, place)).find(is_free)
            }
            _ => {
                let below = (least..=greatest.min(-1)).rev();
                (least.max(0)..=greatest).chain(below).map(Value::Integer).find(is_free)
            }
        }
    }

    /// The least and the greatest number of a discriminator, by its type and its aliases' ranges.
    fn ends(&self, discriminator: &Type) -> (i128, i128) {
        let resolved = self.model.resolved(discriminator);
        let all = (i128::from(i64::MIN), i128::from(i64::MAX));
        let (mut least, mut greatest) = integer_ends(resolved).unwrap_or(all);
        let mut declared = discriminator;
        while let Type::Named(id) = declared
            && let Kind::Alias(behind) = &self.model.declaration(*id).kind
        {
            let range = range(self.model, &self.model.declaration(*id).annotations, behind);
            let (from, to) = range.map_or((None, None), |range| (range.least, range.greatest));
            if let Some(from) = from.and_then(|from| self.crossing(&from)) {
                least = least.max(from);
            }
            if let Some(to) = to.and_then(|to| self.crossing(&to)) {
                greatest = greatest.min(to);
            }
            declared = behind;
        }
        (least, greatest)
    }

    /// The number that a discriminator of this value crosses as, if its type has ranges.
    fn crossing(&self, value: &Value) -> Option<i128> {
        match value {
            Value::Integer(value) => Some(*value),
            Value::Char(value) => Some(i128::from(u32::from(*value))),
            Value::Enumerator(id, place) => match &self.model.declaration(*id).kind {
                Kind::Enum(shape) => Some(i128::from(shape.enumerators[*place as usize].value)),
                _ => None,
            },
            Value::Boolean(_) | Value::Float(_) | Value::String(_) => None,
        }
    }
}
