//! Interfaces and their operations.

use std::collections::{BTreeMap, BTreeSet};

use nearcall_abi::ProcedureName;

use super::items::{Item, Owner};
use super::pairing::{self, Pairing};
use super::rules;
use super::{Change, Changed, Comparison, Side, streams};
use crate::layout::reached;
use crate::model::{Declaration, DeclarationId, Interface, Model, Operation, ScopedName};
use crate::plan::{AppendablePlan, InterfacePlan, ProcedurePlan};

/// One interface, of either file.
#[derive(Clone, Copy)]
pub(super) struct Whole<'s> {
    pub declaration: &'s Declaration,
    pub interface: &'s Interface,
    plan: &'s InterfacePlan,
    id: DeclarationId,
}

impl<'s> Side<'s> {
    fn wholes(&'s self) -> Vec<Whole<'s>> {
        let pairs = self.model.interfaces().zip(&self.plan.interfaces);
        let whole =
            |((id, declaration, interface), plan)| Whole { declaration, interface, plan, id };
        pairs.map(whole).collect()
    }
}

impl<'s> Whole<'s> {
    fn operation(&self, index: usize) -> (&'s Operation, &'s ProcedurePlan) {
        (&self.interface.operations[index], &self.plan.procedures[index])
    }

    fn names(&self) -> Vec<&'s str> {
        self.interface.operations.iter().map(|operation| &*operation.name).collect()
    }

    fn block_bytes(&self, index: usize) -> u32 {
        self.plan.classes[usize::from(self.plan.procedures[index].class)].block_bytes
    }
}

impl<'m> Comparison<'m> {
    pub(super) fn interfaces(&mut self) {
        let new_wholes: BTreeMap<_, _> =
            self.new.wholes().into_iter().map(|new| (&new.declaration.name, new)).collect();
        for old in self.old.wholes() {
            let Some(new) = new_wholes.get(&old.declaration.name) else {
                let message = format!("interface `{}` is gone", old.declaration.name);
                let at = Some(old.declaration.at);
                let rule = &rules::INTERFACE_GONE;
                let help = rule.help;
                self.add(Change { rule, old: at, new: None, message, refused_at: None, help });
                continue;
            };
            self.interface(old, *new);
        }
    }

    fn interface(&mut self, old: Whole<'_>, new: Whole<'_>) {
        let (old_names, new_names) = (old.names(), new.names());
        let paired = pairing::pair(&old_names, &new_names, |before, now| {
            before == now && old.operation(before).1.hash == new.operation(now).1.hash
        });
        let restreamed = streams::restreamed(old.interface, new.interface);
        self.places(old, new, &paired.without(&restreamed, old.interface, new.interface));
        let changed = changed_appendables(self.old.model, old.plan, new.plan);
        for (before, place) in &paired.kept {
            let (was, is) = (old.operation(*before).0, new.operation(*place).0);
            match restreamed.contains(streams::opener(was)) {
                true => self.streams((old, was), (new, is)),
                false => self.operation(old, new, (*before, *place), &changed),
            }
        }
    }

    /// What is gone, new, renamed or moved. A place past the end of the other list is one that the
    /// other side does not have, and no reason to refuse a bind.
    fn places(&mut self, old: Whole<'_>, new: Whole<'_>, paired: &Pairing) {
        let name = &new.declaration.name;
        let full = |operation: &Operation| told(name, operation);
        for before in told_once(&paired.gone, |before| old.operation(*before).0) {
            let (operation, _) = old.operation(*before);
            let full = full(operation);
            let message = format!("operation `{full}` is gone");
            let refused = *before < new.interface.operations.len();
            let refused_at = refused.then_some(&*full);
            let (old, new) = (Some(operation.at), Some(new.declaration.at));
            let rule = &rules::OPERATION_GONE;
            let help = rule.help;
            self.add(Change { rule, old, new, message, refused_at, help });
        }
        for place in told_once(&paired.added, |place| new.operation(*place).0) {
            let (operation, _) = new.operation(*place);
            let full = full(operation);
            let is_inserted = *place < old.interface.operations.len();
            let (rule, message) = match is_inserted {
                true => {
                    let message = format!("operation `{full}` stands before the end");
                    (&rules::OPERATION_INSERTED, message)
                }
                false => (&rules::OPERATION_ADDED, format!("operation `{full}` is new")),
            };
            let refused_at = is_inserted.then_some(&*full);
            let (old, new) = (Some(old.declaration.at), Some(operation.at));
            let help = rule.help;
            self.add(Change { rule, old, new, message, refused_at, help });
        }
        let is = |pair: &(usize, usize)| new.operation(pair.1).0;
        let moved = paired.moved();
        let moved = told_once(&moved, is).map(|pair| (&rules::OPERATION_MOVED, *pair));
        let renamed = told_once(&paired.renamed, is);
        let renamed = renamed.map(|pair| (&rules::OPERATION_RENAMED, *pair));
        for (rule, (before, place)) in renamed.chain(moved) {
            let ((was, _), (is, _)) = (old.operation(before), new.operation(place));
            let full = full(is);
            let message = match is.name == was.name {
                // As a refused bind counts them.
                true => format!("operation `{full}` is procedure {place}, was procedure {before}"),
                false => format!("operation `{full}` was `{}`", ProcedureName::new(&was.name)),
            };
            let (old, new, refused_at) = (Some(was.at), Some(is.at), Some(&*full));
            let help = rule.help;
            self.add(Change { rule, old, new, message, refused_at, help });
        }
    }

