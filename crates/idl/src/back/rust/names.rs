//! Which Rust name everything gets, and how one place refers to another.
//!
//! A scope of the interface file, be it a module, an interface or a struct, becomes a Rust module.
//! Types, constants and modules of one Rust module share one set of names; who comes second gets a
//! `_` behind its name. Declarations of the file come before names made here (`FilesClient`).

use std::collections::{BTreeMap, BTreeSet};

use crate::back::rust::casing::{Case, cased, ident};
use crate::back::rust::tokens::{TokenStream, quote};
use crate::model::{Declaration, DeclarationId, Kind, Model, Operation};

/// A module must not shadow a primitive type.
const PRIMITIVES: &[&str] = &[
    "bool", "char", "f32", "f64", "i128", "i16", "i32", "i64", "i8", "isize", "str", "u128", "u16",
    "u32", "u64", "u8", "usize",
];

/// What a client has besides its procedures.
const CLIENT_METHODS: &[&str] =
    &["awaiting", "binding", "clone", "import", "import_with", "new", "posting", "with_deadline"];

/// A set of names, each given once.
#[derive(Clone, Debug, Default)]
pub struct NameSet(BTreeSet<String>);

/// Names that an interface gets besides its declarations'.
#[derive(Clone, Debug, Default)]
pub struct InterfaceNames {
    /// The call stubs.
    pub client: String,
    /// The call stubs that post now and collect later.
    pub posting: String,
    /// The call stubs that are awaited.
    pub awaiting: String,
    /// What a server does.
    pub server: String,
    /// The entry stubs.
    pub entries: String,
    /// What a server does whose procedures are awaited.
    pub async_server: String,
    /// Its entry stubs.
    pub async_entries: String,
    /// The descriptor.
    pub descriptor: String,
    /// What each operation raises; empty for those that raise nothing.
    pub exceptions: Vec<String>,
    /// The procedures, as functions.
    pub functions: Vec<String>,
    /// The entry stubs' type parameter.
    pub generic: String,
}

/// One scope of the interface file.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// Rust modules from the root.
    pub path: Vec<String>,
    /// Index of the scope around it; the root is its own.
    pub parent: usize,
    used: NameSet,
}

/// Every name of a compilation.
pub struct Names {
    /// The root first, then in the order of the text.
    pub scopes: Vec<Scope>,
    by_name: BTreeMap<Vec<String>, usize>,
    declared: Vec<(usize, String)>,
    interfaces: BTreeMap<DeclarationId, InterfaceNames>,
}

impl NameSet {
    /// A set in which these are taken.
    pub fn with(taken: &[&str]) -> NameSet {
        NameSet(taken.iter().map(|name| (*name).to_owned()).collect())
    }

    /// The name, or the name with as many `_` behind it as make it new.
    pub fn take(&mut self, name: &str) -> String {
        let mut name = name.to_owned();
        while !self.0.insert(name.clone()) {
            name.push('_');
        }
        name
    }
}

impl Names {
    /// Names everything.
    pub fn new(model: &Model) -> Names {
        let root = Scope { used: NameSet::with(PRIMITIVES), ..Scope::default() };
        let mut names = Names {
            scopes: vec![root],
            by_name: BTreeMap::from([(Vec::new(), 0)]),
            declared: Vec::new(),
            interfaces: BTreeMap::new(),
        };
        for declaration in &model.declarations {
            let (_, scope) = split(declaration);
            names.open_scopes(scope);
        }
        for declaration in &model.declarations {
            let (own, scope) = split(declaration);
            let scope = names.by_name[scope];
            let name = match &declaration.kind {
                Kind::Interface(_) => String::new(),
                Kind::Constant(_) => names.take(scope, own, Case::Screaming),
                _ => names.take(scope, own, Case::Camel),
            };
            names.declared.push((scope, name));
        }
        names.name_modules();
        for (id, declaration, interface) in model.interfaces() {
            let (own, scope) = split(declaration);
            let scope = names.by_name[scope];
            let derived = names.interface_names(id, own, scope, &interface.operations);
            names.interfaces.insert(id, derived);
        }
        names
    }

    /// Rust name of a declaration.
    pub fn declaration(&self, id: DeclarationId) -> &str {
        &self.declared[id.0 as usize].1
    }

    /// Scope that a declaration stands in.
    pub fn scope_of(&self, id: DeclarationId) -> usize {
        self.declared[id.0 as usize].0
    }

    /// Names that an interface gets besides.
    pub fn interface(&self, id: DeclarationId) -> &InterfaceNames {
        &self.interfaces[&id]
    }

