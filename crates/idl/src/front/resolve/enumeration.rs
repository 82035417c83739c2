//! Enums, bitmasks and bitsets.

use std::collections::HashMap;

use nearcall_abi::counted;

use super::Resolver;
use super::annotation::{Applied, Place, Subject, find};
use super::constant::integer_range;
use super::scope::{State, SymbolId, SymbolKind};
use crate::diagnostic::Diagnostic;
use crate::front::ast::{self, Definition, Literal, Name, ScopedName, TypeUse};
use crate::front::rules::semantics as rules;
use crate::model::{
    Bitfield, Bitmask, Bitset, DeclarationId, Enum, Enumerator, Kind, Primitive, Type, Value,
};
use crate::source::Span;

/// Bits of an enum or a bitmask that does not say.
const BIT_BOUND: u8 = 32;

/// Bits of a bitset at most.
const BITSET_BITS_MAX: u32 = 64;

impl Resolver {
    pub(super) fn enumeration(
        &mut self,
        definition: &Definition,
        name: &Name,
        enumerators: &[Literal],
    ) -> Option<SymbolId> {
        let head = self.head(definition, Subject::of(Place::Enum, None));
        let bit_bound = self.bit_bound(&head.annotations, 32);
        let symbol = self.declare(name, SymbolKind::Enum);
        let mut resolved = Vec::new();
        let mut spans = Vec::new();
        let mut default_literal = None;
        let mut default_index = 0;
        let mut next = 0;
        self.opening = Some((symbol, Vec::new()));
        for (place, literal) in enumerators.iter().enumerate() {
            let subject = Subject::of(Place::Enumerator, None);
            let applied = self.annotations(&literal.annotations, subject);
            if self.check_default_literal(&applied, &mut default_literal) {
                default_index = place as u32;
            }
            let kind = SymbolKind::Enumerator { of: symbol, place: place as u32 };
            self.declare(&literal.name, kind);
            let (value, span) = match find(&applied, "value") {
                Some((Value::Integer(value), span)) => (value, span),
                _ => (next, literal.name.span),
            };
            next = value + 1;
            spans.push((value, span));
            if let Some((_, values)) = &mut self.opening {
                values.push(value);
            }
            let doc = literal.doc.as_ref().map(|doc| doc.to_string());
            let name = literal.name.text.to_string();
            let at = literal.name.span;
            let (value, is_numbered) = (value as i64, literal.is_numbered);
            resolved.push(Enumerator { name, at, doc, value, is_numbered });
        }
        self.opening = None;
        self.check_enumerators(name, &spans, bit_bound);
        if resolved.is_empty() {
            return None;
        }
        let has_default_literal = default_literal.is_some();
        let kind = Kind::Enum(Enum {
            enumerators: resolved,
            bit_bound,
            default_index,
            has_default_literal,
        });
        self.complete(symbol, kind, head);
        Some(symbol)
    }

    /// Whether an enumerator is its enum's default literal.
    fn check_default_literal(&mut self, applied: &[Applied], first: &mut Option<Span>) -> bool {
        let found = applied.iter().find(|one| one.annotation.name == "default_literal");
        let Some(applied) = found else { return false };
        match first {
            Some(first) => {
                let message = "this enum has another default literal";
                let finding =
                    Diagnostic::new(&rules::DEFAULT_LITERAL_REPEATED, applied.span, message)
                        .label(*first, "first given here");
                self.diagnostics.push(finding);
            }
            None => *first = Some(applied.span),
        }
        true
    }

    /// Values fit in the bits, as signed numbers if one is negative, and no two are alike.
    fn check_enumerators(&mut self, name: &Name, values: &[(i128, Span)], bit_bound: u8) {
        let is_signed = values.iter().any(|(value, _)| *value < 0);
        let span = 1i128 << bit_bound;
        let (least, greatest) = if is_signed {
            (-(span / 2), span / 2 - 1)
        } else {
            (0, (span - 1).min(i128::from(i32::MAX)))
        };
        let mut seen: HashMap<i128, Span> = HashMap::new();
        for (value, span) in values {
            if !(least..=greatest).contains(value) {
                let message = format!(
                    "the value {value} of an enumerator of `{}` is not from {least} to {greatest}",
                    name.text
                );
                let finding = Diagnostic::new(&rules::VALUE_RANGE, *span, message)
                    .help(format!("the enum has {}: see `@bit_bound`", counted(bit_bound, "bit")));
                self.diagnostics.push(finding);
            }
            if let Some(first) = seen.get(value) {
                let message = format!("another enumerator has the value {value}");
                let finding = Diagnostic::new(&rules::VALUE_REPEATED, *span, message)
                    .label(*first, "first given here");
                self.diagnostics.push(finding);
            } else {
                seen.insert(*value, *span);
            }
        }
    }

