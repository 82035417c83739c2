//! Compiles C programs with the system's compilers, and runs them as domains of their own.

#![allow(dead_code)]

mod kept;
pub mod prey;
pub mod tester;
mod warnings;

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::Mutex;

pub use ::lacking::lacking;
use nearcall::name::Scope;
use nearcall::{
    Binding, CallError, Clerk, Domain, ExportError, ImportOptions, InterfaceDescriptor, NotExecuted,
};
use nearcall_idl::back::{LANGUAGES, Output as Printed};
use nearcall_idl::diagnostic::render::texts;
use nearcall_idl::front::compile;
use nearcall_idl::front::options::Options;
use nearcall_idl::model::Model;
use nearcall_idl::source::SourceMap;
use tempfile::TempDir;

use warnings::asked_for;

/// No warning, whatever it is about.
const STRICT: &[&str] = &["-Wall", "-Wextra", "-Werror"];

/// Every mistake with memory and every undefined behaviour ends the program. Not optimized: what is
/// compiled once and called a few thousand times waits for the compiler, which would take two to
/// five times as long.
pub const SANITIZED: &[&str] =
    &["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-O0"];

/// Compilers of C that this machine has; says which it lacks.
pub fn compilers() -> Vec<&'static str> {
    ["gcc", "clang"].into_iter().filter(|name| has(name)).collect()
}

/// Whether this machine has a program; says so if it lacks it.
pub fn has(program: &str) -> bool {
    let is_there = Command::new(program).arg("--version").output().is_ok();
    if !is_there {
        lacking(program);
    }
    is_there
}

/// Whether this is the processor that is looked at for its instructions; says so if it is not.
pub fn has_x86_64() -> bool {
    let is_it = cfg!(target_arch = "x86_64");
    if !is_it {
        lacking("an x86_64 processor");
    }
    is_it
}

/// A compiler with flags: the first for speed, the last with sanitizers; one alone, both ways.
pub fn ways() -> Vec<(&'static str, &'static [&'static str])> {
    let compilers = compilers();
    let fast = compilers.first().map(|first| (*first, &["-O2"][..]));
    fast.into_iter().chain(sanitizing().map(|compiler| (compiler, SANITIZED))).collect()
}

/// Compiles a program in C and one in C++ each way, with the stubs of an interface file, and plays
/// with each: the program, and the directory that it runs in.
pub fn in_both(idl: &str, programs: [&str; 2], play: impl Fn(&Path, &Path)) {
    in_both_ways(&ways(), idl, programs, play);
}

/// The same, compiled in these ways.
pub fn in_both_ways(
    ways: &[(&str, &[&str])],
    idl: &str,
    [c, cpp]: [&str; 2],
    play: impl Fn(&Path, &Path),
) {
    let mut count = 0;
    if ways.is_empty() {
        return lacking("a compiler of C");
    }
    for (compiler, flags) in ways {
        for (language, program) in [("c", c), ("cpp", cpp)] {
            let workshop = Workshop::of(language, idl);
            play(&workshop.program(compiler, program, flags), workshop.path());
            count += 1;
        }
    }
    println!("{count} programs");
}

/// What is bound by the sockets of a directory, as a process with that run-time directory does.
pub fn import(
    domain: &Domain,
    name: &str,
    runtime: &Path,
    interface: &'static InterfaceDescriptor,
) -> Binding {
    let mut options = ImportOptions::default();
    options.scopes = Some(vec![Scope::Directory(runtime.join("nearcall"))]);
    Binding::import_with(domain, name, interface, options).expect("it is there")
}

/// The compiler whose sanitizers are used.
pub fn sanitizing() -> Option<&'static str> {
    compilers().last().copied()
}

pub fn tests_directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Interface files of which everything can be compiled.
pub fn interface_files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    for folder in ["idl/good", "idl/rust"] {
        let entries = std::fs::read_dir(tests_directory().join(folder)).expect("it is there");
        let paths = entries.map(|entry| entry.expect("it can be listed").path());
        files.extend(paths.filter(|path| path.extension().is_some_and(|end| end == "idl")));
    }
    files.sort();
    files
}

