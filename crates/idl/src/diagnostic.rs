//! What the compiler says about a file: code, place, reason, way out.
//!
//! Decides the shape and the order of findings. Knows no rule; those stand with what they are
//! about.

pub mod json;
pub mod render;

use crate::source::Span;

/// A rule of the checker. Numbers are never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// `E0123` for what stops the compilation, `N0123` for what is only noted.
    pub code: &'static str,
    /// Where it comes from: a clause of OMG IDL 4.2, `7.4.1.4.3` say; `C706 4.2.14`, a section of
    /// DCE 1.1 RPC; `MIDL size_is`, an entry of Microsoft's reference of MIDL; `proto3`, the
    /// language of Protocol Buffers; `ours` where the rule is Nearcall's own.
    pub clause: &'static str,
    /// What the rule is, as one sentence.
    pub title: &'static str,
}

/// One finding.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// The rule that was broken.
    pub rule: &'static Rule,
    /// Names the thing, the value and the limit. A lower-case fragment.
    pub message: String,
    /// Where.
    pub span: Span,
    /// Other places that matter: "first declared here".
    pub labels: Vec<(Span, String)>,
    /// The way out.
    pub help: Option<String>,
}

/// Does a finding stop the compilation?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Yes.
    Error,
    /// No.
    Note,
}

impl Rule {
    /// By the first letter of the code.
    pub fn severity(&self) -> Severity {
        if self.code.starts_with('E') { Severity::Error } else { Severity::Note }
    }
}

impl Diagnostic {
    /// A finding at `span`.
    pub fn new(rule: &'static Rule, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { rule, message: message.into(), span, labels: Vec::new(), help: None }
    }

    /// Adds a second place.
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.push((span, text.into()));
        self
    }

    /// Adds the way out.
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help = Some(text.into());
        self
    }
}

/// Puts findings in the order of the text, each once.
pub fn settle(findings: &mut Vec<Diagnostic>) {
    let key = |finding: &Diagnostic| (finding.span, finding.rule.code);
    findings.sort_by(|left, right| {
        key(left).cmp(&key(right)).then_with(|| left.message.cmp(&right.message))
    });
    findings.dedup_by(|later, first| key(later) == key(first) && later.message == first.message);
}
