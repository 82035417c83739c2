//! The resolver: syntax tree to model, and every rule that is about meaning.
//!
//! Goes over the text once, in its order, because a name is declared before it is used
//! (clause 7.5.2). What has been reported is left out quietly, so that one mistake is one
//! diagnostic; a model is made only if there was none. Refuses to know how values are laid out.
//!
//! ```text
//! scope        which name means what                unknown      names that mean nothing
//! repository   repository ids                       constant     values of expressions
//! types        types where they are used            aggregate    struct, union, exception
//! enumeration  enum, bitmask, bitset                interface    operations, attributes, bases
//! annotation   applied and declared annotations     standard     the table of standard ones
//! limits       what no type may exceed              finish       from symbols to the model
//! feeds        the procedures that carry them       extensibility  what may change in a type
//! ```

mod aggregate;
mod annotation;
mod constant;
mod descriptors;
mod enumeration;
mod extensibility;
mod feeds;
mod finish;
mod interface;
mod limits;
mod prealloc;
mod recursion;
mod repository;
mod scope;
mod standard;
mod types;
mod typical;
mod unknown;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use self::annotation::{AnnotationDeclaration, Applied, Subject};
use self::repository::Prefixes;
use self::scope::{ROOT, Scope, ScopeId, State, Symbol, SymbolId, SymbolKind};
pub(super) use self::standard::{ASTACK_BYTES_MAX, ASTACKS_MAX};
use self::unknown::Unknown;
use super::ast::{Definition, DefinitionKind, Forward, Item, Name};
use super::dialect::Dialect;
use super::parser::Parsed;
use super::rules::semantics as rules;
use crate::diagnostic::{Diagnostic, Severity};
use crate::model::{Constant, Declaration, DeclarationId, Kind, Model, ScopedName, Type};

/// A declaration that is complete, in the order of completion.
struct Declared {
    symbol: SymbolId,
    /// Its types refer to symbols until the model is made.
    declaration: Declaration,
    /// Of an annotation declaration: not part of the model.
    is_hidden: bool,
}

/// What stands before a definition, as the model keeps it.
struct Head {
    doc: Option<String>,
    annotations: Vec<Applied>,
    is_included: bool,
}

struct Resolver {
    dialect: Dialect,
    symbols: Vec<Symbol>,
    scopes: Vec<Scope>,
    current: ScopeId,
    declared: Vec<Declared>,
    diagnostics: Vec<Diagnostic>,
    has_foreign_names: bool,
    /// Words that the parser has reported.
    misspelled: HashSet<Rc<str>>,
    prefixes: Prefixes,
    annotation_declarations: Vec<AnnotationDeclaration>,
    /// Inside an annotation declaration.
    is_hidden: bool,
    /// Symbols with a forward declaration, completed meanwhile or not.
    forwards: Vec<SymbolId>,
    /// Operations of all interfaces so far, inherited ones counted.
    operations: usize,
    unknown: HashMap<Rc<str>, Unknown>,
    /// The enum that is being defined, and the values of its enumerators so far.
    opening: Option<(SymbolId, Vec<i128>)>,
    /// What a note has been made of.
    noted: HashSet<Rc<str>>,
}

/// Resolves what the parser left. The diagnostics are those of the parser and the resolver; there
/// is a model if none of them is an error.
pub fn resolve(mut parsed: Parsed) -> (Option<Model>, Vec<Diagnostic>) {
    let items = std::mem::take(&mut parsed.items);
    let mut resolver = Resolver::new(parsed);
    resolver.items(&items);
    resolver.check_forwards();
    resolver.explain_unknown();
    resolver.check_recursion();
    resolver.check_limits();
    let is_error = |finding: &Diagnostic| finding.rule.severity() == Severity::Error;
    if resolver.diagnostics.iter().any(is_error) {
        return (None, resolver.diagnostics);
    }
    let mut diagnostics = std::mem::take(&mut resolver.diagnostics);
    let dialect = resolver.dialect;
    let mut model = resolver.into_model();
    diagnostics.extend(extensibility::check(&model));
    diagnostics.extend(prealloc::check(&model));
    diagnostics.extend(typical::check(&model, dialect));
    if diagnostics.iter().any(is_error) {
        return (None, diagnostics);
    }
    feeds::expand(&mut model);
    (Some(model), diagnostics)
}

