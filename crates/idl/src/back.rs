//! Back ends: plan to text. A back end prints steps and decides nothing about layout or checks.

pub mod c;
pub mod cpp;
pub mod python;
pub mod rust;

use std::fmt;

use crate::model::{Model, Operation};

/// A language that stubs are printed in.
pub struct Language {
    /// What it is called on the command line.
    pub name: &'static str,
    /// Prints a model; the text is the interface file's name, without its end.
    pub compile: fn(&Model, &str) -> Printed,
}

/// What a back end prints: every file, or all that it cannot express.
pub type Printed = Result<Vec<Output>, Vec<Unsupported>>;

/// One file of a back end's output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// What follows the interface file's name, without its end, in the name of this one.
    pub suffix: &'static str,
    /// What is in it.
    pub text: String,
}

/// Something that a language cannot express yet. Nothing is printed then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// The operation or declaration, scoped.
    pub place: String,
    /// What of it, and why.
    pub reason: String,
}

/// Every language there is; the first is the one that is meant if none is named.
pub const LANGUAGES: &[Language] = &[
    Language {
        name: "rust",
        compile: |model, _| Ok(vec![Output { suffix: ".rs", text: rust::compile_rust(model) }]),
    },
    Language { name: "c", compile: c::compile_c },
    Language { name: "cpp", compile: cpp::compile_cpp },
    Language {
        name: "python",
        compile: |model, _| {
            let unsupported = feeds_not_yet(model, "Python");
            match unsupported.is_empty() {
                false => Err(unsupported),
                true => Ok(vec![Output { suffix: ".py", text: python::compile_python(model) }]),
            }
        },
    },
];

/// Operations that need what a language has no stubs for yet.
fn not_yet(
    model: &Model,
    (language, what): (&str, &str),
    needs: fn(&Operation) -> bool,
) -> Vec<Unsupported> {
    let mut found = Vec::new();
    for (_, declaration, interface) in model.interfaces() {
        let own = interface.operations.iter().filter(|one| !one.carries_feed() && needs(one));
        found.extend(own.map(|operation| {
            let place = format!("{}::{}", declaration.name, operation.name);
            let reason = format!("it {what}; {language} has no stubs for that yet");
            Unsupported { place, reason }
        }));
    }
    found
}

/// Operations that are feeds.
fn feeds_not_yet(model: &Model, language: &str) -> Vec<Unsupported> {
    not_yet(model, (language, "is a feed (`@feed`, `stream`)"), |one| one.feed.is_some())
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.reason)
    }
}
