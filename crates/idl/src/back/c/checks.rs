//! Limits inside of values: loops that look at everything they are about.

use crate::back::allowed;
use crate::back::c::C;
use crate::back::c::text::Text;
use crate::back::c::types::quoted;
use crate::layout::Range;
use crate::model::{Kind, Primitive, Type, Value};
use crate::plan::{Count, Hop, Limit, LimitCheck};

/// What is said of a value beyond a limit.
pub enum Beyond {
    /// There are more than there may be.
    Bound {
        /// How many, an expression.
        count: String,
        /// How many there may be.
        limit: u32,
    },
    /// It is a number or a character that its place has not.
    Outside(Outside),
}

/// A number or a character that its type or its place has not.
pub struct Outside {
    /// What kind of number, as the header's list of breaches ends.
    pub kind: &'static str,
    /// Its bits, an expression.
    pub bits: String,
    /// What it may be, in words.
    pub allowed: String,
}

/// Says what is wrong and leaves.
pub type Leave<'l> = &'l dyn Fn(&Beyond) -> Vec<String>;

impl Beyond {
    /// A value of our own, as `nearcall_breach`.
    pub fn breach(&self, name: &str) -> String {
        match self {
            Beyond::Bound { count, limit } => {
                format!("nearcall_over({}, NEARCALL_BREACH_BOUND, {count}, {limit}u)", quoted(name))
            }
            Beyond::Outside(outside) => outside.breach(name),
        }
    }

    /// One that a peer sent: what kind of wrong, what was claimed, and the limit.
    pub fn malformed(&self) -> String {
        match self {
            Beyond::Bound { count, limit } => {
                format!("NEARCALL_MALFORMED_BOUND, {count}, {limit}u")
            }
            Beyond::Outside(Outside { bits, .. }) => format!("NEARCALL_MALFORMED_RANGE, {bits}, 0"),
        }
    }
}

impl Outside {
    /// A value of our own, as `nearcall_breach`.
    pub fn breach(&self, name: &str) -> String {
        let Outside { kind, bits, allowed } = self;
        let (name, allowed) = (quoted(name), quoted(allowed));
        format!("nearcall_outside({name}, NEARCALL_BREACH_{kind}, {bits}, {allowed})")
    }
}

