//! Operations of MIDL and their parameters.

use std::rc::Rc;

use super::ast::{Attribute, Declarator, Field, Specifier};
use super::attributes::{Place, find, is_outside};
use super::lengths::{Slot, Ways};
use super::lower::{Lowering, annotation};
use super::members::Listed;
use super::own;
use super::shape::{Base, Layer, PointerKind, Role, Shape};
use crate::diagnostic::Diagnostic;
use crate::front::ast::{self, Annotation, Arguments, Definition, DefinitionKind, Name, TypeUse};
use crate::front::rules::midl as rules;
use crate::model::Direction;

/// What an operation is made of.
pub(super) type Parts<'a> = (&'a Specifier, &'a Declarator, &'a [Field]);

impl Lowering {
    /// An operation; none if it is left out.
    pub(super) fn operation(
        &mut self,
        attributes: &[Attribute],
        doc: Option<Rc<str>>,
        (specifier, declarator, parameters): Parts,
    ) -> Option<Definition> {
        self.check_attributes(attributes, Place::Operation);
        let name = &declarator.name;
        if let Some(local) = find(attributes, "local") {
            self.note_local(name, local.span);
            return None;
        }
        let (returns, absent) = self.returned(attributes, specifier, declarator).unzip();
        let parameters = self.parameters(parameters, name);
        let idempotent = find(attributes, "idempotent")
            .map(|one| annotation("idempotent", Arguments::None, one.span));
        let annotations =
            idempotent.into_iter().chain(own::annotations(attributes, Place::Operation));
        let oneway = find(attributes, "maybe").or_else(|| find(attributes, "oneway"));
        let operation = ast::Operation {
            name: name.clone(),
            oneway: oneway.map(|one| one.span),
            returns,
            parameters,
            raises: Vec::new(),
        };
        Some(Definition {
            annotations: annotations.chain(absent.flatten()).collect(),
            doc,
            is_included: self.is_included,
            kind: DefinitionKind::Operation(operation),
        })
    }

    /// What it returns, and what says of that that it may be absent.
    fn returned(
        &mut self,
        attributes: &[Attribute],
        specifier: &Specifier,
        declarator: &Declarator,
    ) -> Option<(TypeUse, Option<Annotation>)> {
        if is_outside(attributes) {
            return None;
        }
        let wish =
            Name { text: format!("{}_result", declarator.name.text).into(), span: specifier.span };
        let inner = self.specified(specifier, Some(&wish), &[], None)?;
        let is_void = matches!(inner.base, Base::Void) && inner.layers.is_empty();
        if is_void && declarator.stars == 0 {
            return None;
        }
        let mut shape = self.declared(inner, declarator, attributes);
        let absent = self.absent(&mut shape, &[], Role::Result, attributes);
        let laid = self.lay(&shape, &[], Role::Result, &declarator.name)?;
        let laid = self.present(laid);
        Some((TypeUse { span: specifier.span, ..laid }, absent))
    }

    fn parameters(&mut self, fields: &[Field], operation: &Name) -> Vec<ast::Parameter> {
        let Listed { slots, .. } = self.listed(fields, operation, Place::Parameter);
        let carried = self.carried(&slots);
        let mut parameters = Vec::new();
        for (index, slot) in slots.iter().enumerate() {
            let Some(shape) = &slot.shape else { continue };
            if self.is_binding(slot, shape) {
                continue;
            }
            self.check_way_back(slot, shape);
            let by_others = carried.by_others[index];
            let ways = Ways {
                is_in: slot.ways.is_in && !by_others.is_in,
                is_out: slot.ways.is_out && !by_others.is_out,
            };
            let direction = match (ways.is_in, ways.is_out) {
                (true, true) => Direction::Inout,
                (true, false) => Direction::In,
                (false, true) => Direction::Out,
                (false, false) => continue,
            };
            let (mut shape, extents) = (shape.clone(), &carried.extents[index]);
            let absent = self.absent(&mut shape, extents, Role::Parameter, slot.attributes);
            let laid = self.lay(&shape, extents, Role::Parameter, &slot.name);
            let Some(laid) = laid else { continue };
            let declared = self.present(laid);
            let mut annotations = self.range_of(slot.attributes, &declared);
            annotations.extend(own::annotations(slot.attributes, Place::Parameter));
            annotations.extend(absent);
            parameters.push(ast::Parameter {
                annotations,
                direction: (direction, slot.name.span),
                declared,
                name: slot.name.clone(),
            });
        }
        parameters
    }

    /// `handle_t`: says through which binding the call goes, as the stub's receiver does here.
    fn is_binding(&mut self, slot: &Slot, shape: &Shape) -> bool {
        let is_binding = matches!(shape.base, Base::BindingHandle) && shape.layers.is_empty();
        if is_binding && !self.is_included && self.noted.insert("handle_t".to_owned()) {
            let message = format!("`{}` is the binding, and no parameter here", slot.name.text);
            let note = Diagnostic::new(&rules::BINDING, slot.name.span, message)
                .help("the stub is called on a client, which holds the binding");
            self.diagnostics.push(note);
        }
        is_binding
    }

    /// What only comes back needs a place to come back to, which is always there.
    fn check_way_back(&mut self, slot: &Slot, shape: &Shape) {
        if !slot.ways.is_out {
            return;
        }
        let name = &slot.name.text;
        let is_array = matches!(&shape.base, Base::Value { used, .. } if self.is_array(used));
        if shape.layers.is_empty() && !is_array {
            let message = format!("`{name}` comes back and is no pointer");
            let finding = Diagnostic::new(&rules::OUT, slot.name.span, message)
                .help(format!("write `*{name}`"));
            self.diagnostics.push(finding);
        }
        let is_unique =
            matches!(shape.layers.first(), Some(Layer::Pointer(Some(PointerKind::Unique))));
        if let (true, false, Some(unique)) =
            (is_unique, slot.ways.is_in, find(slot.attributes, "unique"))
        {
            let message = format!("`{name}` only comes back, and may not be null");
            let way_out = match self.pointer_default {
                PointerKind::Unique => format!("write `**{name}`"),
                PointerKind::Ref => format!(
                    "`pointer_default` is `ref`: declare `typedef [unique] long *maybe;`, or what \
                     else it points to, and write `maybe *{name}`"
                ),
            };
            let finding = Diagnostic::new(&rules::CLASH, unique.span, message)
                .help(format!("{way_out} if there may be nothing to return"));
            self.diagnostics.push(finding);
        }
    }

    /// Which ways a parameter goes. A member goes one.
    pub(super) fn ways(&mut self, attributes: &[Attribute], name: &Name, place: Place) -> Ways {
        if place != Place::Parameter {
            return Ways { is_in: true, is_out: false };
        }
        let ways = Ways {
            is_in: find(attributes, "in").is_some(),
            is_out: find(attributes, "out").is_some(),
        };
        if ways != Ways::default() {
            return ways;
        }
        let message = format!("nothing says which way `{}` goes", name.text);
        let finding = Diagnostic::new(&rules::DIRECTION, name.span, message)
            .help("write `[in]`, `[out]` or `[in, out]` before it");
        self.diagnostics.push(finding);
        Ways { is_in: true, is_out: false }
    }
}
