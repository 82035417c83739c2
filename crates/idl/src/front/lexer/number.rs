//! What a number is worth (clauses 7.2.6.1, 7.2.6.4 and 7.2.6.5).

use std::rc::Rc;

use crate::diagnostic::Rule;
use crate::front::findings::quoted;
use crate::front::rules::lexical;

/// A literal that begins with a digit, or a point and a digit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Number {
    Integer(u64),
    Float(f64),
    Fixed(Rc<str>),
}

/// Why a text is no number: the rule, and what to say. Then the way out, if it is known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NoNumber {
    pub rule: &'static Rule,
    pub message: String,
    pub help: Option<&'static str>,
}

const FIXED_DIGITS_MAX: usize = 31;

/// Reads a number.
pub(crate) fn read(text: &str) -> Result<Number, NoNumber> {
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return hexadecimal(text, digits);
    }
    let parts = Parts::of(text);
    if parts.exponent == Some("") {
        let message = format!("the exponent of {} has no digits", quoted(text));
        return Err(no_number(&lexical::EXPONENT_DIGITS, message, None));
    }
    let is_float = parts.fraction.is_some() || parts.exponent.is_some();
    match parts.rest {
        "" if is_float => float(text),
        "" => integer(text),
        "d" | "D" if parts.exponent.is_none() => fixed(text, &parts),
        suffix => Err(malformed(text, suffix)),
    }
}

/// A decimal number, cut where its parts meet.
struct Parts<'t> {
    whole: &'t str,
    fraction: Option<&'t str>,
    /// Its digits, without the sign.
    exponent: Option<&'t str>,
    rest: &'t str,
}

impl Parts<'_> {
    fn of(text: &str) -> Parts<'_> {
        let (whole, mut rest) = digits(text);
        let mut fraction = None;
        if let Some(after_point) = rest.strip_prefix('.') {
            let (digits, after) = digits(after_point);
            (fraction, rest) = (Some(digits), after);
        }
        let mut exponent = None;
        if let Some(after_letter) = rest.strip_prefix(['e', 'E']) {
            let unsigned = after_letter.strip_prefix(['+', '-']).unwrap_or(after_letter);
            let (digits, after) = digits(unsigned);
            (exponent, rest) = (Some(digits), after);
        }
        Parts { whole, fraction, exponent, rest }
    }
}

fn digits(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(end)
}

fn hexadecimal(text: &str, digits: &str) -> Result<Number, NoNumber> {
    let end = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
    if end == 0 {
        let message = format!("{} has no hexadecimal digit", quoted(text));
        return Err(no_number(&lexical::HEXADECIMAL_DIGITS, message, None));
    }
    if end < digits.len() {
        return Err(malformed(text, &digits[end..]));
    }
    in_range(text, digits, 16)
}

fn integer(text: &str) -> Result<Number, NoNumber> {
    let Some(octal) = text.strip_prefix('0').filter(|digits| !digits.is_empty()) else {
        return in_range(text, text, 10);
    };
    if let Some(digit) = octal.chars().find(|digit| matches!(digit, '8' | '9')) {
        let message = format!("the digit `{digit}` in the octal number {}", quoted(text));
        let help = "a decimal number does not begin with `0`";
        return Err(no_number(&lexical::OCTAL_DIGIT, message, Some(help)));
    }
    in_range(text, octal, 8)
}

fn in_range(text: &str, digits: &str, radix: u32) -> Result<Number, NoNumber> {
    u64::from_str_radix(digits, radix).map(Number::Integer).map_err(|_| {
        let message = format!("{} is larger than {}", quoted(text), u64::MAX);
        no_number(&lexical::INTEGER_RANGE, message, None)
    })
}

fn float(text: &str) -> Result<Number, NoNumber> {
    let value: f64 = text.parse().map_err(|_| malformed(text, text))?;
    if value.is_finite() {
        return Ok(Number::Float(value));
    }
    let message = format!("{} is larger than {:e}, the largest double", quoted(text), f64::MAX);
    Err(no_number(&lexical::FLOAT_RANGE, message, None))
}

fn fixed(text: &str, parts: &Parts) -> Result<Number, NoNumber> {
    let whole = parts.whole.trim_start_matches('0');
    let count = whole.len() + parts.fraction.unwrap_or("").len();
    if count <= FIXED_DIGITS_MAX {
        return Ok(Number::Fixed(text.into()));
    }
    let message = format!("{} has {count} digits; at most {FIXED_DIGITS_MAX}", quoted(text));
    Err(no_number(&lexical::FIXED_DIGITS, message, None))
}

fn malformed(text: &str, suffix: &str) -> NoNumber {
    let is_of_c = !suffix.is_empty() && suffix.chars().all(|c| "uUlLfF".contains(c));
    let help = is_of_c.then_some("a number has no suffix; the type of the constant decides");
    let message = format!("{} after the digits of {}", quoted(suffix), quoted(text));
    no_number(&lexical::MALFORMED_NUMBER, message, help)
}

fn no_number(rule: &'static Rule, message: String, help: Option<&'static str>) -> NoNumber {
    NoNumber { rule, message, help }
}
