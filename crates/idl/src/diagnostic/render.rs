//! A finding as people read it: code, message, the line with its place marked, reason, way out.
//!
//! Decides which lines are shown. Only those near the places that matter are handed to the
//! renderer, and of a long line only what stands round the place, so that the cost of a finding
//! does not grow with its file.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet};

use crate::diagnostic::{Diagnostic, Severity};
use crate::source::{SourceMap, Span};

/// A longer line is cut.
const LINE_BYTES_MAX: u32 = 400;
/// What is shown of a long line before and after the place.
const AROUND_BYTES: u32 = 36;
/// Places this near to each other are shown in one excerpt.
const LINES_APART_MAX: u32 = 6;

/// One finding as text that ends with a line end; with colour if `is_coloured`.
pub fn text(finding: &Diagnostic, sources: &SourceMap, is_coloured: bool) -> String {
    let level = match finding.rule.severity() {
        Severity::Error => Level::ERROR,
        Severity::Note => Level::NOTE,
    };
    let title = level.clone().primary_title(finding.message.as_str()).id(finding.rule.code);
    let excerpts = excerpts(finding, sources);
    let mut groups = Vec::new();
    let mut last = Group::with_title(title);
    if excerpts.first().is_some_and(|excerpt| excerpt.is_cut) {
        // The renderer would count the column from where the line was cut, so that the place is
        // given to it in a group of its own.
        groups.push(last.element(origin(finding.span, sources)));
        last = Group::with_level(level);
    }
    for (index, excerpt) in excerpts.into_iter().enumerate() {
        last = last.element(excerpt.element(index == 0, sources));
    }
    last = last.element(Level::NOTE.message(reason(finding)));
    if let Some(help) = &finding.help {
        last = last.element(Level::HELP.message(help.as_str()));
    }
    groups.push(last);
    let renderer = if is_coloured { Renderer::styled() } else { Renderer::plain() };
    renderer.render(&groups) + "\n"
}

/// One finding as one line: the place, the message, the code and the way out. What would end the
/// line, which a file's name by `#line` may have, is escaped: who reads lines may act on the next.
pub fn line(finding: &Diagnostic, sources: &SourceMap) -> String {
    let (path, place) = (sources.path(finding.span).display(), sources.place(finding.span));
    let help = finding.help.as_ref().map(|help| format!(": {help}")).unwrap_or_default();
    let (message, code) = (&finding.message, finding.rule.code);
    let line = format!("{path}:{}:{}: {message} ({code}){help}", place.line, place.column);
    line.chars().fold(String::new(), |escaped, character| match character.is_control() {
        true => escaped + &character.escape_default().to_string(),
        false => escaped + character.encode_utf8(&mut [0; 4]),
    })
}

/// All findings, an empty line between them.
pub fn texts(findings: &[Diagnostic], sources: &SourceMap, is_coloured: bool) -> String {
    let texts: Vec<String> =
        findings.iter().map(|finding| text(finding, sources, is_coloured)).collect();
    texts.join("\n")
}

fn reason(finding: &Diagnostic) -> String {
    let rule = finding.rule;
    let source = match rule.clause.split_once(' ') {
        None if rule.clause == "ours" => "rule of Nearcall".to_owned(),
        None if rule.clause == "proto3" => "Protocol Buffers, version 3".to_owned(),
        Some(("C706", "4")) => "DCE 1.1 RPC (C706), chapter 4".to_owned(),
        Some(("C706", section)) => format!("DCE 1.1 RPC (C706), section {section}"),
        Some(("MIDL", entry)) => format!("Microsoft's MIDL reference, `{entry}`"),
        _ => format!("OMG IDL 4.2, clause {}", rule.clause),
    };
    format!("{source}:\n{}", rule.title)
}

/// A place to mark.
struct Mark<'d> {
    span: Span,
    text: Option<&'d str>,
    is_primary: bool,
}

/// Neighbouring lines of one file, and the places marked in them.
struct Excerpt<'d> {
    /// What is shown, in bytes of the file.
    shown: Range<u32>,
    /// It is part of a long line.
    is_cut: bool,
    marks: Vec<Mark<'d>>,
}

