//! Types, exceptions and constants.

use nearcall_abi::counted;

use super::items::{Item, Owner};
use super::numbered::VALUE;
use super::{Change, Comparison, pairing, rules, spelling};
use crate::hash;
use crate::layout;
use crate::model::{
    Bitmask, Bitset, Declaration, DeclarationId, Enum, Kind, Member, Model, Primitive, Union,
};
use crate::source::Span;

/// A name that stands for a number: an enumerator, a flag or a bit field.
struct Numbered<'m> {
    name: &'m str,
    at: Span,
    /// Of a bit field where it begins, how wide it is, and what it is read as.
    value: (i64, u8, Option<Primitive>),
    /// Of a .proto file: it is known by its number, whatever its name.
    is_numbered: bool,
}

impl Numbered<'_> {
    fn spelled(&self) -> String {
        match self.is_numbered {
            true => format!("value `{} = {}`", self.name, self.value.0),
            false => format!("`{}`", self.name),
        }
    }
}

/// What those of two lists are known by: their numbers, if both are of .proto files, else their
/// names.
fn keys(old: &[Numbered<'_>], new: &[Numbered<'_>], is_numbered: bool) -> [Vec<String>; 2] {
    [old, new].map(|all| {
        let key = |one: &Numbered<'_>| match is_numbered {
            true => one.value.0.to_string(),
            false => one.name.to_owned(),
        };
        all.iter().map(key).collect()
    })
}

impl<'m> Comparison<'m> {
    pub(super) fn types(&mut self) {
        let (old_model, new_model) = (self.old.model, self.new.model);
        let others = |one: &&Declaration| !matches!(one.kind, Kind::Interface(_));
        let ids = |model: &'m Model| (0..model.declarations.len() as u32).map(DeclarationId);
        for old_id in ids(old_model).filter(|id| others(&old_model.declaration(*id))) {
            let old = old_model.declaration(old_id);
            // A oneof by what it is known by first: another one may have its name now.
            let key = old_model.oneof_key(old_id);
            let has_key = |new: &DeclarationId| key.is_some() && new_model.oneof_key(*new) == key;
            let has_name = |new: &DeclarationId| new_model.declaration(*new).name == old.name;
            match ids(new_model).find(has_key).or_else(|| ids(new_model).find(has_name)) {
                Some(new_id) => self.declaration(old_id, new_id),
                None => {
                    let message = format!("{} `{}` is gone", what(&old.kind), old.name);
                    let rule = &rules::DECLARATION_GONE;
                    let (old, new) = (Some(old.at), None);
                    let help = rule.help;
                    self.add(Change { rule, old, new, message, refused_at: None, help });
                }
            }
        }
    }

    fn declaration(&mut self, old_id: DeclarationId, new_id: DeclarationId) {
        let (old_model, new_model) = (self.old.model, self.new.model);
        let (old, new) = (old_model.declaration(old_id), new_model.declaration(new_id));
        let name = new.name.to_string();
        let refused_at = self.refused.get(&name).cloned();
        let refused_at = refused_at.as_deref();
        let both = (old.at, new.at);
        let owner = Owner {
            name: &name,
            what: "member",
            old: old.at,
            new: new.at,
            refused_at,
            only_adds: false,
            highest: [highest(old_model, old_id), highest(new_model, new_id)],
        };
        match (&old.kind, &new.kind) {
            (Kind::Constant(before), Kind::Constant(now)) => {
                let was = spelling::value(self.old.model, &before.value);
                let is = spelling::value(self.new.model, &now.value);
                if was != is {
                    let message = format!("constant `{name}` is {is}, was {was}");
                    let owner = Owner { refused_at: None, ..owner };
                    self.add_between(&rules::CONSTANT, owner, both, message);
                }
            }
            (Kind::Alias(before), Kind::Alias(now)) => {
                let of = format!("type `{name}`");
                let (before, now) = ((before, &*old.annotations), (now, &*new.annotations));
                self.value(owner, &of, both, before, now);
            }
            (Kind::Struct(before), Kind::Struct(now)) => {
                let (was, is) = (base(old_model, before.base), base(new_model, now.base));
                if was != is {
                    let message = format!("struct `{name}` extends {is}, did extend {was}");
                    self.add_between(&rules::PARTS, owner, both, message);
                }
                let owner = self.growing("struct", owner, old_id, new_id);
                let (before, now) = (&before.members, &now.members);
                self.items(owner, &items(old_model, before), &items(new_model, now));
            }
            (Kind::Exception(before), Kind::Exception(now)) => {
                self.items(owner, &items(old_model, before), &items(new_model, now));
            }
            (Kind::Union(before), Kind::Union(now)) => {
                let owner = self.growing("union", owner, old_id, new_id);
                self.union(owner, before, now);
            }
            (Kind::Enum(before), Kind::Enum(now)) => {
                self.width(owner, before.bit_bound, now.bit_bound);
                let owner = self.growing("enum", owner, old_id, new_id);
                self.numbered(owner, &enumerators(before), &enumerators(now), true);
            }
            (Kind::Bitmask(before), Kind::Bitmask(now)) => {
                self.width(owner, before.bit_bound, now.bit_bound);
                self.numbered(owner, &flags(before, old.at), &flags(now, new.at), false);
            }
            (Kind::Bitset(before), Kind::Bitset(now)) => {
                self.width(owner, before.width, now.width);
                self.numbered(owner, &fields(before, old.at), &fields(now, new.at), false);
            }
            (before, now) => {
                let (was, is) = (what(before), what(now));
                self.add_between(&rules::TYPE, owner, both, format!("`{name}` is {is}, was {was}"));
            }
        }
    }

