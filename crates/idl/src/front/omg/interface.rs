//! Interfaces: operations and attributes (clauses 7.4.3, 7.4.6).

use super::{Parser, Place, Result, rules};
use crate::diagnostic::Diagnostic;
use crate::front::ast::{
    Attribute, DefinitionKind, Forward, Operation, Parameter, ScopedName, TypeUse,
};
use crate::model::Direction;
use crate::source::Span;

impl Parser {
    pub(super) fn interface(&mut self) -> Result<DefinitionKind> {
        self.advance();
        let name = self.name("an interface")?;
        if self.is(";") {
            return Ok(DefinitionKind::Forward { what: Forward::Interface, name });
        }
        let bases = if self.take(":") {
            self.list(|parser| parser.scoped_name("an interface"))?
        } else {
            Vec::new()
        };
        let open = self.expect("{")?;
        let mut items = Vec::new();
        self.items(Place::Interface, &mut items);
        if !self.take("}") {
            self.report_unclosed(&name, open);
        }
        Ok(DefinitionKind::Interface { name, bases, items })
    }

    /// An operation or an attribute.
    pub(super) fn export(&mut self) -> Result<DefinitionKind> {
        let is_readonly = self.take_word("readonly").is_some();
        if self.is_word("attribute") {
            return self.attribute(is_readonly);
        }
        if is_readonly {
            return Err(self.unexpected("`attribute` after `readonly`"));
        }
        self.operation()
    }

    fn operation(&mut self) -> Result<DefinitionKind> {
        let oneway = self.take_word("oneway");
        let returns = self.returned()?;
        let name = self.name("an operation")?;
        self.expect("(")?;
        let parameters = if self.is(")") { Vec::new() } else { self.list(Parser::parameter)? };
        self.expect(")")?;
        let raises = self.raises("raises")?;
        if self.is_word("context") {
            self.context_clause();
        }
        Ok(DefinitionKind::Operation(Operation { name, oneway, returns, parameters, raises }))
    }

    fn returned(&mut self) -> Result<Option<TypeUse>> {
        if self.take_word("void").is_some() {
            return Ok(None);
        }
        self.type_use().map(Some)
    }

    fn parameter(&mut self) -> Result<Parameter> {
        let annotations = self.annotations()?;
        let direction = self.direction();
        let declared = self.type_use()?;
        let name = self.name("a parameter")?;
        self.refuse_array()?;
        Ok(Parameter { annotations, direction, declared, name })
    }

    fn direction(&mut self) -> (Direction, Span) {
        let span = self.span();
        let direction = match self.word() {
            Some("in") => Direction::In,
            Some("out") => Direction::Out,
            Some("inout") => Direction::Inout,
            _ => {
                let message = format!("expected `in`, `out` or `inout`, found {}", self.found());
                let finding = Diagnostic::new(&rules::DIRECTION, span, message).help(
                    "say which way the parameter goes: `in` is from the client to the server",
                );
                self.report(finding);
                return (Direction::In, span);
            }
        };
        self.advance();
        (direction, span)
    }

    fn refuse_array(&mut self) -> Result<()> {
        if !self.is("[") {
            return Ok(());
        }
        let message = "an array declarator cannot stand here";
        let finding = Diagnostic::new(&rules::ARRAY_HERE, self.span(), message)
            .help("name the array with a `typedef` and use that name");
        self.report(finding);
        while self.take("[") {
            self.expression()?;
            self.expect("]")?;
        }
        Ok(())
    }

    fn raises(&mut self, word: &str) -> Result<Vec<ScopedName>> {
        if self.take_word(word).is_none() {
            return Ok(Vec::new());
        }
        self.expect("(")?;
        let raises = self.list(|parser| parser.scoped_name("an exception"))?;
        self.expect(")")?;
        Ok(raises)
    }

    fn attribute(&mut self, is_readonly: bool) -> Result<DefinitionKind> {
        self.advance();
        let declared = self.type_use()?;
        let names = self.list(|parser| {
            let name = parser.name("an attribute")?;
            parser.refuse_array()?;
            Ok(name)
        })?;
        self.check_attribute_raises(is_readonly, names.len());
        let get_raises =
            self.raises(if self.is_word("raises") { "raises" } else { "getraises" })?;
        let set_raises = self.raises("setraises")?;
        Ok(DefinitionKind::Attribute(Attribute {
            is_readonly,
            declared,
            names,
            get_raises,
            set_raises,
        }))
    }

    fn check_attribute_raises(&mut self, is_readonly: bool, names: usize) {
        let (message, help) = match self.word() {
            Some("raises") if !is_readonly => (
                "an attribute that can be written says `getraises` and `setraises`, not `raises`",
                "say which of its halves raises: `getraises(E) setraises(E)`",
            ),
            Some("getraises" | "setraises") if is_readonly => {
                ("a readonly attribute says `raises`", "write `raises`")
            }
            Some("raises" | "getraises" | "setraises") if names > 1 => (
                "only an attribute declared alone names exceptions",
                "declare each attribute on a line of its own",
            ),
            _ => return,
        };
        let span = self.span();
        self.report(Diagnostic::new(&rules::ATTRIBUTE_RAISES, span, message).help(help));
    }
}
