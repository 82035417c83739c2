//! Constants: of their types, which C's macros are not where a type is the wrappers' own.

use crate::back::c::text::Text;
use crate::back::c::types::{quoted, signed};
use crate::back::cpp::Cpp;
use crate::model::{Constant, DeclarationId, Enumerator, Kind, Primitive, Type, Value};

impl Cpp<'_, '_> {
    /// C's macros go before anything else is said: they would be their names in every scope, those
    /// of what is declared here and of the library.
    pub fn undefine_constants(&self, text: &mut Text) {
        let declared = self.c.ids().zip(&self.c.model.declarations);
        let constants = declared.filter(|(_, one)| matches!(one.kind, Kind::Constant(_)));
        let names: Vec<&str> = constants.map(|(id, _)| self.c.names.declaration(id)).collect();
        if names.is_empty() {
            return;
        }
        text.lines(names.iter().map(|name| format!("#undef {name}")));
        text.line("");
    }

    /// A constant beside the types.
    pub fn print_constant(&self, id: DeclarationId, constant: &Constant, text: &mut Text) {
        self.open_space(id, "HAS", text);
        let (_, name) = self.place(id);
        text.doc(&self.c.model.declaration(id).doc);
        let value = self.value(&constant.value);
        let declared = self.type_name(&constant.declared);
        text.line(match self.c.resolved(&constant.declared) {
            Type::String { .. } | Type::WideString { .. } => {
                format!("inline constexpr char {name}[] = {value};")
            }
            // Carried and not interpreted: as a double, which its reader may convert.
            Type::Primitive(Primitive::LongDouble) => {
                format!("inline constexpr double {name} = {value};")
            }
            Type::Primitive(Primitive::Char | Primitive::Float) => {
                format!("inline constexpr {declared} {name} = static_cast<{declared}>({value});")
            }
            _ => format!("inline constexpr {declared} {name} = {value};"),
        });
        self.close_space(text);
    }

    /// What an enumerator is called in its enum.
    pub fn enumerator(&self, one: &Enumerator) -> String {
        self.c.names.plain(&one.name)
    }

    fn value(&self, value: &Value) -> String {
        match value {
            Value::Boolean(value) => value.to_string(),
            Value::Integer(value) => signed(*value),
            Value::Float(value) => format!("{value:?}"),
            Value::Char(value) => (*value as u32).to_string(),
            Value::String(value) => quoted(value),
            Value::Enumerator(id, index) => match &self.c.model.declaration(*id).kind {
                Kind::Enum(shape) => {
                    let one = &shape.enumerators[*index as usize];
                    format!("{}::{}", self.path(*id), self.enumerator(one))
                }
                _ => String::new(),
            },
        }
    }
}
