//! Constant expressions (clause 7.4.1.4.3): precedence and literals, no values.

use super::{Failed, Parser, Result, rules};
use crate::diagnostic::Diagnostic;
use crate::front::ast::{Binary, Expression, ExpressionKind, Unary};
use crate::front::token::TokenKind;

/// An expression has this many operators at most, so that its tree is shallow.
const OPERATORS_MAX: u32 = 256;

/// How an expression is read.
struct Reading {
    /// Inside `< >` and not inside parentheses, where `>>` closes two types.
    is_in_template: bool,
    operators: u32,
}

impl Parser {
    /// An expression that stands free.
    pub(in crate::front) fn expression(&mut self) -> Result<Expression> {
        self.binary(0, &mut Reading { is_in_template: false, operators: 0 })
    }

    /// An expression before a `>`.
    pub(in crate::front) fn bound(&mut self) -> Result<Expression> {
        self.binary(0, &mut Reading { is_in_template: true, operators: 0 })
    }

    /// Operators that bind at least as strongly as `level`.
    fn binary(&mut self, level: u8, reading: &mut Reading) -> Result<Expression> {
        let mut left = self.unary(reading)?;
        while let Some((operator, binding)) = self.operator(reading) {
            if binding < level {
                break;
            }
            self.count_operator(reading)?;
            self.advance();
            let right = self.nested(|parser| parser.binary(binding + 1, reading))?;
            let span = left.span.to(right.span);
            let kind = ExpressionKind::Binary(operator, Box::new(left), Box::new(right));
            left = Expression { kind, span };
        }
        Ok(left)
    }

    fn operator(&self, reading: &Reading) -> Option<(Binary, u8)> {
        let TokenKind::Punctuation(sign) = self.tokens[self.at].kind else {
            return None;
        };
        Some(match sign {
            "|" => (Binary::Or, 0),
            "^" => (Binary::Xor, 1),
            "&" => (Binary::And, 2),
            "<<" => (Binary::ShiftLeft, 3),
            ">>" if !reading.is_in_template => (Binary::ShiftRight, 3),
            "+" => (Binary::Add, 4),
            "-" => (Binary::Subtract, 4),
            "*" => (Binary::Multiply, 5),
            "/" => (Binary::Divide, 5),
            "%" => (Binary::Remainder, 5),
            _ => return None,
        })
    }

    fn count_operator(&mut self, reading: &mut Reading) -> Result<()> {
        reading.operators += 1;
        if reading.operators <= OPERATORS_MAX {
            return Ok(());
        }
        let message = format!("this expression has more than {OPERATORS_MAX} operators");
        let span = self.span();
        let finding = Diagnostic::new(&rules::TOO_MANY_OPERATORS, span, message)
            .help("make constants of its parts");
        self.report_once(finding);
        Err(Failed)
    }

    /// The grammar has one of these operators before an operand, and no second.
    fn unary(&mut self, reading: &mut Reading) -> Result<Expression> {
        let Some(operator) = self.unary_operator() else {
            return self.primary(reading);
        };
        self.count_operator(reading)?;
        let start = self.advance();
        if self.unary_operator().is_some() {
            let message = format!("expected an operand, found {}", self.found());
            let finding = Diagnostic::new(&rules::UNEXPECTED, self.span(), message)
                .help("put the operator and its operand into parentheses");
            self.report(finding);
            return Err(Failed);
        }
        let operand = self.primary(reading)?;
        let span = start.to(operand.span);
        Ok(Expression { kind: ExpressionKind::Unary(operator, Box::new(operand)), span })
    }

    fn unary_operator(&self) -> Option<Unary> {
        match self.tokens[self.at].kind {
            TokenKind::Punctuation("-") => Some(Unary::Minus),
            TokenKind::Punctuation("+") => Some(Unary::Plus),
            TokenKind::Punctuation("~") => Some(Unary::Complement),
            _ => None,
        }
    }

    fn primary(&mut self, reading: &mut Reading) -> Result<Expression> {
        if self.is("(") {
            let start = self.advance();
            let was_in_template = std::mem::replace(&mut reading.is_in_template, false);
            let inner = self.nested(|parser| parser.binary(0, reading));
            reading.is_in_template = was_in_template;
            let kind = inner?.kind;
            let end = self.expect(")")?;
            return Ok(Expression { kind, span: start.to(end) });
        }
        let span = self.span();
        let kind = match &self.tokens[self.at].kind {
            TokenKind::Integer(value) => ExpressionKind::Integer(*value),
            TokenKind::Float(value) => ExpressionKind::Float(*value),
            TokenKind::Char(value) => ExpressionKind::Char(*value),
            TokenKind::WideChar(value) => ExpressionKind::WideChar(*value),
            TokenKind::String(_) | TokenKind::WideString(_) => return self.strings(),
            TokenKind::Fixed(text) => {
                let text = text.clone();
                self.report_outside(&rules::FIXED, span, &format!("the literal `{text}`"));
                ExpressionKind::Outside
            }
            TokenKind::Identifier { .. } if self.is_word("TRUE") => ExpressionKind::Boolean(true),
            TokenKind::Identifier { .. } if self.is_word("FALSE") => ExpressionKind::Boolean(false),
            TokenKind::Identifier { .. } | TokenKind::Punctuation("::") => {
                let name = self.scoped_name("a constant")?;
                let span = name.span();
                return Ok(Expression { kind: ExpressionKind::Name(name), span });
            }
            _ => return Err(self.unexpected("a constant")),
        };
        self.advance();
        Ok(Expression { kind, span })
    }

    /// Neighbouring literals are one (clause 7.2.6.3).
    fn strings(&mut self) -> Result<Expression> {
        let start = self.span();
        let (mut text, mut end) = (String::new(), start);
        let is_wide = matches!(self.tokens[self.at].kind, TokenKind::WideString(_));
        loop {
            let piece_is_wide = match &self.tokens[self.at].kind {
                TokenKind::String(piece) => {
                    text.push_str(piece);
                    false
                }
                TokenKind::WideString(piece) => {
                    text.push_str(piece);
                    true
                }
                _ => break,
            };
            if piece_is_wide != is_wide {
                let span = self.span();
                let message = "a wide and a narrow string literal stand next to each other";
                let finding = Diagnostic::new(&rules::MIXED_STRINGS, span, message)
                    .label(start, "the first literal")
                    .help("write `L` before all of them or before none");
                self.report(finding);
            }
            end = self.advance();
        }
        let text = text.into();
        let kind =
            if is_wide { ExpressionKind::WideString(text) } else { ExpressionKind::String(text) };
        Ok(Expression { kind, span: start.to(end) })
    }
}