    /// `@bit_bound`, from 1 to `greatest`.
    fn bit_bound(&mut self, applied: &[Applied], greatest: u8) -> u8 {
        let Some((Value::Integer(value), span)) = find(applied, "bit_bound") else {
            return BIT_BOUND;
        };
        if (1..=i128::from(greatest)).contains(&value) {
            return value as u8;
        }
        let message = format!("a bit bound of {value} is not from 1 to {greatest}");
        self.diagnostics.push(Diagnostic::new(&rules::BIT_BOUND, span, message));
        greatest
    }

    pub(super) fn bitmask(
        &mut self,
        definition: &Definition,
        name: &Name,
        literals: &[Literal],
    ) -> Option<SymbolId> {
        let head = self.head(definition, Subject::of(Place::Bitmask, None));
        let bit_bound = self.bit_bound(&head.annotations, 64);
        let symbol = self.declare(name, SymbolKind::Bitmask);
        let scope = self.open_scope(Some(symbol));
        let mut flags = Vec::new();
        let mut seen: HashMap<i128, Span> = HashMap::new();
        let mut next = 0;
        for literal in literals {
            let subject = Subject::of(Place::Flag, None);
            let applied = self.annotations(&literal.annotations, subject);
            self.inside(scope, |resolver| resolver.declare(&literal.name, SymbolKind::Member));
            let (position, span) = match find(&applied, "position") {
                Some((Value::Integer(position), span)) => (position, span),
                _ => (next, literal.name.span),
            };
            next = position + 1;
            if self.check_position(position, span, bit_bound, &mut seen) {
                flags.push((literal.name.text.to_string(), position as u8));
            }
        }
        if flags.is_empty() {
            return None;
        }
        self.complete(symbol, Kind::Bitmask(Bitmask { bit_bound, flags }), head);
        Some(symbol)
    }

    fn check_position(
        &mut self,
        position: i128,
        span: Span,
        bit_bound: u8,
        seen: &mut HashMap<i128, Span>,
    ) -> bool {
        if position >= i128::from(bit_bound) {
            let message = format!("the position {position} is not below {bit_bound}");
            let finding = Diagnostic::new(&rules::POSITION_RANGE, span, message)
                .help("give the bitmask more bits with `@bit_bound`");
            self.diagnostics.push(finding);
            return false;
        }
        if let Some(first) = seen.insert(position, span) {
            let message = format!("another flag has the position {position}");
            let finding = Diagnostic::new(&rules::POSITION_REPEATED, span, message)
                .label(first, "first given here");
            self.diagnostics.push(finding);
            return false;
        }
        true
    }

    pub(super) fn bitset(
        &mut self,
        definition: &Definition,
        name: &Name,
        base: Option<&ScopedName>,
        specifications: &[ast::Bitfield],
    ) -> Option<SymbolId> {
        let head = self.head(definition, Subject::of(Place::Bitset, None));
        let symbol = self.declare(name, SymbolKind::Bitset);
        self.symbol_mut(symbol).state = State::Open;
        let scope = self.open_scope(Some(symbol));
        let mut fields = Vec::new();
        let mut width = 0u32;
        if let Some(base) = base.and_then(|base| self.bitset_base(base)) {
            if let Some(Kind::Bitset(inherited)) = self.kind(base.declaration()) {
                fields.clone_from(&inherited.fields);
                width = u32::from(inherited.width);
            }
            if let Some(inner) = self.symbol(base).inner {
                self.inherit(scope, &[inner], name);
            }
        }
        for specification in specifications {
            let found = self.field_type(specification);
            for field in &specification.names {
                self.inside(scope, |resolver| resolver.declare(field, SymbolKind::Member));
            }
            let Some((bits, declared)) = found else {
                continue;
            };
            for field in &specification.names {
                // A position that does not fit is reported below, with the width.
                let position = width.min(BITSET_BITS_MAX) as u8;
                let name = field.text.to_string();
                fields.push(Bitfield { name, position, width: bits, declared });
                width = width.saturating_add(u32::from(bits));
            }
            if specification.names.is_empty() {
                width = width.saturating_add(u32::from(bits));
            }
        }
        if width > BITSET_BITS_MAX {
            let message = format!("`{}` has {width} bits, {BITSET_BITS_MAX} at most", name.text);
            self.diagnostics.push(Diagnostic::new(&rules::BITSET_WIDTH, name.span, message));
        }
        let width = width.min(BITSET_BITS_MAX) as u8;
        self.complete(symbol, Kind::Bitset(Bitset { fields, width }), head);
        Some(symbol)
    }

