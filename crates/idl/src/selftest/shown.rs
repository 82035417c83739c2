//! The text of a value, the same in every language. Whoever changes a form changes it in the
//! programs' own half, `back/*/selftest`, too.

use crate::layout::members;
use crate::model::{DeclarationId, Enum, Kind, Member, Model, Type, Union, Value as Label};
use crate::selftest::element;
use crate::selftest::values::Value;

/// A longer text is compared by its beginning, its length and its hash.
pub const SHOWN_BYTES_MAX: usize = 300;

/// How much of a longer text there is to see.
const BEGINNING_BYTES: usize = 100;

/// A value as text, in ASCII: `{name: "a\c3\a9", ages: [1, 2], ratio: 0x3f800000, nick: none}`.
pub fn shown(model: &Model, declared: &Type, value: &Value) -> String {
    let mut text = String::new();
    show(model, declared, value, &mut text);
    text
}

/// The members of a struct or an exception, in braces.
pub fn shown_members(model: &Model, id: DeclarationId, value: &Value) -> String {
    let mut text = String::new();
    show_members(model, id, value, &mut text);
    text
}

/// What a text is compared by: itself if it is short.
pub fn shortened(text: &str) -> String {
    if text.len() <= SHOWN_BYTES_MAX {
        return text.to_owned();
    }
    // FNV-1a: a few lines in every language.
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{}... {} bytes, hash {hash:016x}", &text[..BEGINNING_BYTES], text.len())
}

fn show(model: &Model, declared: &Type, value: &Value, text: &mut String) {
    let resolved = model.resolved(declared);
    match value {
        Value::Absent | Value::Unopened => *text += "none",
        Value::Boolean(value) => *text += if *value { "true" } else { "false" },
        Value::Integer(value) => *text += &value.to_string(),
        Value::Char(value) => *text += &value.to_string(),
        Value::WideChar(value) => *text += &u32::from(*value).to_string(),
        Value::Float(bits) => *text += &format!("0x{bits:08x}"),
        Value::Double(bits) => *text += &format!("0x{bits:016x}"),
        Value::LongDouble(bytes) => {
            *text += "0x";
            bytes.iter().for_each(|byte| *text += &format!("{byte:02x}"));
        }
        Value::Text { .. } => show_text(&value.text(), text),
        Value::Items { part, count } => {
            // The declared type is that of a sequence or an array, whose values these are.
            let Some(element) = element(resolved) else { return };
            let all = part.iter().cycle().take(*count as usize);
            let all = all.map(|item| shown(model, &element, item));
            *text += &format!("[{}]", all.collect::<Vec<_>>().join(", "));
        }
        Value::Pairs(pairs) => {
            let Type::Map { key, value: of, .. } = resolved else { return };
            let all = pairs.iter().map(|(one, item)| {
                format!("{}: {}", shown(model, key, one), shown(model, of, item))
            });
            let mut all: Vec<String> = all.collect();
            // Maps have other orders in other languages.
            all.sort();
            *text += &format!("{{{}}}", all.join(", "));
        }
        Value::Fields(_) => {
            if let Type::Named(id) = resolved {
                show_members(model, *id, value, text);
            }
        }
        Value::Case { discriminator, case, value } => {
            let Some(union) = union(model, resolved) else { return };
            *text += &format!("({}", shown(model, &union.discriminator, discriminator));
            if let Some(index) = case {
                let member = &union.cases[*index as usize].member;
                *text += &format!(": {}", shown(model, &member.declared, value));
            }
            *text += ")";
        }
        Value::Enumerator(index) => {
            let value =
                enumeration(model, resolved).map(|one| one.enumerators[*index as usize].value);
            *text += &value.unwrap_or_default().to_string();
        }
        Value::Bits(bits) => *text += &bits.to_string(),
        Value::Opened { text: within, .. } => show_text(within, text),
    }
}

fn show_members(model: &Model, id: DeclarationId, value: &Value, text: &mut String) {
    let Value::Fields(values) = value else { return };
    let all = members(model, id);
    let all = all.iter().zip(values).map(|(member, value): (&&Member, &Value)| {
        format!("{}: {}", member.name, shown(model, &member.declared, value))
    });
    *text += &format!("{{{}}}", all.collect::<Vec<_>>().join(", "));
}

fn show_text(value: &str, text: &mut String) {
    text.push('"');
    for byte in value.bytes() {
        match byte {
            b' '..=b'~' if byte != b'"' && byte != b'\\' => text.push(byte.into()),
            _ => *text += &format!("\\{byte:02x}"),
        }
    }
    text.push('"');
}

/// The union that a resolved type is.
pub fn union<'m>(model: &'m Model, resolved: &Type) -> Option<&'m Union> {
    match resolved {
        Type::Named(id) => match &model.declaration(*id).kind {
            Kind::Union(union) => Some(union),
            _ => None,
        },
        _ => None,
    }
}

/// The enum that a resolved type is.
pub fn enumeration<'m>(model: &'m Model, resolved: &Type) -> Option<&'m Enum> {
    match resolved {
        Type::Named(id) => match &model.declaration(*id).kind {
            Kind::Enum(shape) => Some(shape),
            _ => None,
        },
        _ => None,
    }
}

/// A label of a union as a value of its discriminator.
pub fn label(value: &Label, resolved: &Type) -> Value {
    match value {
        Label::Boolean(value) => Value::Boolean(*value),
        Label::Integer(value) => Value::Integer(*value),
        Label::Char(letter) => match resolved {
            Type::Primitive(crate::model::Primitive::Char) => Value::Char(u32::from(*letter) as u8),
            _ => Value::WideChar(*letter),
        },
        Label::Enumerator(_, index) => Value::Enumerator(*index),
        // No discriminator is a number with a fraction, or text.
        Label::Float(_) | Label::String(_) => Value::Absent,
    }
}
