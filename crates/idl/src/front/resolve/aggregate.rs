//! Structs, unions and exceptions.

use std::collections::HashMap;

use super::annotation::{Applied, Place, Subject, is_set};
use super::constant::{Wanted, integer_range};
use super::scope::{State, SymbolId, SymbolKind};
use super::{Head, Resolver};
use crate::diagnostic::Diagnostic;
use crate::front::ast::{self, Definition, DefinitionKind, Label, Name, ScopedName, TypeUse};
use crate::front::dialect::Dialect;
use crate::front::rules::semantics as rules;
use crate::model::{self, Declaration, DeclarationId, Kind, Type, UnionDefault, Value};
use crate::source::Span;

impl Resolver {
    /// A struct, union, enum, bitmask, bitset or exception; also where it is used.
    pub(super) fn constructed(&mut self, definition: &Definition) -> Option<SymbolId> {
        match &definition.kind {
            DefinitionKind::Struct { name, base, members } => {
                Some(self.structure(definition, name, base.as_ref(), members))
            }
            DefinitionKind::Union { name, discriminator, cases } => {
                Some(self.union(definition, name, discriminator, cases))
            }
            DefinitionKind::Enum { name, enumerators } => {
                self.enumeration(definition, name, enumerators)
            }
            DefinitionKind::Bitmask { name, flags } => self.bitmask(definition, name, flags),
            DefinitionKind::Bitset { name, base, fields } => {
                self.bitset(definition, name, base.as_ref(), fields)
            }
            DefinitionKind::Exception { name, members } => {
                Some(self.exception(definition, name, members))
            }
            _ => None,
        }
    }

    fn structure(
        &mut self,
        definition: &Definition,
        name: &Name,
        base: Option<&ScopedName>,
        members: &[ast::Member],
    ) -> SymbolId {
        let head = self.head(definition, Subject::of(Place::Struct, None));
        let symbol = self.begin(name, SymbolKind::Struct);
        let base = base.and_then(|base| self.struct_base(base));
        let scope = self.scope_of(symbol);
        if let Some(inner) = base.and_then(|base| self.symbol(base).inner) {
            self.inherit(scope, &[inner], name);
        }
        let members = self.inside(scope, |resolver| resolver.members(members));
        let base = base.map(SymbolId::declaration);
        self.complete(symbol, Kind::Struct(model::Struct { base, members }), head);
        symbol
    }

    /// A struct, or an alias of one, as interfaces may be inherited by an alias (7.4.3.4.3.2).
    fn struct_base(&mut self, name: &ScopedName) -> Option<SymbolId> {
        let named = self.lookup(name)?;
        let id = match self.behind(&named.named()) {
            Type::Named(behind) => SymbolId(behind.0),
            _ => named,
        };
        let symbol = self.symbol(id);
        let message = match (symbol.kind, symbol.state) {
            (SymbolKind::Struct, State::Complete) => return Some(id),
            (SymbolKind::Outside, _) => return None,
            (SymbolKind::Struct, State::Open) => format!("`{name}` cannot extend itself"),
            (SymbolKind::Struct, State::Forward) => format!("`{name}` is not complete here"),
            (kind, _) => format!("`{name}` is {}, not a struct", kind.what()),
        };
        let finding = Diagnostic::new(&rules::STRUCT_BASE, name.span(), message)
            .label(symbol.name.span, "declared here");
        self.diagnostics.push(finding);
        None
    }

    fn exception(
        &mut self,
        definition: &Definition,
        name: &Name,
        members: &[ast::Member],
    ) -> SymbolId {
        let head = self.head(definition, Subject::of(Place::Exception, None));
        let symbol = self.declare(name, SymbolKind::Exception);
        self.symbol_mut(symbol).state = State::Open;
        let scope = self.open_scope(Some(symbol));
        let members = self.inside(scope, |resolver| resolver.members(members));
        self.complete(symbol, Kind::Exception(members), head);
        symbol
    }

    fn members(&mut self, members: &[ast::Member]) -> Vec<model::Member> {
        let mut resolved = Vec::new();
        let mut ids = HashMap::new();
        for member in members {
            let declared = self.member_type(member);
            for declarator in &member.declarators {
                let declared = self.declarator_type(declared.clone(), declarator);
                let subject = Subject::of(Place::Member, declared.as_ref());
                let applied = self.annotations(&member.annotations, subject);
                self.check_id(&applied, &mut ids);
                self.declare(&declarator.name, SymbolKind::Member);
                resolved.extend(self.member_of(member, &declarator.name, declared, applied));
            }
        }
        resolved
    }

    fn member_of(
        &self,
        member: &ast::Member,
        name: &Name,
        declared: Option<Type>,
        applied: Vec<Applied>,
    ) -> Option<model::Member> {
        let declared = declared?;
        Some(model::Member {
            name: name.text.to_string(),
            at: name.span,
            doc: member.doc.as_ref().map(|doc| doc.to_string()),
            has_zero: self.dialect == Dialect::Proto && self.has_zero(&declared),
            declared,
            is_optional: is_set(&applied, "optional"),
            annotations: applied.into_iter().map(|one| one.annotation).collect(),
            number: member.number,
        })
    }

