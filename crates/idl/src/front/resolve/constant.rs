//! Constant expressions: their values (clause 7.4.1.4.3).
//!
//! An expression is computed for a place that wants a kind of value. Integers of up to 32 bits are
//! computed in -2^31 to 2^32-1, longer ones in -2^63 to 2^64-1; a part outside is an overflow, so
//! that no compiler's arithmetic shows. The result then has to be in the range of its type.

use super::Resolver;
use super::scope::{SymbolId, SymbolKind};
use crate::diagnostic::Diagnostic;
use crate::front::ast::{Binary, Expression, ExpressionKind, ScopedName, Unary};
use crate::front::dialect::Dialect;
use crate::front::rules::semantics as rules;
use crate::model::{DeclarationId, Kind, Primitive, Type, Value};
use crate::source::Span;

/// What a place wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// An integer or octet of this type.
    Integer(Primitive),
    /// A float or double.
    Float(Primitive),
    Boolean,
    Char,
    WideChar,
    String {
        bound: Option<u32>,
    },
    WideString {
        bound: Option<u32>,
    },
    Enum(SymbolId),
    /// Whatever it is.
    Any,
}

impl Wanted {
    /// With its article, for messages.
    pub fn what(self) -> &'static str {
        match self {
            Wanted::Integer(_) => "an integer",
            Wanted::Float(_) => "a floating-point number",
            Wanted::Boolean => "TRUE or FALSE",
            Wanted::Char => "a character",
            Wanted::WideChar => "a wide character",
            Wanted::String { .. } => "a string",
            Wanted::WideString { .. } => "a wide string",
            Wanted::Enum(_) => "an enumerator",
            Wanted::Any => "a value",
        }
    }

    /// A constant of the one kind may stand where the other is wanted.
    fn takes(self, given: Wanted) -> bool {
        match (self, given) {
            (Wanted::Any, _) | (_, Wanted::Any) => true,
            (Wanted::Enum(one), Wanted::Enum(other)) => one == other,
            (one, other) => std::mem::discriminant(&one) == std::mem::discriminant(&other),
        }
    }

    /// What the parts of an integer expression have to fit in.
    fn computed_in(self) -> (i128, i128) {
        use Primitive::{Int64, Uint64};
        match self {
            Wanted::Integer(Int64 | Uint64) | Wanted::Any => {
                (i128::from(i64::MIN), i128::from(u64::MAX))
            }
            _ => (i128::from(i32::MIN), i128::from(u32::MAX)),
        }
    }
}

/// Least and greatest value of an integer type; `None` for what is none.
pub(super) fn integer_range(primitive: Primitive) -> Option<(i128, i128)> {
    let (is_signed, bits) = match primitive {
        Primitive::Int8 => (true, 8),
        Primitive::Octet | Primitive::Uint8 => (false, 8),
        Primitive::Int16 => (true, 16),
        Primitive::Uint16 => (false, 16),
        Primitive::Int32 => (true, 32),
        Primitive::Uint32 => (false, 32),
        Primitive::Int64 => (true, 64),
        Primitive::Uint64 => (false, 64),
        _ => return None,
    };
    let span = 1i128 << bits;
    Some(if is_signed { (-(span / 2), span / 2 - 1) } else { (0, span - 1) })
}

impl Resolver {
    /// What values of a type are; `None` if it has no constants.
    pub(super) fn wanted(&self, declared: &Type) -> Option<Wanted> {
        let mut declared = declared;
        loop {
            return Some(match declared {
                Type::Primitive(Primitive::Boolean) => Wanted::Boolean,
                Type::Primitive(Primitive::Char) => Wanted::Char,
                Type::Primitive(Primitive::WideChar) => Wanted::WideChar,
                Type::Primitive(
                    primitive @ (Primitive::Float | Primitive::Double | Primitive::LongDouble),
                ) => Wanted::Float(*primitive),
                Type::Primitive(primitive) => Wanted::Integer(*primitive),
                Type::String { bound } => Wanted::String { bound: *bound },
                Type::WideString { bound } => Wanted::WideString { bound: *bound },
                Type::Named(id) => match self.kind(*id)? {
                    Kind::Alias(behind) => {
                        declared = behind;
                        continue;
                    }
                    Kind::Enum(_) => Wanted::Enum(SymbolId(id.0)),
                    _ => return None,
                },
                _ => return None,
            });
        }
    }

    /// The value of an expression, in the range of what is wanted.
    pub(super) fn evaluate(&mut self, expression: &Expression, wanted: Wanted) -> Option<Value> {
        let value = self.compute(expression, wanted)?;
        self.check_range(&value, wanted, expression.span).then_some(value)
    }

    /// A bound or a dimension: an integer from 1 to 2^32-1.
    pub(super) fn positive(&mut self, expression: &Expression) -> Option<u32> {
        let value = self.compute(expression, Wanted::Integer(Primitive::Uint64))?;
        let Value::Integer(value) = value else {
            return None;
        };
        match u32::try_from(value) {
            Ok(bound) if bound > 0 => Some(bound),
            _ => {
                let message = format!("{value} is not from 1 to {}", u32::MAX);
                self.diagnostics.push(Diagnostic::new(&rules::BOUND, expression.span, message));
                None
            }
        }
    }

