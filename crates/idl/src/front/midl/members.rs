//! Structs, unions and enums of MIDL.

use std::rc::Rc;

use super::ast::{Argument, Arm, Attribute, Enumerator, Field, Label, SpecifierKind, Union};
use super::attributes::{Place, find, is_outside};
use super::lengths::{Slot, Ways};
use super::lower::{Lowering, Tag, annotation};
use super::shape::{Base, Role, Scalar, Shape, at, named};
use crate::diagnostic::Diagnostic;
use crate::front::ast::{
    self, Annotation, Arguments, DefinitionKind, Expression, ExpressionKind, Forward, Literal,
    Name, TypeKind, TypeUse,
};
use crate::front::rules::{midl as rules, syntax};
use crate::source::Span;

/// What a type without a tag is called, and the comment above it.
pub(super) type Wish<'a> = (Option<&'a Name>, Option<Rc<str>>);

/// What stands in one list: slots, and with each the comment above it.
pub(super) struct Listed<'a> {
    pub slots: Vec<Slot<'a>>,
    pub docs: Vec<Option<Rc<str>>>,
}

impl Lowering {
    pub(super) fn structure(
        &mut self,
        tag: Option<&Name>,
        members: Option<&[Field]>,
        wish: Wish,
        span: Span,
    ) -> Option<Shape> {
        let Some(members) = members else {
            return self.tagged(tag?, Forward::Struct);
        };
        let name = self.begin(tag, wish.0, span, false);
        let members = self.members(members, &name);
        self.finish(tag, &name);
        let kind = DefinitionKind::Struct { name: name.clone(), base: None, members };
        self.define(wish.1, Vec::new(), kind);
        Some(Shape::value(TypeUse { span, ..named(&name) }, Scalar::No))
    }

    /// A struct or union that is named by its tag alone.
    fn tagged(&mut self, tag: &Name, what: Forward) -> Option<Shape> {
        let used = named(tag);
        let base = match what {
            Forward::Union => Base::Switched { used },
            _ => Base::Value { used, scalar: Scalar::No },
        };
        let shape = Shape { base, layers: Vec::new(), is_string: false };
        let known = self.tags.entry(tag.text.clone()).or_insert(Tag { shape, is_made: false });
        let is_made = std::mem::replace(&mut known.is_made, true);
        let mut shape = known.shape.clone();
        if let Base::Value { used, .. } | Base::Switched { used } = &mut shape.base {
            used.span = tag.span;
            if let (false, TypeKind::Name(name)) = (is_made, &used.kind) {
                let name = at(&name.parts[0].text, tag.span);
                self.undefined.insert(name.text.clone());
                self.define(None, Vec::new(), DefinitionKind::Forward { what, name });
            }
        }
        Some(shape)
    }

    /// The name of a struct, union or enum that begins to be defined.
    fn begin(
        &mut self,
        tag: Option<&Name>,
        wish: Option<&Name>,
        span: Span,
        is_switched: bool,
    ) -> Name {
        let known =
            tag.and_then(|tag| self.tags.get(&tag.text)).and_then(|tag| match &tag.shape.base {
                Base::Value { used, .. } | Base::Switched { used } => match &used.kind {
                    TypeKind::Name(name) => Some(name.parts[0].text.clone()),
                    _ => None,
                },
                _ => None,
            });
        let place = tag.or(wish).map_or(span, |name| name.span);
        let name = match (known, wish.or(tag)) {
            (Some(text), _) => Name { text, span: place },
            (None, Some(name)) => name.clone(),
            (None, None) => {
                self.unnamed += 1;
                Name { text: format!("Unnamed{}", self.unnamed).into(), span }
            }
        };
        if let Some(tag) = tag {
            let used = named(&name);
            let base = match is_switched {
                true => Base::Switched { used },
                false => Base::Value { used, scalar: Scalar::No },
            };
            let shape = Shape { base, layers: Vec::new(), is_string: false };
            let is_made = self.tags.get(&tag.text).is_some_and(|known| known.is_made);
            self.tags.insert(tag.text.clone(), Tag { shape, is_made });
        }
        name
    }

    /// It is defined from here on.
    fn finish(&mut self, tag: Option<&Name>, name: &Name) {
        self.undefined.remove(&name.text);
        if let Some(known) = tag.and_then(|tag| self.tags.get_mut(&tag.text)) {
            known.is_made = true;
        }
    }

