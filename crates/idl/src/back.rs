//! Back ends: plan to text. A back end prints steps and decides nothing about layout or checks.

pub mod allowed;
pub mod c;
pub mod cpp;
pub mod python;
pub mod rust;
pub mod undocumented;

use std::fmt;

use crate::model::Model;
use crate::selftest::Selftest;

/// A language that stubs are printed in.
pub struct Language {
    /// What it is called on the command line.
    pub name: &'static str,
    /// Prints a model; the text is the interface file's name, without its end.
    pub compile: fn(&Model, &str) -> Printed,
    /// Another one whose stubs are among its own, file by file.
    pub beside: Option<&'static str>,
    /// Prints a client and a server that know which values must arrive.
    pub selftest: fn(&Model, &str, &Selftest) -> Printed,
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
        beside: None,
        selftest: rust::selftest::selftest_rust,
    },
    Language { name: "c", compile: c::compile_c, beside: None, selftest: c::selftest::selftest_c },
    Language {
        name: "cpp",
        compile: cpp::compile_cpp,
        beside: Some("c"),
        selftest: cpp::selftest::selftest_cpp,
    },
    Language {
        name: "python",
        compile: |model, _| Ok(vec![Output { suffix: ".py", text: python::compile_python(model) }]),
        beside: None,
        selftest: python::selftest::selftest_python,
    },
];

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.reason)
    }
}
