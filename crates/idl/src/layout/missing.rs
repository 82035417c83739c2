//! What stands for a member of an appendable struct that did not come, because the other side has
//! an older version: its default.
//!
//! As bytes of the conventional encoding, so that whoever reads goes on in them, and no back end
//! has to make values. The default is what `@default` says of the member or of its type's alias;
//! else false, zero, empty or absent, the enum's default literal, the case that a union's default
//! discriminator selects; and always the nearest value that ranges allow.

use std::cmp::Ordering;

use crate::layout::integer_ends;
use crate::layout::{Range, Scalar, Shape, extended, members, range, shape};
use crate::model::{
    Annotation, DeclarationId, Kind, Member, Model, Primitive, Type, Union, UnionDefault, Value,
};

/// Most bytes of one default: it stands in generated code.
pub const MISSING_BYTES_MAX: usize = 1 << 16;

/// Bytes of a length or count of zero.
const NONE: &[u8] = &[0; 4];

/// Why there are no bytes.
enum Unfit {
    /// The value holds another of its type, which holds another.
    Endless,
    /// There would be too many.
    TooLong,
}

/// The bytes that stand for a member; `None`: they would be more than [`MISSING_BYTES_MAX`].
pub fn missing(model: &Model, member: &Member) -> Option<Vec<u8>> {
    let mut writer = Missing { model, bytes: Vec::new(), open: Vec::new() };
    match writer.member(member) {
        Ok(()) => Some(writer.bytes),
        Err(Unfit::TooLong) => None,
        Err(Unfit::Endless) => panic!("a type has values that end (E0216): {}", member.name),
    }
}

/// What `@default` says of a place, or of the aliases that its type is behind.
pub fn given<'m>(
    model: &'m Model,
    mut declared: &'m Type,
    mut annotations: &'m [Annotation],
) -> Option<&'m Value> {
    loop {
        let own = annotations.iter().find(|one| one.name == "default");
        if let Some(value) = own.and_then(|own| own.parameters.get("value")) {
            return Some(value);
        }
        let Type::Named(id) = declared else { return None };
        let declaration = model.declaration(*id);
        let Kind::Alias(behind) = &declaration.kind else { return None };
        (declared, annotations) = (behind, &declaration.annotations);
    }
}

struct Missing<'m> {
    model: &'m Model,
    bytes: Vec<u8>,
    /// Structs and unions being written, outermost first.
    open: Vec<DeclarationId>,
}

impl<'m> Missing<'m> {
    fn member(&mut self, member: &'m Member) -> Result<(), Unfit> {
        match member.is_optional {
            true => self.put(&[0]),
            false => self.place(&member.declared, &member.annotations),
        }
    }

