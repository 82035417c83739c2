//! The languages of the matrix: how the programs of each are built and started.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use confined::Kind;
use rayon::prelude::*;

use crate::install::SONAME;
use crate::matrix::{CANARIES, done, stem};
use crate::python;
use crate::step::{self, Failed};

/// A language that programs are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Language {
    /// Rust
    Rust,
    /// C11
    C,
    /// C++17
    Cpp,
    /// Python
    Python,
}

/// The programs of one language.
#[derive(Debug)]
pub struct Programs {
    language: Language,
    /// Where they are.
    directory: PathBuf,
    /// What runs those in Python.
    interpreter: PathBuf,
    /// Where what confines them is.
    built: PathBuf,
    /// Files that there are programs for, with what each calls.
    pub files: BTreeMap<String, Called>,
}

/// What the client of a file calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Called {
    /// Interfaces that it binds to.
    pub interfaces: usize,
    /// Their operations.
    pub operations: usize,
}

/// Files whose self-test would call nothing, which have no programs in any language.
pub fn calling_nothing() -> impl Iterator<Item = &'static str> {
    include_str!("../../../tests/matrix/calling_nothing.txt").lines()
}

/// What the compiler says of those.
const NOTHING_TO_CALL: &str = "self-test: the file has no interface of its own with an operation";

/// The file whose two sources in C++ are compiled each alone as well, as a user compiles them.
const ALONE: &str = "everything";

const STRICT: &[&str] = &["-Wall", "-Wextra", "-Werror"];

impl Language {
    /// In the order of the table.
    pub const ALL: [Language; 4] = [Language::Rust, Language::C, Language::Cpp, Language::Python];

    /// As the compiler calls it.
    pub fn name(self) -> &'static str {
        match self {
            Language::Rust => "rust",
            Language::C => "c",
            Language::Cpp => "cpp",
            Language::Python => "python",
        }
    }

    /// What its programs are to what confines them.
    pub fn kind(self) -> Kind {
        match self {
            Language::Rust | Language::C | Language::Cpp => Kind::Compiled,
            Language::Python => Kind::Python,
        }
    }

    /// What is missing to build programs.
    fn lack(self, root: &Path) -> Option<String> {
        let missing = |programs: &[&str]| programs.iter().find_map(|one| lacking::lack_of(one));
        match self {
            Language::Rust => None,
            Language::C => missing(&["gcc"]),
            Language::Cpp => missing(&["gcc", "g++"]),
            Language::Python => lacking::lack_of_python("python3").or_else(|| {
                let made = python::make_environment(root);
                made.err().map(|failed| format!("PyPI, or what it has: {failed}"))
            }),
        }
    }

    /// Builds its programs; `None` if its tools are not there. What programs in C are linked with
    /// need not be compiled again.
    pub fn build(
        self,
        root: &Path,
        directory: &Path,
        files: &[PathBuf],
        seed: u64,
        in_c: Option<&Programs>,
    ) -> Result<Option<Programs>, Failed> {
        if let Some(lack) = self.lack(root) {
            return step::lacking(&format!("{lack}, for {}", self.name())).map(|()| None);
        }
        let directory = directory.join(self.name());
        let failure = |error| Failed(format!("{}: {error}", directory.display()));
        std::fs::create_dir_all(&directory).map_err(failure)?;
        let compiled = in_c.map(|programs| &*programs.directory);
        let workshop = Workshop { language: self, root, directory: &directory, seed, compiled };
        workshop.prepare()?;
        // A compiler keeps one processor busy.
        let make = |file: &PathBuf| {
            Ok(workshop.make_with_canary(file)?.map(|called| (stem(file), called)))
        };
        let made = files.par_iter().map(make).collect::<Result<Vec<_>, Failed>>()?;
        let files = made.into_iter().flatten().collect();
        let interpreter = python::interpreter(root);
        let built = built(root);
        Ok(Some(Programs { language: self, directory, interpreter, built, files }))
    }
}

