//! The steps that write a message, as a table. Whoever reads the message reads what they write.

use std::collections::BTreeMap;

use crate::back::python::Python;
use crate::back::python::text::{quoted, tuple};
use crate::layout::{Form, Place, Root, members};
use crate::model::{Annotation, Descriptor, DescriptorKind, Type};
use crate::plan::Step;

/// One value of a message.
pub struct Part<'m> {
    /// What it belongs to.
    pub root: Root,
    /// For errors.
    pub name: String,
    /// Its type.
    pub declared: &'m Type,
    /// What is annotated where it is declared.
    pub annotations: &'m [Annotation],
    /// It may be absent, as a member of an exception may.
    pub is_optional: bool,
    /// What it stands for.
    pub role: Role,
}

/// What a part of a message stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A value of its type.
    Value,
    /// A descriptor, which goes beside the message.
    Descriptor(Descriptor),
    /// Items of a feed.
    Batch,
}

impl Python<'_> {
    /// A message: bytes of the fixed part, where the variable part begins, and each value with its
    /// type and where it goes. `writing` are the steps of who writes it, `reading` of who reads it.
    pub fn message(&self, parts: &[Part<'_>], writing: &[Step], reading: &[Step]) -> String {
        let fixed_bytes = writing.iter().find_map(|step| match step {
            Step::Post { fixed_bytes }
            | Step::PostOneway { fixed_bytes }
            | Step::Reply { fixed_bytes }
            | Step::Raise { fixed_bytes, .. } => Some(*fixed_bytes),
            _ => None,
        });
        let variable_at = reading.iter().find_map(|step| match step {
            Step::Incoming { at } => Some(*at),
            _ => None,
        });
        let places = places(writing);
        let parts = parts.iter().map(|part| {
            let expression = match (part.role, part.declared) {
                (Role::Batch, Type::Sequence { element, bound: Some(count) }) => {
                    let item = self.expression(element, &[]);
                    tuple(&[quoted("items"), item, count.to_string()])
                }
                _ if part.is_optional => {
                    let inner = self.expression(part.declared, part.annotations);
                    tuple(&[quoted("optional"), inner])
                }
                _ => self.expression(part.declared, part.annotations),
            };
            let place = self.place(&places, &Place::whole(part.root), part.declared);
            tuple(&[quoted(&part.name), expression, place])
        });
        let parts: Vec<String> = parts.collect();
        let number = |number: Option<u32>| number.unwrap_or_default().to_string();
        tuple(&[number(fixed_bytes), number(variable_at), tuple(&parts)])
    }

    /// Where a value goes: to one place, or member by member.
    fn place(&self, places: &BTreeMap<Place, String>, place: &Place, declared: &Type) -> String {
        if let Some(place) = places.get(place) {
            return place.clone();
        }
        let Type::Named(id) = self.model.resolved(declared) else {
            unreachable!("the plan places every value, or every member of it");
        };
        let inner = members(self.model, *id).into_iter().zip(0u32..);
        let inner =
            inner.map(|(member, index)| self.place(places, &place.member(index), &member.declared));
        tuple(&[quoted("members"), tuple(&inner.collect::<Vec<_>>())])
    }
}

/// Where each value is put.
fn places(writing: &[Step]) -> BTreeMap<Place, String> {
    let mut places = BTreeMap::new();
    for step in writing {
        if let Step::PutDescriptors { descriptors } = step {
            let passed = descriptors.iter().map(|passed| {
                let mut words = vec![quoted("descriptor"), quoted(kind_code(passed.kind))];
                words.extend(passed.presence_at.map(|at| at.to_string()));
                (Place::whole(passed.root), tuple(&words))
            });
            places.extend(passed);
        }
        let (place, words) = match step {
            Step::PutScalar { place, at, .. } => (place, vec![quoted("word"), at.to_string()]),
            Step::PutBlock { place, at, bytes } | Step::PutImage { place, at, bytes } => {
                (place, vec![quoted("image"), at.to_string(), bytes.to_string()])
            }
            Step::PutLength { place, at, form } => {
                (place, vec![quoted(form_code(*form)), at.to_string()])
            }
            Step::PutLentLength { place, at } => {
                (place, vec![quoted(form_code(Form::Lent)), at.to_string()])
            }
            _ => continue,
        };
        places.insert(place.clone(), tuple(&words));
    }
    places
}

fn kind_code(kind: DescriptorKind) -> &'static str {
    match kind {
        DescriptorKind::Any => "any",
        DescriptorKind::Binding => "binding",
        DescriptorKind::File => "file",
        DescriptorKind::Segment => "segment",
        DescriptorKind::Socket => "socket",
    }
}

fn form_code(form: Form) -> &'static str {
    match form {
        Form::Text | Form::WideText => "text",
        Form::Octets => "octets",
        Form::Lent => "lent",
        Form::Elements { .. } => "elements",
        Form::Marshalled => "marshalled",
    }
}
