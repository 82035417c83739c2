//! What a line that begins with `#` does.

use std::path::PathBuf;
use std::rc::Rc;

use crate::diagnostic::Diagnostic;
use crate::front::findings::quoted;
use crate::front::lexer::Kind;
use crate::front::lexer::escape;
use crate::front::rules::preprocessing as rules;
use crate::source::Span;

use super::Preprocessor;
use super::macros::{Macro, Replacement, VARIADIC};
use super::word::{Word, spelling};

const DIRECTIVES: [&str; 13] = [
    "define", "elif", "else", "endif", "error", "if", "ifdef", "ifndef", "include", "line",
    "pragma", "undef", "warning",
];

impl Preprocessor<'_> {
    /// Follows the directive that begins at the next piece.
    pub(super) fn directive(&mut self, is_skipped: bool) {
        self.take_word();
        if self.next_piece().is_none_or(|piece| piece.begins_line) {
            return;
        }
        let Some(name) = self.take_word() else { return };
        let is_conditional =
            matches!(&*name.text, "if" | "ifdef" | "ifndef" | "elif" | "else" | "endif");
        if is_skipped && !is_conditional {
            self.skip_line();
            return;
        }
        let line = self.take_line();
        match &*name.text {
            "if" | "ifdef" | "ifndef" => self.begin_conditional(&name, &line, is_skipped),
            "elif" | "else" => self.continue_conditional(&name, &line),
            "endif" => self.end_conditional(&name, &line),
            "define" => self.define(&name, &line),
            "undef" => self.undefine(&name, &line),
            "include" => self.include(&name, &line),
            "pragma" => self.pragma(&name, &line),
            "line" => self.renumber(&name, &line),
            "error" => self.repeat(&rules::ERROR_DIRECTIVE, &name, &line),
            "warning" => self.repeat(&rules::WARNING_DIRECTIVE, &name, &line),
            // What a preprocessor of C leaves in its output: `# 12 "a.idl" 2`.
            _ if name.kind == Kind::Number => {
                let words = [std::slice::from_ref(&name), &line].concat();
                self.renumber_to(&name, &words, false);
            }
            _ => self.unknown_directive(&name),
        }
    }

    /// Words that a directive has no use for.
    pub(super) fn note_extra(&mut self, name: &Word, extra: &[Word]) {
        let (Some(first), Some(last)) = (extra.first(), extra.last()) else {
            return;
        };
        let message = format!("{} after the end of `#{}`", quoted(&spelling(extra)), name.text);
        self.findings.add(&rules::EXTRA_TOKENS, first.span.to(last.span), message);
    }

    /// Defines what every file finds defined, and what the command line defines.
    pub(super) fn define_built_ins(&mut self) {
        let options = self.options;
        let defined = [("__NEARCALL_IDL__", "1")].into_iter();
        let asked = options.defines.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let mut text = String::new();
        for (name, value) in defined.chain(asked) {
            let line = format!("#define {name} {value}").replace(['\n', '\r'], " ");
            text.push_str(line.trim_end_matches('\\'));
            text.push('\n');
        }
        let id = self.sources.add_built_in("<command line>", text);
        for (name, replacement) in
            [("__FILE__", Replacement::File), ("__LINE__", Replacement::Line)]
        {
            let built_in = Macro::built_in(self.start_of(id), replacement);
            let name = self.spellings.keep(name);
            self.macros.insert(name, Rc::new(built_in));
        }
        let file = self.take_in(id, PathBuf::new());
        self.open(file, false);
    }

    fn define(&mut self, directive: &Word, line: &[Word]) {
        let Some((name, rest)) = self.macro_name(directive, line) else {
            return;
        };
        let defined = match Macro::read(name, rest) {
            Ok(defined) => defined,
            Err(finding) => return self.findings.push(finding),
        };
        if let Some(known) = self.macros.get(&name.text)
            && !known.is_same_as(&defined)
        {
            let message = format!("the macro {} is defined otherwise", quoted(&name.text));
            let finding = Diagnostic::new(&rules::MACRO_REDEFINED, name.span, message);
            let finding = finding.label(known.span, "first defined here");
            let help = format!("`#undef {}` before it is defined anew", name.text);
            return self.findings.push(finding.help(help));
        }
        self.macros.insert(name.text.clone(), Rc::new(defined));
    }

    fn undefine(&mut self, directive: &Word, line: &[Word]) {
        let Some((name, rest)) = self.macro_name(directive, line) else {
            return;
        };
        self.note_extra(directive, rest);
        self.macros.remove(&name.text);
    }

    fn macro_name<'w>(
        &mut self,
        directive: &Word,
        line: &'w [Word],
    ) -> Option<(&'w Word, &'w [Word])> {
        let Some((name, rest)) = line.split_first() else {
            let message = format!("`#{}` without the name of a macro", directive.text);
            self.findings.add(&rules::MACRO_NAME, directive.span, message);
            return None;
        };
        if !name.is_identifier() {
            let message = format!("{} is no name of a macro", quoted(&name.text));
            self.findings.add(&rules::MACRO_NAME, name.span, message);
            return None;
        }
        if matches!(&*name.text, "defined" | "__FILE__" | "__LINE__" | VARIADIC) {
            let message = format!("`#{}` of {}", directive.text, quoted(&name.text));
            self.findings.add(&rules::MACRO_RESERVED, name.span, message);
            return None;
        }
        Some((name, rest))
    }

    fn repeat(&mut self, rule: &'static crate::diagnostic::Rule, name: &Word, line: &[Word]) {
        let message = match line.is_empty() {
            true => format!("`#{}`", name.text),
            false => spelling(line),
        };
        let span = line.last().map_or(name.span, |last| name.span.to(last.span));
        self.findings.add(rule, span, message);
    }

    fn renumber(&mut self, name: &Word, line: &[Word]) {
        let words = self.expand_all(line.to_vec());
        self.renumber_to(name, &words, true);
    }

    fn renumber_to(&mut self, name: &Word, words: &[Word], is_strict: bool) {
        let number = words.first().filter(|word| word.kind == Kind::Number);
        let is_decimal = |word: &&Word| word.text.bytes().all(|byte| byte.is_ascii_digit());
        let Some(line) = number.filter(is_decimal).and_then(|word| word.text.parse().ok()) else {
            let text = words.first().map_or("nothing".to_owned(), |word| quoted(&word.text));
            let message = format!("{text} where the number of a line is due");
            return self.findings.add(&rules::LINE_MALFORMED, name.span, message);
        };
        let file = words.get(1);
        if let Some(word) = file.filter(|word| word.kind != Kind::String) {
            let message = format!("{} where the name of a file is due", quoted(&word.text));
            return self.findings.add(&rules::LINE_MALFORMED, word.span, message);
        }
        let read = file.map(|word| escape::read(&word.text, word.site(), &mut self.findings));
        if is_strict {
            self.note_extra(name, words.get(2..).unwrap_or_default());
        }
        self.sources.renumber(name.span, line, read.map(|read| read.text.into()));
    }

    fn unknown_directive(&mut self, name: &Word) {
        let message = format!("unknown directive {}", quoted(&format!("#{}", name.text)));
        let mut finding = Diagnostic::new(&rules::UNKNOWN_DIRECTIVE, name.span, message);
        if let Some(meant) = meant_directive(&name.text) {
            finding = finding.help(format!("`#{meant}` is near"));
        }
        self.findings.push(finding);
    }

    /// A directive that may not stand among arguments.
    pub(super) fn is_refused_in_arguments(&mut self, name: &Word) -> bool {
        if self.is_collecting {
            let message = format!("`#{}` among the arguments of a macro", name.text);
            self.findings.add(&rules::DIRECTIVE_IN_ARGUMENTS, name.span, message);
        }
        self.is_collecting
    }

    /// From a directive's name to its last word.
    pub(super) fn directive_span(name: &Word, line: &[Word]) -> Span {
        line.last().map_or(name.span, |last| name.span.to(last.span))
    }
}

/// The directive that was meant: one letter added, left out or exchanged, or a well-known slip.
fn meant_directive(name: &str) -> Option<&'static str> {
    if matches!(name, "elseif" | "elsif" | "elif_") {
        return Some("elif");
    }
    DIRECTIVES.into_iter().find(|known| is_near(name, known))
}

fn is_near(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let same_start = left.iter().zip(right).take_while(|(l, r)| l == r).count();
    let (left, right) = (&left[same_start..], &right[same_start..]);
    let same_end = left.iter().rev().zip(right.iter().rev()).take_while(|(l, r)| l == r).count();
    let (left, right) = (left.len() - same_end, right.len() - same_end);
    left.max(right) <= 1
}