impl Programs {
    /// The client of a file's self-test, which is to be started, once, and is written down.
    pub fn client(&self, stem: &str, record: &Path) -> Result<Command, String> {
        self.confined(self.program(stem, "client"), record)
    }

    /// The server.
    pub fn server(&self, stem: &str, record: &Path) -> Result<Command, String> {
        self.confined(self.program(stem, "server"), record)
    }

    fn confined(&self, mut command: Command, record: &Path) -> Result<Command, String> {
        let confined = confined::confine(&mut command, self.language.kind(), &self.built, record);
        confined.map(|()| command).map_err(|error| format!("cannot be confined: {error}"))
    }

    fn program(&self, stem: &str, side: &str) -> Command {
        let own = self.directory.join(format!("{stem}_selftest_{side}"));
        match self.language {
            Language::Rust => {
                let mut command = Command::new(self.directory.join(format!("matrix-{side}")));
                command.arg(stem);
                command
            }
            Language::C | Language::Cpp => Command::new(own),
            Language::Python => {
                let mut command = Command::new(&self.interpreter);
                // `types.py` beside a program is not Python's own.
                command.arg("-P").arg(own.with_extension("py"));
                command
            }
        }
    }
}

/// Where the programs of a language are made.
struct Workshop<'w> {
    language: Language,
    root: &'w Path,
    directory: &'w Path,
    seed: u64,
    /// Where the stubs in C are compiled.
    compiled: Option<&'w Path>,
}

