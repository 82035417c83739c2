//! What becomes of programs when an interface file changes: who breaks, where, and why.
//!
//! Compares two models by the names of what they declare, and by the numbers of what two .proto
//! files do. Whether two programs still bind is not judged here: that follows from the hashes of
//! procedures that [`crate::hash`] makes, and every finding about it asks those. Knows no target
//! language but through what sources of all of them have in common: names, types, and the order of
//! parameters.
//!
//! ```text
//! old ──┐   pairing      which old thing is which new one
//!       ├─▶ interfaces   operations and their parameters      ──▶ findings, one a change
//! new ──┘   streams      operations whose feeds come, go or turn round
//!           types        structs, enums and what else there is
//!           numbered     what .proto files call it, and what else to do there
//!           rules        the numbers, and who breaks
//! ```

mod interfaces;
mod items;
mod numbered;
mod pairing;
pub mod rules;
mod spelling;
mod streams;
mod types;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use self::rules::{EvolutionRule, Party};
use crate::diagnostic::{Diagnostic, Severity, json};
use crate::model::Model;
use crate::plan::{self, Plan};
use crate::source::{SourceMap, Span};

/// One change.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What changed, where in both files.
    pub diagnostic: Diagnostic,
    /// Who breaks; nobody if the change is only noted.
    pub breaks: Vec<Party>,
    /// The operation at which a bind of the one to the other is refused.
    pub refused_at: Option<String>,
}

/// Every change from `old` to `new` that concerns a program of either. Both are of one
/// [`SourceMap`].
pub fn compare(old: &Model, new: &Model) -> Vec<Finding> {
    let (old, new) = (Side::of(old), Side::of(new));
    let (old, new) = (&old, &new);
    let (findings, refused, changed) = (Vec::new(), BTreeMap::new(), Vec::new());
    let mut comparison = Comparison { old, new, findings, refused, changed };
    comparison.interfaces();
    comparison.types();
    comparison.explain_the_rest();
    comparison.findings
}

/// One of the two, with what decides whether they bind.
struct Side<'m> {
    model: &'m Model,
    plan: Plan,
}

struct Comparison<'m> {
    old: &'m Side<'m>,
    new: &'m Side<'m>,
    findings: Vec<Finding>,
    /// By the name of each type in the messages of an operation whose messages have changed: that
    /// operation, the first if there are several.
    refused: BTreeMap<String, String>,
    /// Every operation whose messages have changed.
    changed: Vec<Changed>,
}

/// An operation whose messages have changed.
struct Changed {
    was: Span,
    is: Span,
    name: String,
    /// The names of all types in them.
    reached: BTreeSet<String>,
}

/// What changed.
struct Change<'c> {
    rule: &'static EvolutionRule,
    /// Where it was, unless it is new.
    old: Option<Span>,
    /// Where it is, unless it is gone.
    new: Option<Span>,
    message: String,
    /// The operation at which binds between the two are refused for it.
    refused_at: Option<&'c str>,
    /// What else there is to say: the rule's words, or those of .proto files.
    help: &'static str,
}

impl Side<'_> {
    fn of(model: &Model) -> Side<'_> {
        Side { model, plan: plan::plan(model) }
    }
}

impl Comparison<'_> {
    fn add(&mut self, change: Change<'_>) {
        let Change { rule, old, new, message, refused_at, help } = change;
        let mut breaks: Vec<Party> = rule.breaks.to_vec();
        if refused_at.is_some() {
            breaks.extend([Party::OldClient, Party::NewClient]);
            breaks.sort_unstable();
            breaks.dedup();
        }
        if breaks.is_empty() && rule.rule.severity() == Severity::Error {
            // Of something that no message carries.
            return;
        }
        let at = new.or(old).expect("a change is in one of the files");
        let mut diagnostic = Diagnostic::new(&rule.rule, at, message);
        if let (Some(old), Some(_)) = (old, new) {
            diagnostic = diagnostic.label(old, "before");
        }
        let diagnostic = diagnostic.help(whole_help(&breaks, refused_at, help));
        let refused_at = refused_at.map(str::to_owned);
        self.findings.push(Finding { diagnostic, breaks, refused_at });
    }
}

/// Who breaks, and how they will learn of it.
fn whole_help(breaks: &[Party], refused_at: Option<&str>, help: &str) -> String {
    let mut parts = Vec::new();
    if !breaks.is_empty() {
        let who: Vec<&str> = breaks.iter().map(|party| party.text()).collect();
        parts.push(format!("breaks {}", who.join(", ")));
    }
    if let Some(operation) = refused_at {
        parts.push(format!("a bind between the two is refused and names `{operation}`"));
    }
    if !help.is_empty() {
        parts.push(help.to_owned());
    }
    parts.join("; ")
}

impl Finding {
    /// Whether anybody breaks.
    pub fn is_breaking(&self) -> bool {
        self.diagnostic.rule.severity() == Severity::Error
    }
}

/// All findings as JSON, one object a line: what `nearcall check` says of one, and who breaks.
pub fn json_lines(findings: &[Finding], sources: &SourceMap) -> String {
    let line = |finding: &Finding| {
        let line = Line {
            finding: json::finding(&finding.diagnostic, sources),
            breaks: finding.breaks.iter().map(|party| party.key()).collect(),
            refused_at: finding.refused_at.as_deref(),
        };
        serde_json::to_string(&line).expect("strings and numbers become JSON") + "\n"
    };
    findings.iter().map(line).collect()
}

#[derive(Serialize)]
struct Line<'f> {
    #[serde(flatten)]
    finding: json::Finding<'f>,
    breaks: Vec<&'static str>,
    refused_at: Option<&'f str>,
}

#[cfg(test)]
mod tests;