    /// What becomes of a type that may grow, or did: whether it only adds.
    fn growing<'o>(
        &mut self,
        what: &str,
        owner: Owner<'o>,
        old: DeclarationId,
        new: DeclarationId,
    ) -> Owner<'o> {
        let list = |model: &Model, id: DeclarationId| {
            model.may_grow(id).then(|| hash::appendable(model, compared_with(model, id)))
        };
        let (before, now) = (list(self.old.model, old), list(self.new.model, new));
        if before.is_some() != now.is_some() {
            let is = if now.is_some() { "is" } else { "is not" };
            let message = format!("{what} `{}` {is} appendable now", owner.name);
            self.add_between(&rules::EXTENSIBILITY, owner, (owner.old, owner.new), message);
        }
        let only_adds = before.zip(now).is_some_and(|(before, now)| now.starts_with(&before));
        Owner { only_adds, ..owner }
    }

    fn union(&mut self, owner: Owner<'_>, old: &Union, new: &Union) {
        let both = (owner.old, owner.new);
        let of = format!("discriminator of `{}`", owner.name);
        self.value(owner, &of, both, (&old.discriminator, &[]), (&new.discriminator, &[]));
        let owner = Owner { what: "case", ..owner };
        self.items(owner, &cases(old), &cases(new));
        if old.default != new.default && old.cases.len() == new.cases.len() {
            let message = format!("union `{}` has another default", owner.name);
            self.add_between(&rules::LABELS, owner, both, message);
        }
    }

    fn width(&mut self, owner: Owner<'_>, before: u8, now: u8) {
        if before != now {
            let [now, before] = [now, before].map(|count| counted(count, "bit"));
            let message = format!("`{}` has {now}, had {before}", owner.name);
            self.add_between(&rules::BITS, owner, (owner.old, owner.new), message);
        }
    }

    /// Compares names that stand for numbers.
    fn numbered(
        &mut self,
        owner: Owner<'_>,
        old: &[Numbered<'_>],
        new: &[Numbered<'_>],
        is_ordered: bool,
    ) {
        let is_numbered = old.iter().chain(new).all(|one| one.is_numbered);
        let owner = match is_numbered {
            // Nothing of those is compared at a bind.
            true => Owner { what: VALUE, ..owner.unrefused() },
            false => owner,
        };
        let [old_keys, new_keys] = keys(old, new, is_numbered);
        let is_alike = |before: usize, now: usize| old[before].value == new[now].value;
        let paired = pairing::pair(&old_keys, &new_keys, is_alike);
        let name = owner.name;
        for before in &paired.gone {
            let message = format!("{} of `{name}` is gone", old[*before].spelled());
            let both = (old[*before].at, owner.new);
            self.add_between(&rules::ENUMERATORS, owner, both, message);
        }
        for place in &paired.added {
            let message = format!("{} of `{name}` is new", new[*place].spelled());
            let (owner, rule) = match owner.only_adds {
                true => (Owner { refused_at: None, ..owner }, &rules::ENUMERATOR_ADDED),
                false => (owner, &rules::ENUMERATORS),
            };
            let both = (owner.old, new[*place].at);
            self.add_between(rule, owner, both, message);
        }
        for (before, place) in paired.kept.iter().chain(&paired.renamed) {
            let (was, is) = (&old[*before], &new[*place]);
            if was.name == is.name {
                continue;
            }
            let message = format!("`{}` of `{name}` was `{}`", is.name, was.name);
            self.add_between(&rules::ENUMERATOR_RENAMED, owner, (was.at, is.at), message);
        }
        for (before, place) in &paired.kept {
            let (was, is) = (&old[*before], &new[*place]);
            if was.value != is.value {
                let (before, now) = (was.value.0, is.value.0);
                let message = match before == now {
                    true => format!("`{}` of `{name}` is of other bits", is.name),
                    false => format!("`{}` of `{name}` is {now}, was {before}", is.name),
                };
                self.add_between(&rules::ENUMERATOR_VALUE, owner, (was.at, is.at), message);
            }
        }
        let moved = if is_ordered && !is_numbered { paired.moved() } else { Vec::new() };
        for (before, place) in moved {
            let (was, is) = (&old[before], &new[place]);
            if was.value == is.value {
                let message = format!(
                    "`{}` of `{name}` is number {}, was number {}",
                    is.name,
                    place + 1,
                    before + 1
                );
                self.add_between(&rules::ORDER, owner, (was.at, is.at), message);
            }
        }
    }
}

/// What a type is compared with at a bind: a oneof of a .proto file with its message.
fn compared_with(model: &Model, id: DeclarationId) -> DeclarationId {
    let ids = || (0..model.declarations.len() as u32).map(DeclarationId);
    let message = model.oneof_key(id).map(|(message, _)| message);
    let is_it = |other: &DeclarationId| Some(&*model.declaration(*other).name.0) == message;
    ids().find(is_it).unwrap_or(id)
}

/// The highest number of a message of a .proto file, or of that which a oneof is in.
fn highest(model: &Model, id: DeclarationId) -> Option<i32> {
    let message = compared_with(model, id);
    let fields = layout::members(model, message).into_iter().flat_map(|member| {
        let cases = model.oneof(&member.declared).map_or(&[][..], |oneof| &oneof.cases[..]);
        cases.iter().map(|case| case.member.number).chain([member.number])
    });
    fields.max().flatten()
}

/// What a struct extends.
fn base(model: &Model, base: Option<DeclarationId>) -> String {
    base.map_or("nothing".to_owned(), |id| format!("`{}`", model.declaration(id).name))
}

fn items<'m>(model: &Model, members: &'m [Member]) -> Vec<Item<'m>> {
    let item = |member: &'m Member| {
        let is_oneof = model.oneof(&member.declared).is_some();
        Item { is_oneof, ..Item::of_member(member) }
    };
    members.iter().map(item).collect()
}

