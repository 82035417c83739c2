//! What no type may exceed, so that nobody behind the model has to be afraid of one.
//!
//! A type that nests deep would exhaust the stack of whoever walks it, one that is large could
//! never be sent, and one that comes down to a great many scalars would fill a disk with stubs.
//! Measured once, over all types, when everything is declared; through sequences too, but not
//! around the circle of a recursive type.

use super::Resolver;
use super::scope::SymbolId;
use crate::diagnostic::{Diagnostic, Rule};
use crate::front::ast::Name;
use crate::front::rules::semantics as rules;
use crate::model::{Kind, Member, Type};
use crate::need::needed_first;
use crate::source::Span;

/// Types nest this deep at most.
pub(super) const DEPTH_MAX: u32 = 64;

/// Bytes of the fixed part of a value: what a message can hold.
const BYTES_MAX: u64 = 1 << 30;

/// Scalars, strings and sequences that a type comes down to, an array counted once.
const LEAVES_MAX: u64 = 65_536;

/// Of a type: how deep, how large at least, how many leaves.
#[derive(Clone, Copy, Default)]
struct Measure {
    depth: u32,
    bytes: u64,
    leaves: u64,
}

impl Measure {
    const LEAF: Measure = Measure { depth: 1, bytes: 8, leaves: 1 };

    fn one(bytes: u64) -> Measure {
        Measure { bytes, ..Measure::LEAF }
    }

    /// The rule that something so large breaks.
    fn broken(self) -> Option<&'static Rule> {
        if self.depth > DEPTH_MAX {
            Some(&rules::TOO_DEEP)
        } else if self.bytes > BYTES_MAX {
            Some(&rules::TOO_LARGE)
        } else if self.leaves > LEAVES_MAX {
            Some(&rules::TOO_WIDE)
        } else {
            None
        }
    }

    fn with(self, member: Measure) -> Measure {
        Measure {
            depth: self.depth.max(member.depth + 1),
            bytes: self.bytes.saturating_add(member.bytes),
            leaves: self.leaves.saturating_add(member.leaves),
        }
    }
}

impl Resolver {
    pub(super) fn check_limits(&mut self) {
        let mut measures: Vec<Measure> = vec![Measure::default(); self.declared.len()];
        let mut broken: Vec<bool> = vec![false; self.declared.len()];
        let mut findings = Vec::new();
        for index in self.by_need() {
            let measure = self.measure_kind(&self.declared[index].declaration.kind, &measures);
            measures[index] = measure;
            let Some(rule) = measure.broken() else {
                continue;
            };
            // What holds it is too large as well, and a consequence.
            broken[index] = true;
            let kind = &self.declared[index].declaration.kind;
            if self.needs(kind).iter().any(|need| *need != index && broken[*need]) {
                continue;
            }
            findings.push((rule, self.symbol(self.declared[index].symbol).name.clone()));
        }
        self.measure_operations(&measures, &broken, &mut findings);
        for (rule, name) in findings {
            match rule.code {
                "E0295" => self.report_too_deep(&name),
                "E0296" => self.report_too_large(&name),
                _ => self.report_too_wide(&name),
            }
        }
    }

