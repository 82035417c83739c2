//! Structs, unions, enums, bitmasks, bitsets and exceptions.

use super::{Parser, Result, rules};
use crate::diagnostic::Diagnostic;
use crate::front::ast::{
    Bitfield, Case, Definition, DefinitionKind, Forward, Label, Literal, Member, Name,
};

impl Parser {
    /// A constructed type, at its keyword; no annotations before it, no `;` after it.
    pub(super) fn constructed(&mut self) -> Result<Definition> {
        let doc = self.doc();
        let is_included = self.include_depth > 0;
        let kind = match self.word() {
            Some("struct") => self.structure()?,
            Some("union") => self.union()?,
            Some("enum") => self.enumeration()?,
            Some("bitmask") => self.bitmask()?,
            _ => self.bitset()?,
        };
        Ok(Definition { annotations: Vec::new(), doc, is_included, kind })
    }

    fn structure(&mut self) -> Result<DefinitionKind> {
        self.advance();
        let name = self.name("a struct")?;
        if self.is(";") {
            return Ok(DefinitionKind::Forward { what: Forward::Struct, name });
        }
        let base =
            if self.take(":") { Some(self.scoped_name("the struct it extends")?) } else { None };
        let members = self.body(&name, |parser| parser.member("a member"))?;
        Ok(DefinitionKind::Struct { name, base, members })
    }

    /// `exception Name { members }`
    pub(super) fn exception(&mut self) -> Result<DefinitionKind> {
        self.advance();
        let name = self.name("an exception")?;
        let members = self.body(&name, |parser| parser.member("a member"))?;
        Ok(DefinitionKind::Exception { name, members })
    }

    fn member(&mut self, what: &str) -> Result<Member> {
        let doc = self.doc();
        let annotations = self.annotations()?;
        let doc = doc.or_else(|| self.doc());
        let declared = self.type_use()?;
        let declarators = self.declarators(what)?;
        self.semicolon("the member")?;
        Ok(Member { annotations, doc, declared, declarators, number: None })
    }

    fn union(&mut self) -> Result<DefinitionKind> {
        self.advance();
        let name = self.name("a union")?;
        if self.is(";") {
            return Ok(DefinitionKind::Forward { what: Forward::Union, name });
        }
        if self.take_word("switch").is_none() {
            return Err(self.unexpected("`switch` or `;`"));
        }
        self.expect("(")?;
        let discriminator = self.type_use()?;
        self.expect(")")?;
        let found = self.diagnostics.len();
        let cases = self.body(&name, Parser::case)?;
        self.require_entries(&name, cases.len(), found, "a union has at least one case");
        Ok(DefinitionKind::Union { name, discriminator, cases })
    }

    fn case(&mut self) -> Result<Case> {
        let doc = self.doc();
        let mut annotations = self.annotations()?;
        let mut labels = vec![self.label()?];
        while self.is_word("case") || self.is_word("default") {
            labels.push(self.label()?);
        }
        let doc = doc.or_else(|| self.doc());
        annotations.extend(self.annotations()?);
        let doc = doc.or_else(|| self.doc());
        let declared = self.type_use()?;
        let declarators = vec![self.declarator("a member")?];
        self.semicolon("the case")?;
        let member = Member { annotations, doc, declared, declarators, number: None };
        Ok(Case { labels, member })
    }

    fn label(&mut self) -> Result<Label> {
        let label = if let Some(span) = self.take_word("default") {
            Label::Default(span)
        } else if self.take_word("case").is_some() {
            Label::Value(self.expression()?)
        } else {
            return Err(self.unexpected("`case` or `default`"));
        };
        self.expect(":")?;
        Ok(label)
    }

    fn enumeration(&mut self) -> Result<DefinitionKind> {
        self.advance();
        let name = self.name("an enum")?;
        let found = self.diagnostics.len();
        let enumerators = self.literals(&name, "an enumerator")?;
        self.require_entries(
            &name,
            enumerators.len(),
            found,
            "an enum has at least one enumerator",
        );
        Ok(DefinitionKind::Enum { name, enumerators })
    }

    fn bitmask(&mut self) -> Result<DefinitionKind> {
        self.advance();
        let name = self.name("a bitmask")?;
        let found = self.diagnostics.len();
        let flags = self.literals(&name, "a flag")?;
        self.require_entries(&name, flags.len(), found, "a bitmask has at least one flag");
        Ok(DefinitionKind::Bitmask { name, flags })
    }

    /// `found`: how many findings there were before the entries; a later one explains their lack.
    fn require_entries(&mut self, name: &Name, count: usize, found: usize, rule: &str) {
        if count == 0 && self.diagnostics.len() == found {
            let message = format!("`{}` is empty: {rule}", name.text);
            self.diagnostics.push(Diagnostic::new(&rules::EMPTY_BODY, name.span, message));
        }
    }

    /// `{ A, B, C }`; one comma too many is what every C programmer writes and means nothing else,
    /// so that it is only noted.
    fn literals(&mut self, owner: &Name, what: &str) -> Result<Vec<Literal>> {
        self.body(owner, |parser| {
            let doc = parser.doc();
            let annotations = parser.annotations()?;
            let doc = doc.or_else(|| parser.doc());
            let name = parser.name(what)?;
            let comma = parser.span();
            if !parser.take(",") {
                if !parser.is("}") {
                    return Err(parser.unexpected("`,` or `}`"));
                }
            } else if parser.is("}") {
                let message = format!("a comma follows the last entry of `{}`", owner.text);
                let note = Diagnostic::new(&rules::TRAILING_COMMA, comma, message)
                    .help("other compilers may refuse it: delete it");
                parser.diagnostics.push(note);
            }
            Ok(Literal { annotations, doc, name, is_numbered: false })
        })
    }

    fn bitset(&mut self) -> Result<DefinitionKind> {
        self.advance();
        let name = self.name("a bitset")?;
        let base =
            if self.take(":") { Some(self.scoped_name("the bitset it extends")?) } else { None };
        let fields = self.body(&name, Parser::bitfield)?;
        Ok(DefinitionKind::Bitset { name, base, fields })
    }

    fn bitfield(&mut self) -> Result<Bitfield> {
        self.ignored_annotations()?;
        let Some(start) = self.take_word("bitfield") else {
            return Err(self.unexpected("`bitfield`"));
        };
        self.expect("<")?;
        let width = self.bound()?;
        let declared = if self.take(",") { Some(self.type_use()?) } else { None };
        let end = self.expect_close()?;
        let mut names = Vec::new();
        while self.word().is_some() {
            names.push(self.name("a bit field")?);
            self.take(",");
        }
        self.semicolon("the bit field")?;
        Ok(Bitfield { width, declared, names, span: start.to(end) })
    }
}