    /// What has become of an operation. An inherited one is looked at where it is declared.
    /// `changed` are the appendable types for which a bind is refused.
    fn operation(
        &mut self,
        old: Whole<'_>,
        new: Whole<'_>,
        (before, place): (usize, usize),
        changed: &BTreeSet<String>,
    ) {
        let ((was, was_plan), (is, is_plan)) = (old.operation(before), new.operation(place));
        let name = told(&new.declaration.name, is);
        let mut held = reached_names(self.old.model, was);
        held.extend(reached_names(self.new.model, is));
        let is_refused = was_plan.hash != is_plan.hash || !changed.is_disjoint(&held);
        let refused_at = is_refused.then_some(&*name);
        if is_refused {
            self.note_refused(was, is, &name);
        }
        if was.declared_in != old.id || is.declared_in != new.id {
            return;
        }
        let what = "parameter";
        let (only_adds, highest) = (false, [None; 2]);
        let (old_at, new_at) = (was.at, is.at);
        let owner =
            Owner { name: &name, what, old: old_at, new: new_at, refused_at, only_adds, highest };
        let both = (was.at, is.at);
        let (before_items, now_items) = (items(was), items(is));
        self.items(owner, &before_items, &now_items);
        self.returned(owner, was, is);
        if was.is_oneway != is.is_oneway {
            let now = if is.is_oneway { "has no reply now" } else { "has a reply now" };
            self.add_between(&rules::ONEWAY, owner, both, format!("operation `{name}` {now}"));
        }
        if was.is_idempotent != is.is_idempotent {
            let (rule, now) = match is.is_idempotent {
                true => (&rules::IDEMPOTENT_NOW, "is idempotent now"),
                false => (&rules::IDEMPOTENT, "is not idempotent any more"),
            };
            let message = format!("operation `{name}` {now}");
            self.add_between(rule, owner.unrefused(), both, message);
        }
        self.raised(owner, was, is);
        let (was_bytes, is_bytes) = (old.block_bytes(before), new.block_bytes(place));
        if !is_refused && was_bytes != is_bytes {
            let larger = is_bytes > was_bytes;
            let rule = if larger { &rules::ASTACK_LARGER } else { &rules::ASTACK_SMALLER };
            let message =
                format!("A-stacks of `{name}` have {is_bytes} bytes, had {was_bytes} bytes");
            self.add_between(rule, owner, both, message);
        }
    }

    fn returned(&mut self, owner: Owner<'_>, was: &Operation, is: &Operation) {
        let (name, both) = (owner.name, (was.at, is.at));
        let of = format!("what `{name}` returns");
        match (&was.returns, &is.returns) {
            (Some(before), Some(now)) => {
                // Annotations of an operation are not of what it returns.
                let (before, now): ((_, &[_]), (_, &[_])) = ((before, &[]), (now, &[]));
                self.value(owner, &of, both, before, now);
            }
            (None, None) => {}
            (before, _) => {
                let now = if before.is_some() { "nothing" } else { "something" };
                let message = format!("operation `{name}` returns {now} now");
                self.add_between(&rules::TYPE, owner, both, message);
            }
        }
        let [before, now] =
            [was, is].map(|one| one.returns_descriptor.map(|descriptor| descriptor.kind));
        self.descriptor(owner, &of, both, before, now);
        let [before, now] = [was, is].map(|operation| {
            operation.returns_descriptor.is_some_and(|descriptor| descriptor.is_optional)
        });
        if before != now {
            let now = if now { "is" } else { "is not" };
            self.add_between(&rules::OPTIONAL, owner, both, format!("{of} {now} optional now"));
        }
        if was.returns_opaque != is.returns_opaque {
            let now = if is.returns_opaque { "is" } else { "is not" };
            self.add_between(&rules::OPAQUE, owner, both, format!("{of} {now} opaque now"));
        }
        if was.returns_prealloc != is.returns_prealloc {
            let now = if is.returns_prealloc { "is" } else { "is not" };
            self.add_between(&rules::PREALLOC, owner, both, format!("{of} {now} prealloc now"));
        }
    }