    fn bitset_base(&mut self, name: &ScopedName) -> Option<SymbolId> {
        let id = self.lookup(name)?;
        let symbol = self.symbol(id);
        let message = match (symbol.kind, symbol.state) {
            (SymbolKind::Bitset, State::Complete) => return Some(id),
            (SymbolKind::Outside, _) => return None,
            (SymbolKind::Bitset, _) => format!("`{name}` cannot extend itself"),
            (kind, _) => format!("`{name}` is {}, not a bitset", kind.what()),
        };
        let finding = Diagnostic::new(&rules::BITSET_BASE, name.span(), message)
            .label(symbol.name.span, "declared here");
        self.diagnostics.push(finding);
        None
    }

    /// Width and type of bit fields.
    fn field_type(&mut self, field: &ast::Bitfield) -> Option<(u8, Primitive)> {
        let width = self.positive(&field.width);
        let declared = match &field.declared {
            Some(declared) => Some(self.field_primitive(declared)?),
            None => None,
        };
        let width = width?;
        let (bits_max, holder) = match declared {
            Some(Primitive::Boolean) => (1, "`boolean`".to_owned()),
            Some(primitive) => (type_bits(primitive), format!("`{}`", primitive.spelled())),
            None => (BITSET_BITS_MAX, "a bit field".to_owned()),
        };
        if width > bits_max {
            let most = counted(bits_max, "bit");
            let message = format!("{holder} holds {most} at most, not {width}");
            let finding = Diagnostic::new(&rules::FIELD_WIDTH, field.width.span, message);
            self.diagnostics.push(finding);
            return None;
        }
        let declared = declared.unwrap_or(match width {
            1 => Primitive::Boolean,
            2..=8 => Primitive::Octet,
            9..=16 => Primitive::Uint16,
            17..=32 => Primitive::Uint32,
            _ => Primitive::Uint64,
        });
        Some((width as u8, declared))
    }

    fn field_primitive(&mut self, used: &TypeUse) -> Option<Primitive> {
        let resolved = self.type_use(used)?;
        match self.behind(&resolved.declared) {
            Type::Primitive(Primitive::Boolean) => Some(Primitive::Boolean),
            Type::Primitive(primitive) if integer_range(*primitive).is_some() => Some(*primitive),
            _ => {
                let message = "a bit field cannot be read as this type";
                let finding = Diagnostic::new(&rules::FIELD_TYPE, used.span, message)
                    .help("use `boolean`, `octet` or an integer type");
                self.diagnostics.push(finding);
                None
            }
        }
    }

    /// Finds an enumerator of an enum by its name alone.
    pub(super) fn enumerator(&self, of: SymbolId, name: &str) -> Option<Value> {
        let Some(Kind::Enum(declared)) = self.kind(DeclarationId(of.0)) else {
            return None;
        };
        let folded = self.fold(name);
        let place = declared.enumerators.iter().position(|one| self.fold(&one.name) == folded)?;
        Some(Value::Enumerator(of.declaration(), place as u32))
    }
}

fn type_bits(primitive: Primitive) -> u32 {
    match primitive {
        Primitive::Int8 | Primitive::Uint8 | Primitive::Octet => 8,
        Primitive::Int16 | Primitive::Uint16 => 16,
        Primitive::Int32 | Primitive::Uint32 => 32,
        _ => BITSET_BITS_MAX,
    }
}
