//! Lines with the right indentation.

/// What is being written.
#[derive(Default)]
pub struct Text {
    lines: String,
    depth: usize,
}

impl Text {
    /// One line; an empty one has no indentation, and a directive of the preprocessor neither.
    pub fn line(&mut self, line: impl AsRef<str>) {
        let line = line.as_ref();
        if !line.is_empty() && !line.starts_with('#') {
            self.lines.push_str(&"    ".repeat(self.depth));
        }
        self.lines.push_str(line);
        self.lines.push('\n');
    }

    /// Several lines.
    pub fn lines(&mut self, lines: impl IntoIterator<Item = String>) {
        for line in lines {
            self.line(line);
        }
    }

    /// A line that opens a block.
    pub fn open(&mut self, line: impl AsRef<str>) {
        self.line(line);
        self.depth += 1;
    }

    /// A line that closes it.
    pub fn close(&mut self, line: impl AsRef<str>) {
        self.depth = self.depth.saturating_sub(1);
        self.line(line);
    }

    /// The end of a block that no line closes.
    pub fn end(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// A line at the beginning of the block that is open, as labels are written.
    pub fn label(&mut self, line: impl AsRef<str>) {
        self.depth = self.depth.saturating_sub(1);
        self.line(line);
        self.depth += 1;
    }

    /// The comment of a declaration, if it has one.
    pub fn doc(&mut self, doc: &Option<String>) {
        let Some(doc) = doc else { return };
        let lines: Vec<String> = doc.trim().lines().map(|line| harmless(line.trim())).collect();
        match lines.as_slice() {
            [] => {}
            [one] => self.line(format!("/* {one} */")),
            [first, rest @ ..] => {
                self.line(format!("/* {first}"));
                for line in rest {
                    self.line(format!(" * {line}").trim_end());
                }
                self.line(" */");
            }
        }
    }

    /// What was written.
    pub fn finish(self) -> String {
        self.lines
    }
}

/// A line that may stand in a comment: it ends none, begins none, and has no trigraph that
/// compilers warn of.
fn harmless(line: &str) -> String {
    line.replace("*/", "* /").replace("/*", "/ *").replace("??/", "?? /")
}
