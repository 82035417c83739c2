//! What the expression after `#if` or `#elif` is worth.
//!
//! Integers of 64 bits, signed unless one of them has a `u` or is too large for that. An
//! identifier that is left after macros have been replaced is 0. What the left operand of `&&`,
//! `||` or `?:` decides is parsed but not evaluated.

use crate::diagnostic::{Diagnostic, Rule};
use crate::front::findings::{Findings, quoted};
use crate::front::lexer::Kind;
use crate::front::lexer::escape;
use crate::front::lexer::number::{self, Number};
use crate::front::rules::preprocessing as rules;
use crate::source::Span;

use super::Preprocessor;
use super::word::Word;

const DEPTH_MAX: usize = 64;

impl Preprocessor<'_> {
    /// Whether the expression is other than 0. One that cannot be read is 0.
    pub(super) fn condition_holds(&mut self, name: &Word, line: &[Word]) -> bool {
        let words = self.expand_condition(line.to_vec());
        if self.is_stopped {
            return false;
        }
        let end = line.last().unwrap_or(name).span;
        let macros = &self.macros;
        let mut reader = Reader {
            words: &words,
            at: 0,
            end,
            depth: 0,
            is_live: true,
            is_defined: &|name| macros.contains_key(name),
            findings: &mut self.findings,
        };
        match reader.whole() {
            Ok(value) => value.bits != 0,
            Err(finding) => {
                self.findings.push(*finding);
                false
            }
        }
    }
}

/// A number as a condition has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Value {
    bits: u64,
    is_unsigned: bool,
}

impl Value {
    const ZERO: Value = Value { bits: 0, is_unsigned: false };

    fn signed(value: i64) -> Value {
        Value { bits: value as u64, is_unsigned: false }
    }
}

struct Reader<'w, 'f, 's> {
    words: &'w [Word],
    at: usize,
    /// The last word of the line, for what is missing after it.
    end: Span,
    depth: usize,
    /// What is read decides; false in an operand that `&&`, `||` or `?:` leaves out.
    is_live: bool,
    is_defined: &'f dyn Fn(&str) -> bool,
    findings: &'f mut Findings<'s>,
}

type Read = Result<Value, Box<Diagnostic>>;

