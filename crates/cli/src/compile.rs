//! `nearcall compile` and `nearcall plan`: the whole compiler, and the compiler up to its last
//! step but one.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::PossibleValuesParser;
use nearcall_idl::back::{LANGUAGES, Language, Output, Unsupported};
use nearcall_idl::plan;

use crate::failure::Failure;
use crate::reading::{Reading, print};

/// Compiles an interface file to a program's language
#[derive(Args)]
pub struct Compile {
    /// Interface file, in OMG IDL, MIDL or proto3
    file: PathBuf,
    #[command(flatten)]
    reading: Reading,
    /// What to compile it to
    #[arg(short, long, default_value = LANGUAGES[0].name, value_parser = languages())]
    language: String,
    /// Write here and not to standard output: a file, or for a language of several files a
    /// directory that is there
    #[arg(short, value_name = "OUT")]
    output: Option<PathBuf>,
}

/// Prints what the stubs of an interface file do, one step a line
#[derive(Args)]
pub struct Plan {
    /// Interface file, in OMG IDL, MIDL or proto3
    file: PathBuf,
    #[command(flatten)]
    reading: Reading,
}

impl Compile {
    /// Writes nothing if there is a mistake.
    pub fn run(&self) -> Result<(), Failure> {
        let model = self.reading.read_good(&self.file)?;
        let stem = self.file.file_stem().unwrap_or_default().to_string_lossy();
        let files = (self.language()?.compile)(&model, &stem).map_err(unsupported)?;
        match (&self.output, files.as_slice()) {
            (Some(output), [one]) => write(output, one),
            (None, [one]) => print(&one.text),
            (Some(directory), several) => several.iter().try_for_each(|file| {
                write(&directory.join(format!("{stem}{}", file.suffix)), file)
            }),
            (None, several) => {
                let (count, language) = (several.len(), &self.language);
                Err(format!("{language} takes {count} files: name their directory, -o DIR").into())
            }
        }
    }

    fn language(&self) -> Result<&'static Language, Failure> {
        let found = LANGUAGES.iter().find(|language| language.name == self.language);
        found.ok_or_else(|| format!("no language is called {}", self.language).into())
    }
}

fn languages() -> PossibleValuesParser {
    PossibleValuesParser::new(LANGUAGES.iter().map(|language| language.name))
}

fn write(path: &Path, file: &Output) -> Result<(), Failure> {
    std::fs::write(path, &file.text).map_err(Failure::doing("write", path))
}

fn unsupported(found: Vec<Unsupported>) -> Failure {
    let all: Vec<String> = found.iter().map(ToString::to_string).collect();
    all.join("\nnearcall: ").into()
}

impl Plan {
    /// Prints nothing if there is a mistake.
    pub fn run(&self) -> Result<(), Failure> {
        let model = self.reading.read_good(&self.file)?;
        print(&plan::dump(&model, &plan::plan(&model)))
    }
}
