//! Scopes and symbols: which name means what, where (clause 7.5).
//!
//! Knows nothing of types or values. A scope's names are kept folded to lower case, because names
//! that differ only in case clash (clause 7.2.3.1), and are compared as spelled when they are used.
//! Two declarations that clash so are an error. A declaration that clashes so with what its scope
//! only uses or is called (`Color color;`) is noted: half of all interface files have one.

use std::collections::HashMap;
use std::rc::Rc;

use super::Resolver;
use crate::diagnostic::Diagnostic;
use crate::front::ast::{Name, ScopedName};
use crate::front::dialect::Dialect;
use crate::front::rules::semantics as rules;
use crate::model::{DeclarationId, Type};

/// Index of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct SymbolId(pub u32);

/// Index of a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ScopeId(pub u32);

/// The scope that nothing encloses.
pub(super) const ROOT: ScopeId = ScopeId(0);

impl Scope {
    /// The scope that nothing encloses, empty.
    pub fn root() -> Scope {
        Scope { is_module: true, ..Scope::default() }
    }
}

/// A name that something has.
pub(super) struct Symbol {
    pub name: Name,
    pub scope: ScopeId,
    pub kind: SymbolKind,
    pub state: State,
    /// The scope it opens.
    pub inner: Option<ScopeId>,
    /// Index in `Resolver::declared`, once it stands there.
    pub declaration: Option<usize>,
    /// An alias of a sequence of a type that was incomplete when the alias was made.
    pub unfinished: Option<SymbolId>,
    /// Of an alias: how many aliases stand behind it.
    pub alias_depth: u32,
}

/// What a name is the name of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SymbolKind {
    Module,
    Constant,
    Alias,
    Struct,
    Union,
    Enum,
    Bitmask,
    Bitset,
    Exception,
    Interface,
    Enumerator {
        of: SymbolId,
        place: u32,
    },
    Operation,
    Attribute,
    Member,
    Parameter,
    /// Index in `Resolver::annotation_declarations`.
    Annotation(usize),
    Outside,
}

/// How far a definition has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Declared forward.
    Forward,
    /// Being defined: what is resolved now stands inside it.
    Open,
    /// Defined.
    Complete,
}

/// Where names are looked for.
#[derive(Default)]
pub(super) struct Scope {
    pub is_module: bool,
    pub is_interface: bool,
    pub parent: Option<ScopeId>,
    pub owner: Option<SymbolId>,
    pub names: HashMap<Rc<str>, SymbolId>,
    /// In the order of the text.
    pub symbols: Vec<SymbolId>,
    /// Names of outer scopes that were used here (clause 7.5.2).
    used: HashMap<Rc<str>, Name>,
    /// Scopes of all bases, direct or not, each once, after its own bases.
    pub ancestors: Vec<ScopeId>,
}

impl SymbolId {
    /// The type that this symbol names; ids are those of symbols until the model is made.
    pub fn named(self) -> Type {
        Type::Named(self.declaration())
    }

    pub fn declaration(self) -> DeclarationId {
        DeclarationId(self.0)
    }
}

impl SymbolKind {
    /// With its article, for messages.
    pub fn what(self) -> &'static str {
        match self {
            SymbolKind::Module => "a module",
            SymbolKind::Constant => "a constant",
            SymbolKind::Alias => "a type",
            SymbolKind::Struct => "a struct",
            SymbolKind::Union => "a union",
            SymbolKind::Enum => "an enum",
            SymbolKind::Bitmask => "a bitmask",
            SymbolKind::Bitset => "a bitset",
            SymbolKind::Exception => "an exception",
            SymbolKind::Interface => "an interface",
            SymbolKind::Enumerator { .. } => "an enumerator",
            SymbolKind::Operation => "an operation",
            SymbolKind::Attribute => "an attribute",
            SymbolKind::Member => "a member",
            SymbolKind::Parameter => "a parameter",
            SymbolKind::Annotation(_) => "an annotation",
            SymbolKind::Outside => "outside what Nearcall maps",
        }
    }
}

