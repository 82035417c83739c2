//! Finds and opens files. `"name"` is searched for beside the file that includes, then as `<name>`
//! is: in the include directories, in their order.

use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::diagnostic::Diagnostic;
use crate::front::dialect::Dialect;
use crate::front::findings::quoted;
use crate::front::lexer::Kind;
use crate::front::rules::preprocessing as rules;
use crate::source::{self, FileId, Span};

use super::Preprocessor;
use super::reading::ReadFile;
use super::word::{Word, spelling};

/// What an `#include` names.
pub(super) struct Wanted {
    pub name: String,
    /// Between `"`: also beside the file that includes.
    pub is_local: bool,
    pub span: Span,
}

impl Preprocessor<'_> {
    /// Opens the file to compile. If it cannot be read an empty one stands for it.
    pub(super) fn open_main(&mut self, path: &Path) -> FileId {
        let canonical = self.files.canonical(path);
        let read = canonical.and_then(|canonical| {
            let bytes = self.files.read(path, self.limits.text_bytes_max + 1)?;
            Ok((canonical, bytes))
        });
        let directory = path.parent().unwrap_or(Path::new("")).to_owned();
        let (canonical, bytes) = match read {
            Ok(read) => read,
            Err(error) => {
                let id = self.sources.add(path, "");
                let message = format!("{}: {}", path.display(), reason(&error));
                self.findings.add(&rules::FILE_UNREADABLE, self.start_of(id), message);
                return id;
            }
        };
        let is_too_long = bytes.len() as u64 > self.limits.text_bytes_max;
        let text = if is_too_long { String::new() } else { source::decode(bytes) };
        let id = self.sources.add(path, text);
        let file = self.take_in(id, directory);
        let text = &self.sources.file(id).text;
        let told = || Dialect::of(path, text, &file.pieces);
        self.dialect = self.options.dialect.unwrap_or_else(told);
        self.read.insert(canonical, file.clone());
        if is_too_long {
            self.pass_text_limit(self.start_of(id));
        } else if self.admit(&file, self.start_of(id)) {
            self.open(file, false);
        }
        id
    }

    pub(super) fn include(&mut self, name: &Word, line: &[Word]) {
        if self.is_refused_in_arguments(name) {
            return;
        }
        let Some(wanted) = self.wanted(name, line) else {
            return;
        };
        if let Some(file) = self.find(&wanted) {
            self.enter(&wanted, file);
        }
    }

    /// Opens an included file, unless once was enough. Is it open now?
    pub(super) fn enter(&mut self, wanted: &Wanted, file: Rc<ReadFile>) -> bool {
        if file.is_once.get() {
            return false;
        }
        if self.open.len() >= self.limits.include_depth_max {
            self.pass_depth_limit(wanted.span);
            return false;
        }
        let is_admitted = self.admit(&file, wanted.span);
        if is_admitted {
            self.open(file, true);
        }
        is_admitted
    }

    /// The name of the file, spelled out or made by macros.
    fn wanted(&mut self, name: &Word, line: &[Word]) -> Option<Wanted> {
        if let Some(first) = line.first().filter(|word| word.is("<")) {
            let rest = &self.sources.file(first.span.file).text[first.span.end as usize..];
            let rest = rest.lines().next().unwrap_or_default();
            if let Some(length) = rest.find('>').filter(|length| *length > 0) {
                let file = rest[..length].to_owned();
                let end = first.span.end + length as u32 + 1;
                let after = line.iter().position(|word| word.span.start >= end);
                self.note_extra(name, after.map_or(&[], |after| &line[after..]));
                return Some(Wanted {
                    name: file,
                    is_local: false,
                    span: Span { end, ..first.span },
                });
            }
        }
        let is_spelled = line.first().is_some_and(|word| word.kind == Kind::String);
        let words = if is_spelled { line.to_vec() } else { self.expand_all(line.to_vec()) };
        let span = Self::directive_span(name, line);
        let close = words.iter().position(|word| word.is(">"));
        let (text, is_local, after) = match (words.first(), close) {
            (Some(first), _) if first.kind == Kind::String => {
                (first.text.trim_matches('"').to_owned(), true, 1)
            }
            (Some(first), Some(close)) if first.is("<") => {
                (spelling(&words[1..close]), false, close + 1)
            }
            _ => (String::new(), false, 0),
        };
        if text.is_empty() {
            let found = spelling(&words);
            let message = match found.is_empty() {
                true => "`#include` without the name of a file".to_owned(),
                false => format!("{} is no name of a file", quoted(&found)),
            };
            let finding = Diagnostic::new(&rules::INCLUDE_MALFORMED, span, message);
            self.findings.push(finding.help("write `#include \"name\"` or `#include <name>`"));
            return None;
        }
        self.note_extra(name, &words[after..]);
        let span = if is_spelled { line[0].span } else { span };
        Some(Wanted { name: text, is_local, span })
    }

    pub(super) fn find(&mut self, wanted: &Wanted) -> Option<Rc<ReadFile>> {
        let options = self.options;
        let mut directories: Vec<PathBuf> = Vec::new();
        if let Some(open) = self.open.last().filter(|_| wanted.is_local) {
            directories.push(open.file.directory.clone());
        }
        directories.extend(options.include_directories.iter().cloned());
        for directory in &directories {
            let path = directory.join(&wanted.name);
            match self.read_included(&path, wanted.span) {
                Ok(found) => return found,
                Err(error) if is_missing(&error) => {}
                Err(error) => {
                    let message = format!("{}: {}", path.display(), reason(&error));
                    self.findings.add(&rules::INCLUDE_MISSING, wanted.span, message);
                    return None;
                }
            }
        }
        let message = format!("{} is in none of the directories searched", quoted(&wanted.name));
        let finding = Diagnostic::new(&rules::INCLUDE_MISSING, wanted.span, message);
        self.findings.push(finding.help(searched(&directories)));
        None
    }

    /// The file at `path`, read unless it has been; nothing if it is too long.
    fn read_included(&mut self, path: &Path, span: Span) -> io::Result<Option<Rc<ReadFile>>> {
        let canonical = self.files.canonical(path)?;
        if let Some(known) = self.read.get(&canonical) {
            return Ok(Some(known.clone()));
        }
        let bytes_max = self.limits.text_bytes_max - self.opened_bytes;
        let bytes = self.files.read(path, bytes_max + 1)?;
        if bytes.len() as u64 > bytes_max {
            self.pass_text_limit(span);
            return Ok(None);
        }
        let id = self.sources.add(path, source::decode(bytes));
        let directory = path.parent().unwrap_or(Path::new("")).to_owned();
        let file = self.take_in(id, directory);
        self.read.insert(canonical, file.clone());
        Ok(Some(file))
    }

    /// Counts a file that is about to be opened; false if that passes a limit.
    fn admit(&mut self, file: &ReadFile, span: Span) -> bool {
        self.opened_count += 1;
        if self.opened_count > self.limits.include_count_max {
            let message = format!("more than {} files", self.limits.include_count_max);
            let finding = Diagnostic::new(&rules::INCLUDE_COUNT, span, message);
            self.findings.push(finding.help("guard each file with `#pragma once`"));
            self.is_stopped = true;
            return false;
        }
        let bytes = self.sources.file(file.id).text.len() as u64;
        if self.opened_bytes + bytes > self.limits.text_bytes_max {
            self.pass_text_limit(span);
            return false;
        }
        self.opened_bytes += bytes;
        true
    }

    fn pass_text_limit(&mut self, span: Span) {
        let message = format!("more than {} bytes of text", self.limits.text_bytes_max);
        self.findings.add(&rules::TEXT_LIMIT, span, message);
        self.is_stopped = true;
    }

    fn pass_depth_limit(&mut self, span: Span) {
        let name = |id| self.sources.file(id).path.display().to_string();
        let chain: Vec<FileId> = self.open.iter().map(|open| open.file.id).collect();
        // A file that includes itself is named twice; the rest would only repeat that.
        let again = (1..chain.len()).find(|index| chain[..*index].contains(&chain[*index]));
        let shown = again.unwrap_or(chain.len() - 1).min(CHAIN_NAMES_MAX);
        let mut names: Vec<String> = chain[..=shown].iter().map(|id| name(*id)).collect();
        if shown + 1 < chain.len() {
            names.push("...".to_owned());
        }
        let depth = self.limits.include_depth_max;
        let message = format!("files nest deeper than {depth}: {}", names.join(" -> "));
        let finding = Diagnostic::new(&rules::INCLUDE_DEPTH, span, message);
        self.findings.push(finding.help("guard each file with `#pragma once`"));
        self.is_stopped = true;
    }
}

const CHAIN_NAMES_MAX: usize = 16;

fn is_missing(error: &io::Error) -> bool {
    use io::ErrorKind::{IsADirectory, NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory | IsADirectory)
}

/// Why a file cannot be read, without the number that the operating system has for it.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file".to_owned(),
        io::ErrorKind::Other => error.to_string(),
        kind => kind.to_string(),
    }
}

fn searched(directories: &[PathBuf]) -> String {
    let shown = |directory: &PathBuf| match directory.as_os_str().is_empty() {
        true => ".".to_owned(),
        false => directory.display().to_string(),
    };
    match directories.is_empty() {
        true => "no include directory was given".to_owned(),
        false => {
            let names: Vec<String> = directories.iter().map(shown).collect();
            format!("searched: {}", names.join(", "))
        }
    }
}
