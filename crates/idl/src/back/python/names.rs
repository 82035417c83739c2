//! Which Python name everything gets.
//!
//! A file becomes one module, and what its scopes declare stands side by side in it: who wants a
//! name that is taken gets its scope before it (`Inner_Sample`), and then a `_` behind it. What a
//! module needs for itself begins with `_`, which no name of an interface file does.

use std::collections::BTreeMap;

use crate::back::rust::casing::{Case, cased};
use crate::back::rust::names::NameSet;
use crate::model::{Declaration, DeclarationId, Kind, Model, Operation};

/// Words that Python keeps for itself, and types that annotations in a class body name: a member
/// of that name would be taken for them.
const RESERVED: &[&str] = &[
    "False", "None", "True", "and", "as", "assert", "async", "await", "bool", "break", "bytes",
    "class", "continue", "def", "del", "dict", "elif", "else", "except", "finally", "float", "for",
    "from", "global", "if", "import", "in", "int", "is", "lambda", "list", "nonlocal", "not", "or",
    "pass", "raise", "return", "self", "str", "tuple", "try", "while", "with", "yield",
];

/// What a client, and a server, has besides its procedures.
const CLIENT: &[&str] = &["binding", "import_", "import_introduced", "posting", "with_deadline"];

/// What an exception has besides its members.
const EXCEPTION: &[&str] = &["add_note", "args", "ran", "with_traceback"];

/// What a union has besides its cases.
const UNION: &[&str] = &["discriminator", "value"];

/// Names that an interface gets.
#[derive(Clone, Debug, Default)]
pub struct InterfaceNames {
    /// The call stubs.
    pub client: String,
    /// The call stubs to be awaited.
    pub waiting: String,
    /// The stubs that post and do not wait.
    pub posting: String,
    /// What a server does.
    pub server: String,
    /// What a server does that is awaited.
    pub awaited: String,
    /// The table of its plan.
    pub table: String,
    /// The procedures, as functions; what carries a feed has none.
    pub functions: Vec<String>,
}

/// Every name of a compilation.
pub struct Names {
    declared: Vec<String>,
    interfaces: BTreeMap<DeclarationId, InterfaceNames>,
}

impl Names {
    /// Names everything: declarations of the file before what is made of interfaces.
    pub fn new(model: &Model) -> Names {
        let mut used = NameSet::default();
        let mut taken: Vec<String> = Vec::new();
        let mut declared = Vec::new();
        for declaration in &model.declarations {
            let name = match &declaration.kind {
                Kind::Interface(_) => String::new(),
                Kind::Constant(_) => unique(&mut taken, declaration, Case::Screaming, ""),
                _ => unique(&mut taken, declaration, Case::Camel, ""),
            };
            declared.push(name);
        }
        let mut interfaces = BTreeMap::new();
        for (id, declaration, interface) in model.interfaces() {
            let mut name = |end| unique(&mut taken, declaration, Case::Camel, end);
            let (client, waiting) = (name("Client"), name("AsyncClient"));
            let (posting, server) = (name("Posting"), name("Server"));
            let awaited = name("AsyncServer");
            let table = used.take(&format!("_{}", cased(own(declaration), Case::Screaming)));
            let functions = functions(&interface.operations);
            let stubs =
                InterfaceNames { client, waiting, posting, server, awaited, table, functions };
            interfaces.insert(id, stubs);
        }
        Names { declared, interfaces }
    }

    /// Name of a declaration.
    pub fn declaration(&self, id: DeclarationId) -> &str {
        &self.declared[id.0 as usize]
    }

    /// Names that an interface gets.
    pub fn interface(&self, id: DeclarationId) -> &InterfaceNames {
        &self.interfaces[&id]
    }
}

/// Names of the members of a struct, or of an exception.
pub fn member_names<'n>(names: impl Iterator<Item = &'n str>, is_exception: bool) -> Vec<String> {
    let mut used = NameSet::with(RESERVED);
    for name in EXCEPTION.iter().filter(|_| is_exception) {
        used.take(name);
    }
    names.map(|name| used.take(&cased(name, Case::Snake))).collect()
}

/// Names of the cases of a union.
pub fn case_names<'n>(names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let mut used = NameSet::with(RESERVED);
    for name in UNION {
        used.take(name);
    }
    names.map(|name| used.take(&cased(name, Case::Snake))).collect()
}

/// Names of the parameters.
pub fn parameter_names(operation: &Operation) -> Vec<String> {
    member_names(operation.parameters.iter().map(|parameter| parameter.name.as_str()), false)
}

/// The name of an enumerator, or of a flag.
pub fn constant_names<'n>(names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let mut used = NameSet::default();
    names.map(|name| used.take(&cased(name, Case::Screaming))).collect()
}

/// Attribute `x` is read by `x` and written by `set_x`.
fn functions(operations: &[Operation]) -> Vec<String> {
    let mut used = NameSet::with(RESERVED);
    for name in CLIENT {
        used.take(name);
    }
    // What carries a feed is called by no one.
    let named = operations.iter().filter(|operation| !operation.carries_feed());
    let names = named.map(|operation| match operation.attribute {
        Some(_) => match operation.name.strip_prefix("_get_") {
            Some(name) => name.to_owned(),
            None => operation.name.trim_start_matches('_').to_owned(),
        },
        None => operation.name.clone(),
    });
    let mut names = names.map(|name| used.take(&cased(&name, Case::Snake)));
    let mut name = |carries: bool| if carries { None } else { names.next() };
    operations.iter().map(|one| name(one.carries_feed()).unwrap_or_default()).collect()
}

fn own(declaration: &Declaration) -> &str {
    declaration.name.0.last().map(String::as_str).unwrap_or_default()
}

/// The name with as many scopes before it as make it new, and then as many `_` behind it.
fn unique(taken: &mut Vec<String>, declaration: &Declaration, case: Case, end: &str) -> String {
    let parts: Vec<String> = declaration.name.0.iter().map(|part| cased(part, case)).collect();
    let mut candidates = (0..parts.len()).rev().map(|from| {
        let name = parts[from..].join("_");
        let name = name.trim_end_matches('_');
        let name = format!("{name}{end}");
        if RESERVED.contains(&name.as_str()) { name + "_" } else { name }
    });
    let last = parts.join("_") + end;
    let free = candidates.find(|name| !taken.contains(name));
    let mut name = free.unwrap_or(last);
    while taken.contains(&name) {
        name.push('_');
    }
    taken.push(name.clone());
    name
}
