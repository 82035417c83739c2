//! The grammar of MIDL: interfaces, declarations, parameters (C706, chapter 4).
//!
//! Decides what the text has the form of. Refuses to know what names mean and what attributes do.

use super::ast::{
    Declaration, DeclarationKind, Declarator, Dimension, Field, Item, Specifier, SpecifierKind,
};
use super::words;
use crate::diagnostic::Diagnostic;
use crate::front::ast::Name;
use crate::front::parser::{Failed, Parser, Result};
use crate::front::rules::midl as rules;
use crate::front::token::TokenKind;
use crate::source::Span;

/// So many stars before a name at most: nobody means more.
const STARS_MAX: u32 = 8;

/// Parses everything there is; what was wrong is with the parser.
pub(super) fn parse(parser: &mut Parser) -> Vec<Item> {
    let mut items = Vec::new();
    loop {
        parser.midl_items(&mut items);
        if parser.is_end() {
            break;
        }
        parser.stray_brace();
    }
    parser.midl_marks(&mut items);
    items
}

impl Parser {
    /// Everything up to a closing brace or the end.
    fn midl_items(&mut self, items: &mut Vec<Item>) {
        loop {
            self.midl_marks(items);
            if self.is_end() || self.is("}") {
                return;
            }
            let start = self.at;
            match self.midl_declaration() {
                Ok(declaration) => items.push(Item::Declaration(declaration)),
                Err(Failed) => self.recover(start),
            }
        }
    }

    fn midl_marks(&mut self, items: &mut Vec<Item>) {
        let mut marks = Vec::new();
        self.take_marks(&mut marks);
        items.extend(marks.into_iter().map(Item::Mark));
    }

    /// A declaration with its attributes and its `;`.
    fn midl_declaration(&mut self) -> Result<Declaration> {
        let doc = self.doc();
        let is_included = self.include_depth > 0;
        let mut attributes = self.attributes()?;
        let doc = doc.or_else(|| self.doc());
        if self.take_word("typedef").is_some() {
            attributes.extend(self.attributes()?);
            let kind = self.midl_typedef()?;
            self.semicolon("the typedef")?;
            return Ok(Declaration { attributes, doc, is_included, kind });
        }
        let kind = self.nested(Parser::midl_declaration_kind)?;
        match kind {
            // Nothing follows the brace of an interface, but many a file has a semicolon there.
            DeclarationKind::Interface { .. } => drop(self.take(";")),
            DeclarationKind::Outside { .. } => drop(self.take(";")),
            DeclarationKind::Nothing | DeclarationKind::Forward { .. } => {}
            _ => self.semicolon("the declaration")?,
        }
        Ok(Declaration { attributes, doc, is_included, kind })
    }

    fn midl_declaration_kind(&mut self) -> Result<DeclarationKind> {
        match self.word() {
            Some("import") => {
                while !self.is_end() && !self.is(";") {
                    self.advance();
                }
                self.semicolon("the import")?;
                Ok(DeclarationKind::Nothing)
            }
            Some("cpp_quote" | "midl_pragma") => self.quoted(),
            Some("interface") => self.midl_interface(),
            Some("const") => self.midl_constant(),
            Some("module") => Ok(self.omg_module()),
            Some(word) if words::begins_com(word) => Ok(self.com_construct()),
            _ => self.operation_or_tagged(),
        }
    }

    /// `cpp_quote("text")`: a line for the C header, of which there is none.
    fn quoted(&mut self) -> Result<DeclarationKind> {
        let is_quote = self.is_word("cpp_quote");
        let span = self.advance();
        if is_quote && self.include_depth == 0 && self.noted.insert("cpp_quote".into()) {
            let message = "`cpp_quote` writes a line of C, and no C is made here";
            let note = Diagnostic::new(&rules::CPP_QUOTE, span, message)
                .help("declare constants with `const`, so that every language has them");
            self.diagnostics.push(note);
        }
        while !self.is_end() && !self.is(")") && !self.is(";") && !self.is("}") {
            self.advance();
        }
        self.expect(")")?;
        self.take(";");
        Ok(DeclarationKind::Nothing)
    }

    fn midl_interface(&mut self) -> Result<DeclarationKind> {
        self.advance();
        let name = self.name("an interface")?;
        if self.take(";") {
            return Ok(DeclarationKind::Forward { name });
        }
        let base = if self.take(":") { Some(self.name("an interface")?) } else { None };
        let open = self.expect("{")?;
        let mut items = Vec::new();
        self.midl_items(&mut items);
        if !self.take("}") {
            self.report_unclosed(&name, open);
        }
        Ok(DeclarationKind::Interface { name, base, items })
    }

    /// A class, a library, anything that is made of objects.
    fn com_construct(&mut self) -> DeclarationKind {
        let what = self.word().unwrap_or_default().to_owned();
        let span = self.advance();
        let message = format!("`{what}` is of COM, whose objects are outside what Nearcall maps");
        let finding = Diagnostic::new(&rules::COM, span, message)
            .help("declare the operations in an interface without `object`");
        self.report(finding);
        let names = match self.word() {
            Some(text) => {
                let text = text.into();
                vec![Name { text, span: self.advance() }]
            }
            None => Vec::new(),
        };
        self.skip_definition();
        DeclarationKind::Outside { names }
    }

