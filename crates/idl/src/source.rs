//! The files of a compilation, and places in them.
//!
//! Decides how bytes become text and how places are counted. Knows nothing of tokens.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Index of a file in its [`SourceMap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// Bytes `start..end` of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// One file as it was read.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// As named on the command line or found by `#include`.
    pub path: PathBuf,
    /// Its text. A file that is not UTF-8 is read as ISO 8859-1, as IDL has it (clause 7.2).
    pub text: String,
    /// Byte offsets at which lines begin.
    line_starts: Vec<u32>,
    /// How many bytes before each stretch of [`STRETCH_BYTES`] begin no character. Empty if all
    /// do, so that a column in a line of megabytes is found without reading the line.
    continuations: Vec<u32>,
    /// What `#line` said, in the order of the text.
    renumberings: Vec<Renumbering>,
    /// Made by the compiler, such as the definitions of the command line.
    is_built_in: bool,
}

/// From `offset` on, lines count from `line` and belong to `path`.
#[derive(Clone, Debug)]
struct Renumbering {
    offset: u32,
    line: u32,
    path: Option<PathBuf>,
}

const STRETCH_BYTES: usize = 1024;

/// Every file that a compilation has read, in order.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

/// A place as people count: line and column from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1, in characters.
    pub column: u32,
}

impl Span {
    /// From the beginning of `self` to the end of `last`, if both lie in one file.
    pub fn to(self, last: Span) -> Span {
        if self.file == last.file && last.end >= self.start {
            Span { end: last.end, ..self }
        } else {
            self
        }
    }
}

impl SourceMap {
    /// Takes a file in.
    pub fn add(&mut self, path: impl Into<PathBuf>, text: impl Into<String>) -> FileId {
        self.files.push(SourceFile::new(path.into(), text.into()));
        FileId(self.files.len() as u32 - 1)
    }

    /// Takes in a text that stands in no file; `name` is shown in its place.
    pub fn add_built_in(&mut self, name: &str, text: impl Into<String>) -> FileId {
        let file = SourceFile { is_built_in: true, ..SourceFile::new(name.into(), text.into()) };
        self.files.push(file);
        FileId(self.files.len() as u32 - 1)
    }

    /// The file with this index.
    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    /// Every path read, in order, each once: what a build script watches.
    pub fn paths(&self) -> Vec<&Path> {
        let mut seen = BTreeSet::new();
        let read = self.files.iter().filter(|file| !file.is_built_in);
        read.map(|file| file.path.as_path()).filter(|path| seen.insert(*path)).collect()
    }

    /// The text of a span.
    pub fn text(&self, span: Span) -> &str {
        &self.file(span.file).text[span.start as usize..span.end as usize]
    }

    /// Where a span begins, as people count. `#line` changes the line, as its author wants.
    pub fn place(&self, span: Span) -> Place {
        self.file(span.file).place(span.start)
    }

    /// Where a span ends, as people count: one past its last character.
    pub fn end_place(&self, span: Span) -> Place {
        self.file(span.file).place(span.end)
    }

    /// The file a span is in, as `#line` has it.
    pub fn path(&self, span: Span) -> &Path {
        let file = self.file(span.file);
        let before = file.renumberings_before(span.start);
        before.iter().rev().find_map(|r| r.path.as_deref()).unwrap_or(&file.path)
    }

    /// The bytes of the line that holds byte `offset`, without its line end.
    pub fn line_bytes(&self, file: FileId, offset: u32) -> Range<u32> {
        let file = self.file(file);
        let index = file.line_index(offset);
        let start = file.line_starts[index];
        let end = file.line_starts.get(index + 1).copied().unwrap_or(file.text.len() as u32);
        let line = &file.text[start as usize..end as usize];
        start..start + line.trim_end_matches(['\n', '\r']).len() as u32
    }

    /// `#line`: the line after the one that holds `span` is `line` of `path`.
    pub(crate) fn renumber(&mut self, span: Span, line: u32, path: Option<PathBuf>) {
        let file = &mut self.files[span.file.0 as usize];
        let Some(offset) = file.line_starts.get(file.line_index(span.start) + 1).copied() else {
            return;
        };
        // A file that is included twice says the same thing twice.
        if file.renumberings.last().is_none_or(|last| last.offset < offset) {
            file.renumberings.push(Renumbering { offset, line, path });
        }
    }
}

