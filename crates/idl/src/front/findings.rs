//! What the lexer and preprocessor have found so far: each finding once, and not without end.

use std::collections::HashSet;

use crate::diagnostic::{Diagnostic, Rule};
use crate::front::rules::lexical;
use crate::source::Span;

/// Takes findings in. A file that is included twice says everything twice; once is enough.
pub(crate) struct Findings<'a> {
    sink: &'a mut Vec<Diagnostic>,
    seen: HashSet<(&'static str, Span, String)>,
    count_max: usize,
}

impl<'a> Findings<'a> {
    pub fn new(sink: &'a mut Vec<Diagnostic>, count_max: usize) -> Findings<'a> {
        Findings { sink, seen: HashSet::new(), count_max }
    }

    /// Takes in a finding with nothing but a message.
    pub fn add(&mut self, rule: &'static Rule, span: Span, message: impl Into<String>) {
        self.push(Diagnostic::new(rule, span, message));
    }

    /// Takes in a finding. Those past the limit are replaced by one that says so.
    pub fn push(&mut self, finding: Diagnostic) {
        if self.seen.len() > self.count_max {
            return;
        }
        let key = (finding.rule.code, finding.span, finding.message.clone());
        if !self.seen.insert(key) {
            return;
        }
        if self.seen.len() <= self.count_max {
            self.sink.push(finding);
            return;
        }
        let message = format!("more than {} findings; the rest are not shown", self.count_max);
        let help = "is this an interface file? Mend the first findings and compile again";
        self.sink
            .push(Diagnostic::new(&lexical::TOO_MANY_FINDINGS, finding.span, message).help(help));
    }
}

/// `text` between backquotes: fit for a message however long it is and whatever it holds.
pub(crate) fn quoted(text: &str) -> String {
    const CHARACTERS_MAX: usize = 40;
    let mut shown: String = text.chars().take(CHARACTERS_MAX).flat_map(visible).collect();
    if text.chars().nth(CHARACTERS_MAX).is_some() {
        shown.push_str("...");
    }
    format!("`{shown}`")
}

fn visible(character: char) -> Vec<char> {
    match character {
        c if c.is_control() => format!("\\x{:02X}", u32::from(c)).chars().collect(),
        c => vec![c],
    }
}
