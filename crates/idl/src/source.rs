//! The files of a compilation, and places in them.

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
    /// Its text. A file that is not UTF-8 is read as ISO 8859-1, as IDL has it (clause 7.2.1).
    pub text: String,
    /// Byte offsets at which lines begin.
    line_starts: Vec<u32>,
}

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
        let text = text.into();
        let after_newline = text.bytes().zip(1u32..).filter(|(byte, _)| *byte == b'\n');
        let line_starts = std::iter::once(0).chain(after_newline.map(|(_, next)| next)).collect();
        self.files.push(SourceFile { path: path.into(), text, line_starts });
        FileId(self.files.len() as u32 - 1)
    }

    /// The file with this index.
    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    /// Every path read, in order, each once: what a build script watches.
    pub fn paths(&self) -> Vec<&Path> {
        let mut paths: Vec<&Path> = Vec::new();
        for file in &self.files {
            if !paths.contains(&file.path.as_path()) {
                paths.push(&file.path);
            }
        }
        paths
    }

    /// The text of a span.
    pub fn text(&self, span: Span) -> &str {
        &self.file(span.file).text[span.start as usize..span.end as usize]
    }

    /// Where a span begins, as people count.
    pub fn place(&self, span: Span) -> Place {
        self.file(span.file).place(span.start)
    }
}

impl SourceFile {
    fn place(&self, offset: u32) -> Place {
        let line = self.line_starts.partition_point(|start| *start <= offset) - 1;
        let before = &self.text[self.line_starts[line] as usize..offset as usize];
        Place { line: line as u32 + 1, column: before.chars().count() as u32 + 1 }
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
}