impl Workshop<'_> {
    /// What all files need.
    fn prepare(&self) -> Result<(), Failed> {
        let debug = target(self.root).join("debug");
        match self.language {
            Language::Rust => {
                for side in ["client", "server"] {
                    let program = format!("matrix-{side}");
                    self.link(&debug.join(&program), &program)?;
                }
                Ok(())
            }
            Language::C | Language::Cpp => {
                let library = built(self.root).join("libnearcall_c.so");
                self.link(&library, "libnearcall.so")?;
                self.link(&library, SONAME)?;
                if self.language == Language::Cpp { self.compile_ahead() } else { Ok(()) }
            }
            Language::Python => python::install_package(self.root),
        }
    }

    fn link(&self, to: &Path, name: &str) -> Result<(), Failed> {
        let link = self.directory.join(name);
        let is_there = std::fs::read_link(&link).is_ok_and(|found| found == to);
        if is_there {
            return Ok(());
        }
        let failure = |error| Failed(format!("{}: {error}", link.display()));
        std::os::unix::fs::symlink(to, &link).map_err(failure)
    }

    /// The programs of one file, and those of the canary beside its own.
    fn make_with_canary(&self, file: &Path) -> Result<Option<Called>, Failed> {
        let made = self.make(file, self.seed)?;
        let own = stem(file);
        if CANARIES.iter().any(|one| one.file == own) && made.is_some() {
            let other = self.directory.join(format!("{own}_other.idl"));
            let failure = |error| Failed(format!("{}: {error}", other.display()));
            std::fs::copy(file, &other).map_err(failure)?;
            self.make(&other, self.seed.wrapping_add(1))?;
        }
        Ok(made)
    }

    /// The programs of one file; what they call, or `None` if there are none.
    fn make(&self, file: &Path, seed: u64) -> Result<Option<Called>, Failed> {
        let stem = stem(file);
        let mut command = Command::new(target(self.root).join("debug/nearcall"));
        command.args(["compile", "--language", self.language.name(), "--selftest", "--seed"]);
        command.arg(seed.to_string()).arg("-I").arg(self.root.join("tests/idl/good"));
        command.arg(file).arg("-o").arg(self.directory);
        let output = command.output();
        let output = output.map_err(|error| Failed(format!("{command:?}: {error}")))?;
        let said = String::from_utf8_lossy(&output.stderr);
        if !is_there(&stem, output.status.success(), &said)? {
            println!("not there: {}: {stem}: nothing to call", self.language.name());
            return Ok(None);
        }
        match self.language {
            Language::C | Language::Cpp => self.compile(&stem)?,
            Language::Rust | Language::Python => {}
        }
        let called = self.called(&stem);
        if called.interfaces == 0 || called.operations == 0 {
            return Err(Failed(format!("{stem}: no program of it calls anything")));
        }
        Ok(Some(called))
    }

    /// Interfaces are counted where the client binds to them, operations where it defines what
    /// calls them.
    fn called(&self, stem: &str) -> Called {
        let (end, binds, calls) = match self.language {
            Language::Rust => ("rs", "::import(", "\nfn call_"),
            Language::C => ("c", "= nearcall_import_", "static void nc_call_"),
            Language::Cpp => ("cpp", "(domain, name", "static void nc_call_"),
            Language::Python => ("py", ".import_(", "\ndef call_"),
        };
        let client = self.directory.join(format!("{stem}_selftest_client.{end}"));
        let text = std::fs::read_to_string(client).unwrap_or_default();
        let (interfaces, operations) = (text.matches(binds).count(), text.matches(calls).count());
        Called { interfaces, operations }
    }

    /// The stubs in C once, for C++ too, and both programs with them.
    fn compile(&self, stem: &str) -> Result<(), Failed> {
        let names = [stem.to_owned(), format!("{stem}_server")];
        let mut objects = Vec::new();
        for name in &names {
            objects.push(self.stub(stem, name)?);
        }
        let both = match self.language {
            Language::Cpp => Some(self.compile_both(stem)?),
            _ => None,
        };
        for (side, stubs) in [("client", &objects[..1]), ("server", &objects[..])] {
            let own = self.directory.join(format!("{stem}_selftest_{side}"));
            let mut command = self.compiler(self.language);
            match &both {
                // What only the other program needs is left out, and may miss what that needs.
                Some(both) => {
                    let main = main_of(side);
                    command.arg(both).arg("-Wl,--gc-sections").arg(format!("-Wl,-u,{main}"));
                    command.arg(format!("-Wl,--defsym,main={main}"))
                }
                None => command.arg(own.with_extension("c")),
            };
            command.arg("-o").arg(&own).args(stubs);
            done(self.linked(&mut command))?;
        }
        Ok(())
    }

    /// Both programs in C++ as one source: two thirds of what a compiler does for one of them is
    /// code for templates, and most of that is the other's, too.
    fn compile_both(&self, stem: &str) -> Result<PathBuf, Failed> {
        let mut text = String::new();
        for side in ["client", "server"] {
            let (main, own) = (main_of(side), format!("{stem}_selftest_{side}"));
            // Writing to a string does not fail.
            let _ = writeln!(text, "extern \"C\" int {main}(int, char **);");
            let _ = writeln!(text, "#define main {main}\n#define nc_check nc_check_{side}");
            let _ = writeln!(text, "#include \"{own}.cpp\"\n#undef main\n#undef nc_check");
        }
        let both = self.directory.join(format!("{stem}_selftest.cpp"));
        let failure = |error| Failed(format!("{}: {error}", both.display()));
        std::fs::write(&both, text).map_err(failure)?;
        let object = both.with_extension("o");
        let mut command = self.compiler(Language::Cpp);
        command.args(["-ffunction-sections", "-fdata-sections", "-include"]).arg(self.header());
        done(command.arg("-c").arg(&both).arg("-o").arg(&object))?;
        if stem == ALONE {
            self.compile_alone(stem)?;
        }
        Ok(object)
    }

    /// Each program in C++ by itself: what its source lacks is not the other's to include.
    fn compile_alone(&self, stem: &str) -> Result<(), Failed> {
        for side in ["client", "server"] {
            let own = self.directory.join(format!("{stem}_selftest_{side}"));
            let mut command = self.compiler(Language::Cpp);
            command.arg("-c").arg(own.with_extension("cpp"));
            done(command.arg("-o").arg(own.with_extension("o")))?;
        }
        Ok(())
    }

    /// The object of a stub: that of the programs in C, if they were made of the same text.
    fn stub(&self, stem: &str, name: &str) -> Result<PathBuf, Failed> {
        let object = |directory: &Path| directory.join(name).with_extension("o");
        let is_same = |directory: &Path| {
            let texts = [format!("{name}.c"), format!("{stem}.h")].map(|file| {
                [directory, self.directory].map(|one| std::fs::read(one.join(&file)).ok())
            });
            texts.iter().all(|[theirs, own]| theirs.is_some() && theirs == own)
        };
        if let Some(compiled) = self.compiled.filter(|directory| is_same(directory)) {
            return Ok(object(compiled));
        }
        let mut command = self.compiler(Language::C);
        command.arg("-c").arg(self.directory.join(format!("{name}.c")));
        done(command.arg("-o").arg(object(self.directory)))?;
        Ok(object(self.directory))
    }

    /// Compiles what every wrapper in C++ includes first: it is half of the time that a compiler
    /// takes for most of them.
    fn compile_ahead(&self) -> Result<(), Failed> {
        let header = self.header();
        let failure = |error| Failed(format!("{}: {error}", header.display()));
        std::fs::write(&header, "#include \"nearcall.hpp\"\n").map_err(failure)?;
        let mut command = self.compiler(Language::Cpp);
        command.args(["-x", "c++-header"]).arg(&header);
        done(command.arg("-o").arg(header.with_extension("hpp.gch")))
    }

    fn header(&self) -> PathBuf {
        self.directory.join("ahead.hpp")
    }

    fn compiler(&self, language: Language) -> Command {
        let (program, standard) = match language {
            Language::Cpp => ("g++", "-std=c++17"),
            _ => ("gcc", "-std=c11"),
        };
        let mut command = Command::new(program);
        command.arg(standard).args(STRICT).arg("-I").arg(self.directory);
        command.arg("-I").arg(self.root.join("crates/c/include"));
        command
    }

    fn linked<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command.arg("-L").arg(self.directory).arg("-lnearcall");
        command.arg(format!("-Wl,-rpath,{}", self.directory.display()))
    }
}