    /// Whether zero is a value of a type of proto3, where enums of files begin with it. Why a
    /// procedure fails, which comes with the language, has to be said.
    fn has_zero(&self, declared: &Type) -> bool {
        let Type::Named(id) = declared else { return true };
        match self.kind(*id) {
            Some(Kind::Enum(shape)) => shape.enumerators.iter().any(|one| one.value == 0),
            _ => true,
        }
    }

    /// `@id` is there once in a type (clause 8.3.1.1).
    fn check_id(&mut self, applied: &[Applied], ids: &mut HashMap<i128, Span>) {
        let Some(id) = applied.iter().find(|one| one.annotation.name == "id") else {
            return;
        };
        let Some(Value::Integer(value)) = id.annotation.parameters.get("value") else {
            return;
        };
        if let Some(first) = ids.get(value) {
            let message = format!("another member has the id {value}");
            let finding = Diagnostic::new(&rules::ID_REPEATED, id.span, message)
                .label(*first, "first given here");
            self.diagnostics.push(finding);
            return;
        }
        ids.insert(*value, id.span);
    }

    fn union(
        &mut self,
        definition: &Definition,
        name: &Name,
        discriminator: &TypeUse,
        cases: &[ast::Case],
    ) -> SymbolId {
        let head = self.head(definition, Subject::of(Place::Union, None));
        let symbol = self.begin(name, SymbolKind::Union);
        let scope = self.open_scope(Some(symbol));
        let kind = self.inside(scope, |resolver| resolver.union_body(name, discriminator, cases));
        self.complete_union(symbol, kind, head);
        symbol
    }

    fn complete_union(&mut self, symbol: SymbolId, kind: Option<model::Union>, head: Head) {
        match kind {
            Some(union) => self.complete(symbol, Kind::Union(union), head),
            None => self.symbol_mut(symbol).state = State::Complete,
        }
    }

    fn union_body(
        &mut self,
        name: &Name,
        used: &TypeUse,
        cases: &[ast::Case],
    ) -> Option<model::Union> {
        let discriminator = self.type_use(used).map(|resolved| resolved.declared);
        let wanted = discriminator.as_ref().and_then(|declared| self.wanted(declared));
        let wanted = wanted.filter(|wanted| is_discriminator(*wanted));
        if discriminator.is_some() && wanted.is_none() {
            let message = format!("this type cannot be the discriminator of `{}`", name.text);
            let finding = Diagnostic::new(&rules::DISCRIMINATOR, used.span, message)
                .help("use an integer, a character, a boolean, an octet or an enum");
            self.diagnostics.push(finding);
        }
        let mut labels = Labels::default();
        let mut resolved = Vec::new();
        let mut ids = HashMap::new();
        for (index, case) in cases.iter().enumerate() {
            let values = self.labels(case, index as u32, wanted, &mut labels);
            let member = &case.member;
            let declared = self.member_type(member);
            let declarator = &member.declarators[0];
            let declared = self.declarator_type(declared, declarator);
            let subject = Subject::of(Place::Case, declared.as_ref());
            let applied = self.annotations(&member.annotations, subject);
            self.check_id(&applied, &mut ids);
            self.declare(&declarator.name, SymbolKind::Member);
            if let Some(member) = self.member_of(member, &declarator.name, declared, applied) {
                resolved.push(model::Case { labels: values, member });
            }
        }
        let discriminator = discriminator?;
        let default = self.default_of(name, &discriminator, wanted?, &labels);
        Some(model::Union { discriminator, cases: resolved, default })
    }

    fn labels(
        &mut self,
        case: &ast::Case,
        index: u32,
        wanted: Option<Wanted>,
        labels: &mut Labels,
    ) -> Vec<Value> {
        let mut values = Vec::new();
        for label in &case.labels {
            match label {
                Label::Default(span) => match labels.default {
                    Some((_, first)) => {
                        let message = "this union has another default";
                        let finding = Diagnostic::new(&rules::DEFAULT_REPEATED, *span, message)
                            .label(first, "first declared here");
                        self.diagnostics.push(finding);
                    }
                    None => labels.default = Some((index, *span)),
                },
                Label::Value(expression) => {
                    let value = wanted.and_then(|wanted| self.evaluate(expression, wanted));
                    let Some(value) = value else { continue };
                    let Some(number) = self.number(&value) else { continue };
                    match labels.seen.insert(number, expression.span) {
                        Some(first) => self.report_label(&value, expression.span, first),
                        None => values.push(value),
                    }
                }
            }
        }
        values
    }

    fn report_label(&mut self, value: &Value, span: Span, first: Span) {
        let message = format!("{} labels another case", self.value_text(value));
        let finding =
            Diagnostic::new(&rules::LABEL_REPEATED, span, message).label(first, "first used here");
        self.diagnostics.push(finding);
    }

