//! Which comments are documentation, and of what.
//!
//! `/// text` and `/** text */` belong to the piece that follows, if no empty line parts them from
//! it and nothing but blanks stands before them on their line. Other comments between are
//! passed over. `////` and `/***` are ornaments.

use std::rc::Rc;

/// The documentation that waits for its piece.
#[derive(Debug, Default)]
pub(super) struct Documentation {
    waiting: Vec<String>,
    line_ends: u32,
}

impl Documentation {
    /// A line has ended. The second in a row ends an empty line.
    pub fn handle_line_end(&mut self) {
        self.line_ends += 1;
        if self.line_ends > 1 {
            self.waiting.clear();
        }
    }

    /// A comment from `//` to the end of its line.
    pub fn handle_line_comment(&mut self, comment: &str, begins_line: bool) {
        self.line_ends = 0;
        let Some(text) = comment.strip_prefix("///") else {
            return;
        };
        if begins_line && !text.starts_with('/') {
            self.waiting.push(text.strip_prefix(' ').unwrap_or(text).trim_end().to_owned());
        }
    }

    /// A comment from `/*` to `*/`, both with it.
    pub fn handle_block_comment(&mut self, comment: &str, begins_line: bool) {
        self.line_ends = 0;
        let Some(text) = comment.strip_prefix("/**").and_then(|text| text.strip_suffix("*/"))
        else {
            return;
        };
        if !begins_line || text.starts_with('*') {
            return;
        }
        let lines: Vec<&str> = text.lines().map(without_margin).collect();
        let is_text = |line: &&str| !line.is_empty();
        let (first, last) = (lines.iter().position(is_text), lines.iter().rposition(is_text));
        if let (Some(first), Some(last)) = (first, last) {
            self.waiting.extend(lines[first..=last].iter().map(|line| (*line).to_owned()));
        }
    }

    /// A piece has come: what belongs to it.
    pub fn take(&mut self) -> Option<Rc<str>> {
        if self.waiting.is_empty() {
            return None;
        }
        Some(std::mem::take(&mut self.waiting).join("\n").into())
    }
}

fn without_margin(line: &str) -> &str {
    let line = line.trim();
    match line.strip_prefix('*') {
        Some(text) => text.strip_prefix(' ').unwrap_or(text),
        None => line,
    }
}
