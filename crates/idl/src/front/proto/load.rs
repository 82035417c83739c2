//! Reads the named file and all that it imports, has protox parse and check each, and hands them
//! on in the order in which they need each other.
//!
//! Files of `google/protobuf/` come with protox, and Nearcall's own options with the compiler,
//! wherever else they are. Any other import is searched for beside the root of the named file, then
//! in the include directories.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use protox::file::{File, FileResolver, GoogleFileResolver};
use protox::prost_reflect::prost_types::FileDescriptorProto;
use protox::prost_reflect::{DescriptorPool, FileDescriptor};

use super::places::Places;
use super::{missing, own, refused};
use crate::diagnostic::{Diagnostic, Severity};
use crate::front::options::Options;
use crate::front::preprocessor::files::Files;
use crate::front::rules::{preprocessing, proto as rules};
use crate::source::{FileId, SourceMap, Span};

/// Files of one compilation.
const FILES_MAX: usize = 1_000;

/// Bytes of all files of one compilation.
const BYTES_MAX: u64 = 16 << 20;

/// Field of a file descriptor that holds what it imports.
const DEPENDENCY: i32 = 3;

/// A file that protox has nothing against: every name in it is full.
pub(super) struct Loaded {
    pub file: FileId,
    pub descriptor: FileDescriptorProto,
    /// The same with all that it needs: what its options say.
    pub checked: FileDescriptor,
    pub is_included: bool,
    /// Comes with the language, or with the compiler.
    pub is_built_in: bool,
}

/// A file that was parsed. Its imports are taken one by one.
struct Opened {
    name: String,
    id: FileId,
    file: File,
    places: Places,
    is_built_in: bool,
    imports_taken: usize,
}

/// How far a file has come.
#[derive(PartialEq)]
enum State {
    /// Some of what it imports is being read.
    Open,
    /// It is read with all it imports, or was reported.
    Done,
}

struct Loader<'a> {
    files: &'a dyn Files,
    roots: Vec<PathBuf>,
    sources: &'a mut SourceMap,
    findings: Vec<Diagnostic>,
    states: HashMap<String, State>,
    bytes_left: u64,
    /// Each after those that it imports.
    done: Vec<Opened>,
}

/// The files of a compilation and what is noted of them, or what is wrong with them.
pub(super) fn load(
    files: &dyn Files,
    path: &Path,
    options: &Options,
    sources: &mut SourceMap,
) -> Result<(Vec<Loaded>, Vec<Diagnostic>), Vec<Diagnostic>> {
    let (name, root) = name_and_root(path, &options.include_directories);
    let roots = std::iter::once(root).chain(options.include_directories.iter().cloned()).collect();
    let mut loader = Loader {
        files,
        roots,
        sources,
        findings: Vec::new(),
        states: HashMap::new(),
        bytes_left: BYTES_MAX,
        done: Vec::new(),
    };
    if let Some(main) = loader.open_main(path, &name) {
        loader.follow(main);
    }
    let is_good = loader.findings.iter().all(|one| one.rule.severity() == Severity::Note);
    if is_good { loader.check() } else { Err(loader.findings) }
}

/// Under which name the file that is compiled is imported, and where that name begins.
fn name_and_root(path: &Path, directories: &[PathBuf]) -> (String, PathBuf) {
    let below = directories.iter().find_map(|root| Some((path.strip_prefix(root).ok()?, root)));
    if let Some((name, root)) = below {
        return (import_name(name), root.clone());
    }
    let name = path.file_name().map_or(path, Path::new);
    (import_name(name), path.parent().unwrap_or(Path::new("")).to_owned())
}

