//! The text that is edited, and the commands that change it.

use std::ops::Range;

/// What is typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// `5c text`: line 5 is that from now on.
    Change(usize, String),
    /// `5i text`: that comes before line 5.
    Insert(usize, String),
    /// `5d`: line 5 goes.
    Delete(usize),
    /// `w`: the file is saved.
    Save,
    /// `q`, or the end of what is typed: the file is saved, and that is all.
    Quit,
}

/// Some bytes that take the place of others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Splice {
    /// Of the first byte that goes.
    pub offset: usize,
    /// How many go.
    pub bytes: usize,
    /// What comes.
    pub inserted: String,
}

/// Lines, each but perhaps the last one with its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text(pub String);

impl Command {
    /// What a typed line stands for.
    ///
    /// # Errors: what is wrong with it.
    pub fn parse(line: &str) -> Result<Command, String> {
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = line.split_at(digits);
        let mut letters = rest.chars();
        let letter = letters.next().unwrap_or(' ');
        let text = letters.as_str().strip_prefix(' ').unwrap_or(letters.as_str());
        let number = || match number.parse::<usize>() {
            Ok(number) if number > 0 => Ok(number),
            _ => Err(format!("{number:?} is no line: lines begin at 1")),
        };
        match letter {
            'c' => Ok(Command::Change(number()?, text.to_owned())),
            'i' => Ok(Command::Insert(number()?, text.to_owned())),
            'd' if text.is_empty() => Ok(Command::Delete(number()?)),
            'w' if line == "w" => Ok(Command::Save),
            'q' if line == "q" => Ok(Command::Quit),
            _ => Err(format!("{line:?} is none of: Nc TEXT, Ni TEXT, Nd, w, q")),
        }
    }
}

impl Text {
    /// How many lines there are.
    pub fn count(&self) -> usize {
        self.0.split_inclusive('\n').count()
    }

    /// Where line `number` lies, with its end; the first is 1.
    fn range(&self, number: usize) -> Option<Range<usize>> {
        let line = self.0.split_inclusive('\n').nth(number.checked_sub(1)?)?;
        let start = line.as_ptr().addr() - self.0.as_ptr().addr();
        Some(start..start + line.len())
    }

    /// Lines from `number` on, without their ends.
    pub fn lines_from(&self, number: usize) -> impl Iterator<Item = &str> {
        let start = self.range(number).map_or(self.0.len(), |range| range.start);
        self.0[start..].lines()
    }

    /// Changes it as a command says. `None`: the command changes nothing.
    ///
    /// # Errors: there is no such line.
    pub fn apply(&mut self, command: &Command) -> Result<Option<Splice>, String> {
        let splice = match command {
            Command::Change(number, text) => {
                let range = self.line(*number)?;
                let end = if self.0[range.clone()].ends_with('\n') { 1 } else { 0 };
                let bytes = range.len() - end;
                Splice { offset: range.start, bytes, inserted: text.clone() }
            }
            Command::Insert(number, text) if *number == self.count() + 1 => {
                let is_open = !self.0.is_empty() && !self.0.ends_with('\n');
                let start = if is_open { "\n" } else { "" };
                let inserted = format!("{start}{text}\n");
                Splice { offset: self.0.len(), bytes: 0, inserted }
            }
            Command::Insert(number, text) => {
                let offset = self.line(*number)?.start;
                Splice { offset, bytes: 0, inserted: format!("{text}\n") }
            }
            Command::Delete(number) => {
                let range = self.line(*number)?;
                Splice { offset: range.start, bytes: range.len(), inserted: String::new() }
            }
            Command::Save | Command::Quit => return Ok(None),
        };
        let end = splice.offset + splice.bytes;
        self.0.replace_range(splice.offset..end, &splice.inserted);
        Ok(Some(splice))
    }

    fn line(&self, number: usize) -> Result<Range<usize>, String> {
        let count = self.count();
        self.range(number).ok_or_else(|| format!("there is no line {number}: there are {count}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(before: &str, line: &str, after: &str) {
        let mut text = Text(before.to_owned());
        let splice = text.apply(&Command::parse(line).unwrap()).unwrap().unwrap();
        assert_eq!(text.0, after);
        let mut bytes = before.to_owned();
        bytes.replace_range(splice.offset..splice.offset + splice.bytes, &splice.inserted);
        assert_eq!(bytes, after, "the splice says what has changed");
    }

    #[test]
    fn a_line_is_changed_and_keeps_its_end() {
        check("a\nb\nc", "2c bee", "a\nbee\nc");
        check("a\nb\nc", "3c", "a\nb\n");
    }

    #[test]
    fn a_line_comes_before_another_or_last() {
        check("a\nb\n", "1i é", "é\na\nb\n");
        check("a\nb\n", "3i c", "a\nb\nc\n");
        check("a", "2i b", "a\nb\n");
        check("", "1i a", "a\n");
    }

    #[test]
    fn a_line_goes_with_its_end() {
        check("a\nb\nc", "1d", "b\nc");
        check("a\nb\nc", "3d", "a\nb\n");
    }

    #[test]
    fn a_line_that_is_not_there_is_refused() {
        let mut text = Text("a\n".to_owned());
        let refused = text.apply(&Command::parse("2d").unwrap()).unwrap_err();
        assert_eq!(refused, "there is no line 2: there are 1");
        assert!(text.apply(&Command::parse("3i x").unwrap()).is_err());
        assert_eq!(text.0, "a\n");
    }

    #[test]
    fn what_is_no_command_is_refused() {
        for line in ["", "x", "0d", "c text", "1d 2", "wq", "99999999999999999999d", "é"] {
            assert!(Command::parse(line).is_err(), "{line}");
        }
    }

    #[test]
    fn lines_are_read_from_any_on() {
        let text = Text("a\nb\n".to_owned());
        assert_eq!(text.lines_from(2).collect::<Vec<_>>(), ["b"]);
        assert_eq!(text.lines_from(3).count(), 0);
    }
}