    fn raised(&mut self, owner: Owner<'_>, was: &Operation, is: &Operation) {
        let names = |model: &Model, raises: &[DeclarationId]| -> String {
            let names = raises.iter().map(|id| model.declaration(*id).name.to_string());
            names.collect::<Vec<_>>().join(", ")
        };
        let before = names(self.old.model, &was.raises);
        let now = names(self.new.model, &is.raises);
        if before != now {
            let message =
                format!("operation `{}` raises ({now}), did raise ({before})", owner.name);
            self.add_between(&rules::RAISES, owner, (was.at, is.at), message);
        }
    }

    /// Remembers for which operation a change of a type is a reason to refuse.
    fn note_refused(&mut self, was: &Operation, is: &Operation, name: &str) {
        let reached = self.refuse_types(was, is, name);
        self.changed.push(Changed { was: was.at, is: is.at, name: name.to_owned(), reached });
    }

    /// The same without asking for another reason: there is one. The names of the types.
    pub(super) fn refuse_types(
        &mut self,
        was: &Operation,
        is: &Operation,
        name: &str,
    ) -> BTreeSet<String> {
        let mut reached = reached_names(self.old.model, was);
        reached.extend(reached_names(self.new.model, is));
        for reached in &reached {
            self.refused.entry(reached.clone()).or_insert_with(|| name.to_owned());
        }
        reached
    }

    /// Every bind that is refused has a reason. Should a change be none that is looked for, the
    /// hashes have seen it all the same.
    pub(super) fn explain_the_rest(&mut self) {
        let explained: BTreeSet<String> =
            self.findings.iter().filter_map(|finding| finding.refused_at.clone()).collect();
        for Changed { was, is, name, reached } in std::mem::take(&mut self.changed) {
            let by_type = reached.iter().filter_map(|reached| self.refused.get(reached));
            let is_explained =
                std::iter::once(&name).chain(by_type).any(|at| explained.contains(at));
            if !is_explained {
                let message = format!("messages of operation `{name}` are other ones");
                let (old, new, refused_at) = (Some(was), Some(is), Some(&*name));
                let rule = &rules::MESSAGES;
                let help = rule.help;
                self.add(Change { rule, old, new, message, refused_at, help });
            }
        }
    }
}

/// An operation's scoped name, or that of the feed that it carries.
pub(super) fn told(interface: &ScopedName, operation: &Operation) -> String {
    ProcedureName::new(&operation.name).within(&interface.to_string()).to_string()
}

/// Those of a list without the procedures that carry a feed whose operation is there itself.
fn told_once<'l, 'm, T>(
    list: &'l [T],
    operation: impl Fn(&T) -> &'m Operation,
) -> impl Iterator<Item = &'l T> {
    let is_there = |name: &String| list.iter().any(|one| operation(one).name == *name);
    let is_told = |one: &Operation| {
        let carried = one.feed.as_ref().filter(|_| one.carries_feed());
        carried.is_some_and(|feed| is_there(&feed.opened_by))
    };
    let kept: Vec<&T> = list.iter().filter(|one| !is_told(operation(one))).collect();
    kept.into_iter()
}

fn items(operation: &Operation) -> Vec<Item<'_>> {
    operation.parameters.iter().map(Item::of_parameter).collect()
}

/// The names of all types in the messages of an operation.
fn reached_names(model: &Model, operation: &Operation) -> BTreeSet<String> {
    let reached = reached(model, operation).into_iter();
    reached.map(|id| model.declaration(id).name.to_string()).collect()
}

/// The names of appendable structs that both versions of an interface have, and of which neither
/// only adds to the other's.
fn changed_appendables(
    model: &Model,
    old: &InterfacePlan,
    new: &InterfacePlan,
) -> BTreeSet<String> {
    let new_plans: BTreeMap<_, _> =
        new.appendables.iter().map(|new| (new.hashes.first(), new)).collect();
    let is_changed = |old: &&AppendablePlan| {
        let new = new_plans.get(&old.hashes.first());
        new.is_some_and(|new| new.hashes.iter().zip(&old.hashes).any(|(new, old)| new != old))
    };
    let changed = old.appendables.iter().filter(is_changed);
    changed.map(|plan| model.declaration(plan.id).name.to_string()).collect()
}