    fn default_of(
        &mut self,
        name: &Name,
        discriminator: &Type,
        wanted: Wanted,
        labels: &Labels,
    ) -> UnionDefault {
        let ends = type_ends(wanted);
        let is_covered = self.cover(labels, wanted, ends);
        let ranged = self.ranged(discriminator, ends);
        match labels.default {
            Some((_, span)) if is_covered || self.cover(labels, wanted, ranged) => {
                let mut message = format!("every value of `{}` has a label", name.text);
                if !is_covered {
                    message.push_str(", in the range of its discriminator");
                }
                let finding = Diagnostic::new(&rules::DEFAULT_COVERED, span, message)
                    .help("delete `default:`, or one of the labels");
                self.diagnostics.push(finding);
                UnionDefault::Covered
            }
            Some((index, _)) => UnionDefault::Case(index),
            None if is_covered => UnionDefault::Covered,
            None => UnionDefault::Implicit,
        }
    }

    /// Is every value from one to the other a label?
    fn cover(&self, labels: &Labels, wanted: Wanted, (least, greatest): (i128, i128)) -> bool {
        let is_within = |value: &i128| (least..=greatest).contains(value);
        let all = match wanted {
            Wanted::Enum(id) => match self.kind(DeclarationId(id.0)) {
                Some(Kind::Enum(declared)) => {
                    let values = declared.enumerators.iter().map(|one| i128::from(one.value));
                    values.filter(is_within).count() as i128
                }
                _ => i128::MAX,
            },
            _ => {
                let all = greatest.saturating_sub(least).saturating_add(1);
                all.saturating_sub(surrogates(wanted, least, greatest))
            }
        };
        labels.seen.keys().copied().filter(is_within).count() as i128 >= all
    }

    /// The ends that the ranges of a type's aliases leave.
    fn ranged(&self, discriminator: &Type, ends: (i128, i128)) -> (i128, i128) {
        let (mut least, mut greatest) = ends;
        let mut declared = discriminator;
        while let Type::Named(id) = declared
            && let Some(index) = self.symbol(SymbolId(id.0)).declaration
            && let Declaration { annotations, kind: Kind::Alias(behind), .. } =
                &self.declared[index].declaration
        {
            let given = |name: &str, parameter: &str| {
                let one = annotations.iter().find(|one| one.name == name)?;
                self.number(one.parameters.get(parameter)?)
            };
            if let Some(end) = given("range", "min").or_else(|| given("min", "value")) {
                least = least.max(end);
            }
            if let Some(end) = given("range", "max").or_else(|| given("max", "value")) {
                greatest = greatest.min(end);
            }
            declared = behind;
        }
        (least, greatest)
    }

    /// The number that a discriminator of this value crosses as.
    fn number(&self, value: &Value) -> Option<i128> {
        match value {
            Value::Boolean(value) => Some(i128::from(*value)),
            Value::Integer(value) => Some(*value),
            Value::Char(value) => Some(i128::from(u32::from(*value))),
            Value::Enumerator(id, place) => match self.kind(*id) {
                Some(Kind::Enum(declared)) => {
                    Some(i128::from(declared.enumerators[*place as usize].value))
                }
                _ => None,
            },
            Value::Float(_) | Value::String(_) => None,
        }
    }

    /// A value as it is written.
    pub(super) fn value_text(&self, value: &Value) -> String {
        match value {
            Value::Boolean(true) => "TRUE".to_owned(),
            Value::Boolean(false) => "FALSE".to_owned(),
            Value::Integer(value) => value.to_string(),
            Value::Float(value) => value.to_string(),
            Value::Char(value) => format!("{value:?}"),
            Value::String(text) => format!("{text:?}"),
            Value::Enumerator(id, place) => match self.kind(*id) {
                Some(Kind::Enum(declared)) => {
                    format!("`{}`", declared.enumerators[*place as usize].name)
                }
                _ => "this enumerator".to_owned(),
            },
        }
    }
}

/// The labels of a union so far, by their numbers.
#[derive(Default)]
struct Labels {
    seen: HashMap<i128, Span>,
    default: Option<(u32, Span)>,
}

/// The least and the greatest value of a discriminator's type; an enum says itself which it has.
fn type_ends(wanted: Wanted) -> (i128, i128) {
    match wanted {
        Wanted::Boolean => (0, 1),
        Wanted::Char => (0, 255),
        Wanted::WideChar => (0, i128::from(u32::from(char::MAX))),
        Wanted::Integer(primitive) => integer_range(primitive).unwrap_or((i128::MIN, i128::MAX)),
        _ => (i128::MIN, i128::MAX),
    }
}

/// How many numbers from one to the other are halves of characters, and no wide character.
fn surrogates(wanted: Wanted, least: i128, greatest: i128) -> i128 {
    match wanted {
        Wanted::WideChar => (greatest.min(0xDFFF) - least.max(0xD800) + 1).max(0),
        _ => 0,
    }
}

fn is_discriminator(wanted: Wanted) -> bool {
    matches!(
        wanted,
        Wanted::Integer(_) | Wanted::Boolean | Wanted::Char | Wanted::WideChar | Wanted::Enum(_)
    )
}
