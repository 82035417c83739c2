//! Lengths and discriminators that stand beside what they are of.
//!
//! A sequence carries its length and a union its discriminator, so that the parameter or member
//! that C needs for it would be there twice. Each way that something goes, its length goes with
//! it; what is left of the length's own ways is a parameter:
//!
//! | declared | sequence | left of `n` |
//! |---|---|---|
//! | `[in] n, [in, size_is(n)]` | in | - |
//! | `[in] n, [in, out, size_is(n)]` | inout | - |
//! | `[in] n, [out, size_is(n)]` | out | in: how much is wanted |
//! | `[in, out] *n, [out, size_is(*n)]` | out | in |
//! | `[in] max, [out] *n, [out, size_is(max), length_is(*n)]` | out | -; `max` stays |

use std::collections::HashMap;
use std::rc::Rc;

use super::ast::{Argument, Attribute};
use super::attributes::{find, values};
use super::lower::Lowering;
use super::shape::{Base, Extent, Layer, Shape, one_more};
use crate::diagnostic::{Diagnostic, Rule};
use crate::front::ast::{Expression, ExpressionKind, Name};
use crate::front::rules::midl as rules;
use crate::source::Span;

/// Which ways something goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ways {
    pub is_in: bool,
    pub is_out: bool,
}

/// A parameter or a member, with those beside it.
pub(super) struct Slot<'a> {
    pub name: Name,
    pub attributes: &'a [Attribute],
    /// `None`: reported.
    pub shape: Option<Shape>,
    pub ways: Ways,
}

/// What is found out about the slots of one list.
pub(super) struct Carried {
    /// Of each slot, what is known of its layers.
    pub extents: Vec<Vec<Extent>>,
    /// Of each slot, the ways it goes with something else.
    pub by_others: Vec<Ways>,
}

/// What an attribute names.
enum Named {
    Slot(usize),
    Constant(Expression),
}

struct Lengths<'l, 'a> {
    slots: &'l [Slot<'a>],
    by_name: HashMap<Rc<str>, usize>,
    /// Of each slot, what carries it first, in and out: a slot, and where that says so.
    first: Vec<[Option<(usize, Span)>; 2]>,
}

impl Lowering {
    /// Finds the lengths and discriminators of a list of parameters or members.
    pub(super) fn carried(&mut self, slots: &[Slot]) -> Carried {
        let mut by_name = HashMap::new();
        for (index, slot) in slots.iter().enumerate() {
            by_name.entry(slot.name.text.clone()).or_insert(index);
        }
        let mut lengths = Lengths { slots, by_name, first: vec![[None, None]; slots.len()] };
        let mut extents = Vec::new();
        for index in 0..slots.len() {
            extents.push(self.extents(&mut lengths, index));
            self.discriminator(&mut lengths, index);
        }
        let ways = |first: &[Option<(usize, Span)>; 2]| Ways {
            is_in: first[0].is_some(),
            is_out: first[1].is_some(),
        };
        Carried { extents, by_others: lengths.first.iter().map(ways).collect() }
    }

    fn extents(&mut self, lengths: &mut Lengths, index: usize) -> Vec<Extent> {
        let slot = &lengths.slots[index];
        let Some(shape) = &slot.shape else {
            return Vec::new();
        };
        let mut extents = vec![Extent::default(); shape.layers.len()];
        for (name, is_last, is_length) in [
            ("size_is", false, false),
            ("max_is", true, false),
            ("length_is", false, true),
            ("last_is", true, true),
        ] {
            let Some(attribute) = find(slot.attributes, name) else {
                continue;
            };
            for (layer, argument) in attribute.arguments.iter().enumerate() {
                let Argument::Value { stars, value } = argument else {
                    continue;
                };
                if layer >= extents.len() {
                    self.report_surplus(attribute, shape.layers.len());
                    break;
                }
                let is_text = shape.is_string && layer + 1 == shape.layers.len();
                let has_length = find(slot.attributes, "length_is").is_some()
                    || find(slot.attributes, "last_is").is_some();
                // Where a length is given too, the size is room in memory, which Rust has anyway.
                let is_room = (!is_length && has_length) || is_text;
                let named = self.named(lengths, *stars, value, attribute);
                match named {
                    Some(Named::Constant(count)) => {
                        let count = if is_last { one_more(&count) } else { count };
                        let extent = &mut extents[layer];
                        *match is_length || !has_length {
                            true => &mut extent.count,
                            false => &mut extent.bound,
                        } = Some(count);
                    }
                    Some(Named::Slot(_)) if is_room => {}
                    Some(Named::Slot(of)) => {
                        self.note_least(lengths.slots[of].attributes);
                        if let Some(bound) = range_end(lengths.slots[of].attributes) {
                            let bound = if is_last { one_more(&bound) } else { bound };
                            extents[layer].bound.get_or_insert(bound);
                        }
                        let outer = &extents[..layer];
                        self.check_outermost(&shape.layers[..layer], outer, attribute);
                        extents[layer].is_variable = true;
                        self.carry(lengths, index, of, attribute.span, &rules::LENGTH_SHARED);
                    }
                    None => extents[layer].is_variable = true,
                }
            }
        }
        extents
    }

