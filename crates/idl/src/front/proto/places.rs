//! Where the things of a descriptor stand, and what the comments before them say.
//!
//! protox tells both for each path of field numbers and indices: `[4, 0, 2, 1, 1]` is the name of
//! the second field of the first message.

use std::collections::HashMap;
use std::rc::Rc;

use protox::prost_reflect::prost_types::FileDescriptorProto;

use crate::source::{FileId, SourceMap, Span};

/// Field of every descriptor that holds its name.
pub(super) const NAME: i32 = 1;

/// The places of one file.
pub(super) struct Places {
    file: FileId,
    spans: HashMap<Vec<i32>, Span>,
    docs: HashMap<Vec<i32>, Rc<str>>,
}

impl Places {
    pub fn new(sources: &SourceMap, file: FileId, descriptor: &FileDescriptorProto) -> Places {
        let text = &sources.file(file).text;
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts: Vec<usize> = std::iter::once(0).chain(ends.map(|(end, _)| end + 1)).collect();
        let offset = |line: i32, column: i32| {
            let start = starts.get(usize::try_from(line).ok()?)?;
            let offset = start + usize::try_from(column).ok()?;
            text.is_char_boundary(offset).then_some(offset as u32)
        };
        let mut places = Places { file, spans: HashMap::new(), docs: HashMap::new() };
        let locations = descriptor.source_code_info.iter().flat_map(|info| &info.location);
        for location in locations {
            let (start, end) = match location.span[..] {
                [line, start, end] => (offset(line, start), offset(line, end)),
                [line, start, last, end] => (offset(line, start), offset(last, end)),
                _ => (None, None),
            };
            if let (Some(start), Some(end)) = (start, end) {
                let span = Span { file, start, end: end.max(start) };
                places.spans.insert(location.path.clone(), span);
            }
            let comments = [&location.leading_comments, &location.trailing_comments];
            if let Some(doc) = comments.into_iter().flatten().find_map(|one| documentation(one)) {
                places.docs.insert(location.path.clone(), doc);
            }
        }
        places
    }

    /// Where `tail` of the thing at `path` stands; the thing itself if that is not known.
    pub fn span(&self, path: &[i32], tail: &[i32]) -> Span {
        let known = |path: &[i32]| self.spans.get(path).copied();
        known(&[path, tail].concat()).or_else(|| known(path)).unwrap_or(Span {
            file: self.file,
            start: 0,
            end: 0,
        })
    }

    /// Whether there is something at `path`.
    pub fn has(&self, path: &[i32]) -> bool {
        self.spans.contains_key(path)
    }

    /// The comment above the thing at `path`; if there is none, the one behind it.
    pub fn doc(&self, path: &[i32]) -> Option<Rc<str>> {
        self.docs.get(path).cloned()
    }
}

/// A comment without its margin, of which protox leaves a blank, and what `/**` and `///` have more
/// than `/*` and `//`.
fn documentation(comment: &str) -> Option<Rc<str>> {
    let comment = comment.strip_prefix('*').unwrap_or(comment);
    let has_third = comment.lines().all(|line| line.is_empty() || line.starts_with('/'));
    let lines = comment.lines().map(|line| {
        let line = if has_third { line.trim_start_matches('/') } else { line };
        line.strip_prefix(' ').unwrap_or(line).trim_end()
    });
    let text = lines.collect::<Vec<&str>>().join("\n");
    let text = text.trim_matches('\n');
    (!text.trim().is_empty()).then(|| text.into())
}
