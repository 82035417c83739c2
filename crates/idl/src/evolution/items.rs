//! What has a name and a type: parameters, members and the cases of unions.

use super::numbered::{self, FIELD, ONEOF, ONEOF_FIELD};
use super::pairing::Pairing;
use super::rules::{self, EvolutionRule};
use super::{Change, Comparison, pairing, spelling};
use crate::layout;
use crate::model::{
    Annotation, DeclarationId, DescriptorKind, Direction, Member, Model, Parameter, Type, Value,
};
use crate::source::Span;

/// One of them.
#[derive(Clone, Copy)]
pub(super) struct Item<'m> {
    pub name: &'m str,
    pub at: Span,
    pub declared: &'m Type,
    pub annotations: &'m [Annotation],
    pub is_optional: bool,
    pub is_opaque: bool,
    pub is_prealloc: bool,
    /// Of a parameter.
    pub direction: Option<Direction>,
    /// Of a parameter with which one goes along.
    pub descriptor: Option<DescriptorKind>,
    /// Of a case: what selects it.
    pub labels: &'m [Value],
    /// Of a .proto file: what it is known by, whatever its name.
    pub number: Option<i32>,
    /// A oneof of a .proto file, whose number is its lowest.
    pub is_oneof: bool,
}

/// What a list of them belongs to.
#[derive(Clone, Copy)]
pub(super) struct Owner<'o> {
    /// With its scope.
    pub name: &'o str,
    /// What they are: `parameter`, `member` or `case`; of .proto files what those call them.
    pub what: &'static str,
    pub old: Span,
    pub new: Span,
    /// The operation at which binds are refused if one of them has changed.
    pub refused_at: Option<&'o str>,
    /// Of an appendable struct or enum, whose old list the new one begins with.
    pub only_adds: bool,
    /// Of a message of a .proto file, or a oneof in it: the highest number that the message had,
    /// and has.
    pub highest: [Option<i32>; 2],
}

impl Owner<'_> {
    /// The same of a change for which no bind is refused.
    pub fn unrefused(self) -> Self {
        Owner { refused_at: None, ..self }
    }
}

