//! From a build script: interface files to Rust in `$OUT_DIR`.
//!
//! ```no_run
//! // build.rs
//! nearcall_idl::build("files.idl");
//! ```
//!
//! ```text
//! // lib.rs
//! pub mod files {
//!     include!(concat!(env!("OUT_DIR"), "/files.rs"));
//! }
//! ```
//!
//! Decides what cargo is told and what happens to mistakes: they are shown as the compiler shows
//! them, and the build script ends. What is noted otherwise is a warning of cargo's. Knows no rule
//! of the language.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use crate::back::rust::compile_rust;
use crate::diagnostic::{Diagnostic, render};
use crate::front;
use crate::front::dialect::Dialect;
use crate::front::options::Options;
use crate::front::rules;
use crate::source::SourceMap;

/// Where `nearcall/options.proto` lies, for others that read the same .proto files: an include
/// directory of `prost-build`, `tonic-prost-build` and `protox`, say. This compiler knows it by
/// itself.
pub const PROTO_DIRECTORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/proto");

/// Compiles one interface file with no option. See [`Builder::compile`].
pub fn build(path: impl AsRef<Path>) {
    Builder::new().compile(path);
}

/// How to compile interface files from a build script.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    options: Options,
    out_directory: Option<PathBuf>,
}

/// Why an interface file did not become Rust.
#[derive(Debug)]
enum Failed {
    /// Findings, as they are shown.
    Findings(String),
    /// The output could not be written.
    Output(PathBuf, io::Error),
    /// `OUT_DIR` is not set: this is no build script.
    NoOutDirectory,
}

impl Builder {
    /// No option.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// Searches a directory for included files, after those given before.
    pub fn include(mut self, directory: impl Into<PathBuf>) -> Builder {
        self.options.include_directories.push(directory.into());
        self
    }

    /// Defines a macro of the preprocessor.
    pub fn define(mut self, name: impl Into<String>, value: impl Into<String>) -> Builder {
        self.options.defines.push((name.into(), value.into()));
        self
    }

    /// Reads files as this, whatever they look like; if nothing is said, each file tells.
    pub fn dialect(mut self, dialect: Dialect) -> Builder {
        self.options.dialect = Some(dialect);
        self
    }

    /// Does not tell what is noted by this code, such as `N0290`. What only other compilers mind
    /// is not told anyway: `nearcall check` tells.
    ///
    /// # Panics
    ///
    /// If there is no such note.
    pub fn allow(mut self, note: &str) -> Builder {
        let rule = rules::note(note);
        self.options.allowed.push(rule.unwrap_or_else(|| panic!("there is no note {note}")));
        self
    }

    /// Writes here and not to `$OUT_DIR`.
    pub fn out_directory(mut self, directory: impl Into<PathBuf>) -> Builder {
        self.out_directory = Some(directory.into());
        self
    }

    /// Compiles `x.idl` to `$OUT_DIR/x.rs`, and has cargo watch every file that was read, but for
    /// those in `OUT_DIR`.
    ///
    /// Ends the process with code 1 if the file has a mistake, which is shown, or if the output
    /// cannot be written.
    pub fn compile(&self, path: impl AsRef<Path>) {
        if let Err(failed) = self.try_compile(path.as_ref()) {
            eprintln!("{failed}");
            std::process::exit(1);
        }
    }

    fn try_compile(&self, path: &Path) -> Result<(), Failed> {
        let mut sources = SourceMap::default();
        let options = self.options.clone().for_stubs();
        let compilation = front::compile(path, &options, &mut sources);
        // A file that could not be read is watched too: it may appear.
        let others = sources.paths().into_iter().filter(|read| *read != path);
        let read = std::iter::once(path).chain(others);
        let written = env::var_os("OUT_DIR").map(PathBuf::from);
        for watched in read.filter(|read| is_watched(read, written.as_deref())) {
            println!("cargo::rerun-if-changed={}", watched.display());
        }
        let findings = compilation.diagnostics;
        let Some(model) = compilation.model else {
            return Err(Failed::Findings(render::texts(&findings, &sources, false)));
        };
        print!("{}", warnings(&findings, &sources));
        let directory = match &self.out_directory {
            Some(directory) => directory.clone(),
            None => env::var_os("OUT_DIR").map(PathBuf::from).ok_or(Failed::NoOutDirectory)?,
        };
        let mut name = path.file_stem().unwrap_or(path.as_os_str()).to_os_string();
        name.push(".rs");
        let output = directory.join(name);
        write_if_changed(&output, &compile_rust(&model))
            .map_err(|error| Failed::Output(output, error))
    }
}

