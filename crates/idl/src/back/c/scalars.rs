//! Words: how each is put, got and judged (L44).

use crate::back::allowed;
use crate::back::c::C;
use crate::back::c::checks::Outside;
use crate::back::c::text::Text;
use crate::back::c::types::primitive_name;
use crate::layout::Scalar;
use crate::model::{DeclarationId, Kind, Primitive, Type};

impl C<'_> {
    /// The function word of a scalar, and the type it is put as.
    fn word_of(&self, scalar: Scalar) -> (&'static str, &'static str) {
        match scalar {
            Scalar::Primitive(Primitive::Float) => ("f32", "float"),
            Scalar::Primitive(Primitive::Double) => ("f64", "double"),
            scalar => match scalar.width() {
                1 => ("u8", "uint8_t"),
                2 => ("u16", "uint16_t"),
                4 => ("u32", "uint32_t"),
                _ => ("u64", "uint64_t"),
            },
        }
    }

    /// Is it a number that C returns in another register than an integer?
    pub fn is_float(&self, scalar: Scalar) -> bool {
        matches!(scalar, Scalar::Primitive(Primitive::Float | Primitive::Double))
    }

    /// Stores a word into private memory.
    pub fn put_word(&self, scalar: Scalar, target: &str, at: u32, value: &str) -> String {
        let (function, word) = self.word_of(scalar);
        format!("nearcall_put_{function}({target}, {at}, ({word}){value});")
    }

    /// Stores a word into the line that crosses.
    pub fn put_brief_word(&self, scalar: Scalar, at: u32, value: &str) -> String {
        let (function, word) = self.word_of(scalar);
        format!("nearcall_brief_put_{function}(&nc_held, {at}, ({word}){value});")
    }

    /// Loads a word from the line that crosses, as it is.
    pub fn got_brief_word(&self, scalar: Scalar, at: u32) -> String {
        let (function, _) = self.word_of(scalar);
        self.signed(scalar, format!("nearcall_brief_get_{function}(&nc_held, {at})"))
    }

    /// Loads a word from private memory, as it is.
    pub fn got_word(&self, scalar: Scalar, source: &str, at: u32) -> String {
        let (function, _) = self.word_of(scalar);
        self.signed(scalar, format!("nearcall_get_{function}({source}, {at})"))
    }

    fn signed(&self, scalar: Scalar, got: String) -> String {
        match scalar {
            Scalar::Enum { id, width } if self.is_signed(id) => {
                format!("(int{}_t){got}", u32::from(width) * 8)
            }
            _ => got,
        }
    }

    /// A word as a value of its type.
    pub fn of_word(&self, scalar: Scalar, word: &str) -> String {
        match scalar {
            Scalar::Primitive(Primitive::Boolean) => format!("{word} == 1"),
            Scalar::Primitive(primitive) => format!("({}){word}", primitive_name(primitive)),
            Scalar::Enum { id, .. } if self.model.may_grow(id) => {
                format!("nearcall_known_{}((int64_t){word})", self.names.declaration(id))
            }
            Scalar::Enum { id, .. } | Scalar::Bits { id, .. } => {
                format!("({}){word}", self.names.declaration(id))
            }
        }
    }

    /// The type that holds any word of a scalar, for it to be judged.
    pub fn raw_type(&self, scalar: Scalar) -> String {
        match scalar {
            Scalar::Enum { id, width } if self.is_signed(id) => {
                format!("int{}_t", u32::from(width) * 8)
            }
            scalar => self.word_of(scalar).1.to_owned(),
        }
    }

    /// Whether a word is a value of its type, as a condition; `None` if every word is.
    pub fn is_value(&self, scalar: Scalar, word: &str) -> Option<String> {
        match scalar {
            Scalar::Primitive(Primitive::Boolean) => Some(format!("{word} <= 1")),
            Scalar::Primitive(Primitive::WideChar) => {
                Some(format!("nearcall_is_character({word})"))
            }
            Scalar::Primitive(_) => None,
            // What a later version may have has something that stands for it.
            Scalar::Enum { id, .. } if self.model.may_grow(id) => None,
            Scalar::Enum { .. } => self.is_own_value(scalar, word),
            Scalar::Bits { id, width } => {
                let mask = self.mask(id);
                let all = u64::MAX >> (64 - u32::from(width) * 8);
                (mask != all).then(|| format!("((uint64_t){word} & ~UINT64_C({mask})) == 0"))
            }
        }
    }

    /// The same for a value of our own: a boolean has no other.
    pub fn is_own_value(&self, scalar: Scalar, value: &str) -> Option<String> {
        match scalar {
            Scalar::Primitive(Primitive::Boolean) => None,
            Scalar::Enum { id, .. } => {
                Some(format!("nearcall_is_{}((int64_t){value})", self.names.declaration(id)))
            }
            scalar => self.is_value(scalar, value),
        }
    }

    /// What is said of a value of our own that is none of its type.
    pub fn not_of_type(&self, scalar: Scalar, declared: &Type, value: &str) -> Outside {
        let allowed = match scalar {
            Scalar::Enum { id, .. } => allowed::enumerators(self.model, id),
            Scalar::Bits { id, .. } => format!("bits of {:#x}", self.mask(id)),
            Scalar::Primitive(_) => String::from("a character of Unicode"),
        };
        self.outside(declared, value, allowed)
    }

    fn mask(&self, id: DeclarationId) -> u64 {
        match &self.model.declaration(id).kind {
            Kind::Bitmask(shape) => shape.flags.iter().fold(0, |all, (_, at)| all | 1 << at),
            Kind::Bitset(shape) => shape.fields.iter().fold(0, |all, field| {
                all | (u64::MAX >> (64 - u32::from(field.width.clamp(1, 64)))) << field.position
            }),
            _ => u64::MAX,
        }
    }

    fn is_signed(&self, id: DeclarationId) -> bool {
        match &self.model.declaration(id).kind {
            Kind::Enum(shape) => shape.enumerators.iter().any(|one| one.value < 0),
            _ => false,
        }
    }

    /// The functions that judge words of enums.
    pub fn print_judges(&self, text: &mut Text) {
        for id in self.ids() {
            let Kind::Enum(shape) = &self.model.declaration(id).kind else { continue };
            let name = self.names.declaration(id);
            text.open(format!("NEARCALL_INLINE bool nearcall_is_{name}(int64_t word) {{"));
            text.open("switch (word) {");
            for (_, index) in shape.enumerators.iter().zip(0u32..) {
                text.line(format!("case {}:", self.names.enumerator(id, index)));
            }
            text.line("    return true;");
            text.line("default:");
            text.line("    return false;");
            text.close("}");
            text.close("}");
            text.line("");
            if let Some(index) = self.model.stand_in(id) {
                let stands = self.names.enumerator(id, index);
                text.open(format!("NEARCALL_INLINE {name} nearcall_known_{name}(int64_t word) {{"));
                text.line(format!("return nearcall_is_{name}(word) ? ({name})word : {stands};"));
                text.close("}");
                text.line("");
            }
        }
    }

    /// The scalar that a type comes down to, if it does.
    pub fn scalar(&self, declared: &Type) -> Option<Scalar> {
        match crate::layout::shape(self.model, declared) {
            crate::layout::Shape::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }
}
