//! What keeps a header from being read twice, and a type from being defined twice: headers of one
//! program may hold the same type, which both include or which has no name. What they hold under
//! one name has to be the same: where the second were left out, programs would be compiled with the
//! first, and its stubs with the second.

use crate::back::c::names::upper;
use crate::back::c::text::Text;
use crate::hash::{digest, hex};

/// Opens the guard of a header. Two interface files of the same name are two files.
pub fn open_header(heading: &mut Text, (stem, suffix): (&str, &str), body: &str) {
    let guard = format!("NEARCALL_GENERATED_{}_{}_{suffix}", upper(stem), fingerprint(body));
    heading.line(format!("#ifndef {guard}"));
    heading.line(format!("#define {guard}"));
}

/// A definition that other headers may hold, too.
pub fn print_guarded(name: &str, definition: Text, text: &mut Text) {
    let definition = definition.finish();
    let own = fingerprint(&without_comments(&definition));
    let guard = format!("NEARCALL_HAS_{name}");
    text.line(format!("#ifndef {guard}"));
    text.line(format!("#define {guard} 0x{own}"));
    text.lines(definition.lines().map(String::from));
    text.line(format!("#elif {guard} != 0x{own}"));
    text.line(format!("#error \"{name} is something else in another header that is included\""));
    text.line("#endif");
    text.line("");
}

/// Functions of a type, which are the same wherever the type is.
pub fn print_functions(tag: &str, functions: Text, text: &mut Text) {
    let guard = format!("NEARCALL_HAS_FUNCTIONS_OF_{tag}");
    text.line(format!("#ifndef {guard}"));
    text.line(format!("#define {guard}"));
    text.lines(functions.finish().lines().map(String::from));
    text.line("#endif");
    text.line("");
}

/// Eight digits, in which two texts differ.
fn fingerprint(text: &str) -> String {
    hex(&digest(text))[..8].to_owned()
}

/// What is said of a type does not make it another one.
fn without_comments(text: &str) -> String {
    let mut parts = text.split("/*");
    let mut bare = parts.next().unwrap_or_default().to_owned();
    parts.for_each(|part| bare += part.split_once("*/").map_or("", |(_, behind)| behind));
    bare.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guarded(definition: &str) -> String {
        let (mut own, mut text) = (Text::default(), Text::default());
        own.lines(definition.lines().map(String::from));
        print_guarded("a", own, &mut text);
        text.finish().lines().nth(1).expect("the guard").to_owned()
    }

    #[test]
    fn a_definition_is_known_by_what_it_says_to_a_compiler() {
        let plain = guarded("typedef struct a { int b; } a;");
        assert_eq!(plain, guarded("/* Said\n * of it. */\ntypedef struct a {\n    int b;\n} a;"));
        assert_ne!(plain, guarded("typedef struct a { char b; } a;"));
    }
}
