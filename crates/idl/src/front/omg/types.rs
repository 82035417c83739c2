//! Type uses (clauses 7.4.1.4.4, 7.4.13.4).

use super::{Failed, Parser, Result, rules};
use crate::diagnostic::Diagnostic;
use crate::front::ast::{Declarator, Expression, TypeKind, TypeUse};
use crate::front::token::TokenKind;
use crate::model::Primitive;

impl Parser {
    /// A type where one is used.
    pub(super) fn type_use(&mut self) -> Result<TypeUse> {
        self.ignored_annotations()?;
        let start = self.span();
        let kind = self.nested(|parser| parser.type_kind())?;
        let end = self.tokens[self.at.saturating_sub(1)].span;
        Ok(TypeUse { kind, span: start.to(end) })
    }

    fn type_kind(&mut self) -> Result<TypeKind> {
        let Some(word) = self.word() else {
            return self.named_type();
        };
        match word {
            "string" => {
                self.advance();
                Ok(TypeKind::String { bound: self.string_bound()? })
            }
            "wstring" => {
                self.advance();
                Ok(TypeKind::WideString { bound: self.string_bound()? })
            }
            "sequence" => self.sequence(),
            "map" => self.map(),
            "struct" | "union" | "enum" | "bitmask" | "bitset" => {
                let definition = self.constructed()?;
                Ok(TypeKind::Constructed(Box::new(definition)))
            }
            "any" => Ok(self.outside_type(&rules::ANY, "`any`")),
            "Object" => Ok(self.outside_type(&rules::OBJECT, "`Object`")),
            "ValueBase" => Ok(self.outside_type(&rules::VALUE_BASE, "`ValueBase`")),
            "fixed" => self.fixed(),
            "void" => {
                let span = self.advance();
                let message = "`void` is not the type of anything that holds a value";
                self.report(Diagnostic::new(&rules::VOID, span, message).help("name a type"));
                Ok(TypeKind::Outside)
            }
            _ => match self.primitive()? {
                Some(primitive) => Ok(TypeKind::Primitive(primitive)),
                None => self.named_type(),
            },
        }
    }

    fn named_type(&mut self) -> Result<TypeKind> {
        let is_name = matches!(
            self.tokens[self.at].kind,
            TokenKind::Identifier { .. } | TokenKind::Punctuation("::")
        );
        if !is_name {
            return Err(self.unexpected("a type"));
        }
        let name = self.scoped_name("a type")?;
        if self.is("<") {
            let message = format!("`{name}` takes nothing in angle brackets");
            let finding = Diagnostic::new(&rules::UNEXPECTED, self.span(), message).help(
                "`string<N>`, `wstring<N>`, `sequence<T>`, `sequence<T, N>` and `map<K, V>` do",
            );
            self.report(finding);
            return Err(Failed);
        }
        Ok(TypeKind::Name(name))
    }

    fn primitive(&mut self) -> Result<Option<Primitive>> {
        let Some(word) = self.word() else {
            return Ok(None);
        };
        let primitive = match word {
            "boolean" => Primitive::Boolean,
            "octet" => Primitive::Octet,
            "char" => Primitive::Char,
            "wchar" => Primitive::WideChar,
            "int8" => Primitive::Int8,
            "uint8" => Primitive::Uint8,
            "short" | "int16" => Primitive::Int16,
            "uint16" => Primitive::Uint16,
            "int32" => Primitive::Int32,
            "uint32" => Primitive::Uint32,
            "int64" => Primitive::Int64,
            "uint64" => Primitive::Uint64,
            "float" => Primitive::Float,
            "double" => Primitive::Double,
            "long" => return Ok(Some(self.long())),
            "unsigned" => return self.unsigned().map(Some),
            _ => return Ok(None),
        };
        self.advance();
        Ok(Some(primitive))
    }

    fn long(&mut self) -> Primitive {
        self.advance();
        if self.take_word("long").is_some() {
            Primitive::Int64
        } else if self.take_word("double").is_some() {
            Primitive::LongDouble
        } else {
            Primitive::Int32
        }
    }

    fn unsigned(&mut self) -> Result<Primitive> {
        self.advance();
        if self.take_word("short").is_some() {
            return Ok(Primitive::Uint16);
        }
        if self.take_word("long").is_none() {
            return Err(self.unexpected("`short` or `long` after `unsigned`"));
        }
        let is_long = self.take_word("long").is_some();
        Ok(if is_long { Primitive::Uint64 } else { Primitive::Uint32 })
    }

    fn string_bound(&mut self) -> Result<Option<Expression>> {
        if !self.take("<") {
            return Ok(None);
        }
        let bound = self.bound()?;
        self.expect_close()?;
        Ok(Some(bound))
    }

    fn sequence(&mut self) -> Result<TypeKind> {
        self.advance();
        self.expect("<")?;
        let element = Box::new(self.type_use()?);
        let bound = if self.take(",") { Some(self.bound()?) } else { None };
        self.expect_close()?;
        Ok(TypeKind::Sequence { element, bound })
    }

    fn map(&mut self) -> Result<TypeKind> {
        self.advance();
        self.expect("<")?;
        let key = Box::new(self.type_use()?);
        self.expect(",")?;
        let value = Box::new(self.type_use()?);
        let bound = if self.take(",") { Some(self.bound()?) } else { None };
        self.expect_close()?;
        Ok(TypeKind::Map { key, value, bound })
    }

    fn fixed(&mut self) -> Result<TypeKind> {
        let kind = self.outside_type(&rules::FIXED, "`fixed`");
        if self.take("<") {
            self.bound()?;
            self.expect(",")?;
            self.bound()?;
            self.expect_close()?;
        }
        Ok(kind)
    }

    /// Names with array dimensions, commas between.
    pub(super) fn declarators(&mut self, what: &str) -> Result<Vec<Declarator>> {
        self.list(|parser| parser.declarator(what))
    }

    /// A name with array dimensions.
    pub(super) fn declarator(&mut self, what: &str) -> Result<Declarator> {
        let name = self.name(what)?;
        let mut dimensions = Vec::new();
        while self.take("[") {
            dimensions.push(self.expression()?);
            self.expect("]")?;
        }
        Ok(Declarator { name, dimensions })
    }
}
