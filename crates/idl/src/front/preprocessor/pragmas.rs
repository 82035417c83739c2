//! The pragmas that have a meaning: `prefix`, `ID`, `version` (clause 7.4.6.4.1), and `once`.

use std::rc::Rc;

use crate::diagnostic::Diagnostic;
use crate::front::findings::quoted;
use crate::front::lexer::{Kind, escape};
use crate::front::rules::preprocessing as rules;
use crate::front::token::{Pragma, TokenKind};

use super::word::{Word, spelling};
use super::{Preprocessor, marker};

impl Preprocessor<'_> {
    pub(super) fn pragma(&mut self, name: &Word, line: &[Word]) {
        let Some((kind, operands)) = line.split_first() else {
            return self.findings.add(&rules::PRAGMA_DROPPED, name.span, "a pragma without a name");
        };
        let read = match &*kind.text {
            "once" => return self.once(name, operands),
            "prefix" => self.prefix(operands),
            "ID" => self.id(operands),
            "version" => version(operands),
            _ => {
                let message = format!("the pragma {} has no meaning here", quoted(&kind.text));
                return self.findings.add(&rules::PRAGMA_DROPPED, kind.span, message);
            }
        };
        if self.is_refused_in_arguments(name) {
            return;
        }
        let span = Self::directive_span(name, line);
        match read {
            Ok((pragma, extra)) => {
                self.note_extra(name, extra);
                self.tokens.push(marker(TokenKind::Pragma(pragma), span));
            }
            Err(usage) => {
                let message = format!("malformed {}", quoted(&spelling(line)));
                let finding = Diagnostic::new(&rules::PRAGMA_MALFORMED, span, message);
                self.findings.push(finding.help(format!("write `#pragma {usage}`")));
            }
        }
    }

    fn once(&mut self, name: &Word, extra: &[Word]) {
        self.note_extra(name, extra);
        if let Some(open) = self.open.last() {
            open.file.is_once.set(true);
        }
    }

    fn prefix<'w>(&mut self, operands: &'w [Word]) -> Read<'w> {
        match operands {
            [text, extra @ ..] if text.kind == Kind::String => {
                Ok((Pragma::Prefix(self.string(text)), extra))
            }
            _ => Err("prefix \"string\""),
        }
    }

    fn id<'w>(&mut self, operands: &'w [Word]) -> Read<'w> {
        const USAGE: &str = "ID name \"format:string\"";
        let (name, rest) = scoped_name(operands).ok_or(USAGE)?;
        match rest {
            [text, extra @ ..] if text.kind == Kind::String && text.text.contains(':') => {
                Ok((Pragma::Id { name, id: self.string(text) }, extra))
            }
            _ => Err(USAGE),
        }
    }

    fn string(&mut self, word: &Word) -> Rc<str> {
        escape::read(&word.text, word.site(), &mut self.findings).text.into()
    }
}

/// A pragma and the words it has no use for, or how it is written.
type Read<'w> = Result<(Pragma, &'w [Word]), &'static str>;

fn version(operands: &[Word]) -> Read<'_> {
    const USAGE: &str = "version name major.minor";
    let (name, rest) = scoped_name(operands).ok_or(USAGE)?;
    match rest {
        [number, extra @ ..] if is_version(&number.text) => {
            Ok((Pragma::Version { name, version: number.text.clone() }, extra))
        }
        _ => Err(USAGE),
    }
}

fn is_version(text: &str) -> bool {
    let is_part = |part: &str| part.parse::<u16>().is_ok() && !part.starts_with('+');
    text.split_once('.').is_some_and(|(major, minor)| is_part(major) && is_part(minor))
}

/// `A`, `A::B` or `::A::B`, and the words after it.
fn scoped_name(words: &[Word]) -> Option<(Rc<str>, &[Word])> {
    let mut end = usize::from(words.first().is_some_and(|word| word.is("::")));
    loop {
        words.get(end).filter(|word| word.is_identifier())?;
        end += 1;
        if !words.get(end).is_some_and(|word| word.is("::")) {
            let name: String = words[..end].iter().map(|word| &*word.text).collect();
            return Some((name.into(), &words[end..]));
        }
        end += 1;
    }
}