/// The model of an interface file.
pub fn model(path: &Path) -> Model {
    let options = Options {
        include_directories: vec![tests_directory().join("idl/good")],
        ..Options::default()
    };
    let mut sources = SourceMap::default();
    let compilation = compile(path, &options, &mut sources);
    let said = texts(&compilation.diagnostics, &sources, false);
    compilation.model.unwrap_or_else(|| panic!("{}:\n{said}", path.display()))
}

/// What a language makes of a model.
pub fn printed(language: &str, model: &Model, stem: &str) -> Vec<Printed> {
    let language = LANGUAGES.iter().find(|one| one.name == language).expect("it is in the table");
    (language.compile)(model, stem).unwrap_or_else(|found| panic!("{stem}: {found:?}"))
}

/// A directory with the stubs of an interface file, and with libnearcall.
pub struct Workshop {
    directory: TempDir,
    language: &'static str,
    /// Of the names of the stubs.
    stem: String,
    /// Who compiles the stubs of preys.
    compiling: Mutex<()>,
}

impl Workshop {
    pub fn new() -> Workshop {
        Workshop::of("c", "cross.idl")
    }

    pub fn with_cpp() -> Workshop {
        Workshop::of("cpp", "cross.idl")
    }

    /// With the stubs of a file of this package.
    pub fn of(language: &'static str, idl: &str) -> Workshop {
        let directory = TempDir::new().expect("a temporary directory");
        let library = library();
        for name in ["libnearcall.so", xtask::install::SONAME] {
            let link = directory.path().join(name);
            std::os::unix::fs::symlink(&library, link).expect("a link can be made");
        }
        let idl = Path::new(env!("CARGO_MANIFEST_DIR")).join(idl);
        let stem = idl.file_stem().expect("a file").to_string_lossy().into_owned();
        let workshop = Workshop { directory, language, stem, compiling: Mutex::new(()) };
        workshop.print(&idl);
        workshop
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Writes the stubs of an interface file here.
    pub fn print(&self, idl: &Path) -> Vec<PathBuf> {
        let stem = idl.file_stem().expect("a file").to_string_lossy().into_owned();
        let files = printed(self.language, &model(idl), &stem).into_iter().map(|file| {
            let path = self.path().join(format!("{stem}{}", file.suffix));
            std::fs::write(&path, file.text).expect("it can be written");
            path
        });
        files.collect()
    }

    /// Compiles and links the prey of a hostile peer. Its stubs in C are those of preys of the same
    /// file in another language, too, which may be compiled at the same time.
    pub fn prey(
        &self,
        compiler: &str,
        (stem, language): (&str, &str),
        program: &prey::Program,
    ) -> PathBuf {
        let alone = self.compiling.lock().expect("the other language's stubs were compiled");
        for file in &program.files {
            let path = self.path().join(format!("{stem}{}", file.suffix));
            // What is there is being read.
            match path.exists() {
                true => assert_eq!(std::fs::read_to_string(&path).ok().as_ref(), Some(&file.text)),
                false => std::fs::write(path, &file.text).expect("it can be written"),
            }
        }
        let stubs = [stem.to_owned(), format!("{stem}_server")].map(|name| {
            let object = self.path().join(format!("{name}.o"));
            if !object.exists() {
                let source = self.path().join(format!("{name}.c"));
                self.object(compiler, &source, &object, SANITIZED);
            }
            object
        });
        drop(alone);
        let source = self.path().join(format!("{stem}_prey.{language}"));
        std::fs::write(&source, &program.text).expect("it can be written");
        let object = self.path().join(format!("{stem}_prey_{language}.o"));
        self.object(compiler, &source, &object, SANITIZED);
        let driver = if language == "cpp" { cpp_of(compiler) } else { compiler };
        let file = self.path().join(format!("{stem}_prey_{language}"));
        let mut command = Command::new(driver);
        command.args(SANITIZED).arg("-o").arg(&file).arg(object).args(stubs);
        self.link(&mut command);
        file
    }

    fn link(&self, command: &mut Command) {
        command.arg("-L").arg(self.path()).arg("-lnearcall");
        succeed(command.arg(format!("-Wl,-rpath,{}", self.path().display())));
    }

    /// Compiles to nothing, with the warnings that projects ask for, or fails with what the
    /// compiler says, which it does before code is assembled; of C++, which takes clang long to
    /// make code of, before that is made.
    pub fn compile(&self, compiler: &str, source: &Path) {
        self.compile_but(compiler, source, &[]);
    }

    /// The same, with flags that take some of the warnings back.
    pub fn compile_but(&self, compiler: &str, source: &Path, flags: &[&str]) {
        let asked = asked_for(compiler, source);
        let flags: Vec<&str> = asked.into_iter().chain(flags.iter().copied()).collect();
        let mut command = self.command(compiler, source, &flags);
        match compiler == "clang++" {
            true => command.arg("-fsyntax-only"),
            false => command.args(["-S", "-o", "/dev/null"]),
        };
        succeed(&mut command);
    }

    /// A program of `c/` in a language, with the stubs of a version: `versions/{file}`. It finds
    /// the version defined, in capitals.
    pub fn of_version(
        compiler: &str,
        (name, language): (&str, &'static str),
        file: &str,
        flags: &[&str],
    ) -> (Workshop, PathBuf) {
        let workshop = Workshop::of(language, &format!("versions/{file}"));
        let name = if language == "c" { name.to_owned() } else { format!("{name}_{language}") };
        let (version, _) = file.split_once('.').expect("it is called as its version is");
        let define = format!("-D{}", version.to_uppercase());
        let flags: Vec<&str> = flags.iter().copied().chain([&*define]).collect();
        let program = workshop.program(compiler, &name, &flags);
        (workshop, program)
    }

    /// Compiles and links a program of `c/`: `x` from `x.c`, `x_cpp` from `x.cpp`.
    pub fn program(&self, compiler: &str, name: &str, flags: &[&str]) -> PathBuf {
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("c");
        let (driver, source) = match name.strip_suffix("_cpp") {
            Some(name) => (cpp_of(compiler), own.join(format!("{name}.cpp"))),
            None => (compiler, own.join(format!("{name}.c"))),
        };
        self.built((driver, compiler), &source, name, flags)
    }

    /// Compiles a source, and links it with the stubs.
    pub fn built(
        &self,
        (driver, compiler): (&str, &str),
        source: &Path,
        name: &str,
        flags: &[&str],
    ) -> PathBuf {
        let main = self.path().join(format!("{name}.o"));
        self.kept(driver, source, &main, flags);
        let mut command = Command::new(driver);
        let program = self.path().join(name);
        command.args(flags).arg("-o").arg(&program).arg(main);
        for stub in [self.stem.clone(), format!("{}_server", self.stem)] {
            let object = self.path().join(format!("{stub}.o"));
            self.kept(compiler, &self.path().join(format!("{stub}.c")), &object, flags);
            command.arg(object);
        }
        self.link(&mut command);
        program
    }

    /// Compiles a source with flags, to be linked or looked at.
    pub fn object(&self, compiler: &str, source: &Path, object: &Path, flags: &[&str]) {
        succeed(self.command(compiler, source, flags).arg("-c").arg("-o").arg(object));
    }

    /// The same, unless this process has compiled it before.
    fn kept(&self, compiler: &str, source: &Path, object: &Path, flags: &[&str]) {
        let words = [compiler].into_iter().chain(flags.iter().copied());
        let mut inputs: kept::Inputs = words.map(|word| word.as_bytes().to_vec()).collect();
        let entries = std::fs::read_dir(self.path()).expect("it is there");
        let paths = entries.map(|entry| entry.expect("it can be listed").path());
        let headers: &[&str] = if is_cpp(source) { &["h", "hpp"] } else { &["h"] };
        let is_header =
            |path: &PathBuf| headers.iter().any(|end| path.extension() == Some(end.as_ref()));
        let mut paths: Vec<PathBuf> = paths.filter(is_header).collect();
        paths.sort();
        for path in [source.to_owned()].iter().chain(&paths) {
            inputs.push(path.file_name().expect("a file").as_encoded_bytes().to_vec());
            inputs.push(std::fs::read(path).expect("it can be read"));
        }
        kept::object(inputs, object, || self.object(compiler, source, object, flags));
    }

    /// Who compiles a source, and how: what is to come of it is left to say.
    fn command(&self, compiler: &str, source: &Path, flags: &[&str]) -> Command {
        let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("c");
        let mut command = Command::new(if is_cpp(source) { cpp_of(compiler) } else { compiler });
        // Another standard of C++ is none of C's.
        let own = flags.iter().filter(|flag| is_cpp(source) || !flag.starts_with("-std=c++"));
        command.arg(if is_cpp(source) { CPP } else { C }).args(STRICT).args(own);
        // Its warnings are told where it is compiled.
        if is_cpp(source) {
            command.arg("-include").arg(compiled_ahead(cpp_of(compiler), flags));
        }
        let folders = [&*programs, self.path(), &*headers()];
        command.args(folders.iter().flat_map(|folder| [Path::new("-I"), *folder])).arg(source);
        command
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        let record = self.path().join(RECORD);
        if record.exists() && !std::thread::panicking() {
            let confined = ::confined::judge(&record).unwrap_or_else(|wrong| panic!("{wrong}"));
            println!("{confined} processes confined");
        }
    }
}

const C: &str = "-std=c11";
const CPP: &str = "-std=c++17";

fn is_cpp(source: &Path) -> bool {
    source.extension().is_some_and(|end| end == "cpp")
}

/// Where those of libnearcall are.
fn headers() -> PathBuf {
    tests_directory().join("../crates/c/include")
}

/// The compiler of C++ that belongs to one of C.
pub fn cpp_of(compiler: &str) -> &'static str {
    if compiler.starts_with('g') { "g++" } else { "clang++" }
}

/// What every wrapper includes first, for a compiler of C++ and these flags.
fn compiled_ahead(driver: &str, flags: &[&str]) -> PathBuf {
    // What a source is told by name the header does not ask for.
    let flags: Vec<&str> = flags.iter().copied().filter(|flag| !flag.starts_with("-D")).collect();
    kept::header(driver, &flags, |header, compiled| {
        let mut command = Command::new(driver);
        command.args([CPP, "-x", "c++-header"]).args(STRICT).args(&flags).arg("-I").arg(headers());
        succeed(command.arg(header).arg("-o").arg(compiled));
    })
}

/// Where cargo has put this test, and what it has built beside it.
fn built() -> PathBuf {
    let test = std::env::current_exe().expect("this is a program");
    test.parent().expect("in a directory").to_owned()
}

/// libnearcall, which cargo built beside this test.
fn library() -> PathBuf {
    let library = built().join("libnearcall_c.so");
    assert!(library.exists(), "{} is not there", library.display());
    library
}

fn succeed(command: &mut Command) {
    let output = command.output().expect("the compiler is there");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{said}");
}

/// Whether a call's deadline has ended it: it may have passed before the post as well.
pub fn is_late(error: &CallError) -> bool {
    matches!(
        error,
        CallError::CallAborted { was_cancelled: false, .. }
            | CallError::NoAStack { .. }
            | CallError::NotExecuted { reason: NotExecuted::DeadlinePassed, .. }
    )
}

/// The record of the programs that are started in a run-time directory.
pub const RECORD: &str = "confined";

/// A program that is to be started, once, in a run-time directory, under the documented list of
/// system calls. Whether it has made others is looked at when the [`Workshop`] of that directory
/// goes; how it ended tells it, too.
pub fn domain(program: &Path, runtime: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("XDG_RUNTIME_DIR", runtime);
    confine(&mut command, runtime);
    command
}

/// The same of a command that is there already.
pub fn confine(command: &mut Command, runtime: &Path) {
    let record = runtime.join(RECORD);
    let confined = ::confined::confine(command, ::confined::Kind::Compiled, &built(), &record);
    confined.expect("what confines programs was built beside this test");
}

/// The same of this test program, which is told by name what to be; also where a build beside it
/// has put another one in its place.
pub fn this_program(runtime: &Path) -> Command {
    domain(Path::new("/proc/self/exe"), runtime)
}

/// A server in a process of its own; it ends when this is dropped.
pub struct Server {
    child: Child,
    stdin: Option<ChildStdin>,
}

impl Server {
    pub fn start(program: &Path, name: &str, runtime: &Path) -> Server {
        Server::start_saying(program, name, runtime, Stdio::inherit())
    }

