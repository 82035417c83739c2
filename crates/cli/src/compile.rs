//! `nearcall compile` and `nearcall plan`: the whole compiler, and the compiler up to its last
//! step but one.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::PossibleValuesParser;
use nearcall_idl::back::{LANGUAGES, Language, Output, Unsupported};
use nearcall_idl::plan;
use nearcall_idl::selftest::Selftest;

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
    /// Write a client and a server beside the stubs, which call every operation with values of
    /// any size and look at what arrives; each says how it is built. Needs -o DIR
    #[arg(long)]
    selftest: bool,
    /// Which values a self-test has: the same for the same seed, in every language
    #[arg(long, value_name = "N", default_value_t = 1, requires = "selftest")]
    seed: u64,
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
        let mut files = (self.language()?.compile)(&model, &stem).map_err(unsupported)?;
        if self.selftest {
            let test = Selftest::new(&model, self.seed).map_err(unsupported)?;
            let programs = self.language()?.selftest;
            files.extend(programs(&model, &stem, &test).map_err(unsupported)?);
        }
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
