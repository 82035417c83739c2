//! Repository ids (clause 7.4.6.4.1): `IDL:prefix/A/B:1.0`, and what pragmas and `typeid` make of
//! it.
//!
//! `#pragma prefix` holds to the end of the scope or file it stands in; an included file begins
//! without one. `typeprefix` holds for a scope and all that is in it. An id that is given as a
//! whole wins over both.

use std::collections::HashMap;
use std::rc::Rc;

use super::Resolver;
use super::scope::SymbolId;
use crate::diagnostic::Diagnostic;
use crate::front::ast::{Name, ScopedName};
use crate::front::rules::semantics as rules;
use crate::front::token::Pragma;
use crate::source::Span;

/// Prefixes in force, and what single definitions have been given.
#[derive(Default)]
pub(super) struct Prefixes {
    current: Option<Rc<str>>,
    /// Those of the files that include the current one.
    outer: Vec<Option<Rc<str>>>,
    /// In force where a symbol was defined.
    at_definition: HashMap<SymbolId, Rc<str>>,
    /// `typeprefix`
    given: HashMap<SymbolId, Rc<str>>,
    ids: HashMap<SymbolId, (Rc<str>, Span)>,
    versions: HashMap<SymbolId, Rc<str>>,
}

impl Prefixes {
    pub fn current(&self) -> Option<Rc<str>> {
        self.current.clone()
    }

    pub fn restore(&mut self, prefix: Option<Rc<str>>) {
        self.current = prefix;
    }

    pub fn enter_file(&mut self) {
        self.outer.push(self.current.take());
    }

    pub fn leave_file(&mut self) {
        self.current = self.outer.pop().flatten();
    }

    pub fn remember(&mut self, symbol: SymbolId) {
        if let Some(prefix) = &self.current {
            self.at_definition.insert(symbol, prefix.clone());
        }
    }

    pub fn give(&mut self, symbol: SymbolId, prefix: Rc<str>) {
        self.given.insert(symbol, prefix);
    }
}

impl Resolver {
    pub(super) fn pragma(&mut self, pragma: &Pragma, span: Span) {
        match pragma {
            Pragma::Prefix(prefix) => {
                self.prefixes.current = (!prefix.is_empty()).then(|| prefix.clone());
            }
            Pragma::Id { name, id } => {
                if let Some(symbol) = self.pragma_name(name, span) {
                    self.give_id(symbol, id, span);
                }
            }
            // Its form is the preprocessor's to check.
            Pragma::Version { name, version } => {
                if let Some(symbol) = self.pragma_name(name, span) {
                    self.prefixes.versions.insert(symbol, version.clone());
                }
            }
        }
    }

    /// What a pragma names. It does not count as a use in the scope it stands in.
    fn pragma_name(&mut self, text: &str, span: Span) -> Option<SymbolId> {
        let is_global = text.starts_with("::");
        let parts: Vec<Name> = text
            .trim_start_matches("::")
            .split("::")
            .map(|part| Name { text: part.trim().into(), span })
            .collect();
        let mut at = Some(if is_global { super::ROOT } else { self.current });
        while let Some(scope) = at {
            if let Some(symbol) = self.member(scope, &parts[0]) {
                let found = parts[1..].iter().try_fold(symbol, |symbol, part| {
                    let inner = self.symbol(symbol).inner?;
                    self.member(inner, part)
                });
                if found.is_some() {
                    return found;
                }
                break;
            }
            at = self.scope(scope).parent;
        }
        self.lookup(&ScopedName { is_global, parts })
    }

    pub(super) fn give_id(&mut self, symbol: SymbolId, id: &Rc<str>, span: Span) {
        let is_id = id.split_once(':').is_some_and(|(format, rest)| {
            !format.is_empty() && !rest.is_empty() && !format.contains(char::is_whitespace)
        });
        if !is_id {
            let message = format!("{id:?} is not a repository id");
            let finding = Diagnostic::new(&rules::ID_FORMAT, span, message)
                .help("write a format, a colon and a name: `IDL:acme.com/Files:1.0`");
            self.diagnostics.push(finding);
            return;
        }
        if let Some((first, place)) = self.prefixes.ids.get(&symbol) {
            if first != id {
                let message = format!("`{}` already has another id", self.symbol(symbol).name.text);
                let finding = Diagnostic::new(&rules::ID_CHANGED, span, message)
                    .label(*place, "first given here");
                self.diagnostics.push(finding);
            }
            return;
        }
        self.prefixes.ids.insert(symbol, (id.clone(), span));
    }

    /// The id of a declaration with its full name.
    pub(super) fn repository_id(&self, symbol: SymbolId, path: &[String]) -> String {
        if let Some((id, _)) = self.prefixes.ids.get(&symbol) {
            return id.to_string();
        }
        let version = self.prefixes.versions.get(&symbol).map_or("1.0", |version| version);
        let path = path.join("/");
        match self.prefix(symbol) {
            Some(prefix) => format!("IDL:{prefix}/{path}:{version}"),
            None => format!("IDL:{path}:{version}"),
        }
    }

    fn prefix(&self, symbol: SymbolId) -> Option<&str> {
        let mut at = Some(symbol);
        while let Some(id) = at {
            if let Some(prefix) = self.prefixes.given.get(&id) {
                return Some(prefix).filter(|prefix| !prefix.is_empty()).map(|prefix| &**prefix);
            }
            at = self.scope(self.symbol(id).scope).owner;
        }
        self.prefixes.at_definition.get(&symbol).map(|prefix| &**prefix)
    }
}