    fn check_range(&mut self, value: &Value, wanted: Wanted, span: Span) -> bool {
        let (rule, message) = match (value, wanted) {
            (Value::Integer(value), Wanted::Integer(primitive)) => {
                let Some((least, greatest)) = integer_range(primitive) else {
                    return true;
                };
                if (least..=greatest).contains(value) {
                    return true;
                }
                let name = primitive.spelled();
                let message =
                    format!("{value} is not in the range of `{name}`, {least} to {greatest}");
                (&rules::OUT_OF_RANGE, message)
            }
            (Value::Float(value), Wanted::Float(primitive)) => {
                let greatest = match primitive {
                    Primitive::Float => f64::from(f32::MAX),
                    _ => f64::MAX,
                };
                if value.abs() <= greatest {
                    return true;
                }
                let name = primitive.spelled();
                let message = format!("{value:e} is not in the range of `{name}`, {greatest:e}");
                (&rules::OUT_OF_RANGE, message)
            }
            (Value::String(text), Wanted::String { bound: Some(bound) }) => {
                if text.len() as u64 <= u64::from(bound) {
                    return true;
                }
                let message = format!("this string has {} bytes, its bound is {bound}", text.len());
                (&rules::TOO_LONG, message)
            }
            (Value::String(text), Wanted::WideString { bound: Some(bound) }) => {
                let count = text.chars().count();
                if count as u64 <= u64::from(bound) {
                    return true;
                }
                let message = format!("this string has {count} characters, its bound is {bound}");
                (&rules::TOO_LONG, message)
            }
            _ => return true,
        };
        self.diagnostics.push(Diagnostic::new(rule, span, message));
        false
    }

    fn compute(&mut self, expression: &Expression, wanted: Wanted) -> Option<Value> {
        let span = expression.span;
        let (given, value) = match &expression.kind {
            ExpressionKind::Integer(value) => match wanted {
                // A whole number is a float where one is wanted, as everyone writes it.
                Wanted::Float(_) => (wanted, Value::Float(*value as f64)),
                _ => (Wanted::Integer(Primitive::Uint64), Value::Integer(i128::from(*value))),
            },
            ExpressionKind::Float(value) => {
                (Wanted::Float(Primitive::Double), Value::Float(*value))
            }
            ExpressionKind::Char(value) => (Wanted::Char, Value::Char(*value)),
            ExpressionKind::WideChar(value) => (Wanted::WideChar, Value::Char(*value)),
            ExpressionKind::String(text) => {
                (Wanted::String { bound: None }, Value::String(text.to_string()))
            }
            ExpressionKind::WideString(text) => {
                (Wanted::WideString { bound: None }, Value::String(text.to_string()))
            }
            ExpressionKind::Boolean(value) => (Wanted::Boolean, Value::Boolean(*value)),
            ExpressionKind::Name(name) => self.named_value(name)?,
            ExpressionKind::Unary(operator, operand) => {
                return self.unary(*operator, operand, wanted, span);
            }
            ExpressionKind::Binary(operator, left, right) => {
                return self.binary(*operator, left, right, wanted, span);
            }
            ExpressionKind::Outside => return None,
        };
        if wanted.takes(given) {
            return Some(value);
        }
        if let (Dialect::Midl, Wanted::Integer(_), Value::Enumerator(of, place)) =
            (self.dialect, wanted, &value)
        {
            return self.number_of(*of, *place).map(Value::Integer);
        }
        let message = match (wanted, given) {
            (Wanted::Enum(one), Wanted::Enum(other)) => {
                let [one, other] = [one, other].map(|id| &self.symbol(id).name.text);
                format!("expected an enumerator of `{one}`, found one of `{other}`")
            }
            _ => format!("expected {}, found {}", wanted.what(), given.what()),
        };
        self.diagnostics.push(Diagnostic::new(&rules::MISMATCH, span, message));
        None
    }

    /// In C an enumerator is a number, also in the enum that declares it.
    fn number_of(&self, of: DeclarationId, place: u32) -> Option<i128> {
        match (&self.opening, self.kind(of)) {
            (_, Some(Kind::Enum(declared))) => {
                Some(i128::from(declared.enumerators.get(place as usize)?.value))
            }
            (Some((open, values)), _) if open.declaration() == of => {
                values.get(place as usize).copied()
            }
            _ => None,
        }
    }

    fn named_value(&mut self, name: &ScopedName) -> Option<(Wanted, Value)> {
        let id = self.lookup(name)?;
        let symbol = self.symbol(id);
        match symbol.kind {
            SymbolKind::Constant => {
                let Kind::Constant(constant) = self.kind(DeclarationId(id.0))? else {
                    return None;
                };
                let (value, declared) = (constant.value.clone(), constant.declared.clone());
                Some((self.wanted(&declared)?, value))
            }
            SymbolKind::Enumerator { of, place } => {
                Some((Wanted::Enum(of), Value::Enumerator(of.declaration(), place)))
            }
            SymbolKind::Outside => None,
            kind => {
                let message = format!("`{name}` is {}, not a constant", kind.what());
                let finding = Diagnostic::new(&rules::NOT_A_CONSTANT, name.span(), message)
                    .label(symbol.name.span, "declared here");
                self.diagnostics.push(finding);
                None
            }
        }
    }