/// What is noted of a file that was compiled: cargo shows nothing else of a script that succeeds.
fn warnings(findings: &[Diagnostic], sources: &SourceMap) -> String {
    let lines = findings.iter().map(|finding| render::line(finding, sources));
    lines.map(|line| format!("cargo::warning={line}\n")).collect()
}

/// Not what the build script itself has written, below `OUT_DIR`: that is newer than the script's
/// start, for which cargo would run it again each time.
fn is_watched(path: &Path, written: Option<&Path>) -> bool {
    !written.is_some_and(|written| path.starts_with(written))
}

/// What is the same stays untouched, so that nothing is compiled again for it.
fn write_if_changed(path: &Path, text: &str) -> io::Result<()> {
    if fs::read_to_string(path).is_ok_and(|present| present == text) {
        return Ok(());
    }
    fs::write(path, text)
}

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failed::Findings(findings) => f.write_str(findings.trim_end()),
            Failed::Output(path, error) => write!(f, "{}: {error}", path.display()),
            Failed::NoOutDirectory => {
                f.write_str("OUT_DIR is not set; outside of a build script use `nearcall compile`")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_watched_that_the_build_script_has_not_written() {
        let written = Some(Path::new("/target/out"));
        assert!(is_watched(Path::new("files.idl"), written));
        assert!(!is_watched(Path::new("/target/out/files.idl"), written));
        assert!(is_watched(Path::new("/target/out/files.idl"), None));
    }

    #[test]
    fn a_file_becomes_rust_of_the_same_name() {
        let directory = env::temp_dir().join(format!("nearcall-build-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let (input, output) = (directory.join("adder.v1.idl"), directory.join("adder.v1.rs"));
        fs::write(&input, "interface Adder { long add(in long a, in long b); };").unwrap();
        let builder = Builder::new().out_directory(&directory);
        builder.try_compile(&input).unwrap();
        let text = fs::read_to_string(&output).unwrap();
        assert!(text.starts_with("// @generated by nearcall-idl"), "{text}");
        assert!(text.contains("pub trait AdderServer"), "{text}");
        fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn a_file_of_midl_becomes_rust_too() {
        let directory = env::temp_dir().join(format!("nearcall-midl-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let (input, output) = (directory.join("adder.idl"), directory.join("adder.rs"));
        fs::write(&input, "interface adder { long add([in] long a, [in] long b); }").unwrap();
        let builder = Builder::new().out_directory(&directory);
        builder.try_compile(&input).unwrap();
        let told = fs::read_to_string(&output).unwrap();
        builder.dialect(Dialect::Midl).try_compile(&input).unwrap();
        assert_eq!(fs::read_to_string(&output).unwrap(), told);
        assert!(told.contains("pub trait AdderServer"), "{told}");
        fs::remove_dir_all(directory).unwrap();
    }

    /// What a build script prints of the notes on a file of this text, and the file's path.
    fn noted(name: &str, text: &str) -> (String, String) {
        let mut sources = SourceMap::default();
        let directory = env::temp_dir().join(format!("nearcall-{name}-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let input = directory.join("noted.idl");
        fs::write(&input, text).unwrap();
        let compilation = front::compile(&input, &Options::default().for_stubs(), &mut sources);
        let noted = warnings(&compilation.diagnostics, &sources);
        fs::remove_dir_all(directory).unwrap();
        (noted, input.display().to_string())
    }

    #[test]
    fn what_is_noted_is_a_line_that_cargo_shows() {
        let text = "struct Dish {\n    @rang(min = 1, max = 5) long price;\n};";
        let (noted, path) = noted("misspelled", text);
        let want = format!(
            "cargo::warning={path}:2:5: `@rang` is not known, and ignored (N0281): did you mean \
             `@range`?\n"
        );
        assert_eq!(noted, want);
    }

    #[test]
    fn a_file_gives_cargo_no_orders_by_the_name_that_it_says_it_has() {
        let text = "#line 7 \"x\\ncargo::rustc-cfg=theirs\"\nstruct S { @rang(min = 1) long a; };";
        let (noted, _) = noted("orders", text);
        assert!(noted.starts_with("cargo::warning=x\\ncargo::rustc-cfg=theirs:7:"), "{noted}");
        assert_eq!(noted.lines().count(), 1, "{noted}");
    }

    #[test]
    #[should_panic(expected = "there is no note E0200")]
    fn a_mistake_is_not_allowed() {
        let _ = Builder::new().allow("N0290").allow("E0200");
    }

    #[test]
    fn a_missing_file_is_a_finding_and_no_panic() {
        let builder = Builder::new().out_directory("/");
        let failed = builder.try_compile(Path::new("no/such/file.idl")).unwrap_err();
        assert!(failed.to_string().contains("no/such/file.idl"), "{failed}");
    }
}