/// A path as an import writes it.
fn import_name(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

impl Loader<'_> {
    fn open_main(&mut self, path: &Path, name: &str) -> Option<Opened> {
        match self.read(path) {
            Ok(bytes) => self.take_in(path, name, bytes, None),
            Err(error) => {
                let id = self.sources.add(path, "");
                let span = Span { file: id, start: 0, end: 0 };
                let message = format!("{}: {}", path.display(), reason(&error));
                let rule = &preprocessing::FILE_UNREADABLE;
                self.findings.push(Diagnostic::new(rule, span, message));
                None
            }
        }
    }

    /// Opens everything that a file imports, and what that imports.
    fn follow(&mut self, main: Opened) {
        self.states.insert(main.name.clone(), State::Open);
        let mut open = vec![main];
        while let Some(top) = open.last_mut() {
            let index = top.imports_taken;
            top.imports_taken += 1;
            let Some(name) = top.file.file_descriptor_proto().dependency.get(index).cloned() else {
                self.states.insert(top.name.clone(), State::Done);
                self.done.extend(open.pop());
                continue;
            };
            let span = top.places.span(&[DEPENDENCY, index as i32], &[]);
            match self.states.get(&name) {
                Some(State::Done) => {}
                Some(State::Open) => self.report_circle(&open, &name, span),
                None => {
                    let opened = self.open_import(&name, &top.file, span);
                    let state = if opened.is_some() { State::Open } else { State::Done };
                    self.states.insert(name, state);
                    open.extend(opened);
                }
            }
        }
    }

    fn report_circle(&mut self, open: &[Opened], name: &str, span: Span) {
        let names = open.iter().map(|one| one.name.as_str()).skip_while(|one| *one != name);
        let circle: Vec<&str> = names.chain([name]).collect();
        let message = format!("this import closes a circle: {}", circle.join(" -> "));
        let finding = Diagnostic::new(&rules::CIRCLE, span, message)
            .help("put what both files need into a third");
        self.findings.push(finding);
    }

    fn open_import(&mut self, name: &str, importer: &File, span: Span) -> Option<Opened> {
        if self.states.len() >= FILES_MAX {
            self.report_too_much(span, &format!("more than {FILES_MAX} files are imported"));
            return None;
        }
        let of_ours = own::file(name);
        if of_ours.is_some() {
            self.note_shadowed(name, span);
        }
        // Who has them in an include directory, beside protoc say, means the same by them.
        let of_the_language = || GoogleFileResolver::new().open_file(name).ok();
        if let Some(file) = of_ours.or_else(of_the_language) {
            let id = self.sources.add_built_in(name, "");
            return Some(self.opened(name, id, file, true));
        }
        for root in self.roots.clone() {
            let path = root.join(name);
            match self.read(&path) {
                Ok(bytes) => return self.take_in(&path, name, bytes, Some(span)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => {
                    let message = format!("{}: {}", path.display(), reason(&error));
                    self.findings.push(Diagnostic::new(&rules::IMPORT, span, message));
                    return None;
                }
            }
        }
        let message = format!("`{name}` is imported and not found");
        let finding = Diagnostic::new(&rules::IMPORT, span, message)
            .help(missing::advice(name, importer.file_descriptor_proto()));
        self.findings.push(finding);
        None
    }

    /// Notes a file that would be read if it had not the name of ours, unless it is that one.
    fn note_shadowed(&mut self, name: &str, span: Span) {
        let paths = self.roots.iter().map(|root| root.join(name));
        let found = paths.filter_map(|path| Some((self.read(&path).ok()?, path))).next();
        let Some((bytes, path)) = found else { return };
        if decode(bytes).is_ok_and(|text| own::is_file(&text)) {
            return;
        }
        let path = path.display();
        let message = format!("`{name}` is the compiler's own, and the file `{path}` is not read");
        let finding = Diagnostic::new(&rules::OWN_FILE, span, message)
            .help(format!("give `{path}` another name, if it is not meant to be that file"));
        self.findings.push(finding);
    }

    /// Reads what is left to read of a file, and one byte more if it has more.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.files.canonical(path)?;
        self.files.read(path, self.bytes_left + 1)
    }

    fn take_in(
        &mut self,
        path: &Path,
        name: &str,
        bytes: Vec<u8>,
        imported: Option<Span>,
    ) -> Option<Opened> {
        let count = bytes.len() as u64;
        let text = if count > self.bytes_left { Ok(String::new()) } else { decode(bytes) };
        let (is_text, text) = (text.is_ok(), text.unwrap_or_default());
        let id = self.sources.add(path, text);
        let start = Span { file: id, start: 0, end: 0 };
        if count > self.bytes_left {
            let message = format!("with this file more than {BYTES_MAX} bytes are read");
            self.report_too_much(imported.unwrap_or(start), &message);
            return None;
        }
        self.bytes_left -= count;
        if !is_text {
            let message = format!("`{}` is not UTF-8", path.display());
            let finding =
                Diagnostic::new(&rules::ENCODING, start, message).help("save it as UTF-8");
            self.findings.push(finding);
            return None;
        }
        match File::from_source(name, &self.sources.file(id).text) {
            Ok(file) => Some(self.opened(name, id, file, false)),
            Err(error) => {
                self.findings.extend(refused::findings(&error, id, self.sources));
                None
            }
        }
    }

    fn opened(&self, name: &str, id: FileId, file: File, is_built_in: bool) -> Opened {
        let places = Places::new(self.sources, id, file.file_descriptor_proto());
        Opened { name: name.to_owned(), id, file, places, is_built_in, imports_taken: 0 }
    }

    fn report_too_much(&mut self, span: Span, message: &str) {
        let finding = Diagnostic::new(&rules::TOO_MUCH, span, message)
            .help("compile the services one by one, or import less");
        self.findings.push(finding);
    }

    /// Looks every name up, and judges what only then can be judged.
    fn check(mut self) -> Result<(Vec<Loaded>, Vec<Diagnostic>), Vec<Diagnostic>> {
        let mut pool = DescriptorPool::new();
        for one in &self.done {
            let descriptor = one.file.file_descriptor_proto().clone();
            if let Err(error) = pool.add_file_descriptor_proto(descriptor) {
                let text = &self.sources.file(one.id).text;
                let error = error.with_source_code(text);
                self.findings.extend(refused::findings(&error, one.id, self.sources));
                // Those that import it would be refused for its sake.
                return Err(self.findings);
            }
        }
        let main = self.done.last().map(|one| one.id);
        let loaded = self.done.iter().filter_map(|one| {
            let checked = pool.get_file_by_name(&one.name)?;
            Some(Loaded {
                file: one.id,
                descriptor: checked.file_descriptor_proto().clone(),
                checked,
                is_included: Some(one.id) != main,
                is_built_in: one.is_built_in,
            })
        });
        Ok((loaded.collect(), self.findings))
    }
}

fn decode(bytes: Vec<u8>) -> Result<String, std::string::FromUtf8Error> {
    let text = String::from_utf8(bytes)?;
    match text.strip_prefix('\u{FEFF}') {
        Some(after_mark) => Ok(after_mark.to_owned()),
        None => Ok(text),
    }
}

fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file".to_owned(),
        kind => kind.to_string(),
    }
}
