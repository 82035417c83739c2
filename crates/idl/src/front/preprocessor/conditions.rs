//! Which groups of lines count: `#if`, `#ifdef`, `#ifndef`, `#elif`, `#else`, `#endif`.

use std::rc::Rc;

use crate::diagnostic::Diagnostic;
use crate::front::findings::quoted;
use crate::front::rules::preprocessing as rules;
use crate::source::Span;

use super::Preprocessor;
use super::word::Word;

/// A conditional whose `#endif` has not come.
#[derive(Debug)]
pub(super) struct Conditional {
    /// `if`, `ifdef` or `ifndef`.
    pub directive: Rc<str>,
    pub span: Span,
    pub else_span: Option<Span>,
    group: Group,
}

/// The group of lines that a conditional is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    /// It counts.
    Taken,
    /// It does not; a later one may.
    Waiting,
    /// It does not, nor does any later one.
    Past,
}

impl Conditional {
    pub fn is_skipping(&self) -> bool {
        self.group != Group::Taken
    }
}

impl Preprocessor<'_> {
    pub(super) fn begin_conditional(&mut self, name: &Word, rest: &[Word], is_skipped: bool) {
        let group = if is_skipped {
            Group::Past
        } else if self.holds(name, rest) {
            Group::Taken
        } else {
            Group::Waiting
        };
        let (directive, span) = (name.text.clone(), name.span);
        let conditional = Conditional { directive, span, else_span: None, group };
        if let Some(open) = self.open.last_mut() {
            open.conditionals.push(conditional);
        }
    }

    pub(super) fn continue_conditional(&mut self, name: &Word, rest: &[Word]) {
        let Some(last) = self.innermost(name) else {
            return;
        };
        let (opened, group) = (last.span, last.group);
        if let Some(else_span) = last.else_span {
            let message = format!("`#{}` after `#else`", name.text);
            let finding = Diagnostic::new(&rules::CONDITIONAL_ORDER, name.span, message);
            let finding = finding.label(opened, "the conditional begins here");
            self.findings.push(finding.label(else_span, "its `#else`"));
            return;
        }
        let is_else = &*name.text == "else";
        let next = match group {
            Group::Waiting if is_else || self.holds(name, rest) => Group::Taken,
            Group::Waiting => Group::Waiting,
            Group::Taken | Group::Past => Group::Past,
        };
        if is_else {
            self.note_extra(name, rest);
        }
        if let Some(last) = self.innermost(name) {
            last.group = next;
            last.else_span = is_else.then_some(name.span);
        }
    }

    pub(super) fn end_conditional(&mut self, name: &Word, rest: &[Word]) {
        if self.innermost(name).is_none() {
            return;
        }
        self.note_extra(name, rest);
        if let Some(open) = self.open.last_mut() {
            open.conditionals.pop();
        }
    }

    /// The conditional that `name` is about.
    fn innermost(&mut self, name: &Word) -> Option<&mut Conditional> {
        let open = self.open.last_mut()?;
        if open.conditionals.is_empty() {
            let message = format!("`#{}` without `#if`", name.text);
            self.findings.add(&rules::CONDITIONAL_UNOPENED, name.span, message);
        }
        open.conditionals.last_mut()
    }

    /// Whether the condition of `#if`, `#elif`, `#ifdef` or `#ifndef` holds.
    fn holds(&mut self, name: &Word, rest: &[Word]) -> bool {
        if matches!(&*name.text, "if" | "elif") {
            return self.condition_holds(name, rest);
        }
        let Some(named) = rest.first().filter(|word| word.is_identifier()) else {
            let at = rest.first().unwrap_or(name);
            let message = match rest.first() {
                Some(word) => format!("{} is no name of a macro", quoted(&word.text)),
                None => format!("`#{}` without the name of a macro", name.text),
            };
            self.findings.add(&rules::MACRO_NAME, at.span, message);
            return false;
        };
        self.note_extra(name, &rest[1..]);
        self.macros.contains_key(&named.text) == (&*name.text == "ifdef")
    }
}
