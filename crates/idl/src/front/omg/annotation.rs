//! Annotations: where they are applied and where they are declared (clause 7.4.15).

use super::{Parser, Place, Result, rules};
use crate::diagnostic::Diagnostic;
use crate::front::ast::{
    Annotation, AnnotationParameter, Arguments, DefinitionKind, Expression, Item, Name, ScopedName,
};
use crate::front::token::TokenKind;

impl Parser {
    /// Every annotation that stands here; none is a result too.
    pub(super) fn annotations(&mut self) -> Result<Vec<Annotation>> {
        let mut annotations = Vec::new();
        while self.is("@") && !self.is_annotation_declaration() {
            annotations.push(self.annotation()?);
        }
        Ok(annotations)
    }

    /// Annotations in a place where none has a meaning for us.
    pub(super) fn ignored_annotations(&mut self) -> Result<()> {
        for annotation in self.annotations()? {
            if self.noted.insert(format!("@{}", annotation.name).into()) {
                let message = format!("`@{}` has no meaning in this place", annotation.name);
                let note = Diagnostic::new(&rules::ANNOTATION_NOTED, annotation.span, message)
                    .help("put it before the member, parameter or definition");
                self.diagnostics.push(note);
            }
        }
        Ok(())
    }

    /// `@annotation Name {`
    pub(super) fn is_annotation_declaration(&self) -> bool {
        self.is("@")
            && self.word_at(self.at + 1) == Some("annotation")
            && matches!(
                self.tokens.get(self.at + 2).map(|token| &token.kind),
                Some(TokenKind::Identifier { .. })
            )
            && self.is_at(self.at + 3, "{")
    }

    fn annotation(&mut self) -> Result<Annotation> {
        let start = self.advance();
        let name = self.annotation_name()?;
        let arguments = if self.is("(") { self.arguments()? } else { Arguments::None };
        let end = self.tokens[self.at.saturating_sub(1)].span;
        Ok(Annotation { name, arguments, span: start.to(end) })
    }

    /// Keywords are annotation names too: `@default`, `@oneway` (clause 7.2.4).
    fn annotation_name(&mut self) -> Result<ScopedName> {
        let is_global = self.take("::");
        let mut parts = vec![self.any_word("the name of an annotation")?];
        while self.take("::") {
            parts.push(self.any_word("the name of an annotation")?);
        }
        Ok(ScopedName { is_global, parts })
    }

    fn any_word(&mut self, what: &str) -> Result<Name> {
        match &self.tokens[self.at].kind {
            TokenKind::Identifier { name, .. } => {
                let text = name.clone();
                Ok(Name { text, span: self.advance() })
            }
            _ => Err(self.unexpected(what)),
        }
    }

    fn arguments(&mut self) -> Result<Arguments> {
        self.advance();
        if self.take(")") {
            return Ok(Arguments::None);
        }
        let is_named = matches!(self.tokens[self.at].kind, TokenKind::Identifier { .. })
            && self.is_at(self.at + 1, "=");
        let arguments = if is_named {
            Arguments::Named(self.list(Parser::argument)?)
        } else {
            Arguments::Single(self.expression()?)
        };
        self.expect(")")?;
        Ok(arguments)
    }

    fn argument(&mut self) -> Result<(Name, Expression)> {
        let name = self.any_word("the name of a parameter")?;
        self.expect("=")?;
        Ok((name, self.expression()?))
    }

    /// `@annotation Name { parameters }`
    pub(super) fn annotation_declaration(&mut self) -> Result<DefinitionKind> {
        self.advance();
        self.advance();
        let name = self.any_word("the name of an annotation")?;
        let mut items = Vec::new();
        let entries = self.body(&name, |parser| {
            let inner = ["enum", "const", "typedef"];
            if parser.word().is_some_and(|word| inner.contains(&word)) {
                let definition = parser.definition(Place::Annotation)?;
                items.push(Item::Definition(definition));
                return Ok(None);
            }
            parser.annotation_parameter().map(Some)
        })?;
        let parameters = entries.into_iter().flatten().collect();
        Ok(DefinitionKind::Annotation { name, parameters, items })
    }

    fn annotation_parameter(&mut self) -> Result<AnnotationParameter> {
        let is_any = self.take_word("any").is_some();
        let declared = if is_any { None } else { Some(self.type_use()?) };
        // A parameter may be called like a keyword: it is only ever named in an application.
        let name = self.any_word("the name of a parameter")?;
        let default = match self.take_word("default") {
            Some(_) => Some(self.expression()?),
            None => None,
        };
        self.semicolon("the parameter")?;
        Ok(AnnotationParameter { declared, name, default })
    }
}
