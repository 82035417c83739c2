//! The unsafe fence: where `unsafe` may stand, and that each one says why it holds.

use super::report::Report;
use super::tokens::{Token, is_at, is_identifier, text_at};
use super::tree::{File, Tree, comment_for};

/// Inside the fence.
const INSIDE: &[&str] = &[
    "bindings/python/src/descriptor.rs",
    "bindings/python/src/thread_state.rs",
    "bindings/python/src/view.rs",
    "crates/c/src/handle",
    "crates/nearcall/src/raw",
    "crates/os/",
    "crates/threads/",
    "testkit/tests/forks.rs",
    "tests/confining/src/ahead.rs",
    "tests/confining/src/caught.rs",
];

/// The crates whose root cannot forbid unsafe code, and what the root must say instead.
const PARTLY: &[(&str, Option<&str>)] = &[
    ("crates/os/", None),
    ("crates/threads/", None),
    ("crates/nearcall/", Some("deny")),
    ("crates/c/", Some("deny")),
    ("bindings/python/", Some("deny")),
    ("tests/confining/", Some("deny")),
];

pub fn check(tree: &Tree) -> Report {
    let mut report = Report::new("fence");
    let (mut files, mut roots, mut sites) = (0, 0, 0);
    for file in tree.all_rust() {
        files += 1;
        let found = sites_of(&file.tokens);
        sites += found.len();
        for site in found {
            if !INSIDE.iter().any(|place| file.path.starts_with(place)) {
                report.find(&file.path, site.line, "`unsafe` outside the fence");
            } else if let Some(reason) = site.unanswered(&file.text) {
                report.find(&file.path, site.line, reason);
            }
        }
        if is_root(&file.path) {
            roots += 1;
            root(file, &mut report);
        }
    }
    report.counted(&[(files, "files"), (roots, "crate roots"), (sites, "unsafe sites")])
}

struct Site {
    kind: Kind,
    line: usize,
}

/// Which side of a contract an `unsafe` is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A function or a trait: it sets conditions.
    Asks,
    /// A block, an implementation, an attribute, foreign code: it says they are met.
    Answers,
    /// A type: nothing happens.
    Names,
}

fn sites_of(tokens: &[Token]) -> Vec<Site> {
    let unsafes = tokens.iter().enumerate().filter(|(_, token)| token.text == "unsafe");
    unsafes.map(|(i, token)| Site { kind: kind(tokens, i + 1), line: token.line }).collect()
}

fn kind(tokens: &[Token], after: usize) -> Kind {
    let mut at = after;
    if text_at(tokens, at) == "extern" {
        at += 1;
        if text_at(tokens, at).starts_with('"') {
            at += 1;
        }
    }
    match text_at(tokens, at) {
        "trait" => Kind::Asks,
        "fn" if is_identifier(text_at(tokens, at + 1)) => Kind::Asks,
        "fn" => Kind::Names,
        _ => Kind::Answers,
    }
}

impl Site {
    /// What is missing beside it.
    fn unanswered(&self, text: &str) -> Option<&'static str> {
        let comment = comment_for(text, self.line);
        match self.kind {
            Kind::Names => None,
            Kind::Asks if comment.contains("# Safety") || comment.contains("SAFETY:") => None,
            Kind::Asks => Some("an unsafe function or trait without a `# Safety` section"),
            Kind::Answers if comment.contains("SAFETY:") => None,
            Kind::Answers => Some("`unsafe` without a `SAFETY:` comment"),
        }
    }
}

fn is_root(path: &str) -> bool {
    let is_binary = path.contains("/src/bin/") && path.split("/src/bin/").nth(1).is_some();
    path.ends_with("src/lib.rs") || path.ends_with("src/main.rs") || is_binary
}

fn root(file: &File, report: &mut Report) {
    let partly = PARTLY.iter().find(|(place, _)| file.path.starts_with(place));
    let level = match partly {
        Some((_, None)) => return,
        Some((_, Some(level))) => level,
        None => "forbid",
    };
    let levels = [level, "forbid"];
    let has = levels.iter().any(|level| {
        let attribute = ["#", "!", "[", level, "(", "unsafe_code", ")", "]"];
        (0..file.tokens.len()).any(|i| is_at(&file.tokens, i, &attribute))
    });
    if !has {
        report.find(&file.path, 1, format!("crate root without `#![{level}(unsafe_code)]`"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::canary;

    const BLOCK: &str = "fn a() {\n    unsafe { b() }\n}\n";

    #[test]
    fn unsafe_outside_the_fence_is_found() {
        let answered = "fn a() {\n    // SAFETY: it is.\n    unsafe { b() }\n}\n";
        canary::finds(check, &[("crates/core/src/a.rs", answered)], "outside the fence");
        canary::finds(check, &[("tests/idl/rust/a.rs", answered)], "outside the fence");
        canary::passes(check, &[("crates/os/src/a.rs", answered)]);
    }

    #[test]
    fn unsafe_in_a_macro_is_found() {
        let hidden = "macro_rules! a { () => { unsafe { b() } } }";
        canary::finds(check, &[("crates/core/src/a.rs", hidden)], "outside the fence");
    }

    #[test]
    fn unsafe_without_a_reason_is_found() {
        canary::finds(check, &[("crates/os/src/a.rs", BLOCK)], "`SAFETY:`");
        let implementation = "struct A;\nunsafe impl Send for A {}\n";
        canary::finds(check, &[("crates/os/src/a.rs", implementation)], "`SAFETY:`");
    }

    #[test]
    fn an_unsafe_function_without_conditions_is_found() {
        let function = "pub unsafe fn a() {}\n";
        canary::finds(check, &[("crates/os/src/a.rs", function)], "`# Safety`");
        let good = "/// # Safety\n///\n/// - S1: never.\npub unsafe fn a() {}\n";
        canary::passes(check, &[("crates/os/src/a.rs", good)]);
    }

    #[test]
    fn a_root_that_does_not_forbid_is_found() {
        canary::finds(check, &[("bench/src/main.rs", "fn main() {}")], "forbid(unsafe_code)");
        canary::finds(check, &[("crates/nearcall/src/lib.rs", "//! a")], "deny(unsafe_code)");
        canary::passes(check, &[("crates/os/src/lib.rs", "//! os")]);
    }
}
