//! What a macro becomes.
//!
//! A macro's replacement is a context: its words come before the rest of the file. While a context
//! is open its macro is disabled, and a name of it that is met is painted, so that it is never
//! replaced, wherever it goes. So contexts nest at most as deep as there are macros.

use std::rc::Rc;
use std::vec::IntoIter;

use crate::diagnostic::Diagnostic;
use crate::front::findings::quoted;
use crate::front::lexer::{self, Kind};
use crate::front::rules::preprocessing as rules;
use crate::source::Span;

use super::Preprocessor;
use super::macros::{Macro, Part, PartKind, Replacement};
use super::word::Word;

/// Words that come before those of the file.
#[derive(Debug)]
pub(super) struct Context {
    words: IntoIter<Word>,
    source: Source,
}

/// Where a context's words are from.
#[derive(Debug)]
enum Source {
    /// This macro, which is disabled.
    Macro(Rc<Macro>),
    /// An argument or a directive: nothing after it belongs to it.
    Closed,
}

/// An argument: as written, and once it is wanted, with its macros replaced.
struct Argument {
    words: Vec<Word>,
    expanded: Option<Vec<Word>>,
}

impl Preprocessor<'_> {
    /// The next word that is no macro.
    pub(super) fn next_expanded(&mut self) -> Option<Word> {
        loop {
            let word = self.next_word()?;
            if word.kind != Kind::Identifier || word.is_painted {
                return Some(word);
            }
            let Some(found) = self.macros.get(&word.text).cloned() else {
                return Some(word);
            };
            if found.parameters.is_none() {
                self.replace(&found, &word, Vec::new());
            } else if !self.paren_follows() {
                return Some(word);
            } else if let Some(arguments) = self.collect(&found, &word) {
                self.replace(&found, &word, arguments);
            }
        }
    }

    /// All of `words`, macros replaced, as if nothing followed them.
    pub(super) fn expand_all(&mut self, words: Vec<Word>) -> Vec<Word> {
        self.within(words, |preprocessor| {
            let mut expanded = Vec::new();
            while let Some(word) = preprocessor.next_expanded() {
                expanded.push(word);
            }
            expanded
        })
    }

    /// The same for a condition, where what follows `defined` is left as it is.
    pub(super) fn expand_condition(&mut self, words: Vec<Word>) -> Vec<Word> {
        self.within(words, |preprocessor| {
            let mut expanded = Vec::new();
            while let Some(word) = preprocessor.next_expanded() {
                let is_defined = word.is_identifier() && &*word.text == "defined";
                expanded.push(word);
                if !is_defined {
                    continue;
                }
                let operand = preprocessor.next_word();
                let is_open = operand.as_ref().is_some_and(|word| word.is("("));
                expanded.extend(operand);
                if is_open {
                    expanded.extend(preprocessor.next_word());
                }
            }
            expanded
        })
    }

    fn within(&mut self, words: Vec<Word>, take: impl FnOnce(&mut Self) -> Vec<Word>) -> Vec<Word> {
        let depth = self.contexts.len();
        // What is read inside is no part of arguments that are being collected outside.
        let was_collecting = std::mem::take(&mut self.is_collecting);
        self.contexts.push(Context { words: words.into_iter(), source: Source::Closed });
        let taken = take(self);
        while self.contexts.len() > depth {
            self.pop_context();
        }
        self.is_collecting = was_collecting;
        taken
    }

    /// The next word, macro or not; nothing at the end of a closed context.
    fn next_word(&mut self) -> Option<Word> {
        while !self.is_stopped {
            let Some(context) = self.contexts.last_mut() else {
                return self.next_in_file();
            };
            if let Some(mut word) = context.words.next() {
                if word.is_identifier() && self.is_disabled(&word) {
                    word.is_painted = true;
                }
                return Some(word);
            }
            if matches!(context.source, Source::Closed) {
                return None;
            }
            self.pop_context();
        }
        None
    }

    fn is_disabled(&self, word: &Word) -> bool {
        self.macros.get(&word.text).is_some_and(|found| found.is_disabled.get())
    }

    fn pop_context(&mut self) {
        if let Some(Context { source: Source::Macro(ended), .. }) = self.contexts.pop() {
            ended.is_disabled.set(false);
        }
    }

    /// The next word is `(`.
    fn paren_follows(&self) -> bool {
        for context in self.contexts.iter().rev() {
            if let Some(next) = context.words.as_slice().first() {
                return next.is("(");
            }
            if matches!(context.source, Source::Closed) {
                return false;
            }
        }
        self.paren_follows_in_file()
    }

    /// The arguments of `wanted`, whose name `call` has been taken.
    fn collect(&mut self, wanted: &Macro, call: &Word) -> Option<Vec<Argument>> {
        let was_collecting = std::mem::replace(&mut self.is_collecting, true);
        let arguments = self.collect_words(wanted);
        self.is_collecting = was_collecting;
        let Some(mut arguments) = arguments else {
            if !self.is_stopped {
                let message = format!("no `)` ends the arguments of {}", quoted(&call.text));
                self.findings.add(&rules::ARGUMENTS_UNTERMINATED, call.span, message);
            }
            return None;
        };
        let due = wanted.parameters.as_ref().map_or(0, Vec::len);
        if due == 0 && arguments.len() == 1 && arguments[0].is_empty() {
            arguments.clear();
        }
        if wanted.is_variadic && arguments.len() + 1 == due {
            arguments.push(Vec::new());
        }
        let count: usize = arguments.iter().map(Vec::len).sum();
        if !self.charge(count, call.span) {
            return None;
        }
        if arguments.len() != due {
            let (name, given) = (quoted(&call.text), arguments.len());
            let message = format!("arguments of {name}: {given} given, {due} due");
            let finding = Diagnostic::new(&rules::ARGUMENT_COUNT, call.span, message);
            self.findings.push(finding.label(wanted.span, "defined here"));
            return None;
        }
        Some(arguments.into_iter().map(|words| Argument { words, expanded: None }).collect())
    }

    fn collect_words(&mut self, wanted: &Macro) -> Option<Vec<Vec<Word>>> {
        let due = wanted.parameters.as_ref().map_or(0, Vec::len);
        let mut arguments = vec![Vec::new()];
        let mut depth = 0;
        self.next_word()?;
        loop {
            let word = self.next_word()?;
            if word.is(")") && depth == 0 {
                return Some(arguments);
            }
            let takes_rest = wanted.is_variadic && arguments.len() == due;
            if word.is(",") && depth == 0 && !takes_rest {
                arguments.push(Vec::new());
                continue;
            }
            depth += usize::from(word.is("("));
            depth -= usize::from(word.is(")"));
            if let Some(argument) = arguments.last_mut() {
                argument.push(word);
            }
        }
    }

    /// Puts what `used` becomes before the words that follow.
    fn replace(&mut self, used: &Rc<Macro>, call: &Word, mut arguments: Vec<Argument>) {
        let mut words = match &used.replacement {
            Replacement::Parts(parts) => self.substitute(used, parts, call, &mut arguments),
            Replacement::Line => vec![self.line_number(call)],
            Replacement::File => vec![self.file_name(call)],
        };
        if !self.charge(words.len() + 1, call.span) {
            return;
        }
        if let Some(first) = words.first_mut() {
            first.follows_space = call.follows_space;
            first.doc = call.doc.clone().or(first.doc.take());
        }
        used.is_disabled.set(true);
        let source = Source::Macro(used.clone());
        self.contexts.push(Context { words: words.into_iter(), source });
    }

    fn substitute(
        &mut self,
        used: &Macro,
        parts: &[Part],
        call: &Word,
        arguments: &mut [Argument],
    ) -> Vec<Word> {
        let mut words: Vec<Word> = Vec::new();
        let mut has_left = false;
        for (index, part) in parts.iter().enumerate() {
            let is_before_paste = parts.get(index + 1).is_some_and(|next| next.is_pasted);
            let is_optional = is_optional_comma(used, part, words.last());
            if is_optional && arguments.last().is_some_and(|rest| rest.words.is_empty()) {
                words.pop();
                continue;
            }
            let is_pasted = part.is_pasted && !is_optional;
            let mut made = match part.kind {
                PartKind::Word { kind, ref text } => {
                    vec![Word::made(kind, text.clone(), call.span)]
                }
                PartKind::Stringified(of) => vec![self.stringified(&arguments[of], call)],
                PartKind::Argument(of) if is_pasted || is_before_paste => {
                    arguments[of].words.clone()
                }
                PartKind::Argument(of) => self.expanded(&mut arguments[of], call),
            };
            if !self.charge(made.len(), call.span) {
                return words;
            }
            if let Some(first) = made.first_mut() {
                first.follows_space = part.follows_space;
            }
            let is_present = !made.is_empty();
            if is_pasted && has_left && is_present {
                let right = made.remove(0);
                self.paste(&mut words, right, call);
            }
            has_left = is_present || (is_pasted && has_left);
            words.append(&mut made);
        }
        words
    }

    fn expanded(&mut self, argument: &mut Argument, call: &Word) -> Vec<Word> {
        if let Some(expanded) = &argument.expanded {
            return expanded.clone();
        }
        if self.argument_depth >= self.limits.argument_depth_max {
            let depth = self.limits.argument_depth_max;
            let message = format!("arguments of macros nest deeper than {depth}");
            self.findings.add(&rules::ARGUMENT_DEPTH, call.span, message);
            self.is_stopped = true;
            return Vec::new();
        }
        self.argument_depth += 1;
        let expanded = self.expand_all(argument.words.clone());
        self.argument_depth -= 1;
        argument.expanded = Some(expanded.clone());
        expanded
    }

    /// `#`: the argument as a string, its own quotes and backslashes escaped.
    fn stringified(&mut self, argument: &Argument, call: &Word) -> Word {
        let mut text = String::from("\"");
        for word in &argument.words {
            if word.follows_space && text.len() > 1 {
                text.push(' ');
            }
            let is_literal = !matches!(
                word.kind,
                Kind::Identifier | Kind::Number | Kind::Punctuation | Kind::Stray
            );
            for character in word.text.chars() {
                if is_literal && matches!(character, '"' | '\\') {
                    text.push('\\');
                }
                text.push(character);
            }
        }
        text.push('"');
        self.charge(text.len() / TEXT_BYTES_PER_WORD, call.span);
        Word::made(Kind::String, self.spellings.keep(&text), call.span)
    }

    /// `##`: makes one word of the last of `words` and `right`.
    fn paste(&mut self, words: &mut Vec<Word>, right: Word, call: &Word) {
        let Some(left) = words.pop() else { return };
        let text = format!("{}{}", left.text, right.text);
        if !self.charge(text.len() / TEXT_BYTES_PER_WORD, call.span) {
            return;
        }
        let scanned = lexer::scan(&text);
        match scanned.pieces[..] {
            [only] if only.start == 0 && only.end as usize == text.len() => {
                let mut word = Word::made(only.kind, self.spellings.keep(&text), call.span);
                (word.follows_space, word.doc) = (left.follows_space, left.doc);
                words.push(word);
            }
            _ => {
                let (first, second) = (quoted(&left.text), quoted(&right.text));
                let message = format!("`##` of {first} and {second} makes no token");
                let finding = Diagnostic::new(&rules::PASTE, call.span, message);
                self.findings.push(finding);
                words.extend([left, right]);
            }
        }
    }

    fn line_number(&mut self, call: &Word) -> Word {
        let line = self.sources.place(call.span).line.to_string();
        Word::made(Kind::Number, self.spellings.keep(&line), call.span)
    }

    fn file_name(&mut self, call: &Word) -> Word {
        let path = self.sources.path(call.span).display().to_string();
        let text = format!("\"{}\"", path.replace('\\', "\\\\").replace('"', "\\\""));
        Word::made(Kind::String, self.spellings.keep(&text), call.span)
    }

    /// Counts words that macros made; false once they are too many.
    fn charge(&mut self, count: usize, span: Span) -> bool {
        self.made_count += count;
        if self.made_count > self.limits.made_count_max && !self.is_stopped {
            let message = format!("macros make more than {} tokens", self.limits.made_count_max);
            self.findings.add(&rules::EXPANSION_LIMIT, span, message);
            self.is_stopped = true;
        }
        !self.is_stopped
    }
}

/// What a text counts that `#` or `##` made, so that it cannot grow without limit either.
const TEXT_BYTES_PER_WORD: usize = 16;

/// `, ## __VA_ARGS__`: the comma goes if no arguments are left. All preprocessors of C know it.
fn is_optional_comma(used: &Macro, part: &Part, before: Option<&Word>) -> bool {
    let last = used.parameters.as_ref().map_or(0, Vec::len).wrapping_sub(1);
    let is_rest = matches!(part.kind, PartKind::Argument(of) if of == last);
    used.is_variadic && is_rest && part.is_pasted && before.is_some_and(|word| word.is(","))
}