    /// The default of a type, as the place that it stands in has it.
    fn place(&mut self, declared: &'m Type, annotations: &'m [Annotation]) -> Result<(), Unfit> {
        let model = self.model;
        let (mut declared, mut annotations) = (declared, annotations);
        let (given, mut ranges) = (given(model, declared, annotations), Vec::new());
        loop {
            ranges.extend(range(model, annotations, declared));
            let Type::Named(id) = declared else { break };
            let declaration = model.declaration(*id);
            let Kind::Alias(behind) = &declaration.kind else { break };
            (declared, annotations) = (behind, &declaration.annotations);
        }
        match declared {
            Type::Sequence { .. } | Type::Map { .. } => self.put(NONE),
            Type::Array { element, dimensions } => self.array(element, dimensions),
            Type::String { .. } | Type::WideString { .. } => match given {
                Some(Value::String(text)) => {
                    self.put(&(text.len() as u32).to_le_bytes())?;
                    self.put(text.as_bytes())
                }
                _ => self.put(NONE),
            },
            Type::Primitive(_) => self.word(declared, given, &ranges),
            Type::Named(id) => match &model.declaration(*id).kind {
                Kind::Struct(_) => self.nested(*id, |writer| writer.members_of(*id)),
                Kind::Union(union) if model.declaration(*id).is_appendable() => {
                    self.nested(*id, |writer| writer.appendable(|writer| writer.union(union)))
                }
                Kind::Union(union) => self.nested(*id, |writer| writer.union(union)),
                _ => self.word(declared, given, &ranges),
            },
        }
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), Unfit> {
        if bytes.len() > MISSING_BYTES_MAX - self.bytes.len() {
            return Err(Unfit::TooLong);
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn nested(
        &mut self,
        id: DeclarationId,
        inner: impl FnOnce(&mut Self) -> Result<(), Unfit>,
    ) -> Result<(), Unfit> {
        if self.open.contains(&id) {
            return Err(Unfit::Endless);
        }
        self.open.push(id);
        let written = inner(self);
        self.open.pop();
        written
    }

    fn array(&mut self, element: &'m Type, dimensions: &[u32]) -> Result<(), Unfit> {
        let begin = self.bytes.len();
        self.place(element, &[])?;
        let once = self.bytes[begin..].to_vec();
        let times = dimensions.iter().map(|many| *many as usize).fold(1, usize::saturating_mul);
        if once.len().saturating_mul(times) > MISSING_BYTES_MAX {
            return Err(Unfit::TooLong);
        }
        self.put(&once.repeat(times - 1))
    }

    fn members_of(&mut self, id: DeclarationId) -> Result<(), Unfit> {
        let all = members(self.model, id);
        if self.model.declaration(id).is_appendable() {
            return self
                .appendable(|writer| all.into_iter().try_for_each(|member| writer.member(member)));
        }
        if all.is_empty() {
            return self.put(&[0]);
        }
        all.into_iter().try_for_each(|member| self.member(member))
    }

    /// What stands behind its length in bytes.
    fn appendable(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<(), Unfit>,
    ) -> Result<(), Unfit> {
        let begin = self.bytes.len();
        self.put(NONE)?;
        inner(self)?;
        let bytes = (self.bytes.len() - begin - NONE.len()) as u32;
        self.bytes[begin..begin + NONE.len()].copy_from_slice(&bytes.to_le_bytes());
        Ok(())
    }

    /// The case that the default discriminator selects. One that holds the union itself gives way
    /// to the first that does not; the one without a label is the last.
    fn union(&mut self, union: &'m Union) -> Result<(), Unfit> {
        let begin = self.bytes.len();
        let first = self.zero(self.model.resolved(&union.discriminator));
        let labels = union.cases.iter().filter_map(|case| case.labels.first().cloned());
        for discriminator in std::iter::once(first).chain(labels).chain(self.unlabelled(union)) {
            match self.case(union, &discriminator) {
                Err(Unfit::Endless) => self.bytes.truncate(begin),
                written => return written,
            }
        }
        Err(Unfit::Endless)
    }

    /// A discriminator that no case has as its label, if there is one.
    fn unlabelled(&self, union: &Union) -> Option<Value> {
        let resolved = self.model.resolved(&union.discriminator);
        let zero = self.zero(resolved);
        let (least, greatest) = match (&zero, resolved) {
            (Value::Boolean(_), _) => (0, 1),
            (Value::Char(_), Type::Primitive(Primitive::Char)) => (0, u8::MAX.into()),
            (Value::Char(_), _) => (0, u32::from(char::MAX).into()),
            (Value::Enumerator(id, _), _) => match &self.model.declaration(*id).kind {
                Kind::Enum(shape) => (0, shape.enumerators.len() as i128 - 1),
                _ => return None,
            },
            _ => integer_ends(resolved)?,
        };
        let value = |number: i128| match zero {
            Value::Boolean(_) => Some(Value::Boolean(number == 1)),
            Value::Char(_) => char::from_u32(number as u32).map(Value::Char),
            Value::Enumerator(id, _) => Some(Value::Enumerator(id, number as u32)),
            _ => Some(Value::Integer(number)),
        };
        let is_free = |value: &Value| !union.cases.iter().any(|case| case.labels.contains(value));
        (0..=greatest).chain(least..0).filter_map(value).find(is_free)
    }

    fn case(&mut self, union: &'m Union, discriminator: &Value) -> Result<(), Unfit> {
        self.value(self.model.resolved(&union.discriminator), discriminator)?;
        let selected = union.cases.iter().find(|case| case.labels.contains(discriminator));
        match (selected, union.default) {
            (Some(case), _) => self.member(&case.member),
            (None, UnionDefault::Case(index)) => self.member(&union.cases[index as usize].member),
            (None, UnionDefault::Covered | UnionDefault::Implicit) => Ok(()),
        }
    }

    fn word(
        &mut self,
        resolved: &Type,
        given: Option<&Value>,
        ranges: &[Range],
    ) -> Result<(), Unfit> {
        let mut value = given.cloned().unwrap_or_else(|| self.zero(resolved));
        for Range { least, greatest, .. } in ranges {
            let least = least.iter().filter(|end| self.order(&value, end) == Ordering::Less);
            let greatest =
                greatest.iter().filter(|end| self.order(&value, end) == Ordering::Greater);
            if let Some(end) = least.chain(greatest).next() {
                value = end.clone();
            }
        }
        self.value(resolved, &value)
    }

    /// What a word is if nobody says.
    fn zero(&self, resolved: &Type) -> Value {
        match resolved {
            Type::Primitive(Primitive::Boolean) => Value::Boolean(false),
            Type::Primitive(Primitive::Char | Primitive::WideChar) => Value::Char('\0'),
            Type::Primitive(Primitive::Float | Primitive::Double | Primitive::LongDouble) => {
                Value::Float(0.0)
            }
            Type::Named(id) => match &self.model.declaration(*id).kind {
                Kind::Enum(shape) => Value::Enumerator(*id, shape.default_index),
                _ => Value::Integer(0),
            },
            _ => Value::Integer(0),
        }
    }

    fn order(&self, value: &Value, end: &Value) -> Ordering {
        match (value, end) {
            (Value::Float(value), Value::Float(end)) => value.total_cmp(end),
            (Value::Char(value), Value::Char(end)) => value.cmp(end),
            (value, end) => self.integer(value).cmp(&self.integer(end)),
        }
    }

    /// The number that a value which is no float crosses as.
    fn integer(&self, value: &Value) -> i128 {
        match value {
            Value::Boolean(value) => i128::from(*value),
            Value::Integer(value) => *value,
            Value::Char(value) => i128::from(u32::from(*value)),
            Value::Enumerator(id, index) => match &self.model.declaration(*id).kind {
                Kind::Enum(shape) => i128::from(shape.enumerators[*index as usize].value),
                _ => 0,
            },
            Value::Float(_) | Value::String(_) => 0,
        }
    }

    fn value(&mut self, resolved: &Type, value: &Value) -> Result<(), Unfit> {
        match (resolved, value) {
            (Type::Primitive(Primitive::Float), Value::Float(value)) => {
                self.put(&(*value as f32).to_le_bytes())
            }
            (Type::Primitive(Primitive::Double), Value::Float(value)) => {
                self.put(&value.to_le_bytes())
            }
            (Type::Primitive(Primitive::LongDouble), Value::Float(value)) => {
                self.put(&extended(*value))
            }
            _ => {
                let width = match shape(self.model, resolved) {
                    Shape::Scalar(scalar) => Scalar::width(scalar),
                    other => unreachable!("a word is a scalar, not {other:?}"),
                };
                self.put(&self.integer(value).to_le_bytes()[..usize::from(width)])
            }
        }
    }
}
