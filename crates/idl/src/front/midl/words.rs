//! Words of MIDL that are no names.

/// Words that begin or make a type.
const TYPES: &[&str] = &[
    "boolean",
    "byte",
    "char",
    "double",
    "enum",
    "error_status_t",
    "float",
    "handle_t",
    "hyper",
    "int",
    "long",
    "pipe",
    "short",
    "signed",
    "small",
    "struct",
    "union",
    "unsigned",
    "void",
    "wchar_t",
    "__int16",
    "__int32",
    "__int3264",
    "__int64",
    "__int8",
];

/// Words that begin a declaration, qualify a type, or are values.
const OTHERS: &[&str] = &[
    "case",
    "const",
    "default",
    "import",
    "interface",
    "switch",
    "typedef",
    "volatile",
    "FALSE",
    "NULL",
    "TRUE",
];

/// Words of COM and WinRT that begin what Nearcall has nothing for.
const COM: &[&str] = &[
    "apicontract",
    "coclass",
    "delegate",
    "dispinterface",
    "importlib",
    "library",
    "namespace",
    "runtimeclass",
];

/// Is the word one that no declaration can be called?
pub(in crate::front) fn is_reserved(word: &str) -> bool {
    TYPES.contains(&word) || OTHERS.contains(&word)
}

/// Does the word begin a declaration, so that a mistake before it has ended?
pub(in crate::front) fn begins_declaration(word: &str) -> bool {
    matches!(word, "typedef" | "const" | "interface" | "import" | "cpp_quote")
}

/// Does the word begin a construct of COM?
pub(super) fn begins_com(word: &str) -> bool {
    COM.contains(&word)
}

/// Does the word say how a type of C is read, and nothing about its values?
pub(super) fn is_qualifier(word: &str) -> bool {
    matches!(word, "const" | "volatile" | "__stdcall" | "__cdecl" | "extern" | "static")
}
