//! Values that lie in memory as they are marshalled: numbers, arrays of plain values, and structs
//! of plain members without a gap between or behind them, where structs are laid out as in C. Any
//! bytes are such a value, so that there is nothing to judge, and many of them are one copy.

use crate::layout::{element_bytes, members};
use crate::model::{DeclarationId, Kind, Model, Primitive, Type};
use crate::plan::Plan;

/// What a plain value takes in memory, and in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// How long it is.
    pub bytes: u64,
    /// What its address is a multiple of in memory; in a message it may be anywhere.
    pub align: u64,
}

impl Plan {
    /// What a value takes; `None` of one that is not plain.
    pub fn footprint(&self, model: &Model, declared: &Type) -> Option<Footprint> {
        match model.resolved(declared) {
            // Octets in every language that has it in memory.
            Type::Primitive(Primitive::LongDouble) => Some(Footprint { bytes: 16, align: 1 }),
            scalar @ Type::Primitive(_) => {
                element_bytes(model, scalar).map(|bytes| Footprint { bytes, align: bytes })
            }
            Type::Array { element, dimensions } => {
                let Footprint { bytes, align } = self.footprint(model, element)?;
                let times = |bytes: u64, count: &u32| bytes.checked_mul(u64::from(*count));
                let bytes = dimensions.iter().try_fold(bytes, times)?;
                Some(Footprint { bytes, align })
            }
            Type::Named(id) if matches!(model.declaration(*id).kind, Kind::Struct(_)) => {
                self.struct_footprint(model, *id)
            }
            _ => None,
        }
    }

    fn struct_footprint(&self, model: &Model, id: DeclarationId) -> Option<Footprint> {
        let index = self.types.binary_search_by_key(&id, |plan| plan.id).ok()?;
        let plan = &self.types[index];
        if plan.is_appendable {
            return None;
        }
        let (mut end, mut align) = (0u64, 1);
        for (member, plan) in members(model, id).into_iter().zip(&plan.members) {
            if member.is_optional || plan.is_boxed || !plan.checks.is_empty() {
                return None;
            }
            let own = self.footprint(model, &member.declared)?;
            if !end.is_multiple_of(own.align) {
                return None;
            }
            (end, align) = (end.checked_add(own.bytes)?, align.max(own.align));
        }
        (end > 0 && end.is_multiple_of(align)).then_some(Footprint { bytes: end, align })
    }
}
