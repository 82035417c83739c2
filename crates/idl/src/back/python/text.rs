//! Lines of Python, indented.

/// A module while it is written.
#[derive(Debug, Default)]
pub struct Text {
    text: String,
    depth: usize,
}

impl Text {
    /// A line, at the depth of the block it stands in.
    pub fn line(&mut self, line: &str) {
        if !line.is_empty() {
            self.text.push_str(&"    ".repeat(self.depth));
            self.text.push_str(line.trim_end());
        }
        self.text.push('\n');
    }

    /// Two empty lines, as before a class.
    pub fn part(&mut self) {
        self.text.push_str("\n\n");
    }

    /// A line that ends in a colon or a bracket, and what stands below it.
    pub fn block(&mut self, line: &str, content: impl FnOnce(&mut Text)) {
        self.line(line);
        self.depth += 1;
        content(self);
        self.depth -= 1;
    }

    /// The comment of the interface file as a docstring, or `otherwise` if there is none.
    pub fn docstring(&mut self, comment: &Option<String>, otherwise: &str) {
        let text = match comment {
            Some(comment) if !comment.trim().is_empty() => comment.trim(),
            _ => otherwise,
        };
        let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
        let mut lines: Vec<&str> = escaped.lines().map(str::trim_end).collect();
        let last = lines.pop().unwrap_or_default();
        let Some((first, middle)) = lines.split_first() else {
            return self.line(&format!("\"\"\"{last}\"\"\""));
        };
        self.line(&format!("\"\"\"{first}"));
        for line in middle.iter().chain([&last]) {
            self.line(line);
        }
        self.line("\"\"\"");
    }

    /// The comment of a member, above it.
    pub fn comment(&mut self, comment: &Option<String>) {
        for line in comment.iter().flat_map(|comment| comment.trim().lines()) {
            self.line(&format!("#: {}", line.trim()));
        }
    }

    /// All of it.
    pub fn into_string(self) -> String {
        self.text
    }
}

/// A tuple of Python; one of one element needs its comma.
pub fn tuple(elements: &[String]) -> String {
    match elements {
        [one] => format!("({one},)"),
        all => format!("({})", all.join(", ")),
    }
}

/// A text as Python writes it.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            ' '..='~' => quoted.push(letter),
            letter => quoted.push_str(&format!("\\U{:08x}", u32::from(letter))),
        }
    }
    quoted + "\""
}

/// Bytes.
pub fn bytes(bytes: &[u8]) -> String {
    if bytes.iter().all(|byte| *byte == 0) {
        return format!("bytes({})", bytes.len());
    }
    let digits: String = bytes.iter().map(|byte| format!("\\x{byte:02x}")).collect();
    format!("b\"{digits}\"")
}

/// A floating point number as Python writes it.
pub fn float(value: f64) -> String {
    if value.is_finite() { format!("{value:?}") } else { format!("float(\"{value}\")") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_cannot_end_its_docstring() {
        let mut text = Text::default();
        text.docstring(&Some(String::from("a \"\"\" b\\\nc")), "");
        assert_eq!(text.into_string(), "\"\"\"a \\\"\\\"\\\" b\\\\\nc\n\"\"\"\n");
    }

    #[test]
    fn text_is_quoted_without_anything_but_ascii() {
        assert_eq!(quoted("a\"\\\n€"), "\"a\\\"\\\\\\U0000000a\\U000020ac\"");
    }

    #[test]
    fn infinity_has_no_literal() {
        assert_eq!(float(f64::NEG_INFINITY), "float(\"-inf\")");
        assert_eq!(float(0.1), "0.1");
    }
}
