//! Definitions of every scope: which one begins here, and the short ones.

use super::{Parser, Place, Result};
use crate::front::ast::{Definition, DefinitionKind, TypeKind};
use crate::front::token::TokenKind;

impl Parser {
    /// A definition with its annotations and its `;`.
    pub(super) fn definition(&mut self, place: Place) -> Result<Definition> {
        let doc = self.doc();
        let is_included = self.include_depth > 0;
        let annotations = self.annotations()?;
        let doc = doc.or_else(|| self.doc());
        let kind = self.nested(|parser| parser.definition_kind(place))?;
        self.semicolon(ended(&kind))?;
        Ok(Definition { annotations, doc, is_included, kind })
    }

    fn definition_kind(&mut self, place: Place) -> Result<DefinitionKind> {
        if self.is_annotation_declaration() {
            return self.annotation_declaration();
        }
        if let Some(outside) = self.outside_definition(place)? {
            return Ok(outside);
        }
        match self.word() {
            Some("module") if place == Place::Module => self.module(),
            Some("interface") if place == Place::Module => self.interface(),
            Some("const") => self.constant(),
            Some("typedef") => self.typedef(),
            Some("struct" | "union" | "enum" | "bitmask" | "bitset") => {
                Ok(self.constructed()?.kind)
            }
            Some("exception") => self.exception(),
            Some("typeid") => self.type_id(),
            Some("typeprefix") => self.type_prefix(),
            _ if place == Place::Interface => self.export(),
            _ => Err(self.unexpected("a definition")),
        }
    }

    fn module(&mut self) -> Result<DefinitionKind> {
        self.advance();
        let name = self.name("a module")?;
        if self.is("<") {
            return Ok(self.template_module(name));
        }
        let open = self.expect("{")?;
        let mut items = Vec::new();
        self.items(Place::Module, &mut items);
        if !self.take("}") {
            self.report_unclosed(&name, open);
        }
        Ok(DefinitionKind::Module { name, items })
    }

    fn constant(&mut self) -> Result<DefinitionKind> {
        self.advance();
        let declared = self.type_use()?;
        let name = self.name("a constant")?;
        self.expect("=")?;
        let value = self.expression()?;
        Ok(DefinitionKind::Constant { declared, name, value })
    }

    fn typedef(&mut self) -> Result<DefinitionKind> {
        self.advance();
        let declared = self.type_use()?;
        // `typedef struct S;` is a forward declaration with a word too many.
        if let TypeKind::Constructed(definition) = &declared.kind
            && matches!(definition.kind, DefinitionKind::Forward { .. })
        {
            return Err(self.unexpected("a name for the type"));
        }
        let declarators = self.declarators("a type")?;
        Ok(DefinitionKind::Typedef { declared, declarators })
    }

    fn type_id(&mut self) -> Result<DefinitionKind> {
        self.advance();
        let name = self.scoped_name("the name of a definition")?;
        let (id, span) = self.literal_string()?;
        Ok(DefinitionKind::TypeId { name, id, span })
    }

    fn type_prefix(&mut self) -> Result<DefinitionKind> {
        self.advance();
        let name = self.scoped_name("the name of a definition")?;
        let (prefix, _) = self.literal_string()?;
        Ok(DefinitionKind::TypePrefix { name, prefix })
    }

    fn literal_string(&mut self) -> Result<(std::rc::Rc<str>, crate::source::Span)> {
        match &self.tokens[self.at].kind {
            TokenKind::String(text) => {
                let text = text.clone();
                Ok((text, self.advance()))
            }
            _ => Err(self.unexpected("a string literal")),
        }
    }
}

/// What has just ended, for the message of a missing semicolon.
fn ended(kind: &DefinitionKind) -> &'static str {
    match kind {
        DefinitionKind::Module { .. } => "the module",
        DefinitionKind::Constant { .. } => "the constant",
        DefinitionKind::Typedef { .. } => "the typedef",
        DefinitionKind::Struct { .. } => "the struct",
        DefinitionKind::Union { .. } => "the union",
        DefinitionKind::Enum { .. } => "the enum",
        DefinitionKind::Bitmask { .. } => "the bitmask",
        DefinitionKind::Bitset { .. } => "the bitset",
        DefinitionKind::Exception { .. } => "the exception",
        DefinitionKind::Interface { .. } => "the interface",
        DefinitionKind::Operation(_) => "the operation",
        DefinitionKind::Attribute(_) => "the attribute",
        DefinitionKind::Annotation { .. } => "the annotation",
        _ => "the declaration",
    }
}
