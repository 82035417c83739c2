//! Annotations of Nearcall's own, which MIDL writes as attributes by the names that they have in
//! OMG IDL.

use super::ast::Attribute;
use super::attributes::{Place, find, is_well_given, places, values};
use super::lower::annotation;
use crate::front::ast::{Annotation, Arguments, ExpressionKind, Name, TypeKind, TypeUse};

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

/// The type of what attributes stand before, and what says of a descriptor that it may be absent: a
/// pointer to it that may be null, which of anything else is a sequence of at most one.
pub(super) fn absent(used: TypeUse, attributes: &[Attribute]) -> (TypeUse, Option<Annotation>) {
    let fd = find(attributes, "fd");
    match (fd, used.kind) {
        (Some(fd), TypeKind::Sequence { element, bound: Some(bound) })
            if matches!(bound.kind, ExpressionKind::Integer(1)) =>
        {
            (*element, Some(annotation("optional", Arguments::None, fd.span)))
        }
        (_, kind) => (TypeUse { kind, span: used.span }, None),
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
