//! What keeps a header from being read twice, and a type from being defined twice: headers of one
//! program may hold the same type, which both include or which has no name. What they hold under
//! one name has to be the same: where the second were left out, programs would be compiled with the
//! first, and its stubs with the second. What is printed beside a header asks whether it is that
//! one, and says so in one line: compiled with another, it is wrong in a hundred places or, where
//! nothing but an order has changed, in none that a compiler sees.

use crate::back::c::names::upper;
use crate::back::c::text::Text;
use crate::hash::{digest, hex};

/// The guard of a header. Two interface files of the same name are two files.
pub fn guard_of((stem, suffix): (&str, &str), body: &str) -> String {
    format!("NEARCALL_GENERATED_{}_{}_{suffix}", upper(stem), fingerprint(&without_comments(body)))
}

/// Opens the guard of a header.
pub fn open_header(heading: &mut Text, guard: &str) {
    heading.line(format!("#ifndef {guard}"));
    heading.line(format!("#define {guard}"));
}

/// What is behind this, up to [`close_expected`], is of the header with that guard alone.
pub fn expect_header(text: &mut Text, guard: &str, [header, own]: [&str; 2]) {
    text.line(format!("#ifndef {guard}"));
    let said = format!("{header} is of another version of the interface than {own}");
    text.line(format!("#error \"{said}: run nearcall compile again\""));
    text.line("#else");
}

/// Ends what an expected header is for.
pub fn close_expected(text: &mut Text) {
    text.line("#endif");
}

/// Says in a header of which operations the loop of an interface's server has to be. They stand in
/// `operations`, and not as a compiler prints a loop of them: another compiler may print the same
/// ones otherwise, and a copy is right for them still.
pub fn print_loop_guard(interface: &str, operations: &str, text: &mut Text) {
    text.line("/* Of which operations the server's loop has to be. */");
    let own = fingerprint(operations);
    text.line(format!("#define NEARCALL_LOOP_{interface} 0x{own}"));
}

/// Such a loop, which is of a header that is for it alone. Whoever has a copy of it edits that
/// again where operations change, and not whenever a header does.
pub fn print_guarded_loop(
    text: &mut Text,
    (header, interface): (&str, &str),
    (operations, code): (&str, &str),
) {
    let own = fingerprint(operations);
    text.line(format!("#if NEARCALL_LOOP_{interface} != 0x{own}"));
    let said = format!("{header} is of other operations of {interface} than this loop");
    text.line(format!("#error \"{said}: run nearcall compile again, and edit a copy anew\""));
    text.line("#else");
    text.lines(code.lines().map(String::from));
    close_expected(text);
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

/// The declaration of one of them, unless another header has defined it.
pub fn print_unless_defined(tag: &str, declaration: &str, text: &mut Text) {
    text.line(format!("#ifndef NEARCALL_HAS_FUNCTIONS_OF_{tag}"));
    text.line(declaration);
    text.line("#endif");
}

/// Eight digits, in which two texts differ.
fn fingerprint(text: &str) -> String {
    hex(&digest(text))[..8].to_owned()
}

/// What is said of a declaration does not make it another one; what a literal says does.
fn without_comments(text: &str) -> String {
    let (mut bare, mut quote) = (String::new(), None);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match quote {
            Some(_) if letter == '\\' => {
                bare.extend([Some(letter), letters.next()].iter().flatten())
            }
            Some(end) => {
                quote = (letter != end).then_some(end);
                bare.push(letter);
            }
            None if letter == '/' && letters.peek() == Some(&'*') => {
                letters.next();
                let mut before = ' ';
                letters.find(|&now| std::mem::replace(&mut before, now) == '*' && now == '/');
            }
            None if letter.is_whitespace() => {
                if !bare.ends_with(' ') {
                    bare.push(' ');
                }
            }
            None => {
                quote = matches!(letter, '"' | '\'').then_some(letter);
                bare.push(letter);
            }
        }
    }
    bare.trim().to_owned()
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

    #[test]
    fn a_loop_is_known_by_its_operations_however_it_is_printed() {
        let guard = |operations: &str, code: &str| {
            let mut text = Text::default();
            print_guarded_loop(&mut text, ("a.h", "A"), (operations, code));
            text.finish().lines().next().expect("the guard").to_owned()
        };
        let plain = guard("A_b b\nA_c c\n", "entries[procedure](server, call);");
        assert_eq!(plain, guard("A_b b\nA_c c\n", "switch (procedure) {}"));
        assert_ne!(plain, guard("A_c c\nA_b b\n", "entries[procedure](server, call);"));
        let mut header = Text::default();
        print_loop_guard("A", "A_b b\nA_c c\n", &mut header);
        let defined = header.finish();
        let own = plain.rsplit(' ').next().expect("the digits");
        assert!(defined.contains(&format!("NEARCALL_LOOP_A {own}")), "{defined}");
    }

    #[test]
    fn a_header_is_known_by_what_its_literals_say_too() {
        let guard = |body: &str| guard_of(("x", "H"), body);
        let plain = guard("#define A \"/*\" /* It's. */\n#define B 1\n");
        assert_eq!(plain, guard("#define A  \"/*\"\n#define B /* */ 1\n"));
        assert_ne!(plain, guard("#define A \"/*\"\n#define B 2\n"));
        assert_ne!(guard("#define A \" \\\" \""), guard("#define A \" \\\"  \""));
        assert_ne!(guard("#define A '\"'\n#define B 1"), guard("#define A '\"'\n#define B 2"));
    }
}