    /// A sequence has a greatest length and no least one.
    fn note_least(&mut self, attributes: &[Attribute]) {
        let Some(range) = find(attributes, "range") else {
            return;
        };
        let is_zero = |least: &&Expression| least.kind == ExpressionKind::Integer(0);
        if values(range).first().is_none_or(is_zero) {
            return;
        }
        let message = "the least length of this range is not checked, the greatest is";
        let note = Diagnostic::new(&rules::LEAST_LENGTH, range.span, message)
            .help("let the procedure look at the length if it minds");
        self.diagnostics.push(note);
    }

    /// Only arrays that are there once have a length that is there once.
    fn check_outermost(&mut self, layers: &[Layer], extents: &[Extent], attribute: &Attribute) {
        let is_once = |(layer, extent): (&Layer, &Extent)| {
            matches!(layer, Layer::Pointer(_)) && !extent.is_variable && extent.count.is_none()
        };
        if layers.iter().zip(extents).all(is_once) {
            return;
        }
        let message = "every array in the outer one would have this length";
        let finding = Diagnostic::new(&rules::LENGTH_INNER, attribute.span, message)
            .help("declare a struct of a length and an array, and an array of those");
        self.diagnostics.push(finding);
    }

    /// What a length or discriminator names: something beside it, or a constant.
    fn named(
        &mut self,
        lengths: &Lengths,
        stars: u32,
        value: &Expression,
        attribute: &Attribute,
    ) -> Option<Named> {
        let mut names = Vec::new();
        names_in(value, &mut names);
        let known: Vec<usize> =
            names.iter().filter_map(|name| lengths.by_name.get(&name.text).copied()).collect();
        let is_alone = matches!(value.kind, ExpressionKind::Name(_));
        let attribute_name = &attribute.name.text;
        match known[..] {
            [of] if is_alone => {
                let slot = &lengths.slots[of];
                let shape = slot.shape.as_ref()?;
                let Some(pointers) = shape.as_length() else {
                    if &**attribute_name == "switch_is" {
                        return Some(Named::Slot(of));
                    }
                    self.report_length_type(&slot.name, value.span, attribute);
                    return None;
                };
                // IDL4 leaves the stars away where there can be no doubt.
                if pointers == stars as usize || stars == 0 {
                    return Some(Named::Slot(of));
                }
                let name = &slot.name.text;
                let message =
                    format!("`{name}` stands behind {pointers} `*`, and {stars} are here");
                let finding = Diagnostic::new(&rules::LENGTH_TYPE, value.span, message)
                    .label(slot.name.span, "declared here")
                    .help(format!("write `{attribute_name}({}{name})`", "*".repeat(pointers)));
                self.diagnostics.push(finding);
                None
            }
            [] if stars == 0 && (names.is_empty() || self.is_constant(&names)) => {
                Some(Named::Constant(value.clone()))
            }
            [] => {
                let name = names.first().map_or("this", |name| &*name.text);
                let message = format!("`{name}` is nothing that stands beside it");
                let finding = Diagnostic::new(&rules::LENGTH_UNKNOWN, value.span, message)
                    .help("name a parameter of the same operation or a member of the same struct");
                self.diagnostics.push(finding);
                None
            }
            _ => {
                let message = format!("`{attribute_name}` computes from a value of the call");
                let finding = Diagnostic::new(&rules::LENGTH_FORM, value.span, message)
                    .help("declare a parameter or member that is the number of elements");
                self.diagnostics.push(finding);
                None
            }
        }
    }