    /// What an operation passes is one value, in a way: its parameters and what it returns.
    fn measure_operations(
        &self,
        measures: &[Measure],
        broken: &[bool],
        findings: &mut Vec<(&'static Rule, Name)>,
    ) {
        for declared in &self.declared {
            let Kind::Interface(interface) = &declared.declaration.kind else {
                continue;
            };
            let own = interface
                .operations
                .iter()
                .filter(|operation| operation.declared_in == declared.symbol.declaration());
            for operation in own {
                let passed = operation.parameters.iter().map(|parameter| &parameter.declared);
                let passed: Vec<&Type> = passed.chain(&operation.returns).collect();
                let mut needs = Vec::new();
                passed.iter().for_each(|declared| self.named(declared, &mut needs));
                if needs.iter().any(|need| broken[*need]) {
                    continue;
                }
                let measure = passed.iter().fold(Measure::default(), |sum, declared| {
                    sum.with(self.measure(declared, measures))
                });
                if let Some(rule) = measure.broken() {
                    let text = operation.name.as_str().into();
                    let span = self.operation_span(declared.symbol, &operation.name);
                    findings.push((rule, Name { text, span }));
                }
            }
        }
    }

    fn operation_span(&self, interface: SymbolId, name: &str) -> Span {
        let symbol = self.symbol(interface);
        let name = name.trim_start_matches("_get_").trim_start_matches("_set_");
        let inner = symbol.inner.map(|scope| self.scope(scope));
        let own = inner.and_then(|scope| scope.names.get(&self.fold(name)).copied());
        self.symbol(own.unwrap_or(interface)).name.span
    }

    pub(super) fn report_too_deep(&mut self, name: &Name) {
        let message = format!("`{}` nests more than {DEPTH_MAX} types", name.text);
        self.diagnostics.push(Diagnostic::new(&rules::TOO_DEEP, name.span, message));
    }

    fn report_too_large(&mut self, name: &Name) {
        let message = format!("a value of `{}` takes more than {BYTES_MAX} bytes", name.text);
        let finding = Diagnostic::new(&rules::TOO_LARGE, name.span, message)
            .help("use a sequence, or smaller arrays");
        self.diagnostics.push(finding);
    }

    fn report_too_wide(&mut self, name: &Name) {
        let message = format!("`{}` comes down to more than {LEAVES_MAX} scalars", name.text);
        let finding = Diagnostic::new(&rules::TOO_WIDE, name.span, message)
            .help("use an array or a sequence of one type");
        self.diagnostics.push(finding);
    }

    /// Every declaration after those it needs, but for circles.
    fn by_need(&self) -> Vec<usize> {
        let all: Vec<usize> = (0..self.declared.len()).collect();
        needed_first(&all, |at| self.needs(&self.declared[at].declaration.kind))
    }

    /// The declarations that a declaration names.
    fn needs(&self, kind: &Kind) -> Vec<usize> {
        let mut needs = Vec::new();
        let mut add = |declared: &Type| self.named(declared, &mut needs);
        match kind {
            Kind::Alias(behind) => add(behind),
            Kind::Struct(declared) => {
                declared.members.iter().for_each(|member| add(&member.declared));
                if let Some(base) = declared.base {
                    add(&Type::Named(base));
                }
            }
            Kind::Exception(members) => members.iter().for_each(|member| add(&member.declared)),
            Kind::Union(declared) => {
                declared.cases.iter().for_each(|case| add(&case.member.declared));
            }
            _ => {}
        }
        needs
    }

    fn named(&self, declared: &Type, needs: &mut Vec<usize>) {
        match declared {
            Type::Sequence { element, .. } | Type::Array { element, .. } => {
                self.named(element, needs);
            }
            Type::Map { key, value, .. } => {
                self.named(key, needs);
                self.named(value, needs);
            }
            Type::Named(id) => needs.extend(self.symbol(SymbolId(id.0)).declaration),
            _ => {}
        }
    }

    fn measure_kind(&self, kind: &Kind, measures: &[Measure]) -> Measure {
        let of = |declared: &Type| self.measure(declared, measures);
        // Something empty still takes a byte, so that there cannot be endlessly many.
        let empty = Measure { depth: 1, bytes: 1, leaves: 1 };
        let members = |members: &[Member]| {
            members.iter().fold(empty, |sum, member| sum.with(of(&member.declared)))
        };
        match kind {
            Kind::Alias(behind) => of(behind),
            Kind::Struct(declared) => {
                let own = members(&declared.members);
                match declared.base {
                    Some(base) => own.with(of(&Type::Named(base))),
                    None => own,
                }
            }
            Kind::Exception(declared) => members(declared),
            Kind::Union(declared) => declared.cases.iter().fold(empty, |sum, case| {
                let member = of(&case.member.declared);
                let bytes = sum.bytes.max(member.bytes);
                Measure { bytes, ..sum.with(member) }
            }),
            _ => Measure::one(4),
        }
    }

    fn measure(&self, declared: &Type, measures: &[Measure]) -> Measure {
        match declared {
            Type::Primitive(primitive) => Measure::one(primitive.bytes().into()),
            Type::String { .. } | Type::WideString { .. } => Measure::LEAF,
            Type::Sequence { element, .. } => {
                let element = self.measure(element, measures);
                Measure { bytes: Measure::LEAF.bytes, depth: element.depth + 1, ..element }
            }
            Type::Map { key, value, .. } => {
                let entry = self.measure(key, measures).with(self.measure(value, measures));
                Measure { bytes: Measure::LEAF.bytes, depth: entry.depth + 1, ..entry }
            }
            Type::Array { element, dimensions } => {
                let element = self.measure(element, measures);
                let times = |bytes: u64, count: &u32| bytes.saturating_mul(u64::from(*count));
                let bytes = dimensions.iter().fold(element.bytes, times);
                Measure { bytes, depth: element.depth + 1, ..element }
            }
            Type::Named(id) => match self.symbol(SymbolId(id.0)).declaration {
                Some(index) => measures[index],
                None => Measure::default(),
            },
        }
    }
}
