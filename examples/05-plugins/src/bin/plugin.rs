//! `plugin KIND DIRECTORY`: a plug-in of this kind, whose interface is exported in DIRECTORY until
//! standard input ends.

#![forbid(unsafe_code)]

use std::error::Error;
use std::io::Read;
use std::path::PathBuf;

use nearcall::name::Scope;
use nearcall::{Clerk, Domain, ExportOptions};
use plugins_example::NAME;
use plugins_example::filters::{FilterApplyException, FilterEntries, FilterServer, Refused};

/// What a plug-in does with a text; two of them may fail at it.
enum Kind {
    /// Has it end with what it began with.
    Reverse,
    /// Writes it in capitals; refuses what is not ASCII.
    Upper,
    /// Appends a point, also where that makes the text too long; crashes where there is an
    /// exclamation mark, and panics where there is a hash.
    Fragile,
    /// Leaves it as it is; never answers where there is a question mark.
    Stuck,
}

impl FilterServer for Kind {
    fn apply(&self, text: &str) -> Result<String, FilterApplyException> {
        match self {
            Kind::Reverse => Ok(text.chars().rev().collect()),
            Kind::Upper if text.is_ascii() => Ok(text.to_ascii_uppercase()),
            Kind::Upper => Err(Refused { why: "not ASCII".to_owned() }.into()),
            Kind::Fragile if text.contains('!') => std::process::abort(),
            Kind::Fragile if text.contains('#') => panic!("a hash"),
            Kind::Fragile => Ok(format!("{text}.")),
            Kind::Stuck if text.contains('?') => loop {
                std::thread::park();
            },
            Kind::Stuck => Ok(text.to_owned()),
        }
    }
}

fn main() {
    if let Err(error) = serve() {
        eprintln!("plugin: {error}");
        std::process::exit(1);
    }
}

fn serve() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, directory] = &arguments[..] else {
        return Err("usage: plugin KIND DIRECTORY".into());
    };
    let kind = match kind.as_str() {
        "reverse" => Kind::Reverse,
        "upper" => Kind::Upper,
        "fragile" => Kind::Fragile,
        "stuck" => Kind::Stuck,
        other => return Err(format!("no plug-in is called {other}").into()),
    };
    let mut options = ExportOptions::default();
    options.scope = Some(Scope::Directory(PathBuf::from(directory)));
    let domain = Domain::new()?;
    let _clerk = Clerk::export_with(&domain, NAME, FilterEntries::new(kind), options)?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    // Without a word to procedures that are stuck.
    std::process::exit(0);
}
