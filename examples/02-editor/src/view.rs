//! What of the text is in the window, and what of that has to be drawn anew.

use crate::text::Text;

/// Rows of the window: the first says how things are, the others show lines.
pub const ROWS: u32 = 16;

/// Most bytes of a row's text.
const ROW_BYTES_MAX: usize = 240;

/// A row that is to be drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Which one.
    pub row: u32,
    /// What it says.
    pub text: String,
}

/// What is in the window.
#[derive(Debug)]
pub struct View {
    /// Line of the first row that shows one.
    top: usize,
    drawn: Vec<String>,
}

impl View {
    /// Of the beginning of a text; nothing is drawn.
    pub fn new() -> View {
        View { top: 1, drawn: vec![String::new(); ROWS as usize] }
    }

    /// Moves it so that a line is in it.
    pub fn show(&mut self, line: usize) {
        let lines = ROWS as usize - 1;
        if !(self.top..self.top + lines).contains(&line) {
            self.top = line.saturating_sub(lines / 2).max(1);
        }
    }

    /// The rows that say something else now.
    pub fn update(&mut self, status: &str, text: &Text) -> Vec<Row> {
        let lines = text.lines_from(self.top).map(Some).chain(std::iter::repeat(None));
        let numbered = (self.top..).zip(lines).map(|(number, line)| match line {
            Some(line) => cut(&format!("{number:>4} {line}")),
            None => "   ~".to_owned(),
        });
        let rows = std::iter::once(cut(status)).chain(numbered);
        let drawn = self.drawn.iter_mut().zip(rows).zip(0..);
        let changed = drawn.filter_map(|((drawn, text), row)| {
            (*drawn != text).then(|| {
                drawn.clone_from(&text);
                Row { row, text }
            })
        });
        changed.collect()
    }
}

/// As much as a row takes.
fn cut(text: &str) -> String {
    let end = (0..=text.len().min(ROW_BYTES_MAX)).rev().find(|end| text.is_char_boundary(*end));
    text[..end.unwrap_or(0)].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(lines: usize) -> Text {
        Text((1..=lines).map(|line| format!("line {line}\n")).collect())
    }

    #[test]
    fn only_rows_that_change_are_drawn_again() {
        let mut view = View::new();
        assert_eq!(view.update("a", &text(2)).len(), ROWS as usize);
        let changed = view.update("a", &text(3));
        assert_eq!(changed, [Row { row: 3, text: "   3 line 3".to_owned() }]);
        assert!(view.update("a", &text(3)).is_empty());
    }

    #[test]
    fn a_line_that_is_not_in_view_comes_into_it() {
        let mut view = View::new();
        view.update("a", &text(100));
        view.show(15);
        assert!(view.update("a", &text(100)).is_empty());
        view.show(50);
        let rows = view.update("a", &text(100));
        assert!(rows.iter().any(|row| row.text == "  50 line 50"), "{rows:?}");
    }

    #[test]
    fn a_row_is_cut_between_characters() {
        let long = "é".repeat(200);
        assert_eq!(cut(&long), "é".repeat(120));
    }
}