impl Resolver {
    fn new(parsed: Parsed) -> Resolver {
        Resolver {
            dialect: parsed.dialect,
            opening: None,
            symbols: Vec::new(),
            scopes: vec![Scope::root()],
            current: ROOT,
            declared: Vec::new(),
            diagnostics: parsed.diagnostics,
            has_foreign_names: parsed.has_foreign_names,
            misspelled: parsed.misspelled,
            prefixes: Prefixes::default(),
            annotation_declarations: Vec::new(),
            is_hidden: false,
            forwards: Vec::new(),
            operations: 0,
            unknown: HashMap::new(),
            noted: HashSet::new(),
        }
    }

    fn items(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Definition(definition) => self.definition(definition),
                Item::Pragma(pragma, span) => self.pragma(pragma, *span),
                Item::FileStart => self.prefixes.enter_file(),
                Item::FileEnd => self.prefixes.leave_file(),
            }
        }
    }

    fn definition(&mut self, definition: &Definition) {
        match &definition.kind {
            DefinitionKind::Module { name, items } => self.module(definition, name, items),
            DefinitionKind::Constant { .. } => self.constant(definition),
            DefinitionKind::Typedef { declared, declarators } => {
                self.typedef(definition, declared, declarators);
            }
            DefinitionKind::Interface { name, bases, items } => {
                self.interface(definition, name, bases, items);
            }
            DefinitionKind::Forward { what, name } => self.forward(*what, name),
            DefinitionKind::Annotation { name, parameters, items } => {
                self.annotation_declaration(name, parameters, items);
            }
            DefinitionKind::TypeId { name, id, span } => {
                if let Some(symbol) = self.lookup(name) {
                    self.give_id(symbol, id, *span);
                }
            }
            DefinitionKind::TypePrefix { name, prefix } => {
                if let Some(symbol) = self.lookup(name) {
                    self.prefixes.give(symbol, prefix.clone());
                }
            }
            DefinitionKind::Outside { names } => {
                for name in names {
                    self.outside(name);
                }
            }
            // Only interfaces have these, and see to them themselves.
            DefinitionKind::Operation(_) | DefinitionKind::Attribute(_) => {}
            _ => {
                self.constructed(definition);
            }
        }
    }

    /// What is outside may be declared as often as its forward declarations stand there.
    fn outside(&mut self, name: &Name) {
        let known = self.own(&name.text).map(|id| self.symbol(id).kind);
        if known != Some(SymbolKind::Outside) {
            self.declare(name, SymbolKind::Outside);
        }
    }

    fn module(&mut self, definition: &Definition, name: &Name, items: &[Item]) {
        self.annotations(&definition.annotations, Subject::MODULE);
        let known = self.own(&name.text).filter(|id| {
            let symbol = self.symbol(*id);
            // What stands in a message of proto3 comes as if in a module of its name.
            let is_message = self.dialect == Dialect::Proto && symbol.kind == SymbolKind::Struct;
            let is_module = symbol.kind == SymbolKind::Module || is_message;
            is_module && symbol.name.text == name.text
        });
        let symbol = known.unwrap_or_else(|| self.declare(name, SymbolKind::Module));
        let scope = self.scope_of(symbol);
        self.inside(scope, |resolver| resolver.items(items));
    }

    /// The scope that a symbol opens, which may be open already.
    fn scope_of(&mut self, symbol: SymbolId) -> ScopeId {
        let inner = self.symbol(symbol).inner;
        inner.unwrap_or_else(|| self.open_scope(Some(symbol)))
    }

    /// Runs `inner` in a scope. A prefix that a pragma sets there ends with it.
    fn inside<T>(&mut self, scope: ScopeId, inner: impl FnOnce(&mut Resolver) -> T) -> T {
        let outer = std::mem::replace(&mut self.current, scope);
        let prefix = self.prefixes.current();
        let result = inner(self);
        self.prefixes.restore(prefix);
        self.current = outer;
        result
    }

    fn constant(&mut self, definition: &Definition) {
        let DefinitionKind::Constant { declared, name, value } = &definition.kind else {
            return;
        };
        let declared_type = self.type_use(declared).map(|resolved| resolved.declared);
        let wanted = declared_type.as_ref().and_then(|declared| self.wanted(declared));
        if declared_type.is_some() && wanted.is_none() {
            let message = format!("the constant `{}` cannot have this type", name.text);
            let finding = Diagnostic::new(&rules::CONSTANT_TYPE, declared.span, message)
                .help("use a number, a character, a string or an enum");
            self.diagnostics.push(finding);
        }
        let value = wanted.and_then(|wanted| self.evaluate(value, wanted));
        let head = self.head(definition, Subject::of(annotation::Place::Constant, None));
        let symbol = self.declare(name, SymbolKind::Constant);
        if let (Some(declared), Some(value)) = (declared_type, value) {
            self.complete(symbol, Kind::Constant(Constant { declared, value }), head);
        }
    }

    fn forward(&mut self, what: Forward, name: &Name) {
        let kind = forward_kind(what);
        if let Some(known) = self.own(&name.text) {
            let symbol = self.symbol(known);
            if symbol.kind == kind && symbol.name.text == name.text {
                return;
            }
        }
        let symbol = self.declare(name, kind);
        self.symbol_mut(symbol).state = State::Forward;
        self.forwards.push(symbol);
    }

    /// The symbol of a struct, union or interface that begins to be defined: a new one, or that of
    /// its forward declaration.
    fn begin(&mut self, name: &Name, kind: SymbolKind) -> SymbolId {
        let forward = self.own(&name.text).filter(|id| {
            let symbol = self.symbol(*id);
            symbol.state == State::Forward && symbol.name.text == name.text
        });
        let symbol = match forward {
            Some(id) if self.symbol(id).kind == kind => {
                // From here on it is declared where it is defined.
                self.symbol_mut(id).name = name.clone();
                id
            }
            Some(id) => {
                let first = self.symbol(id);
                let message = format!(
                    "`{}` is declared forward as {} and defined as {}",
                    name.text,
                    first.kind.what(),
                    kind.what()
                );
                let finding = Diagnostic::new(&rules::FORWARD_MISMATCH, name.span, message)
                    .label(first.name.span, "declared forward here");
                self.diagnostics.push(finding);
                self.symbol_mut(id).kind = kind;
                id
            }
            None => self.declare(name, kind),
        };
        self.symbol_mut(symbol).state = State::Open;
        symbol
    }

    fn check_forwards(&mut self) {
        for id in std::mem::take(&mut self.forwards) {
            let symbol = self.symbol(id);
            if symbol.state == State::Forward {
                let rule = match symbol.kind {
                    // Nothing can need it: nobody inherits from it, and references are not passed.
                    SymbolKind::Interface => &rules::FORWARD_INTERFACE,
                    _ => &rules::FORWARD_UNFINISHED,
                };
                let message = format!("`{}` is declared and never defined", symbol.name.text);
                let finding = Diagnostic::new(rule, symbol.name.span, message)
                    .help("define it, or delete the declaration");
                self.diagnostics.push(finding);
            }
        }
    }

    /// What stands before a definition, once its annotations are checked.
    fn head(&mut self, definition: &Definition, subject: Subject) -> Head {
        Head {
            doc: definition.doc.as_ref().map(|doc| doc.to_string()),
            annotations: self.annotations(&definition.annotations, subject),
            is_included: definition.is_included,
        }
    }

    /// A definition has come to its end.
    fn complete(&mut self, symbol: SymbolId, kind: Kind, head: Head) {
        let declaration = Declaration {
            name: self.full_name(symbol),
            at: self.symbol(symbol).name.span,
            doc: head.doc,
            // Pragmas behind the definition still change it.
            repository_id: String::new(),
            annotations: head.annotations.into_iter().map(|one| one.annotation).collect(),
            is_included: head.is_included,
            kind,
        };
        let index = self.declared.len();
        self.prefixes.remember(symbol);
        self.declared.push(Declared { symbol, declaration, is_hidden: self.is_hidden });
        let symbol = self.symbol_mut(symbol);
        symbol.declaration = Some(index);
        symbol.state = State::Complete;
    }

    fn full_name(&self, symbol: SymbolId) -> ScopedName {
        let mut parts = Vec::new();
        let mut at = Some(symbol);
        while let Some(id) = at {
            let symbol = self.symbol(id);
            parts.push(symbol.name.text.to_string());
            at = self.scope(symbol.scope).owner;
        }
        parts.reverse();
        ScopedName(parts)
    }

    /// What a completed declaration declares; `id` is that of a symbol.
    fn kind(&self, id: DeclarationId) -> Option<&Kind> {
        let index = self.symbol(SymbolId(id.0)).declaration?;
        Some(&self.declared[index].declaration.kind)
    }

    /// The type behind any number of aliases.
    fn behind<'m>(&'m self, declared: &'m Type) -> &'m Type {
        let mut declared = declared;
        while let Type::Named(id) = declared {
            match self.kind(*id) {
                Some(Kind::Alias(behind)) => declared = behind,
                _ => break,
            }
        }
        declared
    }
}

fn forward_kind(what: Forward) -> SymbolKind {
    match what {
        Forward::Struct => SymbolKind::Struct,
        Forward::Union => SymbolKind::Union,
        Forward::Interface => SymbolKind::Interface,
    }
}
