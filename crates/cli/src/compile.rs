//! `nearcall compile` and `nearcall plan`: the whole compiler, and the compiler up to its last
//! step but one.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::thread;

use clap::Args;
use clap::builder::PossibleValuesParser;
use nearcall_idl::back::{LANGUAGES, Language, Output, Unsupported};
use nearcall_idl::model::Model;
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
    /// What to compile it to; several go by commas, or by several of these
    #[arg(
        short,
        long = "language",
        value_name = "LANGUAGE",
        value_delimiter = ',',
        default_value = LANGUAGES[0].name,
        value_parser = names()
    )]
    languages: Vec<String>,
    /// Write here and not to standard output: a file, or a directory that is there; that is what a
    /// language of several files, and several languages, take
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
        let files = self.printed(&model, &stem)?;
        match (&self.output, files.as_slice()) {
            (Some(output), [one]) if !output.is_dir() => write(output, one),
            (None, [one]) => print(&one.text),
            (Some(directory), several) if directory.is_dir() => {
                several.iter().try_for_each(|file| {
                    write(&directory.join(format!("{stem}{}", file.suffix)), file)
                })
            }
            (output, several) => {
                let (count, languages) = (several.len(), self.languages.join(" and "));
                let take = if self.languages.len() == 1 { "takes" } else { "take" };
                let found = output.as_deref().map(why_no_directory).unwrap_or_default();
                Err(format!(
                    "{languages} {take} {count} files: name their directory, -o DIR{found}"
                )
                .into())
            }
        }
    }

    /// The files of all languages, which are printed side by side; stubs that another one's are
    /// beside once.
    fn printed(&self, model: &Model, stem: &str) -> Result<Vec<Output>, Failure> {
        let test = self.selftest.then(|| Selftest::new(model, self.seed)).transpose();
        let test = test.map_err(unsupported)?;
        let is_named = |one: &&Language| self.languages.iter().any(|name| name == one.name);
        let named: Vec<&'static Language> = LANGUAGES.iter().filter(is_named).collect();
        let printed = thread::scope(|threads| {
            let print = |language: &&'static Language| {
                let (language, test) = (*language, test.as_ref());
                let is_beside = named.iter().any(|other| other.beside == Some(language.name));
                threads.spawn(move || {
                    let stubs =
                        if is_beside { Vec::new() } else { (language.compile)(model, stem)? };
                    let programs = test.map(|test| (language.selftest)(model, stem, test));
                    Ok([stubs, programs.transpose()?.unwrap_or_default()].concat())
                })
            };
            let printing: Vec<_> = named.iter().map(print).collect();
            printing.into_iter().map(|one| one.join().expect("a printer ends")).collect::<Vec<_>>()
        });
        let printed: Result<Vec<Vec<Output>>, _> = printed.into_iter().collect();
        Ok(printed.map_err(unsupported)?.concat())
    }
}

fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(LANGUAGES.iter().map(|language| language.name))
}

fn why_no_directory(path: &Path) -> String {
    // Without a `/` at the end, with which a link would stand for what it leads to.
    let found = path.components().as_path().symlink_metadata();
    let why = match found {
        Ok(found) if found.is_symlink() => why_no_directory_behind(path),
        Ok(_) => String::from("is none"),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            String::from("is not there: make it first")
        }
        Err(error) => format!("cannot be looked at: {error}"),
    };
    format!(" ({} {why})", path.display())
}

/// Why what a link leads to is none.
fn why_no_directory_behind(link: &Path) -> String {
    match link.metadata() {
        Ok(_) => String::from("is none"),
        Err(error) => format!("is a link that cannot be followed: {error}"),
    }
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