impl Resolver {
    /// Under which a scope keeps a name: folded to lower case. MIDL tells case apart (C706,
    /// chapter 4), and so does proto3.
    pub(super) fn fold(&self, text: &str) -> Rc<str> {
        match self.dialect {
            Dialect::Omg => text.to_ascii_lowercase().into(),
            Dialect::Midl | Dialect::Proto => text.into(),
        }
    }

    pub(super) fn symbol(&self, id: SymbolId) -> &Symbol {
        &self.symbols[id.0 as usize]
    }

    pub(super) fn symbol_mut(&mut self, id: SymbolId) -> &mut Symbol {
        &mut self.symbols[id.0 as usize]
    }

    pub(super) fn scope(&self, id: ScopeId) -> &Scope {
        &self.scopes[id.0 as usize]
    }

    pub(super) fn scope_mut(&mut self, id: ScopeId) -> &mut Scope {
        &mut self.scopes[id.0 as usize]
    }

    /// Opens a scope in the current one. `owner`: whose name may not be redefined in it.
    pub(super) fn open_scope(&mut self, owner: Option<SymbolId>) -> ScopeId {
        let id = ScopeId(self.scopes.len() as u32);
        let kind = owner.map(|owner| self.symbol(owner).kind);
        self.scopes.push(Scope {
            is_module: kind == Some(SymbolKind::Module),
            is_interface: kind == Some(SymbolKind::Interface),
            parent: Some(self.current),
            owner,
            ..Scope::default()
        });
        if let Some(owner) = owner {
            self.symbol_mut(owner).inner = Some(id);
        }
        id
    }

    /// What the current scope itself calls `text`, in whatever case.
    pub(super) fn own(&self, text: &str) -> Option<SymbolId> {
        self.scope(self.current).names.get(&self.fold(text)).copied()
    }

    /// Declares a name in the current scope. A clash is reported and the first one stays.
    pub(super) fn declare(&mut self, name: &Name, kind: SymbolKind) -> SymbolId {
        let id = SymbolId(self.symbols.len() as u32);
        self.symbols.push(Symbol {
            name: name.clone(),
            scope: self.current,
            kind,
            state: State::Complete,
            inner: None,
            declaration: None,
            unfinished: None,
            alias_depth: 0,
        });
        let folded = self.fold(&name.text);
        if self.report_clash(name, &folded) {
            return id;
        }
        let current = self.current;
        let scope = self.scope_mut(current);
        scope.names.insert(folded, id);
        scope.symbols.push(id);
        id
    }

    fn report_clash(&mut self, name: &Name, folded: &Rc<str>) -> bool {
        let scope = self.scope(self.current);
        if let Some(first) = scope.names.get(folded) {
            let finding = self.clash(name, *first);
            self.diagnostics.push(finding);
            return true;
        }
        if let Some(owner) = scope.owner.map(|owner| self.symbol(owner))
            && self.dialect == Dialect::Omg
            && self.fold(&owner.name.text) == *folded
        {
            let finding = own_name(name, owner);
            self.diagnostics.push(finding);
            return false;
        }
        if let Some(finding) = self.inherited_clash(name, folded) {
            self.diagnostics.push(finding);
            return true;
        }
        self.report_used(name, folded);
        false
    }

    fn clash(&self, name: &Name, first: SymbolId) -> Diagnostic {
        let first = self.symbol(first);
        let finding = if first.name.text == name.text {
            let message = format!("`{}` is already {} in this scope", name.text, first.kind.what());
            Diagnostic::new(&rules::REDEFINED, name.span, message)
        } else {
            let message =
                format!("`{}` differs from `{}` only in case", name.text, first.name.text);
            Diagnostic::new(&rules::CASE_CLASH, name.span, message)
        };
        finding.label(first.name.span, "first declared here").help("choose another name")
    }

