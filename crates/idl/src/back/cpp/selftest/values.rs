//! Values as statements that put them where nothing is yet.

use crate::back::c::text::Text;
use crate::back::c::types::{quoted, signed};
use crate::back::cpp::selftest::Programs;
use crate::layout::members;
use crate::model::{DeclarationId, Kind, Member, Type};
use crate::selftest::{Value, element};

impl Programs<'_, '_, '_> {
    /// Statements that put a value into `place`, which holds what an empty one does.
    pub fn assign(&self, declared: &Type, value: &Value, place: &str, text: &mut Text) {
        let resolved = self.cpp.c.resolved(declared);
        match (value, resolved) {
            (Value::Absent, _) => {}
            (Value::Items { part, count }, _) => {
                if matches!(resolved, Type::Sequence { .. }) && *count > 0 {
                    text.line(format!("{place}.resize({count});"));
                }
                self.assign_items(resolved, (part, *count), place, text);
            }
            (Value::Pairs(pairs), Type::Map { key, value, .. }) => {
                for (one, item) in pairs {
                    // Deeper ones have longer places.
                    let own = format!("nc_key{}", place.len());
                    let of = self.cpp.type_name(value);
                    text.open("{");
                    text.line(format!("{} {own}{{}};", self.cpp.type_name(key)));
                    self.assign(key, one, &own, text);
                    text.line(format!("{place}[{own}] = {of}{{}};"));
                    let held = format!("selftest::whole({place}[{own}])");
                    self.assign(value, item, &held, text);
                    text.close("}");
                }
            }
            (Value::Fields(_), Type::Named(id)) => self.assign_fields(*id, value, place, text),
            (Value::Case { discriminator, case, value }, Type::Named(id)) => {
                let Kind::Union(union) = &self.cpp.c.model.declaration(*id).kind else { return };
                let selected = self.scalar(&union.discriminator, discriminator);
                text.line(format!("{place}._d = {selected};"));
                if let Some(index) = case {
                    let (at, index) = (index + 1, *index as usize);
                    let member = (&union.cases[index].member, self.cpp.c.boxed(*id)[index]);
                    text.line(format!("{place}._u.emplace<{at}>();"));
                    self.assign_member(member, value, &format!("std::get<{at}>({place}._u)"), text);
                }
            }
            _ => text.line(format!("{place} = {};", self.scalar(declared, value))),
        }
    }

    fn assign_items(
        &self,
        resolved: &Type,
        (part, count): (&[Value], u32),
        place: &str,
        text: &mut Text,
    ) {
        let Some(element) = element(resolved) else { return };
        if part.len() == count as usize {
            for (index, value) in part.iter().enumerate() {
                self.assign(&element, value, &format!("{place}[{index}]"), text);
            }
            return;
        }
        let counter = format!("nc_i{}", place.len());
        text.open(format!("for (std::size_t {counter} = 0; {counter} < {count}; {counter}++) {{"));
        text.line(format!("switch ({counter} % {}) {{", part.len()));
        for (index, value) in part.iter().enumerate() {
            text.open(format!("case {index}:"));
            self.assign(&element, value, &format!("{place}[{counter}]"), text);
            text.line("break;");
            text.end();
        }
        text.line("}");
        text.close("}");
    }

    /// Members of a struct or an exception.
    pub fn assign_fields(&self, id: DeclarationId, value: &Value, place: &str, text: &mut Text) {
        let Value::Fields(values) = value else { return };
        let all = members(self.cpp.c.model, id).into_iter().zip(self.cpp.c.boxed(id));
        for ((member, name), value) in all.zip(self.cpp.member_names(id)).zip(values) {
            self.assign_member(member, value, &format!("{place}.{name}"), text);
        }
    }

    fn assign_member(
        &self,
        (member, is_boxed): (&Member, bool),
        value: &Value,
        place: &str,
        text: &mut Text,
    ) {
        match (member.is_optional || is_boxed, value) {
            (true, Value::Absent) => {}
            (true, value) => {
                text.line(format!("{place}.emplace();"));
                self.assign(&member.declared, value, &format!("(*{place})"), text);
            }
            (false, value) => self.assign(&member.declared, value, place, text),
        }
    }

    /// A value that is one expression.
    fn scalar(&self, declared: &Type, value: &Value) -> String {
        match value {
            Value::Boolean(value) => value.to_string(),
            Value::Integer(value) => signed(*value),
            Value::Char(value) => format!("static_cast<char>({value})"),
            Value::WideChar(value) => u32::from(*value).to_string(),
            Value::Float(bits) => format!("selftest::float_of(0x{bits:08x}u)"),
            Value::Double(bits) => format!("selftest::double_of(UINT64_C(0x{bits:016x}))"),
            Value::LongDouble(bytes) => {
                let (low, high) = bytes.split_at(8);
                let word = |bytes: &[u8]| {
                    bytes.iter().rev().fold(0u64, |word, byte| word << 8 | u64::from(*byte))
                };
                let (low, high) = (word(low), word(high));
                format!("selftest::long_double_of(UINT64_C(0x{low:016x}), UINT64_C(0x{high:016x}))")
            }
            Value::Text { part, times: 1 } => quoted(part),
            Value::Text { part, times } => {
                format!("selftest::repeated({}, {times})", quoted(part))
            }
            Value::Enumerator(index) => match self.cpp.c.resolved(declared) {
                Type::Named(id) => match &self.cpp.c.model.declaration(*id).kind {
                    Kind::Enum(shape) => {
                        let name = &shape.enumerators[*index as usize].name;
                        let name = self.cpp.c.names.plain(name);
                        format!("{}::{name}", self.cpp.path(*id))
                    }
                    _ => String::new(),
                },
                _ => String::new(),
            },
            Value::Unopened => String::from("std::nullopt"),
            Value::Opened { kind, text, .. } => {
                format!("nearcall::descriptor(nc_opened(NC_{}, {}))", kind.word(), quoted(text))
            }
            Value::Bits(bits) => {
                format!("static_cast<{}>(UINT64_C({bits}))", self.cpp.type_name(declared))
            }
            _ => String::new(),
        }
    }
}
