//! What things of a .proto file are called in each language: the table of design note 0012, every
//! name of which its example's stubs have.

use std::path::Path;

use nearcall_idl::back::LANGUAGES;
use nearcall_idl::diagnostic::render;
use nearcall_idl::front::compile_from;
use nearcall_idl::front::options::Options;
use nearcall_idl::front::preprocessor::files::InMemory;
use nearcall_idl::source::SourceMap;

/// By the columns of the table.
const COLUMNS: [&str; 4] = ["rust", "c", "cpp", "python"];

/// What stubs write out, as nobody knows what stands around them, and what the table has for it.
const PATHS: &[(&str, &str)] = &[
    ("::core::option::", ""),
    ("::core::result::", ""),
    ("::nearcall::idl::acme::shop::", ""),
    ("::nearcall::idl::google::", "google::"),
    ("::std::boxed::", ""),
    ("::std::collections::", ""),
    ("::std::string::String", "String"),
    ("::std::vec::", ""),
    ("self::", ""),
    ("super::super::", ""),
];

/// What a whole path stands behind, whose `::` at its beginning is left out.
const OPENING: &[char] = &['<', '(', ' ', ','];

/// The stubs of the example in each language, cut into words and signs.
fn stubs(note: &str) -> [Vec<String>; 4] {
    let example = note.split("```proto\n").nth(1).expect("there is an example");
    let (text, _) = example.split_once("```").expect("the example ends");
    let mut files = InMemory::default();
    files.insert("shop.proto", text.as_bytes());
    let mut sources = SourceMap::default();
    let path = Path::new("shop.proto");
    let compilation = compile_from(&files, path, &Options::default(), &mut sources);
    let said = render::texts(&compilation.diagnostics, &sources, false);
    let model = compilation.model.unwrap_or_else(|| panic!("{said}"));
    COLUMNS.map(|name| {
        let language = LANGUAGES.iter().find(|language| language.name == name);
        let files = (language.expect("it is a language").compile)(&model, "shop");
        let text: String =
            files.expect("it is printed").into_iter().map(|file| file.text).collect();
        let text = PATHS.iter().fold(text, |text, (path, short)| text.replace(path, short));
        words(&OPENING.iter().fold(text, |text, opening| {
            text.replace(&format!("{opening}::"), &opening.to_string())
        }))
    })
}

/// Words, and signs one by one.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut is_open = false;
    for letter in text.chars() {
        let is_word = letter.is_alphanumeric() || letter == '_';
        match words.last_mut() {
            Some(word) if is_word && is_open => word.push(letter),
            _ if letter.is_whitespace() => {}
            _ => words.push(letter.to_string()),
        }
        is_open = is_word;
    }
    words
}

/// The code in a cell.
fn codes(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

#[test]
fn what_the_note_says_things_are_called_is_in_their_stubs() {
    let note = include_str!("../../../docs/design/0012-proto.md");
    let stubs = stubs(note);
    let table = note.split("| of the example | Rust | C | C++ | Python |\n").nth(1);
    let (table, _) = table.and_then(|rest| rest.split_once("\n\n")).expect("it is there");
    let (mut count, mut missing) = (0, Vec::new());
    for row in table.lines().skip(1) {
        let row = row.replace("\\|", "\u{1}");
        let cells: Vec<String> =
            row.split('|').skip(2).map(|cell| cell.replace('\u{1}', "|")).collect();
        assert!(cells.len() > COLUMNS.len(), "{row}");
        for ((cell, stubs), language) in cells.iter().zip(&stubs).zip(COLUMNS) {
            for code in codes(cell) {
                let wanted = words(code);
                let is_there = stubs.windows(wanted.len()).any(|found| found == wanted)
                    || is_prefix(code, stubs);
                if !is_there {
                    missing.push(format!("{language} has no `{code}`"));
                }
                count += 1;
            }
        }
    }
    println!("{count} names");
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(count >= 100, "only {count} names");
}

/// What begins names, and is none.
fn is_prefix(code: &str, stubs: &[String]) -> bool {
    code.ends_with('_') && stubs.iter().any(|word| word.starts_with(code))
}
