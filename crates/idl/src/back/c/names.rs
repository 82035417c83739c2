//! Names: scopes joined by `_`, as the OMG mapping does. A name that C or C++ keeps for itself, or
//! that another declaration has, gets a `_` behind; one that begins as what is generated does gets
//! `idl_` before it, so that no name of a user's begins so.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::LazyLock;

use crate::model::{Declaration, DeclarationId, Kind, Model};

/// Words that are no names in C11 or in C++17, what stubs call and declare by, and macros of other
/// processors than those that [`MACROS`] is from.
const KEPT: &[&str] = &[
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
    "int16_t",
    "int32_t",
    "int64_t",
    "int8_t",
    "long",
    "memcpy",
    "memset",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
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
    "size_t",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
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
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "uint8_t",
    "union",
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

/// Macros of the headers that nearcall.h and nearcall.hpp include, one a line, without those that
/// begin with `_`, which no name of an interface file does. From `-dM -E` of gcc 12 and clang 14,
/// as C11 to C23 and C++17 to C++23 and with the extensions of GNU, with glibc 2.36 on x86-64; a
/// test in tests/stubs-c says what another compiler or library has besides.
static MACROS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| include_str!("macros.txt").lines().collect());

/// Before the name of each system call: every new kernel has more of these macros.
const SYSTEM_CALL: &str = "SYS_";

/// What functions that are generated call their parameters and locals, where none of a user's stand
/// beside them, and what this library calls its own as it would what belongs to a type, or as it
/// calls a type without a name. A type of that name, outside of any module, would be hidden there.
const LOCALS: &[&str] = &[
    "at",
    "buffer",
    "bytes",
    "call",
    "capacity",
    "character",
    "client",
    "copy",
    "count",
    "deadline_ns",
    "domain",
    "entries",
    "entry",
    "env",
    "exception",
    "i",
    "introduction",
    "is_present",
    "items",
    "key",
    "long_double",
    "name",
    "options",
    "owner",
    "plain",
    "procedure",
    "reader",
    "revoked",
    "room",
    "self",
    "server",
    "std",
    "takes",
    "target",
    "text",
    "unwritten",
    "value",
    "word",
    "writer",
    "writers",
];

/// Between what imports or exports an interface otherwise and the interface's name: with options,
/// and with procedures that reply later.
const BETWEEN: [&str; 3] = ["with_", "async_", "with_async_"];

/// Names that are taken.
#[derive(Default)]
pub struct NameSet(BTreeSet<String>);

impl NameSet {
    /// The name, or what it is called here.
    pub fn take(&mut self, name: &str) -> String {
        self.take_beside(name, &NameSet::default())
    }

    /// The same of an interface beside others: `nearcall_import_with_x` is what imports `x` with
    /// options, and would import `with_x`.
    fn take_interface(&mut self, name: &str, interfaces: &mut BTreeSet<String>) -> String {
        let mut own = self.take(name);
        while BETWEEN.iter().any(|between| {
            interfaces.contains(&format!("{between}{own}"))
                || own.strip_prefix(between).is_some_and(|rest| interfaces.contains(rest))
        }) {
            own = self.take(&format!("{own}_"));
        }
        interfaces.insert(own.clone());
        own
    }

    /// The same where others are taken, too.
    fn take_beside(&mut self, name: &str, others: &NameSet) -> String {
        let is_ours = ["nc_", "nearcall", "NEARCALL"].iter().any(|own| name.starts_with(own));
        let mut name = if is_ours { format!("idl_{name}") } else { name.to_owned() };
        if KEPT.contains(&&*name) || MACROS.contains(&*name) || name.starts_with(SYSTEM_CALL) {
            name.push('_');
        }
        while others.0.contains(&name) || !self.0.insert(name.clone()) {
            name.push('_');
        }
        name
    }
}

/// What everything in the global name space is called, and what is not called as any of it.
pub struct Names {
    taken: NameSet,
    /// They are macros, which stand in no scope.
    constants: NameSet,
    declarations: Vec<String>,
    enumerators: BTreeMap<(DeclarationId, u32), String>,
    functions: BTreeMap<(DeclarationId, u32), String>,
}

impl Names {
    /// Names for a model.
    pub fn new(model: &Model) -> Names {
        let mut taken = NameSet(LOCALS.iter().map(|name| (*name).to_owned()).collect());
        let mut interfaces = BTreeSet::new();
        let names = model.declarations.iter().map(|one| {
            let name = one.name.0.join("_");
            match one.kind {
                Kind::Interface(_) => taken.take_interface(&name, &mut interfaces),
                _ => taken.take(&name),
            }
        });
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
        // A parameter hides no local of a stub, whose names begin with `nc_`.
        taken.0.retain(|name| !LOCALS.contains(&&**name));
        let is_constant = |one: &&Declaration| matches!(one.kind, Kind::Constant(_));
        let all = model.declarations.iter().zip(&declarations);
        let constants = all.filter(|(one, _)| is_constant(one)).map(|(_, name)| name.clone());
        let constants = NameSet(constants.collect());
        Names { taken, constants, declarations, enumerators, functions }
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

    /// Members and operations: names that stand beside each other and nowhere else.
    pub fn beside<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Vec<String> {
        let mut taken = NameSet::default();
        names.into_iter().map(|name| taken.take_beside(name, &self.constants)).collect()
    }

    /// Parameters, which would hide what a stub needs of the global name space.
    pub fn parameters<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Vec<String> {
        let mut taken = NameSet::default();
        names.into_iter().map(|name| taken.take_beside(name, &self.taken)).collect()
    }

    /// A name that has nothing beside it.
    pub fn plain(&self, name: &str) -> String {
        NameSet::default().take_beside(name, &self.constants)
    }
}

/// In upper case, with `_` for what is no letter and no digit.
pub fn upper(name: &str) -> String {
    let upper = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    name.chars().map(upper).collect()
}