impl C<'_> {
    /// Judges `value`, an expression, by every check.
    pub fn print_checks(
        &self,
        checks: &[LimitCheck],
        declared: &Type,
        value: &str,
        leave: Leave<'_>,
        text: &mut Text,
    ) {
        for check in checks {
            self.print_check(&check.hops, &check.limit, (declared, value), leave, text);
        }
    }

    fn print_check(
        &self,
        hops: &[Hop],
        limit: &Limit,
        (declared, value): (&Type, &str),
        leave: Leave<'_>,
        text: &mut Text,
    ) {
        let Some((hop, rest)) = hops.split_first() else {
            return self.print_limit(limit, declared, value, leave, text);
        };
        let index = format!("nc_i{}", hops.len());
        let loop_over =
            format!("for (uint32_t {index} = 0; {index} < {value}._length; {index}++) {{");
        match (hop, self.resolved(declared)) {
            (Hop::Present, _) => {
                text.open(format!("if ({value} != NULL) {{"));
                let value = format!("(*{value})");
                self.print_check(rest, limit, (declared, &value), leave, text);
                text.close("}");
            }
            (_, Type::Array { element, dimensions }) => {
                let mut item = format!("{value}._at");
                for (many, depth) in dimensions.iter().zip(0..) {
                    let index = format!("{index}_{depth}");
                    text.open(format!(
                        "for (uint32_t {index} = 0; {index} < {many}u; {index}++) {{"
                    ));
                    item += &format!("[{index}]");
                }
                let rest = hops.get(dimensions.len()..).unwrap_or_default();
                self.print_check(rest, limit, (element, &item), leave, text);
                dimensions.iter().for_each(|_| text.close("}"));
            }
            (_, Type::Sequence { element, .. }) => {
                text.open(loop_over);
                let item = format!("{value}._buffer[{index}]");
                self.print_check(rest, limit, (element, &item), leave, text);
                text.close("}");
            }
            (hop, Type::Map { key, value: held, .. }) => {
                text.open(loop_over);
                let (part, declared) = match hop {
                    Hop::Keys => ("key", key),
                    _ => ("value", held),
                };
                let item = format!("{value}._buffer[{index}].{part}");
                self.print_check(rest, limit, (declared, &item), leave, text);
                text.close("}");
            }
            // A hop fits the type that it goes through.
            _ => {}
        }
    }

    fn print_limit(
        &self,
        limit: &Limit,
        declared: &Type,
        value: &str,
        leave: Leave<'_>,
        text: &mut Text,
    ) {
        let (condition, beyond) = match limit {
            Limit::AtMost { count, limit } => {
                let counted = counted(*count, value);
                let count = format!("(uint64_t){counted}");
                (format!("{counted} > {limit}u"), Beyond::Bound { count, limit: *limit })
            }
            Limit::Within(range) => {
                let allowed = allowed::within(self.model, range);
                let beyond = Beyond::Outside(self.outside(declared, value, allowed));
                (self.is_outside(range, declared, value), beyond)
            }
        };
        text.open(format!("if ({condition}) {{"));
        text.lines(leave(&beyond));
        text.close("}");
    }

    /// Whether a value is outside of a range; what is no number at all is.
    fn is_outside(&self, range: &Range, declared: &Type, value: &str) -> String {
        let value = match self.resolved(declared) {
            Type::Primitive(Primitive::Char) => format!("(uint8_t){value}"),
            Type::Named(_) => format!("(int64_t){value}"),
            _ => value.to_owned(),
        };
        let end = |end: &Value| match end {
            Value::Char(char) => format!("{}u", *char as u32),
            Value::Enumerator(id, index) => match &self.model.declaration(*id).kind {
                Kind::Enum(shape) => shape.enumerators[*index as usize].value.to_string(),
                _ => index.to_string(),
            },
            end => self.value(&range.of, end),
        };
        let least = range.least.iter().map(|least| format!("{value} >= {}", end(least)));
        let greatest = range.greatest.iter().map(|most| format!("{value} <= {}", end(most)));
        let both: Vec<String> = least.chain(greatest).collect();
        format!("!({})", both.join(" && "))
    }

    /// A scalar as an error tells it.
    pub fn outside(&self, declared: &Type, value: &str, allowed: String) -> Outside {
        let word = format!("(uint64_t){value}");
        let (kind, bits) = match self.resolved(declared) {
            Type::Primitive(Primitive::Float) => ("FLOAT", format!("nearcall_bits_f32({value})")),
            Type::Primitive(Primitive::Double) => ("DOUBLE", format!("nearcall_bits_f64({value})")),
            Type::Primitive(Primitive::Char) => {
                ("CHARACTER", format!("(uint64_t)(uint8_t){value}"))
            }
            Type::Primitive(Primitive::WideChar) => ("CHARACTER", word),
            Type::Primitive(
                Primitive::Int8 | Primitive::Int16 | Primitive::Int32 | Primitive::Int64,
            ) => ("SIGNED", word),
            // What is below 0 may be no enumerator, so that the compiler has no sign for it.
            Type::Named(id) if matches!(self.model.declaration(*id).kind, Kind::Enum(_)) => {
                ("SIGNED", format!("(uint64_t)(int32_t){value}"))
            }
            _ => ("UNSIGNED", word),
        };
        Outside { kind, bits, allowed }
    }
}

/// How many there are.
pub fn counted(count: Count, value: &str) -> String {
    match count {
        Count::Bytes => format!("nearcall_text_bytes({value})"),
        Count::Characters => format!("nearcall_characters({value})"),
        Count::Items => format!("{value}._length"),
    }
}