    /// A module: this is a file in OMG IDL, or a piece of one.
    fn omg_module(&mut self) -> DeclarationKind {
        let finding = self.of_omg("a module");
        self.report(finding);
        self.skip_definition();
        DeclarationKind::Outside { names: Vec::new() }
    }

    /// What is found here is `what`, which OMG IDL has and MIDL does not.
    pub(in crate::front) fn of_omg(&self, what: &str) -> Diagnostic {
        let message = format!("{what} stands in a file that is read as MIDL");
        let help = "attributes of MIDL stand in brackets; what it imports is read as MIDL, too";
        Diagnostic::new(&rules::OMG, self.span(), message).help(help)
    }

    fn midl_constant(&mut self) -> Result<DeclarationKind> {
        self.advance();
        let specifier = self.specifier()?;
        let declarator = self.midl_declarator("a constant")?;
        self.expect("=")?;
        let value = self.expression()?;
        Ok(DeclarationKind::Constant { specifier, declarator, value })
    }

    fn midl_typedef(&mut self) -> Result<DeclarationKind> {
        let specifier = self.nested(Parser::specifier)?;
        let declarators = self.list(|parser| parser.midl_declarator("a type"))?;
        Ok(DeclarationKind::Typedef { specifier, declarators })
    }

    fn operation_or_tagged(&mut self) -> Result<DeclarationKind> {
        let specifier = self.specifier()?;
        let is_constructed = matches!(
            specifier.kind,
            SpecifierKind::Struct { .. } | SpecifierKind::Union(_) | SpecifierKind::Enum { .. }
        );
        if is_constructed && self.is(";") {
            return Ok(DeclarationKind::Tagged(specifier));
        }
        let declarator = self.midl_declarator("an operation")?;
        self.expect("(")?;
        let parameters = self.midl_parameters()?;
        self.expect(")")?;
        if self.take_word("const").is_none() && self.is("=") {
            return Err(self.unexpected("`;`"));
        }
        Ok(DeclarationKind::Operation { specifier, declarator, parameters })
    }

    fn midl_parameters(&mut self) -> Result<Vec<Field>> {
        if self.is_word("void") && self.is_at(self.at + 1, ")") {
            self.advance();
        }
        if self.is(")") {
            return Ok(Vec::new());
        }
        self.list(|parser| {
            let doc = parser.doc();
            let attributes = parser.attributes()?;
            let specifier = parser.nested(Parser::specifier)?;
            let declarators = vec![parser.midl_declarator("a parameter")?];
            Ok(Field { attributes, doc, specifier, declarators })
        })
    }

    /// Members of one type, with their `;`.
    pub(super) fn midl_member(&mut self) -> Result<Field> {
        let doc = self.doc();
        let attributes = self.attributes()?;
        let doc = doc.or_else(|| self.doc());
        let specifier = self.nested(Parser::specifier)?;
        let declarators = self.list(|parser| parser.midl_declarator("a member"))?;
        self.semicolon("the member")?;
        Ok(Field { attributes, doc, specifier, declarators })
    }

    /// `*name[3]`
    fn midl_declarator(&mut self, what: &str) -> Result<Declarator> {
        let mut stars = 0;
        let start = self.span();
        loop {
            if self.take("*") {
                stars += 1;
            } else if self.word().is_some_and(words::is_qualifier) {
                self.advance();
            } else {
                break;
            }
        }
        if stars > STARS_MAX {
            let message = format!("{stars} `*` before a name, {STARS_MAX} at most");
            self.report(Diagnostic::new(&rules::STARS, start, message).help("name a type between"));
            return Err(Failed);
        }
        if self.is("(") {
            return self.function_pointer(what);
        }
        let name = self.name(what)?;
        let mut dimensions = Vec::new();
        while self.take("[") {
            dimensions.push(self.dimension()?);
            self.expect("]")?;
        }
        if self.is(":") {
            let span = self.advance();
            let message = format!("`{}` is a bit field", name.text);
            let finding = Diagnostic::new(&rules::BIT_FIELD, span, message)
                .help("declare an integer and constants for its bits");
            self.report(finding);
            self.expression()?;
        }
        Ok(Declarator { name, stars, dimensions })
    }

    fn dimension(&mut self) -> Result<Dimension> {
        if self.is("]") {
            return Ok(Dimension::Open);
        }
        if self.is("*") && self.is_at(self.at + 1, "]") {
            self.advance();
            return Ok(Dimension::Open);
        }
        self.expression().map(Dimension::Count)
    }

    /// `(*name)(parameters)`: a procedure as a value.
    fn function_pointer(&mut self, what: &str) -> Result<Declarator> {
        let span = self.span();
        let message = format!("{what} is a pointer to a function");
        let finding = Diagnostic::new(&rules::FUNCTION_POINTER, span, message)
            .help("let the client export an interface of its own, which the server imports");
        self.report(finding);
        Err(Failed)
    }

    /// What is left of a qualifier-free place: where the last token ended.
    pub(super) fn last_span(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    /// The identifier that stands here, as a name that need not be declared.
    pub(super) fn any_name(&mut self, what: &str) -> Result<Name> {
        match &self.tokens[self.at].kind {
            TokenKind::Identifier { name, .. } => {
                let text = name.clone();
                Ok(Name { text, span: self.advance() })
            }
            _ => Err(self.unexpected(what)),
        }
    }

    pub(super) fn specified(&self, kind: SpecifierKind, start: Span) -> Specifier {
        Specifier { kind, span: start.to(self.last_span()) }
    }
}