    /// Fields as slots, one for each declarator.
    pub(super) fn listed<'a>(
        &mut self,
        fields: &'a [Field],
        owner: &Name,
        place: Place,
    ) -> Listed<'a> {
        let mut listed = Listed { slots: Vec::new(), docs: Vec::new() };
        for field in fields {
            self.check_attributes(&field.attributes, place);
            let is_outside = is_outside(&field.attributes);
            let hint = self.switch_hint(&field.attributes, &listed.slots);
            let outer = std::mem::replace(&mut self.switch_hint, hint);
            let first = field.declarators.first();
            let text = first.map_or("", |first| &*first.name.text);
            let inner_name =
                Name { text: format!("{}_{text}", owner.text).into(), span: field.specifier.span };
            let has_tag = match &field.specifier.kind {
                SpecifierKind::Struct { tag, .. } | SpecifierKind::Enum { tag, .. } => {
                    tag.is_some()
                }
                SpecifierKind::Union(union) => union.tag.is_some(),
                _ => true,
            };
            let wish = (!has_tag).then_some(&inner_name);
            let inner = match is_outside {
                true => None,
                false => self.specified(&field.specifier, wish, &field.attributes, None),
            };
            self.switch_hint = outer;
            for declarator in &field.declarators {
                let shape =
                    inner.clone().map(|inner| self.declared(inner, declarator, &field.attributes));
                let ways = self.ways(&field.attributes, &declarator.name, place);
                let name = declarator.name.clone();
                listed.slots.push(Slot { name, attributes: &field.attributes, shape, ways });
                listed.docs.push(field.doc.clone());
            }
        }
        listed
    }

    /// The type of the discriminator that a union on the spot has beside it.
    fn switch_hint(&self, attributes: &[Attribute], slots: &[Slot]) -> Option<TypeUse> {
        let Some(Argument::Value { value, .. }) = find(attributes, "switch_is")?.arguments.first()
        else {
            return None;
        };
        let ExpressionKind::Name(name) = &value.kind else {
            return None;
        };
        let slot = slots.iter().find(|slot| slot.name.text == name.parts[0].text)?;
        match &slot.shape.as_ref()?.base {
            Base::Value { used, .. } => Some(used.clone()),
            _ => None,
        }
    }

    fn members(&mut self, fields: &[Field], owner: &Name) -> Vec<ast::Member> {
        let Listed { slots, docs } = self.listed(fields, owner, Place::Member);
        let carried = self.carried(&slots);
        let mut members = Vec::new();
        for (index, (slot, doc)) in slots.iter().zip(docs).enumerate() {
            let Some(shape) = &slot.shape else { continue };
            if carried.by_others[index] != Ways::default() {
                continue;
            }
            let laid = self.lay(shape, &carried.extents[index], Role::Member, &slot.name);
            let Some(laid) = laid else { continue };
            let mut annotations = self.range_of(slot.attributes, &laid.used);
            let mut flag = |name: &str| {
                annotations.push(annotation(name, Arguments::None, slot.name.span));
            };
            if laid.is_nullable {
                flag("optional");
            }
            // What is behind a pointer may be defined later, and may be of this type.
            if !shape.layers.is_empty() && matches!(laid.used.kind, TypeKind::Name(_)) {
                flag("external");
            }
            members.push(member(slot.name.clone(), laid.used, annotations, doc));
        }
        members
    }

    /// `range`, where what is declared is a number; a length has it as its bound.
    pub(super) fn range_of(&mut self, attributes: &[Attribute], used: &TypeUse) -> Vec<Annotation> {
        let annotations = self.range(attributes);
        let is_number = matches!(used.kind, TypeKind::Primitive(_) | TypeKind::Name(_));
        if let (Some(first), false) = (annotations.first(), is_number) {
            let message = "`range` stands before what is no number";
            let finding = Diagnostic::new(&rules::PLACE, first.span, message)
                .help("put it before the length, or before the type of the elements");
            self.diagnostics.push(finding);
            return Vec::new();
        }
        annotations
    }

    pub(super) fn union(
        &mut self,
        union: &Union,
        wish: Wish,
        attributes: &[Attribute],
        span: Span,
    ) -> Option<Shape> {
        let Some(arms) = &union.arms else {
            return self.tagged(union.tag.as_ref()?, Forward::Union);
        };
        let is_switched = union.switch.is_none();
        let hint = self.switch_hint.take();
        let name = self.begin(union.tag.as_ref(), wish.0, span, is_switched);
        let discriminator = self.switch_type(union, attributes, hint, &name);
        let cases = self.cases(arms, &name);
        self.finish(union.tag.as_ref(), &name);
        let discriminator = discriminator?;
        if cases.is_empty() {
            let message = format!("`{}` has no member", name.text);
            self.diagnostics.push(Diagnostic::new(&syntax::EMPTY_BODY, name.span, message));
            return None;
        }
        let kind = DefinitionKind::Union { name: name.clone(), discriminator, cases };
        self.define(wish.1, Vec::new(), kind);
        let used = TypeUse { span, ..named(&name) };
        let base = match is_switched {
            true => Base::Switched { used },
            false => Base::Value { used, scalar: Scalar::No },
        };
        Some(Shape { base, layers: Vec::new(), is_string: false })
    }

    fn switch_type(
        &mut self,
        union: &Union,
        attributes: &[Attribute],
        hint: Option<TypeUse>,
        name: &Name,
    ) -> Option<TypeUse> {
        let given = find(attributes, "switch_type").and_then(|one| one.arguments.first());
        let specifier = match (&union.switch, given) {
            (Some(specifier), _) | (None, Some(Argument::Type(specifier))) => specifier,
            _ if hint.is_some() => return hint,
            _ => {
                let message = format!("nothing says what the discriminator of `{}` is", name.text);
                let finding = Diagnostic::new(&rules::SWITCH, name.span, message).help(
                    "write `switch_type(long)` before it, or `switch (long level)` behind `union`",
                );
                self.diagnostics.push(finding);
                return None;
            }
        };
        let shape = self.specified(specifier, None, &[], None)?;
        match shape.base {
            Base::Value { used, .. } if shape.layers.is_empty() => Some(used),
            _ => {
                let message = format!("the discriminator of `{}` is no value", name.text);
                self.diagnostics.push(Diagnostic::new(&rules::SWITCH, specifier.span, message));
                None
            }
        }
    }

    fn cases(&mut self, arms: &[Arm], owner: &Name) -> Vec<ast::Case> {
        let is_default = |label: &Label| matches!(label, Label::Default(_));
        let has_default =
            arms.iter().any(|arm| arm.field.is_some() && arm.labels.iter().any(is_default));
        let mut cases = Vec::new();
        for arm in arms {
            if arm.labels.is_empty() {
                let message = format!("an arm of `{}` is for no value", owner.text);
                let finding = Diagnostic::new(&rules::ARM, arm.span, message)
                    .help("write `[case(1)]` or `[default]` before it");
                self.diagnostics.push(finding);
                continue;
            }
            let Some(field) = &arm.field else {
                if has_default {
                    self.report_empty_arm(arm);
                }
                continue;
            };
            let label = |label: &Label| match label {
                Label::Value(value) => ast::Label::Value(value.clone()),
                Label::Default(span) => ast::Label::Default(*span),
            };
            let labels = arm.labels.iter().map(label).collect();
            if let Some(member) = self.arm_member(field, owner) {
                cases.push(ast::Case { labels, member });
            }
        }
        cases
    }

    fn report_empty_arm(&mut self, arm: &Arm) {
        let message = "these values select no member, and the default is for all others";
        let finding = Diagnostic::new(&rules::ARM_EMPTY, arm.span, message)
            .help("give it a member, a `boolean` say, or name the values of the default");
        self.diagnostics.push(finding);
    }

    fn arm_member(&mut self, field: &Field, owner: &Name) -> Option<ast::Member> {
        let fields = std::slice::from_ref(field);
        let Listed { slots, .. } = self.listed(fields, owner, Place::Member);
        let carried = self.carried(&slots);
        let slot = slots.first()?;
        if let Some(second) = slots.get(1) {
            let message = format!("an arm has one member, and `{}` is a second", second.name.text);
            let finding = Diagnostic::new(&rules::ARM, second.name.span, message)
                .help("declare a struct of both");
            self.diagnostics.push(finding);
        }
        let laid = self.lay(slot.shape.as_ref()?, &carried.extents[0], Role::Inner, &slot.name)?;
        let used = self.present(laid);
        let annotations = self.range_of(slot.attributes, &used);
        Some(member(slot.name.clone(), used, annotations, field.doc.clone()))
    }

    pub(super) fn enumeration(
        &mut self,
        tag: Option<&Name>,
        enumerators: Option<&[Enumerator]>,
        wish: Wish,
        span: Span,
    ) -> Option<Shape> {
        let Some(enumerators) = enumerators else {
            let tag = tag?;
            let known = self.tags.get(&tag.text).map(|known| known.shape.clone());
            return Some(known.unwrap_or_else(|| Shape::value(named(tag), Scalar::Unknown)));
        };
        let name = self.begin(tag, wish.0, span, false);
        self.finish(tag, &name);
        let literal = |one: &Enumerator| {
            let value = one.value.as_ref().map(|value: &Expression| {
                annotation("value", Arguments::Single(value.clone()), value.span)
            });
            Literal {
                annotations: value.into_iter().collect(),
                doc: one.doc.clone(),
                name: one.name.clone(),
                is_numbered: false,
            }
        };
        self.constants.extend(enumerators.iter().map(|one| one.name.text.clone()));
        let enumerators: Vec<Literal> = enumerators.iter().map(literal).collect();
        if enumerators.is_empty() {
            return None;
        }
        let kind = DefinitionKind::Enum { name: name.clone(), enumerators };
        self.define(wish.1, Vec::new(), kind);
        // An enum is no number, and may be a discriminator.
        Some(Shape::value(TypeUse { span, ..named(&name) }, Scalar::No))
    }
}

fn member(
    name: Name,
    declared: TypeUse,
    annotations: Vec<Annotation>,
    doc: Option<Rc<str>>,
) -> ast::Member {
    let declarators = vec![ast::Declarator { name, dimensions: Vec::new() }];
    ast::Member { annotations, doc, declared, declarators, number: None }
}
