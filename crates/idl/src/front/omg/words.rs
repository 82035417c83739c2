//! The keywords of clause 7.2.4, table 7-6.
//!
//! Those of building blocks that Nearcall does not map stay usable as names, because files written
//! for the data types alone use `port`, `context` or `home` freely; the parser notes it.

use std::collections::HashMap;
use std::sync::OnceLock;

/// Words that are keywords everywhere.
const RESERVED: &[&str] = &[
    "abstract",
    "any",
    "attribute",
    "bitfield",
    "bitmask",
    "bitset",
    "boolean",
    "case",
    "char",
    "const",
    "default",
    "double",
    "enum",
    "exception",
    "FALSE",
    "fixed",
    "float",
    "getraises",
    "in",
    "inout",
    "int16",
    "int32",
    "int64",
    "int8",
    "interface",
    "local",
    "long",
    "map",
    "module",
    "native",
    "Object",
    "octet",
    "oneway",
    "out",
    "raises",
    "readonly",
    "sequence",
    "setraises",
    "short",
    "string",
    "struct",
    "switch",
    "TRUE",
    "typedef",
    "typeid",
    "typeprefix",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
    "union",
    "unsigned",
    "ValueBase",
    "void",
    "wchar",
    "wstring",
];

/// Words that are keywords only where a building block outside puts them.
const ELSEWHERE: &[&str] = &[
    "alias",
    "component",
    "connector",
    "consumes",
    "context",
    "custom",
    "emits",
    "eventtype",
    "factory",
    "finder",
    "home",
    "import",
    "manages",
    "mirrorport",
    "multiple",
    "port",
    "porttype",
    "primarykey",
    "private",
    "provides",
    "public",
    "publishes",
    "supports",
    "truncatable",
    "typename",
    "uses",
    "valuetype",
];

/// Longest word of the table.
const BYTES_MAX: usize = 11;

struct Words {
    /// Folded to lower case, to the spelling and whether it is reserved.
    by_folded: HashMap<String, (&'static str, bool)>,
}

fn words() -> &'static Words {
    static WORDS: OnceLock<Words> = OnceLock::new();
    WORDS.get_or_init(|| {
        let reserved = RESERVED.iter().map(|word| (word.to_ascii_lowercase(), (*word, true)));
        let elsewhere = ELSEWHERE.iter().map(|word| (word.to_ascii_lowercase(), (*word, false)));
        Words { by_folded: reserved.chain(elsewhere).collect() }
    })
}

fn find(text: &str) -> Option<(&'static str, bool)> {
    if text.len() > BYTES_MAX {
        return None;
    }
    words().by_folded.get(&text.to_ascii_lowercase()).copied()
}

/// The keyword that `text` is, in whatever case.
pub(in crate::front) fn keyword_like(text: &str) -> Option<&'static str> {
    find(text).map(|(keyword, _)| keyword)
}

/// Is the keyword one that is never a name?
pub(in crate::front) fn is_reserved(keyword: &str) -> bool {
    find(keyword).is_some_and(|(_, is_reserved)| is_reserved)
}

/// Does the word begin a definition, so that a mistake before it has ended?
pub(in crate::front) fn begins_definition(word: &str) -> bool {
    matches!(
        word,
        "bitmask"
            | "bitset"
            | "const"
            | "enum"
            | "exception"
            | "interface"
            | "module"
            | "struct"
            | "typedef"
            | "union"
            | "valuetype"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_found_in_any_case() {
        assert_eq!(keyword_like("Interface"), Some("interface"));
        assert_eq!(keyword_like("false"), Some("FALSE"));
        assert_eq!(keyword_like("interfaces"), None);
        assert!(is_reserved("struct"));
        assert!(!is_reserved("port"));
    }

    #[test]
    fn no_keyword_is_longer_than_the_limit() {
        let longest = RESERVED.iter().chain(ELSEWHERE).map(|word| word.len()).max();
        assert_eq!(longest, Some(BYTES_MAX));
    }
}