fn cases(of: &Union) -> Vec<Item<'_>> {
    let cases = of.cases.iter();
    cases.map(|case| Item { labels: &case.labels, ..Item::of_member(&case.member) }).collect()
}

fn enumerators(of: &Enum) -> Vec<Numbered<'_>> {
    let all = of.enumerators.iter().map(|one| {
        let value = (one.value, 0, None);
        Numbered { name: &one.name, at: one.at, value, is_numbered: one.is_numbered }
    });
    all.collect()
}

fn flags(of: &Bitmask, at: Span) -> Vec<Numbered<'_>> {
    let all = of.flags.iter().map(|(name, bit)| {
        let value = (i64::from(*bit), 0, None);
        Numbered { name, at, value, is_numbered: false }
    });
    all.collect()
}

fn fields(of: &Bitset, at: Span) -> Vec<Numbered<'_>> {
    let all = of.fields.iter().map(|field| {
        let value = (i64::from(field.position), field.width, Some(field.declared));
        Numbered { name: &field.name, at, value, is_numbered: false }
    });
    all.collect()
}

/// What a declaration is, for messages.
fn what(kind: &Kind) -> &'static str {
    match kind {
        Kind::Constant(_) => "constant",
        Kind::Alias(_) => "type",
        Kind::Struct(_) => "struct",
        Kind::Union(_) => "union",
        Kind::Enum(_) => "enum",
        Kind::Bitmask(_) => "bitmask",
        Kind::Bitset(_) => "bitset",
        Kind::Exception(_) => "exception",
        Kind::Interface(_) => "interface",
    }
}