    /// Members of a base struct may not come again; of a base interface operations and attributes
    /// may not, and anything else may (clauses 7.4.3.4.3.2.1, 7.4.4.4).
    fn inherited_clash(&self, name: &Name, folded: &Rc<str>) -> Option<Diagnostic> {
        let scope = self.scope(self.current);
        for ancestor in &scope.ancestors {
            let Some(first) = self.scope(*ancestor).names.get(folded) else {
                continue;
            };
            let symbol = self.symbol(*first);
            if !scope.is_interface {
                return Some(self.clash(name, *first));
            }
            if matches!(symbol.kind, SymbolKind::Operation | SymbolKind::Attribute) {
                let message =
                    format!("`{}` is already {} of a base", name.text, symbol.kind.what());
                let finding = Diagnostic::new(&rules::INHERITED_REDEFINED, name.span, message)
                    .label(symbol.name.span, "inherited from here")
                    .help("leave it out, it is inherited, or choose another name");
                return Some(finding);
            }
        }
        None
    }

    /// A name that was used in a scope keeps its meaning there (clause 7.5.2).
    fn report_used(&mut self, name: &Name, folded: &Rc<str>) {
        let Some(used) = self.scope(self.current).used.get(folded) else {
            return;
        };
        let used = used.clone();
        if used.text == name.text {
            let message = format!("`{}` has been used here with another meaning", name.text);
            let finding = Diagnostic::new(&rules::REDEFINED_AFTER_USE, name.span, message)
                .label(used.span, "used here")
                .help("choose another name, or write the used one with its scope: `::M::Name`");
            self.diagnostics.push(finding);
        } else if self.noted.insert(folded.clone()) {
            let message = format!("`{}` differs from `{}` only in case", name.text, used.text);
            let note = Diagnostic::new(&rules::CASE_AFTER_USE, name.span, message)
                .label(used.span, "used here")
                .help("strict compilers refuse it");
            self.diagnostics.push(note);
        }
    }

    /// What a name means in the current scope; what does not mean anything is reported.
    pub(super) fn lookup(&mut self, name: &ScopedName) -> Option<SymbolId> {
        let first = &name.parts[0];
        let mut found = if name.is_global {
            self.member(ROOT, first)
        } else {
            let (scope, symbol) = self.visible(first).unzip();
            if let Some(scope) = scope {
                self.mark_used(scope, first);
            }
            symbol
        };
        if found.is_none() {
            self.report_unknown(name, first, self.current);
        }
        for (index, part) in name.parts.iter().enumerate() {
            if index > 0 {
                found = self.lookup_in(found?, name, part);
            }
            self.check_case(found?, part)?;
        }
        found
    }

    fn lookup_in(&mut self, outer: SymbolId, name: &ScopedName, part: &Name) -> Option<SymbolId> {
        let symbol = self.symbol(outer);
        if symbol.kind == SymbolKind::Outside {
            return None;
        }
        let Some(scope) = symbol.inner else {
            let message = format!("`{}` is {}, not a scope", symbol.name.text, symbol.kind.what());
            let mut finding = Diagnostic::new(&rules::NOT_A_SCOPE, part.span, message)
                .label(symbol.name.span, "declared here");
            if symbol.kind == SymbolKind::Enum {
                finding = finding.help("enumerators belong to the scope that the enum stands in");
            }
            self.diagnostics.push(finding);
            return None;
        };
        let found = self.member(scope, part);
        if found.is_none() {
            self.report_unknown(name, part, scope);
        }
        found
    }

