//! What a macro is, and how `#define` spells one.

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::diagnostic::Diagnostic;
use crate::front::findings::quoted;
use crate::front::lexer::Kind;
use crate::front::rules::preprocessing as rules;
use crate::source::Span;

use super::word::Word;

/// The name that stands for the arguments in place of `...`.
pub(super) const VARIADIC: &str = "__VA_ARGS__";

/// A macro.
#[derive(Debug)]
pub(super) struct Macro {
    /// Where its name stands in its definition.
    pub span: Span,
    /// Nothing if it is used without parentheses.
    pub parameters: Option<Vec<Rc<str>>>,
    /// The last parameter takes all arguments that are left.
    pub is_variadic: bool,
    pub replacement: Replacement,
    /// It is being replaced: its name inside its own replacement is left as it is.
    pub is_disabled: Cell<bool>,
}

/// What stands in place of a macro.
#[derive(Debug)]
pub(super) enum Replacement {
    Parts(Vec<Part>),
    /// The number of the line, `__LINE__`.
    Line,
    /// The name of the file, `__FILE__`.
    File,
}

/// One word of a replacement.
#[derive(Debug)]
pub(super) struct Part {
    pub kind: PartKind,
    pub follows_space: bool,
    /// `##` stands before it.
    pub is_pasted: bool,
}

/// What a part becomes.
#[derive(Debug)]
pub(super) enum PartKind {
    Word {
        kind: Kind,
        text: Rc<str>,
    },
    /// The argument for the parameter of this index.
    Argument(usize),
    /// That argument's text as a string.
    Stringified(usize),
}

impl Macro {
    pub fn built_in(span: Span, replacement: Replacement) -> Macro {
        let is_disabled = Cell::new(false);
        Macro { span, parameters: None, is_variadic: false, replacement, is_disabled }
    }

    /// Reads what follows `#define`.
    pub fn read(name: &Word, rest: &[Word]) -> Result<Macro, Diagnostic> {
        let mut made = Macro::built_in(name.span, Replacement::Parts(Vec::new()));
        let mut reader = Reader::default();
        let mut body = rest;
        if let [open, after @ ..] = rest
            && open.is("(")
            && !open.follows_space
        {
            body = reader.read_parameters(open, after)?;
            made.parameters = Some(reader.names.clone());
            made.is_variadic = reader.is_variadic;
        }
        made.replacement = Replacement::Parts(reader.read_parts(body, made.parameters.is_some())?);
        Ok(made)
    }

    /// The same parameters, and a replacement of the same words with blanks in the same places.
    pub fn is_same_as(&self, other: &Macro) -> bool {
        let same_parts = match (&self.replacement, &other.replacement) {
            (Replacement::Parts(mine), Replacement::Parts(others)) => {
                mine.len() == others.len()
                    && mine.iter().zip(others).all(|(mine, other)| mine.is_same_as(other))
            }
            _ => false,
        };
        same_parts && self.parameters == other.parameters && self.is_variadic == other.is_variadic
    }
}

/// Reads a definition.
#[derive(Default)]
struct Reader {
    names: Vec<Rc<str>>,
    indices: HashMap<Rc<str>, usize>,
    is_variadic: bool,
}

impl Reader {
    /// Reads parameters up to their `)`; gives what follows.
    fn read_parameters<'w>(
        &mut self,
        open: &Word,
        mut rest: &'w [Word],
    ) -> Result<&'w [Word], Diagnostic> {
        if let [close, body @ ..] = rest
            && close.is(")")
        {
            return Ok(body);
        }
        loop {
            let [name, after, body @ ..] = rest else {
                return wrong_parameters(open, "the parameters are not ended by `)`".to_owned());
            };
            self.read_parameter(name)?;
            if after.is(")") {
                return Ok(body);
            }
            if !after.is(",") || self.is_variadic {
                let want = if self.is_variadic { "`)`" } else { "`,` or `)`" };
                let message = format!("{} where {want} is due", quoted(&after.text));
                return wrong_parameters(after, message);
            }
            rest = body;
        }
    }

    fn read_parameter(&mut self, name: &Word) -> Result<(), Diagnostic> {
        let kept = match name.is("...") {
            true => VARIADIC.into(),
            false => name.text.clone(),
        };
        self.is_variadic = name.is("...");
        if !self.is_variadic && (!name.is_identifier() || &*kept == VARIADIC) {
            let message = format!("{} is no name of a parameter", quoted(&name.text));
            return wrong_parameters(name, message);
        }
        if self.indices.insert(kept.clone(), self.names.len()).is_some() {
            return wrong_parameters(name, format!("the parameter {} twice", quoted(&name.text)));
        }
        self.names.push(kept);
        Ok(())
    }

    fn read_parts(&self, body: &[Word], has_parameters: bool) -> Result<Vec<Part>, Diagnostic> {
        let mut parts: Vec<Part> = Vec::new();
        let mut words = body.iter();
        let mut paste: Option<&Word> = None;
        while let Some(word) = words.next() {
            if word.is("##") {
                if parts.is_empty() || paste.is_some() {
                    return wrong_replacement(word, "`##` without a token before it");
                }
                paste = Some(word);
                continue;
            }
            let kind = if word.is("#") && has_parameters {
                match words.next().and_then(|next| self.index(next)) {
                    Some(index) => PartKind::Stringified(index),
                    None => return wrong_replacement(word, "`#` without a parameter after it"),
                }
            } else if let Some(index) = self.index(word) {
                PartKind::Argument(index)
            } else if &*word.text == VARIADIC {
                let message = "`__VA_ARGS__` in a macro without `...`";
                return Err(Diagnostic::new(&rules::MACRO_RESERVED, word.span, message));
            } else {
                PartKind::Word { kind: word.kind, text: word.text.clone() }
            };
            let follows_space = word.follows_space && !parts.is_empty();
            parts.push(Part { kind, follows_space, is_pasted: paste.take().is_some() });
        }
        match paste {
            Some(paste) => wrong_replacement(paste, "`##` without a token after it"),
            None => Ok(parts),
        }
    }

    fn index(&self, word: &Word) -> Option<usize> {
        self.indices.get(&word.text).copied()
    }
}

fn wrong_parameters<T>(at: &Word, message: String) -> Result<T, Diagnostic> {
    Err(Diagnostic::new(&rules::MACRO_PARAMETERS, at.span, message))
}

fn wrong_replacement<T>(at: &Word, message: &str) -> Result<T, Diagnostic> {
    Err(Diagnostic::new(&rules::MACRO_REPLACEMENT, at.span, message))
}

impl Part {
    fn is_same_as(&self, other: &Part) -> bool {
        let same_kind = match (&self.kind, &other.kind) {
            (PartKind::Word { text: mine, .. }, PartKind::Word { text: others, .. }) => {
                mine == others
            }
            (PartKind::Argument(mine), PartKind::Argument(others))
            | (PartKind::Stringified(mine), PartKind::Stringified(others)) => mine == others,
            _ => false,
        };
        same_kind && self.is_pasted == other.is_pasted && self.follows_space == other.follows_space
    }
}