impl SourceFile {
    fn new(path: PathBuf, text: String) -> SourceFile {
        let after_newline = text.bytes().zip(1u32..).filter(|(byte, _)| *byte == b'\n');
        let line_starts = std::iter::once(0).chain(after_newline.map(|(_, next)| next)).collect();
        let continuations = match text.is_ascii() {
            true => Vec::new(),
            false => count_continuations(text.as_bytes()),
        };
        let renumberings = Vec::new();
        SourceFile { path, text, line_starts, continuations, renumberings, is_built_in: false }
    }

    fn line_index(&self, offset: u32) -> usize {
        self.line_starts.partition_point(|start| *start <= offset) - 1
    }

    fn place(&self, offset: u32) -> Place {
        let index = self.line_index(offset);
        let line = match self.renumberings_before(offset).last() {
            Some(said) => {
                let since = (index - self.line_index(said.offset)) as u32;
                said.line.saturating_add(since)
            }
            None => index as u32 + 1,
        };
        let column =
            self.characters_before(offset) - self.characters_before(self.line_starts[index]);
        Place { line, column: column + 1 }
    }

    fn renumberings_before(&self, offset: u32) -> &[Renumbering] {
        &self.renumberings[..self.renumberings.partition_point(|said| said.offset <= offset)]
    }

    fn characters_before(&self, offset: u32) -> u32 {
        let stretch = offset as usize / STRETCH_BYTES;
        let Some(before) = self.continuations.get(stretch) else {
            return offset;
        };
        let rest = &self.text.as_bytes()[stretch * STRETCH_BYTES..offset as usize];
        offset - before - rest.iter().filter(|byte| is_continuation(**byte)).count() as u32
    }
}

fn count_continuations(bytes: &[u8]) -> Vec<u32> {
    let mut counts = vec![0];
    let mut sum = 0;
    for stretch in bytes.chunks(STRETCH_BYTES) {
        sum += stretch.iter().filter(|byte| is_continuation(**byte)).count() as u32;
        counts.push(sum);
    }
    counts
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// The text of a file. What is not UTF-8 is ISO 8859-1, which has a character for every byte.
pub fn decode(bytes: Vec<u8>) -> String {
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => error.as_bytes().iter().map(|byte| char::from(*byte)).collect(),
    };
    match text.strip_prefix('\u{FEFF}') {
        Some(after_mark) => after_mark.to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_counts_lines_and_characters_from_one() {
        let mut map = SourceMap::default();
        let file = map.add("a.idl", "module é {\n};\n");
        let place = |start| map.place(Span { file, start, end: start });
        assert_eq!(place(0), Place { line: 1, column: 1 });
        assert_eq!(place(10), Place { line: 1, column: 10 });
        assert_eq!(place(12), Place { line: 2, column: 1 });
    }

    #[test]
    fn a_column_far_into_a_line_counts_characters() {
        let mut map = SourceMap::default();
        let text = "\n".to_owned() + &"é".repeat(5_000) + "x";
        let file = map.add("a.idl", text);
        let place = map.place(Span { file, start: 10_001, end: 10_002 });
        assert_eq!(place, Place { line: 2, column: 5_001 });
    }

    #[test]
    fn a_file_that_is_not_utf_8_is_iso_8859_1() {
        assert_eq!(decode(b"caf\xE9".to_vec()), "café");
        assert_eq!(decode("café".as_bytes().to_vec()), "café");
    }

    #[test]
    fn a_byte_order_mark_is_no_text() {
        assert_eq!(decode(b"\xEF\xBB\xBFmodule".to_vec()), "module");
    }

    #[test]
    fn a_renumbering_counts_from_the_next_line() {
        let mut map = SourceMap::default();
        let file = map.add("a.idl", "a\n#line 40\nb\nc\n");
        let span = |start| Span { file, start, end: start };
        map.renumber(span(2), 40, Some("b.y".into()));
        assert_eq!(map.place(span(0)).line, 1);
        assert_eq!(map.place(span(11)).line, 40);
        assert_eq!(map.place(span(13)).line, 41);
        assert_eq!(map.path(span(0)), Path::new("a.idl"));
        assert_eq!(map.path(span(13)), Path::new("b.y"));
    }

    #[test]
    fn a_built_in_text_is_not_watched() {
        let mut map = SourceMap::default();
        map.add("a.idl", "");
        map.add_built_in("<command line>", "");
        map.add("a.idl", "");
        assert_eq!(map.paths(), [Path::new("a.idl")]);
    }
}
