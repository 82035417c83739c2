//! Types that hold themselves `@external`: has each a value that ends?
//!
//! A struct has one if every member has that has to be there; a union if one of its cases has, or
//! if no case needs to be chosen. A sequence or map may be empty. Counted from those that need
//! nobody, so that the time is that of reading the types once.

use super::Resolver;
use super::scope::SymbolId;
use crate::diagnostic::Diagnostic;
use crate::front::dialect::Dialect;
use crate::front::rules::semantics as rules;
use crate::model::{Kind, Member, Type, UnionDefault};

/// What a declaration waits for.
#[derive(Default)]
struct Waiting {
    /// Declarations that have to end first.
    needs: Vec<usize>,
    /// How many of them.
    left: usize,
}

impl Resolver {
    /// Reports one type of each circle that nothing leads out of.
    pub(super) fn check_recursion(&mut self) {
        let mut waiting: Vec<Waiting> =
            self.declared.iter().map(|one| self.waiting(&one.declaration.kind)).collect();
        let mut needed_by: Vec<Vec<usize>> = vec![Vec::new(); waiting.len()];
        for (index, one) in waiting.iter().enumerate() {
            one.needs.iter().for_each(|need| needed_by[*need].push(index));
        }
        let mut ending: Vec<usize> =
            (0..waiting.len()).filter(|index| waiting[*index].left == 0).collect();
        while let Some(ended) = ending.pop() {
            for index in &needed_by[ended] {
                let one = &mut waiting[*index];
                if one.left == 1 {
                    ending.push(*index);
                }
                one.left = one.left.saturating_sub(1);
            }
        }
        for index in circles(&waiting) {
            self.report_endless(self.declared[index].symbol);
        }
    }

    fn report_endless(&mut self, symbol: SymbolId) {
        let name = &self.symbol(symbol).name;
        let message = format!("no value of `{}` ends: each holds another", name.text);
        let finding =
            Diagnostic::new(&rules::RECURSIVE, name.span, message).help(match self.dialect {
                Dialect::Omg | Dialect::Proto => {
                    "make a member on the way `@optional`, or a sequence"
                }
                Dialect::Midl => "make a pointer on the way `unique`",
            });
        self.diagnostics.push(finding);
    }

    fn waiting(&self, kind: &Kind) -> Waiting {
        let of = |member: &Member| self.directly(&member.declared);
        match kind {
            Kind::Alias(behind) => all(self.directly(behind).into_iter().collect()),
            Kind::Struct(declared) => {
                let base = declared.base.and_then(|base| self.directly(&Type::Named(base)));
                let members = declared.members.iter().filter(|member| !member.is_optional);
                all(members.filter_map(of).chain(base).collect())
            }
            Kind::Exception(members) => all(members.iter().filter_map(of).collect()),
            Kind::Union(declared) => {
                let needs: Vec<usize> =
                    declared.cases.iter().filter_map(|case| of(&case.member)).collect();
                let has_end = needs.len() < declared.cases.len();
                // One without cases was reported.
                if has_end || needs.is_empty() || declared.default == UnionDefault::Implicit {
                    return Waiting::default();
                }
                Waiting { needs, left: 1 }
            }
            _ => Waiting::default(),
        }
    }

    /// The declaration whose value a value of this type holds, however it is called.
    fn directly(&self, declared: &Type) -> Option<usize> {
        match declared {
            Type::Array { element, .. } => self.directly(element),
            Type::Named(id) => self.symbol(SymbolId(id.0)).declaration,
            _ => None,
        }
    }
}

fn all(needs: Vec<usize>) -> Waiting {
    Waiting { left: needs.len(), needs }
}

/// One of each circle among those that still wait.
fn circles(waiting: &[Waiting]) -> Vec<usize> {
    let mut seen_from: Vec<Option<usize>> = vec![None; waiting.len()];
    let mut found = Vec::new();
    for start in 0..waiting.len() {
        let mut at = start;
        while waiting[at].left > 0 && seen_from[at].is_none() {
            seen_from[at] = Some(start);
            let next = waiting[at].needs.iter().find(|need| waiting[**need].left > 0);
            // Whoever waits, waits for someone who does.
            at = *next.expect("it waits for another");
            if seen_from[at] == Some(start) {
                found.push(at);
            }
        }
    }
    found
}