    fn report_length_type(&mut self, name: &Name, span: Span, attribute: &Attribute) {
        let message = format!("`{}` of `{}` is no integer", name.text, attribute.name.text);
        let finding =
            Diagnostic::new(&rules::LENGTH_TYPE, span, message).label(name.span, "declared here");
        self.diagnostics.push(finding);
    }

    fn report_surplus(&mut self, attribute: &Attribute, layers: usize) {
        let name = &attribute.name.text;
        let message = match layers {
            0 => format!("`{name}` stands before what is no array"),
            _ => format!("`{name}` is of more arrays than the {layers} that are there"),
        };
        let finding = Diagnostic::new(&rules::PLACE, attribute.span, message)
            .help("it is for pointers and arrays");
        self.diagnostics.push(finding);
    }

    /// Lets slot `of` go with slot `with`, each way that both go.
    fn carry(
        &mut self,
        lengths: &mut Lengths,
        with: usize,
        of: usize,
        span: Span,
        shared: &'static Rule,
    ) {
        let (array, length) = (lengths.slots[with].ways, lengths.slots[of].ways);
        let name = &lengths.slots[of].name;
        let ways = [(array.is_in, length.is_in), (array.is_out, length.is_out)];
        for (way, (is_wanted, is_there)) in ways.into_iter().enumerate() {
            if !is_wanted {
                continue;
            }
            if !is_there {
                // What only comes back may be as long as was asked for.
                if way == 0 {
                    let message = format!(
                        "`{}` does not go to the server, and what it is of does",
                        name.text
                    );
                    let finding = Diagnostic::new(&rules::LENGTH_DIRECTION, span, message)
                        .label(name.span, "declared here")
                        .help("make it `[in]` too");
                    self.diagnostics.push(finding);
                }
                continue;
            }
            match lengths.first[of][way] {
                Some((other, first)) if other != with => {
                    let other = &lengths.slots[other].name.text;
                    let message = format!("`{}` already goes with `{other}`", name.text);
                    let finding = Diagnostic::new(shared, span, message)
                        .label(first, "said here")
                        .help("give each its own, or declare one array of structs");
                    self.diagnostics.push(finding);
                    return;
                }
                _ => lengths.first[of][way] = Some((with, span)),
            }
        }
    }

    /// `switch_is`: the discriminator goes with the union.
    fn discriminator(&mut self, lengths: &mut Lengths, index: usize) {
        let slot = &lengths.slots[index];
        let is_switched =
            matches!(slot.shape.as_ref().map(|shape| &shape.base), Some(Base::Switched { .. }));
        let Some(attribute) = find(slot.attributes, "switch_is") else {
            if is_switched {
                let message = format!("nothing says which member of `{}` is there", slot.name.text);
                let finding = Diagnostic::new(&rules::SWITCH, slot.name.span, message)
                    .help("write `switch_is(level)` before it, with a parameter or member `level`");
                self.diagnostics.push(finding);
            }
            return;
        };
        if !is_switched {
            if slot.shape.is_some() {
                let message = "`switch_is` stands before what is no union without discriminator";
                self.diagnostics.push(Diagnostic::new(&rules::PLACE, attribute.span, message));
            }
            return;
        }
        let Some(Argument::Value { stars, value }) = attribute.arguments.first() else {
            return;
        };
        let Some(named) = self.named(lengths, *stars, value, attribute) else {
            return;
        };
        match named {
            Named::Slot(of) => {
                self.carry(lengths, index, of, attribute.span, &rules::SWITCH_FORM);
            }
            Named::Constant(_) => {
                let message = "a union that always has the same member needs to be none";
                let finding = Diagnostic::new(&rules::SWITCH_FORM, attribute.span, message)
                    .help("declare the member alone");
                self.diagnostics.push(finding);
            }
        }
    }
}

/// The greatest value of a `range`.
fn range_end(attributes: &[Attribute]) -> Option<Expression> {
    let range = find(attributes, "range")?;
    values(range).get(1).map(|end| (*end).clone())
}

/// Every name in an expression. Its depth is limited by the parser.
fn names_in<'e>(expression: &'e Expression, names: &mut Vec<&'e Name>) {
    match &expression.kind {
        ExpressionKind::Name(name) => names.extend(name.parts.first()),
        ExpressionKind::Unary(_, operand) => names_in(operand, names),
        ExpressionKind::Binary(_, left, right) => {
            names_in(left, names);
            names_in(right, names);
        }
        _ => {}
    }
}