    /// How code in scope `from` refers to a declaration.
    pub fn path(&self, from: usize, id: DeclarationId) -> TokenStream {
        self.path_to(from, self.scope_of(id), self.declaration(id))
    }

    /// How code in scope `from` refers to `name` in scope `to`.
    pub fn path_to(&self, from: usize, to: usize, name: &str) -> TokenStream {
        let name = ident(name);
        let (from, to) = (&self.scopes[from].path, &self.scopes[to].path);
        let common = from.iter().zip(to).take_while(|(one, other)| one == other).count();
        let up = (common..from.len()).map(|_| quote!(super::));
        let down = to[common..].iter().map(|module| {
            let module = ident(module);
            quote!(#module::)
        });
        // Without `self` a module named `core` could be taken for the crate of that name.
        let own = (common == from.len() && common < to.len()).then(|| quote!(self::));
        quote!(#own #(#up)* #(#down)* #name)
    }

    fn open_scopes(&mut self, scope: &[String]) {
        for depth in 1..=scope.len() {
            let name = scope[..depth].to_vec();
            let parent = self.by_name[&name[..depth - 1]];
            let next = self.scopes.len();
            if let std::collections::btree_map::Entry::Vacant(entry) = self.by_name.entry(name) {
                entry.insert(next);
                let used = NameSet::with(PRIMITIVES);
                self.scopes.push(Scope { path: Vec::new(), parent, used });
            }
        }
    }

    /// Parents come before their children, so that one pass is enough. A module is not named as
    /// the one around it, which clippy calls inception.
    fn name_modules(&mut self) {
        let mut own_names = vec![String::new(); self.scopes.len()];
        for (name, index) in &self.by_name {
            own_names[*index] = name.last().cloned().unwrap_or_default();
        }
        for (index, own_name) in own_names.iter().enumerate().skip(1) {
            let parent = self.scopes[index].parent;
            if let Some(around) = self.scopes[parent].path.last().cloned() {
                self.scopes[parent].used.0.insert(around);
            }
            let module = self.take(parent, own_name, Case::Snake);
            let mut path = self.scopes[parent].path.clone();
            path.push(module);
            self.scopes[index].path = path;
        }
    }

    fn interface_names(
        &mut self,
        id: DeclarationId,
        own: &str,
        scope: usize,
        operations: &[Operation],
    ) -> InterfaceNames {
        let stem = cased(own, Case::Camel);
        let stem = stem.trim_end_matches('_');
        let used = &mut self.scopes[scope].used;
        let client = used.take(&format!("{stem}Client"));
        let server = used.take(&format!("{stem}Server"));
        let entries = used.take(&format!("{stem}Entries"));
        let descriptor = used.take(&cased(own, Case::Screaming));
        let posting = used.take(&format!("{stem}Posting"));
        let awaiting = used.take(&format!("{stem}Awaiting"));
        let async_server = used.take(&format!("{stem}AsyncServer"));
        let async_entries = used.take(&format!("{stem}AsyncEntries"));
        let mut exceptions = Vec::new();
        for operation in operations {
            let is_own = operation.declared_in == id && !operation.raises.is_empty();
            let name = function_name(operation, Case::Camel);
            let name = format!("{stem}{}Exception", name.trim_end_matches('_'));
            exceptions.push(if is_own { used.take(&name) } else { String::new() });
        }
        let mut functions = NameSet::with(CLIENT_METHODS);
        let names = operations.iter().map(|operation| function_name(operation, Case::Snake));
        let functions = names.map(|name| functions.take(&name)).collect();
        let generic = used.clone().take("S");
        InterfaceNames {
            client,
            posting,
            awaiting,
            server,
            entries,
            async_server,
            async_entries,
            descriptor,
            exceptions,
            functions,
            generic,
        }
    }

    fn take(&mut self, scope: usize, name: &str, case: Case) -> String {
        self.scopes[scope].used.take(&cased(name, case))
    }
}

/// Own name and scope.
fn split(declaration: &Declaration) -> (&str, &[String]) {
    match declaration.name.0.split_last() {
        Some((own, scope)) => (own, scope),
        None => ("", &[]),
    }
}

/// A getter is named as its attribute, a setter `set_` and its attribute.
fn function_name(operation: &Operation, case: Case) -> String {
    let name = match &operation.attribute {
        Some(_) => {
            let name = operation.name.as_str();
            let getter = name.strip_prefix("_get_").map(String::from);
            getter.or_else(|| name.strip_prefix("_set_").map(|name| format!("set_{name}")))
        }
        None => None,
    };
    cased(name.as_deref().unwrap_or(&operation.name), case)
}
