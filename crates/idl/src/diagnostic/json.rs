//! A finding as programs read it: one JSON object a line.

use serde::Serialize;

use crate::diagnostic::{Diagnostic, Severity};
use crate::source::{SourceMap, Span};

/// A finding. Lines and columns count from 1, columns in characters; the end is one past the last.
#[derive(Serialize)]
pub(crate) struct Finding<'d> {
    code: &'static str,
    severity: &'static str,
    clause: &'static str,
    message: &'d str,
    #[serde(flatten)]
    place: Place,
    labels: Vec<Label<'d>>,
    help: Option<&'d str>,
}

#[derive(Serialize)]
struct Label<'d> {
    message: &'d str,
    #[serde(flatten)]
    place: Place,
}

#[derive(Serialize)]
struct Place {
    file: String,
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
}

/// One finding as a JSON object without line ends.
pub fn line(found: &Diagnostic, sources: &SourceMap) -> String {
    serde_json::to_string(&finding(found, sources)).expect("strings and numbers become JSON")
}

/// The object, for who adds to it.
pub(crate) fn finding<'d>(finding: &'d Diagnostic, sources: &SourceMap) -> Finding<'d> {
    let severity = match finding.rule.severity() {
        Severity::Error => "error",
        Severity::Note => "note",
    };
    let labels = finding
        .labels
        .iter()
        .map(|(span, message)| Label { message, place: place(*span, sources) });
    Finding {
        code: finding.rule.code,
        severity,
        clause: finding.rule.clause,
        message: &finding.message,
        place: place(finding.span, sources),
        labels: labels.collect(),
        help: finding.help.as_deref(),
    }
}

/// All findings, one a line.
pub fn lines(findings: &[Diagnostic], sources: &SourceMap) -> String {
    findings.iter().map(|finding| line(finding, sources) + "\n").collect()
}

fn place(span: Span, sources: &SourceMap) -> Place {
    let (start, end) = (sources.place(span), sources.end_place(span));
    Place {
        file: sources.path(span).display().to_string(),
        line: start.line,
        column: start.column,
        end_line: end.line,
        end_column: end.column,
    }
}

#[cfg(test)]
mod tests;