/// What the `main` of a side is called where both are in one object.
fn main_of(side: &str) -> String {
    format!("selftest_{side}_main")
}

/// Whether a file has programs; of those that have none the compiler must say the one reason why,
/// and of no other.
fn is_there(stem: &str, is_compiled: bool, said: &str) -> Result<bool, Failed> {
    let is_nothing =
        said.lines().any(|line| line.strip_prefix("nearcall: ") == Some(NOTHING_TO_CALL));
    match (calling_nothing().any(|listed| listed == stem), is_compiled) {
        (false, true) => Ok(true),
        (true, false) if is_nothing => Ok(false),
        (true, true) => Err(Failed(format!("{stem} is listed as calling nothing, and calls"))),
        (_, false) => Err(Failed(format!("{stem}:\n{said}"))),
    }
}

/// Where cargo puts libraries.
pub fn built(root: &Path) -> PathBuf {
    target(root).join("debug/deps")
}

/// Where cargo puts what it builds.
fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_whose_sources_are_compiled_alone_is_there_and_calls() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        assert!(root.join("tests/idl/good").join(ALONE).with_extension("idl").is_file());
        assert!(calling_nothing().all(|listed| listed != ALONE));
    }

    #[test]
    fn a_file_is_left_out_for_the_reason_that_it_is_listed_for_alone() {
        let nothing = format!("nearcall: {NOTHING_TO_CALL}\n");
        let listed = calling_nothing().next().unwrap();
        assert!(is_there("vault", true, "").unwrap());
        assert!(!is_there(listed, false, &nothing).unwrap());
        for (stem, is_compiled, said) in [
            (listed, true, ""),
            (listed, false, "nearcall: vault::Vault: no maps yet\n"),
            ("vault", false, &nothing),
            ("vault", false, "nearcall: vault::Vault: no maps yet\n"),
            ("vault", false, "error: no such type\n"),
        ] {
            assert!(is_there(stem, is_compiled, said).is_err(), "{stem} {is_compiled} {said}");
        }
    }
}
