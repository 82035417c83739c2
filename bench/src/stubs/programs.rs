//! The clients in other languages: compiled as their users compile them, and linked with
//! libnearcall.
//!
//! ```text
//! build.rs ─────▶ calls.h calls.c calls.hpp ──┐
//! nearcall-c ───▶ libnearcall_c.a ────────────┼── gcc -O2, g++ -O2 ──▶ a program each
//! bench/stubs ──▶ client.c, client.cpp ───────┘
//! ```

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::child::Failure;
use crate::rival;

/// Where this package stands.
const PACKAGE: &str = env!("CARGO_MANIFEST_DIR");

/// Where its build script has printed the stubs.
const STUBS: &str = env!("OUT_DIR");

/// What a program that links libnearcall_c.a needs besides.
const SYSTEM_LIBRARIES: [&str; 4] = ["-lgcc_s", "-lpthread", "-lm", "-ldl"];

/// A language that calls are made from.
pub struct Language {
    /// As the table has it, and the compiled client.
    pub name: &'static str,
    compiler: &'static str,
    /// Its client, below `bench/stubs`.
    client: &'static str,
}

/// All of them.
pub const LANGUAGES: [Language; 2] = [
    Language { name: "nearcall-c", compiler: "gcc", client: "client.c" },
    Language { name: "nearcall-cpp", compiler: "g++", client: "client.cpp" },
];

impl Language {
    /// Compiles its client to a program in `directory`; or says what the machine lacks for that.
    pub fn build(&self, directory: &Path) -> Result<Result<PathBuf, String>, Failure> {
        match ["gcc", self.compiler].into_iter().find_map(lacking::lack_of) {
            Some(lack) => rival::excuse(&lack).map(Err),
            None => self.built(directory).map(Ok),
        }
    }

    fn built(&self, directory: &Path) -> Result<PathBuf, Failure> {
        let library = library()?;
        let stubs = directory.join(format!("stubs-{}.o", self.name));
        let mut command = optimizing("gcc");
        rival::compile(command.arg("-c").arg(format!("{STUBS}/calls.c")), &stubs)?;
        let client = format!("{PACKAGE}/stubs/{}", self.client);
        let mut command = optimizing(self.compiler);
        command.arg(client).arg(stubs).arg(library).args(SYSTEM_LIBRARIES);
        rival::compile(&mut command, &directory.join(self.name))
    }
}

/// What cargo has made of `nearcall-c` for this program: it depends on it.
fn library() -> Result<PathBuf, Failure> {
    let program = std::env::current_exe()?;
    let directory = program.parent().ok_or("a program is in a directory")?;
    Ok(directory.join("deps/libnearcall_c.a"))
}

/// A compiler that finds all headers.
fn optimizing(compiler: &str) -> Command {
    let mut command = Command::new(compiler);
    let headers = ["../crates/c/include", "stubs"].map(|place| format!("{PACKAGE}/{place}"));
    command.args(["-O2", "-I", STUBS, "-I", &headers[0], "-I", &headers[1]]);
    command
}
