//! Names that are not declared: one diagnostic each, and in the end what could have been meant.

use std::rc::Rc;

use super::Resolver;
use super::scope::ScopeId;
use crate::diagnostic::Diagnostic;
use crate::front::ast::{Name, ScopedName};
use crate::front::dialect::Dialect;
use crate::front::rules::semantics as rules;
use crate::source::Span;

/// As many further places as a diagnostic about an unknown name shows.
const LABELS_MAX: usize = 5;

/// For as many unknown names a similar one is looked for.
const GUESSES_MAX: usize = 50;

/// As many names are compared with each of them.
const NAMES_MAX: usize = 2_000;

/// A name that was not found, and where its diagnostic is.
pub(super) struct Unknown {
    pub diagnostic: usize,
    pub scope: ScopeId,
    pub name: Name,
    /// A scope is named before it, so that it is looked for nowhere else.
    pub is_qualified: bool,
}

impl Resolver {
    /// One diagnostic for each unknown name, however often it is used.
    pub(super) fn report_unknown(&mut self, name: &ScopedName, part: &Name, scope: ScopeId) {
        if self.has_foreign_names || self.misspelled.contains(&part.text) {
            return;
        }
        let place = name.parts.iter().position(|one| std::ptr::eq(one, part)).unwrap_or(0);
        let upto = ScopedName { is_global: name.is_global, parts: name.parts[..=place].to_vec() };
        let spelled: Rc<str> = upto.to_string().into();
        if let Some(unknown) = self.unknown.get(&spelled) {
            let known = &mut self.diagnostics[unknown.diagnostic];
            if known.labels.len() < LABELS_MAX {
                known.labels.push((part.span, "and here".to_owned()));
            }
            return;
        }
        let last = &name.parts[name.parts.len() - 1];
        if &*last.text == "TypeCode" && (part == last || &*part.text == "CORBA") {
            self.report_type_code(last);
            return;
        }
        let message = match self.scope(scope).owner {
            Some(owner) if place > 0 => {
                format!("`{}` has nothing called `{}`", self.symbol(owner).name.text, part.text)
            }
            _ => format!("nothing called `{}` is declared here", part.text),
        };
        let unknown = Unknown {
            diagnostic: self.diagnostics.len(),
            scope,
            name: part.clone(),
            is_qualified: place > 0,
        };
        self.unknown.insert(spelled, unknown);
        self.diagnostics.push(Diagnostic::new(&rules::NOT_FOUND, part.span, message));
    }

    /// Everyone's compiler knows this type, and its files do not declare it.
    fn report_type_code(&mut self, part: &Name) {
        if !self.misspelled.insert(part.text.clone()) {
            return;
        }
        let message = "`TypeCode` (clause 7.4.6.4.7) is outside what Nearcall maps";
        let finding = Diagnostic::new(&rules::TYPE_CODE, part.span, message)
            .help("say which type it is with an enum of the types that occur");
        self.diagnostics.push(finding);
    }

    /// Looks again for the unknown names, now that everything is declared, and says what helps.
    pub(super) fn explain_unknown(&mut self) {
        let mut unknown: Vec<Unknown> = self.unknown.drain().map(|(_, name)| name).collect();
        unknown.sort_by_key(|unknown| unknown.diagnostic);
        for (index, unknown) in unknown.into_iter().enumerate() {
            let Unknown { diagnostic, scope, name, is_qualified } = unknown;
            let folded = self.fold(&name.text);
            let mut at = Some(scope);
            let mut later = None;
            while let (Some(scope), None) = (at, later) {
                later = self.scope(scope).names.get(&folded).copied();
                at = self.scope(scope).parent.filter(|_| !is_qualified);
            }
            let later: Option<(Span, &str)> =
                later.map(|id| (self.symbol(id).name.span, "declared here, after its use"));
            let is_guessed = index < GUESSES_MAX;
            let near =
                if is_guessed { self.nearest(scope, &name.text, is_qualified) } else { None };
            let own = own_name(&name.text).filter(|_| !is_qualified && self.is_omg());
            let finding = &mut self.diagnostics[diagnostic];
            finding.help = Some(match (&later, own, near) {
                (Some(_), ..) => "move the declaration up".to_owned(),
                (None, Some(own), _) => format!("in OMG IDL that is `{own}`"),
                (None, None, Some(near)) => format!("did you mean `{near}`?"),
                (None, None, None) => "declare it, or `#include` the file that does".to_owned(),
            });
            if let Some((span, text)) = later {
                finding.labels.insert(0, (span, text.to_owned()));
            }
        }
    }

    fn is_omg(&self) -> bool {
        self.dialect == Dialect::Omg
    }

    /// A visible name that differs in a letter or two.
    fn nearest(&self, scope: ScopeId, text: &str, is_qualified: bool) -> Option<Rc<str>> {
        let mut at = Some(scope);
        let mut best: Option<(usize, Rc<str>)> = None;
        let mut left = NAMES_MAX;
        while let Some(scope) = at {
            for id in self.scope(scope).symbols.iter().take(left) {
                let name = &self.symbol(*id).name.text;
                let limit = distance_max(text);
                let distance = distance(text, name, limit);
                if distance <= limit && best.as_ref().is_none_or(|(least, _)| distance < *least) {
                    best = Some((distance, name.clone()));
                }
            }
            left = left.saturating_sub(self.scope(scope).symbols.len());
            at = self.scope(scope).parent.filter(|_| !is_qualified);
        }
        best.map(|(_, name)| name)
    }
}

/// The one of some names that differs in a letter or two.
pub(super) fn nearest<'n>(text: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let limit = distance_max(text);
    let all = names.map(|name| (distance(text, name, limit), name));
    all.filter(|(distance, _)| *distance <= limit).min().map(|(_, name)| name)
}

/// As many letters of a name may be others.
fn distance_max(text: &str) -> usize {
    (text.len() / 4).clamp(1, 2)
}

/// What a type is called that is called so in C, Rust, Python or proto3.
fn own_name(text: &str) -> Option<&'static str> {
    Some(match text {
        "bool" => "boolean",
        "byte" | "u8" | "uint8_t" => "octet",
        "i8" | "int8_t" => "int8",
        "i16" | "int16_t" => "short",
        "u16" | "uint16_t" => "unsigned short",
        "int" | "i32" | "int32_t" => "long",
        "uint" | "u32" | "uint32_t" => "unsigned long",
        "i64" | "int64_t" => "long long",
        "u64" | "uint64_t" | "size_t" | "usize" => "unsigned long long",
        "f32" | "float32" => "float",
        "f64" | "float64" => "double",
        "str" | "String" => "string",
        "bytes" => "sequence<octet>",
        _ => return None,
    })
}

/// Letters to change, add or remove; anything above `limit` if it is more than that.
fn distance(one: &str, other: &str, limit: usize) -> usize {
    const BYTES_MAX: usize = 64;
    if one.len().abs_diff(other.len()) > limit || one.len().max(other.len()) > BYTES_MAX {
        return limit + 1;
    }
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in other.bytes().enumerate() {
            let cost = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = cost.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distance_counts_letters() {
        assert_eq!(distance("Color", "Color", 2), 0);
        assert_eq!(distance("Color", "Colour", 2), 1);
        assert_eq!(distance("Color", "Shape", 2), 5);
    }
}