    fn unary(
        &mut self,
        operator: Unary,
        operand: &Expression,
        wanted: Wanted,
        span: Span,
    ) -> Option<Value> {
        let value = self.compute(operand, wanted)?;
        match (operator, value) {
            (Unary::Minus, Value::Integer(value)) => self.computed(-value, wanted, span),
            (Unary::Plus, Value::Integer(value)) => self.computed(value, wanted, span),
            (Unary::Complement, Value::Integer(value)) => {
                self.computed(complement(value, wanted), wanted, span)
            }
            (Unary::Minus, Value::Float(value)) => Some(Value::Float(-value)),
            (Unary::Plus, Value::Float(value)) => Some(Value::Float(value)),
            (Unary::Complement, _) => self.no_operator("~", span),
            (Unary::Minus, _) => self.no_operator("-", span),
            (Unary::Plus, _) => self.no_operator("+", span),
        }
    }

    fn no_operator(&mut self, sign: &str, span: Span) -> Option<Value> {
        let message = format!("`{sign}` is not defined for this kind of value");
        self.diagnostics.push(Diagnostic::new(&rules::OPERATOR, span, message));
        None
    }

    fn binary(
        &mut self,
        operator: Binary,
        left: &Expression,
        right: &Expression,
        wanted: Wanted,
        span: Span,
    ) -> Option<Value> {
        let spans = (left.span, right.span);
        let (left, right) = (self.compute(left, wanted), self.compute(right, wanted));
        match (left?, right?) {
            (Value::Integer(left), Value::Integer(right)) => {
                self.computed(left, wanted, spans.0)?;
                self.computed(right, wanted, spans.1)?;
                let value = self.integers(operator, (left, right), spans.1)?;
                self.computed(value, wanted, span)
            }
            (Value::Float(left), Value::Float(right)) => {
                self.floats(operator, (left, right), (spans.1, span))
            }
            _ => self.no_operator(operator.sign(), span),
        }
    }

    fn integers(&mut self, operator: Binary, of: (i128, i128), right: Span) -> Option<i128> {
        let (a, b) = of;
        Some(match operator {
            Binary::Or => a | b,
            Binary::Xor => a ^ b,
            Binary::And => a & b,
            Binary::Add => a + b,
            Binary::Subtract => a - b,
            // Two parts of 64 bits give at most 2^128, one more than fits; either is an overflow.
            Binary::Multiply => a.saturating_mul(b),
            Binary::ShiftLeft => a << self.shift(b, right)?,
            Binary::ShiftRight => a >> self.shift(b, right)?,
            Binary::Divide | Binary::Remainder => {
                if b == 0 {
                    return self.division_by_zero(right);
                }
                if operator == Binary::Divide { a / b } else { a % b }
            }
        })
    }

    fn shift(&mut self, by: i128, span: Span) -> Option<u32> {
        if (0..64).contains(&by) {
            return Some(by as u32);
        }
        let message = format!("a shift by {by} is not one by 0 to 63");
        self.diagnostics.push(Diagnostic::new(&rules::SHIFT, span, message));
        None
    }

    fn division_by_zero<T>(&mut self, span: Span) -> Option<T> {
        self.diagnostics.push(Diagnostic::new(&rules::DIVISION, span, "this divisor is zero"));
        None
    }

    fn floats(&mut self, operator: Binary, of: (f64, f64), at: (Span, Span)) -> Option<Value> {
        let (a, b) = of;
        let value = match operator {
            Binary::Add => a + b,
            Binary::Subtract => a - b,
            Binary::Multiply => a * b,
            Binary::Divide if b == 0.0 => return self.division_by_zero(at.0),
            Binary::Divide => a / b,
            _ => return self.no_operator(operator.sign(), at.1),
        };
        if value.is_finite() {
            return Some(Value::Float(value));
        }
        let message = "the result is not in the range of `double`";
        self.diagnostics.push(Diagnostic::new(&rules::OVERFLOW, at.1, message));
        None
    }

    /// A part of an expression, if it is in the range that the expression is computed in.
    fn computed(&mut self, value: i128, wanted: Wanted, span: Span) -> Option<Value> {
        let (least, greatest) = wanted.computed_in();
        if (least..=greatest).contains(&value) {
            return Some(Value::Integer(value));
        }
        let message =
            format!("{value} is not from {least} to {greatest}, where this expression is computed");
        let finding = Diagnostic::new(&rules::OVERFLOW, span, message);
        self.diagnostics.push(finding);
        None
    }
}

/// All bits of the wanted type turned over. Of signed types this is the negative less one.
fn complement(value: i128, wanted: Wanted) -> i128 {
    match wanted {
        Wanted::Integer(primitive) => match integer_range(primitive) {
            Some((0, greatest)) if value >= 0 => greatest - value,
            _ => -value - 1,
        },
        _ => -value - 1,
    }
}