fn excerpts<'d>(finding: &'d Diagnostic, sources: &SourceMap) -> Vec<Excerpt<'d>> {
    let primary = Mark { span: finding.span, text: None, is_primary: true };
    let labels = finding.labels.iter().map(|(span, text)| Mark {
        span: *span,
        text: Some(text),
        is_primary: false,
    });
    let mut excerpts: Vec<Excerpt> = Vec::new();
    for mark in std::iter::once(primary).chain(labels) {
        let new = Excerpt::of(mark, sources);
        match excerpts.iter_mut().find(|known| known.is_near(&new, sources)) {
            Some(known) => known.join(new),
            None => excerpts.push(new),
        }
    }
    excerpts
}

impl<'d> Excerpt<'d> {
    fn of(mut mark: Mark<'d>, sources: &SourceMap) -> Excerpt<'d> {
        let Span { file, start, .. } = mark.span;
        let line = sources.line_bytes(file, start);
        // Of a place that runs over several lines the first is marked.
        mark.span.end = mark.span.end.min(line.end).max(start);
        if line.end - line.start <= LINE_BYTES_MAX {
            return Excerpt { shown: line, is_cut: false, marks: vec![mark] };
        }
        let text = &sources.file(file).text;
        mark.span.end = mark.span.end.min(boundary(text, start + AROUND_BYTES));
        let first = boundary(text, start.saturating_sub(AROUND_BYTES)).max(line.start);
        let last = boundary(text, mark.span.end + AROUND_BYTES).min(line.end);
        Excerpt { shown: first..last, is_cut: true, marks: vec![mark] }
    }

    fn file_span(&self) -> Span {
        Span { start: self.shown.start, end: self.shown.end, ..self.marks[0].span }
    }

    fn is_near(&self, other: &Excerpt, sources: &SourceMap) -> bool {
        let (mine, others) = (self.file_span(), other.file_span());
        let line = |span| sources.place(span).line;
        mine.file == others.file
            && !self.is_cut
            && !other.is_cut
            && sources.path(mine) == sources.path(others)
            && self
                .marks
                .iter()
                .any(|mark| line(mark.span).abs_diff(line(others)) <= LINES_APART_MAX)
    }

    fn join(&mut self, other: Excerpt<'d>) {
        self.shown.start = self.shown.start.min(other.shown.start);
        self.shown.end = self.shown.end.max(other.shown.end);
        self.marks.extend(other.marks);
    }

    fn element(self, is_first: bool, sources: &'d SourceMap) -> Element<'d> {
        let shown = self.file_span();
        if self.is_cut && !is_first {
            let text = self.marks[0].text.unwrap_or_default();
            let place = sources.place(self.marks[0].span);
            let path = sources.path(shown).display();
            let message = format!("{text}: {path}:{}:{}", place.line, place.column);
            return Level::NOTE.message(message).into();
        }
        let line = sources.place(shown).line;
        let mut snippet = Snippet::source(sources.text(shown)).line_start(line as usize);
        if !self.is_cut {
            snippet = snippet.path(sources.path(shown).display().to_string());
        }
        for mark in self.marks {
            let kind =
                if mark.is_primary { AnnotationKind::Primary } else { AnnotationKind::Context };
            let start = (mark.span.start - shown.start) as usize;
            let marked = kind.span(start..(mark.span.end - shown.start) as usize);
            snippet = snippet.annotation(marked.label(mark.text));
        }
        snippet.into()
    }
}

/// The last place up to `offset` where a character begins.
fn boundary(text: &str, offset: u32) -> u32 {
    let mut offset = text.len().min(offset as usize);
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset as u32
}

fn origin(span: Span, sources: &SourceMap) -> Origin<'static> {
    let place = sources.place(span);
    let path = sources.path(span).display().to_string();
    Origin::path(path).line(place.line as usize).char_column(place.column as usize)
}

#[cfg(test)]
mod tests;