    /// The innermost meaning of a name, and the scope that holds it. One that is spelled so comes
    /// before one that differs in case, wherever they stand.
    fn visible(&mut self, name: &Name) -> Option<(ScopeId, SymbolId)> {
        let mut at = Some(self.current);
        let mut other_case = None;
        while let Some(scope) = at {
            if let Some(symbol) = self.member(scope, name) {
                let found = (self.symbol(symbol).scope, symbol);
                if self.symbol(symbol).name.text == name.text {
                    return Some(found);
                }
                other_case = other_case.or(Some(found));
            }
            at = self.scope(scope).parent;
        }
        other_case
    }

    /// What a scope calls a name, its bases asked too.
    pub(super) fn member(&mut self, scope: ScopeId, name: &Name) -> Option<SymbolId> {
        let folded = self.fold(&name.text);
        let own = self.scope(scope).names.get(&folded).copied();
        if own.is_some_and(|own| self.symbol(own).name.text == name.text) {
            return own;
        }
        let candidates: Vec<(ScopeId, SymbolId)> = self
            .scope(scope)
            .ancestors
            .iter()
            .filter_map(|base| Some((*base, *self.scope(*base).names.get(&folded)?)))
            .collect();
        let Some((_, first)) = candidates.first().copied() else {
            return own;
        };
        if let (Some(_), false) = (own, self.symbol(first).name.text == name.text) {
            return own;
        }
        if candidates.len() == 1 {
            return Some(first);
        }
        // A base of another candidate is hidden by it.
        let is_hidden = |base: ScopeId| {
            candidates.iter().any(|(other, _)| self.scope(*other).ancestors.contains(&base))
        };
        let left: Vec<SymbolId> =
            candidates.iter().filter(|(base, _)| !is_hidden(*base)).map(|(_, id)| *id).collect();
        if let [one, other, ..] = left[..] {
            let spans = [one, other].map(|id| self.symbol(id).name.span);
            let message = format!("`{}` is inherited from two interfaces", name.text);
            let finding = Diagnostic::new(&rules::AMBIGUOUS, name.span, message)
                .label(spans[0], "one is declared here")
                .label(spans[1], "the other is declared here")
                .help("say which: write the interface and `::` before it");
            self.diagnostics.push(finding);
        }
        Some(left.first().copied().unwrap_or(first))
    }

    /// Uses a name in the current scope, and in those that enclose it up to the module.
    fn mark_used(&mut self, holder: ScopeId, name: &Name) {
        if self.dialect == Dialect::Midl {
            // An inner name hides an outer one in C, used before or not.
            return;
        }
        let folded = self.fold(&name.text);
        let mut at = self.current;
        while at != holder {
            let scope = self.scope_mut(at);
            scope.used.entry(folded.clone()).or_insert_with(|| name.clone());
            let (is_module, parent) = (scope.is_module, scope.parent);
            match parent {
                Some(parent) if !is_module && !self.scope(parent).is_module => at = parent,
                _ => return,
            }
        }
    }

    fn check_case(&mut self, found: SymbolId, name: &Name) -> Option<()> {
        let symbol = self.symbol(found);
        if symbol.name.text == name.text {
            return Some(());
        }
        let message = format!("`{}` is declared as `{}`", name.text, symbol.name.text);
        let finding = Diagnostic::new(&rules::OTHER_CASE, name.span, message)
            .label(symbol.name.span, "declared here")
            .help(format!("write `{}`", symbol.name.text));
        self.diagnostics.push(finding);
        None
    }
}

/// A name that is that of the scope it stands in, or differs from it only in case.
fn own_name(name: &Name, owner: &Symbol) -> Diagnostic {
    let what = owner.kind.what().split_once(' ').map_or("scope", |(_, what)| what);
    let (rule, has, help) = match owner.name.text == name.text {
        true => (&rules::OWN_NAME, "has the name", "choose another name"),
        false => {
            let has = "differs only in case from the name";
            (&rules::OWN_NAME_CASE, has, "strict compilers refuse it")
        }
    };
    let message = format!("`{}` {has} of the {what} it stands in", name.text);
    Diagnostic::new(rule, name.span, message).label(owner.name.span, "declared here").help(help)
}
