//! What protox has against a file, as findings of ours.
//!
//! protox says what is wrong and where, through the traits of miette. Our wording is lower-case
//! and has no full stop; its labels may point past the end, at nothing, or into a character.

use miette::{Diagnostic as Refused, LabeledSpan};

use super::own;
use crate::diagnostic::Diagnostic;
use crate::front::rules::proto as rules;
use crate::source::{FileId, SourceMap, Span};

/// Characters of a message.
const MESSAGE_CHARACTERS_MAX: usize = 400;

/// Findings of one file.
const FINDINGS_MAX: usize = 100;

/// One finding for each thing that protox names. It has no word for editions.
pub(super) fn findings(error: &dyn Refused, file: FileId, sources: &SourceMap) -> Vec<Diagnostic> {
    if let Some(edition) = edition(error, file, sources) {
        return vec![edition];
    }
    let related = error.related().into_iter().flatten().take(FINDINGS_MAX - 1);
    std::iter::once(finding(error, file, sources))
        .chain(related.map(|one| finding(one, file, sources)))
        .collect()
}

/// What is wrong with a file that begins with `edition`, at which word protox stops.
fn edition(error: &dyn Refused, file: FileId, sources: &SourceMap) -> Option<Diagnostic> {
    let source = sources.file(file);
    let start = error.labels()?.next()?.offset();
    let line = source.text.get(start..)?.lines().next()?;
    let (statement, _) = line.split_once(';')?;
    let said = statement.strip_prefix("edition")?.trim_start().strip_prefix('=')?;
    let said = said.trim().trim_matches(['"', '\'']);
    if said.is_empty() || !said.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let end = start + statement.len() + 1;
    let span = Span { file, start: start as u32, end: end as u32 };
    let message = format!("`{}` is of edition {said}", source.path.display());
    let help = "write `syntax = \"proto3\";` in its place, and `optional` before fields that may \
                be missing and are no messages";
    Some(Diagnostic::new(&rules::SYNTAX, span, message).help(help))
}

fn finding(error: &dyn Refused, file: FileId, sources: &SourceMap) -> Diagnostic {
    let labels: Vec<LabeledSpan> = error.labels().into_iter().flatten().collect();
    let text = &sources.file(file).text;
    // Of two places the one that breaks the rule is where something was found, or comes last.
    let is_found =
        |label: &LabeledSpan| label.label().is_some_and(|said| said.starts_with("found"));
    let main = labels.iter().position(is_found).unwrap_or(labels.len().saturating_sub(1));
    let span = labels.get(main).map_or_else(|| end_of(text, file), |one| span_of(one, text, file));
    let said = meant(&error.to_string(), error.help().map(|help| help.to_string()));
    // Of an option whose value stands in braces it is said one level below what is wrong there.
    let within = error.diagnostic_source();
    let said = within.map_or(said.clone(), |within| format!("{said}: {within}"));
    let mut finding = Diagnostic::new(&rules::LANGUAGE, span, fragment(&said));
    for (_, label) in labels.iter().enumerate().filter(|(index, _)| *index != main) {
        let said = label.label().unwrap_or("see here").trim_matches('…').trim();
        finding = finding.label(span_of(label, text, file), fragment(said));
    }
    let advice = if within.is_some() { own::advice_within } else { own::advice };
    let help = advice(&error.to_string()).or_else(|| {
        let help = within.and_then(Refused::help).or_else(|| error.help());
        help.map(|help| fragment(&help.to_string()))
    });
    match help {
        Some(help) => finding.help(help),
        None => finding,
    }
}

/// What protox means where it says something else.
fn meant(said: &str, help: Option<String>) -> String {
    let is_of_import = help.is_some_and(|help| help.starts_with("imports may"));
    match said {
        "invalid group name" if is_of_import => "this is no path of an import".to_owned(),
        _ => said.replace("message numbers must", "field numbers must"),
    }
}

/// What is said, as one of our messages: backquotes around what stands in the text.
fn fragment(said: &str) -> String {
    let said = said.trim().trim_end_matches('.');
    let mut shown = String::new();
    let mut before = ' ';
    let mut rest = said.chars().take(MESSAGE_CHARACTERS_MAX).peekable();
    while let Some(character) = rest.next() {
        let is_apostrophe =
            before.is_alphanumeric() && rest.peek().is_some_and(|next| next.is_alphanumeric());
        shown.extend(match character {
            '\'' if !is_apostrophe => "`".chars().collect::<Vec<char>>(),
            _ if character.is_control() => vec![' '],
            _ if shown.is_empty() => character.to_lowercase().collect(),
            _ => vec![character],
        });
        before = character;
    }
    shown
}

/// A label, as far as it lies in the text and between two characters.
fn span_of(label: &LabeledSpan, text: &str, file: FileId) -> Span {
    let boundary = |at: usize| {
        let at = at.min(text.len());
        (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
    };
    let start = boundary(label.offset());
    let end = boundary(label.offset().saturating_add(label.len()));
    Span { file, start: start as u32, end: end.max(start) as u32 }
}

/// What misses something at the end points there.
fn end_of(text: &str, file: FileId) -> Span {
    let end = text.len() as u32;
    Span { file, start: end, end }
}
