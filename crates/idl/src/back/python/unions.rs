//! Unions: a class of discriminator and value, and each case by the name of its member.

use crate::back::python::Python;
use crate::back::python::names::case_names;
use crate::back::python::text::{Text, quoted, tuple};
use crate::layout::range;
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
                    // A range may have nothing but labels: no value selects this, and none is sent.
                    selecting.push(self.literal(&free.unwrap_or(Value::Integer(0))));
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
        let is_free = |value: &Value| !labels.contains(&value);
        let letter = |letter| char::from_u32(letter).map(Value::Char);
        match self.model.resolved(&union.discriminator) {
            Type::Primitive(Primitive::Boolean) => {
                [false, true].map(Value::Boolean).into_iter().find(is_free)
            }
            Type::Primitive(Primitive::Char | Primitive::WideChar) => {
                (0..).map_while(letter).find(is_free)
            }
            Type::Primitive(primitive) => {
                let (least, greatest) = self.ends(&union.discriminator, *primitive);
                let below = (least..=greatest.min(-1)).rev();
                (least.max(0)..=greatest).chain(below).map(Value::Integer).find(is_free)
            }
            Type::Named(id) => match &self.model.declaration(*id).kind {
                Kind::Enum(shape) => (0..shape.enumerators.len() as u32)
                    .map(|index| Value::Enumerator(*id, index))
                    .find(is_free),
                _ => None,
            },
            _ => None,
        }
    }

    /// The least and the greatest integer of a discriminator, by its type and its aliases' ranges.
    fn ends(&self, discriminator: &Type, primitive: Primitive) -> (i128, i128) {
        let count = 1i128 << (8 * primitive.bytes());
        let (mut least, mut greatest) = match primitive {
            Primitive::Int8 | Primitive::Int16 | Primitive::Int32 | Primitive::Int64 => {
                (-count / 2, count / 2 - 1)
            }
            _ => (0, count - 1),
        };
        let mut declared = discriminator;
        while let Type::Named(id) = declared
            && let Kind::Alias(behind) = &self.model.declaration(*id).kind
        {
            let range = range(self.model, &self.model.declaration(*id).annotations, behind);
            let (from, to) = range.map_or((None, None), |range| (range.least, range.greatest));
            if let Some(Value::Integer(from)) = from {
                least = least.max(from);
            }
            if let Some(Value::Integer(to)) = to {
                greatest = greatest.min(to);
            }
            declared = behind;
        }
        (least, greatest)
    }
}
