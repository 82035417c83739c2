//! Annotations of Nearcall's own, which MIDL writes as attributes by the names that they have in
//! OMG IDL.

use super::ast::Attribute;
use super::attributes::{Place, find, is_well_given, places, values};
use super::lower::{Lowering, annotation};
use super::shape::{Extent, Layer, PointerKind, Role, Shape};
use crate::front::ast::{Annotation, Arguments, Name};

/// Each by its name. Whether it fits what it stands before is the resolver's to judge.
pub(super) const OWN: &[&str] = &["astack", "fd", "feed", "leaf", "opaque", "prealloc", "typical"];

/// What attributes before an operation or parameter come to. One that is in the wrong place, given
/// too little or too much, or repeated was reported, and is left out.
pub(super) fn annotations(
    attributes: &[Attribute],
    place: Place,
) -> impl Iterator<Item = Annotation> + '_ {
    attributes.iter().enumerate().filter_map(move |(index, one)| {
        let name = in_omg(one);
        // Both names of one thing are no mistake, and say it once.
        let is_first = attributes[..index].iter().all(|before| in_omg(before) != name);
        let stands = places(&one.name.text).contains(&place) && is_first;
        let is_annotation = OWN.contains(&name) && stands && is_well_given(one);
        is_annotation.then(|| annotation(name, given(name, one), one.span))
    })
}

impl Lowering {
    /// What says of a descriptor that it may be absent: one pointer to it that may be null, which
    /// `shape` has as one that may not from here on. Of anything else such a pointer is a sequence
    /// of at most one, and what has a length is one whatever its bound.
    pub(super) fn absent(
        &self,
        shape: &mut Shape,
        extents: &[Extent],
        role: Role,
        attributes: &[Attribute],
    ) -> Option<Annotation> {
        let fd = find(attributes, "fd")?;
        if extents.iter().any(Extent::is_known) {
            return None;
        }
        let layers = shape.layers.iter().enumerate();
        let mut nullable = layers.filter(|(index, layer)| {
            self.pointer_kind(layer, role, *index) == Some(PointerKind::Unique)
        });
        let (Some((index, _)), None) = (nullable.next(), nullable.next()) else {
            return None;
        };
        shape.layers[index] = Layer::Pointer(Some(PointerKind::Ref));
        Some(annotation("optional", Arguments::None, fd.span))
    }
}

/// The name in OMG IDL. DICE has one for either side; IDL4's is the client's.
fn in_omg(attribute: &Attribute) -> &str {
    match &*attribute.name.text {
        "prealloc_client" => "prealloc",
        written => written,
    }
}

/// MIDL has no names for values: `astack` has its count first, then its bytes.
fn given(name: &str, attribute: &Attribute) -> Arguments {
    let values = values(attribute);
    match (name, &values[..]) {
        (_, []) => Arguments::None,
        ("astack", _) => {
            let named = ["count", "bytes"].iter().zip(values).map(|(&name, value)| {
                (Name { text: name.into(), span: value.span }, value.clone())
            });
            Arguments::Named(named.collect())
        }
        (_, [value, ..]) => Arguments::Single((*value).clone()),
    }
}
