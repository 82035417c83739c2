//! Constructs that the grammar has and Nearcall does not map: recognised, named once, skipped.
//!
//! The names they declare are kept, so that using one is no second mistake.

use std::rc::Rc;

use super::{Parser, Place, Result, rules};
use crate::diagnostic::{Diagnostic, Rule};
use crate::front::ast::{DefinitionKind, Name, TypeKind};
use crate::source::Span;

/// As many further places as one diagnostic shows.
const LABELS_MAX: usize = 5;

impl Parser {
    /// Reports a construct outside; one diagnostic a rule, however often it stands in the text.
    pub(in crate::front) fn report_outside(&mut self, rule: &'static Rule, span: Span, what: &str) {
        if let Some(index) = self.outside.get(rule.code) {
            let known = &mut self.diagnostics[*index];
            if known.labels.len() < LABELS_MAX {
                known.labels.push((span, "and here".to_owned()));
            }
            return;
        }
        let clause = rule.clause;
        let message = format!("{what} (clause {clause}) is outside what Nearcall maps");
        self.outside.insert(rule.code, self.diagnostics.len());
        self.diagnostics.push(Diagnostic::new(rule, span, message).help(way_out(rule)));
    }

    pub(super) fn outside_type(&mut self, rule: &'static Rule, what: &str) -> TypeKind {
        let span = self.advance();
        self.report_outside(rule, span, what);
        TypeKind::Outside
    }

    /// A definition outside, if one begins here.
    pub(super) fn outside_definition(&mut self, place: Place) -> Result<Option<DefinitionKind>> {
        let Some(word) = self.word() else {
            return Ok(None);
        };
        if place != Place::Module && word != "native" {
            return Ok(None);
        }
        let (rule, what) = match word {
            "native" => (&rules::NATIVE, "`native`"),
            "abstract" if self.word_at(self.at + 1) == Some("interface") => {
                (&rules::ABSTRACT_INTERFACE, "`abstract interface`")
            }
            "local" => (&rules::LOCAL_INTERFACE, "`local interface`"),
            "eventtype" => (&rules::EVENTTYPE, "`eventtype`"),
            "abstract" | "custom" => match self.word_at(self.at + 1) {
                Some("eventtype") => (&rules::EVENTTYPE, "`eventtype`"),
                _ => (&rules::VALUETYPE, "`valuetype`"),
            },
            "valuetype" => (&rules::VALUETYPE, "`valuetype`"),
            "component" => (&rules::COMPONENT, "`component`"),
            "home" => (&rules::HOME, "`home`"),
            "porttype" => (&rules::PORT, "`porttype`"),
            "connector" => (&rules::PORT, "`connector`"),
            "import" => (&rules::IMPORT, "`import`"),
            _ => return Ok(None),
        };
        self.has_foreign_names |= word == "import";
        let span = self.advance();
        self.report_outside(rule, span, what);
        while self.word().is_some_and(|w| matches!(w, "interface" | "valuetype" | "eventtype")) {
            self.advance();
        }
        let names = self.outside_names();
        self.skip_definition();
        Ok(Some(DefinitionKind::Outside { names }))
    }

    /// A template module or its use, at the `<`.
    pub(super) fn template_module(&mut self, name: Name) -> DefinitionKind {
        self.report_outside(&rules::TEMPLATE, name.span, "a template module");
        let mut names = Vec::new();
        while !self.is_end() && !self.is("{") && !self.is(";") {
            let last = self.word().filter(|_| self.is_at(self.at + 1, ";")).map(Rc::from);
            let span = self.advance();
            names.extend(last.map(|text| Name { text, span }));
        }
        if names.is_empty() {
            names.push(name);
        }
        self.skip_definition();
        DefinitionKind::Outside { names }
    }

    /// `context ("a", "b")` behind an operation.
    pub(super) fn context_clause(&mut self) {
        let span = self.advance();
        self.report_outside(&rules::CONTEXT, span, "a `context` clause");
        while !self.is_end() && !self.is(")") && !self.is(";") && !self.is("}") {
            self.advance();
        }
        self.take(")");
    }

    fn outside_names(&mut self) -> Vec<Name> {
        match self.word() {
            Some(text) => {
                let text = text.into();
                vec![Name { text, span: self.advance() }]
            }
            None => Vec::new(),
        }
    }

    /// To before the `;` that ends this definition, over all braces.
    pub(in crate::front) fn skip_definition(&mut self) {
        let mut depth = 0u32;
        while !self.is_end() {
            if self.is("{") {
                depth += 1;
            } else if self.is("}") {
                if depth == 0 {
                    return;
                }
                depth -= 1;
            } else if depth == 0 && self.is(";") {
                return;
            }
            self.advance();
        }
    }
}

fn way_out(rule: &Rule) -> &'static str {
    match rule.code {
        "E0110" => "use a union of the types that occur, or an `@opaque sequence<octet>`",
        "E0111" | "E0114" => "use a struct",
        "E0112" | "E0113" | "E0115" => "declare the interfaces it provides",
        "E0116" => "write the module out for each of its parameters",
        "E0117" | "E0129" => "pass a name that the client imports, or what identifies the thing",
        "E0118" | "E0130" => "declare a plain `interface`",
        "E0119" => "use an integer in the smallest unit, or `double`",
        "E0120" => "use a type that IDL has",
        "E0121" => "pass the values as a parameter",
        _ => "use `#include`",
    }
}