    /// What it says on standard error goes there.
    pub fn start_saying(program: &Path, name: &str, runtime: &Path, said: Stdio) -> Server {
        let mut child = domain(program, runtime)
            .arg(name)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(said)
            .spawn()
            .expect("the server starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("it is a pipe");
        BufReader::new(stdout).read_line(&mut line).expect("it can be read");
        assert_eq!(line, "ready\n");
        let stdin = child.stdin.take();
        Server { child, stdin }
    }

    /// Ends it in an orderly way: no sanitizer may have a word to say, about leaks neither.
    pub fn end(mut self) {
        drop(self.stdin.take());
        let status = self.child.wait().expect("it ends");
        assert!(status.success(), "the server ended with {status}");
    }
}

/// Runs a client until it ends well; what it printed.
pub fn run_client(program: &Path, name: &str, runtime: &Path) -> String {
    let output = client_output(program, name, runtime);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the client ended with {}:\n{said}", output.status);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What a program has counted for each of its procedures.
pub type Counted = Vec<(String, u64)>;

/// What the server or the client has said that it counted, with each compiler: programs of an
/// interface file, one of which says `name count` a line.
pub fn counted(
    (language, idl): (&'static str, &str),
    name: &str,
    server: &str,
    client: &str,
) -> Vec<Counted> {
    let each = ways().into_iter().map(|(compiler, flags)| {
        let workshop = Workshop::of(language, idl);
        let server = workshop.program(compiler, server, flags);
        let client = workshop.program(compiler, client, flags);
        let server = Server::start(&server, name, workshop.path());
        let said = run_client(&client, name, workshop.path());
        server.end();
        let line = |line: &str| {
            let (name, count) = line.split_once(' ').expect("a name and a count");
            (name.to_owned(), count.parse().expect("a count"))
        };
        said.lines().map(line).collect()
    });
    each.collect()
}

/// Those of which there was something.
pub fn having(counted: &Counted) -> Vec<&str> {
    let having = counted.iter().filter(|(_, count)| *count > 0);
    having.map(|(name, _)| name.as_str()).collect()
}

/// Runs a program with arguments until it ends well.
pub fn expect_success(program: &Path, arguments: &[&str], runtime: &Path) {
    let output = domain(program, runtime).args(arguments).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {}: {said}", output.status);
}

pub fn client_output(program: &Path, name: &str, runtime: &Path) -> Output {
    domain(program, runtime).arg(name).output().expect("it runs")
}

/// What a test program calls the test of this name in a module, of which this is `module_path!()`.
pub fn test_of(module: &str, name: &str) -> String {
    match module.split_once("::") {
        Some((_, module)) => format!("{module}::{name}"),
        None => name.to_owned(),
    }
}

/// A server in Rust, in a process of its own: the test `serve` of a module of this test program.
pub struct RustServer(Child);

impl RustServer {
    pub fn start(module: &str, name: &str, runtime: &Path) -> RustServer {
        let ready = runtime.join(format!("{name}.ready"));
        // Of the one before.
        let _ = std::fs::remove_file(&ready);
        let mut child = this_program(runtime)
            .args([&*test_of(module, "serve"), "--exact"])
            .env("RUST_SERVER_NAME", name)
            .env("RUST_SERVER_READY", &ready)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("it starts");
        while !ready.exists() {
            let ended = child.try_wait().expect("our own child");
            assert!(ended.is_none() || ready.exists(), "the server ended with {ended:?}");
            std::thread::yield_now();
        }
        RustServer(child)
    }

    /// Waits until it ends by itself.
    pub fn wait(&mut self) {
        // Else the wait would close it, and that ends the server.
        let _stdin = self.0.stdin.take();
        self.0.wait().expect("it ends");
    }
}

impl Drop for RustServer {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let status = self.0.wait().expect("it ends");
        assert!(status.success() || std::thread::panicking(), "the server ended with {status}");
    }
}

/// Exports until standard input ends, if this process is a [`RustServer`].
pub fn serve_here(export: impl FnOnce(&Domain, &str) -> Result<Clerk, ExportError>) {
    serve_here_in(Domain::new, export);
}

/// The same in a domain that is made so.
pub fn serve_here_in<E: std::fmt::Debug>(
    domain: impl FnOnce() -> Result<Domain, E>,
    export: impl FnOnce(&Domain, &str) -> Result<Clerk, ExportError>,
) {
    let Ok(name) = std::env::var("RUST_SERVER_NAME") else {
        return;
    };
    let domain = domain().expect("a domain");
    let clerk = export(&domain, &name).expect("the name is free");
    let ready = std::env::var("RUST_SERVER_READY").expect("a file");
    std::fs::write(ready, "").expect("it can be written");
    let _ = std::io::stdin().read(&mut [0]);
    drop(clerk);
    domain.shut_down();
}
