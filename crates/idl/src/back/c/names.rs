//! Names: scopes joined by `_`, as the OMG mapping does. A name that C or C++ keeps for itself, or
//! that another declaration has, gets a `_` behind.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{DeclarationId, Kind, Model};

/// Words that are no names in C11, in C++17, or where this library's macros are.
const KEPT: &[&str] = &[
    "NULL",
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "assert",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "char16_t",
    "char32_t",
    "class",
    "compl",
    "const",
    "const_cast",
    "constexpr",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "errno",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "i386",
    "if",
    "inline",
    "int",
    "linux",
    "long",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "offsetof",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "stderr",
    "stdin",
    "stdout",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "typeof",
    "union",
    "unix",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
];

/// Names that are taken.
#[derive(Default)]
pub struct NameSet(BTreeSet<String>);

impl NameSet {
    /// The name, or what it is called here.
    pub fn take(&mut self, name: &str) -> String {
        let is_ours = ["nc_", "nearcall", "NEARCALL"].iter().any(|own| name.starts_with(own));
        let mut name = name.to_owned();
        if KEPT.contains(&&*name) || is_ours {
            name.push('_');
        }
        while !self.0.insert(name.clone()) {
            name.push('_');
        }
        name
    }
}

/// What everything in the global name space is called.
pub struct Names {
    declarations: Vec<String>,
    enumerators: BTreeMap<(DeclarationId, u32), String>,
    functions: BTreeMap<(DeclarationId, u32), String>,
}

impl Names {
    /// Names for a model.
    pub fn new(model: &Model) -> Names {
        let mut taken = NameSet::default();
        let names = model.declarations.iter().map(|one| taken.take(&one.name.0.join("_")));
        let declarations: Vec<String> = names.collect();
        let (mut enumerators, mut functions) = (BTreeMap::new(), BTreeMap::new());
        for (declaration, id) in model.declarations.iter().zip((0u32..).map(DeclarationId)) {
            match &declaration.kind {
                Kind::Enum(shape) => {
                    let scope = &declaration.name.0[..declaration.name.0.len().saturating_sub(1)];
                    for (one, index) in shape.enumerators.iter().zip(0u32..) {
                        let parts = [scope, std::slice::from_ref(&one.name)].concat();
                        enumerators.insert((id, index), taken.take(&parts.join("_")));
                    }
                }
                Kind::Interface(interface) => {
                    let own = &declarations[id.0 as usize];
                    let all = interface.operations.iter().zip(0u32..);
                    for (operation, index) in all.filter(|(one, _)| !one.carries_feed()) {
                        let name = taken.take(&format!("{own}_{}", operation.name));
                        functions.insert((id, index), name);
                    }
                }
                _ => {}
            }
        }
        // After what users see the names of; less the `_` before it, which would be two together.
        for (id, _, interface) in model.interfaces() {
            let own = &declarations[id.0 as usize];
            let all = interface.operations.iter().zip(0u32..);
            for (operation, index) in all.filter(|(one, _)| one.carries_feed()) {
                functions.insert((id, index), taken.take(&format!("{own}{}", operation.name)));
            }
        }
        Names { declarations, enumerators, functions }
    }

    /// A declaration.
    pub fn declaration(&self, id: DeclarationId) -> &str {
        &self.declarations[id.0 as usize]
    }

    /// An enumerator.
    pub fn enumerator(&self, id: DeclarationId, index: u32) -> &str {
        self.enumerators.get(&(id, index)).map_or("", String::as_str)
    }

    /// The call stub of a procedure.
    pub fn function(&self, interface: DeclarationId, procedure: u32) -> &str {
        self.functions.get(&(interface, procedure)).map_or("", String::as_str)
    }
}

/// Members, parameters, operations: names that stand beside each other and nowhere else.
pub fn beside<'n>(names: impl IntoIterator<Item = &'n str>) -> Vec<String> {
    let mut taken = NameSet::default();
    names.into_iter().map(|name| taken.take(name)).collect()
}

/// A name that has nothing beside it.
pub fn plain(name: &str) -> String {
    NameSet::default().take(name)
}

/// In upper case, with `_` for what is no letter and no digit.
pub fn upper(name: &str) -> String {
    let upper = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    name.chars().map(upper).collect()
}