impl Reader<'_, '_, '_> {
    fn whole(&mut self) -> Read {
        let value = self.conditional()?;
        match self.peek() {
            None => Ok(value),
            Some(_) => self.misplaced("an operator"),
        }
    }

    fn conditional(&mut self) -> Read {
        self.deeper(|reader| {
            let condition = reader.binary(1)?;
            if !reader.take("?") {
                return Ok(condition);
            }
            let holds = condition.bits != 0;
            let first = reader.lively(holds, Self::conditional)?;
            if !reader.take(":") {
                return reader.misplaced("`:`");
            }
            let second = reader.lively(!holds, Self::conditional)?;
            let chosen = if holds { first } else { second };
            Ok(Value { is_unsigned: first.is_unsigned || second.is_unsigned, ..chosen })
        })
    }

    fn binary(&mut self, binding_min: u8) -> Read {
        let mut left = self.unary()?;
        while let Some(operator) = self.peek() {
            let Some(binding) = binding(operator).filter(|binding| *binding >= binding_min) else {
                break;
            };
            let operator = operator.clone();
            self.at += 1;
            let matters = match &*operator.text {
                "&&" => left.bits != 0,
                "||" => left.bits == 0,
                _ => true,
            };
            let right = self.lively(matters, |reader| reader.binary(binding + 1))?;
            left = self.apply(&operator, left, right)?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Read {
        self.deeper(|reader| {
            if reader.take("!") {
                return Ok(Value::signed(i64::from(reader.unary()?.bits == 0)));
            }
            if reader.take("-") {
                let value = reader.unary()?;
                return Ok(Value { bits: value.bits.wrapping_neg(), ..value });
            }
            if reader.take("~") {
                let value = reader.unary()?;
                return Ok(Value { bits: !value.bits, ..value });
            }
            if reader.take("+") {
                return reader.unary();
            }
            reader.primary()
        })
    }

    fn primary(&mut self) -> Read {
        if self.take("(") {
            let value = self.conditional()?;
            return if self.take(")") { Ok(value) } else { self.misplaced("`)`") };
        }
        let Some(word) = self.peek().cloned() else {
            return self.misplaced("an operand");
        };
        match word.kind {
            Kind::Number => integer(&word),
            Kind::Char | Kind::WideChar => self.character(&word),
            Kind::Identifier if &*word.text == "defined" => self.defined(),
            Kind::Identifier => Ok(Value::ZERO),
            Kind::String | Kind::WideString => operand(&word, "no integer"),
            Kind::Punctuation | Kind::Stray => return self.misplaced("an operand"),
        }
        .inspect(|_| self.at += 1)
    }

    fn character(&mut self, word: &Word) -> Read {
        let read = escape::read(&word.text, word.site(), self.findings);
        let mut characters = read.text.chars();
        match (characters.next(), characters.next()) {
            (Some(only), None) if read.is_closed => Ok(Value::signed(i64::from(u32::from(only)))),
            _ => operand(word, "no single character"),
        }
    }

    /// `defined NAME` or `defined(NAME)`; leaves the last word to be passed.
    fn defined(&mut self) -> Read {
        self.at += 1;
        let is_enclosed = self.take("(");
        let Some(name) = self.peek().filter(|word| word.is_identifier()).cloned() else {
            return self.misplaced("the name of a macro");
        };
        if is_enclosed {
            self.at += 1;
            if !self.peek().is_some_and(|word| word.is(")")) {
                return self.misplaced("`)`");
            }
        }
        Ok(Value::signed(i64::from((self.is_defined)(&name.text))))
    }

    fn apply(&self, operator: &Word, left: Value, right: Value) -> Read {
        let is_unsigned = left.is_unsigned || right.is_unsigned;
        let (l, r) = (left.bits, right.bits);
        let (signed_l, signed_r) = (l as i64, r as i64);
        let truth = |holds: bool| Ok(Value::signed(i64::from(holds)));
        let number = |bits| Ok(Value { bits, is_unsigned });
        match &*operator.text {
            "&&" => truth(l != 0 && r != 0),
            "||" => truth(l != 0 || r != 0),
            "==" => truth(l == r),
            "!=" => truth(l != r),
            "<" if is_unsigned => truth(l < r),
            "<" => truth(signed_l < signed_r),
            ">" if is_unsigned => truth(l > r),
            ">" => truth(signed_l > signed_r),
            "<=" if is_unsigned => truth(l <= r),
            "<=" => truth(signed_l <= signed_r),
            ">=" if is_unsigned => truth(l >= r),
            ">=" => truth(signed_l >= signed_r),
            "|" => number(l | r),
            "^" => number(l ^ r),
            "&" => number(l & r),
            "+" => number(l.wrapping_add(r)),
            "-" => number(l.wrapping_sub(r)),
            "*" => number(l.wrapping_mul(r)),
            "<<" | ">>" => self.shifted(operator, left, right),
            _ if r == 0 => self.unless_dead(&rules::CONDITION_DIVISION, operator, || {
                format!("`{signed_l} {} 0` divides by zero", operator.text)
            }),
            "/" if is_unsigned => number(l / r),
            "/" => number(signed_l.wrapping_div(signed_r) as u64),
            _ if is_unsigned => number(l % r),
            _ => number(signed_l.wrapping_rem(signed_r) as u64),
        }
    }

    fn shifted(&self, operator: &Word, left: Value, right: Value) -> Read {
        let Some(count) = u32::try_from(right.bits).ok().filter(|count| *count < u64::BITS) else {
            return self.unless_dead(&rules::CONDITION_SHIFT, operator, || {
                let count = right.bits as i64;
                format!("a shift by {count} bits; 0 to 63 are possible")
            });
        };
        let bits = match (&*operator.text, left.is_unsigned) {
            ("<<", _) => left.bits << count,
            (_, true) => left.bits >> count,
            (_, false) => (left.bits as i64 >> count) as u64,
        };
        Ok(Value { bits, ..left })
    }

    /// An error, but not in an operand that is left out.
    fn unless_dead(&self, rule: &'static Rule, at: &Word, say: impl FnOnce() -> String) -> Read {
        match self.is_live {
            true => Err(Box::new(Diagnostic::new(rule, at.span, say()))),
            false => Ok(Value::ZERO),
        }
    }

    /// Reads an operand that matters only if `is_live`.
    fn lively(&mut self, is_live: bool, read: impl FnOnce(&mut Self) -> Read) -> Read {
        let was_live = self.is_live;
        self.is_live = was_live && is_live;
        let value = read(self);
        self.is_live = was_live;
        value
    }

    fn deeper(&mut self, read: impl FnOnce(&mut Self) -> Read) -> Read {
        if self.depth >= DEPTH_MAX {
            let span = self.peek().map_or(self.end, |word| word.span);
            let message = format!("the operators of the condition nest deeper than {DEPTH_MAX}");
            return Err(Box::new(Diagnostic::new(&rules::CONDITION_DEPTH, span, message)));
        }
        self.depth += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn peek(&self) -> Option<&Word> {
        self.words.get(self.at)
    }

    fn take(&mut self, punctuation: &str) -> bool {
        let is_there = self.peek().is_some_and(|word| word.is(punctuation));
        self.at += usize::from(is_there);
        is_there
    }

    fn misplaced(&self, due: &str) -> Read {
        let (span, found) = match self.peek() {
            Some(word) => (word.span, quoted(&word.text)),
            None => (self.end, "the end of the line".to_owned()),
        };
        let message = format!("{found} where {due} is due");
        Err(Box::new(Diagnostic::new(&rules::CONDITION_SYNTAX, span, message)))
    }
}

fn operand(word: &Word, what: &str) -> Read {
    let message = format!("{} is {what}", quoted(&word.text));
    Err(Box::new(Diagnostic::new(&rules::CONDITION_OPERAND, word.span, message)))
}

/// A number with the suffixes that C has.
fn integer(word: &Word) -> Read {
    let digits = word.text.trim_end_matches(['u', 'U', 'l', 'L']);
    let suffix = &word.text[digits.len()..];
    match number::read(digits) {
        Ok(Number::Integer(bits)) => {
            let is_unsigned = suffix.contains(['u', 'U']) || i64::try_from(bits).is_err();
            Ok(Value { bits, is_unsigned })
        }
        Ok(_) => operand(word, "no integer"),
        Err(error) => {
            let finding = Diagnostic::new(&rules::CONDITION_OPERAND, word.span, error.message);
            Err(Box::new(finding))
        }
    }
}

/// How tightly an operator binds.
fn binding(word: &Word) -> Option<u8> {
    if word.kind != Kind::Punctuation {
        return None;
    }
    Some(match &*word.text {
        "||" => 1,
        "&&" => 2,
        "|" => 3,
        "^" => 4,
        "&" => 5,
        "==" | "!=" => 6,
        "<" | ">" | "<=" | ">=" => 7,
        "<<" | ">>" => 8,
        "+" | "-" => 9,
        "*" | "/" | "%" => 10,
        _ => return None,
    })
}
