//! Which functions of types are functions of their own, and which are inlined where they are used:
//! a call costs less than a copy of many statements in every stub that has such a value.

use crate::back::c::C;
use crate::layout::members;
use crate::model::{DeclarationId, Kind, Member, Type};

/// Functions of more steps are not inlined. A step is some 30 bytes of instructions (gcc, `-O2`).
const STEPS_MAX: u32 = 4;

/// Whether a list has anything in it is looked at where it is used; its loop is never inlined.
const LIST_STEPS: u32 = 2;

/// What stands before a function of so many steps.
fn kind(steps: Option<u32>) -> &'static str {
    match steps {
        Some(steps) if steps <= STEPS_MAX => "NEARCALL_INLINE",
        _ => "NEARCALL_APART",
    }
}

impl C<'_> {
    /// What stands before the functions of a type that has some.
    pub fn function_kind(&self, declared: &Type) -> &'static str {
        match self.is_list(declared) {
            true => kind(None),
            false => kind(self.steps(declared, &mut Vec::new())),
        }
    }

    /// What stands before the function that gives back what an exception holds.
    pub fn exception_kind(&self, id: DeclarationId) -> &'static str {
        let held = members(self.model, id).into_iter();
        kind(held.map(|member| self.member_steps(member, &mut Vec::new())).sum::<u32>().into())
    }

    /// About how many steps each function of a type takes; `None` of one that has a choice, or
    /// itself within, which are never inlined.
    fn steps(&self, declared: &Type, within: &mut Vec<DeclarationId>) -> Option<u32> {
        if self.is_plain(declared) {
            return Some(1);
        }
        match self.resolved(declared) {
            Type::Primitive(_) | Type::String { .. } | Type::WideString { .. } => Some(1),
            Type::Sequence { element, .. } if self.is_plain(element) => Some(1),
            Type::Sequence { .. } | Type::Map { .. } => Some(LIST_STEPS),
            Type::Array { element, .. } => Some(1 + self.steps(element, within)?),
            Type::Named(id) => match &self.model.declaration(*id).kind {
                Kind::Union(_) => None,
                Kind::Struct(_) if within.contains(id) => None,
                Kind::Struct(_) => {
                    within.push(*id);
                    let plans = &self.type_plan(*id).members;
                    let others = plans.iter().map(|plan| {
                        let is_more = plan.is_boxed || !plan.missing.is_empty();
                        plan.checks.len() as u32 + u32::from(is_more) * 2
                    });
                    let all = members(self.model, *id).into_iter();
                    let own = all.map(|member| self.member_steps(member, within)).sum::<u32>();
                    within.pop();
                    Some(own + others.sum::<u32>())
                }
                // A word that is judged.
                _ => Some(2),
            },
        }
    }

    fn member_steps(&self, member: &Member, within: &mut Vec<DeclarationId>) -> u32 {
        // What is a function of its own takes a step.
        let own = self.steps(&member.declared, within).filter(|own| *own <= STEPS_MAX);
        own.unwrap_or(1) + u32::from(member.is_optional) * 2
    }

    /// Whether a type has elements that are taken one after the other.
    pub fn is_list(&self, declared: &Type) -> bool {
        match self.resolved(declared) {
            Type::Sequence { element, .. } => !self.is_plain(element),
            resolved => matches!(resolved, Type::Map { .. }),
        }
    }

    /// Whether values of a type lie in memory as they are marshalled, whatever the bytes.
    pub fn is_plain(&self, declared: &Type) -> bool {
        self.plan.footprint(self.model, declared).is_some()
    }
}