impl<'m> Item<'m> {
    pub fn of_parameter(parameter: &'m Parameter) -> Item<'m> {
        Item {
            name: &parameter.name,
            at: parameter.at,
            declared: &parameter.declared,
            annotations: &parameter.annotations,
            is_optional: parameter.descriptor.is_some_and(|descriptor| descriptor.is_optional),
            is_opaque: parameter.is_opaque,
            is_prealloc: parameter.is_prealloc,
            direction: Some(parameter.direction),
            descriptor: parameter.descriptor.map(|descriptor| descriptor.kind),
            labels: &[],
            number: None,
            is_oneof: false,
        }
    }

    pub fn of_member(member: &'m Member) -> Item<'m> {
        Item {
            name: &member.name,
            at: member.at,
            declared: &member.declared,
            annotations: &member.annotations,
            is_optional: member.is_optional,
            is_opaque: false,
            is_prealloc: false,
            direction: None,
            descriptor: None,
            labels: &[],
            number: member.number,
            is_oneof: false,
        }
    }

    fn spelled(&self) -> String {
        match self.number {
            Some(number) if !self.is_oneof => format!("{} = {number}", self.name),
            _ => self.name.to_owned(),
        }
    }

    /// What it is called where `what` is what its list consists of.
    fn called(&self, what: &'static str) -> &'static str {
        if self.is_oneof { ONEOF } else { what }
    }
}

/// Whether two lists are of .proto files.
fn are_numbered(old: &[Item<'_>], new: &[Item<'_>]) -> bool {
    old.iter().chain(new).all(|item| item.number.is_some())
}

/// What those of two lists are known by: their numbers, if both lists have them, else their names.
fn keys(old: &[Item<'_>], new: &[Item<'_>], is_numbered: bool) -> [Vec<String>; 2] {
    [(old, new), (new, old)].map(|(items, others)| {
        let key = |item: &Item<'_>| match item.number {
            Some(_) if is_numbered && item.is_oneof => {
                // One whose lowest number is another one now has its name left.
                let has_number = |other: &Item<'_>| other.is_oneof && other.number == item.number;
                let by_number = others.iter().any(has_number).then_some(item.number).flatten();
                let known_by = by_number.map_or(item.name.to_owned(), |number| number.to_string());
                format!("{ONEOF} {known_by}")
            }
            Some(number) if is_numbered => number.to_string(),
            _ => item.name.to_owned(),
        };
        items.iter().map(key).collect()
    })
}

impl Comparison<'_> {
    /// Compares two lists.
    pub(super) fn items(&mut self, owner: Owner<'_>, old: &[Item<'_>], new: &[Item<'_>]) {
        let is_numbered = are_numbered(old, new);
        let what = match owner.what {
            "member" if is_numbered => FIELD,
            "case" if is_numbered => ONEOF_FIELD,
            what => what,
        };
        let owner = Owner { what, ..owner };
        let [old_keys, new_keys] = keys(old, new, is_numbered);
        let paired = pairing::pair(&old_keys, &new_keys, |before, now| {
            let (before_item, now_item) = (&old[before], &new[now]);
            !is_numbered
                && before == now
                && before_item.name != now_item.name
                && before_item.direction == now_item.direction
                && self.type_rule(before_item.declared, now_item.declared).is_none()
        });
        let Owner { name, .. } = owner;
        for before in &paired.gone {
            let old = &old[*before];
            let called = old.called(what);
            let message = format!("{called} `{}` of `{name}` is gone", old.spelled());
            // One that was above all that are left is one at the end of the other version.
            let is_last = is_numbered && old.number > owner.highest[1];
            let owner = if is_last { owner.unrefused() } else { owner };
            self.add_between(&rules::PARTS, owner, (old.at, owner.new), message);
        }
        for place in &paired.added {
            let new = &new[*place];
            let called = new.called(what);
            let message = format!("{called} `{}` of `{name}` is new", new.spelled());
            // Above all that were there, whatever else has changed.
            let is_last = matches!(what, FIELD | ONEOF_FIELD) && new.number > owner.highest[0];
            let (rule, refused_at) = match owner.only_adds || is_last {
                true => (&rules::MEMBER_ADDED, None),
                false => (&rules::PARTS, owner.refused_at),
            };
            let help = numbered::help(rule, what, true, refused_at.is_some());
            let (old, new) = (Some(owner.old), Some(new.at));
            self.add(Change { rule, old, new, message, refused_at, help });
        }
        for (before, place) in paired.kept.iter().chain(&paired.renamed) {
            let (old, new) = (&old[*before], &new[*place]);
            if old.name == new.name {
                continue;
            }
            let (called, is, was) = (new.called(what), new.spelled(), old.spelled());
            let message = format!("{called} `{is}` of `{name}` was `{was}`");
            let rule = match old.direction {
                Some(_) => &rules::PARAMETER_RENAMED,
                None => &rules::PART_RENAMED,
            };
            let owner = if is_numbered { owner.unrefused() } else { owner };
            self.add_between(rule, owner, (old.at, new.at), message);
        }
        // Those with numbers stand in the order of their numbers.
        if !is_numbered {
            self.moved(owner, &paired, old, new);
        }
        for (before, place) in paired.kept.iter().chain(&paired.renamed) {
            self.item(owner, &old[*before], &new[*place]);
        }
    }

    /// Says of what was kept which have other places.
    fn moved(&mut self, owner: Owner<'_>, paired: &Pairing, old: &[Item<'_>], new: &[Item<'_>]) {
        let Owner { name, what, .. } = owner;
        for (before, place) in paired.moved() {
            let (old, new) = (&old[before], &new[place]);
            let message = format!(
                "{what} `{}` of `{name}` is number {}, was number {}",
                new.name,
                place + 1,
                before + 1
            );
            self.add_between(&rules::ORDER, owner, (old.at, new.at), message);
        }
    }

    /// Compares two that are the same one.
    fn item(&mut self, owner: Owner<'_>, old: &Item<'_>, new: &Item<'_>) {
        let (name, what) = (owner.name, owner.what);
        let both = (old.at, new.at);
        if let (Some(before), Some(now)) = (old.direction, new.direction)
            && before != now
        {
            let (before, now) = (direction(before), direction(now));
            let message = format!("{what} `{}` of `{name}` is {now}, was {before}", new.name);
            self.add_between(&rules::DIRECTION, owner, both, message);
        }
        let of = format!("{what} `{}` of `{name}`", new.name);
        self.value(
            owner,
            &of,
            both,
            (old.declared, old.annotations),
            (new.declared, new.annotations),
        );
        self.descriptor(owner, &of, both, old.descriptor, new.descriptor);
        for (rule, before, now, word) in [
            (&rules::OPTIONAL, old.is_optional, new.is_optional, "optional"),
            (&rules::OPAQUE, old.is_opaque, new.is_opaque, "opaque"),
            (&rules::PREALLOC, old.is_prealloc, new.is_prealloc, "prealloc"),
        ] {
            if before != now {
                let is = if now { "is" } else { "is not" };
                let was = if before { "was" } else { "was not" };
                let message = format!("{of} {is} {word}, and {was} before");
                self.add_between(rule, owner, both, message);
            }
        }
        if !alike_values(old.labels, new.labels) {
            let spelled = |model: &Model, labels: &[Value]| {
                let all: Vec<String> =
                    labels.iter().map(|label| spelling::value(model, label)).collect();
                if all.is_empty() { "nothing else".to_owned() } else { all.join(", ") }
            };
            let (before, now) =
                (spelled(self.old.model, old.labels), spelled(self.new.model, new.labels));
            let message = format!("{of} is selected by {now}, was by {before}");
            self.add_between(&rules::LABELS, owner, both, message);
        }
    }

    /// Compares the descriptors that go along with what `of` names.
    pub(super) fn descriptor(
        &mut self,
        owner: Owner<'_>,
        of: &str,
        both: (Span, Span),
        before: Option<DescriptorKind>,
        now: Option<DescriptorKind>,
    ) {
        if before != now {
            let told = |kind: Option<DescriptorKind>| match kind {
                Some(DescriptorKind::Any) => "`@fd`".to_owned(),
                Some(kind) => format!("`@fd({})`", kind.word()),
                None => "no descriptor".to_owned(),
            };
            let message = format!("{of} is {}, was {}", told(now), told(before));
            self.add_between(&rules::DESCRIPTOR, owner, both, message);
        }
    }

    /// Compares the type and the range of what `of` names.
    pub(super) fn value(
        &mut self,
        owner: Owner<'_>,
        of: &str,
        both: (Span, Span),
        (old, old_annotations): (&Type, &[Annotation]),
        (new, new_annotations): (&Type, &[Annotation]),
    ) {
        if let Some(rule) = self.type_rule(old, new) {
            let spelled = match owner.what {
                FIELD | ONEOF_FIELD => spelling::of_field,
                _ => spelling::declared,
            };
            let (before, now) = (spelled(self.old.model, old), spelled(self.new.model, new));
            let message = format!("{of} is `{now}`, was `{before}`");
            self.add_between(rule, owner, both, message);
            return;
        }
        let before = layout::range(self.old.model, old_annotations, old);
        let now = layout::range(self.new.model, new_annotations, new);
        let ends = |range: &Option<layout::Range>| -> [Vec<Value>; 2] {
            let range = range.as_ref();
            let least = range.and_then(|range| range.least.clone());
            let greatest = range.and_then(|range| range.greatest.clone());
            [least, greatest].map(|end| end.into_iter().collect())
        };
        let (before_ends, now_ends) = (ends(&before), ends(&now));
        if before_ends.iter().zip(&now_ends).any(|(before, now)| !alike_values(before, now)) {
            let before = spelling::range(self.old.model, before.as_ref());
            let now = spelling::range(self.new.model, now.as_ref());
            let message = format!("{of} may be {now}, was {before}");
            self.add_between(&rules::RANGE, owner, both, message);
        }
    }

    /// Adds a change of something that is in both files.
    pub(super) fn add_between(
        &mut self,
        rule: &'static EvolutionRule,
        owner: Owner<'_>,
        (old, new): (Span, Span),
        message: String,
    ) {
        let (old, new, refused_at) = (Some(old), Some(new), owner.refused_at);
        let help = numbered::help(rule, owner.what, false, refused_at.is_some());
        self.add(Change { rule, old, new, message, refused_at, help });
    }

    /// Whether two declared types are one: by name, oneofs of .proto files by what they are known
    /// by.
    pub(super) fn is_one_type(&self, old: DeclarationId, new: DeclarationId) -> bool {
        let (before, now) = (self.old.model, self.new.model);
        let key = before.oneof_key(old);
        before.declaration(old).name == now.declaration(new).name
            || (key.is_some() && key == now.oneof_key(new))
    }

    /// The rule that a change from `old` to `new` breaks. What a name stands for is compared where
    /// it is declared.
    pub(super) fn type_rule(&self, old: &Type, new: &Type) -> Option<&'static EvolutionRule> {
        if let (Type::Named(before), Type::Named(now)) = (old, new)
            && self.is_one_type(*before, *now)
        {
            return None;
        }
        let (old, new) = (self.old.model.resolved(old), self.new.model.resolved(new));
        let bound =
            |before: &Option<u32>, now: &Option<u32>| (before != now).then_some(&rules::BOUND);
        match (old, new) {
            (Type::Named(before), Type::Named(now)) => {
                (!self.is_one_type(*before, *now)).then_some(&rules::TYPE)
            }
            (Type::String { bound: before }, Type::String { bound: now })
            | (Type::WideString { bound: before }, Type::WideString { bound: now }) => {
                bound(before, now)
            }
            (
                Type::Sequence { element: of_old, bound: before },
                Type::Sequence { element: of_new, bound: now },
            ) => self.type_rule(of_old, of_new).or(bound(before, now)),
            (
                Type::Array { element: of_old, dimensions: before },
                Type::Array { element: of_new, dimensions: now },
            ) if before == now => self.type_rule(of_old, of_new),
            (
                Type::Map { key: old_key, value: old_value, bound: before },
                Type::Map { key: new_key, value: new_value, bound: now },
            ) => self
                .type_rule(old_key, new_key)
                .or_else(|| self.type_rule(old_value, new_value))
                .or(bound(before, now)),
            _ => (old != new).then_some(&rules::TYPE),
        }
    }
}

fn direction(direction: Direction) -> &'static str {
    match direction {
        Direction::In => "in",
        Direction::Inout => "inout",
        Direction::Out => "out",
    }
}

/// Whether values of two models are the same: enumerators are if their places are.
fn alike_values(old: &[Value], new: &[Value]) -> bool {
    let is_alike = |pair: (&Value, &Value)| match pair {
        (Value::Enumerator(_, before), Value::Enumerator(_, now)) => before == now,
        (before, now) => before == now,
    };
    old.len() == new.len() && old.iter().zip(new).all(is_alike)
}
