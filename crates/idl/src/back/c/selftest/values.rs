//! Values as statements that put them where nothing is yet.

use crate::back::c::selftest::Programs;
use crate::back::c::text::Text;
use crate::back::c::types::{quoted, signed};
use crate::layout::members;
use crate::model::{DeclarationId, Kind, Member, Type};
use crate::selftest::{Value, element};

impl Programs<'_, '_> {
    /// Statements that put a value into `place`, whose bytes are all zero.
    pub fn assign(&self, declared: &Type, value: &Value, place: &str, text: &mut Text) {
        let resolved = self.c.resolved(declared);
        match (value, resolved) {
            (Value::Absent, _) => {}
            (Value::Items { part, count }, Type::Array { .. }) => {
                self.assign_items(resolved, (part, *count), &format!("{place}._at"), text);
            }
            (Value::Items { part, count }, _) => {
                self.room(place, *count, text);
                self.assign_items(resolved, (part, *count), &format!("{place}._buffer"), text);
            }
            (Value::Pairs(pairs), Type::Map { key, value, .. }) => {
                self.room(place, pairs.len() as u32, text);
                for (index, (one, item)) in pairs.iter().enumerate() {
                    self.assign(key, one, &format!("{place}._buffer[{index}].key"), text);
                    self.assign(value, item, &format!("{place}._buffer[{index}].value"), text);
                }
            }
            (Value::Fields(_), Type::Named(id)) => self.assign_fields(*id, value, place, text),
            (Value::Case { discriminator, case, value }, Type::Named(id)) => {
                let Kind::Union(union) = &self.c.model.declaration(*id).kind else { return };
                let selected = self.scalar(&union.discriminator, discriminator);
                text.line(format!("{place}._d = {selected};"));
                if let Some(index) = case {
                    let member = &union.cases[*index as usize].member;
                    let name = &self.c.case_names(union)[*index as usize];
                    let is_boxed = self.c.boxed(*id)[*index as usize];
                    let place = format!("{place}._u.{name}");
                    self.assign_member(member, is_boxed, value, &place, text);
                }
            }
            _ => text.line(format!("{place} = {};", self.scalar(declared, value))),
        }
    }

    /// Memory for items, if there are any.
    fn room(&self, place: &str, count: u32, text: &mut Text) {
        if count > 0 {
            text.line(format!("{place}._length = {count};"));
            text.line(format!("{place}._buffer = nc_memory({count} * sizeof *{place}._buffer);"));
        }
    }

    /// Items of a sequence, or of one dimension of an array, at `place[i]`.
    fn assign_items(
        &self,
        resolved: &Type,
        (part, count): (&[Value], u32),
        place: &str,
        text: &mut Text,
    ) {
        let Some(element) = element(resolved) else { return };
        let is_inner = matches!(resolved, Type::Array { dimensions, .. } if dimensions.len() > 1);
        let one = |value: &Value, place: &str, text: &mut Text| match value {
            Value::Items { part, count } if is_inner => {
                self.assign_items(&element, (part, *count), place, text);
            }
            value => self.assign(&element, value, place, text),
        };
        if part.len() == count as usize {
            for (index, value) in part.iter().enumerate() {
                one(value, &format!("{place}[{index}]"), text);
            }
            return;
        }
        // Deeper ones have longer places.
        let counter = format!("nc_i{}", place.len());
        text.open(format!("for (uint32_t {counter} = 0; {counter} < {count}; {counter}++) {{"));
        text.line(format!("switch ({counter} % {}) {{", part.len()));
        for (index, value) in part.iter().enumerate() {
            text.open(format!("case {index}:"));
            one(value, &format!("{place}[{counter}]"), text);
            text.line("break;");
            text.end();
        }
        text.line("}");
        text.close("}");
    }

    /// Members of a struct or an exception.
    pub fn assign_fields(&self, id: DeclarationId, value: &Value, place: &str, text: &mut Text) {
        let Value::Fields(values) = value else { return };
        let all = members(self.c.model, id).into_iter().zip(self.c.member_names(id));
        for (((member, name), is_boxed), value) in all.zip(self.c.boxed(id)).zip(values) {
            self.assign_member(member, is_boxed, value, &format!("{place}.{name}"), text);
        }
    }

    fn assign_member(
        &self,
        member: &Member,
        is_boxed: bool,
        value: &Value,
        place: &str,
        text: &mut Text,
    ) {
        if *value == Value::Absent {
            return;
        }
        match member.is_optional || is_boxed {
            true => {
                text.line(format!("{place} = nc_memory(sizeof *{place});"));
                self.assign(&member.declared, value, &format!("(*{place})"), text);
            }
            false => self.assign(&member.declared, value, place, text),
        }
    }

    /// A value that is one expression.
    fn scalar(&self, declared: &Type, value: &Value) -> String {
        match value {
            Value::Boolean(value) => value.to_string(),
            Value::Integer(value) => signed(*value),
            Value::Char(value) => format!("(char){value}"),
            Value::WideChar(value) => u32::from(*value).to_string(),
            Value::Float(bits) => format!("nc_float(0x{bits:08x}u)"),
            Value::Double(bits) => format!("nc_double(UINT64_C(0x{bits:016x}))"),
            Value::LongDouble(bytes) => {
                let (low, high) = bytes.split_at(8);
                let word = |bytes: &[u8]| {
                    bytes.iter().rev().fold(0u64, |word, byte| word << 8 | u64::from(*byte))
                };
                let (low, high) = (word(low), word(high));
                format!("nc_long_double(UINT64_C(0x{low:016x}), UINT64_C(0x{high:016x}))")
            }
            Value::Text { part, times } => format!("nc_text({}, {times})", quoted(part)),
            Value::Enumerator(index) => match self.c.resolved(declared) {
                Type::Named(id) => self.c.names.enumerator(*id, *index).to_owned(),
                _ => String::new(),
            },
            Value::Unopened => String::from("-1"),
            Value::Opened { kind, text, .. } => {
                format!("nc_opened(NC_{}, {})", kind.word(), quoted(text))
            }
            Value::Bits(bits) => {
                format!("({})UINT64_C({bits})", self.c.type_name(declared))
            }
            _ => String::new(),
        }
    }
}
