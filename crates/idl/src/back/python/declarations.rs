//! Constants, aliases and classes, and the table of types that the native half reads.

use crate::back::allowed::{enumerators, set_or_not};
use crate::back::python::Python;
use crate::back::python::expressions::{primitive_code, word_code};
use crate::back::python::names::{constant_names, member_names};
use crate::back::python::text::{Text, bytes, quoted, tuple};
use crate::layout::{Shape, members, shape};
use crate::model::{
    Bitmask, Bitset, Constant, DeclarationId, Enum, Kind, Member, Primitive, Type, UnionDefault,
    Value,
};
use crate::plan::Time;

impl Python<'_> {
    /// Prints one declaration; interfaces come later.
    pub fn declaration(&self, id: DeclarationId, text: &mut Text) {
        match &self.model.declaration(id).kind {
            Kind::Constant(constant) => self.constant(id, constant, text),
            Kind::Alias(behind) => {
                let name = self.names.declaration(id);
                text.line("");
                text.comment(&self.model.declaration(id).doc);
                let annotation = quoted(&self.annotation(behind));
                text.line(&format!("{name}: _typing.TypeAlias = {annotation}"));
            }
            Kind::Struct(own) => self.structure(id, own.base, &own.members, text),
            Kind::Exception(own) => self.exception(id, own, text),
            Kind::Union(union) => self.union(id, union, text),
            Kind::Enum(shape) => self.enumeration(id, shape, text),
            Kind::Bitmask(shape) => self.bitmask(id, shape, text),
            Kind::Bitset(shape) => self.bitset(id, shape, text),
            Kind::Interface(_) => {}
        }
    }

    fn constant(&self, id: DeclarationId, constant: &Constant, text: &mut Text) {
        let declaration = self.model.declaration(id);
        let value = self.literal(&constant.value);
        text.line("");
        text.comment(&declaration.doc);
        text.line(&format!("{}: _typing.Final = {value}", self.names.declaration(id)));
    }

    /// A constant or a label as Python has it.
    pub fn literal(&self, value: &Value) -> String {
        match value {
            Value::Char(letter) => quoted(&letter.to_string()),
            Value::Boolean(true) => String::from("True"),
            Value::Boolean(false) => String::from("False"),
            Value::Enumerator(owner, index) => self.enumerator(*owner, *index),
            // A long double is sixteen bytes in a message; here the number that the file says.
            value => self.number_of(value),
        }
    }

    pub fn enumerator(&self, id: DeclarationId, index: u32) -> String {
        let Kind::Enum(shape) = &self.model.declaration(id).kind else {
            return index.to_string();
        };
        let names = constant_names(shape.enumerators.iter().map(|one| one.name.as_str()));
        format!("{}.{}", self.names.declaration(id), names[index as usize])
    }

    fn class(
        &self,
        id: DeclarationId,
        (what, decorator, base): (&str, Option<&str>, &str),
        text: &mut Text,
        content: impl FnOnce(&mut Text),
    ) {
        let declaration = self.model.declaration(id);
        text.part();
        if let Some(decorator) = decorator {
            text.line(decorator);
        }
        text.block(&format!("class {}({base}):", self.names.declaration(id)), |text| {
            text.docstring(&declaration.doc, &format!("{what} `{}`.", declaration.name));
            content(text);
        });
    }

    pub fn record(
        &self,
        id: DeclarationId,
        (what, base): (&str, &str),
        text: &mut Text,
        fields: impl FnOnce(&mut Text),
    ) {
        let decorator = Some("@_dataclasses.dataclass(slots=True, eq=False)");
        self.class(id, (what, decorator, base), text, |text| {
            text.line("");
            fields(text);
        });
    }

    fn structure(
        &self,
        id: DeclarationId,
        base: Option<DeclarationId>,
        own: &[Member],
        text: &mut Text,
    ) {
        let plan = self.plan.types.binary_search_by_key(&id, |plan| plan.id);
        let base = match plan.ok().and_then(|index| self.plan.types[index].time) {
            Some(Time::Timestamp) => "_times.Timestamp",
            Some(Time::Duration) => "_times.Duration",
            None => base.map_or("_raw.Record", |base| self.names.declaration(base)),
        };
        self.record(id, ("Struct", base), text, |text| self.members(id, own, text));
    }

    fn members(&self, id: DeclarationId, own: &[Member], text: &mut Text) {
        let all = self.fields(id).into_iter().zip(self.field_values(id));
        let inherited_count = all.len() - own.len();
        for (member, (name, value)) in own.iter().zip(all.skip(inherited_count)) {
            text.comment(&member.doc);
            text.line(&format!("{name}: {}{value}", self.member_annotation(member)));
        }
    }

    fn exception(&self, id: DeclarationId, own: &[Member], text: &mut Text) {
        let decorator = Some("@_dataclasses.dataclass(eq=False)");
        self.class(id, ("Exception", decorator, "_nearcall.Raised"), text, |text| {
            text.line("");
            self.members(id, own, text);
        });
    }

    fn enumeration(&self, id: DeclarationId, shape: &Enum, text: &mut Text) {
        self.class(id, ("Enum", None, "_enum.IntEnum"), text, |text| {
            text.line("");
            let names = constant_names(shape.enumerators.iter().map(|one| one.name.as_str()));
            for (enumerator, name) in shape.enumerators.iter().zip(names) {
                text.comment(&enumerator.doc);
                text.line(&format!("{name} = {}", enumerator.value));
            }
        });
    }

    fn bitmask(&self, id: DeclarationId, shape: &Bitmask, text: &mut Text) {
        self.class(id, ("Bitmask", None, "_enum.IntFlag"), text, |text| {
            text.line("");
            let names = constant_names(shape.flags.iter().map(|(name, _)| name.as_str()));
            for ((_, position), name) in shape.flags.iter().zip(names) {
                text.line(&format!("{name} = 1 << {position}"));
            }
        });
    }

    fn bitset(&self, id: DeclarationId, shape: &Bitset, text: &mut Text) {
        self.record(id, ("Bitset", "_raw.Record"), text, |text| {
            let names = member_names(shape.fields.iter().map(|field| field.name.as_str()), false);
            for (field, name) in shape.fields.iter().zip(names) {
                let annotation = if field.declared == Primitive::Boolean { "bool" } else { "int" };
                text.line(&format!("{name}: {annotation}"));
            }
        });
    }

    /// Names of all members, inherited ones first.
    pub fn fields(&self, id: DeclarationId) -> Vec<String> {
        let all = members(self.model, id);
        let is_exception = matches!(self.model.declaration(id).kind, Kind::Exception(_));
        member_names(all.iter().map(|member| member.name.as_str()), is_exception)
    }

    /// The table of types: a row for each class.
    pub fn table(&self, text: &mut Text) {
        text.part();
        text.block("_TYPES = _raw.Types((", |text| {
            for id in &self.tabled {
                text.line(&format!("{},", tuple(&self.type_row(*id))));
            }
        });
        text.line("))");
    }

    fn type_row(&self, id: DeclarationId) -> Vec<String> {
        let class = self.names.declaration(id).to_owned();
        let word = |is_signed| match shape(self.model, &Type::Named(id)) {
            Shape::Scalar(scalar) => word_code(scalar, is_signed),
            // Enums, bitmasks and bitsets are words.
            _ => quoted(""),
        };
        let plan = self.plan.types.iter().find(|plan| plan.id == id);
        let is_boxed = |index: usize| plan.is_some_and(|plan| plan.members[index].is_boxed);
        match &self.model.declaration(id).kind {
            Kind::Union(union) => {
                let cases = union.cases.iter().enumerate().map(|(index, case)| {
                    let labels = case.labels.iter().map(|label| self.number_of(label));
                    let labels = tuple(&labels.collect::<Vec<_>>());
                    tuple(&[labels, self.member_expression(&case.member, is_boxed(index))])
                });
                let cases = tuple(&cases.collect::<Vec<_>>());
                let default = match union.default {
                    UnionDefault::Case(index) => index.to_string(),
                    UnionDefault::Covered => String::from("None"),
                    UnionDefault::Implicit => String::from("-1"),
                };
                let discriminator = self.expression(&union.discriminator, &[]);
                let is_oneof = plan.is_some_and(|plan| plan.is_appendable);
                let code = quoted(if is_oneof { "oneof" } else { "union" });
                let allowed = is_oneof.then(|| quoted(&set_or_not(self.model, union)));
                let row = [code, class, discriminator, cases, default];
                row.into_iter().chain(allowed).collect()
            }
            Kind::Enum(shape) => {
                let is_signed = shape.enumerators.iter().any(|one| one.value < 0);
                let stands = self
                    .model
                    .stand_in(id)
                    .map(|index| shape.enumerators[index as usize].value.to_string());
                let allowed = quoted(&enumerators(self.model, id));
                let row = [quoted("enum"), class, word(is_signed), allowed];
                row.into_iter().chain(stands).collect()
            }
            Kind::Bitmask(shape) => {
                let bits = shape.flags.iter().fold(0u64, |bits, (_, at)| bits | 1 << at);
                vec![quoted("bitmask"), class, word(false), bits.to_string()]
            }
            Kind::Bitset(shape) => {
                let names = shape.fields.iter().map(|field| field.name.as_str());
                let names = member_names(names, false);
                let fields = shape.fields.iter().zip(names).map(|(field, name)| {
                    let (position, width) = (field.position.to_string(), field.width.to_string());
                    tuple(&[quoted(&name), position, width, quoted(primitive_code(field.declared))])
                });
                vec![quoted("bitset"), class, word(false), tuple(&fields.collect::<Vec<_>>())]
            }
            _ => {
                let all = members(self.model, id);
                let is_appendable = plan.is_some_and(|plan| plan.is_appendable);
                let code = if is_appendable { "appendable" } else { "struct" };
                let fields = all.iter().zip(self.fields(id)).enumerate();
                let fields = fields.map(|(index, (member, name))| {
                    let declared = [quoted(&name), self.member_expression(member, is_boxed(index))];
                    let plan = plan.filter(|plan| plan.is_appendable);
                    let missing = plan.map(|plan| bytes(&plan.members[index].missing));
                    tuple(&declared.into_iter().chain(missing).collect::<Vec<_>>())
                });
                vec![quoted(code), class, tuple(&fields.collect::<Vec<_>>())]
            }
        }
    }
}
